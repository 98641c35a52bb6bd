//! Figures as Markdown tables, and their places in a page.

pub mod side_by_side;

use std::fmt::Write as _;

use analysis::Boundaries;
use analysis::boundaries::{FIRST_LOOK, FIRST_RANK_LOOK, Looks, Spending};

use crate::change_points::{Found, STEPS};
use crate::errors::{Cell, Level, Outcomes};
use crate::noise::{Disturbance, Shape};
use crate::rate::Rate;
use crate::speed::{self, Test};
use crate::warming::{Roughness, Rule, RuleOutcome};

/// The largest part of a fixed design's blocks that is wanted in the mean.
const BLOCKS: f64 = 0.6;
/// What is wanted of changes in launches of so many seconds: steps of 10 and of 20 % found, alarms in steady launches.
const CHANGES_S: usize = 150;
const STEPS_FOUND: [f64; 2] = [0.95, 0.99];
const ALARMS: f64 = 0.15;
/// Largest noise from second to second of which changes are distinguished in the summary.
const CALM: f64 = 0.02;
/// What is wanted of every cell of simulated verdicts; the second of [`FALSE_DIFFERENCE`] of the bound of 95 %.
const FALSE_DIFFERENCE: [f64; 2] = [0.05, 0.06];
const WRONG_DIRECTION: f64 = 0.005;
const MISSED: f64 = 0.05;
const EQUIVALENT_AT_MARGIN: f64 = 0.05;

/// A share in per cent, as cells of tables have it.
fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

/// A rate in per cent with its interval, for columns that say "%".
fn bounds(rate: Rate) -> String {
    let [low, high] = rate.interval().map(percent);
    format!("{} [{low}, {high}]", percent(rate.share()))
}

/// The rates of one cell that are to be small, and the power.
struct Errors {
    false_difference: Rate,
    /// The worst of the effects from 3 % on.
    wrong_direction: Rate,
    /// The worst of all effects.
    missed: Rate,
    at_margin: Rate,
    /// At 3, 5 and 10 %.
    power: [Rate; 3],
}

impl Errors {
    /// Of outcomes by [`crate::errors::effects`].
    fn of(outcomes: &[Outcomes]) -> Self {
        let of = |effect: usize, rate: fn(&Outcomes) -> Rate| outcomes.get(effect).map(rate).unwrap_or_default();
        let effects = 0..outcomes.len();
        Self {
            false_difference: of(0, |outcomes| outcomes.different),
            wrong_direction: worst(effects.clone().skip(3).map(|effect| of(effect, |outcomes| outcomes.wrong))),
            missed: worst(effects.map(|effect| of(effect, |outcomes| outcomes.missed))),
            at_margin: of(2, |outcomes| outcomes.equivalent),
            power: [3, 4, 5].map(|effect| of(effect, |outcomes| outcomes.found)),
        }
    }
}

fn worst(rates: impl Iterator<Item = Rate>) -> Rate {
    rates.max_by(|a, b| a.share().total_cmp(&b.share())).unwrap_or_default()
}

/// The worst of each column of several cells, with its bounds: false differences, wrong direction, missed, equivalent at the margin.
fn worst_errors(cells: &[&Cell]) -> [String; 4] {
    let of = |rate: fn(&Errors) -> Rate| bounds(worst(cells.iter().map(|cell| rate(&Errors::of(&cell.outcomes)))));
    [
        of(|errors| errors.false_difference),
        of(|errors| errors.wrong_direction),
        of(|errors| errors.missed),
        of(|errors| errors.at_margin),
    ]
}

/// One thing that was asked.
struct Criterion {
    what: String,
    wanted: &'static str,
    /// What came out, and where.
    came: String,
    /// By how much it is missed; `None` where it is met.
    missed_by: Option<String>,
}

fn criteria(figure: &str, lines: &[Criterion]) -> String {
    let mut text = format!("| {figure} | wanted | the worst | |\n|---|---|---|---|\n");
    for Criterion { what, wanted, came, missed_by } in lines {
        let word = missed_by.as_ref().map_or_else(|| "met".to_owned(), |by| format!("**missed** by {by}"));
        let _ = writeln!(text, "| {what} | {wanted} | {came} | {word} |");
    }
    text
}

/// By how many points a share lies above what it may be, beyond rounding.
fn above(share: f64, most: f64) -> Option<String> {
    (share > most).then(|| format!("{:.2} points", (share - most) * 100.0))
}

/// What is wanted of verdicts (figure 1), and the worst of all cells; `place` says of each which design it is of, where there are several.
fn asked_of_verdicts(figure: &str, cells: &[(String, &Cell)]) -> String {
    let place = |(design, cell): &(String, &Cell)| {
        let Cell { level, noise, .. } = cell;
        (format!("{design}{}, {}, {}", noise.shape, noise.disturbance, level.name()), Errors::of(&cell.outcomes))
    };
    asked_of_errors(figure, &cells.iter().map(place).collect::<Vec<_>>())
}

/// The same of errors and where they are.
fn asked_of_errors(figure: &str, all: &[(String, Errors)]) -> String {
    let line = |what: &str, wanted, rate: fn(&Errors) -> Rate, missed_by: &dyn Fn(Rate) -> Option<String>| {
        let rates = all.iter().map(|(place, errors)| (rate(errors), place.as_str()));
        let (rate, place) = rates.max_by(|(a, _), (b, _)| a.share().total_cmp(&b.share())).unwrap_or_default();
        Criterion { what: what.to_owned(), wanted, came: format!("{rate} ({place})"), missed_by: missed_by(rate) }
    };
    let [share, bound] = FALSE_DIFFERENCE;
    criteria(
        figure,
        &[
            line(
                "false \"different\" of equal variants",
                "≤ 5 %, bound ≤ 6 %",
                |errors| errors.false_difference,
                &|rate| {
                    let by_bound = || above(rate.at_most(), bound).map(|by| format!("{by} of the bound"));
                    above(rate.share(), share).or_else(by_bound)
                },
            ),
            line("wrong direction, effects of 3 % and more", "≤ 0.5 %", |errors| errors.wrong_direction, &|rate| {
                above(rate.share(), WRONG_DIRECTION)
            }),
            line("intervals that miss the truth, all effects", "≤ 5 %", |errors| errors.missed, &|rate| {
                above(rate.share(), MISSED)
            }),
            line("\"equivalent\" at exactly the margin", "≤ 5 %", |errors| errors.at_margin, &|rate| {
                above(rate.share(), EQUIVALENT_AT_MARGIN)
            }),
        ],
    )
}

/// Figure 1: the worst of all cells.
pub fn summary(cells: &[Cell]) -> String {
    asked_of_verdicts(
        "1. verdicts on two variants after 3 to 30 blocks",
        &cells.iter().map(|cell| (String::new(), cell)).collect::<Vec<_>>(),
    )
}

/// Studies of one design, on every kind of noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// How many are compared, the baseline included.
    pub variants: usize,
    /// Blocks that it may take.
    pub looks: Looks,
    /// What became of it.
    pub cells: Vec<Cell>,
}

impl Design {
    fn blocks(&self) -> String {
        match (self.looks.first(), self.looks.last()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        }
    }
}

/// Figure 1, of other designs than two variants and 3 to 30 blocks.
pub fn summary_of_designs(designs: &[Design]) -> String {
    let place = |design: &Design| format!("{} variants, {} blocks, ", design.variants, design.blocks());
    let cells = designs.iter().flat_map(|design| design.cells.iter().map(move |cell| (place(design), cell)));
    asked_of_verdicts("1. verdicts of short studies and on several variants", &cells.collect::<Vec<_>>())
}

/// The worst cell of each error of other designs, and what they find of 5 and 10 % on JVM-shaped noise.
pub fn designs(designs: &[Design]) -> String {
    let mut text = "| variants | blocks | launches | false \"different\", % | wrong direction, % | missed, % | \"equivalent\" at the \
                    margin, % | power at 5 %, JVM-shaped, % | power at 10 %, JVM-shaped, % |\n|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for design in designs {
        for level in Level::ALL {
            let cells: Vec<&Cell> = design.cells.iter().filter(|cell| cell.level == level).collect();
            let is_jvm = |cell: &Cell| (cell.noise.shape, cell.noise.disturbance) == (Shape::Jvm, Disturbance::None);
            let power =
                cells.iter().find(|cell| is_jvm(cell)).map(|cell| Errors::of(&cell.outcomes).power).unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                design.variants,
                design.blocks(),
                level.name(),
                worst_errors(&cells).join(" | "),
                bounds(power[1]),
                bounds(power[2]),
            );
        }
    }
    text
}

/// Every cell of one level: errors, then what is found after how many blocks; below, the worst of each, with its bounds.
pub fn errors(cells: &[&Cell]) -> String {
    let mut text =
        "| noise | host | false \"different\", % | wrong direction, % | missed, % | \"equivalent\" at the margin, % | \
                    power at 3, 5, 10 %, % | blocks at 0, 3, 5, 10 % |\n|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for cell in cells {
        let errors = Errors::of(&cell.outcomes);
        let power = errors.power.map(|power| format!("{:.1}", power.share() * 100.0));
        let blocks: Vec<String> = [0, 3, 4, 5]
            .iter()
            .filter_map(|effect| Some(format!("{:.1}", cell.outcomes.get(*effect)?.mean_blocks())))
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            cell.noise.shape,
            cell.noise.disturbance,
            bounds(errors.false_difference),
            percent(errors.wrong_direction.share()),
            percent(errors.missed.share()),
            percent(errors.at_margin.share()),
            power.join(", "),
            blocks.join(", "),
        );
    }
    let lowest = [0, 1, 2].map(|effect: usize| {
        let powers = cells.iter().map(|cell| Errors::of(&cell.outcomes).power[effect]);
        bounds(powers.min_by(|a, b| a.share().total_cmp(&b.share())).unwrap_or_default())
    });
    let _ = writeln!(
        text,
        "| **the worst** | of each column | {} | {} | |",
        worst_errors(cells).join(" | "),
        lowest.join(", ")
    );
    text
}

/// A sequential design beside the fixed one at one noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// Name of the noise's shape.
    pub shape: String,
    /// Name of the fixed design's test.
    pub test: &'static str,
    /// The power that the fixed design has with 20 blocks, 0..1.
    pub fixed_power: f64,
    /// What became of the sequential studies.
    pub outcomes: Outcomes,
    /// Blocks that the fixed design needs for the power that the sequential one has.
    pub equal_power_blocks: Option<usize>,
}

impl Race {
    /// The blocks it takes in the mean, as a part of those of a fixed design with its power; of 40 where that has more.
    fn part(&self) -> f64 {
        self.outcomes.mean_blocks() / self.equal_power_blocks.unwrap_or(speed::MOST_BLOCKS) as f64
    }
}

/// Figure 2: JVM-shaped noise, against a fixed design that ranks.
pub fn summary_of_races(races: &[Race]) -> String {
    let is_judged = |race: &&Race| race.shape == Shape::Jvm.to_string() && race.test == Test::SignedRanks.name();
    let line = |race: &Race| Criterion {
        what: format!("noise with which 20 fixed blocks have a power of {:.0} %", race.fixed_power * 100.0),
        wanted: "≤ 60 %",
        came: format!(
            "{:.0} % ({:.1} blocks; {} fixed ones have the same power of {:.1} %)",
            race.part() * 100.0,
            race.outcomes.mean_blocks(),
            race.equal_power_blocks.map_or_else(|| "more than 40".to_owned(), |blocks| blocks.to_string()),
            race.outcomes.found.share() * 100.0
        ),
        missed_by: (race.part() > BLOCKS).then(|| format!("{:.0} points", (race.part() - BLOCKS) * 100.0)),
    };
    let lines: Vec<Criterion> = races.iter().filter(is_judged).map(line).collect();
    criteria("2. blocks to a verdict at 5 %, part of a fixed design of equal power", &lines)
}

/// Blocks to a verdict against the fixed design.
pub fn races(races: &[Race]) -> String {
    let mut text = format!(
        "| noise | fixed design's test | its power with {0} blocks | power of bakeoff | its blocks in the mean | part of {0} | \
         fixed design of bakeoff's power: blocks | part of those |\n|---|---|---|---|---|---|---|---|\n",
        speed::FIXED_BLOCKS
    );
    for race in races {
        let mean = race.outcomes.mean_blocks();
        let of = |blocks: usize| format!("{:.0} %", mean / blocks as f64 * 100.0);
        let _ = writeln!(
            text,
            "| {} | {} | {:.0} % | {} | {mean:.1} | {} | {} | {} |",
            race.shape,
            race.test,
            race.fixed_power * 100.0,
            race.outcomes.found,
            of(speed::FIXED_BLOCKS),
            race.equal_power_blocks.map_or_else(|| "more than 40".to_owned(), |blocks| blocks.to_string()),
            race.equal_power_blocks.map_or_else(String::new, of),
        );
    }
    text
}

/// Ways of spending the error rate, with their outcomes without an effect, at 5 % and at 10 %.
pub fn spendings(spendings: &[(Spending, Vec<Outcomes>)]) -> String {
    let mut text =
        "| spent by n of 30 blocks: (n/30) to the | false \"different\" | power at 5 % | blocks at 5 % | blocks \
                    at 10 % |\n|---|---|---|---|---|\n"
            .to_owned();
    for (Spending { exponent }, outcomes) in spendings {
        let [none, five, ten] = &outcomes[..] else { continue };
        let _ = writeln!(
            text,
            "| {exponent} | {} | {} | {:.2} | {:.2} |",
            none.different,
            five.found,
            five.mean_blocks(),
            ten.mean_blocks()
        );
    }
    text
}

/// Figure 3, of launches of 150 s.
pub fn summary_of_changes(found: &[Found]) -> String {
    let asked_of = || found.iter().filter(|found| found.seconds == CHANGES_S);
    let steps = |size: f64, is_calm: bool, wanted: f64| {
        let hosts = asked_of().filter(move |found| (found.wander.sd <= CALM) == is_calm);
        let rates = hosts.flat_map(|found| {
            let steps = STEPS.iter().zip(&found.steps).filter(|(step, _)| (step.abs() - size).abs() < 1e-9);
            steps.map(|(step, rate)| (*rate, *step, found.wander.sd))
        });
        let worst = rates.min_by(|(a, ..), (b, ..)| a.share().total_cmp(&b.share())).unwrap_or_default();
        let (rate, step, sd) = worst;
        Criterion {
            what: format!(
                "steps of {:.0} % found within 5 s, noise of {}",
                size * 100.0,
                if is_calm { "2 % and less" } else { "3 and 4 %" }
            ),
            wanted: if size < 0.15 { "≥ 95 %" } else { "≥ 99 %" },
            came: format!("{rate} ({:+.0} %, noise {:.1} %)", step * 100.0, sd * 100.0),
            missed_by: above(wanted, rate.share()),
        }
    };
    let [ten, twenty] = STEPS_FOUND;
    let alarms = worst(asked_of().map(|found| found.alarms));
    criteria(
        "3. change points, 150 s",
        &[
            steps(0.1, true, ten),
            steps(0.1, false, ten),
            steps(0.2, true, twenty),
            steps(0.2, false, twenty),
            Criterion {
                what: "steady launches with an alarm, any noise".to_owned(),
                wanted: "≤ 15 %",
                came: alarms.to_string(),
                missed_by: above(alarms.share(), ALARMS),
            },
        ],
    )
}

/// Changes of level that are found, by length and noise.
pub fn changes(found: &[Found]) -> String {
    let steps = STEPS.map(|step| format!("{:+.0} % found, %", step * 100.0).replace('-', "−"));
    let mut text = format!(
        "| seconds | noise: sd, φ | alarms, steady, % | {} |\n|---:|---|---:|{}\n",
        steps.join(" | "),
        "---:|".repeat(steps.len())
    );
    for Found { seconds, wander, alarms, steps } in found {
        let steps = steps.map(bounds);
        let _ = writeln!(
            text,
            "| {seconds} | {:.1} %, {} | {} | {} |",
            wander.sd * 100.0,
            wander.phi,
            bounds(*alarms),
            steps.join(" | ")
        );
    }
    text
}

/// What rules of warming up make of known curves, by noise.
pub fn warming(reported: &[(Roughness, [RuleOutcome; Rule::ALL.len()])]) -> String {
    let mut text = "| launches | measured from | called steady within 300 s | of these still > 5 % off | median, s |\n\
                    |---|---|---|---|---:|\n"
        .to_owned();
    for (noise, reported) in reported {
        for (rule, RuleOutcome { stopped, early, median_s }) in Rule::ALL.iter().zip(reported) {
            let median = median_s.map_or_else(|| "–".to_owned(), |at| format!("{at:.0}"));
            let early = if early.of == 0 { "–".to_owned() } else { early.to_string() };
            let _ = writeln!(text, "| {} | {} | {stopped} | {early} | {median} |", noise.name, rule.name());
        }
    }
    text
}

/// What is found of 5 %, and after how many blocks in the mean: as it is, and without ranks.
pub fn tails(rows: &[(String, [(Rate, f64); 2])]) -> String {
    let mut text = "| launches, host | found | blocks | found with Student's t at every look | blocks |\n|---|---|---:|---|---:|\n"
        .to_owned();
    for (name, [(found, blocks), (found_by_t, blocks_of_t)]) in rows {
        let _ = writeln!(text, "| {name} | {found} | {blocks:.1} | {found_by_t} | {blocks_of_t:.1} |");
    }
    text
}

/// Figure 5: each ablation's worst rate of false differences, of rows that name it.
pub fn summary_of_ablations(rates: &[(&str, Rate)]) -> String {
    let line = |(what, rate): &(&str, Rate)| Criterion {
        what: (*what).to_owned(),
        wanted: "more than 5 %",
        came: rate.to_string(),
        missed_by: above(FALSE_DIFFERENCE[0], rate.share()),
    };
    criteria("5. false \"different\" when a part is left out", &rates.iter().map(line).collect::<Vec<_>>())
}

/// Rates by row and column, in per cent, with their intervals.
pub fn rates(corner: &str, columns: &[String], rows: &[(String, Vec<Rate>)]) -> String {
    let mut text = format!("| {corner} | {} |\n|---{}|\n", columns.join(" | "), "|---".repeat(columns.len()));
    for (name, rates) in rows {
        // Of nothing there is no rate.
        let rates: Vec<String> =
            rates.iter().map(|rate| if rate.of == 0 { "–".to_owned() } else { rate.to_string() }).collect();
        let _ = writeln!(text, "| {name} | {} |", rates.join(" | "));
    }
    text
}

/// Critical values, as `analysis::boundaries` has them in its source.
pub fn boundaries(boundaries: &Boundaries) -> String {
    let last = boundaries.looks().last();
    let t: Vec<String> = (FIRST_LOOK..FIRST_RANK_LOOK).filter_map(|n| Some(format!("{}", boundaries.t(n)?))).collect();
    let mut text =
        format!("|t| above, with {FIRST_LOOK} to {} blocks: [{}]\n", last.min(FIRST_RANK_LOOK - 1), t.join(", "));
    if last >= FIRST_RANK_LOOK {
        let rank: Vec<String> = (FIRST_RANK_LOOK..=last)
            .map(|n| boundaries.rank(n).map_or_else(|| "none".to_owned(), |k| k.to_string()))
            .collect();
        let _ = writeln!(text, "min(W+, W-) at most, with {FIRST_RANK_LOOK} to {last}: [{}]", rank.join(", "));
    }
    text
}

/// The page with the text between the markers `<!-- NAME -->` and `<!-- end of NAME -->` replaced; `None` where it lacks them.
pub fn placed(page: &str, name: &str, text: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n\n{end}{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_takes_the_place_of_the_one_before() {
        let page = "A\n<!-- x -->\nold\n<!-- end of x -->\nB";
        let once = placed(page, "x", "| new |\n").unwrap();
        assert_eq!(once, "A\n<!-- x -->\n\n| new |\n\n<!-- end of x -->\nB");
        assert_eq!(placed(&once, "x", "| new |\n").unwrap(), once);
        assert_eq!(placed(page, "y", ""), None);
    }
}
