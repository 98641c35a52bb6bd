//! What a server needs beside it, while a launch runs.

use std::time::Duration;

use indexmap::IndexMap;
use model::study::Service;
use model::{Failed, Phase};
use server::{Paused, ProcessTree, Running, SuperviseError};

use super::error::TrialError;

/// The services of a launch that run, in starting order. Dropping them ends them.
#[derive(Default)]
pub(super) struct Services(Vec<(String, Running, Duration)>);

impl Services {
    pub fn add(&mut self, service: &Service, running: Running) {
        self.0.push((service.name.clone(), running, service.stop_within));
    }

    /// What they use, for distinguishing it from others' use of the host; `None` where there are none.
    pub fn trees(&self) -> Option<Vec<ProcessTree>> {
        (!self.0.is_empty()).then(|| self.0.iter().map(|(_, running, _)| running.tree()).collect())
    }

    /// Stops all of them until the result is dropped.
    pub fn pause(&self) -> Vec<Paused> {
        self.0.iter().map(|(_, running, _)| running.pause()).collect()
    }

    /// The first that has ended although nobody ended it. A process that goes to the background and serves on has not.
    pub fn ended(&self, phase: Phase) -> Option<Failed> {
        let (name, running, _) = self.0.iter().find(|(_, running, _)| running.has_ended())?;
        let last = running.last_words().map(|last| format!(": {last}")).unwrap_or_default();
        let exit = running.exit().map(|exit| format!(" ({exit})")).unwrap_or_default();
        let reason = format!("service {name} ended by itself{exit}{last}. Its log: {}", running.facts().log.display());
        Some(Failed { phase, reason, log_tail: running.log_tail() })
    }

    /// What came of something, unless one of them has ended meanwhile: without it nothing is what was to be measured. `phase` is when
    /// that was noticed, where nothing else failed.
    pub fn unless_ended(&self, phase: Phase, came: Result<(), TrialError>) -> Result<(), TrialError> {
        if let Ok(()) | Err(TrialError::Variant(_)) = came
            && let Some(mut failed) = self.ended(phase)
        {
            if let Err(TrialError::Variant(Failed { phase, reason, .. })) = came {
                failed.phase = phase;
                if reason != failed.reason {
                    failed.reason = format!("{}. Beside that: {reason}", failed.reason);
                }
            }
            return Err(TrialError::Variant(failed));
        }
        came
    }

    /// The last lines that each has written, by name.
    pub fn logs(&self) -> IndexMap<String, String> {
        let written = self.0.iter().map(|(name, running, _)| (name.clone(), running.log_tail()));
        written.filter(|(_, tail)| !tail.is_empty()).collect()
    }

    /// Ends them, the last one first, whatever comes of it; says the first fault.
    pub fn stop(self) -> Result<(), SuperviseError> {
        let stopped = self.0.into_iter().rev().map(|(_, running, within)| running.stop(within).map(drop));
        stopped.fold(Ok(()), Result::and)
    }
}
