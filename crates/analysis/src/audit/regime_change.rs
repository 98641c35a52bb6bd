//! The speed changed for good while it was measured.

use std::collections::BTreeSet;

use model::imported::{Fidelity, SpeedLevel};
use model::{
    BASELINE, ChangedSeries, Finding, FindingId, LevelChange, Metric, Outcome, Severity, StudyRecord, Subject,
    TrialKey, VariantIndex, text,
};

use super::evidence::Evidence;
use super::rule::{Check, Imported, Rule, cell_name, launches};
use crate::assess::Assessment;
use crate::compare::{self, Primary};
use crate::settled::{FALL, settled};
use crate::{levels, metrics, regimes, robust};

pub const RULE: Rule = Rule {
    id: FindingId::new("regime-change"),
    gravest: Severity::Invalid,
    page: include_str!("../../../../docs/findings/regime-change.md"),
    checks: &[Check::Run(rule), Check::Imported { needs: Evidence::Kept(Fidelity::Intervals), look: of_import }],
};

/// Part of the launches by which the two sides have to differ for a veto.
const HALF: f64 = 0.5;
/// Fewest launches of a side that change before there is a veto.
const FEWEST: usize = 4;
/// Changes that are listed one by one.
const LISTED: usize = 3;
/// How much faster one level of an imported run is than another from which on its totals are void, as far apart as those of a fall, and
/// from which on it is reported.
const VOID: f64 = 1.0 / FALL;
const REPORTED: f64 = 1.1;
/// Levels of an imported run that are listed.
const LISTED_LEVELS: usize = 6;
/// Fewest launches that change while they warm up before it is reported.
const FEWEST_WARMING: usize = 2;

/// For each variant: a warning when a change of level by 5 % or more (`changepoint`) lies inside what decides in any of its
/// launches, a note when it lies in something else that was measured. Invalid for a variant when half of the launches more on
/// one side than on the other change in the same direction, and by as much as the two differ in all: which of the two is ahead
/// is then a matter of how long was measured. A change of both sides alike, or far smaller than the difference, leaves the
/// verdict what it is. A note where launches change after they were found steady and before they are measured.
fn rule(record: &StudyRecord, assessment: &Assessment) -> Vec<Finding> {
    let (inside, warming): (Vec<&ChangedSeries>, Vec<&ChangedSeries>) =
        regimes::changed(assessment).iter().partition(|series| series.cell.is_some());
    let variants = 0..record.study.variants.len();
    let while_warming = variants.filter_map(|variant| while_warming(record, &warming, variant));
    within(record, assessment, &inside).into_iter().chain(while_warming).collect()
}

/// Invalid for the totals of a run with two lasting speeds after it had settled, one a quarter above the other, or a warning where its file
/// does not count users; what totals say is when that happened. A note from a tenth on, and where one of the two does not last.
fn of_import(imported: &Imported) -> Option<Finding> {
    let lasting = levels::lasting(imported.run);
    let is_void = ratio(from_settled(&lasting)) >= VOID;
    if !is_void && ratio(from_settled(imported.levels)) < REPORTED {
        return None;
    }
    let (levels, severity, meaning) = if is_void {
        (
            lasting.as_slice(),
            // Without a count of users, there may have been more or fewer of them.
            if imported.run.users.is_some() { Severity::Invalid } else { Severity::Warning },
            "Its speed changed on the way. Its totals and means say when that happened, not how fast the server is.",
        )
    } else {
        (
            imported.levels,
            Severity::Note,
            "Its speed moved on the way, by little or for a short time. Its totals and means are a mixture.",
        )
    };
    let advice = format!(
        "Compare only the time from {}, with the same time of another run.",
        span(from_settled(levels).first()?)
    );
    let found = RULE.found(severity, Subject::Load, meaning, &advice);
    let listed = levels.iter().take(LISTED_LEVELS);
    Some(listed.fold(found, |found, level| found.with(span(level), format!("{}/s", text::significant(level.rate, 3)))))
}

/// The levels from the one on which the speed settled.
fn from_settled(levels: &[SpeedLevel]) -> &[SpeedLevel] {
    settled(levels).and_then(|index| levels.get(index..)).unwrap_or_default()
}

/// The fastest level against the slowest, 1 or more; 1 of fewer than two.
fn ratio(levels: &[SpeedLevel]) -> f64 {
    let (low, high) =
        levels.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), level| (low.min(level.rate), high.max(level.rate)));
    if low < high { high / low } else { 1.0 }
}

fn span(level: &SpeedLevel) -> String {
    format!("{} to {} s", text::count(level.from_s as u64), text::count(level.to_s as u64))
}

/// Of what was measured.
fn within(record: &StudyRecord, assessment: &Assessment, inside: &[&ChangedSeries]) -> Vec<Finding> {
    if inside.is_empty() {
        return Vec::new();
    }
    let sides: Vec<Side> = (0..record.study.variants.len()).map(|variant| Side::of(record, inside, variant)).collect();
    let reported = sides.iter().filter_map(|side| side.reported(record));
    let unequal = (BASELINE + 1..sides.len()).filter_map(|variant| unequal(record, assessment, &sides, variant));
    reported.chain(unequal).collect()
}

/// Of what is left of the warm-up after a launch was found steady: it counts for nothing, and a later one may do so while it is measured.
/// Of one launch it may be chance.
fn while_warming(record: &StudyRecord, warming: &[&ChangedSeries], variant: VariantIndex) -> Option<Finding> {
    let own: Vec<&ChangedSeries> = warming.iter().filter(|series| series.variant == variant).copied().collect();
    let looked_at = launches(record, variant).filter(|trial| trial.outcome == Outcome::Completed).count();
    let found = RULE.found(
        Severity::Note,
        Subject::Variant { variant },
        "Launches changed their speed for good after they were found steady, before they were measured: others may do so while they are.",
        "Look for what changed at that time. Where it comes in most launches, warm up until it is over.",
    )
    .with("launches with a change while they warmed up", format!("{} of {looked_at}", own.len()));
    let reported =
        own.iter().take(LISTED).fold(found, |found, series| found.with(series.key.to_string(), story(series)));
    (own.len() >= FEWEST_WARMING).then_some(reported)
}

/// What changed in the launches of one variant.
struct Side<'a> {
    variant: VariantIndex,
    /// Launches that were measured to their end.
    launches: usize,
    /// The series with changes of what decides, largest change first; of anything else where there are none.
    series: Vec<&'a ChangedSeries>,
    /// Whether they are of what decides.
    decides: bool,
}

/// Launches that change in one direction.
struct Towards {
    launches: usize,
    /// Of all launches of the side, 0..=1.
    share: f64,
    /// Median over them of their change, as the mean over all cells that decide, a log ratio above zero.
    size: f64,
}

impl<'a> Side<'a> {
    fn of(record: &StudyRecord, inside: &[&'a ChangedSeries], variant: VariantIndex) -> Self {
        let own: Vec<&ChangedSeries> = inside.iter().filter(|series| series.variant == variant).copied().collect();
        let deciding: Vec<&ChangedSeries> = own.iter().filter(|series| decides(record, series)).copied().collect();
        let decides = !deciding.is_empty();
        let mut series = if decides { deciding } else { own };
        series.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let measured = |trial: &&model::TrialRecord| !trial.key.pilot && trial.outcome == Outcome::Completed;
        Self { variant, launches: launches(record, variant).filter(measured).count(), series, decides }
    }

    /// Launches that change, in any direction.
    fn changed(&self) -> usize {
        self.series.iter().map(|series| series.key).collect::<BTreeSet<TrialKey>>().len()
    }

    /// The launches that change upwards, or downwards, in what decides.
    fn towards(&self, record: &StudyRecord, up: bool) -> Towards {
        let cells = if Primary::of(record).cell.is_some() { 1 } else { record.plan.cells.len() };
        let change = |key: TrialKey| {
            let own = self.series.iter().filter(|series| series.key == key);
            own.map(|series| furthest(series, up)).sum::<f64>() / cells.max(1) as f64
        };
        let keys: BTreeSet<TrialKey> = self.series.iter().filter(|_| self.decides).map(|series| series.key).collect();
        let sizes: Vec<f64> = keys.into_iter().map(change).filter(|size| *size > 0.0).collect();
        Towards {
            launches: sizes.len(),
            share: sizes.len() as f64 / self.launches.max(1) as f64,
            size: robust::median(&sizes).unwrap_or_default(),
        }
    }

    fn reported(&self, record: &StudyRecord) -> Option<Finding> {
        let (severity, meaning) = if self.decides {
            (
                Severity::Warning,
                "Within a measurement its speed changed for good: the launch has two speeds, and its number lies somewhere \
                 between them, wherever the measurement happened to end.",
            )
        } else {
            (
                Severity::Note,
                "Within a measurement something changed for good that does not decide here: what is shown of it is the mean of \
                 two levels.",
            )
        };
        let found = RULE.found(
            severity,
            Subject::Variant { variant: self.variant },
            meaning,
            "Look for what changed at that time. Where it comes in most launches, warm up until it is over, or measure for long \
             enough to see what stays.",
        )
        .with("launches with a change", format!("{} of {}", self.changed(), self.launches));
        let found = self.series.iter().take(LISTED).fold(found, |found, series| {
            let place =
                format!("{}, {}", series.key, series.cell.map_or_else(String::new, |cell| cell_name(record, cell)));
            found.with(place, story(series))
        });
        (!self.series.is_empty()).then_some(found)
    }
}

/// Whether a series is one of what decides: of speed, or of the CPU where that is asked for, in the cells that decide.
fn decides(record: &StudyRecord, series: &ChangedSeries) -> bool {
    let Some(cell) = series.cell else { return false };
    let Some(planned) = record.plan.cells.get(cell) else { return false };
    let primary = Primary::of(record);
    let metric = match primary.metric {
        Metric::CpuPerRequest => Metric::CpuPerRequest,
        metric if metric.is_per_cell() => regimes::speed(&planned.shape.arrivals),
        _ => return false,
    };
    series.metric == metric && primary.cell.is_none_or(|deciding| deciding == cell)
}

/// The largest change of a series, a log ratio above zero.
fn size(series: &ChangedSeries) -> f64 {
    series.changes.iter().map(|change| change.log_ratio().abs()).fold(0.0, f64::max)
}

/// How far a series rises, or falls, from any of its levels to a later one, a log ratio; 0 if it never does.
fn furthest(series: &ChangedSeries, up: bool) -> f64 {
    let steps = series.changes.iter().map(|change| if up { change.log_ratio() } else { -change.log_ratio() });
    let so_far = steps.scan(0.0_f64, |since, step| {
        *since = (*since + step).max(0.0);
        Some(*since)
    });
    so_far.fold(0.0, f64::max)
}

/// The changes of a series in words.
fn story(series: &ChangedSeries) -> String {
    let of = |change: &LevelChange| {
        let causes: Vec<String> = change.causes.iter().map(|cause| format!("{} {}", cause.name, cause.value)).collect();
        let with =
            if causes.is_empty() { "nothing that is sampled moved with it".to_owned() } else { causes.join(", ") };
        let [before, after] = [change.before, change.after].map(|level| value(series.metric, level));
        format!(
            "{} from {before} to {after} ({}) after {:.0} s; {with}",
            series.metric,
            text::change(change.log_ratio()),
            change.at_s
        )
    };
    series.changes.iter().map(of).collect::<Vec<_>>().join("; ")
}

fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Throughput => text::with_unit(value, "/s"),
        _ => text::micros(value),
    }
}

/// A veto where the changes could be all the difference that there is.
fn unequal(record: &StudyRecord, assessment: &Assessment, sides: &[Side], variant: VariantIndex) -> Option<Finding> {
    let primary = Primary::of(record);
    let deciding = |trial: &model::TrialRecord| metrics::quantity(trial, primary.metric, primary.cell);
    let differences = compare::logs(&compare::differences(assessment, variant, deciding));
    let difference = robust::median(&differences)?;
    [true, false].into_iter().find_map(|up| {
        let [there, here] = [BASELINE, variant].map(|side| sides[side].towards(record, up));
        let is_unequal = (there.share - here.share).abs() >= HALF && there.launches.max(here.launches) >= FEWEST;
        let size = if here.share > there.share { here.size } else { there.size };
        (is_unequal && size >= difference.abs()).then(|| {
            let counted = |changed: usize, side: usize| format!("{changed} of {}", sides[side].launches);
            RULE.found(
                Severity::Invalid,
                Subject::Against { variant, cell: None },
                "One side changes its speed within the measurements and the other does not, by as much as the two differ: which \
                 of them is ahead depends on how long was measured.",
                "Warm up until the change is over (a higher cap, a longer fixed warm-up), or measure for long enough that it \
                 no longer matters.",
            )
            .with(
                if up { "launches that rise" } else { "launches that fall" },
                [counted(there.launches, BASELINE), counted(here.launches, variant)],
            )
            .with("change, median launch", text::change(if up { size } else { -size }))
            .with("difference of the variants, median block", text::change(difference))
        })
    })
}

#[cfg(test)]
mod tests {
    use model::CellRecord;
    use model::imported::ImportedRun;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::audit::testing::{found, imported, values};
    use crate::audit::vetoes;
    use crate::boundaries::normal;
    use crate::fixture;
    use crate::levels::levels;

    fn of(run: &ImportedRun) -> Option<Finding> {
        of_import(&Imported { run, levels: &levels(run), hosts: &[] })
    }

    /// How grave it is that a run of four hours at 100/s has another rate for a time.
    fn with(from: usize, to: usize, rate: u64) -> Option<Severity> {
        let mut run = imported(14_400, 100);
        run.intervals[from..to].iter_mut().for_each(|interval| interval.good = rate);
        of(&run).map(|found| found.severity)
    }

    #[test]
    fn an_imported_run_of_two_speeds_vetoes_its_totals() {
        let mut run = imported(1_200, 75);
        assert_eq!(of(&run), None);
        run.intervals[811..].iter_mut().for_each(|interval| interval.good = 16);
        let found = of(&run).unwrap();
        assert_eq!(
            (found.severity, values(&found)),
            (Severity::Invalid, vec!["75.0/s".to_owned(), "16.0/s".to_owned()])
        );
        run.users = None;
        assert_eq!(of(&run).map(|found| found.severity), Some(Severity::Warning));
        assert_eq!(with(10_800, 14_000, 130), Some(Severity::Invalid), "a neighbour left");
        assert_eq!(with(7_000, 7_600, 79), Some(Severity::Invalid));
    }

    #[test]
    fn a_small_or_short_change_of_an_imported_run_vetoes_nothing() {
        assert_eq!(with(7_000, 7_010, 94), None);
        assert_eq!(with(7_000, 10_000, 94), None);
        assert_eq!(with(7_000, 10_000, 88), Some(Severity::Note));
        assert_eq!(with(7_000, 7_100, 20), Some(Severity::Note), "it lasts a minute and a half");
    }

    #[test]
    fn a_run_that_breaks_on_its_way_has_two_speeds_however_fast_it_fails() {
        let mut run = imported(1_000, 75);
        let severity = |run: &ImportedRun| of(run).map(|found| found.severity);
        assert_eq!(severity(&run), None);
        run.intervals[700..].iter_mut().for_each(|interval| (interval.good, interval.failed) = (0, 106));
        assert_eq!(severity(&run), Some(Severity::Invalid));
        // In the first minutes, too.
        run.intervals.reverse();
        run.intervals[300..].iter_mut().for_each(|interval| interval.good = 75);
        assert_eq!(severity(&run), None, "a warm-up");
    }

    /// 30 s of a cell that goes from 1,000/s to so much more or less after 12.
    fn step(cell: usize, factor: f64, level: f64) -> CellRecord {
        let rate = |second| (level * if second < 12 { 1.0 } else { factor }).round() as u64;
        fixture::series(cell, &(0..30).map(rate).collect::<Vec<_>>())
    }

    /// A study in which the first `changing` launches of each variant change in the first cell.
    fn study(changing: [usize; 2], factor: f64, ahead: f64) -> StudyRecord {
        let mut record = fixture::record(8, 0.0);
        let mut seen = [0, 0];
        for trial in record.trials.iter_mut().filter(|trial| !trial.key.pilot) {
            let level = 1_000.0 * if trial.variant == 1 { ahead } else { 1.0 };
            let factor = if seen[trial.variant] < changing[trial.variant] { factor } else { 1.0 };
            seen[trial.variant] += 1;
            trial.cells = vec![step(0, factor, level), step(1, 1.0, level)];
        }
        record
    }

    fn severities(record: &StudyRecord) -> Vec<(Severity, String)> {
        found(rule, record)
    }

    #[test]
    fn a_change_is_a_warning_for_its_variant() {
        assert_eq!(severities(&study([0, 0], 0.8, 1.0)), []);
        assert_eq!(severities(&study([0, 1], 0.8, 1.0)), [(Severity::Warning, "on".to_owned())]);
        assert_eq!(
            severities(&study([8, 8], 0.8, 1.0)),
            [(Severity::Warning, "off".to_owned()), (Severity::Warning, "on".to_owned())],
            "both sides alike"
        );
    }

    #[test]
    fn a_change_of_one_side_that_could_be_the_difference_vetoes() {
        let veto = (Severity::Invalid, "on against off".to_owned());
        for (changing, factor) in [([0, 8], 0.8), ([0, 4], 0.8), ([8, 0], 0.8), ([0, 8], 1.2), ([2, 8], 0.8)] {
            let record = study(changing, factor, 1.0);
            let boundaries = crate::Boundaries::standard();
            let found = rule(&record, &crate::assess(&record, &boundaries));
            assert!(severities(&record).contains(&veto), "{changing:?} {factor}");
            assert!(vetoes(found.last().unwrap(), 1), "{found:?}");
        }
        for (changing, ahead) in [([0, 3], 1.0), ([0, 8], 2.0), ([0, 8], 1.2), ([5, 8], 1.0)] {
            assert!(!severities(&study(changing, 0.8, ahead)).contains(&veto), "{changing:?} {ahead}");
        }
    }

    #[test]
    fn a_change_counts_as_far_as_its_cell_decides() {
        let size = |record: &StudyRecord| {
            let boundaries = crate::Boundaries::standard();
            let assessment = crate::assess(record, &boundaries);
            let changed: Vec<&ChangedSeries> = regimes::changed(&assessment).iter().collect();
            Side::of(record, &changed, 1).towards(record, false).size
        };
        let mut record = study([0, 8], 0.8, 1.2);
        assert!((size(&record) + f64::ln(0.8) / 2.0).abs() < 1e-9, "one of two cells");
        record.study.decide.cell = Some("pages@1".to_owned());
        assert!((size(&record) + f64::ln(0.8)).abs() < 1e-9, "it alone decides");
        // Down in two steps, and up again.
        for trial in record.trials.iter_mut().filter(|trial| !trial.key.pilot) {
            let rate = |second: usize| [1_000, 800, 640, 1_000][second / 15];
            trial.cells[0] = fixture::series(0, &(0..60).map(rate).collect::<Vec<_>>());
        }
        assert!((size(&record) + f64::ln(0.64)).abs() < 1e-9, "{}", size(&record));
    }

    #[test]
    fn a_change_before_it_is_measured_is_a_note() {
        let record = fixture::record(4, 0.0);
        let series = |trial: &model::TrialRecord| ChangedSeries {
            key: trial.key,
            variant: trial.variant,
            cell: None,
            metric: Metric::Throughput,
            points: Vec::new(),
            changes: vec![LevelChange { at_s: 31.0, before: 100.0, after: 80.0, causes: Vec::new() }],
        };
        let warming: Vec<ChangedSeries> = record.trials.iter().filter(|trial| trial.variant == 1).map(series).collect();
        let of = |launches: usize, variant| {
            while_warming(&record, &warming.iter().take(launches).collect::<Vec<_>>(), variant)
        };
        assert_eq!((of(1, 1), of(2, 0)), (None, None));
        let finding = of(2, 1).unwrap();
        assert_eq!(finding.severity, Severity::Note);
        assert_eq!(finding.facts.len(), 3);
        assert!(finding.facts[1].value.to_string().contains("(−20.0 %) after 31 s"), "{:?}", finding.facts);
    }

    #[test]
    fn what_does_not_decide_is_a_note() {
        let mut record = study([0, 8], 0.8, 1.0);
        record.study.decide.cell = Some("pages@20".to_owned());
        assert_eq!(severities(&record), [(Severity::Note, "on".to_owned())]);
        record.study.decide.cell = None;
        record.study.decide.primary = Metric::StartUp;
        assert_eq!(severities(&record), [(Severity::Note, "on".to_owned())]);
        // CPU per request is the same all the time here.
        record.study.decide.primary = Metric::CpuPerRequest;
        assert_eq!(severities(&record), [(Severity::Note, "on".to_owned())]);
    }

    #[test]
    fn the_story_has_time_levels_and_cause() {
        let mut record = study([0, 1], 0.8, 1.0);
        let changing = record.trials.iter_mut().filter(|trial| trial.variant == 1 && !trial.key.pilot).take(1);
        for sample in changing.flat_map(|trial| &mut trial.cells[0].samples) {
            let steal_cores = if sample.start_s < 12.0 { 0.0 } else { 0.5 };
            sample.host = Some(model::HostUse { steal_cores, ..model::HostUse::default() });
        }
        let boundaries = crate::Boundaries::standard();
        let found = rule(&record, &crate::assess(&record, &boundaries));
        let values = values(&found[0]);
        assert_eq!(values[0], "1 of 8");
        assert_eq!(values[1], "throughput from 1,000/s to 800/s (−20.0 %) after 12 s; steal 0.00 cores → 0.50 cores");
    }

    /// Studies of steady launches with noise that wanders and dips: never a veto.
    #[test]
    fn clean_studies_are_not_vetoed() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut record = fixture::record(8, 0.0);
        for _ in 0..250 {
            for trial in record.trials.iter_mut().filter(|trial| !trial.key.pilot) {
                let mut wander = 0.0;
                let rates: Vec<u64> = (0..60)
                    .map(|_| {
                        wander = 0.5 * wander + 0.015 * normal(&mut rng);
                        let dip = if rng.random_bool(0.05) { 0.3 * rng.random::<f64>() } else { 0.0 };
                        (1_000.0 * (wander - dip).exp()) as u64
                    })
                    .collect();
                trial.cells = vec![fixture::series(0, &rates)];
            }
            let found = severities(&record);
            assert!(found.iter().all(|(severity, _)| *severity < Severity::Invalid), "{found:?}");
        }
    }
}
