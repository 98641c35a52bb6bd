//! A claim about two imported runs, and what the runs say of it.

use std::fmt;

use model::imported::{Answer, AnsweredClaim, AuditedPair, Matched, ONE_RUN, Pace, Support};
use model::{Effect, Severity, text};

use crate::matched::is_seen_in_one_run;
use crate::sentence::{Relation, SENTENCES, Sentence};

/// How far launches of one server may differ, a log ratio: those of `JRuby`, one after another, differ by 12 to 17 % (`docs/method.md`).
/// What one run a side shows may be off by as much.
const LAUNCHES: f64 = 0.2;

/// Why a sentence is no claim about two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimError {
    /// It is none of the sentences that are understood.
    Sentence {
        /// As it was put.
        claim: String,
    },
    /// It names a run that is not there.
    Name {
        /// The name.
        name: String,
        /// The first file.
        first: String,
        /// The second file.
        second: String,
    },
    /// Both names are of one run.
    Same {
        /// The file.
        file: String,
    },
}

impl fmt::Display for ClaimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sentence { claim } => write!(
                f,
                "`{claim}` is not understood. Claims are about speed as a whole, not about percentiles: write {SENTENCES}"
            ),
            Self::Name { name, first, second } => {
                write!(f, "`{name}` is neither of the two runs: a is {first}, b is {second}")
            }
            Self::Same { file } => write!(f, "both names are of {file}"),
        }
    }
}

impl std::error::Error for ClaimError {}

/// What two runs say of a claim about them. The first run is `a` and the second `b`; each also goes by its file's name, with or without
/// what follows the first dot.
pub fn answer_claim(claim: &str, pair: &AuditedPair) -> Result<AnsweredClaim, ClaimError> {
    let misunderstood = || ClaimError::Sentence { claim: claim.to_owned() };
    let Sentence { subject, relation, other } = Sentence::parse(claim).ok_or_else(misunderstood)?;
    let [subject, other] = [side(subject, &pair.files)?, side(other, &pair.files)?];
    if subject == other {
        return Err(ClaimError::Same { file: pair.files[subject].clone() });
    }
    let (answer, reason) = judged(relation, subject == 0, pair);
    Ok(AnsweredClaim { claim: claim.to_owned(), answer, reason })
}

/// Which of the two files has this name.
fn side(name: &str, files: &[String; 2]) -> Result<usize, ClaimError> {
    let is_of = |file: &String| {
        let (folder, last) = file.rfind('/').map_or(("", file.as_str()), |slash| file.split_at(slash + 1));
        let stem = last.split('.').next().unwrap_or_default();
        let names = [file.clone(), last.to_owned(), stem.to_owned(), format!("{folder}{stem}")];
        names.iter().any(|own| own.to_lowercase() == name.to_lowercase())
    };
    let of_letter = ["a", "b"].iter().position(|letter| letter.eq_ignore_ascii_case(name));
    // A file's own name goes before a letter; one that both have names neither.
    match files.each_ref().map(is_of) {
        [true, false] => Some(0),
        [false, true] => Some(1),
        _ => of_letter,
    }
    .ok_or_else(|| ClaimError::Name { name: name.to_owned(), first: files[0].clone(), second: files[1].clone() })
}

/// What it comes to, and why; whether the claim is about the first of the two.
fn judged(relation: Relation, is_of_first: bool, pair: &AuditedPair) -> (Answer, String) {
    if pair.support == Support::NotSupported {
        let vetoes = pair.findings.iter().filter(|finding| finding.severity == Severity::Invalid);
        let rules: Vec<&str> = vetoes.map(|finding| finding.id.name()).collect();
        return (Answer::NotSupported, format!("The comparison is invalid: {}.", rules.join(", ")));
    }
    let Some(matched) = pair.matched else {
        let reason =
            "There is no time in which both are known to have run at one speed, with enough requests to compare.";
        return (Answer::CannotTell, reason.to_owned());
    };
    let Some(speed) = matched.speed() else {
        let reason = "One side had more requests in flight, and the files do not say how many users there were: it may have been loaded \
                      more, or be slower at the same rate.";
        return (Answer::CannotTell, reason.to_owned());
    };
    let speed = if is_of_first { speed.reversed() } else { speed };
    let (answer, why) = of_effect(relation, &speed);
    (answer, format!("{} {why}", found(&matched, is_of_first, &speed)))
}

/// What both did in the same time, the claim's subject first.
fn found(matched: &Matched, is_of_first: bool, speed: &Effect) -> String {
    let numbers = |[first, second]: [f64; 2], shown: fn(f64) -> String| {
        let (subject, other) = if is_of_first { (first, second) } else { (second, first) };
        (shown(subject), shown(other))
    };
    let when = format!("From {} to {}", text::seconds(matched.from_s), text::seconds(matched.to_s));
    match &matched.times {
        Some(times) if matched.pace == Pace::Load => {
            let (subject, other) = numbers(times.means_ms, |ms| text::micros(ms * 1e3));
            format!(
                "{when} a request took {subject} in the mean, with the other {other}: {} in speed. The rate does not count, since the \
                 load was paced.",
                text::effect(speed)
            )
        }
        _ => {
            let (subject, other) = numbers(matched.rates, |rate| text::significant(rate, 3));
            format!("{when} the one answered {subject} requests a second, the other {other}: {}.", text::effect(speed))
        }
    }
}

/// What a difference says of a relation, the subject against the other. It contradicts what would not hold either if launches of one
/// server differed by as much as they may.
fn of_effect(relation: Relation, effect: &Effect) -> (Answer, String) {
    let [low, high] = [effect.low - LAUNCHES, effect.high + LAUNCHES];
    let between_launches = text::percent(LAUNCHES.exp_m1());
    let does_not_fit = match relation {
        Relation::Faster => high < 0.0,
        Relation::Slower => low > 0.0,
        Relation::AsFast => low > 0.0 || high < 0.0,
        Relation::By(claimed) => claimed < low || claimed > high,
    };
    if does_not_fit {
        let claimed = match relation {
            Relation::By(claimed) => format!("The claim is {}. ", text::change(claimed)),
            _ => String::new(),
        };
        let why = format!(
            "{claimed}Launches of one server may differ by {between_launches}. Even so, the claim does not fit."
        );
        return (Answer::Contradicted, why);
    }
    let claims_faster = match relation {
        Relation::Faster => Some(true),
        Relation::Slower => Some(false),
        Relation::By(claimed) => Some(claimed > 0.0),
        Relation::AsFast => None,
    };
    let is_towards = match claims_faster {
        Some(true) => effect.low > ONE_RUN,
        Some(false) => effect.high < -ONE_RUN,
        None => false,
    };
    if is_towards {
        let why = "How far launches of either differ is not known, so neither is how large the difference is.";
        return (Answer::DirectionOnly, why.to_owned());
    }
    let why = if relation == Relation::AsFast {
        "One run a side does not show that two servers are equally fast.".to_owned()
    } else if is_seen_in_one_run(effect) {
        format!("It points the other way, by less than launches of one server may differ by, {between_launches}.")
    } else {
        let least = text::percent(ONE_RUN.exp_m1());
        format!("One run a side does not show a difference that may be less than {least}.")
    };
    (Answer::CannotTell, why)
}

#[cfg(test)]
mod tests {
    use model::imported::ImportedRun;

    use super::*;
    use crate::audit::testing::imported;
    use crate::{audit_imported, audit_pair};

    fn pair(rates: [u64; 2]) -> AuditedPair {
        let [first, second] = [0, 1].map(|side| {
            let mut run = imported(1_000, rates[side]);
            run.file = ["old/slow.jtl.gz", "old/fast.jtl.gz"][side].to_owned();
            audit_imported(run, Vec::new())
        });
        audit_pair([&first, &second])
    }

    fn answered(claim: &str, rates: [u64; 2]) -> Answer {
        answer_claim(claim, &pair(rates)).unwrap().answer
    }

    #[test]
    fn a_direction_is_shown_or_contradicted() {
        for claim in [
            "b is faster than a",
            "fast is faster than slow",
            "A is slower than B",
            "fast.jtl.gz is faster than old/slow.jtl.gz",
            "OLD/FAST is faster than Slow",
        ] {
            assert_eq!(answered(claim, [100, 130]), Answer::DirectionOnly, "{claim}");
            assert_eq!(answered(claim, [130, 100]), Answer::Contradicted, "{claim}");
            assert_eq!(answered(claim, [100, 101]), Answer::CannotTell, "{claim}");
            assert_eq!(answered(claim, [110, 100]), Answer::CannotTell, "launches may differ by that: {claim}");
        }
    }

    #[test]
    fn a_size_is_contradicted_or_left_open() {
        for claim in ["b is 3 times faster than a", "b is 200 % faster than a", "a is 3x slower than b"] {
            assert_eq!(answered(claim, [100, 300]), Answer::DirectionOnly, "{claim}");
            assert_eq!(answered(claim, [100, 130]), Answer::Contradicted, "{claim}");
            assert_eq!(answered(claim, [100, 900]), Answer::Contradicted, "{claim}");
        }
        assert_eq!(answered("b is 5 % faster than a", [100, 100]), Answer::CannotTell);
        assert_eq!(answered("a is as fast as b", [100, 100]), Answer::CannotTell);
        assert_eq!(answered("a is as fast as b", [100, 200]), Answer::Contradicted);
    }

    #[test]
    fn who_contradicts_faster_contradicts_faster_by_some() {
        for rates in [[100, 60], [100, 79], [100, 90], [100, 100], [100, 120]] {
            for by in ["2 %", "10 %", "40 %"] {
                let is_contradicted = |claim: &str| answered(claim, rates) == Answer::Contradicted;
                assert!(
                    !is_contradicted("b is faster than a") || is_contradicted(&format!("b is {by} faster than a")),
                    "{rates:?}, {by}"
                );
            }
        }
    }

    #[test]
    fn a_reason_has_the_numbers_in_the_order_of_the_claim() {
        let reason = answer_claim("slow is faster than fast", &pair([100, 200])).unwrap().reason;
        assert!(reason.contains("the one answered 100 requests a second, the other 200: −50.0 % [−50."), "{reason}");
    }

    #[test]
    fn where_the_load_is_paced_the_time_of_a_request_counts() {
        let [first, second] = [100_000, 10_000].map(|each_us| {
            let mut run = imported(1_000, 100);
            run.intervals.iter_mut().for_each(|interval| interval.good_us = interval.good * each_us);
            run
        });
        let audited = |run: &ImportedRun| audit_imported(run.clone(), Vec::new());
        let of_unknown = |run: &ImportedRun| audited(&ImportedRun { users: None, ..run.clone() });
        let unknown = audit_pair([&of_unknown(&first), &of_unknown(&second)]);
        assert_eq!(answer_claim("b is faster than a", &unknown).unwrap().answer, Answer::CannotTell);
        let [first, second] = [audited(&first), audited(&second)];
        let answer = |claim: &str| answer_claim(claim, &audit_pair([&first, &second])).unwrap();
        assert_eq!(answer("b is 10 times faster than a").answer, Answer::DirectionOnly);
        assert_eq!(answer("a is faster than b").answer, Answer::Contradicted);
        let reason = answer("a is faster than b").reason;
        assert!(reason.contains("a request took 100 ms in the mean, with the other 10.0 ms: −90.0 % ["), "{reason}");
    }

    #[test]
    fn an_invalid_comparison_answers_nothing() {
        let mut pair = pair([100, 200]);
        pair.support = Support::NotSupported;
        assert_eq!(answer_claim("b is faster than a", &pair).unwrap().answer, Answer::NotSupported);
        (pair.support, pair.matched) = (Support::CannotTell, None);
        assert_eq!(answer_claim("b is faster than a", &pair).unwrap().answer, Answer::CannotTell);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        let error = |claim: &str| answer_claim(claim, &pair([100, 200])).unwrap_err().to_string();
        assert!(error("b is nice").contains("`b is nice` is not understood."));
        assert_eq!(
            error("c is faster than a"),
            "`c` is neither of the two runs: a is old/slow.jtl.gz, b is old/fast.jtl.gz"
        );
        assert_eq!(error("b is faster than fast"), "both names are of old/fast.jtl.gz");
    }
}
