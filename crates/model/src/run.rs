//! A stored run as a list shows it.

use serde::Serialize;

use crate::Mode;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Under way.
    Running,
    /// It came to its end, decided or not.
    Finished,
    /// It was interrupted, or its process died without a word, and it can be resumed.
    Interrupted,
}

impl Status {
    /// The word used in lists and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Its name.
    pub run: String,
    /// The study's name.
    pub study: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// How far it has come.
    pub status: Status,
    /// Full or quick.
    pub mode: Mode,
    /// Version of bakeoff that measured.
    pub version: String,
    /// Trials that ended, those of the pilot among them.
    pub trials: u64,
    /// Whether it soaks variants instead of comparing them.
    pub soak: bool,
}
