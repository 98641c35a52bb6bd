//! Which profiling runs are made, and how long each takes.

use std::time::Duration;

use model::study::Runtime;
use model::{Cell, Mode, ProfilingSkipped, Study, StudyRecord, VariantIndex};

use crate::assess::Assessment;
use crate::audit;
use crate::next::{self, Stop};
use crate::pace;

/// Least and most time for which a server is watched: enough for rare things to show, and for a recording to stay readable.
const WINDOW: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(30)];

/// Whether profiling runs are made where the command line says nothing: as the study says; else in full runs where a
/// variant runs on something that can report about itself.
pub fn wants_profiling(study: &Study, mode: Mode) -> bool {
    let tells = |runtime: &Runtime| !matches!(runtime, Runtime::Command { .. });
    let can = || study.variants.iter().any(|variant| tells(&variant.server.runtime));
    study.profiling.unwrap_or_else(|| mode == Mode::Full && can())
}

/// The variants whose profiling run has not been made, of a run that ended so; or why none is made of it: what could not
/// be compared needs no explanation.
pub fn missing_profiling_runs(assessment: &Assessment, stop: &Stop) -> Result<Vec<VariantIndex>, ProfilingSkipped> {
    let record = assessment.record;
    let nothing = |stop: &Stop| Err(ProfilingSkipped::NothingToExplain { because: stop.to_string() });
    match stop {
        Stop::Hopeless { .. } | Stop::Vetoed { .. } => nothing(stop),
        Stop::Decided | Stop::Exhausted => {
            if let Some(vetoed) = next::veto(record, &audit::audit(assessment)) {
                return nothing(&vetoed);
            }
            let is_made = |variant| record.profiling_runs.iter().any(|made| made.variant == variant);
            Ok((0..record.study.variants.len()).filter(|variant| !is_made(*variant)).collect())
        }
    }
}

/// How long a server is watched: as long as a launch measures.
pub fn profiling_window(record: &StudyRecord) -> Duration {
    window(&record.plan.cells, record.plan.schedule.measure)
}

/// The same of these cells, where those whose load does not end by itself are measured for so long.
pub fn window(cells: &[Cell], measure: Duration) -> Duration {
    cells.iter().map(|cell| cell.length(measure)).sum::<Duration>().clamp(WINDOW[0], WINDOW[1])
}

/// About how long one profiling run takes, reading what was recorded included.
pub fn profiling_time(assessment: &Assessment) -> Duration {
    let record = assessment.record;
    pace::launch_time(assessment) + profiling_window(record)
}

#[cfg(test)]
mod tests {
    use model::Failure;

    use super::*;
    use crate::{Boundaries, assess, fixture};

    #[test]
    fn profiling_runs_are_made_where_a_runtime_can_be_profiled() {
        let mut record = fixture::record(5, 0.0);
        let wants = |record: &StudyRecord| wants_profiling(&record.study, record.plan.mode);
        assert!(!wants(&record), "a command tells nothing");
        record.study.variants[1].server.runtime =
            Runtime::Ruby { version: None, options: Vec::new(), script: "x".into() };
        assert!(wants(&record));
        record.plan.mode = Mode::Quick;
        assert!(!wants(&record), "a quick run ends quickly");
        record.study.profiling = Some(true);
        assert!(wants(&record));
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
            reported(&record, Stop::Vetoed { findings: vec![model::FindingId::new("confounded")] }),
            "there is nothing to explain: whatever the numbers say, the comparison is invalid: confounded"
        );
        assert_eq!(
            reported(&record, Stop::Hopeless { variant: "on".to_owned() }),
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
