//! Why a program was not launched.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::hint;
use crate::isolation::IsolationError;
use crate::runtime::RuntimeError;
use crate::site::{PlaceholderError, Secrets};
use crate::supervise::{Exit, SuperviseError};

/// Why a server, service or hook could not be launched, or did not do what it should.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// A text of the study cannot be completed.
    #[error(transparent)]
    Placeholder(#[from] PlaceholderError),
    /// A service's program is not there.
    #[error("service {name} cannot be launched")]
    Service {
        /// Its name.
        name: String,
        /// Why.
        source: Box<RuntimeError>,
    },
    /// It could not be started or ended.
    #[error(transparent)]
    Supervise(#[from] SuperviseError),
    /// It cannot be kept apart from the rest as the study asks.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
    /// The trial's folder cannot be used.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ended before it was ready.
    #[error("{name} ended with {exit} before it was ready{hint}. Its log: {log}", log = log.path.display())]
    Exited {
        /// `server` or `service-NAME`.
        name: String,
        /// How it ended.
        exit: Exit,
        /// What its log makes likely; empty, or a colon and a reason.
        hint: String,
        /// As of [`Self::oom_kills`].
        oom_kills: u64,
        /// What it wrote.
        log: Box<Log>,
    },
    /// Another process answers where it should.
    #[error(
        "{address}, where {name} should answer, is answered by another process ({owner}); end that process or let bakeoff choose the port with {{port}}"
    )]
    Foreign {
        /// `server` or `service-NAME`.
        name: String,
        /// Where.
        address: SocketAddr,
        /// Who answers.
        owner: String,
        /// What the launched program wrote.
        log: Box<Log>,
    },
    /// It runs and is not ready.
    #[error("{name} was not ready within {within:?}: expected {expected}, last had: {last}. Its log: {log}", log = log.path.display())]
    Late {
        /// `server` or `service-NAME`.
        name: String,
        /// The sign waited for.
        expected: String,
        /// What came of the last try.
        last: String,
        /// How long was waited.
        within: Duration,
        /// As of [`Self::oom_kills`].
        oom_kills: u64,
        /// What it wrote.
        log: Box<Log>,
    },
    /// The caller's flag was raised while something was waited for.
    #[error("interrupted while waiting for {name}")]
    Interrupted {
        /// What was waited for.
        name: String,
    },
    /// A hook failed.
    #[error("the {name} hook ended with {exit}{said}. Its log: {log}", said = said(log), log = log.path.display())]
    Hook {
        /// Its name.
        name: String,
        /// How it ended.
        exit: Exit,
        /// What it wrote.
        log: Box<Log>,
    },
    /// A hook took too long.
    #[error("the {name} hook did not end within {within:?} and was ended. What shall go on running belongs into a [[service]]. Its log: {log}", log = log.path.display())]
    HookSlow {
        /// Its name.
        name: String,
        /// The bound.
        within: Duration,
        /// What it wrote.
        log: Box<Log>,
    },
}

/// Whose doing it is that something was not launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureCause {
    /// The server's, or a service's that was started for it: the trial failed, which is the variant's result.
    Server,
    /// The study's, the machine's or bakeoff's: it says nothing about a variant, and no trial can go well before it is
    /// mended.
    Ours,
    /// Nobody's: there is no result.
    Interrupted,
}

impl LaunchError {
    pub(super) fn io(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { doing, path: path.to_owned(), source }
    }

    /// What it says about the trial.
    pub fn blame(&self) -> FailureCause {
        match self {
            // A service, too: one that does not start beside this variant is part of what this variant does here.
            Self::Exited { .. } | Self::Late { .. } => FailureCause::Server,
            Self::Interrupted { .. } => FailureCause::Interrupted,
            // Somebody else's process in the way says nothing about a variant; nor does a hook, a missing program, a
            // text that cannot be completed, or a folder that cannot be written.
            Self::Foreign { .. }
            | Self::Hook { .. }
            | Self::HookSlow { .. }
            | Self::Placeholder(_)
            | Self::Service { .. }
            | Self::Supervise(_)
            | Self::Isolation(_)
            | Self::Io { .. } => FailureCause::Ours,
        }
    }

    /// How many processes of a program that was not ready the kernel had killed since they needed more memory than `limits` allow.
    pub fn oom_kills(&self) -> u64 {
        match self {
            Self::Exited { oom_kills, .. } | Self::Late { oom_kills, .. } => *oom_kills,
            _ => 0,
        }
    }

    /// The last lines that the program wrote; empty when it did not come that far.
    pub fn log_tail(&self) -> &str {
        match self {
            Self::Exited { log, .. }
            | Self::Foreign { log, .. }
            | Self::Late { log, .. }
            | Self::Hook { log, .. }
            | Self::HookSlow { log, .. } => &log.tail,
            Self::Placeholder(_)
            | Self::Service { .. }
            | Self::Supervise(_)
            | Self::Isolation(_)
            | Self::Io { .. }
            | Self::Interrupted { .. } => "",
        }
    }
}

/// A colon and the last that a program said; nothing if it said nothing.
fn said(log: &Log) -> String {
    hint::last_words(&log.tail).map(|said| format!(": {said}")).unwrap_or_default()
}

/// The end of a program's log, secrets masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// The file.
    pub path: PathBuf,
    /// Its last lines.
    pub tail: String,
}

impl Log {
    const LINES: usize = 20;
    const BYTES: u64 = 16 * 1024;

    pub(super) fn read(path: &Path, secrets: &Secrets) -> Self {
        // Masked while whole: a secret may span lines.
        let text = secrets.mask(&last_bytes(path, Self::BYTES).unwrap_or_default());
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(Self::LINES)..].join("\n");
        Self { path: path.to_owned(), tail }
    }
}

fn last_bytes(path: &Path, count: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(count)))?;
    let mut bytes = Vec::new();
    file.take(count).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
