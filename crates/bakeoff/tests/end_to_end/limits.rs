//! The highest rate at which an objective holds, and what is beyond it, of servers whose limit is known: a pool of workers that only wait.

use model::search::{Behaviour, LimitSummary, SearchEnd};
use model::{FactValue, Finding, Metric, Report, Severity, Verdict};

use crate::common::{Place, findings, script, subjects, text_of};

/// Workers of 10 ms each: so many hundred requests a second.
fn pool(workers: u32, keys: &str) -> String {
    script("", &format!("body = {{ size = 2000 }}\ndelay = \"10ms\"\nworkers = {workers}\n{keys}"))
}

/// All that the server was sent, held against what was answered.
const COUNTED: &str = r#"
[[assertion]]
name = "pages"
http = { get = "/known/record", json = "$.paths['/page'].received" }
when = "after"
answered = ["page"]

[warmup]"#;

fn searching(levels: &[(&str, &str)], find: &str) -> Place {
    let place = Place::with_study(levels);
    place.change("concurrency = 2", find).change("blocks = { min = 5, max = 5 }", "blocks = { min = 3, max = 3 }");
    place
}

fn found(report: &Report, variant: usize) -> &LimitSummary {
    report.found_limits.iter().find(|found| found.variant == variant).unwrap()
}

/// The first fact of that name.
fn fact<'a>(finding: &'a Finding, name: &str) -> &'a FactValue {
    &finding.facts.iter().find(|fact| fact.name == name).unwrap().value
}

#[test]
fn the_capacity_is_found_and_who_collapses_beyond_it() {
    let (sheds, collapses) = (pool(4, "queue = 20"), pool(6, ""));
    let place = searching(
        &[("sheds", &sheds), ("collapses", &collapses)],
        "find_limit = { p95 = \"100ms\", from = 350, to = 5_000 }",
    );
    place.change("\n[warmup]", COUNTED);
    place.run(&["check", "study.toml"]).ends_with(0).says("page@limit").says("decides capacity");
    let ran = place.run(&["run", "study.toml", "--seed", "3"]).ends_with(0);
    ran.says("the capacity of collapses is").says("higher than that of sheds").says("page@limit: p95 within 100 ms");
    let report = place.report();
    assert_eq!(report.primary, Metric::Capacity);
    let Verdict::Better { effect } = &report.judgements[0].verdict else { panic!("{:#?}", report.judgements) };
    let truth = (600.0_f64 / 400.0).ln();
    assert!((effect.estimate - truth).abs() < 0.1, "{effect:?} of {truth}");
    for (variant, capacity, behaviour) in [(0, 400.0, Behaviour::Sheds), (1, 600.0, Behaviour::Collapses)] {
        let found = found(&report, variant);
        let median = found.capacity.unwrap().median;
        assert!((median / capacity - 1.0_f64).abs() < 0.1, "{found:#?}");
        let overload = found.overload.as_ref().unwrap();
        assert!((overload.asked / median - 2.0).abs() < 0.1, "{overload:#?}");
        assert_eq!(overload.behaviour, behaviour, "{overload:#?}");
    }
    let [first, second] = [0, 1].map(|variant| found(&report, variant).overload.as_ref().unwrap());
    assert!(first.statuses[&503] > 0 && first.failed_share > 0.3 && first.not_recovered == 0, "{first:#?}");
    assert!(second.late_share > 0.9 && second.failures.is_empty(), "{second:#?}");
    // What waits has to be answered before anything is in time again.
    let recovery = |overload: &model::search::OverloadSummary| overload.recovery.map_or(f64::MAX, |took| took.median);
    assert!(recovery(first) < recovery(second), "{first:#?} {second:#?}");
    assert_eq!(findings(&report, "limit-not-found"), Vec::<&Finding>::new());
    assert_eq!(findings(&report, "assertion-failed"), Vec::<&Finding>::new());
    let counted =
        place.trials().iter().flat_map(|trial| trial["settings"].as_array().unwrap().clone()).collect::<Vec<_>>();
    assert_eq!(counted.iter().filter(|setting| setting["name"] == "pages").count(), 6, "{counted:#?}");
    for page in ["--md", "--csv"] {
        place.run(&["report", page]).ends_with(0).says("capacity").says("goodput");
    }
}

#[test]
fn a_limit_outside_the_rates_ends_the_run() {
    // Each answer of the one takes longer than it may; the other could answer twice as much.
    let (fast, slow) = (pool(4, ""), script("", "body = { size = 2000 }\ndelay = \"150ms\""));
    let place =
        searching(&[("fast", &fast), ("slow", &slow)], "find_limit = { p95 = \"100ms\", from = 100, to = 200 }");
    place.run(&["run", "study.toml"]).ends_with(5).says("limit-not-found").says("even the first rate, 100/s");
    let report = place.report();
    assert_eq!(subjects(&report, "limit-not-found"), ["fast, page@limit", "slow, page@limit"]);
    for finding in findings(&report, "limit-not-found") {
        assert_eq!(finding.severity, Severity::Invalid, "{finding:#?}");
        assert_eq!(*fact(finding, "launches without a limit"), "2 of 2".into(), "no third block would help");
    }
    let ends = [0, 1].map(|variant| found(&report, variant).searches[0].end);
    assert_eq!(ends, [SearchEnd::NeverBroken, SearchEnd::NeverHeld]);
    assert!(report.found_limits.iter().all(|found| found.capacity.is_none() && found.overload.is_none()));
}

#[test]
fn connections_that_are_the_limit_are_not_the_servers() {
    // Two at a time, 50 ms each: 40/s, whatever the server could do.
    let page = script("", "body = { size = 2000 }\ndelay = \"50ms\"");
    let find = "find_limit = { p95 = \"100ms\", from = 30, to = 200 }\nconnections = 2";
    let place = searching(&[("one", &page), ("other", &page)], find);
    place.one_after_another();
    place.run(&["run", "study.toml"]).ends_with(5);
    let report = place.report();
    let found = findings(&report, "limit-not-found");
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found.iter().all(|finding| text_of(finding).contains("at 60.0/s the connections were the limit")));
}
