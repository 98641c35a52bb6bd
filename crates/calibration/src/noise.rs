//! How launches of one and the same server differ: the noise that a verdict has to see through.
//!
//! A launch yields the logarithm of its speed (more is faster). What is drawn here is that logarithm without any effect,
//! for one launch after the other in the order in which they run.

use std::f64::consts::TAU;
use std::fmt;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// How launches differ on a host that nothing disturbs, in units of each shape's own; [`Noise::scale`] sizes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// z, standard normal.
    Normal,
    /// Student's t with 3 degrees of freedom.
    T3,
    /// 1 − e, e exponential with mean 1: many launches a little faster than most, some much slower.
    Skewed,
    /// z, and 4 more in 30 % of launches: two modes, four standard deviations apart.
    Bimodal,
    /// What one fears of a JVM: m + 0.7·z − 0.5·e − 3·h. The mode m is 0 in 60 % of launches, −2 in 25 % (a hot method was
    /// compiled badly), 1.5 in 15 % (luckily); h is exponential with mean 1 in 5 % of launches, else 0. Fitted to nobody's data.
    Jvm,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Normal, Self::T3, Self::Skewed, Self::Bimodal, Self::Jvm];

    /// One launch, in the shape's own units.
    pub fn launch(self, rng: &mut impl Rng) -> f64 {
        match self {
            Self::Normal => normal(rng),
            Self::T3 => {
                let chi_squared: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
                normal(rng) / (chi_squared / 3.0).sqrt()
            }
            Self::Skewed => 1.0 - exponential(rng),
            Self::Bimodal => normal(rng) + if rng.random_bool(0.3) { 4.0 } else { 0.0 },
            Self::Jvm => {
                let mode = match rng.random::<f64>() {
                    u if u < 0.60 => 0.0,
                    u if u < 0.85 => -2.0,
                    _ => 1.5,
                };
                let hit = if rng.random_bool(0.05) { 3.0 * exponential(rng) } else { 0.0 };
                mode + 0.7 * normal(rng) - 0.5 * exponential(rng) - hit
            }
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Normal => "normal",
            Self::T3 => "t3",
            Self::Skewed => "skewed",
            Self::Bimodal => "bimodal",
            Self::Jvm => "JVM-shaped",
        })
    }
}

/// What the host does to launches as time goes by. Sizes are logarithms of speed, whatever the scale of the noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disturbance {
    /// Nothing.
    None,
    /// It slows evenly, by 20 % over the 60 launches of 30 blocks.
    Drift,
    /// Launches resemble the one before: yₜ = φ·yₜ₋₁ + √(1 − φ²)·εₜ with φ = 0.5, ε of the shape. With this φ the
    /// differences of two neighbouring blocks are as alike as with any, ±φ(1 − φ)/2; over the orders of a plan it cancels.
    Ar1,
    /// It becomes 10 % slower at one of the first 40 launches and stays so.
    Step,
    /// 5 % of launches are wrecked by a neighbour: 10 to 50 % slower.
    Contamination,
}

impl Disturbance {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::None, Self::Drift, Self::Ar1, Self::Step, Self::Contamination];
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::None => "none",
            Self::Drift => "drift",
            Self::Ar1 => "AR(1)",
            Self::Step => "step",
            Self::Contamination => "contamination",
        })
    }
}

/// A host with its launches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// How launches differ.
    pub shape: Shape,
    /// What happens meanwhile.
    pub disturbance: Disturbance,
    /// Size of one unit of the shape, a log ratio.
    pub scale: f64,
}

/// Launches over which [`Disturbance::Drift`] reaches its size.
const DRIFT_LAUNCHES: f64 = 60.0;
/// The step comes before this launch.
const LATEST_STEP: usize = 40;
/// The φ of [`Disturbance::Ar1`].
const PHI: f64 = 0.5;

impl Noise {
    /// Logarithms of the speeds of so many launches of one server, in the order in which they run.
    pub fn launches(&self, count: usize, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let mut speeds: Vec<f64> = (0..count).map(|_| self.scale * self.shape.launch(rng)).collect();
        match self.disturbance {
            Disturbance::None => {}
            Disturbance::Drift => {
                let each = 0.8_f64.ln() / DRIFT_LAUNCHES;
                for (launch, speed) in speeds.iter_mut().enumerate() {
                    *speed += each * launch as f64;
                }
            }
            Disturbance::Ar1 => {
                for launch in 1..count {
                    speeds[launch] = PHI * speeds[launch - 1] + (1.0 - PHI * PHI).sqrt() * speeds[launch];
                }
            }
            Disturbance::Step => {
                let step = rng.random_range(0..LATEST_STEP);
                speeds.iter_mut().skip(step).for_each(|speed| *speed += 0.9_f64.ln());
            }
            Disturbance::Contamination => {
                for speed in &mut speeds {
                    if rng.random_bool(0.05) {
                        *speed += (1.0 - rng.random_range(0.1..0.5_f64)).ln();
                    }
                }
            }
        }
        speeds
    }
}

/// A standard normal number (Box & Muller 1958).
pub fn normal(rng: &mut impl Rng) -> f64 {
    (2.0 * exponential(rng)).sqrt() * (TAU * rng.random::<f64>()).cos()
}

/// An exponential number with mean 1.
pub fn exponential(rng: &mut impl Rng) -> f64 {
    -(1.0 - rng.random::<f64>()).ln()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Mean of launches that are drawn in the thousands.
    fn mean(noise: Noise, of: impl Fn(&[f64]) -> f64) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        (0..20_000).map(|_| of(&noise.launches(60, &mut rng))).sum::<f64>() / 20_000.0
    }

    #[test]
    fn shapes_have_the_means_that_they_say() {
        let expected = [0.0, 0.0, 0.0, 4.0 * 0.3, -2.0 * 0.25 + 1.5 * 0.15 - 0.5 - 3.0 * 0.05];
        for (shape, expected) in Shape::ALL.into_iter().zip(expected) {
            let noise = Noise { shape, disturbance: Disturbance::None, scale: 1.0 };
            let mean = mean(noise, |speeds| speeds.iter().sum::<f64>() / 60.0);
            assert!((mean - expected).abs() < 0.01, "{shape}: {mean}, not {expected}");
        }
    }

    #[test]
    fn disturbances_have_the_sizes_that_they_say() {
        let host = |disturbance, scale| Noise { shape: Shape::Normal, disturbance, scale };
        let slower = mean(host(Disturbance::Drift, 0.0), |speeds| speeds[59] - speeds[0]);
        assert!((slower - 0.8_f64.ln() * 59.0 / 60.0).abs() < 1e-9);
        let step = mean(host(Disturbance::Step, 0.0), |speeds| speeds[59] - 0.9_f64.ln());
        assert!(step.abs() < 1e-9);
        let hit = mean(host(Disturbance::Contamination, 0.0), |speeds| {
            speeds.iter().filter(|speed| **speed < 0.0).count() as f64 / 60.0
        });
        assert!((hit - 0.05).abs() < 0.001, "{hit}");
        let square = mean(host(Disturbance::Ar1, 1.0), |speeds| speeds[59].powi(2));
        let product = mean(host(Disturbance::Ar1, 1.0), |speeds| speeds[59] * speeds[58]);
        assert!((square - 1.0).abs() < 0.03 && (product - 0.5).abs() < 0.03, "{square}, {product}");
    }
}
