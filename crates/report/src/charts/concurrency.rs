//! Throughput, service time and use of the processors over the number of users, where a workload has more than one.

use model::report::Measurement;
use model::{Metric, Report};

use super::plot::{Chart, HALF, Margins, Plot, axis_room, labelled, legend_height, legend_names};
use super::scale::Scale;
use crate::{number, tables, words};

/// One variant at one number of users.
struct Point {
    variant: usize,
    users: f64,
    value: f64,
    range: Option<[f64; 2]>,
}

/// What is shown of a metric's value.
type Shown = fn(f64) -> f64;

/// A quantity over the number of users.
struct Quantity {
    what: &'static str,
    of: fn(&Measurement) -> Option<f64>,
    /// The metric whose launches give the interval, and what of it is shown.
    spread: Option<(Metric, Shown)>,
    write: fn(f64) -> String,
    /// Whether the fitted law is drawn through it.
    has_law: bool,
}

const QUANTITIES: [Quantity; 4] = [
    Quantity {
        what: "throughput",
        of: |measurement| Some(measurement.throughput),
        spread: Some((Metric::Throughput, |rate| rate)),
        write: number::rate,
        has_law: true,
    },
    Quantity {
        what: "median service time",
        of: |measurement| tables::percentile(measurement, 50.0),
        spread: Some((Metric::P50, |us| us)),
        write: number::micros,
        has_law: false,
    },
    Quantity {
        what: "cores used by the server",
        of: |measurement| measurement.server.cores,
        spread: None,
        write: number::amount,
        has_law: false,
    },
    Quantity {
        what: "answers per CPU-second of the server",
        of: |measurement| measurement.cpu_per_request.map(tables::per_cpu_second),
        spread: Some((Metric::CpuPerRequest, tables::per_cpu_second)),
        write: number::amount,
        has_law: false,
    },
];

/// Charts for each workload that was measured with more than one number of users: of each quantity that is known.
pub fn concurrency(report: &Report) -> Vec<Chart> {
    let mut workloads: Vec<&str> = Vec::new();
    for cell in &report.cells {
        if !workloads.contains(&cell.workload.as_str()) {
            workloads.push(&cell.workload);
        }
    }
    let several = workloads.into_iter().filter(|workload| users(report, workload).len() > 1);
    several.flat_map(|workload| QUANTITIES.iter().filter_map(|quantity| chart(report, workload, quantity))).collect()
}

fn chart(report: &Report, workload: &str, quantity: &Quantity) -> Option<Chart> {
    let Quantity { what, write, .. } = *quantity;
    let points = &points(report, workload, quantity);
    let law = |variant| {
        let scaling = report.scalability.iter().find(|scaling| quantity.has_law && scaling.workload == workload)?;
        Some(scaling.curves.iter().find(|curve| curve.variant == variant)?.law())
    };
    if points.is_empty() {
        return None;
    }
    let users = users(report, workload);
    let x = Scale::log(users.iter().map(|users| f64::from(*users))).padded(0.05);
    let lines: Vec<Vec<(f64, f64)>> = (0..report.variants.len())
        .map(|variant| {
            let mut own: Vec<_> = points.iter().filter(|point| point.variant == variant).collect();
            own.sort_by(|a, b| a.users.total_cmp(&b.users));
            match law(variant) {
                Some(law) => along(&own).map(|users| (users, law.at(users))).collect(),
                None => own.iter().map(|point| (point.users, point.value)).collect(),
            }
        })
        .collect();
    let values = points.iter().flat_map(|point| point.range.into_iter().flatten().chain([point.value]));
    let drawn = lines.iter().flatten().map(|(_, value)| *value);
    // From zero: here the size itself is the message.
    let y = Scale::linear(values.chain(drawn).chain([0.0])).rounded(5);

    let y_ticks = labelled(y, 5, write);
    let names = legend_names(report.variants.iter().map(|variant| variant.name.as_str()));
    let margins =
        Margins { top: legend_height(&names, HALF) + 36.0, right: 12.0, bottom: 40.0, left: axis_room(&y_ticks) };
    let mut plot = Plot::new(HALF, margins.top + 170.0 + margins.bottom, margins, x, y);
    let x_ticks: Vec<_> = users.iter().map(|users| (f64::from(*users), users.to_string())).collect();
    plot.y_axis(&y_ticks, what);
    plot.x_axis(&x_ticks, "users, log scale");
    plot.legend(&names);
    for (variant, line) in lines.iter().enumerate() {
        plot.line(line, variant, 1.6, "1");
    }
    for point in points {
        if let Some(range) = point.range {
            plot.whisker(point.users, range, point.variant);
        }
        let name = words::variant_name(report, point.variant);
        let title = format!("{name}, {}: {}", words::plural(point.users as u64, "user"), write(point.value));
        plot.dot((point.users, point.value), point.variant, false, &title);
    }
    let description: Vec<_> = points
        .iter()
        .map(|point| {
            format!("{} at {}: {}", words::variant_name(report, point.variant), point.users, write(point.value))
        })
        .collect();
    Some(plot.finish(&format!("{workload}: {what} over users"), &description.join("; ")))
}

/// Places from the fewest to the most users, evenly on the logarithmic axis.
fn along(points: &[&Point]) -> impl Iterator<Item = f64> + use<> {
    const PLACES: u32 = 60;
    let [low, high] = [points.first(), points.last()].map(|point| point.map_or(1.0, |point| point.users));
    (0..=PLACES).map(move |place| low * (high / low).powf(f64::from(place) / f64::from(PLACES)))
}

/// Numbers of users of a workload, rising.
fn users(report: &Report, workload: &str) -> Vec<u32> {
    let cells = report.cells.iter().filter(|cell| cell.workload == workload);
    let mut users: Vec<_> = cells.filter_map(|cell| cell.concurrency).collect();
    users.sort_unstable();
    users.dedup();
    users
}

fn points(report: &Report, workload: &str, quantity: &Quantity) -> Vec<Point> {
    let point = |measurement: &Measurement| {
        let cell = report.cells.get(measurement.cell).filter(|cell| cell.workload == workload)?;
        let range = quantity.spread.and_then(|(metric, shown)| Some(range(report, measurement, metric)?.map(shown)));
        let value = (quantity.of)(measurement)?;
        Some(Point { variant: measurement.variant, users: f64::from(cell.concurrency?), value, range })
    };
    report.measurements.iter().filter_map(point).collect()
}

/// The interval of the median launch; without one, the lowest and the highest launch.
fn range(report: &Report, measurement: &Measurement, metric: Metric) -> Option<[f64; 2]> {
    if let Some(interval) = measurement.spreads.get(&metric).and_then(|spread| spread.interval) {
        return Some(interval);
    }
    let own = report.launches.iter().filter(|launch| launch.is_used);
    let own = own.filter(|launch| (launch.variant, launch.cell) == (measurement.variant, measurement.cell));
    let values: Vec<f64> = own.filter_map(|launch| launch.values.get(&metric).copied()).collect();
    let low = values.iter().copied().min_by(f64::total_cmp)?;
    Some([low, values.iter().copied().max_by(f64::total_cmp)?])
}
