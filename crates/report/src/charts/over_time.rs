//! Imported runs over time, and the levels of their speed.

use model::imported::{AuditedRun, Interval};
use model::text;

use super::plot::{Chart, DISTINCT, Margins, Plot, Tick, WIDE, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::number;

/// Points of a line: more than a pixel apart.
const POINTS: usize = 400;

/// From which length on an axis has whole minutes, seconds.
const LONG_S: f64 = 600.0;

/// A run as a line.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// What the run is called.
    pub name: &'a str,
    /// The run.
    pub audited: &'a AuditedRun,
}

impl<'a> Line<'a> {
    /// A run under its file's name.
    pub fn of(audited: &'a AuditedRun) -> Self {
        Self { name: &audited.run.file, audited }
    }

    /// The middle of each span, seconds, and the good requests that ended in a second of it.
    fn points(&self) -> Vec<(f64, f64)> {
        let run = &self.audited.run;
        let length = run.intervals.len().div_ceil(POINTS).max(1);
        let of_span = |(index, span): (usize, &[Interval])| {
            let seconds = span.len() as f64 * run.interval_s;
            let good: u64 = span.iter().map(|interval| interval.good).sum();
            ((index * length) as f64 * run.interval_s + seconds / 2.0, good as f64 / seconds)
        };
        run.intervals.chunks(length).enumerate().map(of_span).collect()
    }
}

/// The runs over time. As many as can be told apart share a chart; more of them have more charts, all with the same axes. Shaded is the
/// time that is given, seconds since each run's first request. Every second level is shaded, too: of a run by itself the whole height, of
/// several what is below it. Empty where no file has numbers of intervals.
pub fn over_time(runs: &[Line], shaded: Option<[f64; 2]>) -> Vec<Chart> {
    let drawn: Vec<(Line, Vec<(f64, f64)>)> =
        runs.iter().map(|run| (*run, run.points())).filter(|(_, points)| !points.is_empty()).collect();
    let points = || drawn.iter().flat_map(|(_, points)| points);
    let x = Scale::linear(points().map(|(at, _)| *at).chain([0.0]));
    let y = Scale::linear(points().map(|(_, rate)| *rate).chain([0.0])).padded(0.04);
    let times = time_ticks(points().map(|(at, _)| *at).fold(0.0, f64::max));
    drawn.chunks(DISTINCT).map(|drawn| chart(drawn, shaded, [x, y], &times)).collect()
}

/// Ticks of an axis of time from zero on: of seconds, or of whole minutes where it is long.
fn time_ticks(longest_s: f64) -> Vec<Tick> {
    let unit_s = if longest_s < LONG_S { 1.0 } else { 60.0 };
    let ticks = labelled(Scale::linear([0.0, longest_s / unit_s]), 8, |units| text::seconds(units * unit_s));
    ticks.into_iter().map(|(units, text)| (units * unit_s, text)).collect()
}

fn chart(drawn: &[(Line, Vec<(f64, f64)>)], shaded: Option<[f64; 2]>, [x, y]: [Scale; 2], times: &[Tick]) -> Chart {
    let names = legend_names(drawn.iter().map(|(run, _)| run.name));
    let y_ticks = labelled(y, 6, number::amount);
    let margins =
        Margins { top: legend_height(&names, WIDE) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(WIDE, margins.top + 220.0 + margins.bottom, margins, x, y);
    if let Some([from, to]) = shaded {
        plot.band(from, to);
    }
    for (series, (run, _)) in drawn.iter().enumerate() {
        for level in run.audited.levels.iter().skip(1).step_by(2) {
            match drawn {
                [_] => plot.band(level.from_s, level.to_s),
                _ => plot.tile([level.from_s, level.to_s], [0.0, level.rate], series, 0.08),
            }
        }
    }
    plot.y_axis(&y_ticks, "good requests in a second");
    plot.x_axis(times, "since the first request");
    plot.legend(&names);
    for (series, (run, points)) in drawn.iter().enumerate() {
        plot.line(points, series, 1.0, if drawn.len() > 2 { "0.35" } else { "0.6" });
        for level in &run.audited.levels {
            plot.line(&[(level.from_s, level.rate), (level.to_s, level.rate)], series, 2.4, "1");
        }
    }
    let levels = |(run, _): &(Line, _)| {
        let rates: Vec<String> = run.audited.levels.iter().map(|level| number::rate(level.rate)).collect();
        format!("{}: {}", run.name, rates.join(", then "))
    };
    let described: Vec<String> = drawn.iter().map(levels).collect();
    plot.finish("Speed over time", &described.join("; "))
}
