//! How a variant compares with the baseline over the life of a server, from the first good answer on.
//!
//! Within each block the rate of the variant is held against the rate of the baseline at the same age: seconds under the warm-up's
//! load. Each span of age thus has one number a block, and Student's t makes an interval of these. The words come from a few windows
//! of age: that any of them is called faster or slower where none is, in any variant, has a probability of 5 % at most.

mod crossing;
mod launch;
mod pairs;
mod phases;
pub mod quick;
#[cfg(test)]
mod tests;
mod words;

use model::curve::{AgeCurve, DecidedAt};
use model::warm_up::WarmingUp;
use model::{BASELINE, Comparison, Effect, Metric, Role, StudyRecord, TrialRecord, VariantIndex, sample};

use crate::assess::Assessment;
use crate::blocks::Trials;
use crate::boundaries::STUDY_ALPHA;
use crate::sequential;
use launch::Launch;
use pairs::Pairs;

/// The curve of each variant against the baseline; empty where no warm-up was seen.
pub fn curves(assessment: &Assessment, comparisons: &[Comparison], warming_up: Option<&WarmingUp>) -> Vec<AgeCurve> {
    let record = assessment.record;
    let trials = Trials::of(record);
    let variants = record.study.variants.len();
    let of_block = |block: u32| -> Option<Vec<Launch>> {
        (0..variants).map(|variant| Launch::of(trials.get(block, variant)?)).collect()
    };
    let used: Vec<u32> = assessment.counted().collect();
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
