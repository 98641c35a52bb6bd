//! Users of scenarios left things behind.

use model::{Finding, FindingId, Outcome, Severity, StudyRecord, Subject, VariantIndex, text};

use super::rule::{Check, Rule, launches};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("tear-down-failed"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/tear-down-failed.md"),
    checks: &[Check::Run(rule)],
};

/// A warning for each variant in whose launches users could not go through their tear-down.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    (0..record.study.variants.len()).filter_map(|variant| of_variant(record, variant)).collect()
}

fn of_variant(record: &StudyRecord, variant: VariantIndex) -> Option<Finding> {
    let completed = || launches(record, variant).filter(|trial| trial.outcome == Outcome::Completed);
    let failed = || completed().filter_map(|trial| trial.failed_tear_downs.as_ref());
    let first = failed().next()?;
    let users: u64 = failed().map(|failed| failed.users).sum();
    Some(
        RULE.found(
            Severity::Warning,
            Subject::Variant { variant },
            "Users did not get through their tear-down. What they leave behind in the server, and in what it uses, may burden what \
             is measured after.",
            "Mend the step, or the server's answer to it; let the `prepare` hook restore data that outlive a trial.",
        )
        .with(
            "users",
            format!("{} in {} of {}", text::count(users), failed().count(), text::launches(completed().count())),
        )
        .with("the first", first.first.clone()),
    )
}

#[cfg(test)]
mod tests {
    use model::FailedTearDowns;

    use super::*;
    use crate::audit::testing::{gravest, values};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    #[test]
    fn what_is_left_behind_is_reported_of_the_variant_that_leaves_it() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(gravest(rule, &record), None);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1).take(3) {
            trial.failed_tear_downs = Some(FailedTearDowns { users: 20, first: "step `log out` failed".into() });
        }
        fixture::fail(record.trials.iter_mut().rfind(|trial| trial.failed_tear_downs.is_some()).unwrap());
        let boundaries = Boundaries::standard();
        let found = rule(&record, &crate::assess(&record, &boundaries));
        let [only] = &found[..] else { panic!("{found:?}") };
        assert_eq!((&only.subject, only.severity), (&Subject::Variant { variant: 1 }, Severity::Warning));
        let reported = values(only);
        assert_eq!(reported, ["40 in 2 of 6 launches", "step `log out` failed"]);
    }
}
