//! A factor's setting has a name that the runtime does not know.

use model::imported::EffectiveOption;
use model::{Finding, FindingId, SettingResult, Severity, StudyRecord, Subject};
use runtimes::names::Listing;
use runtimes::{Key, jruby, removed};

use super::rule::{Check, InEffect, Rule};
use super::settings;
use crate::assess::Assessment;
use crate::effective::key;

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-unknown"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/setting-unknown.md"),
    checks: &[Check::Lasting(rule), Check::Settings(in_file)],
};

/// Properties that JRuby's launcher sets, without `jruby.`; JRuby lists none of them (jruby.sh of 9.4 and 10.1).
const OF_LAUNCHER: [&str; 4] = ["home", "lib", "script", "shell"];

/// A warning where options of a file have names that no known version of the runtime has.
fn in_file(in_effect: &InEffect) -> Option<Finding> {
    let facts = settings::by_line(in_effect.options, unknown);
    let found = RULE.found(
        Severity::Warning,
        Subject::Server,
        "No version that is known here, Java 17 and 25 and JRuby 1.7 to 10.1, has such a setting. So it changed nothing, or the server did not \
         start.",
        "Correct the name. Nothing that was measured may be credited to it.",
    );
    (!facts.is_empty()).then_some(Finding { facts, ..found })
}

/// What to say of an option with an unknown name.
fn unknown(option: &EffectiveOption) -> Option<String> {
    let (what, nearest) = match key(&option.option) {
        // One that resembles none may be of a Java that is not known here.
        Key::JvmFlag(name) if Listing::Jvm.find(&name).is_none() && removed::find(&name).is_none() => {
            ("HotSpot", Some(Listing::Jvm.nearest(&name)?))
        }
        Key::Jruby(name) if Listing::Jruby.find(&name).is_none() && !is_of_others(&name) => {
            ("JRuby", Listing::Jruby.nearest(&name).map(|nearest| format!("jruby.{nearest}")))
        }
        _ => return None,
    };
    let nearest = nearest.map_or_else(String::new, |nearest| format!("; the nearest known name is {nearest}"));
    Some(format!("unknown to {what}{nearest}"))
}

fn is_of_others(name: &str) -> bool {
    OF_LAUNCHER.contains(&name) || jruby::is_of_rack(name)
}

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
    use crate::audit::testing::{found, in_settings};
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

    #[test]
    fn options_of_a_file() {
        let of = |options| in_settings(&RULE, fixture::settings(&[("JAVA_OPTS", 0, false, options)]));
        assert_eq!(of("-Xmx1g -Djruby.jit.threshold=30 -Djruby.home=/a -Da=b"), None);
        assert_eq!(of("-XX:MaxPermSize=1g -XX:+OfAJavaNobodyKnows"), None);
        assert!(of("-XX:+UseParalelGC").is_some());
        let found = of("-Xmx1g -Djruby.jit.treshold=30").unwrap();
        assert_eq!(found.severity, Severity::Warning);
        let facts: Vec<_> = found.facts.iter().map(|fact| (fact.name.as_str(), fact.value.to_string())).collect();
        let (line, said) =
            ("line 1", "-Djruby.jit.treshold=30: unknown to JRuby; the nearest known name is jruby.jit.threshold");
        assert_eq!(facts, [(line, said.to_owned())]);
    }
}
