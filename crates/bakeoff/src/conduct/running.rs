//! A launch of a variant that is running: services and server from their start to their end, and a load on it with what is
//! seen of server and host meanwhile. What is done with it is `trial`'s or `evidence`'s.

use std::fs;
use std::io::ErrorKind;
use std::mem;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use load::{Flow, Load, LoadError, SliceEnd, Stop, Summary, Turns};
use model::evidence::Seen;
use model::plan::Trial;
use model::study::{AskedSetting, Variant};
use model::{
    AnswerSample, CellIndex, CellRecord, Failed, FailedTearDowns, HostUse, Interval, LaunchFacts, Outcome, Phase,
    ServerUse, Setting, Slice, StudyRecord, VariantIndex, Waited, WarmUpRecord, interval,
};
use server::{Blame, HOOK_WITHIN, HostSampler, LaunchError, Pinned, ProcessTree, Running, ServerSampler, Site};

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

/// What a load showed.
#[derive(Default)]
pub(super) struct Loaded {
    pub intervals: Vec<Interval>,
    pub slices: Vec<Slice>,
}

/// How long a load is in turns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Extent {
    /// So long.
    Fixed(Duration),
    /// Until all launches of the block are steady, and as much longer as a warm-up is after a pilot; at most so long.
    UntilSteady(Duration),
}

impl Extent {
    /// As known in this round.
    fn in_round(self, round: Round) -> Duration {
        match (self, round.steady_at) {
            (Self::UntilSteady(cap), Some(steady_at)) => {
                Duration::from_secs_f64(analysis::cut(&[vec![Some(steady_at)]], cap).seconds)
            }
            (Self::Fixed(length) | Self::UntilSteady(length), _) => length,
        }
    }
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
    services: Services,
    phase: Phase,
    /// How its processes ended, and what was to be done after that: the first fault.
    end: Result<(), LaunchError>,
    /// When the last load began, its users having set up.
    pub load_began: Instant,
    /// The round of the turn that it has, where launches take turns.
    round: Option<Round>,
    /// What it did while it waited for that.
    waited: Option<Waited>,
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
    fn unless_service_ended(&self, result: Result<(), Broken>) -> Result<(), Broken> {
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

    /// Makes a load; every interval gets the server's and the host's view added. What was seen is returned even when
    /// the load ended badly. `judge` sees what counts. Where launches take turns it is made in slices, `extent` in all, and
    /// `judge` says with its `Some` from when on the launch is steady; else the load ends by itself.
    pub fn load(
        &mut self,
        load: &Load,
        extent: Extent,
        server: &Running,
        judge: &mut dyn FnMut(&Interval) -> Judged,
    ) -> (Loaded, Result<(), Broken>) {
        let pinned = match Pinned::to(&self.prepared.study.host.client_cpus) {
            Ok(pinned) => pinned,
            Err(error) => return (Loaded::default(), Err(self.broken(error.into()))),
        };
        let others = self.run.seat.as_ref().map(Seat::others);
        let load = if others.is_some() { Load { stop: Stop::Told, ..load.clone() } } else { load.clone() };
        let probe = Probe::new(server, &self.services, others);
        let interrupted = self.run.interrupted;
        // What users do to set up is no part of what is measured.
        self.load_began = Instant::now();
        let mut loading = Loading {
            trial: self,
            server,
            probe,
            judge,
            extent,
            loaded: Loaded::default(),
            done: Duration::ZERO,
            slice: Duration::ZERO,
            slice_began: Instant::now(),
            steady_at: None,
            died: false,
            bereft: false,
        };
        let made = load::run_in_turns(&load, interrupted, &mut loading);
        let Loading { mut probe, mut loaded, died, bereft, .. } = loading;
        if let Some(used) = loaded.intervals.last_mut().and_then(|last: &mut Interval| last.server.as_mut()) {
            used.pss_bytes = probe.server.pss_bytes();
        }
        drop(pinned);
        if let Ok(Summary { teardowns_failed: users @ 1.., teardown_failure: Some(reason), .. }) = &made {
            let failed = FailedTearDowns { users: *users, first: self.prepared.launcher.mask(reason) };
            self.run.watcher.see(&Event::TearDownsFailed(&failed));
            match &mut self.measured.failed_tear_downs {
                Some(before) => before.users += failed.users,
                none => *none = Some(failed),
            }
        }
        let ended = match made {
            Err(error) => Err(self.unasked(error, server)),
            Ok(_) if bereft => self.unless_service_ended(Ok(())),
            Ok(_) if died => {
                let exit = server.ending().map(|ending| format!(" ({ending})")).unwrap_or_default();
                Err(self.failed(format!("the server ended by itself under load{exit}"), server))
            }
            Ok(_) if self.run.seat.is_some() && self.round.is_none() => Err(Broken::Interrupted),
            Ok(_) => self.go_on(),
        };
        (loaded, ended)
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

/// What a load that is judged as it goes is worth so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// It goes on.
    GoOn,
    /// The launch is steady.
    Steady,
    /// The launch is steady, and the load is over.
    Enough,
}

/// A load that is being made.
struct Loading<'l, 'a> {
    trial: &'l mut RunningTrial<'a>,
    server: &'l Running,
    probe: Probe,
    judge: &'l mut dyn FnMut(&Interval) -> Judged,
    extent: Extent,
    loaded: Loaded,
    /// What its slices so far had in all.
    done: Duration,
    /// The slice that is on, and when it began.
    slice: Duration,
    slice_began: Instant,
    /// When the launch was first found steady, seconds of load.
    steady_at: Option<f64>,
    died: bool,
    bereft: bool,
}

impl Loading<'_, '_> {
    /// Notes a slice that is over.
    fn over(&mut self, ended: SliceEnd) {
        let (Some(seat), Some(round)) = (&self.trial.run.seat, self.trial.round) else { return };
        seat.report(ended.drain, self.steady_at);
        self.done += self.slice;
        self.loaded.slices.push(Slice {
            round: round.number,
            began_s: self.slice_began.duration_since(seat.began()).as_secs_f64(),
            length_s: self.slice.as_secs_f64(),
            drain_s: ended.drain.as_secs_f64(),
            lost_connections: ended.lost,
            waited: self.trial.waited.take(),
        });
    }

    /// Lets the others have their turns, and looks at what the server did meanwhile.
    fn wait(&mut self) {
        let Some(seat) = &self.trial.run.seat else { return };
        seat.pass();
        self.trial.round = seat.take();
        self.probe.others = Some(seat.others());
        let (server, host) = self.probe.sample();
        self.trial.waited = server.zip(host).map(|(server, host)| waited(&server, host.elapsed_s));
    }

    /// Whether the server or a service of it has ended.
    fn has_ended(&mut self) -> bool {
        self.died = !self.server.is_alive();
        self.bereft = self.trial.services.ended(self.trial.phase).is_some();
        self.died || self.bereft
    }
}

impl Turns for Loading<'_, '_> {
    fn next(&mut self, ended: Option<SliceEnd>) -> Option<Duration> {
        if let Some(ended) = ended {
            self.over(ended);
            self.wait();
            if self.has_ended() {
                return None;
            }
        } else {
            self.probe.sample();
            self.trial.load_began = Instant::now();
            if self.trial.run.seat.is_none() {
                return Some(Duration::MAX);
            }
        }
        let round = self.trial.round?;
        let left = self.extent.in_round(round).saturating_sub(self.done);
        // No slice is shorter than half the usual one.
        self.slice = if left < round.slice * 3 / 2 { left } else { round.slice };
        self.slice_began = Instant::now();
        (!left.is_zero()).then_some(self.slice)
    }

    fn observe(&mut self, mut interval: Interval) -> Flow {
        (interval.server, interval.host) = self.probe.sample();
        interval.round = self.trial.round.map_or(0, |round| round.number);
        self.trial.run.watcher.see(&Event::Progressed {
            variant: self.trial.variant,
            rate: interval.tally.good as f64 / interval.length_s,
            failed: interval.tally.failed(),
        });
        let judged = (self.judge)(&interval);
        if judged == Judged::Steady {
            self.steady_at.get_or_insert(interval.start_s + interval.length_s);
        }
        interval.pack();
        self.loaded.intervals.push(interval);
        if self.has_ended() || judged == Judged::Enough { Flow::Stop } else { Flow::Continue }
    }
}

/// What a server used while it waited for so many seconds.
fn waited(used: &ServerUse, elapsed_s: f64) -> Waited {
    let jvm = used.jvm.as_ref();
    Waited {
        elapsed_s,
        cpu_s: used.cpu_s,
        gc_s: jvm.and_then(|jvm| Some(jvm.gc.as_ref()?.paused_s())),
        jit_s: jvm.and_then(|jvm| Some(jvm.counters.as_ref()?.jit_s)),
    }
}

/// The server's and the host's view of each interval.
struct Probe {
    server: ServerSampler,
    services: Option<Vec<ProcessTree>>,
    /// What runs of the launches that wait for their turn.
    others: Option<Vec<ProcessTree>>,
    host: HostSampler,
    ours_s: f64,
}

impl Probe {
    fn new(server: &Running, services: &Services, others: Option<Vec<ProcessTree>>) -> Self {
        let (server, services) = (server.sampler(), services.trees());
        let mut probe = Self { server, services, others, host: HostSampler::new(), ours_s: server::own_cpu_s() };
        // Trees of others were begun long ago.
        used_s(&mut probe.others);
        probe
    }

    /// What was used since the last sample.
    fn sample(&mut self) -> (Option<ServerUse>, Option<HostUse>) {
        let server = self.server.sample();
        let (services_s, others_s) = (used_s(&mut self.services), used_s(&mut self.others));
        let ours_s = server::own_cpu_s();
        let server_s = server.as_ref().map_or(0.0, |used| used.cpu_s);
        let launched_s = server_s + services_s.unwrap_or(0.0) + others_s.unwrap_or(0.0);
        let host = self.host.sample(launched_s + ours_s - self.ours_s);
        self.ours_s = ours_s;
        let cores = |used_s: Option<f64>| used_s.filter(|_| host.elapsed_s > 0.0).map(|used_s| used_s / host.elapsed_s);
        let (services_cores, waiting_cores) = (cores(services_s), cores(others_s));
        (server, Some(HostUse { services_cores, waiting_cores, ..host }))
    }
}

/// CPU time that these trees have used since they were last looked at, seconds; `None` where there are none to look at.
fn used_s(trees: &mut Option<Vec<ProcessTree>>) -> Option<f64> {
    let trees = trees.as_mut()?;
    Some(trees.iter_mut().filter_map(ProcessTree::sample).map(|used| used.cpu_s).sum())
}
