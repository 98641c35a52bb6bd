//! The primary metric of every block: what a verdict rests on.

use model::Report;
use model::report::BlockSummary;

use super::plot::{Chart, Margins, Plot, WIDE, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, words};

/// A column for each block, a marker for each variant; `None` when no block gave a number.
pub fn blocks(report: &Report) -> Option<Chart> {
    let values = report.blocks.iter().flat_map(|block| &block.values).flatten().copied();
    let y = Scale::linear(values.clone()).padded(0.06);
    values.clone().next()?;

    let count = report.blocks.len();
    let x = Scale::linear([0.5, count as f64 + 0.5]);
    let y_ticks = labelled(y, 7, |value| number::value(report.primary, value));
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let margins =
        Margins { top: legend_height(&names, WIDE) + 36.0, right: 8.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(WIDE, margins.top + 190.0 + margins.bottom, margins, x, y);
    // Thirty numbers fit; more do not.
    let every = count.div_ceil(30).max(1);
    let x_ticks: Vec<_> = report
        .blocks
        .iter()
        .enumerate()
        .step_by(every)
        .map(|(index, block)| (index as f64 + 1.0, words::block_number(block).to_string()))
        .collect();
    plot.y_axis(&y_ticks, words::metric(report.primary));
    plot.x_axis(&x_ticks, "block");
    plot.legend(&names);
    for (index, block) in report.blocks.iter().enumerate() {
        draw(&mut plot, report, block, index as f64 + 1.0);
    }
    let title = format!("{} by block", words::metric(report.primary));
    Some(plot.finish(&title, &description(report)))
}

fn draw(plot: &mut Plot, report: &Report, block: &BlockSummary, x: f64) {
    let present = || block.values.iter().enumerate().filter_map(|(variant, value)| Some((variant, (*value)?)));
    let low = present().map(|(_, value)| value).fold(f64::INFINITY, f64::min);
    let high = present().map(|(_, value)| value).fold(f64::NEG_INFINITY, f64::max);
    plot.join((x, low), (x, high));
    for (variant, value) in present() {
        let mut title = format!(
            "block {}, {}: {}",
            words::block_number(block),
            words::variant_name(report, variant),
            number::value(report.primary, value)
        );
        if let Some(reason) = &block.excluded {
            title = format!("{title}; excluded: {reason}");
        }
        plot.dot((x, value), variant, block.excluded.is_some(), &title);
    }
}

fn description(report: &Report) -> String {
    let of = |block: &BlockSummary| {
        let values = block.values.iter().enumerate().map(|(variant, value)| {
            let value = value.map_or_else(|| number::NONE.into(), |value| number::value(report.primary, value));
            format!("{} {value}", words::variant_name(report, variant))
        });
        let excluded = if block.excluded.is_some() { " (excluded)" } else { "" };
        format!("block {}{excluded}: {}", words::block_number(block), values.collect::<Vec<_>>().join(", "))
    };
    report.blocks.iter().map(of).collect::<Vec<_>>().join("; ")
}
