//! Start scripts that assign an option variable: what became of the study's options is found out in the process that serves.

use std::fmt::Write as _;
use std::fs;

use crate::common::{Place, findings, knownserver, page, subjects, text_of};
use model::{Report, Severity};

/// Starts the server in each of the ways that start scripts have; all serve the same page.
fn scripts() -> Place {
    let server = format!("\"{}\" \"$@\"", knownserver().display());
    let place = Place::with_study(&[("known", &page("5ms"))]);
    let text = fs::read_to_string(place.path("study.toml")).unwrap();
    let levels = [
        ("replaced", "JAVA_OPTS=\"-XX:+UseThreadPriorities\"\nexec "),
        ("replaced-below", "JAVA_OPTS=\"-XX:+UseThreadPriorities\"\n"),
        ("added-to", "JAVA_OPTS=\"-Dfirst=1 $JAVA_OPTS -XX:+UseThreadPriorities\"\nexec "),
        ("reordered", "JAVA_OPTS=\"-Xmx64m -XX:+UseParallelGC\"\n"),
    ];
    let mut lines = String::new();
    for (level, start) in levels {
        place.write(&format!("{level}.sh"), &format!("{start}{server}\n"));
        let args = format!("\"{{dir}}/{level}.sh\", \"--port={{port}}\", \"--script={{dir}}/known.toml\"");
        writeln!(lines, "{level} = {{ args = [{args}] }}").unwrap();
    }
    let (head, tail) = text.split_once("known = {").unwrap();
    let tail = tail.split_once('\n').unwrap().1;
    place.write("study.toml", &format!("{head}{lines}{tail}"));
    place
        .change(&format!("{} --port {{port}}", knownserver().display()), "sh")
        .change("stop_within", "env = { JAVA_OPTS = \"-XX:+UseParallelGC -Xmx64m\" }\nstop_within");
    place
}

fn sorted_subjects(report: &Report, rule: &str) -> Vec<String> {
    let mut subjects = subjects(report, rule);
    subjects.sort_unstable();
    subjects
}

#[test]
fn a_script_that_assigns_an_option_variable_again_is_shown_with_what_was_lost() {
    let place = scripts();
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(4);
    started.signal("INT");
    started.end().ends_with(130);
    place.assert_nothing_is_left();
    let report = place.report();
    let replaced = ["replaced-below: JAVA_OPTS", "replaced: JAVA_OPTS"];
    assert_eq!(sorted_subjects(&report, "options-overwritten"), replaced, "{:#?}", report.findings);
    // What is there beside the study's options is no other value; what serves counts, not the script that was launched.
    assert_eq!(sorted_subjects(&report, "setting-not-effective"), replaced, "{:#?}", report.findings);
    for found in findings(&report, "options-overwritten") {
        assert_eq!(found.severity, Severity::Warning);
        let text = text_of(found);
        assert!(text.contains("the script's value: -XX:+UseThreadPriorities\n"), "{text}");
        assert!(text.contains("lost: -XX:+UseParallelGC -Xmx64m\n"), "{text}");
        assert!(text.contains("knownserver\n"), "the process that serves, not its script: {text}");
    }
}
