//! When is a server warm? A rule that looks while it warms up, and the warm-up length that it gives a study.
//!
//! At elapsed times t0·1.15^k it looks at a window, the last part of the load so far. The launch is steady when
//! - its *rate is level*: the second half of the window is as fast as the first, within a tolerance; and
//! - its *compilers are idle* in the window, where the server publishes what they do ([`Compiling`]).
//!
//! Where compilers are seen, the window is the last quarter, and half of t0 at least. Where they are not, a plateau before further compilation
//! looks like the end. So the window is the last half then, and it must hold at two successive checks.
//!
//! The tolerance is for noise. The window is cut into [`PARTS`] parts, longer ones as the warm-up goes on. So their scatter shows slow noise of the host,
//! which tenths of a second do not show. It is three standard errors by that scatter, 1 % at least, 5 % at most.
//! What was tried beside it, and on which launches: ADR 14.

use std::time::Duration;

use model::sample::BIN_S;
use model::{Mode, Sample, Steady, WarmUpLength};

use crate::compiling::Compiling;
use crate::robust;

/// Growth of the elapsed time between checks.
const GROWTH: f64 = 1.15;
/// Agreement asked of quiet series, a fraction.
const TOLERANCE: f64 = 0.01;
/// Loosest agreement that still counts as level, a fraction.
const WIDEST: f64 = 0.05;
/// Standard errors that both halves may differ by.
const ERRORS: f64 = 3.0;
/// Parts of the window whose scatter is the noise, half of them before and half after its middle.
const PARTS: usize = 8;
/// Standard deviation that rounding to whole numbers causes by itself: 1/√12.
const ROUNDING: f64 = 0.2887;
/// What the length of a sample may be off by, in bins.
const OFF: f64 = 1e-6;

/// The part of the load so far that is looked at, and at how many successive checks it must be steady.
#[derive(Debug, Clone, Copy)]
struct Look {
    part: f64,
    checks: u32,
}

/// Where compilers are seen.
const SEEING: Look = Look { part: 0.25, checks: 1 };
/// Where they are not.
const BLIND: Look = Look { part: 0.5, checks: 2 };

/// About a second of a warm-up, as the rule sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Second {
    /// Where it began and ended, seconds since the load began.
    pub span_s: [f64; 2],
    /// Good answers in each of its whole [`BIN_S`] seconds.
    pub bins: Vec<u32>,
    /// What its compilers did; `None` where they are not seen.
    pub compiling: Option<Compiling>,
}

impl From<&Sample> for Second {
    fn from(sample: &Sample) -> Self {
        // A bin that was cut short says nothing about how fast the server is.
        let whole = (sample.length_s / BIN_S + OFF) as usize;
        Self {
            span_s: [sample.start_s, sample.start_s + sample.length_s],
            bins: sample.bins.iter().copied().take(whole).collect(),
            compiling: Compiling::of(sample),
        }
    }
}

/// The rule, online: fed with seconds as they come.
#[derive(Debug, Clone)]
pub struct Steadiness {
    /// Bins before the first check.
    least: f64,
    seconds: Vec<Second>,
    /// Bins so far, and when there are enough for the next check.
    bins: usize,
    next_check: f64,
    /// Successive checks at which it held.
    held: u32,
    steady: Option<Steady>,
}

impl Steadiness {
    /// First check after 30 s; in quick mode after 10 s, which sees less: long plateaus before further compilation pass for steady.
    pub fn new(mode: Mode) -> Self {
        let least = least_seconds(mode) / BIN_S;
        Self { least, seconds: Vec::new(), bins: 0, next_check: least, held: 0, steady: None }
    }

    /// Takes the next second. Returns when the rule first held; stays the same from then on.
    pub fn push(&mut self, second: Second) -> Option<Steady> {
        if self.steady.is_none() {
            self.bins += second.bins.len();
            let at_s = second.span_s[1];
            self.seconds.push(second);
            if self.bins as f64 >= self.next_check {
                self.next_check = (self.next_check * GROWTH).max(self.bins as f64);
                self.steady = self.check(at_s);
            }
        }
        self.steady
    }

    fn check(&mut self, at_s: f64) -> Option<Steady> {
        let window = self.window(SEEING.part);
        let compiling: Option<Vec<Compiling>> = window.iter().map(|second| second.compiling).collect();
        let (look, window) = match compiling {
            Some(_) => (SEEING, window),
            None => (BLIND, self.window(BLIND.part)),
        };
        let is_idle = compiling.is_none_or(|compiling| !Compiling::sum(compiling).is_busy());
        let from_s = window.first()?.span_s[0];
        let bins: Vec<u32> = window.iter().flat_map(|second| second.bins.iter().copied()).collect();
        self.held = if is_idle && is_level(&bins) { self.held + 1 } else { 0 };
        (self.held >= look.checks).then_some(Steady { from_s, at_s })
    }

    /// The last seconds that hold so large a part of all bins, and half of those before the first check at least.
    fn window(&self, part: f64) -> &[Second] {
        let wanted = (self.bins as f64 * part).max(self.least / 2.0);
        let mut held = 0;
        let seconds = self.seconds.iter().rev().take_while(|second| {
            let is_short = (held as f64) < wanted;
            held += second.bins.len();
            is_short
        });
        &self.seconds[self.seconds.len() - seconds.count()..]
    }
}

/// Shortest warm-up that can be found steady, seconds.
pub fn least_seconds(mode: Mode) -> f64 {
    match mode {
        Mode::Full => 30.0,
        Mode::Quick => 10.0,
    }
}

/// Whether both halves of a window are as fast as each other: the median difference between a part of the second and one of the
/// first (Hodges & Lehmann 1963) is within the tolerance.
fn is_level(window: &[u32]) -> bool {
    let edge = |part: usize| part * window.len() / PARTS;
    let parts: Vec<&[u32]> = (0..PARTS).map(|part| &window[edge(part)..edge(part + 1)]).collect();
    let rate = |bins: &&[u32]| bins.iter().copied().map(f64::from).sum::<f64>() / bins.len() as f64;
    let rates: Vec<f64> = parts.iter().map(rate).collect();
    let halves = rates.split_at(PARTS / 2);
    let differences: Vec<f64> =
        halves.0.iter().flat_map(|first| halves.1.iter().map(move |second| second - first)).collect();
    // Residuals from each half's own middle: a trend is not noise.
    let residuals: Vec<f64> = [halves.0, halves.1]
        .iter()
        .flat_map(|half| half.iter().map(|rate| rate - robust::median(half).unwrap_or_default()))
        .collect();
    let (Some(difference), Some(sigma), Some(middle)) =
        (robust::median(&differences), robust::sigma(&residuals), robust::median(&rates))
    else {
        return false;
    };
    if middle <= 0.0 {
        return false;
    }
    // Two middles were taken from the parts themselves.
    let sigma = sigma * (PARTS as f64 / (PARTS - 2) as f64).sqrt();
    let error = sigma.max(ROUNDING * PARTS as f64 / window.len() as f64) * (4.0 / PARTS as f64).sqrt() / middle;
    difference.abs() / middle <= (ERRORS * error).clamp(TOLERANCE, WIDEST)
}

/// The warm-up of every later launch of every variant: 1.25 × the longest over variants of the P90 of their times.
///
/// `times` holds, for each variant, when each launch that was to find it became steady (seconds; `None`: never). One
/// launch that never did, or a variant without any, leaves the cap, and no claim of steadiness.
pub fn warm_up_length(times: &[Vec<Option<f64>>], cap: Duration) -> WarmUpLength {
    let cap = cap.as_secs_f64();
    let slowest = times.iter().map(|times| p90(times)).try_fold(0.0_f64, |longest, time| Some(longest.max(time?)));
    match slowest {
        Some(seconds) => WarmUpLength { seconds: (1.25 * seconds).min(cap), established: true },
        None => WarmUpLength { seconds: cap, established: false },
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

    /// Noise of a rate, log ratios (standard deviations): of each tenth of a second, and one that wanders with a correlation of ten seconds.
    #[derive(Clone, Copy)]
    struct Noise {
        bin: f64,
        slow: f64,
    }

    const QUIET: Noise = Noise { bin: 0.0, slow: 0.0 };

    /// So many seconds of a server whose rate (answers/s) at time t is `rate(t)`, its compilers unseen.
    fn seconds(count: usize, rate: impl Fn(f64) -> f64, noise: Noise, seed: u64) -> Vec<Second> {
        let phi = (-0.1_f64).exp();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let (mut carry, mut wander) = (0.0, noise.slow * normal(&mut rng));
        (0..count)
            .map(|second| {
                wander = phi * wander + (1.0 - phi * phi).sqrt() * noise.slow * normal(&mut rng);
                let bin = |bin: u32| {
                    let t = second as f64 + f64::from(bin) * BIN_S;
                    let expected = rate(t) * BIN_S * (wander + noise.bin * normal(&mut rng)).exp() + carry;
                    carry = expected.fract();
                    expected as u32
                };
                let span_s = [second as f64, second as f64 + 1.0];
                Second { span_s, bins: (0..10).map(bin).collect(), compiling: None }
            })
            .collect()
    }

    /// The same where compilers are seen, which take so much of two cores' time in each second.
    fn compiling(seconds: Vec<Second>, jit_s: impl Fn(f64) -> f64) -> Vec<Second> {
        let seen = |second: Second| {
            let compiling = Some(Compiling { jit_s: jit_s(second.span_s[0]), cpu_s: 1.9, load_s: 1.0 });
            Second { compiling, ..second }
        };
        seconds.into_iter().map(seen).collect()
    }

    fn steady(seconds: Vec<Second>) -> Option<Steady> {
        let mut rule = Steadiness::new(Mode::Full);
        seconds.into_iter().map(|second| rule.push(second)).last().flatten()
    }

    fn steady_at(seconds: Vec<Second>) -> Option<f64> {
        steady(seconds).map(|steady| steady.at_s)
    }

    /// A rate that closes in on `level` from a tenth of it with time constant `tau`, seconds.
    fn warming(level: f64, tau: f64) -> impl Fn(f64) -> f64 {
        move |t| level * (1.0 - 0.9 * (-t / tau).exp())
    }

    #[test]
    fn a_steady_server_is_found_at_the_second_check_and_at_the_first_where_compilers_are_seen() {
        for rate in [20.0, 300.0, 5_000.0, 80_000.0] {
            let bins = seconds(60, |_| rate, QUIET, 1);
            assert_eq!(steady(bins.clone()), Some(Steady { from_s: 17.0, at_s: 35.0 }), "{rate}/s");
            assert_eq!(steady(compiling(bins, |_| 0.0)), Some(Steady { from_s: 15.0, at_s: 30.0 }), "{rate}/s");
        }
    }

    #[test]
    fn quick_mode_looks_earlier() {
        let mut rule = Steadiness::new(Mode::Quick);
        let found: Vec<Option<Steady>> =
            seconds(14, |_| 5_000.0, QUIET, 1).into_iter().map(|second| rule.push(second)).collect();
        assert_eq!(found[10], None);
        assert_eq!(found[11..], [Some(Steady { from_s: 6.0, at_s: 12.0 }); 3]);
    }

    #[test]
    fn seconds_of_any_length_count_by_their_whole_bins() {
        // Slices of 2.04 s: the last sample of each has a bin that was cut short.
        let mut rule = Steadiness::new(Mode::Full);
        let found = (0..40).find_map(|slice| {
            let start = f64::from(slice) * 2.04;
            rule.push(Second { span_s: [start, start + 2.04], bins: vec![50; 20], compiling: None })
        });
        let found = found.unwrap();
        assert!((found.at_s - 18.0 * 2.04).abs() < 1e-9 && (found.from_s - 9.0 * 2.04).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn on_quiet_curves_the_rule_stops_within_two_percent_of_the_truth() {
        for tau in [5.0, 15.0, 40.0, 100.0] {
            let curve = warming(5_000.0, tau);
            let at = steady_at(seconds(1_500, &curve, QUIET, 1)).unwrap();
            assert!(curve(at) / 5_000.0 > 0.98, "tau {tau}: {} of the level at {at} s", curve(at) / 5_000.0);
            assert!(at < 14.0 * tau.max(5.0), "tau {tau}: only at {at} s");
        }
    }

    /// How many of 100 launches that close in with a time constant of 25 s the rule calls steady within 300 s, and how many of those
    /// more than 5 % early.
    fn reported(rate: f64, noise: Noise, jit_s: Option<fn(f64) -> f64>) -> (u32, u32) {
        let curve = warming(rate, 25.0);
        let (mut early, mut fired) = (0, 0);
        for seed in 0..100 {
            let bins = seconds(300, &curve, noise, seed);
            let launch = jit_s.map_or_else(|| bins.clone(), |jit_s| compiling(bins.clone(), jit_s));
            if let Some(at) = steady_at(launch) {
                fired += 1;
                early += u32::from(curve(at) / rate < 0.95);
            }
        }
        (fired, early)
    }

    #[test]
    fn on_noisy_curves_the_rule_fires_and_seldom_much_too_early() {
        // (answers/s, relative noise of a tenth of a second)
        for (rate, bin) in [(5_000.0, 0.05), (5_000.0, 0.15), (500.0, 0.15), (50.0, 0.3)] {
            let (fired, early) = reported(rate, Noise { bin, slow: 0.0 }, None);
            assert!(fired >= 98 && early <= 15, "{rate}/s, noise {bin}: {fired} fired, {early} of them early");
        }
    }

    #[test]
    fn slow_noise_of_the_host_does_not_keep_it_from_firing() {
        for (slow, most) in [(0.03, 15), (0.08, 30)] {
            let noise = Noise { bin: 0.02, slow };
            let (fired, early) = reported(2_000.0, noise, None);
            assert!(fired >= 85 && early <= most, "{slow}: {fired} fired, {early} of them early");
            // Compilers are at work until the launch is within 3 % of its speed.
            let (fired, early) = reported(2_000.0, noise, Some(|t| if t < 85.0 { 0.9 } else { 0.0 }));
            assert!(fired >= 90 && early == 0, "{slow}: {fired} fired, {early} of them early");
        }
    }

    #[test]
    fn a_launch_whose_compilers_are_at_work_is_not_steady() {
        let plateau = seconds(200, |t| if t < 90.0 { 800.0 } else { 1_000.0 }, QUIET, 1);
        assert_eq!(steady_at(plateau.clone()), Some(35.0));
        assert_eq!(steady_at(compiling(plateau.clone(), |_| 0.9)), None);
        let at = steady_at(compiling(plateau, |t| if t < 90.0 { 0.9 } else { 0.0 })).unwrap();
        assert!((100.0..150.0).contains(&at), "{at}");
    }

    #[test]
    fn a_server_that_keeps_changing_is_never_steady() {
        let rising = seconds(600, |t| 1_000.0 * (1.0 + t / 100.0), Noise { bin: 0.02, slow: 0.0 }, 1);
        assert_eq!(steady_at(rising.clone()), None);
        assert_eq!(steady_at(compiling(rising[..300].to_vec(), |_| 0.0)), None);
        assert_eq!(steady_at(seconds(600, |_| 0.0, QUIET, 1)), None);
    }

    #[test]
    fn a_stall_is_no_trend() {
        let level = |stall: std::ops::Range<f64>| {
            let rate = move |t: f64| if stall.contains(&t) { 0.0 } else { 1_000.0 };
            steady_at(seconds(60, rate, QUIET, 1))
        };
        assert_eq!(level(27.0..27.9), Some(35.0));
        assert_eq!(level(0.0..0.0), Some(35.0));
    }

    #[test]
    fn the_cut_is_that_of_the_slowest_variant() {
        let cap = Duration::from_secs(300);
        let length_of = |times: &[Vec<Option<f64>>]| warm_up_length(times, cap);
        assert_eq!(
            length_of(&[vec![Some(30.0), Some(40.0)], vec![Some(80.0), Some(60.0)]]),
            WarmUpLength { seconds: 100.0, established: true }
        );
        assert_eq!(length_of(&[vec![Some(280.0)]]), WarmUpLength { seconds: 300.0, established: true });
        let never = WarmUpLength { seconds: 300.0, established: false };
        assert_eq!(length_of(&[vec![Some(30.0), None], vec![Some(30.0)]]), never);
        assert_eq!(length_of(&[vec![Some(30.0)], vec![]]), never);
    }
}
