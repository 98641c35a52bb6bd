//! How often the intervals of a curve over concurrency hold the truth.

use analysis::curves;
use model::scalability::{Bounds, Usl};
use model::{Shape, StudyRecord};

use crate::Studies;
use crate::noise::normal;
use crate::rate::Rate;
use crate::record;

/// Numbers of users at which throughput is measured.
const USERS: [u32; 5] = [1, 10, 20, 50, 100];
/// Noise of a launch's throughput, a log ratio (standard deviation).
const SIGMA: f64 = 0.03;
/// The baseline, and the variant whose curve is judged; they cross once. No parameter is so near zero that fits end there.
const TRUTHS: [Usl; 2] =
    [Usl { lambda: 300.0, sigma: 0.3, kappa: 0.0 }, Usl { lambda: 180.0, sigma: 0.1, kappa: 0.000_4 }];

/// What has an interval.
pub const NAMES: [&str; 5] = ["λ", "σ", "κ", "N*", "where two curves cross"];

/// How often the interval of each of [`NAMES`] held the truth, in runs of two variants and so many blocks (5 to 30).
pub fn simulate(blocks: usize, studies: Studies) -> [Rate; NAMES.len()] {
    let mut study = record::study(2, 1);
    study.workloads[0].shapes = USERS.map(Shape::users).to_vec();
    let mut record = record::record(&study, blocks, studies.seed);
    let crossing = crossing();
    let [_, truth] = TRUTHS;
    let mut held = [Rate::default(); NAMES.len()];
    for (seed, mut rng) in (0..).zip(studies.generators()) {
        record.plan.seed = seed;
        measure(&mut record, || (SIGMA * normal(&mut rng)).exp());
        let fitted = curves(&record).pop();
        let curve = fitted.as_ref().and_then(|fitted| fitted.curves.get(1));
        let crosses = fitted.as_ref().and_then(|fitted| fitted.crossings.first()?.users);
        let reported = [
            (curve.map(|curve| curve.lambda), truth.lambda),
            (curve.map(|curve| curve.sigma), truth.sigma),
            (curve.map(|curve| curve.kappa), truth.kappa),
            (curve.and_then(|curve| Some(curve.peak?.users)), truth.peak().unwrap_or(f64::INFINITY)),
            (crosses, crossing),
        ];
        let holds = |bounds: Bounds, truth| bounds.low <= truth && bounds.high.is_none_or(|high| truth <= high);
        for (held, (bounds, truth)) in held.iter_mut().zip(reported) {
            held.count(bounds.is_some_and(|bounds| holds(bounds, truth)));
        }
    }
    held
}

/// Has every launch measure its variant's true throughput times a factor, in one sample of a minute.
fn measure(record: &mut StudyRecord, mut factor: impl FnMut() -> f64) {
    const MINUTE_S: f64 = 60.0;
    for trial in &mut record.trials {
        for cell in &mut trial.cells {
            let rate = TRUTHS[trial.variant].at(f64::from(USERS[cell.cell])) * factor();
            cell.samples.truncate(1);
            for sample in &mut cell.samples {
                sample.length_s = MINUTE_S;
                sample.tally.good = (rate * MINUTE_S).round() as u64;
            }
        }
    }
}

/// The number of users at which the two cross, by bisection.
fn crossing() -> f64 {
    let [baseline, variant] = TRUTHS;
    let (mut low, mut high) = (1.0, 100.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if variant.at(middle) > baseline.at(middle) { high = middle } else { low = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curves_cross_where_they_are_alike() {
        let [baseline, variant] = TRUTHS.map(|law| law.at(crossing()));
        assert!((baseline / variant - 1.0).abs() < 1e-9, "{baseline}, {variant}");
        assert!(TRUTHS[0].at(1.0) > TRUTHS[1].at(1.0) && TRUTHS[0].at(100.0) < TRUTHS[1].at(100.0));
    }
}
