//! What makes a result untrue, or limits it.

use std::borrow::Cow;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Limits what the result says.
    Warning,
    /// Vetoes the verdict.
    Invalid,
}

impl Severity {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Invalid => "invalid",
        }
    }
}

/// The name of a validity rule, as reports print it. `bakeoff explain` lists all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FindingId(Cow<'static, str>);

impl FindingId {
    /// The rule of that name.
    pub const fn new(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

    /// Its name, such as `responses-differ`.
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule.
    pub id: FindingId,
    /// How much it matters here.
    pub severity: Severity,
    /// What it is about.
    pub subject: Subject,
    /// What it rests on.
    pub facts: Vec<Fact>,
    /// What it means for the result, one or two sentences.
    pub meaning: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// With one more fact.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<FactValue>) -> Self {
        self.facts.push(Fact::new(name, value));
        self
    }
}

/// A named value that a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// What it came to.
    pub value: FactValue,
}

impl Fact {
    /// A named value.
    pub fn new(name: impl Into<String>, value: impl Into<FactValue>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

/// What a fact came to: numbers or words, with their units, as printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FactValue {
    /// One value.
    One(String),
    /// One for each of the two variants that the finding compares, the earlier one's first.
    Sides([String; 2]),
}

impl fmt::Display for FactValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => f.write_str(value),
            Self::Sides([first, second]) => write!(f, "{first} | {second}"),
        }
    }
}

impl From<String> for FactValue {
    fn from(value: String) -> Self {
        Self::One(value)
    }
}

impl From<&str> for FactValue {
    fn from(value: &str) -> Self {
        Self::One(value.to_owned())
    }
}

impl From<[String; 2]> for FactValue {
    fn from(sides: [String; 2]) -> Self {
        Self::Sides(sides)
    }
}
