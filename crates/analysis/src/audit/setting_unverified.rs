//! A factor's setting could not be read back.

use model::study::SettingKind;
use model::{FindingId, Setting, SettingResult, Severity, StudyRecord};

use super::{Context, Found, launches, name, settings};

/// A warning for each setting that no launch of its variant could read back, and for each that nothing tried to.
///
/// What runs (kind `runtime`) is exempt from the latter: the versions found in the process speak for it.
pub fn rule(record: &StudyRecord, _: &Context) -> Vec<Found> {
    // What the study wants to see beside its settings has a rule of its own.
    let is_unread = |setting: &Setting| {
        matches!(setting.result, SettingResult::Unverified { .. }) && setting.kind != SettingKind::Proof
    };
    let unread = settings::shown(record, is_unread)
        .into_iter()
        .filter(|shown| shown.launches[0] == shown.launches[1])
        .map(|shown| {
            let reason = match &shown.setting.result {
                SettingResult::Unverified { reason } => reason.as_str(),
                _ => "",
            };
            unverified(record, shown.variant, &shown.setting.name, reason)
        });
    let untried = record.study.variants.iter().enumerate().flat_map(|(index, variant)| {
        let was_launched = launches(record, index).any(|trial| trial.launch.is_some() && !trial.cells.is_empty());
        let asked = variant.treatment.iter().filter(move |_| was_launched);
        asked
            .filter(|asked| asked.kind != SettingKind::Runtime)
            .filter(move |asked| settings::reading(record, index, asked).is_none())
            .map(move |asked| unverified(record, index, &asked.name, "nothing reads this kind of setting back"))
    });
    unread.chain(untried).collect()
}

fn unverified(record: &StudyRecord, variant: usize, setting: &str, reason: &str) -> Found {
    Found::new(
        FindingId::SettingUnverified,
        Severity::Warning,
        format!("{}: {setting}", name(record, variant)),
        "Whether this setting took effect was not seen, only that it was asked for.",
        "Check by other means that it is in effect before crediting it with the result.",
    )
    .about(variant)
    .with("reason", reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::found;
    use crate::fixture;

    #[test]
    fn a_setting_that_could_not_be_read() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        let unread = SettingResult::Unverified { reason: "jcmd did not answer".to_owned() };
        // One launch that could not be read is covered by the others.
        record.trials[0].settings[0].result = unread.clone();
        assert_eq!(found(rule, &record), []);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.settings[0].result = unread.clone();
        }
        assert_eq!(found(rule, &record), [(Severity::Warning, "on: compile.invokedynamic".to_owned())]);
    }

    #[test]
    fn a_setting_that_nothing_read() {
        let mut record = fixture::record(5, 0.0);
        record.trials.iter_mut().for_each(|trial| trial.settings.clear());
        assert_eq!(found(rule, &record).len(), 2);
    }
}
