//! What was watched over soaks: a chart for each gauge, with all variants.

use model::soaked::Course;
use model::{Gauge, SoakReport, Soaked, text};

use super::plot::{Chart, Margins, Plot, Tick, WIDE, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;

/// Points of a line: more than a pixel apart.
const POINTS: usize = 400;
/// From which length on an axis has minutes, and hours.
const LONG_S: f64 = 600.0;
const VERY_LONG_S: f64 = 14_400.0;

/// A chart for each gauge that was read in any soak.
pub fn soak(report: &SoakReport) -> Vec<Chart> {
    let longest = report.soaks.iter().map(|soak| soak.seconds).fold(0.0, f64::max);
    let of = |gauge: Gauge| {
        let drawn: Vec<(&Soaked, &Course)> = report
            .soaks
            .iter()
            .filter_map(|soak| Some((soak, soak.courses.iter().find(|course| course.gauge == gauge)?)))
            .collect();
        (!drawn.is_empty()).then(|| chart(report, gauge, &drawn, longest))
    };
    Gauge::ALL.into_iter().filter_map(of).collect()
}

fn chart(report: &SoakReport, gauge: Gauge, drawn: &[(&Soaked, &Course)], longest_s: f64) -> Chart {
    let values = drawn.iter().flat_map(|(_, course)| &course.points).map(|point| point[1]);
    let x = Scale::linear([0.0, longest_s]);
    // From zero: what is small beside the level is to look small.
    let y = Scale::linear(values.chain([0.0])).rounded(4);
    let y_ticks = labelled(y, 4, |value| gauge.text(value));
    let names = legend_names(report.variant_names.iter().map(String::as_str));
    let margins =
        Margins { top: legend_height(&names, WIDE) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(WIDE, margins.top + 150.0 + margins.bottom, margins, x, y);
    plot.y_axis(&y_ticks, gauge.name());
    plot.x_axis(&time_ticks(longest_s), "since the load began");
    plot.legend(&names);
    for (soak, course) in drawn {
        plot.line(&thinned(&course.points), soak.variant, 1.4, "1");
        for step in &course.steps {
            let [before, after] = [step.before, step.after].map(|value| gauge.text(value));
            plot.join((step.at_s, step.before), (step.at_s, step.after));
            let title = format!("{before} → {after} after {}", text::seconds(step.at_s.round()));
            plot.dot((step.at_s, step.after), soak.variant, true, &title);
        }
    }
    let described = |(soak, course): &(&Soaked, &Course)| {
        let name = report.variant_names.get(soak.variant).map_or("?", String::as_str);
        format!("{name}: {} → {}", gauge.text(course.first), gauge.text(course.last))
    };
    let title = format!("{} over the soak", gauge.name());
    plot.finish(&title, &drawn.iter().map(described).collect::<Vec<_>>().join("; "))
}

/// Of neighbours their mean, so that no more points are left than can be seen.
fn thinned(points: &[[f64; 2]]) -> Vec<(f64, f64)> {
    let together = points.len().div_ceil(POINTS).max(1);
    let mean = |chunk: &[[f64; 2]], of: usize| chunk.iter().map(|point| point[of]).sum::<f64>() / chunk.len() as f64;
    points.chunks(together).map(|chunk| (mean(chunk, 0), mean(chunk, 1))).collect()
}

/// Ticks of an axis of time from zero on: seconds, whole minutes or hours.
fn time_ticks(longest_s: f64) -> Vec<Tick> {
    let (unit_s, unit) = match longest_s {
        short if short < LONG_S => (1.0, " s"),
        long if long < VERY_LONG_S => (60.0, " min"),
        _ => (3_600.0, " h"),
    };
    let ticks = labelled(Scale::linear([0.0, longest_s / unit_s]), 8, |units| {
        format!("{}{unit}", text::trimmed(format!("{units:.2}")))
    });
    ticks.into_iter().map(|(units, text)| (units * unit_s, text)).collect()
}
