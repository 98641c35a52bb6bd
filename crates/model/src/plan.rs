//! What will be run, in which order.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Shape;
use crate::study::{Launches, WarmUp, Workload};

/// Index into [`crate::Study::variants`].
pub type VariantIndex = usize;
/// Index into [`Plan::cells`].
pub type CellIndex = usize;

/// Index of the baseline among the variants.
pub const BASELINE: VariantIndex = 0;

/// The whole schedule, written down before anything runs. The same study, mode and seed give the same plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Seed of every random choice in it.
    pub seed: u64,
    /// Full or quick.
    pub mode: Mode,
    /// The cells measured in every trial.
    pub cells: Vec<Cell>,
    /// Blocks that only warm up, to find the warm-up length; empty when the warm-up length is fixed, and side by side, where the first block finds it.
    pub pilot: Vec<Block>,
    /// Blocks that measure: as many as may be used, and spare ones for those that are excluded.
    pub blocks: Vec<Block>,
    /// Lengths and limits.
    pub schedule: Schedule,
    /// Why launches go one after another although the study would have them side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// What is soaked: then nothing is compared, and there are no blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<SoakPlan>,
}

/// Whether a run can support all claims or only rough ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// As the study says.
    Full,
    /// Short: large effects only, and nothing about long-run speed.
    Quick,
}

/// Lengths and limits of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// How the launches of a block share the host.
    pub launches: Launches,
    /// How the warm-up ends.
    pub warm_up: WarmUp,
    /// Measurement of one cell whose load does not end by itself.
    pub measure: Duration,
    /// Blocks before any verdict.
    pub min_blocks: u32,
    /// Blocks that are used at most (spare blocks apart).
    pub max_blocks: u32,
    /// Blocks that may be excluded because the host was disturbed.
    pub spare_blocks: u32,
    /// The time that the run may take, from its first launch on: it says how many of the blocks are used at most.
    pub within: Duration,
    /// Whether each variant is launched once more at the end and profiled. The time for it is set aside, as far as the least number of
    /// blocks leaves any.
    pub profiling: bool,
}

/// What is soaked, how, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoakPlan {
    /// How long each variant is loaded after its warm-up.
    pub duration: Duration,
    /// The load.
    pub cell: CellIndex,
    /// The variants, one after another.
    pub variants: Vec<VariantIndex>,
    /// How long a window is: what was seen in it is stored as one, whole seconds.
    pub window_s: u32,
}

impl SoakPlan {
    /// Fewest windows of which anything can be said: a third of them is the least that has a trend.
    pub const FEWEST_WINDOWS: u32 = 60;
    /// Most windows of a soak that is not cut short: they bound what is kept of it.
    pub const MOST_WINDOWS: u32 = 1_000;
    /// Lengths of a window, seconds: what people can read off an axis.
    const LENGTHS_S: [u32; 9] = [1, 2, 5, 10, 15, 30, 60, 120, 300];

    /// The length of the windows of a soak that takes so long: the shortest that makes no more than [`Self::MOST_WINDOWS`] of it.
    pub fn window_of(duration: Duration) -> u32 {
        let least = duration.as_secs().div_ceil(Self::MOST_WINDOWS.into());
        let fits = |length: &u32| u64::from(*length) >= least;
        Self::LENGTHS_S.into_iter().find(fits).unwrap_or_else(|| u32::try_from(least).unwrap_or(u32::MAX))
    }

    /// The shortest soak of which anything can be said.
    pub fn shortest() -> Duration {
        Duration::from_secs(Self::FEWEST_WINDOWS.into())
    }
}

/// One launch of every variant, near in time, in random balanced order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Its trials in running order.
    pub trials: Vec<Trial>,
}

/// One launch of one variant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// Where it stands in the plan.
    pub key: TrialKey,
    /// What is launched.
    pub variant: VariantIndex,
    /// Order in which the cells are measured: the same for every variant of a block. Empty in a pilot.
    pub cells: Vec<CellIndex>,
}

/// A trial's place in its plan; unique within a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct TrialKey {
    /// Whether it belongs to [`Plan::pilot`] rather than to [`Plan::blocks`].
    pub pilot: bool,
    /// Index of its block there.
    pub block: u32,
    /// Index in the block's running order.
    pub position: u32,
}

impl fmt::Display for TrialKey {
    /// Counts from one, as people do: `block 3, trial 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.pilot { "pilot" } else { "block" };
        write!(f, "{kind} {}, trial {}", self.block + 1, self.position + 1)
    }
}

/// A workload under one load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Index into [`crate::Study::workloads`].
    pub workload: usize,
    /// The load.
    pub shape: Shape,
}

impl Cell {
    /// Those of all workloads, in their order.
    pub fn all(workloads: &[Workload]) -> Vec<Self> {
        let of_workload = |(workload, asked): (usize, &Workload)| -> Vec<Self> {
            asked.shapes.iter().map(|shape| Self { workload, shape: shape.clone() }).collect()
        };
        workloads.iter().enumerate().flat_map(of_workload).collect()
    }

    /// The name of the cell in study files and reports: `pages@20`, `pages@300/s`, `pages@stages`, `pages@limit`.
    pub fn name(&self, workloads: &[Workload]) -> String {
        let workload = workloads.get(self.workload).map_or("?", |workload| workload.name.as_str());
        format!("{workload}@{}", self.shape.name())
    }

    /// How long it is measured, where that is `measure` for loads that do not end by themselves; a search at most.
    pub fn length(&self, measure: Duration) -> Duration {
        match &self.shape.find_limit {
            Some(find) => find.longest(measure),
            None => self.shape.arrivals.length().unwrap_or(measure),
        }
    }
}

/// The warm-up length in force, decided by the pilot or fixed by the study; the same for every variant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUpLength {
    /// Warm-up before measuring, seconds.
    pub seconds: f64,
    /// Whether a pilot saw every variant steady within it.
    pub established: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_are_kept_in_at_most_a_thousand_windows() {
        let window = |seconds| SoakPlan::window_of(Duration::from_secs(seconds));
        assert_eq!([60, 1_000, 1_001, 3_600, 14_400, 86_400, 604_800].map(window), [1, 1, 2, 5, 15, 120, 605]);
    }
}
