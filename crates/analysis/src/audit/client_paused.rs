//! The load generator stood still.

use model::{Finding, FindingId, Severity, StudyRecord, Subject};

use super::rule::{Check, Rule, name};
use crate::assess::Assessment;
use crate::blocks::{self, PAUSED_S};

pub const RULE: Rule = Rule {
    id: FindingId::new("client-paused"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/client-paused.md"),
    checks: &[Check::Run(rule)],
};

/// A warning for the whole run when bakeoff stood still under load for more than half a second in a launch that counts.
/// Launches of blocks that were excluded for it are no longer in the way.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
    let all = record.trials.iter().filter(|trial| !trial.key.pilot);
    let paused: Vec<_> =
        all.map(|trial| (trial, blocks::longest_pause_s(trial))).filter(|(_, paused_s)| *paused_s > PAUSED_S).collect();
    if paused.is_empty() {
        return Vec::new();
    }
    let counts = paused.iter().any(|(trial, _)| used.contains(&trial.key.block));
    let found = RULE.found(
        if counts { Severity::Warning } else { Severity::Note },
        Subject::Client,
        "bakeoff itself did not run for a while: it was stopped (SIGSTOP), or the whole machine was. Requests of that time \
         took as long as the pause, whatever the server did.",
        "Leave bakeoff running; on a virtual machine look for snapshots and migrations.",
    );
    vec![paused.into_iter().fold(found, |found, (trial, paused_s)| {
        let launch = format!("block {}, {}", trial.key.block + 1, name(record, trial.variant));
        found.with(launch, format!("stood still for {paused_s:.1} s"))
    })]
}

#[cfg(test)]
mod tests {
    use model::HostUse;

    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    /// A record in which one sample of one launch was looked at late.
    fn late(sample: usize, late_s: f64, spare: u32) -> StudyRecord {
        let mut record = fixture::record(6, 0.0);
        record.plan.schedule.spare_blocks = spare;
        for trial in &mut record.trials {
            for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
                sample.host = Some(HostUse { elapsed_s: sample.length_s + 0.02, ..HostUse::default() });
            }
        }
        record.trials[9].cells[0].samples[sample].host.as_mut().unwrap().elapsed_s += late_s;
        record
    }

    #[test]
    fn a_pause_is_reported() {
        assert_eq!(gravest(rule, &late(2, 0.0, 2)), None);
        assert_eq!(gravest(rule, &late(2, 0.3, 2)), None, "a busy machine");
        for sample in [0, 2] {
            assert_eq!(gravest(rule, &late(sample, 3.0, 0)), Some(Severity::Warning), "{sample}");
        }
        assert_eq!(gravest(rule, &late(2, 3.0, 2)), Some(Severity::Note), "its block was excluded");
    }
}
