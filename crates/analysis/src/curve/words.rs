//! A curve in one sentence.

use model::curve::{AgeCrossing, AgeCurve, AgePhase, Movement};
use model::warm_up::{BreakEven, Overtaking};
use model::{Interpretation, Mode, StudyRecord, VariantIndex, text};

use crate::student;

/// "on is 52.0 % slower than off in its first 30 s under load [41.0, 61.2], level from 30 s to 60 s, 22.6 % faster from 60 s on
/// [13.1, 33.0], 5 blocks, seen for 2 min; on overtakes off at 44 s [38 s, 52 s]; it has served as much in all 5 min after launch".
pub fn sentence(record: &StudyRecord, curve: &AgeCurve, break_even: Option<&BreakEven>) -> String {
    let [name, baseline] = record.compared(curve.variant);
    let blocks = curve.points.first().map_or(0, |point| point.blocks);
    if curve.phases.is_empty() {
        return format!(
            "How {name} compares with {baseline} over a server's life takes {} blocks to say; {} could be used",
            student::FEWEST,
            text::count(blocks.into())
        );
    }
    let last = curve.phases.len() - 1;
    let pieces: Vec<String> = curve
        .phases
        .iter()
        .enumerate()
        .map(|(index, phase)| {
            let other = if index == 0 { baseline } else { "" };
            piece(phase, other, curve.margin, &span(phase, index == 0, index == last))
        })
        .collect();
    let seen = if last > 0 { format!(", seen for {}", age(curve.seen_s)) } else { String::new() };
    let mut sentence = format!("{name} is {}, {}{seen}", pieces.join(", "), text::plural(blocks.into(), "block"));
    if let Some(crossing) = &curve.crossing {
        sentence.push_str(&overtakes(crossing, curve.variant, [name, baseline]));
    }
    if curve.movement.is_some_and(|movement| movement.still_moving) {
        sentence.push_str("; the speeds still moved when the warm-up ended");
    } else if record.plan.mode == Mode::Full
        && let Some(as_much) = break_even.and_then(|even| served(even, curve, baseline))
    {
        sentence.push_str(&as_much);
    }
    sentence
}

/// One phase; the other variant is named in the first.
fn piece(phase: &AgePhase, other: &str, margin: f64, when: &str) -> String {
    let named = |word: &str| if other.is_empty() { String::new() } else { format!(" {word} {other}") };
    let effect = &phase.effect;
    let by = |word: &str, near: f64, far: f64| {
        let [size, near, far] = [effect.estimate, near, far].map(text::percent_digits);
        format!("{size} % {word}{} {when} [{near}, {far}]", named("than"))
    };
    match phase.reading {
        Interpretation::Better => by("faster", effect.low, effect.high),
        Interpretation::Worse => by("slower", effect.high, effect.low),
        Interpretation::Equivalent => {
            format!("level{} within ±{} {when}", named("with"), text::margin(margin.exp_m1()))
        }
        Interpretation::Inconclusive | Interpretation::NotJudged => format!("inconclusive{} {when}", named("against")),
    }
}

fn span(phase: &AgePhase, is_first: bool, is_last: bool) -> String {
    match (is_first, is_last) {
        (true, true) => format!("throughout its first {} under load", age(phase.to_s)),
        (true, false) => format!("in its first {} under load", age(phase.to_s)),
        (false, true) => format!("from {} on", age(phase.from_s)),
        (false, false) => format!("from {} to {}", age(phase.from_s), age(phase.to_s)),
    }
}

/// From which age on the other one is faster.
fn overtakes(crossing: &AgeCrossing, variant: VariantIndex, [name, baseline]: [&str; 2]) -> String {
    let [first, second] = if crossing.leader == variant { [name, baseline] } else { [baseline, name] };
    let [at, from, to] = [crossing.at_s, crossing.interval_s[0], crossing.interval_s[1]].map(age);
    format!("; {first} overtakes {second} at {at} [{from}, {to}]")
}

/// When the totals are the same, where they surely are at some time.
fn served(even: &BreakEven, curve: &AgeCurve, baseline: &str) -> Option<String> {
    let (Overtaking::After { seconds, .. }, Overtaking::After { .. }) = (even.estimate, even.high) else { return None };
    let who = if even.leader == curve.variant { "it" } else { baseline };
    Some(format!("; {who} has served as much in all {} after launch", age(seconds)))
}

/// How the speeds moved: "in the last 3 s of 12 s under load off was 31.0 % faster than in the 3 s before, on 55.2 % faster, and the
/// ratio of the two had moved by +18.5 % [+5.1, +33.6]".
pub fn moved(movement: &Movement, [name, baseline]: [&str; 2]) -> String {
    let [_, middle_s, to_s] = movement.parts_s;
    let rise = |log_ratio: f64| {
        let word = if log_ratio < 0.0 { "slower" } else { "faster" };
        format!("{} % {word}", text::percent_digits(log_ratio))
    };
    let [of_baseline, of_variant] = movement.rises.map(rise);
    let part = age(to_s - middle_s);
    format!(
        "in the last {part} of {} under load {baseline} was {of_baseline} than in the {part} before, {name} {of_variant}, and the ratio \
         of the two had moved by {}",
        age(to_s),
        text::effect(&movement.change)
    )
}

/// An age as people say it: whole seconds.
pub fn age(seconds: f64) -> String {
    match seconds.round() {
        short if short < 120.0 => format!("{short:.0} s"),
        long => text::seconds(long),
    }
}
