//! What goes through the pipes between bakeoff and a supervisor.

use std::fmt;
use std::path::PathBuf;

use indexmap::IndexMap;
use rustix::process::{Signal, WaitStatus};
use serde::{Deserialize, Serialize};

/// What to run. It travels on a pipe: arguments and environment of the supervisor itself stay free of the program's.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: IndexMap<String, String>,
    pub dir: PathBuf,
    /// Both output streams are appended to it.
    pub log: PathBuf,
    /// Where standard error goes instead.
    #[serde(default)]
    pub errors: Option<PathBuf>,
    /// Processors that it is kept to, by number; any if there are none.
    #[serde(default)]
    pub cpus: Vec<usize>,
    /// Files by which a process gets into the control groups that it runs in.
    #[serde(default)]
    pub groups: Vec<PathBuf>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// Whether it returned 0.
    pub(crate) fn is_success(self) -> bool {
        self == Self::Code(0)
    }

    pub(super) fn of(status: WaitStatus) -> Self {
        match status.terminating_signal() {
            Some(signal) => Self::Signal(signal),
            None => Self::Code(status.exit_status().unwrap_or(-1)),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => match signal_name(*number) {
                Some(name) => write!(f, "signal {number} ({name})"),
                None => write!(f, "signal {number}"),
            },
        }
    }
}

/// The names of those that end servers.
fn signal_name(number: i32) -> Option<&'static str> {
    let named = [
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::ILL, "ILL"),
        (Signal::ABORT, "ABRT"),
        (Signal::BUS, "BUS"),
        (Signal::KILL, "KILL"),
        (Signal::SEGV, "SEGV"),
        (Signal::TERM, "TERM"),
    ];
    named.into_iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| name)
}

/// What the supervisor reports.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The program runs; its process id.
    Started(u32),
    /// The program could not be started.
    Refused(String),
    /// The program ended; others of its tree may still run.
    Exited(Exit),
    /// Nothing of the tree is left.
    Stopped,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started(pid) => write!(f, "started {pid}"),
            Self::Refused(reason) => write!(f, "refused {}", reason.replace('\n', " ")),
            Self::Exited(Exit::Code(code)) => write!(f, "exited code {code}"),
            Self::Exited(Exit::Signal(signal)) => write!(f, "exited signal {signal}"),
            Self::Stopped => write!(f, "stopped"),
        }
    }
}

impl Report {
    pub fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "started" => rest.parse().ok().map(Self::Started),
            "refused" => Some(Self::Refused(rest.to_owned())),
            "exited" => match rest.split_once(' ')? {
                ("code", code) => code.parse().ok().map(Exit::Code),
                ("signal", signal) => signal.parse().ok().map(Exit::Signal),
                _ => None,
            }
            .map(Self::Exited),
            "stopped" => Some(Self::Stopped),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_read_as_they_are_written() {
        for report in [
            Report::Started(17),
            Report::Refused("no such file".into()),
            Report::Exited(Exit::Code(3)),
            Report::Exited(Exit::Signal(9)),
            Report::Stopped,
        ] {
            assert_eq!(Report::parse(&report.to_string()), Some(report));
        }
        assert_eq!(Report::parse("something else"), None);
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(Exit::Signal(9).to_string(), "signal 9 (KILL)");
        assert_eq!(Exit::Code(3).to_string(), "exit code 3");
    }
}
