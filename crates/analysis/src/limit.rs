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

use model::limit::GOOD_SECONDS;
use model::search::{ClientLimit, LimitStep, Overload, Recovery, SearchEnd, StepResult};
use model::{CellIndex, FindLimit, Objective, Sample, StudyRecord, sample};

use crate::audit::is_client_the_limit;

/// From one rate to the next while nothing has broken.
const GROWTH: f64 = 2.0;
/// The search ends when the lowest rate that broke is at most so many times the highest that held.
const NARROW: f64 = 1.025;
/// More steps than this, and the server is too unsteady: four times as many as a search takes over three decades.
const MOST_STEPS: usize = 60;
/// How many times the capacity an overload asks.
const OVERLOAD: f64 = 2.0;
/// The part of the capacity that is asked while a server recovers, and while it is watched.
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
        (Some(_), Some(high)) if high >= find.to && is_contradicted(steps, high) => long(high),
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

/// Whether a rate has held once and not held once: of the highest it matters which it does, since nothing above it is tried.
fn is_contradicted(steps: &[LimitStep], rate: f64) -> bool {
    let count = |result| of_rate(steps, rate).filter(|step| step.result == result).count();
    count(StepResult::Held) == 1 && count(StepResult::Broke) == 1
}

/// Whether a rate that broke did so for long, or was asked more than once.
fn has_broken_twice(steps: &[LimitStep], high: f64) -> bool {
    of_rate(steps, high).any(|step| step.confirms) || of_rate(steps, high).count() > 1
}

/// The rate at which launches are watched whose limit was looked for, requests/s: half of the lowest capacity that any launch has in the cell, which
/// all variants keep. `None` where none was found.
pub fn watched_rate(record: &StudyRecord, cell: CellIndex) -> Option<f64> {
    let measured = record.trials.iter().flat_map(|trial| &trial.cells).filter(|measured| measured.cell == cell);
    let capacities = measured.filter_map(|measured| Some(measured.search.as_ref()?.end.capacity()?.0));
    capacities.reduce(f64::min).map(|lowest| lowest * RECOVERY)
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use model::sample::OpenLoop;
    use model::{Failure, Tally};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const OBJECTIVE: Objective = Objective { quantile: 0.95, within_us: 200_000, errors: 0.01 };

    fn find(from: f64, to: f64) -> FindLimit {
        FindLimit { objective: OBJECTIVE, from, to }
    }

    /// A server of so many workers, each of which takes a time for a request: an M/D/c or, with random times, an M/M/c queue.
    struct Queue {
        workers: usize,
        takes_s: f64,
        is_random: bool,
        /// How many may wait.
        room: Option<usize>,
        /// The part of the steps in which it stands still for a second, whatever is asked.
        stalls: f64,
        rng: ChaCha8Rng,
    }

    impl Queue {
        fn new(workers: usize, takes_s: f64, is_random: bool, seed: u64) -> Self {
            Self { workers, takes_s, is_random, room: None, stalls: 0.0, rng: ChaCha8Rng::seed_from_u64(seed) }
        }

        fn capacity(&self) -> f64 {
            self.workers as f64 / self.takes_s
        }

        fn exponential(&mut self, mean: f64) -> f64 {
            -mean * (1.0 - self.rng.random::<f64>()).ln()
        }

        /// What a client sees that asks at these rates for these times, at random moments, and waits for all answers.
        fn load(&mut self, stages: &[(f64, f64)]) -> Vec<Sample> {
            let seconds = stages.iter().map(|(_, length)| length).sum::<f64>().round() as usize;
            let second = |index: usize| Sample {
                start_s: index as f64,
                length_s: 1.0,
                open: Some(OpenLoop::default()),
                ..Sample::default()
            };
            let mut samples: Vec<Sample> = (0..seconds).map(second).collect();
            let mut free: Vec<f64> = vec![if self.rng.random::<f64>() < self.stalls { 1.0 } else { 0.0 }; self.workers];
            let (mut begins, mut now): (VecDeque<f64>, f64) = (VecDeque::new(), 0.0);
            loop {
                let mut until = 0.0;
                let stage = stages.iter().find(|(_, length)| {
                    until += length;
                    now < until
                });
                let Some((rate, _)) = stage else { return samples };
                samples[now as usize].open.as_mut().unwrap().due += 1;
                while begins.front().is_some_and(|begin| *begin <= now) {
                    begins.pop_front();
                }
                let first = free.iter_mut().min_by(|a, b| f64::total_cmp(a, b)).unwrap();
                let begin = first.max(now);
                if begin > now && self.room.is_some_and(|room| begins.len() >= room) {
                    *samples[now as usize].tally.failures.entry(Failure::Status).or_default() += 1;
                } else {
                    if begin > now {
                        begins.push_back(begin);
                    }
                    let takes = if self.is_random {
                        -self.takes_s * (1.0 - self.rng.random::<f64>()).ln()
                    } else {
                        self.takes_s
                    };
                    *first = begin + takes;
                    let (end, response_us) = (begin + takes, ((begin + takes - now) * 1e6) as u64);
                    let sample = &mut samples[(end as usize).min(seconds - 1)];
                    sample.tally.good += 1;
                    sample.service.record((takes * 1e6) as u64);
                    sample.open.as_mut().unwrap().response.record(response_us);
                }
                now += self.exponential(1.0 / rate);
            }
        }

        /// The highest rate at which the objective holds in the long run: at random arrivals it is below the capacity of the workers.
        fn truth(&mut self) -> f64 {
            let (mut low, mut high) = (0.5 * self.capacity(), self.capacity());
            for _ in 0..7 {
                let rate = f64::midpoint(low, high);
                let seen = self.load(&[(rate, 500.0)]);
                let holds = judge(&OBJECTIVE, rate, true, &seen).unwrap().result == StepResult::Held;
                *(if holds { &mut low } else { &mut high }) = rate;
            }
            f64::midpoint(low, high)
        }

        fn search(&mut self, find: &FindLimit) -> (SearchEnd, Vec<LimitStep>) {
            let mut steps = Vec::new();
            loop {
                match next_step(find, &steps) {
                    NextStep::End(end) => return (end, steps),
                    NextStep::Try { rate, confirms } => {
                        let seen = self.load(&[(rate, if confirms { 20.0 } else { 5.0 })]);
                        steps.push(judge(&find.objective, rate, confirms, &seen).unwrap());
                    }
                }
            }
        }
    }

    /// Capacities found by so many searches, as parts of the true one, and the most steps that one took.
    fn found(queue: impl Fn(u64) -> Queue, searches: u64) -> (Vec<f64>, usize) {
        let mut most = 0;
        let truth = Queue { stalls: 0.0, ..queue(searches) }.truth();
        let ratios = (0..searches).map(|seed| {
            let mut queue = queue(seed);
            let (end, steps) = queue.search(&find(10.0, 10_000.0));
            most = most.max(steps.len());
            let (found, resolution) = end.capacity().unwrap_or_else(|| panic!("{end:?} after {} steps", steps.len()));
            assert!(resolution <= NARROW.ln() / 2.0);
            found / truth
        });
        (ratios.collect(), most)
    }

    fn within(ratios: &[f64], least: f64, most: f64) -> bool {
        ratios.iter().all(|ratio| (least..most).contains(ratio))
    }

    #[test]
    fn the_capacity_of_a_known_queue_is_found() {
        for (workers, takes_s, is_random) in [(4, 0.04, false), (4, 0.01, false), (2, 0.02, true), (8, 0.04, true)] {
            let (ratios, steps) = found(|seed| Queue::new(workers, takes_s, is_random, seed), 10);
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            let kind = if is_random { "M" } else { "D" };
            assert!(
                within(&ratios, 0.88, 1.12) && (0.95..1.07).contains(&mean) && steps <= 30,
                "M/{kind}/{workers}: {mean}, {ratios:?}, {steps}"
            );
        }
    }

    #[test]
    fn a_bad_moment_of_the_host_does_not_decide() {
        let noisy = |seed| Queue { stalls: 0.05, ..Queue::new(4, 0.01, false, seed) };
        let (ratios, steps) = found(noisy, 20);
        assert!(within(&ratios, 0.8, 1.1) && steps <= 40, "{ratios:?}, {steps} steps");
    }

    #[test]
    fn a_limit_outside_the_rates_is_not_found() {
        let end = |from, to| Queue::new(4, 0.04, false, 1).search(&find(from, to));
        let (never_held, steps) = end(200.0, 1_000.0);
        assert_eq!((never_held, steps.len()), (SearchEnd::NeverHeld, 2), "asked once more");
        let (never_broken, steps) = end(10.0, 50.0);
        assert_eq!(never_broken, SearchEnd::NeverBroken);
        assert_eq!(steps.iter().map(|step| step.rate as u32).collect::<Vec<_>>(), [10, 20, 40, 50, 50]);
        assert!(steps[4].confirms);
    }

    #[test]
    fn a_bad_moment_at_the_highest_rate_is_no_limit() {
        let seen = Queue::new(40, 0.04, false, 1).load(&[(20.0, 5.0)]);
        let step =
            |rate, confirms, result| LimitStep { rate, result, ..judge(&OBJECTIVE, rate, confirms, &seen).unwrap() };
        let (held, broke) = (StepResult::Held, StepResult::Broke);
        let mut steps = vec![step(100.0, false, held), step(200.0, false, held), step(200.0, true, broke)];
        let next = |steps: &[LimitStep]| next_step(&find(100.0, 200.0), steps);
        assert_eq!(next(&steps), NextStep::Try { rate: 200.0, confirms: true });
        steps.push(step(200.0, true, held));
        assert_eq!(next(&steps), NextStep::End(SearchEnd::NeverBroken));
        steps[3].result = broke;
        assert_eq!(next(&steps), NextStep::Try { rate: (100.0_f64 * 200.0).sqrt(), confirms: false });
    }

    #[test]
    fn a_client_that_is_the_limit_ends_the_search() {
        let step = |busy: bool, unsent: u64| {
            let mut seen = Queue::new(4, 0.04, false, 1).load(&[(300.0, 5.0)]);
            for sample in &mut seen {
                sample.client_cpu_s = if busy { 0.9 } else { 0.1 };
            }
            seen.last_mut().unwrap().open.as_mut().unwrap().backlog = unsent;
            judge(&OBJECTIVE, 300.0, false, &seen).unwrap()
        };
        let end = |step| next_step(&find(10.0, 1_000.0), &[step]);
        let client = |why| NextStep::End(SearchEnd::Client { why, rate: 300.0 });
        assert_eq!(end(step(true, 0)), client(ClientLimit::Busy));
        // Each answer takes 40 ms from its sending, so that it is not the server which requests wait for.
        assert_eq!(end(step(false, 10)), client(ClientLimit::Connections));
        assert_eq!(step(false, 0).result, StepResult::Broke);
        // Nobody asks why where the objective holds.
        let mut idle = Queue::new(4, 0.04, false, 1).load(&[(20.0, 5.0)]);
        for sample in &mut idle {
            sample.client_cpu_s = 0.9;
        }
        assert_eq!(judge(&OBJECTIVE, 20.0, false, &idle).unwrap().result, StepResult::Held);
    }

    #[test]
    fn a_server_that_never_settles_ends_the_search() {
        let mut steps: Vec<LimitStep> = Vec::new();
        let end = loop {
            match next_step(&find(10.0, 1_000.0), &steps) {
                NextStep::End(end) => break end,
                NextStep::Try { rate, confirms } => {
                    let held = judge(&OBJECTIVE, rate, confirms, &Queue::new(4, 0.04, false, 1).load(&[(20.0, 5.0)]));
                    let result = if steps.len().is_multiple_of(2) { StepResult::Held } else { StepResult::Broke };
                    steps.push(LimitStep { result, ..held.unwrap() });
                }
            }
        };
        assert!(steps.len() <= MOST_STEPS && end != SearchEnd::NeverHeld, "{end:?} after {}", steps.len());
    }

    #[test]
    fn requests_without_an_answer_are_late() {
        let mut seen = Queue::new(40, 0.04, false, 1).load(&[(50.0, 4.0)]);
        let held = judge(&OBJECTIVE, 50.0, false, &seen).unwrap();
        assert_eq!((held.result, held.in_time), (StepResult::Held, held.due));
        assert!((39_900..41_000).contains(&held.quantile_us.unwrap()), "{held:?}");
        let open = seen[0].open.as_mut().unwrap();
        open.due += 30;
        let broke = judge(&OBJECTIVE, 50.0, false, &seen).unwrap();
        assert_eq!((broke.result, broke.quantile_us), (StepResult::Broke, None));
        seen[0].tally = Tally { failures: [(Failure::Status, 30)].into(), ..seen[0].tally.clone() };
        let failed = judge(&OBJECTIVE, 50.0, false, &seen).unwrap();
        assert!(
            failed.result == StepResult::Broke && failed.quantile_us.is_some(),
            "30 failed, none is late: {failed:?}"
        );
        assert_eq!(judge(&OBJECTIVE, 50.0, false, &[]), None);
    }

    #[test]
    fn a_server_that_sheds_is_told_from_one_that_collapses() {
        let beyond_limit = |room| {
            let mut queue = Queue { room, ..Queue::new(4, 0.04, false, 7) };
            let [over, after] = beyond(queue.capacity());
            let seen = queue.load(&[(over, 10.0), (after, 33.0)]);
            (overload(&OBJECTIVE, over, 10.0, &seen), has_recovered(&OBJECTIVE, 10.0, &seen[..13]))
        };
        let (sheds, recovered) = beyond_limit(Some(12));
        assert!((sheds.goodput() - 100.0).abs() < 2.0 && recovered, "{sheds:?}");
        assert_eq!((sheds.recovery, sheds.length_s.round() as u32), (Recovery::After { seconds: 1.0 }, 5));
        assert!(sheds.tally.failed() > 400, "{sheds:?}");
        let (collapses, recovered) = beyond_limit(None);
        assert!(collapses.goodput() < 1.0 && !recovered, "{collapses:?}");
        // A thousand wait in the end, and fifty more are answered each second than come.
        let Recovery::After { seconds } = collapses.recovery else { panic!("{collapses:?}") };
        assert!((17.0..25.0).contains(&seconds), "{seconds}");
    }

    #[test]
    fn a_server_that_does_not_recover_is_not_said_to() {
        let mut queue = Queue::new(4, 0.04, false, 7);
        let seen = queue.load(&[(200.0, 4.0), (100.0, 6.0)]);
        assert_eq!(overload(&OBJECTIVE, 200.0, 4.0, &seen).recovery, Recovery::NotWithin { seconds: 6.0 });
        // Two good seconds are not three.
        let seen = queue.load(&[(200.0, 1.0), (10.0, 4.0)]);
        assert!(!has_recovered(&OBJECTIVE, 1.0, &seen[..4]), "{:?}", overload(&OBJECTIVE, 200.0, 1.0, &seen));
    }
}
