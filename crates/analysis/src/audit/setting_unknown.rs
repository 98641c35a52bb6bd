//! A factor's setting has a name that the runtime does not know.

use model::{Finding, FindingId, SettingResult, Severity, StudyRecord, Subject};

use super::rule::{Check, Rule};
use super::settings;
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-unknown"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/setting-unknown.md"),
    checks: &[Check::Lasting(rule)],
};

/// Invalid for each unknown name, with the nearest known one; a warning where all variants share it.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    settings::shown(record, |setting| matches!(setting.result, SettingResult::Unknown { .. }))
        .into_iter()
        .map(|shown| {
            let found = RULE
                .found(
                    settings::severity(shown.setting),
                    Subject::Setting { variant: shown.variant, name: shown.setting.name.clone() },
                    "This version of the runtime has no such setting, so it changed nothing.",
                    "Correct the name, or use a version of the runtime that has it.",
                )
                .with("requested", settings::display(&shown.setting.name, &shown.setting.requested));
            // Of options in one text: which it is.
            let found = match &shown.setting.live {
                Some(live) if *live != shown.setting.requested => found.with("in the process", live.as_str()),
                _ => found,
            };
            match &shown.setting.result {
                SettingResult::Unknown { nearest: Some(nearest) } => found.with("nearest known name", nearest.as_str()),
                _ => found,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::Severity;

    use super::*;
    use crate::audit::testing::found;
    use crate::{Boundaries, fixture};

    #[test]
    fn a_misspelt_setting() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.settings[0].name = "jit.treshold".to_owned();
            trial.settings[0].live = None;
            trial.settings[0].result = SettingResult::Unknown { nearest: Some("jit.threshold".to_owned()) };
        }
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on: jit.treshold".to_owned())]);
        let boundaries = Boundaries::standard();
        let found = rule(&record, &crate::assess(&record, &boundaries));
        assert!(found[0].facts.iter().any(|fact| fact.value == "jit.threshold".into()));
    }
}
