//! Which combinations of levels become variants: all of them, a regular fraction, or those that the study names.

use indexmap::IndexMap;
use model::text;

use crate::file::{ServerKeys, StudyFile};
use crate::problem::{Problem, Problems, did_you_mean};
use crate::value::At;

/// A factor, one of its levels, and the keys that the level changes.
pub(crate) type Choice<'a> = (&'a str, &'a str, &'a ServerKeys);
/// A level of each factor.
pub(crate) type Combination<'a> = Vec<Choice<'a>>;

/// Factors that the others follow, at most: each doubles the number of variants.
const MOST_LEADING: usize = 5;

/// Fractions by the number of factors that they make follow the others.
const FRACTIONS: [(&str, usize); 4] = [("1/2", 1), ("1/4", 2), ("1/8", 3), ("1/16", 4)];

/// The combinations that are run, the baseline first. Where the choice is wrong, all of them.
pub(crate) fn combinations<'a>(file: &'a StudyFile, problems: &mut Problems) -> Vec<Combination<'a>> {
    let keys = &file.design;
    match (&keys.variants, &keys.fraction) {
        (Some(variants), Some(fraction)) => {
            problems.add(
                Problem::new("the variants are named or a fraction of all, not both")
                    .at(fraction.place, "a regular choice")
                    .at(variants.place, "your own choice")
                    .help("remove one of them"),
            );
            whole(file)
        }
        (Some(variants), None) => named(file, variants, problems),
        (None, Some(wanted)) => fraction(file, wanted, problems),
        (None, None) => whole(file),
    }
}

/// The name of a combination's variant.
pub(crate) fn name(combination: &Combination<'_>) -> String {
    combination.iter().map(|(_, level, _)| *level).collect::<Vec<_>>().join("/")
}

/// Every combination of levels in the file's order, the last factor changing fastest.
fn whole<'a>(file: &'a StudyFile) -> Vec<Combination<'a>> {
    file.factor.iter().fold(vec![Vec::new()], |chosen, (factor, levels)| {
        let with_each = |so_far: Combination<'a>| {
            let extended = levels.iter().map(|(level, keys)| {
                let choice: Choice<'a> = (&***factor, &***level, keys);
                [so_far.as_slice(), &[choice]].concat()
            });
            extended.collect::<Vec<_>>()
        };
        chosen.into_iter().flat_map(with_each).collect()
    })
}

/// Those that the study names, in its order.
fn named<'a>(file: &'a StudyFile, wanted: &At<Vec<At<String>>>, problems: &mut Problems) -> Vec<Combination<'a>> {
    let all: IndexMap<String, Combination<'_>> =
        whole(file).into_iter().map(|combination| (name(&combination), combination)).collect();
    let known: Vec<&str> = all.keys().map(String::as_str).collect();
    let mut chosen: IndexMap<&str, Combination<'_>> = IndexMap::new();
    for variant in &wanted.value {
        match all.get_key_value(variant.as_str()) {
            None => problems.add(
                Problem::new(format!("there is no variant `{}`", variant.value))
                    .at(variant.place, "no level of each factor, in the factors' order, joined by `/`")
                    .help(did_you_mean(variant, &known)),
            ),
            Some((name, combination)) => {
                if chosen.insert(name, combination.clone()).is_some() {
                    problems.add(
                        Problem::new(format!("the variant `{name}` is named twice"))
                            .at(variant.place, "once more")
                            .help("remove one of them; each block launches every variant once anyway"),
                    );
                }
            }
        }
    }
    if wanted.value.len() < 2 {
        problems.add(
            Problem::new("there is nothing to compare")
                .at(wanted.place, "fewer than two variants")
                .help("name the baseline first, then what is compared with it"),
        );
    }
    for (factor, levels) in &file.factor {
        for level in levels.keys() {
            let has = |combination: &Combination<'_>| combination.iter().any(|(f, l, _)| (*f, *l) == (factor, level));
            if chosen.len() == wanted.value.len() && !chosen.values().any(has) {
                problems.add(
                    Problem::new(format!("no variant has the level `{}` of `{}`", level.value, factor.value))
                        .at(level.place, "declared")
                        .at(wanted.place, "not among these")
                        .help("add a variant with it, or remove the level"),
                );
            }
        }
    }
    if chosen.is_empty() { whole(file) } else { chosen.into_values().collect() }
}

/// A regular fraction of factors with two levels each: the last factors follow the others, each as the parity of several of
/// them, chosen so that what cannot be separated is of as high an order as possible (resolution, then fewest words:
/// Box, Hunter & Hunter 2005, ch. 6). The baseline is always in it.
fn fraction<'a>(file: &'a StudyFile, wanted: &At<String>, problems: &mut Problems) -> Vec<Combination<'a>> {
    let all = whole(file);
    let known = FRACTIONS.map(|(name, _)| name);
    let Some((_, following)) = FRACTIONS.iter().find(|(name, _)| *name == wanted.value) else {
        problems.add(
            Problem::new(format!("`{}` is no fraction of a design", wanted.value))
                .at(wanted.place, "unknown")
                .help(did_you_mean(wanted, &known)),
        );
        return all;
    };
    if let Some((factor, levels)) = file.factor.iter().find(|(_, levels)| levels.len() != 2) {
        problems.add(
            Problem::new("a fraction is of factors with two levels")
                .at(wanted.place, "asked for")
                .at(factor.place, format!("has {} levels", levels.len()))
                .help("name the variants instead: `variants = [\"…\", \"…\"]`"),
        );
        return all;
    }
    // More are more variants than a study can have, which is reported there.
    if file.factor.len() > MOST_LEADING + following {
        return all;
    }
    let Some(generators) = generators(file.factor.len(), *following) else {
        problems.add(
            Problem::new(format!(
                "{} of {} leaves too little to separate effects",
                wanted.value,
                text::plural(file.factor.len() as u64, "factor")
            ))
            .at(wanted.place, "too small a part")
            .help("take a larger part, or leave the fraction out"),
        );
        return all;
    };
    let leading = file.factor.len() - following;
    let is_in = |combination: &Combination<'_>| {
        let second = |(index, (_, level, _)): (usize, &Choice<'_>)| {
            let first = file.factor.get_index(index).and_then(|(_, levels)| levels.keys().next());
            u32::from(first.is_some_and(|first| **first != **level)) << index
        };
        let bits: u32 = combination.iter().enumerate().map(second).sum();
        let parity = |mask: u32| (bits & mask).count_ones() % 2;
        generators.iter().enumerate().all(|(index, mask)| parity(*mask) == bits >> (leading + index) & 1)
    };
    all.into_iter().filter(is_in).collect()
}

/// For each factor that follows, the leading ones whose parity it is, as bits; `None` where no choice keeps main effects apart
/// from each other.
fn generators(factors: usize, following: usize) -> Option<Vec<u32>> {
    let leading = factors.checked_sub(following)?;
    let masks: Vec<u32> = (0..1_u32 << leading).filter(|mask| mask.count_ones() >= 2).collect();
    choices(&masks, following).into_iter().min_by_key(|chosen| words(chosen, leading))
}

/// Every choice of `count` of the masks, in rising order.
fn choices(masks: &[u32], count: usize) -> Vec<Vec<u32>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let after = |(index, mask): (usize, &u32)| {
        let rest = choices(&masks[index + 1..], count - 1);
        rest.into_iter().map(|rest| [&[*mask], rest.as_slice()].concat()).collect::<Vec<_>>()
    };
    masks.iter().enumerate().flat_map(after).collect()
}

/// How many words of the defining relation have 1, 2, 3, … letters: the smaller in this order, the better.
fn words(generators: &[u32], leading: usize) -> Vec<usize> {
    let letters = leading + generators.len();
    let mut counts = vec![0; letters + 1];
    for subset in 1..1_u32 << generators.len() {
        let of = generators.iter().enumerate().filter(|(index, _)| subset >> index & 1 == 1);
        let word = of.fold(0, |word, (index, mask)| word ^ mask ^ 1 << (leading + index));
        counts[word.count_ones() as usize] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_fractions_are_the_published_ones() {
        // 2^(3-1): c = ab. 2^(4-1): d = abc. 2^(5-2) has resolution III, 2^(7-3) resolution IV (Box, Hunter & Hunter, table 6.22).
        assert_eq!(generators(3, 1), Some(vec![0b11]));
        assert_eq!(generators(4, 1), Some(vec![0b111]));
        let resolution = |factors, following| {
            let chosen = generators(factors, following).unwrap();
            words(&chosen, factors - following).iter().position(|count| *count > 0).unwrap()
        };
        assert_eq!([resolution(5, 1), resolution(5, 2), resolution(6, 2), resolution(7, 3)], [5, 3, 4, 4]);
        assert_eq!(generators(2, 1), None);
    }
}
