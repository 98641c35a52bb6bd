//! The run was short on purpose.

use model::{Finding, FindingId, Mode, Severity, StudyRecord, Subject};

use super::rule::{Check, Rule};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("quick-mode"),
    gravest: Severity::Note,
    page: include_str!("../../../../docs/findings/quick-mode.md"),
    checks: &[Check::Run(rule)],
};

/// A note on every quick run.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    if record.plan.mode == Mode::Full {
        return Vec::new();
    }
    let schedule = &record.plan.schedule;
    vec![
        RULE.found(
            Severity::Note,
            Subject::Run,
            "A quick run sees large effects only, and the speed soon after the start rather than in the long run.",
            "Run without --quick before relying on the result.",
        )
        .with("measured for each cell", format!("{} s", schedule.measure.as_secs_f64()))
        .with("blocks at most", schedule.max_blocks.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    #[test]
    fn quick_runs_are_marked() {
        assert_eq!(gravest(rule, &fixture::record(5, 0.0)), None);
        assert_eq!(gravest(rule, &fixture::empty(fixture::study(), Mode::Quick)), Some(Severity::Note));
    }
}
