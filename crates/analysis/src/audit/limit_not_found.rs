//! A search found no limit.

use model::limit::{ClientLimit, SearchEnd};
use model::{
    BASELINE, CellIndex, FindLimit, Finding, FindingId, LimitSearch, Severity, StudyRecord, Subject, VariantIndex, text,
};

use super::rule::{Check, Rule, measured};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("limit-not-found"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/limit-not-found.md"),
    checks: &[Check::Lasting(never_found), Check::Run(sometimes_found)],
};

/// Launches that all found no limit, from which on no other launch will.
const ALWAYS: usize = 2;

/// Invalid for each variant and cell whose launches, two or more, all found no limit, where a metric of the limit decides.
fn never_found(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    of_cells(record, |searches| searches.is_never(record))
}

/// A warning for each variant and cell of which some launches found no limit, or where it decides nothing.
fn sometimes_found(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    of_cells(record, |searches| !searches.is_never(record))
}

fn of_cells(record: &StudyRecord, is_wanted: impl Fn(&Searches) -> bool) -> Vec<Finding> {
    let variants = BASELINE..record.study.variants.len();
    let cells = record.plan.cells.iter().enumerate();
    let searched = cells.filter_map(|(cell, planned)| Some((cell, planned.shape.find_limit?)));
    let subjects = searched.flat_map(|(cell, find)| variants.clone().map(move |variant| (variant, cell, find)));
    let searches = subjects.map(|(variant, cell, find)| Searches::of(record, variant, cell, find));
    searches.filter(is_wanted).filter_map(|searches| searches.found(record)).collect()
}

/// The searches of a variant in a cell.
struct Searches<'a> {
    variant: VariantIndex,
    cell: CellIndex,
    find: FindLimit,
    all: usize,
    /// Those that found no limit.
    vain: Vec<&'a LimitSearch>,
}

impl<'a> Searches<'a> {
    fn of(record: &'a StudyRecord, variant: VariantIndex, cell: CellIndex, find: FindLimit) -> Self {
        let all: Vec<&LimitSearch> =
            measured(record, variant, cell).into_iter().filter_map(|measured| measured.search.as_ref()).collect();
        let is_vain = |search: &&LimitSearch| !matches!(search.end, SearchEnd::Found { .. });
        Self { variant, cell, find, all: all.len(), vain: all.into_iter().filter(is_vain).collect() }
    }

    /// Whether there will be no verdict, however many launches there are.
    fn is_never(&self, record: &StudyRecord) -> bool {
        let decides = record.study.decide.primary.is_of_limit();
        decides
            && record.deciding_cell().is_none_or(|cell| cell == self.cell)
            && self.all >= ALWAYS
            && self.vain.len() == self.all
    }

    fn found(&self, record: &StudyRecord) -> Option<Finding> {
        let first = self.vain.first()?;
        let FindLimit { objective, from, to } = self.find;
        let (came, meaning, remedy) = match first.end {
            SearchEnd::Found { .. } => return None,
            SearchEnd::NeverHeld => (
                format!("even the first rate, {from}/s, breaks the objective"),
                "The server does not keep the objective at the lowest rate that was tried. Its limit is below that, or the objective is \
                 one that it never keeps.",
                "Write a lower `from`, or an objective that a single request keeps: `bakeoff load URL -c 1` shows how long one takes.",
            ),
            SearchEnd::NeverBroken => (
                format!("even the highest rate, {to}/s, keeps the objective"),
                "The server keeps the objective at the highest rate that was tried. Its limit is above that.",
                "Write a higher `to`, or ask for something that costs the server more.",
            ),
            SearchEnd::Client { why: ClientLimit::Busy, rate } => (
                format!("at {}/s the client was the limit", text::significant(rate, 3)),
                "The client could not send as fast as requests were due, so nothing is known of the server at this rate.",
                "Give the client a faster or a quieter core (`[host] client_cpus`), or ask for something that costs the server more.",
            ),
            SearchEnd::Client { why: ClientLimit::Connections, rate } => (
                format!("at {}/s the connections were the limit", text::significant(rate, 3)),
                "All connections were in use. Answers came in time once a request had one, so it was the client's limit and not the \
                 server's.",
                "Allow more `connections`: more than the rate times the time in which an answer is to come (Little's law).",
            ),
            SearchEnd::Unsettled => (
                "rates that held did not hold again, too often".to_owned(),
                "What the server can do changes from one step to the next, so no rate is its limit.",
                "Measure for longer (`[measure] duration`), or find out what disturbs the server or the host.",
            ),
        };
        let severity = if self.is_never(record) { Severity::Invalid } else { Severity::Warning };
        let subject = Subject::Cell { variant: self.variant, cell: self.cell };
        let mut found = RULE
            .found(severity, subject, meaning, remedy)
            .with("the search", came)
            .with("objective", objective.to_string())
            .with("launches without a limit", format!("{} of {}", self.vain.len(), self.all));
        if let Some(step) = first.steps.last() {
            let quantile = step.quantile_us.map_or("not answered".to_owned(), |us| text::micros(us as f64));
            found = found
                .with("its last rate", format!("{}/s", text::significant(step.rate, 3)))
                .with("response time there", quantile)
                .with("failed there", text::percent(step.failed as f64 / step.due.max(1) as f64));
        }
        Some(found)
    }
}
