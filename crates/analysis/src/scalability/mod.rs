//! How throughput grows with the number of users, and where two variants' curves cross.

mod usl;

use model::scalability::{Bounds, Crossing, Curve, Peak, Point, Scalability, Usl};
use model::{Arrivals, BASELINE, CellIndex, Metric, StudyRecord, VariantIndex, text};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::assess::{Assessment, assess};
use crate::blocks::Trials;
use crate::boundaries::Boundaries;
use crate::{metrics, robust};

/// Numbers of users that a curve of three parameters needs at least, so that it can be seen not to fit.
const LEAST_USERS: usize = 4;
/// Blocks that a curve takes: resampled, fewer would promise too much.
const FEWEST_BLOCKS: usize = 5;
/// Resampled sets of blocks.
const RESAMPLES: usize = 2_000;

/// The normal distribution's 97.5 % quantile.
const NORMAL: f64 = 1.96;
/// Student's t, two-sided 95 %, for 4 to 29 degrees of freedom.
const T: [f64; 26] = [
    2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093,
    2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
];

/// The curves of a record's used blocks.
pub fn curves(record: &StudyRecord) -> Vec<Scalability> {
    scalability(&assess(record, &Boundaries::standard()))
}

/// Every workload that was measured in closed loops without think time, with at least [`LEAST_USERS`] numbers of users and in as
/// many blocks as an interval needs.
pub fn scalability(assessment: &Assessment) -> Vec<Scalability> {
    let record = assessment.record;
    let study = &record.study;
    let of_workload = |(index, workload): (usize, &model::study::Workload)| {
        let cells = cells(record, index);
        if cells.len() < LEAST_USERS {
            return None;
        }
        let launches = Launches::of(assessment, &cells);
        let whole: Vec<Fitted> = (BASELINE..study.variants.len()).map(|variant| launches.fitted(variant)).collect();
        let resampled = launches.resampled(record.plan.seed, study.variants.len());
        let curves: Vec<Curve> = (BASELINE..study.variants.len())
            .filter_map(|variant| launches.curve(variant, whole[variant]?, &resampled))
            .collect();
        let crossings = (BASELINE + 1..study.variants.len())
            .filter_map(|variant| launches.crossing(record, variant, &whole, &resampled))
            .collect();
        let fitted = Scalability { workload: workload.name.clone(), curves, crossings };
        (!fitted.curves.is_empty()).then_some(fitted)
    };
    study.workloads.iter().enumerate().filter_map(of_workload).collect()
}

/// The closed cells of a workload by rising number of users.
fn cells(record: &StudyRecord, workload: usize) -> Vec<(u32, CellIndex)> {
    let mut cells: Vec<(u32, CellIndex)> = record
        .plan
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.workload == workload)
        .filter(|(_, cell)| cell.shape.arrivals == Arrivals::default())
        .map(|(index, cell)| (cell.shape.connections, index))
        .collect();
    cells.sort_unstable();
    cells.dedup_by_key(|(users, _)| *users);
    cells
}

type Fitted = Option<Usl>;

/// Throughput of every variant in every cell, for each block in which all of them have one.
struct Launches {
    users: Vec<u32>,
    /// By block, variant and cell: answers per second.
    throughputs: Vec<Vec<Vec<f64>>>,
    /// By variant and cell: median of the cores used.
    cores: Vec<Vec<Option<f64>>>,
}

impl Launches {
    fn of(assessment: &Assessment, cells: &[(u32, CellIndex)]) -> Self {
        let record = assessment.record;
        let trials = Trials::of(record);
        let used: Vec<u32> = assessment.counted().collect();
        let variants = BASELINE..record.study.variants.len();
        let in_cell = |block, variant, cell, metric| metrics::value(trials.get(block, variant)?, metric, Some(cell));
        let of_variant = |block, variant| -> Option<Vec<f64>> {
            cells.iter().map(|(_, cell)| in_cell(block, variant, *cell, Metric::Throughput)).collect()
        };
        let cores = |variant, cell| {
            let of_block = |block: &u32| {
                let cpu_us = in_cell(*block, variant, cell, Metric::CpuPerRequest)?;
                Some(cpu_us / 1e6 * in_cell(*block, variant, cell, Metric::Throughput)?)
            };
            robust::median(&used.iter().filter_map(of_block).collect::<Vec<_>>())
        };
        Self {
            users: cells.iter().map(|(users, _)| *users).collect(),
            throughputs: used
                .iter()
                .filter_map(|block| variants.clone().map(|variant| of_variant(*block, variant)).collect())
                .collect(),
            cores: variants
                .clone()
                .map(|variant| cells.iter().map(|(_, cell)| cores(variant, *cell)).collect())
                .collect(),
        }
    }

    fn all(&self) -> Vec<usize> {
        (0..self.throughputs.len()).collect()
    }

    /// Means over `blocks`: the least squares of the means are those of all launches, since there are as many in each.
    fn means(&self, blocks: &[usize], variant: VariantIndex) -> Vec<(f64, f64)> {
        let mean = |cell: usize| {
            blocks.iter().map(|block| self.throughputs[*block][variant][cell]).sum::<f64>() / blocks.len() as f64
        };
        self.users.iter().enumerate().map(|(cell, users)| (f64::from(*users), mean(cell))).collect()
    }

    /// The curve of all blocks, where there are enough for an interval.
    fn fitted(&self, variant: VariantIndex) -> Fitted {
        (self.throughputs.len() >= FEWEST_BLOCKS).then(|| usl::fit(&self.means(&self.all(), variant)))?
    }

    /// Curves of blocks drawn with replacement, by resample and variant: variants of one resample have the same blocks.
    fn resampled(&self, seed: u64, variants: usize) -> Vec<Vec<Fitted>> {
        let count = self.throughputs.len();
        if count < FEWEST_BLOCKS {
            return Vec::new();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        (0..RESAMPLES)
            .map(|_| {
                let blocks: Vec<usize> = (0..count).map(|_| rng.random_range(0..count)).collect();
                (0..variants).map(|variant| usl::fit(&self.means(&blocks, variant))).collect()
            })
            .collect()
    }

    fn curve(&self, variant: VariantIndex, fit: Usl, resampled: &[Vec<Fitted>]) -> Option<Curve> {
        let bounds = |of: &dyn Fn(&Usl) -> Option<f64>| {
            let values = resampled.iter().filter_map(|fits| Some(of(fits[variant].as_ref()?).unwrap_or(f64::INFINITY)));
            bounds(of(&fit)?, &values.collect::<Vec<_>>(), self.throughputs.len())
        };
        let most = f64::from(*self.users.last()?);
        let peak = fit.peak().and_then(|users| {
            Some(Peak { users: bounds(&Usl::peak)?, throughput: fit.at(users), is_measured: users <= most })
        });
        let points: Vec<Point> = self
            .means(&self.all(), variant)
            .into_iter()
            .enumerate()
            .map(|(cell, (users, throughput))| Point {
                users: self.users[cell],
                throughput,
                fitted: fit.at(users),
                efficiency: fit.at(users) / (users * fit.lambda),
                cores: self.cores[variant][cell],
            })
            .collect();
        Some(Curve {
            variant,
            blocks: self.throughputs.len() as u32,
            lambda: bounds(&|fit| Some(fit.lambda))?,
            sigma: bounds(&|fit| Some(fit.sigma))?,
            kappa: bounds(&|fit| Some(fit.kappa))?,
            peak,
            misfit: points.iter().map(|point| (point.throughput / point.fitted - 1.0).abs()).fold(0.0, f64::max),
            points,
        })
    }

    fn crossing(
        &self,
        record: &StudyRecord,
        variant: VariantIndex,
        whole: &[Fitted],
        resampled: &[Vec<Fitted>],
    ) -> Option<Crossing> {
        let range = [*self.users.first()?, *self.users.last()?].map(f64::from);
        let meet = |fits: &[Fitted]| Some(usl::meets(&fits[variant]?, &fits[BASELINE]?, range));
        let meets = meet(whole)?;
        let others: Vec<Vec<f64>> = resampled.iter().filter_map(|fits| meet(fits)).collect();
        let crossing = others.iter().filter(|meets| !meets.is_empty()).count();
        let share = crossing as f64 / others.len().max(1) as f64;
        let users = match meets[..] {
            [users] => {
                let once = others.iter().filter_map(|meets| Some(*meets.first()?).filter(|_| meets.len() == 1));
                bounds(users, &once.collect::<Vec<_>>(), self.throughputs.len())
            }
            _ => None,
        };
        let names = record.compared(variant);
        let is_ahead = |users: f64| Some(whole[variant]?.at(users) > whole[BASELINE]?.at(users));
        let sentence = say(names, is_ahead(range[0])?, &meets, users, range, share);
        Some(Crossing { variant, users, share, sentence })
    }
}

/// Where two curves cross, in words; `is_ahead` says whether the variant is faster with the fewest users.
fn say(
    [name, baseline]: [&str; 2],
    is_ahead: bool,
    meets: &[f64],
    users: Option<Bounds>,
    [low, high]: [f64; 2],
    share: f64,
) -> String {
    let (first, second) = if is_ahead { (name, baseline) } else { (baseline, name) };
    let percent = format!("{:.0} %", share * 100.0);
    match (meets, users) {
        ([], _) if share == 0.0 => format!("{first} is ahead of {second} with {low} to {high} users alike."),
        ([], _) => format!(
            "{first} is ahead of {second} with {low} to {high} users alike; in {percent} of the resampled blocks they cross."
        ),
        (_, Some(at)) => format!(
            "{second} overtakes {first} at about {} users [{}, {}]; in {percent} of the resampled blocks they cross.",
            text::significant(at.estimate, 2),
            text::significant(at.low, 2),
            at.high.map_or_else(|| "∞".to_owned(), |high| text::significant(high, 2)),
        ),
        _ => {
            let places: Vec<String> = meets.iter().map(|users| text::significant(*users, 2)).collect();
            format!(
                "{first} is ahead of {second} with the fewest users; the curves cross at about {} users, where each time the other \
                 one gets ahead.",
                places.join(" and ")
            )
        }
    }
}

/// An estimate with the interval of its resampled values: the 95 % of them in the middle, whose distance from the estimate is
/// stretched by t / z · √(n / (n − 1)) for the small number of blocks n (as Hesterberg 2015 expands percentiles; but with few
/// blocks there is next to nothing beyond the outer percentiles, so that going further out would stretch too little). A plain
/// bootstrap of five blocks would miss the truth much more often than promised. Nothing here is below zero; infinite values are no
/// upper end. `None` where there are no values.
fn bounds(estimate: f64, resampled: &[f64], blocks: usize) -> Option<Bounds> {
    let t = T[(blocks - 1).clamp(4, 29) - 4];
    let stretch = t / NORMAL * (blocks as f64 / (blocks as f64 - 1.0)).sqrt();
    let end = |q: f64| Some(estimate + stretch * (robust::quantile(resampled, q)? - estimate));
    let low = end(0.025)?.min(estimate).max(0.0);
    let high = end(0.975)?.max(estimate);
    Some(Bounds { estimate, low, high: high.is_finite().then_some(high) })
}

#[cfg(test)]
mod tests {
    use model::Shape;

    use super::*;
    use crate::boundaries::normal;
    use crate::fixture;

    const USERS: [u32; 5] = [1, 10, 20, 50, 100];

    /// A run whose variants follow these curves, with normal noise of each throughput.
    fn record(curves: [Usl; 2], noise: f64, blocks: usize) -> StudyRecord {
        let mut study = fixture::study();
        study.workloads[0].shapes = USERS.map(Shape::users).to_vec();
        let mut record = fixture::record_of(study, blocks, 0.0, 0.0, 1);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for trial in &mut record.trials {
            for cell in &mut trial.cells {
                let throughput = curves[trial.variant].at(f64::from(USERS[cell.cell]));
                *cell = fixture::cell(cell.cell, throughput * (noise * normal(&mut rng)).exp());
            }
        }
        record
    }

    fn fitted(record: &StudyRecord) -> Scalability {
        curves(record).remove(0)
    }

    const FLAT: Usl = Usl { lambda: 300.0, sigma: 0.2, kappa: 0.0 };
    const PEAKED: Usl = Usl { lambda: 100.0, sigma: 0.01, kappa: 0.000_4 };
    /// Of [`PEAKED`]: √(0.99 / 0.0004).
    const PEAK: f64 = 49.75;

    #[test]
    fn known_curves_and_their_crossing_are_found() {
        let fitted = fitted(&record([FLAT, PEAKED], 0.02, 12));
        let is_near = |estimate: f64, truth: f64, most: f64| (estimate - truth).abs() <= most;
        for (curve, truth) in fitted.curves.iter().zip([FLAT, PEAKED]) {
            assert!(is_near(curve.lambda.estimate, truth.lambda, 0.05 * truth.lambda), "{curve:?}");
            assert!(is_near(curve.sigma.estimate, truth.sigma, 0.02), "{curve:?}");
            assert!(is_near(curve.kappa.estimate, truth.kappa, 0.000_1) && curve.misfit < 0.03, "{curve:?}");
            assert_eq!((curve.blocks, curve.points.len()), (12, USERS.len()));
        }
        let peak = fitted.curves[1].peak.unwrap();
        assert!(is_near(peak.users.estimate, PEAK, 4.0) && peak.is_measured, "{peak:?}");
        assert!(peak.users.low > 40.0 && peak.users.high.unwrap() < 60.0, "{peak:?}");
        let at_fifty = fitted.curves[1].points[3];
        assert!((at_fifty.efficiency - 1.0 / (1.0 + 0.01 * 49.0 + 0.000_4 * 50.0 * 49.0)).abs() < 0.03, "{at_fifty:?}");
        // The fixture's server uses half a core whatever it answers.
        assert!((at_fifty.cores.unwrap() - 0.5).abs() < 0.01, "{at_fifty:?}");

        let [truth] = usl::meets(&FLAT, &PEAKED, [1.0, 100.0])[..] else { panic!("they cross once") };
        let crossing = &fitted.crossings[0];
        assert!(is_near(crossing.users.unwrap().estimate, truth, 0.05 * truth), "{truth:?} {crossing:?}");
        assert!(crossing.share > 0.99 && crossing.sentence.starts_with("on overtakes off at about 1"), "{crossing:?}");
    }

    #[test]
    fn curves_that_stay_apart_do_not_cross() {
        let higher = Usl { lambda: 400.0, ..FLAT };
        let fitted = fitted(&record([FLAT, higher], 0.01, 6));
        assert_eq!(fitted.crossings[0].users, None);
        assert_eq!(fitted.crossings[0].sentence, "on is ahead of off with 1 to 100 users alike.");
        assert_eq!(fitted.curves[0].peak.filter(|peak| peak.is_measured), None);
    }

    #[test]
    fn curves_may_cross_twice() {
        let contended = Usl { lambda: 100.0, sigma: 0.1, kappa: 0.0 };
        let falling = Usl { lambda: 80.0, sigma: 0.0, kappa: 0.001 };
        let fitted = fitted(&record([contended, falling], 0.001, 6));
        assert_eq!(fitted.crossings[0].users, None);
        assert_eq!(
            fitted.crossings[0].sentence,
            "off is ahead of on with the fewest users; the curves cross at about 3.6 and 77 users, where each time the other one \
             gets ahead."
        );
    }

    /// A curve whose σ is so far from zero that no fit ends there, and where it is highest, √(0.9 / 0.0004).
    const CONTENDED: Usl = Usl { lambda: 180.0, sigma: 0.1, kappa: 0.000_4 };
    const CONTENDED_PEAK: f64 = 47.434;
    /// One that it crosses once, and clearly.
    const CROSSED: Usl = Usl { sigma: 0.3, ..FLAT };

    /// Six blocks of launches that follow [`CROSSED`] and [`CONTENDED`], with normal noise of 3 %.
    fn six_blocks(seed: u64) -> Launches {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut launch = |law: Usl| USERS.map(|n| law.at(f64::from(n)) * (0.03 * normal(&mut rng)).exp()).to_vec();
        Launches {
            users: USERS.to_vec(),
            throughputs: (0..6).map(|_| vec![launch(CROSSED), launch(CONTENDED)]).collect(),
            cores: vec![vec![None; USERS.len()]; 2],
        }
    }

    #[test]
    fn intervals_hold_what_they_promise_with_few_blocks() {
        const RUNS: u64 = 100;
        let names = fixture::empty(fixture::study(), model::Mode::Full);
        let [crossing] = usl::meets(&CROSSED, &CONTENDED, [1.0, 100.0])[..] else { panic!("they cross once") };
        let mut held = [("λ", 0), ("σ", 0), ("κ", 0), ("N*", 0), ("crossing", 0)];
        for seed in 0..RUNS {
            let launches = six_blocks(seed);
            let resampled = launches.resampled(seed, 2);
            let whole = [0, 1].map(|variant| launches.fitted(variant));
            let curve = launches.curve(1, whole[1].unwrap(), &resampled).unwrap();
            let crosses = launches.crossing(&names, 1, &whole, &resampled).unwrap();
            let reported = [
                (Some(curve.lambda), CONTENDED.lambda),
                (Some(curve.sigma), CONTENDED.sigma),
                (Some(curve.kappa), CONTENDED.kappa),
                (curve.peak.map(|peak| peak.users), CONTENDED_PEAK),
                (crosses.users, crossing),
            ];
            for ((_, count), (bounds, truth)) in held.iter_mut().zip(reported) {
                let holds = |bounds: Bounds| bounds.low <= truth && bounds.high.is_none_or(|high| truth <= high);
                *count += u32::from(bounds.is_some_and(holds));
            }
        }
        // 95 % promised, and a little more than two standard deviations of chance.
        assert!(held.iter().all(|(_, count)| *count >= 90), "of {RUNS}: {held:?}");
        // An interval that holds everything would say nothing.
        assert!(held.iter().any(|(_, count)| u64::from(*count) < RUNS), "of {RUNS}: {held:?}");
    }

    #[test]
    fn too_few_users_or_blocks_have_no_curve() {
        assert!(curves(&fixture::record(6, 0.0)).is_empty());
        let short = record([FLAT, PEAKED], 0.01, 4);
        assert!(curves(&short).is_empty());
    }
}
