//! For minutes almost everything failed.

use model::imported::{ImportedRun, Interval};
use model::{Finding, FindingId, Severity, Subject, imported::Fidelity, text};

use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("error-burst"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/error-burst.md"),
    checks: &[Check::Imported { least: Fidelity::Intervals, look: rule }],
};

/// Failed share of each minute of a burst, at least.
const LEAST: f64 = 0.2;
/// Minutes of a burst, at least.
const SHORTEST: usize = 5;
/// How many times the failed share outside the burst its own is, at least.
const TIMES: f64 = 5.0;

/// A warning for the longest burst: five minutes or more, in each of which 20 % failed, five times the share outside it.
fn rule(imported: &Imported) -> Option<Finding> {
    let run = imported.run;
    let minutes = minutes(run);
    let (from, to) = longest(&minutes)?;
    let all = total(&minutes);
    let (inside, outside) = (total(&minutes[from..to]), total(&minutes[..from]).plus(total(&minutes[to..])));
    if to - from < SHORTEST || inside.share() < TIMES * outside.share() {
        return None;
    }
    let rate = |part: Counts, minutes: usize| part.ended as f64 / (60.0 * minutes.max(1) as f64);
    let found = RULE
        .found(
            Severity::Warning,
            Subject::Load,
            "For minutes requests failed that do not fail else. Failing is often faster than answering, so the rate may even rise.",
            "Compare only what lies outside this time, and find out what broke.",
        )
        .with("when", format!("from minute {from} to minute {to}"))
        .with("failed in it", format!("{} of {}", text::count(inside.failed), text::count(inside.ended)))
        .with("failed share in it and outside", [inside, outside].map(|part| text::percent(part.share())));
    let rates = [rate(inside, to - from), rate(outside, minutes.len() - (to - from))];
    let found = found.with("requests a second in it and outside", rates.map(|rate| text::significant(rate, 3)));
    (all.failed > 0).then_some(found)
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    ended: u64,
    failed: u64,
}

impl Counts {
    fn share(self) -> f64 {
        if self.ended == 0 { 0.0 } else { self.failed as f64 / self.ended as f64 }
    }

    fn plus(self, other: Self) -> Self {
        Self { ended: self.ended + other.ended, failed: self.failed + other.failed }
    }
}

/// What ended in each minute; in longer intervals where the file has no shorter ones.
fn minutes(run: &ImportedRun) -> Vec<Counts> {
    let of = |interval: &Interval| Counts { ended: interval.ended().into(), failed: interval.failed.into() };
    let length = ((60.0 / run.interval_s) as usize).max(1);
    run.intervals.chunks(length).map(|part| part.iter().map(of).fold(Counts::default(), Counts::plus)).collect()
}

fn total(minutes: &[Counts]) -> Counts {
    minutes.iter().copied().fold(Counts::default(), Counts::plus)
}

/// The longest run of minutes in each of which the least share failed.
fn longest(minutes: &[Counts]) -> Option<(usize, usize)> {
    let ends = |from: usize| from + minutes[from..].iter().take_while(|minute| minute.share() >= LEAST).count();
    (0..minutes.len()).map(|from| (from, ends(from))).max_by_key(|(from, to)| (to - from, std::cmp::Reverse(*from)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;

    fn found(failing_s: std::ops::Range<usize>) -> Option<Finding> {
        let mut run = imported(3_600, 10);
        for interval in &mut run.intervals[failing_s] {
            (interval.good, interval.failed) = (1, 9);
        }
        rule(&Imported { run: &run, levels: &[] })
    }

    #[test]
    fn five_minutes_are_a_burst() {
        assert_eq!(found(0..0), None);
        assert_eq!(found(600..840), None, "four minutes");
        let burst = found(600..900).unwrap();
        assert_eq!(burst.facts[0].value.to_string(), "from minute 10 to minute 15");
        assert_eq!(burst.facts[1].value.to_string(), "2,700 of 3,000");
    }

    #[test]
    fn what_fails_all_the_time_is_no_burst() {
        assert_eq!(found(0..1_800).map(|found| found.facts.len()), Some(4));
        let mut run = imported(3_600, 10);
        for (second, interval) in run.intervals.iter_mut().enumerate() {
            interval.failed = if second < 1_800 { 4 } else { 2 };
        }
        assert_eq!(rule(&Imported { run: &run, levels: &[] }), None, "28 % against 17 %");
    }
}
