//! A start script assigned an option variable again without its old value.

use model::imported::Overwrite;
use model::{ChangedOptions, Fact, Finding, FindingId, LaunchFacts, Severity, StudyRecord, Subject, VariantIndex};
use runtimes::Key;

use super::rule::{Check, InEffect, Rule, launches};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("options-overwritten"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/options-overwritten.md"),
    checks: &[Check::Run(rule), Check::Settings(in_file)],
};

/// A warning where a line of a file assigns a variable again without its old value.
fn in_file(in_effect: &InEffect) -> Option<Finding> {
    let of = |overwrite: &Overwrite| {
        let lines: Vec<String> = overwrite.lines.iter().map(u64::to_string).collect();
        let of_lines = if lines.len() == 1 { "line" } else { "lines" };
        let (variable, line) = (&overwrite.variable, overwrite.line);
        Fact::new(
            format!("{variable} assigned again in line {line}, lost of {of_lines} {}", lines.join(", ")),
            overwrite.lost.join(" "),
        )
    };
    let facts: Vec<Fact> = in_effect.overwritten.iter().map(of).collect();
    let found = RULE.found(
        Severity::Warning,
        Subject::Server,
        "A line assigned this variable again without its old value: the server ran without the options that are named as lost.",
        "Have the line add to it (JAVA_OPTS=\"$JAVA_OPTS ...\"), or assign there all that the server needs.",
    );
    (!facts.is_empty()).then_some(Finding { facts, ..found })
}

/// A warning for each variant and option variable of which a process that serves lacks a word, in any launch.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    (0..record.study.variants.len()).flat_map(|variant| of_variant(record, variant)).collect()
}

fn of_variant(record: &StudyRecord, variant: VariantIndex) -> Vec<Finding> {
    let launches: Vec<_> = launches(record, variant).filter_map(|trial| trial.launch.as_ref()).collect();
    let mut first: Vec<&ChangedOptions> = Vec::new();
    for changed in launches.iter().flat_map(|launch| overwritten(launch)) {
        if first.iter().all(|known| known.variable != changed.variable) {
            first.push(changed);
        }
    }
    let found = |changed: &ChangedOptions| {
        let there = |launch: &&&LaunchFacts| overwritten(launch).any(|other| other.variable == changed.variable);
        let there = launches.iter().filter(there).count();
        let found = RULE.found(
            Severity::Warning,
            Subject::Setting { variant, name: changed.variable.clone() },
            "A start script assigned this variable again without its old value: the process that serves runs with the \
             script's options, and without those of the study's that are named as lost.",
            "Have the script add to it (JAVA_OPTS=\"$JAVA_OPTS ...\"), or assign in the script all that the server needs.",
        )
        .with("the study's value", changed.requested.as_str())
        .with("the script's value", if changed.live.is_empty() { "(empty)" } else { changed.live.as_str() })
        .with("lost", changed.lost().join(" "))
        .with("in the process", changed.command.first().map_or("?", String::as_str))
        .with("launches", format!("{there} of {}", launches.len()));
        let treatment = &record.study.variants[variant].treatment;
        match treatment.iter().find(|requested| requested.key == Key::Env(changed.variable.clone())) {
            Some(requested) => found.with("part of the treatment", format!("factor {}", requested.factor)),
            None => found,
        }
    };
    first.into_iter().map(found).collect()
}

fn overwritten(launch: &LaunchFacts) -> impl Iterator<Item = &ChangedOptions> {
    launch.changed_options.iter().filter(|changed| !changed.lost().is_empty())
}

#[cfg(test)]
mod tests {
    use model::study::RequestedSetting;
    use runtimes::Given;

    use super::*;
    use crate::audit::testing::{found, in_settings};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    /// A run whose launches of the second variant had `JAVA_OPTS` with another value.
    fn with(requested: &str, live: &str, command: &[&str]) -> StudyRecord {
        let mut record = fixture::record(5, 0.0);
        let changed = ChangedOptions {
            variable: "JAVA_OPTS".to_owned(),
            requested: requested.to_owned(),
            live: live.to_owned(),
            command: command.iter().map(|word| (*word).to_owned()).collect(),
        };
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            // Two processes that serve.
            trial.launch.as_mut().unwrap().changed_options = vec![changed.clone(), changed.clone()];
        }
        record
    }

    const ASKED: &str = "-XX:+UseParallelGC -XX:ReservedCodeCacheSize=512m -Djava.awt.headless=true";

    #[test]
    fn a_variable_that_was_assigned_again() {
        let record = with(ASKED, "-XX:+UseThreadPriorities -Djava.awt.headless=true", &["java", "Main"]);
        assert_eq!(found(rule, &record), [(Severity::Warning, "on: JAVA_OPTS".to_owned())]);
        let boundaries = Boundaries::standard();
        let [found] = &rule(&record, &crate::assess(&record, &boundaries))[..] else { panic!("one finding") };
        let reported = |name| found.facts.iter().find(|fact| fact.name == name).unwrap().value.to_string();
        assert_eq!(reported("the script's value"), "-XX:+UseThreadPriorities -Djava.awt.headless=true");
        assert_eq!(reported("lost"), "-XX:+UseParallelGC -XX:ReservedCodeCacheSize=512m");
        assert_eq!(reported("launches"), "7 of 7");
        assert!(found.facts.iter().all(|fact| fact.name != "part of the treatment"));
        let mut record = record;
        let variable = Given::variable("JAVA_OPTS", ASKED);
        record.study.variants[1].treatment.push(RequestedSetting::new("options", variable));
        let [found] = &rule(&record, &crate::assess(&record, &boundaries))[..] else { panic!("one finding") };
        assert_eq!(found.facts.last().unwrap().value, "factor options".into());
    }

    #[test]
    fn a_line_of_a_file_that_drops_what_others_gave() {
        let of = |is_added| {
            let lines = [("JAVA_OPTS", 0, false, "-Da=b -Xmx1g"), ("JAVA_OPTS", 0, is_added, "-Xmx2g")];
            in_settings(&RULE, fixture::settings(&lines))
        };
        assert_eq!(of(true), None);
        let found = of(false).unwrap();
        assert_eq!(found.severity, Severity::Warning);
        assert_eq!(found.facts, [Fact::new("JAVA_OPTS assigned again in line 2, lost of line 1", "-Da=b -Xmx1g")]);
    }

    #[test]
    fn options_that_are_still_there_are_not_lost() {
        assert_eq!(found(rule, &fixture::record(5, 0.0)), []);
        let kept = |live: &str, command: &[&str]| assert_eq!(found(rule, &with(ASKED, live, command)), [], "{live}");
        kept(&format!("{ASKED} -XX:+UseThreadPriorities"), &["java", "Main"]);
        kept(&format!("-Da=b {ASKED}"), &["java", "Main"]);
        let mut words: Vec<&str> = ASKED.split(' ').collect();
        words.reverse();
        kept(&words.join(" "), &["java", "Main"]);
        // A launcher that hands options over one by one, as JRuby's does with -Xmx.
        words.insert(0, "java");
        kept("", &words);
    }
}
