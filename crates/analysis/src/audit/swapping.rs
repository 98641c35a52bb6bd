//! The host ran short of memory.

use model::{Finding, FindingId, Severity, StudyRecord, Subject, TrialRecord, text};

use super::rule::{Check, Rule, name};
use crate::assess::Assessment;
use crate::blocks;

pub const RULE: Rule = Rule {
    id: FindingId::new("swapping"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/swapping.md"),
    checks: &[Check::Run(rule)],
};

/// Memory swapped during a launch, or side by side during its block, that is more than a few forgotten pages, bytes.
const SWAPPED: u64 = 16 << 20;

/// A warning when the host swapped more than 16 MiB in or out during launches that count; a note where the blocks of all of these were excluded.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
    let swapped = |trial: &TrialRecord| trial.host.swapped_bytes.filter(|bytes| *bytes > SWAPPED);
    let launches = record.trials.iter().filter(|trial| !trial.key.pilot);
    let swapping: Vec<_> = launches.filter_map(|trial| Some((trial, swapped(trial)?))).collect();
    let Some((worst, most)) = swapping.iter().max_by_key(|(_, bytes)| *bytes) else { return Vec::new() };
    let counts = swapping.iter().any(|(trial, _)| used.contains(&trial.key.block));
    let found = RULE.found(
        if counts { Severity::Warning } else { Severity::Note },
        Subject::Host,
        "The host had too little memory and moved some of it to disk and back. What waits for the disk is slow, whatever the setting.",
        "Give the servers less memory or the host more. Side by side all variants need theirs at once: write `[design] launches = \
         \"one-after-another\"` where that is too much.",
    );
    let launch = format!("most, in block {}, {}", worst.key.block + 1, name(record, worst.variant));
    vec![found.with("launches", swapping.len().to_string()).with(launch, text::bytes(*most as f64))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    #[test]
    fn a_host_that_swaps_is_reported() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(gravest(rule, &record), None);
        record.trials[5].host.swapped_bytes = Some(1 << 20);
        assert_eq!(gravest(rule, &record), None, "forgotten pages");
        record.trials[5].host.swapped_bytes = Some(1 << 30);
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
        // Its block is excluded.
        record.trials[5].host.steal_cores = 1.0;
        assert_eq!(gravest(rule, &record), Some(Severity::Note));
    }
}
