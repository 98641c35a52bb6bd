//! Why scenarios cannot be walked, and why a step failed.

use std::fmt;
use std::io;
use std::path::PathBuf;

use model::text;
use thiserror::Error;

use crate::fetch::FetchError;
use crate::pattern::PatternError;
use crate::request::RequestError;

/// Why scenarios cannot be walked.
#[derive(Debug, Error)]
pub enum ScriptError {
    /// There is nothing to do.
    #[error("scenarios need at least one scenario, each at least one step and a weight of 1 or more")]
    Nothing,
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// A feeder's file does not hold rows.
    #[error("the feeder `{}` {reason}", file.display())]
    Feeder {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A body's file is no template.
    #[error("the body template `{}` is wrong: {source}", file.display())]
    Template {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: model::TemplateError,
    },
    /// A step needs what nothing gives.
    #[error("step `{step}` needs `${{{variable}}}`, which nothing gives a value before it (known there: {known})")]
    Variable {
        /// The step.
        step: String,
        /// The variable.
        variable: String,
        /// Those that have a value.
        known: String,
    },
    /// A step's request cannot be sent.
    #[error("step `{step}`: {source}")]
    Request {
        /// The step.
        step: String,
        /// The reason.
        source: RequestError,
    },
    /// A step's regular expression or JSONPath is wrong.
    #[error("step `{step}`: {source}")]
    Pattern {
        /// The step.
        step: String,
        /// The reason.
        source: PatternError,
    },
}

/// A step that failed, and why.
#[derive(Debug, Error)]
#[error("step `{step}` failed: {reason}")]
pub struct StepFailed {
    /// The step's name.
    pub step: String,
    /// Why it failed.
    pub reason: Reason,
}

/// Why a step failed.
#[derive(Debug)]
pub enum Reason {
    /// There was no answer.
    Unanswered(FetchError),
    /// The answer was not a good one.
    Answered {
        /// What was wrong with it.
        wrong: String,
        /// Its status.
        status: u16,
        /// What is shown of its body.
        body: ShownBody,
    },
}

/// What is shown of the body of an answer that failed its step.
#[derive(Debug)]
pub enum ShownBody {
    /// Its beginning, the values of variables hidden; nothing where there is no body.
    Beginning(String),
    /// Its length in bytes, since a variable is taken from it: what that would be, a token perhaps, no variable holds yet.
    Length(usize),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered(error) => error.fmt(f),
            Self::Answered { wrong, status, body } => write!(f, "{wrong}: the answer has status {status} and {body}"),
        }
    }
}

impl fmt::Display for ShownBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length(0) => f.write_str("no body"),
            Self::Length(bytes) => {
                let bytes = text::plural(*bytes as u64, "byte");
                write!(f, "{bytes}, which are not shown since a variable is taken from them")
            }
            Self::Beginning(beginning) if beginning.is_empty() => f.write_str("no body"),
            Self::Beginning(beginning) => write!(f, "begins {beginning:?}"),
        }
    }
}
