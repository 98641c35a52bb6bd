//! Requests of an open loop were due faster than they were answered.

use model::{Finding, FindingId, LoadRecord, Sample, Severity, StudyRecord, Subject, sample, text};

use super::rule::{Check, Rule, measured};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("rate-not-kept"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/rate-not-kept.md"),
    checks: &[Check::Run(rule), Check::Load(of_a_load)],
};

/// Part of what is due in the second half by which the unanswered may grow in it.
const SHARE: f64 = 0.05;
/// Unanswered requests more, up to which it is chance.
const FEW: u64 = 30;

/// For each variant and open-loop cell: a warning when half of the launches or more did not keep up with the rate.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let mut all = Vec::new();
    for variant in 0..record.study.variants.len() {
        for cell in 0..record.plan.cells.len() {
            let measured = measured(record, variant, cell);
            let behind: Vec<Behind> = measured.iter().filter_map(|cell| Behind::of(&cell.samples)).collect();
            let Some(worst) = behind.iter().max_by_key(|behind| behind.unanswered) else { continue };
            if 2 * behind.len() < measured.len() {
                continue;
            }
            all.push(
                worst
                    .found(Subject::Cell { variant, cell })
                    .with("launches that fell behind", format!("{} of {}", behind.len(), measured.len())),
            );
        }
    }
    all
}

/// A warning when the server did not keep up with the rate.
fn of_a_load(load: &LoadRecord) -> Option<Finding> {
    Some(Behind::of(&load.samples)?.found(Subject::Server))
}

/// A load that was not kept up with.
struct Behind {
    /// Requests, or iterations of scenarios, that were due.
    due: u64,
    /// Those that had not ended in the end.
    unanswered: u64,
    /// Those of them that had not even been sent.
    unsent: u64,
}

impl Behind {
    /// Falling behind shows in that the requests which are due and have not ended become more and more: from the middle to
    /// the end by more than 30, and by more than a twentieth of what was due meanwhile.
    fn of(samples: &[Sample]) -> Option<Self> {
        let due = |part: &[Sample]| sample::open(part).map_or(0, |open| open.due);
        let ended = |part: &[Sample]| -> u64 { part.iter().map(Sample::arrivals_ended).sum() };
        let unanswered = |part: &[Sample]| due(part).saturating_sub(ended(part));
        let middle = samples.len() / 2;
        let grown = unanswered(samples).saturating_sub(unanswered(&samples[..middle]));
        let falls = grown > FEW && grown as f64 > SHARE * due(&samples[middle..]) as f64;
        falls.then(|| Self {
            due: due(samples),
            unanswered: unanswered(samples),
            unsent: sample::open(samples).map_or(0, |open| open.backlog),
        })
    }

    fn found(&self, subject: Subject) -> Finding {
        RULE.found(
            Severity::Warning,
            subject,
            "Requests were due faster than they were answered, so each waited longer than the one before: how long depends on the \
             length of the load more than of the server. That it does not keep up is the result.",
            "Ask for less a second, or look for the highest rate with users who wait (concurrency). Where most were never sent, \
             allow more connections.",
        )
        .with(
            "unanswered at the end",
            format!(
                "{} of {}, {}",
                text::count(self.unanswered),
                text::count(self.due),
                text::percent(self.unanswered as f64 / self.due as f64)
            ),
        )
        .with("of these never sent", text::count(self.unsent))
    }
}

#[cfg(test)]
mod tests {
    use model::sample::OpenLoop;

    use super::*;
    use crate::audit::testing::{found, load};
    use crate::fixture;
    use model::CellRecord;

    /// An open loop at 1,000/s of which so many are answered each second.
    fn answered(each: &[u64]) -> LoadRecord {
        let mut record = load(each.len() as u32, 0);
        for (sample, good) in record.samples.iter_mut().zip(each) {
            sample.tally.good = *good;
            sample.open = Some(OpenLoop { due: 1_000, ..Default::default() });
        }
        record
    }

    #[test]
    fn only_a_growing_number_of_unanswered_requests_is_falling_behind() {
        assert!(of_a_load(&answered(&[900; 10])).is_some());
        assert!(of_a_load(&answered(&[600])).is_some());
        // Two seconds' worth in flight, at all times after the first two seconds.
        assert!(of_a_load(&answered(&[0, 0, 1_000, 1_000, 1_000, 1_000])).is_none());
        // A stall that is made up for.
        assert!(of_a_load(&answered(&[1_000, 1_000, 0, 1_000, 1_500, 1_500])).is_none());
        assert!(of_a_load(&answered(&[960; 10])).is_none());
        assert!(of_a_load(&load(40, 1_000)).is_none());
    }

    #[test]
    fn the_variant_that_falls_behind_is_named() {
        let mut record = fixture::open(6, 0.0);
        assert_eq!(found(rule, &record), []);
        let mut cells: Vec<&mut CellRecord> = record
            .trials
            .iter_mut()
            .filter(|trial| trial.variant == 1)
            .flat_map(|trial| &mut trial.cells)
            .filter(|cell| cell.cell == 1)
            .collect();
        let slow = |cell: &mut CellRecord| cell.samples.iter_mut().for_each(|sample| sample.tally.good /= 2);
        cells.iter_mut().take(2).for_each(|cell| slow(cell));
        // A launch or two may meet something else.
        assert_eq!(found(rule, &record), []);
        let cells = record.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.cells);
        cells.filter(|cell| cell.cell == 1).for_each(slow);
        assert_eq!(found(rule, &record), [(Severity::Warning, "on, pages@4000/s".to_owned())]);
    }
}
