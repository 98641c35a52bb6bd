//! A load on a launch that is running, with what is seen of server and host meanwhile: whole, or in the slices of its turns.

use std::time::{Duration, Instant};

use load::{Flow, Load, SliceEnd, Stop, Summary, Turns};
use model::{FailedTearDowns, HostUse, Interval, ServerUse, Slice, Waited};
use server::{HostSampler, Pinned, ProcessTree, Running, ServerSampler};

use super::Event;
use super::running::{Broken, RunningTrial};
use super::services::Services;
use super::turns::{Round, Seat};

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

impl RunningTrial<'_> {
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
