//! What is looked for in an answer: regular expressions and JSON paths.

use regex::bytes::Regex;
use serde_json_path::JsonPath;
use thiserror::Error;

/// Why a text is no regular expression, or no JSONPath.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{pattern}` is wrong: {reason}")]
pub struct PatternError {
    /// The text.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a regular expression.
pub(crate) fn regex(pattern: &str) -> Result<Regex, PatternError> {
    Regex::new(pattern).map_err(|error| PatternError { pattern: pattern.to_owned(), reason: error.to_string() })
}

/// Reads a JSON path.
pub(crate) fn json_path(pattern: &str) -> Result<JsonPath, PatternError> {
    JsonPath::parse(pattern).map_err(|error| PatternError { pattern: pattern.to_owned(), reason: error.to_string() })
}
