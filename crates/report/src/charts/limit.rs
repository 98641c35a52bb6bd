//! Response time over the rate that was asked, where a limit was looked for.

use model::Report;
use model::search::{LimitStep, LimitSummary, StepResult};

use super::plot::{Chart, HALF, Margins, Plot, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, words};

/// A chart for each cell whose limit was looked for: the steps of the first used launch of each variant. Steps whose quantile was not answered have no
/// place on it.
pub fn limits(report: &Report) -> Vec<Chart> {
    (0..report.cells.len()).filter_map(|cell| chart(report, cell)).collect()
}

fn chart(report: &Report, cell: usize) -> Option<Chart> {
    let found: Vec<&LimitSummary> = report.found_limits.iter().filter(|found| found.cell == cell).collect();
    let objective = found.first()?.objective;
    let within_us = objective.within_us as f64;
    let mut points: Vec<(usize, &LimitStep, f64)> = Vec::new();
    for found in &found {
        let steps = found.searches.first().into_iter().flat_map(|search| &search.steps);
        points.extend(steps.filter_map(|step| Some((found.variant, step, step.quantile_us? as f64))));
    }
    if points.is_empty() {
        return None;
    }
    let x = Scale::log(points.iter().map(|(_, step, _)| step.rate)).padded(0.05);
    let y = Scale::log(points.iter().map(|(_, _, us)| *us).chain([within_us])).padded(0.05);
    let y_ticks = labelled(y, 5, number::micros);
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let margins =
        Margins { top: legend_height(&names, HALF) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(HALF, margins.top + 170.0 + margins.bottom, margins, x, y);
    plot.shelf(within_us, y.high());
    let what = format!("{} of response time", number::percentile(100.0 * objective.quantile));
    plot.y_axis(&y_ticks, &what);
    plot.x_axis(&labelled(x, 5, number::rate), "requests/s asked, log scale");
    plot.legend(&names);
    let mut described = Vec::new();
    for (variant, step, us) in points {
        let held = step.result == StepResult::Held;
        let word = if held { "held" } else { "broke" };
        let name = words::variant_name(report, variant);
        let title = format!("{name}, {}: {}, {word}", number::rate(step.rate), number::micros(us));
        plot.dot((step.rate, us), variant, !held, &title);
        described.push(title);
    }
    let title = format!("{}: {what} over the rate", words::cell_name(report, cell));
    Some(plot.finish(&title, &described.join("; ")))
}
