//! What happens during a run, for whoever watches it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::plan::Trial;
use model::{
    CellIndex, Effect, FailedTearDowns, Outlook, Phase, ProfilingRun, ProfilingSkipped, SoakRecord, StudyRecord,
    TrialRecord, VariantIndex, WarmUpLength,
};

/// Something happened. Events come in order, from one thread.
#[derive(Debug)]
pub enum Event<'a> {
    /// A run begins, or goes on with the trials that `record` has.
    Began {
        /// The record so far.
        record: &'a StudyRecord,
        /// Least and most time that is left by the plan.
        left: Range<Duration>,
    },
    /// A trial begins.
    TrialBegan(&'a Trial),
    /// Launches go one after another although the study would have them side by side: why.
    FellBack(&'a str),
    /// Something that may take minutes is done before the first trial.
    Preparing(&'a str),
    /// A part of the trial begins.
    PhaseBegan {
        /// Which part.
        phase: Phase,
        /// The cell that is measured.
        cell: Option<CellIndex>,
    },
    /// About once a second under load.
    Progressed {
        /// Whose load.
        variant: VariantIndex,
        /// Good answers per second.
        rate: f64,
        /// Requests that failed in this second.
        failed: u64,
    },
    /// Users of a load could not go through their tear-down.
    TearDownsFailed(&'a FailedTearDowns),
    /// A trial ended and is stored.
    TrialEnded {
        /// What it gave.
        trial: &'a TrialRecord,
        /// Least and most time that is left by the plan, at the pace so far.
        left: Range<Duration>,
    },
    /// The pilot has decided the warm-up length.
    WarmUpLengthFixed(WarmUpLength),
    /// A block is complete and the interval was looked at, for each variant but the baseline.
    Looked(&'a [Option<Effect>]),
    /// What it will take to see what the study cares about, as far as is known by now.
    Foreseen(&'a Outlook),
    /// A block was excluded; another one takes its place.
    Excluded {
        /// Its index in the plan.
        block: u32,
        /// What disturbed the host.
        reason: &'a str,
    },
    /// How many blocks are used at most.
    HorizonFixed {
        /// So many.
        blocks: u32,
        /// The time that is set aside for profiling runs: none where blocks need all of it; absent where no profiling is wanted.
        aside: Option<Duration>,
    },
    /// A variant is launched once more, to be watched.
    ProfilingBegan {
        /// Which.
        variant: VariantIndex,
    },
    /// That launch ended and is stored.
    ProfilingEnded(&'a ProfilingRun),
    /// Nothing is launched to be watched, although that was wanted.
    ProfilingSkipped(&'a ProfilingSkipped),
    /// A variant is launched to be soaked.
    SoakBegan {
        /// Which.
        variant: VariantIndex,
        /// What it and those after it take.
        left: Duration,
    },
    /// What a soak shows cannot be stored at the moment, and is kept until it can be: why.
    SoakNotStored(&'a str),
    /// A soak ended, well or not, and is stored.
    SoakEnded(&'a SoakRecord),
    /// The run ended.
    Ended(&'a Ending),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The question was answered, or cannot be.
    Finished(analysis::Stop),
    /// The time allowed has no room for another block.
    Budget(Duration),
    /// Every variant that was to be soaked has been.
    Soaked,
    /// By Ctrl-C or TERM.
    Interrupted,
}

/// Someone who watches a run.
pub trait Watcher: Send {
    /// Sees one event.
    fn see(&mut self, event: &Event);
}

/// Passes events of launches on to who watches the run. Launches of a block take turns, and so do their events.
pub trait Relay: Sync {
    /// Passes one on.
    fn pass_on(&self, event: &Event);
}

impl Relay for Mutex<&mut (dyn Watcher + '_)> {
    fn pass_on(&self, event: &Event) {
        self.lock().unwrap_or_else(PoisonError::into_inner).see(event);
    }
}

/// Watches nothing.
#[derive(Debug)]
pub struct Silent;

impl Watcher for Silent {
    fn see(&mut self, _: &Event) {}
}
