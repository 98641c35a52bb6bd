//! Why the variants differ, as far as one more launch of each can show.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::VariantIndex;

/// What the profiling runs say, or why there are none. They explain the verdict; they are no part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// The launches, in the variants' order.
    pub launches: Vec<WatchedLaunch>,
    /// Each variant against the baseline.
    pub explanations: Vec<Explanation>,
    /// The numbers, a table for each topic that has any.
    pub topics: Vec<Topic>,
    /// Why no launch was made although some were wanted, a sentence; absent where all were made, or none was wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
}

/// A profiling run, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedLaunch {
    /// What was launched.
    pub variant: VariantIndex,
    /// What was asked for: `dashboard@20`.
    pub load: String,
    /// Requests while it was watched, until it failed where it did.
    pub requests: u64,
    /// How long that was, seconds.
    pub elapsed_s: f64,
    /// CPU time per request without the recorder's own, µs.
    pub cpu_per_request: Option<f64>,
    /// The recording, where there is one.
    pub recording: Option<PathBuf>,
    /// What is missing and why, a sentence; absent where nothing is.
    pub missing: Option<String>,
    /// Settings that came out otherwise than in the launches measured, or kills for lack of memory, a sentence each: what was watched is another thing
    /// than what was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

/// One variant against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Against the baseline.
    pub variant: VariantIndex,
    /// The difference that is to be explained, a sentence.
    pub subject: String,
    /// What differs, what explains most first.
    pub differences: Vec<Difference>,
    /// Where the launches watched do not agree with those measured, a sentence.
    pub caution: Option<String>,
}

/// Something that differs per request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What: `JIT compilation`.
    pub topic: String,
    /// The difference in words.
    pub sentence: String,
    /// What it is counted in.
    pub unit: Unit,
    /// Per request: baseline and variant.
    pub values: [f64; 2],
    /// Its share of the difference in server CPU per request, where it is a part of that: 1 is all of it, below 0 it works the
    /// other way.
    pub explains: Option<f64>,
}

/// What a quantity per request is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// µs of CPU time, or of waiting.
    Micros,
    /// Events.
    Count,
    /// Bytes.
    Bytes,
}

/// A table of quantities per request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Topic {
    /// What it is about.
    pub title: String,
    /// What its numbers are; a sentence.
    pub note: String,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// A row of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Row {
    /// What is shown.
    pub what: String,
    /// Its unit.
    pub unit: Unit,
    /// Per request, by variant; absent where there is no recording, or where it is too rare to be shown.
    pub values: Vec<Option<f64>>,
}
