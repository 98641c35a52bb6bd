//! What the launches of each variant show, laid side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use model::report::Aspect;
use model::{LaunchFacts, StudyRecord, TrialKey, VariantIndex};
use runtimes::gc_log;

use crate::audit::rule::launches;

/// Ports that systems hand out, by Linux's default and IANA's: a bare number among them is taken for one.
const EPHEMERAL: std::ops::RangeInclusive<u32> = 32_768..=65_535;

/// Whether a value that differs between launches of one variant may be natural. Not what is installed.
pub fn may_vary(aspect: &Aspect) -> bool {
    matches!(aspect, Aspect::Opened(_) | Aspect::Command | Aspect::Environment(_))
}

/// The words of each aspect in every launch of one variant; all launches that agree are one entry.
pub struct Side {
    pub values: BTreeMap<Aspect, BTreeSet<Vec<String>>>,
    launches: usize,
    /// Gems that a launch has or lacks by chance, since they are loaded when they are first needed.
    pub late: BTreeSet<Aspect>,
}

impl Side {
    pub fn of(record: &StudyRecord, variant: VariantIndex) -> Self {
        let mut side = Self { values: BTreeMap::new(), launches: 0, late: BTreeSet::new() };
        let mut known_gems = 0;
        let mut seen: BTreeMap<Aspect, usize> = BTreeMap::new();
        for (_, launch) in inspected(record, variant) {
            side.launches += 1;
            // One whose Rubies were too busy to answer says nothing about gems.
            known_gems += usize::from(!launch.gems.is_empty());
            for (aspect, words) in facts(&record.study.dir, launch) {
                *seen.entry(aspect.clone()).or_default() += 1;
                side.values.entry(aspect).or_default().insert(words);
            }
        }
        for (aspect, launches) in seen {
            match aspect {
                // A launch that has not opened it is one that has another in its place, as with temporary names.
                Aspect::Opened(_) if launches < side.launches => {
                    side.values.entry(aspect).or_default().insert(Vec::new());
                }
                Aspect::Gem(_) if launches < known_gems => {
                    side.late.insert(aspect);
                }
                _ => {}
            }
        }
        side
    }

    /// Whether any launch shows it: a process may have a title in place of its command line and environment, and a Ruby that is
    /// busy reports no gems.
    pub fn shows(&self, aspect: &Aspect) -> bool {
        match aspect {
            Aspect::Command => self.values.contains_key(aspect),
            Aspect::Environment(_) => self.values.keys().any(|aspect| matches!(aspect, Aspect::Environment(_))),
            Aspect::Gem(_) => {
                let knows_gems = self.values.keys().any(|reported| matches!(reported, Aspect::Gem(_)));
                let runs_ruby = self.values.keys().any(|reported| matches!(reported, Aspect::Build(_)));
                self.launches > 0 && (knows_gems || !runs_ruby) && !self.late.contains(aspect)
            }
            _ => self.launches > 0,
        }
    }

    /// Whether a version, or a file that is run, was not the same in all launches.
    pub fn changes(&self, aspect: &Aspect) -> bool {
        let is_run = matches!(aspect, Aspect::Version(_) | Aspect::Library(_));
        is_run && self.values.get(aspect).is_some_and(|values| values.len() > 1)
    }

    /// Words of a aspect in one text; `None` where there are none.
    pub fn reported(&self, aspect: &Aspect, words: &[&str]) -> Option<String> {
        if self.launches > 0 && !self.shows(aspect) {
            return Some("(not shown)".to_owned());
        }
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The words of a aspect; those that not all launches have are left out where they may vary by themselves.
    pub fn words(&self, aspect: &Aspect) -> BTreeSet<&str> {
        let Some(values) = self.values.get(aspect) else { return BTreeSet::new() };
        let mut sets = values.iter().map(|words| words.iter().map(String::as_str).collect::<BTreeSet<_>>());
        let first = sets.next().unwrap_or_default();
        sets.fold(first, |all, words| if may_vary(aspect) { &all & &words } else { &all | &words })
    }

    /// Words that some launches have and others lack.
    pub fn varying_words(&self, aspect: &Aspect) -> BTreeSet<&str> {
        let steady = self.words(aspect);
        let all = self.values.get(aspect).into_iter().flatten().flatten();
        all.map(String::as_str).filter(|word| !steady.contains(word)).collect()
    }
}

/// What one launch shows of each aspect.
pub fn facts(dir: &Path, launch: &LaunchFacts) -> Vec<(Aspect, Vec<String>)> {
    let normal = |text: &str| text.split_whitespace().map(|word| normalise(word, dir, launch)).collect::<Vec<_>>();
    let versions = launch.versions.iter().map(|(name, value)| (Aspect::Version(name.clone()), vec![value.clone()]));
    let libraries = launch.libraries.iter().map(|(name, hash)| (Aspect::Library(name.clone()), vec![hash.clone()]));
    let shown = launch.env.iter().filter(|_| !launch.hides_env);
    let env = shown.map(|(name, value)| (Aspect::Environment(name.clone()), normal(value)));
    let gems = launch.gems.iter().map(|(name, version)| (Aspect::Gem(name.clone()), vec![version.clone()]));
    let opened = launch.opened.iter().map(|(name, hash)| (Aspect::Opened(name.clone()), vec![hash.clone()]));
    let build = launch.build.iter().map(|(name, value)| (Aspect::Build(name.clone()), normal(value)));
    // Ours, and no part of what is compared: a JVM before version 9 has no such log.
    let ours = gc_log::option(&format!("{{trial_dir}}/{}", gc_log::FILE));
    let words = launch.command.iter().map(|word| normalise(word, dir, launch));
    let command = words.filter(|word| *word != ours).collect();
    let command = (!launch.hides_command).then_some((Aspect::Command, command));
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
