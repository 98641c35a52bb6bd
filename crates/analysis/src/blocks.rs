//! Which blocks count.
//!
//! A block counts when all its trials completed. It is excluded, whole, when the host was disturbed during it; at most
//! a fifth of the blocks that have run are, rounded up, and [`model::Schedule::spare_blocks`] in all. Further disturbed ones
//! count all the same: where the host is disturbed as often as that, it is what this run is like.
//!
//! *Disturbed* means worse than a floor **and** worse than this run usually is: more than three robust standard
//! deviations beyond the median so far. On a virtual machine that always loses some time to its neighbours no block
//! is better than another, so all are kept and the finding `host-noise` says how noisy they are. Steal, throttling,
//! and other processes are compared with earlier launches of the same variant, because a variant may cause them
//! itself: it is not to lose its blocks for that. The client's CPU time is no disturbance: it rises with the answers that it
//! gets, so that leaving out launches for it would leave out the fast ones (`client-saturated` reports it). Trials that
//! failed may have ended at once: they teach nothing about the usual. Only what ran before a block and in it is looked at, so
//! that a status once decided stays, while the run goes on and in every later analysis.
//!
//! Side by side the launches of a block meet the same host, turn by turn, so that what happens to the host is no reason: only what may hit
//! one launch and spare the others is (a pause of the client, a quota of the server's own group).

use std::collections::{BTreeMap, HashMap};

use model::{HostUse, Launches, NoisyNeighbour, Outcome, Sample, StudyRecord, TrialKey, TrialRecord, VariantIndex};

use crate::robust;

/// Departure of the canary's time from the run's median that is a disturbance, a fraction.
pub const CANARY_MOVED: f64 = 0.03;
/// Cores lost to the hypervisor: as much of one core as a canary may move.
pub const STEAL_CORES: f64 = 0.03;
/// Cores used by unrelated processes.
pub const OTHERS_CORES: f64 = 0.25;
/// Part of the time that the control group was throttled.
pub const THROTTLED_SHARE: f64 = 0.01;
/// Part of the time that some task waited for a processor, though the launch's own work left one free: client and server wake each
/// other up on the same one now and then, though others idle.
pub const PRESSURE_SHARE: f64 = 0.5;
/// Time that the client stood still, seconds: longer than a busy machine keeps a thread waiting.
pub const PAUSED_S: f64 = 0.5;
/// Robust standard deviations above the usual.
const UNUSUAL: f64 = 3.0;
/// Part of the blocks that may be excluded because the host was disturbed.
const SPARE: f64 = 0.2;

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStatus {
    /// It counts.
    Used,
    /// The host was disturbed; another block takes its place.
    Excluded,
    /// A trial failed: it cannot be compared, and is not repeated.
    Failed,
    /// Not all its trials have run.
    Incomplete,
}

/// A block of the plan of which at least one trial ran.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockState {
    /// Its index in [`model::Plan::blocks`].
    pub index: u32,
    /// What became of it.
    pub status: BlockStatus,
    /// What disturbed it; several, or none. A used block may be disturbed when no spare ones were left.
    pub disturbances: Vec<String>,
}

/// The measured blocks of a run in the plan's order, used or not.
pub fn blocks(record: &StudyRecord) -> Vec<BlockState> {
    let mut usual = DisturbanceHistory::default();
    let mut excluded = 0;
    let mut seen: HashMap<TrialKey, (&TrialRecord, Vec<String>)> = HashMap::new();
    let mut blocks = BTreeMap::new();
    for trial in &record.trials {
        let disturbances = usual.learn(record, trial);
        seen.insert(trial.key, (trial, disturbances));
        let Some(block) = record.plan.blocks.get(trial.key.block as usize).filter(|_| !trial.key.pilot) else {
            continue;
        };
        let members: Vec<_> = block.trials.iter().filter_map(|planned| seen.get(&planned.key)).collect();
        let disturbances: Vec<String> = members.iter().flat_map(|(_, disturbances)| disturbances.clone()).collect();
        let status = if members.len() < block.trials.len() {
            BlockStatus::Incomplete
        } else if members.iter().any(|(trial, _)| trial.outcome != Outcome::Completed) {
            BlockStatus::Failed
        } else if disturbances.is_empty()
            || excluded >= most_excluded(record, trial.key.block)
            || usual.is_disturbed_mostly()
        {
            BlockStatus::Used
        } else {
            excluded += 1;
            BlockStatus::Excluded
        };
        blocks.insert(trial.key.block, BlockState { index: trial.key.block, status, disturbances });
    }
    blocks.into_values().collect()
}

/// How many of so many blocks, and one at least, may be excluded.
pub fn spare(blocks: u32) -> u32 {
    (f64::from(blocks) * SPARE).ceil() as u32
}

/// How many blocks may be excluded up to this one.
fn most_excluded(record: &StudyRecord, block: u32) -> u32 {
    spare(block + 1).min(record.plan.schedule.spare_blocks)
}

/// Indices of the used blocks, in order.
pub fn used(blocks: &[BlockState]) -> impl Iterator<Item = u32> + '_ {
    blocks.iter().filter(|block| block.status == BlockStatus::Used).map(|block| block.index)
}

/// The recorded trials of a run, found by block and variant.
#[derive(Debug)]
pub struct Trials<'a> {
    record: &'a StudyRecord,
    by_key: HashMap<TrialKey, &'a TrialRecord>,
}

impl<'a> Trials<'a> {
    /// The trials of a record.
    pub fn of(record: &'a StudyRecord) -> Self {
        Self { record, by_key: record.trials.iter().map(|trial| (trial.key, trial)).collect() }
    }

    /// The launch of a variant in a measured block, if it was recorded.
    pub fn get(&self, block: u32, variant: VariantIndex) -> Option<&'a TrialRecord> {
        let block = self.record.plan.blocks.get(block as usize)?;
        let planned = block.trials.iter().find(|trial| trial.variant == variant)?;
        self.by_key.get(&planned.key).copied()
    }
}

/// What the run has been like so far.
#[derive(Default)]
struct DisturbanceHistory {
    /// Before and after a trial apart: a processor that has just worked is faster, or hotter.
    canaries: [Vec<f64>; 2],
    levels: BTreeMap<(VariantIndex, Level), Vec<f64>>,
    trials: usize,
    disturbed: usize,
}

/// A level of disturbance of which more is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Steal,
    Others,
    Throttled,
    ServerThrottled,
    Paused,
}

impl Level {
    const ALL: [Self; 5] = [Self::Steal, Self::Others, Self::Throttled, Self::ServerThrottled, Self::Paused];

    fn of(self, trial: &TrialRecord) -> f64 {
        match self {
            Self::Steal => trial.host.steal_cores,
            Self::Others => trial.host.others_cores,
            Self::Throttled => throttled_share(trial),
            Self::ServerThrottled => server_throttled_share(trial),
            Self::Paused => longest_pause_s(trial),
        }
    }

    /// Whether it may hit one launch and spare those beside it. Side by side all launches of a block meet the same host, turn by turn.
    fn is_of_one_launch(self) -> bool {
        matches!(self, Self::ServerThrottled | Self::Paused)
    }

    fn floor(self) -> f64 {
        match self {
            Self::Steal => STEAL_CORES,
            Self::Others => OTHERS_CORES,
            Self::Throttled | Self::ServerThrottled => THROTTLED_SHARE,
            Self::Paused => PAUSED_S,
        }
    }

    fn describe(self, level: f64, host: &HostUse) -> String {
        match self {
            Self::Steal => format!("{level:.2} cores were stolen by the hypervisor"),
            Self::Others => {
                let of = |most: &NoisyNeighbour| format!(", {} {:.2} of them", most.name, most.cores);
                let neighbour = host.noisy_neighbour.as_ref().map_or_else(String::new, of);
                format!("other processes used {level:.2} cores{neighbour}")
            }
            Self::Throttled => {
                format!("a CPU quota throttled bakeoff's control group for {:.0} % of the time", level * 100.0)
            }
            Self::ServerThrottled => {
                format!("a CPU quota throttled the server's control group for {:.0} % of the time", level * 100.0)
            }
            Self::Paused => format!("bakeoff itself stood still for {level:.1} s"),
        }
    }
}

impl DisturbanceHistory {
    /// Takes note of a trial and says what disturbed it, compared with all so far and itself.
    fn learn(&mut self, record: &StudyRecord, trial: &TrialRecord) -> Vec<String> {
        let mut disturbances = Vec::new();
        let is_shared = record.plan.schedule.launches == Launches::SideBySide;
        for (history, ns) in self.canaries.iter_mut().zip(trial.canary_ns) {
            if let Some(moved) = canary_departure(history, ns).filter(|_| !is_shared) {
                let direction = if moved > 0.0 { "more" } else { "less" };
                disturbances.push(format!(
                    "a fixed computation took {:.1} % {direction} time than usual: the processor's speed changed",
                    moved.abs() * 100.0
                ));
            }
        }
        let levels = Level::ALL.into_iter().filter(|_| trial.outcome == Outcome::Completed);
        for level in levels {
            let value = level.of(trial);
            let history = self.levels.entry((trial.variant, level)).or_default();
            history.push(value);
            let counts = level.is_of_one_launch() || !is_shared;
            if counts && value > level.floor() && unusual(history).is_some_and(|(usual, spread)| value > usual + spread)
            {
                disturbances.push(level.describe(value, &trial.host));
            }
        }
        self.trials += 1;
        self.disturbed += usize::from(!disturbances.is_empty());
        let variant = record.study.variants.get(trial.variant).map_or("?", |variant| variant.name.as_str());
        disturbances.into_iter().map(|what| format!("{variant}: {what}")).collect()
    }

    /// Whether most trials were disturbed, so that no block is better than another.
    fn is_disturbed_mostly(&self) -> bool {
        2 * self.disturbed > self.trials
    }
}

/// Adds a canary's time to the earlier ones; by what fraction it departs from their median, if that is too much.
/// 0 stands for a canary that was not taken.
fn canary_departure(history: &mut Vec<f64>, ns: u64) -> Option<f64> {
    if ns == 0 {
        return None;
    }
    history.push(ns as f64);
    let (usual, spread) = unusual(history)?;
    let moved = ns as f64 / usual - 1.0;
    (moved.abs() > CANARY_MOVED.max(spread / usual)).then_some(moved)
}

/// The median of `history` and the departure from it that is unusual.
fn unusual(history: &[f64]) -> Option<(f64, f64)> {
    Some((robust::median(history)?, UNUSUAL * robust::sigma(history)?))
}

/// A trial's canary times, ns; 0 stands for one that was not taken.
pub fn canaries(trial: &TrialRecord) -> impl Iterator<Item = f64> + use<> {
    trial.canary_ns.into_iter().filter(|ns| *ns > 0).map(|ns| ns as f64)
}

/// Part of the trial's time that its control group was throttled, 0..=1.
pub fn throttled_share(trial: &TrialRecord) -> f64 {
    if trial.host.elapsed_s > 0.0 { (trial.host.throttled_s / trial.host.elapsed_s).min(1.0) } else { 0.0 }
}

/// Part of the time under load that the server's control group was throttled, where it is not bakeoff's, 0..=1.
pub fn server_throttled_share(trial: &TrialRecord) -> f64 {
    let throttled = |sample: &Sample| sample.server.as_ref()?.throttled_s;
    let seen = || loads(trial).flatten().filter_map(|sample| Some((sample.length_s, throttled(sample)?)));
    let seconds: f64 = seen().map(|(length_s, _)| length_s).sum();
    if seconds > 0.0 { (seen().map(|(_, throttled_s)| throttled_s).sum::<f64>() / seconds).min(1.0) } else { 0.0 }
}

/// Part of the time under load that some task of the host waited for a processor (PSI) while the launch's own work left at least
/// one free, 0..=1: those who waited met others on theirs. Of seconds with more work of its own it says nothing, since then they wait
/// for each other. `None` where those are most, or the kernel does not say.
pub fn pressure_share(trial: &TrialRecord) -> Option<f64> {
    let mut seconds = [0.0; 2];
    let mut waited_s = 0.0;
    for sample in loads(trial).flatten() {
        let Some((host, pressure)) = sample.host.as_ref().and_then(|host| Some((host, host.pressure?))) else {
            continue;
        };
        let has_room = host.busy_cores - host.others_cores <= host.per_core.len() as f64 - 1.0;
        seconds[usize::from(has_room)] += sample.length_s;
        waited_s += if has_room { pressure * sample.length_s } else { 0.0 };
    }
    let [full, roomy] = seconds;
    (roomy > full).then(|| waited_s / roomy)
}

/// The longest time under load that the client stood still, seconds. By its own clock: samples are a second of the load's
/// plan, and are looked at when they are over; one that is looked at later by so much was looked at by nobody. So is a slice whose end
/// is noticed late.
pub fn longest_pause_s(trial: &TrialRecord) -> f64 {
    let late = |sample: &Sample| Some(sample.host.as_ref()?.elapsed_s - sample.length_s);
    let slices = trial.warm_up.iter().flat_map(|warm_up| &warm_up.slices);
    let slices = slices.chain(trial.cells.iter().flat_map(|cell| &cell.slices)).map(|slice| slice.late_s);
    loads(trial).flatten().filter_map(late).chain(slices).fold(0.0, f64::max)
}

/// The samples of each load of a trial, in the order they ran.
pub fn loads(trial: &TrialRecord) -> impl Iterator<Item = &[Sample]> {
    let warm_up = trial.warm_up.iter().map(|warm_up| warm_up.samples.as_slice());
    warm_up.chain(trial.cells.iter().map(|cell| cell.samples.as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Boundaries, assess, fixture};

    fn excluded_of(record: &StudyRecord) -> Vec<(u32, String)> {
        crate::excluded(&assess(record, &Boundaries::standard()))
    }

    /// Trials of measured block `block` start at this index of a record with two pilot blocks of two trials.
    fn first_trial(block: usize) -> usize {
        4 + 2 * block
    }

    fn statuses(record: &StudyRecord) -> Vec<BlockStatus> {
        blocks(record).into_iter().map(|block| block.status).collect()
    }

    #[test]
    fn a_quiet_run_uses_all() {
        assert_eq!(statuses(&fixture::record(6, 0.0)), [BlockStatus::Used; 6]);
    }

    #[test]
    fn a_disturbed_block_is_put_aside() {
        let mut record = fixture::record(8, 0.0);
        record.trials[first_trial(2)].host.steal_cores = 0.3;
        record.trials[first_trial(6) + 1].canary_ns[1] = 1_100_000;
        let states = blocks(&record);
        assert_eq!(states[2].status, BlockStatus::Excluded);
        assert!(states[2].disturbances[0].contains("0.30 cores were stolen"));
        assert_eq!(states[6].status, BlockStatus::Excluded);
        let [reported] = &states[6].disturbances[..] else { panic!("{:?}", states[6]) };
        let variant = &record.study.variants[record.trials[first_trial(6) + 1].variant].name;
        assert!(reported.starts_with(&format!("{variant}: a fixed computation took ")), "{reported}");
        assert!(reported.ends_with("% more time than usual: the processor's speed changed"), "{reported}");
        assert_eq!(used(&states).collect::<Vec<_>>(), [0, 1, 3, 4, 5, 7]);
        assert_eq!(excluded_of(&record).iter().map(|(block, _)| *block).collect::<Vec<_>>(), [2, 6]);
    }

    /// Side by side what happens to the host happens to all launches of a block, turn by turn.
    #[test]
    fn side_by_side_only_what_hits_one_launch_puts_a_block_aside() {
        let mut record = fixture::side_by_side(8, |_, _| {});
        record.trials[4].host.steal_cores = 0.3;
        record.trials[9].canary_ns[1] = 1_100_000;
        assert_eq!(statuses(&record), [BlockStatus::Used; 8]);
        let sample = &mut record.trials[12].cells[0].samples[0];
        sample.host = Some(HostUse { elapsed_s: sample.length_s + 3.0, ..HostUse::default() });
        assert_eq!(statuses(&record)[6], BlockStatus::Excluded);
    }

    #[test]
    fn no_more_than_a_fifth_is_put_aside_at_any_time() {
        let mut record = fixture::record(12, 0.0);
        for block in [1, 3, 5, 7] {
            record.trials[first_trial(block)].host.steal_cores = 0.3;
        }
        let indices: Vec<u32> = excluded_of(&record).into_iter().map(|(block, _)| block).collect();
        // The first of two blocks, the second of six; a third would be allowed from the eleventh on.
        assert_eq!(indices, [1, 5]);
    }

    #[test]
    fn a_pause_in_what_is_not_counted_sets_nothing_aside() {
        let with_pause = |sample: usize| {
            let mut record = fixture::crowd(5);
            let cells = record.trials.iter_mut().flat_map(|trial| &mut trial.cells);
            for second in cells.flat_map(|cell| cell.ramp_up.iter_mut().chain(&mut cell.samples)) {
                second.host = Some(HostUse { elapsed_s: second.length_s, ..HostUse::default() });
            }
            let cell = &mut record.trials[first_trial(3)].cells[0];
            let mut seconds = cell.ramp_up.iter_mut().chain(&mut cell.samples);
            seconds.nth(sample).unwrap().host.as_mut().unwrap().elapsed_s += 3.0;
            let reported: Vec<u32> = excluded_of(&record).into_iter().map(|(block, _)| block).collect();
            let report = crate::analyse(&assess(&record, &Boundaries::standard()), None);
            let counted: Vec<u32> =
                report.blocks.iter().filter(|block| block.excluded.is_some()).map(|block| block.block).collect();
            assert_eq!(reported, counted, "what is announced is what the report counts");
            (reported, crate::time_left(&assess(&record, &Boundaries::standard())).start.is_zero())
        };
        assert_eq!(with_pause(1), (vec![], true));
        // The first that is measured: it takes one more block.
        assert_eq!(with_pause(2), (vec![3], false));
    }

    #[test]
    fn a_fast_launch_keeps_its_block_however_busy_the_client() {
        let mut record = fixture::record(6, 0.0);
        let fast = &mut record.trials[first_trial(3)];
        fast.cells.iter_mut().flat_map(|cell| &mut cell.samples).for_each(|second| second.client_cpu_s = 0.9);
        assert_eq!(statuses(&record), [BlockStatus::Used; 6]);
    }

    #[test]
    fn what_failed_at_once_does_not_make_the_rest_unusual() {
        let mut record = fixture::record(8, 0.0);
        for (number, trial) in record.trials.iter_mut().enumerate() {
            trial.host.others_cores = [0.40, 0.43, 0.41, 0.44, 0.42][number % 5];
        }
        for block in 0..5 {
            let trial = &mut record.trials[first_trial(block)];
            fixture::fail(trial);
            trial.host = HostUse::default();
        }
        assert_eq!(statuses(&record)[5..], [BlockStatus::Used; 3]);
    }

    #[test]
    fn a_processor_that_became_faster_disturbs_too() {
        let mut record = fixture::record(6, 0.0);
        record.trials[first_trial(4)].canary_ns[0] = 947_000;
        assert!(blocks(&record)[4].disturbances[0].contains("a fixed computation took 5.3 % less time than usual"));
    }

    #[test]
    fn no_more_than_the_spare_blocks_are_put_aside() {
        let mut record = fixture::record(12, 0.0);
        record.plan.schedule.spare_blocks = 1;
        for block in [3, 8] {
            record.trials[first_trial(block)].host.others_cores = 1.0;
        }
        let states = blocks(&record);
        assert_eq!(states[3].status, BlockStatus::Excluded);
        assert_eq!(states[8].status, BlockStatus::Used);
        assert_eq!(states[8].disturbances.len(), 1);
    }

    #[test]
    fn where_all_is_noise_no_block_is_worse() {
        let mut record = fixture::record(10, 0.0);
        for (i, trial) in record.trials.iter_mut().enumerate() {
            trial.host.steal_cores = 0.2 + 0.01 * (i % 5) as f64;
            trial.canary_ns = [1_000_000 + 40_000 * (i as u64 % 4), 1_000_000];
        }
        assert_eq!(statuses(&record), [BlockStatus::Used; 10]);
    }

    #[test]
    fn a_variant_that_is_always_throttled_keeps_its_blocks() {
        let mut record = fixture::record(10, 0.0);
        for trial in record.trials.iter_mut().filter(|trial| trial.variant == 1) {
            trial.host.throttled_s = 20.0;
        }
        assert_eq!(statuses(&record), [BlockStatus::Used; 10]);
    }

    #[test]
    fn failures_are_results_and_unfinished_blocks_wait() {
        let mut record = fixture::record(3, 0.0);
        fixture::fail(&mut record.trials[first_trial(1)]);
        record.trials.pop();
        assert_eq!(statuses(&record), [BlockStatus::Used, BlockStatus::Failed, BlockStatus::Incomplete]);
    }

    #[test]
    fn later_trials_do_not_change_a_fate() {
        let mut whole = fixture::record(12, 0.0);
        for (i, trial) in whole.trials.iter_mut().enumerate() {
            trial.host.steal_cores = [0.0, 0.0, 0.0, 0.4, 0.0, 0.04, 0.6][i % 7];
            trial.canary_ns[0] += (i as u64 * 7_919) % 90_000;
        }
        let statuses = statuses(&whole);
        assert!(statuses.contains(&BlockStatus::Excluded));
        for stop in 0..12 {
            let mut part = whole.clone();
            part.trials.truncate(first_trial(stop));
            assert_eq!(blocks(&part).iter().map(|block| block.status).collect::<Vec<_>>(), statuses[..stop]);
        }
    }
}
