//! How often bakeoff's verdicts are wrong, by simulation: launches are drawn from known noise, put in the order of real
//! plans, and go through the code that verdicts go through.
//!
//! ```text
//! Noise ─ launches ─► comparisons ─► analysis::sequential::settle ─► Outcomes ─► tables ─► docs/calibration.md
//! ```
//!
//! Pure: the same seed and number of studies give the same figures; the binary `calibrate` adds threads and files.

pub mod ablation;
pub mod change_points;
pub mod curves;
pub mod errors;
pub mod noise;
pub mod rate;
pub mod record;
pub mod secondary;
pub mod side_by_side;
pub mod soaks;
pub mod speed;
pub mod tables;
pub mod warming;

use analysis::sequential::margin;
use model::{Mode, Study};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::noise::Noise;

/// Differences below this do not matter, a fraction: a study's default.
pub const ROPE: f64 = 0.02;

/// ρ, the margin of equivalence, a log ratio.
pub fn rho() -> f64 {
    margin(ROPE)
}

/// Studies of one kind that are simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Studies {
    /// How many.
    pub count: u64,
    /// Seed of all randomness.
    pub seed: u64,
    /// Number of the kind: kinds of other numbers draw other noise.
    pub kind: u64,
}

impl Studies {
    /// As many of another kind.
    #[must_use]
    pub fn of_kind(self, kind: u64) -> Self {
        Self { kind, ..self }
    }

    /// The generator of each study: independent of all others, whoever simulates them in which order.
    pub fn generators(self) -> impl Iterator<Item = ChaCha8Rng> {
        (0..self.count).map(move |study| {
            let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
            rng.set_stream(self.kind << 32 | study);
            rng
        })
    }
}

/// Within-block differences ln B − ln A of each variant B against the first, A, in all blocks that a study may use, of variants
/// that are the same: each launch draws its noise in the order in which the plan has the launches run.
pub fn comparisons(study: &Study, noise: &Noise, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let plan = analysis::plan(study, Mode::Full, rng.random());
    let blocks = &plan.blocks[..plan.schedule.max_blocks as usize];
    let variants = study.variants.len();
    let launches = noise.launches(variants * blocks.len(), rng);
    let by_variant = |(block, launches): (&model::Block, &[f64])| {
        let mut speeds = vec![0.0; variants];
        block.trials.iter().zip(launches).for_each(|(trial, speed)| speeds[trial.variant] = *speed);
        speeds
    };
    let speeds: Vec<Vec<f64>> = blocks.iter().zip(launches.chunks_exact(variants)).map(by_variant).collect();
    (1..variants).map(|variant| speeds.iter().map(|speeds| speeds[variant] - speeds[0]).collect()).collect()
}

/// The [`comparisons`] of two variants, which are one.
pub fn differences(study: &Study, noise: &Noise, rng: &mut ChaCha8Rng) -> Vec<f64> {
    comparisons(study, noise, rng).swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Disturbance, Shape};

    #[test]
    fn a_drift_falls_on_both_variants_alike() {
        let noise = Noise { shape: Shape::Normal, disturbance: Disturbance::Drift, scale: 0.0 };
        let study = record::study(2, 1);
        for mut rng in (Studies { count: 20, seed: 1, kind: 0 }).generators() {
            let differences = differences(&study, &noise, &mut rng);
            assert_eq!(differences.len(), 30);
            let step = -0.8_f64.ln() / 60.0;
            assert!(differences.iter().all(|d| (d.abs() - step).abs() < 1e-12), "{differences:?}");
            // Each order twice in four blocks.
            assert!(differences.chunks_exact(4).all(|four| four.iter().sum::<f64>().abs() < 1e-12), "{differences:?}");
        }
    }

    #[test]
    fn studies_are_independent_and_repeat() {
        let studies = Studies { count: 3, seed: 7, kind: 1 };
        let draw = |studies: Studies| studies.generators().map(|mut rng| rng.random::<u64>()).collect::<Vec<_>>();
        let all = draw(studies);
        assert_eq!(all, draw(studies));
        assert!(all[0] != all[1] && all[1] != all[2] && draw(studies.of_kind(2)).iter().all(|own| !all.contains(own)));
    }
}
