//! No request ended for a while.

use model::interval::BIN_S;
use model::{FindingId, LoadRecord, Severity};

use super::Found;
use crate::robust;

/// Answers that would have come during a gap, from which on it is no chance.
const MISSED: f64 = 30.0;
/// A longest service time this many times the 99th percentile, and this long, is an outage of its own.
const BEYOND_P99: u64 = 10;
const OUTAGE_US: u64 = 100_000;

/// A time in which no answer came.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// When it began, seconds since the load began, to a tenth.
    pub at_s: f64,
    /// Its length, seconds, to a tenth.
    pub length_s: f64,
    /// Answers that would have come in it at the usual rate.
    pub missed: f64,
}

/// A warning when at the usual rate 30 answers or more would have come in the longest gap between two, or when the longest
/// service time is ten times the 99th percentile and a tenth of a second or more.
pub fn rule(load: &LoadRecord) -> Option<Found> {
    let service = load.service();
    let gap = longest_gap(load).filter(|gap| gap.missed >= MISSED);
    let (max, p99) = (service.max(), service.supported_quantile(0.99));
    let is_outage = max >= OUTAGE_US && p99.is_some_and(|p99| max >= BEYOND_P99 * p99);
    if gap.is_none() && !is_outage {
        return None;
    }
    let found = Found::new(
        FindingId::Stall,
        Severity::Warning,
        "the load",
        "The server, or the machine, stood still for a moment: the slowest answers tell of that moment, not of the usual speed.",
        "Look for a collection, a time-out, a lock or a disk at that time; load longer to see whether it comes back.",
    )
    .with("longest service time", format!("{:.0} ms", max as f64 / 1e3));
    let found = match p99 {
        Some(p99) => found.with("99th percentile", format!("{:.1} ms", p99 as f64 / 1e3)),
        None => found,
    };
    Some(match gap {
        Some(gap) => found.with(
            "longest time without an answer",
            format!("{:.1} s at {:.1} s, in which {:.0} usually come", gap.length_s, gap.at_s, gap.missed),
        ),
        None => found,
    })
}

/// The longest time without a good answer between two of them; `None` when there is none of a tenth of a second, or no usual
/// rate because the load itself is now more, now less.
pub fn longest_gap(load: &LoadRecord) -> Option<Gap> {
    if !load.arrivals.is_constant() {
        return None;
    }
    let bins: Vec<u32> = load.intervals.iter().flat_map(|interval| interval.bins.iter().copied()).collect();
    let full: Vec<usize> = (0..bins.len()).filter(|bin| bins[*bin] > 0).collect();
    let usual = robust::median(&full.iter().map(|bin| f64::from(bins[*bin])).collect::<Vec<_>>())?;
    let empty = |pair: &[usize]| pair[1] - pair[0] - 1;
    let pair = full.windows(2).max_by_key(|pair| empty(pair)).filter(|pair| empty(pair) > 0)?;
    let length = empty(pair) as f64;
    Some(Gap { at_s: (pair[0] + 1) as f64 * BIN_S, length_s: length * BIN_S, missed: length * usual })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{Arrivals, Profile, Spacing};

    use super::*;
    use crate::audit::testing::load;

    #[test]
    fn a_gap_is_found_where_it_is() {
        let mut record = load(40, 1_000);
        assert_eq!((longest_gap(&record), rule(&record)), (None, None));
        record.intervals[7].bins[8..].fill(0);
        record.intervals[8].bins[..3].fill(0);
        let gap = longest_gap(&record).unwrap();
        assert!((gap.at_s - 7.8).abs() < 1e-9 && (gap.length_s - 0.5).abs() < 1e-9, "{gap:?}");
        assert!((gap.missed - 500.0).abs() < 1e-9, "{gap:?}");
        assert!(rule(&record).is_some());
    }

    #[test]
    fn at_a_low_rate_a_gap_is_chance() {
        let mut record = load(40, 20);
        record.intervals[7].bins[..5].fill(0);
        assert_eq!(rule(&record), None);
    }

    #[test]
    fn where_the_load_itself_pauses_a_gap_is_none() {
        let mut record = load(40, 1_000);
        record.intervals[7].bins.fill(0);
        record.arrivals = Arrivals::Open(Profile::through([(1_000.0, Duration::from_secs(40))], Spacing::Even));
        assert_eq!(rule(&record), None);
    }

    #[test]
    fn the_time_before_the_first_answer_is_no_gap() {
        let mut record = load(40, 1_000);
        record.intervals[0].bins.fill(0);
        record.intervals[39].bins.fill(0);
        assert_eq!(longest_gap(&record), None);
    }

    #[test]
    fn one_answer_far_beyond_the_others_is_a_stall() {
        let mut record = load(40, 1_000);
        record.intervals[3].service.record(99_000);
        assert_eq!(rule(&record), None);
        record.intervals[3].service.record(150_000);
        assert!(rule(&record).is_some());
    }
}
