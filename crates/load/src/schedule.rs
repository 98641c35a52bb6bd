//! When the requests of an open loop are due: pure functions of a rate profile and of the arrival's number.

use std::time::Duration;

use model::{Profile, Spacing, Stage};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Arrivals by which a stage's end is missed and that still count as due after it: sums of rates such as 0.1 + 0.2
/// are to add no arrival.
const TOLERANCE: f64 = 1e-6;

/// The intended start of every arrival, from the beginning of the load, in order. `seed` matters only where something is
/// drawn; equal seeds give equal arrivals. Gaps of mean 1 are mapped through the inverse of the cumulative rate
/// (Çinlar 1975, §4.7).
///
/// ```
/// use std::time::Duration;
///
/// use model::{Profile, Spacing};
///
/// let length = Duration::from_secs(10);
/// let up_then_level = Profile::through([(200.0, length), (200.0, length)], Spacing::Even);
/// assert_eq!(load::intended_starts(&up_then_level, 1).count(), 1_000 + 2_000);
/// assert_eq!(load::intended_starts(&up_then_level, 1).nth(1_000), Some(length));
/// ```
pub fn intended_starts(profile: &Profile, seed: u64) -> Starts<'_> {
    let mut draws = match profile.spacing {
        Spacing::Even => None,
        Spacing::Poisson => Some(ChaCha8Rng::seed_from_u64(seed)),
    };
    let count = draws.as_mut().map_or(0.0, exponential);
    Starts { profile, count, draws }
}

/// Whether every rate is one, and some request may be due.
pub(crate) fn is_sound(profile: &Profile) -> bool {
    let mut rates = profile.stages.iter().flat_map(|stage| [stage.from, stage.to]);
    rates.clone().all(|rate| (0.0..=Profile::MOST_RATE).contains(&rate)) && rates.any(|rate| rate > 0.0)
}

/// When the cumulative rate goes beyond `count`, to the nanosecond; `None` when it never does.
fn when(profile: &Profile, count: f64) -> Option<Duration> {
    let (mut begin, mut left) = (Duration::ZERO, count);
    for stage in &profile.stages {
        let within = stage.due_within(stage.length);
        if left + TOLERANCE < within {
            return Some(begin.saturating_add(Duration::try_from_secs_f64(time_of(stage, left)).ok()?));
        }
        left = if left > within + TOLERANCE { left - within } else { 0.0 };
        begin = begin.saturating_add(stage.length);
    }
    None
}

/// Seconds into a stage at which the integral of its rate is `count`, which is less than the whole stage's.
fn time_of(stage: &Stage, count: f64) -> f64 {
    if count <= 0.0 {
        return 0.0;
    }
    let slope = (stage.to - stage.from) / stage.length.as_secs_f64();
    // The root of slope/2·t² + from·t = count in the form that loses no digits when the slope is small.
    2.0 * count / (stage.from + (stage.from * stage.from + 2.0 * slope * count).max(0.0).sqrt())
}

/// The intended starts of a [`Profile`]'s arrivals, in order.
#[derive(Debug, Clone)]
pub struct Starts<'a> {
    profile: &'a Profile,
    /// What the cumulative rate is at the next arrival.
    count: f64,
    /// Where gaps are drawn from, if they are.
    draws: Option<ChaCha8Rng>,
}

impl Starts<'_> {
    fn step(&mut self) {
        self.count += self.draws.as_mut().map_or(1.0, exponential);
    }
}

impl Iterator for Starts<'_> {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let start = when(self.profile, self.count);
        self.step();
        start
    }

    /// Passes over `n` arrivals without asking when they are due.
    fn nth(&mut self, n: usize) -> Option<Duration> {
        for _ in 0..n {
            self.step();
        }
        self.next()
    }
}

/// A draw from the exponential distribution of mean 1, by inversion.
pub(crate) fn exponential(draws: &mut ChaCha8Rng) -> f64 {
    // 1 − u lies in (0, 1], whose logarithm is finite.
    -(1.0 - draws.random::<f64>()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Rates at both ends, requests/s, and length, ms.
    type Whole = (u32, u32, u32);

    fn profile(stages: &[Whole]) -> Profile {
        let stage = |&(from, to, length): &Whole| Stage {
            from: from.into(),
            to: to.into(),
            length: Duration::from_millis(length.into()),
        };
        Profile { stages: stages.iter().map(stage).collect(), spacing: Spacing::Even }
    }

    /// Arrivals due before `until` ms, by whole numbers only: the cumulative rate, rounded up.
    fn due_before(stages: &[Whole], until: u32) -> usize {
        let (mut left, mut passed) = (u128::from(until), 0);
        for &(from, to, length) in stages {
            let (from, to, length) = (u128::from(from), u128::from(to), u128::from(length));
            if left < length {
                // In units of 1/(2000·length) arrivals; from·(2·length − left) + to·left is never below 0.
                let whole = passed * length + (from * (2 * length - left) + to * left) * left;
                return whole.div_ceil(2_000 * length) as usize;
            }
            passed += (from + to) * length;
            left -= length;
        }
        passed.div_ceil(2_000) as usize
    }

    proptest! {
        #[test]
        fn the_count_by_any_time_is_exact(
            stages in proptest::collection::vec((0_u32..1_000, 0_u32..1_000, 0_u32..3_000), 1..5),
            share in 0.0..=1.0_f64,
        ) {
            let whole: u32 = stages.iter().map(|stage| stage.2).sum();
            let until = (f64::from(whole) * share) as u32;
            let starts: Vec<Duration> = intended_starts(&profile(&stages), 1).collect();
            prop_assert!(starts.is_sorted());
            prop_assert_eq!(starts.len(), due_before(&stages, whole));
            // An arrival that is due within half a nanosecond of the time may count as due at it.
            let time = Duration::from_millis(until.into());
            let (before, by) = (starts.partition_point(|at| *at < time), starts.partition_point(|at| *at <= time));
            let exact = due_before(&stages, until);
            prop_assert!((before..=by).contains(&exact), "{exact} before {time:?}, found {before} to {by}");
        }

        #[test]
        fn a_constant_rate_never_drifts(rate in 1_u32..2_000_000, seconds in 0_u64..1_000_000, more in 0_u64..1_000) {
            let number = u64::from(rate) * seconds + more;
            let start = when(&Profile::constant(rate.into()), number as f64).unwrap().as_nanos();
            // Less than a nanosecond off, days after the beginning.
            let exact = u128::from(number) * 1_000_000_000;
            prop_assert!((start * u128::from(rate)).abs_diff(exact) < u128::from(rate));
        }

        #[test]
        fn passing_over_arrivals_changes_none(seed in any::<u64>(), step in 1_usize..9, poisson in any::<bool>()) {
            let spacing = if poisson { Spacing::Poisson } else { Spacing::Even };
            let profile = Profile { spacing, ..profile(&[(100, 900, 500), (0, 0, 100), (900, 0, 500)]) };
            let whole: Vec<Duration> = intended_starts(&profile, seed).collect();
            prop_assert!(whole.is_sorted());
            for first in 0..step {
                let part: Vec<Duration> = intended_starts(&profile, seed).skip(first).step_by(step).collect();
                let expected: Vec<Duration> = whole.iter().copied().skip(first).step_by(step).collect();
                prop_assert_eq!(part, expected);
            }
        }
    }

    #[test]
    fn even_arrivals_begin_at_once_and_keep_clear_of_pauses() {
        let starts: Vec<Duration> =
            intended_starts(&profile(&[(4, 4, 500), (0, 0, 1_000), (2, 2, 1_000)]), 1).collect();
        assert_eq!(starts, [0, 250, 1_500, 2_000].map(Duration::from_millis));
        assert_eq!(intended_starts(&profile(&[(0, 0, 1_000), (1, 1, 1_000)]), 1).collect::<Vec<_>>(), [SECOND]);
    }

    #[test]
    fn a_ramp_is_the_root_of_its_parabola() {
        // Up to 2/s over 2 s: t²/2 arrivals after t s. Down again: the same, seen from the end.
        let up: Vec<Duration> = intended_starts(&profile(&[(0, 2, 2_000)]), 1).collect();
        assert_eq!(up, [0.0, 2.0_f64.sqrt()].map(Duration::from_secs_f64));
        let down: Vec<Duration> = intended_starts(&profile(&[(2, 0, 2_000)]), 1).collect();
        assert_eq!(down, [0.0, 2.0 - 2.0_f64.sqrt()].map(Duration::from_secs_f64));
    }

    #[test]
    fn poisson_arrivals_have_the_rate_and_the_gaps() {
        const N: usize = 40_000;
        let constant = Profile { spacing: Spacing::Poisson, ..Profile::constant(1_000.0) };
        let starts: Vec<f64> = intended_starts(&constant, 7).take(N).map(|start| start.as_secs_f64()).collect();
        // Five standard errors; the draws are fixed by the seed, so this cannot fail by chance.
        let error = 5.0 / (N as f64).sqrt();
        assert!((starts[N - 1] / 40.0 - 1.0).abs() < error);
        let long = starts.windows(2).filter(|pair| pair[1] - pair[0] > 1e-3).count() as f64 / N as f64;
        assert!((long - (-1.0_f64).exp()).abs() < error);
        // A ramp from 0 has a quarter of its arrivals in its first half.
        let ramp = Profile { spacing: Spacing::Poisson, ..profile(&[(0, 1_000, 80_000)]) };
        let starts: Vec<Duration> = intended_starts(&ramp, 7).collect();
        let first = starts.partition_point(|start| *start < 40 * SECOND) as f64 / starts.len() as f64;
        assert!((first - 0.25).abs() < error);
    }

    #[test]
    fn one_seed_one_schedule() {
        let profile = Profile { spacing: Spacing::Poisson, ..Profile::constant(100.0) };
        let starts = |seed| intended_starts(&profile, seed).take(1_000).collect::<Vec<_>>();
        assert_eq!(starts(3), starts(3));
        assert_ne!(starts(3), starts(4));
    }

    #[test]
    fn rates_that_are_none_are_found() {
        let with = |from: f64, to: f64| Profile { stages: vec![Stage { from, to, length: SECOND }], ..profile(&[]) };
        assert!(is_sound(&Profile::constant(0.001)) && is_sound(&with(0.0, 1.0)));
        for wrong in [with(0.0, 0.0), with(-1.0, 1.0), with(1.0, f64::NAN), with(f64::INFINITY, 1.0), profile(&[])] {
            assert!(!is_sound(&wrong), "{wrong:?}");
        }
    }
}
