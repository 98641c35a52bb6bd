//! Rules that cannot tell.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::FindingId;

/// A rule that says nothing about a run, a pair or a series.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Silence {
    /// The rule.
    pub id: FindingId,
    /// What it lacks, a clause.
    pub lacks: String,
}
