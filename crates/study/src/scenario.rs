//! What users do who do more than make one request.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use miette::SourceSpan;
use model::Template;
use model::scenario::{Body, Checks, Extract, Feeder, Scenario, ScenarioStep, Scenarios, Source};
use regex::bytes::Regex;
use serde_json::{Map, Value};

use crate::file::{ExtractKeys, FeederKeys, ScenarioFile, ScenarioKeys, StepExpectKeys, StepKeys, Table};
use crate::launch::{missing, twice};
use crate::problem::{Problem, Problems, did_you_mean};
use crate::request::{Methods, check_bodiless, check_headers, check_json_path, check_path, valid_status};
use crate::value::{At, Text};

/// Where the files are that a study names.
pub(crate) struct Files {
    /// The study's folder.
    pub dir: PathBuf,
    /// Whether they may be made later.
    pub may_come: bool,
}

impl Files {
    fn find(&self, file: &At<Text>, problems: &mut Problems) -> PathBuf {
        let path = self.dir.join(&***file);
        if !self.may_come && !path.exists() {
            problems.add(missing("file", file));
        }
        path
    }
}

/// The parts of scenarios as they are written.
#[derive(Clone, Copy)]
pub(crate) struct ScenarioSource<'a> {
    /// Header fields of every step that has none of that name.
    pub headers: &'a Table,
    pub feeder: &'a [At<FeederKeys>],
    pub setup: &'a [At<StepKeys>],
    pub step: &'a [At<StepKeys>],
    pub scenario: &'a [At<ScenarioKeys>],
    pub teardown: &'a [At<StepKeys>],
}

impl<'a> From<&'a ScenarioFile> for ScenarioSource<'a> {
    fn from(file: &'a ScenarioFile) -> Self {
        let ScenarioFile { headers, step, scenario, setup, teardown, feeder } = file;
        Self { headers, feeder, setup, step, scenario, teardown }
    }
}

impl ScenarioSource<'_> {
    /// Whether nothing of it is written that a single request has not, too.
    pub fn is_empty(&self) -> bool {
        let Self { headers: _, feeder, setup, step, scenario, teardown } = self;
        feeder.is_empty() && setup.is_empty() && step.is_empty() && scenario.is_empty() && teardown.is_empty()
    }

    /// Every step, wherever it is written.
    fn steps(&self) -> impl Iterator<Item = &At<StepKeys>> {
        self.setup.iter().chain(self.measured()).chain(self.teardown)
    }

    fn measured(&self) -> impl Iterator<Item = &At<StepKeys>> {
        self.step.iter().chain(self.scenario.iter().flat_map(|scenario| &scenario.step))
    }
}

/// The scenarios; `place` is what holds them.
pub(crate) fn scenarios(
    source: &ScenarioSource<'_>,
    place: SourceSpan,
    files: &Files,
    problems: &mut Problems,
) -> Scenarios {
    refuse_shapes(source, place, problems);
    check_headers(source.headers, problems);
    let shared = templates(source.headers, problems);
    let mut steps =
        |list: &[At<StepKeys>]| list.iter().filter_map(|keys| step(keys, &shared, files, problems)).collect();
    let (setup, alone, teardown) = (steps(source.setup), steps(source.step), steps(source.teardown));
    let mut list = Vec::new();
    if !source.step.is_empty() {
        list.push(Scenario { name: "steps".to_owned(), weight: 1, steps: alone });
    }
    for keys in source.scenario {
        let steps = steps(&keys.step);
        list.push(Scenario { name: keys.name.value.clone(), weight: 1, steps });
    }
    for (scenario, keys) in list.iter_mut().rev().zip(source.scenario.iter().rev()) {
        scenario.weight = weight(keys, problems);
    }
    let feeders: Vec<Feeder> = source.feeder.iter().map(|keys| feeder(keys, files, problems)).collect();
    let scenarios = Scenarios { feeders, setup, scenarios: list, teardown };
    refuse_missing(source, &scenarios, problems);
    scenarios
}

fn refuse_shapes(source: &ScenarioSource<'_>, place: SourceSpan, problems: &mut Problems) {
    if let (Some(step), Some(scenario)) = (source.step.first(), source.scenario.first()) {
        problems.add(
            Problem::new("steps stand in scenarios, or on their own")
                .at(step.name.place, "on its own")
                .at(scenario.name.place, "a scenario")
                .help("put the steps into a scenario with a `name` and a `weight`"),
        );
    }
    if source.step.is_empty() && source.scenario.is_empty() {
        problems.add(
            Problem::new("nothing is measured")
                .at(place, "no `step` and no `scenario`")
                .help("add a step with a `name` and `get = \"/path\"`"),
        );
    }
    for empty in source.scenario.iter().filter(|scenario| scenario.step.is_empty()) {
        problems.add(
            Problem::new(format!("scenario `{}` has no steps", empty.name.value))
                .at(empty.name.place, "no `step`")
                .help("add steps to it, or remove it"),
        );
    }
    let measured: Vec<_> = source.measured().collect();
    for (index, step) in measured.iter().enumerate() {
        if let Some(first) = measured[..index].iter().find(|other| other.name == step.name) {
            problems.add(twice("step", &first.name, &step.name));
        }
    }
}

fn weight(keys: &ScenarioKeys, problems: &mut Problems) -> u32 {
    let Some(weight) = &keys.weight else { return 1 };
    u32::try_from(weight.value).ok().filter(|weight| *weight > 0).unwrap_or_else(|| {
        problems.add(
            Problem::new(format!("{} is not a weight", weight.value))
                .at(weight.place, "not from 1 on")
                .help("write how often it is drawn in proportion to the others, such as 3; remove it to leave it out"),
        );
        1
    })
}

fn feeder(keys: &FeederKeys, files: &Files, problems: &mut Problems) -> Feeder {
    let file = files.find(&keys.file, problems);
    let known = ["csv", "jsonl", "ndjson"];
    if !file.extension().is_some_and(|extension| known.iter().any(|known| extension == *known)) {
        problems.add(
            Problem::new(format!("`{}` is no file of rows", &**keys.file))
                .at(keys.file.place, "neither `.csv` nor `.jsonl`")
                .help("write CSV with the variables' names in the first row, or one JSON object a line"),
        );
    }
    Feeder { file, take: keys.take, each: keys.each }
}

/// Header fields whose values may hold variables.
fn templates(table: &Table, problems: &mut Problems) -> Vec<(String, Template)> {
    table.iter().map(|(name, value)| (name.value.clone(), template(value, value.place, problems))).collect()
}

/// A step, with those of the header fields of all steps that it does not have itself.
fn step(
    keys: &StepKeys,
    shared: &[(String, Template)],
    files: &Files,
    problems: &mut Problems,
) -> Option<ScenarioStep> {
    let methods = Methods([&keys.get, &keys.head, &keys.post, &keys.put, &keys.patch, &keys.delete]);
    let holder = format!("step `{}`", keys.name.value);
    let request = methods.one(&holder, keys.name.place, "step", problems);
    check_headers(&keys.headers, problems);
    let own = templates(&keys.headers, problems);
    let is_own = |name: &str| own.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let others = shared.iter().filter(|(name, _)| !is_own(name)).cloned();
    let headers = others.chain(own.iter().cloned()).collect();
    let body = body(keys, files, problems);
    let checks = checks(&keys.expect, problems);
    let extract = keys.extract.iter().filter_map(|(name, keys)| {
        let from = source(name, keys, problems)?;
        Some(Extract { variable: name.value.clone(), from })
    });
    let extract = extract.collect();
    let (method, path) = request?;
    check_path(path, problems);
    let mut written = [&keys.body_file, &keys.body_template].into_iter().flatten().map(|file| file.place);
    check_bodiless(method, keys.body.as_ref().map(|body| body.place).or_else(|| written.next()), problems);
    Some(ScenarioStep {
        name: keys.name.value.clone(),
        method: method.to_owned(),
        path: template(path, path.place, problems),
        headers,
        body,
        checks,
        extract,
        think: keys.think.as_ref().map(|think| think.value.0),
    })
}

fn body(keys: &StepKeys, files: &Files, problems: &mut Problems) -> Option<Body> {
    let places = [
        keys.body.as_ref().map(|text| text.place),
        keys.body_file.as_ref().map(|file| file.place),
        keys.body_template.as_ref().map(|file| file.place),
    ];
    let mut written = places.into_iter().flatten();
    if let (Some(first), Some(second)) = (written.next(), written.next()) {
        problems.add(
            Problem::new(format!("step `{}` has two bodies", keys.name.value))
                .at(first, "here")
                .at(second, "and here")
                .help("write one of `body`, `body_file` and `body_template`"),
        );
    }
    if let Some(text) = &keys.body {
        return Some(Body::Text(template(text, text.place, problems)));
    }
    if let Some(file) = &keys.body_file {
        return Some(Body::File(files.find(file, problems)));
    }
    keys.body_template.as_ref().map(|file| Body::TemplateFile(files.find(file, problems)))
}

fn checks(keys: &StepExpectKeys, problems: &mut Problems) -> Checks {
    let length = keys.length.as_ref().and_then(|length| {
        let bytes = u64::try_from(length.value).ok();
        if bytes.is_none() {
            problems.add(
                Problem::new(format!("{} is no length", length.value))
                    .at(length.place, "below 0")
                    .help("write the bytes of a good answer's body"),
            );
        }
        bytes.map(|bytes| (bytes, bytes))
    });
    for regex in keys.header.values() {
        check_regex(regex, regex.place, problems);
    }
    for path in keys.json.iter().chain(keys.json_is.keys()) {
        check_json_path(path, path.place, problems);
    }
    if let Some(regex) = &keys.regex {
        check_regex(regex, regex.place, problems);
    }
    let found = keys.json.iter().map(|path| (path.value.clone(), None)).collect::<Vec<_>>();
    let equal = keys.json_is.iter().map(|(path, is)| (path.value.clone(), Some(template(is, is.place, problems))));
    Checks {
        json: found.into_iter().chain(equal).collect(),
        status: keys.status.as_ref().and_then(|status| valid_status(status, problems)),
        length,
        headers: keys.header.iter().map(|(name, regex)| (name.value.clone(), regex.value.0.clone())).collect(),
        regex: keys.regex.as_ref().map(|regex| regex.value.clone()),
        contains: keys.contains.as_ref().map(|text| template(text, text.place, problems)),
    }
}

fn source(name: &At<String>, keys: &At<ExtractKeys>, problems: &mut Problems) -> Option<Source> {
    if Template::parse(&format!("${{{}}}", name.value)).is_err() {
        problems.add(
            Problem::new(format!("`{}` is not the name of a variable", name.value))
                .at(name.place, "cannot stand in `${…}`")
                .help("begin with a letter or `_`; go on with letters, digits, `_`, `-` and `.`"),
        );
    }
    if let Some(path) = &keys.json {
        check_json_path(path, path.place, problems);
    }
    if let Some(regex) = &keys.regex {
        check_regex(regex, regex.place, problems);
    }
    let text = |text: &At<String>| text.value.clone();
    match (&keys.json, &keys.header, &keys.regex, &keys.cookie) {
        (Some(json), None, None, None) => Some(Source::Json(text(json))),
        (None, None, Some(regex), None) => Some(Source::Regex(text(regex))),
        (None, Some(name), regex, None) => Some(Source::Header { name: text(name), regex: regex.as_ref().map(text) }),
        (None, None, None, Some(cookie)) => Some(Source::Cookie(text(cookie))),
        _ => {
            problems.add(
                Problem::new(format!("where does the value of `{}` stand?", name.value))
                    .at(keys.place, "not one place in the answer")
                    .help(
                        "write one of `json`, `regex`, `header` and `cookie`, or `header` with a `regex` for its value",
                    ),
            );
            None
        }
    }
}

/// Reads a template; an empty one where it is wrong.
fn template(text: &str, place: SourceSpan, problems: &mut Problems) -> Template {
    Template::parse(text).unwrap_or_else(|error| {
        problems.add(
            Problem::new("a variable is not written as it should be")
                .at(place, format!("wrong from byte {} of the text on", error.at()))
                .help("write `${name}`; write `$${` where `${` itself is meant"),
        );
        Template::default()
    })
}

fn check_regex(pattern: &str, place: SourceSpan, problems: &mut Problems) {
    if let Err(error) = Regex::new(pattern) {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        problems.add(
            Problem::new(format!("`{pattern}` is not a regular expression"))
                .at(place, reason.to_owned())
                .help("the syntax is https://docs.rs/regex; TOML's '…' leaves backslashes alone"),
        );
    }
}

/// Finds variables without a value, unless a file that would give the names is not there.
fn refuse_missing(source: &ScenarioSource<'_>, scenarios: &Scenarios, problems: &mut Problems) {
    let columns: Option<Vec<_>> = scenarios.feeders.iter().map(|feeder| columns(&feeder.file)).collect();
    let Some(missing) = columns.and_then(|columns| scenarios.missing(&columns)) else { return };
    let Some(step) = source.steps().find(|step| step.name.value == missing.step) else { return };
    let known: Vec<&str> = missing.known.iter().map(String::as_str).collect();
    let known =
        if known.is_empty() { "no variable is known here".to_owned() } else { did_you_mean(&missing.variable, &known) };
    problems.add(
        Problem::new(format!("nothing gives `{}` a value before it is needed", missing.variable))
            .at(step.name.place, format!("needs `${{{}}}`", missing.variable))
            .help(format!(
                "{known}; variables come from a step before in the same scenario, from `setup`, and from feeders, whose \
                 rows `setup` and `teardown` see with `each = \"user\"`"
            )),
    );
}

/// The variables to which a file gives values, if it can be read.
fn columns(file: &Path) -> Option<Vec<String>> {
    if file.extension()? == "csv" {
        let mut reader = csv::Reader::from_path(file).ok()?;
        return Some(reader.headers().ok()?.iter().map(str::to_owned).collect());
    }
    let first = BufReader::new(File::open(file).ok()?)
        .lines()
        .find(|line| line.as_ref().map_or(true, |line| !line.trim().is_empty()))?;
    let row: Map<String, Value> = serde_json::from_str(&first.ok()?).ok()?;
    Some(row.keys().cloned().collect())
}
