//! What servers need beside them, and what becomes of a run when that is missing, does not start, dies or refuses.

use crate::common::{Place, findings, knownserver, page, script, text_of};

/// A study whose servers need a service that is this shell script: `$1` is its port, `$2` the trial's folder, `LISTEN`
/// listens there.
fn place(pages: &str, service: &str) -> Place {
    let place = Place::with_study(&[("one", pages), ("two", pages)]);
    place.write("listen.toml", &script("", ""));
    let listen = format!("{} --port $1 --script={}", knownserver().display(), place.path("listen.toml").display());
    place.write("service.sh", &service.replace("LISTEN", &listen));
    let command = "command = \"sh {dir}/service.sh {port.database} {trial_dir}\"";
    place.change("[[workload]]", &format!("[[service]]\nname = \"database\"\n{command}\n\n[[workload]]"));
    place
}

#[test]
fn one_that_is_missing_is_named_before_anything_is_measured() {
    let place = place(&page("5ms"), "");
    place.change("sh {dir}/service.sh", "nosuchdatabase");
    place.run(&["check", "study.toml"]).ends_with(0).says("! service database: there is no program `nosuchdatabase`");
    let ran = place.run(&["run", "study.toml"]).ends_with(1);
    ran.complains("service database cannot be launched").complains("there is no program `nosuchdatabase`");
    place.run(&["list"]).ends_with(0).says("no runs are stored yet");
}

#[test]
fn one_that_does_not_start_is_named_with_its_last_words() {
    let place = place(&page("5ms"), "echo 'FATAL: the data directory has wrong ownership'\nexit 1\n");
    place.run(&["run", "study.toml"]).ends_with(5).says("✗ INVALID");
    place.assert_nothing_is_left();
    let report = place.report();
    let [failed] = &findings(&report, "trial-failed")[..] else { panic!("{:#?}", report.findings) };
    let text = text_of(failed);
    assert!(text.contains("service-database ended with exit code 1 before it was ready"), "{text}");
    assert!(text.contains("FATAL: the data directory has wrong ownership"), "{text}");
}

#[test]
fn one_that_dies_ends_the_trial_that_it_was_for() {
    let dies = "LISTEN &\nsleep 2\nkill $!\necho 'FATAL: could not write to the disk'\nexit 3\n";
    let place = place(&page("5ms"), dies);
    // The server goes on answering; nothing of that counts.
    place.change("\"1s\"", "\"60s\"");
    place.run(&["run", "study.toml"]).ends_with(5).says("✗ INVALID");
    place.assert_nothing_is_left();
    let report = place.report();
    let failed = report.variants.iter().flat_map(|variant| &variant.failed);
    assert!(failed.clone().count() >= 2 && report.variants.iter().all(|variant| variant.completed == 0));
    for trial in failed {
        let reason = &trial.failed.reason;
        assert!(reason.starts_with("service database ended by itself (exit code 3): its last words"), "{reason}");
        assert!(reason.contains("`FATAL: could not write to the disk`. Its log: "), "{reason}");
        assert!(trial.failed.log_tail.contains("FATAL: could not write"), "{:?}", trial.failed);
    }
    place.run(&["show"]).ends_with(0).says("| FATAL: could not write to the disk");
}

#[test]
fn what_one_says_is_shown_where_nobody_can_log_in() {
    let service = "LISTEN &\nwhile ! [ -e $2/server.log ]; do sleep 0.05; done\n\
        echo 'FATAL: sorry, too many clients already'\nwait\n";
    let place = place(&page("5ms"), service);
    let walk = "[[workload.setup]]\nname = \"log in\"\nget = \"/nobody-is-here\"\n\n[[workload.step]]\nname = \"page\"\nget = \"/page\"";
    place.change("get = \"/page\"\nconcurrency = 2", &format!("concurrency = 2\n\n{walk}"));
    place.run(&["run", "study.toml"]).ends_with(5).says("✗ INVALID");
    let report = place.report();
    let [failed] = &findings(&report, "trial-failed")[..] else { panic!("{:#?}", report.findings) };
    let text = text_of(failed);
    assert!(text.contains("service database's last words: FATAL: sorry, too many clients already"), "{text}");
}

/// A database that is out of connections, keeps a processor busy a part of the time, and went to the background.
#[test]
fn what_one_says_and_uses_is_shown_beside_the_servers() {
    let pages =
        script("", "body = { size = 2000 }\ndelay = \"5ms\"\n\n[[error]]\nshare = 0.3\npath = \"/page\"\nstatus = 503");
    let service = "LISTEN &\n\
        while :; do i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; sleep 0.05; done &\n\
        while ! [ -e $2/server.log ]; do sleep 0.05; done\n\
        echo 'FATAL: sorry, too many clients already'\n";
    let place = place(&pages, service);
    place.run(&["run", "study.toml", "--fail-on", "never"]).ends_with(0);
    place.assert_nothing_is_left();
    let report = place.report();
    assert!(report.variants.iter().all(|variant| variant.failed.is_empty()), "{:#?}", report.variants);
    let errors = findings(&report, "errors");
    let is_shown = |found: &&model::Finding| {
        text_of(found).contains("service database's last words: FATAL: sorry, too many clients already")
    };
    assert!(errors.into_iter().any(|found| is_shown(&found)), "{:#?}", report.findings);
    for measurement in &report.measurements {
        // The server waits, the service works.
        let services_us = measurement.server.services_cpu_per_request.unwrap();
        assert!(services_us > measurement.cpu_per_request.unwrap(), "{measurement:#?}");
    }
    let csv = place.run(&["report", "--csv"]).ends_with(0).stdout;
    assert!(csv.contains(",services-cpu-per-request,"), "{csv}");
}
