//! Totals of two runs say something else than the same time of both.

use model::imported::Fidelity;
use model::{Finding, FindingId, Severity, Subject, text};

use super::evidence::Evidence;
use super::pair::Pair;
use super::rule::{Check, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("compare-matched-window"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/compare-matched-window.md"),
    checks: &[Check::Pair { needs: Evidence::Kept(Fidelity::Intervals), look: rule }],
};

/// Percentage points by which totals and the same time may differ.
const POINTS: f64 = 0.1;

/// A warning where requests in all differ by over ten percentage points more or less than in the time in which both ran at one speed.
fn rule(pair: &Pair) -> Option<Finding> {
    let (totals, matched) = (pair.totals?, pair.matched?);
    let whole = [totals.of_requests()?, totals.of_rates()?];
    let is_other = |log_ratio: &f64| (log_ratio.exp_m1() - matched.effect.estimate.exp_m1()).abs() > POINTS;
    whole.iter().any(is_other).then(|| {
        RULE.found(
            Severity::Warning,
            Subject::Load,
            "The totals depend on when a speed changed, or on how long each ran. The same time of both says something else.",
            "Compare over the same time, before the speed of either changes.",
        )
        .with("good requests, a | b", totals.good.map(text::count))
        .with("b against a, in all", text::change(whole[0]))
        .with("a second, over the whole of each", text::change(whole[1]))
        .with(
            format!("a second, from {} to {}", text::seconds(matched.from_s), text::seconds(matched.to_s)),
            text::effect(&matched.effect),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{imported, values};
    use crate::{audit_imported, audit_pair};

    fn found(falls: [usize; 2]) -> Option<Finding> {
        let [first, second] = falls.map(|fall| {
            let mut run = imported(2_000, 100);
            run.intervals[fall..].iter_mut().for_each(|interval| interval.good = 20);
            run.all.good = run.intervals.iter().map(|interval| interval.good).sum();
            audit_imported(run, Vec::new())
        });
        audit_pair([&first, &second]).findings.into_iter().find(|finding| finding.id == RULE.id)
    }

    #[test]
    fn a_later_fall_is_no_faster_server() {
        let found = found([500, 1_500]).unwrap();
        let values = values(&found);
        assert_eq!(values[..2], ["80,000 | 160,000", "+100 %"], "{values:?}");
        assert!(values[3].starts_with("+0.3 % ["), "{values:?}");
    }

    #[test]
    fn runs_that_fall_at_once_agree() {
        assert_eq!(found([500, 500]), None);
        assert_eq!(found([2_000, 2_000]), None);
    }
}
