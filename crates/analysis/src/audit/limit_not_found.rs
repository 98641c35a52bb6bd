//! A search found no limit.

use model::search::{ClientLimit, SearchEnd};
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
    let with_limit = cells.filter_map(|(cell, planned)| Some((cell, planned.shape.find_limit?)));
    let subjects = with_limit.flat_map(|(cell, find)| variants.clone().map(move |variant| (variant, cell, find)));
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
            .with("objective", text::objective(&objective))
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

#[cfg(test)]
mod tests {
    use model::search::{LimitStep, StepResult};
    use model::{Metric, Mode, Objective, Shape, TrialKey};

    use super::*;
    use crate::audit::testing::found;
    use crate::fixture;

    /// Two cells of which the first looks for a limit, and this is what each launch of `on` came to; those of `off` found one.
    fn searched(ends: &[SearchEnd]) -> StudyRecord {
        let mut record = fixture::open(ends.len(), 0.0);
        let objective = Objective { quantile: 0.95, within_us: 200_000, errors: 0.01 };
        let find_limit = Some(FindLimit { objective, from: 10.0, to: 1_000.0 });
        record.plan.cells[0].shape = Shape { find_limit, ..record.plan.cells[0].shape.clone() };
        record.study.decide.primary = Metric::Capacity;
        let step = LimitStep {
            rate: 10.0,
            length_s: 5.0,
            confirms: false,
            due: 50,
            in_time: 10,
            failed: 5,
            quantile_us: Some(310_000),
            result: StepResult::Broke,
        };
        for trial in record.trials.iter_mut().filter(|trial| !trial.key.pilot) {
            let TrialKey { block, .. } = trial.key;
            let end =
                if trial.variant == 1 { ends[block as usize] } else { SearchEnd::Found { low: 90.0, high: 92.0 } };
            let cell = trial.cells.iter_mut().find(|cell| cell.cell == 0).unwrap();
            cell.search = Some(LimitSearch { steps: vec![step], end, overload: None, length_s: 60.0 });
        }
        record
    }

    fn facts(record: &StudyRecord) -> String {
        let found = sometimes_found(record, &crate::assess(record, &crate::Boundaries::standard()));
        found[0].facts.iter().map(|fact| format!("{}: {}", fact.name, fact.value)).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_limit_that_all_launches_find_is_no_finding() {
        let record = searched(&[SearchEnd::Found { low: 50.0, high: 51.0 }; 6]);
        assert_eq!((found(never_found, &record), found(sometimes_found, &record)), (Vec::new(), Vec::new()));
        assert_eq!(found(sometimes_found, &fixture::open(6, 0.0)), []);
    }

    #[test]
    fn launches_that_never_find_one_end_the_run_where_the_limit_decides() {
        let mut record = searched(&[SearchEnd::NeverHeld; 6]);
        let subject = || "on, pages@limit".to_owned();
        assert_eq!(found(never_found, &record), [(Severity::Invalid, subject())]);
        assert_eq!(found(sometimes_found, &record), []);
        record.study.decide.primary = Metric::StartUp;
        assert_eq!(found(never_found, &record), []);
        assert_eq!(found(sometimes_found, &record), [(Severity::Warning, subject())]);
    }

    #[test]
    fn one_launch_without_a_limit_is_a_warning_that_says_why() {
        let mut ends = [SearchEnd::Found { low: 50.0, high: 51.0 }; 6];
        for (end, why) in [
            (SearchEnd::NeverHeld, "even the first rate, 10/s, breaks"),
            (SearchEnd::NeverBroken, "even the highest rate, 1000/s, keeps"),
            (SearchEnd::Client { why: ClientLimit::Busy, rate: 640.0 }, "at 640/s the client was"),
            (SearchEnd::Client { why: ClientLimit::Connections, rate: 640.0 }, "at 640/s the connections were"),
            (SearchEnd::Unsettled, "did not hold again"),
        ] {
            ends[3] = end;
            let record = searched(&ends);
            assert_eq!(found(never_found, &record), []);
            assert_eq!(found(sometimes_found, &record), [(Severity::Warning, "on, pages@limit".to_owned())]);
            let facts = facts(&record);
            assert!(facts.contains(why) && facts.contains("1 of 6"), "{facts}");
            assert!(facts.contains("response time there: 310 ms") && facts.contains("10.0 %"), "{facts}");
        }
    }

    #[test]
    fn a_search_has_no_verdict_on_speeds_at_its_limit() {
        let record = searched(&[SearchEnd::Found { low: 90.0, high: 92.0 }; 6]);
        assert_eq!(record.plan.mode, Mode::Full);
        let trial = record.trials.iter().find(|trial| !trial.key.pilot).unwrap();
        let value = |metric, cell| crate::metrics::value(trial, metric, cell);
        assert!((value(Metric::Capacity, Some(0)).unwrap() / 91.0 - 1.0).abs() < 0.001);
        assert!((value(Metric::Capacity, None).unwrap() / 91.0 - 1.0).abs() < 0.001, "the other cell has none");
        assert_eq!([Metric::P50, Metric::Throughput].map(|metric| value(metric, Some(0))), [None, None]);
        assert!((value(Metric::P50, None).unwrap() / value(Metric::P50, Some(1)).unwrap() - 1.0).abs() < 1e-9);
        assert!(value(Metric::CpuPerRequest, Some(0)).is_some());
    }
}
