//! The test that may be looked at after every block: repeated confidence intervals (Jennison & Turnbull 1989).
//!
//! All intervals of one comparison hold at once with the stated confidence, so stopping at whichever look one
//! likes (a decision, a budget, Ctrl-C) stays valid. `docs/method.md` has the details.

use model::{Effect, Needs};

use crate::boundaries::{Boundaries, FIRST_LOOK, FIRST_RANK_LOOK, LAST_LOOK};
use crate::quantity::Quantity;
use crate::robust;

/// The region of practical equivalence as a log ratio: ρ = ln(1 + `rope`), `rope` a fraction.
pub fn margin(rope: f64) -> f64 {
    rope.ln_1p()
}

/// Estimate and interval from within-block differences (log ratios, in the order of the blocks).
///
/// `None` with fewer blocks than the first look needs. A look that has no critical value of its own (more blocks than
/// the table knows, or an α so small that no rank is rare enough) keeps the interval of the latest look that has one:
/// intervals of earlier looks stay valid.
pub fn interval(differences: &[impl Into<Quantity> + Copy], boundaries: &Boundaries) -> Option<Effect> {
    look(&differences[..latest_look(differences.len(), boundaries)?], boundaries)
}

/// The latest look at no more than so many blocks that the table has a critical value for.
pub(crate) fn latest_look(blocks: usize, boundaries: &Boundaries) -> Option<usize> {
    let has_value = |n: &usize| boundaries.t(*n).is_some() || boundaries.rank(*n).is_some();
    (FIRST_LOOK..=blocks.min(LAST_LOOK)).rev().find(has_value)
}

/// The interval of one look, where the table has one.
///
/// It is no narrower than its differences are known: were each of them as much lower or higher as its resolution, the estimate would
/// be another, and the interval reaches to both. That only widens it, whatever the boundaries: of two intervals of the same
/// differences the narrower one stays within the wider one.
pub(crate) fn look(differences: &[impl Into<Quantity> + Copy], boundaries: &Boundaries) -> Option<Effect> {
    let n = differences.len();
    let readings: Vec<Quantity> = differences.iter().map(|difference| (*difference).into()).collect();
    let shifted = |by: f64| readings.iter().map(|reading| reading.value + by * reading.resolution).collect::<Vec<_>>();
    let values = shifted(0.0);
    let (low, high) = if n < FIRST_RANK_LOOK {
        student(&values, boundaries.t(n)?)
    } else {
        signed_ranks(&values, boundaries.rank(n)?)
    };
    let [least, estimate, most] = [-1.0, 0.0, 1.0].map(|by| center(&shifted(by)));
    Some(Effect {
        estimate,
        low: low.min(least),
        high: high.max(most),
        resolution: (most - least) / 2.0,
        blocks: n as u32,
        confidence: 1.0 - boundaries.alpha(),
    })
}

/// The estimate: the mean, and from the first look at ranks on Hodges & Lehmann's.
fn center(differences: &[f64]) -> f64 {
    if differences.len() < FIRST_RANK_LOOK {
        differences.iter().sum::<f64>() / differences.len() as f64
    } else {
        robust::median(&walsh(differences)).unwrap_or_default()
    }
}

/// Mean ± `critical` · sd / √n.
fn student(differences: &[f64], critical: f64) -> (f64, f64) {
    let n = differences.len() as f64;
    let mean = center(differences);
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half = critical * (variance / n).sqrt();
    (mean - half, mean + half)
}

/// The values that Wilcoxon's test does not reject with min(W⁺, W⁻) ≤ `k`.
fn signed_ranks(differences: &[f64], k: u32) -> (f64, f64) {
    let walsh = walsh(differences);
    let k = k as usize;
    (walsh[k], walsh[walsh.len() - 1 - k])
}

/// The means of all pairs, each difference with itself too, in rising order.
fn walsh(differences: &[f64]) -> Vec<f64> {
    let mut walsh: Vec<f64> = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (i, first) in differences.iter().enumerate() {
        walsh.extend(differences[i..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    walsh.sort_by(f64::total_cmp);
    walsh
}

/// What one look says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The whole interval lies within the region of practical equivalence.
    Equivalent,
    /// The interval excludes no difference.
    Different,
    /// Neither: another block is needed.
    Continue,
}

/// Reads an interval against the region `±margin` (a log ratio). Equivalence comes first: a difference that is real
/// but too small to matter is not a difference.
pub fn decide(effect: &Effect, margin: f64) -> Decision {
    if effect.lies_within(margin) {
        Decision::Equivalent
    } else if effect.excludes_zero() {
        Decision::Different
    } else {
        Decision::Continue
    }
}

/// The first look from `min_blocks` on that decides; else what the last look says. Blocks that came after a decision
/// (for the sake of other variants) do not undo it.
pub fn settle(
    differences: &[impl Into<Quantity> + Copy],
    boundaries: &Boundaries,
    margin: f64,
    min_blocks: u32,
) -> Option<(Effect, Decision)> {
    let first = FIRST_LOOK.max(min_blocks as usize);
    let read = |n: usize| interval(&differences[..n], boundaries).map(|effect| (effect, decide(&effect, margin)));
    (first..=differences.len()).filter_map(read).find(|(_, decision)| *decision != Decision::Continue).or_else(|| {
        // Below the minimum number of blocks an interval may be shown, but decides nothing.
        let (effect, decision) = read(differences.len())?;
        Some((effect, if differences.len() < first { Decision::Continue } else { decision }))
    })
}

/// What it would have taken to decide.
///
/// An approximation: the interval is taken to shrink with 1/√blocks around the present estimate. The smallest effect
/// is half the interval's length: an estimate as far from zero would have excluded it. The question is settled once
/// that half-length is below the estimate (a difference) or below what the estimate leaves of `±margin` (equivalence),
/// whichever is easier; one block more at least, since those that there are did not settle it. Where that is below the
/// interval's resolution, which no block makes finer, no number of them settles it.
pub(crate) fn needs(effect: Option<&Effect>, margin: f64, reason: String) -> Needs {
    let half = effect.map(|effect| (effect.high - effect.low) / 2.0);
    let blocks = effect.zip(half).and_then(|(effect, half)| {
        let goal = effect.estimate.abs().max(margin - effect.estimate.abs());
        let factor = (half / goal).powi(2).max(1.0);
        let blocks = f64::from(effect.blocks);
        (effect.resolution < goal).then(|| (blocks * factor).ceil().clamp(blocks + 1.0, f64::from(u32::MAX)) as u32)
    });
    Needs { reason, smallest_effect: half, blocks }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::{Looks, Spending, normal};

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-12
    }

    #[test]
    fn five_blocks_by_hand() {
        // Mean 3, sd √2.5, half = 6.237 · √2.5 / √5 = 6.237 · √0.5.
        let effect = interval(&[1.0, 2.0, 3.0, 4.0, 5.0], &Boundaries::standard()).unwrap();
        assert!(close(effect.estimate, 3.0));
        assert!(close(effect.low, 3.0 - 6.237 * 0.5_f64.sqrt()));
        assert!(close(effect.high, 3.0 + 6.237 * 0.5_f64.sqrt()));
        assert_eq!(effect.blocks, 5);
    }

    #[test]
    fn eleven_and_twelve_blocks_by_hand() {
        // k = 0 with 11: the smallest and largest Walsh averages are the smallest and largest differences.
        let eleven = [8.0, 1.0, 2.0, 4.0, 3.0, 5.0, 7.0, 6.0, 9.0, 11.0, 10.0];
        let effect = interval(&eleven, &Boundaries::standard()).unwrap();
        assert!(close(effect.low, 1.0) && close(effect.high, 11.0) && close(effect.estimate, 6.0));
        // k = 3 with 12: Walsh averages start 1, 1.5, 2, 2, … and end …, 11, 11, 11.5, 12.
        let twelve = [10.0, 1.0, 2.0, 9.0, 4.0, 5.0, 6.0, 7.0, 3.0, 12.0, 8.0, 11.0];
        let effect = interval(&twelve, &Boundaries::standard()).unwrap();
        assert!(close(effect.low, 2.0) && close(effect.high, 11.0), "{effect:?}");
    }

    #[test]
    fn too_few_or_too_many_blocks() {
        let boundaries = Boundaries::standard();
        assert_eq!(interval(&[0.1; 2], &boundaries), None);
        let many: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(interval(&many, &boundaries), interval(&many[..30], &boundaries));
        // With a seventh of α not even eleven equal signs are rare enough: the look at ten stands.
        let seventh = Boundaries::generate(0.05 / 7.0, Looks::STANDARD, Spending::STANDARD);
        assert_eq!(seventh.rank(11), None);
        assert_eq!(interval(&many[..11], &seventh).unwrap().blocks, 10);
    }

    #[test]
    fn decisions() {
        let effect = |low, high| Effect { estimate: 0.0, low, high, resolution: 0.0, blocks: 9, confidence: 0.95 };
        let rho = margin(0.02);
        assert_eq!(decide(&effect(-0.01, 0.01), rho), Decision::Equivalent);
        assert_eq!(decide(&effect(0.001, 0.01), rho), Decision::Equivalent);
        assert_eq!(decide(&effect(0.001, 0.05), rho), Decision::Different);
        assert_eq!(decide(&effect(-0.05, -0.001), rho), Decision::Different);
        assert_eq!(decide(&effect(-0.001, 0.05), rho), Decision::Continue);
    }

    #[test]
    fn the_first_deciding_look_stands() {
        let boundaries = Boundaries::standard();
        let mut differences = vec![0.100, 0.101, 0.102, 0.099, 0.100];
        let decided = settle(&differences, &boundaries, margin(0.02), 5).unwrap();
        assert_eq!((decided.0.blocks, decided.1), (5, Decision::Different));
        differences.extend([-1.0, -1.0, -1.0]);
        assert_eq!(settle(&differences, &boundaries, margin(0.02), 5), Some(decided));
        assert_eq!(settle(&differences[..5], &boundaries, margin(0.02), 6).unwrap().1, Decision::Continue);
    }

    #[test]
    fn what_it_would_take() {
        let effect = Effect { estimate: 0.01, low: -0.03, high: 0.05, resolution: 0.0, blocks: 30, confidence: 0.95 };
        let nearly = Effect { estimate: 0.013, low: -0.000_1, high: 0.025, ..effect };
        assert_eq!(needs(Some(&nearly), 0.02, String::new()).blocks, Some(31));
        let needs = needs(Some(&effect), 0.02, String::new());
        // Half-length 0.04 has to become 0.01: sixteen times the blocks.
        assert!(close(needs.smallest_effect.unwrap(), 0.04));
        assert_eq!(needs.blocks, Some(480));
    }

    proptest! {
        #[test]
        fn shifting_differences_shifts_the_interval(
            differences in proptest::collection::vec(-1.0..1.0_f64, FIRST_LOOK..=LAST_LOOK), shift in -1.0..1.0_f64,
        ) {
            let boundaries = Boundaries::standard();
            let shifted: Vec<f64> = differences.iter().map(|d| d + shift).collect();
            let (a, b) = (interval(&differences, &boundaries).unwrap(), interval(&shifted, &boundaries).unwrap());
            prop_assert!((a.low + shift - b.low).abs() < 1e-9 && (a.high + shift - b.high).abs() < 1e-9);
            prop_assert!(a.low <= a.estimate && a.estimate <= a.high);
        }

        #[test]
        fn swapping_the_variants_mirrors_the_interval(differences in proptest::collection::vec(-1.0..1.0_f64, FIRST_LOOK..=LAST_LOOK)) {
            let boundaries = Boundaries::standard();
            let swapped: Vec<f64> = differences.iter().map(|d| -d).collect();
            let (a, b) = (interval(&differences, &boundaries).unwrap(), interval(&swapped, &boundaries).unwrap());
            prop_assert!((a.low + b.high).abs() < 1e-9 && (a.high + b.low).abs() < 1e-9);
        }
    }

    /// Differences with their resolutions.
    fn coarse() -> impl Strategy<Value = Vec<Quantity>> {
        let reading = (-1.0..1.0_f64, 0.0..0.3_f64).prop_map(|(value, resolution)| Quantity { value, resolution });
        proptest::collection::vec(reading, FIRST_LOOK..=LAST_LOOK)
    }

    #[test]
    fn resolution_only_widens_and_keeps_intervals_within_each_other() {
        let steps = Boundaries::steps(3, Looks::STANDARD);
        proptest!(|(differences in coarse())| {
            let exact: Vec<f64> = differences.iter().map(|difference| difference.value).collect();
            let of = |boundaries| (interval(&exact, boundaries), interval(&differences, boundaries));
            let mut narrower: Option<Effect> = None;
            for boundaries in &steps {
                let (Some(plain), Some(wide)) = of(boundaries) else { continue };
                prop_assert!(wide.low <= plain.low && plain.high <= wide.high);
                prop_assert_eq!((plain.estimate, plain.resolution), (wide.estimate, 0.0));
                prop_assert!((wide.high - wide.low) / 2.0 >= wide.resolution);
                if let Some(within) = narrower.filter(|within| within.blocks == wide.blocks) {
                    prop_assert!(wide.low <= within.low && within.high <= wide.high);
                }
                narrower = Some(wide);
            }
        });
    }

    #[test]
    fn ten_thousand_answers_are_reported_finely_enough() {
        let mut rng = ChaCha8Rng::seed_from_u64(14);
        for n in FIRST_LOOK..=LAST_LOOK {
            let exact: Vec<f64> = (0..n).map(|_| 0.000_1 * normal(&mut rng)).collect();
            let counted: Vec<Quantity> = exact.iter().map(|d| Quantity { value: *d, resolution: 1e-4 }).collect();
            let [a, b] = [interval(&exact, &Boundaries::standard()), interval(&counted, &Boundaries::standard())];
            let (a, b) = (a.unwrap(), b.unwrap());
            assert!((a.low - b.low).abs() <= 1e-4 && (a.high - b.high).abs() <= 1e-4, "{a:?} {b:?}");
        }
    }

    /// Answers that end within a window, of launches that work through one after the other: each as long as any, give or take `noise` of
    /// the launch, the first of them `phase` of one ahead.
    fn counted(expected: f64, noise: f64, phase: f64, rng: &mut ChaCha8Rng) -> Quantity {
        let count = (expected * (noise * normal(rng)).exp() + phase).floor();
        Quantity::in_steps(count, 1.0, count)
    }

    #[test]
    fn identical_servers_are_never_distinguished_by_when_the_window_ends() {
        let boundaries = Boundaries::standard();
        let mut rng = ChaCha8Rng::seed_from_u64(15);
        let mut without = 0;
        for _ in 0..STUDIES {
            let expected = rng.random_range(3.0..60.0);
            let phases = [rng.random_range(0.0..1.0), rng.random_range(0.0..1.0)];
            let mut difference = || {
                let [a, b] = phases.map(|phase| counted(expected, 0.0, phase, &mut rng));
                b.against(a)
            };
            let differences: Vec<Quantity> = (0..30).map(|_| difference()).collect();
            let exact: Vec<f64> = differences.iter().map(|difference| difference.value).collect();
            let settled = |reported: Option<(Effect, Decision)>| reported.unwrap().1;
            assert_ne!(settled(settle(&differences, &boundaries, margin(0.02), 3)), Decision::Different, "{expected}");
            without += u32::from(settled(settle(&exact, &boundaries, margin(0.02), 3)) == Decision::Different);
        }
        assert!(without > 500, "{without}");
    }

    #[test]
    fn intervals_of_small_counts_cover_the_truth() {
        let boundaries = Boundaries::standard();
        for (noise, truth) in [(0.0, 0.01), (0.002, 0.01), (0.01, 0.03), (0.03, 0.03), (0.01, 0.2)] {
            let mut rng = ChaCha8Rng::seed_from_u64(16);
            let missed = (0..STUDIES)
                .filter(|_| {
                    let expected: f64 = rng.random_range(10.0..60.0);
                    let mut launch = |effect: f64| counted(expected * effect.exp(), noise, 0.0, &mut rng);
                    let differences: Vec<Quantity> =
                        (0..30).map(|_| [launch(0.0), launch(truth)]).map(|[a, b]| b.against(a)).collect();
                    let (effect, _) = settle(&differences, &boundaries, margin(0.02), 3).unwrap();
                    effect.low > truth || effect.high < truth
                })
                .count();
            assert!(missed as f64 / STUDIES as f64 <= bound(0.05, STUDIES), "noise {noise}, truth {truth}: {missed}");
        }
    }

    /// How the noise of one block's difference is drawn.
    type Noise = fn(&mut ChaCha8Rng, usize) -> f64;

    fn quiet(rng: &mut ChaCha8Rng, _: usize) -> f64 {
        0.02 * normal(rng)
    }
    /// Student's t with 3 degrees of freedom.
    fn heavy_tails(rng: &mut ChaCha8Rng, _: usize) -> f64 {
        let chi: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
        0.02 * normal(rng) / (chi / 3.0).sqrt()
    }
    /// The difference of two launches, each of which lands in a fast or a slow mode.
    fn two_modes(rng: &mut ChaCha8Rng, _: usize) -> f64 {
        let mut launch = || if rng.random_bool(0.3) { 0.1 } else { 0.0 } + 0.01 * normal(rng);
        launch() - launch()
    }
    /// One launch in twenty wrecked by a neighbour, on either side.
    fn wrecked(rng: &mut ChaCha8Rng, _: usize) -> f64 {
        let mut launch = || 0.01 * normal(rng) - if rng.random_bool(0.05) { 0.4 } else { 0.0 };
        launch() - launch()
    }
    /// The host slows by 1 % a launch while blocks alternate AB, BA.
    fn drift(rng: &mut ChaCha8Rng, block: usize) -> f64 {
        0.02 * normal(rng) + if block.is_multiple_of(2) { 0.01 } else { -0.01 }
    }

    /// Decides one study of up to 30 blocks whose true effect is `effect`.
    fn study(effect: f64, noise: Noise, rng: &mut ChaCha8Rng) -> (Effect, Decision) {
        let boundaries = Boundaries::standard();
        let differences: Vec<f64> = (0..30).map(|block| effect + noise(rng, block)).collect();
        settle(&differences, &boundaries, margin(0.02), 3).unwrap()
    }

    /// Most of `trials` events of probability `p` that chance explains (three standard errors).
    fn bound(p: f64, trials: usize) -> f64 {
        p + 3.0 * (p * (1.0 - p) / trials as f64).sqrt()
    }

    const STUDIES: usize = 2_000;

    #[test]
    fn identical_variants_seldom_differ_and_intervals_cover() {
        let noises: [(&str, Noise); 5] = [
            ("quiet", quiet),
            ("heavy tails", heavy_tails),
            ("two modes", two_modes),
            ("wrecked", wrecked),
            ("drift", drift),
        ];
        for (name, noise) in noises {
            for truth in [0.0, 0.03] {
                let mut rng = ChaCha8Rng::seed_from_u64(11);
                let missed = (0..STUDIES)
                    .filter(|_| {
                        let (effect, _) = study(truth, noise, &mut rng);
                        effect.low > truth || effect.high < truth
                    })
                    .count();
                let rate = missed as f64 / STUDIES as f64;
                assert!(rate <= bound(0.05, STUDIES), "{name}, truth {truth}: {rate}");
            }
        }
    }

    #[test]
    fn five_percent_is_found() {
        for (name, noise, power) in [("quiet", quiet as Noise, 0.99), ("wrecked", wrecked, 0.95)] {
            let mut rng = ChaCha8Rng::seed_from_u64(12);
            let studies: Vec<_> = (0..500).map(|_| study(0.05, noise, &mut rng)).collect();
            let found = studies.iter().filter(|(e, d)| *d == Decision::Different && e.low > 0.0).count() as f64;
            let blocks = studies.iter().map(|(e, _)| f64::from(e.blocks)).sum::<f64>() / 500.0;
            assert!(found / 500.0 >= power, "{name}: {found} of 500, {blocks} blocks");
            assert!(blocks < 15.0, "{name}: {blocks} blocks");
        }
    }

    #[test]
    fn smaller_shares_of_alpha_are_kept_too() {
        let boundaries = Boundaries::for_variants(3, Looks::STANDARD);
        let mut rng = ChaCha8Rng::seed_from_u64(13);
        let wrong = (0..STUDIES)
            .filter(|_| {
                let differences: Vec<f64> = (0..30).map(|block| quiet(&mut rng, block)).collect();
                (FIRST_LOOK..=30).any(|n| interval(&differences[..n], &boundaries).unwrap().excludes_zero())
            })
            .count();
        assert!(wrong as f64 / STUDIES as f64 <= bound(0.025, STUDIES), "{wrong}");
        assert!(wrong > 0);
    }
}
