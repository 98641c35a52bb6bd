//! Two variants are the same treatment: what makes them differ is equal in the running processes.
//!
//! One level being the default is normal (off, where off is the default) and is no finding. It becomes one when the
//! other level ends up with the same value. That is said only of what both processes show: a start script may have defaults
//! of its own, and options may bring others along.

use model::options::without_probe;
use model::report::{Aspect, EnvironmentDifference};
use model::study::{RequestedSetting, Runtime};
use model::{
    BASELINE, Finding, FindingId, LaunchFacts, Setting, SettingResult, Severity, StudyRecord, Subject, VariantIndex,
};
use runtimes::names::Listing;
use runtimes::variables::JAVA_HOME;
use runtimes::{Key, OptionVariable, RuntimePart, jruby, jvm};

use super::rule::{Check, InEffect, Rule, launches, name};
use super::{confounded, settings};
use crate::assess::Assessment;
use crate::effective::{key, value};

pub const RULE: Rule = Rule {
    id: FindingId::new("setting-is-default"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/setting-is-default.md"),
    checks: &[Check::Lasting(rule), Check::Settings(in_file)],
};

/// A warning where options of a file ask for the value that the runtime has anyway.
fn in_file(in_effect: &InEffect) -> Option<Finding> {
    let facts = settings::by_line(in_effect.options, |option| {
        let value = value(&option.option);
        let (default, is_default) = match key(&option.option) {
            Key::JvmFlag(name) => {
                let default = Listing::Jvm.find(&name)?.default?;
                (default, jvm::same_value(&value, default))
            }
            Key::Jruby(name) => {
                let default = Listing::Jruby.find(&name)?.default?;
                (default, jruby::same_value(&value, default))
            }
            _ => return None,
        };
        is_default.then(|| format!("the default is {default}"))
    });
    let found = RULE.found(
        Severity::Warning,
        Subject::Server,
        "In every version that is known here, Java 17 and 25 and JRuby 1.7 to 10.1, the server has these values anyway. So no difference can be \
         theirs.",
        "Leave them out, or choose other values.",
    );
    (!facts.is_empty()).then_some(Finding { facts, ..found })
}

/// For each two variants that differ in one factor: their processes have the same of everything that the factor sets, and nothing
/// else is seen that differs.
///
/// Invalid against the baseline, else a warning; a warning as well when both levels ask for the same in so many words,
/// for then the study is an A/A test and knows it. A warning, too, where the levels name files that are equal, or a JDK, and
/// all that is seen of the processes is the same.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let differences = confounded::differences(record);
    let variants = record.study.variants.len();
    let pairs = (0..variants).flat_map(|first| (first + 1..variants).map(move |second| [first, second]));
    pairs
        .filter_map(|variants| Pair::of(record, variants, &differences))
        .filter_map(|pair| pair.same_treatment().or_else(|| pair.same_files()).or_else(|| pair.same_jdk()))
        .collect()
}

/// Two variants that differ in one factor.
struct Pair<'a> {
    record: &'a StudyRecord,
    variants: [VariantIndex; 2],
    factor: &'a str,
    /// What the level of each asks for.
    requested: [Vec<&'a RequestedSetting>; 2],
    /// How their processes differ.
    differences: Vec<&'a EnvironmentDifference>,
}

impl<'a> Pair<'a> {
    fn of(
        record: &'a StudyRecord,
        variants: [VariantIndex; 2],
        differences: &'a [EnvironmentDifference],
    ) -> Option<Self> {
        let levels = variants.map(|variant| &record.study.variants[variant].levels);
        let mut differing = record.study.factors.iter().filter(|f| levels[0].get(&f.name) != levels[1].get(&f.name));
        let factor = differing.next()?.name.as_str();
        if differing.next().is_some() {
            return None;
        }
        let requested = variants.map(|variant| {
            record.study.variants[variant].treatment.iter().filter(|requested| requested.factor == factor).collect()
        });
        let [first, second] = variants;
        let differences = differences.iter().filter(|one| one.values[first] != one.values[second]).collect();
        Some(Self { record, variants, factor, requested, differences })
    }

    fn same_treatment(&self) -> Option<Finding> {
        // Two processes that differ in what no setting names may be two treatments, whatever they have of the settings.
        if self.differences.iter().any(|difference| difference.factor.is_none()) {
            return None;
        }
        let values: Option<Vec<String>> =
            self.requested.iter().flatten().map(|requested| self.in_both(requested)).collect();
        let mut values = values.filter(|values| !values.is_empty())?;
        values.sort();
        values.dedup();
        let is_deliberate = self.requested[0] == self.requested[1];
        let is_grave = self.variants[0] == BASELINE && !is_deliberate;
        let remedy = if is_deliberate {
            "In an A/A study, which measures chance itself, all is well. Else choose a level that differs."
        } else {
            "Choose a level that differs from what the process has anyway."
        };
        let severity = if is_grave { Severity::Invalid } else { Severity::Warning };
        let meaning = format!("{} are the same treatment: whatever differs between them is chance.", self.names());
        let found = self.found(severity, &meaning, remedy);
        Some(values.into_iter().fold(found, |found, value| found.with("in both processes", value)))
    }

    /// Files in each other's place that are equal. What they load from beside them may still differ.
    fn same_files(&self) -> Option<Finding> {
        let is_file = |requested: &&RequestedSetting| matches!(requested.key, Key::Runtime(part) if part.is_file());
        let is_loaded = |aspect: &Aspect| matches!(aspect, Aspect::Version(_) | Aspect::Gem(_) | Aspect::Opened(_));
        let [first, second] = [0, 1].map(|side| self.checksums(side));
        let are_equal = self.requested.iter().flatten().all(is_file)
            && self.requested[0] != self.requested[1]
            && first.is_some_and(|first| !first.is_empty() && Some(first) == second)
            && self.differences.iter().all(|difference| !is_loaded(&difference.aspect));
        let files = [0, 1].map(|side: usize| {
            self.requested[side].iter().map(|requested| requested.value.as_str()).collect::<Vec<_>>()
        });
        are_equal.then(|| {
            let meaning = format!(
                "{} run files that are the same, byte for byte: unless these make something of where they lie, whatever \
                 differs between the variants is chance.",
                self.names()
            );
            let remedy = "Look whether these are the files that were meant.";
            self.found(Severity::Warning, &meaning, remedy).with("the same", files.map(|names| names.join(" ")))
        })
    }

    /// The checksums of the files that a level names, each with what it is, and of all files that are run; `None` where not all launches agree.
    fn checksums(&self, side: usize) -> Option<Vec<(&'a str, &'a str)>> {
        let mut launches = self.launches(self.variants[side]);
        let libraries = &launches.next()?.libraries;
        let named = self.requested[side]
            .iter()
            .map(|requested| Some((requested.name.as_str(), libraries.get(&requested.value)?.as_str())));
        let mut all: Vec<(&str, &str)> = libraries.values().map(|sum| ("", sum.as_str())).collect();
        all.sort_unstable();
        let named: Option<Vec<_>> = named.collect();
        launches.all(|launch| launch.libraries == *libraries).then_some([named?, all].concat())
    }

    /// Another JDK is asked for by the variable that start scripts read, and the same serves.
    fn same_jdk(&self) -> Option<Finding> {
        let [difference] = self.differences[..] else { return None };
        let is_it = |requested: &&&RequestedSetting| matches!(&requested.key, Key::Env(name) if name == JAVA_HOME);
        let is_variable = matches!(&difference.aspect, Aspect::Environment(name) if name == JAVA_HOME);
        self.requested.iter().flatten().find(is_it).filter(|_| is_variable)?;
        let [first, second] = self.variants.map(|variant| self.launches(variant).next()?.versions.get("jdk"));
        let version = first.filter(|_| first == second)?;
        let meaning = format!(
            "{JAVA_HOME} differs between {}, and nothing else is seen to differ, not the version of the JDK either: where the \
             start script does not read the variable, whatever differs between them is chance.",
            self.names()
        );
        let remedy = "Have the script start `$JAVA_HOME/bin/java`, or name the JDK by `jdk`.";
        let values =
            self.variants.map(|variant| difference.values[variant].clone().unwrap_or_else(|| "(none)".to_owned()));
        let found = self.found(Severity::Warning, &meaning, remedy);
        Some(found.with(JAVA_HOME, values).with("in both processes", format!("jdk {version}")))
    }

    fn found(&self, severity: Severity, meaning: &str, remedy: &str) -> Finding {
        let subject = Subject::Factor { variants: self.variants, factor: self.factor.to_owned() };
        RULE.found(severity, subject, meaning, remedy)
    }

    fn names(&self) -> String {
        self.variants.map(|variant| name(self.record, variant)).join(" and ")
    }

    /// What both processes have of a setting, if they have the same.
    fn in_both(&self, requested: &RequestedSetting) -> Option<String> {
        let read = self.variants.map(|variant| settings::read_back_of(self.record, variant, requested));
        let is_same = |first: &Setting, second: &Setting| {
            has_value(first) && has_value(second) && first.live.is_some() && first.live == second.live
        };
        match read {
            [Some(first), Some(second)] if !is_options(requested) || first.requested == second.requested => {
                // Of two commands: they differ in options only, all of which are the default.
                let are_defaults = is_command(requested) && self.is_default(first) && self.is_default(second);
                return (is_same(first, second) || are_defaults).then(|| shown(first));
            }
            _ => {}
        }
        let mut askers = self.variants.into_iter().zip(read).filter_map(|(variant, read)| Some((variant, read?)));
        if is_options(requested) && !askers.all(|(variant, read)| self.is_read(variant, read)) {
            return None;
        }
        if let [Some(first), Some(second)] = self.variants.map(|variant| settings::has(self.record, variant, requested))
        {
            return (first == second).then(|| first.to_owned());
        }
        match read {
            [Some(first), Some(second)] => {
                let are_defaults = self.is_default(first) && self.is_default(second);
                (is_same(first, second) || are_defaults).then(|| shown(first))
            }
            [Some(read), None] => self.is_not_requested(requested, read, self.variants[1]).then(|| shown(read)),
            [None, Some(read)] => self.is_not_requested(requested, read, self.variants[0]).then(|| shown(read)),
            [None, None] => None,
        }
    }

    /// Whether a variant that does not ask for a setting has what the other one has, as far as its launches show.
    fn is_not_requested(&self, requested: &RequestedSetting, read: &Setting, variant: VariantIndex) -> bool {
        let is_default = self.is_default(read);
        if !matches!(requested.key, Key::Env(_)) {
            return is_default;
        }
        let is_script = matches!(self.record.study.variants[variant].server.runtime, Runtime::Command { .. });
        let Some(launch) = self.launches(variant).next().filter(|launch| !launch.hides_env || !is_script) else {
            return false;
        };
        match launch.env.get(&requested.name).map(|value| without_probe(value)).filter(|value| !value.is_empty()) {
            Some(value) => has_value(read) && read.live.as_ref() == Some(&value),
            None => is_default,
        }
    }

    /// Whether the process has what the same runtime has without the setting, and without all else of its level.
    fn is_default(&self, read: &Setting) -> bool {
        let [first, second] = self.variants.map(|variant| self.launches(variant).next().map(|launch| &launch.versions));
        read.result == SettingResult::AlreadyDefault && first == second
    }

    /// Whether a variable's options are those of the process that serves: they are in effect there, and its runtime reads the variable,
    /// or they stand on its command line. Another process may be the one that they are meant for.
    fn is_read(&self, variant: VariantIndex, read: &Setting) -> bool {
        let is_on = |launch: &LaunchFacts, word: &str| {
            let handed_on = jruby::handed_to_jvm(word);
            launch.command.iter().any(|other| other == word || Some(other) == handed_on.as_ref())
        };
        let holds = matches!(read.result, SettingResult::InEffect | SettingResult::AlreadyDefault);
        let all_on = |launch: &LaunchFacts| read.requested.split_whitespace().all(|word| is_on(launch, word));
        let variable = OptionVariable::of(read.key.name(), &read.requested);
        holds
            && (variable.is_some_and(OptionVariable::is_read_by_runtime)
                || self.launches(variant).next().is_some_and(all_on))
    }

    fn launches(&self, variant: VariantIndex) -> impl Iterator<Item = &'a LaunchFacts> {
        launches(self.record, variant).filter_map(|trial| trial.launch.as_ref())
    }
}

/// Whether a variable carries options, each of which comes to something of its own.
fn is_options(requested: &RequestedSetting) -> bool {
    matches!(requested.key, Key::Env(_)) && requested.value.trim_start().starts_with('-')
}

fn is_command(requested: &RequestedSetting) -> bool {
    requested.key == Key::Runtime(RuntimePart::Command)
}

/// Whether what was read is the setting's own value: of a variable of options that did not all happen it is what became of one of them.
fn has_value(read: &Setting) -> bool {
    use SettingResult::{AlreadyDefault, InEffect, Inert};
    !matches!(read.key, Key::Env(_)) || matches!(read.result, InEffect | AlreadyDefault | Inert { .. })
}

fn shown(read: &Setting) -> String {
    settings::display(read.key.name(), read.live.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use model::LiveOptions;
    use model::SettingResult::{AlreadyDefault, InEffect, Overridden};
    use runtimes::{Given, jvm};

    use super::*;
    use crate::audit::testing::{found, gravest, in_settings};
    use crate::boundaries::Boundaries;
    use crate::fixture;

    fn set(record: &mut StudyRecord, variant: usize, change: impl Fn(&mut Vec<Setting>)) {
        record.trials.iter_mut().filter(|t| t.variant == variant).for_each(|trial| change(&mut trial.settings));
    }

    fn launched(record: &mut StudyRecord, variant: usize, change: impl Fn(&mut LaunchFacts)) {
        let trials = record.trials.iter_mut().filter(|trial| trial.variant == variant);
        trials.filter_map(|trial| trial.launch.as_mut()).for_each(change);
    }

    fn requested(given: Given) -> RequestedSetting {
        RequestedSetting::new(&fixture::study().factors[0].name, given)
    }

    fn read(given: &Given, result: SettingResult) -> Setting {
        let Given { key, name, value } = given.clone();
        let default = (result == AlreadyDefault).then(|| value.clone());
        Setting { key, name, default, result, ..fixture::setting(&value) }
    }

    /// A run whose levels set these, and whose processes were launched with nothing else and have them on their command line.
    fn levels(levels: [&[(Given, SettingResult)]; 2]) -> StudyRecord {
        let mut record = fixture::record(5, 0.0);
        for (variant, level) in levels.into_iter().enumerate() {
            record.study.variants[variant].treatment =
                level.iter().map(|(given, _)| requested(given.clone())).collect();
            set(&mut record, variant, |settings| {
                *settings = level.iter().map(|(given, result)| read(given, result.clone())).collect();
            });
            launched(&mut record, variant, |launch| {
                launch.command.retain(|word| !word.starts_with("-Djruby."));
                let text = |given: &Given| match given.key {
                    Key::Env(_) => given.value.clone(),
                    _ => given.name.clone(),
                };
                let texts: Vec<String> = level.iter().map(|(given, _)| text(given)).collect();
                launch.command.extend(texts.iter().flat_map(|text| text.split(' ')).map(str::to_owned));
            });
        }
        record
    }

    /// Levels of `JAVA_OPTS`, each with its result; none for a level that leaves it alone.
    fn options(of: [Option<(&str, SettingResult)>; 2]) -> StudyRecord {
        let [first, second] = of.map(|level| {
            let level = level.into_iter().map(|(text, result)| (Given::variable("JAVA_OPTS", text), result));
            level.collect::<Vec<_>>()
        });
        levels([&first, &second])
    }

    /// What a variant's processes have of something that the study varies.
    fn tells(record: &mut StudyRecord, variant: usize, requested: &RequestedSetting, live: &str) {
        let RequestedSetting { key, name, value, .. } = requested.clone();
        let reported = LiveOptions { key, name, value, live: live.to_owned() };
        launched(record, variant, |launch| launch.varied.push(reported.clone()));
    }

    #[test]
    fn one_level_being_the_default_is_normal() {
        assert_eq!(found(rule, &fixture::record(5, 0.0)), []);
        // Also when the baseline asks for nothing and has the default unread.
        let on = [(Given::property("a", "1"), InEffect)];
        assert_eq!(found(rule, &levels([&[], &on])), []);
    }

    #[test]
    fn a_level_that_asks_for_the_default_is_no_treatment() {
        let on = [(Given::property("a", "1"), AlreadyDefault)];
        assert_eq!(gravest(rule, &levels([&[], &on])), Some(Severity::Invalid));
        // Unless the one that does not ask has another value all the same, as by a file that the runtime reads.
        let mut record = levels([&[], &on]);
        let property = requested(Given::property("a", "1"));
        tells(&mut record, 0, &property, "a = 2");
        tells(&mut record, 1, &property, "a = 1");
        assert_eq!(gravest(rule, &record), None);
    }

    /// Two factors: what is the default with one level of the other is not with its other level.
    #[test]
    fn a_default_is_that_of_the_pair() {
        let mut record = fixture::record(5, 0.0);
        let factors = [("memory", ["small", "large"]), ("threads", ["any", "two"])];
        record.study.factors = factors.map(|(name, levels)| model::testing::factor(name, &levels)).to_vec();
        let [off, _] = &record.study.variants[..] else { panic!("two variants") };
        let requested = |factor: &str, option: &str| RequestedSetting::new(factor, jvm::given(option));
        let variants: Vec<_> = [("small", "any"), ("small", "two"), ("large", "any"), ("large", "two")]
            .into_iter()
            .map(|(memory, threads)| {
                let mut variant = off.clone();
                variant.name = format!("{memory}/{threads}");
                variant.levels =
                    [("memory", memory), ("threads", threads)].map(|(f, l)| (f.to_owned(), l.to_owned())).into();
                variant.treatment = vec![requested("memory", if memory == "small" { "-Xmx1g" } else { "-Xmx4g" })];
                variant.treatment.extend((threads == "two").then(|| requested("threads", "-XX:ConcGCThreads=2")));
                variant
            })
            .collect();
        record.study.variants = variants;
        let trial = record.trials[0].clone();
        let threads = |default: &str| Setting {
            key: Key::JvmFlag("ConcGCThreads".to_owned()),
            name: "-XX:ConcGCThreads=2".to_owned(),
            default: Some(default.to_owned()),
            result: if default == "2" { AlreadyDefault } else { InEffect },
            ..fixture::setting("2")
        };
        let memory = |name: &str| Setting {
            key: Key::JvmFlag("MaxHeapSize".to_owned()),
            name: name.to_owned(),
            ..fixture::setting(name)
        };
        record.trials = (0..4)
            .map(|variant| {
                let mut settings = vec![memory(if variant < 2 { "-Xmx1g" } else { "-Xmx4g" })];
                // Of the small heap one thread is the default, of the large one two are.
                settings.extend((variant % 2 == 1).then(|| threads(if variant == 1 { "1" } else { "2" })));
                model::TrialRecord { variant, settings, ..trial.clone() }
            })
            .collect();
        let of = |found: Vec<(Severity, String)>| found.into_iter().map(|(_, subject)| subject).collect::<Vec<_>>();
        assert_eq!(of(found(rule, &record)), ["large/any and large/two: threads"]);
    }

    #[test]
    fn texts_of_options_are_the_same_where_all_of_them_are_the_default() {
        let judge = |levels| gravest(rule, &options(levels));
        let [serial, parallel] = ["-XX:+UseSerialGC", "-XX:+UseParallelGC"];
        assert_eq!(judge([Some((serial, InEffect)), Some((parallel, InEffect))]), None);
        assert_eq!(judge([Some((serial, AlreadyDefault)), Some((parallel, InEffect))]), None);
        assert_eq!(judge([None, Some((parallel, InEffect))]), None);
        // Texts that differ and come to the same.
        let threads = "-XX:+UseThreadPriorities";
        let both = [Some((serial, AlreadyDefault)), Some((threads, AlreadyDefault))];
        assert_eq!(judge(both), Some(Severity::Invalid));
        assert_eq!(judge([None, Some((threads, AlreadyDefault))]), Some(Severity::Invalid));
    }

    /// `java Main` and `java -XX:+UseG1GC Main`, where that is the default.
    #[test]
    fn commands_that_come_to_the_same_are_one_treatment() {
        let judge = |result: SettingResult| {
            let command = |text, result| [(Given::runtime(RuntimePart::Command, text), result)];
            let (plain, other) = (command("java Main", AlreadyDefault), command("java -XX:+UseG1GC Main", result));
            gravest(rule, &levels([&plain, &other]))
        };
        assert_eq!(judge(AlreadyDefault), Some(Severity::Invalid));
        assert_eq!(judge(InEffect), None);
    }

    /// `${JAVA_OPTS:--XX:+UseSerialGC -Xmx256m}`
    #[test]
    fn a_start_script_has_defaults_of_its_own() {
        let mut record = options([None, Some(("-XX:+UseG1GC", AlreadyDefault))]);
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        launched(&mut record, 0, |launch| launch.command.push("-Xmx256m".to_owned()));
        assert_eq!(gravest(rule, &record), None);
        // A variable that it exports.
        let slots = [(Given::variable("RUBY_GC_HEAP_INIT_SLOTS", "10000"), AlreadyDefault)];
        let of = |value: Option<&str>, hides: bool| {
            let mut record = levels([&[], &slots]);
            launched(&mut record, 0, |launch| {
                launch.hides_env = hides;
                launch.env.extend(value.map(|value| (slots[0].0.name.clone(), value.to_owned())));
            });
            launched(&mut record, 1, |launch| {
                launch.hides_env = hides;
                launch.command.pop();
                drop(launch.env.insert(slots[0].0.name.clone(), "10000".to_owned()));
            });
            gravest(rule, &record)
        };
        assert_eq!(of(None, false), Some(Severity::Invalid));
        assert_eq!(of(Some("10000"), false), Some(Severity::Invalid));
        assert_eq!(of(Some("600000"), false), None);
        // What a title hides a script may have exported.
        assert_eq!(of(None, true), None);
    }

    /// `-XX:NewSize=40m -XX:MaxNewSize=40m`: each was held against what it is without both of them.
    #[test]
    fn a_level_of_several_options_is_the_default_where_each_of_them_is() {
        let flags = ["-XX:NewSize=40m", "-XX:MaxNewSize=40m"];
        let both = flags.map(|flag| (jvm::given(flag), AlreadyDefault));
        assert_eq!(gravest(rule, &levels([&[], &both])), Some(Severity::Invalid));
        let text = flags.join(" ");
        assert_eq!(gravest(rule, &options([None, Some((text.as_str(), AlreadyDefault))])), Some(Severity::Invalid));
        let one = [both[0].clone(), (jvm::given(flags[1]), InEffect)];
        assert_eq!(gravest(rule, &levels([&[], &one])), None);
        let of = |max: &str| {
            let mut record = levels([&[], &both]);
            for (flag, [first, second]) in flags.iter().zip([["40m", "40m"], [max, "40m"]]) {
                let flag = requested(jvm::given(flag));
                tells(&mut record, 0, &flag, first);
                tells(&mut record, 1, &flag, second);
            }
            gravest(rule, &record)
        };
        assert_eq!(of("85m"), None);
        assert_eq!(of("40m"), Some(Severity::Invalid));
    }

    #[test]
    fn what_processes_have_of_options_decides_and_not_what_one_of_these_became() {
        let texts = ["-XX:+UseNUMA -Xmx64m", "-XX:+UseNUMA -Xmx256m"];
        let of = |result: SettingResult, heaps: [&str; 2]| {
            let mut record = options(texts.map(|text| Some((text, result.clone()))));
            if result == Overridden {
                for variant in 0..2 {
                    set(&mut record, variant, |read| read[0].live = Some("-XX:+UseNUMA: false".to_owned()));
                }
            }
            for (variant, heap) in heaps.into_iter().enumerate() {
                for text in texts {
                    tells(&mut record, variant, &requested(Given::variable("JAVA_OPTS", text)), heap);
                }
            }
            gravest(rule, &record)
        };
        assert_eq!(of(Overridden, ["64", "256"]), None);
        assert_eq!(of(Overridden, ["64", "64"]), None, "another veto's");
        assert_eq!(of(InEffect, ["64", "256"]), None);
        assert_eq!(of(InEffect, ["64", "64"]), Some(Severity::Invalid));
    }

    /// Such as those of a worker that the server starts.
    #[test]
    fn options_of_another_process_are_not_compared() {
        let mut record = options([None, Some(("-XX:+UseThreadPriorities", AlreadyDefault))]);
        launched(&mut record, 1, |launch| drop(launch.command.pop()));
        assert_eq!(gravest(rule, &record), None);
    }

    #[test]
    fn files_that_are_equal_are_reported() {
        let script = |value| (Given::runtime(RuntimePart::Script, value), InEffect);
        let (first, second) = ([script("v1/server.rb")], [script("v2/server.rb")]);
        let of = |sums: [&str; 2], slip: fn(&mut LaunchFacts)| {
            let mut record = levels([&first, &second]);
            for (variant, name) in ["v1/server.rb", "v2/server.rb"].into_iter().enumerate() {
                launched(&mut record, variant, |launch| {
                    drop(launch.libraries.shift_remove("server.rb"));
                    drop(launch.libraries.insert(name.to_owned(), sums[variant].to_owned()));
                });
            }
            launched(&mut record, 1, slip);
            gravest(rule, &record)
        };
        assert_eq!(of(["aa", "aa"], |_| ()), Some(Severity::Warning));
        assert_eq!(of(["aa", "bb"], |_| ()), None);
        assert_eq!(of(["aa", "aa"], |launch| drop(launch.gems.insert("rack".to_owned(), "3.0".to_owned()))), None);
        assert_eq!(
            of(["aa", "aa"], |launch| drop(launch.libraries.insert("lib.jar".to_owned(), "dd".to_owned()))),
            None
        );
    }

    #[test]
    fn a_jdk_that_is_the_same_whatever_the_variable_says_is_reported() {
        let home = |value| (Given::variable("JAVA_HOME", value), InEffect);
        let (first, second) = ([home("/opt/jdk-17")], [home("/opt/jdk-25")]);
        let of = |slip: fn(&mut LaunchFacts)| {
            let mut record = levels([&first, &second]);
            for (variant, value) in ["/opt/jdk-17", "/opt/jdk-25"].into_iter().enumerate() {
                launched(&mut record, variant, |launch| {
                    launch.command.pop();
                    drop(launch.env.insert("JAVA_HOME".to_owned(), value.to_owned()));
                });
            }
            launched(&mut record, 1, slip);
            gravest(rule, &record)
        };
        assert_eq!(of(|_| ()), Some(Severity::Warning));
        assert_eq!(of(|launch| drop(launch.versions.insert("jdk".to_owned(), "17".to_owned()))), None);
        assert_eq!(of(|launch| launch.command[0] = "/opt/jdk-25/bin/java".to_owned()), None);
    }

    #[test]
    fn an_a_a_test_is_reported_so() {
        let same = [(Given::property("a", "1"), InEffect)];
        let record = levels([&same, &same]);
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
        let boundaries = Boundaries::standard();
        let found = rule(&record, &crate::assess(&record, &boundaries));
        let meaning = "off and on are the same treatment: whatever differs between them is chance.";
        assert_eq!(found[0].meaning, meaning);
    }

    #[test]
    fn options_of_a_file() {
        let of = |options| in_settings(&RULE, fixture::settings(&[("JAVA_OPTS", 0, false, options)]));
        assert_eq!(of("-XX:-UseThreadPriorities -Da=b"), None);
        let found = of("-XX:+UseThreadPriorities").unwrap();
        assert_eq!(found.severity, Severity::Warning);
        let facts: Vec<_> = found.facts.iter().map(|fact| (fact.name.as_str(), fact.value.to_string())).collect();
        let (line, said) = ("line 1", "-XX:+UseThreadPriorities: the default is true");
        assert_eq!(facts, [(line, said.to_owned())]);
    }
}
