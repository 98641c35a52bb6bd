//! What is asked of the servers.

use miette::SourceSpan;
use model::study::{Expect, Request, Workload, WorkloadKind};
use serde_json_path::JsonPath;

use crate::file::{ExpectKeys, Table, WorkloadKeys};
use crate::launch::{not_a_path, twice};
use crate::placeholder::Placeholders;
use crate::problem::{Problem, Problems};
use crate::scenario::{self, Files, ScenarioSource};
use crate::shapes::shapes;
use crate::value::At;

/// Fields that frame a request: the client sets them itself.
const OWN_HEADERS: [&str; 2] = ["content-length", "transfer-encoding"];

/// The workloads.
pub(crate) fn workloads(keys: &[At<WorkloadKeys>], files: &Files, problems: &mut Problems) -> Vec<Workload> {
    for (index, workload) in keys.iter().enumerate() {
        let name = &workload.name;
        if let Some(first) = keys[..index].iter().find(|other| other.name == *name) {
            problems.add(twice("workload", &first.name, name));
        }
        if name.is_empty() || name.contains('@') {
            problems.add(
                Problem::new("a workload's name is part of the names of its cells, as in `name@20`")
                    .at(name.place, "empty, or with an `@`")
                    .help("choose another name"),
            );
        }
    }
    let resolve = |workload: &At<WorkloadKeys>| {
        let kind = kind(workload, files, problems);
        let shapes = shapes(workload, problems);
        Some(Workload { name: workload.name.value.clone(), kind: kind?, shapes })
    };
    keys.iter().filter_map(resolve).collect()
}

fn kind(keys: &At<WorkloadKeys>, files: &Files, problems: &mut Problems) -> Option<WorkloadKind> {
    let scenarios = ScenarioSource {
        feeder: &keys.feeder,
        setup: &keys.setup,
        step: &keys.step,
        scenario: &keys.scenario,
        teardown: &keys.teardown,
    };
    if scenarios.is_empty() {
        let (request, expect) = (request(keys, problems), expect(&keys.expect, problems));
        return Some(WorkloadKind::Request { request: request?, expect });
    }
    let ExpectKeys { status, json, contains } = &keys.expect;
    let place = keys.methods().written().first().map(|(_, path)| path.place);
    let place = place.or(keys.headers.keys().next().map(|name| name.place));
    let place = place.or(keys.body.as_ref().map(|body| body.place)).or(status.as_ref().map(|status| status.place));
    if let Some(place) = place.or([json, contains].into_iter().flatten().next().map(|text| text.place)) {
        problems.add(
            Problem::new(format!("workload `{}` has steps, and a request beside them", keys.name.value))
                .at(place, "belongs to a step")
                .help("move it into a `[[workload.step]]`"),
        );
    }
    Some(WorkloadKind::Scenarios { scenarios: scenario::scenarios(&scenarios, keys.name.place, files, problems) })
}

/// The keys that hold a path, by method.
pub(crate) struct Methods<'a>(pub [&'a Option<At<String>>; 6]);

impl<'a> Methods<'a> {
    /// Methods and paths that are written.
    pub fn written(&self) -> Vec<(&'static str, &'a At<String>)> {
        let names = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
        names.into_iter().zip(self.0).filter_map(|(method, path)| Some((method, path.as_ref()?))).collect()
    }

    /// The one that is written. `holder` is what has it, such as ``workload `x` ``, called so at `place`; `list` is how
    /// several are written.
    pub fn one(
        &self,
        holder: &str,
        place: SourceSpan,
        list: &str,
        problems: &mut Problems,
    ) -> Option<(&'static str, &'a At<String>)> {
        match self.written()[..] {
            [request] => Some(request),
            [] => {
                problems.add(
                    Problem::new(format!("{holder} asks for nothing"))
                        .at(place, "no path")
                        .help("add `get = \"/path\"`, or `head`, `post`, `put`, `patch`, `delete`"),
                );
                None
            }
            [(one, first), (other, second), ..] => {
                problems.add(
                    Problem::new(format!("{holder} asks for two things"))
                        .at(first.place, one)
                        .at(second.place, other)
                        .help(format!("write a `{list}` for each")),
                );
                None
            }
        }
    }
}

impl WorkloadKeys {
    fn methods(&self) -> Methods<'_> {
        Methods([&self.get, &self.head, &self.post, &self.put, &self.patch, &self.delete])
    }
}

/// Finds what a path cannot hold.
pub(crate) fn check_path(path: &At<String>, problems: &mut Problems) {
    if !path.starts_with('/') {
        problems.add(not_a_path(path.place, path));
    } else if let Some(wrong) = path.chars().find(|c| !c.is_ascii_graphic() || *c == '#') {
        problems.add(
            Problem::new("a path of plain characters is needed")
                .at(path.place, format!("holds {wrong:?}"))
                .help("write other characters percent-encoded, as in `%20`; leave out `#` and what follows"),
        );
    }
}

/// Finds a body where the method has none.
pub(crate) fn check_bodiless(method: &str, body: Option<SourceSpan>, problems: &mut Problems) {
    if let (Some(place), "GET" | "HEAD") = (body, method) {
        problems.add(
            Problem::new(format!("a {method} has no body"))
                .at(place, "never sent")
                .help("remove `body`, or use `post` or `put`"),
        );
    }
}

fn request(keys: &At<WorkloadKeys>, problems: &mut Problems) -> Option<Request> {
    let holder = format!("workload `{}`", keys.name.value);
    let (method, path) = keys.methods().one(&holder, keys.name.place, "[[workload]]", problems)?;
    check_path(path, problems);
    check_bodiless(method, keys.body.as_ref().map(|body| body.place), problems);
    if let (Some(text), "HEAD") = (keys.expect.json.as_ref().or(keys.expect.contains.as_ref()), method) {
        problems.add(
            Problem::new("the answer to a HEAD has no body")
                .at(text.place, "can never be found")
                .help("expect a `status` only, or use `get`"),
        );
    }
    Some(Request {
        method: method.to_owned(),
        path: path.value.clone(),
        headers: headers(&keys.headers, problems),
        body: keys.body.as_ref().map(|body| body.value.clone()),
    })
}

pub(crate) fn headers(table: &Table, problems: &mut Problems) -> Vec<(String, String)> {
    let placeholders = Placeholders::of_request();
    for (name, value) in table {
        // RFC 9110, 5.6.2: token.
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            problems.add(
                Problem::new(format!("`{}` is not the name of a header field", name.value))
                    .at(name.place, "holds other characters than a name may")
                    .help("write the name alone, without colon or spaces: `headers = { Accept = \"text/html\" }`"),
            );
        } else if OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            problems.add(
                Problem::new(format!("`{}` is set by bakeoff itself", name.value))
                    .at(name.place, "not for a study to set")
                    .help("remove it"),
            );
        }
        if value.contains(|c: char| c.is_control()) {
            problems.add(
                Problem::new("a header's value is one line")
                    .at(value.place, "holds a control character")
                    .help("remove line breaks from it"),
            );
        }
        placeholders.check(value, problems);
    }
    table.iter().map(|(name, value)| (name.value.clone(), value.value.0.clone())).collect()
}

fn expect(keys: &ExpectKeys, problems: &mut Problems) -> Expect {
    let status = keys.status.as_ref().and_then(|status| valid_status(status, problems));
    if let Some(path) = &keys.json {
        check_json_path(path, path.place, problems);
    }
    let text = |key: &Option<At<String>>| key.as_ref().map(|text| text.value.clone());
    Expect { status, json: text(&keys.json), contains: text(&keys.contains) }
}

/// A status that servers answer.
pub(crate) fn valid_status(status: &At<i64>, problems: &mut Problems) -> Option<u16> {
    let valid = u16::try_from(status.value).ok().filter(|code| (100..600).contains(code));
    if valid.is_none() {
        problems.add(
            Problem::new(format!("{} is not an HTTP status", status.value))
                .at(status.place, "no server answers this")
                .help("write a number from 100 to 599, such as 200"),
        );
    }
    valid
}

/// Finds what is wrong with a JSONPath.
pub(crate) fn check_json_path(path: &str, place: SourceSpan, problems: &mut Problems) {
    if let Err(error) = JsonPath::parse(path) {
        problems.add(
            Problem::new(format!("`{path}` is not a JSONPath"))
                .at(place, if path.starts_with('$') { error.to_string() } else { "does not begin with `$`".to_owned() })
                .help("begin with `$` for the whole answer, as in `$.pipelines` or `$.items[0].name` (RFC 9535)"),
        );
    }
}
