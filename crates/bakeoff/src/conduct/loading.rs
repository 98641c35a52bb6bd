//! A load on a launch that is running, with what is seen of server and host meanwhile: whole, or in the slices of its turns.

use std::mem;
use std::time::{Duration, Instant};

use load::{Flow, Load, SliceEnd, Stop, Summary, Turns};
use model::{FailedTearDowns, HostUse, Phase, Sample, ServerUse, Slice, Waited};
use server::{HostSampler, Pinned, ProcessTree, ServerSampler};

use super::error::TrialError;
use super::event::Event;
use super::evidence::LeftBehind;
use super::live::LiveServer;
use super::turns::{Round, Turn, TurnHandle};

/// What a load showed.
pub(super) struct Loaded<'l> {
    /// When it began, its users having set up.
    pub began: Instant,
    pub samples: Vec<Sample>,
    pub slices: Vec<Slice>,
    pub left: LeftBehind,
    /// The turn that is left for what comes after it, where launches take turns.
    pub turn: Option<Turn<'l>>,
}

/// How long a load is in turns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Extent {
    /// So long.
    Fixed(Duration),
    /// So long in one slice, which ends when all that was sent has: whole where there are no turns, too.
    Whole(Duration),
    /// Until all launches of the block are steady, and as much longer as a warm-up is after a pilot; at most so long.
    UntilSteady(Duration),
}

impl Extent {
    /// As known in this round.
    fn in_round(self, round: Round) -> Duration {
        match (self, round.steady_at) {
            (Self::UntilSteady(cap), Some(steady_at)) => {
                Duration::from_secs_f64(analysis::warm_up_length(&[vec![Some(steady_at)]], cap).seconds)
            }
            (Self::Fixed(length) | Self::Whole(length) | Self::UntilSteady(length), _) => length,
        }
    }
}

impl<'l> LiveServer<'l> {
    /// Makes a load; every sample gets the server's and the host's view added. What was seen is returned even when
    /// the load ended badly. `judge` sees what counts. With a `turn` it is made in slices, `extent` in all, and
    /// `judge` says from when on the launch is steady; else the load ends by itself.
    pub fn load(
        &self,
        phase: Phase,
        load: &Load,
        extent: Extent,
        turn: Option<Turn<'l>>,
        judge: &mut dyn FnMut(&Sample) -> Judged,
    ) -> (Loaded<'l>, Result<(), TrialError>) {
        let (launch, in_turns) = (self.launch, turn.is_some());
        let (samples, slices) = (Vec::new(), Vec::new());
        let loaded = Loaded { began: Instant::now(), samples, slices, left: LeftBehind::default(), turn };
        let pinned = match Pinned::to(&launch.prepared.study.host.client_cpus) {
            Ok(pinned) => pinned,
            Err(error) => return (loaded, Err(launch.trial_error(phase, error.into()))),
        };
        let is_sliced = in_turns || matches!(extent, Extent::Whole(_));
        let load = if is_sliced { Load { stop: Stop::External, ..load.clone() } } else { load.clone() };
        let mut loading = Loading {
            live: self,
            phase,
            probe: Probe::new(self),
            judge,
            extent,
            loaded,
            done: Duration::ZERO,
            slice: Duration::ZERO,
            slice_began: Instant::now(),
            steady_at: None,
            waited_s: 0.0,
            died: false,
            service_ended: false,
        };
        let made = load::run_in_turns(&load, launch.run.interrupted, &mut loading);
        let Loading { mut probe, mut loaded, died, service_ended, .. } = loading;
        if let Some(used) = loaded.samples.last_mut().and_then(|last| last.server.as_mut()) {
            used.pss_bytes = probe.server.pss_bytes();
        }
        drop(pinned);
        loaded.left.abandoned = made.as_ref().map_or(0, |summary| summary.abandoned);
        if let Ok(Summary { teardowns_failed: users @ 1.., teardown_failure: Some(reason), .. }) = &made {
            let failed = FailedTearDowns { users: *users, first: launch.prepared.launcher.mask(reason) };
            launch.run.watcher.pass_on(&Event::TearDownsFailed(&failed));
            loaded.left.failed_tear_downs = Some(failed);
        }
        let ended = match made {
            Err(error) => Err(self.not_loaded(phase, error)),
            Ok(_) if service_ended => self.services.unless_ended(phase, Ok(())),
            Ok(_) if died => Err(self.died(phase)),
            Ok(_) if in_turns && loaded.turn.is_none() => Err(TrialError::Interrupted),
            Ok(_) => launch.go_on(),
        };
        (loaded, ended)
    }
}

/// What a load that is judged as it goes is worth so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Judged {
    /// It goes on.
    Continue,
    /// It goes on, and the sample need not be kept.
    Taken,
    /// The launch is steady.
    Steady,
    /// The launch is steady, and the load is over.
    Enough,
}

/// A load that is being made.
struct Loading<'r, 'l> {
    live: &'r LiveServer<'l>,
    phase: Phase,
    probe: Probe,
    judge: &'r mut dyn FnMut(&Sample) -> Judged,
    extent: Extent,
    loaded: Loaded<'l>,
    /// What its slices so far had in all.
    done: Duration,
    /// The slice that is on, and when it began.
    slice: Duration,
    slice_began: Instant,
    /// When the launch was first found steady, seconds of load.
    steady_at: Option<f64>,
    /// How long the server was stopped since the last sample, seconds.
    waited_s: f64,
    died: bool,
    service_ended: bool,
}

impl Loading<'_, '_> {
    /// Notes a slice that is over, lets the others have their turns, and looks at what the server did meanwhile.
    fn over(&mut self, ended: SliceEnd) {
        let Some(Turn { seat, round, waited: before }) = self.loaded.turn.take() else { return };
        // How long a queue takes to empty that was filled on purpose is no reason for longer slices.
        let drain = if let Extent::Whole(_) = self.extent { Duration::ZERO } else { ended.drain };
        seat.report(drain, self.steady_at);
        self.done += self.slice;
        self.loaded.slices.push(Slice {
            round: round.number,
            began_s: self.slice_began.duration_since(seat.began()).as_secs_f64(),
            length_s: self.slice.as_secs_f64(),
            drain_s: ended.drain.as_secs_f64(),
            late_s: ended.late.as_secs_f64(),
            lost_connections: ended.lost,
            waited: before,
        });
        // A waiting server stands still: its compilers do not warm it up, and nothing of it takes what the others are to have.
        let paused = (self.live.server.pause(), self.live.services.pause());
        let turn = seat.next();
        drop(paused);
        self.probe.others = Some(seat.others());
        let (server, host) = self.probe.sample();
        let waited = server.zip(host).map(|(server, host)| Waited { elapsed_s: host.elapsed_s, cpu_s: server.cpu_s });
        self.waited_s = waited.map_or(0.0, |waited| waited.elapsed_s);
        self.loaded.turn = turn.map(|turn| Turn { waited, ..turn });
    }

    /// Whether the server or a service of it has ended.
    fn has_ended(&mut self) -> bool {
        self.died = !self.live.server.is_alive();
        self.service_ended = self.live.services.ended(self.phase).is_some();
        self.died || self.service_ended
    }
}

impl Turns for Loading<'_, '_> {
    fn next(&mut self, ended: Option<SliceEnd>) -> Option<Duration> {
        if let Some(ended) = ended {
            self.over(ended);
            if self.has_ended() {
                return None;
            }
        } else {
            self.probe.sample();
            // What users do to set up is no part of what is measured.
            self.loaded.began = Instant::now();
            if self.live.launch.run.seat.is_none() {
                return Some(if let Extent::Whole(length) = self.extent { length } else { Duration::MAX });
            }
        }
        let round = self.loaded.turn.as_ref()?.round;
        let left = self.extent.in_round(round).saturating_sub(self.done);
        let slice = if let Extent::Whole(length) = self.extent { length } else { round.slice(self.phase) };
        // No slice is shorter than half the usual one.
        self.slice = if left < slice * 3 / 2 { left } else { slice };
        self.slice_began = Instant::now();
        (!left.is_zero()).then_some(self.slice)
    }

    fn observe(&mut self, mut sample: Sample) -> Flow {
        (sample.server, sample.host) = self.probe.sample();
        let waited_s = mem::take(&mut self.waited_s);
        if let Some(counters) = sample.server.as_mut().and_then(|used| used.jvm.as_mut()?.counters.as_mut()) {
            // A compilation counts where it ends, by the clock, the time included for which it was stopped with its server: on
            // average that is this part of what was counted.
            counters.jit_s *= sample.length_s / (sample.length_s + waited_s);
        }
        sample.round = self.loaded.turn.as_ref().map_or(0, |turn| turn.round.number);
        let launch = self.live.launch;
        launch.run.watcher.pass_on(&Event::Progressed {
            variant: launch.variant,
            rate: sample.tally.good as f64 / sample.length_s,
            failed: sample.tally.failed(),
        });
        let judged = (self.judge)(&sample);
        if judged == Judged::Steady {
            self.steady_at.get_or_insert(sample.start_s + sample.length_s);
        }
        if judged != Judged::Taken {
            sample.pack();
            self.loaded.samples.push(sample);
        }
        if self.has_ended() || judged == Judged::Enough { Flow::Stop } else { Flow::Continue }
    }
}

/// The server's and the host's view of each sample.
struct Probe {
    server: ServerSampler,
    services: Option<Vec<ProcessTree>>,
    /// What runs of the launches that wait for their turn.
    others: Option<Vec<ProcessTree>>,
    host: HostSampler,
    ours_s: f64,
}

impl Probe {
    fn new(live: &LiveServer) -> Self {
        let (server, services) = (live.server.sampler(), live.services.trees());
        let others = live.launch.run.seat.as_ref().map(TurnHandle::others);
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
