//! Files of settings beside results: the options that they assign.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Finding;

/// A file that assigns options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The file, as named.
    pub file: String,
    /// What it assigns, in the order of its lines; at least one of them has an option.
    pub assignments: Vec<Assignment>,
}

/// Options that a line assigns to a variable, or hands to a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assignment {
    /// The variable, the key of JSON, or the program: `java` or `jruby`.
    pub variable: String,
    /// The line that it begins in, from 1 on.
    pub line: u64,
    /// The part of the file that it stands in, from 0 on. Nobody knows in which order the parts ran, or whether all did.
    pub block: usize,
    /// The options, one word each, as written. What looks secret is `***`.
    pub options: Vec<String>,
    /// Whether the variable keeps what it had before, or may keep it.
    pub is_added: bool,
    /// Whether a later line reads the variable before it is assigned again.
    pub is_read: bool,
}

/// An option that is in effect at the end of its block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EffectiveOption {
    /// As written.
    pub option: String,
    /// The variable or program that it is given to.
    pub variable: String,
    /// The line of the assignment that gives it, from 1 on.
    pub line: u64,
    /// The block, from 0 on.
    pub block: usize,
}

/// An assignment that lost options of earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overwrite {
    /// The variable.
    pub variable: String,
    /// The line that assigns it again, from 1 on.
    pub line: u64,
    /// The lines whose options are lost.
    pub lines: Vec<u64>,
    /// Those options.
    pub lost: Vec<String>,
}

/// An option that is not in effect alike on both sides of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OptionDifference {
    /// As each side writes it; `None` where it does not have it.
    pub sides: [Option<String>; 2],
}

/// A file of settings, and what was found about it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditedSettings {
    /// The file and what it assigns.
    pub settings: Settings,
    /// The options in effect at the end of its blocks.
    pub in_effect: Vec<EffectiveOption>,
    /// What was found.
    pub findings: Vec<Finding>,
}
