//! How far an estimate has to lie from zero at each look, so that all looks together keep one promise.
//!
//! Early looks (5 to 7 blocks) use Student's t, later ones Wilcoxon's signed ranks: with fewer than 8 blocks no
//! rank test can reject at such levels, and with more the ranks are what survives launches that a neighbour wrecked.
//! Of the error rate α, 20 % is spent by the early looks in equal parts, 80 % by the late ones in proportion to the
//! blocks seen (α·0.8·n/nmax by look n: Lan & `DeMets` 1983 with a linear spending function). The two families are
//! joined by the union bound, so the late looks hold for any symmetric distribution, not only the normal one. How other
//! ways of spending compare stands in `docs/calibration.md`.

use model::verdict::FEWEST_BLOCKS;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fewest blocks at which there is an interval.
pub const FIRST_LOOK: usize = FEWEST_BLOCKS as usize;
/// Fewest blocks at which signed ranks are used.
pub const FIRST_RANK_LOOK: usize = 8;
/// Most blocks that the tables cover.
pub const LAST_LOOK: usize = 30;
/// The error rate that a whole study may have, all its comparisons together.
pub const STUDY_ALPHA: f64 = 0.05;

/// Paths and seed of the tables that [`Boundaries::generate`] makes: fixed, so that a run and every later
/// analysis of it use the same table.
const TABLE_PATHS: usize = 400_000;
const TABLE_SEED: u64 = 0x626f_756e_6473;

/// α = 0.05 and 30 blocks, as `calibrate boundaries` prints it.
const STANDARD_T: [f64; 3] = [6.289, 4.870, 4.190];
const STANDARD_RANK: [u32; 23] =
    [0, 1, 2, 3, 5, 7, 10, 13, 16, 20, 25, 30, 35, 40, 46, 53, 59, 67, 74, 83, 91, 100, 109];

/// When the error rate is spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spending {
    /// Part of it for the looks before [`FIRST_RANK_LOOK`], 0..1.
    pub early: f64,
    /// Of the rest, the part (n/nmax)^`exponent` is spent by the look at n blocks: 1 is linear, less is sooner.
    pub exponent: f64,
}

impl Spending {
    /// As every verdict spends it.
    pub const STANDARD: Self = Self { early: 0.2, exponent: 1.0 };
}

/// Critical values of every look of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundaries {
    alpha: f64,
    /// Critical |t| with 5, 6 and 7 blocks.
    t: Vec<f64>,
    /// With 8 blocks and more: reject when min(W⁺, W⁻) is at most this; `None` where no rank is rare enough.
    rank: Vec<Option<u32>>,
}

impl Boundaries {
    /// The table for two variants: α = 0.05, up to 30 blocks.
    pub fn standard() -> Self {
        Self { alpha: STUDY_ALPHA, t: STANDARD_T.to_vec(), rank: STANDARD_RANK.map(Some).to_vec() }
    }

    /// The table for each comparison of `variants` variants with the baseline: α is shared out evenly (Bonferroni).
    /// Always the same for the same number; takes a fraction of a second for more than two.
    pub fn for_variants(variants: usize) -> Self {
        Self::standard().shared_out(variants.saturating_sub(1))
    }

    /// The table for each of `comparisons` comparisons that share this one's α evenly.
    #[must_use]
    pub fn shared_out(&self, comparisons: usize) -> Self {
        match comparisons {
            0 | 1 => self.clone(),
            _ => Self::generate(self.alpha / comparisons as f64, Spending::STANDARD),
        }
    }

    /// The tables for each of 1, 2, … `comparisons` comparisons that share a study's α evenly, for procedures that take one after
    /// the other: nowhere is a critical value lower than with fewer comparisons. Always the same for the same number; takes a
    /// second at most.
    pub fn steps(comparisons: usize) -> Vec<Self> {
        if comparisons <= 1 {
            return vec![Self::standard(); comparisons];
        }
        let alphas: Vec<f64> = (1..=comparisons).map(|share| STUDY_ALPHA / share as f64).collect();
        Self::simulate(&alphas, Spending::STANDARD, TABLE_PATHS, TABLE_SEED)
    }

    /// The table for one comparison with error rate `alpha` (0..1) over all looks: always the same for the same rate; takes
    /// a second at most. `calibrate boundaries` prints it.
    pub fn generate(alpha: f64, spending: Spending) -> Self {
        Self::simulate(&[alpha], spending, TABLE_PATHS, TABLE_SEED).swap_remove(0)
    }

    /// Simulates `paths` sequences of differences without any true difference and places each look's critical value so
    /// that, by that look, no more of them were ever rejected than may be: for each of `alphas`, which fall, one table. What one
    /// rejects, those of the larger rates reject too.
    ///
    /// Two standard errors of the simulation are kept back, so that chance does not place a value too low; t is rounded up.
    fn simulate(alphas: &[f64], spending: Spending, paths: usize, seed: u64) -> Vec<Self> {
        let Spending { early, exponent } = spending;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let t = early_looks(&alphas.iter().map(|alpha| alpha * early).collect::<Vec<_>>(), paths, &mut rng);
        let late: Vec<f64> = alphas.iter().map(|alpha| alpha * (1.0 - early)).collect();
        let rank = late_looks(&late, |n| (n as f64 / LAST_LOOK as f64).powf(exponent), paths, &mut rng);
        let rounded = |t: &f64| (t * 1_000.0).ceil() / 1_000.0;
        let table = |level: usize| Self {
            alpha: alphas[level],
            t: t.iter().map(|look| rounded(&look[level])).collect(),
            rank: rank.iter().map(|look| look[level]).collect(),
        };
        (0..alphas.len()).map(table).collect()
    }

    /// The error rate of all looks together, 0..=1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Critical |t| with `n` blocks (5 to 7).
    pub fn t(&self, n: usize) -> Option<f64> {
        self.t.get(n.checked_sub(FIRST_LOOK)?).copied()
    }

    /// Critical value of min(W⁺, W⁻) with `n` blocks (8 and more).
    pub fn rank(&self, n: usize) -> Option<u32> {
        self.rank.get(n.checked_sub(FIRST_RANK_LOOK)?).copied().flatten()
    }
}

/// Paths that may have been rejected when `alpha` is spent: two standard errors below the expected number.
fn allowance(alpha: f64, paths: usize) -> usize {
    let expected = alpha * paths as f64;
    (expected - 2.0 * expected.sqrt()).max(0.0) as usize
}

/// A path of differences, and how many of the tables have rejected it: the first ones, since what a table rejects those of larger
/// rates reject too.
#[derive(Clone, Copy)]
struct Path<T> {
    of: T,
    rejected: usize,
}

/// Critical |t| for each look before the ranks, on normal differences; in each for every one of `alphas`, which fall.
fn early_looks(alphas: &[f64], paths: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    const LOOKS: usize = FIRST_RANK_LOOK - FIRST_LOOK;
    let new = |rng: &mut ChaCha8Rng| Path { of: Moments::of_normals(FIRST_LOOK - 1, rng), rejected: 0 };
    let mut alive: Vec<Path<Moments>> = (0..paths).map(|_| new(rng)).collect();
    let mut rejected = vec![0; alphas.len()];
    (1..=LOOKS)
        .map(|look| {
            for path in &mut alive {
                path.of.add(normal(rng));
            }
            let mut reached: Vec<(f64, usize)> = alive.iter().map(|path| (path.of.t(), path.rejected)).collect();
            reached.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
            let mut critical: Vec<f64> = Vec::with_capacity(alphas.len());
            for (level, alpha) in alphas.iter().enumerate() {
                let allowed = allowance(alpha * look as f64 / LOOKS as f64, paths).saturating_sub(rejected[level]);
                let mut own = reached.iter().filter(|(_, rejected)| *rejected <= level).map(|(t, _)| *t);
                // The value that exactly `allowed` paths exceed.
                let value = own.nth(allowed).unwrap_or(f64::INFINITY).max(critical.last().copied().unwrap_or(0.0));
                critical.push(value);
            }
            for path in &mut alive {
                let t = path.of.t();
                let exceeded = critical.iter().take_while(|critical| t > **critical).count();
                for level in path.rejected..exceeded {
                    rejected[level] += 1;
                }
                path.rejected = path.rejected.max(exceeded);
            }
            alive.retain(|path| path.rejected < alphas.len());
            critical
        })
        .collect()
}

/// Critical min(W⁺, W⁻) for each look from [`FIRST_RANK_LOOK`] on, in each for every one of `alphas`, which fall; `spent_by` gives
/// the part of them that all looks up to one may spend.
fn late_looks(
    alphas: &[f64],
    spent_by: impl Fn(usize) -> f64,
    paths: usize,
    rng: &mut ChaCha8Rng,
) -> Vec<Vec<Option<u32>>> {
    let new = |rng: &mut ChaCha8Rng| Path { of: SignedRanks::of_noise(FIRST_RANK_LOOK - 1, rng), rejected: 0 };
    let mut alive: Vec<Path<SignedRanks>> = (0..paths).map(|_| new(rng)).collect();
    let mut rejected = vec![0; alphas.len()];
    (FIRST_RANK_LOOK..=LAST_LOOK)
        .map(|n| {
            // By the number of tables that have rejected a path already, and its sum.
            let mut reached = vec![vec![0_usize; n * (n + 1) / 4 + 1]; alphas.len()];
            for path in &mut alive {
                path.of.add_noise(rng);
                reached[path.rejected][path.of.smaller_sum() as usize] += 1;
            }
            let mut critical: Vec<Option<u32>> = Vec::with_capacity(alphas.len());
            for (level, alpha) in alphas.iter().enumerate() {
                let allowed = allowance(alpha * spent_by(n), paths);
                let most = critical.last().copied().unwrap_or(Some(u32::MAX));
                let mut value = None;
                for k in (0..).take_while(|k| most.is_some_and(|most| *k <= most) && (*k as usize) < reached[0].len()) {
                    let count: usize = reached[..=level].iter().map(|sums| sums[k as usize]).sum();
                    if rejected[level] + count > allowed {
                        break;
                    }
                    rejected[level] += count;
                    value = Some(k);
                }
                critical.push(value);
            }
            for path in &mut alive {
                let sum = path.of.smaller_sum();
                let reached = critical.iter().take_while(|critical| critical.is_some_and(|k| sum <= k)).count();
                path.rejected = path.rejected.max(reached);
            }
            alive.retain(|path| path.rejected < alphas.len());
            critical
        })
        .collect()
}

/// Running sums of a path of differences.
#[derive(Clone, Copy, Default)]
struct Moments {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn of_normals(n: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut moments = Self::default();
        for _ in 0..n {
            moments.add(normal(rng));
        }
        moments
    }

    fn add(&mut self, value: f64) {
        self.n += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    /// |mean| · √n / sd
    fn t(&self) -> f64 {
        let mean = self.sum / self.n;
        let variance = (self.squares - self.n * mean * mean) / (self.n - 1.0);
        mean.abs() * (self.n / variance).sqrt()
    }
}

/// Signs of differences in the order of their sizes, smallest first, and the sum of the ranks of the positive ones. Signs are
/// bits of a word: there may be 64.
///
/// Without a true difference every sign is a fair coin and the rank of the newest size among those before is uniform
/// and independent of all else, whatever the distribution (Rényi 1962): no number need be drawn or sorted.
#[derive(Clone, Copy, Default)]
struct SignedRanks {
    n: u32,
    positive: u64,
    sum: u32,
}

impl SignedRanks {
    fn of_noise(n: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut ranks = Self::default();
        for _ in 0..n {
            ranks.add_noise(rng);
        }
        ranks
    }

    fn add_noise(&mut self, rng: &mut ChaCha8Rng) {
        let random = rng.next_u64();
        let is_positive = (random & 1) as u32;
        // High bits times n: uniform to within n / 2³².
        let below = (((random >> 32) * u64::from(self.n + 1)) >> 32) as u32;
        self.insert(below, is_positive);
    }

    /// A difference with `below` smaller ones: the larger ones' ranks rise by one.
    fn insert(&mut self, below: u32, is_positive: u32) {
        let smaller = (1_u64 << below) - 1;
        let larger = self.positive & !smaller;
        self.sum += larger.count_ones() + is_positive * (below + 1);
        self.positive = (self.positive & smaller) | (u64::from(is_positive) << below) | (larger << 1);
        self.n += 1;
    }

    /// min(W⁺, W⁻)
    fn smaller_sum(&self) -> u32 {
        self.sum.min(self.n * (self.n + 1) / 2 - self.sum)
    }
}

/// A standard normal number (Box & Muller 1958).
pub(crate) fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_ranks_match_their_definition() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..200 {
            let values: Vec<f64> = (0..12).map(|_| normal(&mut rng)).collect();
            let mut ranks = SignedRanks::default();
            for (i, value) in values.iter().enumerate() {
                let below = values[..i].iter().filter(|other| other.abs() < value.abs()).count();
                ranks.insert(below as u32, u32::from(*value > 0.0));
            }
            let mut by_size = values.clone();
            by_size.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
            let positive: u32 = (1..).zip(&by_size).filter(|(_, value)| **value > 0.0).map(|(rank, _)| rank).sum();
            assert_eq!(ranks.smaller_sum(), positive.min(78 - positive));
        }
    }

    #[test]
    fn the_standard_table_is_the_generated_one() {
        assert_eq!(Boundaries::standard(), Boundaries::generate(STUDY_ALPHA, Spending::STANDARD));
    }

    /// The values of the design, by another program: 600,000 paths, 0.0100 spent early and 0.0398 late.
    #[test]
    fn the_standard_table_is_near_that_of_the_design() {
        const T: [f64; 3] = [6.272, 4.893, 4.215];
        const RANK: [u32; 23] =
            [0, 1, 2, 3, 5, 8, 10, 13, 17, 20, 25, 29, 35, 40, 46, 53, 60, 67, 74, 83, 91, 100, 110];
        let standard = Boundaries::standard();
        for (n, t) in (5..).zip(T) {
            assert!((standard.t(n).unwrap() / t - 1.0).abs() < 0.01, "t with {n}");
        }
        for (n, rank) in (8..).zip(RANK) {
            assert!(standard.rank(n).unwrap().abs_diff(rank) <= 1, "rank with {n}");
        }
    }
}
