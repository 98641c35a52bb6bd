//! The search for a launch's limit: rate after rate, then beyond it.

use std::thread;
use std::time::{Duration, Instant};

use analysis::limit::{self, NextStep, beyond, has_recovered, judge};
use load::{Load, Stop};
use model::search::{LimitStep, Overload, SearchEnd, StepResult};
use model::{Arrivals, CellIndex, CellRecord, FindLimit, LimitSearch, Phase, Profile, Sample, Slice, Stage};

use super::error::TrialError;
use super::evidence::{Evidence, LoadOf};
use super::live::LiveServer;
use super::loading::{Extent, Judged, Loaded};
use super::turns::Turn;
use super::workloads::PreparedWorkload;

/// From one look whether a server answers in time again to the next.
const LOOK: Duration = Duration::from_millis(100);

/// Looks for the limit, and makes the load beyond it.
pub(super) fn search<'l>(
    live: &LiveServer<'l>,
    workloads: &[PreparedWorkload],
    cell: CellIndex,
    find: &FindLimit,
    turn: Option<Turn<'l>>,
    evidence: &mut Evidence,
) -> (Result<CellRecord, TrialError>, Option<Turn<'l>>) {
    let since_ready_s = live.ready.elapsed().as_secs_f64();
    let measure = live.launch.run.record.plan.schedule.measure;
    let base = live.cell_load(cell, workloads, Stop::External);
    let index = live.launch.run.record.plan.cells[cell].workload;
    let workload = live.workload_of(cell);
    let mut search = Search { live, base, find, measure, turn, evidence, workload, loaded_s: 0.0, slices: Vec::new() };
    let made = search.make(&workloads[index]);
    let Search { turn, slices, loaded_s: length_s, .. } = search;
    let record = made.map(|Made { steps, end, overload, samples }| CellRecord {
        cell,
        since_ready_s,
        ramp_up: Vec::new(),
        samples,
        slices,
        jruby: None,
        ruby_gc: None,
        search: Some(LimitSearch { steps, end, overload, length_s }),
    });
    (record, turn)
}

/// A search that goes on.
struct Search<'s, 'l> {
    live: &'s LiveServer<'l>,
    /// What each step asks, at another rate.
    base: Load,
    find: &'s FindLimit,
    measure: Duration,
    /// Where launches take turns: each step has one.
    turn: Option<Turn<'l>>,
    /// What it sends is counted here.
    evidence: &'s mut Evidence,
    /// The workload's name.
    workload: &'l str,
    /// How long its loads took so far, seconds.
    loaded_s: f64,
    slices: Vec<Slice>,
}

/// What a search came to.
struct Made {
    steps: Vec<LimitStep>,
    end: SearchEnd,
    overload: Option<Overload>,
    /// Of the confirmation of the highest rate that held, if any.
    samples: Vec<Sample>,
}

impl Search<'_, '_> {
    fn make(&mut self, workload: &PreparedWorkload) -> Result<Made, TrialError> {
        let (mut steps, mut confirmed) = (Vec::new(), Vec::new());
        let end = loop {
            let (rate, confirms) = match limit::next_step(self.find, &steps) {
                NextStep::End(end) => break end,
                NextStep::Try { rate, confirms } => (rate, confirms),
            };
            let step =
                if confirms { self.find.confirmation(self.measure) } else { self.find.step_at(rate, self.measure) };
            let samples = self.load(Profile::constant(rate), step, &mut |_| Judged::Continue)?;
            let Some(step) = judge(&self.find.objective, rate, confirms, &samples) else {
                return Err(TrialError::Interrupted);
            };
            if step.result != StepResult::Held {
                self.rest(workload)?;
            } else if confirms {
                confirmed = samples;
            }
            steps.push(step);
        };
        let overload = end.capacity().map(|(capacity, _)| self.overload(capacity, workload)).transpose()?;
        Ok(Made { steps, end, overload, samples: confirmed })
    }

    /// Asks twice the capacity for a while, then half of it until the server has recovered.
    fn overload(&mut self, capacity: f64, workload: &PreparedWorkload) -> Result<Overload, TrialError> {
        let [rate, after] = beyond(capacity);
        let (length, longest) = (self.find.overload(self.measure), self.find.longest_recovery(self.measure));
        let stage = |rate, length| Stage { from: rate, to: rate, length };
        let profile = Profile { stages: vec![stage(rate, length), stage(after, longest)], ..Profile::constant(rate) };
        let (objective, overload_s) = (self.find.objective, length.as_secs_f64());
        let mut seen: Vec<Sample> = Vec::new();
        let samples = self.load(profile, length + longest, &mut |second| {
            seen.push(second.clone());
            let is_over = has_recovered(&objective, overload_s, &seen);
            if is_over { Judged::Enough } else { Judged::Continue }
        })?;
        self.rest(workload)?;
        Ok(limit::overload(&objective, rate, overload_s, &samples))
    }

    /// Makes a load of its own, on new connections, in one slice.
    fn load(
        &mut self,
        profile: Profile,
        length: Duration,
        judge: &mut dyn FnMut(&Sample) -> Judged,
    ) -> Result<Vec<Sample>, TrialError> {
        let Arrivals::Open(planned) = &self.base.arrivals else { return Ok(Vec::new()) };
        let arrivals = Arrivals::Open(Profile { spacing: planned.spacing, ..profile });
        let load = Load { arrivals, ..self.base.clone() };
        let (loaded, ended) = self.live.load(Phase::Measure, &load, Extent::Whole(length), self.turn.take(), judge);
        let Loaded { samples, slices, left, turn, .. } = loaded;
        self.evidence.add_load(&samples, left, LoadOf::One(self.workload));
        self.loaded_s += model::sample::seconds(&samples);
        self.slices.extend(slices);
        self.turn = turn;
        ended.map(|()| samples)
    }

    /// Waits until the server answers a single request in time again, for as long as it might take to recover: what a step leaves is no part
    /// of the next.
    fn rest(&mut self, workload: &PreparedWorkload) -> Result<(), TrialError> {
        let within = Duration::from_micros(self.find.objective.within_us);
        let PreparedWorkload::Request { prepared, expected, .. } = workload else { return Ok(()) };
        let until = Instant::now() + self.find.longest_recovery(self.measure);
        while Instant::now() < until {
            self.live.launch.go_on()?;
            let began = Instant::now();
            let answer = load::fetch(&self.live.target, prepared, within);
            let is_good = answer.is_ok_and(|answer| expected.unmet(&answer).is_empty());
            self.evidence.add_request(self.workload, is_good);
            if is_good && began.elapsed() <= within {
                break;
            }
            thread::sleep(LOOK);
        }
        Ok(())
    }
}
