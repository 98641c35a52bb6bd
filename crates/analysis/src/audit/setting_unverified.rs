//! Settings could not be read back.

use model::{
    Finding, FindingId, Setting, SettingResult, Severity, SharedSettings, StudyRecord, Subject, VariantIndex, text,
};
use runtimes::Key;

use super::rule::{Check, Rule, launches};
use super::settings;
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-unverified"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/setting-unverified.md"),
    checks: &[Check::Run(rule)],
};

/// Characters of a reason that are shown: a process may show a title of any length.
const LONGEST: usize = 160;

/// A setting of a variant.
type Unread<'a> = (VariantIndex, &'a str);

/// A warning for each reason why settings were not read back in any launch of their variant, or why nothing tried to.
///
/// What runs (kind `runtime`) is exempt from the latter: the versions found in the process speak for it.
pub fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
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

fn unverified(record: &StudyRecord, reason: &str, unread: &[Unread]) -> Finding {
    RULE.found(
        Severity::Warning,
        subject(record, unread),
        match unread {
            [_] => "Whether this setting took effect was not seen, only that it was asked for.",
            _ => "Whether these settings took effect was not seen, only that they were asked for.",
        },
        "Check by other means that they are in effect before crediting one with the result.",
    )
    .with("reason", text::shortened(reason, LONGEST))
}

/// Variants that share the same settings are named together.
fn subject(record: &StudyRecord, unread: &[Unread]) -> Subject {
    let mut of: Vec<SharedSettings> = Vec::new();
    for variant in 0..record.study.variants.len() {
        let own = unread.iter().filter(|(of, _)| *of == variant);
        let names: Vec<String> = own.map(|(_, setting)| (*setting).to_owned()).collect();
        match of.iter_mut().find(|shared| shared.names == names) {
            _ if names.is_empty() => {}
            Some(shared) => shared.variants.push(variant),
            None => of.push(SharedSettings { variants: vec![variant], names }),
        }
    }
    Subject::Settings { of }
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
        assert_eq!(found(rule, &record), [(Severity::Warning, "all variants: compile.invokedynamic".to_owned())]);
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
        let text = found.subject.text(&record.names());
        assert_eq!(text, "off: compile.invokedynamic, -W0; on: compile.invokedynamic, -W1");
        assert_eq!(found.facts[0].value.to_string().chars().count(), LONGEST);
    }
}
