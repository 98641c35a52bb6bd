//! The supervisor's side.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, setsid, wait};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::pipe::{Exit, Order, Report};
use crate::{isolation, proc};

/// What the tree is given to end by itself when bakeoff is gone and can no longer say.
const ORPHAN_GRACE: Duration = Duration::from_secs(2);

/// How often those that should be dead are looked for.
const SWEEP: Duration = Duration::from_millis(20);

enum Event {
    Exited(Exit),
    /// No descendant is left. None can come any more: only descendants start descendants.
    Empty,
    Stop(Duration),
}

/// Runs one program under supervision. Does not return before nothing of what it started is left.
///
/// For a hidden subcommand: it must be called on the main thread of a process that has done nothing else.
pub fn supervise() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&Report::Refused(format!("the supervisor failed: {error}")));
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    // Away from the terminal: Ctrl-C is for bakeoff, which then decides. It fails only for the leader of a group, and
    // then the group is our own already.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let (events, inbox) = mpsc::channel();
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let signalled = events.clone();
    thread::spawn(move || signals.forever().all(|_| signalled.send(Event::Stop(ORPHAN_GRACE)).is_ok()));

    let mut first = String::new();
    if io::stdin().lock().read_line(&mut first)? == 0 {
        return Ok(());
    }
    let order: Order = serde_json::from_str(&first)?;
    let program = match start(&order) {
        Ok(child) => child.id(),
        Err(error) => {
            tell(&Report::Refused(format!("{}: {error}", order.program.display())));
            return Ok(());
        }
    };
    tell(&Report::Started(program));
    let stops = events.clone();
    thread::spawn(move || listen(&stops));
    thread::spawn(move || reap(program, &events));
    attend(&inbox);
    tell(&Report::Stopped);
    Ok(())
}

fn start(order: &Order) -> io::Result<Child> {
    // What holds for us holds for all that we start.
    isolation::pin(&order.cpus)?;
    let open = |path: &Path| OpenOptions::new().create(true).append(true).open(path);
    let mut command = Command::new(&order.program);
    command
        .args(&order.args)
        .env_clear()
        .envs(&order.env)
        .current_dir(&order.dir)
        .stdin(Stdio::null())
        .stdout(open(&order.log)?)
        .stderr(open(order.errors.as_ref().unwrap_or(&order.log))?)
        .process_group(0);
    // Only the program: where memory runs out the kernel may choose any process of a group, and without us the others would go on.
    isolation::confine(&mut command, &order.groups)?;
    proc::die_with_us(&mut command).spawn()
}

/// Turns lines of standard input into events; its end means that bakeoff is gone.
fn listen(events: &Sender<Event>) {
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let grace = line.strip_prefix("stop ").and_then(|seconds| seconds.trim().parse().ok());
        if let Some(grace) = grace.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
            let _ = events.send(Event::Stop(grace));
        }
    }
    let _ = events.send(Event::Stop(ORPHAN_GRACE));
}

/// Collects everyone who dies in the tree, the program and orphans alike.
fn reap(program: u32, events: &Sender<Event>) {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_pid().cast_unsigned() == program => {
                let _ = events.send(Event::Exited(Exit::of(status)));
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    let _ = events.send(Event::Empty);
}

/// Waits for the order to stop, then ends the tree.
fn attend(inbox: &Receiver<Event>) {
    let mut empty = false;
    let grace = loop {
        match inbox.recv() {
            Ok(Event::Exited(exit)) => tell(&Report::Exited(exit)),
            Ok(Event::Empty) => empty = true,
            Ok(Event::Stop(grace)) => break grace,
            Err(_) => break ORPHAN_GRACE,
        }
    };
    if empty {
        return;
    }
    signal_tree(Signal::TERM);
    // Who is stopped does not hear the one before.
    signal_tree(Signal::CONT);
    let mut kill_at = Instant::now() + grace;
    loop {
        match inbox.recv_timeout(kill_at.saturating_duration_since(Instant::now())) {
            Ok(Event::Exited(exit)) => tell(&Report::Exited(exit)),
            Ok(Event::Empty) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(Event::Stop(grace)) => kill_at = kill_at.min(Instant::now() + grace),
            Err(RecvTimeoutError::Timeout) => {
                // Again and again: what is being started while we look is found the next time.
                signal_tree(Signal::KILL);
                kill_at = Instant::now() + SWEEP;
            }
        }
    }
}

/// Signals each descendant once; some servers take a second TERM for impatience.
fn signal_tree(signal: Signal) {
    for process in proc::descendants(std::process::id()) {
        if let Some(pid) = Pid::from_raw(process.pid.cast_signed()) {
            let _ = kill_process(pid, signal);
        }
    }
}

/// A reader that is gone is no reason to stop working: the end of standard input says the same.
fn tell(report: &Report) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{report}").and_then(|()| out.flush());
}
