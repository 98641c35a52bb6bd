//! How a study is soaked.

use model::SoakPlan;
use model::study::{Soak, Workload};

use crate::cells::Cells;
use crate::file::{SoakKeys, StudyFile};
use crate::problem::{Problem, Problems};

/// What the keys mean, if there are any.
pub(crate) fn soak(file: &StudyFile, workloads: &[Workload], problems: &mut Problems) -> Option<Soak> {
    let SoakKeys { duration, cell } = file.soak.as_ref()?;
    if duration.value.0 < SoakPlan::shortest() {
        let shortest = SoakPlan::shortest().as_secs();
        problems.add(
            Problem::new("a soak this short says nothing")
                .at(duration.place, format!("less than {shortest} seconds"))
                .help("write a length such as \"4h\": what leaks slowly takes hours to be seen"),
        );
    }
    if let Some(cell) = cell {
        let cells = Cells::of(file, workloads);
        cells.exists(cell, problems);
        if cells.called(Some(cell)).any(|(_, shape)| !shape.arrivals.is_constant()) {
            problems.add(
                Problem::new(format!("`{}` is no load for hours", cell.value))
                    .at(cell.place, "it changes, and ends by itself")
                    .help("name a cell with `concurrency` or `rate`"),
            );
        }
    }
    Some(Soak { duration: duration.value.0, cell: cell.as_ref().map(|cell| cell.value.clone()) })
}
