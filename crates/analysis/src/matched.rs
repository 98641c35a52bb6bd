//! Two imported runs over the same time: the part in which both ran at a settled speed.

use model::imported::{AuditedRun, ImportedRun, Interval, Level, Matched, Pace, Times};

use model::Effect;

use crate::quantity::Quantity;
use crate::student;

/// The least that one run a side can show, a log ratio. Launches of one server, one after another, often differ by far more.
pub const ONE_RUN: f64 = 0.02;

/// Parts of the time, at most: ten to thirty are what the method of batch means works best with (Law 2015, *Simulation Modeling and
/// Analysis*, section 9.5.3).
const MOST_PARTS: usize = 20;
/// Requests that a part has on average, at least.
const LEAST_REQUESTS: f64 = 50.0;
/// Intervals of either file in a part, at least: what ended in a part of an interval is guessed.
const LEAST_INTERVALS: f64 = 2.0;
/// By how much the numbers of requests in flight may differ where the servers set the rate, a log ratio.
const IN_FLIGHT: f64 = 0.1;
/// Part of a run in which a rise of the speed is taken for a warm-up, and its length at most, seconds: a server that is still cold after half
/// an hour is slow for another reason.
const WARM_UP: f64 = 0.15;
const LONGEST_S: f64 = 1_800.0;
/// A warm-up of a run that is shorter than half an hour: so long, but not longer than a part of it, seconds.
const MINUTES_S: f64 = 300.0;
const HALF: f64 = 0.5;
/// How often the interval of the difference is wrong where speeds do not drift.
const ALPHA: f64 = 0.05;

/// Whether a difference in speed (a log ratio) lies on one side of none, and beyond the least that one run a side can show.
pub fn is_seen_in_one_run(speed: &Effect) -> bool {
    speed.low > ONE_RUN || speed.high < -ONE_RUN
}

/// The place of the level at which the speed settled: rises before it are a warm-up, or users who arrive. What rises later changed.
pub fn settled(levels: &[Level]) -> Option<usize> {
    let from_s = levels.first()?.from_s;
    let until_s = from_s + warm_up_s(levels.last()?.to_s - from_s);
    let is_warm_up = |pair: &&[Level]| pair[1].rate > pair[0].rate && pair[1].from_s <= until_s;
    Some(levels.windows(2).take_while(is_warm_up).count())
}

/// How long a warm-up may take in a run of that length, seconds. Compilers and caches need minutes, however long the run is.
fn warm_up_s(length_s: f64) -> f64 {
    let of_short = MINUTES_S.min(HALF * length_s);
    (WARM_UP * length_s).clamp(of_short, LONGEST_S)
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

/// What ended in a time: requests, and parts of those of an interval that is partly in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ended {
    pub good: f64,
    pub failed: f64,
    /// What the good ones took, together; 0 where the file does not say.
    good_us: f64,
    /// What all took, together.
    took_us: f64,
}

impl Ended {
    /// What ended in a time, seconds since the run began; of an interval that is partly in it, as large a part.
    pub fn between(run: &ImportedRun, from_s: f64, to_s: f64) -> Self {
        let part = |index: usize| {
            let (begin, end) = (index as f64 * run.interval_s, (index + 1) as f64 * run.interval_s);
            ((end.min(to_s) - begin.max(from_s)) / run.interval_s).clamp(0.0, 1.0)
        };
        let first = (from_s / run.interval_s).floor().max(0.0) as usize;
        let last = (to_s / run.interval_s).ceil().max(0.0) as usize;
        let intervals = run.intervals.iter().enumerate().take(last).skip(first);
        intervals.fold(Self::default(), |sum, (index, interval)| sum.with(part(index), interval))
    }

    fn with(self, part: f64, interval: &Interval) -> Self {
        Self {
            good: self.good + part * interval.good as f64,
            failed: self.failed + part * interval.failed as f64,
            good_us: self.good_us + part * interval.good_us as f64,
            took_us: self.took_us + part * (interval.good_us.saturating_add(interval.failed_us)) as f64,
        }
    }

    /// What a good one took in the mean, milliseconds.
    fn mean_ms(&self) -> Option<f64> {
        (self.good_us > 0.0 && self.good > 0.0).then(|| self.good_us / self.good / 1e3)
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
    fn only_an_early_rise_is_a_warm_up() {
        let settled_of = |of: &[(f64, f64)], to_s: f64| {
            let until = |index: usize| of.get(index + 1).map_or(to_s, |next| next.0);
            let level = |(index, (from_s, rate)): (usize, &(f64, f64))| Level {
                from_s: *from_s,
                to_s: until(index),
                rate: *rate,
            };
            settled(&of.iter().enumerate().map(level).collect::<Vec<_>>())
        };
        assert_eq!(settled_of(&[], 0.0), None);
        assert_eq!(settled_of(&[(1.0, 5.0), (420.0, 7.5)], 14_456.0), Some(1));
        assert_eq!(settled_of(&[(1.0, 5.0), (420.0, 6.0), (1_700.0, 7.5)], 14_456.0), Some(2));
        assert_eq!(settled_of(&[(1.0, 5.0), (1_900.0, 7.5)], 14_456.0), Some(0), "after half an hour");
        assert_eq!(settled_of(&[(1.0, 5.0), (10_800.0, 7.5)], 14_456.0), Some(0), "a neighbour left");
        assert_eq!(settled_of(&[(1.0, 5.0), (290.0, 7.5)], 900.0), Some(1));
        assert_eq!(settled_of(&[(1.0, 5.0), (400.0, 7.5)], 900.0), Some(0));
        assert_eq!(settled_of(&[(1.0, 5.0), (70.0, 7.5)], 120.0), Some(0), "over half of the run");
        assert_eq!(settled_of(&[(900.0, 5.0), (1_100.0, 7.5)], 1_800.0), Some(1), "users arrived before");
    }

    #[test]
    fn runs_that_were_never_settled_at_the_same_time_have_none() {
        let early = run(1_000, |second| if second < 100 { 100 } else { 20 });
        let late = run(1_000, |second| if second < 300 { 60 } else { 100 });
        assert_eq!(matched([&early, &late]), None);
        assert_eq!(matched([&early, &run(10, |_| 100)]), None);
    }

    #[test]
    fn a_part_of_an_interval_has_a_part_of_its_requests() {
        let run = imported(10, 100);
        for (from_s, to_s, expected) in [(0.0, 10.0, 1_000.0), (2.5, 3.0, 50.0), (-5.0, 1.5, 150.0), (9.0, 99.0, 100.0)]
        {
            assert!((Ended::between(&run, from_s, to_s).good - expected).abs() < 1e-9, "{from_s} to {to_s}");
        }
        assert!(Ended::between(&run, 20.0, 30.0).good < 1e-9);
    }
}
