//! For minutes many requests failed.

use std::cmp::Reverse;

use model::imported::{ImportedRun, Interval};
use model::{Finding, FindingId, Severity, Subject, imported::Fidelity, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("error-burst"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/error-burst.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Intervals), look: rule }],
};

/// Failed share of each minute of a burst, at least.
const LEAST: f64 = 0.2;
/// Length of a burst, at least, seconds.
const SHORTEST_S: f64 = 300.0;
/// How many times the failed share outside the burst its own is, at least.
const TIMES: f64 = 5.0;

/// A warning for the longest burst: five minutes or more, in each of which 20 % failed, five times the share outside it.
fn rule(imported: &Imported) -> Option<Finding> {
    let (length_s, spans) = spans(imported.run);
    let (from, to) = longest(&spans)?;
    let inside: Interval = spans[from..to].iter().sum();
    let outside: Interval = spans[..from].iter().chain(&spans[to..]).sum();
    let burst_s = (to - from) as f64 * length_s;
    if burst_s < SHORTEST_S || outside.ended() == 0 || inside.failed_share() < TIMES * outside.failed_share() {
        return None;
    }
    let rate = |part: Interval, spans: usize| text::significant(part.ended() as f64 / (length_s * spans as f64), 3);
    let seconds = |span: usize| text::count((span as f64 * length_s) as u64);
    Some(
        RULE.found(
            Severity::Warning,
            Subject::Load,
            "For some minutes far more requests failed than at other times. Failing is often faster than answering, so the rate may even rise.",
            "Compare only what lies outside this time, and find out what broke.",
        )
        .with("when", format!("{} to {} s", seconds(from), seconds(to)))
        .with("failed in it", format!("{} of {}", text::count(inside.failed), text::count(inside.ended())))
        .with("failed share in it and outside", [inside, outside].map(|part| text::percent(part.failed_share())))
        .with("requests a second in it and outside", [rate(inside, to - from), rate(outside, spans.len() - (to - from))]),
    )
}

/// What ended in each minute, or as near to it as whole intervals come, and how long that is, seconds.
fn spans(run: &ImportedRun) -> (f64, Vec<Interval>) {
    let length = ((60.0 / run.interval_s) as usize).max(1);
    let spans = run.intervals.chunks(length).map(|part| part.iter().sum());
    (length as f64 * run.interval_s, spans.collect())
}

/// The longest row of spans in each of which the least share failed.
fn longest(spans: &[Interval]) -> Option<(usize, usize)> {
    let ends = |from: usize| from + spans[from..].iter().take_while(|span| span.failed_share() >= LEAST).count();
    (0..spans.len()).map(|from| (from, ends(from))).max_by_key(|(from, to)| (to - from, Reverse(*from)))
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::audit::testing::imported;

    fn found(failing_s: Range<usize>) -> Option<Finding> {
        let mut run = imported(3_600, 10);
        for interval in &mut run.intervals[failing_s] {
            (interval.good, interval.failed) = (1, 9);
        }
        rule(&Imported { run: &run, levels: &[], hosts: &[] })
    }

    #[test]
    fn five_minutes_are_a_burst() {
        assert_eq!(found(0..0), None);
        assert_eq!(found(600..840), None, "four minutes");
        let burst = found(600..900).unwrap();
        assert_eq!(burst.facts[0].value.to_string(), "600 to 900 s");
        assert_eq!(burst.facts[1].value.to_string(), "2,700 of 3,000");
    }

    #[test]
    fn longer_intervals_are_counted_by_their_length() {
        let mut run = imported(200, 100);
        run.interval_s = 32.0;
        for interval in &mut run.intervals[100..110] {
            interval.failed = 900;
        }
        let burst = rule(&Imported { run: &run, levels: &[], hosts: &[] }).unwrap();
        assert_eq!(burst.facts[0].value.to_string(), "3,200 to 3,520 s");
        run.intervals[101].failed = 0;
        assert_eq!(rule(&Imported { run: &run, levels: &[], hosts: &[] }), None, "256 s are left");
    }

    #[test]
    fn what_fails_all_the_time_is_no_burst() {
        assert_eq!(found(0..3_600), None);
        let mut run = imported(3_600, 10);
        for (second, interval) in run.intervals.iter_mut().enumerate() {
            interval.failed = if second < 1_800 { 4 } else { 2 };
        }
        assert_eq!(rule(&Imported { run: &run, levels: &[], hosts: &[] }), None, "28 % against 17 %");
    }
}
