//! Order statistics that a few wild values do not move.

use model::warm_up::Spread;

/// Confidence of an interval over launches.
const CONFIDENCE: f64 = 0.95;
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

/// Standard deviation by the median absolute deviation; `None` when there are no values.
pub fn sigma(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    median(&deviations).map(|mad| mad * MAD_TO_SIGMA)
}

/// The median over launches, and the interval of two of them that holds the true one with at least 95 % confidence (order
/// statistics: David & Nagaraja 2003, section 7.1); with fewer than six launches there is none.
pub fn spread(values: &[f64]) -> Option<Spread> {
    let sorted = sorted(values);
    let n = sorted.len();
    // P(B < r) for B ~ Binomial(n, ½), added up until both tails together are too likely.
    let mut tail = 0.0;
    let mut term = 0.5_f64.powf(n as f64);
    let mut left_out = 0;
    while left_out < n / 2 && 2.0 * (tail + term) <= 1.0 - CONFIDENCE {
        tail += term;
        term *= (n - left_out) as f64 / (left_out + 1) as f64;
        left_out += 1;
    }
    let interval = (left_out > 0).then(|| [sorted[left_out - 1], sorted[n - left_out]]);
    Some(Spread { median: median(values)?, interval, launches: n as u32 })
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

    #[test]
    fn the_median_lies_between_two_launches() {
        let spread = |n: u32| spread(&(1..=n).map(f64::from).collect::<Vec<_>>());
        assert_eq!(spread(0), None);
        assert_eq!(spread(5).unwrap().interval, None);
        // Conover's table: 6 launches 96.9 %, 8 99.2 %, 9 96.1 %, 20 95.9 %.
        assert_eq!(spread(6).unwrap().interval, Some([1.0, 6.0]));
        assert_eq!(spread(8).unwrap().interval, Some([1.0, 8.0]));
        assert_eq!(spread(9).unwrap().interval, Some([2.0, 8.0]));
        assert_eq!(spread(20).unwrap().interval, Some([6.0, 15.0]));
    }
}
