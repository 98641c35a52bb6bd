//! A server that is ready, as every phase has it.

use std::time::{Duration, Instant};

use load::{LoadError, Target};
use model::assertion::Assertion;
use model::{Failed, Phase, Setting};
use server::Running;

use super::error::TrialError;
use super::evidence::Evidence;
use super::launch::{Launch, Purpose};
use super::services::Services;

/// How long a server that failed may take to end by itself.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A server that is ready, its launch and what runs beside it. Nothing here changes from phase to phase.
pub(super) struct LiveServer<'l> {
    pub launch: &'l Launch<'l>,
    pub server: &'l Running,
    pub services: &'l Services,
    pub target: Target,
    /// When it became ready.
    pub ready: Instant,
}

impl<'l> LiveServer<'l> {
    /// A server that has just become ready.
    pub fn new(launch: &'l Launch<'l>, server: &'l Running, services: &'l Services) -> Self {
        Self { launch, server, services, target: Target::from(server.address()), ready: Instant::now() }
    }

    /// The settings that the process has.
    pub fn settings(&self) -> Vec<Setting> {
        self.server.read_back(&self.launch.requested(), &self.launch.requested_of_others())
    }

    /// Reads the study's assertions that belong before, or after, the loads: all of them, or there is no trial. `evidence` says how many
    /// requests were answered until now.
    pub fn check_assertions(&self, after: bool, evidence: &Evidence) -> Result<Vec<Setting>, TrialError> {
        let Launch { prepared, purpose, variant, .. } = self.launch;
        // A pilot measures nothing after which something could be read.
        let is_pilot = matches!(purpose, Purpose::Trial(trial) if trial.cells.is_empty());
        let due = |assertion: &&Assertion| assertion.after == after && !(after && is_pilot);
        let counted = |assertion: &Assertion| match &assertion.answered[..] {
            [] => assertion.clone(),
            names => Assertion { expect: evidence.answered(names, &prepared.study.workloads), ..assertion.clone() },
        };
        let due = prepared.study.variants[*variant].assertions.iter().filter(due);
        let assertions: Vec<Assertion> = due.map(counted).collect();
        let checked = self
            .server
            .check_assertions(&assertions)
            .map_err(|error| self.launch.trial_error(Phase::Inspect, error.into()))?;
        self.launch.go_on()?;
        Ok(checked)
    }

    /// The server failed in this phase: with how it ended, where it did. One that is about to end may do so first: its last words
    /// may be why.
    pub fn failed(&self, phase: Phase, reason: String) -> TrialError {
        let ending = self.server.ending_within(LAST_WORDS);
        self.failed_for(phase, reason, ending.map(|ending| format!("the server ended by itself ({ending})")))
    }

    /// The server ended by itself under load.
    pub fn died(&self, phase: Phase) -> TrialError {
        let ending = self.server.ending().map(|ending| format!(" ({ending})")).unwrap_or_default();
        self.failed_for(phase, format!("the server ended by itself under load{ending}"), None)
    }

    /// With what the kernel did to it meanwhile, which may be why.
    fn failed_for(&self, phase: Phase, reason: String, ending: Option<String>) -> TrialError {
        let reasons = [Some(reason), ending, self.server.killed()];
        let reason = reasons.into_iter().flatten().collect::<Vec<_>>().join("; ");
        TrialError::Variant(Failed { phase, reason, log_tail: self.server.log_tail() })
    }

    /// What it means that the client could not ask: a server that lets nobody set up is no server to measure.
    pub fn not_loaded(&self, phase: Phase, error: LoadError) -> TrialError {
        match error {
            LoadError::SetUp(_) | LoadError::Look(_) => {
                self.failed(phase, self.launch.prepared.launcher.mask(&error.to_string()))
            }
            error => error.into(),
        }
    }
}
