//! Every comparison as an interval, against the region that counts as no difference.

use model::{Comparison, Effect, Report};

use super::plot::{Anchor, Chart, Margins, Plot, WIDE, text_width};
use super::scale::Scale;
use crate::{number, words};

const ROW: f64 = 24.0;
/// A change beyond a fifth or five times would squeeze everything else; it ends in an arrow.
const FURTHEST: f64 = 1.609_437_912_434_1;

/// Characters of a label; more would leave the intervals no room.
const LONGEST: usize = 44;

enum Row<'a> {
    Head(String),
    Comparison(&'a Comparison),
}

/// A row for each comparison; `None` when nothing was compared.
pub fn forest(report: &Report) -> Option<Chart> {
    let rows = rows(report);
    if rows.is_empty() {
        return None;
    }
    // The heads of the groups name the cell.
    let label = |comparison: &Comparison| format!("  {}", words::metric(comparison.metric));
    // The numbers stand in the table beside; here only what they come to.
    let reading = |comparison: &Comparison| words::reading(report, comparison).0;
    let left = |row: &Row| match row {
        Row::Head(head) => text_width(head),
        Row::Comparison(comparison) => text_width(&label(comparison)),
    };

    let margins = Margins {
        top: 4.0,
        right: text_width("? too few blocks") + 12.0,
        bottom: 40.0,
        left: rows.iter().map(left).fold(0.0, f64::max) + 12.0,
    };
    let height = margins.top + rows.len() as f64 * ROW + margins.bottom;
    let x = domain(report);
    // Rows are counted downwards.
    let last = rows.len() as f64;
    let mut plot = Plot::new(WIDE, height, margins, x, Scale::linear([0.0, last]));

    let margin = report.rope.ln_1p();
    plot.band(-margin, margin);
    let about = ((WIDE - margins.left - margins.right) / 70.0) as usize;
    let percents = Scale::linear([Effect::fraction(x.low()) * 100.0, Effect::fraction(x.high()) * 100.0]).ticks(about);
    let ticks: Vec<_> = percents
        .into_iter()
        .map(|percent| (percent / 100.0).ln_1p())
        .map(|log_ratio| (log_ratio, number::tick_change(log_ratio)))
        .collect();
    plot.x_axis(&ticks, &format!("change against {}", words::variant_name(report, 0)));
    plot.rule(0.0);
    for (index, row) in rows.iter().enumerate() {
        let y = last - index as f64 - 0.5;
        match row {
            Row::Head(head) => plot.row_text(0.0, y, Anchor::Start, "strong", head),
            Row::Comparison(comparison) => {
                plot.row_text(0.0, y, Anchor::Start, "", &label(comparison));
                plot.row_text(WIDE - margins.right + 12.0, y, Anchor::Start, "", reading(comparison));
                if let Some(effect) = &comparison.effect {
                    plot.interval([effect.low, effect.estimate, effect.high], y, comparison.variant);
                }
            }
        }
    }
    let described = |comparison: &Comparison| {
        let effect = comparison.effect.as_ref().map_or_else(|| number::NONE.into(), number::effect);
        let place = words::place(report, comparison);
        format!("{} · {place}: {effect}, {}", words::metric(comparison.metric), reading(comparison))
    };
    let description: Vec<_> = report.comparisons.iter().map(described).collect();
    Some(plot.finish("Changes with their intervals", &description.join("; ")))
}

fn rows(report: &Report) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (head, comparisons) in words::comparison_groups(report) {
        rows.push(Row::Head(words::squeezed(&head, LONGEST)));
        rows.extend(comparisons.into_iter().map(Row::Comparison));
    }
    rows
}

fn domain(report: &Report) -> Scale {
    let margin = report.rope.ln_1p() * 1.5;
    let effects = report.comparisons.iter().filter_map(|comparison| comparison.effect.as_ref());
    let ends = effects.flat_map(|effect| [effect.low, effect.high]).map(|end| end.clamp(-FURTHEST, FURTHEST));
    Scale::linear(ends.chain([-margin, margin])).padded(0.06)
}
