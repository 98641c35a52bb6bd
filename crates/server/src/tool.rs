//! Questions to other programs (`java -version`, `jcmd`), answered in a moment. Helpers that work for longer, or that may be
//! any script, are run by [`crate::Toolbox`].

use std::env;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use thiserror::Error;

use crate::proc;
use crate::supervise::SuperviseError;

/// A helper that gave no answer.
#[derive(Debug, Error)]
pub enum ToolError {
    /// It could not be started.
    #[error("cannot run {program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// It took too long.
    #[error("{program} did not end within {within:?} and was killed")]
    Slow {
        /// The program.
        program: String,
        /// The bound.
        within: Duration,
    },
    /// The caller's flag was raised.
    #[error("interrupted while {program} was running")]
    Interrupted {
        /// The program.
        program: String,
    },
    /// It could not be started or ended.
    #[error(transparent)]
    Supervise(#[from] SuperviseError),
    /// What it said cannot be kept.
    #[error("cannot use {path}: {source}", path = path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What a helper said.
#[derive(Debug)]
pub(crate) struct ToolOutput {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl ToolOutput {
    /// Both streams, for people.
    pub fn output(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs a helper to its end, or kills it after `within`. It is out of reach of the terminal's Ctrl-C, and the kernel kills
/// it when we die.
pub(crate) fn run(command: &mut Command, within: Duration) -> Result<ToolOutput, ToolError> {
    run_until(command, within, &AtomicBool::new(false))
}

/// The same for one that may take longer than a user who has pressed Ctrl-C wants to wait: it is killed, too, as soon as
/// `interrupted` is raised.
pub(crate) fn run_until(
    command: &mut Command,
    within: Duration,
    interrupted: &AtomicBool,
) -> Result<ToolOutput, ToolError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let start = |source| ToolError::Start { program: program.clone(), source };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = proc::die_with_us(command).spawn().map_err(start)?;
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let deadline = Instant::now() + within;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(start)? {
            break status;
        }
        let is_interrupted = interrupted.load(Ordering::Relaxed);
        if is_interrupted || Instant::now() >= deadline {
            // The whole group: a version manager's script may have started the program proper.
            if let Some(group) = Pid::from_raw(child.id().cast_signed()) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.wait();
            let interrupted = ToolError::Interrupted { program: program.clone() };
            return Err(if is_interrupted { interrupted } else { ToolError::Slow { program, within } });
        }
        thread::sleep(Duration::from_millis(5));
    };
    // A helper's own child may hold the pipes open for longer: what was said by then has to do.
    let said = |stream: mpsc::Receiver<String>| stream.recv_timeout(Duration::from_secs(2)).unwrap_or_default();
    Ok(ToolOutput { status, stdout: said(stdout), stderr: said(stderr) })
}

fn collect(stream: Option<impl Read + Send + 'static>) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            let _ = stream.read_to_end(&mut bytes);
        }
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}

/// The program of this name on the `PATH`.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    all_on_path(name).next()
}

/// Every program of this name on the `PATH`, in its order.
pub(crate) fn all_on_path(name: &str) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let name = name.to_owned();
    folders.into_iter().map(move |folder| folder.join(&name)).filter(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_is_heard_on_both_streams() {
        let ran =
            run(Command::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]), Duration::from_secs(60)).unwrap();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.status.code()), ("out\n", "err\n", Some(3)));
    }

    #[test]
    fn a_helper_that_hangs_is_killed() {
        let error = run(Command::new("sleep").arg("600"), Duration::from_millis(20)).unwrap_err();
        assert!(matches!(error, ToolError::Slow { .. }), "{error}");
    }

    #[test]
    fn a_helper_ends_when_the_run_is_interrupted() {
        let interrupted = AtomicBool::new(true);
        let error = run_until(Command::new("sleep").arg("600"), Duration::from_secs(600), &interrupted).unwrap_err();
        assert!(matches!(error, ToolError::Interrupted { .. }), "{error}");
    }
}
