//! How finely a number is known: what is counted comes in steps.
//!
//! A launch that ended 22 answers in its window would have ended 22 in one a little longer or shorter, too. Counts of such launches agree with each
//! other to the last digit, and the scatter between blocks, of which intervals are made, knows nothing of it. So each number has its
//! *resolution*: how far, as a log ratio, what was counted may lie from what there was to count. It is a bound and no noise: it does
//! not become smaller with more launches, only with more to count in each.

/// A number of a launch, or one made of such numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// Its resolution, a log ratio, 0 or more; 0 where nothing is counted.
    pub resolution: f64,
}

impl Quantity {
    /// A number that rests on so many of the `step` in which it comes: one more or less is not seen.
    pub fn in_steps(value: f64, step: f64, counted: f64) -> Self {
        // ln(1 + 1/n) is 1/n at most.
        Self { value, resolution: step / counted }
    }

    /// Its natural logarithm.
    #[must_use]
    pub fn ln(self) -> Self {
        Self { value: self.value.ln(), ..self }
    }

    /// Its power of e.
    #[must_use]
    pub fn exp(self) -> Self {
        Self { value: self.value.exp(), ..self }
    }

    /// ln(`self`) − ln(`other`).
    #[must_use]
    pub fn against(self, other: Self) -> Self {
        weighed([(-1.0, other.ln()), (1.0, self.ln())])
    }
}

/// A number of which nothing is lost.
impl From<f64> for Quantity {
    fn from(value: f64) -> Self {
        Self { value, resolution: 0.0 }
    }
}

/// The sum of weight · logarithm.
///
/// What is counted is whole: each number lies to one side of the truth, the same for all, by its resolution at most. So what is added
/// up makes the sum wrong by the sum of theirs at most, what is taken away by the sum of theirs the other way, and the larger of the
/// two is the sum's resolution. Of a difference it is that of the side with the smaller count: with one answer more or less,
/// 22 and 23 are the same.
pub fn weighed(parts: impl IntoIterator<Item = (f64, Quantity)>) -> Quantity {
    let (mut value, mut sides) = (0.0, [0.0; 2]);
    for (weight, log) in parts {
        value += weight * log.value;
        sides[usize::from(weight < 0.0)] += weight.abs() * log.resolution;
    }
    Quantity { value, resolution: sides[0].max(sides[1]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(n: f64) -> Quantity {
        Quantity::in_steps(n, 1.0, n)
    }

    #[test]
    fn one_answer_more_is_within_the_resolution_of_a_difference() {
        for n in [1.0, 2.0, 22.0, 10_000.0] {
            let difference = count(n + 1.0).against(count(n));
            assert!((difference.resolution - 1.0 / n).abs() < 1e-15);
            assert!(difference.value < difference.resolution, "{difference:?}");
            let mirrored = count(n).against(count(n + 1.0));
            let sums = [mirrored.value + difference.value, mirrored.resolution - difference.resolution];
            assert!(sums.iter().all(|sum| sum.abs() < 1e-15), "{mirrored:?}");
        }
        assert!(count(24.0).against(count(22.0)).value > 1.0 / 22.0);
    }

    #[test]
    fn a_mean_of_cells_and_an_effect_of_factors_add_up_theirs() {
        let mean = weighed([(0.5, count(10.0).ln()), (0.5, count(1_000.0).ln())]).exp();
        assert!((mean.value - 100.0).abs() < 1e-9 && (mean.resolution - 0.0505).abs() < 1e-12, "{mean:?}");
        let logs = [10.0, 20.0, 40.0, 80.0].map(|n| count(n).ln());
        let effect = weighed([-0.5, -0.5, 0.5, 0.5].into_iter().zip(logs));
        assert!((effect.value - 4.0_f64.ln()).abs() < 1e-12, "{effect:?}");
        assert!((effect.resolution - 0.075).abs() < 1e-12, "{effect:?}");
    }
}
