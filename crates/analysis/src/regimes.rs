//! Launches whose speed changed for good while it was measured, and what else changed at that moment.

use model::{
    Arrivals, CellIndex, CellRecord, ChangedSeries, Fact, HostUse, LevelChange, Metric, Outcome, Sample, StudyRecord,
    TrialRecord, text,
};

use crate::assess::Assessment;
use crate::blocks::{OTHERS_CORES, STEAL_CORES, THROTTLED_SHARE};
use crate::changepoint::{self, SHORTEST};
use crate::metrics;

/// Part of a second that a sample has to have for its rate to be one of a series: the last of a load may be shorter.
const WHOLE: f64 = 0.5;
/// Causes that are named of a change.
const MOST_CAUSES: usize = 2;
/// Relative move of the processors' frequency that is reported.
const FREQUENCY: f64 = 0.03;
/// Seconds before and after a change in which a process that ended is reported.
const NEAR_S: f64 = 5.0;

/// What speed is in a load: throughput where users ask at once. Where they think, or where the rate is the study's, throughput
/// says next to nothing of it; the median latency does.
pub fn speed(arrivals: &Arrivals) -> Metric {
    match arrivals {
        Arrivals::Closed { think: None, .. } => Metric::Throughput,
        _ => Metric::P50,
    }
}

/// The launches whose speed changed while it was measured.
pub fn changed<'a>(assessment: &'a Assessment) -> &'a [ChangedSeries] {
    assessment.changed.get_or_init(|| series(assessment.record))
}

/// Every series with a change, of all launches that ended well, in their order: of each measured cell whose load is the same
/// all the time, and no search for the limit, its speed and its server CPU per request, and the throughput of what is left of the warm-up when the launch has
/// been found steady.
fn series(record: &StudyRecord) -> Vec<ChangedSeries> {
    let completed = record.trials.iter().filter(|trial| trial.outcome == Outcome::Completed);
    completed
        .flat_map(|trial| {
            let cells = trial.cells.iter().flat_map(|cell| of_cell(record, trial, cell));
            warm_up(trial).into_iter().chain(cells)
        })
        .collect()
}

fn of_cell(record: &StudyRecord, trial: &TrialRecord, cell: &CellRecord) -> Vec<ChangedSeries> {
    let Some(planned) = record.plan.cells.get(cell.cell) else { return Vec::new() };
    let arrivals = &planned.shape.arrivals;
    if !arrivals.is_constant() || cell.search.is_some() {
        return Vec::new();
    }
    let looked_at = [speed(arrivals), Metric::CpuPerRequest];
    looked_at.into_iter().filter_map(|metric| of_series(trial, Some(cell.cell), metric, &cell.samples)).collect()
}

fn warm_up(trial: &TrialRecord) -> Option<ChangedSeries> {
    let warm_up = trial.warm_up.as_ref()?;
    let steady_at = warm_up.steady_at_s()?;
    let steady = warm_up.samples.iter().position(|sample| sample.start_s >= steady_at)?;
    of_series(trial, None, Metric::Throughput, &warm_up.samples[steady..])
}

/// The series of a metric, if its level changes.
fn of_series(
    trial: &TrialRecord,
    cell: Option<CellIndex>,
    metric: Metric,
    samples: &[Sample],
) -> Option<ChangedSeries> {
    let seen: Vec<(&Sample, f64)> = samples
        .iter()
        .filter(|sample| sample.length_s > WHOLE)
        .filter_map(|sample| Some((sample, value(sample, metric)?)))
        .collect();
    let values: Vec<f64> = seen.iter().map(|(_, value)| *value).collect();
    let change = |shift: &changepoint::Shift| {
        let at_s = seen[shift.index].0.start_s;
        LevelChange { at_s, before: shift.before, after: shift.after, causes: causes(samples, at_s) }
    };
    let changes: Vec<LevelChange> = changepoint::shifts(&values).iter().map(change).collect();
    (!changes.is_empty()).then(|| ChangedSeries {
        key: trial.key,
        variant: trial.variant,
        cell,
        metric,
        points: seen.iter().map(|(sample, value)| [sample.start_s, *value]).collect(),
        changes,
    })
}

/// A metric of one second, above zero; `None` where it has none.
fn value(sample: &Sample, metric: Metric) -> Option<f64> {
    let good = sample.tally.good as f64;
    let value = match metric {
        // A second without an answer has a logarithm, too: that of half an answer.
        Metric::Throughput => good.max(0.5) / sample.length_s,
        Metric::CpuPerRequest => sample.server.as_ref()?.cpu_s * 1e6 / good,
        _ => sample.latency().quantile(metric.quantile()?) as f64,
    };
    (value.is_finite() && value > 0.0).then_some(value)
}

/// Something that is sampled beside the load and that may explain a change.
struct Suspect {
    name: &'static str,
    of: fn(&Sample) -> Option<f64>,
    /// How much of it changing is reported.
    least: f64,
    write: fn(f64) -> String,
}

const SUSPECTS: [Suspect; 6] = [
    Suspect { name: "throttled by a CPU quota", of: throttled, least: THROTTLED_SHARE, write: text::percent },
    Suspect { name: "steal", of: |seen| host(seen, |host| host.steal_cores), least: STEAL_CORES, write: cores },
    Suspect {
        name: "other processes",
        of: |seen| host(seen, |host| host.others_cores),
        least: OTHERS_CORES,
        write: cores,
    },
    Suspect { name: "paused for garbage collection", of: gc_share, least: 0.02, write: text::percent },
    Suspect { name: "failed", of: failed, least: 0.01, write: text::percent },
    Suspect { name: "JIT compilation", of: jit, least: 0.1, write: cores },
];

/// What changed with the level at `at_s`: over up to [`SHORTEST`] seconds before and after it, what moved most in units of what
/// is named first. A process that ended goes before all, then a frequency that moved.
fn causes(samples: &[Sample], at_s: f64) -> Vec<Fact> {
    let middle = samples.partition_point(|sample| sample.start_s < at_s);
    let before = &samples[middle.saturating_sub(SHORTEST)..middle];
    let after = &samples[middle..(middle + SHORTEST).min(samples.len())];
    let mut moved: Vec<(f64, Fact)> = SUSPECTS
        .iter()
        .filter_map(|suspect| {
            let [from, to] = [mean(before, suspect.of)?, mean(after, suspect.of)?];
            let size = (to - from).abs() / suspect.least;
            let reported = format!("{} → {}", (suspect.write)(from), (suspect.write)(to));
            (size >= 1.0).then(|| (size, Fact::new(suspect.name, reported)))
        })
        .collect();
    moved.sort_by(|a, b| b.0.total_cmp(&a.0));
    let causes = ended(samples, at_s).into_iter().chain(frequency(before, after));
    causes.chain(moved.into_iter().map(|(_, fact)| fact)).take(MOST_CAUSES).collect()
}

fn mean(samples: &[Sample], of: fn(&Sample) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = samples.iter().filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn host(sample: &Sample, of: fn(&HostUse) -> f64) -> Option<f64> {
    sample.host.as_ref().map(of)
}

/// Part of the time that the server's control group was throttled, or ours that it shares.
fn throttled(sample: &Sample) -> Option<f64> {
    let own = sample.server.as_ref().and_then(|server| server.throttled_s);
    Some(own.or_else(|| host(sample, |host| host.throttled_s))? / sample.length_s)
}

fn gc_share(sample: &Sample) -> Option<f64> {
    Some(metrics::gc_s(sample)? / sample.length_s)
}

fn failed(sample: &Sample) -> Option<f64> {
    (sample.tally.ended() > 0).then(|| sample.tally.failed_share())
}

fn jit(sample: &Sample) -> Option<f64> {
    Some(metrics::jit_s(sample)? / sample.length_s)
}

/// Processes of the server that ended near a moment: it, or a part of it, was replaced.
fn ended(samples: &[Sample], at_s: f64) -> Option<Fact> {
    let near = samples.iter().filter(|sample| (sample.start_s - at_s).abs() <= NEAR_S);
    let ended: u32 = near.filter_map(|sample| sample.server.as_ref()?.ended).sum();
    (ended > 0).then(|| Fact::new("processes of the server that ended", ended.to_string()))
}

fn frequency(before: &[Sample], after: &[Sample]) -> Option<Fact> {
    let mhz = |sample: &Sample| sample.host.as_ref()?.mhz;
    let [from, to] = [mean(before, mhz)?, mean(after, mhz)?];
    let has_moved = from > 0.0 && (to / from - 1.0).abs() >= FREQUENCY;
    has_moved.then(|| Fact::new("the processor's frequency", format!("{from:.0} → {to:.0} MHz")))
}

fn cores(cores: f64) -> String {
    format!("{cores:.2} cores")
}

#[cfg(test)]
mod tests {
    use model::{CollectorUse, Failure, JvmCounters, JvmUse, ServerUse, Steady};

    use super::*;
    use crate::fixture;

    /// What is sampled beside a load changes at this second.
    const AT: usize = 14;

    /// A record whose last launch has 30 s of a cell at 1,000/s that become 850/s.
    fn slowed() -> StudyRecord {
        let mut record = fixture::record(5, 0.0);
        let rates: Vec<u64> = (0..30).map(|second| if second < AT { 1_000 } else { 850 }).collect();
        record.trials.last_mut().unwrap().cells[0] = fixture::series(1, &rates);
        record
    }

    fn later(record: &mut StudyRecord, change: impl Fn(&mut Sample)) {
        record.trials.last_mut().unwrap().cells[0].samples[AT..].iter_mut().for_each(change);
    }

    fn reported(record: &StudyRecord) -> Vec<(String, String)> {
        let changed = series(record);
        let throughput: Vec<_> = changed.iter().filter(|series| series.metric == Metric::Throughput).collect();
        let [series] = throughput[..] else { panic!("{changed:?}") };
        let [change] = &series.changes[..] else { panic!("{series:?}") };
        assert!((change.at_s - AT as f64).abs() < 1e-9, "{change:?}");
        assert!((change.log_ratio() - 0.85_f64.ln()).abs() < 1e-9, "{change:?}");
        assert_eq!((series.key, series.cell, series.points.len()), (record.trials.last().unwrap().key, Some(1), 30));
        change.causes.iter().map(|cause| (cause.name.clone(), cause.value.to_string())).collect()
    }

    #[test]
    fn a_cause_is_named_when_it_was_seen() {
        assert_eq!(reported(&slowed()), []);
        let host = |host: HostUse| {
            let mut record = slowed();
            let samples = &mut record.trials.last_mut().unwrap().cells[0].samples;
            for sample in samples {
                sample.host = Some(HostUse { mhz: Some(3_000.0), ..HostUse::default() });
            }
            later(&mut record, |sample| sample.host = Some(host.clone()));
            reported(&record)
        };
        let quiet = HostUse { mhz: Some(3_000.0), ..HostUse::default() };
        let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(host(quiet.clone()), []);
        assert_eq!(host(HostUse { steal_cores: 0.4, ..quiet.clone() }), pair("steal", "0.00 cores → 0.40 cores"));
        assert_eq!(
            host(HostUse { others_cores: 1.5, ..quiet.clone() }),
            pair("other processes", "0.00 cores → 1.50 cores")
        );
        assert_eq!(
            host(HostUse { throttled_s: 0.3, ..quiet.clone() }),
            pair("throttled by a CPU quota", "0.0 % → 30.0 %")
        );
        assert_eq!(host(HostUse { mhz: Some(2_500.0), ..quiet }), pair("the processor's frequency", "3000 → 2500 MHz"));
        let server = |change: fn(&mut ServerUse)| {
            let mut record = slowed();
            later(&mut record, |sample| change(sample.server.as_mut().unwrap()));
            reported(&record)
        };
        assert_eq!(
            server(|server| server.ended = Some(1)),
            pair("processes of the server that ended", "6"),
            "one in each second up to five after"
        );
        let mut record = slowed();
        for (second, sample) in record.trials.last_mut().unwrap().cells[0].samples.iter_mut().enumerate() {
            let counters = JvmCounters { jit_s: if second < AT { 0.0 } else { 0.8 }, ..JvmCounters::default() };
            sample.server.as_mut().unwrap().jvm = Some(JvmUse { counters: Some(counters), gc: None });
        }
        assert_eq!(reported(&record), pair("JIT compilation", "0.00 cores → 0.80 cores"));
        let mut record = slowed();
        for (second, sample) in record.trials.last_mut().unwrap().cells[0].samples.iter_mut().enumerate() {
            let time_s = if second < AT { 0.01 } else { 0.16 };
            let pauses = CollectorUse { name: "G1 pauses".to_owned(), count: 1, time_s };
            let counters = JvmCounters { collectors: vec![pauses], ..JvmCounters::default() };
            sample.server.as_mut().unwrap().jvm = Some(JvmUse { counters: Some(counters), gc: None });
        }
        assert_eq!(reported(&record), pair("paused for garbage collection", "1.0 % → 16.0 %"));
        let mut record = slowed();
        later(&mut record, |sample| sample.tally.failures = [(Failure::Status, 150)].into());
        assert_eq!(reported(&record), pair("failed", "0.0 % → 15.0 %"));
    }

    #[test]
    fn a_steady_launch_has_no_series() {
        let mut record = fixture::record(5, 0.0);
        record.trials.last_mut().unwrap().cells[0] = fixture::series(1, &[1_000; 30]);
        assert_eq!(series(&record), []);
        // What failed is reported elsewhere.
        let mut record = slowed();
        fixture::fail(record.trials.last_mut().unwrap());
        assert_eq!(series(&record), []);
    }

    #[test]
    fn at_a_rate_it_is_latency_that_changes() {
        let mut record = fixture::open(5, 0.0);
        let mut cell = fixture::series(1, &[1_000; 30]);
        for (second, sample) in cell.samples.iter_mut().enumerate() {
            (0..50).for_each(|_| sample.service.record(if second < AT { 1_000 } else { 2_000 }));
        }
        record.trials.last_mut().unwrap().cells[0] = cell;
        let found = series(&record);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].metric, found[0].changes[0].at_s), (Metric::P50, AT as f64));
    }

    #[test]
    fn the_warm_up_is_looked_at_from_where_it_was_found_steady() {
        let mut record = fixture::record(5, 0.0);
        let rates: Vec<u64> = (0..80)
            .map(|second| {
                if second < 20 {
                    400
                } else if second < 65 {
                    1_000
                } else {
                    800
                }
            })
            .collect();
        let warm_up = record.trials.last_mut().unwrap().warm_up.as_mut().unwrap();
        warm_up.samples = fixture::series(0, &rates).samples;
        warm_up.steady = Some(Steady { from_s: 20.0, at_s: 40.0 });
        let found = series(&record);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].cell, found[0].changes.len(), found[0].changes[0].at_s), (None, 1, 65.0));
    }
}
