//! Successes that all took as long as a time-out.

use model::imported::{Fidelity, Requests};
use model::{Finding, FindingId, Severity, Subject, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("timeout-pileup"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/timeout-pileup.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Samples), look: rule }],
};

/// What is shorter is no time-out.
const SHORTEST_US: u64 = 1_000_000;
/// Width of the window, a fraction of its time.
const WIDTH: f64 = 0.01;
/// Share that has to lie in it, of the label's successes that take longer than the shortest.
const LEAST: f64 = 0.3;
/// Fewest that do.
const FEWEST: u64 = 30;

/// A warning where 30 % or more of a label's successes of a second and more took the same time to one per cent, 30 of them or more.
fn rule(imported: &Imported) -> Option<Finding> {
    let labels = imported.run.by_label().into_iter();
    let piles: Vec<_> = labels.filter_map(|(label, requests)| Some((label, pile(requests)?))).collect();
    let found = RULE.found(
        Severity::Warning,
        Subject::Load,
        "Many successes took the same time to a hundredth: a time-out ended them, not the work that was asked for.",
        "Look for a time-out of that length in the server, its plugins and its pools; count what it ended as failed.",
    );
    let listed = |(us, count, all): (u64, u64, u64)| {
        format!("{} of {} after {}", text::count(count), text::count(all), text::micros(us as f64))
    };
    let all = piles.iter().fold(found, |found, (label, pile)| found.with(*label, listed(*pile)));
    (!piles.is_empty()).then_some(all)
}

/// The fullest window of a label: its time, µs, the successes in it and all that take long.
fn pile(requests: &Requests) -> Option<(u64, u64, u64)> {
    let recorded: Vec<(u64, u64)> =
        requests.latency.recorded().into_iter().filter(|(us, _)| *us >= SHORTEST_US).collect();
    let of_window = |(index, (from, _)): (usize, &(u64, u64))| {
        let to = *from as f64 * (1.0 + WIDTH);
        let inside = recorded[index..].iter().take_while(|(us, _)| *us as f64 <= to);
        (*from, inside.map(|(_, count)| count).sum::<u64>())
    };
    let (us, count) = recorded.iter().enumerate().map(of_window).max_by_key(|(_, count)| *count)?;
    let all: u64 = recorded.iter().map(|(_, count)| count).sum();
    (count >= FEWEST && count as f64 >= LEAST * all as f64).then_some((us, count, all))
}

#[cfg(test)]
mod tests {
    use model::Histogram;

    use super::*;
    use crate::audit::testing::imported;

    fn found(times_ms: impl Iterator<Item = u64>) -> Option<String> {
        let mut latency = Histogram::new();
        times_ms.for_each(|ms| latency.record(1_000 * ms));
        let mut run = imported(600, 10);
        run.labels.insert("pay".to_owned(), Requests { good: latency.count(), latency, ..Requests::default() });
        rule(&Imported { run: &run, levels: &[], hosts: &[] }).map(|found| found.facts[0].value.to_string())
    }

    #[test]
    fn a_third_after_thirty_seconds_is_a_time_out() {
        let spread =
            |piled: u64| (0..100 - piled).map(|index| 1_000 + 90 * index).chain((0..piled).map(|index| 30_000 + index));
        assert_eq!(found(spread(29)), None);
        assert!(found(spread(31)).unwrap().starts_with("31 of 100 after 30"), "{:?}", found(spread(31)));
    }

    #[test]
    fn a_few_are_chance() {
        assert_eq!(found((0..20).map(|_| 30_000)), None);
    }

    #[test]
    fn what_is_fast_may_all_take_the_same() {
        assert_eq!(found((0..100).map(|_| 900)), None);
    }
}
