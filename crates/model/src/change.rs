//! Where a launch changed its speed while it was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CellIndex, Fact, Metric, TrialKey, VariantIndex};

/// The series of one launch in which the level changed, second by second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedSeries {
    /// Which trial.
    pub key: TrialKey,
    /// Its variant.
    pub variant: VariantIndex,
    /// Index into [`crate::Report::cells`]; absent of what is left of the warm-up when the launch has been found steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellIndex>,
    /// What changed: throughput, the median latency, or server CPU per request.
    pub metric: Metric,
    /// Seconds since the load began, and the metric's value.
    pub points: Vec<[f64; 2]>,
    /// The changes, in order.
    pub changes: Vec<LevelChange>,
}

/// A change of level that lasted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LevelChange {
    /// When, seconds since the load began.
    pub at_s: f64,
    /// Median level before, in the metric's unit.
    pub before: f64,
    /// Median level after, in the metric's unit.
    pub after: f64,
    /// What else changed at that moment, the likeliest cause first: its name, and its value before and after.
    pub causes: Vec<Fact>,
}

impl LevelChange {
    /// ln(after / before).
    pub fn log_ratio(&self) -> f64 {
        (self.after / self.before).ln()
    }
}
