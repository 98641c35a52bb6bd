//! What results of other tools support, on results whose truth is known.

use std::fs;

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
    Some(place.json(&args)["runs"].as_array().unwrap().clone())
}

fn rules(audited: &Value) -> Vec<&str> {
    audited["findings"].as_array().unwrap().iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

/// What a rule lacks, if it is silent.
fn lacks<'a>(audited: &'a Value, rule: &str) -> Vec<&'a str> {
    let silent = audited["silent"].as_array().unwrap().iter().filter(|silence| silence["id"] == rule);
    silent.map(|silence| silence["lacks"].as_str().unwrap()).collect()
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
        // A warm-up may be a level before it.
        let falls = |pair: &[[f64; 2]]| {
            pair[1][1] < pair[0][1] && pair[1][0] > fall_s.start() - 180.0 && pair[1][0] < fall_s.end() + 180.0
        };
        assert!(levels.windows(2).any(falls), "{file}: {levels:?}");
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
    assert_eq!(
        (&audited[0]["failed_length"]["max"], &audited[1]["body_length"]["max"]),
        (&1_266.into(), &15_118.into())
    );
    assert_eq!(audited[0]["body_length"], Value::Null);
    assert_eq!((&audited[0]["p50_us"], &audited[1]["p99_us"]), (&18_000.0.into(), &1_350_000.0.into()));
    assert_eq!(lacks(&audited[1], "regime-change"), ["the file keeps a summary, not numbers of intervals"]);
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
    assert!(absent.code == Some(2) && absent.stderr.contains("there is no file nowhere"), "{}", absent.stderr);
}

/// What `bakeoff audit --json` says of two published results, and its exit code; `None` where they are not here.
fn compared(files: [&str; 2], claim: &str) -> Option<(Value, Option<i32>)> {
    if !needs::has(Need::Published) {
        return None;
    }
    let place = Place::new();
    let paths = files.map(|file| published(file).display().to_string());
    let run = place.run(&["audit", "--json", "--claim", claim, &paths[0], &paths[1]]);
    Some((serde_json::from_str(&run.stdout).unwrap(), run.code))
}

#[test]
fn an_error_page_is_no_faster_page() {
    let settings = ["default", "turnoff-id"].map(|side| format!("gocd/stage-settings-page-{side}-n-1000-c-20.log"));
    let Some((said, code)) = compared([&settings[0], &settings[1]], "b is 3.5 times faster than a") else { return };
    assert_eq!((code, &said["pair"]["support"]), (Some(5), &"not-supported".into()));
    assert_eq!(said["claim"]["answer"], "not-supported");
    let rules = rules(&said["pair"]);
    assert!(["responses-differ", "errors", "not-replicated"].iter().all(|rule| rules.contains(rule)), "{rules:?}");
}

#[test]
fn a_second_of_load_says_nothing_of_a_dashboard() {
    let pages = ["default", "turnoff-id"].map(|side| format!("gocd/pipelines-json-{side}-n-1000-c-20.log"));
    let Some((said, code)) = compared([&pages[0], &pages[1]], "b is faster than a") else { return };
    assert_eq!(
        (code, &said["pair"]["support"], &said["claim"]["answer"]),
        (Some(0), &"cannot-tell".into(), &"cannot-tell".into())
    );
    assert!(
        rules(&said["runs"][0]).contains(&"too-short") && rules(&said["pair"]).contains(&"not-replicated"),
        "{said}"
    );
}

#[test]
fn totals_that_say_when_a_machine_slowed_down_are_no_comparison() {
    let Some((said, code)) =
        compared(["killbill/run-07_3.jtl.gz", "killbill/run-07_5.jtl.gz"], "run-07_5 is 20 % faster than run-07_3")
    else {
        return;
    };
    // They had 100 and 50 users.
    assert_eq!((code, &said["claim"]["answer"]), (Some(5), &"not-supported".into()));
    assert!(rules(&said["pair"]).contains(&"confounded"), "{said}");
}

#[test]
fn three_times_slower_is_contradicted_by_the_time_before_either_fell() {
    let files = ["killbill/run-07_4.jmeter.log", "killbill/run-07_3.jtl.gz"];
    let Some((said, code)) = compared(files, "run-07_3 is 3 times slower than run-07_4") else { return };
    assert_eq!((code, &said["claim"]["answer"]), (Some(0), &"contradicted".into()));
    let matched = &said["pair"]["matched"];
    let [from_s, to_s] = ["from_s", "to_s"].map(|name| matched[name].as_f64().unwrap());
    assert!(from_s > 200.0 && from_s < 600.0 && (to_s - 1_860.0).abs() < 180.0, "{matched}");
    // 2.6 % faster over a time that others chose.
    let [low, high] = ["low", "high"].map(|end| matched["effect"][end].as_f64().unwrap());
    assert!(low > -0.05 && low < 0.026 && high > 0.026 && high < 0.06, "{matched}");
    let rules = rules(&said["pair"]);
    assert!(["compare-matched-window", "below-noise"].iter().all(|rule| rules.contains(rule)), "{rules:?}");
}

#[test]
fn two_results_are_compared_and_neither_one_nor_three() {
    let place = Place::new();
    let line = "1420840843879|233|page|200|users 1-1|true|431|1|1|225\n";
    place.write("a.jtl", &line.repeat(40));
    place.write("b.jtl", &line.repeat(50));
    let run = place.run(&["audit", "--pair", "a.jtl"]);
    assert!(
        run.code == Some(2) && run.stderr.contains("two results are compared, and only one is read here"),
        "{}",
        run.stderr
    );
    let run = place.run(&["audit", "a.jtl", "b.jtl", "--claim", "c is faster than a"]);
    assert!(run.code == Some(2) && run.stderr.contains("`c` is neither of the two runs"), "{}", run.stderr);
    let run = place.run(&["audit", "a.jtl", "b.jtl", "--pair", "--md"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.contains("## b.jtl against a.jtl: cannot tell") && run.stdout.contains("## Ask whoever ran it"),
        "{}",
        run.stdout
    );
    let run = place.run(&["audit", "a.jtl", "b.jtl", "--pair", "--html", "audit.html"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), "wrote audit.html\n"), "{}", run.stderr);
}

#[test]
fn settings_of_jmeter_say_which_columns_there_are() {
    let place = Place::new();
    let settings = "jmeter.save.saveservice.label=false\njmeter.save.saveservice.response_message=false\n\
                    jmeter.save.saveservice.thread_name=false\njmeter.save.saveservice.default_delimiter=;\n";
    place.write("old/user.properties", settings);
    place.write("old/a.jtl", &"1420840843879;233;200;text;true;;431;120;1;7;null;5;0;1\n".repeat(40));
    let run = &place.json(&["audit", "--json", "old"])["runs"][0];
    assert_eq!((&run["requests"], &run["users"]), (&40.into(), &7.into()), "{run}");
    let alone = &place.json(&["audit", "--json", "old/a.jtl"])["runs"];
    assert_eq!((&alone[0]["users"], alone.as_array().map(Vec::len)), (&7.into(), Some(1)));
    place.write("new/a.jtl", &"1420840843879;233;200;text;true;;431;120;1;7;null;5;0;1\n".repeat(40));
    assert_eq!(place.run(&["audit", "new/a.jtl"]).code, Some(2));
    let given = &place.json(&["audit", "--json", "old/user.properties", "new/a.jtl"])["runs"];
    assert_eq!((&given[0]["users"], given.as_array().map(Vec::len)), (&7.into(), Some(1)));
    let none = place.run(&["audit", "old/user.properties"]);
    assert!(none.code == Some(2) && none.stdout.contains("settings of JMeter"), "{}", none.stdout);
}

#[test]
fn the_log_of_a_summariser_shows_when_a_machine_slowed_down() {
    let Some(audited) = audited(&["killbill/run-07_4.jmeter.log"]) else { return };
    let run = &audited[0];
    assert_eq!((&run["requests"], &run["failed"], &run["users"]), (&99_043.into(), &26.into(), &100.into()));
    let levels = levels(run);
    let steady = levels.iter().find(|level| level[0] > 200.0 && level[0] < 600.0);
    assert!(steady.is_some_and(|level| (level[1] / 7.5 - 1.0).abs() < 0.05), "{levels:?}");
    assert!(levels.last().is_some_and(|level| level[0] > 12_000.0 && level[1] < 2.0), "{levels:?}");
    assert!(rules(run).contains(&"regime-change") && run["support"] == "not-supported", "{run}");
}

#[test]
fn a_series_ranks_by_the_same_time_and_says_why_rules_are_silent() {
    if !needs::has(Need::Published) {
        return;
    }
    let place = Place::new();
    let files = ["04_2", "07_3", "07_5", "09_4"]
        .map(|run| published(&format!("killbill/run-{run}.jtl.gz")).display().to_string());
    let all = |options: &[&'static str]| -> Vec<String> {
        options.iter().map(|option| (*option).to_owned()).chain(files.clone()).collect()
    };
    let asked = all(&["audit", "--json", "--series"]);
    let audited = place.json(&asked.iter().map(String::as_str).collect::<Vec<_>>());
    let series = &audited["series"][0];
    let of =
        |name: &str| -> Vec<Value> { series["runs"].as_array().unwrap().iter().map(|run| run[name].clone()).collect() };
    assert_eq!(of("name"), ["run-04_2", "run-07_3", "run-07_5", "run-09_4"]);
    assert_eq!(of("requests"), [43_400, 33_279, 40_520, 41_396]);
    let fell: Vec<Option<f64>> = of("fall").iter().map(|fall| fall["after_s"].as_f64()).collect();
    let known = [None, Some(1_860.0..=1_900.0), Some(3_200.0..=3_570.0), Some(2_680.0..=3_030.0)];
    for (fell, known) in fell.iter().zip(known) {
        assert_eq!(fell.is_some(), known.is_some());
        assert!(fell.zip(known).is_none_or(|(fell, known)| known.contains(&fell)), "{fell:?}");
    }
    let ranked: Vec<&str> =
        series["ranking"]["ranked"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap()).collect();
    assert_eq!(ranked, ["run-04_2", "run-07_5", "run-09_4", "run-07_3"]);
    // One of the three that fall fails altogether hours later, which is another thing.
    let finally: Vec<Option<bool>> = of("fall").iter().map(|fall| fall["is_only"].as_bool()).collect();
    assert_eq!(finally, [None, Some(true), Some(true), Some(true)]);
    assert_eq!(rules(series), [""; 0]);
    let silent = series["silent"].as_array().unwrap();
    let why = silent.iter().find(|silence| silence["id"] == "count-is-drop-time").unwrap();
    assert!(why["lacks"].as_str().unwrap().starts_with("of 4 runs 3 fell once"), "{why}");
    let asked = all(&["audit", "--series"]);
    let said = place.run(&asked.iter().map(String::as_str).collect::<Vec<_>>()).stdout;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("run-07_5 is 21.8 % better than run-07_3 (with 50 users, not 100)."), "{said}");
}

#[test]
fn a_pattern_makes_a_series_of_each_group() {
    let place = Place::new();
    for (hour, file) in ["run-7_1.txt", "run-7_2.txt", "run-8_1.txt", "other.txt"].iter().enumerate() {
        let began_ms = 1_420_840_843_879 + 3_600_000 * hour;
        place
            .write(&format!("old/{file}"), &format!("{began_ms}|233|page|200|users 1-1|true|431|1|1|225\n").repeat(40));
    }
    let audited = place.json(&["audit", "--json", "--series", "--by", r"run-(\d+)_", "old"]);
    let all = audited["series"].as_array().unwrap();
    let sizes: Vec<(&str, usize)> =
        all.iter().map(|one| (one["name"].as_str().unwrap(), one["runs"].as_array().unwrap().len())).collect();
    assert_eq!(sizes, [("7", 2), ("8", 1)]);
    assert!(audited["left_out"][0].as_str().unwrap().contains("other.txt"), "{audited}");
    let one = place.json(&["audit", "--json", "--series", "old"]);
    assert_eq!(one["series"][0]["runs"].as_array().unwrap().len(), 4);
    assert_eq!(one["left_out"].as_array().unwrap().len(), 0);
    // A copy is no run of its own.
    let copied = place.json(&["audit", "--json", "--series", "old", "old/run-7_1.txt"]);
    assert_eq!(copied["series"], one["series"]);
    let left_out = "old/run-7_1.txt: it is of the same run as old/run-7_1.txt: their times overlap";
    assert_eq!(copied["left_out"][0], left_out);
    let written = place.run(&["audit", "--series", "--by", r"run-(\d+)_", "--md", "old"]);
    assert!(written.code == Some(0) && written.stdout.contains("\n## 7: 2 runs\n"), "{}", written.stdout);
    let written = place.run(&["audit", "--series", "--html", "series.html", "old"]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), "wrote series.html\n"), "{}", written.stderr);
    let page = fs::read_to_string(place.path("series.html")).unwrap();
    assert!(page.contains("<h1>4 runs</h1>") && page.matches("<svg").count() == 1, "{page}");
    for args in [
        &["audit", "--series"][..],
        &["audit", "--series", "--by", "a", "old"],
        &["audit", "--series", "--by", "a(b", "old"],
    ] {
        assert_eq!(place.run(args).code, Some(2), "{args:?}");
    }
}

/// Results of `ab` on this machine, and what mpstat, sar and vmstat wrote down meanwhile.
fn recorded() -> Place {
    let place = Place::new();
    for (name, text) in [
        ("ab.tsv", include_str!("../../../import/fixtures/sysstat-12.6.1/ab.tsv")),
        ("ab.txt", include_str!("../../../import/fixtures/sysstat-12.6.1/ab.txt")),
        ("mpstat.txt", include_str!("../../../import/fixtures/sysstat-12.6.1/mpstat.txt")),
        ("sar.txt", include_str!("../../../import/fixtures/sysstat-12.6.1/sar.txt")),
        ("vmstat.txt", include_str!("../../../import/fixtures/vmstat-4.0.2/plain.txt")),
    ] {
        place.write(name, text);
    }
    place
}

#[test]
fn a_log_of_the_machine_belongs_to_the_run_by_its_times() {
    let place = recorded();
    let said = place.json(&["audit", "--json", "ab.tsv", "mpstat.txt", "sar.txt"]);
    let run = &said["runs"][0];
    let hosts = run["hosts"].as_array().unwrap();
    assert_eq!(hosts.iter().map(|host| host["tool"].as_str().unwrap()).collect::<Vec<_>>(), ["mpstat", "sar"]);
    for host in hosts {
        assert_eq!((&host["placed"], &host["processors"]), (&"by-time".into(), &2.into()), "{host}");
        // The mean of the seconds in which ab was at work, as the log has them.
        let idle = host["mean"]["idle"].as_f64().unwrap();
        assert!((0.955..0.975).contains(&idle) && host["covers"].as_f64().unwrap() > 0.95, "{host}");
    }
    assert_eq!(lacks(run, "host-noise"), [""; 0]);
    assert!(!rules(run).contains(&"host-noise"), "{run}");
    assert_eq!(lacks(run, "client-saturated"), ["no tool's file keeps the CPU time of the load generator"]);
    assert_eq!(lacks(run, "shared-cores"), ["the file does not name one address"]);
    let text = place.run(&["audit", "ab.tsv", "mpstat.txt"]).stdout;
    assert!(text.contains("machine of 2 processors, by mpstat.txt (mpstat): busy 3.2 %, steal 0 %"), "{text}");
    for args in
        [vec!["audit", "--md", "ab.tsv", "mpstat.txt"], vec!["audit", "--html", "a.html", "ab.tsv", "mpstat.txt"]]
    {
        let run = place.run(&args);
        let page = if args.contains(&"--md") { run.stdout } else { fs::read_to_string(place.path("a.html")).unwrap() };
        assert!(page.contains("(mpstat): busy 3.2 %") && page.contains("is silent: "), "{page}");
    }
}

#[test]
fn steal_beside_a_run_is_noise() {
    let place = recorded();
    let steal = include_str!("../../../import/fixtures/sysstat-12.6.1/mpstat.txt")
        .replace("    0.00    0.00    0.00   ", "   20.00    0.00    0.00   ");
    assert!(steal.contains("20.00"), "{steal}");
    let less_idle = steal.replace(" 9", " 7").replace("100.00", "80.00");
    place.write("mpstat.txt", &less_idle);
    let said = place.json(&["audit", "--json", "ab.tsv", "mpstat.txt"]);
    let found = said["runs"][0]["findings"].as_array().unwrap().iter().find(|found| found["id"] == "host-noise");
    assert_eq!(found.unwrap()["facts"][0]["value"], "0.40 cores of 2, beyond the floor of 0.03 cores");
}

#[test]
fn a_run_on_the_servers_machine_shares_its_cores() {
    let said = recorded().json(&["audit", "--json", "ab.txt", "vmstat.txt"]);
    let run = &said["runs"][0];
    assert!(rules(run).contains(&"shared-cores"), "{run}");
    assert_eq!((&run["hosts"][0]["placed"], &run["hosts"][0]["processors"]), (&"evenly".into(), &Value::Null));
}

#[test]
fn a_log_that_belongs_to_no_run_says_why() {
    let place = recorded();
    let of_another_day =
        include_str!("../../../import/fixtures/sysstat-12.6.1/mpstat.txt").replace("11/25/26", "11/24/26");
    place.write("mpstat.txt", &of_another_day);
    let text = place.run(&["audit", "ab.tsv", "mpstat.txt"]).stdout;
    assert!(text.contains("not used: mpstat.txt: it covers less than half of each run"), "{text}");
    assert!(text.contains("host-noise is silent: no log of the machine covers the run"), "{text}");
    let alone = place.run(&["audit", "mpstat.txt"]);
    assert_eq!(alone.code, Some(2), "{}", alone.stdout);
    assert!(alone.stdout.contains("this is a log of mpstat: name a file of results, too"), "{}", alone.stdout);
    let two = place.run(&["audit", "ab.tsv", "ab.txt", "vmstat.txt"]).stdout;
    assert!(two.contains("not used: vmstat.txt: it has no times, and there are several runs"), "{two}");
}
#[test]
fn real_outputs_of_tools_do_not_contradict_themselves() {
    let place = Place::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/fixtures");
    let audited = place.json(&["audit", "--json", fixtures]);
    let runs = audited["runs"].as_array().unwrap();
    assert!(runs.len() > 30, "{}", runs.len());
    for run in runs {
        assert!(!rules(run).contains(&"table-units"), "{run}");
        // Its users waited before they asked again.
        let waited = ["locust", "locust-history", "gatling"].contains(&run["format"].as_str().unwrap());
        assert!(!waited || !rules(run).contains(&"one-number-twice"), "{run}");
    }
}

/// Whether JSON is by a published schema; else what is wrong with it.
fn by_schema(name: &str, json: &Value) -> Result<(), String> {
    let path = format!("{}/../../schema/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut schemas = boon::Schemas::new();
    let schema = boon::Compiler::new().compile(&path, &mut schemas).unwrap();
    schemas.validate(json, schema).map_err(|error| error.to_string())
}

#[test]
fn json_is_by_the_published_schemas() {
    let place = Place::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/fixtures");
    place.write("a.jtl", &steady_jtl(400));
    place.write("b.jtl", &steady_jtl(200));
    place.write("a.settings.sh", "JAVA_OPTS=\"-Xmx1g -XX:PermSize=128m\"\n");
    place.write("b.settings.sh", "JAVA_OPTS=\"-Xmx2g\"\n");
    place.write("notes.md", "# Notes\n");
    let claim = ["a.jtl", "b.jtl", "a.settings.sh", "b.settings.sh", "--claim", "b is faster than a"];
    let audits = [place.json(&["audit", "--json", fixtures]), place.json(&[&["audit", "--json"], &claim[..]].concat())];
    for audit in &audits {
        assert_eq!(by_schema("audit.schema.json", audit), Ok(()));
    }
    let claimed = &audits[1];
    assert!(claimed["pair"]["matched"].is_object() && claimed["pair"]["options"].is_array(), "{claimed}");
    assert!(claimed["claim"].is_object() && claimed["runs"][0]["settings"][0].is_object(), "{claimed}");
    let series = place.json(&["audit", "--json", "--series", "a.jtl", "b.jtl", "notes.md", fixtures]);
    assert_eq!(by_schema("audit-series.schema.json", &series), Ok(()));
    let mut broken = claimed.clone();
    broken["runs"][0]["support"] = "perhaps".into();
    assert!(by_schema("audit.schema.json", &broken).is_err_and(|error| error.contains("/runs/0/support")));
    assert!(by_schema("audit.schema.json", &series).is_err());
}

/// A result file of JMeter: twenty minutes of ten users at five requests a second, each of which took so long, milliseconds.
fn steady_jtl(took_ms: u64) -> String {
    let line = |at: u64| format!("{}|{took_ms}|page|200|users 1-1|true|431|10|10|225\n", 1_420_840_843_879 + 200 * at);
    (0..6_000).map(line).collect()
}
