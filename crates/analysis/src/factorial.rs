//! Several factors at once: which effects a choice of variants can separate, and how large they are.
//!
//! The logarithm of a metric is taken as a sum: of a main effect of each factor and an interaction of each two (Box, Hunter &
//! Hunter, Statistics for Experimenters, 2005, ch. 5 and 6). Levels are coded so that a main effect is the difference between two
//! levels averaged evenly over all levels of the others, in whole and fractional designs alike. Effects are estimated within each
//! block, so each block gives one number for each, and they go the same way as the differences between variants.

use model::attribution::{Attribution, Contribution, ContributionKind};
use model::study::{Factor, Variant};
use model::{Study, TrialRecord};

use crate::assess::Assessment;
use crate::blocks::Trials;
use crate::compare::{self, Primary};
use crate::quantity::{Quantity, weighed};
use crate::{linear, metrics, sequential};

/// Lengths and parts below this are rounding.
const NOTHING: f64 = 1e-9;

/// Ends the name of effects that cannot be taken apart.
const TOGETHER: &str = " together";

/// What a set of variants can say of the factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    effects: Vec<Estimable>,
    /// What cannot be separated, a sentence each.
    pub aliases: Vec<String>,
}

/// An effect as a weighted sum of the variants' logarithms.
#[derive(Debug, Clone, PartialEq)]
struct Estimable {
    kind: ContributionKind,
    name: String,
    /// One for each variant; they add up to nothing.
    weights: Vec<f64>,
}

/// A column of the model: what an effect adds to each variant.
#[derive(Debug, Clone)]
struct Column {
    kind: ContributionKind,
    /// As sentences name it: the factor, or both.
    term: String,
    /// Factor and level, or both of both, without what they stand against.
    short: String,
    /// With its levels.
    name: String,
    /// The same with its levels the other way round.
    reversed: String,
    /// Whether it is an effect of its own, which can be shown.
    is_reported: bool,
    values: Vec<f64>,
}

impl Column {
    /// Takes note of a column that is this one, or this one times minus one.
    fn join(&mut self, other: &Self, is_opposite: bool) {
        let alone = |name: &str| name.strip_suffix(TOGETHER).unwrap_or(name).to_owned();
        let [same, opposite] =
            if is_opposite { [&other.reversed, &other.name] } else { [&other.name, &other.reversed] };
        self.name = format!("{} and {same}{TOGETHER}", alone(&self.name));
        self.reversed = format!("{} and {opposite}{TOGETHER}", alone(&self.reversed));
    }
}

impl Design {
    /// The design of these variants; `None` for one factor, where there is nothing to share out.
    pub fn of(factors: &[Factor], variants: &[Variant]) -> Option<Self> {
        if factors.len() < 2 {
            return None;
        }
        let mains: Vec<Vec<Column>> = factors.iter().map(|factor| main_effects(factor, variants)).collect();
        let mut kept: Vec<Column> = Vec::new();
        let mut aliases = Aliases::default();
        for column in mains.iter().flatten().cloned() {
            match combination(&column, &kept) {
                None => kept.push(column),
                Some(parts) => {
                    aliases.mains(&column, parts.iter().map(|(index, _)| &kept[*index]));
                    match parts[..] {
                        // What moved as one is shown as one.
                        [(index, part)] => kept[index].join(&column, part < 0.0),
                        // They stay in the model, or others would be taken for them; but none of them can be estimated.
                        _ => parts.iter().for_each(|(index, _)| kept[*index].is_reported = false),
                    }
                }
            }
        }
        for (index, first) in mains.iter().enumerate() {
            for column in mains[index + 1..].iter().flat_map(|second| interactions(first, second)) {
                match combination(&column, &kept) {
                    None => kept.push(column),
                    Some(parts) => aliases.interaction(&column, parts.iter().map(|(index, _)| &kept[*index])),
                }
            }
        }
        Some(Self { effects: estimable(&kept, variants.len()), aliases: aliases.sentences() })
    }
}

/// A column for each level of a factor but the first: 1 − 1/levels where a variant has the level, −1/levels where not.
fn main_effects(factor: &Factor, variants: &[Variant]) -> Vec<Column> {
    let even = 1.0 / factor.levels.len() as f64;
    let has = |variant: &Variant, level: &String| variant.levels.get(&factor.name) == Some(level);
    let column = |level: &String| Column {
        kind: ContributionKind::Main,
        term: factor.name.clone(),
        short: format!("{} {level}", factor.name),
        name: format!("{}: {level} against {}", factor.name, factor.levels[0]),
        reversed: format!("{}: {} against {level}", factor.name, factor.levels[0]),
        is_reported: true,
        values: variants.iter().map(|variant| f64::from(u8::from(has(variant, level))) - even).collect(),
    };
    factor.levels[1..].iter().map(column).collect()
}

/// The products of two factors' columns.
fn interactions(first: &[Column], second: &[Column]) -> Vec<Column> {
    let product = |a: &Column, b: &Column| {
        let name = format!("{} × {}", a.short, b.short);
        Column {
            kind: ContributionKind::Interaction,
            term: format!("{} × {}", a.term, b.term),
            short: name.clone(),
            reversed: format!("less {name}"),
            name,
            is_reported: true,
            values: a.values.iter().zip(&b.values).map(|(a, b)| a * b).collect(),
        }
    };
    first.iter().flat_map(|a| second.iter().map(move |b| product(a, b))).collect()
}

/// The kept columns that, with a constant, add up to this one, by index, with how much of each; `None` where it is one of its own.
fn combination(column: &Column, kept: &[Column]) -> Option<Vec<(usize, f64)>> {
    let length = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let size = length(&centred(&column.values));
    if size < NOTHING {
        return Some(Vec::new());
    }
    if kept.is_empty() {
        return None;
    }
    let rows = rows(kept, column.values.len());
    let parts = linear::least_squares(&rows, &column.values)?;
    let rest: Vec<f64> = rows
        .iter()
        .zip(&column.values)
        .map(|(row, value)| value - row.iter().zip(&parts).map(|(x, part)| x * part).sum::<f64>())
        .collect();
    let others = parts[1..].iter().copied().enumerate().filter(|(_, part)| part.abs() > NOTHING);
    (length(&rest) < 1e-6 * size).then(|| others.collect())
}

fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

/// The model's matrix: a constant, and the columns.
fn rows(columns: &[Column], variants: usize) -> Vec<Vec<f64>> {
    (0..variants)
        .map(|variant| [1.0].into_iter().chain(columns.iter().map(|column| column.values[variant])).collect())
        .collect()
}

/// The least-squares weights of every kept column.
fn estimable(kept: &[Column], variants: usize) -> Vec<Estimable> {
    let rows = rows(kept, variants);
    let unit = |variant: usize| (0..variants).map(|other| f64::from(u8::from(other == variant))).collect::<Vec<_>>();
    let by_variant: Option<Vec<Vec<f64>>> =
        (0..variants).map(|variant| linear::least_squares(&rows, &unit(variant))).collect();
    let Some(by_variant) = by_variant else { return Vec::new() };
    kept.iter()
        .enumerate()
        .filter(|(_, column)| column.is_reported)
        .map(|(index, column)| Estimable {
            kind: column.kind,
            name: column.name.clone(),
            weights: by_variant.iter().map(|parts| parts[index + 1]).collect(),
        })
        .collect()
}

/// What cannot be separated, term by term.
#[derive(Default)]
struct Aliases {
    mains: Vec<(String, Vec<String>)>,
    interactions: Vec<(String, Vec<String>)>,
}

impl Aliases {
    fn mains<'a>(&mut self, column: &Column, others: impl IntoIterator<Item = &'a Column>) {
        note(&mut self.mains, column, others);
    }

    fn interaction<'a>(&mut self, column: &Column, others: impl IntoIterator<Item = &'a Column>) {
        note(&mut self.interactions, column, others);
    }

    fn sentences(self) -> Vec<String> {
        let mains = self.mains.into_iter().map(|(term, others)| {
            if others.is_empty() {
                return format!("{term} is the same in every variant: its effect cannot be seen.");
            }
            let all: Vec<String> = others.into_iter().chain([term]).collect();
            format!("{} moved together in every variant: their effects cannot be separated.", listed(&all))
        });
        let interactions = self.interactions.into_iter().map(|(term, others)| match others.as_slice() {
            [] => format!("The interaction {term} cannot be seen."),
            [other] if other.contains(" × ") => {
                format!("The interactions {other} and {term} cannot be separated: what is shown as {other} may be {term}.")
            }
            _ => format!(
                "The interaction {term} cannot be separated from {}: what is shown for {} holds only where {} do not act on each \
                 other.",
                listed(&others),
                if others.len() == 1 { "it" } else { "them" },
                term.replace(" × ", " and "),
            ),
        });
        mains.chain(interactions).collect()
    }
}

/// Adds to what a column's term cannot be separated from; a factor of several levels has several columns.
fn note<'a>(known: &mut Vec<(String, Vec<String>)>, column: &Column, others: impl IntoIterator<Item = &'a Column>) {
    let index = known.iter().position(|(term, _)| *term == column.term).unwrap_or_else(|| {
        known.push((column.term.clone(), Vec::new()));
        known.len() - 1
    });
    for other in others {
        if !known[index].1.contains(&other.term) && other.term != column.term {
            known[index].1.push(other.term.clone());
        }
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// The primary metric's effects, from the used blocks in which every variant has a number. `boundaries` are those of the study's
/// comparisons with the baseline: there are no fewer of them than effects, so that all intervals hold at once.
pub fn attribution(assessment: &Assessment) -> Option<Attribution> {
    let Assessment { record, boundaries, .. } = assessment;
    let design = Design::of(&record.study.factors, &record.study.variants)?;
    let primary = Primary::of(record);
    let trials = Trials::of(record);
    let log = |trial: &TrialRecord| metrics::quantity(trial, primary.metric, primary.cell).map(Quantity::ln);
    let logs = |block: u32| -> Option<Vec<Quantity>> {
        (0..record.study.variants.len()).map(|variant| log(trials.get(block, variant)?)).collect()
    };
    let by_block: Vec<Vec<Quantity>> = assessment.counted().filter_map(logs).collect();
    let contribution = |effect: Estimable| {
        let of_block = |logs: &Vec<Quantity>| weighed(effect.weights.iter().copied().zip(logs.iter().copied()));
        let numbers: Vec<Quantity> = by_block.iter().map(of_block).collect();
        let interval = sequential::interval(&numbers, boundaries)
            .filter(|_| compare::is_judged(record, primary.metric, primary.cell));
        let decided = interval.as_ref().map(|interval| (interval, sequential::decide(interval, primary.margin)));
        let interpretation = compare::interpret(decided, primary.metric.polarity());
        let variants = effect.weights.iter().enumerate().filter(|(_, weight)| weight.abs() > NOTHING);
        Contribution {
            variants: variants.map(|(index, _)| index).collect(),
            kind: effect.kind,
            name: effect.name,
            effect: interval,
            interpretation,
        }
    };
    Some(Attribution { contributions: design.effects.into_iter().map(contribution).collect(), aliases: design.aliases })
}

/// What a study's variants cannot separate, a sentence each; empty where every effect of a factor and every interaction of two
/// can be estimated, and for a single factor.
pub fn aliases(study: &Study) -> Vec<String> {
    Design::of(&study.factors, &study.variants).map(|design| design.aliases).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::boundaries::{Boundaries, Looks};
    use model::{Interpretation, testing};

    use super::*;
    use crate::{assess, fixture};

    /// Variants by their levels, joined by `/`.
    fn study(factors: &[(&str, &[&str])], variants: &[&str]) -> Study {
        let mut study = fixture::study();
        study.factors = factors.iter().map(|(name, levels)| testing::factor(name, levels)).collect();
        let variant = |name: &&str| Variant {
            levels: factors.iter().zip(name.split('/')).map(|((f, _), l)| ((*f).to_owned(), l.to_owned())).collect(),
            ..fixture::variant(name, "false")
        };
        study.variants = variants.iter().map(variant).collect();
        study
    }

    fn design(study: &Study) -> Design {
        Design::of(&study.factors, &study.variants).unwrap()
    }

    /// What each effect is where the variants' logarithms are these.
    fn effects(study: &Study, logs: &[f64]) -> Vec<(String, f64)> {
        let weighed = |effect: Estimable| {
            let sum: f64 = effect.weights.iter().zip(logs).map(|(weight, log)| weight * log).sum();
            (effect.name, (sum * 1e9).round() / 1e9)
        };
        design(study).effects.into_iter().map(weighed).collect()
    }

    const RUBY: (&str, &[&str]) = ("ruby", &["mri", "jruby"]);

    #[test]
    fn a_whole_design_of_two_by_two() {
        let study =
            study(&[RUBY, ("server", &["thin", "puma"])], &["mri/thin", "mri/puma", "jruby/thin", "jruby/puma"]);
        assert_eq!(aliases(&study), Vec::<String>::new());
        // JRuby gains 0.3 with thin and 0.5 with puma; puma 0.1 on MRI and 0.3 on JRuby.
        let reported = effects(&study, &[1.0, 1.1, 1.3, 1.6]);
        let expected =
            [("ruby: jruby against mri", 0.4), ("server: puma against thin", 0.2), ("ruby jruby × server puma", 0.2)];
        assert_eq!(reported, expected.map(|(name, effect)| (name.to_owned(), effect)));
    }

    #[test]
    fn half_of_two_by_two_by_two() {
        let levels: &[&str] = &["off", "on"];
        let study = study(
            &[("a", levels), ("b", levels), ("c", levels)],
            &["off/off/off", "off/on/on", "on/off/on", "on/on/off"],
        );
        let reported = effects(&study, &[0.0, 0.25, 0.15, 0.3]);
        assert_eq!(reported.iter().map(|(_, effect)| *effect).collect::<Vec<_>>(), [0.1, 0.2, 0.05]);
        let aliases = aliases(&study);
        assert_eq!(aliases.len(), 3, "{aliases:#?}");
        assert_eq!(
            aliases[0],
            "The interaction a × b cannot be separated from c: what is shown for it holds only where a and b do not act on each other."
        );
    }

    #[test]
    fn what_moved_together_is_reported_as_one() {
        let levels: &[&str] = &["1", "2"];
        let study = study(&[("json", levels), ("money", levels)], &["1/1", "2/2"]);
        assert_eq!(
            effects(&study, &[1.0, 1.25]),
            [("json: 2 against 1 and money: 2 against 1 together".to_owned(), 0.25)]
        );
        assert_eq!(
            aliases(&study)[0],
            "json and money moved together in every variant: their effects cannot be separated."
        );
    }

    #[test]
    fn what_moved_oppositely_is_reported_so() {
        let levels: &[&str] = &["1", "2"];
        let study = study(&[("json", levels), ("money", levels)], &["1/2", "2/1"]);
        assert_eq!(
            effects(&study, &[1.0, 1.25]),
            [("json: 2 against 1 and money: 1 against 2 together".to_owned(), 0.25)]
        );
    }

    /// `size` is on wherever `cpu` is not at its first level: nothing of either can be estimated, and nothing else is taken for it.
    #[test]
    fn a_factor_that_follows_several_levels_hides_them_all() {
        let cpu: &[&str] = &["1", "2", "3"];
        let study_of = |variants: &[&str]| study(&[("cpu", cpu), ("size", &["off", "on"])], variants);
        let confused = study_of(&["1/off", "2/on", "3/on"]);
        assert_eq!(effects(&confused, &[0.0, 0.1, 0.4]), []);
        assert_eq!(
            aliases(&confused)[0],
            "cpu and size moved together in every variant: their effects cannot be separated."
        );
        assert!(aliases(&confused)[1].starts_with("The interaction cpu × size cannot be separated from cpu"));

        let levels: &[&str] = &["x", "y"];
        let of_three =
            study(&[("cpu", cpu), ("size", &["off", "on"]), ("c", levels)], &["1/off/x", "2/on/x", "3/on/y"]);
        assert_eq!(effects(&of_three, &[0.0, 0.1, 0.4]), []);
    }

    #[test]
    fn an_irregular_choice_that_tells_the_factors_apart() {
        let study = study(
            &[RUBY, ("server", &["thin", "webrick", "puma", "rack"])],
            &["mri/thin", "mri/webrick", "jruby/webrick", "mri/puma", "jruby/rack"],
        );
        // JRuby is worth 0.5 whatever the server; webrick −0.2, puma 0.1, rack 0.3 against thin.
        let reported = effects(&study, &[0.0, -0.2, 0.3, 0.1, 0.8]);
        assert_eq!(reported.iter().map(|(_, effect)| *effect).collect::<Vec<_>>(), [0.5, -0.2, 0.1, 0.3]);
        let aliases = aliases(&study);
        assert_eq!(aliases.len(), 1, "{aliases:#?}");
        assert!(aliases[0].starts_with("The interaction ruby × server cannot be separated from "), "{aliases:?}");
    }

    #[test]
    fn a_factor_that_never_moves_cannot_be_seen() {
        let levels: &[&str] = &["off", "on"];
        let study = study(&[("a", levels), ("b", levels)], &["off/off", "on/off"]);
        assert_eq!(aliases(&study)[0], "b is the same in every variant: its effect cannot be seen.");
        assert_eq!(effects(&study, &[0.0, 0.5]), [("a: on against off".to_owned(), 0.5)]);
    }

    #[test]
    fn planted_effects_come_out_with_their_intervals() {
        let factors = [RUBY, ("server", &["thin", "puma"] as &[&str])];
        let study = study(&factors, &["mri/thin", "mri/puma", "jruby/thin", "jruby/puma"]);
        let boundaries = Boundaries::for_variants(4, Looks::STANDARD);
        // Each variant is faster than the one before by 0.1: ruby is worth 0.2, the server 0.1, together nothing more.
        let record = fixture::record_of(study, 20, 0.1, 0.01, 7);
        let attribution = attribution(&assess(&record, &boundaries)).unwrap();
        let reported: Vec<_> =
            attribution.contributions.iter().map(|one| (one.effect.unwrap(), one.interpretation)).collect();
        for ((effect, _), truth) in reported.iter().zip([0.2, 0.1, 0.0]) {
            // Of the interaction, four launches a block with a noise of 0.01: 2 · 4 · 0.02 / √20 = 0.04, and more by chance.
            assert!(effect.low <= truth && truth <= effect.high && effect.high - effect.low < 0.06, "{effect:?}");
        }
        assert_eq!(reported[0].1, Interpretation::Better);
        assert_ne!(reported[2].1, Interpretation::Better);
    }

    #[test]
    fn one_factor_has_nothing_to_share_out() {
        let record = fixture::record(6, 0.1);
        assert_eq!(attribution(&assess(&record, &Boundaries::standard())), None);
    }
}
