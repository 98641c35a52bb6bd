//! Figures as Markdown tables, and their places in a page.

use std::fmt::Write as _;

use analysis::Boundaries;
use analysis::boundaries::{FIRST_LOOK, FIRST_RANK_LOOK, Looks, Spending};

use crate::errors::{Cell, Level, Outcomes};
use crate::noise::{Disturbance, Shape};
use crate::rate::Rate;
use crate::speed;

/// What is wanted of every cell; the last two of bounds of 95 %.
const WRONG_DIRECTION: f64 = 0.005;
const FALSE_DIFFERENCE: [f64; 2] = [0.05, 0.06];
const MISSED: f64 = 0.05;
const EQUIVALENT_AT_MARGIN: f64 = 0.05;

/// A share in per cent, as cells of tables have it.
fn percent(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

/// The rates of one cell that are to be small.
struct Errors {
    false_difference: Rate,
    /// The worst of the effects from 3 % on.
    wrong_direction: Rate,
    /// The worst of all effects.
    missed: Rate,
    at_margin: Rate,
}

impl Errors {
    fn of(cell: &Cell) -> Self {
        let worst = |rates: &mut dyn Iterator<Item = Rate>| {
            rates.max_by(|a, b| a.share().total_cmp(&b.share())).unwrap_or_default()
        };
        let [none, _, margin, large @ ..] = &cell.outcomes[..] else {
            return Self {
                false_difference: Rate::default(),
                wrong_direction: Rate::default(),
                missed: Rate::default(),
                at_margin: Rate::default(),
            };
        };
        Self {
            false_difference: none.different,
            wrong_direction: worst(&mut large.iter().map(|outcomes| outcomes.wrong)),
            missed: worst(&mut cell.outcomes.iter().map(|outcomes| outcomes.missed)),
            at_margin: margin.equivalent,
        }
    }
}

/// What was wanted, and the worst cell of each.
pub fn summary(cells: &[Cell]) -> String {
    let worst = |rate: fn(&Errors) -> Rate| {
        let of = |cell| (rate(&Errors::of(cell)), cell);
        cells.iter().map(of).max_by(|(a, _), (b, _)| a.share().total_cmp(&b.share()))
    };
    let mut text = "| of every cell | wanted | the worst cell | |\n|---|---|---|---|\n".to_owned();
    let mut row = |what: &str, wanted: &str, rate: fn(&Errors) -> Rate, is_met: &dyn Fn(Rate) -> bool| {
        if let Some((rate, cell)) = worst(rate) {
            let word = if is_met(rate) { "met" } else { "**missed**" };
            let Cell { level, noise, .. } = cell;
            let place = format!("{}, {}, {}", noise.shape, noise.disturbance, level.name());
            let _ = writeln!(text, "| {what} | {wanted} | {rate} ({place}) | {word} |");
        }
    };
    let [share, bound] = FALSE_DIFFERENCE;
    row("false \"different\" of equal variants", "≤ 5 %, bound ≤ 6 %", |errors| errors.false_difference, &|rate| {
        rate.share() <= share && rate.at_most() <= bound
    });
    row("wrong direction, effects of 3 % and more", "≤ 0.5 %", |errors| errors.wrong_direction, &|rate| {
        rate.share() <= WRONG_DIRECTION
    });
    row("intervals that miss the truth, all effects", "≤ 5 %", |errors| errors.missed, &|rate| {
        rate.share() <= MISSED
    });
    row("\"equivalent\" at exactly the margin", "≤ 5 %", |errors| errors.at_margin, &|rate| {
        rate.share() <= EQUIVALENT_AT_MARGIN
    });
    text
}

/// The worst cell of each error of studies with few looks, and what they find of 5 and 10 % on JVM-shaped noise.
pub fn short(studies: &[(Looks, Vec<Cell>)]) -> String {
    let mut text = "| blocks | host | false \"different\", % | wrong direction, % | missed, % | \"equivalent\" at the margin, % | \
                    power at 5, 10 % on JVM-shaped noise, % |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    for (looks, cells) in studies {
        let blocks = match (looks.first(), looks.last()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first} to {last}"),
        };
        for level in Level::ALL {
            let of_level = || cells.iter().filter(|cell| cell.level == level);
            let worst = |rate: fn(&Errors) -> Rate| {
                let rates = of_level().map(|cell| rate(&Errors::of(cell)));
                rates.max_by(|a, b| a.share().total_cmp(&b.share())).unwrap_or_default()
            };
            let false_difference = worst(|errors| errors.false_difference);
            let [low, high] = false_difference.interval().map(percent);
            let jvm = of_level()
                .filter(|cell| (cell.noise.shape, cell.noise.disturbance) == (Shape::Jvm, Disturbance::None))
                .flat_map(|cell| cell.outcomes.iter().skip(4));
            let power: Vec<String> = jvm.map(|of| format!("{:.1}", of.power().share() * 100.0)).collect();
            let _ = writeln!(
                text,
                "| {blocks} | {} | {} [{low}, {high}] | {} | {} | {} | {} |",
                level.name(),
                percent(false_difference.share()),
                percent(worst(|errors| errors.wrong_direction).share()),
                percent(worst(|errors| errors.missed).share()),
                percent(worst(|errors| errors.at_margin).share()),
                power.join(", ")
            );
        }
    }
    text
}

/// Every cell of one level: errors, then what is found after how many blocks.
pub fn errors<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> String {
    let mut text =
        "| noise | host | false \"different\", % | wrong direction, % | missed, % | \"equivalent\" at the margin, % | \
                    power at 3, 5, 10 %, % | blocks at 0, 3, 5, 10 % |\n|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for cell in cells {
        let errors = Errors::of(cell);
        let [none, _, _, large @ ..] = &cell.outcomes[..] else { continue };
        let [low, high] = errors.false_difference.interval().map(percent);
        let power: Vec<String> = large.iter().map(|o| format!("{:.1}", o.power().share() * 100.0)).collect();
        let blocks: Vec<String> = [none].into_iter().chain(large).map(|o| format!("{:.1}", o.mean_blocks())).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} [{low}, {high}] | {} | {} | {} | {} | {} |",
            cell.noise.shape,
            cell.noise.disturbance,
            percent(errors.false_difference.share()),
            percent(errors.wrong_direction.share()),
            percent(errors.missed.share()),
            percent(errors.at_margin.share()),
            power.join(", "),
            blocks.join(", "),
        );
    }
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
            race.outcomes.power(),
            of(speed::FIXED_BLOCKS),
            race.equal_power_blocks.map_or_else(|| "more than 40".to_owned(), |blocks| blocks.to_string()),
            race.equal_power_blocks.map_or_else(String::new, of),
        );
    }
    text
}

/// Ways of spending the error rate, with their outcomes without an effect, at 5 % and at 10 %.
pub fn spendings(spendings: &[(Spending, Vec<Outcomes>)]) -> String {
    let mut text = "| spent at 5 to 7 blocks | the rest as (n/30) to the | false \"different\" | power at 5 % | blocks at 5 % | blocks \
                    at 10 % |\n|---|---|---|---|---|---|\n"
        .to_owned();
    for (Spending { early, exponent }, outcomes) in spendings {
        let [none, five, ten] = &outcomes[..] else { continue };
        let _ = writeln!(
            text,
            "| {:.0} % | {exponent} | {} | {} | {:.2} | {:.2} |",
            early * 100.0,
            none.different,
            five.power(),
            five.mean_blocks(),
            ten.mean_blocks()
        );
    }
    text
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
