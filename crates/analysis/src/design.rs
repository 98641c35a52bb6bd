//! Which trial runs when: random, but balanced, so that a drifting host favours no variant.

use std::iter;
use std::time::Duration;

use model::study::{Decide, WarmUp};
use model::{Block, Cell, Launches, Mode, Plan, Schedule, Study, Trial, TrialKey};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::budget::{self, NoRoom, PILOT_BLOCKS};

/// How often an order of variants is used in two consecutive blocks. Where a launch resembles the one before by φ = 0.5, what such blocks and others add to the
/// variance cancels for two variants; for more, and for a smaller φ, intervals are a little long, for a larger one a little short.
const AGAIN: f64 = 0.8;

/// The whole schedule of a study. The same study, mode and seed give the same plan.
///
/// Over every 2K blocks of K variants each variant stands at each position twice, in random order ([`orders_of_variants`]); over
/// every K blocks each of K cells does once, the same for all variants of a block.
pub fn plan(study: &Study, mode: Mode, seed: u64) -> Plan {
    of_schedule(study, mode, seed, budget::usual(study, mode))
}

/// The schedule of a study that has so much time, or else as much as it says: what of it is shortened, and what is refused, says
/// [`budget::within`]. Where it says nothing either, that of [`plan`].
pub fn plan_within(study: &Study, mode: Mode, seed: u64, budget: Option<Duration>) -> Result<Plan, NoRoom> {
    let Some(budget) = budget.or(study.decide.within) else { return Ok(plan(study, mode, seed)) };
    Ok(of_schedule(study, mode, seed, budget::within(study, mode, budget)?))
}

/// The plan of a study whose launches cannot be side by side, in place of `plan`, of which nothing has run: one after another, and why.
pub fn one_after_another(study: &Study, plan: &Plan, why: String) -> Plan {
    let profiling = Some(plan.schedule.profiling);
    let study = Study { launches: Launches::OneAfterAnother, profiling, ..study.clone() };
    let usual = self::plan(&study, plan.mode, plan.seed);
    let stated = plan.schedule.within < usual.schedule.within && plan.schedule.within != Decide::WITHIN;
    let within = stated.then(|| plan_within(&study, plan.mode, plan.seed, Some(plan.schedule.within)).ok()).flatten();
    Plan { fallback: Some(why), ..within.unwrap_or(usual) }
}

fn of_schedule(study: &Study, mode: Mode, seed: u64, schedule: Schedule) -> Plan {
    let cells = Cell::all(&study.workloads);
    // Side by side the first block finds the warm-up's length by itself.
    let has_pilot = matches!(schedule.warm_up, WarmUp::Pilot { .. }) && study.launches == Launches::OneAfterAnother;
    let pilots = if has_pilot { PILOT_BLOCKS } else { 0 };
    let blocks = (schedule.max_blocks + schedule.spare_blocks) as usize;

    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let variants = study.variants.len();
    let pilot_orders = balanced_orders(variants, pilots, &mut rng);
    let variant_orders = orders_of_variants(variants, blocks, &mut rng);
    let cell_orders = balanced_orders(cells.len(), blocks, &mut rng);
    Plan {
        seed,
        mode,
        cells,
        pilot: blocks_of(true, pilot_orders, vec![Vec::new(); pilots]),
        blocks: blocks_of(false, variant_orders, cell_orders),
        schedule,
        fallback: None,
        soak: None,
    }
}

/// The orders in which the launches of a block have their turns, round by round, without end: random, and balanced over every
/// `launches` rounds (each launch stands at each place once). Equal seeds give equal orders.
pub fn rounds(launches: usize, seed: u64, block: u32) -> impl Iterator<Item = Vec<usize>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::from(block) + 1);
    iter::repeat_with(move || balanced_orders(launches, launches, &mut rng)).flatten()
}

fn blocks_of(pilot: bool, variant_orders: Vec<Vec<usize>>, cell_orders: Vec<Vec<usize>>) -> Vec<Block> {
    let trial = |block: u32, position: u32, variant: usize, cells: &[usize]| Trial {
        key: TrialKey { pilot, block, position },
        variant,
        cells: cells.to_vec(),
    };
    (0..)
        .zip(variant_orders.into_iter().zip(cell_orders))
        .map(|(block, (variants, cells))| Block {
            trials: (0..).zip(variants).map(|(position, variant)| trial(block, position, variant, &cells)).collect(),
        })
        .collect()
}

/// `rows` orders of `variants` variants: over each 2K each stands at each position twice. With a chance of [`AGAIN`] that is a Latin square with
/// each of its orders twice running, else two squares.
///
/// In a square neighbouring orders are never the same, which brings launches of one variant nearer to each other than those of
/// two: where neighbours resemble each other (a host that is fast for a while) so do the differences of neighbouring blocks, the interval is too
/// short, and equal variants are found different more often than promised (`docs/calibration.md`, ADR 10). The same order twice running does the opposite.
fn orders_of_variants(variants: usize, rows: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    while orders.len() < rows {
        let mut squares = balanced_orders(variants, 2 * variants, rng);
        if rng.random_bool(AGAIN) {
            squares.truncate(variants);
            squares = squares.into_iter().flat_map(|order| [order.clone(), order]).collect();
        }
        orders.extend(squares);
    }
    orders.truncate(rows);
    orders
}

/// `rows` orders of `items` things: every run of `items` rows is a Latin square (each thing at each place once), and
/// each full Williams square has every thing follow every other equally often.
fn balanced_orders(items: usize, rows: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
    let mut orders = Vec::new();
    while orders.len() < rows {
        let mut names: Vec<usize> = (0..items).collect();
        names.shuffle(rng);
        for latin in williams(items).chunks_mut(items.max(1)) {
            latin.shuffle(rng);
            orders.extend(latin.iter().map(|row| row.iter().map(|item| names[*item]).collect::<Vec<_>>()));
        }
    }
    orders.truncate(rows);
    orders
}

/// Williams' square (1949): `n` rows for even n; for odd n the mirrored rows follow, 2n in all.
fn williams(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new()];
    }
    // 0, n−1, 1, n−2, 2, …: every step between neighbours occurs once (for even n).
    let first: Vec<usize> = (0..n).map(|i| if i % 2 == 0 { i / 2 } else { n - i.div_ceil(2) }).collect();
    let mut rows: Vec<Vec<usize>> = (0..n).map(|shift| first.iter().map(|item| (item + shift) % n).collect()).collect();
    if n % 2 == 1 && n > 1 {
        rows.extend(rows.clone().into_iter().map(|row| row.into_iter().rev().collect()));
    }
    rows
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fixture;

    fn study(variants: usize, concurrency: Vec<u32>) -> Study {
        let mut study = fixture::study();
        study.variants = (0..variants).map(|_| study.variants[0].clone()).collect();
        study.workloads[0].shapes = concurrency.into_iter().map(model::Shape::users).collect();
        study
    }

    /// How often each variant stands at each position of these blocks.
    fn places(blocks: &[Block], variants: usize) -> Vec<Vec<u32>> {
        let mut places = vec![vec![0; variants]; variants];
        for block in blocks {
            for (position, trial) in block.trials.iter().enumerate() {
                places[trial.variant][position] += 1;
            }
        }
        places
    }

    proptest! {
        #[test]
        fn every_variant_stands_everywhere_equally_often(variants in 2_usize..8, seed: u64) {
            let plan = plan(&study(variants, vec![1, 20]), Mode::Full, seed);
            for squares in plan.blocks.chunks_exact(2 * variants) {
                prop_assert_eq!(places(squares, variants), vec![vec![2; variants]; variants]);
            }
        }

        #[test]
        fn a_blocks_variants_measure_all_cells_in_one_order(cells in 1_usize..6, seed: u64) {
            let plan = plan(&study(2, (1..=cells as u32).collect()), Mode::Full, seed);
            for block in &plan.blocks {
                prop_assert_eq!(&block.trials[0].cells, &block.trials[1].cells);
                let mut all = block.trials[0].cells.clone();
                all.sort_unstable();
                prop_assert_eq!(all, (0..cells).collect::<Vec<_>>());
            }
            for square in plan.blocks.chunks_exact(cells) {
                for place in 0..cells {
                    let mut there: Vec<_> = square.iter().map(|block| block.trials[0].cells[place]).collect();
                    there.sort_unstable();
                    prop_assert_eq!(there, (0..cells).collect::<Vec<_>>());
                }
            }
        }

        #[test]
        fn the_seed_is_all_that_is_random(seed: u64) {
            let study = study(3, vec![1, 20]);
            prop_assert_eq!(plan(&study, Mode::Full, seed), plan(&study, Mode::Full, seed));
        }
    }

    #[test]
    fn whole_squares_balance_what_follows_what() {
        for n in 2..8 {
            let mut follows = vec![vec![0; n]; n];
            for row in williams(n) {
                for pair in row.windows(2) {
                    follows[pair[0]][pair[1]] += 1;
                }
            }
            let each = if n % 2 == 0 { 1 } else { 2 };
            for (a, row) in follows.iter().enumerate() {
                for (b, count) in row.iter().enumerate() {
                    assert_eq!(*count, if a == b { 0 } else { each }, "{b} after {a} of {n}");
                }
            }
        }
    }

    #[test]
    fn variants_are_often_in_the_same_order_again() {
        for variants in [2, 3, 6] {
            let study = study(variants, vec![1]);
            let again = |seed| {
                let blocks = plan(&study, Mode::Full, seed).blocks;
                let order = |block: &Block| block.trials.iter().map(|trial| trial.variant).collect::<Vec<_>>();
                // Two by two, which in squares always differ.
                blocks.chunks_exact(2).filter(|two| order(&two[0]) == order(&two[1])).count() as f64 / 18.0
            };
            let share = (0..2_000).map(again).sum::<f64>() / 2_000.0;
            assert!((share - AGAIN).abs() < 0.02, "{share} of {variants}");
        }
    }

    /// The variance of the mean of 30 differences, each launch resembling the one before by `phi`, by what their own variance says of it.
    fn variance_ratio(variants: usize, phi: f64) -> f64 {
        let study = study(variants, vec![1]);
        let correlation = |apart: usize| phi.powi(i32::try_from(apart).unwrap());
        let (mut means, mut reported) = (0.0, 0.0);
        for seed in 0..1_000 {
            let blocks = &plan(&study, Mode::Full, seed).blocks[..30];
            let place = |block: usize, variant| {
                let there = blocks[block].trials.iter().position(|trial| trial.variant == variant);
                block * variants + there.unwrap()
            };
            let pairs: Vec<[usize; 2]> = (0..30).map(|block| [place(block, 0), place(block, 1)]).collect();
            let covariance = |[a, b]: [usize; 2], [c, d]: [usize; 2]| {
                correlation(a.abs_diff(c)) + correlation(b.abs_diff(d))
                    - correlation(a.abs_diff(d))
                    - correlation(b.abs_diff(c))
            };
            let own: f64 = pairs.iter().map(|pair| covariance(*pair, *pair)).sum::<f64>() / 30.0;
            let all: f64 = pairs.iter().flat_map(|one| pairs.iter().map(|other| covariance(*one, *other))).sum();
            let mean = all / 900.0;
            means += mean;
            reported += (own - mean) / 29.0;
        }
        means / reported
    }

    #[test]
    fn intervals_are_about_right_where_launches_resemble_the_ones_before() {
        for (variants, phi, expected) in [
            (2, 0.2, 0.985),
            (2, 0.5, 1.0),
            (2, 0.85, 1.03),
            (3, 0.5, 0.96),
            (3, 0.85, 1.02),
            (4, 0.5, 0.95),
            (6, 0.5, 0.96),
        ] {
            let ratio = variance_ratio(variants, phi);
            assert!((ratio - expected).abs() < 0.015, "{ratio} of {variants}, φ = {phi}");
        }
    }

    #[test]
    fn rounds_are_balanced_and_begin_with_anyone() {
        for launches in 2..6 {
            let orders: Vec<Vec<usize>> = rounds(launches, 7, 3).take(20 * launches).collect();
            for square in orders.chunks_exact(launches) {
                for place in 0..launches {
                    let mut there: Vec<usize> = square.iter().map(|order| order[place]).collect();
                    there.sort_unstable();
                    assert_eq!(there, (0..launches).collect::<Vec<_>>());
                }
            }
            assert!(orders.windows(2).any(|two| two[0] == two[1]) || launches > 2, "{orders:?}");
        }
        let first = |block| rounds(2, 7, block).take(8).collect::<Vec<_>>();
        assert_eq!(first(1), first(1));
        assert!((2..9).any(|block| first(block) != first(1)));
    }

    #[test]
    fn either_variant_may_come_first() {
        let study = study(2, vec![1]);
        let firsts: Vec<usize> =
            (0..40).map(|seed| plan(&study, Mode::Full, seed).blocks[0].trials[0].variant).collect();
        assert!(firsts.contains(&0) && firsts.contains(&1));
    }

    #[test]
    fn a_plan_of_two_variants_and_three_cells() {
        let plan = plan(&study(2, vec![1, 5, 20]), Mode::Quick, 42);
        let lines: Vec<String> = plan
            .pilot
            .iter()
            .chain(&plan.blocks)
            .map(|block| {
                let order: Vec<usize> = block.trials.iter().map(|trial| trial.variant).collect();
                format!("{}: variants {order:?}, cells {:?}", block.trials[0].key, block.trials[0].cells)
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn spare_blocks_and_pilots() {
        let mut study = study(2, vec![1]);
        study.timing.max_blocks = 12;
        let piloted = plan(&study, Mode::Full, 1);
        assert_eq!((piloted.pilot.len(), piloted.blocks.len(), piloted.schedule.spare_blocks), (2, 15, 3));
        study.timing.warm_up = WarmUp::Fixed(Duration::from_secs(10));
        assert!(plan(&study, Mode::Full, 1).pilot.is_empty());
    }
}
