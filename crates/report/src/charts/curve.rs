//! How variants compare with the baseline over the life of a server.

use model::curve::{AgeCurve, AgePhase, CurvePoint};
use model::{Effect, Report};

use super::plot::{Chart, Margins, Plot, WIDE, axis_room, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, words};

/// What lies further out would squeeze everything else, a log ratio: a quarter, or four times.
const FURTHEST: f64 = 2.0 * std::f64::consts::LN_2;
/// Ages that a reader knows, seconds.
const AGES: [(f64, &str); 13] = [
    (1.0, "1 s"),
    (2.0, "2 s"),
    (5.0, "5 s"),
    (10.0, "10 s"),
    (20.0, "20 s"),
    (30.0, "30 s"),
    (60.0, "1 min"),
    (120.0, "2 min"),
    (300.0, "5 min"),
    (600.0, "10 min"),
    (1_800.0, "30 min"),
    (3_600.0, "1 h"),
    (14_400.0, "4 h"),
];
/// Height of the row that names a variant's phases, px.
const ROW: f64 = 18.0;

/// A chart for all variants against the baseline, at zero; `None` where there is no curve.
pub fn curve(report: &Report) -> Option<Chart> {
    let curves: Vec<&AgeCurve> = words::curves(report).collect();
    let points = || curves.iter().flat_map(|curve| &curve.points);
    // The first span begins at zero, which has no place on a log axis.
    let first = points().map(|point| point.to).fold(f64::INFINITY, f64::min) / 2.0;
    let decided = || curves.iter().filter_map(|curve| curve.decided);
    let last = decided().map(|decided| decided.to_s).chain(points().map(|point| point.to)).reduce(f64::max)?;
    let x = Scale::log([first, last]);
    let ends = points().flat_map(|point| point.interval.into_iter().flatten().chain([point.estimate]));
    let ends = ends.chain(decided().flat_map(|decided| [decided.effect.low, decided.effect.high]));
    let margin = curves.iter().map(|curve| curve.margin).fold(0.0, f64::max);
    let near = ends.map(|end| end.clamp(-FURTHEST, FURTHEST)).chain([-margin, margin]);
    let y = Scale::linear(near).padded(0.05);

    let percents = Scale::linear([y.low(), y.high()].map(|end| Effect::fraction(end) * 100.0)).ticks(7);
    let ratios = percents.into_iter().map(|percent| (percent / 100.0).ln_1p());
    let y_ticks: Vec<_> = ratios.map(|ratio| (ratio, number::tick_change(ratio))).collect();
    let ages = AGES.into_iter().filter(|(at, _)| (x.low()..=x.high()).contains(at));
    let x_ticks: Vec<_> = ages.map(|(at, name)| (at, name.to_owned())).collect();
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let rows = curves.len() as f64 * ROW;
    let margins = Margins {
        top: legend_height(&names, WIDE) + 36.0 + rows,
        right: 28.0,
        bottom: 40.0,
        left: axis_room(&y_ticks) + 6.0,
    };
    let mut plot = Plot::new(WIDE, margins.top + 260.0 + margins.bottom, margins, x, y);
    plot.shelf(-margin, margin);
    plot.y_axis_below(&y_ticks, &format!("speed, against {}", words::variant_name(report, 0)), rows);
    plot.x_axis(&x_ticks, "time under load, log scale");
    plot.legend(&names);
    plot.line(&[(x.low(), 0.0), (x.high(), 0.0)], 0, 1.6, "1");
    for (row, curve) in curves.iter().enumerate() {
        draw(&mut plot, report, curve, x, row as f64 * ROW, curves.len() == 1);
    }
    let described: Vec<_> = curves.iter().map(|curve| curve.sentence.as_str()).collect();
    Some(plot.finish("Speed over a server's life", &described.join("; ")))
}

fn draw(plot: &mut Plot, report: &Report, curve: &AgeCurve, x: Scale, row: f64, is_alone: bool) {
    for phase in &curve.phases {
        let from = phase.from_s.max(x.low());
        plot.part([from, phase.to_s], row, curve.variant, &reading(phase));
        if is_alone && phase.from_s > 0.0 {
            plot.rule(phase.from_s);
        }
    }
    plot.area(
        &along(curve, x, |point| point.interval.map(|[low, _]| low)),
        &along(curve, x, |point| point.interval.map(|[_, high]| high)),
        curve.variant,
    );
    plot.line(&along(curve, x, |point| Some(point.estimate)), curve.variant, 2.0, "1");
    if let Some(decided) = &curve.decided {
        let at = (decided.from_s.max(x.low()) * decided.to_s).sqrt();
        let title = format!(
            "{}, the number that decides: {}",
            words::variant_name(report, curve.variant),
            number::effect(&decided.effect)
        );
        plot.whisker(at, [decided.effect.low, decided.effect.high], curve.variant);
        plot.dot((at, decided.effect.estimate), curve.variant, true, &title);
    }
}

/// Sign and word of a phase, whole and as short as a narrow one needs it.
fn reading(phase: &AgePhase) -> [String; 2] {
    let (sign, word) = words::phase_reading(phase.reading);
    [format!("{sign} {word}"), sign.to_owned()]
}

/// A line through the middle of each span of age, from the left edge to the last age seen; within reach.
fn along(curve: &AgeCurve, x: Scale, of: impl Fn(&CurvePoint) -> Option<f64>) -> Vec<(f64, f64)> {
    let near = |point: &CurvePoint| of(point).map_or(f64::NAN, |value| value.clamp(-FURTHEST, FURTHEST));
    let middle = |point: &CurvePoint| ((point.from.max(x.low()) * point.to).sqrt(), near(point));
    let first = curve.points.first().map(|point| (x.low(), near(point)));
    let last = curve.points.last().map(|point| (point.to, near(point)));
    first.into_iter().chain(curve.points.iter().map(middle)).chain(last).collect()
}
