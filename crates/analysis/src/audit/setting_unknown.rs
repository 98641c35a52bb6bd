//! A factor's setting has a name that the runtime does not know.

use model::{FindingId, SettingResult, StudyRecord};

use super::{Assessment, Found, name, settings};

/// Invalid for each unknown name, with the nearest known one; a warning where all variants share it.
pub fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Found> {
    settings::shown(record, |setting| matches!(setting.result, SettingResult::Unknown { .. }))
        .into_iter()
        .map(|shown| {
            let found = Found::new(
                FindingId::SettingUnknown,
                settings::severity(shown.setting),
                format!("{}: {}", name(record, shown.variant), shown.setting.name),
                "This version of the runtime has no such setting, so it changed nothing.",
                "Correct the name, or use a version of the runtime that has it.",
            )
            .about(shown.variant)
            .with("requested", settings::display(&shown.setting.name, &shown.setting.requested));
            // Of options in one text: which it is.
            let found = match &shown.setting.live {
                Some(live) if *live != shown.setting.requested => found.with("in the process", live),
                _ => found,
            };
            match &shown.setting.result {
                SettingResult::Unknown { nearest: Some(nearest) } => found.with("nearest known name", nearest),
                _ => found,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::Severity;

    use super::*;
    use crate::audit::Found;
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
        let found: Vec<Found> = rule(&record, &crate::assess(&record, &boundaries));
        assert!(found[0].finding.facts.iter().any(|fact| fact.value == "jit.threshold"));
    }
}
