//! A sentence that says which of two runs is faster, and by how much.

use regex::{Captures, Regex};

/// What is understood, for whoever wrote something else.
pub const SENTENCES: &str = "`b is faster than a`, `a is 3 times slower than b`, `a is 20 % faster than b`, `b is twice as fast as a`, \
                             `a is as fast as b`, `b answers 20 % more requests than a`";

/// What a sentence claims of its subject's speed against the other's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Relation {
    Faster,
    Slower,
    AsFast,
    /// A log ratio.
    By(f64),
}

/// The names of two runs, and what is claimed of the first.
#[derive(Debug, PartialEq)]
pub struct Sentence<'s> {
    pub subject: &'s str,
    pub relation: Relation,
    pub other: &'s str,
}

/// `20 %`, `3 times`, in groups whose names begin so.
fn amount(prefix: &str) -> String {
    format!(r"(?:about |some )?(?<{prefix}number>\d+(?:[.,]\d+)?) ?(?<{prefix}unit>%|per ?cent|times|x|×|-?fold)")
}

/// `is 20 % faster than`, `is faster than … by 20 %`, `answers 20 % more requests than`.
fn more_pattern() -> String {
    const VERBS: &str = "is|was|handles|answers|serves";
    const WORDS: &str = "faster|slower|quicker|more|fewer|less";
    let (before, after) = (amount(""), amount("by_"));
    format!(
        "(?<subject>.+?) (?:{VERBS}) (?:{before} )?(?<more>{WORDS})(?: requests)? than (?<other>.+?)(?: by {after})?"
    )
}

/// `is twice as fast as`, `is as fast as`.
const AS_FAST: &str =
    r"(?<subject>.+?) is (?:(?<number>\d+(?:[.,]\d+)?) ?(?:times|x|×) |(?<word>twice|half) )?as fast as (?<other>.+?)";

/// `a and b are equally fast`.
const EQUALLY: &str = "(?<subject>.+?) and (?<other>.+?) are equally fast";

impl<'s> Sentence<'s> {
    /// `None` for a sentence that is none of [`SENTENCES`], or claims what cannot be, such as 120 % slower.
    pub fn parse(sentence: &'s str) -> Option<Self> {
        let more_pattern = more_pattern();
        let forms = [
            (more_pattern.as_str(), more as fn(&Captures) -> Option<Relation>),
            (AS_FAST, as_fast),
            (EQUALLY, |_| Some(Relation::AsFast)),
        ];
        forms.into_iter().find_map(|(pattern, relation)| {
            let pattern = Regex::new(&format!(r"(?i)^\s*{pattern}[.\s]*$")).expect("a pattern is one");
            let captures = pattern.captures(sentence)?;
            let name = |name| Some(captures.name(name)?.as_str().trim());
            Some(Self { subject: name("subject")?, relation: relation(&captures)?, other: name("other")? })
        })
    }
}

fn more(captures: &Captures) -> Option<Relation> {
    let is_more = matches!(captures["more"].to_lowercase().as_str(), "faster" | "quicker" | "more");
    let amount = |number, unit| Some((captures.name(number)?.as_str(), captures.name(unit)?.as_str().to_lowercase()));
    let amounts = (amount("number", "unit"), amount("by_number", "by_unit"));
    let (amount, unit) = match amounts {
        (None, None) => return Some(if is_more { Relation::Faster } else { Relation::Slower }),
        (Some(amount), None) | (None, Some(amount)) => amount,
        (Some(_), Some(_)) => return None,
    };
    let amount = positive(amount)?;
    let ratio = match (unit.starts_with(['%', 'p']), is_more) {
        (true, true) => 1.0 + amount / 100.0,
        (true, false) => 1.0 - amount / 100.0,
        (false, true) => amount,
        (false, false) => 1.0 / amount,
    };
    (ratio > 0.0).then(|| Relation::By(ratio.ln()))
}

fn as_fast(captures: &Captures) -> Option<Relation> {
    let times = match (captures.name("number"), captures.name("word")) {
        (Some(number), _) => positive(number.as_str())?,
        (None, Some(word)) if word.as_str().eq_ignore_ascii_case("twice") => 2.0,
        (None, Some(_)) => 0.5,
        (None, None) => return Some(Relation::AsFast),
    };
    Some(Relation::By(times.ln()))
}

/// A number above zero; a comma is as good as a point.
fn positive(text: &str) -> Option<f64> {
    text.replace(',', ".").parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(sentence: &str) -> Option<(&str, Relation, &str)> {
        Sentence::parse(sentence).map(|Sentence { subject, relation, other }| (subject, relation, other))
    }

    #[test]
    fn a_sentence_is_understood_as_people_put_it() {
        let by = |ratio: f64| Relation::By(ratio.ln());
        for (sentence, relation) in [
            ("b is faster than a", Relation::Faster),
            ("b was slower than a.", Relation::Slower),
            ("b answers more requests than a", Relation::Faster),
            ("b handles fewer requests than a", Relation::Slower),
            ("b serves 20 % more requests than a", by(1.2)),
            ("b is 20% faster than a", by(1.2)),
            ("b is 25 per cent slower than a", by(0.75)),
            ("b is faster than a by 20 %", by(1.2)),
            ("b is 3 times slower than a", by(1.0 / 3.0)),
            ("b is 3x faster than a", by(3.0)),
            ("b is 3,5 times faster than a", by(3.5)),
            ("b is twice as fast as a", by(2.0)),
            ("b is half as fast as a", by(0.5)),
            ("b is 1.27 times as fast as a", by(1.27)),
            ("b is as fast as a", Relation::AsFast),
            ("b and a are equally fast", Relation::AsFast),
        ] {
            let (subject, found, other) = parsed(sentence).unwrap_or_else(|| panic!("{sentence}"));
            assert_eq!((subject, other), ("b", "a"), "{sentence}");
            match (found, relation) {
                (Relation::By(found), Relation::By(relation)) => {
                    assert!((found - relation).abs() < 1e-12, "{sentence}");
                }
                _ => assert_eq!(found, relation, "{sentence}"),
            }
        }
    }

    #[test]
    fn what_is_no_such_sentence_is_none() {
        for sentence in [
            "",
            "b is nice",
            "b is 0 % faster than a",
            "b is x times faster than a",
            "b is 120 % slower than a",
            "b is 20 % faster than a by 30 %",
            "b has a lower p99 than a",
        ] {
            assert_eq!(parsed(sentence), None, "{sentence}");
        }
    }
}
