//! Runs that are cut short: whatever happens, no process outlives them, nothing measured is lost, and they can go on.

use std::process::Command;

use needs::Need;

use crate::common::{Place, page};

/// A server that does not heed TERM, and leaves a child behind that does not either.
fn stubborn() -> Place {
    let place = Place::with_study(&[("fast", &page("2ms")), ("slow", &page("20ms"))]);
    place.change("--port {port}", "--port {port} --ignore-term --leave-child").change("\"5s\"", "\"200ms\"");
    place
}

#[test]
fn killed_in_mid_trial_it_leaves_no_process_and_goes_on_where_it_was() {
    let place = stubborn();
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(2);
    started.signal("KILL");
    assert_eq!(started.end().code, None);
    needs::eventually("the end of every process", || place.processes().is_empty());

    let before = place.trials();
    assert!((2..10).contains(&before.len()), "{} trials", before.len());
    assert_eq!(place.status(), "interrupted");
    let ran = place.run(&["run", "study.toml", "--resume", "--fail-on", "worse"]).ends_with(3);
    ran.says("▼ WORSE").complains(&format!("{} trials stored", before.len()));
    let after = place.trials();
    assert!(after.len() >= 10 && after[..before.len()] == before[..], "what was stored has changed");
    assert_eq!(place.status(), "finished");
    place.assert_nothing_is_left();
}

#[test]
fn ctrl_c_keeps_what_is_known_and_says_it() {
    let place = stubborn();
    let started = place.start(&mut place.bakeoff(&["run", "study.toml", "--fail-on", "inconclusive"]));
    place.wait_for_mid_trial(2);
    started.signal("INT");
    let ran = started.end().ends_with(130);
    place.assert_nothing_is_left();
    ran.says("? INCONCLUSIVE slow against fast is inconclusive").says("report.html");
    ran.complains("interrupted").says("It goes on with: bakeoff run study.toml --resume");

    let before = place.trials();
    assert!((2..10).contains(&before.len()), "{} trials", before.len());
    assert_eq!(place.status(), "interrupted");
    // A study that was changed is another one.
    place
        .change("\"1s\"", "\"2s\"")
        .run(&["run", "study.toml", "--resume"])
        .ends_with(2)
        .complains("no unfinished run");
    place.change("\"2s\"", "\"1s\"").run(&["run", "study.toml", "--resume"]).ends_with(0).says("▼ WORSE");
    let after = place.trials();
    assert!(after.len() >= 10 && after[..before.len()] == before[..], "what was stored has changed");
    place.assert_nothing_is_left();
}

/// While a server is waited for, too.
#[test]
fn ctrl_c_does_not_wait_for_a_server_that_is_not_ready() {
    let place = Place::with_study(&[("one", "start-delay = \"1h\""), ("two", "start-delay = \"1h\"")]);
    place.change("\"30s\"", "\"1h\"");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    needs::eventually("a server", || !place.servers().is_empty());
    started.signal("TERM");
    started.end().ends_with(130);
    place.assert_nothing_is_left();
    assert_eq!((place.status(), place.trials().len()), ("interrupted".to_owned(), 0));
}

/// A cleanup that fails leaves what the next launch would meet: no more is launched, and nothing is lost.
#[test]
fn a_cleanup_that_fails_stops_a_run_that_can_go_on_later() {
    let place = Place::with_study(&[("fast", &page("2ms")), ("slow", &page("20ms"))]);
    clean_up_unless_broken(&place);
    let text = "the cleanup hook ended with exit code 1: its last words were `the dump cannot be removed`";
    let ran = place.run(&["run", "study.toml"]).ends_with(1);
    ran.complains("what was measured is stored, --resume goes on").complains(text);
    let before = place.trials();
    // The whole block: its launches end together.
    assert_eq!(before.len(), 2, "{before:#?}");
    assert_eq!((&before[0]["outcome"]["kind"], place.status().as_str()), (&"completed".into(), "interrupted"));

    std::fs::remove_file(place.path("broken")).unwrap();
    place.run(&["run", "study.toml", "--resume"]).ends_with(0).says("▼ WORSE");
    let after = place.trials();
    assert!(after.len() >= 10 && after[0] == before[0], "what was stored has changed");
    place.assert_nothing_is_left();
}

/// A launch that failed is a result, and hides nothing of what it left.
#[test]
fn a_cleanup_that_fails_after_a_launch_that_failed_or_was_interrupted_is_shown() {
    let bad = "exit-at-start = { code = 7, message = \"bad\" }";
    let place = Place::with_study(&[("one", bad), ("two", bad)]);
    clean_up_unless_broken(&place);
    place.one_after_another();
    place.run(&["run", "study.toml"]).ends_with(1).complains("the dump cannot be removed");
    let trials = place.trials();
    assert_eq!(trials.len(), 1, "{trials:#?}");
    assert_eq!(trials[0]["outcome"]["kind"], "failed");

    let place = Place::with_study(&[("one", &page("2ms")), ("two", &page("2ms"))]);
    clean_up_unless_broken(&place);
    place.change("duration = \"1s\"", "duration = \"60s\"");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    needs::eventually("a server", || !place.servers().is_empty());
    started.signal("INT");
    started.end().ends_with(1).complains("the dump cannot be removed");
    place.assert_nothing_is_left();
}

/// What may be left behind is reported beside any other fault: here of a launch that never came to its server.
#[test]
fn a_cleanup_that_fails_is_shown_beside_what_had_failed_before() {
    let place = Place::with_study(&[("one", &page("2ms")), ("two", &page("2ms"))]);
    clean_up_unless_broken(&place);
    place.change("[hooks]\n", "[hooks]\nprepare = \"echo 'the dump cannot be loaded'; exit 1\"\n");
    let ran = place.run(&["run", "study.toml"]).ends_with(1);
    ran.complains("the cleanup hook ended with exit code 1: its last words were `the dump cannot be removed`");
    ran.complains("the prepare hook ended with exit code 1: its last words were `the dump cannot be loaded`");
    place.assert_nothing_is_left();
}

/// An assertion's command whose supervisor is gone: what it has started may run on beside every later load.
#[test]
fn a_command_of_an_assertion_that_cannot_be_ended_stops_a_run() {
    let place = Place::with_study(&[("one", &page("2ms")), ("two", &page("2ms"))]);
    let assertion = "[[assertion]]\nname = \"pool\"\ncommand = \"kill -9 $PPID\"\nexpect = \"1\"\n";
    place.change("[[workload]]", &format!("{assertion}\n[[workload]]"));
    let ran = place.run(&["run", "study.toml"]).ends_with(1);
    ran.complains("ended unexpectedly, as if it had been killed").complains("its processes may still run");
    place.assert_nothing_is_left();
}

/// With a cleanup hook that fails as long as there is a file `broken`.
fn clean_up_unless_broken(place: &Place) {
    place.write("broken", "");
    let hook = "cleanup = \"! test -e broken || { echo 'the dump cannot be removed'; exit 1; }\"";
    place.change("[[workload]]", &format!("[hooks]\n{hook}\n\n[[workload]]"));
}

/// What a launch left that was interrupted is not met by the one that takes its place.
#[test]
fn a_launch_begins_in_an_empty_folder() {
    let place = Place::with_study(&[("one", &page("2ms")), ("two", &page("2ms"))]);
    let hook = "prepare = \"! test -e {trial_dir}/left || echo x >> met; touch {trial_dir}/left; echo x >> prepared\"";
    place.change("[[workload]]", &format!("[hooks]\n{hook}\n\n[[workload]]"));
    place.change("duration = \"1s\"", "duration = \"60s\"");
    for args in [&["run", "study.toml"][..], &["run", "study.toml", "--resume"]] {
        let started = place.start(&mut place.bakeoff(args));
        needs::eventually("a server", || !place.servers().is_empty());
        started.signal("INT");
        started.end().ends_with(130);
    }
    // Side by side the second launch of a block may have begun as well.
    assert!(std::fs::read_to_string(place.path("prepared")).unwrap().lines().count() >= 2);
    assert!(!place.path("met").exists());
}

/// In a file system of its own, which is filled in mid-run and then given room again.
#[test]
fn a_full_disk_stops_a_run_that_can_go_on_later() {
    const SCENE: &str = r#"
set -u
mkdir disk && mount -t tmpfs -o size=8m tmpfs disk || exit 99
"$BAKEOFF" --store disk/store.db run study.toml &
until "$BAKEOFF" --store disk/store.db list | grep -q '[1-9] trials'; do sleep 0.1; done
cat /dev/zero > disk/filler 2> /dev/null
wait $!
echo "stopped with $?"
rm disk/filler
"$BAKEOFF" --store disk/store.db show --json > before.json
"$BAKEOFF" --store disk/store.db run study.toml --resume
echo "resumed with $?"
"$BAKEOFF" --store disk/store.db show --json > after.json
"#;
    if !needs::has(Need::Mounts) {
        return;
    }
    let place = Place::with_study(&[("fast", &page("2ms")), ("slow", &page("20ms"))]);
    let mut own_mounts = Command::new("unshare");
    own_mounts.args(["--mount", "sh", "-c", SCENE]).current_dir(place.path(""));
    own_mounts.env("BAKEOFF", env!("CARGO_BIN_EXE_bakeoff"));
    let ran = place.start(&mut own_mounts).end().ends_with(0);
    ran.says("stopped with 1").says("resumed with 0").says("▼ WORSE");
    ran.complains("what was measured is stored, --resume goes on");
    assert!(["no room left", "No space left"].iter().any(|reason| ran.stderr.contains(reason)), "{}", ran.stderr);
    let trials = |file: &str| -> Vec<serde_json::Value> {
        serde_json::from_str(&std::fs::read_to_string(place.path(file)).unwrap()).unwrap()
    };
    let (before, after) = (trials("before.json"), trials("after.json"));
    assert!((1..10).contains(&before.len()), "{} trials", before.len());
    assert!(after.len() >= 10 && after[..before.len()] == before[..], "what was stored has changed");
    // A full disk is no fault of a variant's.
    assert!(after.iter().all(|trial| trial["outcome"]["kind"] == "completed"), "{after:#?}");
    place.assert_nothing_is_left();
}
