//! What results of other tools support, on results whose truth is known.

use needs::{Need, published};
use serde_json::Value;

use crate::common::Place;

/// What `bakeoff audit --json` says of published results; `None` where they are not here.
fn audited(files: &[&str]) -> Option<Vec<Value>> {
    if !needs::has(Need::Published) {
        return None;
    }
    let place = Place::new();
    let paths: Vec<String> = files.iter().map(|file| published(file).display().to_string()).collect();
    let args: Vec<&str> = ["audit", "--json"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    Some(place.json(&args).as_array().unwrap().clone())
}

fn rules(audited: &Value) -> Vec<&str> {
    audited["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

/// Begin and rate of each level.
fn levels(audited: &Value) -> Vec<[f64; 2]> {
    let levels = audited["levels"].as_array().unwrap();
    levels.iter().map(|level| ["from_s", "rate"].map(|name| level[name].as_f64().unwrap())).collect()
}

#[test]
fn four_hours_at_one_speed_are_one_level() {
    let Some(audited) = audited(&["killbill/run-04_2.jtl.gz"]) else { return };
    let run = &audited[0];
    assert_eq!((&run["requests"], &run["failed"], &run["users"]), (&43_400.into(), &1_500.into(), &100.into()));
    let levels = levels(run);
    assert!(levels.len() == 1 && (levels[0][1] / 2.998 - 1.0).abs() < 0.05, "{levels:?}");
    assert_eq!(run["support"], "direction-only");
    assert!(rules(run).contains(&"errors") && !rules(run).contains(&"regime-change"), "{run}");
}

#[test]
fn the_moment_when_a_machine_slows_down_is_found() {
    let known = [
        ("killbill/run-07_3.jtl.gz", 33_279, 1_860.0..=1_860.0, [7.51, 1.59]),
        ("killbill/run-07_5.jtl.gz", 40_520, 3_270.0..=3_570.0, [7.43, 1.47]),
        ("killbill/run-09_4.jtl.gz", 41_396, 2_700.0..=3_030.0, [7.53, 1.50]),
    ];
    for (file, requests, fall_s, rates) in known {
        let Some(audited) = audited(&[file]) else { return };
        let run = &audited[0];
        assert_eq!(run["requests"], requests, "{file}");
        let levels = levels(run);
        assert!(levels.len() > 1, "{file}: {levels:?}");
        assert!(levels[1][0] > fall_s.start() - 180.0 && levels[1][0] < fall_s.end() + 180.0, "{file}: {levels:?}");
        for rate in rates {
            assert!(levels.iter().any(|level| (level[1] / rate - 1.0).abs() < 0.05), "{file}: {rate}, {levels:?}");
        }
        assert_eq!(run["support"], "not-supported", "{file}");
        assert!(
            ["regime-change", "burst-credit", "not-replicated"].iter().all(|rule| rules(run).contains(rule)),
            "{run}"
        );
    }
}

#[test]
fn a_run_that_breaks_on_its_way_has_a_burst_of_errors() {
    let Some(audited) = audited(&["killbill/run-09_4.jtl.gz", "killbill/run-07_5.jtl.gz"]) else { return };
    assert!(rules(&audited[0]).contains(&"error-burst"), "{}", audited[0]);
    assert!(!rules(&audited[1]).contains(&"error-burst"), "{}", audited[1]);
    let never_sent = audited[1]["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "never-sent");
    assert_eq!(never_sent.unwrap()["facts"][0]["value"], "2 of 6 failed");
}

#[test]
fn an_error_page_is_not_supported() {
    let settings = |side: &str| format!("gocd/stage-settings-page-{side}-n-1000-c-20.log");
    let Some(audited) = audited(&[&settings("turnoff-id"), &settings("default")]) else { return };
    assert_eq!((&audited[0]["support"], &audited[1]["support"]), (&"not-supported".into(), &"cannot-tell".into()));
    assert_eq!((&audited[0]["requests"], &audited[0]["failed"]), (&1_000.into(), &1_000.into()));
    assert!(["errors", "too-short", "not-replicated"].iter().all(|rule| rules(&audited[0]).contains(rule)));
    assert_eq!((&audited[0]["body_length"]["max"], &audited[1]["body_length"]["max"]), (&1_266.into(), &15_118.into()));
    assert_eq!((&audited[0]["p50_us"], &audited[1]["p99_us"]), (&18_000.0.into(), &1_350_000.0.into()));
    assert!(audited[1]["silent"].as_array().unwrap().contains(&"regime-change".into()), "{}", audited[1]);
}

#[test]
fn a_folder_is_read_whole_and_what_is_no_result_is_named() {
    let place = Place::new();
    let line = "1420840843879|233|page|200|users 1-1|true|431|1|1|225\n";
    place.write("old/deeper/a.txt", &line.repeat(40));
    place.write("old/notes.md", "# Notes\n");
    let run = place.run(&["audit", "old"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("old/deeper/a.txt: cannot tell"), "{}", run.stdout);
    assert!(run.stdout.contains("old/notes.md is in no format that is known"), "{}", run.stdout);
    let refused = place.run(&["audit", "old/notes.md"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    let absent = place.run(&["audit", "nowhere"]);
    assert!(absent.code == Some(2) && absent.stdout.contains("nowhere: "), "{}", absent.stdout);
}
