//! Whole runs of the real program, and everything that can be done with what they leave.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use crate::common::{Finished, Place, findings, page, script, subjects, text_of};
use model::warm_up::Overtaking;
use model::{Interpretation, Metric, Report, Role, Severity, Subject, Verdict};
use serde_json::Value;

#[test]
fn a_difference_is_found_reported_and_kept() {
    let place = Place::with_study(&[("fast", &page("2ms")), ("slow", &page("5ms"))]);
    place.change("[decide]", "[decide]\nsecondary = [\"p50\", \"memory\"]");
    place.run(&["check", "study.toml"]).ends_with(0).says("p50, memory: judged when the run has ended");
    let ran = place
        .run(&["run", "study.toml", "--seed", "7", "--html", "out/run.html", "--xlsx", "out/run.xlsx"])
        .ends_with(0);
    place.assert_nothing_is_left();
    ran.says("▼ WORSE slow is").says("slower than fast").says("out/run.html");
    ran.complains("block 1 of 5").complains("the question is answered");
    // Without a pilot the third block is the first to show the noise.
    ran.complains("four of five runs see differences of ");
    assert!(fs::read_to_string(place.path("out/run.html")).unwrap().starts_with("<!DOCTYPE html>"));

    let report = place.report();
    let Verdict::Worse { effect } = &report.judgements[0].verdict else { panic!("{:#?}", report.judgements) };
    assert!(effect.high < 0.0 && effect.estimate < -0.5 && effect.blocks == 5, "{effect:?}");
    assert!(!report.findings.iter().any(|finding| finding.severity == Severity::Invalid), "{:#?}", report.findings);
    assert!(report.reproduce.command.contains("--seed 7"), "{}", report.reproduce.command);
    let secondary = report.comparisons.iter().filter(|comparison| comparison.role == Role::Secondary);
    let text: Vec<_> = secondary.map(|one| (one.metric, one.interpretation)).collect();
    assert_eq!(text[0], (Metric::P50, Interpretation::Worse));
    assert_eq!((text.len(), text[1].0), (2, Metric::Memory));
    let responses = &report.warming_up.as_ref().unwrap().cumulative_responses[0];
    let break_even = responses.break_even.unwrap();
    assert_eq!((break_even.leader, break_even.estimate), (0, Overtaking::AtOnce), "{responses:#?}");
    assert!(responses.lifetimes.iter().all(|life| life.reading == Interpretation::Worse), "{responses:#?}");
    assert_eq!(report.variants.iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>(), ["fast", "slow"]);

    let sentence = &report.judgements[0].sentence;
    place.run(&["report"]).ends_with(0).says(sentence);
    place.run(&["report", "--md"]).ends_with(0).says("**▼ WORSE**");
    let csv = place.run(&["report", "--csv"]).ends_with(0).stdout;
    let rows = csv::Reader::from_reader(csv.as_bytes()).into_records().collect::<Result<Vec<_>, _>>().unwrap();
    assert!(rows.len() > 20 && rows.iter().all(|row| row.len() == 16), "{csv}");
    assert!(
        [",comparison,,primary,", ",comparison,,secondary,", ",break-even,"].iter().all(|row| csv.contains(row)),
        "{csv}"
    );
    place.run(&["report", "--xlsx", "out/again.xlsx"]).ends_with(0).says("wrote out/again.xlsx");
    let [book, again] = ["out/run.xlsx", "out/again.xlsx"].map(|file| fs::read(place.path(file)).unwrap());
    assert!(book.starts_with(b"PK") && book == again, "one report, one spreadsheet");
    place.run(&["report", "--html", "out/again.html"]).ends_with(0);
    assert!(fs::read_to_string(place.path("out/again.html")).unwrap().contains("slower than fast"));

    place.run(&["list"]).ends_with(0).says(&report.run).says("finished");
    place.run(&["show", &report.run]).ends_with(0).says("block 1, trial 1:").says("page@2");
    place.run(&["report", "no-such-run"]).ends_with(2).complains("no run in the store has a name that begins with");

    // What was exported and imported elsewhere is the same record, and gives the same report.
    place.run(&["export", "--output", "run.json"]).ends_with(0);
    let elsewhere = place.path("elsewhere.db");
    let there = |args: &[&str]| place.start(&mut place.bakeoff_with(&elsewhere, args)).end();
    there(&["import", "run.json"]).ends_with(0).says(&report.run);
    assert_eq!(there(&["report", "--json"]).ends_with(0).stdout, place.run(&["report", "--json"]).ends_with(0).stdout);
    there(&["import", "run.json"]).ends_with(1).complains("in the store already");
    there(&["import", "study.toml"]).ends_with(1).complains("is not what `bakeoff export` writes");
    parts_that_are_not_there_are_refused(&place);
}

/// Of a run that was exported and then changed by hand.
fn parts_that_are_not_there_are_refused(place: &Place) {
    let exported: Value = serde_json::from_str(&fs::read_to_string(place.path("run.json")).unwrap()).unwrap();
    let store = place.path("refused.db");
    let refused = |changed: &Value, text: &str| {
        place.write("changed.json", &changed.to_string());
        let ran = place.start(&mut place.bakeoff_with(&store, &["import", "changed.json"])).end().ends_with(1);
        ran.complains("changed.json is no whole run").complains(text).complains("export it anew");
    };
    for (part, index, text) in [
        ("/trials/1/variant", 7, "trials[1].variant is 7, and study.variants has 2, counted from 0"),
        ("/trials/0/cells/0/cell", 9, "trials[0].cells[0].cell is 9, and plan.cells has 1"),
        ("/trials/0/answers/0/workload", 1, "trials[0].answers[0].workload is 1"),
        ("/plan/cells/0/workload", 1, "plan.cells[0].workload is 1, and study.workloads has 1"),
        ("/plan/blocks/2/trials/1/variant", 2, "plan.blocks[2].trials[1].variant is 2"),
        ("/trials/0/key/block", 99, "trials[0] is block 100, trial 1, which the plan does not have"),
    ] {
        let mut changed = exported.clone();
        *changed.pointer_mut(part).unwrap() = index.into();
        refused(&changed, text);
    }
    let mut twice = exported.clone();
    twice["trials"][2] = exported["trials"][0].clone();
    refused(&twice, "trials[2] is block 1, trial 1, as another one is");
    place.start(&mut place.bakeoff_with(&store, &["list"])).end().ends_with(0).says("no runs are stored yet");
}

/// It comes three seconds later, and is twice as fast then: ahead after six seconds, not at once, and for good.
#[test]
fn who_starts_later_and_runs_faster_overtakes() {
    let late = script("start-delay = \"3s\"", "body = { size = 2000 }\ndelay = \"20ms\"");
    let place = Place::with_study(&[("early", &page("40ms")), ("late", &late)]);
    place.change("fixed = \"200ms\"", "fixed = \"1s\"");
    place.run(&["run", "study.toml"]).ends_with(0);
    let report = place.report();
    let responses = &report.warming_up.as_ref().unwrap().cumulative_responses[0];
    let break_even = responses.break_even.unwrap();
    assert_eq!(break_even.leader, 1, "{responses:#?}");
    for moment in [break_even.low, break_even.estimate, break_even.high] {
        assert!(matches!(moment, Overtaking::After { .. }), "{responses:#?}");
    }
    assert!(responses.curve[0].high < 0.0, "behind at first: {responses:#?}");
    assert!(
        responses.lifetimes.iter().all(|life| life.extrapolated && life.reading == Interpretation::Better),
        "{responses:#?}"
    );
    assert!(responses.sentence.contains("not steady when their warm-up ended"), "{}", responses.sentence);
}

#[test]
fn the_same_twice_is_equivalent() {
    let place = Place::with_study(&[("one", &page("20ms"))]);
    // 800 answers a launch: a resolution of an eighth of a per cent.
    place.change("concurrency = 2", "concurrency = 8").change("duration = \"1s\"", "duration = \"2s\"");
    place.change("one = { args", "two = { args = [\"--script={dir}/one.toml\"] }\none = { args");
    place.run(&["run", "study.toml", "--fail-on", "inconclusive"]).ends_with(0);
    let report = place.report();
    let judgement = &report.judgements[0];
    let Verdict::Equivalent { effect } = &judgement.verdict else { panic!("{judgement:#?}") };
    assert!(effect.lies_within(1.02_f64.ln()), "{effect:?}");
    assert!(judgement.sentence.starts_with("one and two are equivalent within ±2 %"), "{}", judgement.sentence);
    // It knows that it compares a thing with itself.
    assert_eq!(findings(&report, "setting-is-default").len(), 1, "{:#?}", report.findings);
    place.assert_nothing_is_left();
}

#[test]
fn two_runs_at_once_share_a_store() {
    let place = Place::with_study(&[("one", &page("5ms")), ("two", &page("20ms"))]);
    let study = fs::read_to_string(place.path("study.toml")).unwrap();
    place.write("again.toml", &study.replace("a test", "again"));
    let run = |study| place.start(&mut place.bakeoff(&["run", study, "--json"]));
    for started in ["study.toml", "again.toml"].map(run) {
        let report: Report = serde_json::from_str(&started.end().ends_with(0).stdout).unwrap();
        assert!(matches!(report.judgements[0].verdict, Verdict::Worse { .. }), "{:#?}", report.judgements);
    }
    place.assert_nothing_is_left();
}

/// The mistake that makes pages fast: answering something else.
#[test]
fn an_error_page_is_no_improvement() {
    let other = [
        ("another page", script("", "body = \"<h1>Not configured</h1>\""), "2,000 bytes | 23 bytes"),
        ("a status", script("", "status = 500\nbody = { size = 2000 }"), "200 | 500"),
        ("another type", script("", "content-type = \"text/html\"\nbody = { size = 2000 }"), "text/plain | text/html"),
    ];
    let is_found = |what: &str, script: &str, fact: &str| {
        let place = Place::with_study(&[("right", &page("10ms")), ("wrong", script)]);
        let ran = place.run(&["run", "study.toml"]).ends_with(5);
        ran.says("✗ INVALID wrong against right is no valid comparison").says("responses-differ");
        let report = place.report();
        let differ = findings(&report, "responses-differ");
        assert!(differ.iter().any(|finding| text_of(finding).contains(fact)), "{what}: {differ:#?}");
        // No further block would change that.
        assert!(place.trials().len() <= 2, "{what}: it went on");
    };
    thread::scope(|scope| {
        for (what, script, fact) in &other {
            scope.spawn(move || is_found(what, script, fact));
        }
    });
}

/// Logging in takes the server half a second of CPU, the step that is measured next to none.
#[test]
fn what_users_do_to_set_up_is_in_no_figure() {
    let server = script("", "delay = \"5ms\"\n\n[[route]]\npath = \"/login\"\ncpu = \"500ms\"");
    let place = Place::with_study(&[("one", &server), ("two", &server)]);
    let walk = "[[workload.setup]]\nname = \"log in\"\nget = \"/login\"\n\n[[workload.step]]\nname = \"page\"\nget = \"/page\"";
    place.change("get = \"/page\"\nconcurrency = 2", &format!("concurrency = 2\n\n{walk}"));
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(1);
    started.signal("INT");
    started.end().ends_with(130);
    let trial = &place.trials()[0];
    let loads = [&trial["warm_up"]["samples"], &trial["cells"][0]["samples"]];
    for seconds in loads.map(|load| load.as_array().unwrap()) {
        let cpu_s: f64 = seconds.iter().map(|second| second["server"]["cpu_s"].as_f64().unwrap()).sum();
        assert!(cpu_s < 0.5, "two users logged in with a second of CPU: {seconds:#?}");
    }
}

/// Two users of a server that takes 300 ms for an answer: until each has one, a second of its own passes that is not counted.
#[test]
fn a_ramp_up_comes_on_top_of_what_is_measured() {
    let place = Place::with_study(&[("one", &page("300ms")), ("two", &page("300ms"))]);
    place.one_after_another();
    place.change("fixed = \"200ms\"", "fixed = \"3s\"").change("duration = \"1s\"", "duration = \"2s\"");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(1);
    started.signal("INT");
    started.end().ends_with(130);
    let cell = &place.trials()[0]["cells"][0];
    let seconds = ["ramp_up", "samples"].map(|part| cell[part].as_array().map(Vec::len));
    assert_eq!(seconds, [Some(1), Some(2)], "{cell:#}");
}

/// Answers take 5 ms, so one user gets at most 200 of them in a second.
#[test]
fn as_many_users_warm_up_as_the_study_says() {
    let place = Place::with_study(&[("one", &page("5ms")), ("two", &page("5ms"))]);
    place.change("concurrency = 2", "concurrency = 20").change("fixed = \"200ms\"", "fixed = \"1s\"\nconcurrency = 1");
    place.run(&["check", "study.toml"]).ends_with(0).says("all workloads mixed, by 1 user");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(1);
    started.signal("INT");
    started.end().ends_with(130);
    let trial = &place.trials()[0];
    let good = |load: &Value| load["samples"][0]["tally"]["good"].as_u64().unwrap();
    let [warm_up, measured] = [&trial["warm_up"], &trial["cells"][0]].map(good);
    assert!((1..=200).contains(&warm_up) && measured > 200, "{warm_up} and {measured}: {trial:#}");
}

/// The server's own count of orders, held against the answers to all of them, and to half of them.
#[test]
fn what_was_answered_is_what_was_done() {
    const STEPS: &str = r#"
[[workload]]
name = "walk"
concurrency = 2
[[workload.step]]
name = "order"
post = "/order"
[[workload.step]]
name = "order again"
post = "/order"

[[assertion]]
name = "orders"
http = { get = "/known/record", json = "$.paths['/order'].received" }
when = "after"
answered = ["order", "order again"]

[warmup]"#;
    let books = format!("{}\n[[route]]\npath = \"/order\"\ndelay = \"5ms\"\n", page("5ms"));
    let place = Place::with_study(&[("one", &books), ("two", &books)]);
    place.change("\n[warmup]", STEPS).change("min = 5, max = 5", "min = 3, max = 3");
    place.run(&["check", "study.toml"]).ends_with(0).says("expected as many as were answered well: order, order again");
    place.run(&["run", "study.toml"]).ends_with(0);
    assert_eq!(findings(&place.report(), "assertion-failed"), Vec::<&model::Finding>::new());
    for trial in &place.trials() {
        let settings = trial["settings"].as_array().unwrap();
        let setting = settings.iter().find(|setting| setting["name"] == "orders").unwrap();
        let [requested, live] = ["requested", "live"].map(|key| setting[key].as_str().unwrap().parse::<u64>().unwrap());
        assert!(requested == live && live > 100, "{setting}");
    }

    place.change("\"order\", \"order again\"", "\"order\"").run(&["run", "study.toml"]).ends_with(5);
    let report = place.report();
    let found = findings(&report, "assertion-failed");
    assert_eq!((found.len(), found[0].severity), (2, Severity::Invalid), "{found:#?}");
}

/// A workload of steps beside one of a single request.
#[test]
fn steps_are_measured_and_compared_one_by_one() {
    const WALK: &str = r#"
[[workload]]
name = "walk"
concurrency = 2
[[workload.setup]]
name = "log in"
post = "/login"
body = "{env.TOKEN}"
extract = { token = { json = "$.token" } }
[[workload.step]]
name = "front"
get = "/page"
headers = { Authorization = "bearer ${token}" }
[[workload.step]]
name = "other"
get = "/other"
[[workload.teardown]]
name = "log out"
post = "/nobody-is-here"

[warmup]"#;
    let place = |one: &str, two: &str| {
        let level = |other: &str| {
            let login = "[[route]]\npath = \"/login\"\nbody = '{\"token\": \"t-1\"}'\n";
            format!("{}\n{login}\n[[route]]\npath = \"/other\"\n{other}\n", page("2ms"))
        };
        let place = Place::with_study(&[("one", &level(one)), ("two", &level(two))]);
        place.change("\n[warmup]", WALK);
        place
    };
    let run = |place: &Place| place.start(place.bakeoff(&["run", "study.toml"]).env("TOKEN", "swordfish")).end();

    let slower = place("delay = \"2ms\"", "delay = \"40ms\"");
    slower.run(&["check", "study.toml"]).ends_with(0).says("walk@2").says("steps front, other");
    let ran = run(&slower).ends_with(0);
    ran.says("▼ WORSE two is").complains("the question is answered");
    ran.complains("2 tear-downs failed, the first: step `log out` failed: ");
    slower.assert_nothing_is_left();
    let report = slower.report();
    let failed = findings(&report, "tear-down-failed");
    assert_eq!(failed.len(), 2, "{failed:#?}");
    let launches = slower.trials().iter().filter(|trial| trial["variant"] == 1).count();
    // Two users, in the warm-up and in the load on the walk.
    let expected =
        format!("users: {} in {launches} of {launches} launches\nthe first: step `log out` failed: ", 4 * launches);
    assert_eq!(failed[1].subject, Subject::Variant { variant: 1 });
    assert!(text_of(failed[1]).starts_with(&expected), "{failed:#?}");
    let trial = &slower.trials()[0];
    assert_eq!(trial["failed_tear_downs"]["users"], 4);
    let steps: Vec<_> = trial["answers"].as_array().unwrap().iter().map(|answer| &answer["step"]).collect();
    // Of each of three looks: the page, then the walk's two steps.
    assert_eq!(steps.len(), 9);
    assert!(steps[0].is_null() && steps[1] == "front" && steps[2] == "other", "{steps:?}");
    let cells = trial["cells"].as_array().unwrap();
    let walked = cells.iter().find(|cell| !cell["samples"][0]["walked"].is_null()).unwrap();
    let steps = &walked["samples"][0]["walked"]["steps"];
    let good = |step: &str| steps[step]["tally"]["good"].as_u64().unwrap();
    assert!(good("front") > 0 && good("front").abs_diff(good("other")) <= 2, "{steps}");
    assert!(cells.iter().any(|cell| cell["samples"][0]["walked"].is_null()), "the page has no steps");

    let different = place("", "status = 201");
    run(&different).ends_with(5).says("walk, step other");
    let report = different.report();
    assert_eq!(subjects(&report, "responses-differ"), ["two against one, walk, step other"]);
    let differ = findings(&report, "responses-differ");
    assert!(text_of(differ[0]).contains("200 | 201"), "{differ:#?}");

    let closed = place("", "");
    closed.change("$.token", "$.tokn");
    let ran = run(&closed);
    assert!(ran.stdout.contains("set-up failed: step `log in`"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_budget_ends_a_run_between_blocks() {
    let place = Place::with_study(&[("fast", &page("2ms")), ("slow", &page("20ms"))]);
    for command in ["check", "run"] {
        place.run(&[command, "study.toml", "--budget", "3s"]).ends_with(2).complains("cannot hold the ");
    }
    assert!(!place.store_folder().join("store.runs").exists(), "something ran");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(1);
    started.signal("INT");
    started.end().ends_with(130);
    let five = ["--resume", "--budget", "5s", "--fail-on", "inconclusive"];
    let ran = place.run(&[&["run", "study.toml", "--profile"], &five[..]].concat()).ends_with(4);
    ran.says("? INCONCLUSIVE slow against fast is inconclusive").says("study.toml --resume --store");
    ran.complains("the budget of 5 s does not allow another block");
    let trials = place.trials().len();
    assert!(place.status() == "interrupted" && (2..10).contains(&trials) && trials.is_multiple_of(2), "{trials}");
    let small = place.run(&["run", "study.toml", "--resume", "--budget", "1s"]);
    small.ends_with(2).complains("has no room for one block");
    // Whoever reads the report later gets the command, too, as it works from anywhere.
    let [study, store] = [place.path("study.toml"), place.store_folder().join("store.db")];
    let again = format!("bakeoff run {} --resume --store {}", study.display(), store.display());
    place.run(&["report"]).ends_with(0).says("o on with this run").says(&again);
    place.run(&["report", "--md"]).says(&again);

    // Why there is no profiling run is shown until none is wanted.
    let skipped = || place.report().why.and_then(|why| why.skipped);
    assert!(skipped().is_some_and(|why| why.contains("the budget of 5 s ended the run before its verdict")));
    place.run(&["run", "study.toml", "--resume", "--no-profile"]).ends_with(0).says("▼ WORSE");
    assert_eq!(skipped(), None);
}

/// A value of `{env.NAME}` is used, and seen nowhere: not where the server shows it, and no part of it.
#[test]
fn a_secret_is_used_and_kept() {
    const TOKEN: &str = "swordfish-4711";
    const PART: &str = "swordf";
    let place = || {
        let shown = script("", "body = { echo = \"request\" }");
        let place = Place::with_study(&[("one", &shown), ("two", &shown)]);
        // Only the beginning of an answer is kept: a secret may stand where it is cut.
        let many = "{env.TOKEN} ".repeat(60);
        let headers = format!("headers = {{ Authorization = \"Bearer {{env.TOKEN}}\", X-Many = \"{many}\" }}");
        place.change("concurrency = 2", &format!("concurrency = 2\n{headers}\nexpect = {{ contains = \"Bearer\" }}"));
        place.change("stop_within", "env = { SECRET = \"{env.TOKEN}\" }\nstop_within");
        place
    };
    let is_kept = |place: &Place, ran: &Finished| {
        let shown = [&["report"][..], &["report", "--json"], &["report", "--md"], &["show"], &["export"]];
        let mut all = shown.map(|args| place.run(args).ends_with(0).stdout).concat();
        all.extend([&*ran.stdout, &*ran.stderr]);
        assert!(!all.contains(PART), "{all}");
        // The server's own log is the server's own affair.
        let files = files(&place.store_folder()).into_iter().filter(|path| path.extension() != Some("log".as_ref()));
        let holders: Vec<_> = files.filter(|path| holds(path, PART)).collect();
        assert!(holds(&place.store_folder().join("store.db"), "{env.TOKEN}"), "the store has to be looked at");
        assert_eq!(holders, Vec::<PathBuf>::new());
    };

    // To whoever asks.
    let shows = place();
    let started = shows.start(shows.bakeoff(&["run", "study.toml"]).env("TOKEN", TOKEN));
    shows.wait_for_mid_trial(2);
    started.signal("INT");
    let ran = started.end().ends_with(130);
    let trial = &shows.trials()[0];
    assert_eq!(trial["launch"]["env"]["SECRET"], "***");
    let excerpt = trial["answers"][0]["excerpt"].as_str().unwrap();
    assert!(excerpt.to_lowercase().contains("authorization: bearer ***"), "{excerpt}");
    is_kept(&shows, &ran);

    // To its log.
    let logs = place();
    logs.change("stop_within", "args = [\"--exit-at-start=it is {env.TOKEN}\"]\nstop_within");
    let ran = logs.start(logs.bakeoff(&["run", "study.toml"]).env("TOKEN", TOKEN)).end().ends_with(5);
    assert_eq!(logs.trials()[0]["outcome"]["log_tail"], "it is ***");
    is_kept(&logs, &ran);

    let ran = logs.start(logs.bakeoff(&["run", "study.toml"]).env_remove("TOKEN")).end();
    assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
    ran.complains("TOKEN");
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn holds(file: &Path, text: &str) -> bool {
    fs::read(file).unwrap().windows(text.len()).any(|window| window == text.as_bytes())
}
