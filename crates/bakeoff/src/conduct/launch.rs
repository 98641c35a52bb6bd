//! One launch of a variant, from its first service to the end of its last. What the server shows between is the phases' own.

use std::fs;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use model::plan::Trial;
use model::study::{RequestedSetting, Variant};
use model::{CellIndex, Failed, Outcome, Phase, StudyRecord, VariantIndex};
use server::{Blame, HOOK_WITHIN, LaunchError, Site};

use super::phases::{Launched, Live};
use super::prepared::Prepared;
use super::services::Services;
use super::shown::Shown;
use super::turns::{Seat, Turn};
use super::{ConductError, Event, Relay};

/// Bytes that have to be free beside the logs for a failure to count as a variant's.
const ROOM: usize = 64 * 1024;

/// What a server is thought to need, as a fraction of what another variant's has when it is ready: it grows under load.
const MORE_MEMORY: [u64; 2] = [5, 4];
/// One part of so many of the host's memory is left alone.
const SPARE_MEMORY: u64 = 20;

/// Why a trial has no end.
pub(super) enum TrialError {
    /// The variant could not be launched or measured: that is its result.
    Variant(Failed),
    /// Ctrl-C: there is no result.
    Interrupted,
    /// We failed: there is none either.
    Ours(ConductError),
}

impl<E: Into<ConductError>> From<E> for TrialError {
    fn from(error: E) -> Self {
        Self::Ours(error.into())
    }
}

/// A launch that has ended.
struct EndedLaunch {
    /// What it showed.
    shown: Shown,
    /// Whether it came to all that it was for.
    came: Result<(), TrialError>,
    /// The first fault of ending it. What is left of it would disturb whatever is launched next, and that says nothing
    /// about the variant.
    end: Result<(), LaunchError>,
}

impl EndedLaunch {
    /// One that had nothing to show.
    fn early(why: TrialError) -> Self {
        Self { shown: Shown::default(), came: Err(why), end: Ok(()) }
    }

    /// The same, after one more step of ending it.
    fn and(self, end: Result<(), LaunchError>) -> Self {
        Self { end: self.end.and(end), ..self }
    }
}

/// A launch that is over.
pub(super) struct LaunchEnd<T> {
    /// What came of it; `None` where it was interrupted.
    pub record: Option<T>,
    /// Why nothing can be launched after it, where it did not end as it should: it is no part of what came of it.
    pub end: Result<(), ConductError>,
}

/// What a launch is for.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// A trial of the plan.
    Trial(&'a Trial),
    /// To be watched, not measured.
    Profiling,
}

impl Purpose<'_> {
    /// The seed of what the loads draw, from the plan's: the same for all launches of a block, another in the next.
    pub fn seed(self, plan: u64) -> u64 {
        match self {
            Self::Trial(trial) => plan.wrapping_add(trial.key.block.into()),
            Self::Profiling => plan,
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
    pub seat: Option<Seat<'a>>,
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
    /// Runs it to its end, and has `record` make of its outcome and of what it showed what is kept of it.
    pub fn over<T>(self, record: impl FnOnce(Outcome, Shown) -> T) -> Result<LaunchEnd<T>, ConductError> {
        let EndedLaunch { shown, came, end } = self.in_its_network();
        let outcome = match came {
            Ok(()) => Some(Outcome::Completed),
            Err(TrialError::Variant(failed)) => match require_room(&self.folder) {
                Ok(()) => Some(Outcome::Failed(failed)),
                Err(full) => return Err(ConductError::after(end, full)),
            },
            Err(TrialError::Interrupted) => None,
            // What was asked to stop may well fail, unless it left something behind.
            Err(TrialError::Ours(error))
                if self.run.interrupted.load(Ordering::Relaxed) && !error.leaves_something() =>
            {
                None
            }
            Err(TrialError::Ours(error)) => return Err(ConductError::after(end, error)),
        };
        // A launch that has come to its end holds nobody up, even where its clean-up failed: the others are about to end as well.
        if let Some(seat) = self.run.seat
            && (end.is_ok() || outcome == Some(Outcome::Completed))
            && outcome.is_some()
        {
            seat.leave_well();
        }
        let end = end.map_err(|left| ConductError::End { left: Box::new(left), before: None });
        Ok(LaunchEnd { record: outcome.map(|outcome| record(outcome, shown)), end })
    }

    /// The whole of it, on a thread of its own where it gets a network of its own: what is launched there has it too, and so
    /// has the client.
    fn in_its_network(&self) -> EndedLaunch {
        if !self.prepared.study.host.own_network {
            return self.whole();
        }
        let apart = || match server::own_network() {
            Ok(()) => self.whole(),
            Err(error) => EndedLaunch::early(self.trial_error(Phase::Prepare, error.into())),
        };
        thread::scope(|scope| scope.spawn(apart).join().unwrap_or_else(|panic| resume_unwind(panic)))
    }

    fn whole(&self) -> EndedLaunch {
        let Prepared { launcher, study, .. } = self.prepared;
        let (turn, site) = match self.begin() {
            Ok(begun) => begun,
            Err(why) => return EndedLaunch::early(why),
        };
        let ended = self.with_services(&site, turn);
        let Some(cleanup) = &study.hooks.cleanup else { return ended };
        self.enter(Phase::Stop, None);
        ended.and(launcher.cleanup(cleanup, &site, HOOK_WITHIN))
    }

    /// Waits for its turn, where there are turns, and has a place of its own.
    fn begin(&self) -> Result<(Option<Turn<'_>>, Site), TrialError> {
        let Prepared { launcher, study, .. } = self.prepared;
        let turn = match &self.run.seat {
            Some(seat) => Some(seat.take().ok_or(TrialError::Interrupted)?),
            None => None,
        };
        if let Purpose::Trial(trial) = self.purpose {
            self.run.watcher.pass_on(&Event::TrialBegan(trial));
        }
        // What a launch that was interrupted has left here goes: all that is found here later is this launch's own.
        if let Err(source) = fs::remove_dir_all(&self.folder)
            && source.kind() != ErrorKind::NotFound
        {
            let error = LaunchError::Io { doing: "empty", path: self.folder.clone(), source };
            return Err(self.trial_error(Phase::Prepare, error));
        }
        let site = launcher.site(&study.dir, &self.folder, &study.services);
        Ok((turn, site.map_err(|error| self.trial_error(Phase::Prepare, error))?))
    }

    fn with_services(&self, site: &Site, turn: Option<Turn>) -> EndedLaunch {
        self.enter(Phase::Prepare, None);
        let mut services = Services::default();
        let mut ended = match self.prepare(site, &mut services) {
            Ok(()) => self.with_server(site, &services, turn),
            Err(why) => EndedLaunch::early(why),
        };
        if matches!(ended.came, Err(TrialError::Variant(_))) || ended.shown.has_failed_requests() {
            ended.shown.service_logs = services.logs();
        }
        self.enter(Phase::Stop, None);
        ended.and(services.stop().map_err(Into::into))
    }

    /// Starts what the server needs beside it; `services` has what was started, whatever comes of it.
    fn prepare(&self, site: &Site, services: &mut Services) -> Result<(), TrialError> {
        let Prepared { launcher, study, .. } = self.prepared;
        let trial_error = |error| self.trial_error(Phase::Prepare, error);
        for service in &study.services {
            services.add(service, launcher.service(service, site).map_err(trial_error)?);
        }
        if let Some(prepare) = &study.hooks.prepare {
            launcher.hook("prepare", prepare, site, HOOK_WITHIN).map_err(trial_error)?;
        }
        self.require_memory()
    }

    /// Side by side: whether those that are yet to start fit into memory beside those that run, if they are no larger than these.
    fn require_memory(&self) -> Result<(), TrialError> {
        let Some((seat, memory)) = self.run.seat.as_ref().zip(server::memory()) else { return Ok(()) };
        let (largest, to_start) = seat.memory();
        let need = largest * MORE_MEMORY[0] / MORE_MEMORY[1] * to_start;
        let available = memory.available.saturating_sub(memory.total / SPARE_MEMORY);
        if need > available { Err(ConductError::Memory { need, available }.into()) } else { Ok(()) }
    }

    fn with_server(&self, site: &Site, services: &Services, turn: Option<Turn>) -> EndedLaunch {
        let Prepared { launcher, installed, .. } = self.prepared;
        self.enter(Phase::Launch, None);
        let installed = &installed[self.variant];
        let launched = match self.purpose {
            Purpose::Trial(_) => launcher.server(installed, site),
            Purpose::Profiling => launcher.recordable_server(installed, site),
        };
        let server = match launched {
            Ok(server) => server,
            Err(error) => {
                let mut shown = Shown { oom_kills: error.oom_kills(), ..Shown::default() };
                if error.blame() == Blame::Server {
                    shown.settings = launcher.refused(installed, site, &self.requested(), &error);
                }
                let came = services.unless_ended(Phase::Launch, Err(self.trial_error(Phase::Launch, error)));
                return EndedLaunch { shown, came, end: Ok(()) };
            }
        };
        if let Some(seat) = &self.run.seat {
            seat.register([server.tree()].into_iter().chain(services.trees().into_iter().flatten()).collect());
        }
        let (mut shown, came) = match Launched::new(Live::new(self, &server, services), turn).live(site) {
            Ok(shown) => (shown, Ok(())),
            Err(cut_short) => (cut_short.shown, Err(cut_short.why)),
        };
        shown.oom_kills = server.oom_kills();
        let came = services.unless_ended(Phase::Inspect, came);
        self.enter(Phase::Stop, None);
        EndedLaunch { shown, came, end: server.stop(installed.stop_within()).map(drop).map_err(Into::into) }
    }

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
            Blame::Ours => TrialError::Ours(ConductError::launch(self.prepared.study, error)),
            Blame::Interrupted => TrialError::Interrupted,
            Blame::Server => {
                let (reason, log_tail) = (error.to_string(), error.log_tail().to_owned());
                TrialError::Variant(Failed { phase, reason, log_tail })
            }
        }
    }
}

fn requested_of(variant: &Variant) -> Vec<RequestedSetting> {
    variant.treatment.iter().chain(&variant.shared).cloned().collect()
}

/// Programs fail in any way where they cannot write their logs: a full disk is no fault of a variant's.
fn require_room(folder: &Path) -> Result<(), ConductError> {
    let path = folder.join("room");
    let written = fs::write(&path, vec![0; ROOM]);
    let _ = fs::remove_file(&path);
    let full = |source| LaunchError::Io { doing: "write to", path, source };
    written.map_err(|source| ConductError::Launch(Box::new(full(source))))
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
