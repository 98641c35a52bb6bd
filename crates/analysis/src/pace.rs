//! How long the rest of a run will take: by its plan, and by what its trials have taken so far.

use std::ops::Range;
use std::time::Duration;

use model::study::WarmUp;
use model::{
    Cell, CellIndex, CellRecord, FindLimit, Launches, Outcome, Schedule, StudyRecord, TrialRecord, WarmUpRecord, sample,
};

use crate::assess::Assessment;
use crate::blocks::{BlockStatus, spare};
use crate::profiling::profiling_window;
use crate::{ramp_up, steady};

/// Least and most that a trial is thought to take besides load, seconds: start, inspection, end. Those of a small program
/// and of a JVM, until one has been seen.
pub(crate) const OVERHEAD_S: Range<f64> = 0.5..10.0;

/// Least and most time that is left: from stopping at the first look to running every block up to the horizon, spare ones too; before
/// that is fixed, up to the time that the run may take.
pub fn time_left(assessment: &Assessment) -> Range<Duration> {
    let Assessment { record, blocks: states, .. } = assessment;
    let schedule = &record.plan.schedule;
    let variants = record.study.variants.len() as u32;
    let ran = |pilot: bool| record.trials.iter().filter(|trial| trial.key.pilot == pilot).count() as u32;
    let pilots = (record.plan.pilot.len() as u32 * variants).saturating_sub(ran(true));

    let used = assessment.used() as u32;
    let begun = states.iter().filter(|block| block.status == BlockStatus::Incomplete).count() as u32;
    let complete = states.len() as u32 - begun;
    let planned = record.plan.blocks.len() as u32;
    let most = record.most_blocks();
    let most = if used < most { planned.min(most + spare(most)).saturating_sub(complete).max(begun) } else { begun };
    let least = schedule.min_blocks.saturating_sub(used).clamp(begun, most);

    let pace = Pace::of(record);
    let total = |blocks: u32, pilot: f64, trial: f64| {
        let trials = (blocks * variants).saturating_sub(ran(false) - complete * variants);
        Duration::from_secs_f64(f64::from(pilots) * pilot + f64::from(trials) * trial)
    };
    let (least, most) = (total(least, pace.pilot.start, pace.trial.start), total(most, pace.pilot.end, pace.trial.end));
    // Until the horizon is fixed the run's time bounds what its plan would take.
    let most = if record.horizon.is_none() { most.min(time_unspent(record)) } else { most };
    least.min(most)..most
}

/// What is left of the time that the run may take, by the recorded lengths of its trials.
fn time_unspent(record: &StudyRecord) -> Duration {
    let spent_s: f64 = record.trials.iter().map(|trial| elapsed_s(record, trial)).sum();
    record.plan.schedule.within.saturating_sub(Duration::from_secs_f64(spent_s))
}

/// The time that the next block takes at most, or at least as long as no launch has shown how long one takes. A pilot block
/// while there are any left to run.
pub fn block_time(assessment: &Assessment) -> Duration {
    let record = assessment.record;
    let pace = Pace::of(record);
    let pilots = record.plan.pilot.iter().map(|block| block.trials.len()).sum();
    let is_pilot = record.trials.iter().filter(|trial| trial.key.pilot).count() < pilots;
    let trial = if is_pilot { pace.pilot } else { pace.trial };
    let is_known = record.trials.iter().any(|trial| trial.outcome == Outcome::Completed);
    let seconds = if is_known { trial.end } else { trial.start };
    Duration::from_secs_f64(seconds * record.study.variants.len() as f64)
}

/// The time that one launch takes at most: its part of a block.
pub fn launch_time(assessment: &Assessment) -> Duration {
    block_time(assessment) / assessment.record.study.variants.len().max(1) as u32
}

/// How many blocks are used at most, by the time that a block takes and what is left of the run's, so far as its trials have been
/// recorded. The time of profiling runs is set aside first, where the minimum number of blocks leaves any. No fewer than that number, no more than
/// the plan has.
pub fn horizon(assessment: &Assessment) -> u32 {
    let schedule = &assessment.record.plan.schedule;
    let aside = profiling_aside(assessment).unwrap_or_default();
    within_plan(schedule, fitting(assessment, aside))
}

/// The time that is set aside for profiling runs: zero where the minimum number of blocks leaves none; `None` where none are wanted.
pub fn profiling_aside(assessment: &Assessment) -> Option<Duration> {
    let Assessment { record, .. } = assessment;
    let time = profiling_time(assessment) * record.study.variants.len() as u32;
    aside(&record.plan.schedule, time, |time| fitting(assessment, time))
}

/// The same where so much is wanted, and so many blocks fit beside a time.
fn aside(schedule: &Schedule, wanted: Duration, fitting: impl Fn(Duration) -> u32) -> Option<Duration> {
    let has_room = || fitting(wanted) >= schedule.min_blocks;
    schedule.profiling.then(|| if has_room() { wanted } else { Duration::ZERO })
}

/// So many blocks, but no fewer and no more than the plan has.
fn within_plan(schedule: &Schedule, blocks: u32) -> u32 {
    blocks.max(schedule.min_blocks).min(schedule.max_blocks)
}

/// About how long one profiling run takes, reading what was recorded included.
pub fn profiling_time(assessment: &Assessment) -> Duration {
    launch_time(assessment) + profiling_window(assessment.record)
}

/// Blocks for which there is time, used ones included, where so much of it is for something else.
fn fitting(assessment: &Assessment, aside: Duration) -> u32 {
    let unspent = time_unspent(assessment.record).as_secs_f64() - aside.as_secs_f64();
    let blocks = assessment.used() as f64 + unspent / block_time(assessment).as_secs_f64();
    blocks.clamp(0.0, f64::from(u32::MAX)) as u32
}

/// The most that a block may take, by what is known.
pub fn longest_block(record: &StudyRecord) -> Duration {
    Duration::from_secs_f64(Pace::of(record).trial.end) * record.study.variants.len() as u32
}

/// The most that all pilots may take, by what is known.
pub fn longest_pilots(record: &StudyRecord) -> Duration {
    let launches = record.plan.pilot.len() * record.study.variants.len();
    Duration::from_secs_f64(Pace::of(record).pilot.end) * launches as u32
}

/// How many blocks are used at most by a run that has not begun, where all take as long as they may.
pub fn longest_horizon(record: &StudyRecord) -> u32 {
    let schedule = &record.plan.schedule;
    let block = longest_block(record);
    let fitting = |aside: Duration| {
        let room = schedule.within.saturating_sub(longest_pilots(record) + aside);
        (room.as_secs_f64() / block.as_secs_f64()) as u32
    };
    let profiling = block + profiling_window(record) * record.study.variants.len() as u32;
    within_plan(schedule, fitting(aside(schedule, profiling, fitting).unwrap_or_default()))
}

/// Least and most seconds of one trial.
struct Pace {
    /// One that only warms up.
    pilot: Range<f64>,
    /// One that measures.
    trial: Range<f64>,
}

impl Pace {
    fn of(record: &StudyRecord) -> Self {
        let schedule = &record.plan.schedule;
        let completed = || record.trials.iter().filter(|trial| trial.outcome == Outcome::Completed);
        // Side by side a block in which a launch failed shows nobody's part of it.
        let whole = completed().filter(|trial| is_whole(record, trial));
        let seen = mean(whole.map(|trial| (elapsed_s(record, trial) - loaded_s(trial)).max(0.0)));
        let overhead = seen.map_or(OVERHEAD_S, |seen| seen..seen);
        let (pilot, warm_up) = match schedule.warm_up {
            WarmUp::Fixed(time) => (0.0..0.0, time.as_secs_f64()..time.as_secs_f64()),
            WarmUp::Pilot { cap } => {
                let longest = cap.as_secs_f64();
                let seen = mean(completed().filter(|trial| trial.key.pilot).map(loaded_s));
                let least = seen.unwrap_or_else(|| steady::least_seconds(record.plan.mode)).min(longest);
                (least..seen.unwrap_or(longest), steady::warm_up_length(&[vec![Some(least)]], cap).seconds..longest)
            }
        };
        let warm_up = record.warm_up_length.map_or(warm_up, |length| length.seconds..length.seconds);
        let measuring = measuring(record, completed().filter_map(|trial| trial.warm_up.as_ref()));
        let sum = |a: &Range<f64>, b: &Range<f64>| a.start + b.start..a.end + b.end;
        Self { pilot: sum(&overhead, &pilot), trial: sum(&sum(&overhead, &warm_up), &measuring) }
    }
}

/// Whether no launch of the trial's block failed, as far as they have run; one after another that is not asked.
fn is_whole(record: &StudyRecord, trial: &TrialRecord) -> bool {
    let of_block = |other: &&TrialRecord| (other.key.pilot, other.key.block) == (trial.key.pilot, trial.key.block);
    record.plan.schedule.launches == Launches::OneAfterAnother
        || record.trials.iter().filter(of_block).all(|other| other.outcome == Outcome::Completed)
}

/// Least and most seconds that a trial measures: its cells, each after a ramp-up, whose length follows from the warm-ups `seen`.
fn measuring<'a>(record: &StudyRecord, seen: impl Iterator<Item = &'a WarmUpRecord>) -> Range<f64> {
    let (given, searched): (Vec<_>, Vec<_>) =
        record.plan.cells.iter().enumerate().partition(|(_, cell)| cell.shape.find_limit.is_none());
    let searched = searched.into_iter().map(|(index, _)| searching(record, index));
    let searched = searched.fold(0.0..0.0, |sum: Range<f64>, one| sum.start + one.start..sum.end + one.end);
    let loaded = given_loads(record, &given, seen);
    loaded.start + searched.start..loaded.end + searched.end
}

/// Least and most seconds that a search takes in a cell: as seen, or as it may take at least and at most.
fn searching(record: &StudyRecord, cell: CellIndex) -> Range<f64> {
    let measured = record.trials.iter().flat_map(|trial| &trial.cells).filter(|measured| measured.cell == cell);
    let seen = mean(measured.filter_map(|measured| Some(measured.search.as_ref()?.length_s)));
    let planned = &record.plan.cells[cell];
    let length = |find: FindLimit| find.shortest(record.plan.schedule.measure).as_secs_f64();
    let least = planned.shape.find_limit.map_or(0.0, length);
    let most = planned.length(record.plan.schedule.measure).as_secs_f64();
    seen.map_or(least..most, |seen| seen..seen)
}

/// The same of cells whose loads are given.
fn given_loads<'a>(
    record: &StudyRecord,
    given: &[(CellIndex, &Cell)],
    seen: impl Iterator<Item = &'a WarmUpRecord>,
) -> Range<f64> {
    let cells = || given.iter().map(|(_, cell)| (*cell, cell.length(record.plan.schedule.measure)));
    if record.plan.schedule.launches == Launches::SideBySide {
        // The ramp-ups of slices are part of their length.
        let length: f64 = cells().map(|(_, length)| length.as_secs_f64()).sum();
        return length..length;
    }
    let ramp_ups = |warm_up: &WarmUpRecord| -> f64 {
        cells().map(|(cell, length)| ramp_up(cell, &warm_up.samples, length) as f64).sum()
    };
    let longest: f64 = cells().filter(|(cell, _)| ramp_up::has_one(cell)).map(|(_, length)| length.as_secs_f64()).sum();
    let length: f64 = cells().map(|(_, length)| length.as_secs_f64()).sum();
    mean(seen.map(ramp_ups)).map_or(length..length + longest, |ramp_ups| length + ramp_ups..length + ramp_ups)
}

/// Seconds of a trial; side by side its part of its block's.
fn elapsed_s(record: &StudyRecord, trial: &TrialRecord) -> f64 {
    match record.plan.schedule.launches {
        Launches::OneAfterAnother => trial.host.elapsed_s,
        Launches::SideBySide => trial.host.elapsed_s / record.study.variants.len() as f64,
    }
}

/// Seconds of a trial that were load, as planned: side by side its slices, whose drains come on top.
fn loaded_s(trial: &TrialRecord) -> f64 {
    let slices = trial.warm_up.iter().flat_map(|warm_up| &warm_up.slices);
    // What a search asked is more than the series that it keeps, and its slices may end sooner than they were to.
    let given = || trial.cells.iter().filter(|cell| cell.search.is_none());
    let searched: f64 = trial.cells.iter().filter_map(|cell| Some(cell.search.as_ref()?.length_s)).sum();
    let slices = slices.chain(given().flat_map(|cell| &cell.slices));
    let warm_up = trial.warm_up.iter().flat_map(|warm_up| &warm_up.samples);
    let whole = warm_up.chain(given().flat_map(CellRecord::whole));
    let in_slices: f64 = slices.map(|slice| slice.length_s).sum();
    searched + if in_slices > 0.0 { in_slices } else { sample::seconds(whole) }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use model::search::SearchEnd;
    use model::{Arrivals, LimitSearch, Mode, Objective, Profile, WarmUpLength};

    use super::*;
    use crate::{Boundaries, assess, fixture};

    fn left(record: &StudyRecord) -> Range<Duration> {
        time_left(&assess(record, &Boundaries::standard()))
    }

    fn next_block(record: &StudyRecord) -> Duration {
        block_time(&assess(record, &Boundaries::standard()))
    }

    /// Two cells of 20 s, 5 to 30 blocks and 6 spare ones; nothing has run.
    fn planned(warm_up: WarmUp) -> StudyRecord {
        let mut study = fixture::study();
        study.timing.measure = Duration::from_secs(20);
        study.timing.warm_up = warm_up;
        let mut record = fixture::empty(study, Mode::Full);
        record.plan.schedule.within = Duration::from_secs(24 * 3_600);
        record
    }

    fn seconds(range: &Range<Duration>) -> [u64; 2] {
        [&range.start, &range.end].map(|time| time.as_secs_f64().round() as u64)
    }

    /// Lets the next `count` trials of the plan run: `overhead` seconds and the load that was planned.
    fn run(record: &mut StudyRecord, count: usize, overhead: f64) {
        let planned = record.plan.pilot.iter().chain(&record.plan.blocks).flat_map(|block| &block.trials);
        let next: Vec<_> = planned.skip(record.trials.len()).take(count).cloned().collect();
        for planned in next {
            let mut trial = fixture::trial(planned.variant, record.trials.len());
            trial.key = planned.key;
            let load = if planned.key.pilot { 60.0 } else { record.warm_up_length.unwrap().seconds };
            let warm_up = &mut trial.warm_up.as_mut().unwrap().samples[0];
            (warm_up.length_s, warm_up.tally.good) = (load, (1_000.0 * load) as u64);
            trial.cells = planned.cells.iter().map(|cell| fixture::cell(*cell, 100.0)).collect();
            trial.cells.iter_mut().flat_map(|cell| &mut cell.samples).for_each(|second| second.length_s = 5.0);
            trial.host.elapsed_s = overhead + loaded_s(&trial);
            record.trials.push(trial);
        }
    }

    #[test]
    fn a_fixed_warm_up_before_anything_ran() {
        let record = planned(WarmUp::Fixed(Duration::from_secs(60)));
        // Launches of 0.5 to 10 + 60 + 2·20 s, or 4·20 s with the longest ramp-ups: 5 blocks of two, or 36.
        assert_eq!(seconds(&left(&record)), [1_005, 72 * 150]);
        assert_eq!(next_block(&record), Duration::from_secs(201));
    }

    #[test]
    fn pilots_before_anything_ran() {
        let mut record = planned(WarmUp::Pilot { cap: Duration::from_secs(120) });
        // 4 pilots of 0.5 + 30 to 10 + 120 s; 10 launches of 0.5 + 37.5 + 40 s, or 72 of 10 + 120 + 80 s.
        assert_eq!(seconds(&left(&record)), [122 + 780, 520 + 72 * 210]);
        assert_eq!(next_block(&record), Duration::from_secs(61));
        record.plan.mode = Mode::Quick;
        assert_eq!(seconds(&left(&record))[0], 42 + 530);
    }

    #[test]
    fn no_run_takes_longer_than_it_may() {
        let mut record = planned(WarmUp::Fixed(Duration::from_secs(60)));
        record.plan.schedule.within = Duration::from_secs(2_000);
        assert_eq!(seconds(&left(&record)), [1_005, 2_000]);
        record.plan.schedule.within = Duration::from_secs(500);
        assert_eq!(seconds(&left(&record)), [500, 500]);
        // Whose horizon is fixed has as many blocks as that, and a fifth more.
        record.horizon = Some(10);
        assert_eq!(seconds(&left(&record)), [1_005, 24 * 150]);
    }

    #[test]
    fn what_ran_says_how_long_the_rest_takes() {
        let mut record = planned(WarmUp::Pilot { cap: Duration::from_secs(120) });
        run(&mut record, 2, 5.0);
        // Pilots take 5 + 60 s, so the warm-up length will be 75 s at least.
        assert_eq!(seconds(&left(&record)), [130 + 10 * 120, 130 + 72 * 165]);
        assert_eq!(next_block(&record), Duration::from_secs(130));
        run(&mut record, 2, 5.0);
        record.warm_up_length = Some(WarmUpLength { seconds: 75.0, established: true });
        assert_eq!(seconds(&left(&record)), [10 * 120, 72 * 120]);
        assert_eq!(next_block(&record), Duration::from_secs(240));
        // One block, and half of the next.
        run(&mut record, 3, 5.0);
        assert_eq!(seconds(&left(&record)), [7 * 120, 69 * 120]);
    }

    /// Of the 20 users of one cell ten are answered in a second.
    #[test]
    fn a_ramp_up_takes_its_time() {
        let slow = |record: &mut StudyRecord| {
            for trial in &mut record.trials {
                let warm_up = &mut trial.warm_up.as_mut().unwrap().samples[0];
                warm_up.tally.good = 10 * warm_up.length_s as u64;
            }
        };
        let mut record = planned(WarmUp::Pilot { cap: Duration::from_secs(120) });
        run(&mut record, 4, 10.0);
        slow(&mut record);
        record.warm_up_length = Some(WarmUpLength { seconds: 60.0, established: true });
        // The pilots' 10/s foretell 2 s before the measurement of the one cell, and none before that of a single user.
        assert_eq!(seconds(&left(&record)), [10 * 112, 72 * 112]);
        assert_eq!(next_block(&record), Duration::from_secs(224));
        run(&mut record, 2, 10.0);
        slow(&mut record);
        for trial in record.trials.iter_mut().skip(4) {
            trial.cells.iter_mut().find(|cell| cell.cell == 1).unwrap().samples[0].length_s += 2.0;
            trial.host.elapsed_s += 2.0;
        }
        assert_eq!(seconds(&left(&record)), [8 * 112, 70 * 112]);
        // Steps of users and open loops have none.
        let stages = &mut record.plan.cells[1].shape.arrivals;
        *stages = Arrivals::Open(Profile::constant(100.0));
        assert_eq!(next_block(&record), Duration::from_secs(220));
    }

    #[test]
    fn a_block_that_does_not_count_makes_another_one_needed() {
        let mut record = planned(WarmUp::Fixed(Duration::from_secs(60)));
        record.warm_up_length = Some(WarmUpLength { seconds: 60.0, established: false });
        run(&mut record, 8, 10.0);
        assert_eq!(seconds(&left(&record)), [2 * 110, 64 * 110]);
        record.trials[7].host.steal_cores = 0.5;
        assert_eq!(seconds(&left(&record)), [4 * 110, 64 * 110]);
    }

    /// Side by side a trial's host is its block's.
    #[test]
    fn side_by_side_a_launch_has_its_part_of_the_block() {
        let mut record = planned(WarmUp::Pilot { cap: Duration::from_secs(120) });
        (record.study.launches, record.plan.schedule.launches) = (Launches::SideBySide, Launches::SideBySide);
        record.plan.pilot.clear();
        record.warm_up_length = Some(WarmUpLength { seconds: 75.0, established: true });
        run(&mut record, 2, 5.0);
        for trial in &mut record.trials {
            trial.host.elapsed_s *= 2.0;
        }
        // Launches of 5 + 75 + 2·20 s.
        assert_eq!(next_block(&record), Duration::from_secs(240));
        for trial in &mut record.trials {
            trial.host.elapsed_s += 2.0 * 5.0;
        }
        assert_eq!(next_block(&record), Duration::from_secs(250), "what drains takes its time");
    }

    #[test]
    fn side_by_side_a_block_in_which_a_launch_failed_tells_no_time() {
        let mut record = planned(WarmUp::Pilot { cap: Duration::from_secs(120) });
        (record.study.launches, record.plan.schedule.launches) = (Launches::SideBySide, Launches::SideBySide);
        record.plan.pilot.clear();
        record.warm_up_length = Some(WarmUpLength { seconds: 120.0, established: false });
        run(&mut record, 2, 5.0);
        record.warm_up_length = None;
        fixture::fail(&mut record.trials[1]);
        // As before anything ran: 10 + 120 + 2·20 s for each launch at most, and never less than none.
        assert_eq!(seconds(&left(&record))[0], 10 * 78);
        assert_eq!(next_block(&record), Duration::from_secs(2 * 170));
    }

    #[test]
    fn a_search_takes_as_long_as_those_before() {
        let mut record = planned(WarmUp::Fixed(Duration::from_secs(60)));
        let objective = Objective { quantile: 0.95, within_us: 200_000, errors: 0.01 };
        record.plan.cells[0].shape.find_limit = Some(FindLimit { objective, from: 10.0, to: 100.0 });
        // 63 to 158 s of search, and 20 s of the other cell, or 40 s with the longest ramp-up.
        assert_eq!(seconds(&left(&record)), [10 * 143 + 5, 72 * 268]);
        record.warm_up_length = Some(WarmUpLength { seconds: 60.0, established: false });
        run(&mut record, 1, 10.0);
        let trial = record.trials.last_mut().unwrap();
        let search = LimitSearch { steps: Vec::new(), end: SearchEnd::NeverHeld, overload: None, length_s: 100.0 };
        trial.cells.iter_mut().find(|cell| cell.cell == 0).unwrap().search = Some(search);
        trial.host.elapsed_s = 10.0 + loaded_s(trial);
        assert!((loaded_s(trial) - 180.0).abs() < 1e-9);
        // Nine more launches of 10 + 60 + 100 + 20 s.
        assert_eq!(seconds(&left(&record))[0], 9 * 190);
    }

    #[test]
    fn nothing_is_left_when_all_blocks_were_used() {
        let mut record = planned(WarmUp::Fixed(Duration::from_secs(60)));
        record.warm_up_length = Some(WarmUpLength { seconds: 60.0, established: false });
        run(&mut record, 60, 10.0);
        assert_eq!(seconds(&left(&record)), [0, 0]);
    }
}
