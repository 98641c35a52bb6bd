//! What the study says has to be seen in the running server was not seen there.

use std::collections::BTreeSet;

use model::assertion::Assertion;
use model::{Finding, FindingId, Setting, SettingResult, Severity, StudyRecord, Subject, VariantIndex, text};
use runtimes::Key;

use super::rule::{Check, Rule, launches, name};
use super::settings::{self, ShownSetting};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("assertion-failed"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/assertion-failed.md"),
    checks: &[Check::Lasting(rule)],
};

/// Characters of a value that is shown: a command may write much.
const LONGEST_VALUE: usize = 80;

/// Invalid for each assertion that saw something else in any launch, and for each that was to be the same everywhere and is not; a
/// warning for each that no launch of a variant could read.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let missed = settings::shown(record, is_missed).into_iter().filter_map(|shown| found(record, &shown));
    missed.chain(unlike(record)).collect()
}

/// Assertions that were to see the same everywhere: one finding for each variant that does not agree with itself, or with the first.
fn unlike(record: &StudyRecord) -> Vec<Finding> {
    let variants = &record.study.variants;
    let assertions =
        |variant: VariantIndex| variants[variant].assertions.iter().filter(|assertion| assertion.expect.is_same());
    let all = (0..variants.len()).flat_map(|variant| assertions(variant).map(move |assertion| (variant, assertion)));
    all.filter_map(|(variant, assertion)| {
        let first = (0..variant).find(|other| assertions(*other).any(|other| other.name == assertion.name));
        let own = seen(record, variant, &assertion.name);
        let firsts = first.map(|first| seen(record, first, &assertion.name)).unwrap_or_default();
        let is_unlike = own.len() > 1 || firsts.len() == 1 && own.len() == 1 && own != firsts;
        is_unlike.then(|| {
            let list = |values: BTreeSet<&str>| {
                values.into_iter().map(|value| text::shortened(value, LONGEST_VALUE)).collect::<Vec<_>>().join("; ")
            };
            let found = RULE.found(
                Severity::Invalid,
                Subject::Setting { variant, name: assertion.name.clone() },
                "The study says that this is the same in all launches of all variants, and it is not: they differ in more than \
                 the study compares.",
                "Make it the same; or, where it belongs to what is compared, have the assertion expect what each variant shows.",
            );
            let found = found.with("seen", list(own));
            let found = match first {
                Some(first) => found.with(format!("seen of {}", name(record, first)), list(firsts)),
                None => found,
            };
            found.with("read from", place(Some(assertion)))
        })
    })
    .collect()
}

/// The values that an assertion saw in the launches of a variant.
fn seen<'a>(record: &'a StudyRecord, variant: VariantIndex, assertion: &str) -> BTreeSet<&'a str> {
    let settings = launches(record, variant).flat_map(|trial| &trial.settings);
    let own = settings.filter(|setting| is_assertion(setting) && setting.name == assertion);
    own.filter_map(|setting| Some(setting.live.as_deref()?.trim())).collect()
}

fn is_assertion(setting: &Setting) -> bool {
    matches!(setting.key, Key::Assertion(_))
}

fn is_missed(setting: &Setting) -> bool {
    is_assertion(setting) && matches!(setting.result, SettingResult::Overridden | SettingResult::Unverified { .. })
}

fn found(record: &StudyRecord, shown: &ShownSetting) -> Option<Finding> {
    let ShownSetting { variant, setting, launches: [missed, of] } = *shown;
    let assertion =
        record.study.variants.get(variant)?.assertions.iter().find(|assertion| assertion.name == setting.name);
    let made = |severity, meaning: &str, remedy: &str| {
        let subject = Subject::Setting { variant, name: setting.name.clone() };
        RULE.found(severity, subject, meaning, remedy)
    };
    let found = match &setting.result {
        SettingResult::Unverified { .. } if missed < of => return None,
        SettingResult::Unverified { reason } => made(
            Severity::Warning,
            "Nobody saw whether the server has what the study says has to be seen in it.",
            "Read it by hand in the way that the assertion does, and mend the assertion; or remove it.",
        )
        .with("not read", reason.as_str())
        .with("expected", setting.requested.as_str()),
        _ => made(
            Severity::Invalid,
            "The study says what has to be seen in the running server, and something else was there: what was measured is \
             not what the study describes.",
            "Read it by hand in the way that the assertion does. Then mend what sets it, or what the assertion expects; what comes \
             only under load is read with `when = \"after\"`.",
        )
        .with("seen", format!("{}, expected {}", value(setting), setting.requested)),
    };
    Some(found.with("read from", place(assertion)).with("launches", format!("{missed} of {of}")))
}

fn value(setting: &Setting) -> String {
    match setting.live.as_deref() {
        None | Some("") => "nothing".to_owned(),
        Some(live) => text::shortened(live, LONGEST_VALUE),
    }
}

fn place(assertion: Option<&Assertion>) -> String {
    assertion.map_or_else(|| "?".to_owned(), |assertion| text::shortened(&assertion.read.to_string(), LONGEST_VALUE))
}

#[cfg(test)]
mod tests {
    use model::SettingSource;
    use model::assertion::{AssertionSource, Expected};

    use super::*;
    use crate::audit::{setting_not_effective, setting_unverified, testing};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    /// A study that has to see 30 threads in each server of `on`, and what its launches saw.
    fn record(live: Option<&str>, result: &SettingResult) -> StudyRecord {
        let mut record = fixture::record(5, 0.0);
        record.study.variants[1].assertions = vec![Assertion {
            name: "workers".into(),
            read: AssertionSource::Threads("^w".into()),
            expect: Expected::parse("30").unwrap(),
            answered: Vec::new(),
            after: false,
            is_pool: false,
        }];
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.settings.push(Setting {
                key: Key::Assertion("workers".into()),
                name: "workers".into(),
                requested: "30".into(),
                live: live.map(str::to_owned),
                default: None,
                source: SettingSource::Proc,
                result: result.clone(),
                shared: false,
            });
        }
        record
    }

    fn reported(record: &StudyRecord) -> Vec<(Severity, Vec<String>)> {
        let found = rule(record, &crate::assess(record, &Boundaries::standard()));
        let facts = |found: &Finding| -> Vec<String> {
            found.facts.iter().map(|it| format!("{} {}", it.name, it.value)).collect()
        };
        found.iter().map(|found| (found.severity, facts(found))).collect()
    }

    #[test]
    fn another_value_is_seen() {
        assert_eq!(reported(&record(Some("30"), &SettingResult::InEffect)), []);
        let mut record = record(Some("12"), &SettingResult::Overridden);
        let launches = record.trials.iter().filter(|trial| trial.variant == 1).count();
        let facts = [
            "seen 12, expected 30".to_owned(),
            "read from threads named /^w/".to_owned(),
            format!("launches {launches} of {launches}"),
        ];
        assert_eq!(reported(&record), [(Severity::Invalid, facts.to_vec())]);
        // One launch is enough, and no other rule reports it.
        let on = record.trials.iter_mut().filter(|trial| trial.variant == 1).skip(1);
        on.for_each(|trial| trial.settings[1].result = SettingResult::InEffect);
        assert_eq!(testing::found(rule, &record), [(Severity::Invalid, "on: workers".to_owned())]);
        assert_eq!(testing::found(setting_not_effective::rule, &record), []);
    }

    #[test]
    fn what_is_to_be_the_same_is_held_against_the_other_launches() {
        let mut record = record(Some("2.2.22"), &SettingResult::InEffect);
        let assertion =
            Assertion { expect: Expected::parse("same").unwrap(), ..record.study.variants[1].assertions[0].clone() };
        record.study.variants.iter_mut().for_each(|variant| variant.assertions = vec![assertion.clone()]);
        let read = record.trials.iter().find(|trial| trial.variant == 1).unwrap().settings[1].clone();
        record.trials.iter_mut().filter(|trial| trial.variant == 0).for_each(|trial| trial.settings.push(read.clone()));
        assert_eq!(reported(&record), []);

        let see = |record: &mut StudyRecord, variant, launches: usize, value: &str| {
            let own = record.trials.iter_mut().filter(|trial| trial.variant == variant).take(launches);
            own.for_each(|trial| trial.settings[1].live = Some(value.to_owned()));
        };
        see(&mut record, 1, usize::MAX, "2.2.4");
        let facts = ["seen 2.2.4", "seen of off 2.2.22", "read from threads named /^w/"].map(str::to_owned);
        assert_eq!(reported(&record), [(Severity::Invalid, facts.to_vec())]);
        // Launches of one variant have to agree, too; with a baseline that does not, nobody can.
        see(&mut record, 1, usize::MAX, "2.2.22");
        see(&mut record, 0, 1, "2.2.4");
        let facts = ["seen 2.2.22; 2.2.4", "read from threads named /^w/"].map(str::to_owned);
        assert_eq!(reported(&record), [(Severity::Invalid, facts.to_vec())]);
    }

    #[test]
    fn what_no_launch_could_read_is_a_warning() {
        let reason = SettingResult::Unverified { reason: "jcmd did not answer".into() };
        let mut record = record(None, &reason);
        let (severity, facts) = reported(&record).remove(0);
        assert_eq!(severity, Severity::Warning);
        assert_eq!(facts[..2], ["not read jcmd did not answer", "expected 30"]);
        assert_eq!(testing::found(setting_unverified::rule, &record), []);
        // A launch that could not be read is covered by the others.
        let on = record.trials.iter_mut().filter(|trial| trial.variant == 1).skip(1);
        on.for_each(|trial| trial.settings[1].result = SettingResult::InEffect);
        assert_eq!(reported(&record), []);
    }
}
