//! The warm-up as a result: how long it takes and what it costs. From when on it has paid: [`cumulative_responses`].

use model::warm_up::{WarmUpCost, WarmingUp};
use model::{BASELINE, Outcome, StudyRecord, TrialRecord, VariantIndex, WarmUpRecord, sample};

use crate::assess::Assessment;
use crate::cumulative_responses::cumulative_responses;
use crate::robust::spread;
use crate::warm_up::{ROUNDING_S, mean_rate, rate, steady_rate, warm};

/// The warm-up as a result; `None` where none was seen.
pub fn warming_up(assessment: &Assessment) -> Option<WarmingUp> {
    let record = assessment.record;
    let variants: Vec<WarmUpCost> = (0..record.study.variants.len()).map(|variant| cost(record, variant)).collect();
    variants.iter().any(|cost| cost.settled[1] > 0).then(|| WarmingUp {
        variants,
        cumulative_responses: (BASELINE + 1..record.study.variants.len())
            .filter_map(|variant| cumulative_responses(assessment, variant))
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
    let settled = || launches.iter().map(|(_, warm_up)| *warm_up).filter(|warm_up| warm_up.steady_at_s().is_some());
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
    let steady_at = warm_up.steady_at_s()?;
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

    use super::*;
    use crate::fixture::{step, warming};
    use crate::{Boundaries, assess, metrics};

    fn result(record: &StudyRecord) -> WarmingUp {
        warming_up(&assess(record, &Boundaries::standard())).unwrap()
    }

    #[test]
    fn launches_have_metrics_of_their_warm_up() {
        let mut record = warming(6, |variant, _| step([10, 30][variant], 40, 100));
        let of = |record: &StudyRecord, metric, trial: usize| metrics::value(&record.trials[trial], metric, None);
        let on = record.trials.iter().position(|trial| trial.variant == 1).unwrap();
        assert_eq!(of(&record, Metric::WarmUpTime, on), Some(30.0));
        assert_eq!(of(&record, Metric::WarmUpRequests, on), Some(1_200.0));
        record.study.decide.primary = Metric::WarmUpRequests;
        let report = crate::analyse(&assess(&record, &Boundaries::standard()), None);
        let sentence = &report.judgements[0].sentence;
        assert_eq!(sentence, "on takes 200 % more requests to warm up than off [134, 285], 5 blocks");
        record.trials[on].warm_up.as_mut().unwrap().steady = None;
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
        record.trials.last_mut().unwrap().warm_up.as_mut().unwrap().steady = None;
        let variant = record.trials.last().unwrap().variant;
        let cost = &result(&record).variants[variant];
        assert_eq!((cost.settled, cost.seconds.unwrap().launches), ([7, 8], 7));
    }

    #[test]
    fn without_a_warm_up_there_is_nothing_to_tell() {
        let mut record = warming(6, |_, _| step(20, 40, 100));
        record.trials.iter_mut().for_each(|trial| trial.warm_up = None);
        assert_eq!(warming_up(&assess(&record, &Boundaries::standard())), None);
    }
}
