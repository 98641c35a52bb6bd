//! One trial: one launch of one variant, inspected, warmed, measured, ended.

use std::cell::RefCell;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use analysis::HalfWindow;
use jiff::Timestamp;
use load::{Ask, Asked, Flow, LengthRule, Load, LoadError, Script, Stop, Target};
use model::evidence::Seen;
use model::plan::Trial;
use model::proof::Proof;
use model::study::{AskedSetting, Asks, Expect, Request, WarmUp, Workload};
use model::{
    AnswerSample, Arrivals, CellIndex, CellRecord, Failed, HostUse, Interval, LaunchFacts, Outcome, Phase, Scenarios,
    ServerUse, Setting, Shape, Study, StudyRecord, TrialRecord, VariantIndex, WarmUpRecord,
};
use server::{
    Blame, HOOK_WITHIN, HostSampler, Installed, LaunchError, Launcher, Pinned, ProcessTree, Running, ServerSampler,
    Site,
};

use super::{ConductError, Event, Watcher, answers};

/// Answers looked at closely before the load, of each workload; one more is asked for after it.
const ANSWERS_BEFORE: usize = 2;
/// Users who warm up for a load without users who ask at once: enough to keep several threads of a server busy.
const WARM_UP_USERS: u32 = 10;
/// How long one request may take.
const TIME_LIMIT: Duration = Duration::from_secs(30);
/// Bytes that have to be free beside the logs for a failure to count as a variant's.
const ROOM: usize = 64 * 1024;

/// The study's variants put together on this machine, to be launched again and again.
pub struct Prepared<'a> {
    pub(super) launcher: &'a Launcher,
    pub(super) study: &'a Study,
    pub(super) folder: &'a Path,
    installed: Vec<Installed>,
}

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
    launch: Option<LaunchFacts>,
    settings: Vec<Setting>,
    answers: Vec<AnswerSample>,
    warm_up: Option<WarmUpRecord>,
    cells: Vec<CellRecord>,
    pub(super) seen: Option<Seen>,
}

/// What a launch is for.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// A trial of the plan.
    Trial(&'a Trial),
    /// To be watched, not measured.
    Evidence,
}

impl<'a> Prepared<'a> {
    /// Finds or fetches what the variants run on, and runs the study's setup.
    pub fn new(
        launcher: &'a Launcher,
        study: &'a Study,
        folder: &'a Path,
        watcher: &mut dyn Watcher,
    ) -> Result<Self, ConductError> {
        // The setup may build what the variants run, so it goes first.
        let site = launcher.site(&study.dir, folder, &study.services).map_err(ConductError::launch)?;
        if let Some(setup) = &study.hooks.setup {
            watcher.see(&Event::Preparing("running the setup hook"));
            launcher.hook("setup", setup, &site, HOOK_WITHIN).map_err(ConductError::launch)?;
        }
        let watcher = RefCell::new(watcher);
        let announce = |step: &str| watcher.borrow_mut().see(&Event::Preparing(step));
        let toolbox = launcher.toolbox(folder).announcing(&announce);
        let installed = study
            .variants
            .iter()
            .map(|variant| {
                server::install(&variant.server, &study.dir, &toolbox)
                    .map_err(|source| ConductError::Runtime { variant: variant.name.clone(), source: Box::new(source) })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { launcher, study, folder, installed })
    }

    /// Runs one trial to its end; `None` when it was interrupted.
    pub fn run(
        &self,
        trial: &Trial,
        record: &StudyRecord,
        interrupted: &AtomicBool,
        watcher: &mut dyn Watcher,
    ) -> Result<Option<TrialRecord>, ConductError> {
        let started = Timestamp::now().to_string();
        let canary_before = server::canary_ns();
        let (mut host, own_before) = (HostSampler::new(), server::own_cpu_s());
        let folder = self.trial_folder(trial);
        let mut running = RunningTrial {
            prepared: self,
            purpose: Purpose::Trial(trial),
            variant: trial.variant,
            folder,
            record,
            interrupted,
            watcher,
            services: Vec::new(),
            phase: Phase::Prepare,
            measured: Measured::default(),
        };
        let Some(outcome) = running.outcome()? else { return Ok(None) };
        let Measured { launch, settings, answers, warm_up, cells, .. } = running.measured;
        Ok(Some(TrialRecord {
            key: trial.key,
            variant: trial.variant,
            started,
            outcome,
            launch,
            settings,
            answers,
            warm_up,
            cells,
            // All that was launched has ended and been waited for: its CPU time is counted as ours.
            host: host.sample(server::own_cpu_s() - own_before),
            canary_ns: [canary_before, server::canary_ns()],
            ruby_gc: server::ruby_gc(&self.trial_folder(trial)),
        }))
    }

    /// Programs fail in any way where they cannot write their logs: a full disk is no fault of a variant's.
    fn require_room(folder: &Path) -> Result<(), ConductError> {
        let path = folder.join("room");
        let written = fs::write(&path, vec![0; ROOM]);
        let _ = fs::remove_file(&path);
        let full = |source| LaunchError::Io { doing: "write to", path, source };
        written.map_err(|source| ConductError::Launch(Box::new(full(source))))
    }

    /// Where a trial leaves its logs: `block-03-1`, `pilot-01-2`.
    fn trial_folder(&self, trial: &Trial) -> PathBuf {
        let kind = if trial.key.pilot { "pilot" } else { "block" };
        self.folder.join(format!("{kind}-{:02}-{}", trial.key.block + 1, trial.key.position + 1))
    }
}

/// A trial that is running.
pub(super) struct RunningTrial<'a> {
    pub(super) prepared: &'a Prepared<'a>,
    pub(super) purpose: Purpose<'a>,
    pub(super) variant: VariantIndex,
    /// Where it leaves its logs.
    pub(super) folder: PathBuf,
    pub(super) record: &'a StudyRecord,
    pub(super) interrupted: &'a AtomicBool,
    pub(super) watcher: &'a mut dyn Watcher,
    /// What the services use, for telling it from others' use of the host.
    pub(super) services: Vec<ProcessTree>,
    pub(super) phase: Phase,
    pub(super) measured: Measured,
}

impl RunningTrial<'_> {
    /// Runs it to its end; `None` when it was interrupted.
    pub(super) fn outcome(&mut self) -> Result<Option<Outcome>, ConductError> {
        match self.in_its_network() {
            Ok(()) => Ok(Some(Outcome::Completed)),
            Err(Broken::Variant(failed)) => {
                Prepared::require_room(&self.folder)?;
                Ok(Some(Outcome::Failed(failed)))
            }
            Err(Broken::Interrupted) => Ok(None),
            Err(Broken::Ours(error)) => Err(error),
        }
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
        let site = launcher.site(&study.dir, &self.folder, &study.services).map_err(|error| self.broken(error))?;
        let result = self.with_services(&site);
        if let Some(cleanup) = &study.hooks.cleanup {
            self.enter(Phase::Stop, None);
            let cleaned = launcher.cleanup(cleanup, &site, HOOK_WITHIN).map_err(|error| self.broken(error));
            return result.and(cleaned);
        }
        result
    }

    fn with_services(&mut self, site: &Site) -> Result<(), Broken> {
        let Prepared { launcher, study, .. } = self.prepared;
        self.enter(Phase::Prepare, None);
        let mut services = Vec::new();
        let mut result = Ok(());
        for service in &study.services {
            match launcher.service(service, site) {
                Ok(running) => services.push((running, service.stop_within)),
                Err(error) => {
                    result = Err(self.broken(error));
                    break;
                }
            }
        }
        self.services = services.iter().map(|(running, _)| running.tree()).collect();
        if result.is_ok() {
            result = self.launched(site);
        }
        self.enter(Phase::Stop, None);
        for (service, within) in services.into_iter().rev() {
            let stopped = service.stop(within).map_err(|error| self.broken(error.into()));
            result = result.and(stopped.map(drop));
        }
        result
    }

    fn launched(&mut self, site: &Site) -> Result<(), Broken> {
        let Prepared { launcher, study, installed, .. } = self.prepared;
        if let Some(prepare) = &study.hooks.prepare {
            launcher.hook("prepare", prepare, site, HOOK_WITHIN).map_err(|error| self.broken(error))?;
        }
        self.enter(Phase::Launch, None);
        let installed = &installed[self.variant];
        let server = match launcher.server(installed, site) {
            Ok(server) => server,
            Err(error) => {
                if error.blame() == Blame::Server {
                    self.measured.settings = launcher.refused(installed, site, &self.asked());
                }
                return Err(self.broken(error));
            }
        };
        self.measured.launch = Some(server.facts().clone());
        let result = self.with_server(&server, site);
        self.enter(Phase::Stop, None);
        let stopped = server.stop(installed.stop_within()).map_err(|error| self.broken(error.into()));
        result.and(stopped.map(drop))
    }

    /// All that the study asks of this variant's process: its treatment, and what all variants share.
    fn asked(&self) -> Vec<AskedSetting> {
        let variant = &self.prepared.study.variants[self.variant];
        variant.treatment.iter().chain(&variant.shared).cloned().collect()
    }

    fn with_server(&mut self, server: &Running, site: &Site) -> Result<(), Broken> {
        let ready = Instant::now();
        self.enter(Phase::Inspect, None);
        self.measured.settings = server.read_back(&self.asked());
        let target = Target::from(server.address());
        let mut asks = self.asks(&target, site)?;
        for _ in 0..ANSWERS_BEFORE {
            self.look_at_answers(&target, &asks, server)?;
        }
        self.prove(server, false);
        if let Some(launch) = &mut self.measured.launch {
            server.loaded(launch);
            launch.changed_options = server.changed_options();
        }
        for (workload, asking) in asks.iter_mut().enumerate() {
            if let Asking::Request { ask, lengths, .. } = asking {
                *lengths = answers::lengths(&self.measured.answers, workload);
                let rule = lengths.map_or(LengthRule::Any, |(min, max)| LengthRule::Within { min, max });
                *ask = ask.clone().with_length(rule);
            }
        }
        self.warm_up(&target, &asks, server)?;
        match self.purpose {
            Purpose::Trial(trial) => {
                for cell in &trial.cells {
                    self.measure(trial, *cell, &target, &asks, server, ready)?;
                }
            }
            Purpose::Evidence => self.watch(&target, &asks, server)?,
        }
        self.enter(Phase::Inspect, None);
        self.prove(server, true);
        self.look_at_answers(&target, &asks, server)
    }

    /// Reads the study's proofs that belong before, or after, the loads.
    fn prove(&mut self, server: &Running, after: bool) {
        let variant = &self.prepared.study.variants[self.variant];
        // A pilot measures nothing after which something could be read.
        let is_pilot = matches!(self.purpose, Purpose::Trial(trial) if trial.cells.is_empty());
        let due = |proof: &&Proof| proof.after == after && !(after && is_pilot);
        let proofs: Vec<&Proof> = variant.proofs.iter().filter(due).collect();
        self.measured.settings.extend(server.prove(&proofs));
    }

    /// The study's workloads, ready to be asked.
    fn asks(&self, target: &Target, site: &Site) -> Result<Vec<Asking>, Broken> {
        let asking = |workload: &Workload| match &workload.asks {
            Asks::Request { request, expect } => {
                let mut request = request.clone();
                for (_, value) in &mut request.headers {
                    *value = site.complete(value).map_err(|error| self.broken(error.into()))?;
                }
                let ask = Ask::new(&request, expect, target, LengthRule::Any)
                    .map_err(|source| ConductError::Request { workload: workload.name.clone(), source })?;
                Ok(Asking::Request { ask, request, expect: expect.clone(), lengths: None })
            }
            Asks::Scenarios { scenarios } => {
                let complete = |text: &str| site.complete_script(text).map_err(|error| self.broken(error.into()));
                Ok(Asking::Scenarios(script(&workload.name, &scenarios.map_texts(complete)?, target)?))
            }
        };
        self.prepared.study.workloads.iter().map(asking).collect()
    }

    /// Asks each workload once and keeps what the answers are like.
    fn look_at_answers(&mut self, target: &Target, asks: &[Asking], server: &Running) -> Result<(), Broken> {
        for (index, (workload, asking)) in self.prepared.study.workloads.iter().zip(asks).enumerate() {
            self.go_on()?;
            let mask = |text: &str| self.prepared.launcher.mask(text);
            match asking {
                Asking::Request { ask, expect, .. } => {
                    let answer = load::ask(target, ask, TIME_LIMIT)
                        .map_err(|error| self.failed(format!("{}: {error}", workload.name), server))?;
                    self.measured.answers.push(answers::sample(index, &answer, expect, mask));
                }
                Asking::Scenarios(script) => {
                    let seen = script.look(target, TIME_LIMIT).map_err(|error| self.unasked(error, server))?;
                    self.measured.answers.extend(seen.iter().map(|seen| answers::of_step(index, seen, mask)));
                }
            }
        }
        Ok(())
    }

    /// What it means that the client could not ask: a server that lets nobody set up is no server to measure.
    fn unasked(&self, error: LoadError, server: &Running) -> Broken {
        match error {
            LoadError::SetUp(_) | LoadError::Look(_) => {
                self.failed(self.prepared.launcher.mask(&error.to_string()), server)
            }
            error => error.into(),
        }
    }

    /// Loads with all workloads mixed until the cut or, in a pilot, until steady: by users who ask at once, whatever the
    /// measured loads are. At a rate that is given answers come at that rate, cold or warm, so that they would not show
    /// when the server is.
    fn warm_up(&mut self, target: &Target, asks: &[Asking], server: &Running) -> Result<(), Broken> {
        self.enter(Phase::WarmUp, None);
        let plan = &self.record.plan;
        let pilot = matches!(self.purpose, Purpose::Trial(trial) if trial.key.pilot);
        let longest = match (self.record.warm_up_cut, plan.schedule.warm_up) {
            (Some(cut), _) if !pilot => Duration::from_secs_f64(cut.seconds),
            (_, WarmUp::Pilot { cap }) => cap,
            (_, WarmUp::Fixed(fixed)) => fixed,
        };
        let load = self.mixed_load(target, asks, Stop::After(longest))?;
        let mut window = HalfWindow::new(plan.mode);
        let intervals = self.load(&load, server, &mut |interval| match window.push(&interval.bins) {
            Some(_) if pilot => Flow::Stop,
            _ => Flow::Continue,
        });
        let (intervals, ended) = intervals;
        self.measured.warm_up = Some(WarmUpRecord { intervals, steady_at_s: window.steady_at() });
        ended
    }

    /// All workloads mixed, by users who ask at once.
    pub(super) fn mixed_load(&self, target: &Target, asks: &[Asking], stop: Stop) -> Result<Load, Broken> {
        let cells = self.record.plan.cells.iter();
        Ok(Load {
            connections: cells.map(|cell| warm_up_users(&cell.shape)).max().unwrap_or(1),
            engine: self.record.host.engine,
            ..Load::new(target.clone(), self.mixed(asks, target)?, stop)
        })
    }

    /// All workloads in turn: requests as they are, or, where any of them is scenarios, all as scenarios.
    fn mixed(&self, asks: &[Asking], target: &Target) -> Result<Asked, Broken> {
        let requests = asks.iter().map(|asking| match asking {
            Asking::Request { ask, .. } => Some(ask.clone()),
            Asking::Scenarios(_) => None,
        });
        if let Some(requests) = requests.collect::<Option<Vec<_>>>() {
            return Ok(requests.into());
        }
        let as_script = |(workload, asking): (&Workload, &Asking)| match asking {
            Asking::Request { request, expect, lengths, .. } => {
                let alone = Scenarios::of_request(&workload.name, request, expect, *lengths);
                script(&workload.name, &alone, target)
            }
            Asking::Scenarios(script) => Ok(script.clone()),
        };
        let scripts = self.prepared.study.workloads.iter().zip(asks).map(as_script).collect::<Result<Vec<_>, _>>()?;
        Ok(scripts.into())
    }

    /// Measures one cell.
    fn measure(
        &mut self,
        trial: &Trial,
        cell: CellIndex,
        target: &Target,
        asks: &[Asking],
        server: &Running,
        ready: Instant,
    ) -> Result<(), Broken> {
        self.enter(Phase::Measure, Some(cell));
        let plan = &self.record.plan;
        let stop = Stop::After(plan.cells[cell].length(plan.schedule.measure));
        // All variants of a block meet the same random times.
        let load =
            Load { seed: plan.seed.wrapping_add(trial.key.block.into()), ..self.cell_load(cell, target, asks, stop) };
        let before = server.jruby_counts();
        let since_ready_s = ready.elapsed().as_secs_f64();
        let (intervals, ended) = self.load(&load, server, &mut |_| Flow::Continue);
        let after = before.filter(|_| ended.is_ok()).and_then(|_| server.jruby_counts());
        let jruby = after.zip(before).and_then(|(after, before)| after.since(before));
        self.measured.cells.push(CellRecord { cell, since_ready_s, intervals, jruby });
        ended
    }

    /// The load of one cell.
    pub(super) fn cell_load(&self, cell: CellIndex, target: &Target, asks: &[Asking], stop: Stop) -> Load {
        let plan = &self.record.plan;
        let planned = &plan.cells[cell];
        let asked = match &asks[planned.workload] {
            Asking::Request { ask, .. } => vec![ask.clone()].into(),
            Asking::Scenarios(script) => Asked::Scenarios(vec![script.clone()]),
        };
        Load {
            connections: planned.shape.connections,
            arrivals: planned.shape.arrivals.clone(),
            seed: plan.seed,
            engine: self.record.host.engine,
            ..Load::new(target.clone(), asked, stop)
        }
    }

    /// Makes a load; every interval gets the server's and the host's view added. What was seen is returned even when
    /// the load ended badly.
    pub(super) fn load(
        &mut self,
        load: &Load,
        server: &Running,
        judge: &mut dyn FnMut(&Interval) -> Flow,
    ) -> (Vec<Interval>, Result<(), Broken>) {
        let pinned = match Pinned::to(&self.prepared.study.host.client_cpus) {
            Ok(pinned) => pinned,
            Err(error) => return (Vec::new(), Err(self.broken(error.into()))),
        };
        let mut intervals = Vec::new();
        let mut probe = Probe::new(server, &self.services);
        let mut died = false;
        let made = load::run(load, self.interrupted, &mut |mut interval| {
            (interval.server, interval.host) = probe.sample();
            self.watcher.see(&Event::Progressed {
                rate: interval.tally.good as f64 / interval.length_s,
                failed: interval.tally.failed(),
            });
            died = !server.is_alive();
            let flow = judge(&interval);
            interval.pack();
            intervals.push(interval);
            if died { Flow::Stop } else { flow }
        });
        if let Some(used) = intervals.last_mut().and_then(|last: &mut Interval| last.server.as_mut()) {
            used.pss_bytes = probe.server.pss_bytes();
        }
        drop(pinned);
        let ended = match made {
            Err(error) => Err(self.unasked(error, server)),
            Ok(_) if died => {
                Err(self.failed(format!("the server ended by itself under load ({})", server.ending()), server))
            }
            Ok(_) => self.go_on(),
        };
        (intervals, ended)
    }

    pub(super) fn enter(&mut self, phase: Phase, cell: Option<CellIndex>) {
        self.phase = phase;
        self.watcher.see(&Event::PhaseBegan { phase, cell });
    }

    fn go_on(&self) -> Result<(), Broken> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Broken::Interrupted) } else { Ok(()) }
    }

    fn failed(&self, reason: String, server: &Running) -> Broken {
        Broken::Variant(Failed { phase: self.phase, reason, log_tail: server.log_tail() })
    }

    /// What an error of a launch or of an end means for the trial.
    fn broken(&self, error: LaunchError) -> Broken {
        match error.blame() {
            Blame::Ours => Broken::Ours(ConductError::launch(error)),
            Blame::Interrupted => Broken::Interrupted,
            Blame::Server => Broken::Variant(Failed {
                phase: self.phase,
                reason: error.to_string(),
                log_tail: error.log_tail().to_owned(),
            }),
        }
    }
}

/// A workload that is ready to be asked.
#[expect(clippy::large_enum_variant, reason = "a study has a handful of them")]
pub(super) enum Asking {
    Request {
        ask: Ask,
        request: Request,
        expect: Expect,
        /// The shortest and the longest length of a good answer, once they are known.
        lengths: Option<(u64, u64)>,
    },
    Scenarios(Script),
}

fn script(workload: &str, scenarios: &Scenarios, target: &Target) -> Result<Script, ConductError> {
    Script::new(scenarios, target).map_err(|source| ConductError::Script { workload: workload.to_owned(), source })
}

/// The server's and the host's view of each interval.
struct Probe {
    server: ServerSampler,
    services: Vec<ProcessTree>,
    host: HostSampler,
    ours_s: f64,
}

impl Probe {
    fn new(server: &Running, services: &[ProcessTree]) -> Self {
        let mut services = services.to_vec();
        for tree in &mut services {
            tree.sample();
        }
        Self { server: server.sampler(), services, host: HostSampler::new(), ours_s: server::own_cpu_s() }
    }

    /// What was used since the last sample.
    fn sample(&mut self) -> (Option<ServerUse>, Option<HostUse>) {
        let server = self.server.sample();
        let services = self.services.iter_mut().filter_map(ProcessTree::sample).map(|used| used.cpu_s).sum::<f64>();
        let ours_s = server::own_cpu_s();
        let own = server.as_ref().map_or(0.0, |used| used.cpu_s) + services + ours_s - self.ours_s;
        self.ours_s = ours_s;
        (server, Some(self.host.sample(own)))
    }
}

/// Users who warm up for a load: its own where they ask at once, else a few.
fn warm_up_users(shape: &Shape) -> u32 {
    match shape.arrivals {
        Arrivals::Closed { think: None, .. } => shape.connections,
        Arrivals::Closed { .. } | Arrivals::Open(_) => shape.connections.min(WARM_UP_USERS),
    }
}
