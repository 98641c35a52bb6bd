//! Requests that never left the client.

use model::{Finding, FindingId, Severity, Subject, imported::Fidelity, text};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("never-sent"),
    gravest: Severity::Note,
    page: include_str!("../../../../docs/findings/never-sent.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Samples), look: rule }],
};

/// A note where requests failed in no time without a status of HTTP.
fn rule(imported: &Imported) -> Option<Finding> {
    let all = &imported.run.all;
    let found = RULE.found(
        Severity::Note,
        Subject::Load,
        "Some requests failed before they were sent. They say nothing of the server, and their times of zero are no answers.",
        "Leave them out of all numbers: means and medians with their zeros are too low.",
    );
    (all.never_sent > 0).then(|| {
        found.with("never sent", format!("{} of {} failed", text::count(all.never_sent), text::count(all.failed)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;

    #[test]
    fn what_took_no_time_is_named() {
        let mut run = imported(600, 50);
        assert_eq!(rule(&Imported { run: &run, levels: &[], hosts: &[] }), None);
        (run.all.failed, run.all.never_sent) = (6, 2);
        let found = rule(&Imported { run: &run, levels: &[], hosts: &[] }).unwrap();
        assert_eq!(found.facts[0].value.to_string(), "2 of 6 failed");
    }
}
