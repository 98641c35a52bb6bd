//! A difference is smaller than what so few runs can show.

use model::imported::{Fidelity, ONE_RUN};
use model::{Finding, FindingId, Severity, Subject, text};

use super::evidence::Evidence;
use super::pair::Pair;
use super::rule::{Check, Rule};
use crate::matched::is_seen_in_one_run;

pub const RULE: Rule = Rule {
    id: FindingId::new("below-noise"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/below-noise.md"),
    checks: &[Check::Pair { needs: Evidence::Kept(Fidelity::Intervals), look: rule }],
};

/// A warning where the difference over the same time may be none, or is smaller than one run a side can show.
fn rule(pair: &Pair) -> Option<Finding> {
    let effect = pair.matched?.speed()?;
    (!is_seen_in_one_run(&effect)).then(|| {
        RULE.found(
            Severity::Warning,
            Subject::Load,
            "Two runs of one and the same server differ as much as these two do. No difference was shown, nor that there is none.",
            "Launch each side several times, in changing order, before you conclude anything.",
        )
        .with("difference in speed over the same time", text::effect(&effect))
        .with("seen by one run a side", format!("{} and more", text::percent(ONE_RUN.exp_m1())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;
    use crate::{audit_imported, audit_pair};

    fn is_found(rates: [u64; 2]) -> bool {
        let [first, second] = rates.map(|rate| audit_imported(imported(1_000, rate), Vec::new()));
        audit_pair([&first, &second]).findings.iter().any(|finding| finding.id == RULE.id)
    }

    #[test]
    fn only_a_large_difference_is_above_it() {
        assert!(is_found([100, 100]) && is_found([100, 101]) && is_found([101, 100]));
        assert!(!is_found([100, 104]) && !is_found([104, 100]));
    }
}
