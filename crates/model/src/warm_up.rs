//! What warming up costs, and when it has paid: as results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Effect, Interpretation, VariantIndex};

/// The warm-up as a result. All of it is of the warm-up's own load: users who ask all workloads at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmingUp {
    /// Of each variant, baseline first.
    pub variants: Vec<WarmUpCost>,
    /// Of each variant against the baseline.
    pub cumulative_responses: Vec<CumulativeResponses>,
}

/// How one variant warms up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUpCost {
    /// The variant.
    pub variant: VariantIndex,
    /// Launches found steady, of those that warmed up; the figures are of the former.
    pub settled: [u32; 2],
    /// Seconds of load until warm.
    pub seconds: Option<Spread>,
    /// Good answers until warm.
    pub requests: Option<Spread>,
    /// Good answers per second once steady.
    pub steady_rate: Option<Spread>,
    /// Good answers in the first second of load, as a part of those of a steady second.
    pub first_second: Option<Spread>,
    /// The same of the first ten seconds.
    pub first_ten_seconds: Option<Spread>,
    /// What the warm-up costs: the good answers that are missing until the launch was found steady, in seconds at steady
    /// speed.
    pub lost_s: Option<Spread>,
    /// Seconds since the load began, and good answers per second: the mean over launches.
    pub curve: Vec<[f64; 2]>,
}

/// A number of each launch, over launches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Interval of the median with at least 95 % confidence, whatever the distribution; absent with fewer than six launches.
    pub interval: Option<[f64; 2]>,
    /// Launches.
    pub launches: u32,
}

/// All that a launch of a variant has answered well since it was launched, start-up included, against one of the baseline
/// in the same block; after the warm-up it goes on at its steady rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CumulativeResponses {
    /// The variant.
    pub variant: VariantIndex,
    /// Seconds since launch up to which all of it was seen; beyond, it is extrapolated.
    pub seen_s: f64,
    /// When one has overtaken the other for good; absent without an interval.
    pub break_even: Option<BreakEven>,
    /// The same in words.
    pub sentence: String,
    /// Which serves more in its whole life, for services that are redeployed every so often.
    pub lifetimes: Vec<Lifetime>,
    /// Over the time since launch.
    pub curve: Vec<ResponsesRatio>,
}

/// From when on one variant has served more in all than the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BreakEven {
    /// Who has in the long run, by the estimate: the variant, or the baseline.
    pub leader: VariantIndex,
    /// The estimate.
    pub estimate: Overtaking,
    /// Up to then the other one is surely ahead.
    pub low: Overtaking,
    /// From then on the leader is surely ahead.
    pub high: Overtaking,
    /// Blocks it rests on.
    pub blocks: u32,
    /// Confidence level of the interval, 0..=1.
    pub confidence: f64,
}

/// When a total overtakes another for good.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Overtaking {
    /// It is ahead from the first requests on.
    AtOnce,
    /// Then.
    After {
        /// Seconds since launch.
        seconds: f64,
        /// Good answers of the leader up to then, median launch.
        requests: f64,
    },
    /// Not within thirty days.
    Never,
}

/// The longest life of a launch that is looked at, seconds: thirty days. What has not overtaken by then never does.
pub const HORIZON_S: f64 = 30.0 * 86_400.0;

/// A life of so many seconds from launch to the next deployment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lifetime {
    /// Its length, seconds.
    pub seconds: f64,
    /// Good answers in it, median launch of the baseline and of the variant.
    pub served: [f64; 2],
    /// The difference of the totals; absent without an interval.
    pub effect: Option<Effect>,
    /// How it reads.
    pub reading: Interpretation,
    /// Whether it is longer than what was seen.
    pub extrapolated: bool,
}

/// How much more or less a variant has served than the baseline some time after launch, as log ratios.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponsesRatio {
    /// Seconds since launch.
    pub seconds: f64,
    /// Estimate.
    pub estimate: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
}
