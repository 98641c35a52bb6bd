//! The search for the highest rate at which a server keeps an objective, and what it does beyond that.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::warm_up::Spread;
use crate::{CellIndex, Failure, Tally, TrialKey, VariantIndex, text};

/// Requests beyond the quantile that a step is to have, so far as its length allows: fewer than a quantile that is shown, since a step only
/// decides whether the objective holds.
const BEYOND: f64 = 10.0;
/// A step lasts at least so many times as long as an answer may take: in a shorter one a queue that grows would not be seen.
const TIMES_WITHIN: u32 = 10;
/// A confirmation lasts so many steps, and so does a step at a low rate at the longest.
const STEPS_TO_CONFIRM: u32 = 4;
/// The overload lasts so many steps, of which the second half counts.
const STEPS_OF_OVERLOAD: u32 = 2;
/// So many steps after an overload the server may take to recover, beside the seconds that have to be good: a queue that only grew is empty
/// after four of them.
const STEPS_TO_RECOVER: u32 = 6;
/// Seconds in a row in which the objective has to hold for a server to have recovered.
pub const GOOD_SECONDS: u32 = 3;
/// Steps between the bracket and its end: bisection, and what is asked once more.
const STEPS_TO_NARROW: u32 = 6;

/// How the highest rate is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FindLimit {
    /// What has to hold.
    pub objective: Objective,
    /// The first rate tried, requests/s, above 0.
    pub from: f64,
    /// The highest rate tried, requests/s, above `from`.
    pub to: f64,
}

/// What has to hold of a server's answers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    /// The part of the requests that are to be answered in time, above 0 and below 1: 0.95 is the 95th percentile of response time.
    pub quantile: f64,
    /// The longest response time that is in time, µs.
    pub within_us: u64,
    /// The part of the requests that may fail, 0..1.
    pub errors: f64,
}

impl fmt::Display for Objective {
    /// `p95 within 200 ms, at most 1 % failed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = text::trimmed(text::significant(100.0 * self.quantile, 3));
        let within = text::micros(self.within_us as f64);
        write!(f, "p{percent} within {within}, at most {} failed", text::margin(self.errors))
    }
}

impl FindLimit {
    /// How long the shortest step is where a cell is measured for so long: a quarter of that, whole seconds.
    pub fn step(&self, measure: Duration) -> Duration {
        let within = Duration::from_micros(self.objective.within_us);
        let least = (measure / STEPS_TO_CONFIRM).max(within * TIMES_WITHIN);
        Duration::from_secs(least.as_secs_f64().ceil().max(1.0) as u64)
    }

    /// How long a step at this rate is: longer at a low one, so that enough is asked, up to four times.
    pub fn step_at(&self, rate: f64, measure: Duration) -> Duration {
        let needed_s = BEYOND / (1.0 - self.objective.quantile) / rate;
        let step = self.step(measure);
        Duration::from_secs(needed_s.ceil() as u64).clamp(step, self.confirmation(measure))
    }

    /// How long a rate is asked that is to be confirmed.
    pub fn confirmation(&self, measure: Duration) -> Duration {
        self.step(measure) * STEPS_TO_CONFIRM
    }

    /// How long the server is overloaded; the second half counts.
    pub fn overload(&self, measure: Duration) -> Duration {
        self.step(measure) * STEPS_OF_OVERLOAD
    }

    /// How long its recovery is waited for.
    pub fn longest_recovery(&self, measure: Duration) -> Duration {
        self.step(measure) * STEPS_TO_RECOVER + Duration::from_secs(GOOD_SECONDS.into())
    }

    /// About how long the whole search takes at least: the bracket is found at once, and the server recovers at once.
    pub fn shortest(&self, measure: Duration) -> Duration {
        let good = Duration::from_secs(GOOD_SECONDS.into());
        self.step(measure) * STEPS_TO_NARROW + self.confirmation(measure) + self.overload(measure) + good
    }

    /// About how long the whole search takes at most: all rates are asked up to the highest, and a confirmation fails.
    pub fn longest(&self, measure: Duration) -> Duration {
        let doubled = std::iter::successors(Some(self.from), |rate| Some(rate * 2.0));
        let bracket: Duration =
            doubled.take_while(|rate| *rate < self.to).map(|rate| self.step_at(rate, measure)).sum();
        let narrowed = self.step(measure) * STEPS_TO_NARROW + self.confirmation(measure) * 2;
        bracket + self.step(measure) + narrowed + self.overload(measure) + self.longest_recovery(measure)
    }
}

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

    const OBJECTIVE: Objective = Objective { quantile: 0.95, within_us: 200_000, errors: 0.01 };

    #[test]
    fn an_objective_reads_as_it_was_written() {
        assert_eq!(OBJECTIVE.to_string(), "p95 within 200 ms, at most 1 % failed");
        let other = Objective { quantile: 0.5, within_us: 1_500_000, errors: 0.005 };
        assert_eq!(other.to_string(), "p50 within 1.50 s, at most 0.5 % failed");
    }

    #[test]
    fn steps_are_long_enough_to_see_a_queue_grow_and_to_count() {
        let find = FindLimit { objective: OBJECTIVE, from: 10.0, to: 100.0 };
        let seconds = |at: u64| [at, 2 * at, 4 * at].map(Duration::from_secs);
        let lengths = |measure: u64| {
            let measure = Duration::from_secs(measure);
            [find.step(measure), find.overload(measure), find.confirmation(measure)]
        };
        assert_eq!(lengths(20), seconds(5));
        // Ten times 200 ms.
        assert_eq!(lengths(3), seconds(2));
        let at = |rate| find.step_at(rate, Duration::from_secs(20)).as_secs();
        // 200 requests.
        assert_eq!([10.0, 20.0, 30.0, 40.0, 1_000.0].map(at), [20, 10, 7, 5, 5]);
        // 10, 20, 40, 80 and 100/s; six steps and two confirmations; 10 s of overload and up to 33 s of recovery.
        let longest = 20 + 10 + 5 + 5 + 5 + 6 * 5 + 2 * 20 + 10 + 33;
        assert_eq!(find.longest(Duration::from_secs(20)), Duration::from_secs(longest));
        assert!(find.shortest(Duration::from_secs(20)) < Duration::from_secs(70));
    }

    #[test]
    fn what_a_server_does_beyond_its_limit_has_a_word() {
        let words = [1.02, 0.9, 0.89, 0.5, 0.49, 0.0].map(|share| Behaviour::of(share).name());
        assert_eq!(words, ["sheds", "sheds", "degrades", "degrades", "collapses", "collapses"]);
    }
}
