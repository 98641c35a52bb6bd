//! Latency by percentile, a chart for each cell.

use model::Report;
use model::report::{CellName, Measurement, Percentile};

use super::plot::{Chart, HALF, Margins, Plot, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, words};

/// A chart for each cell in which percentiles were measured.
pub fn latency(report: &Report) -> Vec<Chart> {
    let chart = |(index, cell): (usize, &CellName)| {
        let measured: Vec<_> = report
            .measurements
            .iter()
            .filter(|measurement| measurement.cell == index && !measurement.percentiles.is_empty())
            .collect();
        (!measured.is_empty()).then(|| of_cell(report, cell, &measured))
    };
    report.cells.iter().enumerate().filter_map(chart).collect()
}

fn of_cell(report: &Report, cell: &CellName, measured: &[&Measurement]) -> Chart {
    let percentiles = || measured.iter().flat_map(|measurement| &measurement.percentiles);
    let mut percents: Vec<f64> = percentiles().map(|percentile| percentile.percent).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    let x = Scale::linear(percents.iter().map(|percent| rank(*percent))).padded(0.04);
    let y = Scale::log(percentiles().map(|percentile| percentile.us as f64)).padded(0.08);

    let y_ticks = labelled(y, 5, number::micros);
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let margins =
        Margins { top: legend_height(&names, HALF) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(HALF, margins.top + 180.0 + margins.bottom, margins, x, y);
    let x_ticks: Vec<_> = percents.iter().map(|percent| (rank(*percent), number::percentile(*percent))).collect();
    let latency = if cell.concurrency.is_some() { "service time" } else { "response time" };
    plot.y_axis(&y_ticks, &format!("{latency}, log scale"));
    plot.x_axis(&x_ticks, "percentile");
    plot.legend(&names);
    for measurement in measured {
        let points: Vec<_> =
            measurement.percentiles.iter().map(|point| (rank(point.percent), point.us as f64)).collect();
        plot.line(&points, measurement.variant, 1.6, "1");
        for (point, percentile) in points.iter().zip(&measurement.percentiles) {
            let title = format!("{}, {}", words::variant_name(report, measurement.variant), written(percentile));
            plot.dot(*point, measurement.variant, false, &title);
        }
    }
    let description: Vec<_> = measured
        .iter()
        .map(|measurement| {
            let values: Vec<_> = measurement.percentiles.iter().map(written).collect();
            format!("{}: {}", words::variant_name(report, measurement.variant), values.join(", "))
        })
        .collect();
    plot.finish(&format!("{}: {latency} by percentile", cell.name), &description.join("; "))
}

/// Where a percentile stands: p90, p99, p99.9 are equally far apart.
fn rank(percent: f64) -> f64 {
    -(1.0 - percent / 100.0).clamp(1e-7, 1.0).log10()
}

fn written(percentile: &Percentile) -> String {
    format!("{} {}", number::percentile(percentile.percent), number::micros(percentile.us as f64))
}
