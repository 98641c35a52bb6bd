//! Which factor accounts for what differs.

use model::report::Aspect;
use model::study::RequestedSetting;
use model::{StudyRecord, VariantIndex};
use runtimes::{Key, jruby};

use super::sides::name_numbers;

/// What stands where a secret was.
const MASK: &str = "***";

/// The factor that accounts for a word of a variant. Where the words are there because of another variant's treatment
/// (this one lacks the override), any variant's treatment may name them, or replace the shared setting that they are.
pub fn explaining_factor(record: &StudyRecord, variant: VariantIndex, aspect: &Aspect, word: &str) -> Option<String> {
    let own = record.study.variants[variant].treatment.iter();
    let others = record.study.variants.iter().flat_map(|variant| &variant.treatment);
    let by_own = own.clone().find(|requested| names(requested, aspect, word));
    // A level may write out again what all levels have.
    let varies = |requested: &&RequestedSetting| {
        let asks = |other: &RequestedSetting| other.is_same(requested);
        !record.study.variants.iter().all(|variant| variant.treatment.iter().any(asks))
    };
    let runtime = || others.clone().filter(varies).find(|requested| is_runtimes(requested, aspect, word));
    let by_value = || others.clone().find(|requested| names_aspect(requested, aspect));
    let kept = || record.study.variants[variant].shared.iter().filter(|shared| names(shared, aspect, word));
    let by_override = || kept().find_map(|shared| others.clone().find(|requested| requested.replaces(shared)));
    by_own.or_else(by_value).or_else(by_override).or_else(runtime).map(|requested| requested.factor.clone())
}

/// Whether a setting is what put this word there.
fn names(requested: &RequestedSetting, aspect: &Aspect, word: &str) -> bool {
    let [name, value] = [requested.name.as_str(), requested.written_value()].map(as_launched);
    if name.is_empty() || names_aspect(requested, aspect) {
        return names_aspect(requested, aspect);
    }
    let has_value = value.is_empty() || word.contains(&value);
    let stands_for = |part: &str| part == word || jruby::handed_to_jvm(part).is_some_and(|option| option == word);
    let is_words = [&name, &value].into_iter().any(|text| text.split_whitespace().any(stands_for));
    // As a program below a folder that a variable names.
    let is_below = value.contains('/') && word.starts_with(&value);
    is_words || is_below || mentions(word, &name) && has_value
}

/// Whether a setting is about the aspect as such: this variable, this library.
fn names_aspect(requested: &RequestedSetting, aspect: &Aspect) -> bool {
    match aspect {
        Aspect::Environment(variable) => matches!(&requested.key, Key::Env(name) if name == variable),
        Aspect::Library(library) | Aspect::Gem(library) | Aspect::Opened(library) => {
            mentions(&requested.name, library) || mentions(requested.written_value(), library)
        }
        Aspect::Build(_) | Aspect::Version(_) | Aspect::Command => false,
    }
}

/// Whether a change of what runs naturally brings this word along.
fn is_runtimes(requested: &RequestedSetting, aspect: &Aspect, word: &str) -> bool {
    matches!(requested.key, Key::Runtime(_))
        && match aspect {
            Aspect::Environment(_) => word.contains('/'),
            _ => true,
        }
}

/// Whether `text` has `name` in it, not as part of a longer name.
pub fn mentions(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            !text[at + name.len()..].starts_with(is_name) && (!name.starts_with(is_name) || !text[..at].ends_with('_'))
        })
}

/// A text of the study as `normalise` leaves it in a launch: a service's port is a port, a secret is masked.
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
