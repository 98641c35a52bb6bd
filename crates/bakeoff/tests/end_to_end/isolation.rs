//! Processes kept apart: a port that every variant insists on, limits as a treatment, processors of their own; and the host,
//! examined.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use model::Severity;
use model::fitness::{Examination, Fitness};
use needs::Need;

use crate::common::{Place, findings, knownserver, page, processors, script, text_of};

const RUN: [&str; 6] = ["run", "study.toml", "--seed", "1", "--fail-on", "never"];

fn same_twice() -> Place {
    Place::with_study(&[("one", &page("3ms")), ("two", &page("3ms"))])
}

#[test]
fn a_port_that_is_taken_outside_is_free_in_a_network_of_its_own() {
    if !needs::has(Need::Network) {
        return;
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let place = same_twice();
    // The port is the program's own; the one that bakeoff chose is not used.
    place
        .change("--port {port}\"", &format!("--port {port}\"\nenv = {{ UNUSED = \"{{port}}\" }}"))
        .change("get = \"/ready\", within", &format!("tcp = \"127.0.0.1:{port}\", within"));
    place.run(&RUN).ends_with(1).complains("is answered by another process");
    place.change("[decide]", "[host]\nnetwork = \"own\"\n\n[decide]");
    place.run(&RUN).ends_with(0);
    let report = place.report();
    assert!(findings(&report, "trial-failed").is_empty(), "{:?}", report.findings);
    assert_eq!(report.judgements.len(), 1);
    place.assert_nothing_is_left();
}

#[test]
fn limits_are_a_treatment_that_is_read_back() {
    if !needs::has(Need::ControlGroups) {
        return;
    }
    // A fifth of a core answers 40 a second at most.
    let work = script("", "body = { size = 2000 }\ncpu = \"5ms\"");
    let place = Place::with_study(&[("whole", &work), ("fifth", &work)]);
    place.change("fifth = { args", "fifth = { limits = { cpus = \"0.2\", memory = \"256m\" }, args");
    place.change("whole = { args", "whole = { limits = { cpus = \"500\" }, args");
    place.run(&RUN).ends_with(0);
    let trials = place.trials();
    let limits = trials.iter().flat_map(|trial| trial["settings"].as_array().unwrap());
    let limits: Vec<_> = limits.filter(|setting| setting["kind"] == "limit").collect();
    assert_eq!(2 * limits.len(), 3 * trials.len(), "one in every other trial, two in the rest: {limits:?}");
    for limit in limits {
        let expected = if limit["requested"] == "500" { "inert" } else { "in-effect" };
        assert_eq!(limit["result"]["kind"], expected, "{limit:?}");
    }
    let judgement = &place.report().judgements[0];
    assert!(judgement.sentence.contains("slower"), "{}", judgement.sentence);
    place.assert_nothing_is_left();
    let left = ["", "cpu", "memory"].map(|kind| fs::read_dir(Path::new("/sys/fs/cgroup").join(kind)));
    let left = left.into_iter().flatten().flatten().flatten().map(|entry| entry.file_name());
    let left: Vec<_> = left.filter(|name| is_of_nobody(&name.to_string_lossy())).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A worker beside the server needs 100 MB again and again.
#[test]
fn a_server_that_loses_workers_to_its_memory_limit_is_shown() {
    if !needs::has(Need::ControlGroups) {
        return;
    }
    let place = same_twice();
    let server = knownserver();
    // `tail` keeps the last line, which has no end.
    place.write(
        "serve.sh",
        &format!(
            "while sleep 0.1; do head -c 100000000 /dev/zero | tail -n 1 > /dev/null; done &\nexec {} \"$@\"\n",
            server.display()
        ),
    );
    place.change(&format!("{} --port", server.display()), "/bin/sh {dir}/serve.sh --port");
    place.change("two = { args", "two = { limits = { memory = \"48m\" }, args");
    place.run(&RUN).ends_with(0).says("memory-limit-hit");
    let killed = |trial: &serde_json::Value| trial["oom_kills"].as_u64();
    for trial in place.trials() {
        assert_eq!(trial["outcome"]["kind"], "completed", "{trial}");
        assert_eq!(killed(&trial).is_some_and(|kills| kills > 0), trial["variant"] == 1, "{trial}");
    }
    let report = place.report();
    let [found] = &findings(&report, "memory-limit-hit")[..] else { panic!("{:#?}", report.findings) };
    // Five launches a side are too few to be sure that it is one side's.
    assert_eq!(found.severity, Severity::Warning);
    assert!(text_of(found).contains("limit: none | 48.0 MiB"), "{found:#?}");
    place.run(&["show"]).ends_with(0).says("processes killed for needing more memory than `limits` allow: ");
    place.assert_nothing_is_left();
}

/// Whether this is the group of a bakeoff that has ended.
fn is_of_nobody(group: &str) -> bool {
    let pid = group.strip_prefix("bakeoff-").and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
    pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists())
}

#[test]
fn server_and_load_keep_to_their_processors() {
    if !needs::has(Need::Processors) {
        return;
    }
    let place = same_twice();
    place.change("[decide]", "[host]\nserver_cpus = \"1\"\nclient_cpus = \"0\"\n\n[decide]");
    let started = place.start(&mut place.bakeoff(&RUN));
    needs::eventually("a server on its processor", || {
        let servers = place.servers();
        let folders = servers.iter().filter_map(|process| process.split(": ").next());
        folders.filter_map(|folder| processors(Path::new(folder))).any(|list| list == "1")
    });
    // Before the first trial the client's floor is measured there.
    place.wait_for_mid_trial(1);
    needs::eventually("a load on its processor", || started.processors().iter().any(|list| list == "0"));
    started.end().ends_with(0);
    place.assert_nothing_is_left();
}

#[test]
fn processors_that_are_not_there_are_refused() {
    let place = same_twice();
    place.change("[decide]", "[host]\nclient_cpus = \"1000\"\n\n[decide]");
    // A check says so before anything is launched.
    let checked = place.run(&["check", "study.toml"]).ends_with(0);
    checked.says("client_cpus 1000").says("! processors [1000] of [host] cannot be used here").says("`nproc` and");
    place.run(&RUN).ends_with(1).complains("processors [1000] of [host] cannot be used here");
    place.change("client_cpus = \"1000\"", "server_cpus = \"0,1000\"");
    place.run(&RUN).ends_with(1).complains("processors [0, 1000] of [host] cannot be used here");
    place.assert_nothing_is_left();
}

#[test]
fn a_check_shows_what_the_processes_get_and_what_they_cannot_have() {
    let place = same_twice();
    place.change("one = {", "one = { limits = { cpus = \"0.5\", memory = \"512m\" },");
    place.change(
        "[decide]",
        "[host]\nserver_cpus = \"0\"\nnetwork = \"own\"\n\n[[assertion]]\nname = \"threads\"\nthreads = \"known\"\n\
         expect = { one = 1, two = \">= 1\" }\n\n[decide]",
    );
    let shown = place.run(&["check", "study.toml"]).ends_with(0);
    shown.says("host server_cpus 0 network own: each trial has a loopback interface of its own");
    shown.says("limits one: 0.5 cores, 512 MiB; two: none");
    shown.says("assertions threads threads named /known/, before the loads; expected one: 1; two: >= 1");
    // As this process may, so says the check.
    let lacks = |what: &str| shown.stdout.contains(what);
    assert_eq!(lacks("! `limits` cannot be kept here"), !Need::ControlGroups.is_here(), "{}", shown.stdout);
    assert_eq!(lacks("! a network of its own"), !Need::Network.is_here(), "{}", shown.stdout);
    assert!(!lacks("! processors"), "{}", shown.stdout);

    place.change("\"0.5\"", "\"500\"");
    place.run(&["check", "study.toml"]).ends_with(0).says("! one: a limit of 500 cores is none here");
    // Of the host's processors it has one.
    place.change("\"500\"", "\"1.5\"");
    let shown = place.run(&["check", "study.toml"]).ends_with(0);
    shown.says("! one: a limit of 1.5 cores is none here: the server may use 1 processor only");

    let mut powerless = Command::new("setpriv");
    powerless.arg("--bounding-set=-all");
    if !needs::has(Need::Capabilities) {
        return;
    }
    powerless.arg(env!("CARGO_BIN_EXE_bakeoff")).args(["check", "study.toml"]).current_dir(place.path("."));
    let output = place.start(&mut powerless).end().ends_with(0);
    output.says("! a network of its own (`[host] network = \"own\"`) cannot be made for a trial").says("unshare -Ur");
    place.assert_nothing_is_left();
}

#[test]
fn the_host_is_examined_and_each_run_keeps_the_clients_floor() {
    let place = same_twice();
    let ran = place.run(&["doctor", "--watch", "300ms"]);
    for subject in ["governor", "clock", "CPU quota", "steal", "JDKs", "floor of the client here"] {
        ran.says(subject);
    }
    let output = place.run(&["doctor", "--watch", "300ms", "--json"]);
    let examination: Examination = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(output.code, Some(if examination.fitness() == Fitness::Unfit { 5 } else { 0 }), "{output:?}");
    assert!(examination.host.floor.is_some_and(|floor| floor.p50_us > 0), "{examination:?}");
    place.run(&RUN).ends_with(0);
    assert!(place.report().host.floor.is_some());
}
