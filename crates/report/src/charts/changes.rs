//! What changed its level while it was measured, second by second.

use model::{ChangedSeries, Metric, Report};

use super::plot::{Chart, HALF, Margins, Plot, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, words};

/// A chart for each cell and metric that changed in some launch, of those launches only; a mark stands where the new level
/// begins.
pub fn changes(report: &Report) -> Vec<Chart> {
    let mut subjects: Vec<(usize, Metric)> = Vec::new();
    for series in &report.changed {
        if let Some(cell) = series.cell
            && !subjects.contains(&(cell, series.metric))
        {
            subjects.push((cell, series.metric));
        }
    }
    subjects.sort_unstable();
    let of = |(cell, metric)| {
        let own: Vec<_> =
            report.changed.iter().filter(|series| (series.cell, series.metric) == (Some(cell), metric)).collect();
        chart(report, &format!("{}: {}", words::cell_name(report, cell), words::metric(metric)), metric, &own)
    };
    subjects.into_iter().map(of).collect()
}

fn chart(report: &Report, title: &str, metric: Metric, all: &[&ChangedSeries]) -> Chart {
    let points = || all.iter().flat_map(|series| &series.points);
    let x = Scale::linear(points().map(|point| point[0]));
    // From zero: here the size of a change is the message.
    let y = Scale::linear(points().map(|point| point[1]).chain([0.0])).rounded(5);
    let y_ticks = labelled(y, 5, |value| number::value(metric, value));
    let x_ticks = labelled(x, 6, number::tick_seconds);
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let margins =
        Margins { top: legend_height(&names, HALF) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(HALF, margins.top + 170.0 + margins.bottom, margins, x, y);
    plot.y_axis(&y_ticks, words::metric(metric));
    plot.x_axis(&x_ticks, "since the measurement began");
    plot.legend(&names);
    for series in all {
        let line: Vec<_> = series.points.iter().map(|point| (point[0], point[1])).collect();
        plot.line(&line, series.variant, 1.0, "0.6");
    }
    for series in all {
        for change in &series.changes {
            let title = format!(
                "{}, {}: {}",
                words::variant_name(report, series.variant),
                series.key,
                words::level_change(series.metric, change)
            );
            plot.join((change.at_s, change.before), (change.at_s, change.after));
            plot.dot((change.at_s, change.after), series.variant, false, &title);
        }
    }
    let description: Vec<_> = all
        .iter()
        .map(|series| {
            let changes = series.changes.iter().map(|change| words::level_change(metric, change));
            format!(
                "{}, {}: {}",
                words::variant_name(report, series.variant),
                series.key,
                changes.collect::<Vec<_>>().join(", ")
            )
        })
        .collect();
    plot.finish(title, &description.join("; "))
}
