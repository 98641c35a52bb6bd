//! How far an estimate has to lie from zero at each look, so that all looks together keep one promise.
//!
//! A look follows each block from the third on. Early looks (3 to 10 blocks) use Student's t, later ones Wilcoxon's signed ranks: ranks
//! of few blocks can reject hardly anything, and those of more survive launches that a neighbour wrecked. By the look at n of at most N
//! blocks the part (n/N)^¾ of the error rate α is spent (Lan & `DeMets` 1983, with a power of the blocks seen). The two families are
//! joined by the union bound, so the late looks hold for any symmetric distribution, not only the normal one. How other looks and
//! other ways of spending compare stands in `docs/calibration.md`.
//!
//! α is spent on the looks that the plan has ([`Looks`], fixed before any difference is seen): the fewer blocks a study may take, the
//! narrower are its intervals. One that has a single look spends all it may on that, and its interval is no wider than that of a test
//! which is done once.

use std::ops::RangeInclusive;

use model::StudyRecord;
use model::verdict::FEWEST_BLOCKS;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Fewest blocks at which there is an interval.
pub const FIRST_LOOK: usize = FEWEST_BLOCKS as usize;
/// Fewest blocks at which signed ranks are used.
pub const FIRST_RANK_LOOK: usize = 11;
/// Most blocks that the tables cover.
pub(crate) const LAST_LOOK: usize = 30;
/// The error rate that a whole study may have, all its comparisons together.
pub const STUDY_ALPHA: f64 = 0.05;

/// Part of α that is kept for looks before a study's first: they decide nothing, but may be all there is (a run that was interrupted,
/// blocks that were lost).
const KEPT: f64 = 0.1;

/// Paths and seed of the tables that [`Boundaries::generate`] makes: fixed, so that a run and every later
/// analysis of it use the same table.
pub const TABLE_PATHS: usize = 400_000;
/// The same.
pub const TABLE_SEED: u64 = 0x626f_756e_6473;
/// The smallest error rate of a comparison for which so many paths suffice: the first of most looks has a sixth of it, which is 21 paths, and
/// of fewer than six expected ones none may be rejected.
pub const LEAST_ALPHA: f64 = 3e-4;

/// α = 0.05 and 3 to 30 blocks, as `calibrate boundaries` prints it.
const STANDARD_T: [f64; FIRST_RANK_LOOK - FIRST_LOOK] = [10.688, 8.288, 6.237, 5.273, 4.662, 4.254, 3.999, 3.779];
const STANDARD_RANK: [u32; LAST_LOOK + 1 - FIRST_RANK_LOOK] =
    [0, 3, 5, 9, 12, 15, 19, 24, 29, 33, 40, 45, 52, 58, 66, 73, 82, 90, 99, 108];

/// When the error rate is spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spending {
    /// By the look at n of N blocks the part (n/N)^`exponent` is spent: 1 is evenly, less is sooner.
    pub exponent: f64,
}

impl Spending {
    /// As every verdict spends it.
    pub const STANDARD: Self = Self { exponent: 0.75 };
}

/// The looks of a study, one after each block from the minimum number of blocks that decides to its horizon, the most that it uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Looks {
    first: usize,
    last: usize,
}

impl Looks {
    /// A study that says nothing of them: 3 to 30 blocks.
    pub const STANDARD: Self = Self { first: FIRST_LOOK, last: LAST_LOOK };

    /// With so many blocks; bounds beyond [`FIRST_LOOK`] and [`LAST_LOOK`] count as these.
    pub fn new(blocks: RangeInclusive<usize>) -> Self {
        let first = (*blocks.start()).clamp(FIRST_LOOK, LAST_LOOK);
        Self { first, last: (*blocks.end()).clamp(first, LAST_LOOK) }
    }

    /// Those of a run: up to its horizon, as far as that is fixed.
    pub(crate) fn of(record: &StudyRecord) -> Self {
        Self::new(record.plan.schedule.min_blocks as usize..=record.most_blocks() as usize)
    }

    /// The minimum number of blocks that decides.
    pub fn first(self) -> usize {
        self.first
    }

    /// The most blocks that are used.
    pub fn last(self) -> usize {
        self.last
    }

    /// The part of α, 0..=1, that all looks at no more than `n` blocks may spend together: those before the first one, which decide
    /// nothing, share what is kept for them evenly.
    fn spent(self, n: usize, Spending { exponent }: Spending) -> f64 {
        let before = self.first - FIRST_LOOK;
        let kept = if before > 0 { KEPT } else { 0.0 };
        if n < self.first {
            kept * (n + 1 - FIRST_LOOK) as f64 / before as f64
        } else {
            kept + (1.0 - kept) * (n as f64 / self.last as f64).powf(exponent)
        }
    }

    /// The same by look, of early looks and of late ones each by themselves.
    fn spending(self, spending: Spending) -> [Vec<f64>; 2] {
        let spent = |n: usize| self.spent(n, spending);
        let early: Vec<f64> = (FIRST_LOOK..FIRST_RANK_LOOK.min(self.last + 1)).map(spent).collect();
        let by_early = early.last().copied().unwrap_or_default();
        [early, (FIRST_RANK_LOOK..=self.last).map(|n| spent(n) - by_early).collect()]
    }
}

/// Critical values of every look of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Boundaries {
    alpha: f64,
    looks: Looks,
    /// Critical |t| with 3 to 10 blocks, as far as there are looks.
    t: Vec<f64>,
    /// With 11 blocks and more, up to the last look: reject when min(W⁺, W⁻) is at most this; `None` where no rank is rare enough.
    rank: Vec<Option<u32>>,
}

impl Boundaries {
    /// The table for two variants and [`Looks::STANDARD`]: α = 0.05.
    pub fn standard() -> Self {
        let (t, rank) = (STANDARD_T.to_vec(), STANDARD_RANK.map(Some).to_vec());
        Self { alpha: STUDY_ALPHA, looks: Looks::STANDARD, t, rank }
    }

    /// The table for each comparison of `variants` variants with the baseline: α is shared out evenly (Bonferroni).
    /// Always the same for the same number and looks; takes a fraction of a second for more than two or other looks than the standard ones.
    pub fn for_variants(variants: usize, looks: Looks) -> Self {
        match variants.saturating_sub(1) {
            0 | 1 if looks == Looks::STANDARD => Self::standard(),
            comparisons => Self::generate(STUDY_ALPHA / comparisons.max(1) as f64, looks, Spending::STANDARD),
        }
    }

    /// The table of a study: its variants and the looks of its plan.
    pub fn for_study(record: &StudyRecord) -> Self {
        Self::for_variants(record.study.variants.len(), Looks::of(record))
    }

    /// The table for each of `comparisons` comparisons that share this one's α evenly.
    #[must_use]
    pub(crate) fn shared_out(&self, comparisons: usize) -> Self {
        match comparisons {
            0 | 1 => self.clone(),
            _ => Self::generate(self.alpha / comparisons as f64, self.looks, Spending::STANDARD),
        }
    }

    /// The tables for each of 1, 2, … `comparisons` comparisons that share a study's α evenly, for procedures that take one after
    /// the other: nowhere is a critical value lower than with fewer comparisons. Always the same for the same number and looks; takes a
    /// second at most.
    pub fn steps(comparisons: usize, looks: Looks) -> Vec<Self> {
        if comparisons <= 1 {
            return vec![Self::for_variants(2, looks); comparisons];
        }
        let alphas: Vec<f64> = (1..=comparisons).map(|share| STUDY_ALPHA / share as f64).collect();
        Self::simulate(&alphas, looks, Spending::STANDARD, TABLE_PATHS, TABLE_SEED)
    }

    /// The table for one comparison with error rate `alpha` (0..1) over all looks: always the same for the same rate; takes
    /// a second at most. `calibrate boundaries` prints it.
    pub fn generate(alpha: f64, looks: Looks, spending: Spending) -> Self {
        Self::simulate(&[alpha], looks, spending, TABLE_PATHS, TABLE_SEED).swap_remove(0)
    }

    /// Simulates `paths` sequences of differences without any true difference and places each look's critical value so
    /// that, by that look, no more of them were ever rejected than may be: for each of `alphas`, which fall, one table. What one
    /// rejects, those of the larger rates reject too.
    ///
    /// Two standard errors of the simulation are kept back, so that chance does not place a value too low; t is rounded up.
    fn simulate(alphas: &[f64], looks: Looks, spending: Spending, paths: usize, seed: u64) -> Vec<Self> {
        let [early, late] = looks.spending(spending);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let t = early_looks(alphas, &early, paths, &mut rng);
        let rank = late_looks(alphas, &late, paths, &mut rng);
        let rounded = |t: &f64| (t * 1_000.0).ceil() / 1_000.0;
        let table = |level: usize| Self {
            alpha: alphas[level],
            looks,
            t: t.iter().map(|look| rounded(&look[level])).collect(),
            rank: rank.iter().map(|look| look[level]).collect(),
        };
        (0..alphas.len()).map(table).collect()
    }

    /// The looks that it was made for.
    pub fn looks(&self) -> Looks {
        self.looks
    }

    /// The error rate of all looks together, 0..=1.
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Critical |t| with `n` blocks (3 to 10, and no more than the last look has).
    pub fn t(&self, n: usize) -> Option<f64> {
        self.t.get(n.checked_sub(FIRST_LOOK)?).copied()
    }

    /// Critical value of min(W⁺, W⁻) with `n` blocks (11 and more, up to the last look).
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

/// Critical |t| for each look before the ranks, on normal differences; in each for every one of `alphas`, which fall. `spent` gives
/// the part of them that all looks up to one may spend.
fn early_looks(alphas: &[f64], spent: &[f64], paths: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let new = |rng: &mut ChaCha8Rng| Path { of: Moments::of_normals(FIRST_LOOK - 1, rng), rejected: 0 };
    let mut alive: Vec<Path<Moments>> = (0..paths).map(|_| new(rng)).collect();
    let mut rejected = vec![0; alphas.len()];
    spent
        .iter()
        .map(|spent| {
            for path in &mut alive {
                path.of.add(normal(rng));
            }
            let reached =
                largest(alive.iter().map(|path| (path.of.t(), path.rejected)), allowance(alphas[0] * spent, paths));
            let mut critical: Vec<f64> = Vec::with_capacity(alphas.len());
            for (level, alpha) in alphas.iter().enumerate() {
                let allowed = allowance(alpha * spent, paths).saturating_sub(rejected[level]);
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

/// Of paths' |t|, with how many tables have rejected them, as many of the largest as it takes to find `allowed` that no table has
/// rejected and one more; the largest first.
fn largest(reached: impl Iterator<Item = (f64, usize)>, allowed: usize) -> Vec<(f64, usize)> {
    let mut reached: Vec<(f64, usize)> = reached.collect();
    let falling = |(a, _): &(f64, usize), (b, _): &(f64, usize)| b.total_cmp(a);
    let enough = allowed + 1 + reached.iter().filter(|(_, rejected)| *rejected > 0).count();
    if enough < reached.len() {
        reached.select_nth_unstable_by(enough, falling);
        reached.truncate(enough);
    }
    reached.sort_unstable_by(falling);
    reached
}

/// Critical min(W⁺, W⁻) for each look from [`FIRST_RANK_LOOK`] on, in each for every one of `alphas`, which fall; `spent` as for
/// [`early_looks`].
fn late_looks(alphas: &[f64], spent: &[f64], paths: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<Option<u32>>> {
    let new = |rng: &mut ChaCha8Rng| Path { of: SignedRanks::of_noise(FIRST_RANK_LOOK - 1, rng), rejected: 0 };
    let mut alive: Vec<Path<SignedRanks>> = (0..paths).map(|_| new(rng)).collect();
    let mut rejected = vec![0; alphas.len()];
    (FIRST_RANK_LOOK..)
        .zip(spent)
        .map(|(n, spent)| {
            // By the number of tables that have rejected a path already, and its sum.
            let mut reached = vec![vec![0_usize; n * (n + 1) / 4 + 1]; alphas.len()];
            for path in &mut alive {
                path.of.add_noise(rng);
                reached[path.rejected][path.of.smaller_sum() as usize] += 1;
            }
            let mut critical: Vec<Option<u32>> = Vec::with_capacity(alphas.len());
            for (level, alpha) in alphas.iter().enumerate() {
                let allowed = allowance(alpha * spent, paths);
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
    use crate::sequential::look;

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
        assert_eq!(Boundaries::standard(), Boundaries::generate(STUDY_ALPHA, Looks::STANDARD, Spending::STANDARD));
    }

    /// Student's t as textbooks have it: a single look is a test that is done once.
    #[test]
    fn a_single_look_is_an_ordinary_test() {
        for (blocks, ordinary) in [(3, 4.303), (5, 2.776), (7, 2.447), (10, 2.262)] {
            let looks = Looks::new(blocks..=blocks);
            let critical = Boundaries::for_variants(2, looks).t(blocks).unwrap();
            let allowed = if blocks == FIRST_LOOK { 1.015 } else { 1.05 };
            assert!((1.0..allowed).contains(&(critical / ordinary)), "{critical} with {blocks} blocks");
            assert_eq!(Boundaries::for_variants(2, looks).rank(11), None);
        }
        // Of 2¹² patterns of signs 4.2 % have a smaller sum of 13 or less, 5.2 % one of 14 or less; 4.6 % is left of what is kept.
        assert_eq!(Boundaries::for_variants(2, Looks::new(12..=12)).rank(12), Some(13));
    }

    /// With three blocks there is a formula: |t| exceeds c with a probability of 1 − c/√(c² + 2).
    #[test]
    fn the_first_look_is_exact() {
        for last in [3, 4, 6, 8, 12, 20, 30] {
            let spent = STUDY_ALPHA * (3.0 / last as f64).powf(0.75);
            let critical = Boundaries::for_variants(2, Looks::new(3..=last)).t(3).unwrap();
            let exceeded = 1.0 - critical / (critical * critical + 2.0).sqrt();
            // Two standard errors are kept back, and as many may chance to be off.
            assert!((0.92..1.005).contains(&(exceeded / spent)), "{exceeded} of {spent}, at most {last} blocks");
        }
    }

    #[test]
    fn the_fewer_blocks_a_study_may_take_the_narrower_are_its_intervals() {
        let critical = [3, 6, 10, 30].map(|last| Boundaries::for_variants(2, Looks::new(3..=last)).t(3).unwrap());
        assert!(critical.is_sorted() && critical[3] > 2.0 * critical[0], "{critical:?}");
    }

    /// Paths of no difference, looked at after every block: what any look rejects, of all.
    #[test]
    fn whatever_the_looks_all_together_keep_to_their_rate() {
        for blocks in [3..=3, 3..=4, 3..=6, 3..=8, 3..=11, 3..=14, 5..=5, 6..=7, 12..=12, 12..=20, 3..=30] {
            let boundaries = Boundaries::for_variants(2, Looks::new(blocks.clone()));
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            let rejected = (0..10_000)
                .filter(|_| {
                    let differences: Vec<f64> = (0..*blocks.end()).map(|_| normal(&mut rng)).collect();
                    (FIRST_LOOK..=*blocks.end())
                        .any(|n| look(&differences[..n], &boundaries).is_some_and(|effect| effect.excludes_zero()))
                })
                .count();
            // Four standard errors of 500 are 87. Ranks are few: what they leave unspent of a single look may be a third.
            assert!((250..=587).contains(&rejected), "{rejected} of 10,000 with {blocks:?}");
        }
    }

    /// What is kept for a run that ends before its first look.
    #[test]
    fn before_the_first_look_there_are_wider_intervals() {
        let boundaries = Boundaries::for_variants(2, Looks::new(7..=7));
        let [five, six, seven] = [5, 6, 7].map(|n| boundaries.t(n).unwrap());
        assert!(five > six && six > 1.5 * seven, "{five}, {six}, {seven}");
    }

    /// The values of another program that spends the same on the same looks: 600,000 paths, nothing kept back.
    #[test]
    fn the_standard_table_is_near_that_of_another_program() {
        const T: [f64; 8] = [10.497, 8.194, 6.229, 5.199, 4.623, 4.205, 3.935, 3.759];
        const RANK: [u32; 20] = [0, 3, 6, 9, 12, 15, 20, 24, 28, 34, 39, 45, 52, 59, 66, 73, 82, 90, 99, 108];
        let standard = Boundaries::standard();
        for (n, t) in (3..).zip(T) {
            assert!((standard.t(n).unwrap() / t - 1.0).abs() < 0.025, "t with {n}");
        }
        for (n, rank) in (11..).zip(RANK) {
            assert!(standard.rank(n).unwrap().abs_diff(rank) <= 1, "rank with {n}");
        }
    }
}
