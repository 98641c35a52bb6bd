//! When is a server warm? The "half window" rule, and the cut that it gives a study.
//!
//! At elapsed times t0·1.15^k the last half of the elapsed time is split into four quarters. The server is steady when
//! the medians of their completion rates agree: largest / smallest − 1 within a tolerance (`docs/method.md`).
//!
//! Two additions to the specification, both for noise:
//! - *Bins.* A tenth of a second holds few answers of a slow server, and the median of small whole numbers moves in
//!   steps (from 3 to 4 is 33 %). Neighbouring bins are therefore added until one holds [`ENOUGH`] answers, or until a
//!   quarter has only [`FEWEST_BINS`] of them left; and the median is that of grouped data: a count c stands
//!   for anything in c ± ½.
//! - *Tolerance.* 1 % was found on quiet series. It widens to three standard errors of a quarter's median (from the
//!   bins' median absolute deviation), at most to [`WIDEST`]: beyond that a series is too noisy to be called steady yet,
//!   and as the window grows the error shrinks.

use std::time::Duration;

use model::{Mode, WarmUpCut, interval::BIN_S};

use crate::robust;

/// Growth of the elapsed time between checks.
const GROWTH: f64 = 1.15;
/// Agreement asked of quiet series, a fraction.
const TOLERANCE: f64 = 0.01;
/// Loosest agreement that still counts as steady, a fraction.
const WIDEST: f64 = 0.05;
/// Answers in a bin from which on a step of one is below half the tolerance.
const ENOUGH: f64 = 200.0;
/// Least number of bins of which a quarter's median is taken.
const FEWEST_BINS: usize = 9;
/// Quarters of the window.
const QUARTERS: usize = 4;
/// Standard error of a median of n normal values, in σ/√n: √(π/2).
const MEDIAN_ERROR: f64 = 1.2533;
/// Standard deviation that rounding to whole numbers causes by itself: 1/√12.
const ROUNDING: f64 = 0.2887;

/// The rule, online: fed with bins as they come.
#[derive(Debug, Clone)]
pub struct HalfWindow {
    bins: Vec<u32>,
    next_check: f64,
    steady_at: Option<f64>,
}

impl HalfWindow {
    /// First check after 30 s and 300 bins; in quick mode after 10 s, which sees less: long plateaus before further
    /// compilation pass for steady.
    pub fn new(mode: Mode) -> Self {
        Self { bins: Vec::new(), next_check: least_seconds(mode) / BIN_S, steady_at: None }
    }

    /// Takes the next bins of [`BIN_S`] seconds each ([`model::Interval::bins`]).
    ///
    /// Returns when the rule first held, in seconds since the first bin; stays the same from then on.
    pub fn push(&mut self, bins: &[u32]) -> Option<f64> {
        for bin in bins {
            self.bins.push(*bin);
            if self.steady_at.is_none() && self.bins.len() as f64 >= self.next_check {
                self.next_check *= GROWTH;
                if is_steady(&self.bins[self.bins.len() / 2..]) {
                    self.steady_at = Some(self.bins.len() as f64 * BIN_S);
                }
            }
        }
        self.steady_at
    }

    /// When the rule first held, seconds since the first bin.
    pub fn steady_at(&self) -> Option<f64> {
        self.steady_at
    }
}

/// Shortest warm-up that can be found steady, seconds.
pub fn least_seconds(mode: Mode) -> f64 {
    match mode {
        Mode::Full => 30.0,
        Mode::Quick => 10.0,
    }
}

/// Whether the four quarters of `window` agree.
fn is_steady(window: &[u32]) -> bool {
    let quarter = window.len() / QUARTERS;
    let together = bins_to_add(window, quarter);
    let quarters: Vec<Vec<f64>> = window
        .chunks_exact(quarter)
        .take(QUARTERS)
        .map(|bins| bins.chunks_exact(together).map(|bins| bins.iter().copied().map(f64::from).sum()).collect())
        .collect();
    let medians: Vec<f64> = quarters.iter().map(|counts| grouped_median(counts)).collect();
    let (low, high) = medians.iter().fold((f64::MAX, 0.0_f64), |(low, high), m| (low.min(*m), high.max(*m)));
    if low <= 0.0 {
        return false;
    }
    // Residuals from each quarter's own median: a trend is not noise.
    let residuals: Vec<f64> =
        quarters.iter().zip(&medians).flat_map(|(counts, median)| counts.iter().map(move |c| c - median)).collect();
    let sigma = robust::sigma(&residuals).unwrap_or_default().max(ROUNDING);
    let error = MEDIAN_ERROR * sigma / ((quarter / together) as f64).sqrt() / low;
    high / low - 1.0 <= (3.0 * error).clamp(TOLERANCE, WIDEST)
}

/// How many neighbouring bins to add so that a sum holds enough answers.
fn bins_to_add(window: &[u32], quarter: usize) -> usize {
    let mean = window.iter().copied().map(f64::from).sum::<f64>() / window.len() as f64;
    let most = (quarter / FEWEST_BINS).max(1);
    if mean > 0.0 { ((ENOUGH / mean).ceil() as usize).clamp(1, most) } else { most }
}

/// The median of counts, each standing for the span c ± ½: the point that halves them when equal counts spread
/// evenly over theirs.
fn grouped_median(counts: &[f64]) -> f64 {
    let Some(middle) = robust::median(counts) else { return 0.0 };
    let below = counts.iter().filter(|count| **count < middle).count() as f64;
    let equal = counts.iter().filter(|count| **count <= middle).count() as f64 - below;
    if equal == 0.0 { middle } else { middle - 0.5 + (counts.len() as f64 / 2.0 - below) / equal }
}

/// The warm-up of every later launch of every variant: 1.25 × the longest over variants of the P90 of their times.
///
/// `times` holds, for each variant, when each launch that was to find it became steady (seconds; `None`: never). One
/// launch that never did, or a variant without any, leaves the cap, and no claim of steadiness.
pub fn cut(times: &[Vec<Option<f64>>], cap: Duration) -> WarmUpCut {
    let cap = cap.as_secs_f64();
    let slowest = times.iter().map(|times| p90(times)).try_fold(0.0_f64, |longest, time| Some(longest.max(time?)));
    match slowest {
        Some(seconds) => WarmUpCut { seconds: (1.25 * seconds).min(cap), established: true },
        None => WarmUpCut { seconds: cap, established: false },
    }
}

fn p90(times: &[Option<f64>]) -> Option<f64> {
    let times: Option<Vec<f64>> = times.iter().copied().collect();
    robust::quantile(&times?, 0.9)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::normal;

    /// Counts of a server whose rate (answers/s) at time t is `rate(t)`, with relative noise `noise` per bin.
    fn bins(seconds: usize, rate: impl Fn(f64) -> f64, noise: f64, seed: u64) -> Vec<u32> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut carry = 0.0;
        (0..seconds * 10)
            .map(|bin| {
                let expected = rate(bin as f64 * BIN_S) * BIN_S * (1.0 + noise * normal(&mut rng)) + carry;
                let count = expected.floor().max(0.0);
                carry = expected - count;
                count as u32
            })
            .collect()
    }

    fn steady_at(bins: &[u32]) -> Option<f64> {
        HalfWindow::new(Mode::Full).push(bins)
    }

    /// A rate that closes in on `level` from a tenth of it with time constant `tau`, seconds.
    fn warming(level: f64, tau: f64) -> impl Fn(f64) -> f64 {
        move |t| level * (1.0 - 0.9 * (-t / tau).exp())
    }

    #[test]
    fn a_steady_server_is_found_at_the_first_check() {
        for rate in [20.0, 300.0, 5_000.0, 80_000.0] {
            assert_eq!(steady_at(&bins(60, |_| rate, 0.0, 1)), Some(30.0), "{rate}/s");
        }
    }

    #[test]
    fn quick_mode_looks_earlier() {
        let mut rule = HalfWindow::new(Mode::Quick);
        assert_eq!(rule.push(&bins(9, |_| 5_000.0, 0.0, 1)), None);
        assert_eq!(rule.push(&bins(9, |_| 5_000.0, 0.0, 1)), Some(10.0));
        assert_eq!(rule.steady_at(), Some(10.0));
    }

    #[test]
    fn feeding_in_pieces_changes_nothing() {
        let bins = bins(300, warming(2_000.0, 20.0), 0.05, 5);
        let mut rule = HalfWindow::new(Mode::Full);
        let last = bins.chunks(7).map(|piece| rule.push(piece)).last().unwrap();
        assert!(last.is_some());
        assert_eq!(last, steady_at(&bins));
    }

    #[test]
    fn on_quiet_curves_the_rule_stops_within_two_percent_of_the_truth() {
        for tau in [5.0, 15.0, 40.0, 100.0] {
            let curve = warming(5_000.0, tau);
            let at = steady_at(&bins(1_500, &curve, 0.0, 1)).unwrap();
            assert!(curve(at) / 5_000.0 > 0.98, "tau {tau}: {} of the level at {at} s", curve(at) / 5_000.0);
            assert!(at < 14.0 * tau.max(5.0), "tau {tau}: only at {at} s");
        }
    }

    #[test]
    fn on_noisy_curves_the_rule_fires_and_seldom_much_too_early() {
        // (answers/s, relative noise of a tenth of a second)
        for (rate, noise) in [(5_000.0, 0.05), (5_000.0, 0.15), (500.0, 0.15), (50.0, 0.3)] {
            let (mut early, mut fired) = (0, 0);
            for seed in 0..60 {
                let curve = warming(rate, 25.0);
                if let Some(at) = steady_at(&bins(900, &curve, noise, seed)) {
                    fired += 1;
                    early += u32::from(curve(at) / rate < 0.95);
                }
            }
            assert_eq!(fired, 60, "{rate}/s, noise {noise}");
            assert!(early <= 6, "{rate}/s, noise {noise}: {early} of 60 stopped more than 5 % early");
        }
    }

    #[test]
    fn a_server_that_keeps_changing_is_never_steady() {
        assert_eq!(steady_at(&bins(600, |t| 1_000.0 * (1.0 + t / 100.0), 0.02, 1)), None);
        assert_eq!(steady_at(&vec![0; 6_000]), None);
    }

    #[test]
    fn a_median_of_small_counts_does_not_jump() {
        assert!((grouped_median(&[3.0, 3.0, 4.0, 4.0]) - 3.5).abs() < 1e-12);
        assert!((grouped_median(&[3.0, 3.0, 3.0, 4.0]) - (2.5 + 2.0 / 3.0)).abs() < 1e-12);
        assert!((grouped_median(&[3.0, 4.0, 4.0, 4.0]) - (3.5 + 1.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn the_cut_is_that_of_the_slowest_variant() {
        let cap = Duration::from_secs(300);
        let cut_of = |times: &[Vec<Option<f64>>]| cut(times, cap);
        assert_eq!(
            cut_of(&[vec![Some(30.0), Some(40.0)], vec![Some(80.0), Some(60.0)]]),
            WarmUpCut { seconds: 100.0, established: true }
        );
        assert_eq!(cut_of(&[vec![Some(280.0)]]), WarmUpCut { seconds: 300.0, established: true });
        let never = WarmUpCut { seconds: 300.0, established: false };
        assert_eq!(cut_of(&[vec![Some(30.0), None], vec![Some(30.0)]]), never);
        assert_eq!(cut_of(&[vec![Some(30.0)], vec![]]), never);
    }
}
