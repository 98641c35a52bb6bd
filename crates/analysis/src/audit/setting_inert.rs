//! A setting is accepted and does nothing in this configuration.

use model::{Finding, FindingId, SettingResult, Severity, StudyRecord, Subject};

use super::rule::{Check, Rule};
use super::settings;
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-inert"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/setting-inert.md"),
    checks: &[Check::Run(rule)],
};

/// A warning for each setting that something else of the same process keeps from having any effect; a note where all
/// variants share it.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    settings::shown(record, |setting| matches!(setting.result, SettingResult::Inert { .. }))
        .into_iter()
        .map(|shown| {
            let (reason, source) = match &shown.setting.result {
                SettingResult::Inert { reason, source } => (reason.as_str(), source.as_str()),
                _ => ("", ""),
            };
            let shared = shown.setting.shared;
            RULE.found(
                if shared { Severity::Note } else { Severity::Warning },
                Subject::Setting { variant: shown.variant, name: shown.setting.name.clone() },
                "The process has the value and does nothing with it: whatever differs between the variants, this setting did \
                 not do it.",
                "Change what it needs as well, or choose another setting.",
            )
            .with("reason", reason)
            .with("source", source)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::found;
    use crate::fixture;

    #[test]
    fn a_setting_without_effect() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            let (reason, source) = ("nothing is compiled".to_owned(), "the manual".to_owned());
            trial.settings[0].result = SettingResult::Inert { reason, source };
        }
        assert_eq!(found(rule, &record), [(Severity::Warning, "on: compile.invokedynamic".to_owned())]);
        record.trials.iter_mut().for_each(|trial| trial.settings[0].shared = true);
        assert_eq!(found(rule, &record), [(Severity::Note, "on: compile.invokedynamic".to_owned())]);
    }
}
