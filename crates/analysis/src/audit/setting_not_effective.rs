//! A setting is not what the running process has.

use model::{Finding, FindingId, LaunchFacts, Setting, SettingResult, Severity, StudyRecord, Subject};
use runtimes::{Key, jruby, jvm};

use super::rule::{Check, Rule, launches};
use super::settings;
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-not-effective"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/setting-not-effective.md"),
    checks: &[Check::Lasting(rule)],
};

/// Invalid for each setting whose live value is another than asked for, in any launch; a warning where all variants share it.
pub fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    // What the study wants to see beside its settings has a rule of its own.
    let is_it =
        |setting: &Setting| setting.result == SettingResult::Overridden && !matches!(setting.key, Key::Assertion(_));
    settings::shown(record, is_it)
        .into_iter()
        .map(|shown| {
            let [there, read] = shown.launches;
            let launch = launches(record, shown.variant).find_map(|trial| trial.launch.as_ref());
            let others = launch.map(|launch| others(launch, shown.setting)).unwrap_or_default();
            let found = RULE.found(settings::severity(shown.setting),
                Subject::Setting { variant: shown.variant, name: shown.setting.name.clone() },
                "The running process does not have the value that the study asks for: the treatment did not happen, so \
                 no difference can be credited to it.",
                "Look at what else sets it (JAVA_OPTS, .jrubyrc, a start script), and whether the runtime accepts the value.",
            )
            .with("requested", settings::display(&shown.setting.name, &shown.setting.requested))
            .with("in the process", settings::live(shown.setting))
            .with("launches", format!("{there} of {read}"));
            others.into_iter().fold(found, |found, other| found.with("given as well", other))
        })
        .collect()
}

/// What else a launch was given that sets the same option to something else, and where it stands.
fn others(launch: &LaunchFacts, setting: &Setting) -> Vec<String> {
    let property = |name: &str| jvm::given(&format!("-D{name}={}", setting.requested));
    let own = match &setting.key {
        Key::JvmFlag(_) | Key::JvmOption(_) => jvm::given(&setting.name),
        Key::Property(name) => property(name),
        Key::Jruby(name) => property(&format!("jruby.{name}")),
        _ => return Vec::new(),
    };
    let sets = |word: &str| {
        let word = jvm::given(&jruby::handed_to_jvm(word).unwrap_or_else(|| word.to_owned()));
        // Where the study has a placeholder its own is known by its value.
        word.key == own.key && word.name != own.name && !word.name.ends_with(&format!("={}", setting.requested))
    };
    let on_command_line =
        launch.command.iter().filter(|word| sets(word)).map(|word| format!("{word}, on the command line"));
    let in_variables = launch.env.iter().flat_map(|(name, value)| {
        value.split_whitespace().filter(|word| sets(word)).map(move |word| format!("{word}, in {name}"))
    });
    on_command_line.chain(in_variables).collect()
}

#[cfg(test)]
mod tests {
    use model::Severity;

    use super::*;
    use crate::audit::testing::found;
    use crate::fixture;

    #[test]
    fn what_else_sets_it_is_named() {
        let record = fixture::record(1, 0.0);
        let mut launch = record.trials[0].launch.clone().unwrap();
        launch.command =
            ["java", "-Xmx1g", "-Djruby.jit.threshold=5", "-XX:MaxHeapSize=2g", "main.rb"].map(str::to_owned).into();
        launch.env.insert("JAVA_TOOL_OPTIONS".to_owned(), "-Xss1m -Xmx3g".to_owned());
        launch.env.insert("JRUBY_OPTS".to_owned(), "-Xjit.threshold=7 -J-Xmx1g".to_owned());
        let mut setting = record.trials[0].settings[0].clone();
        (setting.key, setting.name) = (Key::JvmFlag("MaxHeapSize".to_owned()), "-Xmx1g".to_owned());
        let given = ["-XX:MaxHeapSize=2g, on the command line", "-Xmx3g, in JAVA_TOOL_OPTIONS"];
        assert_eq!(others(&launch, &setting), given);
        (setting.key, setting.requested) = (Key::Jruby("jit.threshold".to_owned()), "5".to_owned());
        assert_eq!(others(&launch, &setting), ["-Xjit.threshold=7, in JRUBY_OPTS"]);
    }

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
