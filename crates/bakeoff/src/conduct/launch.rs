//! What a launch is of and for.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use model::plan::Trial;
use model::study::{RequestedSetting, Variant};
use model::{CellIndex, Failed, Phase, StudyRecord, VariantIndex};
use server::{FailureCause, LaunchError};

use super::error::{ConductError, TrialError};
use super::event::{Event, Relay};
use super::prepared::Prepared;
use super::soaking::Soaking;
use super::turns::TurnHandle;

/// What a launch is for.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// A trial of the plan.
    Trial(&'a Trial),
    /// To be watched, not measured.
    Profiling,
    /// To be loaded for hours.
    Soak(&'a Soaking<'a>),
}

impl Purpose<'_> {
    /// The seed of what the loads draw, from the plan's: the same for all launches of a block, another in the next.
    pub fn seed(self, plan: u64) -> u64 {
        match self {
            Self::Trial(trial) => plan.wrapping_add(trial.key.block.into()),
            Self::Profiling | Self::Soak(_) => plan,
        }
    }
}

/// The run that a launch belongs to.
pub struct Run<'a> {
    /// What is stored of it so far.
    pub record: &'a StudyRecord,
    /// Raised by Ctrl-C.
    pub interrupted: &'a AtomicBool,
    /// Who watches.
    pub watcher: &'a dyn Relay,
    /// Its place among the launches of its block, where they take turns.
    pub seat: Option<TurnHandle<'a>>,
}

/// What a launch is of and for. Nothing here changes while it lives.
pub(super) struct Launch<'a> {
    pub prepared: &'a Prepared<'a>,
    pub purpose: Purpose<'a>,
    pub variant: VariantIndex,
    pub run: Run<'a>,
    /// Where it leaves its logs.
    pub folder: PathBuf,
}

impl Launch<'_> {
    /// All that the study asks of this variant's process: its treatment, and what all variants share.
    pub fn requested(&self) -> Vec<RequestedSetting> {
        requested_of(&self.prepared.study.variants[self.variant])
    }

    /// The same of each other variant.
    pub fn requested_of_others(&self) -> Vec<Vec<RequestedSetting>> {
        let variants = self.prepared.study.variants.iter().enumerate();
        variants.filter(|(index, _)| *index != self.variant).map(|(_, variant)| requested_of(variant)).collect()
    }

    /// What the levels of any variant ask for, each once.
    pub fn varied(&self) -> Vec<RequestedSetting> {
        let mut varied: Vec<RequestedSetting> = Vec::new();
        for requested in self.prepared.study.variants.iter().flat_map(|variant| &variant.treatment) {
            if !varied.contains(requested) {
                varied.push(requested.clone());
            }
        }
        varied
    }

    pub fn enter(&self, phase: Phase, cell: Option<CellIndex>) {
        self.run.watcher.pass_on(&Event::PhaseBegan { phase, cell });
    }

    pub fn go_on(&self) -> Result<(), TrialError> {
        if self.run.interrupted.load(Ordering::Relaxed) { Err(TrialError::Interrupted) } else { Ok(()) }
    }

    /// What an error of a launch or of an end, met in this phase, means for the trial.
    pub fn trial_error(&self, phase: Phase, error: LaunchError) -> TrialError {
        match error.blame() {
            FailureCause::Ours => TrialError::Ours(ConductError::launch(self.prepared.study, error)),
            FailureCause::Interrupted => TrialError::Interrupted,
            FailureCause::Server => {
                let (reason, log_tail) = (error.to_string(), error.log_tail().to_owned());
                TrialError::Variant(Failed { phase, reason, log_tail })
            }
        }
    }
}

fn requested_of(variant: &Variant) -> Vec<RequestedSetting> {
    variant.treatment.iter().chain(&variant.shared).cloned().collect()
}

#[cfg(test)]
mod tests {
    use model::TrialKey;

    use super::*;

    #[test]
    fn all_launches_of_a_block_draw_the_same() {
        let seed = |block, position| {
            let key = TrialKey { pilot: false, block, position };
            Purpose::Trial(&Trial { key, variant: position as usize, cells: Vec::new() }).seed(7)
        };
        assert_eq!(seed(3, 0), seed(3, 1));
        assert_ne!(seed(3, 0), seed(4, 0));
    }
}
