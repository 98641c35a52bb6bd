//! The phases of a server that is ready. Each is a value that the next one consumes: launched, inspected, warm, measured.

use std::time::Duration;

use analysis::{Second, Steadiness};
use load::{LengthRule, Stop};
use model::study::WarmUp;
use model::{CellIndex, CellRecord, Phase, WarmUpRecord};
use server::Site;

use super::answers;
use super::error::TrialError;
use super::evidence::{Evidence, LoadOf, PhaseResult};
use super::launch::Purpose;
use super::limit;
use super::live::LiveServer;
use super::loading::{Extent, Judged, Loaded};
use super::turns::Turn;
use super::workloads::PreparedWorkload;

/// Answers looked at closely before the load, of each workload; one more is asked for after it.
const ANSWERS_BEFORE: usize = 2;

/// A server that has not been asked anything yet.
pub(super) struct Launched<'l> {
    live: LiveServer<'l>,
    turn: Option<Turn<'l>>,
    evidence: Evidence,
}

/// A server whose settings and single answers have been looked at.
pub(super) struct Inspected<'l> {
    pub live: LiveServer<'l>,
    pub turn: Option<Turn<'l>>,
    pub evidence: Evidence,
    /// The workloads, with what their good answers are like.
    pub workloads: Vec<PreparedWorkload>,
}

/// A server that is warm, and may have been measured since.
pub(super) struct Warm<'l>(pub Inspected<'l>);

/// A server that has shown all that it was loaded for.
struct Measured<'l>(Inspected<'l>);

impl<'l> Launched<'l> {
    pub fn new(live: LiveServer<'l>, turn: Option<Turn<'l>>) -> Self {
        let evidence = Evidence { launch: Some(live.server.facts().clone()), ..Evidence::default() };
        Self { live, turn, evidence }
    }

    /// All that is done with a server that is ready, in a trial and in a profiling run alike but for what they are for.
    pub fn live(self, site: &Site) -> PhaseResult<Evidence> {
        self.inspect(site)?.warm_up()?.measure()?.inspect()
    }

    /// Looks at settings, single answers and assertions before any load.
    fn inspect(self, site: &Site) -> PhaseResult<Inspected<'l>> {
        let Self { live, turn, mut evidence } = self;
        live.launch.enter(Phase::Inspect, None);
        evidence.settings = live.settings();
        let (mut evidence, mut workloads) = evidence.then(live.workloads(site))?;
        for _ in 0..ANSWERS_BEFORE {
            evidence = live.look_at_answers(&workloads, evidence)?;
        }
        if let Some(launch) = &mut evidence.launch {
            let is_other = live.server.loaded(launch);
            launch.changed_options = live.server.changed_options();
            launch.varied = live.server.varied(&live.launch.varied());
            if is_other {
                evidence.settings = live.settings();
            }
        }
        let checked = live.check_assertions(false, &evidence);
        let (mut evidence, checked) = evidence.then(checked)?;
        evidence.settings.extend(checked);
        for (index, workload) in workloads.iter_mut().enumerate() {
            if let PreparedWorkload::Request { prepared, lengths, .. } = workload {
                *lengths = answers::lengths(&evidence.answers, index);
                let rule = lengths.map_or(LengthRule::Any, |(min, max)| LengthRule::Within { min, max });
                *prepared = prepared.clone().with_length(rule);
            }
        }
        Ok(Inspected { live, turn, evidence, workloads })
    }
}

impl<'l> Inspected<'l> {
    /// Loads with all workloads mixed until the warm-up length or, in a pilot, until steady: by users who ask at once, whatever the
    /// measured loads are. At a rate that is given answers come at that rate, cold or warm, so that they would not show when the server is.
    fn warm_up(self) -> PhaseResult<Warm<'l>> {
        let Self { live, turn, evidence, workloads } = self;
        live.launch.enter(Phase::WarmUp, None);
        // All of the block start before any is loaded.
        let turn = turn.map(|turn| turn.seat.next().ok_or(TrialError::Interrupted)).transpose();
        let (evidence, turn) = evidence.then(turn)?;
        let record = live.launch.run.record;
        let plan = &record.plan;
        let pilot = match live.launch.purpose {
            Purpose::Trial(trial) => trial.key.pilot,
            // A soak has all the time that it takes to be steady, and compares nothing.
            Purpose::Soak(_) => true,
            Purpose::Profiling => false,
        };
        let longest = match (record.warm_up_length, plan.schedule.warm_up) {
            (Some(length), _) if !pilot => Duration::from_secs_f64(length.seconds),
            (_, WarmUp::Pilot { cap }) => cap,
            (_, WarmUp::Fixed(fixed)) => fixed,
        };
        let (mut evidence, load) = evidence.then(live.mixed_load(&workloads, Stop::After(longest)))?;
        // Side by side the block without a warm-up length finds it.
        let finds = record.warm_up_length.is_none() && matches!(plan.schedule.warm_up, WarmUp::Pilot { .. });
        let extent = if finds { Extent::UntilSteady(longest) } else { Extent::Fixed(longest) };
        let (mut rule, mut steady) = (Steadiness::new(plan.mode), None);
        let (loaded, ended) = live.load(Phase::WarmUp, &load, extent, turn, &mut |sample| {
            steady = rule.push(Second::from(sample)).or(steady);
            match steady {
                None => Judged::Continue,
                Some(_) if pilot => Judged::Enough,
                Some(_) => Judged::Steady,
            }
        });
        let Loaded { samples, slices, left, turn, .. } = loaded;
        evidence.add_load(&samples, left, LoadOf::all(&record.study.workloads));
        evidence.warm_up = Some(WarmUpRecord { samples, slices, steady });
        let (evidence, ()) = evidence.then(ended)?;
        Ok(Warm(Inspected { live, turn, evidence, workloads }))
    }
}

impl<'l> Warm<'l> {
    /// Does what the launch is for.
    fn measure(self) -> PhaseResult<Measured<'l>> {
        let Self(measured) = match self.0.live.launch.purpose {
            Purpose::Trial(trial) => trial.cells.iter().try_fold(self, |warm, cell| warm.measure_cell(*cell))?,
            Purpose::Profiling => self.watch()?,
            Purpose::Soak(soaking) => self.soak(soaking)?,
        };
        Ok(Measured(measured))
    }

    fn measure_cell(self, cell: CellIndex) -> PhaseResult<Self> {
        let Self(Inspected { live, turn, mut evidence, workloads }) = self;
        live.launch.enter(Phase::Measure, Some(cell));
        let plan = &live.launch.run.record.plan;
        let planned = &plan.cells[cell];
        if let Some(find) = planned.shape.find_limit {
            let (searched, turn) = limit::search(&live, &workloads, cell, &find, turn, &mut evidence);
            let (mut evidence, record) = evidence.then(searched)?;
            evidence.cells.push(record);
            return Ok(Self(Inspected { live, turn, evidence, workloads }));
        }
        let length = planned.length(plan.schedule.measure);
        // A slice's answers are those of whole requests, from its beginning on.
        let warm_up = evidence.warm_up.as_ref().map_or(&[][..], |warm_up| &warm_up.samples);
        let ramp_up_s = if turn.is_some() { 0 } else { analysis::ramp_up(planned, warm_up, length) };
        let stop = Stop::After(Duration::from_secs(ramp_up_s) + length);
        let load = live.cell_load(cell, &workloads, stop);
        let (jruby_before, gc_before) = (live.server.jruby_counts(), live.server.ruby_gc());
        let (loaded, ended) = live.load(Phase::Measure, &load, Extent::Fixed(length), turn, &mut |_| Judged::Continue);
        let Loaded { began, samples, slices, left, turn } = loaded;
        evidence.add_load(&samples, left, LoadOf::One(live.workload_of(cell)));
        let (ramp_up, samples) = samples.into_iter().partition(|second| second.start_s < ramp_up_s as f64);
        let since_ready_s = began.duration_since(live.ready).as_secs_f64();
        let jruby = jruby_before.filter(|_| ended.is_ok()).and_then(|before| live.server.jruby_counts()?.since(before));
        let ruby_gc = gc_before.filter(|_| ended.is_ok()).and_then(|before| live.server.ruby_gc()?.since(&before));
        evidence.cells.push(CellRecord { cell, since_ready_s, ramp_up, samples, slices, jruby, ruby_gc, search: None });
        let (evidence, ()) = evidence.then(ended)?;
        Ok(Self(Inspected { live, turn, evidence, workloads }))
    }
}

impl Measured<'_> {
    /// Looks at assertions and single answers once more, after all loads.
    fn inspect(self) -> PhaseResult<Evidence> {
        let Self(Inspected { live, evidence, workloads, .. }) = self;
        live.launch.enter(Phase::Inspect, None);
        let checked = live.check_assertions(true, &evidence);
        let (mut evidence, checked) = evidence.then(checked)?;
        evidence.settings.extend(checked);
        live.look_at_answers(&workloads, evidence)
    }
}
