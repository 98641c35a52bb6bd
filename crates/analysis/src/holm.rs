//! Several differences judged at once when a run has ended, so that one that is none is seldom called one (Holm 1979).
//!
//! How many blocks there are was decided by the primary metric, and what goes along with it was therefore not looked at at just any
//! moment: an ordinary test at the end errs more often than it says (Hung, Wang & O'Neill 2007). Each difference is judged by its
//! repeated interval instead, which holds at all looks at once and so at the one with which the run ended, why ever it did.
//!
//! The steps are Holm's: of m differences, those whose interval at α/m excludes zero are found different; of the r that are left, those
//! whose interval at α/r does; and so on. Let m₀ of them truly be none. As long as none of these was found different, r is m₀ at least, so the first
//! of them takes an interval at α/m₀ or less that excludes zero: all m₀ together have one with a probability of α at most, however
//! they depend on each other and on the primary (Maurer & Bretz 2013). For that the intervals of a later step have to lie within
//! those of an earlier one: critical values nowhere rise with the level ([`Boundaries::steps`]), and every step reads the same look, the
//! latest one that the first step has a critical value for.

use model::Effect;

use crate::boundaries::Boundaries;
use crate::quantity::Quantity;
use crate::sequential;

/// What there is to say of each difference: the interval of the step at which it was found different, else of the last step.
/// It excludes zero where the difference is found different, and is `None` with too few blocks.
///
/// `differences` are within-block differences (log ratios), by block, a list for each; `steps` are [`Boundaries::steps`] of at least
/// as many. What has no interval counts all the same: which ones there are was settled before the run.
pub fn judge<D: Into<Quantity> + Copy>(differences: &[Vec<D>], steps: &[Boundaries]) -> Vec<Option<Effect>> {
    let mut left: Vec<usize> = (0..differences.len()).collect();
    let mut effects = vec![None; left.len()];
    let look = |all: &Vec<D>| sequential::latest_look(all.len(), steps.get(differences.len() - 1)?);
    let seen: Vec<&[D]> = differences.iter().map(|all| &all[..look(all).unwrap_or_default()]).collect();
    while let Some(boundaries) = left.len().checked_sub(1).and_then(|index| steps.get(index)) {
        for index in &left {
            effects[*index] = sequential::look(seen[*index], boundaries);
        }
        let before = left.len();
        left.retain(|index| effects[*index].is_none_or(|effect: Effect| !effect.excludes_zero()));
        if left.len() == before {
            break;
        }
    }
    effects
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::{FIRST_LOOK, FIRST_RANK_LOOK, LAST_LOOK, Looks, STUDY_ALPHA, normal};

    /// Differences whose mean is so many of their standard errors.
    fn with_t(t: f64, blocks: usize) -> Vec<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(blocks as u64);
        let noise: Vec<f64> = (0..blocks).map(|_| normal(&mut rng)).collect();
        let n = blocks as f64;
        let mean = noise.iter().sum::<f64>() / n;
        let error = (noise.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
        noise.iter().map(|d| (d - mean) / error + t).collect()
    }

    fn reported(differences: &[Vec<f64>], steps: &[Boundaries]) -> Vec<bool> {
        judge(differences, steps).iter().map(|effect| effect.is_some_and(|effect| effect.excludes_zero())).collect()
    }

    #[test]
    fn each_one_reported_makes_the_rest_easier() {
        let steps = Boundaries::steps(3, Looks::STANDARD);
        let critical: Vec<f64> = steps.iter().map(|step| step.t(6).unwrap()).collect();
        assert!(critical[0] < critical[1] && critical[1] < critical[2], "{critical:?}");
        let just_above = |step: usize| with_t(critical[step - 1] + 0.01, 6);
        // The last would be found alone, and is found after the others.
        assert_eq!(reported(&[just_above(1), just_above(3), just_above(2)], &steps), [true; 3]);
        assert_eq!(reported(&[just_above(1), just_above(1), just_above(2)], &steps), [false; 3]);
        assert_eq!(reported(&[just_above(1), just_above(3), just_above(1)], &steps), [false, true, false]);

        let effects = judge(&[just_above(1), just_above(3), just_above(1)], &steps);
        let confidences: Vec<f64> = effects.iter().map(|effect| effect.unwrap().confidence).collect();
        let share = |count: f64| 1.0 - STUDY_ALPHA / count;
        assert_eq!(confidences, [share(2.0), share(3.0), share(2.0)]);
    }

    #[test]
    fn one_alone_is_the_sequential_test() {
        let differences = with_t(5.0, 12);
        let standard = Boundaries::standard();
        let judged = judge(std::slice::from_ref(&differences), &Boundaries::steps(1, Looks::STANDARD));
        assert_eq!(judged, [sequential::interval(&differences, &standard)]);
        assert_eq!(judge::<f64>(&[], &[]), []);
    }

    #[test]
    fn what_has_too_few_blocks_is_none_and_counts() {
        let steps = Boundaries::steps(2, Looks::STANDARD);
        let alone = with_t(steps[0].t(6).unwrap() + 0.01, 6);
        assert_eq!(reported(std::slice::from_ref(&alone), &steps), [true]);
        assert_eq!(judge(&[alone, vec![1.0; 2]], &steps)[1], None);
        assert_eq!(reported(&[with_t(steps[0].t(6).unwrap() + 0.01, 6), vec![1.0; 2]], &steps), [false, false]);
    }

    /// What the proof rests on: with fewer that share α no interval grows.
    #[test]
    fn critical_values_fall_as_the_level_rises() {
        let steps = Boundaries::steps(12, Looks::STANDARD);
        for (few, many) in steps.iter().zip(&steps[1..]) {
            for n in FIRST_LOOK..FIRST_RANK_LOOK {
                assert!(few.t(n) <= many.t(n), "{n} blocks: {:?}, {:?}", few.t(n), many.t(n));
            }
            for n in FIRST_RANK_LOOK..=LAST_LOOK {
                assert!(few.rank(n) >= many.rank(n), "{n} blocks: {:?}, {:?}", few.rank(n), many.rank(n));
            }
        }
    }
}
