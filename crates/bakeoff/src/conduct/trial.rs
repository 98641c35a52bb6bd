//! One trial: one launch of one variant, and what the host did around it.

use std::path::PathBuf;

use jiff::Timestamp;
use model::plan::Trial;
use model::{HostUse, TrialRecord};
use server::{HostSampler, Memory, Others};

use super::error::ConductError;
use super::evidence::Evidence;
use super::launch::{Launch, Purpose, Run};
use super::lifetime::LaunchEnd;
use super::prepared::Prepared;

/// What the host does around launches, from when it is made.
pub(super) struct Surroundings {
    canary_before: u64,
    others: Others,
    host: HostSampler,
    own_before: f64,
    memory: Option<Memory>,
}

impl Surroundings {
    pub fn begin() -> Self {
        let canary_before = server::canary_ns();
        let (others, host, own_before) = (Others::new(), HostSampler::new(), server::own_cpu_s());
        Self { canary_before, others, host, own_before, memory: server::memory() }
    }

    /// The host's use since then, and the canary before and after. All that was launched has ended and been waited for: its CPU time
    /// is counted as ours.
    pub fn end(mut self) -> (HostUse, [u64; 2]) {
        let noisy_neighbour = self.others.busiest().into_iter().next();
        let swapped = |before: Memory| Some(server::memory()?.swapped.saturating_sub(before.swapped));
        let swapped_bytes = self.memory.and_then(swapped);
        let host =
            HostUse { noisy_neighbour, swapped_bytes, ..self.host.sample(server::own_cpu_s() - self.own_before) };
        (host, [self.canary_before, server::canary_ns()])
    }
}

impl Prepared<'_> {
    /// Runs one trial to its end. What the host did meanwhile is left to the caller.
    pub fn run<'a>(&'a self, trial: &'a Trial, run: Run<'a>) -> Result<LaunchEnd<TrialRecord>, ConductError> {
        let started = Timestamp::now().to_string();
        let folder = self.trial_folder(trial);
        let launch = Launch { prepared: self, purpose: Purpose::Trial(trial), variant: trial.variant, run, folder };
        launch.over(|outcome, evidence| {
            let Evidence {
                launch, settings, answers, warm_up, cells, oom_kills, failed_tear_downs, service_logs, ..
            } = evidence;
            TrialRecord {
                key: trial.key,
                variant: trial.variant,
                started,
                outcome,
                launch,
                settings,
                answers,
                warm_up,
                cells,
                host: HostUse::default(),
                canary_ns: [0; 2],
                oom_kills,
                failed_tear_downs,
                service_logs,
            }
        })
    }

    /// Where a trial leaves its logs: `block-03-1`, `pilot-01-2`.
    fn trial_folder(&self, trial: &Trial) -> PathBuf {
        let kind = if trial.key.pilot { "pilot" } else { "block" };
        self.folder.join(format!("{kind}-{:02}-{}", trial.key.block + 1, trial.key.position + 1))
    }
}
