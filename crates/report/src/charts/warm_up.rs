//! How every launch came up to speed.

use model::Report;
use model::report::WarmUpSeries;

use super::plot::{Margins, Plot, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use super::{Chart, WIDE};
use crate::{number, words};

/// Points of one line; the eye sees no more at this size.
const MOST: usize = 240;

/// A thin line for each launch; `None` when nothing was recorded.
pub fn warm_up(report: &Report) -> Option<Chart> {
    let points = || report.warm_ups.iter().flat_map(|series| &series.points);
    points().next()?;
    let cut = report.warm_up_cut.map(|cut| cut.seconds);
    let x = Scale::linear(points().map(|point| point[0]).chain(cut).chain([0.0]));
    let y = Scale::linear(points().map(|point| point[1]).chain([0.0])).padded(0.0).rounded(5);

    let y_ticks = labelled(y, 5, number::rate);
    let x_ticks = labelled(x, 10, number::tick_seconds);
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let margins =
        Margins { top: legend_height(&names, WIDE) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(WIDE, margins.top + 220.0 + margins.bottom, margins, x, y);
    if let Some(cut) = cut {
        plot.band(0.0, cut);
    }
    plot.y_axis(&y_ticks, "good answers per second");
    plot.x_axis(&x_ticks, "since the load began");
    if let Some(cut) = cut {
        plot.rule(cut);
    }
    plot.legend(&names);
    for series in &report.warm_ups {
        plot.line(&thinned(&series.points), series.variant, 1.0, "0.6");
    }
    for series in &report.warm_ups {
        if let Some((at, rate)) = steady_point(series) {
            let name = words::variant_name(report, series.variant);
            let title = format!("{name}, {}: steady after {}", series.key, number::seconds(at));
            plot.dot((at, rate), series.variant, false, &title);
        }
    }
    Some(plot.finish("Rate while warming up", &description(report)))
}

/// Where the launch was found steady: on its line.
fn steady_point(series: &WarmUpSeries) -> Option<(f64, f64)> {
    let at = series.steady_at_s?;
    let drawn = thinned(&series.points);
    let after = drawn.iter().position(|(x, _)| *x >= at);
    let rate = match after {
        Some(0) => drawn[0].1,
        Some(index) => {
            let ((x0, y0), (x1, y1)) = (drawn[index - 1], drawn[index]);
            y0 + (y1 - y0) * (at - x0) / (x1 - x0)
        }
        None => drawn.last()?.1,
    };
    Some((at, rate))
}

/// Neighbouring points joined into their mean, as many as makes the line no longer than [`MOST`].
fn thinned(points: &[[f64; 2]]) -> Vec<(f64, f64)> {
    let together = points.len().div_ceil(MOST).max(1);
    let mean =
        |chunk: &[[f64; 2]], axis: usize| chunk.iter().map(|point| point[axis]).sum::<f64>() / chunk.len() as f64;
    points.chunks(together).map(|chunk| (mean(chunk, 0), mean(chunk, 1))).collect()
}

fn description(report: &Report) -> String {
    let of = |(index, variant): (usize, &model::report::VariantSummary)| {
        let launches = report.warm_ups.iter().filter(|series| series.variant == index).count();
        format!("{}: {}, steady after {}", variant.name, words::launches(launches), words::steadiness(variant))
    };
    report.variants.iter().enumerate().map(of).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_series_are_thinned_to_their_means() {
        let points: Vec<_> = (0..480).map(|index| [f64::from(index), f64::from(index % 2)]).collect();
        let drawn = thinned(&points);
        assert_eq!(drawn.len(), MOST);
        assert!(drawn.iter().all(|(_, rate)| (rate - 0.5).abs() < 1e-12));
        assert!(thinned(&[]).is_empty());
    }
}
