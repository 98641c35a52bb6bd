//! Order statistics that a few wild values do not move.

/// Turns a median absolute deviation into the standard deviation of normal data with the same (1 / Φ⁻¹(¾)).
pub const MAD_TO_SIGMA: f64 = 1.4826;

/// The values in rising order.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The middle value, or the mean of the two middle ones; `None` when there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// The smallest value that at least the fraction `q` (0..=1) of the values do not exceed (nearest rank).
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let sorted = sorted(values);
    let rank = (q * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Standard deviation as the median absolute deviation tells it; `None` when there are no values.
pub fn sigma(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    median(&deviations).map(|mad| mad * MAD_TO_SIGMA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_cases_by_hand() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quantile(&[10.0, 20.0], 0.9), Some(20.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], 0.9), Some(9.0));
        assert_eq!(quantile(&[], 0.9), None);
        assert_eq!(sigma(&[1.0, 2.0, 3.0, 4.0, 100.0]), Some(MAD_TO_SIGMA));
    }
}
