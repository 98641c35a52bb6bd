//! What a launch has shown so far. Each phase hands it on to the next with its own part added; a phase that fails hands it over as it is.

use indexmap::IndexMap;
use model::profiling::Observation;
use model::{AnswerSample, CellRecord, FailedTearDowns, LaunchFacts, Setting, WarmUpRecord, sample};

use super::error::TrialError;

/// What a launch has shown so far.
#[derive(Default)]
pub(super) struct Evidence {
    pub launch: Option<LaunchFacts>,
    pub settings: Vec<Setting>,
    pub answers: Vec<AnswerSample>,
    pub warm_up: Option<WarmUpRecord>,
    pub cells: Vec<CellRecord>,
    pub observation: Option<Observation>,
    pub whole_heap_bytes: [Option<u64>; 2],
    pub oom_kills: u64,
    pub failed_tear_downs: Option<FailedTearDowns>,
    pub service_logs: IndexMap<String, String>,
}

/// A launch that ended before its time: why, and what it had shown until then.
pub(super) struct CutShort {
    pub why: TrialError,
    pub evidence: Evidence,
}

/// What a phase hands on: to the next phase or, where it failed, to the launch's end.
pub(super) type PhaseResult<T> = Result<T, Box<CutShort>>;

impl Evidence {
    /// Goes on with what something came to, or ends here.
    pub fn then<T>(self, came: Result<T, TrialError>) -> PhaseResult<(Self, T)> {
        match came {
            Ok(value) => Ok((self, value)),
            Err(why) => Err(Box::new(CutShort { why, evidence: self })),
        }
    }

    /// Adds users of one more load whose tear-down failed.
    pub fn add_failed_tear_downs(&mut self, failed: Option<FailedTearDowns>) {
        match (&mut self.failed_tear_downs, failed) {
            (Some(before), Some(failed)) => before.users += failed.users,
            (none @ None, failed) => *none = failed,
            (Some(_), None) => {}
        }
    }

    /// Whether any request that was measured failed.
    pub fn has_failed_requests(&self) -> bool {
        self.cells.iter().any(|cell| sample::tally(cell.whole()).failed() > 0)
    }
}
