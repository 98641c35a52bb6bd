//! When is a launch taken for warm, and is it? Rules held against launches whose warm-up is known.
//!
//! A server's speed at t is (1 − c·e^(−t/τ))·(1 − g·[t < T]) of what it will be: it comes up from cold, and with some servers a
//! hot method is compiled late, which one sees as a second step. Compilers are at work while the speed comes up, and shortly before that step.
//! Fitted to nobody's data.

use std::time::Duration;

use analysis::{Compiling, Second, Steadiness};
use model::Mode;
use model::sample::BIN_S;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::Studies;
use crate::noise::normal;
use crate::rate::Rate;

/// Longest warm-up, seconds.
const CAP_S: usize = 300;
/// Bins of a second.
const BINS: usize = (1.0 / BIN_S) as usize;
/// Good answers per second of a warm launch.
const RATE: f64 = 2_000.0;
/// Nearer than this to its final speed a launch counts as warm, a fraction.
const NEAR: f64 = 0.05;
/// A fixed warm-up, seconds.
const FIXED_S: f64 = 30.0;
/// Seconds whose rates the coefficient of variation is of.
const WINDOW_S: usize = 10;
/// The coefficient below which that rule calls a launch steady.
const STEADY_COV: f64 = 0.02;
/// Compilers are at work while one second brings more than this part of the final speed.
const COMPILED: f64 = 0.001;
/// For so long they are at work on the method that is compiled late, seconds.
const LATE_S: f64 = 3.0;
/// Seconds of compiling and of the server's CPU time in each second with compilers at work.
const AT_WORK: [f64; 2] = [0.9, 1.9];
/// Variants of a study, and pilots of each.
const PILOTS: [usize; 2] = [2, 2];

/// When the measurement begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The study's warm-up length: the warm-up's rule on four pilots of the same server, whose compilers are not seen.
    Common,
    /// The warm-up's rule on the launch itself, whose compilers are not seen.
    Blind,
    /// The warm-up's rule on the launch itself, whose compilers are seen.
    Seeing,
    /// After 30 s.
    Fixed,
    /// Once the rates of the last ten seconds have a coefficient of variation of 2 % at most (Georges, Buytaert & Eeckhout 2007).
    Variation,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Common, Self::Blind, Self::Seeing, Self::Fixed, Self::Variation];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Common => "the rule on the pilots, the study's warm-up length",
            Self::Blind => "the rule on the launch itself",
            Self::Seeing => "the same, its compilers seen",
            Self::Fixed => "fixed, 30 s",
            Self::Variation => "coefficient of variation of ten seconds ≤ 2 %",
        }
    }
}

/// Noise of a warm-up, log ratios (standard deviations).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roughness {
    /// Its name in tables.
    pub name: &'static str,
    /// Of each second, which resembles the one before (AR(1)).
    second: f64,
    /// φ of that.
    phi: f64,
    /// Of each tenth of a second, beside that.
    bin: f64,
}

impl Roughness {
    /// Those that are simulated.
    pub const ALL: [Self; 3] = [
        Self { name: "quiet", second: 0.003, phi: 0.5, bin: 0.02 },
        Self { name: "noisy", second: 0.02, phi: 0.5, bin: 0.10 },
        // φ = e^(−1/10): a correlation of ten seconds.
        Self { name: "slow noise", second: 0.03, phi: 0.904_837, bin: 0.02 },
    ];
}

/// The curve of a server or of one launch of it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Curve {
    /// c: what is lacking at the start, a fraction.
    cold: f64,
    /// τ, seconds.
    tau: f64,
    /// g: what is lacking until `late`, a fraction.
    gap: f64,
    /// T, seconds.
    late: f64,
}

impl Curve {
    /// A server: c even in 0.3..0.9, ln τ in ln 2..ln 30; in 40 % of servers g in 0.05..0.3 and ln T in ln 10..ln 150.
    fn of_server(rng: &mut ChaCha8Rng) -> Self {
        let mut between = |low: f64, high: f64| rng.random_range(low..high);
        let (cold, tau) = (between(0.3, 0.9), between(2.0_f64.ln(), 30.0_f64.ln()).exp());
        let (gap, late) = (between(0.05, 0.3), between(10.0_f64.ln(), 150.0_f64.ln()).exp());
        Self { cold, tau, gap: if rng.random_bool(0.4) { gap } else { 0.0 }, late }
    }

    /// One launch of that server: τ and T each times e^(0.2·z).
    fn of_launch(self, rng: &mut ChaCha8Rng) -> Self {
        let [tau, late] = [self.tau, self.late].map(|seconds| seconds * (0.2 * normal(rng)).exp());
        Self { tau, late, ..self }
    }

    /// Speed at `t`, seconds, as a part of the final one.
    fn at(self, t: f64) -> f64 {
        let gap = if t < self.late { self.gap } else { 0.0 };
        (1.0 - self.cold * (-t / self.tau).exp()) * (1.0 - gap)
    }

    /// What its compilers do in the second from `t` on.
    fn compiling(self, t: f64) -> Compiling {
        let even = Self { gap: 0.0, ..self };
        let comes_up = even.at(t + 1.0) - even.at(t) > COMPILED;
        let is_late = self.gap > 0.0 && (self.late - LATE_S..self.late).contains(&t);
        let [at_work, cpu_s] = AT_WORK;
        Compiling { jit_s: if comes_up || is_late { at_work } else { 0.0 }, cpu_s, load_s: 1.0 }
    }

    /// Good answers in each tenth of each second.
    fn bins(self, noise: Roughness, rng: &mut ChaCha8Rng) -> Vec<[u32; BINS]> {
        let phi = noise.phi;
        let (mut wander, mut carry) = (noise.second * normal(rng), 0.0);
        let second = |second: usize| {
            wander = phi * wander + (1.0 - phi * phi).sqrt() * noise.second * normal(rng);
            std::array::from_fn(|bin| {
                let t = second as f64 + (bin as f64 + 0.5) * BIN_S;
                let expected = RATE * BIN_S * self.at(t) * (wander + noise.bin * normal(rng)).exp() + carry;
                carry = expected.fract();
                expected as u32
            })
        };
        (0..CAP_S).map(second).collect()
    }
}

/// What a rule makes of launches.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleOutcome {
    /// Launches that it called steady within five minutes.
    pub stopped: Rate,
    /// Those of them that were still more than 5 % away from their final speed.
    pub early: Rate,
    /// When it did so, seconds, in the median; `None` of none.
    pub median_s: Option<f64>,
}

/// What each of [`Rule::ALL`] makes of one launch of each of so many servers.
pub fn simulate(noise: Roughness, servers: Studies) -> [RuleOutcome; Rule::ALL.len()] {
    let mut stops: [Vec<Option<(f64, bool)>>; Rule::ALL.len()] = Default::default();
    for mut rng in servers.generators() {
        let server = Curve::of_server(&mut rng);
        let length = length(server, noise, &mut rng);
        let launch = server.of_launch(&mut rng);
        let bins = launch.bins(noise, &mut rng);
        for (stops, rule) in stops.iter_mut().zip(Rule::ALL) {
            let at = match rule {
                Rule::Common => length,
                Rule::Blind => steady_at(&bins, |_| None),
                Rule::Seeing => steady_at(&bins, |second| Some(launch.compiling(second as f64))),
                Rule::Fixed => Some(FIXED_S),
                Rule::Variation => variation(&bins),
            };
            stops.push(at.map(|at| (at, launch.at(at) < 1.0 - NEAR)));
        }
    }
    stops.map(|stops| {
        let (mut stopped, mut early) = (Rate::default(), Rate::default());
        for stop in &stops {
            stopped.count(stop.is_some());
            if let Some((_, is_early)) = stop {
                early.count(*is_early);
            }
        }
        let mut times: Vec<f64> = stops.iter().flatten().map(|(at, _)| *at).collect();
        times.sort_by(f64::total_cmp);
        RuleOutcome { stopped, early, median_s: times.get(times.len() / 2).copied() }
    })
}

/// When studies of this server begin to measure, by pilots; `None` where some pilot was never steady.
fn length(server: Curve, noise: Roughness, rng: &mut ChaCha8Rng) -> Option<f64> {
    let mut pilot = || steady_at(&server.of_launch(rng).bins(noise, rng), |_| None);
    let times = PILOTS.map(|pilots| (0..pilots).map(|_| pilot()).collect::<Vec<_>>());
    let length = analysis::warm_up_length(&times, Duration::from_secs(CAP_S as u64));
    length.established.then_some(length.seconds)
}

/// When the warm-up's rule holds, seconds; `compiling` says what compilers did in each second, where they are seen.
fn steady_at(bins: &[[u32; BINS]], compiling: impl Fn(usize) -> Option<Compiling>) -> Option<f64> {
    let mut rule = Steadiness::new(Mode::Full);
    bins.iter().enumerate().find_map(|(second, bins)| {
        let span_s = [second as f64, second as f64 + 1.0];
        rule.push(Second { span_s, bins: bins.to_vec(), compiling: compiling(second) }).map(|steady| steady.at_s)
    })
}

fn variation(bins: &[[u32; BINS]]) -> Option<f64> {
    let rates: Vec<f64> = bins.iter().map(|second| second.iter().copied().map(f64::from).sum()).collect();
    let is_steady = |window: &[f64]| {
        let n = window.len() as f64;
        let mean = window.iter().sum::<f64>() / n;
        let variance = window.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (n - 1.0);
        variance.sqrt() <= STEADY_COV * mean
    };
    rates.windows(WINDOW_S).position(is_steady).map(|first| (first + WINDOW_S) as f64)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_launch_has_the_curve_that_it_says() {
        let curve = Curve { cold: 0.5, tau: 10.0, gap: 0.2, late: 60.0 };
        assert!((curve.at(0.0) - 0.4).abs() < 1e-12 && (curve.at(60.0) - (1.0 - 0.5 * (-6.0_f64).exp())).abs() < 1e-12);
        let silent = Roughness { name: "", second: 0.0, phi: 0.5, bin: 0.0 };
        let bins = curve.bins(silent, &mut ChaCha8Rng::seed_from_u64(1));
        let rate = |second: usize| f64::from(bins[second].iter().sum::<u32>()) / RATE;
        assert!((rate(0) - curve.at(0.5)).abs() < 0.005 && (rate(250) - 1.0).abs() < 0.001, "{}", rate(0));
    }

    #[test]
    fn compilers_are_at_work_as_long_as_the_speed_comes_up_and_before_the_late_step() {
        let curve = Curve { cold: 0.5, tau: 10.0, gap: 0.2, late: 100.0 };
        let is_busy = |t: f64| curve.compiling(t).is_busy();
        assert!(is_busy(0.0) && is_busy(30.0) && is_busy(98.0));
        assert!(!is_busy(60.0) && !is_busy(100.0));
        assert!(!Curve { gap: 0.0, ..curve }.compiling(98.0).is_busy());
    }

    #[test]
    fn steadiness_by_variation_is_seen_after_ten_steady_seconds() {
        let second = |answers: u32| [answers; BINS];
        let mut bins: Vec<_> = (1..=8).map(|n| second(n * 20)).collect();
        assert_eq!(variation(&bins), None);
        bins.extend([second(160); 20]);
        // The eighth second is as the later ones.
        assert_eq!(variation(&bins), Some(17.0));
    }
}
