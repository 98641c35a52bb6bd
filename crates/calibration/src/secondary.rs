//! How often some secondary metric is called different that is not, judged together (Holm) and otherwise.

use analysis::Boundaries;
use analysis::holm::judge;
use analysis::sequential::{interval, settle};
use model::Study;

use crate::ablation::ordinary;
use crate::noise::Noise;
use crate::rate::Rate;
use crate::{Studies, differences, rho};

/// Blocks before any verdict, a study's default.
const MIN_BLOCKS: u32 = 3;
/// Secondary metrics of a study: how much of the primary metric's noise each has, as a correlation. Of the first that is nearly all, as
/// latency has of throughput's.
pub const CORRELATIONS: [f64; 4] = [0.99, 0.9, 0.5, 0.0];

/// What truly differs, log ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// Its name in tables.
    pub name: &'static str,
    /// Of the primary metric, which decides after how many blocks the run ends.
    pub primary: f64,
    /// Of each secondary metric.
    pub secondary: [f64; CORRELATIONS.len()],
}

impl Truth {
    /// Those that are simulated: nothing differs; what decides does; three of the others do, too, by far, so that all of α is left for
    /// the one that goes along with the primary; all do, by 5 and by 10 %.
    pub fn all() -> [Self; 5] {
        let [five, ten, half] = [0.05, 0.10, 0.50].map(f64::ln_1p);
        [
            Self { name: "nothing differs", primary: 0.0, secondary: [0.0; 4] },
            Self { name: "only the primary differs, by 5 %", primary: five, secondary: [0.0; 4] },
            Self {
                name: "the primary by 5 %, three others by 50 %",
                primary: five,
                secondary: [0.0, half, half, half],
            },
            Self { name: "all by 5 %", primary: five, secondary: [five; 4] },
            Self { name: "all by 10 %", primary: ten, secondary: [ten; 4] },
        ]
    }
}

/// What became of the studies of one truth.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Outcomes {
    /// Studies in which some secondary metric without a difference was called different, all judged together.
    pub together: Rate,
    /// The same, each judged by its own repeated interval.
    pub alone: Rate,
    /// The same, each judged by an ordinary 95 % t interval at the end.
    pub ordinary: Rate,
    /// Secondary metrics with a difference that were called different in its direction, all judged together.
    pub found: Rate,
    /// Those that were called different in the other direction.
    pub wrong: Rate,
}

impl Outcomes {
    fn add(&mut self, observed: &[Vec<f64>], truth: &Truth, steps: &[Boundaries]) {
        let standard = Boundaries::standard();
        let together = judge(observed, steps);
        let mut errs = [false; 3];
        for ((observed, together), truth) in observed.iter().zip(together).zip(truth.secondary) {
            let effects = [together, interval(observed, &standard), Some(ordinary(observed))];
            let reported = effects.map(|effect| effect.filter(model::Effect::excludes_zero));
            if truth == 0.0 {
                errs.iter_mut().zip(reported).for_each(|(errs, reported)| *errs |= reported.is_some());
            } else {
                self.found.count(reported[0].is_some_and(|effect| effect.low > 0.0));
                self.wrong.count(reported[0].is_some_and(|effect| effect.high < 0.0));
            }
        }
        if truth.secondary.contains(&0.0) {
            let [together, alone, ordinary] = errs;
            self.together.count(together);
            self.alone.count(alone);
            self.ordinary.count(ordinary);
        }
    }
}

/// Simulates studies with four secondary metrics that end when the primary one is decided; `steps` are those of four.
pub fn simulate(study: &Study, noise: &Noise, truth: &Truth, steps: &[Boundaries], studies: Studies) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let boundaries = Boundaries::standard();
    for mut rng in studies.generators() {
        let shared = differences(study, noise, &mut rng);
        let primary: Vec<f64> = shared.iter().map(|noise| noise + truth.primary).collect();
        let Some((end, _)) = settle(&primary, &boundaries, rho(), MIN_BLOCKS) else { continue };
        let observed = CORRELATIONS.iter().zip(truth.secondary).map(|(correlation, effect)| {
            let own = differences(study, noise, &mut rng);
            let rest = (1.0 - correlation * correlation).sqrt();
            let both = shared.iter().zip(own).map(|(shared, own)| effect + correlation * shared + rest * own);
            both.take(end.blocks as usize).collect()
        });
        outcomes.add(&observed.collect::<Vec<Vec<f64>>>(), truth, steps);
    }
    outcomes
}
