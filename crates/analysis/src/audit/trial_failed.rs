//! A variant could not be launched or measured.

use model::{
    BASELINE, Failed, Finding, FindingId, Outcome, Severity, StudyRecord, Subject, TrialRecord, VariantIndex, text,
};

use super::rule::{Check, Rule, launches, name, with_last_words};
use crate::assess::Assessment;

pub const RULE: Rule = Rule {
    id: FindingId::new("trial-failed"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/trial-failed.md"),
    checks: &[Check::Run(rule)],
};

/// Failed share of a variant's launches from which on the others are a selection, not a sample.
const MANY: f64 = 0.2;

/// For each variant with failed trials: invalid when they are two or more and a fifth of its launches, else a warning.
/// The baseline's concern every comparison. Where several variants were launched and none ever well, one finding about them
/// all: what they share is broken then, and no variant is to be charged with it.
///
/// Blocks with a failed trial are not compared, and the next planned ones take their places; leaving out many would compare only the launches that went well.
pub fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let failing: Vec<Failing> =
        (0..record.study.variants.len()).filter_map(|variant| Failing::of(record, variant)).collect();
    let is_all = failing.len() > 1 && record.trials.iter().all(|trial| trial.outcome != Outcome::Completed);
    if is_all && failing.iter().any(Failing::is_many) {
        return vec![all_variants(record, &failing)];
    }
    failing.iter().map(|failing| one_variant(failing)).collect()
}

/// A variant of which launches failed.
struct Failing<'a> {
    variant: VariantIndex,
    launches: usize,
    failed: Vec<(&'a TrialRecord, &'a Failed)>,
}

impl<'a> Failing<'a> {
    fn of(record: &'a StudyRecord, variant: VariantIndex) -> Option<Self> {
        let failed: Vec<_> = launches(record, variant)
            .filter_map(|trial| match &trial.outcome {
                Outcome::Failed(failed) => Some((trial, failed)),
                Outcome::Completed => None,
            })
            .collect();
        (!failed.is_empty()).then(|| Self { variant, launches: launches(record, variant).count(), failed })
    }

    fn share(&self) -> f64 {
        self.failed.len() as f64 / self.launches as f64
    }

    fn is_many(&self) -> bool {
        self.failed.len() >= 2 && self.share() >= MANY
    }
}

fn one_variant(failing: &Failing) -> Finding {
    let concerns = if failing.variant == BASELINE {
        " It is the baseline, with which every other variant is compared."
    } else {
        ""
    };
    let meaning = format!(
        "A failure is this variant's result, not bad luck to be repeated: the speed of the launches that went well says \
         nothing about the others.{concerns}"
    );
    let severity = if failing.is_many() { Severity::Invalid } else { Severity::Warning };
    let found = RULE
        .found(
            severity,
            Subject::Variant { variant: failing.variant },
            &meaning,
            "Read the log of what failed (`bakeoff show` has its last lines) and find out why; then run again.",
        )
        .with(
            "failed",
            format!(
                "{} of {}, {}",
                failing.failed.len(),
                text::launches(failing.launches),
                text::percent(failing.share())
            ),
        );
    with_first(found, failing)
}

fn all_variants(record: &StudyRecord, failing: &[Failing]) -> Finding {
    let found = RULE.found(
        Severity::Invalid,
        Subject::AllVariants,
        "No launch of any variant went well, so the fault is most likely in what they share: the program, a service, a hook, \
         the machine.",
        "Read the log of what failed (`bakeoff show` has its last lines) and find out why; then run again.",
    );
    failing.iter().fold(found, |found, failing| {
        let of = format!("failed launches of {}", name(record, failing.variant));
        with_first(found.with(of, format!("{} of {}", failing.failed.len(), failing.launches)), failing)
    })
}

/// With the first failure, its reason, and what services wrote last.
fn with_first(found: Finding, failing: &Failing) -> Finding {
    match failing.failed.first() {
        Some((trial, failed)) => {
            with_last_words(found.with(trial.key.to_string(), failed.reason.clone()), trial, &failed.reason)
        }
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{found, gravest};
    use crate::audit::vetoes;
    use crate::boundaries::Boundaries;
    use crate::fixture;

    #[test]
    fn failures_are_reported_and_many_veto() {
        let mut record = fixture::record(9, 0.0);
        assert_eq!(gravest(rule, &record), None);
        fixture::fail(&mut record.trials[5]);
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1).take(4) {
            fixture::fail(trial);
        }
        assert!(found(rule, &record).contains(&(Severity::Invalid, "on".to_owned())));
    }

    #[test]
    fn the_baselines_failures_are_its_own_and_concern_all() {
        let mut record = fixture::record(0, 0.0);
        record.trials.iter_mut().filter(|trial| trial.variant == BASELINE).for_each(fixture::fail);
        let boundaries = Boundaries::standard();
        let found = rule(&record, &crate::assess(&record, &boundaries));
        let [baselines] = &found[..] else { panic!("one side failed: {found:?}") };
        assert_eq!(baselines.subject, Subject::Variant { variant: BASELINE });
        assert_eq!(baselines.facts[0].value, "2 of 2 launches, 100.0 %".into());
        assert!(vetoes(baselines, 1));
    }

    #[test]
    fn what_services_wrote_last_is_reported_once() {
        let mut record = fixture::record(9, 0.0);
        fixture::fail(&mut record.trials[5]);
        let written = [("database", "ready\nFATAL: too many clients\n"), ("cache", "\n")];
        record.trials[5].service_logs = written.map(|(name, log)| (name.to_owned(), log.to_owned())).into();
        let facts = |record: &StudyRecord| {
            let found = rule(record, &crate::assess(record, &Boundaries::standard()));
            found[0].facts[2..].iter().map(|it| format!("{}: {}", it.name, it.value)).collect::<Vec<_>>()
        };
        assert_eq!(facts(&record), ["service database's last words: FATAL: too many clients"]);
        let Outcome::Failed(failed) = &mut record.trials[5].outcome else { panic!("it failed") };
        failed.reason = "the database ended: its last words were `FATAL: too many clients`".to_owned();
        assert_eq!(facts(&record), [""; 0]);
    }

    /// The run ends when the first of them has failed twice; that is not to single it out.
    #[test]
    fn where_nothing_ever_went_well_no_variant_is_charged() {
        let mut record = fixture::record(0, 0.0);
        record.trials.truncate(3);
        record.trials.iter_mut().for_each(fixture::fail);
        assert_eq!(found(rule, &record), [(Severity::Invalid, "all variants".to_owned())]);
        // One launch each says nothing yet.
        record.trials.truncate(2);
        let warned = ["off", "on"].map(|subject| (Severity::Warning, subject.to_owned()));
        assert_eq!(found(rule, &record), warned);
    }
}
