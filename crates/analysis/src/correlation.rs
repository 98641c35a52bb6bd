//! Two numbers of each run that may go together.

use crate::student;

/// Most pairs whose orders are counted.
const MOST: usize = 100;

/// The straight line through pairs, by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Pearson's correlation, −1..=1.
    pub r: f64,
    /// How much more of the second number there is for one more of the first.
    pub slope: f64,
    /// Half of its 95 % interval, by Student's t; 0 of two pairs.
    pub half: f64,
}

/// The line through pairs; `None` where there is none: fewer than two, or one of the numbers is the same in all.
pub fn line(pairs: &[[f64; 2]]) -> Option<Line> {
    let n = pairs.len() as f64;
    let mean = |side: usize| pairs.iter().map(|pair| pair[side]).sum::<f64>() / n;
    let means = [mean(0), mean(1)];
    let product =
        |a: usize, b: usize| pairs.iter().map(|pair| (pair[a] - means[a]) * (pair[b] - means[b])).sum::<f64>();
    let [xx, xy, yy] = [product(0, 0), product(0, 1), product(1, 1)];
    let is_line = xx > 0.0 && yy > 0.0 && xx.is_finite() && yy.is_finite();
    let freedom = pairs.len().saturating_sub(2);
    let half = |slope: f64| match freedom {
        0 => 0.0,
        _ => student::critical(0.05, freedom) * ((yy - slope * xy).max(0.0) / freedom as f64 / xx).sqrt(),
    };
    is_line.then(|| {
        let slope = xy / xx;
        Line { r: (xy / (xx * yy).sqrt()).clamp(-1.0, 1.0), slope, half: half(slope) }
    })
}

/// Spearman's rank correlation; numbers that are equal share their ranks' mean.
pub fn of_ranks(pairs: &[[f64; 2]]) -> Option<f64> {
    let ranks = |side: usize| {
        let rank = |value: f64| {
            let below = pairs.iter().filter(|pair| pair[side] < value).count();
            let equal = pairs.iter().filter(|pair| pair[side].total_cmp(&value).is_eq()).count();
            below as f64 + f64::midpoint(equal as f64, 1.0)
        };
        pairs.iter().map(|pair| rank(pair[side])).collect::<Vec<_>>()
    };
    let ranked: Vec<[f64; 2]> = ranks(0).into_iter().zip(ranks(1)).map(|(x, y)| [x, y]).collect();
    line(&ranked).map(|line| line.r)
}

/// Kendall's rank correlation, and how likely it is that one as high comes by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Orders {
    /// Of each two pairs those in the same order less those in the other, as a part of all; −1..=1.
    pub tau: f64,
    /// How many pairs were looked at.
    pub pairs: usize,
    /// The share of all orders of the second numbers in which as many or more are in the same order, 0..=1: exact; where numbers are equal, too high.
    pub chance: f64,
}

/// Whether pairs are in the same order by both numbers; looks at the first hundred. `None` of fewer than two.
pub fn orders(pairs: &[[f64; 2]]) -> Option<Orders> {
    let pairs = &pairs[..pairs.len().min(MOST)];
    let twos = pairs.iter().enumerate().flat_map(|(index, one)| pairs[index + 1..].iter().map(move |two| [one, two]));
    let sign = |[one, two]: [&[f64; 2]; 2], side: usize| one[side].total_cmp(&two[side]) as i32;
    let agreed: Vec<i32> = twos.map(|both| sign(both, 0) * sign(both, 1)).collect();
    let others = agreed.iter().filter(|sign| **sign < 1).count();
    // As many inversions as there are twos in another order, or fewer.
    let chance = share_by_inversions(pairs.len()).iter().take(others + 1).sum::<f64>();
    let tau = f64::from(agreed.iter().sum::<i32>()) / agreed.len() as f64;
    (!agreed.is_empty()).then(|| Orders { tau, pairs: pairs.len(), chance: chance.min(1.0) })
}

/// The share of all orders of `n` that has so many inversions (Kendall 1938, *A new measure of rank correlation*, Biometrika 30:81).
fn share_by_inversions(n: usize) -> Vec<f64> {
    (2..=n).fold(vec![1.0], |shares: Vec<f64>, next| {
        // The next number stands before none to all of those before it, each as likely as any.
        let share = |inversions: usize| {
            let fewest = (inversions + 1).saturating_sub(next);
            shares.iter().take(inversions + 1).skip(fewest).sum::<f64>() / next as f64
        };
        (0..shares.len() + next - 1).map(share).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_by_hand() {
        // Residuals −1/6, 1/3, −1/6 around slope 3/2: s² = 1/6, Sxx = 2, t = 12.706.
        let found = line(&[[1.0, 1.0], [2.0, 2.0], [3.0, 4.0]]).unwrap();
        assert!((found.slope - 1.5).abs() < 1e-12 && (found.r - 0.981_981).abs() < 1e-6, "{found:?}");
        assert!((found.half - 12.706 * (1.0_f64 / 12.0).sqrt()).abs() < 1e-3, "{found:?}");
        assert_eq!(line(&[[1.0, 5.0], [2.0, 3.0]]).map(|line| (line.r, line.half)), Some((-1.0, 0.0)));
        assert_eq!([line(&[]), line(&[[1.0, 2.0]]), line(&[[1.0, 2.0], [1.0, 3.0]])], [None; 3]);
        assert_eq!(line(&[[1.0, 2.0], [2.0, f64::NAN], [3.0, 1.0]]), None);
    }

    #[test]
    fn ranks_are_what_counts() {
        assert_eq!(of_ranks(&[[1.0, 10.0], [2.0, 11.0], [3.0, 900.0]]), Some(1.0));
        let found = of_ranks(&[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 0.0]]).unwrap();
        // 1 − 6·Σd²/(n³ − n) with d = 1, 1, 1, 3.
        assert!((found + 0.2).abs() < 1e-12, "{found}");
        let tied = of_ranks(&[[1.0, 1.0], [1.0, 2.0], [2.0, 3.0]]).unwrap();
        assert!((tied - 0.75_f64.sqrt()).abs() < 1e-12, "{tied}");
    }

    #[test]
    fn orders_are_counted_exactly() {
        let in_order = |n: u32| orders(&(0..n).map(|x| [f64::from(x); 2]).collect::<Vec<_>>());
        assert_eq!([in_order(0), in_order(1)], [None; 2]);
        for (n, all) in [(2, 2.0), (4, 24.0), (6, 720.0)] {
            let found = in_order(n).unwrap();
            assert!((found.tau - 1.0).abs() < 1e-12 && (found.chance * all - 1.0).abs() < 1e-9, "{n}: {found:?}");
        }
        // One inversion of four: 1 + 3 of 24 orders.
        let one = orders(&[[1.0, 1.0], [2.0, 2.0], [3.0, 4.0], [4.0, 3.0]]).unwrap();
        assert_eq!(one.pairs, 4);
        assert!((one.tau - 4.0 / 6.0).abs() < 1e-12 && (one.chance - 4.0 / 24.0).abs() < 1e-12, "{one:?}");
        // What is equal is no evidence.
        let equal = orders(&[[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 3.0]]).unwrap();
        assert!((equal.tau - 5.0 / 6.0).abs() < 1e-12 && (equal.chance - 4.0 / 24.0).abs() < 1e-12, "{equal:?}");
        let falling: Vec<[f64; 2]> = (0..200).map(|x| [f64::from(x), -f64::from(x)]).collect();
        assert!(
            orders(&falling).is_some_and(|found| found.tau < -0.999 && found.chance > 0.999 && found.pairs == MOST)
        );
    }
}
