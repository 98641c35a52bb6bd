//! The servers were not of the same age, or had not served as much, when they were measured.

use model::{BASELINE, Finding, FindingId, Severity, StudyRecord, Subject, TrialRecord, VariantIndex, text};

use super::rule::{Check, Rule, cell_name, launches};
use crate::assess::Assessment;
use crate::robust;

pub const RULE: Rule = Rule {
    id: FindingId::new("server-state"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/server-state.md"),
    checks: &[Check::Run(rule)],
};

/// How many times as old, or as much used, one side may be.
const TIMES: f64 = 10.0;

/// A warning for each variant and cell that was measured at more than ten times the baseline's age, or a tenth of it, or whose launches had
/// answered ten times as many requests while they warmed up: in the median of the launches.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let variants = BASELINE + 1..record.study.variants.len();
    variants.flat_map(|variant| of_ages(record, variant).into_iter().chain(of_requests(record, variant))).collect()
}

/// Of the first cell whose ages are so far apart.
fn of_ages(record: &StudyRecord, variant: VariantIndex) -> Option<Finding> {
    let age = |variant: VariantIndex, cell: usize| {
        let measured =
            |trial: &TrialRecord| trial.cells.iter().find(|measured| measured.cell == cell).map(|of| of.since_ready_s);
        median_of(record, variant, measured)
    };
    (0..record.plan.cells.len()).find_map(|cell| {
        let ages = [age(BASELINE, cell)?, age(variant, cell)?];
        is_apart(ages).then(|| {
            let words = "One side was measured much later in its life. Compilers, caches and heaps are in another state by then.";
            found(Subject::Cell { variant, cell }, words)
                .with(format!("age when measured, {}", cell_name(record, cell)), ages.map(text::seconds))
        })
    })
}

fn of_requests(record: &StudyRecord, variant: VariantIndex) -> Option<Finding> {
    let answered = |variant: VariantIndex| {
        let warmed_up = |trial: &TrialRecord| {
            let samples = &trial.warm_up.as_ref()?.samples;
            Some(samples.iter().map(|sample| sample.tally.good).sum::<u64>() as f64)
        };
        median_of(record, variant, warmed_up)
    };
    let requests = [answered(BASELINE)?, answered(variant)?];
    is_apart(requests).then(|| {
        let words = "One side had answered far more when it was measured. What is compiled or cached after some requests is not there yet \
                     on the other.";
        found(Subject::Variant { variant }, words)
            .with("requests answered while warming up", requests.map(|requests| text::count(requests as u64)))
    })
}

fn found(subject: Subject, meaning: &str) -> Finding {
    RULE.found(
        Severity::Warning,
        subject,
        meaning,
        "Warm both up until each is steady. A fixed time of load is no fixed number of requests.",
    )
}

/// The median over the measured launches of a variant.
fn median_of(record: &StudyRecord, variant: VariantIndex, of: impl Fn(&TrialRecord) -> Option<f64>) -> Option<f64> {
    robust::median(&launches(record, variant).filter(|trial| !trial.key.pilot).filter_map(of).collect::<Vec<_>>())
}

fn is_apart([first, second]: [f64; 2]) -> bool {
    first.max(second) > TIMES * first.min(second).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::found as found_by;
    use crate::fixture;

    #[test]
    fn ages_may_differ_but_not_tenfold() {
        let at = |times: f64| {
            let mut record = fixture::record(5, 0.0);
            let own = record.trials.iter_mut().filter(|trial| trial.variant == 1);
            own.flat_map(|trial| &mut trial.cells).for_each(|cell| cell.since_ready_s *= times);
            found_by(rule, &record).len()
        };
        assert_eq!((at(1.0), at(3.0), at(12.0)), (0, 0, 1));
    }

    #[test]
    fn so_may_what_was_answered_before() {
        let keeping = |part: u64| {
            let mut record = fixture::record(5, 0.0);
            let own =
                record.trials.iter_mut().filter(|trial| trial.variant == 1).filter_map(|trial| trial.warm_up.as_mut());
            own.flat_map(|warm_up| &mut warm_up.samples).for_each(|sample| sample.tally.good /= part);
            found_by(rule, &record).len()
        };
        assert_eq!((keeping(1), keeping(5), keeping(20)), (0, 0, 1));
    }
}
