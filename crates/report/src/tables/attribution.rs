//! What each factor contributes.

use model::attribution::{Attribution, Contribution, ContributionKind};
use model::{Interpretation, Report};

use super::{Cell, Group, Table, or_none};
use crate::number;
use crate::words::{self, Tone};

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
    let is_main = one.kind == ContributionKind::Main;
    let (text, tone) = match one.interpretation {
        _ if one.variants.iter().any(|variant| words::is_vetoed(report, *variant)) => ("✗ not valid", Tone::Bad),
        _ if one.effect.is_none() => ("? too few blocks", Tone::Unsure),
        Interpretation::Better if is_main => ("▲ better", Tone::Good),
        Interpretation::Worse if is_main => ("▼ worse", Tone::Bad),
        Interpretation::Better => ("▲ better together", Tone::Good),
        Interpretation::Worse => ("▼ worse together", Tone::Bad),
        Interpretation::Equivalent if is_main => ("= equivalent", Tone::Same),
        Interpretation::Equivalent => ("= none", Tone::Same),
        Interpretation::Undecided => ("? undecided", Tone::Unsure),
    };
    vec![one.name.as_str().into(), or_none(one.effect.as_ref(), number::effect), Cell { text: text.into(), tone }]
}
