//! Variants differ in more than the declared factors.
//!
//! Versions, libraries, environment and command line of all launches are laid side by side, as far as both sides show
//! them. What differs is explained when a setting of the variant's own treatment names it, or when a factor changes what
//! runs (kind `runtime`), which naturally changes versions, libraries, paths and the command line.

mod explained;
mod follows;
mod mix;
mod sides;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use model::imported::{Fidelity, OptionDifference};
use model::report::{Aspect, EnvironmentDifference};
use model::{BASELINE, Fact, Finding, FindingId, Severity, StudyRecord, Subject, VariantIndex, text};

use super::evidence::Evidence;
use super::pair::Pair;
use super::rule::{Check, Rule};
use crate::assess::Assessment;
use crate::effective::key;
use crate::series::are_same_users;
use explained::explaining_factor;
use follows::may_follow;
use mix::other_mix;
use sides::{Side, facts, inspected, may_vary};

pub const RULE: Rule = Rule {
    id: FindingId::new("confounded"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../../docs/findings/confounded.md"),
    checks: &[Check::Lasting(rule), Check::Pair { needs: Evidence::Kept(Fidelity::Summary), look: of_pair }],
};

/// Launches of each variant that teach which values vary by themselves (ports of services, temporary names).
const FEWEST: usize = 2;

const UNDECLARED: &str =
    "The variants differ in more than the factors that the study declares, so a difference cannot be credited to them.";
const EQUAL: &str = "Make the rest equal, or declare it: give it a factor, or put it into the level that needs it.";
const BROUGHT_ALONG: &str = "This differs beside the declared settings and may be what these bring along: a difference is that of all of it \
                             together, not of a setting by itself.";
const MEANT: &str = "If it is what the factor stands for, all is well. Else make it equal, or declare it.";
const CHANGED: &str = "What runs changed while the run went on, for both variants in the same blocks: each block compares like with like, \
                       but the result is of all that ran together.";
const KEPT: &str = "Keep what runs as it is during a run: build it before, as by `[hooks] setup`.";

const NOT_ALIKE: &str = "The two were not loaded alike, so a difference cannot be credited to the server.";
const OTHERS_COUNTED: &str =
    "The two had other users at work. These were counted, not set: a slow server may have kept more of them waiting.";

/// Invalid where two imported runs had other users or asked for something else, as far as their files say. Users that a tool only counted
/// are a warning, and so are settings that differ in more than one option.
fn of_pair(pair: &Pair) -> Option<Finding> {
    let runs = pair.runs.map(|audited| &audited.run);
    let users = match runs.map(|run| run.users) {
        [Some(first), Some(second)] if !are_same_users(first, second) => {
            Some(Fact::new("users", [first, second].map(|users| text::count(users.into()))))
        }
        _ => None,
    };
    let asked = match runs.map(|run| run.url.as_deref().map(path)) {
        [Some(first), Some(second)] if first != second => {
            Some(Fact::new("asked for", [first, second].map(str::to_owned)))
        }
        _ => None,
    };
    let requests: Vec<Fact> = asked.into_iter().chain(other_mix(runs)).collect();
    let is_warning = requests.is_empty() && runs.iter().any(|run| run.has_counted_users);
    let (severity, meaning, remedy) = if is_warning {
        (
            Severity::Warning,
            OTHERS_COUNTED,
            "Make sure that both were loaded by the same plan: the same rate, or the same users.",
        )
    } else {
        (Severity::Invalid, NOT_ALIKE, "Load both with the same users and the same requests.")
    };
    let facts: Vec<Fact> = users.into_iter().chain(requests).collect();
    if facts.is_empty() {
        return of_options(pair.options.as_deref().unwrap_or_default());
    }
    let found = RULE.found(severity, Subject::Load, meaning, remedy);
    Some(Finding { facts, ..found })
}

/// A warning where more than one option differs.
fn of_options(differences: &[OptionDifference]) -> Option<Finding> {
    let side = |side: &Option<String>| side.clone().unwrap_or_else(|| "not given".to_owned());
    let facts = differences.iter().map(|OptionDifference { sides: [first, second] }| {
        let name =
            first.as_deref().or(second.as_deref()).map_or_else(String::new, |option| key(option).name().to_owned());
        Fact::new(name, [side(first), side(second)])
    });
    let found = RULE.found(
        Severity::Warning,
        Subject::Server,
        "Several options differ between the two. A difference of results stands, and is that of all of them together: no single \
         option can be credited with it.",
        "Change one option at a time.",
    );
    (differences.len() > 1).then(|| Finding { facts: facts.collect(), ..found })
}

/// The path of a URL with what follows it: two servers have two addresses.
fn path(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, after)| after);
    after.find('/').map_or("/", |begin| &after[begin..])
}

/// Invalid for each variant that differs from the baseline in something no factor explains, and where what both run changes during
/// the run so that a block compares one with another; a warning while there are too few launches to know what varies by itself.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let sides = sides(record);
    let all = compared(record, &sides);
    let seen = |variant| inspected(record, variant).count();
    let has_enough = |variant| seen(variant) >= FEWEST;
    (BASELINE + 1..record.study.variants.len())
        .filter(|variant| seen(*variant) > 0 && seen(BASELINE) > 0)
        .filter_map(|variant| {
            let pair = [BASELINE, variant];
            let changes = |aspect: &Aspect| pair.iter().any(|side| sides[*side].changes(aspect));
            let is_own = |difference: &&EnvironmentDifference| {
                let aspect = &difference.aspect;
                let are_shown = pair.iter().all(|side| sides[*side].shows(aspect));
                let differ = difference.values[variant] != difference.values[BASELINE] || changes(aspect);
                difference.factor.is_none() && are_shown && differ
            };
            let own: Vec<_> = all.iter().filter(is_own).collect();
            if own.is_empty() {
                return None;
            }
            let is_known = has_enough(BASELINE) && has_enough(variant);
            let is_sure = |difference: &&EnvironmentDifference| {
                if changes(&difference.aspect) {
                    return !is_equal_in_blocks(record, pair, &difference.aspect);
                }
                !may_follow(record, variant, difference)
            };
            let are_sure = own.iter().any(is_sure);
            let severity = if is_known && are_sure { Severity::Invalid } else { Severity::Warning };
            let (meaning, remedy) = if are_sure {
                (UNDECLARED, EQUAL)
            } else if own.iter().all(|difference| changes(&difference.aspect)) {
                (CHANGED, KEPT)
            } else {
                (BROUGHT_ALONG, MEANT)
            };
            let found = RULE.found(severity, Subject::Against { variant, cell: None }, meaning, remedy);
            let show = |value: &Option<String>| value.clone().unwrap_or_else(|| "(none)".to_owned());
            Some(own.iter().fold(found, |found, difference| {
                let when = if changes(&difference.aspect) { ", which changed during the run" } else { "" };
                let sides = pair.map(|side| show(&difference.values[side]));
                found.with(format!("{}{when}", difference.aspect), sides)
            }))
        })
        .collect()
}

/// Whether in every block the variants had the same of an aspect.
fn is_equal_in_blocks(record: &StudyRecord, pair: [VariantIndex; 2], aspect: &Aspect) -> bool {
    let [first, second] = pair.map(|variant| {
        let measured = inspected(record, variant).filter(|(key, _)| !key.pilot);
        let words = measured.filter_map(|(key, launch)| {
            let (_, words) = facts(&record.study.dir, launch).into_iter().find(|(other, _)| other == aspect)?;
            Some((key.block, words))
        });
        words.collect::<BTreeMap<_, _>>()
    });
    first.iter().all(|(block, words)| second.get(block).is_none_or(|others| others == words))
}

/// How the variants' processes differ, as far as any was looked into; differences that no factor explains first.
pub fn differences(record: &StudyRecord) -> Vec<EnvironmentDifference> {
    compared(record, &sides(record))
}

fn sides(record: &StudyRecord) -> Vec<Side> {
    let mut sides: Vec<Side> = (0..record.study.variants.len()).map(|variant| Side::of(record, variant)).collect();
    // What comes late in one variant may not have come yet in any launch of another.
    let late: BTreeSet<Aspect> = sides.iter().flat_map(|side| side.late.clone()).collect();
    for side in &mut sides {
        side.late = late.iter().filter(|aspect| !side.values.contains_key(*aspect)).cloned().collect();
    }
    sides
}

fn compared(record: &StudyRecord, sides: &[Side]) -> Vec<EnvironmentDifference> {
    let aspects: BTreeSet<&Aspect> = sides.iter().flat_map(|side| side.values.keys()).collect();
    let mut all: Vec<_> = aspects.into_iter().flat_map(|aspect| compare(record, aspect, sides)).collect();
    all.sort_by_key(|difference| difference.factor.is_some());
    all
}

/// The differences of one aspect, one for each factor that explains some of it and one for what none does.
fn compare(record: &StudyRecord, aspect: &Aspect, sides: &[Side]) -> Vec<EnvironmentDifference> {
    let own: Vec<BTreeSet<&str>> = sides.iter().map(|side| side.words(aspect)).collect();
    let varying: BTreeSet<&str> = sides.iter().flat_map(|side| side.varying_words(aspect)).collect();
    let varying = if may_vary(aspect) { varying } else { BTreeSet::new() };
    let changed = !may_vary(aspect) && sides.iter().any(|side| side.values.get(aspect).is_some_and(|v| v.len() > 1));
    let known = own.iter().zip(sides).filter(|(_, side)| side.shows(aspect)).map(|(words, _)| words.clone());
    let common = known.reduce(|common, words| &common & &words).unwrap_or_default();
    let mut by_factor: BTreeMap<Option<String>, Vec<Vec<&str>>> = BTreeMap::new();
    for (variant, words) in own.iter().enumerate() {
        for word in words.iter().filter(|word| (changed || !common.contains(*word)) && !varying.contains(*word)) {
            let factor = if changed { None } else { explaining_factor(record, variant, aspect, word) };
            by_factor.entry(factor).or_insert_with(|| vec![Vec::new(); own.len()])[variant].push(word);
        }
    }
    by_factor
        .into_iter()
        .map(|(factor, words)| EnvironmentDifference {
            aspect: aspect.clone(),
            values: words.into_iter().zip(sides).map(|(words, side)| side.reported(aspect, &words)).collect(),
            factor,
        })
        .collect()
}
