//! A variant's speed had not settled.

use model::imported::Fidelity;
use model::study::WarmUp;
use model::{
    Arrivals, CellRecord, Finding, FindingId, Mode, Outcome, Sample, Severity, StudyRecord, Subject, TrialRecord,
    sample, text,
};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule, launches};
use crate::assess::Assessment;
use crate::compiling::{BUSY_CORES, BUSY_SHARE, Compiling};
use crate::ended::Ended;
use crate::settled::settled;
use crate::{metrics, robust};

pub const RULE: Rule = Rule {
    id: FindingId::new("not-steady"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/not-steady.md"),
    checks: &[Check::Run(rule), Check::Imported { needs: Evidence::Kept(Fidelity::Intervals), look: of_import }],
};

/// Change from the first to the second half of a measurement that is a trend, and from the level on which an imported run had settled to the
/// rest of it, a log ratio.
const TREND: f64 = 0.05;
/// Fewest seconds of a measurement whose halves are compared.
const FEWEST: usize = 4;
/// Fewest launches that show a trend, or compilers at work.
const FEWEST_LAUNCHES: usize = 3;
/// A level that an imported run leaves earlier than that was none to settle on, and how long a run has to be for it to matter, seconds.
const EARLY_S: f64 = 900.0;
const LONG_S: f64 = 1_800.0;
/// Part of the launches of a side that may be left out because they never became warm, where warming up decides.
const NEGLIGIBLE: f64 = 0.1;

/// A warning for each variant of which some launch was never steady where the warm-up's length was to be found (in a pilot, or side by side in
/// any block; the warm-up length is the cap then), and for each whose
/// measured part still trends: in the median launch its speed changes by more than 5 % from the first to the second half
/// of the measurements, so at least half of the launches change that much in the same direction.
/// Also for each whose compilers still took more than a tenth of what the server used, in the median launch of a full run.
/// Where the time or the requests until warm decide, also for each variant with measured launches that never became warm:
/// they are left out, and are the slow ones. Invalid from more than a tenth of its launches on.
fn rule(record: &StudyRecord, _: &Assessment) -> Vec<Finding> {
    (0..record.study.variants.len())
        .flat_map(|variant| {
            let rules = [never_warm, never_steady, trending, compiling];
            rules.into_iter().filter_map(move |rule| rule(record, variant))
        })
        .collect()
}

/// A warning for an imported run that was never long at one speed: it left the level on which it had settled within a quarter of an hour,
/// in a run of half an hour or more, and the rest was faster or slower by more than 5 %.
fn of_import(imported: &Imported) -> Option<Finding> {
    let settled = imported.levels.get(settled(imported.levels)?)?;
    let last = imported.levels.last()?;
    let is_left = settled.to_s < last.to_s && settled.to_s < EARLY_S && last.to_s >= LONG_S;
    let rest = Ended::between(imported.run, settled.to_s, last.to_s).good / (last.to_s - settled.to_s);
    (is_left && (rest / settled.rate).ln().abs() > TREND).then(|| {
        RULE.found(
            Severity::Warning,
            Subject::Load,
            "It did not stay at the speed on which it had settled. What it shows for long is another speed.",
            "Find out what changed: data that grow, a cache, a limit, the machine. Load again, and for as long.",
        )
        .with("settled", format!("from {} to {}", text::seconds(settled.from_s), text::seconds(settled.to_s)))
        .with("requests a second then, and in the rest", [settled.rate, rest].map(|rate| text::significant(rate, 3)))
        .with("loaded for", text::seconds(imported.run.seconds))
    })
}

fn never_warm(record: &StudyRecord, variant: usize) -> Option<Finding> {
    let primary = Some(record.study.decide.primary).filter(|metric| metric.is_of_warm_up())?;
    let own = || launches(record, variant).filter(|trial| !trial.key.pilot && trial.outcome == Outcome::Completed);
    let never = own().filter(|trial| metrics::value(trial, primary, None).is_none()).count();
    let share = never as f64 / own().count().max(1) as f64;
    (never > 0).then(|| {
        let found = RULE.found(
            if share > NEGLIGIBLE { Severity::Invalid } else { Severity::Warning },
            Subject::Variant { variant },
            "Launches that never became warm while their warm-up lasted are left out of what decides. They are those that take \
             longest: the rest are a selection.",
            "Decide by another metric, or find out why they do not settle (JIT, heap, caches): until they do, how long they \
             take is unknown.",
        );
        let found = found
            .with("launches never warm", format!("{never} of {} ({})", own().count(), text::percent(share)));
        match record.warm_up_length {
            Some(length) => found.with("their warm-up lasted", format!("{:.0} s", length.seconds)),
            None => found,
        }
    })
}

fn never_steady(record: &StudyRecord, variant: usize) -> Option<Finding> {
    let length = record.warm_up_length.filter(|length| !length.established)?;
    if !matches!(record.plan.schedule.warm_up, WarmUp::Pilot { .. }) {
        return None;
    }
    let times: Vec<Option<f64>> = launches(record, variant)
        .filter(|trial| trial.key.pilot || record.plan.pilot.is_empty())
        .filter_map(|trial| Some(trial.warm_up.as_ref()?.steady_at_s()))
        .collect();
    let never = times.iter().filter(|time| time.is_none()).count();
    (never > 0).then(|| {
        RULE.found(
            Severity::Warning,
            Subject::Variant { variant },
            "It was not steady when its warm-up ended: what was measured is its speed after this long, not its speed in the \
             long run.",
            "Raise the cap of the warm-up; where that does not help, look at what keeps changing (JIT, heap, caches).",
        )
        .with("launches never steady", format!("{never} of {}", times.len()))
        .with("measured after", format!("{:.0} s", length.seconds))
    })
}

fn trending(record: &StudyRecord, variant: usize) -> Option<Finding> {
    let trends: Vec<f64> = launches(record, variant)
        .filter(|trial| trial.outcome == Outcome::Completed)
        .filter_map(|t| trend(record, t))
        .collect();
    let typical = robust::median(&trends)?;
    (trends.len() >= FEWEST_LAUNCHES && typical.abs() > TREND).then(|| {
        RULE.found(
            Severity::Warning,
            Subject::Variant { variant },
            "Its speed was still changing while it was measured: the result depends on when it was taken.",
            "Warm up for longer; where it keeps falling, look for leaks, growing data or a machine that is being slowed down.",
        )
        .with("change from the first to the second half, median launch", text::change(typical))
        .with("launches", trends.len().to_string())
    })
}

/// A quick run measures soon after the start, and says so itself.
fn compiling(record: &StudyRecord, variant: usize) -> Option<Finding> {
    let measured = launches(record, variant).filter(|trial| !trial.key.pilot && trial.outcome == Outcome::Completed);
    let used: Vec<Compiling> = measured.map(compiled).collect();
    let shares: Vec<f64> = used.iter().filter_map(|used| used.share()).collect();
    let cores: Vec<f64> = used.iter().filter_map(|used| used.cores()).collect();
    let typical = robust::median(&shares)?;
    let is_warm = record.plan.mode == Mode::Quick || shares.len() < FEWEST_LAUNCHES || typical <= BUSY_SHARE;
    let compiling = robust::median(&cores).filter(|compiling| !is_warm && *compiling > BUSY_CORES)?;
    let found = RULE.found(
        Severity::Warning,
        Subject::Variant { variant },
        "Its compilers were still at work while it was measured: what was measured is the speed of a server that is not warm \
         yet, and a part of its CPU time is theirs (less than by the clock where they wait for a processor).",
        "Warm up for longer; where there are few processors with fewer users (`[warmup] concurrency`), so that the compilers get \
         some of them.",
    );
    Some(
        found
            .with("compiling by the clock, of the server's CPU time, median launch", text::percent(typical))
            .with("compiling in each second", text::seconds(compiling))
            .with("launches", shares.len().to_string()),
    )
}

/// What a launch compiled and used while it was measured; nothing where it does not say.
fn compiled(trial: &TrialRecord) -> Compiling {
    Compiling::sum(trial.cells.iter().flat_map(|cell| &cell.samples).filter_map(Compiling::of))
}

/// Mean over its cells of ln(speed in the second half / in the first).
fn trend(record: &StudyRecord, trial: &TrialRecord) -> Option<f64> {
    // At its limit a server may well become slower and slower: queues grow.
    let given = trial.cells.iter().filter(|cell| cell.search.is_none());
    let of_cell = |cell: &CellRecord| cell_trend(&record.plan.cells.get(cell.cell)?.shape.arrivals, &cell.samples);
    let trends: Vec<f64> = given.filter_map(of_cell).collect();
    (!trends.is_empty()).then(|| trends.iter().sum::<f64>() / trends.len() as f64)
}

/// The speed is throughput where users ask at once. Where they think, or where the rate is the study's, throughput says next
/// to nothing of it: the speed is 1 / median service time. Where the rate moves, so may either.
fn cell_trend(arrivals: &Arrivals, samples: &[Sample]) -> Option<f64> {
    if samples.len() < FEWEST || !arrivals.is_constant() {
        return None;
    }
    let speed = |part: &[Sample]| match arrivals {
        Arrivals::Closed { think: None, .. } => Some(sample::tally(part).good as f64 / sample::seconds(part)),
        _ => Some(1.0 / sample::service(part).supported_quantile(0.5)? as f64),
    };
    let (first, second) = samples.split_at(samples.len() / 2);
    Some((speed(second)? / speed(first)?).ln()).filter(|trend| trend.is_finite())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;
    use std::time::Duration;

    use model::imported::ImportedRun;
    use model::{Histogram, JvmCounters, JvmUse, Metric, Profile, ServerUse, Spacing, WarmUpLength};

    use super::*;
    use crate::audit::testing::{found, imported, values};
    use crate::fixture;
    use crate::levels::levels;

    #[test]
    fn a_launch_that_never_settled() {
        let mut record = fixture::record(5, 0.0);
        assert_eq!(found(rule, &record), []);
        let on = record.trials.iter_mut().find(|trial| trial.variant == 1).unwrap();
        on.warm_up.as_mut().unwrap().steady = None;
        record.warm_up_length = Some(WarmUpLength { seconds: 300.0, established: false });
        assert_eq!(found(rule, &record), [(Severity::Warning, "on".to_owned())]);
    }

    #[test]
    fn those_that_never_became_warm_do_not_let_the_slow_one_win() {
        // Off is warm after 20 s; on after 10 s, where it is.
        let mut record = fixture::warming(20, |variant, _| fixture::step([20, 10][variant], 40, 100));
        record.study.decide.primary = Metric::WarmUpTime;
        assert_eq!(found(rule, &record), []);
        let verdict = |record: &StudyRecord| {
            let judgement =
                crate::analyse(&crate::assess(record, &crate::Boundaries::standard()), None).judgements.remove(0);
            (judgement.verdict.word(), judgement.sentence)
        };
        let (word, sentence) = verdict(&record);
        assert!(
            word == "better" && sentence.starts_with("on takes 50.0 % less time to warm up than off"),
            "{sentence}"
        );

        let mut unsettle = |every: u32| {
            let is_cold = |t: &&mut TrialRecord| t.variant == 1 && !t.key.pilot && t.key.block.is_multiple_of(every);
            record.trials.iter_mut().filter(is_cold).for_each(|t| t.warm_up.as_mut().unwrap().steady = None);
            record.clone()
        };
        let (few, half) = (unsettle(10), unsettle(2));
        assert_eq!(found(rule, &few), [(Severity::Warning, "on".to_owned())], "2 of 20");
        assert_eq!(verdict(&few).0, "better");
        assert_eq!(found(rule, &half), [(Severity::Invalid, "on".to_owned())], "10 of 20");
        assert_eq!(verdict(&half).0, "invalid");
        // Where another metric decides, they are no matter of validity.
        let mut record = half;
        record.study.decide.primary = Metric::Throughput;
        assert_eq!(found(rule, &record), []);
    }

    #[test]
    fn a_measurement_that_still_changes() {
        let mut record = fixture::record(5, 0.0);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples[..2]) {
                sample.tally.good = sample.tally.good * 9 / 10;
            }
        }
        assert_eq!(found(rule, &record), [(Severity::Warning, "on".to_owned())]);
    }

    #[test]
    fn compilers_that_are_still_at_work() {
        let compiling = |jit_s: f64, cpu_s: f64| {
            let mut record = fixture::record(5, 0.0);
            for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
                for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
                    let counters = Some(JvmCounters { jit_s: jit_s * sample.length_s, ..JvmCounters::default() });
                    sample.server = Some(ServerUse {
                        cpu_s: cpu_s * sample.length_s,
                        jvm: Some(JvmUse { counters, gc: None }),
                        ..ServerUse::default()
                    });
                }
            }
            record
        };
        let reported = [(Severity::Warning, "on".to_owned())];
        assert_eq!(found(rule, &compiling(0.15, 1.6)), []);
        assert_eq!(found(rule, &compiling(0.17, 1.6)), reported);
        assert_eq!(found(rule, &compiling(0.04, 0.1)), [], "too little to matter");
        let mut record = compiling(0.17, 1.6);
        record.plan.mode = Mode::Quick;
        assert_eq!(found(rule, &record), []);
        // Launches that failed, and two of them, say nothing.
        let mut record = compiling(0.17, 1.6);
        record.trials.iter_mut().filter(|trial| trial.variant == 1).skip(4).for_each(fixture::fail);
        assert_eq!(found(rule, &record), []);
    }

    #[test]
    fn at_a_rate_it_is_service_time_that_trends() {
        let mut record = fixture::open(5, 0.0);
        assert_eq!(found(rule, &record), []);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            for sample in trial.cells.iter_mut().flat_map(|cell| &mut cell.samples[..2]) {
                sample.service = Histogram::new();
                (0..1_000).for_each(|_| sample.service.record(1_200));
            }
        }
        assert_eq!(found(rule, &record), [(Severity::Warning, "on".to_owned())]);
        // A ramp may well make it slower.
        for cell in &mut record.plan.cells {
            let ramp = Profile::through([(1_000.0, Duration::from_secs(4))], Spacing::Even);
            cell.shape.arrivals = Arrivals::Open(ramp);
        }
        assert_eq!(found(rule, &record), []);
    }

    /// A run of 100/s but for a part of it, which has another rate.
    fn partly(length: usize, part: Range<usize>, rate: u64) -> ImportedRun {
        let mut run = imported(length, 100);
        run.intervals[part].iter_mut().for_each(|interval| interval.good = rate);
        run
    }

    fn found_in(run: &ImportedRun) -> Option<Finding> {
        of_import(&Imported { run, levels: &levels(run), hosts: &[] })
    }

    #[test]
    fn a_level_that_is_left_early_in_a_long_run_was_none() {
        let is_found = |length: usize, fall: usize| found_in(&partly(length, fall..length, 50)).is_some();
        assert!(is_found(3_600, 600));
        assert!(!is_found(3_600, 1_200), "it held for a while");
        assert!(!is_found(1_200, 600), "the run is short");
        assert!(!is_found(3_600, 3_600));
    }

    #[test]
    fn a_level_that_the_rest_of_the_run_hardly_differs_from_was_one() {
        let found = found_in(&partly(3_600, 600..3_600, 92)).unwrap();
        assert_eq!(values(&found)[1], "100 | 92.0");
        assert!(found_in(&partly(3_600, 600..3_600, 109)).is_some(), "faster is not steady either");
        let back = partly(3_600, 600..1_200, 92);
        assert_eq!((levels(&back).len(), found_in(&back)), (3, None), "it left its level, and came back");
    }
}
