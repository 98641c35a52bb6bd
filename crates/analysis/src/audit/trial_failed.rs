//! A variant could not be launched or measured.

use model::{FindingId, Outcome, Severity, StudyRecord};

use super::{Context, Found, launches, name, percent};

/// Failed share of a variant's launches from which on the others are a selection, not a sample.
const MANY: f64 = 0.2;

/// For each variant with failed trials: invalid when they are two or more and a fifth of its launches, else a warning.
///
/// Blocks with a failed trial are not compared, and the next planned ones take their places; leaving out many would compare only the launches that went well.
pub fn rule(record: &StudyRecord, _: &Context) -> Vec<Found> {
    (0..record.study.variants.len())
        .filter_map(|variant| {
            let all = launches(record, variant).count();
            let failures: Vec<_> = launches(record, variant)
                .filter_map(|trial| match &trial.outcome {
                    Outcome::Failed(failed) => Some((trial.key, failed)),
                    Outcome::Completed => None,
                })
                .collect();
            let (first, failed) = failures.first()?;
            let share = failures.len() as f64 / all as f64;
            let severity = if failures.len() >= 2 && share >= MANY { Severity::Invalid } else { Severity::Warning };
            Some(
                Found::new(
                    FindingId::TrialFailed,
                    severity,
                    name(record, variant),
                    "A failure is this variant's result, not bad luck to be repeated: the speed of the launches that went \
                     well says nothing about the others.",
                    "Read the server's log and find out why; then run again.",
                )
                .about(variant)
                .with("failed", format!("{} of {all} launches ({})", failures.len(), percent(share)))
                .with(first.to_string(), failed.reason.clone()),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{found, gravest};
    use crate::fixture;

    #[test]
    fn failures_are_told_and_many_veto() {
        let mut record = fixture::record(9, 0.0);
        assert_eq!(gravest(rule, &record), None);
        fixture::fail(&mut record.trials[5]);
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1).take(4) {
            fixture::fail(trial);
        }
        assert!(found(rule, &record).contains(&(Severity::Invalid, "on".to_owned())));
    }
}
