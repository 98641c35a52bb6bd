//! What a launch has shown so far. Each phase hands it on to the next with its own part added; a phase that fails hands it over as it is.

use indexmap::IndexMap;
use model::assertion::Expected;
use model::profiling::Observation;
use model::{AnswerSample, CellRecord, FailedTearDowns, LaunchFacts, Sample, Setting, WarmUpRecord, sample};

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
    /// What loads sent, by the scenarios' steps.
    pub loaded: IndexMap<String, SentCounts>,
    /// Requests that loads had sent and did not wait for when they were over.
    pub abandoned: u64,
    pub service_logs: IndexMap<String, String>,
}

/// Requests that were sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SentCounts {
    /// Those that were answered well.
    good: u64,
    /// All others: the server may have carried them out.
    unknown: u64,
}

/// What a load left behind.
#[derive(Default)]
pub(super) struct LeftBehind {
    pub failed_tear_downs: Option<FailedTearDowns>,
    /// Requests that were sent and not waited for when it was over.
    pub abandoned: u64,
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

    /// Adds what one more load came to, its samples apart. A load of `several` workloads puts their numbers before the names of steps:
    /// `2/order`.
    pub fn add_load(&mut self, samples: &[Sample], left: LeftBehind, several: bool) {
        match (&mut self.failed_tear_downs, left.failed_tear_downs) {
            (Some(before), Some(failed)) => before.users += failed.users,
            (none @ None, failed) => *none = failed,
            (Some(_), None) => {}
        }
        self.abandoned += left.abandoned;
        for sample in samples {
            self.add_steps(sample, several);
        }
    }

    /// Counts what a sample has of each step.
    pub fn add_steps(&mut self, sample: &Sample, several: bool) {
        for (name, step) in sample.walked.iter().flat_map(|walked| &walked.steps) {
            let own = name.split_once('/').filter(|_| several).map_or(name.as_str(), |(_, own)| own);
            let counts = self.loaded.entry(own.to_owned()).or_default();
            counts.good += step.tally.good;
            let sent = step.tally.failures.iter().filter(|(failure, _)| failure.was_sent());
            counts.unknown += sent.map(|(_, count)| count).sum::<u64>();
        }
    }

    /// How many requests of these steps were answered well until now, in loads and one by one: so many a server has carried out, or as
    /// many more as were sent without a good answer.
    pub fn answered(&self, steps: &[String]) -> Expected {
        let mut counts = SentCounts { good: 0, unknown: self.abandoned };
        for answer in &self.answers {
            if answer.step.as_ref().is_some_and(|step| steps.contains(step)) {
                *(if answer.unmet.is_empty() { &mut counts.good } else { &mut counts.unknown }) += 1;
            }
        }
        for step in steps.iter().filter_map(|step| self.loaded.get(step)) {
            counts.good += step.good;
            counts.unknown += step.unknown;
        }
        Expected::count(counts.good, counts.unknown)
    }

    /// Whether any request that was measured failed.
    pub fn has_failed_requests(&self) -> bool {
        self.cells.iter().any(|cell| sample::tally(cell.whole()).failed() > 0)
    }
}
