//! Whether a record that came from elsewhere is whole: its parts name each other by index, and whoever reads it relies on that.

use std::collections::HashSet;

use crate::{StudyRecord, TrialRecord};

/// An index in a record.
struct Reference {
    /// Where it stands, as JSON has it.
    place: String,
    index: usize,
    /// How many there are of what it counts, and where these stand.
    of: (usize, &'static str),
}

impl StudyRecord {
    /// What in it refers to something that it does not have, by its place in JSON; `None` in whatever `bakeoff` has written.
    pub fn dangling(&self) -> Option<String> {
        if self.study.variants.is_empty() {
            return Some("study.variants is empty".to_owned());
        }
        let reported = |Reference { place, index, of: (count, what) }| {
            format!("{place} is {index}, and {what} has {count}, counted from 0")
        };
        let dangling = self.references().find(|reference| reference.index >= reference.of.0);
        dangling.map(reported).or_else(|| self.unplanned())
    }

    fn references(&self) -> impl Iterator<Item = Reference> {
        let Self { study, plan, trials, profiling_runs, soaks, .. } = self;
        let variants = (study.variants.len(), "study.variants");
        let workloads = (study.workloads.len(), "study.workloads");
        let cells = (plan.cells.len(), "plan.cells");
        let of_cells = plan.cells.iter().enumerate().map(move |(at, cell)| {
            let place = format!("plan.cells[{at}].workload");
            Reference { place, index: cell.workload, of: workloads }
        });
        let lists = [("plan.pilot", &plan.pilot), ("plan.blocks", &plan.blocks)];
        let planned = lists.into_iter().flat_map(|(list, blocks)| {
            blocks.iter().enumerate().flat_map(move |(block, trials)| {
                let numbered = trials.trials.iter().enumerate();
                numbered.map(move |(at, trial)| (format!("{list}[{block}].trials[{at}]"), trial))
            })
        });
        let of_planned = planned.flat_map(move |(place, trial)| {
            let variant = Reference { place: format!("{place}.variant"), index: trial.variant, of: variants };
            let measured = trial.cells.iter().enumerate().map(move |(at, cell)| {
                let place = format!("{place}.cells[{at}]");
                Reference { place, index: *cell, of: cells }
            });
            [variant].into_iter().chain(measured)
        });
        let of_trials = trials.iter().enumerate().flat_map(move |(at, trial)| {
            let variant = Reference { place: format!("trials[{at}].variant"), index: trial.variant, of: variants };
            let measured = trial.cells.iter().enumerate().map(move |(cell, measured)| {
                let place = format!("trials[{at}].cells[{cell}].cell");
                Reference { place, index: measured.cell, of: cells }
            });
            let answered = trial.answers.iter().enumerate().map(move |(answer, sample)| {
                let place = format!("trials[{at}].answers[{answer}].workload");
                Reference { place, index: sample.workload, of: workloads }
            });
            [variant].into_iter().chain(measured).chain(answered)
        });
        let of_profiling_runs = profiling_runs.iter().enumerate().map(move |(at, launch)| {
            let place = format!("profiling_runs[{at}].variant");
            Reference { place, index: launch.variant, of: variants }
        });
        let of_soaks = soaks.iter().enumerate().map(move |(at, soak)| {
            let place = format!("soaks[{at}].variant");
            Reference { place, index: soak.variant, of: variants }
        });
        let of_soak_plan = plan.soak.iter().flat_map(move |soak| {
            let cell = Reference { place: "plan.soak.cell".to_owned(), index: soak.cell, of: cells };
            let soaked = soak.variants.iter().enumerate().map(move |(at, variant)| {
                let place = format!("plan.soak.variants[{at}]");
                Reference { place, index: *variant, of: variants }
            });
            [cell].into_iter().chain(soaked)
        });
        of_cells.chain(of_planned).chain(of_trials).chain(of_profiling_runs).chain(of_soaks).chain(of_soak_plan)
    }

    /// The first trial that the plan does not have so, or that is there twice.
    fn unplanned(&self) -> Option<String> {
        let mut seen = HashSet::new();
        self.trials.iter().enumerate().find_map(|(at, trial)| {
            let TrialRecord { key, variant, .. } = trial;
            let blocks = if key.pilot { &self.plan.pilot } else { &self.plan.blocks };
            let planned = blocks.get(key.block as usize).and_then(|block| block.trials.get(key.position as usize));
            match planned {
                None => Some(format!("trials[{at}] is {key}, which the plan does not have")),
                Some(planned) if planned.variant != *variant => {
                    Some(format!("trials[{at}] is {key}, which the plan has for another variant"))
                }
                Some(_) => (!seen.insert(*key)).then(|| format!("trials[{at}] is {key}, as another one is")),
            }
        })
    }
}
