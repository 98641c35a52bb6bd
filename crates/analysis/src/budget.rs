//! Planning backwards from the time that a run may take: what a study's lengths come to, and what is shortened until enough blocks fit.
//!
//! Before anything ran nobody knows how long a launch takes to start and end. What is planned has room for launches that take
//! [`OVERHEAD_S`] at the most; what would not even hold launches of the least is refused.

use std::fmt;
use std::time::Duration;

use model::study::{Decide, WarmUp};
use model::{Cell, Launches, Mode, Schedule, Study, StudyRecord, text};

use crate::blocks::spare;
use crate::pace::OVERHEAD_S;
use crate::profiling;

/// Blocks that find the warm-up length.
pub(crate) const PILOT_BLOCKS: usize = 2;
/// A pilot needs at least so much of a warm-up to find a launch steady, seconds.
const LEAST_CAP_S: f64 = 60.0;
/// No warm-up is made shorter than this in place of a pilot, seconds.
const LEAST_WARM_UP_S: f64 = 10.0;
/// No measurement of a cell is made shorter than this, seconds.
const LEAST_MEASURE_S: f64 = 5.0;

/// A time that cannot hold the minimum number of blocks, however short they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoRoom {
    /// What was allowed.
    pub budget: Duration,
    /// The minimum number of blocks.
    pub blocks: u32,
    /// What would do.
    pub enough: Duration,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [budget, enough] = [self.budget, self.enough].map(text::minutes);
        write!(f, "a budget of {budget} cannot hold the {} blocks that a verdict needs; {enough} can", self.blocks)
    }
}

impl std::error::Error for NoRoom {}

/// The lengths of a study as its file has them, and the time that its run may take: [`Decide::WITHIN`], or as long as its minimum number of blocks
/// and its profiling runs may take where that is more.
pub fn usual(study: &Study, mode: Mode) -> Schedule {
    let schedule = stated(study, mode, Decide::WITHIN);
    Schedule { within: Decide::WITHIN.max(enough_for_profiling(study, &schedule)), ..schedule }
}

/// The time in which the minimum number of blocks and the profiling runs have room, whole minutes, where launches take as long as they are
/// thought to before one has been seen. More than the run may take: its profiling runs may have no room.
fn enough_for_profiling(study: &Study, schedule: &Schedule) -> Duration {
    let needs = Needs::of(study, schedule);
    whole_minutes(needs.seconds(schedule, OVERHEAD_S.end) + needs.profiling_s(schedule, OVERHEAD_S.end))
}

/// The time in which the profiling runs of a run that has not begun have room, where its own may leave none; `None` where none are planned, or
/// something has run.
pub fn more_for_profiling(record: &StudyRecord) -> Option<Duration> {
    let schedule = &record.plan.schedule;
    let enough = enough_for_profiling(&record.study, schedule);
    (schedule.profiling && record.trials.is_empty() && enough > schedule.within).then_some(enough)
}

/// The lengths of a study that has so much time: as its file has them where its minimum number of blocks fits in; else the pilot is
/// shortened, then left out for a fixed warm-up, then measurements are shortened, and no more of it than it takes.
pub fn within(study: &Study, mode: Mode, budget: Duration) -> Result<Schedule, NoRoom> {
    let mut schedule = stated(study, mode, budget);
    let needs = Needs::of(study, &schedule);
    let has_room = |schedule: &Schedule, overhead_s| needs.seconds(schedule, overhead_s) <= budget.as_secs_f64();
    if has_room(&schedule, OVERHEAD_S.end) {
        return Ok(schedule);
    }
    if let WarmUp::Pilot { cap } = schedule.warm_up {
        let shorter = needs.warm_up_s(&schedule, OVERHEAD_S.end).min(cap.as_secs_f64());
        if shorter >= LEAST_CAP_S {
            return Ok(Schedule { warm_up: WarmUp::Pilot { cap: seconds(shorter) }, ..schedule });
        }
        schedule.warm_up = WarmUp::Fixed(cap.min(seconds(LEAST_CAP_S)));
        let longest = cap.min(seconds(LEAST_CAP_S)).as_secs_f64();
        let fixed = needs.warm_up_s(&schedule, OVERHEAD_S.end).max(LEAST_WARM_UP_S).min(longest);
        schedule.warm_up = WarmUp::Fixed(seconds(fixed));
    }
    let measure = needs.measure_s(&schedule, OVERHEAD_S.end).max(LEAST_MEASURE_S);
    schedule.measure = schedule.measure.min(seconds(measure));
    if has_room(&schedule, OVERHEAD_S.start) {
        return Ok(schedule);
    }
    let enough = whole_minutes(needs.seconds(&schedule, OVERHEAD_S.end));
    Err(NoRoom { budget, blocks: schedule.min_blocks, enough })
}

/// The lengths as the study's file has them.
fn stated(study: &Study, mode: Mode, within: Duration) -> Schedule {
    let timing = match mode {
        Mode::Full => &study.timing,
        Mode::Quick => &study.quick,
    };
    Schedule {
        launches: study.launches,
        warm_up: timing.warm_up,
        measure: timing.measure,
        min_blocks: timing.min_blocks,
        max_blocks: timing.max_blocks,
        spare_blocks: spare(timing.max_blocks),
        within,
        profiling: profiling::wants_profiling(study, mode),
    }
}

/// What the minimum number of blocks of a study is made of.
struct Needs {
    cells: Vec<Cell>,
    variants: f64,
    /// The minimum number of blocks.
    blocks: f64,
}

impl Needs {
    fn of(study: &Study, schedule: &Schedule) -> Self {
        Self {
            cells: Cell::all(&study.workloads),
            variants: study.variants.len() as f64,
            blocks: f64::from(schedule.min_blocks),
        }
    }

    /// The time that pilots and the minimum number of blocks take at the longest, seconds, where a launch takes so much besides its loads.
    fn seconds(&self, schedule: &Schedule, overhead_s: f64) -> f64 {
        let (pilots, warm_up) = warm_up(schedule);
        let launches = (pilots + self.blocks) * (overhead_s + warm_up) + self.blocks * self.measured_s(schedule);
        self.variants * launches
    }

    /// The time that a profiling run of each variant takes at the longest, seconds; none where none is wanted.
    fn profiling_s(&self, schedule: &Schedule, overhead_s: f64) -> f64 {
        let (_, warm_up) = warm_up(schedule);
        let watched = profiling::window(&self.cells, schedule.measure).as_secs_f64();
        let launch = overhead_s + warm_up + self.measured_s(schedule) + watched;
        if schedule.profiling { self.variants * launch } else { 0.0 }
    }

    /// What one launch measures, seconds.
    fn measured_s(&self, schedule: &Schedule) -> f64 {
        self.cells.iter().map(|cell| cell.length(schedule.measure).as_secs_f64()).sum()
    }

    /// The longest warm-up of each launch for which there is room; below zero where there is none.
    fn warm_up_s(&self, schedule: &Schedule, overhead_s: f64) -> f64 {
        let (pilots, warm_up) = warm_up(schedule);
        let room = schedule.within.as_secs_f64() - self.seconds(schedule, overhead_s);
        warm_up + room / (self.variants * (pilots + self.blocks))
    }

    /// The longest measurement of each cell for which there is room; below zero where there is none.
    fn measure_s(&self, schedule: &Schedule, overhead_s: f64) -> f64 {
        let measure = schedule.measure.as_secs_f64();
        // A search takes many times as long.
        let times = |cell: &Cell| cell.length(schedule.measure).as_secs_f64() / measure;
        let cells: f64 = self.cells.iter().filter(|cell| cell.shape.arrivals.length().is_none()).map(times).sum();
        let room = schedule.within.as_secs_f64() - self.seconds(schedule, overhead_s);
        measure + room / (self.variants * self.blocks * cells.max(1.0))
    }
}

/// Pilot blocks, and the longest warm-up of a launch in seconds.
fn warm_up(schedule: &Schedule) -> (f64, f64) {
    match schedule.warm_up {
        WarmUp::Fixed(fixed) => (0.0, fixed.as_secs_f64()),
        WarmUp::Pilot { cap } => {
            let pilots = if schedule.launches == Launches::OneAfterAnother { PILOT_BLOCKS } else { 0 };
            (pilots as f64, cap.as_secs_f64())
        }
    }
}

/// Whole seconds.
fn seconds(length: f64) -> Duration {
    Duration::from_secs(length.max(0.0) as u64)
}

/// Whole minutes, no less.
fn whole_minutes(length: f64) -> Duration {
    Duration::from_secs(60 * (length / 60.0).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const FIVE: u32 = 5;

    /// Two variants, one cell of 20 s, a pilot of at most 180 s, five blocks at the least.
    fn study() -> Study {
        let mut study = fixture::study();
        study.workloads[0].shapes.truncate(1);
        study.timing.measure = Duration::from_secs(20);
        study.timing.warm_up = WarmUp::Pilot { cap: Duration::from_secs(180) };
        study.timing.min_blocks = FIVE;
        study
    }

    fn lengths(study: &Study, budget_s: u64) -> (WarmUp, u64) {
        let schedule = within(study, Mode::Full, Duration::from_secs(budget_s)).unwrap();
        assert_eq!(schedule.within.as_secs(), budget_s);
        (schedule.warm_up, schedule.measure.as_secs())
    }

    #[test]
    fn an_unlimited_run_has_its_own_lengths_and_the_time_for_them() {
        let usual = |study: &Study| {
            let schedule = usual(study, Mode::Full);
            (schedule.warm_up, schedule.measure.as_secs(), schedule.within.as_secs())
        };
        let mut study = study();
        let pilot = study.timing.warm_up;
        // Two pilots and five blocks of two launches: 14 · 190 + 10 · 20 s, in whole minutes.
        assert_eq!(usual(&study), (pilot, 20, 2_880));
        study.timing.warm_up = WarmUp::Fixed(seconds(20.0));
        assert_eq!(usual(&study), (study.timing.warm_up, 20, 1_800));
    }

    #[test]
    fn profiling_runs_have_time_unless_a_stated_one_leaves_none() {
        let mut study = study();
        study.profiling = Some(true);
        // 14 · 190 + 10 · 20 s, and twice 10 + 180 + 20 s and 20 s to watch.
        assert_eq!(enough_for_profiling(&study, &stated(&study, Mode::Full, Decide::WITHIN)).as_secs(), 56 * 60);
        assert_eq!(usual(&study, Mode::Full).within.as_secs(), 56 * 60);
        // For them nothing is shortened.
        let short = within(&study, Mode::Full, Duration::from_secs(2_860)).unwrap();
        assert_eq!((short.warm_up, short.profiling), (study.timing.warm_up, true));
        assert!(enough_for_profiling(&study, &short) > short.within);
    }

    #[test]
    fn no_more_is_shortened_than_it_takes() {
        let study = study();
        let pilot = |cap| WarmUp::Pilot { cap: Duration::from_secs(cap) };
        let fixed = |length| WarmUp::Fixed(Duration::from_secs(length));
        assert_eq!(lengths(&study, 2_860), (pilot(180), 20));
        assert_eq!(lengths(&study, 2_859), (pilot(179), 20));
        assert_eq!(lengths(&study, 1_180), (pilot(60), 20));
        // Ten launches of 10 + 60 + 20 s.
        assert_eq!(lengths(&study, 1_179), (fixed(60), 20));
        assert_eq!(lengths(&study, 480), (fixed(18), 20));
        assert_eq!(lengths(&study, 400), (fixed(10), 20));
        assert_eq!(lengths(&study, 300), (fixed(10), 10));
        // Where launches are those of a small program there is room yet: 10 · (0.5 + 10 + 5) s.
        assert_eq!(lengths(&study, 155), (fixed(10), 5));
    }

    #[test]
    fn what_the_study_fixes_stays_and_shorter_lengths_are_not_made_longer() {
        let mut study = study();
        study.timing.warm_up = WarmUp::Fixed(Duration::from_secs(90));
        assert_eq!(lengths(&study, 1_100), (study.timing.warm_up, 10));
        study.timing.warm_up = WarmUp::Pilot { cap: Duration::from_secs(5) };
        study.timing.measure = Duration::from_secs(2);
        assert_eq!(lengths(&study, 100), (WarmUp::Fixed(Duration::from_secs(5)), 2));
    }

    #[test]
    fn what_cannot_hold_the_least_number_of_blocks_is_refused_with_what_can() {
        let refused = within(&study(), Mode::Full, Duration::from_secs(154)).unwrap_err();
        assert_eq!(refused.to_string(), "a budget of 3 min cannot hold the 5 blocks that a verdict needs; 5 min can");
        assert!(within(&study(), Mode::Full, refused.enough).is_ok());
    }
}
