//! What a search for the limit shows in one launch, and over launches.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::warm_up::Spread;
use crate::{CellIndex, Failure, Objective, Tally, TrialKey, VariantIndex};

/// The search in one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitSearch {
    /// What was asked, in order.
    pub steps: Vec<LimitStep>,
    /// What it came to.
    pub end: SearchEnd,
    /// What the server did beyond its limit; absent where none was found.
    pub overload: Option<Overload>,
    /// How long all this took, seconds; waiting for turns is not counted.
    pub length_s: f64,
}

/// A rate that was asked for a while.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitStep {
    /// Requests due per second.
    pub rate: f64,
    /// How long it was asked, seconds.
    pub length_s: f64,
    /// Whether it was to confirm a rate that had held.
    pub confirms: bool,
    /// Requests that were due.
    pub due: u64,
    /// Those answered well and in time.
    pub in_time: u64,
    /// Those that failed.
    pub failed: u64,
    /// The objective's quantile of response time, µs, over all that did not fail; absent where it lies among those that were never
    /// answered.
    pub quantile_us: Option<u64>,
    /// What that means.
    pub result: StepResult,
}

/// Whether the objective held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepResult {
    /// It held.
    Held,
    /// It did not, by the server.
    Broke,
    /// The client could not ask so much: nothing is known of the server.
    Client(ClientLimit),
}

/// Why the client could not ask so much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClientLimit {
    /// Its one thread was busy, or sent late.
    Busy,
    /// All connections were in use, and answers came in time once a request had one.
    Connections,
}

/// What a search came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SearchEnd {
    /// The limit lies between these rates, requests/s.
    Found {
        /// The highest at which the objective held.
        low: f64,
        /// The lowest at which it did not.
        high: f64,
    },
    /// Even the first rate breaks the objective.
    NeverHeld,
    /// Even the highest rate keeps it.
    NeverBroken,
    /// The client is the limit.
    Client {
        /// Why.
        why: ClientLimit,
        /// The rate that it could not ask, requests/s.
        rate: f64,
    },
    /// The server is too unsteady: rates that held did not hold again, too often.
    Unsettled,
}

impl SearchEnd {
    /// The capacity, requests/s, which is the middle between the two rates on the log scale, and how finely it is known, a log ratio;
    /// `None` where none was found.
    pub fn capacity(&self) -> Option<(f64, f64)> {
        match self {
            Self::Found { low, high } => Some(((low * high).sqrt(), (high / low).ln() / 2.0)),
            _ => None,
        }
    }
}

/// What a server did while twice its capacity was asked, and after that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// Requests due per second.
    pub rate: f64,
    /// How long counts, seconds: the second half of it.
    pub length_s: f64,
    /// Requests that were due in that time.
    pub due: u64,
    /// Those answered well and in time.
    pub in_time: u64,
    /// How requests ended in that time.
    pub tally: Tally,
    /// How long the server took until the objective held again, at half its capacity.
    pub recovery: Recovery,
}

impl Overload {
    /// Good answers in time per second.
    pub fn goodput(&self) -> f64 {
        self.in_time as f64 / self.length_s
    }
}

/// How long a server takes to recover, in whole seconds: by the end of the first of three in a row in which the objective holds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Recovery {
    /// It recovered.
    After {
        /// So many seconds after the overload.
        seconds: f64,
    },
    /// It had not when nobody waited for it any longer.
    NotWithin {
        /// So many seconds.
        seconds: f64,
    },
}

/// What the searches of a variant in a cell found, over its used launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitSummary {
    /// The variant.
    pub variant: VariantIndex,
    /// Index into [`Report::cells`](crate::Report::cells).
    pub cell: CellIndex,
    /// What had to hold.
    pub objective: Objective,
    /// The highest rate at which it does, requests/s; absent where no launch found it.
    pub capacity: Option<Spread>,
    /// The lowest and the highest capacity of a launch, requests/s.
    pub capacity_range: Option<[f64; 2]>,
    /// What the server does beyond that; absent where no launch was overloaded.
    pub overload: Option<OverloadSummary>,
    /// Each search.
    pub searches: Vec<SearchOfLaunch>,
}

/// The search of one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchOfLaunch {
    /// Which launch.
    pub key: TrialKey,
    /// What it came to.
    pub end: SearchEnd,
    /// What was asked, in order.
    pub steps: Vec<LimitStep>,
}

/// What a variant does at twice its capacity: medians over launches, unless said otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OverloadSummary {
    /// Requests due per second.
    pub asked: f64,
    /// Good answers in time per second.
    pub goodput: Spread,
    /// The same as a part of the launch's capacity.
    pub share_of_capacity: f64,
    /// What that amounts to.
    pub behaviour: Behaviour,
    /// The part of what was due that was answered too late, or not at all, 0..=1.
    pub late_share: f64,
    /// The part of what was due that failed, 0..=1.
    pub failed_share: f64,
    /// How requests failed, and how many of all launches.
    pub failures: BTreeMap<Failure, u64>,
    /// Statuses that came, and how often in all launches.
    pub statuses: BTreeMap<u16, u64>,
    /// Seconds until the objective held again at half the capacity, over launches that recovered.
    pub recovery: Option<Spread>,
    /// Launches that had not recovered when nobody waited for them any longer.
    pub not_recovered: u32,
    /// How long they were waited for at most, seconds; absent where all recovered.
    pub waited_s: Option<f64>,
}

/// What a server does beyond its limit, by its goodput at twice its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Behaviour {
    /// It answers at least 90 % of its capacity in time, and turns the rest away or leaves it waiting.
    Sheds,
    /// In between.
    Degrades,
    /// It answers less than half of its capacity in time.
    Collapses,
}

impl Behaviour {
    /// Goodput as a part of capacity from which on a server sheds, and below which it collapses.
    pub const SHARES: [f64; 2] = [0.9, 0.5];

    /// By goodput as a part of capacity.
    pub fn of(share: f64) -> Self {
        let [sheds, collapses] = Self::SHARES;
        if share >= sheds {
            Self::Sheds
        } else if share < collapses {
            Self::Collapses
        } else {
            Self::Degrades
        }
    }

    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sheds => "sheds",
            Self::Degrades => "degrades",
            Self::Collapses => "collapses",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_does_beyond_its_limit_has_a_word() {
        let words = [1.02, 0.9, 0.89, 0.5, 0.49, 0.0].map(|share| Behaviour::of(share).name());
        assert_eq!(words, ["sheds", "sheds", "degrades", "degrades", "collapses", "collapses"]);
    }
}
