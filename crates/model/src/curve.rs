//! How a variant compares with the baseline over the life of a server: as results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Effect, Interpretation, VariantIndex};

/// The speed of a variant against the baseline's at each age of a launch.
///
/// *Age* is the time for which a launch has been under load, seconds, or what it has answered well in that time. The load is the
/// warm-up's own: users who ask all workloads at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgeCurve {
    /// The variant.
    pub variant: VariantIndex,
    /// Age up to which all launches compared were seen, seconds.
    pub seen_s: f64,
    /// How much counts as level, a log ratio: the difference that the study cares about.
    pub margin: f64,
    /// By age in seconds, rising and without gaps. Each interval holds by itself.
    pub points: Vec<CurvePoint>,
    /// By age in good answers, rising and without gaps: what the variant does at its n-th answer against the baseline at its own
    /// n-th. Each interval holds by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_requests: Vec<CurvePoint>,
    /// The life so far in phases, rising and without gaps; empty with fewer than three blocks. All their readings hold at once, those
    /// of other variants too.
    pub phases: Vec<AgePhase>,
    /// From which age on the other of the two is the faster one; absent where the phases do not have each of them ahead once, or where the age cannot
    /// be located within what was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crossing: Option<AgeCrossing>,
    /// The primary metric and the age at which it was measured, where it is throughput and has an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided: Option<DecidedAt>,
    /// Whether the speeds still moved when the last of it was seen; absent with fewer than three blocks or four seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub movement: Option<Movement>,
    /// The phases in one sentence.
    pub sentence: String,
}

/// The speed in one span of age, as a log ratio variant / baseline: 0 means no difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Where the span begins: seconds of load, or good answers.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// At its end, the age in the other unit, median launch of baseline and variant: good answers, or seconds of load.
    pub reached: [f64; 2],
    /// Estimate.
    pub estimate: f64,
    /// The ends of its interval, 95 %; absent with fewer than three blocks.
    pub interval: Option<[f64; 2]>,
    /// Blocks it rests on.
    pub blocks: u32,
}

/// A part of a server's life in which the comparison reads the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgePhase {
    /// Age at its beginning, seconds of load.
    pub from_s: f64,
    /// Age at its end, seconds of load.
    pub to_s: f64,
    /// How it reads: better is faster, worse is slower, equivalent is level.
    pub reading: Interpretation,
    /// The difference over all of it. Its interval holds by itself; readings ask for more, since all of them hold at once.
    pub effect: Effect,
}

/// The age at which one variant overtakes the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgeCrossing {
    /// Which is the faster one from then on.
    pub leader: VariantIndex,
    /// Estimate, seconds of load.
    pub at_s: f64,
    /// The ends of its interval, 95 %, seconds of load. It holds by itself.
    pub interval_s: [f64; 2],
    /// Blocks it rests on.
    pub blocks: u32,
}

/// The primary metric, and when it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DecidedAt {
    /// Age at which its measurement began, the earliest launch, seconds of load.
    pub from_s: f64,
    /// Age at which it ended, the latest launch, seconds of load.
    pub to_s: f64,
    /// The difference.
    pub effect: Effect,
}

/// How the speeds moved in the second half of what was seen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Movement {
    /// Ages between which the two parts lie that are compared, seconds of load.
    pub parts_s: [f64; 3],
    /// How the ratio variant / baseline changed from the earlier part to the later one, a log ratio.
    pub change: Effect,
    /// How much faster baseline and variant themselves became, log ratios, mean over blocks.
    pub rises: [f64; 2],
    /// Whether anything still moved: what was seen cannot be carried over to a later age.
    pub still_moving: bool,
}
