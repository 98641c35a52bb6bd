//! What each part of the method is for: the rate of false "different" verdicts between equal variants without it.

use std::sync::LazyLock;

use analysis::Boundaries;
use analysis::boundaries::{FIRST_LOOK, STUDY_ALPHA, Spending};
use analysis::sequential::{Decision, decide, interval, settle};
use model::{Effect, Study};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::noise::{Noise, normal};
use crate::rate::Rate;
use crate::{Studies, differences, rho};

/// Blocks of a study.
const BLOCKS: usize = 30;
/// Blocks before any verdict.
const MIN_BLOCKS: usize = FIRST_LOOK;
/// Seconds that a launch is measured.
const MEASURED_S: usize = 60;
/// How much the seconds of one launch differ, a log ratio (standard deviation).
const SECONDS_SIGMA: f64 = 0.03;
/// Requests that a launch answers meanwhile.
const REQUESTS: f64 = 100_000.0;
/// How much the requests of one launch differ, a log ratio (standard deviation).
const REQUESTS_SIGMA: f64 = 0.3;
/// |t| or |z| that 5 % exceed where there are very many replicates.
const MANY: f64 = 1.96;

/// How two variants are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// As bakeoff does it.
    Whole,
    /// In each two blocks AB once and BA once, in random order.
    InPairs,
    /// 30 launches of A, then 30 of B, compared in pairs, once, by the last look's interval.
    WithoutBlocks,
    /// Randomised blocks, and after each from the third on the ordinary 95 % t interval.
    WithoutTable,
    /// Student's t at every look, with critical values that spend α as bakeoff's do.
    OnlyT,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Whole, Self::InPairs, Self::WithoutBlocks, Self::WithoutTable, Self::OnlyT];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "as it is",
            Self::InPairs => "blocks in pairs, AB and BA",
            Self::WithoutBlocks => "without blocks: all of A, then all of B",
            Self::WithoutTable => "without the table: an ordinary 95 % interval after each block",
            Self::OnlyT => "without ranks: Student's t at every look",
        }
    }

    /// What it makes of two variants of which B is faster by `effect`, a log ratio.
    fn settled(
        self,
        study: &Study,
        noise: &Noise,
        effect: f64,
        boundaries: &Boundaries,
        rng: &mut ChaCha8Rng,
    ) -> Option<(Effect, Decision)> {
        let shifted = |differences: &[f64]| differences.iter().map(|d| d + effect).collect::<Vec<f64>>();
        match self {
            Self::Whole => settle(&shifted(&differences(study, noise, rng)), boundaries, rho(), MIN_BLOCKS as u32),
            Self::InPairs => {
                let speeds = noise.launches(2 * BLOCKS, rng);
                // The launches of two blocks: A, B, B, A, or the other way round.
                let in_pairs = speeds.chunks_exact(4).flat_map(|four| {
                    let sign = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
                    [sign * (four[1] - four[0]), sign * (four[2] - four[3])]
                });
                settle(&shifted(&in_pairs.collect::<Vec<f64>>()), boundaries, rho(), MIN_BLOCKS as u32)
            }
            Self::WithoutBlocks => {
                let speeds = noise.launches(2 * BLOCKS, rng);
                let (a, b) = speeds.split_at(BLOCKS);
                let pairs: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
                interval(&shifted(&pairs), boundaries).map(|effect| (effect, decide(&effect, rho())))
            }
            Self::WithoutTable => first_verdict(&shifted(&differences(study, noise, rng)), &ORDINARY),
            Self::OnlyT => first_verdict(&shifted(&differences(study, noise, rng)), &ONLY_T),
        }
    }
}

/// Student's t, two-sided 95 %, of 3 to 30 differences.
const ORDINARY: [f64; BLOCKS - MIN_BLOCKS + 1] = [
    4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
    2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
];

/// Critical |t| of [`Method::OnlyT`] with 3 to 30 differences.
static ONLY_T: LazyLock<Vec<f64>> = LazyLock::new(only_t);

/// Those that spend α on the looks at 3 to 30 blocks as [`Spending::STANDARD`] does, with normal differences: simulated.
fn only_t() -> Vec<f64> {
    const PATHS: usize = 100_000;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // Of each path that was never rejected: sum and sum of squares.
    let mut alive = vec![[0.0; 2]; PATHS];
    let mut add_one = |paths: &mut Vec<[f64; 2]>| {
        for [sum, squares] in paths {
            let value = normal(&mut rng);
            *sum += value;
            *squares += value * value;
        }
    };
    for _ in 1..MIN_BLOCKS {
        add_one(&mut alive);
    }
    let look = |n: usize| {
        add_one(&mut alive);
        let t = |[sum, squares]: [f64; 2]| {
            let (n, mean) = (n as f64, sum / n as f64);
            mean.abs() * (n / ((squares - n * mean * mean) / (n - 1.0))).sqrt()
        };
        let spent = (n as f64 / BLOCKS as f64).powf(Spending::STANDARD.exponent);
        let rejected = (STUDY_ALPHA * spent * PATHS as f64) as usize - (PATHS - alive.len());
        alive.sort_by(|a, b| t(*b).total_cmp(&t(*a)));
        let critical = t(alive[rejected]);
        alive.drain(..rejected);
        critical
    };
    (MIN_BLOCKS..=BLOCKS).map(look).collect()
}

/// What the first look decides that decides anything, by Student's t with these critical values from [`MIN_BLOCKS`] on; else the last.
fn first_verdict(differences: &[f64], critical: &[f64]) -> Option<(Effect, Decision)> {
    let reported = |(n, critical): (usize, &f64)| {
        let effect = student(&differences[..n], *critical);
        (effect, decide(&effect, rho()))
    };
    let mut looks = (MIN_BLOCKS..).zip(critical).map(reported);
    let decides = |(_, is): &(Effect, Decision)| *is != Decision::Continue;
    looks.find(decides).or_else(|| (MIN_BLOCKS..).zip(critical).last().map(reported))
}

/// Mean ± `critical` · sd / √n.
fn student(differences: &[f64], critical: f64) -> Effect {
    let n = differences.len();
    let estimate = differences.iter().sum::<f64>() / n as f64;
    let variance = differences.iter().map(|d| (d - estimate).powi(2)).sum::<f64>() / (n - 1) as f64;
    let half = critical * (variance / n as f64).sqrt();
    let (low, high) = (estimate - half, estimate + half);
    Effect { estimate, low, high, resolution: 0.0, blocks: n as u32, confidence: 0.95 }
}

/// Student's interval of 95 %, as if nobody had looked before; of 3 to 30 differences.
pub(crate) fn ordinary(differences: &[f64]) -> Effect {
    student(differences, ORDINARY[differences.len() - MIN_BLOCKS])
}

/// How often `method` calls equal variants different.
pub fn false_differences(
    method: Method,
    study: &Study,
    noise: &Noise,
    boundaries: &Boundaries,
    studies: Studies,
) -> Rate {
    count(studies, |rng| {
        method.settled(study, noise, 0.0, boundaries, rng).is_some_and(|(_, is)| is == Decision::Different)
    })
}

/// How often `method` finds that B is faster by `effect` (a log ratio above 0), and after how many blocks in the mean it ends.
pub fn found(
    method: Method,
    study: &Study,
    noise: &Noise,
    effect: f64,
    boundaries: &Boundaries,
    studies: Studies,
) -> (Rate, f64) {
    let mut blocks = 0;
    let found = count(studies, |rng| {
        let reported = method.settled(study, noise, effect, boundaries, rng);
        blocks += reported.map_or(0, |(effect, _)| effect.blocks);
        reported.is_some_and(|(effect, is)| is == Decision::Different && effect.low > 0.0)
    });
    (found, f64::from(blocks) / found.of.max(1) as f64)
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

/// The same of their requests: 100,000 a launch, whose service times differ by 30 % within a launch (log-normal).
///
/// Of so many the mean's chance is normal and the variance within a launch is known: no request need be drawn.
pub fn requests_as_replicates(launches: usize, noise: &Noise, studies: Studies) -> Rate {
    let variance = REQUESTS_SIGMA * REQUESTS_SIGMA;
    count(studies, |rng| {
        let speeds = noise.launches(2 * launches, rng);
        let means: Vec<f64> = speeds.iter().map(|speed| speed + (variance / REQUESTS).sqrt() * normal(rng)).collect();
        // In turns: A and B meet the same host.
        let side = |side: usize| {
            let of_side = || means.iter().skip(side).step_by(2);
            let mean = of_side().sum::<f64>() / launches as f64;
            let between = of_side().map(|launch| (launch - mean).powi(2)).sum::<f64>() / launches as f64;
            (mean, (variance + between) / (REQUESTS * launches as f64))
        };
        let ((mean_a, error_a), (mean_b, error_b)) = (side(0), side(1));
        (mean_a - mean_b).abs() > MANY * (error_a + error_b).sqrt()
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
/// for 60 s: from its start, or from the common warm-up length, 1.25 × the longest time in which one of two pilots of each variant
/// comes within 1 %.
pub fn slower_warm_up(warmed: bool, study: &Study, noise: &Noise, boundaries: &Boundaries, studies: Studies) -> Rate {
    const TAU_S: [f64; 2] = [10.0, 15.0];
    const COLD: f64 = 0.5;
    const LENGTH_S: f64 = MEASURED_S as f64;
    count(studies, |rng| {
        let tau = |variant: usize, rng: &mut ChaCha8Rng| TAU_S[variant] * (0.2 * normal(rng)).exp();
        let start = if warmed {
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
        settle(&observed, boundaries, rho(), MIN_BLOCKS as u32).is_some_and(|(_, is)| is == Decision::Different)
    })
}

fn count(studies: Studies, mut errs: impl FnMut(&mut ChaCha8Rng) -> bool) -> Rate {
    let mut rate = Rate::default();
    for mut rng in studies.generators() {
        rate.count(errs(&mut rng));
    }
    rate
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Disturbance, Shape};
    use crate::record;

    /// What is compared with bakeoff keeps the same promise where it can: on normal noise.
    #[test]
    fn t_at_every_look_keeps_to_its_rate_on_normal_noise() {
        let noise = Noise { shape: Shape::Normal, disturbance: Disturbance::None, scale: 0.1 };
        let studies = Studies { count: 20_000, seed: 6, kind: 0 };
        let rate = false_differences(Method::OnlyT, &record::study(2, 1), &noise, &Boundaries::standard(), studies);
        // Four standard errors.
        assert!((rate.share() - 0.05).abs() < 0.006, "{rate}");
        assert_eq!(ONLY_T.len(), BLOCKS - MIN_BLOCKS + 1);
    }
}
