//! The search for the highest rate at which an objective holds: which rate is asked next, what a step showed, and what happened beyond
//! the limit.
//!
//! ```text
//! from ─ doubled until one breaks ─► bracket ─ halved on the log scale until narrow ─► confirm low ─► ask high again ─► found
//!                                       ▲                                                   │ breaks        │ holds
//!                                       └───────────────────────────────────────────────────┴───────────────┘
//! ```
//!
//! A later answer about a rate takes the place of an earlier one. So one bad moment of the host, or one good one of the server, does not decide:
//! the highest rate that held is asked for longer, and the lowest that broke once more.

use model::limit::{ClientLimit, GOOD_SECONDS, LimitStep, Objective, Overload, Recovery, SearchEnd, StepResult};
use model::{FindLimit, Sample, sample};

use crate::audit::is_client_the_limit;

/// From one rate to the next while nothing has broken.
const GROWTH: f64 = 2.0;
/// The search ends when the lowest rate that broke is at most so many times the highest that held.
const NARROW: f64 = 1.025;
/// More steps than this, and the server is too unsteady: four times as many as a search takes over three decades.
const MOST_STEPS: usize = 60;
/// How many times the capacity an overload asks.
const OVERLOAD: f64 = 2.0;
/// The part of the capacity that is asked while a server recovers.
const RECOVERY: f64 = 0.5;

/// What a search does next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NextStep {
    /// Asks a rate, requests/s.
    Try {
        /// The rate.
        rate: f64,
        /// Whether to confirm that it holds, for longer.
        confirms: bool,
    },
    /// It has ended.
    End(SearchEnd),
}

/// What a search does after these steps.
pub fn next_step(find: &FindLimit, steps: &[LimitStep]) -> NextStep {
    if let Some(LimitStep { rate, result: StepResult::Client(why), .. }) = steps.last() {
        return NextStep::End(SearchEnd::Client { why: *why, rate: *rate });
    }
    if steps.len() >= MOST_STEPS {
        return NextStep::End(SearchEnd::Unsettled);
    }
    let latest = |rate: f64| of_rate(steps, rate).last();
    let rates = |result| {
        let is_so = move |step: &&LimitStep| latest(step.rate).is_some_and(|latest| latest.result == result);
        steps.iter().filter(is_so).map(|step| step.rate)
    };
    let low = rates(StepResult::Held).reduce(f64::max);
    let high = rates(StepResult::Broke).reduce(f64::min);
    let (short, long) = (|rate| NextStep::Try { rate, confirms: false }, |rate| NextStep::Try { rate, confirms: true });
    match (low, high) {
        (None, None) => short(find.from),
        (None, Some(high)) if high > find.from => short(find.from),
        (None, Some(high)) if !has_broken_twice(steps, high) => short(high),
        (None, Some(_)) => NextStep::End(SearchEnd::NeverHeld),
        (Some(low), None) if low < find.to => short((low * GROWTH).min(find.to)),
        (Some(low), None) if !is_confirmed(steps, low) => long(low),
        (Some(_), None) => NextStep::End(SearchEnd::NeverBroken),
        (Some(low), Some(high)) if high > low * NARROW => short((low * high).sqrt()),
        (Some(low), Some(_)) if !is_confirmed(steps, low) => long(low),
        (Some(_), Some(high)) if !has_broken_twice(steps, high) => short(high),
        (Some(low), Some(high)) => NextStep::End(SearchEnd::Found { low, high }),
    }
}

/// The steps at this rate: rates that are asked again are the same number.
fn of_rate(steps: &[LimitStep], rate: f64) -> impl DoubleEndedIterator<Item = &LimitStep> {
    steps.iter().filter(move |step| step.rate.total_cmp(&rate).is_eq())
}

/// Whether a rate that held has held for long.
fn is_confirmed(steps: &[LimitStep], low: f64) -> bool {
    of_rate(steps, low).any(|step| step.confirms && step.result == StepResult::Held)
}

/// Whether a rate that broke did so for long, or was asked more than once.
fn has_broken_twice(steps: &[LimitStep], high: f64) -> bool {
    of_rate(steps, high).any(|step| step.confirms) || of_rate(steps, high).count() > 1
}

/// Capacity, requests/s, and its resolution, a log ratio: the middle between the highest rate that held and the lowest that did not.
pub(crate) fn capacity(end: &SearchEnd) -> Option<(f64, f64)> {
    match end {
        SearchEnd::Found { low, high } => Some(((low * high).sqrt(), (high / low).ln() / 2.0)),
        _ => None,
    }
}

/// What a step at `rate` showed, all of whose answers that were sent are in `samples`; `None` of none.
pub fn judge(objective: &Objective, rate: f64, confirms: bool, samples: &[Sample]) -> Option<LimitStep> {
    let open = sample::open(samples)?;
    let seen = Seen::of(objective, samples);
    let answered = open.response.count();
    let rank = objective.quantile * seen.not_failed() as f64;
    let quantile_us = (rank <= answered as f64 && answered > 0).then(|| open.response.quantile(rank / answered as f64));
    let result = if seen.holds(objective) {
        StepResult::Held
    } else if is_client_the_limit(samples) {
        StepResult::Client(ClientLimit::Busy)
    } else if open.backlog > 0 && is_service_in_time(objective, samples) {
        StepResult::Client(ClientLimit::Connections)
    } else {
        StepResult::Broke
    };
    Some(LimitStep {
        rate,
        length_s: sample::seconds(samples),
        confirms,
        due: seen.due,
        in_time: seen.in_time,
        failed: seen.failed,
        quantile_us,
        result,
    })
}

/// Whether answers came in time once their requests were sent, so that it was connections that requests waited for.
fn is_service_in_time(objective: &Objective, samples: &[Sample]) -> bool {
    let service = sample::service(samples);
    let failed: u64 = samples.iter().map(|sample| sample.tally.failed()).sum();
    let is_failing = failed as f64 > objective.errors * (failed + service.count()) as f64;
    !is_failing && service.count_within(objective.within_us) as f64 >= objective.quantile * service.count() as f64
}

/// What came of the requests of a time.
#[derive(Debug, Clone, Copy)]
struct Seen {
    due: u64,
    in_time: u64,
    failed: u64,
}

impl Seen {
    fn of(objective: &Objective, samples: &[Sample]) -> Self {
        let open = sample::open(samples).unwrap_or_default();
        let failed = samples.iter().map(|sample| sample.tally.failed()).sum();
        Self { due: open.due, in_time: open.response.count_within(objective.within_us), failed }
    }

    /// Requests that were answered well, or not at all.
    fn not_failed(&self) -> u64 {
        self.due.saturating_sub(self.failed)
    }

    /// Whether enough was in time, and not too much failed, of what was due.
    fn holds(&self, objective: &Objective) -> bool {
        let is_in_time = self.in_time as f64 >= objective.quantile * self.not_failed() as f64;
        self.due > 0 && is_in_time && self.failed as f64 <= objective.errors * self.due as f64
    }
}

/// The rates of an overload and of the time after it, requests/s, where this is the capacity.
pub fn beyond(capacity: f64) -> [f64; 2] {
    [capacity * OVERLOAD, capacity * RECOVERY]
}

/// Whether a server has recovered by the end of these samples, second by second, of which the first `overload_s` are the overload.
pub fn has_recovered(objective: &Objective, overload_s: f64, samples: &[Sample]) -> bool {
    matches!(recovery(objective, overload_s, samples), Recovery::After { .. })
}

/// What a server did beyond its limit.
pub fn overload(objective: &Objective, rate: f64, overload_s: f64, samples: &[Sample]) -> Overload {
    // The first half fills what queues there are: until then many a request is in time that would not be later.
    let counts = |sample: &&Sample| (overload_s / 2.0..overload_s).contains(&sample.start_s);
    let counted: Vec<Sample> = samples.iter().filter(counts).cloned().collect();
    let seen = Seen::of(objective, &counted);
    Overload {
        rate,
        length_s: sample::seconds(&counted),
        due: seen.due,
        in_time: seen.in_time,
        tally: sample::tally(&counted),
        recovery: recovery(objective, overload_s, samples),
    }
}

fn recovery(objective: &Objective, overload_s: f64, samples: &[Sample]) -> Recovery {
    let after: Vec<&Sample> = samples.iter().filter(|sample| sample.start_s >= overload_s).collect();
    let first =
        after.windows(GOOD_SECONDS as usize).find(|window| window.iter().all(|second| is_good(objective, second)));
    let last = after.last().map_or(0.0, |last| last.start_s + last.length_s - overload_s);
    match first {
        Some(window) => Recovery::After { seconds: window[0].start_s + window[0].length_s - overload_s },
        None => Recovery::NotWithin { seconds: last },
    }
}

/// Whether the objective holds of what ended in a second: some of it was due before.
fn is_good(objective: &Objective, second: &Sample) -> bool {
    let failed = second.tally.failed();
    let ended = second.tally.good + failed;
    let in_time = second.open.as_ref().map_or(0, |open| open.response.count_within(objective.within_us));
    let is_in_time = in_time as f64 >= objective.quantile * second.tally.good as f64;
    ended > 0 && is_in_time && failed as f64 <= objective.errors * ended as f64
}
