//! Whether profiling runs are made, and for how long each watches.

use std::time::Duration;

use model::study::Runtime;
use model::{Cell, Mode, Study, StudyRecord};

/// Least and most time for which a server is watched: enough for rare things to show, and for a recording to stay readable.
const WINDOW: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(30)];

/// Whether profiling runs are made where the command line says nothing: as the study says; else in full runs where a
/// variant runs on something that can report about itself.
pub fn wants_profiling(study: &Study, mode: Mode) -> bool {
    let tells = |runtime: &Runtime| !matches!(runtime, Runtime::Command { .. });
    let can = || study.variants.iter().any(|variant| tells(&variant.server.runtime));
    study.profiling.unwrap_or_else(|| mode == Mode::Full && can())
}

/// How long a server is watched: as long as a launch measures.
pub fn profiling_window(record: &StudyRecord) -> Duration {
    window(&record.plan.cells, record.plan.schedule.measure)
}

/// The same of these cells, where those whose load does not end by itself are measured for so long.
pub fn window(cells: &[Cell], measure: Duration) -> Duration {
    cells.iter().map(|cell| cell.length(measure)).sum::<Duration>().clamp(WINDOW[0], WINDOW[1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

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
}
