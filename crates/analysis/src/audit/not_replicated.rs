//! Too few launches for any verdict.

use model::imported::{Fidelity, Scatter};
use model::{Finding, FindingId, Severity, StudyRecord, Subject, text};

use super::evidence::Evidence;
use super::pair::Pair;
use super::rule::{Check, Context, Imported, Rule, SeriesOfRuns, veto_all};
use super::{no_block_used, trial_failed};
use crate::boundaries::FIRST_LOOK;

pub const RULE: Rule = Rule {
    id: FindingId::new("not-replicated"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/not-replicated.md"),
    checks: &[
        Check::Whole(rule),
        Check::Imported { needs: Evidence::Kept(Fidelity::Summary), look: of_import },
        Check::Pair { needs: Evidence::Kept(Fidelity::Summary), look: of_pair },
        Check::Series(of_series),
    ],
};

/// A warning with fewer used blocks than the first look needs; no verdict is given then. Nothing where all verdicts
/// are vetoed for good: more launches would not help.
fn rule(record: &StudyRecord, context: &Context) -> Vec<Finding> {
    let used = context.assessment.used();
    // Where no block counts at all, that is the finding.
    if used >= FIRST_LOOK || !no_block_used::rule(record, context).is_empty() {
        return Vec::new();
    }
    let is_over = context.end.is_some();
    let mut lasting = context.lasting.to_vec();
    if is_over {
        lasting.extend(trial_failed::rule(record, context.assessment));
    }
    if veto_all(record, &lasting) {
        return Vec::new();
    }
    let remedy = if is_over {
        "Mend what ended the run (failed launches, another finding), then run it again."
    } else {
        "Go on with this run (the command is at the report's end)."
    };
    vec![
        RULE.found(
            Severity::Warning,
            Subject::Run,
            "Launches of one and the same server differ, by several per cent as a rule: with so few of them nothing can be \
             concluded from that.",
            remedy,
        )
        .with("used blocks", format!("{used} of at least {FIRST_LOOK}")),
    ]
}

/// A warning for each imported run: it is one launch.
fn of_import(imported: &Imported) -> Option<Finding> {
    (imported.run.all.ended() > 0).then(|| {
        RULE.found(
            Severity::Warning,
            Subject::Load,
            "It is one run of one launch. Launches of one and the same server differ, by several per cent as a rule.",
            "Hold it against other runs of the same server before you hold it against another server.",
        )
    })
}

/// A warning for each two runs in which anything ended: one launch a side.
fn of_pair(pair: &Pair) -> Option<Finding> {
    let is_any_ended = pair.runs.iter().any(|audited| audited.run.all.ended() > 0);
    is_any_ended.then(|| {
        RULE.found(
        Severity::Warning,
        Subject::Load,
        "It is one launch a side. How far launches of either server differ is not known, so neither is how large the difference is.",
        "Launch each side several times, in changing order.",
        )
    })
}

/// A note on how far the runs of a series lie apart before their speed falls: those of the same settings are replicates.
fn of_series(series: &SeriesOfRuns) -> Result<Option<Finding>, String> {
    if series.scatter.is_empty() {
        return Err("no three runs of the same users have a settled level; it takes 3".to_owned());
    }
    let found = RULE.found(
        Severity::Note,
        Subject::Load,
        "This is how far the runs differ before their speed falls. As far as they had the same settings, they are replicates: a smaller difference \
         of two single runs says nothing.",
        "Where settings differ, group the runs by them. Compare groups of runs, not single ones.",
    );
    let reported = |found: Finding, one: &Scatter| {
        let users = one.users.map_or_else(String::new, |users| format!(" of {}", text::plural(users.into(), "user")));
        let [low, high] = one.range.map(|rate| text::significant(rate, 3));
        let spread = format!("{low} to {high}/s, coefficient of variation {}", text::percent(one.variation));
        let found = found.with(format!("{} runs{users}", one.runs), spread);
        let found = one.without.iter().fold(found, |found, (name, variation)| {
            found.with(format!("without {name}"), format!("coefficient of variation {}", text::percent(*variation)))
        });
        found.with("smallest difference of two such runs that says something", text::percent(one.smallest))
    };
    Ok(Some(series.scatter.iter().fold(found, reported)))
}

#[cfg(test)]
mod tests {
    use model::SettingResult;

    use super::*;
    use crate::audit::testing::{imported, in_pair, of_whole, values};
    use crate::fixture;

    fn find(record: &StudyRecord) -> Vec<Finding> {
        of_whole(rule, record)
    }

    #[test]
    fn one_launch_a_side_is_never_enough() {
        let run = || imported(1_000, 100);
        assert_eq!(in_pair(&RULE, [run(), run()]).map(|found| found.severity), Some(Severity::Warning));
    }

    #[test]
    fn three_blocks_are_the_least() {
        assert_eq!(find(&fixture::record(2, 0.0))[0].severity, Severity::Warning);
        assert_eq!(find(&fixture::record(3, 0.0)), []);
    }

    #[test]
    fn a_series_says_how_far_its_runs_lie_apart() {
        let of = |scatter: &[Scatter]| of_series(&SeriesOfRuns { runs: &[], scatter });
        assert!(of(&[]).is_err());
        let without = Some(("run-4".to_owned(), 0.01));
        let scatter =
            Scatter { users: Some(50), runs: 4, range: [7.3, 7.5], variation: 0.012, smallest: 0.054, without };
        let found = of(&[scatter]).unwrap().unwrap();
        assert_eq!(found.severity, Severity::Note);
        let said = ["7.30 to 7.50/s, coefficient of variation 1.2 %", "coefficient of variation 1.0 %", "5.4 %"];
        assert_eq!(values(&found), said);
        assert_eq!(
            (found.facts[0].name.as_str(), found.facts[1].name.as_str()),
            ("4 runs of 50 users", "without run-4")
        );
    }

    #[test]
    fn only_a_run_that_can_go_on_is_reported_to() {
        let mut record = fixture::record(2, 0.0);
        assert_eq!(find(&record)[0].remedy, "Go on with this run (the command is at the report's end).");
        record.plan.blocks.truncate(2);
        let found = find(&record);
        let [ended] = &found[..] else { panic!("it has two blocks") };
        assert!(ended.remedy.ends_with("run it again.") && !ended.remedy.contains("Go on"), "{ended:?}");
    }

    #[test]
    fn a_run_that_a_veto_ended_lacks_no_launches() {
        let mut unknown = fixture::record(0, 0.0);
        let settings =
            unknown.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.settings);
        settings.for_each(|setting| setting.result = SettingResult::Unknown { nearest: None });
        // Between blocks and within one.
        for trials in [4, 3, 2] {
            unknown.trials.truncate(trials);
            assert_eq!(find(&unknown), []);
        }
        let mut hopeless = fixture::record(0, 0.0);
        hopeless.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
        assert_eq!(find(&hopeless), []);
    }

    #[test]
    fn another_variant_that_is_not_vetoed_lacks_them() {
        let mut study = fixture::study();
        study.factors[0].levels.push("fast".to_owned());
        study.variants.push(fixture::variant("fast", "true"));
        let mut record = fixture::record_of(study, 1, 0.0, 0.01, 3);
        let last = record.trials.iter_mut().filter(|trial| trial.variant == 1 && trial.key.pilot);
        last.for_each(fixture::fail);
        assert_eq!(find(&record).len(), 1);
    }
}
