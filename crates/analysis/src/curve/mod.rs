//! How a variant compares with the baseline over the life of a server, from the first good answer on.
//!
//! Within each block the rate of the variant is held against the rate of the baseline at the same age: seconds under the warm-up's
//! load. Each span of age thus has one number a block, and Student's t makes an interval of these. The words come from a few windows
//! of age: that any of them is called faster or slower where none is, in any variant, has a probability of 5 % at most.

mod crossing;
mod launch;
mod phases;
pub mod quick;
#[cfg(test)]
mod tests;
mod words;

use model::curve::{AgeCurve, CurvePoint, DecidedAt, Movement};
use model::warm_up::WarmingUp;
use model::{Comparison, Effect, Metric, Role, StudyRecord, TrialRecord, VariantIndex, sample};

use crate::blocks::{self, BlockState, Trials};
use crate::boundaries::STUDY_ALPHA;
use crate::compare::BASELINE;
use crate::quantity::Quantity;
use crate::{robust, sequential, student};
use launch::Launch;

/// The least time that is seen of a launch before it is said whether its speed still moves, seconds.
const LEAST_S: f64 = 4.0;

/// The curve of each variant against the baseline; empty where no warm-up was seen.
pub fn curves(
    record: &StudyRecord,
    blocks: &[BlockState],
    comparisons: &[Comparison],
    warming_up: Option<&WarmingUp>,
) -> Vec<AgeCurve> {
    let trials = Trials::of(record);
    let variants = record.study.variants.len();
    let of_block = |block: u32| -> Option<Vec<Launch>> {
        (0..variants).map(|variant| Launch::of(trials.get(block, variant)?)).collect()
    };
    let used: Vec<u32> = blocks::used(blocks).take(record.plan.schedule.max_blocks as usize).collect();
    let launches: Vec<Vec<Launch>> = used.iter().filter_map(|block| of_block(*block)).collect();
    let edges = launch::ages(&launches.iter().flatten());
    if edges.is_empty() {
        return Vec::new();
    }
    let answers = launch::requests(launches.iter().flatten());
    let margin = sequential::margin(record.study.decide.detect);
    let measured = measured_at(record, &trials, &used);
    (BASELINE + 1..variants)
        .map(|variant| {
            let pairs = Pairs { pairs: launches.iter().map(|block| [&block[BASELINE], &block[variant]]).collect() };
            let seen_s = edges.last().copied().unwrap_or_default();
            let decided = decided(comparisons, variant).zip(measured);
            let alpha = STUDY_ALPHA / (variants - 1) as f64;
            let phases = phases::phases(&pairs, &launch::windows(&edges), alpha, margin);
            let mut curve = AgeCurve {
                variant,
                seen_s,
                margin,
                points: pairs.points(&edges),
                by_requests: pairs.by_requests(&answers),
                crossing: crossing::crossing(&pairs, &edges, &phases, variant),
                phases,
                decided: decided.map(|(effect, [from_s, to_s])| DecidedAt { from_s, to_s, effect }),
                movement: pairs.movement(seen_s, margin),
                sentence: String::new(),
            };
            let responses =
                warming_up.and_then(|it| it.cumulative_responses.iter().find(|responses| responses.variant == variant));
            curve.sentence =
                words::sentence(record, &curve, responses.and_then(|responses| responses.break_even.as_ref()));
            curve
        })
        .collect()
}

/// The primary difference, where it is one of throughput.
fn decided(comparisons: &[Comparison], variant: VariantIndex) -> Option<Effect> {
    let decides =
        |one: &&Comparison| one.role == Role::Primary && one.variant == variant && one.metric == Metric::Throughput;
    comparisons.iter().find(decides)?.effect
}

/// Ages between which the primary metric was measured in these blocks, the earliest and the latest; seconds of load.
fn measured_at(record: &StudyRecord, trials: &Trials, used: &[u32]) -> Option<[f64; 2]> {
    let launches = used.iter().flat_map(|block| (0..record.study.variants.len()).filter_map(|v| trials.get(*block, v)));
    launches.filter_map(|trial| measured_of(record, trial)).reduce(|all, one| [all[0].min(one[0]), all[1].max(one[1])])
}

fn measured_of(record: &StudyRecord, trial: &TrialRecord) -> Option<[f64; 2]> {
    let deciding = record.deciding_cell();
    let warm_up = trial.warm_up.iter().flat_map(|warm_up| &warm_up.samples);
    let mut age = warm_up.map(|sample| sample.start_s + sample.length_s).fold(0.0, f64::max);
    let mut measured = None;
    for cell in &trial.cells {
        let from = age;
        age += sample::seconds(cell.whole());
        if deciding.is_none_or(|index| index == cell.cell) {
            measured = Some([measured.map_or(from, |[first, _]: [f64; 2]| first), age]);
        }
    }
    measured
}

/// The launches of baseline and variant, block by block.
struct Pairs<'a> {
    pairs: Vec<[&'a Launch; 2]>,
}

impl Pairs<'_> {
    /// ln(variant) − ln(baseline) of the rate between two ages, a number a block.
    fn differences(&self, from_s: f64, to_s: f64) -> Vec<Quantity> {
        self.pairs
            .iter()
            .map(|[baseline, variant]| variant.rate(from_s, to_s).against(baseline.rate(from_s, to_s)))
            .collect()
    }

    /// Median launch of baseline and of variant.
    fn median(&self, of: impl Fn(&Launch) -> f64) -> [f64; 2] {
        [0, 1].map(|side| {
            robust::median(&self.pairs.iter().map(|pair| of(pair[side])).collect::<Vec<_>>()).unwrap_or_default()
        })
    }

    fn points(&self, edges: &[f64]) -> Vec<CurvePoint> {
        let point = |span: &[f64]| {
            let reached = self.median(|launch| launch.good(0.0, span[1]));
            point([span[0], span[1]], reached, &self.differences(span[0], span[1]))
        };
        edges.windows(2).map(point).collect()
    }

    /// The time that the answers of a span took: the less, the faster.
    fn by_requests(&self, edges: &[f64]) -> Vec<CurvePoint> {
        let rate = |launch: &Launch, span: &[f64]| {
            let answers = span[1] - span[0];
            Quantity::in_steps(answers / (launch.age_s(span[1]) - launch.age_s(span[0])), 1.0, answers)
        };
        let point = |span: &[f64]| {
            let differences: Vec<Quantity> = self
                .pairs
                .iter()
                .map(|[baseline, variant]| rate(variant, span).against(rate(baseline, span)))
                .collect();
            point([span[0], span[1]], self.median(|launch| launch.age_s(span[1])), &differences)
        };
        edges.windows(2).map(point).collect()
    }

    /// The last quarter of what was seen against the quarter before it.
    fn movement(&self, seen_s: f64, margin: f64) -> Option<Movement> {
        let parts_s = [seen_s / 2.0, seen_s * 0.75, seen_s];
        let rise = |launch: &Launch| launch.rate(parts_s[1], parts_s[2]).against(launch.rate(parts_s[0], parts_s[1]));
        let rises: Vec<[Quantity; 2]> = self.pairs.iter().map(|pair| pair.map(rise)).collect();
        let changes: Vec<Quantity> = rises
            .iter()
            .map(|[baseline, variant]| Quantity {
                value: variant.value - baseline.value,
                resolution: variant.resolution.max(baseline.resolution),
            })
            .collect();
        let change = student::interval(&changes, STUDY_ALPHA).filter(|_| seen_s >= LEAST_S)?;
        let mean = |side: usize| rises.iter().map(|pair| pair[side].value).sum::<f64>() / rises.len() as f64;
        let rises = [0, 1].map(mean);
        // What could not be computed is not known to stand still.
        let is_small = |moved: f64| moved <= margin;
        let is_still = is_small(change.estimate.abs())
            && (!change.excludes_zero() || change.lies_within(margin))
            && rises.into_iter().all(is_small);
        Some(Movement { parts_s, change, rises, still_moving: !is_still }).filter(|it| it.change.estimate.is_finite())
    }
}

fn point([from, to]: [f64; 2], reached: [f64; 2], differences: &[Quantity]) -> CurvePoint {
    let mean = differences.iter().map(|one| one.value).sum::<f64>() / differences.len() as f64;
    let interval = student::interval(differences, STUDY_ALPHA).map(|effect| [effect.low, effect.high]);
    CurvePoint { from, to, reached, estimate: mean, interval, blocks: differences.len() as u32 }
}
