//! Imported runs over time, and the levels of their speed.

use model::imported::{AuditedRun, Interval, Matched};
use model::text;

use super::plot::{Chart, Margins, Plot, WIDE, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::number;

/// Points of a line: more than a pixel apart.
const POINTS: usize = 400;

/// A chart of up to two runs on one axis. Shaded is the time that is compared, or every second level of a run by itself; `None` where no
/// file has numbers of intervals.
pub fn over_time(runs: &[AuditedRun], matched: Option<&Matched>) -> Option<Chart> {
    let lines: Vec<Vec<(f64, f64)>> = runs.iter().map(line).collect();
    let points = || lines.iter().flatten();
    points().next()?;
    let x = Scale::linear(points().map(|(at, _)| *at).chain([0.0]));
    let y = Scale::linear(points().map(|(_, rate)| *rate).chain([0.0])).padded(0.04);
    let names = legend_names(runs.iter().map(|audited| audited.run.file.as_str()));
    let y_ticks = labelled(y, 6, number::amount);
    let margins =
        Margins { top: legend_height(&names, WIDE) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(WIDE, margins.top + 220.0 + margins.bottom, margins, x, y);
    match (matched, runs) {
        (Some(matched), _) => plot.band(matched.from_s, matched.to_s),
        (None, [audited]) => {
            audited.levels.iter().skip(1).step_by(2).for_each(|level| plot.band(level.from_s, level.to_s));
        }
        (None, _) => {}
    }
    plot.y_axis(&y_ticks, "requests in a second");
    plot.x_axis(&labelled(x, 8, text::seconds), "since the first request");
    plot.legend(&names);
    for (series, (line, audited)) in lines.iter().zip(runs).enumerate() {
        plot.line(line, series, 1.0, "0.6");
        for level in &audited.levels {
            plot.line(&[(level.from_s, level.rate), (level.to_s, level.rate)], series, 2.4, "1");
        }
    }
    let levels = |audited: &AuditedRun| {
        let rates: Vec<String> = audited.levels.iter().map(|level| number::rate(level.rate)).collect();
        format!("{}: {}", audited.run.file, rates.join(", then "))
    };
    let described: Vec<String> = runs.iter().map(levels).collect();
    Some(plot.finish("Speed over time", &described.join("; ")))
}

/// The middle of each span, seconds, and what ended in a second of it.
fn line(audited: &AuditedRun) -> Vec<(f64, f64)> {
    let run = &audited.run;
    let length = run.intervals.len().div_ceil(POINTS).max(1);
    let of_span = |(index, span): (usize, &[Interval])| {
        let seconds = span.len() as f64 * run.interval_s;
        let ended: u64 = span.iter().map(|interval| interval.ended()).sum();
        ((index * length) as f64 * run.interval_s + seconds / 2.0, ended as f64 / seconds)
    };
    run.intervals.chunks(length).enumerate().map(of_span).collect()
}
