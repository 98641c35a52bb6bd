//! One trial: one launch of one variant, inspected, warmed, measured, ended.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use analysis::{Second, Steadiness};
use jiff::Timestamp;
use load::{LengthRule, Load, Stop, Target};
use model::plan::Trial;
use model::proof::Proof;
use model::study::WarmUp;
use model::{Arrivals, CellIndex, CellRecord, HostUse, Interval, Phase, TrialRecord, WarmUpRecord};
use server::{HostSampler, Memory, Others, Running, Site};

use super::asking::Asking;
use super::loading::{Extent, Judged, Loaded};
use super::prepared::Prepared;
use super::running::{Broken, Measured, Over, Purpose, Run, RunningTrial};
use super::{ConductError, answers};

/// Answers looked at closely before the load, of each workload; one more is asked for after it.
const ANSWERS_BEFORE: usize = 2;

/// What the host does around launches, from when it is made.
pub(super) struct Surroundings {
    canary_before: u64,
    others: Others,
    host: HostSampler,
    own_before: f64,
    memory: Option<Memory>,
}

impl Surroundings {
    pub fn begin() -> Self {
        let canary_before = server::canary_ns();
        let (others, host, own_before) = (Others::new(), HostSampler::new(), server::own_cpu_s());
        Self { canary_before, others, host, own_before, memory: server::memory() }
    }

    /// The host's use since then, and the canary before and after. All that was launched has ended and been waited for: its CPU time
    /// is counted as ours.
    pub fn end(mut self) -> (HostUse, [u64; 2]) {
        let competitor = self.others.busiest().into_iter().next();
        let swapped = |before: Memory| Some(server::memory()?.swapped.saturating_sub(before.swapped));
        let swapped_bytes = self.memory.and_then(swapped);
        let host = HostUse { competitor, swapped_bytes, ..self.host.sample(server::own_cpu_s() - self.own_before) };
        (host, [self.canary_before, server::canary_ns()])
    }
}

impl Prepared<'_> {
    /// Runs one trial to its end. What the host did meanwhile is left to the caller.
    pub fn run<'a>(&'a self, trial: &'a Trial, run: Run<'a>) -> Result<Over<TrialRecord>, ConductError> {
        let started = Timestamp::now().to_string();
        let folder = self.trial_folder(trial);
        let running = RunningTrial::new(self, Purpose::Trial(trial), trial.variant, folder.clone(), run);
        running.over(|outcome, measured| {
            let Measured {
                launch, settings, answers, warm_up, cells, oom_kills, failed_tear_downs, service_logs, ..
            } = measured;
            TrialRecord {
                key: trial.key,
                variant: trial.variant,
                started,
                outcome,
                launch,
                settings,
                answers,
                warm_up,
                cells,
                host: HostUse::default(),
                canary_ns: [0; 2],
                oom_kills,
                failed_tear_downs,
                service_logs,
            }
        })
    }

    /// Where a trial leaves its logs: `block-03-1`, `pilot-01-2`.
    fn trial_folder(&self, trial: &Trial) -> PathBuf {
        let kind = if trial.key.pilot { "pilot" } else { "block" };
        self.folder.join(format!("{kind}-{:02}-{}", trial.key.block + 1, trial.key.position + 1))
    }
}

impl RunningTrial<'_> {
    /// All that is done with a server that is ready, in a trial and in an evidence launch alike but for what they are for.
    pub fn with_server(&mut self, server: &Running, site: &Site) -> Result<(), Broken> {
        let ready = Instant::now();
        self.enter(Phase::Inspect, None);
        self.measured.settings = server.read_back(&self.asked(), &self.asked_of_others());
        let target = Target::from(server.address());
        let mut asks = self.asks(&target, site)?;
        for _ in 0..ANSWERS_BEFORE {
            self.look_at_answers(&target, &asks, server)?;
        }
        let (varied, mut is_other) = (self.varied(), false);
        if let Some(launch) = &mut self.measured.launch {
            is_other = server.loaded(launch);
            launch.changed_options = server.changed_options();
            launch.varied = server.varied(&varied);
        }
        if is_other {
            self.measured.settings = server.read_back(&self.asked(), &self.asked_of_others());
        }
        self.prove(server, false)?;
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
        self.prove(server, true)?;
        self.look_at_answers(&target, &asks, server)
    }

    /// Reads the study's proofs that belong before, or after, the loads: all of them, or there is no trial.
    fn prove(&mut self, server: &Running, after: bool) -> Result<(), Broken> {
        let variant = &self.prepared.study.variants[self.variant];
        // A pilot measures nothing after which something could be read.
        let is_pilot = matches!(self.purpose, Purpose::Trial(trial) if trial.cells.is_empty());
        let due = |proof: &&Proof| proof.after == after && !(after && is_pilot);
        let proofs: Vec<&Proof> = variant.proofs.iter().filter(due).collect();
        let proved = server.prove(&proofs).map_err(|error| self.broken(error.into()))?;
        self.measured.settings.extend(proved);
        self.go_on()
    }

    /// Loads with all workloads mixed until the cut or, in a pilot, until steady: by users who ask at once, in bursts where the
    /// study says so, whatever the measured loads are. At a rate that is given answers come at that rate, cold or warm, so that they would not show
    /// when the server is.
    fn warm_up(&mut self, target: &Target, asks: &[Asking], server: &Running) -> Result<(), Broken> {
        self.enter(Phase::WarmUp, None);
        let plan = &self.run.record.plan;
        let pilot = matches!(self.purpose, Purpose::Trial(trial) if trial.key.pilot);
        let longest = match (self.run.record.warm_up_cut, plan.schedule.warm_up) {
            (Some(cut), _) if !pilot => Duration::from_secs_f64(cut.seconds),
            (_, WarmUp::Pilot { cap }) => cap,
            (_, WarmUp::Fixed(fixed)) => fixed,
        };
        let (mode, bursts) = (plan.mode, plan.schedule.bursts);
        let mut load = self.mixed_load(target, asks, Stop::After(longest))?;
        if let Some(bursts) = bursts {
            load.arrivals = Arrivals::Closed { think: None, steps: bursts.steps(load.connections, longest) };
        }
        let is_rest = |interval: &Interval| bursts.is_some_and(|bursts| bursts.is_rest(interval.start_s));
        // Side by side the block without a warm-up length finds it.
        let finds = self.run.record.warm_up_cut.is_none() && matches!(plan.schedule.warm_up, WarmUp::Pilot { .. });
        let extent = if finds { Extent::UntilSteady(longest) } else { Extent::Fixed(longest) };
        let (mut rule, mut steady) = (Steadiness::new(mode), None);
        let (loaded, ended) = self.load(&load, extent, server, &mut |interval| {
            // Rests tell nothing of how fast the server is.
            steady = if is_rest(interval) { None } else { rule.push(Second::from(interval)) }.or(steady);
            match steady {
                None => Judged::GoOn,
                Some(_) if pilot => Judged::Enough,
                Some(_) => Judged::Steady,
            }
        });
        let Loaded { intervals, slices } = loaded;
        let (rests, intervals) = intervals.into_iter().partition(is_rest);
        self.measured.warm_up = Some(WarmUpRecord {
            intervals,
            rests,
            slices,
            steady_at_s: steady.map(|steady| steady.at_s),
            steady_from_s: steady.map(|steady| steady.from_s),
        });
        ended
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
        let plan = &self.run.record.plan;
        let planned = &plan.cells[cell];
        let length = planned.length(plan.schedule.measure);
        let in_turns = self.run.seat.is_some();
        // A slice's answers are those of whole requests, from its beginning on.
        let warm_up = self.measured.warm_up.as_ref().map_or(&[][..], |warm_up| &warm_up.intervals);
        let lead_in = if in_turns { 0 } else { analysis::lead_in(planned, warm_up, length) };
        let stop = Stop::After(Duration::from_secs(lead_in) + length);
        // All variants of a block meet the same random times.
        let load =
            Load { seed: plan.seed.wrapping_add(trial.key.block.into()), ..self.cell_load(cell, target, asks, stop) };
        let (jruby_before, gc_before) = (server.jruby_counts(), server.ruby_gc());
        let (loaded, ended) = self.load(&load, Extent::Fixed(length), server, &mut |_| Judged::GoOn);
        let Loaded { intervals, slices } = loaded;
        let (ramp_up, intervals) = intervals.into_iter().partition(|second| second.start_s < lead_in as f64);
        let since_ready_s = self.load_began.duration_since(ready).as_secs_f64();
        let jruby = jruby_before.filter(|_| ended.is_ok()).and_then(|before| server.jruby_counts()?.since(before));
        let ruby_gc = gc_before.filter(|_| ended.is_ok()).and_then(|before| server.ruby_gc()?.since(&before));
        self.measured.cells.push(CellRecord { cell, since_ready_s, ramp_up, intervals, slices, jruby, ruby_gc });
        ended
    }
}
