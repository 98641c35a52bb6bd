//! What was measured: stored as it comes, read again by every later analysis.

use serde::{Deserialize, Serialize};

use crate::{
    BASELINE, CellIndex, HostFacts, Metric, Names, Plan, ProfilingRun, ProfilingSkipped, SoakRecord, Study,
    TrialRecord, VariantIndex, WarmUpLength,
};

/// Everything known about one run of a study: the analysis reads nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyRecord {
    /// Name of the run, such as `2026-01-31-gocd-3f9a`.
    pub run: String,
    /// Version of bakeoff that measured.
    pub version: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The study as it was then.
    pub study: Study,
    /// The plan.
    pub plan: Plan,
    /// The machine.
    pub host: HostFacts,
    /// The warm-up length in force once known.
    pub warm_up_length: Option<WarmUpLength>,
    /// How many blocks are used at most (spare ones apart): fixed once the time of a block is known, before any difference is looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u32>,
    /// Trials that ended, in the order they ran.
    pub trials: Vec<TrialRecord>,
    /// Profiling runs that ended: at most one of each variant, no part of any verdict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiling_runs: Vec<ProfilingRun>,
    /// Why they were not made although they were wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiling_skipped: Option<ProfilingSkipped>,
    /// Soaks, ended or not: at most one of each variant, in a run that is nothing else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub soaks: Vec<SoakRecord>,
}

impl StudyRecord {
    /// How many blocks are used at most, as far as it is fixed: by the horizon, before that by the plan.
    pub fn most_blocks(&self) -> u32 {
        self.horizon.unwrap_or(self.plan.schedule.max_blocks)
    }

    /// The names of a variant and of the baseline.
    pub fn compared(&self, variant: VariantIndex) -> [&str; 2] {
        [variant, BASELINE].map(|index| self.study.variants[index].name.as_str())
    }

    /// What its variants and cells are called.
    pub fn names(&self) -> Names {
        Names {
            variants: self.study.variants.iter().map(|variant| variant.name.clone()).collect(),
            cells: self.plan.cells.iter().map(|cell| cell.name(&self.study.workloads)).collect(),
        }
    }

    /// The cell that decides; `None` where the primary metric is of all cells together, or of the launch.
    pub fn deciding_cell(&self) -> Option<CellIndex> {
        self.cell_of(self.study.decide.primary, self.study.decide.cell.as_deref())
    }

    /// The cell that a metric is taken of where the study names this one; `None` for all together, which are that one where there is
    /// no other. A cell that the plan does not have is taken for all.
    pub fn cell_of(&self, metric: Metric, name: Option<&str>) -> Option<CellIndex> {
        let cells = &self.plan.cells;
        let name = name.filter(|_| metric.is_per_cell() && cells.len() > 1)?;
        cells.iter().position(|cell| cell.name(&self.study.workloads) == name)
    }
}
