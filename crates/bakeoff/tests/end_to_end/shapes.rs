//! Loads of every shape: in studies, and on the command line.

use knownserver::{Delay, KnownServer, Route, Script};
use model::{Interpretation, Metric, Role, Verdict};
use serde_json::Value;
use std::time::Duration;

use crate::common::{Place, findings, page, subjects};

/// An open loop at 200/s, decided by its median.
const OPEN: &str = "rate = 200\npoisson = true";

fn open(levels: &[(&str, &str)]) -> Place {
    let place = Place::with_study(levels);
    place.change("concurrency = 2", OPEN).change("duration = \"1s\"", "duration = \"2s\"");
    place
}

#[test]
fn at_a_rate_a_known_difference_is_found_in_response_time() {
    let place = open(&[("fast", &page("50ms")), ("slow", &page("60ms"))]);
    // Others may use the machine, so the delays are long, and it goes on until it knows.
    place.change("max = 5", "max = 20");
    place.run(&["check", "study.toml"]).ends_with(0).says("page@200/s").says("decides p50");
    place.run(&["run", "study.toml", "--seed", "7"]).ends_with(0).says("median response time of slow is");
    let report = place.report();
    let Verdict::Worse { effect } = &report.judgements[0].verdict else { panic!("{:#?}", report.judgements) };
    // What the client and the kernel take comes on top of both: nothing, or some milliseconds.
    let truth = [(65.0_f64 / 55.0).ln(), (60.0_f64 / 50.0).ln()];
    assert!(effect.low > 0.0 && effect.low <= truth[1] && effect.high >= truth[0], "{effect:?} of {truth:?}");
    assert_eq!(findings(&report, "rate-not-kept"), Vec::<&model::Finding>::new());
    let throughput = report.comparisons.iter().find(|comparison| comparison.metric == Metric::Throughput).unwrap();
    assert_ne!(throughput.role, Role::Primary);
    // Each cell made its requests in an open loop, the same for both variants of a block.
    let due = |trial: &Value| -> u64 {
        let samples = trial["cells"][0]["samples"].as_array().unwrap();
        samples.iter().map(|sample| sample["open"]["due"].as_u64().unwrap()).sum()
    };
    let dues: Vec<u64> = place.trials().iter().map(due).collect();
    assert!(dues.chunks(2).all(|block| block[0] == block[1]) && dues[0] != dues[2], "{dues:?}");
}

#[test]
fn at_a_rate_the_same_twice_is_not_different() {
    let place = open(&[("one", &page("50ms"))]);
    place.change("one = { args", "two = { args = [\"--script={dir}/one.toml\"] }\none = { args").change("2%", "50%");
    place.change("max = 5", "max = 20");
    place.run(&["run", "study.toml"]).ends_with(0);
    let report = place.report();
    assert_eq!(report.primary, Metric::P50);
    let primary = &report.comparisons[0];
    // On a machine that others keep busy it may not be settled, and it is never a difference.
    let settled = [Interpretation::Equivalent, Interpretation::Inconclusive];
    assert!(primary.effect.is_some() && settled.contains(&primary.interpretation), "{primary:#?}");
}

#[test]
fn a_variant_that_cannot_keep_up_is_named() {
    // Two at a time, 20 ms each: 100/s of the 200/s that are due.
    let place = open(&[("fast", &page("5ms")), ("slow", &page("20ms"))]);
    place.change(OPEN, "rate = 200\nconnections = 2");
    place.run(&["run", "study.toml"]).ends_with(0).says("rate-not-kept");
    let report = place.report();
    assert_eq!(subjects(&report, "rate-not-kept"), ["slow, page@200/s"]);
}

#[test]
fn stages_and_thinking_users_are_measured() {
    let place = Place::with_study(&[("fast", &page("2ms")), ("slow", &page("20ms"))]);
    let more = "stages = [{ to = 200, over = \"1s\" }, { to = 200, over = \"1s\" }]\n\n\
                [[workload]]\nname = \"users\"\nget = \"/page\"\nconcurrency = 20\nthink = { exponential = \"50ms\" }";
    place.change("concurrency = 2", more).change("rope = ", "cell = \"page@stages\"\nrope = ");
    place.run(&["run", "study.toml"]).ends_with(0).says("slow is");
    let report = place.report();
    assert!(report.cells.iter().map(|cell| &*cell.name).eq(["page@stages", "users@20"]));
    // 100 on the way up, 200 at the top.
    for trial in place.trials() {
        let cells = trial["cells"].as_array().unwrap();
        let staged = cells.iter().find(|cell| cell["cell"] == 0).unwrap();
        let due = |from_s: f64| -> u64 {
            let samples = staged["samples"].as_array().unwrap().iter();
            let within = samples.filter(|sample| (from_s..from_s + 1.0).contains(&sample["start_s"].as_f64().unwrap()));
            within.map(|sample| sample["open"]["due"].as_u64().unwrap()).sum()
        };
        assert_eq!([due(0.0), due(1.0)], [100, 200]);
    }
}

fn server() -> (KnownServer, String) {
    let delay = Delay::Fixed(Duration::from_millis(5));
    let route = Route { path: "*".to_owned(), delay, ..Route::default() };
    let server = KnownServer::start(Script { routes: vec![route], ..Script::default() }).unwrap();
    let url = format!("{}/", server.addr());
    (server, url)
}

#[test]
fn steps_and_stages_have_a_row_each() {
    let (place, (_server, url)) = (Place::new(), server());
    let json = |args: &[&str]| -> Value {
        let whole = [&["load", &url, "--json"], args].concat();
        serde_json::from_str(&place.run(&whole).ends_with(0).stdout).unwrap()
    };
    let output = json(&["-c", "1,8,2", "-d", "1s"]);
    let parts = output["parts"].as_array().unwrap();
    assert!(parts.iter().map(|part| part["load"].as_str().unwrap()).eq(["1", "8", "2"]), "{output}");
    for (part, users) in parts.iter().zip([1, 8, 2]) {
        // A user gets 200 answers a second at most, and one of the step before may come in this one.
        assert!((1..=200 * users + 8).contains(&part["good"].as_u64().unwrap()), "{part}");
        assert!((part["length_s"].as_f64().unwrap() - 1.0).abs() < 1e-9 && part["client_cores"].is_f64(), "{part}");
    }
    let output = json(&["--stages", "200:2s,200:1s,0:0s,0:1s,50:0s,50:1s"]);
    let parts = output["parts"].as_array().unwrap();
    assert!(
        parts.iter().map(|part| part["load"].as_str().unwrap()).eq(["0-200/s", "200/s", "0/s", "50/s"]),
        "{output}"
    );
    assert_eq!((output["open"]["due"].as_u64(), output["open"]["unsent"].as_u64()), (Some(450), Some(0)));

    let shown = place.run(&["load", &url, "-c", "1,4", "-d", "1s"]).ends_with(0);
    shown.says("closed loop of 2 steps, 4 connections").says("Step by step").says("client cores");
    let rows = place.run(&["load", &url, "--stages", "100:1s,100:1s", "--csv"]).ends_with(0).stdout;
    let loads: Vec<&str> = rows.lines().map(|row| row.split(',').next().unwrap()).collect();
    assert_eq!(loads, ["load", "0-100/s", "100/s"], "{rows}");
    place.run(&["load", &url, "-n", "40", "--think", "exp:1ms"]).ends_with(0).says("thinking 1.00 ms on average");
}

#[test]
fn shapes_that_contradict_each_other_are_refused() {
    let (place, (_server, url)) = (Place::new(), server());
    let refused = |args: &[&str], reason: &str| {
        place.run(&[&["load", &url], args].concat()).ends_with(2).complains(reason);
    };
    refused(&["-c", "1,2", "-R", "10"], "steps of a closed loop");
    refused(&["-c", "1,2", "-n", "10"], "steps of a closed loop");
    refused(&["-c", "1,2", "-d", "1500ms"], "no whole number of seconds");
    refused(&["-R", "10", "--stages", "10:1s"], "cannot be used with");
    refused(&["-R", "10", "--think", "1s"], "cannot be used with");
    refused(&["--stages", "10:1s", "-d", "2s"], "cannot be used with");
    refused(&["--stages", "10"], "expected RATE:TIME");
    refused(&["--think", "exp:1"], "a length of time");
}
