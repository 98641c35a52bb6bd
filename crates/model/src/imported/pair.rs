//! Two imported runs held against each other.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{OptionDifference, Silence, Support};
use crate::{Effect, Finding};

/// The least difference in speed that one run a side can show, a log ratio: 2 %. Launches of one server, one after another, often differ by
/// far more.
pub const ONE_RUN: f64 = 0.02;

/// What the second of two runs says against the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditedPair {
    /// The files, the first one's before.
    pub files: [String; 2],
    /// Good requests in a second over the whole of each run; `None` where a file does not say how long it took.
    pub totals: Option<Totals>,
    /// What both did in the same time; `None` where there is no time in which both ran at one speed.
    pub matched: Option<Matched>,
    /// What the comparison supports.
    pub support: Support,
    /// What was found, gravest first.
    pub findings: Vec<Finding>,
    /// The rules that the files keep too little for.
    pub silent: Vec<Silence>,
    /// The options that are in effect and differ; `None` where a side has no settings.
    pub options: Option<Vec<OptionDifference>>,
}

/// What would be said by whole runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// Good requests of each.
    pub good: [u64; 2],
    /// Good requests in a second of each.
    pub rates: [f64; 2],
}

impl Totals {
    /// The second's number of requests against the first's, a log ratio; `None` where either has none.
    pub fn of_requests(&self) -> Option<f64> {
        log_ratio(self.good.map(|good| good as f64))
    }

    /// The second's requests in a second against the first's, a log ratio; `None` where either has none.
    pub fn of_rates(&self) -> Option<f64> {
        log_ratio(self.rates)
    }
}

fn log_ratio([first, second]: [f64; 2]) -> Option<f64> {
    (first > 0.0 && second > 0.0).then(|| (second / first).ln())
}

/// What both runs did in the same time since they began, before the speed of either changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Matched {
    /// From when on, seconds since each run's first request.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// Good requests in a second of each.
    pub rates: [f64; 2],
    /// The second's rate against the first's, a log ratio, over equal parts of the time (its `blocks`). How far launches of one
    /// server differ is not in its interval.
    pub effect: Effect,
    /// What a good request took; `None` where a file does not say.
    pub times: Option<Times>,
    /// Who set the rate.
    pub pace: Pace,
}

/// Who set the rate at which requests came. In a closed loop without pauses both runs have as many requests in flight as there are
/// users (Little's law, Little 1961: in flight = rate × mean time), and the rate is the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// The servers: as many requests were in flight on both sides, or the files do not say what requests took.
    Servers,
    /// The load, by a rate or by pauses: one side had more requests in flight. Its rate says how fast requests were sent, not how
    /// fast the server is.
    Load,
    /// One side had more requests in flight, and how many users there were is not known: there may have been more of them.
    Unknown,
}

impl Matched {
    /// The second's speed against the first's, a log ratio: by what a request took where the load was paced, else by the rate; `None`
    /// where nobody knows which.
    pub fn speed(&self) -> Option<Effect> {
        match self.pace {
            Pace::Servers => Some(self.effect),
            Pace::Load => self.times.map(|times| times.effect.reversed()),
            Pace::Unknown => None,
        }
    }
}

/// What a good request took in the same time of both runs, in the mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Milliseconds, of each.
    pub means_ms: [f64; 2],
    /// The second's mean against the first's, a log ratio, over the same parts of the time as the rates.
    pub effect: Effect,
}

/// What a claim about two runs comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The comparison itself is invalid.
    NotSupported,
    /// The data say otherwise.
    Contradicted,
    /// The data keep too little, or the difference is too small for one run a side.
    CannotTell,
    /// The data point that way; how large the difference is, one run a side does not say.
    DirectionOnly,
}

impl Answer {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotSupported => "not supported",
            Self::Contradicted => "contradicted",
            Self::CannotTell => "cannot tell",
            Self::DirectionOnly => "direction only",
        }
    }
}

/// A claim, and what the runs say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AnsweredClaim {
    /// As it was put.
    pub claim: String,
    /// What it comes to.
    pub answer: Answer,
    /// Why, a sentence or two.
    pub reason: String,
}
