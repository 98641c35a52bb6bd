//! A setting is accepted and does nothing in this configuration.

use model::imported::EffectiveOption;
use model::{Finding, FindingId, SettingResult, Severity, StudyRecord, Subject};
use runtimes::inert::{self, Inert, OtherSetting};
use runtimes::{Key, removed};

use super::rule::{Check, InEffect, Rule};
use super::settings;
use crate::assess::Assessment;
use crate::effective::{key, value};

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-inert"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/setting-inert.md"),
    checks: &[Check::Run(rule), Check::Settings(in_file)],
};

/// What is on since Java 8 where nobody says otherwise.
const TIERED: &str = "TieredCompilation";

/// A warning where options of a file are removed from the JVM, or need others.
fn in_file(in_effect: &InEffect) -> Option<Finding> {
    let facts = settings::by_line(in_effect.options, |option| why(option, in_effect.options));
    let found = RULE.found(
        Severity::Warning,
        Subject::Server,
        "A server that starts with these options does nothing with them: whatever differs between results, they did not do it. For those that \
         were removed this holds from that Java on, and a newer one may refuse to start with them.",
        "Change what they need as well, or leave them out.",
    );
    (!facts.is_empty()).then_some(Finding { facts, ..found })
}

/// Why an option does nothing beside the others, with the source.
fn why(option: &EffectiveOption, others: &[EffectiveOption]) -> Option<String> {
    let own = key(&option.option);
    if let Key::JvmFlag(name) = &own
        && let Some(removed) = removed::find(name)
    {
        return Some(format!("without effect since Java {} ({})", removed.since, removed.source));
    }
    let given: Vec<(Key, String)> = others.iter().map(|other| (key(&other.option), value(&other.option))).collect();
    let inert = |by_default: &[(Key, String)]| {
        let known = || given.iter().chain(by_default);
        let live = |wanted: Key| {
            let (_, value) = known().find(|(other, _)| *other == wanted)?;
            Some(OtherSetting { value, kind: "", is_set: given.iter().any(|(other, _)| *other == wanted) })
        };
        match &own {
            Key::JvmFlag(name) => inert::of_jvm(name, None, |other| live(Key::JvmFlag(other.to_owned()))),
            Key::Jruby(name) => inert::of_jruby(name, |other| live(Key::Jruby(other.to_owned()))),
            _ => None,
        }
    };
    let since_java_8 = [(Key::JvmFlag(TIERED.to_owned()), "true".to_owned())];
    let said = |Inert { reason, source }: Inert, since: &str| format!("{reason}{since} ({source})");
    let by_default = || Some(said(inert(&since_java_8)?, "; it is on by default since Java 8"));
    inert(&[]).map(|inert| said(inert, "")).or_else(by_default)
}

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
    use crate::audit::testing::{found, in_settings, values};
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

    #[test]
    fn options_of_a_file() {
        let of = |options| {
            let found = in_settings(&RULE, fixture::settings(&[("JAVA_OPTS", 0, false, options)]));
            found.map(|found| (found.severity, values(&found).concat()))
        };
        assert_eq!(of("-Xmx1g -XX:-TieredCompilation -XX:CompileThreshold=6000 -Djruby.jit.threshold=30"), None);
        let (severity, said) = of("-XX:CompileThreshold=6000").unwrap();
        assert_eq!(severity, Severity::Warning);
        assert!(said.contains("tiered compilation is on") && said.contains("by default since Java 8"), "{said}");
        let (_, said) = of("-XX:+TieredCompilation -XX:CompileThreshold=6000").unwrap();
        assert!(!said.contains("by default"), "{said}");
        let (_, said) = of("-XX:PermSize=128m").unwrap();
        assert!(said.starts_with("-XX:PermSize=128m: without effect since Java 8 (Java 11: Ignoring option"), "{said}");
    }
}
