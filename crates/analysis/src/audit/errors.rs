//! Requests failed.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Deref;

use model::imported::{Fidelity, Requests};
use model::{
    BASELINE, CellRecord, Effect, Fact, Finding, FindingId, LoadRecord, Outcome, Severity, StudyRecord, Subject, Tally,
    TrialRecord, VariantIndex, sample, text,
};

use super::evidence::Evidence;
use super::pair::Pair;
use super::rule::{Check, Imported, RARER, Rule, launches, measured, with_last_words};
use crate::assess::Assessment;
use crate::boundaries::Boundaries;
use crate::compare;
use crate::sequential;

pub const RULE: Rule = Rule {
    id: FindingId::new("errors"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/errors.md"),
    checks: &[
        Check::Lasting(always_unmet),
        Check::Run(rule),
        Check::Load(of_a_load),
        Check::Imported { needs: Evidence::Kept(Fidelity::Summary), look: of_import },
        Check::Pair { needs: Evidence::Kept(Fidelity::Summary), look: of_pair },
    ],
};

/// Failed share that is worth a warning.
const SOME: f64 = 0.01;
/// Failed share from which on it is failures that were measured.
const MOST: f64 = 0.5;
/// Difference of two failed shares that matters.
const ONE_POINT: f64 = 0.01;
/// Standard errors beyond which two failed shares differ by more than chance.
const BEYOND_CHANCE: f64 = 4.0;
/// Labels, and codes, of an imported run that are listed.
const LISTED: usize = 8;
/// Launches whose answers all lack what the study expects, from which on no other launch will do better.
const ALWAYS: usize = 2;

/// For each variant and cell: a warning from 1 % failed, invalid from 50 %; invalid as well when the failed shares of a
/// variant and the baseline differ by a percentage point or more and the repeated confidence interval of the within-block
/// differences excludes zero (launches are the unit, as for every other number). A tenth of the study's α is shared out
/// over variants and cells for that: a false veto takes a good result away, whatever the numbers say. Invalid for a variant whose answers,
/// looked at closely, mostly lack what the study expects. What fails in a ramp-up, where all users ask at once, has failed, too.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let mut all = Vec::new();
    // Simulated, so only where there is something to compare.
    let boundaries = LazyCell::new(|| assessment.boundaries.shared_out(RARER * record.plan.cells.len()));
    // How much may fail in a search for the limit is its objective's to say.
    let given = record.plan.cells.iter().enumerate().filter(|(_, cell)| cell.shape.find_limit.is_none());
    for (cell, _) in given {
        let tallies: Vec<Tally> =
            (0..record.study.variants.len()).map(|variant| total(record, variant, cell)).collect();
        for (variant, tally) in tallies.iter().enumerate() {
            all.extend(one_side(record, variant, cell, tally));
            all.extend(both_sides(assessment, &boundaries, cell, variant, [&tallies[BASELINE], tally]));
        }
    }
    let variants = 0..record.study.variants.len();
    all.extend(
        variants.filter(|variant| !is_always_unmet(record, *variant)).filter_map(|variant| unmet(record, variant)),
    );
    all
}

/// Invalid for a variant none of whose answers, of two launches or more, is what the study expects.
fn always_unmet(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    let variants = 0..record.study.variants.len();
    variants.filter(|variant| is_always_unmet(record, *variant)).filter_map(|variant| unmet(record, variant)).collect()
}

/// A warning from 1 % failed, invalid from 50 %; a warning as well where good answers are those of an error status.
fn of_a_load(load: &LoadRecord) -> Option<Finding> {
    too_many(Subject::Load, &load.tally()).or_else(|| {
        let status = load.status.filter(|status| *status >= 400)?;
        let found = RULE.found(
            Severity::Warning,
            Subject::Load,
            "The first answer was an error already, so that answers of its status count as good: what was loaded is an error page.",
            "Ask for something that the server has: what good answers are is learnt from the first one.",
        );
        Some(found.with("status of the first answer", status.to_string()))
    })
}

/// A warning from 1 % failed of an imported run, invalid from 50 %. What was never sent is no answer of the server, and does not count.
fn of_import(imported: &Imported) -> Option<Finding> {
    let all = &imported.run.all;
    let of_sent = |of: &Requests| failed(of.failed_when_sent(), of.sent());
    let severity = severity(all.failed_when_sent() as f64 / all.sent().max(1) as f64)?;
    let mut found = RULE
        .found(
            severity,
            Subject::Load,
            "Failed requests cost less or more than good ones, so its speed is not that of the work asked for.",
            "Find out why they fail. Compare only runs, or parts of them, in which requests do not.",
        )
        .with("failed", of_sent(all));
    if all.never_sent > 0 {
        found = found.with("never sent, not counted here", text::count(all.never_sent));
    }
    let mut labels: Vec<_> =
        imported.run.labels.iter().filter(|(_, requests)| requests.failed_when_sent() > 0).collect();
    labels.sort_by_key(|(_, requests)| Reverse(requests.failed_when_sent()));
    let mut codes: Vec<_> = all.codes.iter().filter(|(code, _)| !code.is_empty()).collect();
    codes.sort_by_key(|(_, count)| Reverse(**count));
    let labels = labels.into_iter().map(|(label, of)| Fact::new(label.as_str(), of_sent(of)));
    let codes = codes.into_iter().map(|(code, count)| Fact::new(code.as_str(), text::count(*count)));
    found.facts.extend(labels.take(LISTED).chain(codes.take(LISTED)));
    Some(found)
}

/// Invalid where the failed shares of two runs differ by a percentage point or more, and by more than chance makes of requests that fail
/// one by one; and where in either half of them failed. Over the same time, where there is one.
fn of_pair(pair: &Pair) -> Option<Finding> {
    let counts = pair.failures();
    let shares = counts.map(|(failed, ended)| failed / ended.max(1.0));
    let pooled = (counts[0].0 + counts[1].0) / (counts[0].1 + counts[1].1).max(1.0);
    let chance = (pooled * (1.0 - pooled) * counts.map(|(_, ended)| 1.0 / ended.max(1.0)).iter().sum::<f64>()).sqrt();
    let difference = (shares[0] - shares[1]).abs();
    let is_unequal = difference >= ONE_POINT && difference > BEYOND_CHANCE * chance;
    (is_unequal || shares.iter().any(|share| *share >= MOST)).then(|| {
        RULE.found(
            Severity::Invalid,
            Subject::Load,
            "Failed requests cost less or more than good ones. With so many on one side, the two did not do the same work.",
            "Find out why they fail. Compare only runs, or parts of them, in which requests do not.",
        )
        .with("failed", counts.map(|(of, ended)| failed(of.round() as u64, ended.round() as u64)))
    })
}

fn failed(failed: u64, ended: u64) -> String {
    format!("{} of {}, {}", text::count(failed), text::count(ended), text::percent(failed as f64 / ended.max(1) as f64))
}

/// How grave it is that so large a share failed.
fn severity(share: f64) -> Option<Severity> {
    match share {
        share if share >= MOST => Some(Severity::Invalid),
        share if share >= SOME => Some(Severity::Warning),
        _ => None,
    }
}

fn one_side(record: &StudyRecord, variant: VariantIndex, cell: usize, tally: &Tally) -> Option<Finding> {
    let found = too_many(Subject::Cell { variant, cell }, tally)?;
    let failed = |trial: &&TrialRecord| {
        let own = trial.cells.iter().filter(|measured| measured.cell == cell);
        trial.outcome == Outcome::Completed && own.flat_map(CellRecord::whole).any(|sample| sample.tally.failed() > 0)
    };
    Some(match launches(record, variant).find(failed) {
        Some(trial) => with_last_words(found, trial, ""),
        None => found,
    })
}

fn too_many(subject: Subject, tally: &Tally) -> Option<Finding> {
    let found = RULE.found(
        severity(tally.failed_share())?,
        subject,
        "Failed requests cost less or more than good ones, so the speed of this cell is not that of the work asked for.",
        "Find out why they fail (the statuses among the facts, the logs of the server and of its services) and run again.",
    )
    .with("failed", failed(tally.failed(), tally.ended()));
    let kinds = tally.failures.iter().map(|(failure, count)| (failure.name().to_owned(), *count));
    let whys = tally.malformed.iter().map(|(why, count)| (why.to_string(), *count));
    let statuses = tally.statuses.iter().map(|(status, count)| (format!("status {status}"), *count));
    Some(kinds.chain(whys).chain(statuses).fold(found, |found, (what, count)| found.with(what, text::count(count))))
}

fn both_sides(
    assessment: &Assessment,
    boundaries: &impl Deref<Target = Boundaries>,
    cell: usize,
    variant: VariantIndex,
    [baseline, other]: [&Tally; 2],
) -> Option<Finding> {
    if variant == BASELINE || (baseline.failed_share() - other.failed_share()).abs() < ONE_POINT {
        return None;
    }
    let share = |trial: &TrialRecord| {
        let measured = trial.cells.iter().find(|measured| measured.cell == cell)?;
        Some(sample::tally(measured.whole()).failed_share())
    };
    let pairs = compare::pairs(assessment, variant, share);
    let differences: Vec<f64> = pairs.into_iter().map(|(_, [baseline, other])| other - baseline).collect();
    let effect = differs(&differences, boundaries)?;
    let points = |share: f64| format!("{:+.1}", share * 100.0).replace('-', "−");
    Some(
        RULE.found(
            Severity::Invalid,
            Subject::Against { variant, cell: Some(cell) },
            "One side fails more often than the other, so the two did not do the same work.",
            "Find out why (the statuses of each side, the logs of the server and of its services) and run again.",
        )
        .with("failed", [baseline, other].map(|tally| text::percent(tally.failed_share())))
        .with("difference, percentage points", format!("[{}, {}]", points(effect.low), points(effect.high))),
    )
}

/// The interval of the differences of failed shares, if it excludes zero and their estimate matters.
fn differs(differences: &[f64], boundaries: &Boundaries) -> Option<Effect> {
    sequential::interval(differences, boundaries)
        .filter(|effect| effect.excludes_zero() && effect.estimate.abs() >= ONE_POINT)
}

fn is_always_unmet(record: &StudyRecord, variant: VariantIndex) -> bool {
    let answered = || launches(record, variant).filter(|trial| !trial.answers.is_empty());
    answered().count() >= ALWAYS && answered().all(|trial| trial.answers.iter().all(|answer| !answer.unmet.is_empty()))
}

/// Answers that were looked at closely and mostly lack what the study expects.
fn unmet(record: &StudyRecord, variant: VariantIndex) -> Option<Finding> {
    let answers = || launches(record, variant).flat_map(|trial| &trial.answers);
    let mut missing: BTreeMap<&str, u64> = BTreeMap::new();
    for lack in answers().flat_map(|answer| &answer.unmet) {
        *missing.entry(lack).or_default() += 1;
    }
    let (all, bad) = (answers().count(), answers().filter(|answer| !answer.unmet.is_empty()).count());
    if bad == 0 || 2 * bad < all {
        return None;
    }
    let found = RULE
        .found(
            Severity::Invalid,
            Subject::Variant { variant },
            "The answers are not what the study expects, so something else than the work asked for was measured.",
            "Look at the answer; correct the server, or the study's `expect`.",
        )
        .with("answers that lack something", format!("{bad} of {all}"));
    Some(
        missing
            .into_iter()
            .fold(found, |found, (lack, count)| found.with(lack, format!("in {}", text::plural(count, "answer")))),
    )
}

/// Counts of one cell over the launches of a variant that ended well; what a launch that failed leaves is `trial-failed`'s.
fn total(record: &StudyRecord, variant: VariantIndex, cell: usize) -> Tally {
    sample::tally(measured(record, variant, cell).into_iter().flat_map(CellRecord::whole))
}

#[cfg(test)]
mod tests {
    use model::Failure;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::audit::testing::{found, gravest, imported, in_pair, values};
    use crate::boundaries::normal;
    use crate::fixture;

    /// Makes one in `every` answers of a variant's first cell fail.
    fn break_one_in(record: &mut StudyRecord, variant: usize, every: u64) {
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == variant) {
            let cell = trial.cells.iter_mut().filter(|cell| cell.cell == 0);
            for tally in cell.flat_map(|cell| &mut cell.samples).map(|sample| &mut sample.tally) {
                let failed = tally.good / every;
                tally.good -= failed;
                tally.failures.insert(Failure::Status, failed);
            }
        }
    }

    #[test]
    fn few_errors_on_both_sides_are_a_warning() {
        let mut record = fixture::record(4, 0.0);
        assert_eq!(gravest(rule, &record), None);
        break_one_in(&mut record, 0, 200);
        assert_eq!(gravest(rule, &record), None);
        break_one_in(&mut record, 0, 50);
        break_one_in(&mut record, 1, 50);
        assert_eq!(
            found(rule, &record),
            [(Severity::Warning, "off, pages@1".to_owned()), (Severity::Warning, "on, pages@1".to_owned())]
        );
    }

    /// A database that dies once takes its launch with it, not the variant.
    #[test]
    fn what_a_launch_that_failed_leaves_is_not_counted() {
        let mut record = fixture::record(3, 0.0);
        let mut broken = record.clone();
        break_one_in(&mut broken, 1, 1);
        let last = record.trials.iter().rposition(|trial| trial.variant == 1).unwrap();
        fixture::fail(&mut record.trials[last]);
        record.trials[last].cells = broken.trials[last].cells.clone();
        assert_eq!(gravest(rule, &record), None);
        record.trials[last].outcome = Outcome::Completed;
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }

    #[test]
    fn what_fails_before_it_is_measured_has_failed() {
        let mut record = fixture::crowd(4);
        for cell in record.trials.iter_mut().flat_map(|trial| &mut trial.cells) {
            // 30 of 290.
            cell.ramp_up[0].tally.failures.insert(Failure::TimedOut, 30);
        }
        let expected = ["off, pages@100", "on, pages@100"];
        assert_eq!(found(rule, &record), expected.map(|subject| (Severity::Warning, subject.to_owned())));
    }

    #[test]
    fn one_side_that_errs_more_vetoes() {
        let mut record = fixture::record(8, 0.0);
        break_one_in(&mut record, 1, 30);
        assert!(found(rule, &record).contains(&(Severity::Invalid, "on against off, pages@1".to_owned())));
    }

    #[test]
    fn a_side_that_fails_hardly_more_is_only_warned_of() {
        let mut record = fixture::record(8, 0.0);
        break_one_in(&mut record, 0, 50);
        break_one_in(&mut record, 1, 36);
        assert_eq!(gravest(rule, &record), Some(Severity::Warning));
    }

    /// Studies of two cells in which 2 % fail on both sides: the share of those with a veto.
    fn vetoed(spread: f64, studies: usize) -> f64 {
        let boundaries = Boundaries::standard().shared_out(2 * RARER);
        let mut rng = ChaCha8Rng::seed_from_u64(17);
        let requests = 4_000.0_f64;
        let vetoed = (0..studies)
            .filter(|_| {
                let blocks = rng.random_range(5..=30);
                (0..2).any(|_| {
                    let mut launch = || {
                        let share: f64 = 0.02 * (spread * normal(&mut rng) - spread * spread / 2.0).exp();
                        (share + (share / requests).sqrt() * normal(&mut rng)).max(0.0)
                    };
                    let differences: Vec<f64> = (0..blocks).map(|_| launch() - launch()).collect();
                    differs(&differences, &boundaries).is_some()
                })
            })
            .count();
        vetoed as f64 / studies as f64
    }

    #[test]
    fn equal_failures_hardly_ever_veto() {
        const STUDIES: usize = 5_000;
        // From none but chance to launches that fail ten times as often as others.
        for spread in [0.0, 0.5, 1.0] {
            let rate = vetoed(spread, STUDIES);
            // One in a thousand and three standard errors.
            assert!(rate <= 0.001 + 3.0 * (0.001 / STUDIES as f64).sqrt(), "spread {spread}: {rate}");
        }
    }

    #[test]
    fn an_imported_run_is_judged_by_the_same_shares() {
        let severity = |failed: u64| {
            let mut run = imported(100, 10);
            (run.all.good, run.all.failed) = (1_000 - failed, failed);
            of_import(&Imported { run: &run, levels: &[], hosts: &[] }).map(|found| found.severity)
        };
        assert_eq!(
            [9, 10, 499, 500].map(severity),
            [None, Some(Severity::Warning), Some(Severity::Warning), Some(Severity::Invalid)]
        );
    }

    #[test]
    fn what_was_never_sent_is_no_answer() {
        let of = |failed: u64, never_sent: u64| {
            let mut run = imported(100, 10);
            (run.all.good, run.all.failed, run.all.never_sent) = (400, failed, never_sent);
            of_import(&Imported { run: &run, levels: &[], hosts: &[] }).map(|found| (found.severity, values(&found)))
        };
        assert_eq!(of(600, 600), None);
        let said = ["100 of 500, 20.0 %", "500"].map(str::to_owned).to_vec();
        assert_eq!(of(600, 500), Some((Severity::Warning, said)));
        assert_eq!(of(600, 0).map(|(severity, _)| severity), Some(Severity::Invalid));
    }

    #[test]
    fn mostly_errors_veto_at_once() {
        let mut record = fixture::record(1, 0.0);
        break_one_in(&mut record, 1, 1);
        assert_eq!(found(rule, &record), [(Severity::Invalid, "on, pages@1".to_owned())]);
    }

    #[test]
    fn answers_that_lack_what_is_expected_veto() {
        let mut record = fixture::record(1, 0.0);
        assert_eq!(gravest(always_unmet, &record), None);
        let answers = record.trials.iter_mut().flat_map(|trial| &mut trial.answers);
        answers.for_each(|answer| answer.unmet = vec!["nothing at $.pipelines".to_owned()]);
        assert_eq!((found(always_unmet, &record).len(), found(rule, &record).len()), (2, 0));
        record.trials[0].answers[0].unmet.clear();
        assert_eq!((found(always_unmet, &record).len(), found(rule, &record).len()), (1, 1));
        record.trials.truncate(2);
        assert_eq!((found(always_unmet, &record).len(), found(rule, &record).len()), (0, 2));
    }

    #[test]
    fn two_runs_fail_alike_or_were_not_the_same_work() {
        let failing = |failed: u64| {
            let mut run = imported(1_000, 100);
            run.intervals.iter_mut().for_each(|interval| (interval.good, interval.failed) = (100 - failed, failed));
            (run.all.good, run.all.failed) = (1_000 * (100 - failed), 1_000 * failed);
            run
        };
        let severity = |failed: [u64; 2]| in_pair(&RULE, failed.map(failing)).map(|found| found.severity);
        assert_eq!(severity([0, 0]), None);
        assert_eq!(severity([5, 5]), None);
        assert_eq!(severity([0, 2]), Some(Severity::Invalid));
        assert_eq!(severity([60, 60]), Some(Severity::Invalid), "both fail");
        let never_sent = |failed: u64, intervals: usize| {
            let mut run = failing(failed);
            run.all.never_sent = run.all.failed;
            run.intervals.truncate(intervals);
            run
        };
        for intervals in [1_000, 0] {
            assert_eq!(in_pair(&RULE, [never_sent(0, intervals), never_sent(20, intervals)]), None, "{intervals}");
        }
        let by_chance = |failed: u64| {
            let mut run = imported(10, 10);
            (run.all.good, run.all.failed) = (100 - failed, failed);
            run.intervals.clear();
            run
        };
        assert_eq!(in_pair(&RULE, [by_chance(1), by_chance(3)]), None, "so few say nothing");
    }
}
