//! How throughput grows with the number of users.

use model::scalability::{Bounds, Curve, Peak, Scalability};
use model::{Report, text};

use super::{Cell, Group, Table, or_none};
use crate::{number, words};

/// The laws fitted to a workload.
pub fn laws(scaling: &Scalability, report: &Report) -> Table {
    let mut table = Table::new(format!("How {} scales", scaling.workload))
        .noted(words::SCALABILITY_NOTE)
        .names("variant")
        .numbers("one user λ")
        .numbers("contention σ")
        .numbers("coherency κ")
        .numbers("highest at N*")
        .numbers("throughput there")
        .numbers("misfit");
    let row = |curve: &Curve| {
        vec![
            words::variant_name(report, curve.variant).into(),
            bounds(&curve.lambda, number::rate).into(),
            bounds(&curve.sigma, three_digits).into(),
            bounds(&curve.kappa, three_digits).into(),
            or_none(curve.peak.as_ref(), peak),
            or_none(curve.peak, |peak| number::rate(peak.throughput)),
            number::share(curve.misfit).into(),
        ]
    };
    table.groups.push(Group { head: None, rows: scaling.curves.iter().map(row).collect() });
    table
}

/// What is got out of more users.
pub fn efficiency(scaling: &Scalability, report: &Report) -> Table {
    let mut table =
        Table::new(format!("Efficiency of {}", scaling.workload)).noted(words::EFFICIENCY_NOTE).names("variant");
    for point in scaling.curves.first().iter().flat_map(|curve| &curve.points) {
        table = table.numbers(&words::plural(point.users.into(), "user"));
    }
    let row = |curve: &Curve| {
        let points = curve.points.iter().map(|point| Cell::from(number::share(point.efficiency)));
        std::iter::once(words::variant_name(report, curve.variant).into()).chain(points).collect()
    };
    table.groups.push(Group { head: None, rows: scaling.curves.iter().map(row).collect() });
    table
}

fn peak(peak: &Peak) -> String {
    let beyond = if peak.is_measured { "" } else { ", not measured" };
    format!("{}{beyond}", bounds(&peak.users, |users| text::significant(users, 2)))
}

fn three_digits(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-3 { format!("{value:.2e}") } else { text::significant(value, 3) }
}

fn bounds(bounds: &Bounds, write: impl Fn(f64) -> String) -> String {
    let high = bounds.high.map_or_else(|| "∞".to_owned(), &write);
    format!("{} [{}, {high}]", write(bounds.estimate), write(bounds.low))
}
