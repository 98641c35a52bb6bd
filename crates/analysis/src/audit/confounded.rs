//! Variants differ in more than the declared factors.
//!
//! Versions, libraries, environment and command line of all launches are laid side by side, as far as both sides show
//! them. What differs is explained when a setting of the variant's own treatment names it, or when a factor changes what
//! runs (kind `runtime`), which naturally changes versions, libraries, paths and the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::jvm::{GC_LOG, gc_log_option};
use model::report::EnvironmentDifference;
use model::study::{AskedSetting, Runtime, SettingKind};
use model::{FindingId, LaunchFacts, Severity, StudyRecord, VariantIndex};

use super::{Context, Found, launches, name};
use crate::compare::BASELINE;

/// Launches of each variant that teach which values vary by themselves (ports of services, temporary names).
const FEWEST: usize = 2;
/// Ports that systems hand out, by Linux's default and IANA's: a bare number among them is taken for one.
const EPHEMERAL: std::ops::RangeInclusive<u32> = 32_768..=65_535;
/// What stands where a secret was.
const MASK: &str = "***";

/// Invalid for each variant that differs from the baseline in something no factor explains; a warning while there are
/// too few launches to know what varies by itself.
pub fn rule(record: &StudyRecord, _: &Context) -> Vec<Found> {
    let sides = sides(record);
    let all = compared(record, &sides);
    let seen = |variant| inspected(record, variant).count();
    let has_enough = |variant| seen(variant) >= FEWEST;
    (BASELINE + 1..record.study.variants.len())
        .filter(|variant| seen(*variant) > 0 && seen(BASELINE) > 0)
        .filter_map(|variant| {
            let is_own = |(subject, difference): &&(&Subject, EnvironmentDifference)| {
                let are_shown = [BASELINE, variant].iter().all(|side| sides[*side].shows(subject));
                let differ = difference.values[variant] != difference.values[BASELINE];
                difference.factor.is_none() && are_shown && differ
            };
            let own: Vec<_> = all.iter().filter(is_own).map(|(_, difference)| difference).collect();
            if own.is_empty() {
                return None;
            }
            let is_known = has_enough(BASELINE) && has_enough(variant);
            let is_sure = own.iter().any(|difference| !may_follow(record, variant, difference));
            let found = Found::new(
                FindingId::Confounded,
                if is_known && is_sure { Severity::Invalid } else { Severity::Warning },
                format!("{} against {}", name(record, variant), name(record, BASELINE)),
                "The variants differ in more than the factors that the study declares, so a difference cannot be credited to them.",
                "Make the rest equal, or declare it: give it a factor, or put it into the level that needs it.",
            )
            .about(variant);
            let show = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".to_owned());
            let pairs = own.iter().map(|d| (d.subject.clone(), [&d.values[BASELINE], &d.values[variant]].map(show)));
            Some(pairs.fold(found, |found, (what, [a, b])| found.with(what, format!("{a} | {b}"))))
        })
        .collect()
}

/// Variables that say where Ruby's gems are.
const OF_GEMS: [&str; 6] = ["GEM_PATH", "GEM_HOME", "BUNDLE_GEMFILE", "BUNDLE_PATH", "BUNDLE_WITHOUT", "RUBYLIB"];

/// Whether a difference may be what the treatment brings along. A program that is told something else by a variable, a property or
/// an argument may load other code, by itself or, where it is told a folder, in place of what it has; a start script may make
/// anything of it, another runtime, too. The same gem in two versions follows only from where the gems are.
fn may_follow(record: &StudyRecord, variant: VariantIndex, difference: &EnvironmentDifference) -> bool {
    let sides = [BASELINE, variant];
    let begins = |subjects: &[&str]| subjects.iter().any(|subject| difference.subject.starts_with(subject));
    let is_one_sided = sides.iter().any(|side| difference.values[*side].is_none());
    let runs_command = |side: &usize| matches!(record.study.variants[*side].server.runtime, Runtime::Command { .. });
    let is_handed_on =
        sides.iter().all(runs_command) && begins(&["version ", "Ruby's build ", "command line", "environment "]);
    let tells =
        |asked: &&AskedSetting| matches!(asked.kind, SettingKind::Env | SettingKind::Property | SettingKind::Argument);
    let mut told = sides.iter().flat_map(|side| &record.study.variants[*side].treatment).filter(tells);
    told.any(|asked| {
        is_handed_on
            || begins(&["gem ", "loaded "]) && is_one_sided
            || begins(&["loaded "]) && asked.value.contains('/')
            || begins(&["gem "]) && asked.kind == SettingKind::Env && OF_GEMS.contains(&asked.name.as_str())
    })
}

/// The launches of a variant that were looked into, which is done before they are warmed up: of those that failed before nobody
/// knows what they had loaded.
fn inspected(record: &StudyRecord, variant: VariantIndex) -> impl Iterator<Item = &LaunchFacts> {
    launches(record, variant).filter(|trial| trial.warm_up.is_some()).filter_map(|trial| trial.launch.as_ref())
}

/// How the variants' processes differ, as far as any was looked into; differences that no factor explains first.
pub fn differences(record: &StudyRecord) -> Vec<EnvironmentDifference> {
    compared(record, &sides(record)).into_iter().map(|(_, difference)| difference).collect()
}

fn sides(record: &StudyRecord) -> Vec<Side> {
    let mut sides: Vec<Side> = (0..record.study.variants.len()).map(|variant| Side::of(record, variant)).collect();
    // What comes late in one variant may not have come yet in any launch of another.
    let late: BTreeSet<Subject> = sides.iter().flat_map(|side| side.late.clone()).collect();
    for side in &mut sides {
        side.late = late.iter().filter(|subject| !side.values.contains_key(*subject)).cloned().collect();
    }
    sides
}

fn compared<'a>(record: &StudyRecord, sides: &'a [Side]) -> Vec<(&'a Subject, EnvironmentDifference)> {
    let subjects: BTreeSet<&Subject> = sides.iter().flat_map(|side| side.values.keys()).collect();
    let differences =
        |subject| compare(record, subject, sides).into_iter().map(move |difference| (subject, difference));
    let mut all: Vec<_> = subjects.into_iter().flat_map(differences).collect();
    all.sort_by_key(|(_, difference)| difference.factor.is_some());
    all
}

/// What is laid side by side, in the order shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Subject {
    Version(String),
    Library(String),
    Gem(String),
    Opened(String),
    Build(String),
    Command,
    Environment(String),
}

impl Subject {
    fn title(&self) -> String {
        match self {
            Self::Version(name) => format!("version {name}"),
            Self::Library(name) => format!("library {name}"),
            Self::Gem(name) => format!("gem {name}"),
            Self::Opened(name) => format!("loaded {name}"),
            Self::Build(name) => format!("Ruby's build {name}"),
            Self::Command => "command line".to_owned(),
            Self::Environment(name) => format!("environment {name}"),
        }
    }

    /// Whether a value that differs between launches of one variant may be natural. Not what is installed.
    fn may_vary(&self) -> bool {
        matches!(self, Self::Opened(_) | Self::Command | Self::Environment(_))
    }
}

/// The words of each subject in every launch of one variant; all launches that agree are one entry.
struct Side {
    values: BTreeMap<Subject, BTreeSet<Vec<String>>>,
    launches: usize,
    /// Gems that a launch has or lacks by chance, since they are loaded when they are first needed.
    late: BTreeSet<Subject>,
}

impl Side {
    fn of(record: &StudyRecord, variant: VariantIndex) -> Self {
        let mut side = Self { values: BTreeMap::new(), launches: 0, late: BTreeSet::new() };
        let mut told_gems = 0;
        let mut seen: BTreeMap<Subject, usize> = BTreeMap::new();
        for launch in inspected(record, variant) {
            side.launches += 1;
            // One whose Rubies were too busy to tell says nothing of gems.
            told_gems += usize::from(!launch.gems.is_empty());
            for (subject, words) in facts(&record.study.dir, launch) {
                *seen.entry(subject.clone()).or_default() += 1;
                side.values.entry(subject).or_default().insert(words);
            }
        }
        for (subject, launches) in seen {
            match subject {
                // A launch that has not opened it is one that has another in its place, as with temporary names.
                Subject::Opened(_) if launches < side.launches => {
                    side.values.entry(subject).or_default().insert(Vec::new());
                }
                Subject::Gem(_) if launches < told_gems => {
                    side.late.insert(subject);
                }
                _ => {}
            }
        }
        side
    }

    /// Whether any launch shows it: a process may have a title in place of its command line and environment, and a Ruby that is
    /// busy tells no gems.
    fn shows(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Command => self.values.contains_key(subject),
            Subject::Environment(_) => self.values.keys().any(|subject| matches!(subject, Subject::Environment(_))),
            Subject::Gem(_) => {
                let tells_gems = self.values.keys().any(|told| matches!(told, Subject::Gem(_)));
                let runs_ruby = self.values.keys().any(|told| matches!(told, Subject::Build(_)));
                self.launches > 0 && (tells_gems || !runs_ruby) && !self.late.contains(subject)
            }
            _ => self.launches > 0,
        }
    }

    /// Words of a subject in one text; `None` where there are none.
    fn told(&self, subject: &Subject, words: &[&str]) -> Option<String> {
        if self.launches > 0 && !self.shows(subject) {
            return Some("(not shown)".to_owned());
        }
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The words of a subject; those that not all launches have are left out where they may vary by themselves.
    fn words(&self, subject: &Subject) -> BTreeSet<&str> {
        let Some(values) = self.values.get(subject) else { return BTreeSet::new() };
        let mut sets = values.iter().map(|words| words.iter().map(String::as_str).collect::<BTreeSet<_>>());
        let first = sets.next().unwrap_or_default();
        sets.fold(first, |all, words| if subject.may_vary() { &all & &words } else { &all | &words })
    }

    /// Words that some launches have and others lack.
    fn varying_words(&self, subject: &Subject) -> BTreeSet<&str> {
        let steady = self.words(subject);
        let all = self.values.get(subject).into_iter().flatten().flatten();
        all.map(String::as_str).filter(|word| !steady.contains(word)).collect()
    }
}

fn facts(dir: &Path, launch: &LaunchFacts) -> Vec<(Subject, Vec<String>)> {
    let normal = |text: &str| text.split_whitespace().map(|word| normalise(word, dir, launch)).collect::<Vec<_>>();
    let versions = launch.versions.iter().map(|(name, value)| (Subject::Version(name.clone()), vec![value.clone()]));
    let libraries = launch.libraries.iter().map(|(name, hash)| (Subject::Library(name.clone()), vec![hash.clone()]));
    let shown = launch.env.iter().filter(|_| !launch.hides_env);
    let env = shown.map(|(name, value)| (Subject::Environment(name.clone()), normal(value)));
    let gems = launch.gems.iter().map(|(name, version)| (Subject::Gem(name.clone()), vec![version.clone()]));
    let opened = launch.opened.iter().map(|(name, hash)| (Subject::Opened(name.clone()), vec![hash.clone()]));
    let build = launch.build.iter().map(|(name, value)| (Subject::Build(name.clone()), normal(value)));
    // Ours, and no part of what is compared: a JVM before version 9 has no such log.
    let ours = gc_log_option(&format!("{{trial_dir}}/{GC_LOG}"));
    let words = launch.command.iter().map(|word| normalise(word, dir, launch));
    let command = words.filter(|word| *word != ours).collect();
    let command = (!launch.hides_command).then_some((Subject::Command, command));
    versions.chain(libraries).chain(gems).chain(opened).chain(build).chain(env).chain(command).collect()
}

/// A word with what belongs to one launch or one place (folders, port, process id, other ports) replaced by the placeholder
/// that stands for it in a study, so that it can be told in the study's own words.
fn normalise(word: &str, dir: &Path, launch: &LaunchFacts) -> String {
    let folders = [(launch.log.parent().unwrap_or(Path::new("")), "{trial_dir}"), (dir, "{dir}")];
    let told = |folder: &Path| Some(folder.display().to_string()).filter(|folder| folder.len() > 1);
    let word = folders.into_iter().fold(word.to_owned(), |word, (folder, name)| match told(folder) {
        Some(folder) => word.replace(&folder, name),
        None => word,
    });
    name_numbers(&word, |number| match number {
        number if number == u32::from(launch.port) => Some("{port}"),
        number if number == launch.pid => Some("{pid}"),
        _ => None,
    })
}

/// Replaces whole numbers that `name` knows, or that are ports by their range.
fn name_numbers(word: &str, name: impl Fn(u32) -> Option<&'static str>) -> String {
    let mut named = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let length = rest[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - start);
        let (before, digits, after) = (&rest[..start], &rest[start..start + length], &rest[start + length..]);
        let is_whole =
            !before.ends_with(|c: char| c.is_alphanumeric()) && !after.starts_with(|c: char| c.is_alphanumeric());
        let number = digits.parse::<u32>().ok().filter(|_| is_whole);
        let by_range = |number: u32| EPHEMERAL.contains(&number).then_some("{port}");
        named.push_str(before);
        named.push_str(number.and_then(|number| name(number).or_else(|| by_range(number))).unwrap_or(digits));
        rest = after;
    }
    named + rest
}

/// A text of the study as [`normalise`] leaves it in a launch: a service's port is a port, a secret is masked.
fn as_launched(text: &str) -> String {
    let mut launched = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        launched.push_str(before);
        let end = from.find('}').map_or(1, |end| end + 1);
        let (name, length) = match &from[..end] {
            name if name.starts_with("{port.") => ("{port}", end),
            name if name.starts_with("{env.") => (MASK, end),
            _ => ("{", 1),
        };
        launched.push_str(name);
        rest = &from[length..];
    }
    name_numbers(&(launched + rest), |_| None)
}

/// The differences of one subject, one for each factor that explains some of it and one for what none does.
fn compare(record: &StudyRecord, subject: &Subject, sides: &[Side]) -> Vec<EnvironmentDifference> {
    let own: Vec<BTreeSet<&str>> = sides.iter().map(|side| side.words(subject)).collect();
    let varying: BTreeSet<&str> = sides.iter().flat_map(|side| side.varying_words(subject)).collect();
    let varying = if subject.may_vary() { varying } else { BTreeSet::new() };
    let changed = !subject.may_vary() && sides.iter().any(|side| side.values.get(subject).is_some_and(|v| v.len() > 1));
    let known = own.iter().zip(sides).filter(|(_, side)| side.shows(subject)).map(|(words, _)| words.clone());
    let common = known.reduce(|common, words| &common & &words).unwrap_or_default();
    let mut by_factor: BTreeMap<Option<String>, Vec<Vec<&str>>> = BTreeMap::new();
    for (variant, words) in own.iter().enumerate() {
        for word in words.iter().filter(|word| (changed || !common.contains(*word)) && !varying.contains(*word)) {
            let factor = if changed { None } else { explaining_factor(record, variant, subject, word) };
            by_factor.entry(factor).or_insert_with(|| vec![Vec::new(); own.len()])[variant].push(word);
        }
    }
    by_factor
        .into_iter()
        .map(|(factor, words)| EnvironmentDifference {
            subject: subject.title(),
            values: words.into_iter().zip(sides).map(|(words, side)| side.told(subject, &words)).collect(),
            factor,
        })
        .collect()
}

/// The factor that accounts for a word of a variant. Where the words are there because of another variant's treatment
/// (this one lacks the override), any variant's treatment may name them.
fn explaining_factor(record: &StudyRecord, variant: VariantIndex, subject: &Subject, word: &str) -> Option<String> {
    let own = record.study.variants[variant].treatment.iter();
    let others = record.study.variants.iter().flat_map(|variant| &variant.treatment);
    let by_own = own.clone().find(|asked| names(asked, subject, word));
    let runtime = || others.clone().find(|asked| is_runtimes(asked, subject, word));
    let by_value = || others.clone().find(|asked| names_subject(asked, subject));
    by_own.or_else(by_value).or_else(runtime).map(|asked| asked.factor.clone())
}

/// Whether a setting is what put this word there.
fn names(asked: &AskedSetting, subject: &Subject, word: &str) -> bool {
    let [name, value] = [&asked.name, &asked.value].map(|text| as_launched(text));
    if name.is_empty() || names_subject(asked, subject) {
        return names_subject(asked, subject);
    }
    let has_value = value.is_empty() || word.contains(&value);
    let stands_for = |part: &str| part == word || handed_on(part).is_some_and(|option| option == word);
    let is_words = [&name, &value].into_iter().any(|text| text.split_whitespace().any(stands_for));
    // As a program below a folder that a variable names.
    let is_below = value.contains('/') && word.starts_with(&value);
    is_words || is_below || mentions(word, &name) && has_value
}

/// What stands on a command line for an option: JRuby's launcher hands those of `JRUBY_OPTS` on as the JVM's.
fn handed_on(option: &str) -> Option<String> {
    let property = || option.strip_prefix("-X").map(|property| format!("-Djruby.{property}"));
    option.strip_prefix("-J").map(str::to_owned).or_else(property)
}

/// Whether a setting is about the subject as such: this variable, this library.
fn names_subject(asked: &AskedSetting, subject: &Subject) -> bool {
    match subject {
        Subject::Environment(variable) => asked.kind == SettingKind::Env && asked.name == *variable,
        Subject::Library(library) | Subject::Gem(library) | Subject::Opened(library) => {
            mentions(&asked.name, library) || mentions(&asked.value, library)
        }
        Subject::Build(_) | Subject::Version(_) | Subject::Command => false,
    }
}

/// Whether a change of what runs naturally brings this word along.
fn is_runtimes(asked: &AskedSetting, subject: &Subject, word: &str) -> bool {
    asked.kind == SettingKind::Runtime
        && match subject {
            Subject::Environment(_) => word.contains('/'),
            _ => true,
        }
}

/// Whether `text` has `name` in it, not as part of a longer name.
fn mentions(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            !text[at + name.len()..].starts_with(is_name) && (!name.starts_with(is_name) || !text[..at].ends_with('_'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::gravest;
    use crate::fixture;

    fn change(record: &mut StudyRecord, variant: usize, change: impl Fn(&mut LaunchFacts)) {
        let trials = record.trials.iter_mut().filter(|trial| trial.variant == variant);
        trials.filter_map(|trial| trial.launch.as_mut()).for_each(change);
    }

    #[test]
    fn the_declared_difference_is_explained() {
        let record = fixture::record(5, 0.0);
        assert_eq!(
            differences(&record),
            [EnvironmentDifference {
                subject: "command line".to_owned(),
                values: vec![
                    Some("-Djruby.compile.invokedynamic=false".to_owned()),
                    Some("-Djruby.compile.invokedynamic=true".to_owned())
                ],
                factor: Some("invokedynamic".to_owned()),
            }]
        );
        assert_eq!(gravest(rule, &record), None);
    }

    #[test]
    fn a_flag_a_library_a_variable_or_a_version_that_slipped_in() {
        let slips: [fn(&mut LaunchFacts); 4] = [
            |launch| launch.command.insert(1, "-Xmx2g".to_owned()),
            |launch| drop(launch.libraries.insert("json.jar".to_owned(), "cc".to_owned())),
            |launch| drop(launch.env.insert("MALLOC_ARENA_MAX".to_owned(), "2".to_owned())),
            |launch| drop(launch.versions.insert("jdk".to_owned(), "21".to_owned())),
        ];
        for slip in slips {
            let mut record = fixture::record(5, 0.0);
            change(&mut record, 1, slip);
            assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
            assert_eq!(differences(&record).iter().filter(|d| d.factor.is_none()).count(), 1);
        }
    }

    #[test]
    fn launches_that_nobody_looked_into_differ_in_nothing() {
        let mut record = fixture::record(5, 0.0);
        let failed = |record: &mut StudyRecord, count| {
            for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1).take(count) {
                fixture::fail(trial);
                trial.warm_up = None;
                let launch = trial.launch.as_mut().unwrap();
                launch.gems.clear();
                launch.build.insert("CFLAGS".to_owned(), "-O0".to_owned());
            }
        };
        failed(&mut record, 2);
        assert_eq!(gravest(rule, &record), None);
        failed(&mut record, usize::MAX);
        assert_eq!(gravest(rule, &record), None);
        assert_eq!(differences(&record), []);
        // Failed under load, it had been looked into.
        let mut record = fixture::record(5, 0.0);
        change(&mut record, 1, |launch| launch.gems.clear());
        record.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    /// A json gem slipped in once, and nine conclusions were drawn from what it did.
    #[test]
    fn a_gem_that_slipped_in() {
        let mut record = fixture::record(5, 0.0);
        change(&mut record, 1, |launch| drop(launch.gems.insert("json".to_owned(), "2.9.1".to_owned())));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        let other = differences(&record).into_iter().find(|difference| difference.factor.is_none()).unwrap();
        assert_eq!(other.subject, "gem json");
        assert_eq!(other.values, [Some("2.7.1".to_owned()), Some("2.9.1".to_owned())]);
    }

    #[test]
    fn gems_that_a_busy_ruby_does_not_tell_are_no_difference() {
        let mut record = fixture::record(5, 0.0);
        for variant in [0, 1] {
            change(&mut record, variant, |launch| drop(launch.build.insert("CC".to_owned(), "gcc".to_owned())));
        }
        record.trials[0].launch.as_mut().unwrap().gems.clear();
        assert_eq!(gravest(rule, &record), None);
        change(&mut record, 1, |launch| launch.gems.clear());
        assert_eq!(gravest(rule, &record), None);
        assert!(!differences(&record).iter().any(|difference| difference.subject.starts_with("gem ")));
        // Where no Ruby tells of itself there are none.
        for variant in [0, 1] {
            change(&mut record, variant, |launch| launch.build.clear());
        }
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    /// Loaded by the first request that needs it, which not every launch gets before it is looked into.
    #[test]
    fn a_gem_that_comes_late_is_no_difference_but_another_version_of_it_is() {
        let late = |record: &mut StudyRecord, index: usize, version: &str| {
            let launch = record.trials[index].launch.as_mut().unwrap();
            launch.gems.insert("late".to_owned(), version.to_owned());
        };
        let mut record = fixture::record(5, 0.0);
        let of = |variant| record.trials.iter().position(|trial| trial.variant == variant).unwrap();
        let (own, others) = (of(1), of(0));
        late(&mut record, own, "1.0");
        assert_eq!(gravest(rule, &record), None);
        assert!(!differences(&record).iter().any(|difference| difference.subject.starts_with("gem ")));
        late(&mut record, others, "1.0");
        assert_eq!(gravest(rule, &record), None);
        late(&mut record, others, "2.0");
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    /// As class loaders do that unpack jars under names of their own.
    #[test]
    fn archives_of_temporary_names_are_no_difference() {
        let mut record = fixture::record(5, 0.0);
        for (index, trial) in record.trials.iter_mut().enumerate() {
            let launch = trial.launch.as_mut().unwrap();
            launch.opened.insert(format!("jruby{index}json.jar"), "ee".to_owned());
        }
        assert_eq!(gravest(rule, &record), None);
        change(&mut record, 1, |launch| drop(launch.opened.insert("puma.jar".to_owned(), "dd".to_owned())));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn a_gem_of_one_side_may_be_what_a_variable_brought() {
        let mut record = fixture::record(5, 0.0);
        change(&mut record, 1, |launch| drop(launch.gems.insert("puma".to_owned(), "6.4.0".to_owned())));
        change(&mut record, 1, |launch| drop(launch.opened.insert("puma.jar".to_owned(), "dd".to_owned())));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        record.study.variants[1].treatment.push(AskedSetting {
            factor: "invokedynamic".to_owned(),
            kind: SettingKind::Env,
            name: "HANDLER".to_owned(),
            value: "threads".to_owned(),
        });
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }

    #[test]
    fn an_undeclared_option_beside_a_declared_one_in_the_same_variable() {
        let mut record = fixture::record(5, 0.0);
        for (variant, value) in [(0, "false"), (1, "true")] {
            change(&mut record, variant, |launch| {
                launch.env.insert("JRUBY_OPTS".to_owned(), format!("-Xcompile.invokedynamic={value} -J-Xmx1g"));
            });
        }
        assert_eq!(gravest(rule, &record), None);
        change(&mut record, 1, |launch| launch.env["JRUBY_OPTS"].push_str(" --dev"));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    /// What a launcher makes of its variable, and where a variable has the program found.
    #[test]
    fn what_a_start_script_makes_of_a_variable() {
        let mut record = fixture::record(5, 0.0);
        let asked = |name: &str, value: &str| AskedSetting {
            factor: "script".to_owned(),
            kind: SettingKind::Env,
            name: name.to_owned(),
            value: value.to_owned(),
        };
        record.study.variants[1]
            .treatment
            .extend([asked("JRUBY_OPTS", "-J-Xmx1g -Xjit.threshold=30"), asked("JAVA_HOME", "/opt/jdk-21")]);
        let words = ["-Xmx1g", "-Djruby.jit.threshold=30", "/opt/jdk-21/bin/java"].map(str::to_owned);
        change(&mut record, 1, |launch| launch.command.extend(words.clone()));
        assert_eq!(gravest(rule, &record), None);
        change(&mut record, 1, |launch| drop(launch.versions.insert("jdk".to_owned(), "21".to_owned())));
        let mut of = |runtime: Runtime| {
            record.study.variants.iter_mut().for_each(|variant| variant.server.runtime = runtime.clone());
            gravest(rule, &record)
        };
        assert_eq!(of(Runtime::Command { command: "sh start.sh".to_owned() }), Some(Severity::Warning));
        let ruby = Runtime::Ruby { version: None, options: Vec::new(), script: "server.rb".to_owned() };
        assert_eq!(of(ruby), Some(Severity::Invalid));
    }

    #[test]
    fn words_that_a_start_script_makes_of_a_variable_may_follow() {
        let mut record = fixture::record(5, 0.0);
        record.study.variants[1].treatment.push(AskedSetting {
            factor: "heap".to_owned(),
            kind: SettingKind::Env,
            name: "HEAP".to_owned(),
            value: "256".to_owned(),
        });
        for (variant, heap) in ["128", "256"].into_iter().enumerate() {
            change(&mut record, variant, |launch| launch.command.push(format!("-Xmx{heap}m")));
            change(&mut record, variant, |launch| {
                drop(launch.env.insert("OPTIONS".to_owned(), format!("-Xmx{heap}m")));
            });
        }
        let of = |record: &mut StudyRecord, runtime: Runtime| {
            record.study.variants.iter_mut().for_each(|variant| variant.server.runtime = runtime.clone());
            gravest(rule, record)
        };
        let ruby = Runtime::Ruby { version: None, options: Vec::new(), script: "server.rb".to_owned() };
        assert_eq!(of(&mut record, ruby), Some(Severity::Invalid));
        let command = Runtime::Command { command: "sh start.sh".to_owned() };
        assert_eq!(of(&mut record, command), Some(Severity::Warning));
        // What is installed is not made by a script.
        change(&mut record, 1, |launch| drop(launch.libraries.insert("json.jar".to_owned(), "cc".to_owned())));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn gems_and_archives_follow_from_where_they_are_looked_for() {
        let with = |name: &str, value: &str, slip: fn(&mut LaunchFacts, usize)| {
            let mut record = fixture::record(5, 0.0);
            record.study.variants[1].treatment.push(AskedSetting {
                factor: "version".to_owned(),
                kind: SettingKind::Env,
                name: name.to_owned(),
                value: value.to_owned(),
            });
            (0..2).for_each(|variant| change(&mut record, variant, |launch| slip(launch, variant)));
            gravest(rule, &record)
        };
        let gem =
            |launch: &mut LaunchFacts, variant| drop(launch.gems.insert("widget".to_owned(), format!("{variant}.0")));
        let archive =
            |launch: &mut LaunchFacts, variant| drop(launch.opened.insert("app.jar".to_owned(), format!("{variant}a")));
        assert_eq!(with("GEM_PATH", "{dir}/g2", gem), Some(Severity::Warning));
        assert_eq!(with("MODE", "/fast", gem), Some(Severity::Invalid));
        assert_eq!(with("APP_HOME", "{dir}/v2", archive), Some(Severity::Warning));
        assert_eq!(with("MODE", "fast", archive), Some(Severity::Invalid));
    }

    #[test]
    fn ports_folders_and_what_varies_by_itself_are_natural() {
        let mut record = fixture::record(5, 0.0);
        for (number, trial) in record.trials.iter_mut().enumerate() {
            let launch = trial.launch.as_mut().unwrap();
            launch.env.insert("DATABASE".to_owned(), format!("jdbc://127.0.0.1:{}/app", 50_000 + number));
            launch.env.insert("TOKEN".to_owned(), format!("random-{number}"));
            launch.command.push(format!("--pid={}", launch.pid));
        }
        assert_eq!(gravest(rule, &record), None);
    }

    /// A level's texts are compared with a launch that has their placeholders filled in.
    #[test]
    fn placeholders_and_large_numbers_of_a_level_are_recognised() {
        let mut record = fixture::record(5, 0.0);
        let asked = [
            (SettingKind::Argument, "--config={dir}/on.toml", "", "--config=/study/on.toml"),
            (SettingKind::Argument, "--out={trial_dir}/x{y}", "", "--out=TRIAL/x{y}"),
            (SettingKind::Argument, "--db=127.0.0.1:{port.db}/a", "", "--db=127.0.0.1:40123/a"),
            (SettingKind::Argument, "--token={env.TOKEN}.", "", "--token=***."),
            (SettingKind::JvmFlag, "-XX:TimeLimit=50000", "", "-XX:TimeLimit=50000"),
            (SettingKind::Property, "cache.folder", "{dir}/cache", "-Dcache.folder=/study/cache"),
            (SettingKind::Property, "cache.size", "40000", "-Dcache.size=40000"),
        ];
        change(&mut record, 1, |launch| {
            let trial = launch.log.parent().unwrap().display().to_string();
            launch.command.extend(asked.map(|(.., word)| word.replace("TRIAL", &trial)));
        });
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        record.study.variants[1].treatment.extend(asked.map(|(kind, name, value, _)| AskedSetting {
            factor: "invokedynamic".to_owned(),
            kind,
            name: name.to_owned(),
            value: value.to_owned(),
        }));
        let unexplained: Vec<_> = differences(&record).into_iter().filter(|d| d.factor.is_none()).collect();
        assert_eq!(unexplained, []);
    }

    #[test]
    fn a_library_that_changed_during_the_run() {
        let mut record = fixture::record(5, 0.0);
        record.trials[9].launch.as_mut().unwrap().libraries.insert("jruby.jar".to_owned(), "ee".to_owned());
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn another_runtime_brings_its_command_along() {
        let mut record = fixture::record(5, 0.0);
        for (variant, value) in record.study.variants.iter_mut().zip(["jruby", "ruby"]) {
            variant.treatment = vec![AskedSetting {
                factor: "invokedynamic".to_owned(),
                kind: SettingKind::Runtime,
                name: "runtime".to_owned(),
                value: value.to_owned(),
            }];
        }
        change(&mut record, 1, |launch| {
            launch.command = vec!["/usr/bin/ruby".to_owned(), "server.rb".to_owned()];
            launch.versions = [("ruby".to_owned(), "3.1".to_owned())].into();
            launch.libraries = [("server.rb".to_owned(), "bb".to_owned())].into();
            launch.env.insert("GEM_PATH".to_owned(), "/usr/share/gems".to_owned());
        });
        assert_eq!(gravest(rule, &record), None);
        change(&mut record, 1, |launch| drop(launch.env.insert("THREADS".to_owned(), "8".to_owned())));
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    /// What was launched is not what a start script made of it.
    #[test]
    fn what_a_title_hides_is_not_compared() {
        let scripts = |launch: &mut LaunchFacts| {
            launch.env.insert("APP_HOME".to_owned(), "/srv".to_owned());
            launch.command.push("--by-script".to_owned());
        };
        let hide = |launch: &mut LaunchFacts| (launch.hides_env, launch.hides_command) = (true, true);
        for hidden in [0, 1] {
            let mut record = fixture::record(5, 0.0);
            change(&mut record, 1 - hidden, scripts);
            assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
            change(&mut record, hidden, hide);
            assert_eq!(gravest(rule, &record), None);
            assert_eq!(differences(&record), []);
            // All else is.
            change(&mut record, 1, |launch| drop(launch.gems.insert("json".to_owned(), "2.9.1".to_owned())));
            assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
        }
        // One launch that shows it is enough.
        let mut record = fixture::record(5, 0.0);
        change(&mut record, 1, scripts);
        hide(record.trials[0].launch.as_mut().unwrap());
        assert_eq!(gravest(rule, &record), Some(Severity::Invalid));
    }

    #[test]
    fn with_one_launch_a_side_it_is_only_a_warning() {
        let mut record = fixture::record(0, 0.0);
        record.trials.truncate(2);
        change(&mut record, 1, |launch| drop(launch.env.insert("X".to_owned(), "1".to_owned())));
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }
}
