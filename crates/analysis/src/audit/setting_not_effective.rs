//! A setting is not what the running process has.

use model::study::SettingKind;
use model::{FindingId, Setting, SettingResult, StudyRecord};

use super::{Context, Found, name, settings};

/// Invalid for each setting whose live value is another than asked for, in any launch; a warning where all variants share it.
pub fn rule(record: &StudyRecord, _: &Context) -> Vec<Found> {
    // What the study wants to see beside its settings has a rule of its own.
    let is_it = |setting: &Setting| setting.result == SettingResult::Overridden && setting.kind != SettingKind::Proof;
    settings::shown(record, is_it)
        .into_iter()
        .map(|shown| {
            let [there, read] = shown.launches;
            Found::new(
                FindingId::SettingNotEffective,
                settings::severity(shown.setting),
                format!("{}: {}", name(record, shown.variant), shown.setting.name),
                "The running process does not have the value that the study asks for: the treatment did not happen, so \
                 no difference can be credited to it.",
                "Look at what else sets it (JAVA_OPTS, .jrubyrc, a start script), and whether the runtime accepts the value.",
            )
            .about(shown.variant)
            .with("asked", settings::display(&shown.setting.name, &shown.setting.asked))
            .with("in the process", settings::live(shown.setting))
            .with("launches", format!("{there} of {read}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use model::Severity;

    use super::*;
    use crate::audit::testing::found;
    use crate::fixture;

    #[test]
    fn a_setting_that_was_overridden() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.settings[0].live = Some("false".to_owned());
            trial.settings[0].result = SettingResult::Overridden;
        }
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on: compile.invokedynamic".to_owned())]);
        record.trials.iter_mut().for_each(|trial| trial.settings[0].shared = true);
        assert_eq!(found(rule, &record), [(Severity::Warning, "on: compile.invokedynamic".to_owned())]);
    }
}
