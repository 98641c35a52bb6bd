//! How often a verdict is wrong, whether its interval holds the truth, what it finds, and after how many blocks.

use analysis::Boundaries;
use analysis::sequential::{Decision, settle};
use model::{Effect, Study};

use crate::noise::{Disturbance, Noise, Shape};
use crate::rate::Rate;
use crate::{Studies, comparisons, rho};

/// Effects that are simulated, beside 0, ρ/2 and ρ: 3, 5 and 10 % faster.
const FASTER: [f64; 3] = [0.03, 0.05, 0.10];

/// The effects that each cell is simulated with, log ratios: 0, ρ/2, ρ, ln 1.03, ln 1.05, ln 1.10.
pub fn effects() -> [f64; 6] {
    let [three, five, ten] = FASTER.map(f64::ln_1p);
    [0.0, rho() / 2.0, rho(), three, five, ten]
}

/// What became of the studies of one true effect, which every variant but the baseline has. Of several comparisons in a study, one
/// that errs is an error of the study.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcomes {
    /// The true effect, a log ratio, not below 0.
    pub effect: f64,
    /// Verdicts "better" or "worse".
    pub different: Rate,
    /// Verdicts of the wrong direction; of no effect every direction is wrong.
    pub wrong: Rate,
    /// Verdicts "better" of the first comparison.
    pub found: Rate,
    /// Verdicts "equivalent".
    pub equivalent: Rate,
    /// Intervals at the end that do not hold the true effect.
    pub missed: Rate,
    /// Blocks used, all studies together.
    pub blocks: u64,
}

impl Outcomes {
    pub(crate) fn none_yet(effect: f64) -> Self {
        let none = Rate::default();
        Self { effect, different: none, wrong: none, found: none, equivalent: none, missed: none, blocks: 0 }
    }

    /// One more study, whose launches differ by chance and disturbance as `noise` has it, by comparison; it takes as many blocks as it
    /// has looks for.
    pub(crate) fn add(&mut self, noise: &[Vec<f64>], boundaries: &Boundaries) {
        let (looks, effect) = (boundaries.looks(), self.effect);
        let settled = |noise: &Vec<f64>| {
            let observed: Vec<f64> = noise.iter().take(looks.last()).map(|difference| difference + effect).collect();
            settle(&observed, boundaries, rho(), looks.first() as u32)
        };
        let Some(reported) = noise.iter().map(settled).collect::<Option<Vec<(Effect, Decision)>>>() else { return };
        let some = |reported_so: &dyn Fn(&Effect, Decision) -> bool| {
            reported.iter().any(|(interval, is)| reported_so(interval, *is))
        };
        let different = |decision| decision == Decision::Different;
        self.different.count(some(&|_, is| different(is)));
        self.wrong.count(some(&|interval, is| different(is) && (effect == 0.0 || interval.high < 0.0)));
        self.found.count(reported.first().is_some_and(|(interval, is)| different(*is) && interval.low > 0.0));
        self.equivalent.count(some(&|_, is| is == Decision::Equivalent));
        self.missed.count(some(&|interval, _| interval.low > effect || interval.high < effect));
        self.blocks += reported.iter().map(|(interval, _)| u64::from(interval.blocks)).max().unwrap_or_default();
    }

    /// Blocks used in the mean.
    pub fn mean_blocks(&self) -> f64 {
        self.blocks as f64 / self.different.of.max(1) as f64
    }
}

/// How noisy launches are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// So that a fixed design of 20 blocks finds 5 % with a power of 90 % ([`crate::speed`]).
    Noisy,
    /// A quarter of that.
    Quiet,
}

impl Level {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Noisy, Self::Quiet];

    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Noisy => "noisy",
            Self::Quiet => "quiet",
        }
    }

    /// Part of the noisy scale.
    pub fn part(self) -> f64 {
        match self {
            Self::Noisy => 1.0,
            Self::Quiet => 0.25,
        }
    }
}

/// One kind of noise, with the outcomes of each of [`effects`].
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// How noisy.
    pub level: Level,
    /// The noise.
    pub noise: Noise,
    /// By effect.
    pub outcomes: Vec<Outcomes>,
}

/// Every level, shape and disturbance; `scale` gives the noisy scale of a shape.
pub fn hosts(scale: impl Fn(Shape) -> f64) -> Vec<(Level, Noise)> {
    let scale = &scale;
    let of_level = |level: Level| {
        Shape::ALL.into_iter().flat_map(move |shape| {
            let scale = scale(shape) * level.part();
            Disturbance::ALL.into_iter().map(move |disturbance| (level, Noise { shape, disturbance, scale }))
        })
    };
    Level::ALL.into_iter().flat_map(of_level).collect()
}

/// Simulates studies with each of `effects`, of as many variants as `study` has; the noise is the same for all effects.
pub fn simulate(
    study: &Study,
    noise: &Noise,
    effects: &[f64],
    boundaries: &Boundaries,
    studies: Studies,
) -> Vec<Outcomes> {
    let mut outcomes: Vec<Outcomes> = effects.iter().map(|effect| Outcomes::none_yet(*effect)).collect();
    for mut rng in studies.generators() {
        let noise = comparisons(study, noise, &mut rng);
        for of_effect in &mut outcomes {
            of_effect.add(&noise, boundaries);
        }
    }
    outcomes
}
