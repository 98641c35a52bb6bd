//! When did a series change its level? Means that shift between segments, by PELT.
//!
//! PELT (Killick, Fearnhead & Eckley 2012, *Optimal detection of changepoints with a linear computational cost*, JASA
//! 107:1590, algorithm in section 3) finds the segmentation that costs least: the squared distances from each segment's mean in
//! units of the noise, and a penalty for each further segment. It leaves out only what cannot be optimal, so its result is
//! that of trying all segmentations.
//!
//! Three things are ours, for series of servers:
//! - *Dips are no levels.* A collection takes a second or two. Before segments are sought, each value is brought within
//!   three standard deviations of the running median over [`WINDOW`] values (Hampel's filter); a step passes it unchanged.
//! - *The noise is that of seconds and of tens of seconds.* First differences know only the former, and make little of noise
//!   that wanders. So σ is the larger of theirs and of that around a resistant line (Tukey), which knows nothing of a step. Of
//!   levels that share the time half and half it knows too much: so it is no more than [`AT_MOST`] times that around a
//!   running median over [`LEVEL`] values, which follows them.
//! - *A change has a size.* Neighbouring segments whose medians differ by less than [`LEAST`] are one.

use crate::robust;

/// Fewest values of a segment: at one a second, ten seconds.
pub const SHORTEST: usize = 10;
/// Smallest change that is reported, a fraction.
pub const LEAST: f64 = 0.05;
/// Penalty of a change, in ln n: the least by which series without any stay quiet (`docs/calibration.md`, ADR 5).
const PENALTY: f64 = 9.0;
/// Values of the running median, an odd number: more than half of them are a segment's own at its very edge.
const WINDOW: usize = 11;
/// Values of the running median that follows levels, an odd number: more than half of them are a shortest segment's own.
const LEVEL: usize = 2 * SHORTEST - 1;
/// Most that noise has around the resistant line, in standard deviations around that median, which follows some of it.
const AT_MOST: f64 = 1.5;
/// Standard deviations from the running median beyond which a value means nothing.
const FURTHEST: f64 = 3.0;
/// Least standard deviation of a logarithm: below it a series is as good as without noise.
const QUIETEST: f64 = 0.005;

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Index of the first value of the new level.
    pub index: usize,
    /// Median of the segment before, in the values' unit.
    pub before: f64,
    /// Median of the segment that begins here.
    pub after: f64,
}

/// The changes of level of evenly spaced values, all above zero, in order.
pub fn shifts(values: &[f64]) -> Vec<Shift> {
    shifts_above(values, 0.0)
}

/// The same of values of which those up to a bound have no noise, because they stand for none at all.
pub fn shifts_above(values: &[f64], bound: f64) -> Vec<Shift> {
    if values.len() < 2 * SHORTEST {
        return Vec::new();
    }
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let noisy: Vec<f64> = logs.iter().copied().filter(|log| *log > bound.ln()).collect();
    let sigma = sigma(&noisy);
    let scaled: Vec<f64> = without_dips(&logs, sigma).into_iter().map(|log| log / sigma).collect();
    let cuts = segment(&scaled, PENALTY * (logs.len() as f64).ln(), SHORTEST);
    of_size(&logs, cuts)
}

/// Standard deviation of the noise of a series of logarithms, whatever its level does.
fn sigma(logs: &[f64]) -> f64 {
    let steps: Vec<f64> = logs.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let fast = robust::sigma(&steps).unwrap_or_default() / std::f64::consts::SQRT_2;
    let of_line = robust::sigma(&beside_line(logs)).unwrap_or_default();
    let followed: Vec<f64> = (0..logs.len()).map(|index| logs[index] - center(logs, index, LEVEL)).collect();
    let slow = of_line.min(AT_MOST * robust::sigma(&followed).unwrap_or_default());
    fast.max(slow).max(QUIETEST)
}

/// What is left beside the resistant line, which goes through the medians of the first and of the last third.
fn beside_line(logs: &[f64]) -> Vec<f64> {
    let third = logs.len() / 3;
    let median = |part: &[f64]| robust::median(part).unwrap_or_default();
    let rise = median(&logs[logs.len() - third..]) - median(&logs[..third]);
    let slope = rise / (logs.len() - third).max(1) as f64;
    logs.iter().enumerate().map(|(index, log)| log - slope * index as f64).collect()
}

/// Each value no further from the running median than [`FURTHEST`] standard deviations.
fn without_dips(logs: &[f64], sigma: f64) -> Vec<f64> {
    let clipped = |(index, log): (usize, &f64)| {
        let center = center(logs, index, WINDOW);
        log.clamp(center - FURTHEST * sigma, center + FURTHEST * sigma)
    };
    logs.iter().enumerate().map(clipped).collect()
}

/// The running median over `window` values around that one, fewer at the ends.
fn center(logs: &[f64], index: usize, window: usize) -> f64 {
    let reach = window / 2;
    robust::median(&logs[index.saturating_sub(reach)..(index + reach + 1).min(logs.len())]).unwrap_or(logs[index])
}

/// PELT: the beginnings of the segments after the first, none shorter than `shortest`.
fn segment(values: &[f64], penalty: f64, shortest: usize) -> Vec<usize> {
    let sums = Sums::of(values);
    // Least cost of the first so many values, and where the last segment of that begins.
    let mut best = vec![f64::INFINITY; values.len() + 1];
    let mut begins = vec![0; values.len() + 1];
    best[0] = -penalty;
    // Where a last segment may begin, and the end from which on it cannot be the best any more.
    let mut candidates = vec![(0, usize::MAX)];
    for end in shortest..=values.len() {
        if end >= 2 * shortest {
            candidates.push((end - shortest, usize::MAX));
        }
        for (begin, _) in &candidates {
            let cost = best[*begin] + sums.cost(*begin, end) + penalty;
            if cost < best[end] {
                (best[end], begins[end]) = (cost, *begin);
            }
        }
        // Equation 4 of the paper: to cut here as well would be no dearer, once what follows is long enough to be a segment.
        for (begin, until) in &mut candidates {
            if best[*begin] + sums.cost(*begin, end) >= best[end] {
                *until = (*until).min(end + shortest);
            }
        }
        candidates.retain(|(_, until)| *until > end + 1);
    }
    let mut cuts = Vec::new();
    let mut end = values.len();
    while begins[end] > 0 {
        end = begins[end];
        cuts.push(end);
    }
    cuts.reverse();
    cuts
}

/// Sums of the first so many values and of their squares.
struct Sums(Vec<[f64; 2]>);

impl Sums {
    fn of(values: &[f64]) -> Self {
        // Around a value of their own, so that little is lost in subtractions.
        let center = robust::median(values).unwrap_or_default();
        let mut sums = vec![[0.0, 0.0]];
        sums.extend(values.iter().scan([0.0, 0.0], |sum, value| {
            let value = value - center;
            *sum = [sum[0] + value, sum[1] + value * value];
            Some(*sum)
        }));
        Self(sums)
    }

    /// Squared distances from their mean, of the values from `begin` up to `end`.
    fn cost(&self, begin: usize, end: usize) -> f64 {
        let [sum, squares] = [0, 1].map(|power| self.0[end][power] - self.0[begin][power]);
        squares - sum * sum / (end - begin) as f64
    }
}

/// The changes at `cuts` that are large enough. The smallest is undone first, since its segments then share a median.
fn of_size(logs: &[f64], mut cuts: Vec<usize>) -> Vec<Shift> {
    loop {
        let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([logs.len()]).collect();
        let medians: Vec<f64> =
            edges.windows(2).map(|edge| robust::median(&logs[edge[0]..edge[1]]).unwrap_or_default()).collect();
        let size = |cut: usize| (medians[cut + 1] - medians[cut]).abs();
        let smallest = (0..cuts.len()).min_by(|a, b| size(*a).total_cmp(&size(*b)));
        let Some(smallest) = smallest.filter(|cut| size(*cut) < LEAST.ln_1p()) else {
            let shift =
                |(index, pair): (&usize, &[f64])| Shift { index: *index, before: pair[0].exp(), after: pair[1].exp() };
            return cuts.iter().zip(medians.windows(2)).map(shift).collect();
        };
        cuts.remove(smallest);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::normal;

    /// The least cost by trying every beginning of every last segment (Jackson et al. 2005).
    fn optimal_partition(values: &[f64], penalty: f64, shortest: usize) -> Vec<usize> {
        let cost = |part: &[f64]| {
            let mean = part.iter().sum::<f64>() / part.len() as f64;
            part.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
        };
        let mut best: Vec<(f64, Vec<usize>)> = vec![(-penalty, Vec::new())];
        for end in 1..=values.len() {
            let whole = |begin: usize| {
                let (before, cuts) = &best[begin];
                let cuts = cuts.iter().copied().chain((begin > 0).then_some(begin)).collect();
                (before + cost(&values[begin..end]) + penalty, cuts)
            };
            let begins = (0..end).filter(|begin| end - begin >= shortest && best[*begin].0.is_finite());
            let least = begins.map(whole).min_by(|a, b| a.0.total_cmp(&b.0));
            best.push(least.unwrap_or((f64::INFINITY, Vec::new())));
        }
        best.pop().map(|(_, cuts)| cuts).unwrap_or_default()
    }

    proptest! {
        #[test]
        fn pelt_finds_the_optimum(seed in 0_u64..100_000, shortest in 1_usize..12, penalty in 0.5_f64..60.0, n in 1_usize..90) {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut level = 0.0;
            let values: Vec<f64> = (0..n)
                .map(|_| {
                    if rng.random_bool(0.08) {
                        level += 4.0 * normal(&mut rng);
                    }
                    level + normal(&mut rng)
                })
                .collect();
            if n >= shortest {
                prop_assert_eq!(segment(&values, penalty, shortest), optimal_partition(&values, penalty, shortest));
            }
        }
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let series =
            |step: f64| -> Vec<f64> { (0..60).map(|s| if s < 25 { 1_000.0 } else { 1_000.0 * step }).collect() };
        let found = shifts(&series(0.8));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].index, 25);
        assert!((found[0].before - 1_000.0).abs() < 1e-6 && (found[0].after - 800.0).abs() < 1e-6, "{found:?}");
        assert_eq!(shifts(&series(1.04)), [], "too small to matter");
        assert_eq!(shifts(&series(1.06)).len(), 1);
    }

    #[test]
    fn there_and_back_are_two_changes() {
        let values: Vec<f64> = (0..90).map(|s| if (30..60).contains(&s) { 500.0 } else { 1_000.0 }).collect();
        assert_eq!(shifts(&values).iter().map(|shift| shift.index).collect::<Vec<_>>(), [30, 60]);
    }

    #[test]
    fn levels_that_share_the_time_half_and_half_are_found() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut series = |seconds: usize, is_low: fn(usize) -> bool| -> Vec<f64> {
            let level = |second| if is_low(second) { 500.0 } else { 1_000.0 };
            (0..seconds).map(|second| level(second) * (0.02 * normal(&mut rng)).exp()).collect()
        };
        let once = series(60, |second| (15..45).contains(&second));
        let again = series(120, |second| second / 20 % 2 == 1);
        let found = |values: &[f64]| shifts(values).iter().map(|shift| shift.index).collect::<Vec<_>>();
        assert_eq!(found(&once), [15, 45]);
        assert_eq!(found(&again), [20, 40, 60, 80, 100]);
    }

    #[test]
    fn what_stands_for_none_hides_no_noise() {
        let mut rng = ChaCha8Rng::seed_from_u64(8);
        let values: Vec<f64> =
            (0..400).map(|second| if second < 180 { 100.0 * (0.2 * normal(&mut rng)).exp() } else { 0.5 }).collect();
        assert_eq!(shifts_above(&values, 0.5).iter().map(|shift| shift.index).collect::<Vec<_>>(), [180]);
        assert!(shifts_above(&[0.5; 40], 0.5).is_empty(), "all of them");
    }

    #[test]
    fn what_lasts_a_few_seconds_is_no_level() {
        let mut values = vec![1_000.0; 60];
        values[20..24].fill(300.0);
        values[41] = 10.0;
        assert_eq!(shifts(&values), []);
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(shifts(&[]), []);
        assert_eq!(shifts(&[[1_000.0; 9], [500.0; 9]].concat()), []);
        assert_eq!(shifts(&[[1_000.0; 10], [500.0; 10]].concat()).len(), 1);
    }
}
