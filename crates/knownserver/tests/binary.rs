//! The server as a process.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

const TERM: i32 = 15;

struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// What follows `start` on the next line.
    fn line(&mut self, start: &str) -> String {
        let line = self.lines.next().unwrap().unwrap();
        line.strip_prefix(start).unwrap_or_else(|| panic!("expected {start:?}, found {line:?}")).to_owned()
    }

    fn term(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Of a test that failed; otherwise it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_knownserver"));
    command.args(arguments).process_group(0);
    command
}

fn output(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

fn get(address: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_says_where_it_listens_and_term_ends_it() {
    let mut server = Running::start(&["--size", "7"]);
    let address = server.line("listening on ");
    assert!(address.starts_with("127.0.0.1:"));
    assert!(get(&address).contains("Content-Length: 7\r\n"));
    server.term();
    assert_eq!(server.child.wait().unwrap().signal(), Some(TERM));
}

#[test]
fn a_server_that_ignores_term_goes_on() {
    let mut server = Running::start(&["--ignore-term"]);
    let address = server.line("listening on ");
    server.term();
    assert!(get(&address).starts_with("HTTP/1.1 200 OK"));
    server.child.kill().unwrap();
    assert_ne!(server.child.wait().unwrap().signal(), Some(TERM));
}

#[test]
fn the_child_left_behind_outlives_term_in_the_servers_group() {
    let mut server = Running::start(&["--leave-child"]);
    let left: i32 = server.line("left child ").parse().unwrap();
    let left = Pid::from_raw(left).unwrap();
    server.line("listening on ");
    let group = |pid| rustix::process::getpgid(Some(pid)).unwrap();
    assert_eq!(group(left), group(Pid::from_child(&server.child)));
    // It ignores TERM once its handler is there, which the kernel shows as a set bit in SigCgt.
    while !catches_term(left) {
        std::thread::yield_now();
    }
    kill_process(left, Signal::TERM).unwrap();
    server.term();
    server.child.wait().unwrap();
    assert!(!status_of(left).contains("(zombie)"));
    kill_process(left, Signal::KILL).unwrap();
}

fn status_of(pid: Pid) -> String {
    fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap()
}

fn catches_term(pid: Pid) -> bool {
    let status = status_of(pid);
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (TERM - 1)) != 0
}

#[test]
fn scripts_come_from_a_file_and_flags_change_them() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, "exit-after = { requests = 1, code = 7, message = \"enough\" }\n[[route]]\nstatus = 201").unwrap();
    let path = file.path().to_str().unwrap();
    let mut child = command(&["--script", path, "--body", "changed"]);
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let answer = get(line.trim().strip_prefix("listening on ").unwrap());
    assert!(answer.starts_with("HTTP/1.1 201 ") && answer.ends_with("changed"));
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "enough\n");
}

#[test]
fn it_can_fail_at_the_start() {
    let failed = output(&["--exit-at-start", "Address already in use"]);
    assert_eq!(failed.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&failed.stderr), "Address already in use\n");
    assert!(failed.stdout.is_empty());
}

#[test]
fn a_wrong_script_is_refused_with_its_place() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, "seed = 1\nsead = 2\n").unwrap();
    let refused = output(&["--script", file.path().to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("line 2") && message.contains("sead"), "{message}");
}
