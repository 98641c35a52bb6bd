//! The levels of speed that an imported run had, one after another.

use std::ops::Range;

use model::imported::{ImportedRun, Interval, SpeedLevel};

use crate::changepoint;
use crate::robust;

/// Requests that the usual span of a series has at least: fewer make it noise.
const LEAST_REQUESTS: f64 = 50.0;
/// Spans of levels that last, seconds, and of a short run how many there are at least.
const LASTING_SPAN_S: f64 = 30.0;
const LASTING_SPANS: f64 = 40.0;
/// What stands for no request in a span.
const NONE: f64 = 0.5;
/// Part of the most users from which on all count as being at work.
const ALL_USERS: f64 = 0.95;

/// The levels of what ended well in a second while all users were at work; none where the file has no times, or too few requests for a
/// series. One level is a run whose speed did not change. Failed requests are left out: to fail is often faster than to answer.
pub fn levels(run: &ImportedRun) -> Vec<SpeedLevel> {
    in_spans_from(run, |_| 0.0)
}

/// The levels that last: those of spans of half a minute, in a run under twenty minutes of a fortieth of it. Speed that wanders for some
/// seconds, and dips, make none: a level has ten spans.
pub fn lasting(run: &ImportedRun) -> Vec<SpeedLevel> {
    in_spans_from(run, |length_s| LASTING_SPAN_S.min(length_s / LASTING_SPANS))
}

/// The levels in the shortest spans that have enough requests and are no shorter than what a length of time asks for, seconds.
fn in_spans_from(run: &ImportedRun, least_s: impl Fn(f64) -> f64) -> Vec<SpeedLevel> {
    let busy = busy(run);
    let least = (least_s(busy.len() as f64 * run.interval_s) / run.interval_s).ceil().max(1.0);
    let Some(Series { length, good }) = Series::of(&run.intervals[busy.clone()], least as usize) else {
        return Vec::new();
    };
    let step_s = length as f64 * run.interval_s;
    // A span without an answer has a logarithm, too: that of half an answer.
    let counts: Vec<f64> = good.iter().map(|good| good.max(NONE)).collect();
    let cuts: Vec<usize> = changepoint::shifts_above(&counts, NONE).into_iter().map(|shift| shift.index).collect();
    let at = |span: usize| busy.start as f64 * run.interval_s + span as f64 * step_s;
    // A server that warms up, or a fall that takes some minutes, is in the first half.
    let settled = |from: usize, to: usize| &good[usize::midpoint(from, to)..to];
    let rate = |settled: &[f64]| settled.iter().sum::<f64>() / (settled.len() as f64 * step_s);
    let level =
        |(from, to): (usize, usize)| SpeedLevel { from_s: at(from), to_s: at(to), rate: rate(settled(from, to)) };
    let begins = [0].into_iter().chain(cuts.iter().copied());
    begins.zip(cuts.iter().copied().chain([good.len()])).map(level).collect()
}

/// The intervals from the first to the last in which all users were at work; all where the file does not count users. The first and
/// the last of those are not whole.
fn busy(run: &ImportedRun) -> Range<usize> {
    let most = run.intervals.iter().map(|interval| interval.users).max().unwrap_or(0);
    let is_busy = |interval: &Interval| f64::from(interval.users) >= ALL_USERS * f64::from(most);
    let first = run.intervals.iter().position(is_busy).unwrap_or(0) + 1;
    let last = run.intervals.iter().rposition(is_busy).unwrap_or(0);
    first.min(last)..last
}

/// What ended well in spans of as many intervals each.
struct Series {
    /// Intervals of a span.
    length: usize,
    /// Good requests that ended in each span.
    good: Vec<f64>,
}

impl Series {
    /// In the shortest spans, of so many intervals at least, that have enough requests where they have any; `None` where there are too few
    /// of these. A time in which all fail says nothing of how many are usual.
    fn of(intervals: &[Interval], least: usize) -> Option<Self> {
        let in_spans_of = |length: usize| {
            let whole = |part: &[Interval]| part.iter().map(|interval| interval.good as f64).sum::<f64>();
            Self { length, good: intervals.chunks_exact(length).map(whole).collect() }
        };
        let longest = intervals.len() / (2 * changepoint::SHORTEST);
        let has_enough = |series: &Self| {
            let some: Vec<f64> = series.good.iter().copied().filter(|good| *good > 0.0).collect();
            robust::median(&some).is_some_and(|usual| usual >= LEAST_REQUESTS)
        };
        (least..=longest).map(in_spans_of).find(has_enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;

    fn found(run: &ImportedRun) -> Vec<(u64, u64, u64)> {
        levels(run).iter().map(|level| (level.from_s as u64, level.to_s as u64, level.rate.round() as u64)).collect()
    }

    #[test]
    fn a_fall_ends_a_level() {
        let mut run = imported(1_000, 60);
        assert_eq!(found(&run), [(1, 999, 60)]);
        run.intervals[400..].iter_mut().for_each(|interval| interval.good = 55);
        assert_eq!(found(&run), [(1, 400, 60), (400, 999, 55)]);
    }

    #[test]
    fn failing_fast_is_no_speed() {
        let mut run = imported(1_000, 60);
        run.intervals[400..].iter_mut().for_each(|interval| (interval.good, interval.failed) = (0, 85));
        assert_eq!(found(&run), [(1, 400, 60), (400, 999, 0)]);
        run.intervals.iter_mut().for_each(|interval| (interval.good, interval.failed) = (60, 0));
        run.intervals.iter_mut().step_by(10).for_each(|interval| interval.failed = 5);
        assert_eq!(found(&run), [(1, 999, 60)], "some that fail all the time change nothing");
    }

    #[test]
    fn what_is_over_soon_is_no_level_that_lasts() {
        let mut run = imported(4_000, 60);
        run.intervals[2_000..2_100].iter_mut().for_each(|interval| interval.good = 20);
        assert_eq!((levels(&run).len(), lasting(&run).len()), (3, 1));
        run.intervals[2_000..].iter_mut().for_each(|interval| interval.good = 20);
        let lasting = lasting(&run);
        assert!(lasting.len() == 2 && (lasting[1].from_s - 2_000.0).abs() <= 30.0, "{lasting:?}");
    }

    #[test]
    fn at_a_low_rate_spans_are_longer() {
        let mut run = imported(4_000, 5);
        run.intervals[2_000..].iter_mut().for_each(|interval| interval.good = 1);
        let found = found(&run);
        assert!(
            found.len() == 2 && found[1].0.abs_diff(2_000) <= 20 && (found[0].2, found[1].2) == (5, 1),
            "{found:?}"
        );
    }

    #[test]
    fn only_the_time_counts_in_which_all_users_work() {
        let mut run = imported(1_000, 60);
        for (second, interval) in run.intervals[..200].iter_mut().enumerate() {
            (interval.users, interval.good) = (second as u32 / 25, 6 * (second as u64 / 25));
        }
        assert_eq!(found(&run), [(201, 999, 60)]);
    }

    #[test]
    fn a_summary_and_a_short_run_have_none() {
        let mut run = imported(10, 60);
        assert_eq!(levels(&run), []);
        run.intervals.clear();
        assert_eq!(levels(&run), []);
    }
}
