//! What each factor contributes.

use model::Report;
use model::attribution::{Attribution, Contribution, ContributionKind};

use super::{Cell, Group, Table, or_none};
use crate::number;
use crate::words;

/// Main effects, then interactions.
pub fn contributions(attribution: &Attribution, report: &Report) -> Table {
    let metric = words::metric(report.primary);
    let mut table = Table::new("What each factor contributes")
        .noted(words::ATTRIBUTION_NOTE)
        .names("effect")
        .numbers(&format!("{metric} [interval]"))
        .words("reading");
    let row = |one: &Contribution| row(report, one);
    let of_kind = |kind| attribution.contributions.iter().filter(move |one| one.kind == kind).map(row).collect();
    for (head, kind) in [("alone", ContributionKind::Main), ("on each other", ContributionKind::Interaction)] {
        let rows: Vec<Vec<Cell>> = of_kind(kind);
        if !rows.is_empty() {
            table.groups.push(Group { head: Some(head.to_owned()), rows });
        }
    }
    table
}

fn row(report: &Report, one: &Contribution) -> Vec<Cell> {
    let (text, tone) = words::contribution_reading(report, one);
    vec![one.name.as_str().into(), or_none(one.effect.as_ref(), number::effect), Cell { text: text.into(), tone }]
}
