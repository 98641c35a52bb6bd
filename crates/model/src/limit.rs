//! How the highest rate is looked for at which a server keeps an objective.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECTIVE: Objective = Objective { quantile: 0.95, within_us: 200_000, errors: 0.01 };

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
}
