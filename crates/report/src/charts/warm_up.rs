//! How every launch came up to speed.

use model::Report;
use model::report::WarmUpSeries;

use super::plot::{Chart, Margins, Plot, WIDE, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, words};

/// Points of one line; the eye sees no more at this size.
const MOST: usize = 240;
/// Room for the numbers of an axis, px: the same for all lanes, unless one needs more.
const ROOM: f64 = 64.0;

/// A thin line for each launch, a thick one for the mean of each variant; `None` when nothing was recorded.
pub fn warm_up(report: &Report) -> Option<Chart> {
    let lane = Lane {
        label: "good answers per second",
        height: 220.0,
        ticks: 5,
        of: |series| &series.points,
        write: number::rate,
    };
    let mut plot = lane.draw(report)?;
    for cost in report.warming_up.iter().flat_map(|warming_up| &warming_up.variants) {
        plot.line(&thinned(&cost.curve), cost.variant, 2.5, "1");
    }
    for series in &report.warm_ups {
        if let Some((at, rate)) = steady_point(series) {
            let name = words::variant_name(report, series.variant);
            let title = format!("{name}, {}: steady after {}", series.key, number::seconds(at));
            plot.dot((at, rate), series.variant, false, &title);
        }
    }
    for series in report.changed.iter().filter(|series| series.cell.is_none()) {
        for change in &series.changes {
            let name = words::variant_name(report, series.variant);
            let title = format!("{name}, {}: {}", series.key, words::level_change(series.metric, change));
            plot.join((change.at_s, change.before), (change.at_s, change.after));
            plot.dot((change.at_s, change.after), series.variant, true, &title);
        }
    }
    Some(plot.finish("Rate while warming up", &description(report)))
}

/// What the servers did meanwhile, below the rate and along the same axis: the cores that they used, and the part of the time
/// that their JVMs were paused for garbage collection. Only what could be read.
pub fn warm_up_lanes(report: &Report) -> Vec<Chart> {
    let cpu =
        Lane { label: "cores used by the server", height: 70.0, ticks: 2, of: |series| &series.cpu, write: tick_cores };
    let gc = Lane {
        label: "paused for garbage collection",
        height: 70.0,
        ticks: 2,
        of: |series| &series.gc,
        write: number::share,
    };
    let lanes = [(cpu, "Cores used while warming up"), (gc, "Garbage collection while warming up")];
    lanes
        .into_iter()
        .filter_map(|(lane, title)| Some(lane.draw(report)?.finish(title, &lane.described(report))))
        .collect()
}

fn tick_cores(cores: f64) -> String {
    number::round(&format!("{cores:.2}"))
}

/// One quantity of every launch over the time since its load began.
struct Lane {
    label: &'static str,
    height: f64,
    ticks: usize,
    of: fn(&WarmUpSeries) -> &Vec<[f64; 2]>,
    write: fn(f64) -> String,
}

impl Lane {
    fn draw(&self, report: &Report) -> Option<Plot> {
        let points = || report.warm_ups.iter().flat_map(self.of);
        points().next()?;
        let length = report.warm_up_length.map(|length| length.seconds);
        // Of all lanes, so that they stand one above the other.
        let times = report.warm_ups.iter().flat_map(|series| &series.points).map(|point| point[0]);
        let x = Scale::linear(times.chain(length).chain([0.0]));
        let y = Scale::linear(points().map(|point| point[1]).chain([0.0])).padded(0.0).rounded(self.ticks);

        let y_ticks = labelled(y, self.ticks, self.write);
        let x_ticks = labelled(x, 10, number::tick_seconds);
        let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
        let margins = Margins {
            top: legend_height(&names, WIDE) + 36.0,
            right: 12.0,
            bottom: 40.0,
            left: axis_room(&y_ticks).max(ROOM),
        };
        let mut plot = Plot::new(WIDE, margins.top + self.height + margins.bottom, margins, x, y);
        if let Some(length) = length {
            plot.band(0.0, length);
        }
        plot.y_axis(&y_ticks, self.label);
        plot.x_axis(&x_ticks, "since the load began");
        if let Some(length) = length {
            plot.rule(length);
        }
        plot.legend(&names);
        for series in &report.warm_ups {
            plot.line(&thinned((self.of)(series)), series.variant, 1.0, "0.6");
        }
        Some(plot)
    }

    /// The mean of every variant.
    fn described(&self, report: &Report) -> String {
        let of = |(index, variant): (usize, &model::report::VariantSummary)| {
            let own = report.warm_ups.iter().filter(|series| series.variant == index);
            let values: Vec<f64> = own.flat_map(self.of).map(|point| point[1]).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            format!(
                "{}: {} on average",
                variant.name,
                if mean.is_finite() { (self.write)(mean) } else { number::NONE.into() }
            )
        };
        report.variants.iter().enumerate().map(of).collect::<Vec<_>>().join("; ")
    }
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
