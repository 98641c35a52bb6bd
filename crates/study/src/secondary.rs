//! What a study has judged beside its primary metric.

use model::Metric;
use model::study::Secondary;

use crate::cells::Cells;
use crate::file::StudyFile;
use crate::problem::{Problem, Problems};
use crate::value::At;

/// The secondary metrics of a study that `primary` decides, in their order.
pub(crate) fn secondary(file: &StudyFile, cells: &Cells, primary: Metric, problems: &mut Problems) -> Vec<Secondary> {
    let decides = Secondary { metric: primary, cell: cells.own(primary, file.decide.cell.as_ref()) };
    let mut all: Vec<Secondary> = Vec::new();
    for (index, written) in file.decide.secondary.iter().enumerate() {
        let metric = At { value: written.metric, place: written.place };
        // A metric of the whole launch has no cell, whatever decides.
        let common = file.decide.cell.as_ref().filter(|_| metric.is_per_cell());
        let cell = written.cell.as_ref().or(common);
        let one = Secondary { metric: metric.value, cell: cells.own(metric.value, cell) };
        let before = all.iter().position(|other| *other == one);
        if one == decides {
            let mut problem = Problem::new(format!("`{}` decides the study already", metric.value))
                .at(written.place, "the primary metric");
            if let Some(primary) = &file.decide.primary {
                problem = problem.at(primary.place, "decides");
            }
            problems
                .add(problem.help("remove it from `secondary`, or name a cell with it: `{ metric = …, cell = … }`"));
        } else if let Some(before) = before {
            problems.add(
                Problem::new(format!("`{}` is a secondary metric twice", metric.value))
                    .at(file.decide.secondary[before].place, "first here")
                    .at(written.place, "and again here")
                    .help(format!("remove number {} of `secondary`: what is judged once is judged", index + 1)),
            );
        } else {
            cells.can_judge(file, &metric, cell, problems);
        }
        all.push(one);
    }
    all
}
