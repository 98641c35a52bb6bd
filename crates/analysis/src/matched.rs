//! Two imported runs over the same time: the part in which both ran at a settled speed.

use model::Effect;
use model::imported::{AuditedRun, ImportedRun, Matched, ONE_RUN, Pace, Times};

use crate::ended::Ended;
use crate::quantity::Quantity;
use crate::settled::settled;
use crate::student;

/// Parts of the time, at most: ten to thirty are what the method of batch means works best with (Law 2015, *Simulation Modeling and
/// Analysis*, section 9.5.3).
const MOST_PARTS: usize = 20;
/// Requests that a part has on average, at least.
const LEAST_REQUESTS: f64 = 50.0;
/// Intervals of either file in a part, at least: what ended in a part of an interval is guessed.
const LEAST_INTERVALS: f64 = 2.0;
/// By how much the numbers of requests in flight may differ where the servers set the rate, a log ratio.
const IN_FLIGHT: f64 = 0.1;
/// How often the interval of the difference is wrong where speeds do not drift.
const ALPHA: f64 = 0.05;

/// Whether a difference in speed (a log ratio) lies on one side of none, and beyond the least that one run a side can show.
pub fn is_seen_in_one_run(speed: &Effect) -> bool {
    speed.low > ONE_RUN || speed.high < -ONE_RUN
}

/// What both did in the time in which each was on its settled level; `None` where there is no such time, or too little ended in it.
pub fn matched(runs: [&AuditedRun; 2]) -> Option<Matched> {
    let [first, second] = runs.map(|audited| settled(&audited.levels).map(|index| audited.levels[index]));
    let (first, second) = (first?, second?);
    let (from_s, to_s) = (first.from_s.max(second.from_s), first.to_s.min(second.to_s));
    let length_s = to_s - from_s;
    let ended = |from_s: f64, to_s: f64| runs.map(|audited| Ended::between(&audited.run, from_s, to_s));
    let in_all = ended(from_s, to_s);
    let interval_s = runs.map(|audited| audited.run.interval_s);
    let by_intervals = length_s / (LEAST_INTERVALS * interval_s[0].max(interval_s[1]));
    let parts = by_intervals.min(in_all[0].good.min(in_all[1].good) / LEAST_REQUESTS).min(MOST_PARTS as f64).max(0.0);
    let step_s = length_s / parts.floor().max(1.0);
    let parts: Vec<[Ended; 2]> = (0..parts as usize)
        .map(|part| {
            let begin = from_s + part as f64 * step_s;
            ended(begin, begin + step_s)
        })
        .collect();
    let differences: Vec<Quantity> = parts
        .iter()
        .map(|ended| {
            // A part without an answer has a logarithm, too: that of half an answer.
            let [first, second] = ended.each_ref().map(|ended| ended.good.max(0.5));
            Quantity { value: (second / first).ln(), resolution: 1.0 / first + 1.0 / second }
        })
        .collect();
    let effect = student::interval(&differences, ALPHA)?;
    let (times, pace) = (times(&in_all, &parts), pace(runs.map(|audited| &audited.run), &in_all));
    Some(Matched { from_s, to_s, rates: in_all.map(|ended| ended.good / length_s), effect, times, pace })
}

/// What a good request took in the mean; `None` where a file does not say, or not of every part.
fn times(in_all: &[Ended; 2], parts: &[[Ended; 2]]) -> Option<Times> {
    let [first, second] = in_all.each_ref().map(Ended::mean_ms);
    let means_ms = [first?, second?];
    let difference = |ended: &[Ended; 2]| {
        let [first, second] = ended.each_ref().map(Ended::mean_ms);
        Some(Quantity { value: (second? / first?).ln(), resolution: 0.0 })
    };
    let differences: Option<Vec<Quantity>> = parts.iter().map(difference).collect();
    Some(Times { means_ms, effect: student::interval(&differences?, ALPHA)? })
}

/// Who set the rate, by how many requests each side had in flight.
fn pace(runs: [&ImportedRun; 2], in_all: &[Ended; 2]) -> Pace {
    let [first, second] = in_all.each_ref().map(|ended| ended.took_us);
    let is_alike = first <= 0.0 || second <= 0.0 || (second / first).ln().abs() <= IN_FLIGHT;
    // vegeta sends at a rate, whoever answers.
    let are_users_known = runs.iter().all(|run| run.users.is_some() || run.tool.starts_with("vegeta"));
    match (is_alike, are_users_known) {
        (true, _) => Pace::Servers,
        (false, true) => Pace::Load,
        (false, false) => Pace::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;
    use crate::audit_imported;

    fn run(seconds: usize, rate: impl Fn(usize) -> u64) -> AuditedRun {
        let mut run = imported(seconds, 1);
        for (second, interval) in run.intervals.iter_mut().enumerate() {
            interval.good = rate(second);
        }
        run.all.good = run.intervals.iter().map(|interval| interval.good).sum();
        audit_imported(run, Vec::new())
    }

    /// A rate that differs from second to second, by some per cent.
    fn unsteady(second: usize, rate: u64) -> u64 {
        rate + [0, 3, 1, 4, 2][second * 7 % 5]
    }

    #[test]
    fn only_the_time_counts_before_either_falls() {
        let slow = run(2_000, |second| unsteady(second, if second < 600 { 100 } else { 20 }));
        let fast = run(2_000, |second| unsteady(second, if second < 1_500 { 110 } else { 20 }));
        let matched = matched([&slow, &fast]).unwrap();
        assert!(matched.from_s < 20.0 && (matched.to_s - 600.0).abs() <= 20.0, "{matched:?}");
        assert!((matched.effect.estimate - (112.0_f64 / 102.0).ln()).abs() < 0.005, "{matched:?}");
        assert!(matched.effect.low > 0.08 && matched.effect.high < 0.11, "{matched:?}");
    }

    #[test]
    fn a_slow_beginning_is_left_out() {
        let warming = run(1_000, |second| unsteady(second, if second < 200 { 60 } else { 100 }));
        let warm = run(1_000, |second| unsteady(second, 100));
        let matched = matched([&warming, &warm]).unwrap();
        assert!((matched.from_s - 200.0).abs() <= 20.0, "{matched:?}");
        assert!(matched.effect.low < 0.0 && matched.effect.high > 0.0, "{matched:?}");
    }

    #[test]
    fn runs_that_were_never_settled_at_the_same_time_have_none() {
        let early = run(1_000, |second| if second < 100 { 100 } else { 20 });
        let late = run(1_000, |second| if second < 300 { 60 } else { 100 });
        assert_eq!(matched([&early, &late]), None);
        assert_eq!(matched([&early, &run(10, |_| 100)]), None);
    }
}
