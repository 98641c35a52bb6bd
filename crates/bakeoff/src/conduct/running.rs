//! A launch of a variant that is running: services and server from their start to their end. What is done with it is `trial`'s or
//! `evidence`'s, and a load on it `loading`'s.

use std::fs;
use std::io::ErrorKind;
use std::mem;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use indexmap::IndexMap;
use load::LoadError;
use model::evidence::Seen;
use model::plan::Trial;
use model::study::{AskedSetting, Variant};
use model::{
    AnswerSample, CellIndex, CellRecord, Failed, FailedTearDowns, LaunchFacts, Outcome, Phase, Setting, StudyRecord,
    VariantIndex, Waited, WarmUpRecord, interval,
};
use server::{Blame, HOOK_WITHIN, LaunchError, Running, Site};

use super::prepared::Prepared;
use super::services::Services;
use super::turns::{Round, Seat};
use super::{ConductError, Event, Watcher};

/// Bytes that have to be free beside the logs for a failure to count as a variant's.
const ROOM: usize = 64 * 1024;

/// What a server is thought to need, as a fraction of what another variant's has when it is ready: it grows under load.
const MORE_MEMORY: [u64; 2] = [5, 4];
/// One part of so many of the host's memory is left alone.
const SPARE_MEMORY: u64 = 20;

/// Why a trial has no end.
pub(super) enum Broken {
    /// The variant could not be launched or measured: that is its result.
    Variant(Failed),
    /// Ctrl-C: there is no result.
    Interrupted,
    /// We failed: there is none either.
    Ours(ConductError),
}

impl<E: Into<ConductError>> From<E> for Broken {
    fn from(error: E) -> Self {
        Self::Ours(error.into())
    }
}

/// What has been measured so far of the trial that is running.
#[derive(Default)]
pub(super) struct Measured {
    pub launch: Option<LaunchFacts>,
    pub settings: Vec<Setting>,
    pub answers: Vec<AnswerSample>,
    pub warm_up: Option<WarmUpRecord>,
    pub cells: Vec<CellRecord>,
    pub seen: Option<Seen>,
    pub oom_kills: u64,
    pub failed_tear_downs: Option<FailedTearDowns>,
    pub service_logs: IndexMap<String, String>,
}

/// A launch that is over.
pub(super) struct Over<T> {
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
    Evidence,
}

/// The run that a launch belongs to.
pub struct Run<'a> {
    /// What is stored of it so far.
    pub record: &'a StudyRecord,
    /// Raised by Ctrl-C.
    pub interrupted: &'a AtomicBool,
    /// Who watches.
    pub watcher: &'a mut dyn Watcher,
    /// Its place among the launches of its block, where they take turns.
    pub seat: Option<Seat<'a>>,
}

/// A trial that is running.
pub(super) struct RunningTrial<'a> {
    pub prepared: &'a Prepared<'a>,
    pub purpose: Purpose<'a>,
    pub variant: VariantIndex,
    pub run: Run<'a>,
    pub measured: Measured,
    /// Where it leaves its logs.
    folder: PathBuf,
    pub services: Services,
    pub phase: Phase,
    /// How its processes ended, and what was to be done after that: the first fault.
    end: Result<(), LaunchError>,
    /// When the last load began, its users having set up.
    pub load_began: Instant,
    /// The round of the turn that it has, where launches take turns.
    pub round: Option<Round>,
    /// What it did while it waited for that.
    pub waited: Option<Waited>,
}

impl<'a> RunningTrial<'a> {
    /// One that has not begun, and will leave its logs in `folder`.
    pub fn new(
        prepared: &'a Prepared<'a>,
        purpose: Purpose<'a>,
        variant: VariantIndex,
        folder: PathBuf,
        run: Run<'a>,
    ) -> Self {
        let (services, phase, measured) = (Services::default(), Phase::Prepare, Measured::default());
        let (end, load_began) = (Ok(()), Instant::now());
        let (round, waited) = (None, None);
        Self { prepared, purpose, variant, run, measured, folder, services, phase, end, load_began, round, waited }
    }

    /// Runs it to its end, and has `record` make of its outcome and of what was measured what is kept of it.
    pub fn over<T>(mut self, record: impl FnOnce(Outcome, Measured) -> T) -> Result<Over<T>, ConductError> {
        let outcome = match self.in_its_network() {
            Ok(()) => Some(Outcome::Completed),
            Err(Broken::Variant(failed)) => match require_room(&self.folder) {
                Ok(()) => Some(Outcome::Failed(failed)),
                Err(full) => return Err(ConductError::after(self.end, full)),
            },
            Err(Broken::Interrupted) => None,
            // What was asked to stop may well fail, unless it left something behind.
            Err(Broken::Ours(error)) if self.run.interrupted.load(Ordering::Relaxed) && !error.leaves_something() => {
                None
            }
            Err(Broken::Ours(error)) => return Err(ConductError::after(self.end, error)),
        };
        // A launch that has come to its end holds nobody up, even where its clean-up failed: the others are about to end as well.
        if let Some(seat) = &self.run.seat
            && (self.end.is_ok() || outcome == Some(Outcome::Completed))
            && outcome.is_some()
        {
            seat.ends_well();
        }
        let measured = self.measured;
        let end = self.end.map_err(|left| ConductError::End { left: Box::new(left), before: None });
        Ok(Over { record: outcome.map(|outcome| record(outcome, measured)), end })
    }

    /// The whole of it, on a thread of its own where it gets a network of its own: what is launched there has it too, and so
    /// has the client.
    fn in_its_network(&mut self) -> Result<(), Broken> {
        if !self.prepared.study.host.own_network {
            return self.whole();
        }
        let apart = || {
            server::own_network().map_err(|error| self.broken(error.into()))?;
            self.whole()
        };
        thread::scope(|scope| scope.spawn(apart).join().unwrap_or_else(|panic| resume_unwind(panic)))
    }

    fn whole(&mut self) -> Result<(), Broken> {
        let Prepared { launcher, study, .. } = self.prepared;
        if let Some(seat) = &self.run.seat {
            self.round = Some(seat.take().ok_or(Broken::Interrupted)?);
        }
        if let Purpose::Trial(trial) = self.purpose {
            self.run.watcher.see(&Event::TrialBegan(trial));
        }
        self.begin_anew()?;
        let site = launcher.site(&study.dir, &self.folder, &study.services).map_err(|error| self.broken(error))?;
        let result = self.with_services(&site);
        if let Some(cleanup) = &study.hooks.cleanup {
            self.enter(Phase::Stop, None);
            self.ended(launcher.cleanup(cleanup, &site, HOOK_WITHIN));
        }
        result
    }

    /// Removes what a launch that was interrupted has left here: all that is found here later is this launch's own.
    fn begin_anew(&self) -> Result<(), Broken> {
        match fs::remove_dir_all(&self.folder) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(self.broken(LaunchError::Io { doing: "empty", path: self.folder.clone(), source }))
            }
            _ => Ok(()),
        }
    }

    /// Notes how a part of the launch ended. What is left of it would disturb whatever is launched next, and that says nothing
    /// about the variant.
    fn ended(&mut self, end: Result<(), LaunchError>) {
        self.end = mem::replace(&mut self.end, Ok(())).and(end);
    }

    fn with_services(&mut self, site: &Site) -> Result<(), Broken> {
        let Prepared { launcher, study, .. } = self.prepared;
        self.enter(Phase::Prepare, None);
        let mut result = Ok(());
        for service in &study.services {
            match launcher.service(service, site) {
                Ok(running) => self.services.add(service, running),
                Err(error) => {
                    result = Err(self.broken(error));
                    break;
                }
            }
        }
        if result.is_ok() {
            result = self.launched(site);
        }
        let requests_failed = || self.measured.cells.iter().any(|cell| interval::tally(cell.whole()).failed() > 0);
        if matches!(result, Err(Broken::Variant(_))) || requests_failed() {
            self.measured.service_logs = self.services.logs();
        }
        self.enter(Phase::Stop, None);
        let stopped = mem::take(&mut self.services).stop();
        self.ended(stopped.map_err(Into::into));
        result
    }

    fn launched(&mut self, site: &Site) -> Result<(), Broken> {
        let Prepared { launcher, study, installed, .. } = self.prepared;
        if let Some(prepare) = &study.hooks.prepare {
            launcher.hook("prepare", prepare, site, HOOK_WITHIN).map_err(|error| self.broken(error))?;
        }
        self.require_memory()?;
        self.enter(Phase::Launch, None);
        let installed = &installed[self.variant];
        let launched = match self.purpose {
            Purpose::Trial(_) => launcher.server(installed, site),
            Purpose::Evidence => launcher.recordable_server(installed, site),
        };
        let server = match launched {
            Ok(server) => server,
            Err(error) => {
                self.measured.oom_kills = error.oom_kills();
                if error.blame() == Blame::Server {
                    self.measured.settings = launcher.refused(installed, site, &self.asked(), &error);
                }
                return self.unless_service_ended(Err(self.broken(error)));
            }
        };
        self.measured.launch = Some(server.facts().clone());
        if let Some(seat) = &self.run.seat {
            seat.register([server.tree()].into_iter().chain(self.services.trees().into_iter().flatten()).collect());
        }
        let result = self.with_server(&server, site);
        self.measured.oom_kills = server.oom_kills();
        let result = self.unless_service_ended(result);
        self.enter(Phase::Stop, None);
        self.ended(server.stop(installed.stop_within()).map(drop).map_err(Into::into));
        result
    }

    /// Side by side: whether those that are yet to start fit into memory beside those that run, if they are no larger than these.
    fn require_memory(&self) -> Result<(), Broken> {
        let Some((seat, memory)) = self.run.seat.as_ref().zip(server::memory()) else { return Ok(()) };
        let (largest, to_start) = seat.memory();
        let need = largest * MORE_MEMORY[0] / MORE_MEMORY[1] * to_start;
        let available = memory.available.saturating_sub(memory.total / SPARE_MEMORY);
        if need > available { Err(ConductError::Memory { need, available }.into()) } else { Ok(()) }
    }

    /// What came of the launch, unless one of its services has ended meanwhile: without it nothing is what was to be measured.
    pub fn unless_service_ended(&self, result: Result<(), Broken>) -> Result<(), Broken> {
        if let Ok(()) | Err(Broken::Variant(_)) = result
            && let Some(mut failed) = self.services.ended(self.phase)
        {
            if let Err(Broken::Variant(Failed { phase, reason, .. })) = result {
                failed.phase = phase;
                if reason != failed.reason {
                    failed.reason = format!("{}. Beside that: {reason}", failed.reason);
                }
            }
            return Err(Broken::Variant(failed));
        }
        result
    }

    /// All that the study asks of this variant's process: its treatment, and what all variants share.
    pub fn asked(&self) -> Vec<AskedSetting> {
        asked_of(&self.prepared.study.variants[self.variant])
    }

    /// The same of each other variant.
    pub fn asked_of_others(&self) -> Vec<Vec<AskedSetting>> {
        let variants = self.prepared.study.variants.iter().enumerate();
        variants.filter(|(index, _)| *index != self.variant).map(|(_, variant)| asked_of(variant)).collect()
    }

    /// What the levels of any variant ask for, each once.
    pub fn varied(&self) -> Vec<AskedSetting> {
        let mut varied: Vec<AskedSetting> = Vec::new();
        for asked in self.prepared.study.variants.iter().flat_map(|variant| &variant.treatment) {
            if !varied.contains(asked) {
                varied.push(asked.clone());
            }
        }
        varied
    }

    /// What it means that the client could not ask: a server that lets nobody set up is no server to measure.
    pub fn unasked(&self, error: LoadError, server: &Running) -> Broken {
        match error {
            LoadError::SetUp(_) | LoadError::Look(_) => {
                self.failed(self.prepared.launcher.mask(&error.to_string()), server)
            }
            error => error.into(),
        }
    }

    pub fn enter(&mut self, phase: Phase, cell: Option<CellIndex>) {
        self.phase = phase;
        self.run.watcher.see(&Event::PhaseBegan { phase, cell });
    }

    pub fn go_on(&self) -> Result<(), Broken> {
        if self.run.interrupted.load(Ordering::Relaxed) { Err(Broken::Interrupted) } else { Ok(()) }
    }

    /// With what the kernel did to the server meanwhile, which may be why.
    pub fn failed(&self, reason: String, server: &Running) -> Broken {
        let reason = [Some(reason), server.killed()].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Broken::Variant(Failed { phase: self.phase, reason, log_tail: server.log_tail() })
    }

    /// What an error of a launch or of an end means for the trial.
    pub fn broken(&self, error: LaunchError) -> Broken {
        match error.blame() {
            Blame::Ours => Broken::Ours(ConductError::launch(self.prepared.study, error)),
            Blame::Interrupted => Broken::Interrupted,
            Blame::Server => Broken::Variant(Failed {
                phase: self.phase,
                reason: error.to_string(),
                log_tail: error.log_tail().to_owned(),
            }),
        }
    }
}

fn asked_of(variant: &Variant) -> Vec<AskedSetting> {
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
