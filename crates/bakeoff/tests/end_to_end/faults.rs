//! Servers that are broken in every way known: each run ends by itself, names the reason, and leaves no process.

use std::net::TcpListener;
use std::thread;

use crate::common::{Place, findings, page, script, text_of};
use model::Verdict;
use serde_json::Value;

/// How a server is broken.
struct Fault {
    keys: &'static str,
    page: &'static str,
    /// The rule that finds it.
    found: &'static str,
    /// What the finding says.
    text: &'static str,
    /// The last line of the server's log.
    log: &'static str,
}

impl Fault {
    const fn new(keys: &'static str, page: &'static str, text: &'static str) -> Self {
        Self { keys, page, found: "trial-failed", text, log: "listening on" }
    }

    fn happens(&self) {
        let place = Place::with_study(&[("good", &page("5ms")), ("bad", &script(self.keys, self.page))]);
        place.change("\"30s\"", "\"3s\"");
        let ran = place.run(&["run", "study.toml"]).ends_with(5);
        place.assert_nothing_is_left();
        ran.says("✗ INVALID bad against good is no valid comparison").says(self.found);
        let report = place.report();
        let found = findings(&report, self.found);
        assert!(found.iter().any(|finding| text_of(finding).contains(self.text)), "no `{}` in {found:#?}", self.text);
        // The good side's launches went well.
        assert_eq!(report.variants[0].failed, [], "{:?}", self.text);
        if self.found == "trial-failed" {
            ran.complains("FAILED: ").complains("the first 2 launches of bad failed");
            let show = place.run(&["show"]).ends_with(0);
            assert!(self.log.is_empty() || show.stdout.contains(&format!("| {}", self.log)), "{}", show.stdout);
        }
    }
}

/// All at once: they mostly wait.
fn all_happen(faults: &[Fault]) {
    thread::scope(|scope| {
        for fault in faults {
            scope.spawn(|| fault.happens());
        }
    });
}

#[test]
fn servers_that_do_not_start() {
    const LAST: &str = "java.net.BindException: Address already in use";
    all_happen(&[
        Fault {
            log: LAST,
            ..Fault::new(
                "exit-at-start = { code = 7, message = \"java.net.BindException: Address already in use\" }",
                "",
                "server ended with exit code 7 before it was ready",
            )
        },
        Fault { log: "", ..Fault::new("start-delay = \"1h\"", "", "Connection refused") },
        Fault::new("not-ready-for = \"1h\"", "", "was not ready within 3s: expected a 2xx answer to GET"),
        Fault::new("not-ready-for = \"1h\"", "", "last had: status 503"),
        Fault {
            log: "knownserver: the script is wrong",
            ..Fault::new("sead = 1", "", "server ended with exit code 2")
        },
    ]);
}

#[test]
fn servers_that_answer_badly() {
    const SIZE: &str = "body = { size = 2000 }\n";
    let bad = |fault: &'static str, text| Fault::new("", fault, text);
    all_happen(&[
        bad("fault = \"garbage\"", "it does not begin with HTTP/1.0 or HTTP/1.1"),
        bad("fault = \"close\"", "closed before the first byte of the answer"),
        bad("fault = \"close-mid-body\"", "before the body had its Content-Length"),
        bad("fault = { wrong-content-length = 10 }", "before the body had its Content-Length"),
        bad("fault = { wrong-content-length = -5 }", "bytes after the end of the answer"),
        Fault {
            found: "errors",
            ..Fault::new("[[error]]\nshare = 0.6\npath = \"/page\"\nstatus = 503\n", SIZE, "status 503: ")
        },
        // Many times as fast as the other, since it lets nobody in.
        Fault { found: "errors", ..bad("status = 401\nbody = { size = 40 }", "status 401 instead of 2xx or 3xx") },
    ]);
}

#[test]
fn servers_that_die_under_load() {
    all_happen(&[
        Fault {
            log: "out of memory",
            ..Fault::new(
                "exit-after = { requests = 30, code = 3, message = \"out of memory\" }",
                "body = { size = 2000 }",
                "the server ended by itself under load (exit code 3)",
            )
        },
        // While single answers are asked for.
        Fault {
            log: "out of memory",
            ..Fault::new(
                "exit-after = { requests = 2, code = 3, message = \"out of memory\" }",
                "body = { size = 2000 }",
                "the server ended by itself (exit code 3)",
            )
        },
    ]);
}

/// At most 400 requests a second are answered, so a server dies after two seconds or more of the measurement.
#[test]
fn what_a_server_showed_before_it_died_is_kept() {
    let dies = script("exit-after = { requests = 1000 }", "body = { size = 2000 }\ndelay = \"5ms\"");
    let place = Place::with_study(&[("one", &dies), ("two", &dies)]);
    place.change("duration = \"1s\"", "duration = \"60s\"").run(&["run", "study.toml"]).ends_with(5);
    let trials = place.trials();
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        let outcome = &trial["outcome"];
        assert_eq!((&outcome["kind"], &outcome["phase"]), (&"failed".into(), &"measure".into()), "{outcome}");
        let count = |what: &Value| what.as_array().map_or(0, Vec::len);
        assert!(trial["launch"]["pid"].is_u64(), "{}", trial["launch"]);
        assert_eq!((count(&trial["answers"]), count(&trial["cells"])), (2, 1));
        assert!(count(&trial["warm_up"]["samples"]) > 0 && count(&trial["cells"][0]["samples"]) > 0, "{trial}");
    }
    place.assert_nothing_is_left();
}

/// It answered when it was asked whether it is ready, and would answer still.
#[test]
fn a_start_script_that_returns() {
    let place = Place::with_study(&[("one", &page("5ms")), ("two", &page("5ms"))]);
    place.change("command = \"", "command = \"sh start.sh ").change("duration = \"1s\"", "duration = \"20s\"");
    place.write("start.sh", "\"$@\" &\nsleep 2\n");
    let ran = place.run(&["run", "study.toml"]);
    place.assert_nothing_is_left();
    ran.complains("the server ended by itself under load (exit code 0: it has to stay in the foreground)");
}

/// Half a minute is what one request may take.
#[test]
fn a_server_that_never_answers_does_not_hold_a_run_for_ever() {
    let place = Place::with_study(&[("good", &page("5ms")), ("bad", &script("", "fault = \"never-answer\""))]);
    let ran = place.run(&["run", "study.toml", "--budget", "30s", "--fail-on", "never"]).ends_with(5);
    place.assert_nothing_is_left();
    ran.says("✗ INVALID").says("no-block-used").complains("the budget of 30 s does not allow another block");
    let report = place.report();
    assert!(matches!(report.judgements[0].verdict, Verdict::Invalid { .. }), "{:#?}", report.judgements);
    let failed = findings(&report, "trial-failed");
    assert_eq!(failed.len(), 1, "{failed:#?}");
    assert!(text_of(failed[0]).contains("page: no complete answer within 30 s: 0 bytes came"), "{failed:#?}");
}

#[test]
fn a_port_that_another_process_holds_is_shown_with_that_process() {
    let foreign = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = foreign.local_addr().unwrap().port();
    // As slow as a virtual machine, so that the other one is met first.
    let slow = script("start-delay = \"2s\"", "");
    let place = Place::with_study(&[("one", &slow), ("two", &slow)]);
    place
        .change("--port {port}", &format!("--port {port}"))
        .change("{ get = \"/ready\"", &format!("{{ tcp = \"127.0.0.1:{port}\""))
        .change("stop_within", "env = { PORT = \"{port}\" }\nstop_within");
    let owner = format!("where server should answer, is answered by another process (process {}", std::process::id());
    place.run(&["run", "study.toml"]).ends_with(1).complains(&format!("127.0.0.1:{port}")).complains(&owner);
    // That says nothing about a variant: there is no trial of it, and so no run.
    place.run(&["list"]).ends_with(0).says("no runs are stored yet");
    place.assert_nothing_is_left();
}
