//! The runtime does not start with a setting.

use model::{Finding, FindingId, SettingResult, Severity, StudyRecord, Subject};

use super::rule::{Check, Rule};
use super::settings;
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-refused"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/setting-refused.md"),
    checks: &[Check::Lasting(rule)],
};

/// Invalid for each setting that kept the runtime from starting, in its own words.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    settings::shown(record, |setting| matches!(setting.result, SettingResult::Refused { .. }))
        .into_iter()
        .map(|shown| {
            let reason = match &shown.setting.result {
                SettingResult::Refused { reason } => reason.as_str(),
                _ => "",
            };
            RULE.found(
                Severity::Invalid,
                Subject::Setting { variant: shown.variant, name: shown.setting.name.clone() },
                "The runtime does not start with this setting, so there is nothing to measure.",
                "Correct its name or value, remove it, or use a version of the runtime that supports it.",
            )
            .with("requested", settings::display(&shown.setting.name, &shown.setting.requested))
            .with("the runtime says", reason)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::found;
    use crate::fixture;

    #[test]
    fn a_setting_that_the_runtime_refuses() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.settings[0].result = SettingResult::Refused { reason: "Unrecognized VM option".to_owned() };
        }
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on: compile.invokedynamic".to_owned())]);
    }
}
