//! The tool itself warned.

use model::{Finding, FindingId, Severity, Subject, imported::Fidelity};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("tool-warning"),
    gravest: Severity::Note,
    page: include_str!("../../../../docs/findings/tool-warning.md"),
    checks: &[Check::Imported { needs: Evidence::Kept(Fidelity::Summary), look: rule }],
};

/// A note with what the tool that made a result warned of.
fn rule(imported: &Imported) -> Option<Finding> {
    let warnings = &imported.run.warnings;
    let found = RULE.found(
        Severity::Note,
        Subject::Load,
        "The tool, or its file, gives a reason to doubt this result.",
        "Read it before you use the numbers.",
    );
    let all = warnings.iter().fold(found, |found, warning| found.with(imported.run.tool.as_str(), warning.as_str()));
    (!warnings.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;

    #[test]
    fn its_words_are_kept() {
        let mut run = imported(600, 50);
        assert_eq!(rule(&Imported { run: &run, levels: &[], hosts: &[] }), None);
        run.warnings.push("These results are probably not that reliable.".to_owned());
        let found = rule(&Imported { run: &run, levels: &[], hosts: &[] }).unwrap();
        assert_eq!(found.facts[0].value.to_string(), "These results are probably not that reliable.");
    }
}
