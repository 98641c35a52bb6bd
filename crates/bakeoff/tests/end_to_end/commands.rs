//! Everything short of a run: plans, first studies, wrong studies, stores that are none.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Place, page};

fn place() -> Place {
    Place::with_study(&[("fast", &page("2ms")), ("slow", &page("20ms"))])
}

/// Every file of a place but what its commands said.
fn files(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.path("")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| !path.extension().is_some_and(|extension| extension == "out" || extension == "err"));
    files.sort();
    files
}

#[test]
fn a_check_shows_the_plan_and_changes_nothing() {
    let place = place();
    let before = files(&place);
    let plan = |seed: &str| place.run(&["check", "study.toml", "--json", "--seed", seed]).ends_with(0).stdout;
    assert_eq!(plan("1"), plan("1"));
    let plans: Vec<String> =
        ["1", "2", "3", "4"].map(|seed| plan(seed).replace(&format!("\"seed\": {seed}"), "")).into();
    assert!(plans.iter().any(|other| *other != plans[0]), "the seed has to matter: {}", plans[0]);
    let shown = place.run(&["check", "study.toml", "--seed", "1"]).ends_with(0);
    shown
        .says("fast (baseline)")
        .says("blocks 5; each launches every variant once")
        .says("seed 1")
        .says("page@2 GET /page");
    assert_eq!(files(&place), before);
}

#[test]
fn a_check_shows_what_the_time_will_show_and_whether_it_has_room_for_profiling_runs() {
    let place = place();
    place.change("[decide]", "[profiling]\nlaunch = true\n\n[decide]");
    let shown = place.run(&["check", "study.toml"]).ends_with(0);
    shown.says("by 1 % by 3 % by 10 %").says("why a profiling run of each variant");
    let doubt = "may leave no time for launches that show why the variants differ: --budget";
    assert!(!shown.stdout.contains(doubt), "{}", shown.stdout);
    place.run(&["check", "study.toml", "--budget", "20s"]).ends_with(0).says(&format!("20 s {doubt}"));
}

#[test]
fn a_run_follows_the_plan_that_its_seed_gives() {
    let place = place();
    place.run(&["run", "study.toml", "--seed", "3", "--budget", "20s"]).ends_with(0);
    let exported = place.json(&["export"]);
    assert_eq!(exported["plan"], place.json(&["check", "study.toml", "--json", "--seed", "3", "--budget", "20s"]));
}

#[test]
fn a_wrong_study_is_underlined_and_nothing_runs() {
    let place = place();
    place.change("concurrency", "concurency");
    for command in ["check", "run"] {
        let ran = place.run(&[command, "study.toml"]).ends_with(2);
        ran.complains("unknown key `concurency`").complains("did you mean `concurrency`?").complains("study.toml:");
        let lines: Vec<&str> = ran.stderr.lines().collect();
        let line = lines.iter().position(|line| line.contains("concurency = 2")).unwrap();
        assert!(lines[line + 1].contains("──"), "the place is not underlined:\n{}", ran.stderr);
        ran.complains("not a key of this table");
        place.run(&[command, "no-such.toml"]).ends_with(2).complains("`no-such.toml` cannot be read");
        place.run(&[command]).ends_with(2);
        place.run(&[command, "study.toml", "--sead", "1"]).ends_with(2).complains("--seed");
    }
    place.run(&["run", "study.toml", "--budget", "soon"]).ends_with(2).complains("is not a length of time");
    assert!(!place.store_folder().join("store.runs").exists(), "something ran");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let place = place();
    let text = fs::read_to_string(place.path("study.toml")).unwrap();
    let program = crate::common::knownserver();
    place.write("study.toml", &text.replace(&*program.to_string_lossy(), "no-such-program"));
    let ran = place.run(&["run", "study.toml"]).ends_with(1);
    ran.complains("variant fast cannot run here").complains("no-such-program").complains("nothing of it is stored");
    place.assert_nothing_is_left();
    place.run(&["list"]).ends_with(0).says("no runs are stored yet");
    place.run(&["check", "study.toml"]).ends_with(0).says("! fast: there is no program `no-such-program`");
}

#[test]
fn stores_that_cannot_be_are_refused_before_anything_runs() {
    let place = place();
    place.write("notes.db", "these are my notes, and I would like to keep them\n");
    let refused = |store: &Path, reason: &str| {
        let ran = place.start(&mut place.bakeoff_with(store, &["run", "study.toml"])).end().ends_with(1);
        ran.complains(reason).complains(&store.file_name().unwrap().to_string_lossy()).complains("--store");
        assert_eq!(ran.stdout, "");
    };
    refused(Path::new("/proc/store.db"), "cannot be written");
    refused(Path::new("/proc/store"), "cannot be written");
    refused(&place.path("notes.db"), "is not a store of bakeoff's");
    assert!(fs::read_to_string(place.path("notes.db")).unwrap().starts_with("these are my notes"));
    let ran = place.start(&mut place.bakeoff_with(Path::new("/proc/x/store.db"), &["run", "study.toml"])).end();
    ran.ends_with(1).complains("the store's folder `/proc/x` cannot be made").complains("--store");

    place.run(&["report"]).ends_with(2).complains("no runs are stored yet");
    place.run(&["list"]).ends_with(2).complains("no runs are stored yet");
    assert!(!place.store_folder().exists(), "reading has made a store");
}

#[test]
fn first_studies_are_valid_and_never_overwrite() {
    for (file, runtime) in [("config.ru", "rackup"), ("shop.jar", "shop.jar"), ("shop.war", "shop.war")] {
        let place = Place::new();
        place.write(&format!("app/{file}"), "");
        place.run(&["init", "app"]).ends_with(0).says("bakeoff check app/study.toml");
        let written = fs::read_to_string(place.path("app/study.toml")).unwrap();
        assert!(written.contains(runtime), "{written}");
        place.run(&["check", "app/study.toml"]).ends_with(0).says("(baseline)");

        place.write("app/study.toml", "mine");
        place.run(&["init", "app"]).ends_with(2).complains("never overwritten").complains("-o FILE");
        assert_eq!(fs::read_to_string(place.path("app/study.toml")).unwrap(), "mine");
        assert_eq!(place.run(&["init", "app", "--output", "-"]).ends_with(0).stdout, written);
    }
    let place = Place::new();
    place.write("app/notes.txt", "");
    place.run(&["init", "app"]).ends_with(1).complains("nothing in `app` that is known to be a server");
    place.run(&["init", "nowhere"]).ends_with(1).complains("the folder `nowhere` cannot be read");
}

#[test]
fn every_finding_is_explained() {
    let place = Place::new();
    let all = place.run(&["explain"]).ends_with(0).stdout;
    assert_eq!(all.lines().count(), analysis::RULES.len());
    for line in all.lines() {
        let (name, title) = line.split_once(' ').unwrap();
        assert!(title.trim().len() > 10, "{line}");
        place.run(&["explain", name]).ends_with(0).says(name).says("How it is decided").says("What to do");
    }
    assert!(!all.contains('#'), "{all}");
    place.run(&["explain", "bad-luck"]).ends_with(2).complains("invalid value 'bad-luck'");
    place.run(&["explain", "asertion-failed"]).ends_with(2).complains("'assertion-failed'");
}

#[test]
fn a_report_that_cannot_be_written_is_found_out_before_anything_runs() {
    let place = place();
    place
        .run(&["run", "study.toml", "--html", "/proc/report.html"])
        .ends_with(1)
        .complains("cannot write /proc/report.html");
    assert!(!place.store_folder().join("store.runs").exists(), "something ran");
}

#[test]
fn what_would_spoil_a_run_is_shown_by_its_check() {
    let place = Place::with_study(&[("one", &page("2ms")), ("two", &page("2ms"))]);
    place.run(&["check", "study.toml"]).ends_with(0).says("run it: bakeoff run study.toml");
    place.change("{dir}/two.toml", "{dir}/one.toml");
    place.change("concurrency = 2", "concurrency = 2\nheaders = { X = \"{env.NOT_SET_HERE}\" }");
    let ran = place.run(&["check", "study.toml"]).ends_with(0);
    ran.says("! one and two are the same treatment").says("! the environment variable NOT_SET_HERE is not set");
    let text = fs::read_to_string(place.path("study.toml")).unwrap();
    let line = 1 + text.lines().position(|line| line.contains("NOT_SET_HERE")).unwrap();
    let ran = place.run(&["run", "study.toml"]).ends_with(1);
    ran.complains("set it before running bakeoff").complains(&format!("[study.toml:{line}:"));
}

#[test]
fn what_a_study_finds_missing_is_shown_by_check_and_ends_a_run() {
    let place = Place::with_study(&[("one", &page("2ms")), ("two", &page("3ms"))]);
    place.change(
        "[[workload]]",
        "[hooks]\ncheck = \"test -e {dir}/database\"\nsetup = \"touch {dir}/was-set-up\"\n\n[[workload]]",
    );
    place.run(&["check", "study.toml"]).ends_with(0).says("! the check hook ended with exit code 1, and said nothing");
    place.change(
        "test -e {dir}/database",
        "test -e {dir}/database || { echo looking; echo missing: PostgreSQL; exit 1; }",
    );
    place.run(&["check", "study.toml"]).ends_with(0).says("! the check hook: missing: PostgreSQL");
    place.run(&["run", "study.toml"]).ends_with(1).complains("its last words were `missing: PostgreSQL`");
    assert!(!place.path("was-set-up").exists(), "the setup hook ran");
    place.write("database", "");
    assert!(!place.run(&["check", "study.toml"]).ends_with(0).stdout.contains("the check hook"));
}
