//! One launch of a variant, from its first service to the end of its last. What the server shows between is the phases' own.

use std::fs;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::thread;

use model::{Outcome, Phase};
use server::{FailureCause, HOOK_WITHIN, LaunchError, Site};

use super::error::{ConductError, TrialError};
use super::event::Event;
use super::evidence::Evidence;
use super::launch::{Launch, Purpose};
use super::live::LiveServer;
use super::phases::Launched;
use super::prepared::Prepared;
use super::services::Services;
use super::turns::Turn;

/// Bytes that have to be free beside the logs for a failure to count as a variant's.
const ROOM: usize = 64 * 1024;

/// What a server is thought to need, as a fraction of what another variant's has when it is ready: it grows under load.
const MORE_MEMORY: [u64; 2] = [5, 4];
/// One part of so many of the host's memory is left alone.
const SPARE_MEMORY: u64 = 20;

/// A launch that has ended.
struct EndedLaunch {
    /// What it showed.
    evidence: Evidence,
    /// Whether it came to all that it was for.
    came: Result<(), TrialError>,
    /// The first fault of ending it. What is left of it would disturb whatever is launched next, and that says nothing
    /// about the variant.
    end: Result<(), LaunchError>,
}

impl EndedLaunch {
    /// One that had nothing to show.
    fn early(why: TrialError) -> Self {
        Self { evidence: Evidence::default(), came: Err(why), end: Ok(()) }
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

impl Launch<'_> {
    /// Runs it to its end, and has `record` make of its outcome and of what it showed what is kept of it.
    pub fn over<T>(self, record: impl FnOnce(Outcome, Evidence) -> T) -> Result<LaunchEnd<T>, ConductError> {
        let EndedLaunch { evidence, came, end } = self.in_its_network();
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
            seat.complete();
        }
        let end = end.map_err(|left| ConductError::End { left: Box::new(left), before: None });
        Ok(LaunchEnd { record: outcome.map(|outcome| record(outcome, evidence)), end })
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
        if matches!(ended.came, Err(TrialError::Variant(_))) || ended.evidence.has_failed_requests() {
            ended.evidence.service_logs = services.logs();
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
            Purpose::Trial(_) | Purpose::Soak(_) => launcher.server(installed, site),
            Purpose::Profiling => launcher.recordable_server(installed, site),
        };
        let server = match launched {
            Ok(server) => server,
            Err(error) => {
                let mut evidence = Evidence { oom_kills: error.oom_kills(), ..Evidence::default() };
                if error.blame() == FailureCause::Server {
                    evidence.settings = launcher.refused(installed, site, &self.requested(), &error);
                }
                let came = services.unless_ended(Phase::Launch, Err(self.trial_error(Phase::Launch, error)));
                return EndedLaunch { evidence, came, end: Ok(()) };
            }
        };
        if let Some(seat) = &self.run.seat {
            seat.register([server.tree()].into_iter().chain(services.trees().into_iter().flatten()).collect());
        }
        let (mut evidence, came) = match Launched::new(LiveServer::new(self, &server, services), turn).live(site) {
            Ok(evidence) => (evidence, Ok(())),
            Err(cut_short) => (cut_short.evidence, Err(cut_short.why)),
        };
        evidence.oom_kills = server.oom_kills();
        let came = services.unless_ended(Phase::Inspect, came);
        self.enter(Phase::Stop, None);
        EndedLaunch { evidence, came, end: server.stop(installed.stop_within()).map(drop).map_err(Into::into) }
    }
}

/// Programs fail in any way where they cannot write their logs: a full disk is no fault of a variant's.
fn require_room(folder: &Path) -> Result<(), ConductError> {
    let path = folder.join("room");
    let written = fs::write(&path, vec![0; ROOM]);
    let _ = fs::remove_file(&path);
    let full = |source| LaunchError::Io { doing: "write to", path, source };
    written.map_err(|source| ConductError::Launch(Box::new(full(source))))
}
