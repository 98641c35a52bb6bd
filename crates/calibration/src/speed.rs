//! Blocks to a verdict, against a design that always runs 20.
//!
//! The two are compared where they can be: at the noise with which the fixed design finds the effect with a given power.
//! A study of noise s finds an effect θ as one of unit noise finds θ/s, so that one simulation gives that noise for every power.

use crate::Studies;
use crate::noise::Shape;

/// Blocks of the fixed design.
pub const FIXED_BLOCKS: usize = 20;
/// The effect that is to be found, a fraction.
pub const EFFECT: f64 = 0.05;
/// Number of the first kind of studies here.
pub const FIRST_KIND: u64 = 1_000;

/// Most blocks of a fixed design that is looked at.
pub const MOST_BLOCKS: usize = 40;

/// How a fixed design decides, at 5 %, two-sided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    /// Wilcoxon's signed ranks, as our own later looks.
    SignedRanks,
    /// Student's t, as most would.
    Student,
}

/// |t| that 5 % exceed, with 6 to 40 differences.
const STUDENT: [f64; 35] = [
    2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042, 2.040, 2.037, 2.035, 2.032, 2.030, 2.028,
    2.026, 2.024, 2.023,
];
/// Least blocks of a fixed design.
const LEAST_BLOCKS: usize = 6;

impl Test {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::SignedRanks => "signed ranks",
            Self::Student => "Student's t",
        }
    }

    /// The least shift of these differences that it calls an effect above zero.
    fn least_shift(self, differences: &[f64], critical_ranks: usize) -> f64 {
        match self {
            Self::SignedRanks => {
                let later = |i: usize| differences[i..].iter().map(move |other| (differences[i], other));
                let mut walsh: Vec<f64> =
                    (0..differences.len()).flat_map(later).map(|(a, b)| f64::midpoint(a, *b)).collect();
                walsh.sort_by(f64::total_cmp);
                -walsh[critical_ranks]
            }
            Self::Student => {
                let n = differences.len() as f64;
                let mean = differences.iter().sum::<f64>() / n;
                let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
                STUDENT[differences.len() - LEAST_BLOCKS] * (variance / n).sqrt() - mean
            }
        }
    }
}

/// Largest min(W⁺, W⁻) of so many differences, 6 or more, that is rejected at 5 %, two-sided: exact, by counting the sets of
/// ranks with each sum.
fn critical_ranks(blocks: usize) -> usize {
    let most = blocks * (blocks + 1) / 2;
    let mut sets = vec![0.0; most + 1];
    sets[0] = 1.0;
    for rank in 1..=blocks {
        for sum in (rank..=most).rev() {
            sets[sum] += sets[sum - rank];
        }
    }
    let allowed = 0.025 * (blocks as f64).exp2();
    let mut rarer = 0.0;
    let rejected = sets.iter().take_while(|sets| {
        rarer += **sets;
        rarer <= allowed
    });
    rejected.count().saturating_sub(1)
}

/// What a fixed design can find in launches of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    /// For each study of no effect and unit noise, the least shift that would be found; ascending.
    shifts: Vec<f64>,
}

impl Fixed {
    /// By simulated studies, at least one, of 6 to 40 blocks; their kind is the shape's.
    pub fn simulate(shape: Shape, test: Test, blocks: usize, studies: Studies) -> Self {
        let blocks = blocks.clamp(LEAST_BLOCKS, MOST_BLOCKS);
        let critical_ranks = critical_ranks(blocks);
        let shift = |mut rng| {
            let differences: Vec<f64> = (0..blocks).map(|_| shape.launch(&mut rng) - shape.launch(&mut rng)).collect();
            test.least_shift(&differences, critical_ranks)
        };
        let mut shifts: Vec<f64> = studies.of_kind(FIRST_KIND + shape as u64).generators().map(shift).collect();
        shifts.sort_by(f64::total_cmp);
        Self { shifts }
    }

    /// The scale of the noise at which it finds [`EFFECT`] with this power (0..1).
    pub fn scale(&self, power: f64) -> f64 {
        let rank = (power * self.shifts.len() as f64).ceil() as usize;
        EFFECT.ln_1p() / self.shifts[rank.clamp(1, self.shifts.len()) - 1]
    }

    /// The power with which it finds [`EFFECT`] in noise of this scale.
    fn power(&self, scale: f64) -> f64 {
        let found = self.shifts.partition_point(|shift| shift * scale < EFFECT.ln_1p());
        found as f64 / self.shifts.len() as f64
    }
}

/// The scale of a shape at which 20 blocks and signed ranks find [`EFFECT`] with a power of 90 %.
pub fn noisy_scale(shape: Shape, studies: Studies) -> f64 {
    Fixed::simulate(shape, Test::SignedRanks, FIXED_BLOCKS, studies).scale(0.9)
}

/// Blocks that a fixed design needs to find [`EFFECT`] with this power in noise of this scale; `None` for more than 40.
pub fn blocks_for(shape: Shape, test: Test, scale: f64, power: f64, studies: Studies) -> Option<usize> {
    let has_power = |blocks| Fixed::simulate(shape, test, blocks, studies).power(scale) >= power;
    (LEAST_BLOCKS..=MOST_BLOCKS).find(|blocks| has_power(*blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn studies(count: u64) -> Studies {
        Studies { count, seed: 1, kind: 0 }
    }

    #[test]
    fn normal_noise_has_the_power_of_the_textbook() {
        // Two-sided t of 20 differences: power 0.90 at δ/σ = 0.7645 (noncentral t); a launch has σ/√2.
        let scale = Fixed::simulate(Shape::Normal, Test::Student, FIXED_BLOCKS, studies(20_000)).scale(0.9);
        let sigma = scale * 2.0_f64.sqrt();
        assert!((EFFECT.ln_1p() / sigma / 0.7645 - 1.0).abs() < 0.02, "{}", EFFECT.ln_1p() / sigma);
        // The ranks lose 4.5 % of the blocks there at most, and less than a tenth of the noise.
        let ranks = Fixed::simulate(Shape::Normal, Test::SignedRanks, FIXED_BLOCKS, studies(20_000)).scale(0.9);
        assert!(ranks < scale && ranks > 0.95 * scale, "{ranks}, {scale}");
    }

    #[test]
    fn critical_ranks_are_those_of_the_tables() {
        assert_eq!([6, 8, 10, 20, 30].map(critical_ranks), [0, 3, 8, 52, 137]);
    }

    #[test]
    fn wild_launches_are_no_matter_to_ranks() {
        let scale = |test| Fixed::simulate(Shape::T3, test, FIXED_BLOCKS, studies(5_000)).scale(0.9);
        assert!(scale(Test::SignedRanks) > 1.1 * scale(Test::Student));
    }
}
