//! Which differences a run of some length distinguishes from none.

use std::time::Duration;

use model::{Outcome, Reach, StudyRecord};

use crate::assess::Assessment;
use crate::boundaries::{FIRST_LOOK, FIRST_RANK_LOOK, LAST_LOOK, STUDY_ALPHA};
use crate::pace;

/// Lengths that are shown beside the run's own, seconds.
const LENGTHS_S: [f64; 2] = [3_600.0, 4.0 * 3_600.0];
/// A longer run is shown where it has so many times the blocks.
const WORTH_IT: f64 = 1.5;
/// Normal quantile of the part of runs that are to see the difference: four of five.
const POWER_Z: f64 = 0.841_6;
/// What looking after every block costs beside a test that is done once, by simulation (see the tests): with few blocks, and from the first look by
/// ranks on.
const LOOKING: [f64; 2] = [1.15, 1.25];

/// What the run's own time shows, and what more time would; `spread` is the standard deviation of a block's difference and
/// `resolution` that of the numbers (log ratios). Nothing before a launch has shown how long a block takes.
pub fn reach(assessment: &Assessment, spread: f64, resolution: f64) -> Vec<Reach> {
    let record = assessment.record;
    if !record.trials.iter().any(|trial| trial.outcome == Outcome::Completed) {
        return Vec::new();
    }
    let of = |(seconds, blocks): (f64, u32)| Reach {
        seconds,
        blocks,
        smallest: (spread * smallest(blocks, record.study.variants.len())).max(resolution),
    };
    lengths(record, record.most_blocks(), pace::block_time(assessment), pilots(record)).into_iter().map(of).collect()
}

/// The same before anything has run, where blocks take as long as they may: each `smallest` is in standard deviations of a block's
/// difference, which is not known yet.
pub fn planned(record: &StudyRecord) -> Vec<Reach> {
    let smallest = |blocks| smallest(blocks, record.study.variants.len());
    let of = |(seconds, blocks): (f64, u32)| Reach { seconds, blocks, smallest: smallest(blocks) };
    let own = pace::longest_horizon(record);
    lengths(record, own, pace::longest_block(record), pace::longest_pilots(record)).into_iter().map(of).collect()
}

/// How long a run of so many blocks takes, pilots included, seconds.
pub fn seconds(assessment: &Assessment, blocks: u32) -> f64 {
    (pilots(assessment.record) + pace::block_time(assessment) * blocks).as_secs_f64()
}

/// What the pilots took.
fn pilots(record: &StudyRecord) -> Duration {
    let pilots = record.trials.iter().filter(|trial| trial.key.pilot);
    Duration::from_secs_f64(pilots.map(|trial| trial.host.elapsed_s).sum())
}

/// The run's own length, seconds, with the number of blocks that it has at most, and longer ones with theirs.
fn lengths(record: &StudyRecord, own: u32, block: Duration, pilots: Duration) -> Vec<(f64, u32)> {
    let schedule = &record.plan.schedule;
    let [block_s, pilots_s] = [block, pilots].map(|time| time.as_secs_f64());
    let within = |seconds: f64| ((seconds - pilots_s) / block_s).clamp(0.0, LAST_LOOK as f64) as u32;
    let of = |blocks: u32| (pilots_s + f64::from(blocks) * block_s, blocks);
    // Whose number the budget has fixed takes all of it.
    let is_by_budget = own < schedule.max_blocks && own > schedule.min_blocks;
    let mut lengths = vec![if is_by_budget { (schedule.within.as_secs_f64(), own) } else { of(own) }];
    for longer in LENGTHS_S.map(within) {
        if lengths.last().is_some_and(|(_, last)| f64::from(longer) >= WORTH_IT * f64::from(*last)) {
            lengths.push(of(longer));
        }
    }
    lengths
}

/// The smallest difference that four of five runs of so many blocks distinguish from none, in standard deviations of a block's difference.
///
/// As of a t test that is done once at the end, a little more for looking after every block; of several variants each has its share
/// of the error rate.
pub fn smallest(blocks: u32, variants: usize) -> f64 {
    let looking = LOOKING[usize::from(blocks as usize >= FIRST_RANK_LOOK)];
    let blocks = f64::from(blocks.max(FIRST_LOOK as u32));
    let alpha = STUDY_ALPHA / variants.saturating_sub(1).max(1) as f64;
    let quantile = |z| student(z, blocks - 1.0);
    looking * (quantile(normal_quantile(alpha / 2.0)) + quantile(POWER_Z)) / blocks.sqrt()
}

/// How many blocks it takes until four of five runs distinguish such an `effect` from none, where the standard deviation of a block's difference
/// is `spread` and the numbers have this `resolution` (log ratios); `None` where the most that a run can have do not do.
pub fn blocks_needed(spread: f64, resolution: f64, effect: f64, variants: usize) -> Option<u32> {
    let is_enough = |blocks: &u32| (spread * smallest(*blocks, variants)).max(resolution) < effect;
    (FIRST_LOOK as u32..=LAST_LOOK as u32).find(is_enough)
}

/// The normal quantile above which the part `tail` lies, 0..0.5 (Abramowitz & Stegun 1964, 26.2.23; within 0.0005).
fn normal_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    t - above / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

/// Student's quantile with so many degrees of freedom at a normal one (Cornish & Fisher's expansion; 3 % low with two).
fn student(z: f64, freedom: f64) -> f64 {
    let power = |n: i32| z.powi(n);
    let first = (power(3) + z) / 4.0;
    let second = (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / 96.0;
    let third = (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / 384.0;
    z + (first + (second + third / freedom) / freedom) / freedom
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::{Boundaries, Looks, normal};
    use crate::sequential::{self, Decision};
    use crate::{assess, fixture};

    #[test]
    fn quantiles() {
        assert!((normal_quantile(0.025) - 1.96).abs() < 0.001 && (normal_quantile(0.005) - 2.576).abs() < 0.001);
        let t = |freedom| student(1.96, freedom);
        assert!(
            (t(4.0) - 2.776).abs() < 0.02 && (t(29.0) - 2.045).abs() < 0.001 && (t(2.0) / 4.303 - 1.0).abs() < 0.035
        );
    }

    #[test]
    fn four_of_five_runs_see_what_is_said() {
        for (blocks, variants) in [(5_u32, 2), (12, 2), (30, 2), (12, 3)] {
            let boundaries = Boundaries::for_variants(variants, Looks::new(5..=blocks as usize));
            let effect = smallest(blocks, variants);
            let mut rng = ChaCha8Rng::seed_from_u64(19);
            let seen = (0..1_000)
                .filter(|_| {
                    let differences: Vec<f64> = (0..blocks).map(|_| effect + normal(&mut rng)).collect();
                    let settled = sequential::settle(&differences, &boundaries, sequential::margin(1e-6), 5);
                    settled.is_some_and(|(_, decision)| decision == Decision::Different)
                })
                .count();
            assert!((700..=920).contains(&seen), "{seen} of 1,000 with {blocks} blocks of {variants} variants");
        }
    }

    #[test]
    fn a_larger_difference_takes_fewer_blocks() {
        let needed = |spread, resolution, effect| blocks_needed(spread, resolution, effect, 2);
        assert_eq!([needed(0.2, 0.0, 0.01), needed(0.001, 0.0, 0.05)], [None, Some(3)]);
        assert!(needed(0.05, 0.0, 0.05) > needed(0.02, 0.0, 0.05));
        // What is counted in twenties never resolves five in a hundred.
        assert_eq!([needed(0.001, 0.04, 0.05), needed(0.001, 0.055, 0.05)], [Some(3), None]);
    }

    #[test]
    fn more_time_shows_smaller_differences() {
        let mut record = fixture::record(3, 0.0);
        // Pilots of 240 s in all, blocks of 2 · (51 + 50 + 8) s.
        record.plan.schedule.within = Duration::from_secs(1_800);
        record.horizon = Some(7);
        let boundaries = Boundaries::standard();
        let rows = reach(&assess(&record, &boundaries), 0.04, 0.001);
        let reported = |rows: &[Reach]| -> Vec<_> {
            rows.iter().map(|row| (row.seconds.round() as u64 / 60, row.blocks)).collect()
        };
        assert_eq!(reported(&rows), [(30, 7), (56, 14), (116, 30)]);
        assert!(rows.is_sorted_by(|a, b| a.smallest > b.smallest), "{rows:?}");
        // More blocks make no resolution finer.
        assert!(reach(&assess(&record, &boundaries), 0.04, 0.5).iter().all(|row| row.smallest >= 0.5));
        record.trials.clear();
        (record.warm_up_length, record.horizon) = (None, None);
        assert_eq!(reach(&assess(&record, &boundaries), 0.04, 0.0), []);
        // Before anything ran: four pilots of 10 + 300 s, blocks of 2 · (10 + 300 + 16 s, ramp-ups included).
        record.plan.schedule.within = Duration::from_secs(2 * 3_600);
        let rows = planned(&record);
        assert_eq!(reported(&rows), [(120, 9), (238, 20)]);
        assert!((rows[0].smallest - smallest(9, 2)).abs() < 1e-9);
    }
}
