//! bakeoff's side of a supervisor.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use super::pipe::{Exit, Order, Report};

/// How often those who wait look whether they were interrupted.
pub(crate) const GLANCE: Duration = Duration::from_millis(100);

/// What a supervisor may need beyond the grace to kill the rest and to say so.
const SETTLE: Duration = Duration::from_secs(10);

/// Why a supervised program could not be started or ended.
#[derive(Debug, Error)]
pub enum SuperviseError {
    /// No supervisor.
    #[error(
        "cannot start the supervisor `{command}`: {source}. It is bakeoff itself, by the path that it was started by, and logs to {log}: see that both are there, and that there is room for one more process"
    )]
    Supervisor {
        /// Its command line.
        command: String,
        /// Where it was to log.
        log: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The supervisor could not start the program.
    #[error("cannot start {0}; check that the program exists and may be executed")]
    Refused(String),
    /// The supervisor ended without a word.
    #[error(
        "the supervisor of {program} ended unexpectedly, as if it had been killed; its processes may still run: look for what is left of process {pid}, end it, and see in the kernel's log (`dmesg`) whether memory ran out"
    )]
    Lost {
        /// The program.
        program: String,
        /// The program's process id, or else the supervisor's.
        pid: u32,
    },
    /// The supervisor did not answer.
    #[error(
        "the supervisor of {program} did not report its end within {within:?}; look for what is left of process {pid}"
    )]
    Survived {
        /// The program.
        program: String,
        /// The program's process id.
        pid: u32,
        /// How long was waited.
        within: Duration,
    },
}

/// What the supervisor has reported so far.
#[derive(Debug, Default)]
struct SupervisorState {
    started: Option<u32>,
    refused: Option<String>,
    exit: Option<Exit>,
    stopped: bool,
    /// It will report nothing more.
    closed: bool,
}

#[derive(Debug, Default)]
struct SharedState {
    state: Mutex<SupervisorState>,
    changed: Condvar,
}

impl SharedState {
    fn state(&self) -> MutexGuard<'_, SupervisorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn follow(&self, reports: ChildStdout) {
        for line in BufReader::new(reports).lines().map_while(Result::ok) {
            let mut state = self.state();
            match Report::parse(&line) {
                Some(Report::Started(pid)) => state.started = Some(pid),
                Some(Report::Refused(reason)) => state.refused = Some(reason),
                Some(Report::Exited(exit)) => state.exit = Some(exit),
                Some(Report::Stopped) => state.stopped = true,
                None => {}
            }
            self.changed.notify_all();
        }
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Waits until the state is as wanted, can change no more, or the time is up.
    fn wait(&self, within: Duration, enough: impl Fn(&SupervisorState) -> bool) -> MutexGuard<'_, SupervisorState> {
        let waited = self.changed.wait_timeout_while(self.state(), within, |state| !enough(state) && !state.closed);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A program under supervision. Dropping it ends the program and all it started.
#[derive(Debug)]
pub(crate) struct Supervised {
    supervisor: Child,
    orders: Option<ChildStdin>,
    shared: Arc<SharedState>,
    program: String,
    pid: u32,
}

impl Supervised {
    /// Starts a program under `supervisor`, a command line.
    pub fn start(supervisor: &[String], order: &Order) -> Result<Self, SuperviseError> {
        let refused =
            |source| SuperviseError::Supervisor { command: supervisor.join(" "), log: order.log.clone(), source };
        let (exe, args) = supervisor.split_first().ok_or_else(|| refused(io::ErrorKind::InvalidInput.into()))?;
        let log = OpenOptions::new().create(true).append(true).open(&order.log).map_err(refused)?;
        let mut child = Command::new(exe)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(refused)?;
        let shared = Arc::new(SharedState::default());
        if let Some(reports) = child.stdout.take() {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.follow(reports));
        }
        let mut supervised = Self {
            orders: child.stdin.take(),
            supervisor: child,
            shared,
            program: order.program.display().to_string(),
            pid: 0,
        };
        let line = serde_json::to_string(order).map_err(|error| refused(error.into()))?;
        supervised.say(&line).map_err(refused)?;
        supervised.pid = supervised.started()?;
        Ok(supervised)
    }

    fn started(&self) -> Result<u32, SuperviseError> {
        let state = self.shared.wait(SETTLE, |state| state.started.is_some() || state.refused.is_some());
        match (&state.refused, state.started) {
            (Some(reason), _) => Err(SuperviseError::Refused(reason.clone())),
            (None, Some(pid)) => Ok(pid),
            (None, None) => Err(self.lost(self.root())),
        }
    }

    /// Process id of the program.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Process id of the supervisor: the root of the tree.
    pub fn root(&self) -> u32 {
        self.supervisor.id()
    }

    /// How the program ended, if it did.
    pub fn exit(&self) -> Option<Exit> {
        self.shared.state().exit
    }

    /// Waits for the program to end by itself, until `interrupted` is raised.
    pub fn wait(&self, within: Duration, interrupted: &AtomicBool) -> Option<Exit> {
        let deadline = Instant::now() + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let (exit, closed) = {
                let state = self.shared.wait(left.min(GLANCE), |state| state.exit.is_some());
                (state.exit, state.closed)
            };
            if exit.is_some() || closed || left.is_zero() || interrupted.load(Ordering::Relaxed) {
                return exit;
            }
        }
    }

    /// Ends the program and all it started: TERM, and KILL after `grace`. Says how the program itself ended.
    pub fn stop(&mut self, grace: Duration) -> Result<Exit, SuperviseError> {
        // A supervisor that cannot be written to is gone, which is found out below.
        let _ = self.say(&format!("stop {}", grace.as_secs_f64()));
        let within = grace + SETTLE;
        let deadline = Instant::now() + within;
        let (stopped, exit) = {
            let state = self.shared.wait(within, |state| state.stopped);
            (state.stopped, state.exit)
        };
        self.orders = None;
        if !stopped && Instant::now() >= deadline {
            return Err(SuperviseError::Survived { program: self.program.clone(), pid: self.pid, within });
        }
        let _ = self.supervisor.wait();
        exit.filter(|_| stopped).ok_or_else(|| self.lost(self.pid))
    }

    fn lost(&self, pid: u32) -> SuperviseError {
        SuperviseError::Lost { program: self.program.clone(), pid }
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        let Some(pipe) = &mut self.orders else { return Err(io::ErrorKind::BrokenPipe.into()) };
        writeln!(pipe, "{line}").and_then(|()| pipe.flush())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if self.orders.is_some() {
            let _ = self.stop(Duration::from_secs(2));
        }
    }
}
