//! What is asked of the servers.

use model::study::{Expect, Request, Workload, WorkloadKind};

use crate::file::{ExpectKeys, WorkloadKeys};
use crate::launch::twice;
use crate::problem::{Problem, Problems};
use crate::request::{Methods, check_bodiless, check_headers, check_json_path, check_path, valid_status};
use crate::scenario::{self, Files, ScenarioSource};
use crate::shapes::shapes;
use crate::value::At;

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
        headers: &keys.headers,
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
    let place = place.or(keys.body.as_ref().map(|body| body.place)).or(status.as_ref().map(|status| status.place));
    if let Some(find) = &keys.find_limit {
        problems.add(
            Problem::new(format!("workload `{}` has steps, and a limit to be found", keys.name.value))
                .at(find.place, "of one request: a scenario's response time is that of its first step alone")
                .help("write `get` or another method in place of the steps, or `rate` in place of `find_limit`"),
        );
    }
    if let Some(place) = place.or([json, contains].into_iter().flatten().next().map(|text| text.place)) {
        problems.add(
            Problem::new(format!("workload `{}` has steps, and a request beside them", keys.name.value))
                .at(place, "belongs to a step")
                .help("move it into a `[[workload.step]]`"),
        );
    }
    Some(WorkloadKind::Scenarios { scenarios: scenario::scenarios(&scenarios, keys.name.place, files, problems) })
}

impl WorkloadKeys {
    fn methods(&self) -> Methods<'_> {
        Methods([&self.get, &self.head, &self.post, &self.put, &self.patch, &self.delete])
    }
}

fn request(keys: &At<WorkloadKeys>, problems: &mut Problems) -> Option<Request> {
    let holder = format!("workload `{}`", keys.name.value);
    let (method, path) = keys.methods().one(&holder, keys.name.place, "[[workload]]", problems)?;
    check_path(path, problems);
    check_headers(&keys.headers, problems);
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
        headers: keys.headers.iter().map(|(name, value)| (name.value.clone(), value.value.0.clone())).collect(),
        body: keys.body.as_ref().map(|body| body.value.clone()),
    })
}

fn expect(keys: &ExpectKeys, problems: &mut Problems) -> Expect {
    let status = keys.status.as_ref().and_then(|status| valid_status(status, problems));
    if let Some(path) = &keys.json {
        check_json_path(path, path.place, problems);
    }
    let text = |key: &Option<At<String>>| key.as_ref().map(|text| text.value.clone());
    Expect { status, json: text(&keys.json), contains: text(&keys.contains) }
}
