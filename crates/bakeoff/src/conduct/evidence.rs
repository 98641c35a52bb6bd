//! What a launch has shown so far. Each phase hands it on to the next with its own part added; a phase that fails hands it over as it is.

use indexmap::IndexMap;
use model::assertion::Expected;
use model::profiling::Observation;
use model::study::Workload;
use model::{AnswerSample, CellRecord, FailedTearDowns, LaunchFacts, Sample, Setting, Tally, WarmUpRecord, sample};

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
    /// What loads sent, by the scenarios' steps; by the workload where it is a single request.
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

impl SentCounts {
    fn add(&mut self, tally: &Tally) {
        self.good += tally.good;
        let sent = tally.failures.iter().filter(|(failure, _)| failure.was_sent());
        self.unknown += sent.map(|(_, count)| count).sum::<u64>();
    }

    fn add_one(&mut self, is_good: bool) {
        *(if is_good { &mut self.good } else { &mut self.unknown }) += 1;
    }
}

/// What a load left behind.
#[derive(Default)]
pub(super) struct LeftBehind {
    pub failed_tear_downs: Option<FailedTearDowns>,
    /// Requests that were sent and not waited for when it was over.
    pub abandoned: u64,
}

/// Whose requests a load makes.
#[derive(Debug, Clone, Copy)]
pub(super) enum LoadOf<'s> {
    /// All workloads, mixed. Their numbers stand before the names of steps, `2/order`; requests without steps are nobody's.
    All,
    /// The workload of this name.
    One(&'s str),
}

impl<'s> LoadOf<'s> {
    /// A load of all of these.
    pub fn all(workloads: &'s [Workload]) -> Self {
        if let [only] = workloads { Self::One(&only.name) } else { Self::All }
    }

    /// Whose a step is: the part of its name that the study gave it.
    fn step(self, name: &str) -> &str {
        match self {
            Self::All => name.split_once('/').map_or(name, |(_, own)| own),
            Self::One(_) => name,
        }
    }
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

    /// Adds what one more load came to, its samples apart.
    pub fn add_load(&mut self, samples: &[Sample], left: LeftBehind, of: LoadOf<'_>) {
        match (&mut self.failed_tear_downs, left.failed_tear_downs) {
            (Some(before), Some(failed)) => before.users += failed.users,
            (none @ None, failed) => *none = failed,
            (Some(_), None) => {}
        }
        self.abandoned += left.abandoned;
        for sample in samples {
            self.add_sample(sample, of);
        }
    }

    /// Counts what a sample has of each step or, without steps, of its workload.
    pub fn add_sample(&mut self, sample: &Sample, of: LoadOf<'_>) {
        match (&sample.walked, of) {
            (Some(walked), of) => {
                for (name, step) in &walked.steps {
                    self.sent(of.step(name)).add(&step.tally);
                }
            }
            (None, LoadOf::One(workload)) => self.sent(workload).add(&sample.tally),
            (None, LoadOf::All) => {}
        }
    }

    /// Counts one request that was sent apart from all loads, of a workload that is a single request.
    pub fn add_request(&mut self, workload: &str, is_good: bool) {
        self.sent(workload).add_one(is_good);
    }

    fn sent(&mut self, name: &str) -> &mut SentCounts {
        self.loaded.entry(name.to_owned()).or_default()
    }

    /// How many requests of these steps, or of the workload of this name, were answered well until now, in loads and one by one: so many a
    /// server has carried out, or as many more as were sent without a good answer.
    pub fn answered(&self, names: &[String], workloads: &[Workload]) -> Expected {
        let mut counts = SentCounts { good: 0, unknown: self.abandoned };
        for answer in &self.answers {
            if names.contains(answer.step.as_ref().unwrap_or(&workloads[answer.workload].name)) {
                counts.add_one(answer.unmet.is_empty());
            }
        }
        for sent in names.iter().filter_map(|name| self.loaded.get(name)) {
            counts.good += sent.good;
            counts.unknown += sent.unknown;
        }
        Expected::count(counts.good, counts.unknown)
    }

    /// Whether any request that was measured failed.
    pub fn has_failed_requests(&self) -> bool {
        self.cells.iter().any(|cell| sample::tally(cell.whole()).failed() > 0)
    }
}
