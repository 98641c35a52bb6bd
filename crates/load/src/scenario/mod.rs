//! What users do who do more than ask the same thing again and again ([`model::Scenarios`]).
//!
//! `script` makes scenarios ready for use: `template` fills in values, `feeder` gives them, `extract` takes them from
//! answers, `check` judges answers, `cookies` keeps cookies. `walk` has the users of one thread go through it under
//! load; `visit` goes through it once, request by request, for set-up, tear-down and single looks.

mod check;
mod content;
mod cookies;
mod extract;
mod feeder;
mod script;
mod step;
pub(crate) mod template;
mod visit;
mod walk;

use std::io;
use std::path::PathBuf;

use regex::bytes::Regex;
use serde_json_path::JsonPath;
use thiserror::Error;

use crate::request::RequestError;

pub use script::Script;
pub use visit::{Seen, StepFailed};

pub(crate) use check::{Check, is_missing};
pub(crate) use content::Content;
pub(crate) use feeder::RanOut;
pub(crate) use template::Names;
pub(crate) use visit::{TornDown, set_up, tear_down};
pub(crate) use walk::{Walks, step_names, visitors};

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

/// Why a text is no regular expression, or no JSONPath.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{pattern}` is wrong: {reason}")]
pub struct PatternError {
    /// The text.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

fn regex(pattern: &str) -> Result<Regex, PatternError> {
    Regex::new(pattern).map_err(|error| PatternError { pattern: pattern.to_owned(), reason: error.to_string() })
}

fn json_path(pattern: &str) -> Result<JsonPath, PatternError> {
    JsonPath::parse(pattern).map_err(|error| PatternError { pattern: pattern.to_owned(), reason: error.to_string() })
}
