//! What is known of a run at one step: worked out once, and read by all that is asked of it.

use std::cell::OnceCell;

use model::{ChangedSeries, Effect, Finding, StudyRecord};

use crate::blocks::{self, BlockState, BlockStatus};
use crate::boundaries::Boundaries;
use crate::sequential::Decision;
use crate::step::Next;

/// A record with its blocks' statuses and what follows from them. What takes long, or is seldom asked for, is worked out when it is first
/// asked for.
#[derive(Debug)]
pub struct Assessment<'a> {
    /// What is stored.
    pub record: &'a StudyRecord,
    /// Of the sequential test, and for rules that compare sides.
    pub(crate) boundaries: &'a Boundaries,
    /// The measured blocks, and which of them are used.
    pub(crate) blocks: Vec<BlockState>,
    /// Filled by [`settled`](crate::compare::settled).
    pub(crate) settled: OnceCell<Vec<Option<(Effect, Decision)>>>,
    /// Filled by [`lasting`](crate::audit::lasting).
    pub(crate) lasting: OnceCell<Vec<Finding>>,
    /// Filled by [`next_step`](crate::next_step).
    pub(crate) next: OnceCell<Next>,
    /// Filled by [`changed`](crate::regimes::changed).
    pub(crate) changed: OnceCell<Vec<ChangedSeries>>,
}

/// Assesses a record, finished or not, by the boundaries of its study.
pub fn assess<'a>(record: &'a StudyRecord, boundaries: &'a Boundaries) -> Assessment<'a> {
    Assessment {
        record,
        boundaries,
        blocks: blocks::blocks(record),
        settled: OnceCell::new(),
        lasting: OnceCell::new(),
        next: OnceCell::new(),
        changed: OnceCell::new(),
    }
}

impl Assessment<'_> {
    /// How many blocks count.
    pub(crate) fn used(&self) -> usize {
        blocks::used(&self.blocks).count()
    }

    /// The blocks that the verdict is made of: those that count, at most as many as the horizon, once it is fixed.
    pub(crate) fn counted(&self) -> impl Iterator<Item = u32> + '_ {
        blocks::used(&self.blocks).take(self.record.most_blocks() as usize)
    }
}

/// The blocks that were excluded so far: their indices in the plan, and what disturbed each.
pub fn excluded(assessment: &Assessment) -> Vec<(u32, String)> {
    let excluded = assessment.blocks.iter().filter(|block| block.status == BlockStatus::Excluded);
    excluded.map(|block| (block.index, block.disturbances.join("; "))).collect()
}
