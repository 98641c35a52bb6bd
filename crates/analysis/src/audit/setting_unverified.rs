//! Settings could not be read back.

use model::{FindingId, Setting, SettingResult, Severity, StudyRecord, VariantIndex, text};
use runtimes::Key;

use super::{Assessment, Found, launches, name, settings};

/// Characters of a reason that are shown: a process may show a title of any length.
const LONGEST: usize = 160;

/// A setting of a variant.
type Unread<'a> = (VariantIndex, &'a str);

/// A warning for each reason why settings were not read back in any launch of their variant, or why nothing tried to.
///
/// What runs (kind `runtime`) is exempt from the latter: the versions found in the process speak for it.
pub fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Found> {
    // What the study wants to see beside its settings has a rule of its own.
    let is_unread = |setting: &Setting| {
        matches!(setting.result, SettingResult::Unverified { .. }) && !matches!(setting.key, Key::Assertion(_))
    };
    let unread = settings::shown(record, is_unread).into_iter().filter(|shown| shown.launches[0] == shown.launches[1]);
    let unread = unread.filter_map(|shown| match &shown.setting.result {
        SettingResult::Unverified { reason } => Some((reason.as_str(), shown.variant, shown.setting.name.as_str())),
        _ => None,
    });
    let untried = record.study.variants.iter().enumerate().flat_map(|(index, variant)| {
        let was_launched = launches(record, index).any(|trial| trial.launch.is_some() && !trial.cells.is_empty());
        let requested = variant.treatment.iter().filter(move |_| was_launched);
        requested
            .filter(|requested| !matches!(requested.key, Key::Runtime(_)))
            .filter(move |requested| settings::read_back_of(record, index, requested).is_none())
            .map(move |requested| ("nothing reads this kind of setting back", index, requested.name.as_str()))
    });
    let mut by_reason: Vec<(&str, Vec<Unread>)> = Vec::new();
    for (reason, variant, setting) in unread.chain(untried) {
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, settings)) => settings.push((variant, setting)),
            None => by_reason.push((reason, vec![(variant, setting)])),
        }
    }
    by_reason.into_iter().map(|(reason, settings)| unverified(record, reason, &settings)).collect()
}

fn unverified(record: &StudyRecord, reason: &str, unread: &[Unread]) -> Found {
    let found = Found::new(
        FindingId::SettingUnverified,
        Severity::Warning,
        subject(record, unread),
        match unread {
            [_] => "Whether this setting took effect was not seen, only that it was asked for.",
            _ => "Whether these settings took effect was not seen, only that they were asked for.",
        },
        "Check by other means that they are in effect before crediting one with the result.",
    )
    .with("reason", text::shortened(reason, LONGEST));
    let (variant, _) = unread[0];
    if unread.iter().all(|(other, _)| *other == variant) { found.about(variant) } else { found }
}

/// `off: compile.mode, jit.threshold; on: compile.mode`; variants that share the same settings are named together.
fn subject(record: &StudyRecord, unread: &[Unread]) -> String {
    let mut all: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for variant in 0..record.study.variants.len() {
        let own: Vec<&str> = unread.iter().filter(|(of, _)| *of == variant).map(|(_, setting)| *setting).collect();
        match all.iter_mut().find(|(_, settings)| *settings == own) {
            _ if own.is_empty() => {}
            Some((variants, _)) => variants.push(name(record, variant)),
            None => all.push((vec![name(record, variant)], own)),
        }
    }
    let reported = all.iter().map(|(variants, settings)| format!("{}: {}", variants.join(", "), settings.join(", ")));
    reported.collect::<Vec<_>>().join("; ")
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
        assert_eq!(found(rule, &record), [(Severity::Warning, "off, on: compile.invokedynamic".to_owned())]);
    }

    /// Such as a process that has written a title over its command line.
    #[test]
    fn what_has_one_reason_is_reported_once_and_in_short() {
        let mut record = fixture::record(5, 0.0);
        let reason = format!("the process shows another command line: `{}`", "x".repeat(400));
        for trial in &mut record.trials {
            trial.settings[0].result = SettingResult::Unverified { reason: reason.clone() };
            let mut other = trial.settings[0].clone();
            other.name = ["-W0", "-W1"][trial.variant].to_owned();
            trial.settings.push(other);
        }
        let boundaries = crate::boundaries::Boundaries::standard();
        let [found] = &rule(&record, &crate::assess(&record, &boundaries))[..] else { panic!("one finding") };
        assert_eq!(found.finding.subject, "off: compile.invokedynamic, -W0; on: compile.invokedynamic, -W1");
        assert_eq!(found.finding.facts[0].value.chars().count(), LONGEST);
        assert_eq!(found.variant, None);
    }
}
