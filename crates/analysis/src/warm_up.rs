//! The warm-up as a result: how long it takes and what it costs. From when on it has paid: [`cumulative_responses`].
//!
//! *Warm* is judged in hindsight, from the steady rate of the launch itself (its mean rate over the window that was
//! found steady, and all after): the launch is warm from the end of the last time that its running median over
//! [`WINDOW`] seconds was more than 5 % below, or below the noise where that is more; at the beginning of that window at the latest.

use model::warm_up::{WarmUpCost, WarmingUp};
use model::{Outcome, Sample, StudyRecord, TrialRecord, VariantIndex, WarmUpRecord, sample};

use crate::blocks::BlockState;
use crate::boundaries::Boundaries;
use crate::compare::BASELINE;
use crate::cumulative_responses::cumulative_responses;
use crate::robust::{self, spread};

/// Seconds of the running median, an odd number.
const WINDOW: usize = 11;
/// How far below the steady rate a launch is not yet warm, a fraction.
const BELOW: f64 = 0.05;
/// What the starts of two samples may be apart and yet the same, seconds.
const ROUNDING_S: f64 = 1e-6;
/// Standard error of a median of n normal values, in σ/√n: √(π/2).
const MEDIAN_ERROR: f64 = 1.2533;

/// When a launch was warm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warm {
    /// Seconds of load until then, a second or more: it is not looked at more finely.
    pub seconds: f64,
    /// Good answers until then.
    pub requests: f64,
    /// What one sample more would add to both: it is known no more finely than that.
    pub next: (f64, f64),
}

/// When a launch was warm; `None` if it was never found steady.
pub fn warm(warm_up: &WarmUpRecord) -> Option<Warm> {
    warm_up.steady_at_s?;
    let steady = steady_rate(warm_up)?;
    let from = window(warm_up);
    let rates: Vec<f64> = warm_up.samples.iter().map(rate).collect();
    let noise = robust::sigma(&warm_up.samples[from..].iter().map(rate).collect::<Vec<_>>())? / steady;
    let is_cold = |second: &usize| {
        let near = &rates[second.saturating_sub(WINDOW / 2)..(second + WINDOW / 2 + 1).min(rates.len())];
        let error = MEDIAN_ERROR * noise / (near.len() as f64).sqrt();
        robust::median(near).is_some_and(|median| median < steady * (1.0 - BELOW.max(3.0 * error)))
    };
    let until = (0..from).rev().find(is_cold).map_or(1, |second| second + 1);
    let cold = &warm_up.samples[..until];
    let next = warm_up.samples.get(until).or(cold.last())?;
    Some(Warm {
        seconds: sample::seconds(cold),
        requests: sample::tally(cold).good as f64,
        next: (next.length_s, next.tally.good as f64),
    })
    .filter(|warm| warm.requests > 0.0)
}

/// Index of the first sample of the window that was found steady, and all after; in older records of the second half of the load up
/// to then. Where it never was, of the second half of all, or the last one.
fn window(warm_up: &WarmUpRecord) -> usize {
    let samples = &warm_up.samples;
    let before = |end: f64| samples.partition_point(|sample| sample.start_s < end);
    let half = || before(warm_up.steady_at_s.unwrap_or(f64::INFINITY)).div_ceil(2);
    let from = warm_up.steady_from_s.map_or_else(half, |from| before(from - ROUNDING_S));
    from.min(samples.len().saturating_sub(1))
}

/// The samples of that window.
pub fn steady(warm_up: &WarmUpRecord) -> &[Sample] {
    &warm_up.samples[window(warm_up)..]
}

/// Good answers per second in that window; `None` where there are none.
pub fn steady_rate(warm_up: &WarmUpRecord) -> Option<f64> {
    Some(mean_rate(steady(warm_up))).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// Good answers per second of the later half of a warm-up's samples; NaN where there are none.
pub fn late_rate(warm_up: &[Sample]) -> f64 {
    mean_rate(late(warm_up))
}

/// The later half of a warm-up's samples.
pub fn late(warm_up: &[Sample]) -> &[Sample] {
    &warm_up[warm_up.len() / 2..]
}

fn mean_rate(samples: &[Sample]) -> f64 {
    sample::tally(samples).good as f64 / sample::seconds(samples)
}

fn rate(sample: &Sample) -> f64 {
    sample.tally.good as f64 / sample.length_s
}

/// The warm-up as a result; `None` where none was seen.
pub fn warming_up(record: &StudyRecord, blocks: &[BlockState], boundaries: &Boundaries) -> Option<WarmingUp> {
    let variants: Vec<WarmUpCost> = (0..record.study.variants.len()).map(|variant| cost(record, variant)).collect();
    variants.iter().any(|cost| cost.settled[1] > 0).then(|| WarmingUp {
        variants,
        cumulative_responses: (BASELINE + 1..record.study.variants.len())
            .filter_map(|variant| cumulative_responses(record, blocks, boundaries, variant))
            .collect(),
    })
}

fn cost(record: &StudyRecord, variant: VariantIndex) -> WarmUpCost {
    let completed = |trial: &&TrialRecord| trial.variant == variant && trial.outcome == Outcome::Completed;
    let launches: Vec<(&TrialRecord, &WarmUpRecord)> = record
        .trials
        .iter()
        .filter(completed)
        .filter_map(|trial| Some((trial, trial.warm_up.as_ref()?)))
        .filter(|(_, warm_up)| !warm_up.samples.is_empty())
        .collect();
    let settled = || launches.iter().map(|(_, warm_up)| *warm_up).filter(|warm_up| warm_up.steady_at_s.is_some());
    let spread = |of: fn(&WarmUpRecord) -> Option<f64>| spread(&settled().filter_map(of).collect::<Vec<_>>());
    WarmUpCost {
        variant,
        settled: [settled().count() as u32, launches.len() as u32],
        seconds: spread(|warm_up| Some(warm(warm_up)?.seconds)),
        requests: spread(|warm_up| Some(warm(warm_up)?.requests)),
        steady_rate: spread(steady_rate),
        first_second: spread(|warm_up| share(warm_up, 1.0)),
        first_ten_seconds: spread(|warm_up| share(warm_up, 10.0)),
        lost_s: spread(lost),
        curve: curve(&launches),
    }
}

/// Speed in the first so many seconds as a part of the steady rate.
fn share(warm_up: &WarmUpRecord, seconds: f64) -> Option<f64> {
    let until = warm_up.samples.partition_point(|sample| sample.start_s < seconds);
    let first = &warm_up.samples[..until];
    let seen = first.last().is_some_and(|last| last.start_s + last.length_s >= seconds);
    Some(mean_rate(first) / steady_rate(warm_up).filter(|_| seen)?)
}

/// Seconds at the steady rate that are missing until the launch was found steady.
fn lost(warm_up: &WarmUpRecord) -> Option<f64> {
    let steady_at = warm_up.steady_at_s?;
    let until = warm_up.samples.partition_point(|sample| sample.start_s < steady_at);
    let cold = &warm_up.samples[..until];
    Some(sample::seconds(cold) - sample::tally(cold).good as f64 / steady_rate(warm_up)?)
}

/// The mean rate of all measuring launches, second by second, as long as each of them was still warming up; of the pilots where
/// there are no others.
fn curve(launches: &[(&TrialRecord, &WarmUpRecord)]) -> Vec<[f64; 2]> {
    let are_measured = launches.iter().any(|(trial, _)| !trial.key.pilot);
    let own: Vec<&WarmUpRecord> =
        launches.iter().filter(|(trial, _)| trial.key.pilot != are_measured).map(|(_, warm_up)| *warm_up).collect();
    let last = |warm_up: &WarmUpRecord| warm_up.samples.last().map_or(0.0, |last| last.start_s);
    let until = own.iter().map(|warm_up| last(warm_up)).fold(f64::INFINITY, f64::min);
    // Slices may be of other lengths from launch to launch: what counts is the age.
    let rate_at = |warm_up: &WarmUpRecord, age: f64| {
        let index = warm_up.samples.partition_point(|sample| sample.start_s <= age + ROUNDING_S);
        warm_up.samples.get(index.saturating_sub(1)).map_or(f64::NAN, rate)
    };
    let ages = own.first().into_iter().flat_map(|warm_up| &warm_up.samples).map(|sample| sample.start_s);
    ages.take_while(|age| *age <= until)
        .map(|age| [age, own.iter().map(|warm_up| rate_at(warm_up, age)).sum::<f64>() / own.len() as f64])
        .filter(|point| point[1].is_finite())
        .collect()
}

#[cfg(test)]
mod tests {
    use model::Metric;
    use model::warm_up::Spread;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::blocks;
    use crate::boundaries::normal;
    use crate::fixture::{step, warm_up, warming};
    use crate::metrics;

    fn result(record: &StudyRecord) -> WarmingUp {
        warming_up(record, &blocks::blocks(record), &Boundaries::standard()).unwrap()
    }

    #[test]
    fn warm_is_where_the_curve_reaches_its_level() {
        for cold in [5, 20, 40] {
            let warm = warm(&warm_up(&step(cold, 40, 100), Some(90.0))).unwrap();
            assert_eq!((warm.seconds, warm.requests), (f64::from(cold), f64::from(cold) * 40.0));
        }
        // Within 5 % it is warm; the 15 s of 90/s at 30 s are not.
        let mut curve = step(10, 97, 100);
        curve[30..45].fill(90);
        assert!((warm(&warm_up(&curve, Some(90.0))).unwrap().seconds - 45.0).abs() < 1e-9);
        // What comes after it was found steady, or lasts a moment, is not warming up.
        let mut curve = step(20, 40, 100);
        curve[60..63].fill(10);
        curve[95..].fill(10);
        assert!((warm(&warm_up(&curve, Some(90.0))).unwrap().seconds - 20.0).abs() < 1e-9);
        // Never colder: it is not looked at more finely than a second.
        assert!((warm(&warm_up(&[100; 60], Some(30.0))).unwrap().seconds - 1.0).abs() < 1e-9);
        assert_eq!(warm(&warm_up(&step(20, 40, 100), None)), None);
        assert_eq!(warm(&warm_up(&[0; 60], Some(30.0))), None);
    }

    #[test]
    fn noise_does_not_put_it_off() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let mut late = 0;
        for _ in 0..200 {
            let noisy = |good: u64| (good as f64 * (0.1 * normal(&mut rng)).exp()) as u64;
            let curve: Vec<u64> = step(20, 400, 1_000).into_iter().map(noisy).collect();
            let seconds = warm(&warm_up(&curve, Some(90.0))).unwrap().seconds;
            assert!(seconds >= 18.0, "{seconds}");
            late += u32::from(seconds > 25.0);
        }
        assert!(late <= 10, "{late} of 200");
    }

    #[test]
    fn launches_have_metrics_of_their_warm_up() {
        let mut record = warming(6, |variant, _| step([10, 30][variant], 40, 100));
        let of = |record: &StudyRecord, metric, trial: usize| metrics::value(&record.trials[trial], metric, None);
        let on = record.trials.iter().position(|trial| trial.variant == 1).unwrap();
        assert_eq!(of(&record, Metric::WarmUpTime, on), Some(30.0));
        assert_eq!(of(&record, Metric::WarmUpRequests, on), Some(1_200.0));
        record.study.decide.primary = Metric::WarmUpRequests;
        let report = crate::analyse(&crate::assess(&record, &Boundaries::standard()), None);
        let sentence = &report.judgements[0].sentence;
        assert_eq!(sentence, "on takes 200 % more requests to warm up than off [134, 285], 5 blocks");
        record.trials[on].warm_up.as_mut().unwrap().steady_at_s = None;
        assert_eq!(of(&record, Metric::WarmUpRequests, on), None);
    }

    #[test]
    fn what_a_warm_up_costs() {
        // 20 s at 40/s of 100/s: 1,200 answers less, 12 s.
        let mut record = warming(6, |_, _| step(20, 40, 100));
        let cost = &result(&record).variants[1];
        let median = |spread: Option<Spread>| spread.unwrap().median;
        assert_eq!(cost.settled, [8, 8]);
        assert!((median(cost.steady_rate) - 100.0).abs() < 1e-9);
        assert!((median(cost.seconds) - 20.0).abs() < 1e-9 && (median(cost.requests) - 800.0).abs() < 1e-9);
        assert!((median(cost.first_second) - 0.4).abs() < 1e-9 && (median(cost.first_ten_seconds) - 0.4).abs() < 1e-9);
        assert!((median(cost.lost_s) - 12.0).abs() < 1e-9, "{cost:?}");
        assert_eq!((cost.curve.len(), cost.curve[19], cost.curve[20]), (100, [19.0, 40.0], [20.0, 100.0]));
        // One that never settles is counted, and gives no figures.
        record.trials.last_mut().unwrap().warm_up.as_mut().unwrap().steady_at_s = None;
        let variant = record.trials.last().unwrap().variant;
        let cost = &result(&record).variants[variant];
        assert_eq!((cost.settled, cost.seconds.unwrap().launches), ([7, 8], 7));
    }

    #[test]
    fn without_a_warm_up_there_is_nothing_to_tell() {
        let mut record = warming(6, |_, _| step(20, 40, 100));
        record.trials.iter_mut().for_each(|trial| trial.warm_up = None);
        assert_eq!(warming_up(&record, &blocks::blocks(&record), &Boundaries::standard()), None);
    }
}
