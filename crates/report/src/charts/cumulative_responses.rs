//! Who has served more in all, over the time since launch.

use model::warm_up::{CumulativeResponses, Overtaking, ResponsesRatio};
use model::{Effect, Report};

use super::plot::{Chart, Margins, Plot, WIDE, axis_room, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, words};

/// A change beyond this would squeeze everything else, a log ratio: half, or twice.
const FURTHEST: f64 = std::f64::consts::LN_2;
/// Lives that a reader knows, seconds.
const TIMES: [(f64, &str); 9] = [
    (1.0, "1 s"),
    (10.0, "10 s"),
    (60.0, "1 min"),
    (300.0, "5 min"),
    (900.0, "15 min"),
    (3_600.0, "1 h"),
    (14_400.0, "4 h"),
    (43_200.0, "12 h"),
    (86_400.0, "1 day"),
];

/// A chart for all variants against the baseline: above zero a variant has served more than it up to then; `None` without
/// intervals.
pub fn cumulative_responses(report: &Report) -> Option<Chart> {
    let responses = &report.warming_up.as_ref()?.cumulative_responses;
    let points = || responses.iter().flat_map(|responses| &responses.curve);
    points().next()?;
    let x = Scale::log(points().map(|point| point.seconds));
    let near = |ratio: f64| ratio.clamp(-FURTHEST, FURTHEST);
    let y = Scale::linear(points().flat_map(|point| [near(point.low), near(point.high)]).chain([0.0])).padded(0.04);
    let [low, high] = [y.low(), y.high()].map(|end| Effect::fraction(end) * 100.0);
    let y_ticks: Vec<_> = Scale::linear([low, high])
        .ticks(6)
        .into_iter()
        .map(|percent| (percent / 100.0).ln_1p())
        .map(|ratio| (ratio, number::tick_change(ratio)))
        .collect();
    let x_ticks: Vec<_> = TIMES
        .into_iter()
        .filter(|(at, _)| (x.low()..=x.high()).contains(at))
        .map(|(at, name)| (at, name.to_owned()))
        .collect();
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let margins =
        Margins { top: legend_height(&names, WIDE) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(WIDE, margins.top + 190.0 + margins.bottom, margins, x, y);
    plot.y_axis(&y_ticks, &format!("served in all, against {}", words::variant_name(report, 0)));
    plot.x_axis(&x_ticks, "since launch, log scale");
    plot.legend(&names);
    plot.join((x.low(), 0.0), (x.high(), 0.0));
    for responses in responses {
        draw(&mut plot, report, responses);
    }
    let description: Vec<_> = responses.iter().map(|responses| responses.sentence.as_str()).collect();
    Some(plot.finish("Cumulative responses since launch", &description.join("; ")))
}

fn draw(plot: &mut Plot, report: &Report, responses: &CumulativeResponses) {
    // What lies too far out is left out: a line ends where it leaves the picture.
    let line = |of: fn(&ResponsesRatio) -> f64| -> Vec<(f64, f64)> {
        let at = |point: &ResponsesRatio| {
            let ratio = of(point);
            (point.seconds, if ratio.abs() <= FURTHEST { ratio } else { f64::NAN })
        };
        responses.curve.iter().map(at).collect()
    };
    plot.line(&line(|point| point.low), responses.variant, 1.0, "0.45");
    plot.line(&line(|point| point.high), responses.variant, 1.0, "0.45");
    plot.line(&line(|point| point.estimate), responses.variant, 2.0, "1");
    if let Some(Overtaking::After { seconds, .. }) = responses.break_even.map(|break_even| break_even.estimate)
        && responses.curve.last().is_some_and(|last| seconds <= last.seconds)
    {
        let title = format!("{}: {}", words::variant_name(report, responses.variant), responses.sentence);
        plot.dot((seconds, 0.0), responses.variant, false, &title);
    }
}
