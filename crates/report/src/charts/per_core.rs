//! How busy each processor was while a launch was measured.

use model::Report;
use model::report::CoreSeries;

use super::plot::{Chart, Margins, Plot, WIDE, axis_room, labelled};
use super::scale::Scale;
use crate::{number, words};

/// Moments that are drawn of a launch: the eye sees no more at this size.
const MOST: usize = 240;
/// Height of a processor, px, and of all of them at most.
const ROW: f64 = 16.0;
const HIGHEST: f64 = 240.0;
/// Processors that are numbered beside the axis, at most.
const NUMBERED: usize = 8;

/// A chart for each variant: a row for each processor, time along it.
pub fn per_core(report: &Report) -> Vec<Chart> {
    report.per_core.iter().filter(|series| !series.busy.is_empty()).map(|series| chart(report, series)).collect()
}

fn chart(report: &Report, series: &CoreSeries) -> Chart {
    let cores = series.busy.len();
    let ends = || series.from_s.iter().map(|from_s| from_s + 1.0);
    let x = Scale::linear(series.from_s.iter().copied().chain(ends()));
    let y = Scale::linear([0.0, cores as f64]);
    let every = cores.div_ceil(NUMBERED);
    let y_ticks: Vec<_> = (0..cores).step_by(every).map(|core| (core as f64 + 0.5, format!("cpu {core}"))).collect();
    let height = (cores as f64 * ROW).min(HIGHEST);
    let margins = Margins { top: 24.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(WIDE, margins.top + height + margins.bottom, margins, x, y);
    plot.y_axis(&y_ticks, "");
    plot.x_axis(&labelled(x, 10, number::tick_seconds), "since the server was ready");
    for (core, busy) in series.busy.iter().enumerate() {
        for (span, share) in runs(&series.from_s, busy) {
            plot.tile(span, [core as f64 + 0.06, core as f64 + 0.94], series.variant, share);
        }
    }
    for (cell, from_s) in &series.cells {
        plot.rule(*from_s);
        plot.above(*from_s, words::cell_name(report, *cell));
    }
    let name = words::variant_name(report, series.variant);
    let mean = |busy: &Vec<f64>| number::share(busy.iter().sum::<f64>() / busy.len().max(1) as f64);
    let means: Vec<_> =
        series.busy.iter().enumerate().map(|(core, busy)| format!("cpu {core}: {} busy", mean(busy))).collect();
    plot.finish(&format!("{name}: each processor over time, {}", series.key), &means.join("; "))
}

/// Spans of time in which a processor was equally busy, to a tenth; neighbouring seconds are joined into their mean where there are
/// too many of them.
fn runs(from_s: &[f64], busy: &[f64]) -> Vec<([f64; 2], f64)> {
    let together = from_s.len().div_ceil(MOST).max(1);
    let mut runs: Vec<([f64; 2], f64)> = Vec::new();
    for (times, shares) in from_s.chunks(together).zip(busy.chunks(together)) {
        let (Some(from), Some(last)) = (times.first(), times.last()) else { continue };
        let mean = shares.iter().sum::<f64>() / shares.len() as f64;
        let (to, share) = (last + 1.0, (mean * 10.0).round() / 10.0);
        match runs.last_mut() {
            // Between two cells time passes that is not measured.
            Some((span, same)) if (*same - share).abs() < 1e-9 && (from - span[1]).abs() < 0.5 => span[1] = to,
            _ => runs.push(([*from, to], share)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_and_pauses_are_left_out() {
        let from_s = [5.0, 6.0, 7.0, 20.0, 21.0];
        let runs = runs(&from_s, &[0.98, 1.0, 0.5, 0.5, 0.52]);
        assert_eq!(runs, [([5.0, 7.0], 1.0), ([7.0, 8.0], 0.5), ([20.0, 22.0], 0.5)]);
    }

    #[test]
    fn long_series_are_thinned() {
        let from_s: Vec<f64> = (0..960).map(f64::from).collect();
        let busy: Vec<f64> = (0..960).map(|second| f64::from(second % 8) / 8.0).collect();
        assert!(runs(&from_s, &busy).len() <= MOST);
    }
}
