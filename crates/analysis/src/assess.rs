//! What is known of a run at one step: worked out once, and read by all that is asked of it.

use std::cell::OnceCell;

use model::{ChangedSeries, Effect, Finding, StudyRecord};

use crate::audit;
use crate::blocks::{self, BlockState};
use crate::boundaries::Boundaries;
use crate::compare::{BASELINE, Primary};
use crate::next::{self, Next, Stop};
use crate::regimes;
use crate::sequential::Decision;

/// A record with its blocks' fates and what follows from them. What takes long, or is seldom asked for, is worked out when it is first
/// asked for.
#[derive(Debug)]
pub struct Assessment<'a> {
    /// What is stored.
    pub record: &'a StudyRecord,
    /// Of the sequential test, and for rules that compare sides.
    pub(crate) boundaries: &'a Boundaries,
    /// The measured blocks, and which of them are used.
    pub(crate) blocks: Vec<BlockState>,
    settled: OnceCell<Vec<Option<(Effect, Decision)>>>,
    lasting: OnceCell<Vec<Finding>>,
    next: OnceCell<Next>,
    changed: OnceCell<Vec<ChangedSeries>>,
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

    /// Where the study stands for each variant but the baseline: the first look that decided, else the latest; `None` before the
    /// first look.
    pub(crate) fn settled(&self) -> &[Option<(Effect, Decision)>] {
        self.settled.get_or_init(|| {
            let primary = Primary::of(self.record);
            (BASELINE + 1..self.record.study.variants.len()).map(|variant| primary.settle(self, variant)).collect()
        })
    }

    /// The findings that no further block would lift.
    pub(crate) fn lasting(&self) -> &[Finding] {
        self.lasting.get_or_init(|| audit::lasting(self))
    }

    /// The launches whose speed changed while it was measured.
    pub(crate) fn changed(&self) -> &[ChangedSeries] {
        self.changed.get_or_init(|| regimes::changed(self.record))
    }

    /// What to do next.
    pub(crate) fn next(&self) -> &Next {
        self.next.get_or_init(|| next::decide(self))
    }

    /// Why the run has ended for good, so that resuming it would add nothing; `None` while it may go on.
    pub(crate) fn end(&self) -> Option<&Stop> {
        match self.next() {
            Next::Stop(stop) => Some(stop),
            Next::Run(_) | Next::FixWarmUpLength(_) | Next::FixHorizon(_) => None,
        }
    }
}
