//! The limits that were found, and what is beyond them.

use model::search::{Behaviour, ClientLimit, LimitSummary, OverloadSummary, SearchEnd};
use model::{Metric, Report, text};

use super::{Cell, Detail, Group, Table, or_none};
use crate::number;
use crate::words::{self, Tone};

/// What each variant's limit is and what it does beyond that, a group for each cell.
pub fn found(report: &Report, detail: Detail) -> Table {
    let full = detail == Detail::Full;
    let mut table =
        Table::new("Capacity and overload").noted(words::found_limits_note()).names("variant").numbers("capacity");
    if full {
        table = table.numbers("interval, or lowest – highest");
    }
    if full {
        table = table.numbers("asked");
    }
    table = table.numbers("goodput").numbers("of capacity");
    if full {
        table = table.numbers("late").numbers("failed").names("how");
    }
    table = table.words("beyond it").numbers("recovery");
    let row = |found: &LimitSummary| {
        let overload = found.overload.as_ref();
        let mut cells = vec![words::variant_name(report, found.variant).into(), capacity(found)];
        if full {
            let range = found.capacity.and_then(|capacity| capacity.interval).or(found.capacity_range);
            cells.push(or_none(range, |[low, high]| {
                let [low, high] = [low, high].map(number::rate);
                format!("{} – {high}", low.trim_end_matches("/s"))
            }));
        }
        if full {
            cells.push(or_none(overload, |overload| number::rate(overload.asked)));
        }
        cells.push(or_none(overload, |overload| number::rate(overload.goodput.median)));
        cells.push(or_none(overload, |overload| number::share(overload.share_of_capacity)));
        if full {
            cells.push(or_none(overload, |overload| number::share(overload.late_share)));
            cells.push(or_none(overload, |overload| number::share(overload.failed_share)));
            cells.push(overload.map_or_else(String::new, failures).into());
        }
        cells.push(overload.map_or_else(|| Cell::from(number::NONE), |overload| behaviour(overload.behaviour)));
        cells.push(or_none(overload, recovery));
        cells
    };
    for (index, cell) in report.cells.iter().enumerate() {
        let own: Vec<&LimitSummary> = report.found_limits.iter().filter(|found| found.cell == index).collect();
        if let Some(first) = own.first() {
            let head = Some(format!("{}: {}", cell.name, text::objective(&first.objective)));
            table.groups.push(Group { head, rows: own.iter().map(|found| row(found)).collect() });
        }
    }
    table
}

/// The capacity, or why there is none.
fn capacity(found: &LimitSummary) -> Cell {
    if let Some(capacity) = found.capacity {
        return number::value(Metric::Capacity, capacity.median).into();
    }
    let asked = |rate: Option<f64>| rate.map_or_else(|| number::NONE.to_owned(), number::rate);
    let Some(search) = found.searches.first() else { return number::NONE.into() };
    let rates = || search.steps.iter().map(|step| step.rate);
    let why = match search.end {
        SearchEnd::NeverHeld => format!("below {}", asked(rates().reduce(f64::min))),
        SearchEnd::NeverBroken => format!("above {}", asked(rates().reduce(f64::max))),
        SearchEnd::Client { why: ClientLimit::Busy, .. } => "the client's".to_owned(),
        SearchEnd::Client { why: ClientLimit::Connections, .. } => "the connections'".to_owned(),
        SearchEnd::Found { .. } | SearchEnd::Unsettled => "unsettled".to_owned(),
    };
    Cell { text: why, tone: Tone::Unsure }
}

fn behaviour(behaviour: Behaviour) -> Cell {
    let tone = match behaviour {
        Behaviour::Sheds => Tone::Good,
        Behaviour::Degrades => Tone::Unsure,
        Behaviour::Collapses => Tone::Bad,
    };
    Cell { text: behaviour.name().into(), tone }
}

/// `503: 421, timed out: 3`: statuses first, which say more than that they were not expected.
fn failures(overload: &OverloadSummary) -> String {
    let statuses = overload.statuses.iter().filter(|(status, _)| **status >= 400);
    let statuses = statuses.map(|(status, count)| format!("{status}: {}", number::count(*count)));
    let others = overload.failures.iter().filter(|(failure, _)| **failure != model::Failure::Status);
    let others = others.map(|(failure, count)| format!("{}: {}", failure.name(), number::count(*count)));
    statuses.chain(others).collect::<Vec<_>>().join(", ")
}

/// `2.00 s`, `over 33 s`, or both where launches differ: `2.00 s, 3 over 33 s`.
fn recovery(overload: &OverloadSummary) -> String {
    let took = overload.recovery.map(|recovery| number::value(Metric::RecoveryTime, recovery.median));
    let over = overload.waited_s.map(|waited| format!("over {waited:.0} s"));
    match (took, over) {
        (Some(took), Some(over)) => format!("{took}, {} {over}", overload.not_recovered),
        (took, over) => took.or(over).unwrap_or_else(|| number::NONE.to_owned()),
    }
}
