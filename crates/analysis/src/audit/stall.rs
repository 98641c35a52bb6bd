//! No request ended for a while.

use model::imported::{Fidelity, ImportedRun};
use model::sample::BIN_S;
use model::{Fact, Finding, FindingId, LoadRecord, Sample, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};
use crate::robust;

pub const RULE: Rule = Rule {
    id: FindingId::new("stall"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/stall.md"),
    checks: &[Check::Load(rule), Check::Imported { needs: Evidence::Kept(Fidelity::Summary), look: of_import }],
};

/// Answers that would have come during a gap, from which on it is no chance.
const MISSED: f64 = 30.0;
/// A longest service time this many times the 99th percentile, and this long, is an outage of its own.
const BEYOND_P99: u64 = 10;
const OUTAGE_US: u64 = 100_000;

/// A 98th percentile this many times the 95th is a pause that met two requests in a hundred.
const P98_BEYOND_P95: f64 = 4.0;

/// Of a length in bins, what a sum of seconds may be off by.
const ROUNDING: f64 = 1e-6;

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

/// A warning when at the usual rate 30 answers or more would have come in the longest gap, or when the longest
/// service time is ten times the 99th percentile and a tenth of a second or more.
fn rule(load: &LoadRecord) -> Option<Finding> {
    let service = load.service();
    let gap = longest_gap(load).filter(|gap| gap.missed >= MISSED);
    let (max, p99) = (service.max(), service.supported_quantile(0.99));
    let is_outage = max >= OUTAGE_US && p99.is_some_and(|p99| max >= BEYOND_P99 * p99);
    if gap.is_none() && !is_outage {
        return None;
    }
    let found = RULE.found(
        Severity::Warning,
        Subject::Load,
        "The server, or the machine, stood still for a moment: the slowest answers show that moment, not the usual speed.",
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

/// A warning for an imported run in two cases: at the rate of that moment 30 requests or more would have ended in a time in which none did
/// and users were at work, or its slowest answers are far from all others.
fn of_import(imported: &Imported) -> Option<Finding> {
    let gap = longest_gap_of(imported).filter(|gap| gap.missed >= MISSED);
    let of_gap = gap.map(|gap| {
        let written = format!(
            "{} from {} on, in which {} usually end",
            text::seconds(gap.length_s),
            text::seconds(gap.at_s),
            text::count(gap.missed.round() as u64)
        );
        Fact::new("longest time in which no request ended", written)
    });
    let facts: Vec<Fact> = of_gap.into_iter().chain(far_tail(imported.run)).collect();
    let found = RULE.found(
        Severity::Warning,
        Subject::Load,
        "The server, or the machine, stood still for a moment: the slowest answers show that moment, not the usual speed.",
        "Look for a collection, a time-out, a lock or a disk at that time; load longer to see whether it comes back.",
    );
    (!facts.is_empty()).then_some(Finding { facts, ..found })
}

/// The time in which nothing ended while users were at work and most usually ends; `None` where there is none of an interval.
pub fn longest_gap_of(imported: &Imported) -> Option<Gap> {
    let (run, levels) = (imported.run, imported.levels);
    let begin_s = |index: usize| index as f64 * run.interval_s;
    let at_work = levels.first()?.from_s..=levels.last()?.to_s;
    let rate_at = |index: usize| {
        let middle_s = begin_s(index) + run.interval_s / 2.0;
        levels.iter().find(|level| (level.from_s..level.to_s).contains(&middle_s)).map(|level| level.rate)
    };
    let full: Vec<usize> = (0..run.intervals.len()).filter(|index| run.intervals[*index].ended() > 0).collect();
    let gap = |pair: &[usize]| {
        let (at_s, to_s) = (begin_s(pair[0] + 1), begin_s(pair[1]));
        let is_at_work = at_work.contains(&at_s) && at_work.contains(&to_s);
        // The lower of the rates on both sides: where a level ends, its speed is not the usual one any more.
        let usual = rate_at(pair[0])?.min(rate_at(pair[1])?);
        let length_s = to_s - at_s;
        (is_at_work && length_s > 0.0).then_some(Gap { at_s, length_s, missed: length_s * usual })
    };
    full.windows(2).filter_map(gap).max_by(|one, other| one.missed.total_cmp(&other.missed))
}

/// The first two quantiles, or the last quantile and the longest time, that are so far apart that what lies between them is something else.
/// As many slow requests as there are users are those that one pause met.
fn far_tail(run: &ImportedRun) -> Option<Fact> {
    let ended = run.all.ended();
    let [p95, p98, p99] = [0.95, 0.98, 0.99].map(|q| run.quantile_us(q).filter(|us| *us > 0.0));
    let longest = run.quantile_us(1.0).or_else(|| (run.all.latency.count() > 0).then(|| run.all.latency.max() as f64));
    let far = |names: [&str; 2], low: Option<f64>, high: Option<f64>, times: f64| {
        let (low, high) = (low?, high?);
        (high >= times * low && high >= OUTAGE_US as f64)
            .then(|| format!("{} {}, {} {}", names[0], text::micros(low), names[1], text::micros(high)))
    };
    let tail = far(["p95", "p98"], p95, p98, P98_BEYOND_P95)
        .or_else(|| far(["p99", "longest"], p99, longest, BEYOND_P99 as f64))?;
    let users = run.users.map(u64::from).filter(|users| ended > 0 && (2 * ended).div_ceil(100) == *users);
    let all = match users {
        Some(users) => format!("{tail}; two in a hundred are {users}, as many as there are users"),
        None => tail,
    };
    Some(Fact::new("times that requests took", all))
}

/// The longest time without a good answer, in each step of users by itself: between two answers, or from the last one on
/// where requests were in flight until the step or the load was over. `None` when there is none of a tenth of a second, or
/// no usual rate because an open loop asks now more, now less.
pub fn longest_gap(load: &LoadRecord) -> Option<Gap> {
    if load.arrivals.is_open() && !load.arrivals.is_constant() {
        return None;
    }
    let parts = load.parts();
    let gap =
        |(index, (_, part)): (usize, &(String, Sample))| gap_of(part, index + 1 < parts.len() || load.abandoned > 0);
    parts.iter().enumerate().filter_map(gap).max_by(|one, other| one.missed.total_cmp(&other.missed))
}

/// The longest gap of a part, which is `open` at its end where more answers were to come.
fn gap_of(part: &Sample, is_open: bool) -> Option<Gap> {
    let mut full: Vec<usize> = (0..part.bins.len()).filter(|bin| part.bins[*bin] > 0).collect();
    let usual = robust::median(&full.iter().map(|bin| f64::from(part.bins[*bin])).collect::<Vec<_>>())?;
    if is_open {
        // A last bin that is not a whole one means nothing by being empty.
        full.push((part.length_s / BIN_S + ROUNDING).floor() as usize);
    }
    let empty = |pair: &[usize]| pair[1].saturating_sub(pair[0] + 1);
    let pair = full.windows(2).max_by_key(|pair| empty(pair)).filter(|pair| empty(pair) > 0)?;
    let length = empty(pair) as f64;
    Some(Gap { at_s: part.start_s + (pair[0] + 1) as f64 * BIN_S, length_s: length * BIN_S, missed: length * usual })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{Arrivals, Profile, Spacing, Step};

    use super::*;
    use crate::audit::testing::{imported, load, values};
    use crate::levels::levels;

    #[test]
    fn a_gap_is_found_where_it_is() {
        let mut record = load(40, 1_000);
        assert_eq!((longest_gap(&record), rule(&record)), (None, None));
        record.samples[7].bins[8..].fill(0);
        record.samples[8].bins[..3].fill(0);
        let gap = longest_gap(&record).unwrap();
        assert!((gap.at_s - 7.8).abs() < 1e-9 && (gap.length_s - 0.5).abs() < 1e-9, "{gap:?}");
        assert!((gap.missed - 500.0).abs() < 1e-9, "{gap:?}");
        assert!(rule(&record).is_some());
    }

    #[test]
    fn at_a_low_rate_a_gap_is_chance() {
        let mut record = load(40, 20);
        record.samples[7].bins[..5].fill(0);
        assert_eq!(rule(&record), None);
    }

    #[test]
    fn where_the_load_itself_pauses_a_gap_is_none() {
        let mut record = load(40, 1_000);
        record.samples[7].bins.fill(0);
        record.arrivals = Arrivals::Open(Profile::through([(1_000.0, Duration::from_secs(40))], Spacing::Even));
        assert_eq!(rule(&record), None);
    }

    #[test]
    fn the_time_before_the_first_answer_is_no_gap() {
        let mut record = load(40, 1_000);
        record.samples[0].bins.fill(0);
        record.samples[39].bins.fill(0);
        assert_eq!(longest_gap(&record), None);
    }

    #[test]
    fn a_gap_that_lasts_to_the_end_is_one_where_requests_were_in_flight() {
        let mut record = load(40, 1_000);
        record.samples[38].bins[7..].fill(0);
        record.samples[39].bins.fill(0);
        assert_eq!(longest_gap(&record), None);
        record.abandoned = 10;
        let gap = longest_gap(&record).unwrap();
        assert!((gap.at_s - 38.7).abs() < 1e-9 && (gap.length_s - 1.3).abs() < 1e-9, "{gap:?}");
        assert!(rule(&record).is_some());
    }

    #[test]
    fn half_a_bin_at_the_end_is_no_gap() {
        let mut record = load(40, 1_000);
        record.abandoned = 10;
        assert_eq!(longest_gap(&record), None);
        record.samples[39].bins.truncate(5);
        record.samples[39].bins[4] = 0;
        record.samples[39].length_s = 0.45;
        assert_eq!(longest_gap(&record), None);
        record.samples[39].length_s = 0.5;
        assert!(longest_gap(&record).is_some());
    }

    #[test]
    fn each_step_of_users_has_a_usual_rate_of_its_own() {
        let mut record = load(40, 1_000);
        let step = |users, seconds| Step { users, length: Duration::from_secs(seconds) };
        record.arrivals = Arrivals::Closed { think: None, steps: vec![step(1, 30), step(10, 10)] };
        record.samples[..30].iter_mut().for_each(|sample| sample.bins.fill(10));
        record.samples[5].bins[..2].fill(0);
        assert_eq!(rule(&record), None);
        record.samples[35].bins[..2].fill(0);
        let gap = longest_gap(&record).unwrap();
        assert!((gap.at_s - 35.0).abs() < 1e-9 && (gap.missed - 200.0).abs() < 1e-9, "{gap:?}");
    }

    #[test]
    fn one_answer_far_beyond_the_others_is_a_stall() {
        let mut record = load(40, 1_000);
        record.samples[3].service.record(99_000);
        assert_eq!(rule(&record), None);
        record.samples[3].service.record(150_000);
        assert!(rule(&record).is_some());
    }

    fn facts_of(run: &ImportedRun) -> Vec<String> {
        let levels = levels(run);
        of_import(&Imported { run, levels: &levels, hosts: &[] }).iter().flat_map(values).collect()
    }

    #[test]
    fn an_imported_run_may_have_stood_still() {
        let mut run = imported(100, 20);
        assert_eq!(facts_of(&run), [""; 0]);
        run.intervals[40..43].iter_mut().for_each(|interval| interval.good = 0);
        assert_eq!(facts_of(&run), ["3.00 s from 40.0 s on, in which 60 usually end"]);
        let mut run = imported(1_000, 100);
        run.intervals[400..415].iter_mut().for_each(|interval| interval.good = 0);
        assert_eq!(
            facts_of(&run),
            ["15.0 s from 6 min 40 s on, in which 1,500 usually end"],
            "a stall that is long enough for a level"
        );
        let mut slow = imported(1_000, 0);
        slow.intervals.iter_mut().step_by(10).for_each(|interval| interval.good = 1);
        slow.intervals[500].good = 0;
        assert_eq!(facts_of(&slow), [""; 0], "at a low rate a gap is nothing");
    }

    #[test]
    fn a_gap_is_held_against_the_rate_of_its_moment() {
        let mut run = imported(4_000, 100);
        run.intervals[2_000..].iter_mut().for_each(|interval| interval.good = 1);
        run.intervals[3_000..3_002].iter_mut().for_each(|interval| interval.good = 0);
        assert_eq!(facts_of(&run), [""; 0], "two requests are missing");
        run.intervals[1_000..1_002].iter_mut().for_each(|interval| interval.good = 0);
        assert_eq!(facts_of(&run), ["2.00 s from 16 min 40 s on, in which 200 usually end"]);
    }

    #[test]
    fn who_comes_last_is_no_stall() {
        let mut run = imported(1_000, 100);
        for interval in &mut run.intervals[900..999] {
            (interval.good, interval.users) = (0, 1);
        }
        (run.intervals[999].good, run.intervals[999].users) = (1, 1);
        assert_eq!(facts_of(&run), [""; 0]);
        run.intervals[40..43].iter_mut().for_each(|interval| interval.good = 0);
        assert_eq!(facts_of(&run), ["3.00 s from 40.0 s on, in which 300 usually end"]);
    }

    #[test]
    fn a_pause_meets_as_many_as_there_are_users() {
        let mut run = imported(10, 100);
        (run.users, run.intervals) = (Some(20), Vec::new());
        run.stated_quantiles = vec![(0.5, 17.0), (0.95, 30.0), (0.98, 45.0), (0.99, 50.0), (1.0, 60.0)];
        let fact = |run: &ImportedRun| {
            of_import(&Imported { run, levels: &[], hosts: &[] }).map(|found| values(&found).swap_remove(0))
        };
        assert_eq!(fact(&run), None);
        run.stated_quantiles[2..].iter_mut().for_each(|(_, ms)| *ms = 450.0);
        let expected = "p95 30.0 ms, p98 450 ms; two in a hundred are 20, as many as there are users";
        assert_eq!(fact(&run).as_deref(), Some(expected));
    }
}
