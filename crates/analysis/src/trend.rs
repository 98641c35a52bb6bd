//! How fast does a series move, and how surely? A slope that a few wild values do not move, with an interval that knows that what follows each
//! other resembles each other.
//!
//! The slope is the median of those between all pairs (Theil 1950; Sen 1968, *Estimates of the regression coefficient based on Kendall's tau*,
//! JASA 63:1379). Its standard error is that of least squares, which is about the same, with as many values as are worth something by
//! themselves: n·(1 − ρ)/(1 + ρ) (Santer et al. 2000, *Statistical significance of trends
//! and trend differences in layer-average atmospheric temperature time series*, Journal of Geophysical Research 105:7337). How well the noise is
//! known says n·(1 − ρ²)/(1 + ρ²) (Bayley & Hammersley 1946, *The "effective" number of independent observations in an autocorrelated time
//! series*, Supplement to the Journal of the Royal Statistical Society 8:184). What is noise is what a
//! parabola leaves: that something bends says nothing against its rising. So Student's t has three degrees of freedom less, and ρ, how much
//! neighbours resemble each other, is (ρ̂·n + 3)/(n − 5) without its bias (Shaman & Stine 1988, *The bias of autoregressive coefficient
//! estimators*, JASA 83:842: −(p + 1 + (p + 3)·ρ)/n where a polynomial of degree p was taken away).
//!
//! First the values are taken together in at most [`MOST_BLOCKS`] spans of time, each by its median. So noise of single seconds does not
//! hide one that wanders over minutes, and ρ sees the latter.

use crate::{robust, student};

/// Most spans that a series is taken together in.
const MOST_BLOCKS: usize = 30;
/// Fewest spans with a value that have a slope.
pub const FEWEST_BLOCKS: usize = 10;
/// Degrees of freedom that a parabola takes.
const LOST: f64 = 3.0;
/// Those that are left of any noise, at least.
const LEAST_FREEDOM: f64 = 2.0;
/// ρ is never taken for more.
const MOST_ALIKE: f64 = 0.99;

/// A slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slope {
    /// Change in a second.
    pub per_s: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard deviation of the spans' medians around the line.
    pub sigma: f64,
}

/// The slope of points (seconds, in order, and values), with an interval that misses the true one with probability `alpha` (0..1); `None` where fewer than [`FEWEST_BLOCKS`] spans have any.
pub fn slope(points: &[[f64; 2]], alpha: f64) -> Option<Slope> {
    let blocks = blocks(points, MOST_BLOCKS);
    let n = blocks.len();
    if n < FEWEST_BLOCKS {
        return None;
    }
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    for (index, [from, before]) in blocks.iter().enumerate() {
        slopes.extend(blocks[index + 1..].iter().map(|[to, after]| (after - before) / (to - from)));
    }
    let per_s = robust::median(&slopes).filter(|slope| slope.is_finite())?;
    let at = centred(blocks.iter().map(|block| block[0]));
    let left = beside_parabola(&at, blocks.iter().map(|block| block[1]));
    let squares: f64 = dot(&left, &left);
    let (rho, all) = (resemblance(&left, squares), n as f64);
    let worth = (all * (1.0 - rho) / (1.0 + rho) - LOST).max(1.0);
    let freedom = (all * (1.0 - rho * rho) / (1.0 + rho * rho) - LOST).max(LEAST_FREEDOM);
    let half = critical(alpha, freedom) * (squares / worth / dot(&at, &at)).sqrt();
    Some(Slope { per_s, low: per_s - half, high: per_s + half, sigma: (squares / n as f64).sqrt() })
}

/// Student's critical value between whole degrees of freedom: its logarithm is taken for straight there.
fn critical(alpha: f64, freedom: f64) -> f64 {
    let [below, above] =
        [freedom.floor(), freedom.floor() + 1.0].map(|whole| student::critical(alpha, whole as usize).ln());
    (below + (above - below) * freedom.fract()).exp()
}

fn centred(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.into_iter().map(|value| value - mean).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// What the parabola of least squares over these centred times leaves of the values.
fn beside_parabola(at: &[f64], values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut left = centred(values);
    let squared = centred(at.iter().map(|at| at * at));
    // Of the square what a line does not have.
    let tilt = dot(&squared, at) / dot(at, at);
    let bend: Vec<f64> = squared.iter().zip(at).map(|(square, at)| square - tilt * at).collect();
    for part in [at, &bend] {
        let size = dot(&left, part) / dot(part, part);
        left.iter_mut().zip(part).for_each(|(value, part)| *value -= size * part);
    }
    left
}

/// How much neighbours among what a parabola has left resemble each other, 0..=[`MOST_ALIKE`]; its squares add up to so much.
fn resemblance(left: &[f64], squares: f64) -> f64 {
    let n = left.len() as f64;
    let neighbours: f64 = left.windows(2).map(|pair| pair[0] * pair[1]).sum();
    // Where all lie on it there is no noise to resemble.
    let seen = if squares > 0.0 { neighbours / squares } else { 0.0 };
    ((seen * n + 3.0) / (n - 5.0)).clamp(0.0, MOST_ALIKE)
}

/// The points in at most so many spans of equal length: of each that has any, the medians of time and value.
pub fn blocks(points: &[[f64; 2]], most: usize) -> Vec<[f64; 2]> {
    let (Some([first, _]), Some([last, _])) = (points.first(), points.last()) else { return Vec::new() };
    // The last point belongs to the last span.
    let length = (last - first) * (1.0 + 1e-9) / most as f64;
    if points.len() <= most || length <= 0.0 {
        return points.to_vec();
    }
    let span = |point: &[f64; 2]| ((point[0] - first) / length) as usize;
    let median = |chunk: &[[f64; 2]], of: usize| robust::median(&chunk.iter().map(|one| one[of]).collect::<Vec<_>>());
    let chunks = points.chunk_by(|one, next| span(one) == span(next));
    chunks.filter_map(|chunk| Some([median(chunk, 0)?, median(chunk, 1)?])).collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::normal;

    fn line(n: usize, value: impl Fn(f64) -> f64) -> Vec<[f64; 2]> {
        (0..n).map(|at| [at as f64, value(at as f64)]).collect()
    }

    #[test]
    fn a_line_has_its_slope_and_nothing_else() {
        let found = slope(&line(200, |at| 5.0 + 2.0 * at), 0.01).unwrap();
        assert!([found.per_s, found.low, found.high].iter().all(|slope| (slope - 2.0).abs() < 1e-9), "{found:?}");
        let flat = slope(&line(200, |_| 7.0), 0.01).unwrap();
        assert_eq!((flat.per_s, flat.low, flat.high), (0.0, 0.0, 0.0));
        assert_eq!(slope(&line(9, |at| at), 0.01), None);
    }

    #[test]
    fn wild_values_do_not_move_it() {
        let found = slope(&line(300, |at| if at % 10.0 < 2.0 { 1e6 } else { at }), 0.01).unwrap();
        assert!((found.per_s - 1.0).abs() < 0.05, "{found:?}");
    }

    #[test]
    fn spans_are_of_time() {
        let points = [[0.0, 1.0], [1.0, 3.0], [9.0, 5.0], [10.0, 7.0]];
        assert_eq!(blocks(&points, 2), [[0.5, 2.0], [9.5, 6.0]]);
        assert_eq!(blocks(&points, 4), points);
        assert_eq!(blocks(&[], 4), Vec::<[f64; 2]>::new());
    }

    /// An autoregressive process, with and without a trend: the interval holds the true slope about as often as it says.
    #[test]
    fn the_interval_holds_the_true_slope() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        // Where a value resembles the one before as closely as in the last, so few values are worth something by themselves that the
        // interval is too short: docs/calibration.md.
        for (rho, most) in [(0.0, 12), (0.5, 12), (0.9, 12), (0.98, 24)] {
            let mut missed = 0;
            for trial in 0..400 {
                let true_slope = f64::from(trial % 2) * 0.05;
                let mut noise = 0.0;
                let points: Vec<[f64; 2]> = (0..250)
                    .map(|at| {
                        noise = rho * noise + normal(&mut rng);
                        [f64::from(at), true_slope * f64::from(at) + noise]
                    })
                    .collect();
                let found = slope(&points, 0.01).unwrap();
                missed += u32::from(!(found.low..=found.high).contains(&true_slope));
            }
            assert!(missed <= most, "ρ {rho}: {missed} of 400 missed");
        }
    }
}
