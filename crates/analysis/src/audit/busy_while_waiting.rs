//! A launch used the host while another one was measured.

use model::{Finding, FindingId, Severity, StudyRecord, Subject, TrialRecord, VariantIndex, Waited};

use super::rule::{Check, Rule};
use crate::assess::Assessment;
use crate::blocks::{self, Trials};
use crate::robust;

pub const RULE: Rule = Rule {
    id: FindingId::new("busy-while-waiting"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/busy-while-waiting.md"),
    checks: &[Check::Run(rule)],
};

/// Cores that a waiting launch may use: on two processors it costs the one that is loaded at most this much of a half.
const MAY_USE: f64 = 0.05;
/// Cores by which variants may differ in that before one has slowed the others down enough to turn a verdict.
const MAY_DIFFER: f64 = 0.25;

/// A warning for each variant whose median launch used more than [`MAY_USE`] cores while it waited between its measured slices; invalid where
/// that is [`MAY_DIFFER`] cores more than the stillest variant uses: it slows the others down and is not slowed down by them.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let trials = Trials::of(record);
    let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
    let waited = |variant: VariantIndex| -> Vec<Waited> {
        let launches = used.iter().filter_map(|block| trials.get(*block, variant));
        launches.filter_map(while_measured).collect()
    };
    let of_variants: Vec<Vec<Waited>> = (0..record.study.variants.len()).map(waited).collect();
    let cores = |waited: &Vec<Waited>| {
        let cores: Vec<f64> = waited.iter().map(|waited| waited.cpu_s / waited.elapsed_s).collect();
        robust::median(&cores).unwrap_or(0.0)
    };
    let cpu: Vec<f64> = of_variants.iter().map(cores).collect();
    let stillest = cpu.iter().copied().fold(f64::INFINITY, f64::min);
    let busy = cpu.iter().enumerate().filter(|(_, cores)| **cores > MAY_USE);
    busy.map(|(variant, used)| {
        let severity = if used - stillest > MAY_DIFFER { Severity::Invalid } else { Severity::Warning };
        RULE.found(
            severity,
            Subject::Variant { variant },
            "Side by side a launch is stopped while another one is loaded. This one worked on: it took processor time that the other would \
             have had.",
            "Find out why it could not be stopped: processes of another user cannot. Otherwise write `[design] launches = \
             \"one-after-another\"`.",
        )
        .with("while it waited, median launch", format!("{used:.2} cores"))
        .with("the stillest variant", format!("{stillest:.2} cores"))
    })
    .collect()
}

/// What a launch did while it waited for its measured slices.
fn while_measured(trial: &TrialRecord) -> Option<Waited> {
    let slices = trial.cells.iter().flat_map(|cell| &cell.slices);
    slices
        .filter_map(|slice| slice.waited)
        .filter(|waited| waited.elapsed_s > 0.0)
        .reduce(|one, other| Waited { elapsed_s: one.elapsed_s + other.elapsed_s, cpu_s: one.cpu_s + other.cpu_s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    /// Launches side by side that use so many cores while they wait.
    fn waiting(cores: [f64; 2]) -> StudyRecord {
        fixture::side_by_side(5, |variant, slice| {
            slice.waited = Some(Waited { elapsed_s: 2.0, cpu_s: 2.0 * cores[variant] });
        })
    }

    #[test]
    fn still_launches_are_fine() {
        assert_eq!(gravest(rule, &fixture::record(5, 0.0)), None, "one after another");
        assert_eq!(gravest(rule, &waiting([0.01, 0.03])), None);
    }

    #[test]
    fn a_busy_one_is_named() {
        assert_eq!(gravest(rule, &waiting([0.01, 0.1])), Some(Severity::Warning));
        assert_eq!(gravest(rule, &waiting([0.9, 0.9])), Some(Severity::Warning), "both alike");
        assert_eq!(gravest(rule, &waiting([0.01, 1.0])), Some(Severity::Invalid));
        assert_eq!(gravest(rule, &waiting([1.0, 0.0])), Some(Severity::Invalid));
    }

    #[test]
    fn one_launch_of_five_is_chance() {
        let mut record = waiting([0.01, 0.01]);
        let slices = record.trials[0].cells.iter_mut().flat_map(|cell| &mut cell.slices);
        slices.for_each(|slice| slice.waited.as_mut().unwrap().cpu_s = 2.0);
        assert_eq!(gravest(rule, &record), None);
    }
}
