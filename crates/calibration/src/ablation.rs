//! What each part of the method is for: the rate of false "different" verdicts between equal variants without it.

use analysis::Boundaries;
use analysis::sequential::{Decision, decide, interval, settle};
use model::{Effect, Study};

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::noise::{Noise, normal};
use crate::rate::Rate;
use crate::{Studies, differences, rho};

/// Blocks of a study.
const BLOCKS: usize = 30;
/// Blocks before any verdict.
const MIN_BLOCKS: usize = 5;
/// Seconds that a launch is measured.
const MEASURED_S: usize = 60;
/// How much the seconds of one launch differ, a log ratio (standard deviation).
const SECONDS_SIGMA: f64 = 0.03;

/// How two equal variants are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// As bakeoff does it.
    Whole,
    /// In each two blocks AB once and BA once, in random order.
    InPairs,
    /// 30 launches of A, then 30 of B, compared in pairs, once, by the last look's interval.
    WithoutBlocks,
    /// Randomised blocks, and after each from the fifth on the ordinary 95 % t interval.
    WithoutTable,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Whole, Self::InPairs, Self::WithoutBlocks, Self::WithoutTable];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "as it is",
            Self::InPairs => "blocks in pairs, AB and BA",
            Self::WithoutBlocks => "without blocks: all of A, then all of B",
            Self::WithoutTable => "without the table: an ordinary 95 % interval after each block",
        }
    }

    /// Whether it calls two equal variants different.
    fn errs(self, study: &Study, noise: &Noise, boundaries: &Boundaries, rng: &mut ChaCha8Rng) -> bool {
        let decision = match self {
            Self::Whole => settled(&differences(study, noise, rng), boundaries),
            Self::InPairs => {
                let speeds = noise.launches(2 * BLOCKS, rng);
                // The launches of two blocks: A, B, B, A, or the other way round.
                let in_pairs = speeds.chunks_exact(4).flat_map(|four| {
                    let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
                    [sign * (four[1] - four[0]), sign * (four[2] - four[3])]
                });
                settled(&in_pairs.collect::<Vec<f64>>(), boundaries)
            }
            Self::WithoutBlocks => {
                let speeds = noise.launches(2 * BLOCKS, rng);
                let (a, b) = speeds.split_at(BLOCKS);
                let pairs: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
                interval(&pairs, boundaries).map(|effect| decide(&effect, rho()))
            }
            Self::WithoutTable => {
                let differences = differences(study, noise, rng);
                let mut looks = (MIN_BLOCKS..=BLOCKS).map(|n| decide(&ordinary(&differences[..n]), rho()));
                looks.find(|decision| *decision != Decision::GoOn)
            }
        };
        decision == Some(Decision::Different)
    }
}

/// What the study's looks decide.
fn settled(differences: &[f64], boundaries: &Boundaries) -> Option<Decision> {
    settle(differences, boundaries, rho(), MIN_BLOCKS as u32).map(|(_, decision)| decision)
}

/// Student's interval of 95 %, as if nobody had looked before; of 5 to 30 differences.
pub(crate) fn ordinary(differences: &[f64]) -> Effect {
    const CRITICAL: [f64; 26] = [
        2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
        2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
    ];
    let n = differences.len();
    let estimate = differences.iter().sum::<f64>() / n as f64;
    let variance = differences.iter().map(|d| (d - estimate).powi(2)).sum::<f64>() / (n - 1) as f64;
    let half = CRITICAL[n - MIN_BLOCKS] * (variance / n as f64).sqrt();
    let (low, high) = (estimate - half, estimate + half);
    Effect { estimate, low, high, resolution: 0.0, blocks: n as u32, confidence: 0.95 }
}

/// How often `method` calls equal variants different.
pub fn false_differences(
    method: Method,
    study: &Study,
    noise: &Noise,
    boundaries: &Boundaries,
    studies: Studies,
) -> Rate {
    count(studies, |rng| method.errs(study, noise, boundaries, rng))
}

/// How often the seconds of `launches` launches a side, taken for replicates of each other, make equal variants different:
/// Welch's t at 5 %, of 60 seconds a launch that differ by 3 % within a launch.
pub fn seconds_as_replicates(launches: usize, noise: &Noise, studies: Studies) -> Rate {
    count(studies, |rng| {
        let speeds = noise.launches(2 * launches, rng);
        let mut seconds = |speeds: &[f64]| -> Vec<f64> {
            let launches = speeds.iter().flat_map(|speed| [*speed; MEASURED_S]);
            launches.map(|speed| speed + SECONDS_SIGMA * normal(rng)).collect()
        };
        // In turns: A and B meet the same host.
        let side = |side: usize| speeds.iter().skip(side).step_by(2).copied().collect::<Vec<f64>>();
        let (a, b) = (seconds(&side(0)), seconds(&side(1)));
        welch(&a, &b) > 1.98
    })
}

/// |t| of two samples (Welch 1947).
fn welch(a: &[f64], b: &[f64]) -> f64 {
    let moments = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0) / n)
    };
    let ((mean_a, error_a), (mean_b, error_b)) = (moments(a), moments(b));
    (mean_a - mean_b).abs() / (error_a + error_b).sqrt()
}

/// How often variants that run at one speed once warm, of which B takes half as long again to get there, are called different.
///
/// A launch runs at 1 − ½·e^(−t/τ) of its speed, τ = 10 s for A and 15 s for B, times e^(0.2·z) of each launch. It is measured
/// for 60 s: from its start, or from the common cut, 1.25 × the longest time in which one of two pilots of each variant
/// comes within 1 %.
pub fn slower_warm_up(cut: bool, study: &Study, noise: &Noise, boundaries: &Boundaries, studies: Studies) -> Rate {
    const TAU_S: [f64; 2] = [10.0, 15.0];
    const COLD: f64 = 0.5;
    const LENGTH_S: f64 = MEASURED_S as f64;
    count(studies, |rng| {
        let tau = |variant: usize, rng: &mut ChaCha8Rng| TAU_S[variant] * (0.2 * normal(rng)).exp();
        let start = if cut {
            let pilots = [0, 0, 1, 1].map(|variant| tau(variant, rng) * (COLD / 0.01).ln());
            1.25 * pilots.into_iter().fold(0.0, f64::max)
        } else {
            0.0
        };
        // The mean of 1 − ½·e^(−t/τ) over the measurement, as a logarithm.
        let logarithm = |tau: f64| {
            let lost = (-start / tau).exp() - (-(start + LENGTH_S) / tau).exp();
            (1.0 - COLD * tau / LENGTH_S * lost).ln()
        };
        let observed: Vec<f64> = differences(study, noise, rng)
            .into_iter()
            .map(|difference| difference + logarithm(tau(1, rng)) - logarithm(tau(0, rng)))
            .collect();
        settled(&observed, boundaries) == Some(Decision::Different)
    })
}

fn count(studies: Studies, mut errs: impl FnMut(&mut ChaCha8Rng) -> bool) -> Rate {
    let mut rate = Rate::default();
    for mut rng in studies.generators() {
        rate.count(errs(&mut rng));
    }
    rate
}
