//! Nothing that was started outlives us.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use server::{Exit, Running, install};

use crate::common::{
    STUBBORN, command, hanging_jdk, launcher, read_pid, ruby, runs, spec, study, tcp, toolbox, toolbox_of,
};

/// Launches the stubborn program below `dir`.
fn stubborn(dir: &Path) -> Running {
    let mut spec = spec(ruby("stubborn.rb"), &["{port}", "{trial_dir}/grandchild"], dir);
    spec.ready = tcp("127.0.0.1:{port}", 60);
    let installed = install(&spec, dir, &toolbox(dir)).unwrap();
    let launcher = launcher();
    launcher.server(&installed, &launcher.site(dir, &dir.join("trial"), &[]).unwrap()).unwrap()
}

fn pid(raw: u32) -> Pid {
    Pid::from_raw(raw.cast_signed()).unwrap()
}

fn parent(of: u32) -> u32 {
    stat(of, 1)
}

/// Zero where its leader is outside our process namespace, for which `getsid` has no answer.
fn session(of: u32) -> u32 {
    stat(of, 3)
}

/// `T` when it is stopped.
fn state(of: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{of}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').next().unwrap().to_owned()
}

/// A number in `/proc/PID/stat`, counted from the state (`man 5 proc`).
fn stat(of: u32, place: usize) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{of}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(place).unwrap().parse().unwrap()
}

#[test]
fn stop_ends_a_grandchild_that_left_the_session_and_ignores_term() {
    let dir = study("stubborn.rb", STUBBORN);
    let running = stubborn(dir.path());
    let (server, grandchild) = (running.pid(), read_pid(&dir.path().join("trial/grandchild")));
    assert_ne!(session(grandchild), session(server));
    assert!(runs(grandchild));
    assert_eq!(running.stop(Duration::from_millis(200)).unwrap(), Exit::Signal(Signal::TERM.as_raw()));
    assert!(!runs(server) && !runs(grandchild));
}

#[test]
fn dropping_ends_the_tree() {
    let dir = study("stubborn.rb", STUBBORN);
    let running = stubborn(dir.path());
    let (server, grandchild) = (running.pid(), read_pid(&dir.path().join("trial/grandchild")));
    drop(running);
    assert!(!runs(server) && !runs(grandchild));
}

#[test]
fn kill_9_of_bakeoff_ends_the_tree() {
    let dir = study("stubborn.rb", STUBBORN);
    let mut bakeoff = stand_in(dir.path(), "launch");
    let ready = dir.path().join("server");
    needs::eventually("the server is ready", || ready.is_file());
    let (server, grandchild) = (read_pid(&ready), read_pid(&dir.path().join("trial/grandchild")));
    let supervisor = parent(server);
    assert!(runs(server) && runs(grandchild) && parent(grandchild) == supervisor);
    bakeoff.kill().unwrap();
    bakeoff.wait().unwrap();
    needs::eventually("server, grandchild and supervisor end", || {
        [server, grandchild, supervisor].iter().all(|pid| !runs(*pid))
    });
}

#[test]
fn kill_9_of_bakeoff_ends_a_helper_and_all_it_started() {
    let dir = study("Server.java", "class Server {}");
    let mut bakeoff = stand_in(dir.path(), "compile");
    let grandchild = dir.path().join("grandchild");
    needs::eventually("the compiler hangs", || grandchild.is_file());
    let (helper, grandchild) = (read_pid(&dir.path().join("javac")), read_pid(&grandchild));
    assert!(runs(helper) && runs(grandchild));
    bakeoff.kill().unwrap();
    bakeoff.wait().unwrap();
    needs::eventually("compiler and grandchild end", || !runs(helper) && !runs(grandchild));
}

#[test]
fn an_interrupt_ends_a_helper_and_all_it_started() {
    let dir = study("Server.java", "class Server {}");
    let spec = hanging_jdk(dir.path());
    let flag = Arc::new(AtomicBool::new(false));
    let launcher = launcher().interrupted_by(Arc::clone(&flag));
    let (reported, grandchild) = (RefCell::new(Vec::new()), dir.path().join("grandchild"));
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            needs::eventually("the compiler hangs", || grandchild.is_file());
            flag.store(true, Ordering::Relaxed);
        });
        let announce = |step: &str| reported.borrow_mut().push(step.to_owned());
        install(&spec, dir.path(), &toolbox_of(&launcher, dir.path()).announcing(&announce)).unwrap_err()
    });
    assert!(error.is_interrupted(), "{error}");
    assert_eq!(reported.take(), ["compiling Server.java"]);
    assert!(!runs(read_pid(&dir.path().join("javac"))) && !runs(read_pid(&grandchild)));
}

/// Another process that does `what` in a study's folder as bakeoff would, until it is killed.
fn stand_in(dir: &Path, what: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "supervise::stand_in_for_bakeoff"])
        .env("STUDY_DIR", dir)
        .env("STAND_IN", what)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "not a test: the process that another test kills"]
fn stand_in_for_bakeoff() {
    let Some(dir) = std::env::var_os("STUDY_DIR").map(PathBuf::from) else { return };
    if std::env::var("STAND_IN").unwrap() == "compile" {
        let _ = install(&hanging_jdk(&dir), &dir, &toolbox(&dir));
        return;
    }
    let running = stubborn(&dir);
    std::fs::write(dir.join("server.new"), running.pid().to_string()).unwrap();
    std::fs::rename(dir.join("server.new"), dir.join("server")).unwrap();
    loop {
        thread::park();
    }
}

#[test]
fn kill_9_of_the_supervisor_ends_the_program_and_is_noticed() {
    let dir = study("stubborn.rb", STUBBORN);
    let running = stubborn(dir.path());
    let (server, grandchild) = (running.pid(), read_pid(&dir.path().join("trial/grandchild")));
    kill_process(pid(parent(server)), Signal::KILL).unwrap();
    needs::eventually("the server ends", || !runs(server));
    let error = running.stop(Duration::from_secs(1)).unwrap_err().to_string();
    // The one thing that can be left, and it is said.
    kill_process(pid(grandchild), Signal::KILL).unwrap();
    let reported = format!("may still run: look for what is left of process {server}");
    assert!(error.contains(&reported), "{error}");
}

#[test]
fn ctrl_c_in_the_terminal_does_not_reach_the_server() {
    let dir = study("stubborn.rb", STUBBORN);
    let running = stubborn(dir.path());
    let ours = session(std::process::id());
    assert_ne!(session(running.pid()), ours);
    assert_ne!(session(parent(running.pid())), ours);
}

#[test]
fn a_term_to_the_supervisor_ends_the_tree() {
    let dir = study("stubborn.rb", STUBBORN);
    let running = stubborn(dir.path());
    let (server, grandchild) = (running.pid(), read_pid(&dir.path().join("trial/grandchild")));
    kill_process(pid(parent(server)), Signal::TERM).unwrap();
    needs::eventually("server and grandchild end", || !runs(server) && !runs(grandchild));
    assert_eq!(running.exit(), Some(Exit::Signal(Signal::TERM.as_raw())));
}

#[test]
fn a_program_that_cannot_be_run_is_refused() {
    let dir = study("not-a-program", "not a program");
    let spec = spec(command("./not-a-program"), &[], dir.path());
    let installed = install(&spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
    let error = launcher.server(&installed, &site).unwrap_err().to_string();
    assert!(error.contains("not-a-program") && error.contains("denied"), "{error}");
}

#[test]
fn who_is_paused_stands_still_and_goes_on_and_can_be_ended() {
    let dir = study("stubborn.rb", STUBBORN);
    let running = stubborn(dir.path());
    let processes = [running.pid(), read_pid(&dir.path().join("trial/grandchild"))];
    let all_are = |stopped: bool| processes.iter().all(|pid| (state(*pid) == "T") == stopped);
    let paused = running.pause();
    needs::eventually("stopped", || all_are(true));
    drop(paused);
    needs::eventually("continued", || all_are(false));
    let paused = running.pause();
    needs::eventually("stopped again", || all_are(true));
    // It hears TERM although nobody lets it go on.
    assert_eq!(running.stop(Duration::from_secs(2)).unwrap(), Exit::Signal(Signal::TERM.as_raw()));
    assert!(!processes.into_iter().any(runs));
    drop(paused);
}
