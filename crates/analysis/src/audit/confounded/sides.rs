//! What the launches of each variant show, laid side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::{LaunchFacts, StudyRecord, TrialKey, VariantIndex};
use runtimes::gc_log;

use crate::audit::launches;

/// Ports that systems hand out, by Linux's default and IANA's: a bare number among them is taken for one.
const EPHEMERAL: std::ops::RangeInclusive<u32> = 32_768..=65_535;

/// What is laid side by side, in the order shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    Version(String),
    Library(String),
    Gem(String),
    Opened(String),
    Build(String),
    Command,
    Environment(String),
}

impl Subject {
    pub fn title(&self) -> String {
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
    pub fn may_vary(&self) -> bool {
        matches!(self, Self::Opened(_) | Self::Command | Self::Environment(_))
    }
}

/// The words of each subject in every launch of one variant; all launches that agree are one entry.
pub struct Side {
    pub values: BTreeMap<Subject, BTreeSet<Vec<String>>>,
    launches: usize,
    /// Gems that a launch has or lacks by chance, since they are loaded when they are first needed.
    pub late: BTreeSet<Subject>,
}

impl Side {
    pub fn of(record: &StudyRecord, variant: VariantIndex) -> Self {
        let mut side = Self { values: BTreeMap::new(), launches: 0, late: BTreeSet::new() };
        let mut known_gems = 0;
        let mut seen: BTreeMap<Subject, usize> = BTreeMap::new();
        for (_, launch) in inspected(record, variant) {
            side.launches += 1;
            // One whose Rubies were too busy to answer says nothing about gems.
            known_gems += usize::from(!launch.gems.is_empty());
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
                Subject::Gem(_) if launches < known_gems => {
                    side.late.insert(subject);
                }
                _ => {}
            }
        }
        side
    }

    /// Whether any launch shows it: a process may have a title in place of its command line and environment, and a Ruby that is
    /// busy reports no gems.
    pub fn shows(&self, subject: &Subject) -> bool {
        match subject {
            Subject::Command => self.values.contains_key(subject),
            Subject::Environment(_) => self.values.keys().any(|subject| matches!(subject, Subject::Environment(_))),
            Subject::Gem(_) => {
                let knows_gems = self.values.keys().any(|reported| matches!(reported, Subject::Gem(_)));
                let runs_ruby = self.values.keys().any(|reported| matches!(reported, Subject::Build(_)));
                self.launches > 0 && (knows_gems || !runs_ruby) && !self.late.contains(subject)
            }
            _ => self.launches > 0,
        }
    }

    /// Whether a version, or a file that is run, was not the same in all launches.
    pub fn changes(&self, subject: &Subject) -> bool {
        let is_run = matches!(subject, Subject::Version(_) | Subject::Library(_));
        is_run && self.values.get(subject).is_some_and(|values| values.len() > 1)
    }

    /// Words of a subject in one text; `None` where there are none.
    pub fn reported(&self, subject: &Subject, words: &[&str]) -> Option<String> {
        if self.launches > 0 && !self.shows(subject) {
            return Some("(not shown)".to_owned());
        }
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The words of a subject; those that not all launches have are left out where they may vary by themselves.
    pub fn words(&self, subject: &Subject) -> BTreeSet<&str> {
        let Some(values) = self.values.get(subject) else { return BTreeSet::new() };
        let mut sets = values.iter().map(|words| words.iter().map(String::as_str).collect::<BTreeSet<_>>());
        let first = sets.next().unwrap_or_default();
        sets.fold(first, |all, words| if subject.may_vary() { &all & &words } else { &all | &words })
    }

    /// Words that some launches have and others lack.
    pub fn varying_words(&self, subject: &Subject) -> BTreeSet<&str> {
        let steady = self.words(subject);
        let all = self.values.get(subject).into_iter().flatten().flatten();
        all.map(String::as_str).filter(|word| !steady.contains(word)).collect()
    }
}

/// What one launch shows of each subject.
pub fn facts(dir: &Path, launch: &LaunchFacts) -> Vec<(Subject, Vec<String>)> {
    let normal = |text: &str| text.split_whitespace().map(|word| normalise(word, dir, launch)).collect::<Vec<_>>();
    let versions = launch.versions.iter().map(|(name, value)| (Subject::Version(name.clone()), vec![value.clone()]));
    let libraries = launch.libraries.iter().map(|(name, hash)| (Subject::Library(name.clone()), vec![hash.clone()]));
    let shown = launch.env.iter().filter(|_| !launch.hides_env);
    let env = shown.map(|(name, value)| (Subject::Environment(name.clone()), normal(value)));
    let gems = launch.gems.iter().map(|(name, version)| (Subject::Gem(name.clone()), vec![version.clone()]));
    let opened = launch.opened.iter().map(|(name, hash)| (Subject::Opened(name.clone()), vec![hash.clone()]));
    let build = launch.build.iter().map(|(name, value)| (Subject::Build(name.clone()), normal(value)));
    // Ours, and no part of what is compared: a JVM before version 9 has no such log.
    let ours = gc_log::option(&format!("{{trial_dir}}/{}", gc_log::FILE));
    let words = launch.command.iter().map(|word| normalise(word, dir, launch));
    let command = words.filter(|word| *word != ours).collect();
    let command = (!launch.hides_command).then_some((Subject::Command, command));
    versions.chain(libraries).chain(gems).chain(opened).chain(build).chain(env).chain(command).collect()
}

/// A word with what belongs to one launch or one place (folders, port, process id, other ports) replaced by the placeholder
/// that stands for it in a study, so that it can be named in the study's own words.
fn normalise(word: &str, dir: &Path, launch: &LaunchFacts) -> String {
    let folders = [(launch.log.parent().unwrap_or(Path::new("")), "{trial_dir}"), (dir, "{dir}")];
    let reported = |folder: &Path| Some(folder.display().to_string()).filter(|folder| folder.len() > 1);
    let word = folders.into_iter().fold(word.to_owned(), |word, (folder, name)| match reported(folder) {
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
pub fn name_numbers(word: &str, name: impl Fn(u32) -> Option<&'static str>) -> String {
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

/// The launches of a variant that were looked into, which is done before they are warmed up: of those that failed before nobody
/// knows what they had loaded.
pub fn inspected(record: &StudyRecord, variant: VariantIndex) -> impl Iterator<Item = (TrialKey, &LaunchFacts)> {
    let warmed = launches(record, variant).filter(|trial| trial.warm_up.is_some());
    warmed.filter_map(|trial| Some((trial.key, trial.launch.as_ref()?)))
}
