//! A server ended connections while it waited for its turn.

use model::{Finding, FindingId, Severity, StudyRecord, Subject, TrialRecord, VariantIndex};

use super::rule::{Check, Rule};
use crate::assess::Assessment;
use crate::blocks::{self, Trials};

pub const RULE: Rule = Rule {
    id: FindingId::new("connections-lost"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/connections-lost.md"),
    checks: &[Check::Run(rule)],
};

/// Part of the measured slices that may begin with connections to be made again.
const FEW: f64 = 0.05;

/// For each variant of which more than [`FEW`] of the measured slices began with lost connections: a note where all variants lose them
/// alike, else a warning, since then only some of them are measured with new connections.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let trials = Trials::of(record);
    let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
    let share = |variant: VariantIndex| {
        let launches = used.iter().filter_map(|block| trials.get(*block, variant));
        let lost: Vec<bool> = launches.flat_map(losses).collect();
        lost.iter().filter(|lost| **lost).count() as f64 / lost.len().max(1) as f64
    };
    let shares: Vec<f64> = (0..record.study.variants.len()).map(share).collect();
    let severity = if shares.iter().all(|share| *share > FEW) { Severity::Note } else { Severity::Warning };
    let losing = shares.iter().enumerate().filter(|(_, share)| **share > FEW);
    losing
        .map(|(variant, share)| {
            RULE.found(
                severity,
                Subject::Variant { variant },
                "Side by side users keep their connections while another variant is loaded. This server ends them sooner, so that its slices \
                 begin with making new ones, which users of a busy server do not.",
                "Raise the server's keep-alive time-out above the length of a round, for all variants alike, or write `[design] launches = \
                 \"one-after-another\"`.",
            )
            .with("measured slices that began with new connections", format!("{:.0} %", share * 100.0))
        })
        .collect()
}

/// Whether each measured slice of a launch, but the first of each load, began with connections that were lost.
fn losses(trial: &TrialRecord) -> impl Iterator<Item = bool> {
    trial.cells.iter().flat_map(|cell| cell.slices.iter().skip(1)).map(|slice| slice.lost_connections > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    fn losing(connections: [u32; 2]) -> StudyRecord {
        fixture::side_by_side(5, |variant, slice| slice.lost_connections = connections[variant])
    }

    #[test]
    fn who_loses_connections_is_named() {
        assert_eq!(gravest(rule, &fixture::record(5, 0.0)), None);
        assert_eq!(gravest(rule, &losing([0, 0])), None);
        assert_eq!(gravest(rule, &losing([0, 20])), Some(Severity::Warning));
        assert_eq!(gravest(rule, &losing([20, 20])), Some(Severity::Note));
    }
}
