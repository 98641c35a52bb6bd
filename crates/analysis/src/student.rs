//! Student's t: the interval of a mean of few differences, for what is looked at once.
//!
//! What may be looked at after every block has the wider intervals of [`crate::sequential`].

use std::f64::consts::{FRAC_PI_2, PI};

use model::Effect;

use crate::quantity::Quantity;

/// Fewest differences that have an interval.
pub const FEWEST: usize = 3;

/// Mean and interval of these differences (log ratios), wrong with probability `alpha` (0..1); `None` of fewer than [`FEWEST`].
///
/// As everywhere, the interval is no narrower than the resolution of its differences.
pub fn interval(differences: &[Quantity], alpha: f64) -> Option<Effect> {
    let n = differences.len() as f64;
    if differences.len() < FEWEST {
        return None;
    }
    let mean = |of: fn(&Quantity) -> f64| differences.iter().map(of).sum::<f64>() / n;
    let (estimate, resolution) = (mean(|one| one.value), mean(|one| one.resolution));
    let variance = differences.iter().map(|one| (one.value - estimate).powi(2)).sum::<f64>() / (n - 1.0);
    let half = (critical(alpha, differences.len() - 1) * (variance / n).sqrt()).max(resolution);
    Some(Effect {
        estimate,
        low: estimate - half,
        high: estimate + half,
        resolution,
        blocks: differences.len() as u32,
        confidence: 1.0 - alpha,
    })
}

/// The value that |t| with `freedom` degrees of freedom exceeds with probability `alpha`.
pub fn critical(alpha: f64, freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle, freedom) < 1.0 - alpha { low = middle } else { high = middle }
    }
    low.tan() * (freedom as f64).sqrt()
}

/// The probability that the correlation of `n` independent pairs, one side of them normal, is `r` or more (Student's t of r√ν/√(1 − r²) with
/// ν = n − 2; Fisher 1915); 1 where `n` has no correlation, or `r` is no evidence.
pub fn of_correlation(r: f64, n: usize) -> f64 {
    if n < FEWEST || r.is_nan() || r <= 0.0 { 1.0 } else { (1.0 - within(r.min(1.0).asin(), n - 2)) / 2.0 }
}

/// P(|t| ≤ √ν · tan θ) with ν degrees of freedom, θ in 0..π/2 (Abramowitz & Stegun 1964, 26.7.3 and 26.7.4).
fn within(theta: f64, freedom: usize) -> f64 {
    let (sin, cos) = theta.sin_cos();
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cos } else { 1.0 };
    let mut sum = if freedom == 1 { 0.0 } else { term };
    for power in (2 + usize::from(is_odd)..freedom.saturating_sub(1)).step_by(2) {
        term *= cos * cos * (power - 1) as f64 / power as f64;
        sum += term;
    }
    if is_odd { (theta + sin * sum) * 2.0 / PI } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_the_tables() {
        for (alpha, freedom, wanted) in [
            (0.05, 1, 12.706),
            (0.05, 2, 4.303),
            (0.05, 3, 3.182),
            (0.05, 4, 2.776),
            (0.01, 4, 4.604),
            (0.01, 5, 4.032),
            (0.05, 9, 2.262),
            (0.001, 10, 4.587),
            (0.05, 29, 2.045),
        ] {
            let found = critical(alpha, freedom);
            assert!((found - wanted).abs() < 6e-4, "{alpha} {freedom}: {found}");
        }
    }

    #[test]
    fn correlations_are_as_rare_as_the_tables_say() {
        // Of four pairs every correlation is as likely as any other; the others are one-sided values of Fisher and Yates' table.
        for (r, n, wanted) in [(0.99, 4, 0.005), (0.9, 4, 0.05), (0.9587, 5, 0.005), (0.7155, 10, 0.01), (1.0, 8, 0.0)]
        {
            let found = of_correlation(r, n);
            assert!((found - wanted).abs() < 2e-5, "{r} {n}: {found}");
        }
        let none = [of_correlation(-0.5, 9), of_correlation(f64::NAN, 9), of_correlation(1.0, 2)];
        assert!(none.iter().all(|chance| *chance > 0.999), "{none:?}");
    }

    #[test]
    fn an_interval_by_hand() {
        // Mean 3, sd √2.5, half = 2.776 · √2.5 / √5.
        let differences: Vec<Quantity> = (1..=5).map(|d| f64::from(d).into()).collect();
        let found = interval(&differences, 0.05).unwrap();
        assert!((found.estimate - 3.0).abs() < 1e-12 && (found.high - 3.0 - 2.776 * 0.5_f64.sqrt()).abs() < 1e-3);
        assert_eq!(interval(&differences[..2], 0.05), None);
    }

    #[test]
    fn differences_that_agree_are_reported_no_more_finely_than_they_are_counted() {
        let same = [Quantity { value: 0.1, resolution: 0.02 }; 4];
        let found = interval(&same, 0.05).unwrap();
        assert!((found.low - 0.08).abs() < 1e-12 && (found.high - 0.12).abs() < 1e-12, "{found:?}");
    }
}
