//! Walks a plan: asks the analysis what is next, does it, stores it, asks again.

mod answers;
mod error;
mod event;
mod evidence;
mod launch;
mod lifetime;
mod limit;
mod live;
mod loading;
mod phases;
mod prepared;
mod profiling;
mod services;
mod soak;
mod soaking;
mod trial;
mod turns;
mod workloads;

use std::ops::Range;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use analysis::{Assessment, Boundaries, Next};
use model::{Block, Launches, ProfilingSkipped, Status, StudyRecord, TrialKey, TrialRecord, VariantIndex};
use server::Launcher;
use store::Store;

pub use error::ConductError;
pub use event::{Ending, Event, Silent, Watcher};
use launch::Run;
use lifetime::LaunchEnd;
use prepared::Prepared;
use trial::Surroundings;
use turns::TurnScheduler;

/// What a run needs besides its record.
pub struct Conductor<'a> {
    /// Where trials are stored the moment they end.
    pub store: &'a Store,
    /// Starts processes that do not outlive us.
    pub launcher: &'a Launcher,
    /// Folder for the logs of this run's trials.
    pub folder: &'a Path,
    /// End after about this long.
    pub budget: Option<Duration>,
    /// Raised by Ctrl-C.
    pub interrupted: &'a AtomicBool,
    /// Who watches.
    pub watcher: &'a mut dyn Watcher,
}

impl Conductor<'_> {
    /// Runs what is left of the record's plan; `record` grows by what is measured, and so does the store.
    pub fn run(mut self, record: &mut StudyRecord) -> Result<Ending, ConductError> {
        self.store.set_status(&record.run, Status::Running)?;
        let made = match record.plan.soak.clone() {
            Some(plan) => self.soak(record, &plan),
            None => self.walk(record),
        };
        let ending = match made {
            // Whatever is asked for, what may be left behind is reported.
            Err(error) if error.leaves_something() => Err(error),
            // What was asked to stop may well fail; that it was asked is what counts.
            Err(_) if self.is_interrupted() => Ok(Ending::Interrupted),
            ending => ending,
        };
        let status = match ending {
            Ok(Ending::Finished(_) | Ending::Soaked) => Status::Finished,
            _ => Status::Interrupted,
        };
        let stored = self.store.set_status(&record.run, status);
        let ending = ending?;
        stored?;
        self.watcher.see(&Event::Ended(&ending));
        Ok(ending)
    }

    fn walk(&mut self, record: &mut StudyRecord) -> Result<Ending, ConductError> {
        let began = Instant::now();
        if record.profiling_skipped.is_some() {
            // They may be made yet, or are no longer wanted.
            self.skip_profiling(record, None)?;
        }
        let mut boundaries = Boundaries::for_study(record);
        let mut assessment = analysis::assess(record, &boundaries);
        self.watcher.see(&Event::Began { record, left: self.time_left(&assessment, began) });
        let study = record.study.clone();
        let prepared = Prepared::new(self.launcher, &study, self.folder, self.watcher)?;
        loop {
            if self.is_interrupted() {
                return Ok(Ending::Interrupted);
            }
            match analysis::next_step(&assessment) {
                Next::Stop(why) => {
                    let missing = self.profiling_runs_to_make(&assessment, began, &why);
                    return self.profile(&prepared, record, missing, why);
                }
                Next::FixWarmUpLength(length) => {
                    self.store.set_warm_up_length(&record.run, length)?;
                    record.warm_up_length = Some(length);
                    assessment = analysis::assess(record, &boundaries);
                    self.watcher.see(&Event::WarmUpLengthFixed(length));
                    self.foresee(&assessment);
                }
                Next::FixHorizon(blocks) => {
                    self.store.set_horizon(&record.run, blocks)?;
                    record.horizon = Some(blocks);
                    boundaries = Boundaries::for_study(record);
                    assessment = analysis::assess(record, &boundaries);
                    let aside = analysis::profiling_aside(&assessment);
                    self.watcher.see(&Event::HorizonFixed { blocks, aside });
                }
                Next::Run(key) => {
                    let block = analysis::block_time(&assessment);
                    // What the horizon has counted on may take a little longer than it was thought to.
                    let room = if record.horizon.is_some() { block / 2 } else { block };
                    if key.position == 0
                        && let Some(budget) = self.exceeded(began, room)
                    {
                        if record.plan.schedule.profiling {
                            self.skip_profiling(record, Some(ProfilingSkipped::Unsettled { budget }))?;
                        }
                        return Ok(Ending::Budget(budget));
                    }
                    let LaunchEnd { record: trials, end } = match self.conduct(&prepared, key, record) {
                        Err(why @ ConductError::Memory { .. }) if record.trials.is_empty() => {
                            self.fall_back(record, why.to_string())?;
                            assessment = analysis::assess(record, &boundaries);
                            continue;
                        }
                        over => over?,
                    };
                    if let Some(trials) = trials {
                        let before = record.trials.len();
                        record.trials.extend(trials);
                        assessment = analysis::assess(record, &boundaries);
                        self.tell(&assessment, before, began);
                    }
                    // Whether it ended as it should is looked at when it is stored.
                    end?;
                }
            }
        }
    }

    /// Launches each variant once more, where that is wanted and has not been done: the question is answered, and this shows why.
    fn profile(
        &mut self,
        prepared: &Prepared,
        record: &mut StudyRecord,
        missing: Result<Vec<VariantIndex>, ProfilingSkipped>,
        why: analysis::Stop,
    ) -> Result<Ending, ConductError> {
        let missing = match missing {
            Ok(missing) => missing,
            Err(skipped) => {
                self.skip_profiling(record, Some(skipped))?;
                return Ok(Ending::Finished(why));
            }
        };
        for variant in missing {
            if self.is_interrupted() {
                return Ok(Ending::Interrupted);
            }
            self.watcher.see(&Event::ProfilingBegan { variant });
            let watcher = Mutex::new(&mut *self.watcher);
            let run = Run { record, interrupted: self.interrupted, watcher: &watcher, seat: None };
            let LaunchEnd { record: made, end } = prepared.profile(variant, run)?;
            let Some(made) = made else { return end.map(|()| Ending::Interrupted) };
            self.store.add_profiling_run(&record.run, &made)?;
            self.watcher.see(&Event::ProfilingEnded(&made));
            record.profiling_runs.push(made);
            end?;
        }
        Ok(Ending::Finished(why))
    }

    /// The variants that are to be launched once more, none where that is not wanted; or why none is.
    fn profiling_runs_to_make(
        &self,
        assessment: &Assessment,
        began: Instant,
        why: &analysis::Stop,
    ) -> Result<Vec<VariantIndex>, ProfilingSkipped> {
        if !assessment.record.plan.schedule.profiling {
            return Ok(Vec::new());
        }
        let missing = analysis::missing_profiling_runs(assessment, why)?;
        // What only some of the variants show explains nothing.
        let time = analysis::profiling_time(assessment) * missing.len() as u32;
        // What the horizon has counted on may take a little longer than it was thought to.
        let room = if assessment.record.horizon.is_some() { time / 2 } else { time };
        match self.exceeded(began, room).filter(|_| !missing.is_empty()) {
            Some(budget) => Err(ProfilingSkipped::NoRoom { budget, time }),
            None => Ok(missing),
        }
    }

    /// Has launches go one after another from the first on.
    fn fall_back(&mut self, record: &mut StudyRecord, why: String) -> Result<(), ConductError> {
        self.watcher.see(&Event::FellBack(&why));
        record.plan = analysis::one_after_another(&record.study, &record.plan, why);
        Ok(self.store.set_plan(&record.run, &record.plan)?)
    }

    /// Stores and reports why there is no profiling run; `None` where there may be one.
    fn skip_profiling(
        &mut self,
        record: &mut StudyRecord,
        skipped: Option<ProfilingSkipped>,
    ) -> Result<(), ConductError> {
        self.store.set_profiling_skipped(&record.run, skipped.as_ref())?;
        if let Some(skipped) = &skipped {
            self.watcher.see(&Event::ProfilingSkipped(skipped));
        }
        record.profiling_skipped = skipped;
        Ok(())
    }

    /// The budget, where it has no room for something that takes so long.
    fn exceeded(&self, began: Instant, time: Duration) -> Option<Duration> {
        self.budget.filter(|budget| began.elapsed() + time > *budget)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Runs a trial, side by side all trials of its block, and stores what came of it, unless it was interrupted.
    fn conduct(
        &mut self,
        prepared: &Prepared,
        key: TrialKey,
        record: &StudyRecord,
    ) -> Result<LaunchEnd<Vec<TrialRecord>>, ConductError> {
        let block = block(record, key);
        let surroundings = Surroundings::begin();
        let mut over = match record.plan.schedule.launches {
            Launches::SideBySide => self.side_by_side(prepared, block, record)?,
            Launches::OneAfterAnother => {
                let watcher = Mutex::new(&mut *self.watcher);
                let run = Run { record, interrupted: self.interrupted, watcher: &watcher, seat: None };
                let LaunchEnd { record, end } = prepared.run(&block.trials[key.position as usize], run)?;
                LaunchEnd { record: record.map(|trial| vec![trial]), end }
            }
        };
        let (host, canary_ns) = surroundings.end();
        if let Some(trials) = &mut over.record {
            for trial in trials.iter_mut() {
                (trial.host, trial.canary_ns) = (host.clone(), canary_ns);
            }
            self.store.add_trials(&record.run, trials)?;
        }
        Ok(over)
    }

    /// Tells what came of the trials after the first `before` and, where they end their block, what is known since.
    fn tell(&mut self, assessment: &Assessment, before: usize, began: Instant) {
        let record = assessment.record;
        let left = self.time_left(assessment, began);
        for trial in &record.trials[before..] {
            self.watcher.see(&Event::TrialEnded { trial, left: left.clone() });
        }
        let Some(key) = record.trials.last().map(|trial| trial.key) else { return };
        let block = block(record, key);
        let ran = record.trials.iter().filter(|trial| (trial.key.pilot, trial.key.block) == (key.pilot, key.block));
        if ran.count() == block.trials.len() && !key.pilot {
            let excluded = analysis::excluded(assessment);
            if let Some((block, reason)) = excluded.into_iter().find(|(index, _)| *index == key.block) {
                self.watcher.see(&Event::Excluded { block, reason: &reason });
            } else {
                self.watcher.see(&Event::Looked(&analysis::looks(assessment)));
                self.foresee(assessment);
            }
        }
    }

    /// Runs all trials of a block at once, each on a thread of its own, which take turns. Where one of them was interrupted, or we
    /// failed, there is nothing to keep of the block.
    fn side_by_side(
        &mut self,
        prepared: &Prepared,
        block: &Block,
        record: &StudyRecord,
    ) -> Result<LaunchEnd<Vec<TrialRecord>>, ConductError> {
        let index = block.trials.first().map_or(0, |trial| trial.key.block);
        let orders = analysis::rounds(block.trials.len(), record.plan.seed, index);
        let (interrupted, scheduler) =
            (self.interrupted, TurnScheduler::new(block.trials.len(), orders, self.interrupted));
        let watcher = Mutex::new(&mut *self.watcher);
        let overs: Vec<_> = thread::scope(|scope| {
            let launch = |(place, trial)| {
                let run = Run { record, interrupted, watcher: &watcher, seat: Some(scheduler.seat(place)) };
                scope.spawn(move || prepared.run(trial, run))
            };
            let launches: Vec<_> = block.trials.iter().enumerate().map(launch).collect();
            launches.into_iter().map(|launch| launch.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
        });
        let (mut trials, mut end, mut failed) = (Vec::new(), Ok(()), None);
        for over in overs {
            match over {
                Ok(over) => {
                    trials.push(over.record);
                    end = end.and(over.end);
                }
                // What may be left behind is reported before all else, whichever launch left it.
                Err(error) if failed.is_none() || error.leaves_something() => failed = Some(error),
                Err(_) => {}
            }
        }
        if let Some(error) = failed {
            return Err(if error.leaves_something() { error } else { end.err().unwrap_or(error) });
        }
        Ok(LaunchEnd { record: trials.into_iter().collect(), end })
    }

    fn foresee(&mut self, assessment: &Assessment) {
        if let Some(outlook) = analysis::outlook(assessment) {
            self.watcher.see(&Event::Foreseen(&outlook));
        }
    }

    /// Least and most time that is left, by the plan and by the budget.
    fn time_left(&self, assessment: &Assessment, began: Instant) -> Range<Duration> {
        let record = assessment.record;
        let left = analysis::time_left(assessment);
        let wanted = if record.plan.schedule.profiling { record.study.variants.len() } else { 0 };
        let launches = wanted.saturating_sub(record.profiling_runs.len());
        let profiling = analysis::profiling_time(assessment) * launches as u32;
        let left = left.start + profiling..left.end + profiling;
        let allowed = self.budget.map_or(Duration::MAX, |budget| budget.saturating_sub(began.elapsed()));
        left.start.min(allowed)..left.end.min(allowed)
    }
}

fn block(record: &StudyRecord, key: TrialKey) -> &Block {
    let blocks = if key.pilot { &record.plan.pilot } else { &record.plan.blocks };
    &blocks[key.block as usize]
}
