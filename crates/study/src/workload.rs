//! What is asked of the servers.

use model::study::{Expect, Request, Workload};
use serde_json_path::JsonPath;

use crate::file::{ExpectKeys, Table, WorkloadKeys};
use crate::launch::{not_a_path, twice};
use crate::placeholder::Placeholders;
use crate::problem::{Problem, Problems};
use crate::shapes::shapes;
use crate::value::At;

/// Fields that frame a request: the client sets them itself.
const OWN_HEADERS: [&str; 2] = ["content-length", "transfer-encoding"];

/// The workloads.
pub(crate) fn workloads(keys: &[At<WorkloadKeys>], problems: &mut Problems) -> Vec<Workload> {
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
        let request = request(workload, problems);
        let shapes = shapes(workload, problems);
        let expect = expect(&workload.expect, problems);
        Some(Workload { name: workload.name.value.clone(), request: request?, expect, shapes })
    };
    keys.iter().filter_map(resolve).collect()
}

impl WorkloadKeys {
    /// Methods and paths that are written.
    pub fn requests(&self) -> Vec<(&'static str, &At<String>)> {
        let methods = [
            ("GET", &self.get),
            ("HEAD", &self.head),
            ("POST", &self.post),
            ("PUT", &self.put),
            ("PATCH", &self.patch),
            ("DELETE", &self.delete),
        ];
        methods.into_iter().filter_map(|(method, path)| Some((method, path.as_ref()?))).collect()
    }
}

fn request(keys: &At<WorkloadKeys>, problems: &mut Problems) -> Option<Request> {
    let requests = keys.requests();
    let (method, path) = match requests[..] {
        [request] => request,
        [] => {
            problems.add(
                Problem::new(format!("workload `{}` asks for nothing", keys.name.value))
                    .at(keys.name.place, "no path")
                    .help("add `get = \"/path\"`, or `head`, `post`, `put`, `patch`, `delete`"),
            );
            return None;
        }
        [(one, first), (other, second), ..] => {
            problems.add(
                Problem::new(format!("workload `{}` asks for two things", keys.name.value))
                    .at(first.place, one)
                    .at(second.place, other)
                    .help("write a `[[workload]]` for each"),
            );
            return None;
        }
    };
    if !path.starts_with('/') {
        problems.add(not_a_path(path.place, path));
    } else if let Some(wrong) = path.chars().find(|c| !c.is_ascii_graphic() || *c == '#') {
        problems.add(
            Problem::new("a path of plain characters is needed")
                .at(path.place, format!("holds {wrong:?}"))
                .help("write other characters percent-encoded, as in `%20`; leave out `#` and what follows"),
        );
    }
    if let (Some(body), "GET" | "HEAD") = (&keys.body, method) {
        problems.add(
            Problem::new(format!("a {method} has no body"))
                .at(body.place, "never sent")
                .help("remove `body`, or use `post` or `put`"),
        );
    }
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

fn headers(table: &Table, problems: &mut Problems) -> Vec<(String, String)> {
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
    let status = keys.status.as_ref().and_then(|status| {
        let valid = u16::try_from(status.value).ok().filter(|code| (100..600).contains(code));
        if valid.is_none() {
            problems.add(
                Problem::new(format!("{} is not an HTTP status", status.value))
                    .at(status.place, "no server answers this")
                    .help("write a number from 100 to 599, such as 200"),
            );
        }
        valid
    });
    if let Some(path) = &keys.json
        && let Err(error) = JsonPath::parse(path)
    {
        problems.add(
            Problem::new(format!("`{}` is not a JSONPath", path.value))
                .at(
                    path.place,
                    if path.starts_with('$') { error.to_string() } else { "does not begin with `$`".to_owned() },
                )
                .help("begin with `$` for the whole answer, as in `$.pipelines` or `$.items[0].name` (RFC 9535)"),
        );
    }
    let text = |key: &Option<At<String>>| key.as_ref().map(|text| text.value.clone());
    Expect { status, json: text(&keys.json), contains: text(&keys.contains) }
}
