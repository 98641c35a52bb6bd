//! What the steps of scenarios did.

use model::report::StepSummary;
use model::{Report, VariantIndex};

use super::{Cell, Detail, Group, Table, among, or_none};
use crate::number;
use crate::words;

const BRIEF: [f64; 2] = [50.0, 99.0];
const FULL: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

/// What each step did for each variant, a group for each cell: variants of one step stand together.
pub fn measured(report: &Report, detail: Detail) -> Table {
    let full = detail == Detail::Full;
    let percents: &[f64] = if full { &FULL } else { &BRIEF };
    let mut table = Table::new("Steps").noted(words::STEPS_NOTE).names("step").names("variant");
    if full {
        table = table.numbers("requests");
    }
    table = table.numbers("throughput");
    for percent in percents {
        table = table.numbers(&number::percentile(*percent));
    }
    table = table.numbers("failed");
    if full {
        table = table.numbers("not sent");
    }
    let row = |(variant, step): (VariantIndex, &StepSummary)| {
        let mut cells: Vec<Cell> = vec![step.name.as_str().into(), words::variant_name(report, variant).into()];
        if full {
            cells.push(number::count(step.requests).into());
        }
        cells.push(number::rate(step.throughput).into());
        for percent in percents {
            cells.push(or_none(among(&step.percentiles, *percent), number::micros));
        }
        cells.push(number::share(step.failed_share).into());
        if full {
            cells.push(number::count(step.skipped).into());
        }
        cells
    };
    for (index, cell) in report.cells.iter().enumerate() {
        let measured = || report.measurements.iter().filter(|measurement| measurement.cell == index);
        let Some(first) = measured().find(|measurement| !measurement.steps.is_empty()) else { continue };
        let of_step = |name: &str| {
            let name = name.to_owned();
            measured().filter_map(move |measurement| {
                Some((measurement.variant, measurement.steps.iter().find(|step| step.name == name)?))
            })
        };
        let rows = first.steps.iter().flat_map(|step| of_step(&step.name)).map(row).collect();
        table.groups.push(Group { head: Some(cell.name.clone()), rows });
    }
    table
}
