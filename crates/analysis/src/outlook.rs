//! How many blocks it takes to distinguish the difference that the user cares about from none.

use crate::assess::Assessment;
use crate::compare::{self, Primary};
use crate::quantity::Quantity;
use crate::reach::{self, blocks_needed, reach};
use crate::{metrics, warm_up};
use model::{BASELINE, Metric, Outlook, StudyRecord, TrialRecord};

/// Blocks whose differences say more of the noise than the pilots do.
const ENOUGH: usize = 3;
/// Quantile of the normal distribution for the ends of the range: 80 % of samples have a variance between them.
const RANGE: f64 = 1.281_6;

/// From the differences of at least three used blocks; before that from the pilots, which show how a variant's launches vary.
/// `None` while neither is known.
pub fn outlook(assessment: &Assessment) -> Option<Outlook> {
    let record = assessment.record;
    let Noise { spread, freedom, resolution } = of_blocks(assessment).or_else(|| of_pilots(record))?;
    let effect = record.study.decide.detect.ln_1p();
    let least = record.plan.schedule.min_blocks;
    let variants = record.study.variants.len();
    let needed = |spread| blocks_needed(spread, resolution, effect, variants).map(|n| n.max(least));
    let blocks = needed(spread);
    let [quiet, noisy] = [-RANGE, RANGE].map(|z| spread / chi_square_share(freedom, -z).sqrt());
    Some(Outlook {
        detect: record.study.decide.detect,
        spread,
        blocks,
        seconds: blocks.map(|blocks| reach::seconds(assessment, blocks)),
        range: [needed(quiet), needed(noisy)],
        reach: reach(assessment, spread, resolution),
    })
}

/// What is known of the differences within blocks.
struct Noise {
    /// Their standard deviation.
    spread: f64,
    /// Its degrees of freedom.
    freedom: usize,
    /// Their resolution, as far as it is known.
    resolution: f64,
}

/// Of the variant whose differences scatter most.
fn of_blocks(assessment: &Assessment) -> Option<Noise> {
    let record = assessment.record;
    let primary = Primary::of(record);
    let reading = |trial: &TrialRecord| metrics::quantity(trial, primary.metric, primary.cell);
    let noise = |differences: Vec<(u32, Quantity)>| {
        let (values, freedom) = (compare::logs(&differences), differences.len() - 1);
        let resolutions: f64 = differences.iter().map(|(_, difference)| difference.resolution).sum();
        Noise {
            spread: (squares(&values) / freedom as f64).sqrt(),
            freedom,
            resolution: resolutions / values.len() as f64,
        }
    };
    (BASELINE + 1..record.study.variants.len())
        .map(|variant| compare::differences(assessment, variant, reading))
        .filter(|differences| differences.len() >= ENOUGH)
        .map(noise)
        .max_by(|a, b| a.spread.total_cmp(&b.spread))
}

/// The same as the pilots' launches let expect it: a standard deviation √2 times that of one launch, whichever block it was in. How
/// much will be counted they do not know.
fn of_pilots(record: &StudyRecord) -> Option<Noise> {
    let of_variant = |variant: usize| -> Vec<f64> {
        let pilots = record.trials.iter().filter(|trial| trial.key.pilot && trial.variant == variant);
        pilots.filter_map(|trial| of_pilot(trial, record.study.decide.primary)).map(f64::ln).collect()
    };
    let samples: Vec<Vec<f64>> = (0..record.study.variants.len()).map(of_variant).collect();
    let freedom: usize = samples.iter().map(|sample| sample.len().saturating_sub(1)).sum();
    let sum: f64 = samples.iter().map(|sample| squares(sample)).sum();
    (freedom > 0 && sum > 0.0).then(|| Noise { spread: (2.0 * sum / freedom as f64).sqrt(), freedom, resolution: 0.0 })
}

/// The metric of a launch that was only warmed up: of a cell's metrics those that its last half shows, whatever its load was. What
/// quantiles scatter by in a cell it does not show.
fn of_pilot(trial: &TrialRecord, metric: Metric) -> Option<f64> {
    let late = || Some(warm_up::late(&trial.warm_up.as_ref()?.samples));
    let value = match metric {
        Metric::Throughput => Some(warm_up::late_rate(&trial.warm_up.as_ref()?.samples)),
        Metric::CpuPerRequest => metrics::cpu_per_request(late()?),
        metric if metric.is_per_cell() => None,
        metric => metrics::value(trial, metric, None),
    };
    value.filter(|value| value.is_finite() && *value > 0.0)
}

/// Sum of the squared distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// χ²/ν at a normal quantile (Wilson & Hilferty 1931), not below a thousandth.
fn chi_square_share(freedom: usize, z: f64) -> f64 {
    let part = 2.0 / (9.0 * freedom as f64);
    (1.0 - part + z * part.sqrt()).max(0.1).powi(3)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::boundaries::{Boundaries, normal};
    use crate::{assess, fixture};

    #[test]
    fn the_range_holds_the_truth_as_often_as_it_says() {
        let mut rng = ChaCha8Rng::seed_from_u64(18);
        for freedom in [2_usize, 6, 20] {
            let held = (0..1_000)
                .filter(|_| {
                    let variance = (0..freedom).map(|_| normal(&mut rng).powi(2)).sum::<f64>() / freedom as f64;
                    let [low, high] = [RANGE, -RANGE].map(|z| variance / chi_square_share(freedom, z));
                    (low..=high).contains(&1.0)
                })
                .count();
            assert!((760..=850).contains(&held), "{held} of 1,000 with {freedom}");
        }
    }

    #[test]
    fn pilots_first_then_blocks() {
        let boundaries = Boundaries::standard();
        let mut record = fixture::record(8, 0.0);
        record.study.decide.detect = 0.03;
        let whole = outlook(&assess(&record, &boundaries)).unwrap();
        // Noise of 1 % a launch: √2 % a difference, as eight of them report it.
        assert!((0.006..0.025).contains(&whole.spread), "{whole:?}");
        let [least, most] = whole.range.map(Option::unwrap);
        let blocks = whole.blocks.unwrap();
        assert!(least <= blocks && blocks <= most && most < 20, "{whole:?}");

        record.trials.truncate(4);
        // The fixture's pilots are all alike: nothing is known of the noise.
        assert_eq!(outlook(&assess(&record, &boundaries)), None);
        for (trial, length_s) in record.trials.iter_mut().zip([1.0, 1.02, 1.03, 1.0]) {
            trial.warm_up.as_mut().unwrap().samples[0].length_s = length_s;
        }
        let expected = outlook(&assess(&record, &boundaries)).unwrap();
        assert!(expected.spread > 0.005 && expected.range[0] < expected.range[1].or(Some(99)), "{expected:?}");
        record.study.decide.primary = Metric::Memory;
        assert_eq!(outlook(&assess(&record, &boundaries)), None, "as much in all of them");
        for (trial, rss_bytes) in record.trials.iter_mut().zip([100, 102, 103, 100]) {
            let seen = trial.warm_up.iter_mut().flat_map(|warm_up| &mut warm_up.samples);
            seen.filter_map(|sample| sample.server.as_mut()).for_each(|server| server.rss_bytes = rss_bytes << 20);
        }
        let expected = outlook(&assess(&record, &boundaries)).unwrap();
        assert!(expected.spread > 0.005, "{expected:?}");
        record.study.decide.primary = Metric::CpuPerRequest;
        assert_eq!(outlook(&assess(&record, &boundaries)), None, "as much in all of them");
        record.study.decide.primary = Metric::P50;
        assert_eq!(outlook(&assess(&record, &boundaries)), None, "no pilot shows it");
    }
}
