//! From `[[proof]]` to what each variant has to show.

use std::collections::BTreeSet;

use model::proof::{Expected, Proof, ProofSource};
use regex::Regex;

use crate::file::{ProofKeys, RuntimeName, ServerKeys, When};
use crate::placeholder::Placeholders;
use crate::problem::{Problem, Problems, did_you_mean};
use crate::value::{At, Wanted};
use crate::workload::{check_json_path, check_path};

/// What a variant is, as far as proofs are concerned.
pub(crate) struct Subject<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its levels' names.
    pub levels: &'a [&'a str],
    /// Its merged keys.
    pub keys: &'a ServerKeys,
}

/// What a variant has to show.
pub(crate) fn proofs(
    all: &[At<ProofKeys>],
    subject: &Subject<'_>,
    placeholders: &Placeholders,
    problems: &mut Problems,
) -> Vec<Proof> {
    let mut names = BTreeSet::new();
    let mut proofs = Vec::new();
    for keys in all {
        if !names.insert(keys.name.value.as_str()) {
            let problem = Problem::new(format!("two proofs are called `{}`", keys.name.value));
            problems.add(problem.at(keys.name.place, "again").help("give each its own name"));
        }
        let source = source(keys, subject, placeholders, problems);
        let expect = expected(keys, subject, problems);
        if let (Some(read), Some(expect)) = (source, expect) {
            proofs.push(Proof { name: keys.name.value.clone(), read, expect, after: keys.when == When::After });
        }
    }
    proofs
}

/// Levels and variants that expectations may name, held against those that do.
pub(crate) fn check_names(all: &[At<ProofKeys>], known: &[&str], problems: &mut Problems) {
    for keys in all {
        let Wanted::Each(each) = &keys.expect.value else { continue };
        for name in each.keys().filter(|name| !known.contains(&name.as_str())) {
            problems.add(
                Problem::new(format!("no level and no variant is called `{name}`"))
                    .at(keys.expect.place, "named here")
                    .help(did_you_mean(name, known)),
            );
        }
    }
}

fn source(
    keys: &ProofKeys,
    subject: &Subject<'_>,
    placeholders: &Placeholders,
    problems: &mut Problems,
) -> Option<ProofSource> {
    let place = keys.name.place;
    let written = [keys.jmx.is_some(), keys.http.is_some(), keys.command.is_some(), keys.threads.is_some()];
    if written.iter().filter(|is| **is).count() != 1 {
        problems.add(
            Problem::new(format!("proof `{}` has to be read in one way", keys.name.value))
                .at(place, "one of `jmx`, `http`, `command` and `threads` is needed")
                .help("as in `threads = \"^worker-\"` or `http = { get = \"/status\", json = \"$.pool\" }`"),
        );
        return None;
    }
    let pattern = keys.threads.as_ref().or(keys.regex.as_ref());
    if let Some((pattern, error)) = pattern.and_then(|pattern| Some((pattern, Regex::new(pattern).err()?))) {
        let problem = Problem::new(format!("`{}` is not a regular expression", pattern.value));
        problems.add(
            problem.at(pattern.place, error.to_string().replace('\n', " ")).help("see docs.rs/regex for the syntax"),
        );
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
        if !jmx.bean.contains(':') {
            let problem = Problem::new(format!("`{}` is no name of a bean", jmx.bean.value));
            problems.add(problem.at(jmx.bean.place, "without a `:`").help("as in `java.lang:type=Memory`"));
        }
        return Some(ProofSource::Jmx { bean: jmx.bean.value.clone(), attribute: jmx.attribute.value.clone() });
    }
    if let Some(http) = &keys.http {
        check_path(&http.get, problems);
        check_json_path(&http.json, http.json.place, problems);
        return Some(ProofSource::Http { path: http.get.value.clone(), json: http.json.value.clone() });
    }
    if let Some(command) = &keys.command {
        placeholders.check(command, problems);
        let regex = keys.regex.as_ref().map(|regex| regex.value.clone());
        return Some(ProofSource::Command { command: command.value.0.clone(), regex });
    }
    keys.threads.as_ref().map(|name| ProofSource::Threads(name.value.clone()))
}

fn expected(keys: &ProofKeys, subject: &Subject<'_>, problems: &mut Problems) -> Option<Expected> {
    let text = match &keys.expect.value {
        Wanted::One(text) => text,
        Wanted::Each(each) => {
            let own = each.get(subject.name).or_else(|| subject.levels.iter().find_map(|level| each.get(*level)));
            let Some(own) = own else {
                problems.add(
                    Problem::new(format!("proof `{}` expects nothing of variant `{}`", keys.name.value, subject.name))
                        .at(keys.expect.place, "names neither it nor one of its levels")
                        .help("say what each variant has to show, by its name or by a level's"),
                );
                return None;
            };
            own
        }
    };
    let expected = Expected::parse(text);
    if expected.is_none() {
        let problem = Problem::new(format!("`{}` compares with no number", &**text));
        problems.add(problem.at(keys.expect.place, "`>=` and `<=` are for numbers").help("as in `\">= 8\"`"));
    }
    expected
}
