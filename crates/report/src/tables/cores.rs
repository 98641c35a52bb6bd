//! Who makes use of the processors.

use model::Report;
use model::report::CoreUse;

use super::{Group, Table};
use crate::{number, words};

/// Cores used where each variant answers most, of those that it may use, a group for each workload.
pub fn at_most_answers(report: &Report) -> Table {
    let mut table = Table::new("Use of the cores")
        .noted(words::CORE_USE_NOTE)
        .names("variant")
        .names("answers most at")
        .numbers("throughput")
        .numbers("cores used")
        .numbers("of")
        .numbers("share");
    let row = |used: &CoreUse| {
        vec![
            words::variant_name(report, used.variant).into(),
            words::cell_name(report, used.cell).into(),
            number::rate(used.throughput).into(),
            format!("{:.2}", used.cores).into(),
            number::amount(used.available).into(),
            number::share(used.cores / used.available).into(),
        ]
    };
    table.groups.push(Group { head: None, rows: report.core_use.iter().map(row).collect() });
    table
}
