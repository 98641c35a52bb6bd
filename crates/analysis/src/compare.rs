//! Variants against the baseline, block by block.

use model::study::{Secondary, WarmUp};
use model::{
    BASELINE, Cell, CellIndex, Comparison, Effect, Interpretation, Metric, Polarity, Role, StudyRecord, TrialRecord,
    VariantIndex,
};

use crate::assess::Assessment;
use crate::blocks::Trials;
use crate::boundaries::{Boundaries, Looks};
use crate::metrics::{self, Launches};
use crate::quantity::Quantity;
use crate::sequential::{self, Decision};
use crate::{holm, robust};

/// Part of the used blocks in which a secondary metric has to have a number on both sides: those that lack it are seldom lacking by chance.
const NEARLY_ALL: f64 = 0.9;

/// What decides a study: its metric, the cell it is taken of (`None`: all), and ρ, the margin of equivalence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Primary {
    /// The metric.
    pub metric: Metric,
    /// The cell.
    pub cell: Option<CellIndex>,
    /// ln(1 + rope).
    pub margin: f64,
}

impl Primary {
    /// As the study says.
    pub fn of(record: &StudyRecord) -> Self {
        let decide = &record.study.decide;
        Self { metric: decide.primary, cell: record.deciding_cell(), margin: sequential::margin(decide.rope) }
    }

    /// Where the study stands for `variant`: the first look that decided, else the latest.
    fn settle(&self, assessment: &Assessment, variant: VariantIndex) -> Option<(Effect, Decision)> {
        let Assessment { record, boundaries, .. } = assessment;
        let reading = |trial: &TrialRecord| metrics::quantity(trial, self.metric, self.cell);
        self.read(&readings(&differences(assessment, variant, reading)), record, boundaries)
    }

    /// Where these differences stand. Those of a closed loop's tail decide nothing.
    fn read(
        &self,
        differences: &[Quantity],
        record: &StudyRecord,
        boundaries: &Boundaries,
    ) -> Option<(Effect, Decision)> {
        if !is_judged(record, self.metric, self.cell) {
            return sequential::interval(differences, boundaries).map(|effect| (effect, Decision::Continue));
        }
        sequential::settle(differences, boundaries, self.margin, record.plan.schedule.min_blocks)
    }
}

/// Where the study stands for each variant but the baseline: the first look that decided, else the latest; `None` before the
/// first look.
pub fn settled<'a>(assessment: &'a Assessment) -> &'a [Option<(Effect, Decision)>] {
    assessment.settled.get_or_init(|| {
        let primary = Primary::of(assessment.record);
        let variants = BASELINE + 1..assessment.record.study.variants.len();
        variants.map(|variant| primary.settle(assessment, variant)).collect()
    })
}

/// The primary metric's interval so far, for each variant but the baseline; `None` before the first look.
pub fn looks(assessment: &Assessment) -> Vec<Option<Effect>> {
    settled(assessment).iter().map(|look| look.map(|(effect, _)| effect)).collect()
}

/// Within-block differences ln(variant) − ln(baseline) of the used blocks, by block, at most as many as the plan allows.
/// `reading` gives one number above zero for a launch.
pub fn differences(
    assessment: &Assessment,
    variant: VariantIndex,
    reading: impl Fn(&TrialRecord) -> Option<Quantity>,
) -> Vec<(u32, Quantity)> {
    let pairs = pairs(assessment, variant, reading).into_iter();
    pairs.map(|(block, [baseline, variant])| (block, variant.against(baseline))).collect()
}

/// What `of` gives for the baseline and the variant in each used block where it gives both, by block.
pub fn pairs<T>(
    assessment: &Assessment,
    variant: VariantIndex,
    of: impl Fn(&TrialRecord) -> Option<T>,
) -> Vec<(u32, [T; 2])> {
    let trials = Trials::of(assessment.record);
    assessment
        .counted()
        .filter_map(|block| {
            let of = |variant| of(trials.get(block, variant)?);
            Some((block, [of(BASELINE)?, of(variant)?]))
        })
        .collect()
}

/// The differences without their blocks.
fn readings(differences: &[(u32, Quantity)]) -> Vec<Quantity> {
    differences.iter().map(|(_, difference)| *difference).collect()
}

/// The differences without their blocks and resolutions.
pub fn logs(differences: &[(u32, Quantity)]) -> Vec<f64> {
    differences.iter().map(|(_, difference)| difference.value).collect()
}

/// Every metric of every variant against the baseline: the primary one first, then the secondary ones, then all others over all
/// cells together and cell by cell. These are exploratory: each interval holds by itself, no correction is made for their number.
/// `numbers` are those of the launches.
pub fn comparisons(assessment: &Assessment, numbers: &Launches) -> Vec<Comparison> {
    let Assessment { record, boundaries, .. } = assessment;
    let primary = Primary::of(record);
    let mut comparisons = Vec::new();
    let mut all_readings = Vec::new();
    for (role, metric, cell) in subjects(record) {
        let reading = |trial: &TrialRecord| numbers.get(&trial.key)?.get(metric, cell);
        for variant in BASELINE + 1..record.study.variants.len() {
            let pairs = pairs(assessment, variant, reading);
            if pairs.is_empty() && role == Role::Exploratory {
                continue;
            }
            let typical =
                |side: usize| robust::median(&pairs.iter().map(|(_, pair)| pair[side].value).collect::<Vec<_>>());
            let differences: Vec<Quantity> = pairs.iter().map(|(_, [of, other])| other.against(*of)).collect();
            comparisons.push(Comparison {
                role,
                metric,
                cell,
                variant,
                typical: [typical(0), typical(1)],
                effect: None,
                interpretation: Interpretation::Inconclusive,
                differences: pairs.iter().zip(&differences).map(|((block, _), one)| (*block, one.value)).collect(),
            });
            all_readings.push(differences);
        }
    }
    let secondary = comparisons.iter().zip(&all_readings).filter(|(comparison, _)| comparison.role == Role::Secondary);
    let mut together = judged_together(assessment, secondary.map(|(_, readings)| readings)).into_iter();
    let read = |effect: Effect| (effect, sequential::decide(&effect, primary.margin));
    for (comparison, readings) in comparisons.iter_mut().zip(&all_readings) {
        let (effect, decision) = match comparison.role {
            Role::Primary => primary.read(readings, record, boundaries),
            Role::Secondary => together.next().flatten().map(read),
            Role::Exploratory => sequential::interval(readings, boundaries).map(read),
        }
        .unzip();
        let (metric, cell) = (comparison.metric, comparison.cell);
        comparison.interpretation = if is_judged(record, metric, cell) {
            interpret(effect.as_ref().zip(decision), metric.polarity())
        } else {
            Interpretation::NotJudged
        };
        comparison.effect = effect;
    }
    comparisons
}

/// What is compared, and what for.
fn subjects(record: &StudyRecord) -> Vec<(Role, Metric, Option<CellIndex>)> {
    let primary = Primary::of(record);
    let mut subjects = vec![(Role::Primary, primary.metric, primary.cell)];
    subjects.extend(
        record
            .study
            .decide
            .secondary
            .iter()
            .map(|Secondary { metric, cell }| (Role::Secondary, *metric, record.cell_of(*metric, cell.as_deref()))),
    );
    // A fixed warm-up ends whether a launch is warm or not: those that are would be a selection.
    let is_fixed = matches!(record.plan.schedule.warm_up, WarmUp::Fixed(_));
    let is_shown = |metric: &Metric| !(is_fixed && metric.is_of_warm_up());
    let whole_launch = Metric::ALL.into_iter().filter(is_shown).map(|metric| (metric, None));
    let single_cells = (0..record.plan.cells.len())
        .filter(|_| record.plan.cells.len() > 1)
        .flat_map(|cell| Metric::ALL.into_iter().filter(|m| m.is_per_cell()).map(move |metric| (metric, Some(cell))));
    for (metric, cell) in whole_launch.chain(single_cells) {
        if !subjects.iter().any(|(_, requested, of)| (*requested, *of) == (metric, cell)) {
            subjects.push((Role::Exploratory, metric, cell));
        }
    }
    subjects
}

/// The intervals by which the secondary comparisons are judged, whose differences these are, in their order.
fn judged_together<'a>(
    assessment: &Assessment,
    secondary: impl Iterator<Item = &'a Vec<Quantity>>,
) -> Vec<Option<Effect>> {
    let record = assessment.record;
    let enough = (NEARLY_ALL * assessment.counted().count() as f64).max(f64::from(record.plan.schedule.min_blocks));
    let known = secondary.map(|readings| if readings.len() as f64 >= enough { readings.clone() } else { Vec::new() });
    let known: Vec<Vec<Quantity>> = known.collect();
    holm::judge(&known, &Boundaries::steps(known.len(), Looks::of(record)))
}

/// Whether a verdict can be given on this metric of a cell, or of all: a closed loop cannot judge the slow tail.
pub fn is_judged(record: &StudyRecord, metric: Metric, cell: Option<CellIndex>) -> bool {
    !metric.is_tail() || cells(record, cell).all(|cell| cell.shape.arrivals.is_open())
}

/// What the latency of a cell, or of all together, is called.
pub fn latency_name(record: &StudyRecord, cell: Option<CellIndex>) -> &'static str {
    let open = cells(record, cell).filter(|cell| cell.shape.arrivals.is_open()).count();
    match open {
        0 => "service time",
        open if open == cells(record, cell).count() => "response time",
        _ => "latency",
    }
}

fn cells(record: &StudyRecord, cell: Option<CellIndex>) -> impl Iterator<Item = &Cell> {
    record
        .plan
        .cells
        .iter()
        .enumerate()
        .filter(move |(index, _)| cell.is_none_or(|cell| cell == *index))
        .map(|(_, cell)| cell)
}

/// How an effect and what was decided from it read.
pub fn interpret(decided: Option<(&Effect, Decision)>, polarity: Polarity) -> Interpretation {
    match decided {
        None | Some((_, Decision::Continue)) => Interpretation::Inconclusive,
        Some((_, Decision::Equivalent)) => Interpretation::Equivalent,
        Some((effect, Decision::Different)) if improves(effect, polarity) => Interpretation::Better,
        Some((_, Decision::Different)) => Interpretation::Worse,
    }
}

/// Whether the direction of an effect is the good one.
fn improves(effect: &Effect, polarity: Polarity) -> bool {
    (effect.estimate > 0.0) == (polarity == Polarity::HigherIsBetter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{assess, fixture};

    fn compare(record: &StudyRecord) -> Vec<Comparison> {
        comparisons(&assess(record, &Boundaries::standard()), &metrics::launches(record))
    }

    #[test]
    fn the_primary_comes_first_and_the_rest_are_leads() {
        let comparisons = compare(&fixture::record(9, 0.05));
        assert_eq!(comparisons[0].role, Role::Primary);
        assert_eq!((comparisons[0].metric, comparisons[0].cell), (Metric::Throughput, None));
        assert_eq!(comparisons[0].interpretation, Interpretation::Better);
        assert!(comparisons[1..].iter().all(|comparison| comparison.role == Role::Exploratory));
        // Seven metrics of the launch, and at least throughput, the median, P90 and CPU in each of two cells.
        assert!(comparisons.len() >= 7 + 2 * 4 - 1);
    }

    #[test]
    fn differences_pair_the_trials_of_one_block() {
        let mut record = fixture::record(6, 0.05);
        // The host halves its speed for one whole block: the difference does not notice.
        for trial in &mut record.trials[6..8] {
            for cell in &mut trial.cells {
                *cell = fixture::cell(cell.cell, metrics::throughput(cell).unwrap() / 2.0);
            }
        }
        let comparison = &compare(&record)[0];
        assert!(comparison.differences.iter().all(|(_, d)| (d - 0.05).abs() < 0.06), "{:?}", comparison.differences);
    }

    #[test]
    fn what_could_not_be_compared_has_no_value() {
        let mut failed = fixture::record(6, 0.05);
        failed.trials.iter_mut().filter(|trial| trial.variant == 1).for_each(fixture::fail);
        // It answers, but never well.
        let mut errs = fixture::record(6, 0.05);
        let cells = errs.trials.iter_mut().filter(|trial| trial.variant == 1).flat_map(|trial| &mut trial.cells);
        for tally in cells.flat_map(|cell| &mut cell.samples).map(|sample| &mut sample.tally) {
            tally.failures = [(model::Failure::Status, tally.good)].into();
            tally.good = 0;
        }
        for record in [failed, errs] {
            let primary = &compare(&record)[0];
            assert_eq!((primary.typical, primary.effect), ([None, None], None));
        }
    }

    #[test]
    fn less_cpu_is_better_and_tails_are_not_judged() {
        let comparisons = compare(&fixture::record(9, 0.1));
        let of = |metric| comparisons.iter().find(|c| c.metric == metric && c.cell.is_none()).unwrap();
        assert!(of(Metric::CpuPerRequest).effect.unwrap().estimate < 0.0);
        assert_eq!(of(Metric::CpuPerRequest).interpretation, Interpretation::Better);
        assert_eq!(of(Metric::P90).interpretation, Interpretation::NotJudged);
        assert_eq!(of(Metric::StartUp).interpretation, Interpretation::Equivalent);
    }

    #[test]
    fn an_open_loop_has_tails_and_they_are_judged() {
        let mut record = fixture::open(9, 0.1);
        record.study.decide.primary = Metric::P90;
        let comparisons = compare(&record);
        assert_eq!((comparisons[0].metric, comparisons[0].role), (Metric::P90, Role::Primary));
        // Of response time: service time is the same on both sides.
        assert!((comparisons[0].effect.unwrap().estimate + 0.1).abs() < 0.02, "{:?}", comparisons[0]);
        assert_eq!(comparisons[0].interpretation, Interpretation::Better);
        assert_eq!(latency_name(&record, None), "response time");
        // One closed loop among them, and all together say nothing of the tail any more.
        record.plan.cells[0] = fixture::record(5, 0.0).plan.cells[0].clone();
        let comparisons = compare(&record);
        assert_eq!(comparisons[0].interpretation, Interpretation::NotJudged);
        assert_eq!((latency_name(&record, None), latency_name(&record, Some(0))), ("latency", "service time"));
        let of = |cell| comparisons.iter().find(|c| c.metric == Metric::P90 && c.cell == Some(cell)).unwrap();
        assert_eq!([0, 1].map(|cell| of(cell).interpretation), [Interpretation::NotJudged, Interpretation::Better]);
    }

    #[test]
    fn a_look_is_the_primary_interval() {
        let boundaries = Boundaries::standard();
        let record = fixture::record(9, 0.05);
        assert_eq!(looks(&assess(&record, &boundaries)), [compare(&record)[0].effect]);
        assert_eq!(looks(&assess(&fixture::record(2, 0.05), &boundaries)), [None]);
    }

    #[test]
    fn a_named_cell_decides() {
        let mut record = fixture::record(5, 0.05);
        record.study.decide.cell = Some("pages@20".to_owned());
        assert_eq!(compare(&record)[0].cell, Some(1));
        // All of one is that one.
        let mut study = fixture::study();
        study.workloads[0].shapes.pop();
        study.decide.cell = Some("pages@1".to_owned());
        let only = &compare(&fixture::record_of(study, 9, 0.05, 0.01, 3))[0];
        assert_eq!((only.role, only.cell, only.interpretation), (Role::Primary, None, Interpretation::Better));
    }

    /// A run with these secondary metrics.
    fn with_secondary(secondary: &[(Metric, Option<&str>)], effect: f64) -> StudyRecord {
        let mut record = fixture::record(9, effect);
        let named =
            |(metric, cell): &(Metric, Option<&str>)| Secondary { metric: *metric, cell: cell.map(str::to_owned) };
        record.study.decide.secondary = secondary.iter().map(named).collect();
        record
    }

    #[test]
    fn secondary_metrics_are_judged_together_and_the_rest_stays_exploratory() {
        let requested =
            [(Metric::CpuPerRequest, None), (Metric::Throughput, Some("pages@20")), (Metric::StartUp, None)];
        let comparisons = compare(&with_secondary(&requested, 0.2));
        let reported: Vec<_> = comparisons[1..4].iter().map(|one| (one.role, one.metric, one.cell)).collect();
        let of = |metric, cell| (Role::Secondary, metric, cell);
        assert_eq!(
            reported,
            [of(Metric::CpuPerRequest, None), of(Metric::Throughput, Some(1)), of(Metric::StartUp, None)]
        );
        assert!(comparisons[4..].iter().all(|one| one.role == Role::Exploratory));
        let same = |other: &&Comparison| (other.metric, other.cell) == (Metric::CpuPerRequest, None);
        assert_eq!(comparisons.iter().filter(same).count(), 1);

        let readings: Vec<_> = comparisons[1..4].iter().map(|one| one.interpretation).collect();
        assert_eq!(readings, [Interpretation::Better, Interpretation::Better, Interpretation::Equivalent]);
        // Two were found different at once, with a third of α each; what is left, start-up, has all of it.
        let confidences: Vec<f64> = comparisons[1..4].iter().map(|one| one.effect.unwrap().confidence).collect();
        assert_eq!(confidences, [1.0 - 0.05 / 3.0, 1.0 - 0.05 / 3.0, 0.95]);
    }

    #[test]
    fn a_secondary_metric_that_launches_lack_gets_no_verdict() {
        let judged = |lacking: usize| {
            let mut record = with_secondary(&[(Metric::StartUp, None)], 0.0);
            let slow = record.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot);
            for (index, trial) in slow.enumerate() {
                trial.launch = trial.launch.take().filter(|_| index >= lacking);
                if let Some(launch) = &mut trial.launch {
                    launch.ready_s *= 2.0;
                }
            }
            let secondary = compare(&record).swap_remove(1);
            (secondary.differences.len(), secondary.effect.is_some(), secondary.interpretation)
        };
        assert_eq!(judged(0), (9, true, Interpretation::Worse));
        assert_eq!(judged(1), (8, false, Interpretation::Inconclusive));
    }

    #[test]
    fn an_unsupported_quantile_gets_no_verdict() {
        let mut record = fixture::open(9, 0.1);
        record.study.decide.secondary = vec![Secondary { metric: Metric::P99_9, cell: None }];
        let secondary = &compare(&record)[1];
        assert_eq!((secondary.role, secondary.metric), (Role::Secondary, Metric::P99_9));
        assert_eq!((secondary.effect, secondary.interpretation), (None, Interpretation::Inconclusive));
    }
}
