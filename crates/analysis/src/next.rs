//! What the conductor does next: a pure function of what is stored, so that resuming a run is the same as going on.

use std::collections::HashSet;

use model::study::WarmUp;
use model::{
    Effect, Finding, Launches, Outcome, ProfilingSkipped, Severity, StudyRecord, TrialKey, TrialRecord, VariantIndex,
    WarmUpLength,
};

use crate::assess::Assessment;
use crate::audit;
use crate::compare::settled;
use crate::sequential::Decision;
use crate::step::{FAILED_LAUNCHES, Next, Stop};
use crate::{pace, steady};

/// What to do next, given what is stored so far.
pub fn next_step(assessment: &Assessment) -> Next {
    next(assessment).clone()
}

/// The same, worked out once.
fn next<'a>(assessment: &'a Assessment) -> &'a Next {
    assessment.next.get_or_init(|| decide(assessment))
}

/// Why the run has ended for good, so that resuming it would add nothing; `None` while it may go on.
pub fn end<'a>(assessment: &'a Assessment) -> Option<&'a Stop> {
    match next(assessment) {
        Next::Stop(stop) => Some(stop),
        Next::Run(_) | Next::FixWarmUpLength(_) | Next::FixHorizon(_) => None,
    }
}

fn decide(assessment: &Assessment) -> Next {
    let record = assessment.record;
    if let Some(variant) = hopeless(record) {
        return Next::Stop(Stop::VariantFails { variant });
    }
    let done: HashSet<TrialKey> = record.trials.iter().map(|trial| trial.key).collect();
    let missing = |blocks: &[model::Block]| {
        blocks.iter().flat_map(|block| &block.trials).map(|trial| trial.key).find(|key| !done.contains(key))
    };
    let next = missing(&record.plan.pilot);
    // A block that has begun is finished before anything is decided.
    let is_between_blocks = next.or_else(|| missing(&record.plan.blocks)).is_none_or(|key| key.position == 0);
    if is_between_blocks
        && !done.is_empty()
        && let Some(stop) = veto(record, audit::lasting(assessment))
    {
        return Next::Stop(stop);
    }
    if let Some(pilot) = next {
        return Next::Run(pilot);
    }
    if record.warm_up_length.is_none() && is_warm_up_known(record) {
        return Next::FixWarmUpLength(warm_up_length(record));
    }
    // After the pilots, or the first block where there are none: before any interval.
    let is_timed = !record.plan.pilot.is_empty() || first_whole(record).is_some();
    if is_between_blocks && is_timed && record.horizon.is_none() {
        return Next::FixHorizon(pace::horizon(assessment));
    }
    if is_between_blocks && let Some(stop) = finished(assessment) {
        return Next::Stop(stop);
    }
    missing(&record.plan.blocks).map_or(Next::Stop(Stop::Exhausted), Next::Run)
}

/// A variant whose first launches all failed.
fn hopeless(record: &StudyRecord) -> Option<String> {
    record.study.variants.iter().enumerate().find_map(|(index, variant)| {
        let first = record.trials.iter().filter(|trial| trial.variant == index).take(FAILED_LAUNCHES);
        let failed = first.filter(|trial| trial.outcome != Outcome::Completed).count();
        (failed == FAILED_LAUNCHES).then(|| variant.name.clone())
    })
}

/// Those of these findings that are invalid, where they veto every verdict.
fn veto(record: &StudyRecord, found: &[Finding]) -> Option<Stop> {
    let findings = audit::vetoing(found.iter().filter(|finding| finding.severity == Severity::Invalid));
    (audit::veto_all(record, found) && !findings.is_empty()).then_some(Stop::Vetoed { findings })
}

/// Whether the warm-up's length can be decided: side by side a block has to have shown it, where the study does not fix it.
fn is_warm_up_known(record: &StudyRecord) -> bool {
    let schedule = &record.plan.schedule;
    if schedule.launches == Launches::OneAfterAnother || matches!(schedule.warm_up, WarmUp::Fixed(_)) {
        return true;
    }
    first_whole(record).is_some()
}

/// The first block all of whose launches were completed.
fn first_whole(record: &StudyRecord) -> Option<u32> {
    let completed = |key| record.trials.iter().any(|trial| trial.key == key && trial.outcome == Outcome::Completed);
    let mut blocks = record.plan.blocks.iter().zip(0..);
    blocks.find(|(block, _)| block.trials.iter().all(|trial| completed(trial.key))).map(|(_, index)| index)
}

/// The warm-up length that the study fixes or the times of the launches give that were to find it: the pilots', or side by side those of the first whole block. A pilot that failed has no time; one that never became
/// steady has none either, and says so.
fn warm_up_length(record: &StudyRecord) -> WarmUpLength {
    let pilots = |variant| {
        let is_side_by_side = record.plan.schedule.launches == Launches::SideBySide;
        let finds = move |trial: &&TrialRecord| {
            trial.key.pilot || is_side_by_side && Some(trial.key.block) == first_whole(record)
        };
        let own = record.trials.iter().filter(finds).filter(move |trial| trial.variant == variant);
        let completed = own.filter(|trial| trial.outcome == Outcome::Completed);
        completed.filter_map(|trial| Some(trial.warm_up.as_ref()?.steady_at_s())).collect()
    };
    match record.plan.schedule.warm_up {
        WarmUp::Fixed(fixed) => WarmUpLength { seconds: fixed.as_secs_f64(), established: false },
        WarmUp::Pilot { cap } => {
            let times: Vec<Vec<Option<f64>>> = (0..record.study.variants.len()).map(pilots).collect();
            steady::warm_up_length(&times, cap)
        }
    }
}

/// Whether the looks so far say stop.
fn finished(assessment: &Assessment) -> Option<Stop> {
    let used = assessment.used();
    let schedule = &assessment.record.plan.schedule;
    let is_decided =
        |look: &Option<(Effect, Decision)>| look.is_some_and(|(_, decision)| decision != Decision::Continue);
    if used >= schedule.min_blocks as usize && settled(assessment).iter().all(is_decided) {
        Some(Stop::Decided)
    } else {
        (used >= assessment.record.most_blocks() as usize).then_some(Stop::Exhausted)
    }
}

/// The variants whose profiling run has not been made, of a run that ended so; or why none is made of it: what could not
/// be compared needs no explanation.
pub fn missing_profiling_runs(assessment: &Assessment, stop: &Stop) -> Result<Vec<VariantIndex>, ProfilingSkipped> {
    let record = assessment.record;
    let nothing = |stop: &Stop| Err(ProfilingSkipped::NothingToExplain { because: stop.to_string() });
    match stop {
        Stop::VariantFails { .. } | Stop::Vetoed { .. } => nothing(stop),
        Stop::Decided | Stop::Exhausted => {
            if let Some(vetoed) = veto(record, &audit::audit(assessment, end(assessment))) {
                return nothing(&vetoed);
            }
            let is_made = |variant| record.profiling_runs.iter().any(|made| made.variant == variant);
            Ok((0..record.study.variants.len()).filter(|variant| !is_made(*variant)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use model::{Failure, FindingId, Mode, SettingResult};

    use super::*;
    use crate::boundaries::Boundaries;
    use crate::{assess, fixture};

    /// Walks the plan, taking each trial from `source`; what was decided and how many trials ran.
    fn conduct(source: &StudyRecord) -> (StudyRecord, Stop) {
        let boundaries = Boundaries::standard();
        let mut record = StudyRecord { trials: Vec::new(), warm_up_length: None, horizon: None, ..source.clone() };
        loop {
            match next_step(&assess(&record, &boundaries)) {
                Next::FixWarmUpLength(length) => record.warm_up_length = Some(length),
                Next::FixHorizon(blocks) => record.horizon = Some(blocks),
                Next::Run(key) => record.trials.push(source.trials.iter().find(|t| t.key == key).unwrap().clone()),
                Next::Stop(stop) => return (record, stop),
            }
        }
    }

    fn everything(effect: f64) -> StudyRecord {
        fixture::record(36, effect)
    }

    #[test]
    fn a_large_effect_is_decided_at_the_first_look() {
        let (record, stop) = conduct(&everything(0.10));
        assert_eq!(stop, Stop::Decided);
        // Pilots: 4 trials, then five blocks of two.
        assert_eq!(record.trials.len(), 14);
        assert_eq!(record.warm_up_length, Some(WarmUpLength { seconds: 50.0, established: true }));
    }

    #[test]
    fn a_tail_is_never_answered() {
        let mut source = everything(0.10);
        source.study.decide.primary = model::Metric::P90;
        assert_eq!(conduct(&source).1, Stop::Exhausted);
    }

    #[test]
    fn answers_that_are_never_what_is_expected_stop_the_run() {
        let mut source = everything(0.0);
        let answers = source.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.answers);
        answers.for_each(|answer| answer.unmet = vec!["nothing at $.pipelines".to_owned()]);
        let (record, stop) = conduct(&source);
        assert_eq!(stop, Stop::Vetoed { findings: vec![FindingId::new("errors")] });
        assert_eq!(record.trials.len(), 4);
    }

    #[test]
    fn an_effect_at_the_margin_uses_all_blocks_but_the_spare_ones() {
        let mut source = everything(0.0);
        source.plan.schedule.within = Duration::from_secs(24 * 3_600);
        // ±30 % in turns: never decided.
        for trial in source.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot) {
            let factor = if trial.key.block.is_multiple_of(2) { 1.3 } else { 0.7 };
            trial.cells.iter_mut().flat_map(|cell| &mut cell.samples).for_each(|i| i.length_s *= factor);
        }
        let (record, stop) = conduct(&source);
        assert_eq!(stop, Stop::Exhausted);
        assert_eq!(record.trials.len(), 4 + 60);
    }

    #[test]
    fn the_budget_fixes_the_horizon_before_anything_is_looked_at() {
        let boundaries = Boundaries::standard();
        let fixed = |within: u64, trials: usize, pilots: bool| {
            let mut source = everything(0.0);
            source.plan.schedule.within = Duration::from_secs(within);
            source.trials.truncate(trials);
            source.horizon = None;
            if !pilots {
                source.trials.retain(|trial| !trial.key.pilot);
                source.plan.pilot.clear();
            }
            next_step(&assess(&source, &boundaries))
        };
        // Pilots of 60 s, 1 s of which is load; launches of 59 + 50 + 8 s: 4·60 + 12·234 s.
        assert_eq!(fixed(240 + 12 * 234, 4, true), Next::FixHorizon(12));
        assert_eq!(fixed(240 + 12 * 234 - 1, 4, true), Next::FixHorizon(11));
        assert_eq!(fixed(600, 4, true), Next::FixHorizon(5));
        assert_eq!(fixed(36_000, 4, true), Next::FixHorizon(30));
        // Without pilots the first block shows it, once it is whole: launches of 60 s, of which 9 s are load, and then of 51 + 50 + 8 s.
        let second = TrialKey { pilot: false, block: 0, position: 1 };
        assert_eq!(fixed(121 + 9 * 218, 5, false), Next::Run(second));
        assert_eq!(fixed(121 + 9 * 218, 6, false), Next::FixHorizon(10));
        assert_eq!(fixed(119 + 9 * 218, 6, false), Next::FixHorizon(9));
    }

    #[test]
    fn the_time_of_profiling_runs_is_set_aside_unless_blocks_need_it() {
        let boundaries = Boundaries::standard();
        let fixed = |within: u64| {
            let mut source = everything(0.0);
            source.plan.schedule.profiling = true;
            source.plan.schedule.within = Duration::from_secs(within);
            source.trials.truncate(4);
            source.horizon = None;
            let assessment = assess(&source, &boundaries);
            (next_step(&assessment), pace::profiling_aside(&assessment).unwrap().as_secs())
        };
        // As above, and two launches of 117 s that are watched for 8 s.
        assert_eq!(fixed(240 + 12 * 234 + 250), (Next::FixHorizon(12), 250));
        assert_eq!(fixed(240 + 12 * 234), (Next::FixHorizon(10), 250));
        assert_eq!(fixed(240 + 5 * 234 + 250), (Next::FixHorizon(5), 250));
        assert_eq!(fixed(240 + 5 * 234 + 249), (Next::FixHorizon(6), 0));
        assert_eq!(fixed(600), (Next::FixHorizon(5), 0));
    }

    #[test]
    fn a_run_that_has_reached_its_horizon_is_over_whatever_the_plan_has() {
        let mut record = fixture::record(7, 0.0);
        record.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(|trial| {
            let factor = if trial.key.block.is_multiple_of(2) { 1.3 } else { 0.7 };
            trial.cells.iter_mut().flat_map(|cell| &mut cell.samples).for_each(|i| i.length_s *= factor);
        });
        let boundaries = Boundaries::standard();
        let eighth = TrialKey { pilot: false, block: 7, position: 0 };
        assert_eq!(next_step(&assess(&record, &boundaries)), Next::Run(eighth));
        record.horizon = Some(7);
        assert_eq!(next_step(&assess(&record, &boundaries)), Next::Stop(Stop::Exhausted));
    }

    #[test]
    fn disturbed_blocks_are_replaced() {
        let mut source = everything(0.10);
        source.trials[7].host.others_cores = 1.0;
        let (record, stop) = conduct(&source);
        assert_eq!((stop, record.trials.len()), (Stop::Decided, 16));
    }

    #[test]
    fn a_run_resumes_where_it_stopped() {
        let boundaries = Boundaries::standard();
        let source = everything(0.0);
        let (whole, _) = conduct(&source);
        for stop in 5..whole.trials.len() {
            let part = StudyRecord { trials: whole.trials[..stop].to_vec(), ..whole.clone() };
            assert_eq!(next_step(&assess(&part, &boundaries)), Next::Run(whole.trials[stop].key));
        }
    }

    #[test]
    fn a_hopeless_variant_stops_the_run() {
        let mut source = everything(0.0);
        source.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
        let (record, stop) = conduct(&source);
        assert_eq!(stop, Stop::VariantFails { variant: "on".to_owned() });
        assert!(record.trials.len() <= 4);
    }

    #[test]
    fn a_lasting_veto_stops_the_run_after_the_first_block() {
        let mut source = everything(0.0);
        for trial in source.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.settings[0].result = SettingResult::Unknown { nearest: None };
        }
        let (record, stop) = conduct(&source);
        assert_eq!(stop, Stop::Vetoed { findings: vec![FindingId::new("setting-unknown")] });
        assert_eq!(record.trials.len(), 2);
    }

    #[test]
    fn a_fixed_warm_up_needs_no_pilot() {
        let mut study = fixture::study();
        study.timing.warm_up = WarmUp::Fixed(Duration::from_secs(20));
        let mut record = fixture::empty(study, Mode::Full);
        let boundaries = Boundaries::standard();
        let length = WarmUpLength { seconds: 20.0, established: false };
        assert_eq!(next_step(&assess(&record, &boundaries)), Next::FixWarmUpLength(length));
        record.warm_up_length = Some(length);
        let first = TrialKey { pilot: false, block: 0, position: 0 };
        assert_eq!(next_step(&assess(&record, &boundaries)), Next::Run(first));
    }

    #[test]
    fn a_launch_never_steady_leaves_the_cap() {
        let mut source = everything(0.10);
        source.trials[2].warm_up.as_mut().unwrap().steady = None;
        let (record, _) = conduct(&source);
        assert_eq!(record.warm_up_length, Some(WarmUpLength { seconds: 300.0, established: false }));
    }

    #[test]
    fn each_variant_is_launched_once() {
        let mut record = fixture::record(5, 0.0);
        let boundaries = Boundaries::standard();
        assert_eq!(missing_profiling_runs(&assess(&record, &boundaries), &Stop::Decided), Ok(vec![0, 1]));
        record.profiling_runs = vec![fixture::profiling_run(0, 100, 0.0)];
        assert_eq!(missing_profiling_runs(&assess(&record, &boundaries), &Stop::Exhausted), Ok(vec![1]));
    }

    #[test]
    fn what_could_not_be_compared_is_not_explained() {
        let mut record = fixture::record(5, 0.0);
        let boundaries = Boundaries::standard();
        let reported = |record: &StudyRecord, stop: Stop| {
            missing_profiling_runs(&assess(record, &boundaries), &stop).unwrap_err().to_string()
        };
        assert_eq!(
            reported(&record, Stop::Vetoed { findings: vec![FindingId::new("confounded")] }),
            "there is nothing to explain: whatever the numbers say, the comparison is invalid: confounded"
        );
        assert_eq!(
            reported(&record, Stop::VariantFails { variant: "on".to_owned() }),
            "there is nothing to explain: the first 2 launches of on failed"
        );
        // A veto that more blocks might have lifted, and did not.
        let own = record.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.cells);
        for sample in own.flat_map(|cell| &mut cell.samples) {
            sample.tally.failures.insert(Failure::Status, sample.tally.good);
        }
        for stop in [Stop::Decided, Stop::Exhausted] {
            assert_eq!(
                reported(&record, stop),
                "there is nothing to explain: whatever the numbers say, the comparison is invalid: errors"
            );
        }
    }
}
