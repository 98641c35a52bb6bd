//! A run that compared nothing.

use model::{Finding, FindingId, Outcome, Severity, StudyRecord, Subject, TrialRecord, text};

use super::rule::{Check, Context, Rule, veto_all};
use super::trial_failed;
use crate::blocks::BlockStatus;
use crate::step::Stop;

pub const RULE: Rule = Rule {
    id: FindingId::new("no-block-used"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/no-block-used.md"),
    checks: &[Check::Whole(rule)],
};

/// Invalid where launches were made and no block of them counts: there is nothing to compare. Nothing where other findings veto all
/// verdicts, or a variant could not be launched: that is the cause, and reported as such.
pub fn rule(record: &StudyRecord, context: &Context) -> Vec<Finding> {
    let assessment = context.assessment;
    let is_hopeless = || matches!(context.end, Some(Stop::VariantFails { .. }));
    if record.trials.is_empty() || assessment.used() > 0 || is_hopeless() {
        return Vec::new();
    }
    let mut others = context.lasting.to_vec();
    others.extend(trial_failed::rule(record, assessment));
    if veto_all(record, &others) {
        return Vec::new();
    }
    let remedy = if context.end.is_some() {
        "Mend what ended the run (failed launches, another finding), then run it again."
    } else if assessment.blocks.is_empty() {
        "Give a new run more time (`--budget`), or a warm-up of a fixed length (`[warmup] fixed`), which needs no pilot; \
         `bakeoff check` shows the plan. Or go on with this run (the command is at the report's end)."
    } else if assessment.blocks.iter().any(|block| block.status == BlockStatus::Failed) {
        "Mend the launches that failed (another finding names them), then run it again."
    } else {
        "Give a new run more time (`--budget`), or go on with this one (the command is at the report's end)."
    };
    let found = RULE.found(
        Severity::Invalid,
        Subject::Run,
        "A block counts where every variant was launched and measured, on a host that nothing disturbed. No block of this run did, so \
         there is nothing to compare.",
        remedy,
    );
    let pilots = || record.trials.iter().filter(|trial| trial.key.pilot);
    let unsteady = |trial: &&TrialRecord| {
        trial.outcome == Outcome::Completed && trial.warm_up.as_ref().is_some_and(|w| w.steady_at_s().is_none())
    };
    let spent_s: f64 = pilots().map(|trial| trial.host.elapsed_s).sum();
    let status = |status| assessment.blocks.iter().filter(|block| block.status == status).count();
    let reported = [
        (pilots().count(), "launches that only warmed up", format!(", {} in all", text::seconds(spent_s.round()))),
        (pilots().filter(unsteady).count(), "of them not steady within the cap", String::new()),
        (status(BlockStatus::Incomplete), "blocks that were not finished", String::new()),
        (status(BlockStatus::Failed), "blocks in which a launch failed", String::new()),
        (status(BlockStatus::Excluded), "blocks excluded", String::new()),
    ];
    let reported = reported.into_iter().filter(|(count, ..)| *count > 0);
    vec![reported.fold(found, |found, (count, what, more)| found.with(what, format!("{count}{more}")))]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::of_whole;
    use crate::fixture;

    fn gravest(record: &StudyRecord) -> Option<Severity> {
        of_whole(rule, record).into_iter().map(|finding| finding.severity).max()
    }

    /// The facts and the remedy of the only finding.
    fn find(record: &StudyRecord) -> (Vec<String>, String) {
        let found = of_whole(rule, record);
        let [found] = &found[..] else { panic!("{found:?}") };
        let facts = found.facts.iter().map(|item| format!("{}: {}", item.name, item.value));
        (facts.collect(), found.remedy.clone())
    }

    #[test]
    fn one_block_that_counts_is_enough() {
        assert_eq!(gravest(&fixture::record(1, 0.0)), None);
        assert_eq!(gravest(&fixture::record(0, 0.0)), Some(Severity::Invalid));
        let mut nothing = fixture::record(0, 0.0);
        nothing.trials.clear();
        assert_eq!(gravest(&nothing), None, "it has not begun");
    }

    #[test]
    fn pilots_that_took_all_the_time_are_the_cause() {
        let mut record = fixture::record(0, 0.0);
        record.trials[1].warm_up.as_mut().unwrap().steady = None;
        let (facts, remedy) = find(&record);
        assert_eq!(facts, ["launches that only warmed up: 4, 4 min in all", "of them not steady within the cap: 1"]);
        assert!(remedy.contains("[warmup] fixed") && remedy.contains("--budget"), "{remedy}");
    }

    #[test]
    fn a_block_that_was_not_finished_or_was_lost_is_named() {
        let mut record = fixture::record(1, 0.0);
        record.trials.pop();
        let (facts, remedy) = find(&record);
        assert_eq!(facts[1], "blocks that were not finished: 1");
        assert!(remedy.starts_with("Give a new run more time"), "{remedy}");
        // One of three fails in every block; there are no more blocks.
        let mut study = fixture::study();
        study.factors[0].levels.push("fast".to_owned());
        study.variants.push(fixture::variant("fast", "true"));
        let mut record = fixture::record_of(study, 4, 0.0, 0.01, 3);
        record.plan.blocks.truncate(4);
        record.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot).for_each(fixture::fail);
        let (facts, remedy) = find(&record);
        assert_eq!(facts[1], "blocks in which a launch failed: 4");
        assert!(remedy.starts_with("Mend what ended the run"), "{remedy}");
    }

    #[test]
    fn a_cause_that_vetoes_by_itself_is_enough() {
        let mut record = fixture::record(0, 0.0);
        record.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
        assert_eq!(gravest(&record), None);
    }
}
