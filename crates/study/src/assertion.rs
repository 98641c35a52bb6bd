//! From `[[assertion]]` to what each variant has to show.

use std::collections::BTreeSet;

use miette::SourceSpan;
use model::assertion::{Assertion, AssertionSource, Expected};
use model::study::{Workload, WorkloadKind};
use regex::Regex;

use crate::file::{AssertionKeys, RuntimeName, ServerKeys, When};
use crate::placeholder::Placeholders;
use crate::problem::{Problem, Problems, did_you_mean};
use crate::request::{check_json_path, check_path};
use crate::value::{At, ExpectedValues};

/// What a variant is, as far as assertions are concerned.
pub(crate) struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its levels' names.
    pub levels: &'a [&'a str],
    /// Its merged keys.
    pub keys: &'a ServerKeys,
}

/// What a variant has to show.
pub(crate) fn assertions(
    all: &[At<AssertionKeys>],
    subject: &Subject<'_>,
    placeholders: &Placeholders,
    problems: &mut Problems,
) -> Vec<Assertion> {
    let mut names = BTreeSet::new();
    let mut assertions = Vec::new();
    for keys in all {
        if keys.name.trim().is_empty() {
            let problem = Problem::new("an assertion needs a name");
            problems.add(problem.at(keys.name.place, "empty").help("say what is seen, as in `name = \"pool size\"`"));
        }
        if !names.insert(keys.name.value.as_str()) {
            let problem = Problem::new(format!("two assertions are called `{}`", keys.name.value));
            problems.add(problem.at(keys.name.place, "again").help("give each its own name"));
        }
        let source = source(keys, subject, placeholders, problems);
        let answered = answered(keys, problems);
        let expect = expected(keys, subject, &answered, problems);
        if let (Some(read), Some(expect)) = (source, expect) {
            let is_pool = is_pool(keys, &expect, problems);
            let after = keys.when == When::After;
            assertions.push(Assertion { name: keys.name.value.clone(), read, expect, answered, after, is_pool });
        }
    }
    assertions
}

/// Levels and variants that expectations may name, held against those that do.
pub(crate) fn check_names(all: &[At<AssertionKeys>], known: &[&str], problems: &mut Problems) {
    for keys in all {
        let Some(At { value: ExpectedValues::Each(each), place }) = &keys.expect else { continue };
        for name in each.keys().filter(|name| !known.contains(&name.as_str())) {
            problems.add(
                Problem::new(format!("no level and no variant is called `{name}`"))
                    .at(*place, "named here")
                    .help(did_you_mean(name, known)),
            );
        }
    }
}

/// Why no name is known.
const ONLY_ONE: &str = "answers to single requests are counted where the study has one workload: make it a step of a scenario, or remove the \
    other workloads";

/// Steps whose answers are counted, held against those that the workloads have. A workload that is a single request counts as its own
/// step where it is the only one: mixed with others, its answers are not told apart.
pub(crate) fn check_steps(all: &[At<AssertionKeys>], workloads: &[Workload], problems: &mut Problems) {
    let known: Vec<&str> = match workloads {
        [Workload { name, kind: WorkloadKind::Request { .. }, .. }] => vec![name],
        _ => workloads.iter().flat_map(|workload| workload.kind.steps()).flatten().collect(),
    };
    for name in all.iter().filter_map(|keys| keys.answered.as_ref()).flat_map(|names| &names.value) {
        if !known.contains(&name.as_str()) {
            problems.add(
                Problem::new(format!("no step of a workload is called `{}`", name.value))
                    .at(name.place, "named here")
                    .help(if known.is_empty() { ONLY_ONE.to_owned() } else { did_you_mean(name, &known) }),
            );
        }
    }
}

fn source(
    keys: &AssertionKeys,
    subject: &Subject<'_>,
    placeholders: &Placeholders,
    problems: &mut Problems,
) -> Option<AssertionSource> {
    one_way(keys, problems)?;
    if let Some(pattern) = keys.threads.as_ref().or(keys.regex.as_ref()) {
        check_pattern(pattern, problems);
    }
    if let Some(regex) = keys.regex.as_ref().filter(|_| keys.command.is_none()) {
        let problem = Problem::new("`regex` reads what a command wrote");
        problems.add(problem.at(regex.place, "there is no `command` here").help("remove it"));
    }
    if let Some(jmx) = &keys.jmx {
        let runs_ruby = subject.keys.runtime.as_ref().filter(|runtime| runtime.value == RuntimeName::Ruby);
        if let Some(runtime) = runs_ruby {
            problems.add(
                Problem::new("a Ruby program has no managed beans")
                    .at(jmx.bean.place, "asked for here")
                    .at(runtime.place, "what runs the server")
                    .help("read it by `http`, `command` or `threads`"),
            );
        }
        if let Some(fault) = bean_fault(&jmx.bean) {
            let problem = Problem::new(format!("`{}` is no name of a bean", jmx.bean.value));
            problems
                .add(problem.at(jmx.bean.place, fault).help("a domain and properties, as in `java.lang:type=Memory`"));
        }
        if jmx.attribute.split('.').any(|part| part.trim().is_empty()) {
            let problem = Problem::new(format!("`{}` is no attribute of a bean", jmx.attribute.value));
            problems
                .add(problem.at(jmx.attribute.place, "empty, or a part of it is").help("as in `HeapMemoryUsage.max`"));
        }
        return Some(AssertionSource::Jmx { bean: jmx.bean.value.clone(), attribute: jmx.attribute.value.clone() });
    }
    if let Some(http) = &keys.http {
        check_path(&http.get, problems);
        Placeholders::of_request().check_text(&http.get, http.get.place, problems);
        check_json_path(&http.json, http.json.place, problems);
        return Some(AssertionSource::Http { path: http.get.value.clone(), json: http.json.value.clone() });
    }
    if let Some(command) = &keys.command {
        if command.trim().is_empty() {
            let problem = Problem::new("an empty command says nothing");
            problems
                .add(problem.at(command.place, "no command").help("as in `command = \"cat {trial_dir}/pool.size\"`"));
        }
        placeholders.check(command, problems);
        let regex = keys.regex.as_ref().map(|regex| regex.value.clone());
        return Some(AssertionSource::Command { command: command.value.0.clone(), regex });
    }
    keys.threads.as_ref().map(|name| AssertionSource::Threads(name.value.clone()))
}

/// Whether the value is a pool's size, which is a number.
fn is_pool(keys: &AssertionKeys, expect: &Expected, problems: &mut Problems) -> bool {
    let Some(pool) = keys.pool.as_ref().filter(|pool| pool.value) else { return false };
    if !expect.fits_counts() {
        problems.add(
            Problem::new(format!("no pool has a size of `{}`", expect.text()))
                .at(keys.expect.as_ref().map_or(keys.name.place, |expect| expect.place), "no number")
                .at(pool.place, "the size of a pool, this says")
                .help("as in `10` or `\">= 10\"`"),
        );
    }
    true
}

/// Finds fault with an assertion that is not read in one way.
fn one_way(keys: &AssertionKeys, problems: &mut Problems) -> Option<()> {
    let written = [
        ("jmx", keys.jmx.as_ref().map(|jmx| jmx.bean.place)),
        ("http", keys.http.as_ref().map(|http| http.get.place)),
        ("command", keys.command.as_ref().map(|command| command.place)),
        ("threads", keys.threads.as_ref().map(|threads| threads.place)),
    ];
    let written: Vec<_> = written.into_iter().filter_map(|(way, place)| Some((way, place?))).collect();
    if let [_] = written[..] {
        return Some(());
    }
    let name = &keys.name;
    let problem = Problem::new(format!("assertion `{}` has to be read in one way", name.value));
    problems.add(if written.is_empty() {
        problem
            .at(name.place, "one of `jmx`, `http`, `command` and `threads` is needed")
            .help("as in `threads = \"^worker-\"` or `http = { get = \"/status\", json = \"$.pool\" }`")
    } else {
        let reported = |problem: Problem, (way, place): (&str, SourceSpan)| problem.at(place, format!("`{way}` here"));
        written
            .into_iter()
            .fold(problem, reported)
            .help("leave one of them, and give the others assertions of their own")
    });
    None
}

/// Finds fault with a regular expression.
fn check_pattern(pattern: &At<String>, problems: &mut Problems) {
    let fault = match Regex::new(pattern) {
        _ if pattern.is_empty() => Some("empty: it is found everywhere".to_owned()),
        Ok(_) => None,
        Err(error) => Some(error.to_string().replace('\n', " ")),
    };
    if let Some(fault) = fault {
        let problem = Problem::new(format!("`{}` is not a regular expression that finds something", pattern.value));
        problems.add(problem.at(pattern.place, fault).help("as in `^worker-`; see docs.rs/regex for the syntax"));
    }
}

/// What keeps a text from being an object name of JMX, or a pattern for one: `domain:key=value,key=value`
/// (`javax.management.ObjectName`).
fn bean_fault(bean: &str) -> Option<&'static str> {
    let Some((domain, properties)) = bean.split_once(':') else { return Some("without a `:`") };
    if domain.trim().is_empty() {
        return Some("no domain before the `:`");
    }
    // A `,` in quotes belongs to a value.
    let mut is_quoted = false;
    let mut parts = properties.split(|letter: char| {
        is_quoted ^= letter == '"';
        letter == ',' && !is_quoted
    });
    let is_property = |part: &str| {
        part == "*" || part.split_once('=').is_some_and(|(key, value)| !key.trim().is_empty() && !value.is_empty())
    };
    (!parts.all(is_property)).then_some("needs `key=value` after the `:`, several with `,` between them")
}

/// The steps whose answers are counted; none where a value is expected.
fn answered(keys: &AssertionKeys, problems: &mut Problems) -> Vec<String> {
    let Some(steps) = &keys.answered else { return Vec::new() };
    if let Some(expect) = &keys.expect {
        problems.add(
            Problem::new(format!("assertion `{}` expects two things", keys.name.value))
                .at(expect.place, "this value")
                .at(steps.place, "and as many as were answered")
                .help("leave one of them, and give the other an assertion of its own"),
        );
    }
    if steps.is_empty() {
        problems.add(Problem::new("nothing is counted").at(steps.place, "names no step").help("name a step"));
    }
    if keys.when != When::After {
        let problem = Problem::new("how many are answered is known after the loads");
        problems.add(problem.at(steps.place, "counted here").help("add `when = \"after\"`"));
    }
    steps.iter().map(|step| step.value.clone()).collect()
}

fn expected(
    keys: &AssertionKeys,
    subject: &Subject<'_>,
    answered: &[String],
    problems: &mut Problems,
) -> Option<Expected> {
    if keys.answered.is_some() {
        return Some(Expected::answered(answered));
    }
    let Some(expect) = &keys.expect else {
        problems.add(
            Problem::new(format!("assertion `{}` expects nothing", keys.name.value))
                .at(keys.name.place, "one of `expect` and `answered` is needed")
                .help("as in `expect = 10`, `expect = \">= 8\"` or `answered = [\"order\"]`"),
        );
        return None;
    };
    let text = match &expect.value {
        ExpectedValues::One(text) => text,
        ExpectedValues::Each(each) => {
            let own = each.get(subject.name).or_else(|| subject.levels.iter().find_map(|level| each.get(*level)));
            let Some(own) = own else {
                problems.add(
                    Problem::new(format!(
                        "assertion `{}` expects nothing of variant `{}`",
                        keys.name.value, subject.name
                    ))
                    .at(expect.place, "names neither it nor one of its levels")
                    .help("say what each variant has to show, by its name or by a level's"),
                );
                return None;
            };
            own
        }
    };
    let Some(expected) = Expected::parse(text) else {
        let problem = Problem::new(format!("`{}` is no comparison that there is", &**text));
        problems.add(
            problem
                .at(expect.place, "there are `>=` and `<=`, each with a number; all else is the value itself")
                .help("as in `\">= 8\"`, `\"<= 8\"` or `8`"),
        );
        return None;
    };
    if keys.threads.is_some() && !expected.fits_counts() {
        let problem = Problem::new(format!("no number of threads is `{}`", expected.text()));
        problems.add(problem.at(expect.place, "can never hold").help("`threads` counts: as in `8` or `\">= 8\"`"));
        return None;
    }
    Some(expected)
}
