//! What was measured, as a report shows it.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use model::report::{
    BlockSummary, CellName, FailedTrial, LaunchNumbers, Measurement, Percentile, Reproduce, ServerTime, StepSummary,
    VariantSummary, WarmUpSeries,
};
use model::sample::{StepUse, Walked};
use model::warm_up::Spread;
use model::{
    CellRecord, Histogram, Metric, Mode, Outcome, Sample, Setting, SettingResult, StudyRecord, TrialRecord,
    VariantIndex, sample, text,
};
use runtimes::Key;

use crate::assess::Assessment;
use crate::blocks::{self, BlockStatus, Trials};
use crate::compare::Primary;
use crate::metrics::Launches;
use crate::{metrics, robust};

/// Percentiles shown where the number of answers supports them.
const PERCENTS: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

/// The variants, baseline first.
pub fn variants(record: &StudyRecord) -> Vec<VariantSummary> {
    (0..record.study.variants.len()).map(|variant| summary(record, variant)).collect()
}

fn summary(record: &StudyRecord, index: VariantIndex) -> VariantSummary {
    let variant = &record.study.variants[index];
    let launches = || record.trials.iter().filter(|trial| trial.variant == index);
    let completed = || launches().filter(|t| !t.key.pilot && t.outcome == Outcome::Completed);
    let first = launches().find_map(|trial| trial.launch.as_ref());
    let failed = |trial: &TrialRecord| match &trial.outcome {
        Outcome::Failed(failed) => Some(FailedTrial { key: trial.key, failed: failed.clone() }),
        Outcome::Completed => None,
    };
    let ready: Vec<f64> = launches().filter_map(|trial| Some(trial.launch.as_ref()?.ready_s)).collect();
    let warm_ups: Vec<Option<f64>> =
        launches().filter_map(|trial| Some(trial.warm_up.as_ref()?.steady_at_s())).collect();
    let steady: Vec<f64> = warm_ups.iter().copied().flatten().collect();
    VariantSummary {
        name: variant.name.clone(),
        levels: variant.levels.clone(),
        completed: completed().count() as u32,
        failed: launches().filter_map(failed).collect(),
        settings: settings(launches()),
        command: first.map(|launch| launch.command.clone()).unwrap_or_default(),
        versions: first.map(|launch| launch.versions.clone()).unwrap_or_default(),
        ready_s: robust::median(&ready),
        steady_s: robust::median(&steady),
        steady: [steady.len() as u32, warm_ups.len() as u32],
        memory_bytes: launches().filter_map(metrics::peak_memory).max(),
    }
}

/// Each setting as the first launch that has it read it. Where that is as it should be and a number, and launches differ, what they had:
/// the median, and from where to where.
fn settings<'a>(launches: impl Iterator<Item = &'a TrialRecord>) -> Vec<Setting> {
    let mut all: IndexMap<(&Key, &str, &str), Vec<&Setting>> = IndexMap::new();
    for setting in launches.flat_map(|trial| &trial.settings) {
        all.entry((&setting.key, &setting.name, &setting.requested)).or_default().push(setting);
    }
    let shown = |readings: Vec<&Setting>| {
        let numbers: Option<Vec<f64>> = readings.iter().map(|read| read.live.as_deref()?.trim().parse().ok()).collect();
        let numbers = robust::sorted(&numbers.unwrap_or_default());
        let span = match (robust::median(&numbers), numbers.first(), numbers.last()) {
            (Some(median), Some(least), Some(most)) if least < most => {
                let [median, least, most] = [median, *least, *most].map(|number| text::significant(number, 3));
                Some(format!("{median} ({least} to {most})"))
            }
            _ => None,
        };
        let first = readings[0];
        let live = span.filter(|_| first.result == SettingResult::InEffect).or_else(|| first.live.clone());
        Setting { live, ..first.clone() }
    };
    all.into_values().map(shown).collect()
}

/// The cells, in the plan's order.
pub fn cells(record: &StudyRecord) -> Vec<CellName> {
    let workload = |index: usize| record.study.workloads.get(index).map_or("?", |workload| workload.name.as_str());
    let cells = record.plan.cells.iter();
    cells
        .map(|cell| CellName {
            name: cell.name(&record.study.workloads),
            workload: workload(cell.workload).to_owned(),
            concurrency: (!cell.shape.arrivals.is_open()).then_some(cell.shape.connections),
        })
        .collect()
}

/// What each variant did in each cell, over the used blocks; `numbers` are those of the launches.
pub fn measurements(assessment: &Assessment, numbers: &[LaunchNumbers]) -> Vec<Measurement> {
    let record = assessment.record;
    let trials = Trials::of(record);
    let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
    (0..record.study.variants.len())
        .flat_map(|variant| {
            let launches: Vec<&TrialRecord> = used.iter().filter_map(|block| trials.get(*block, variant)).collect();
            let of_cell = move |cell| {
                let spreads = spreads(numbers, variant, cell);
                Some(Measurement { spreads, ..measurement(&launches, variant, cell)? })
            };
            (0..record.plan.cells.len()).filter_map(of_cell)
        })
        .collect()
}

/// What each measuring launch that ended well gave in each cell; `numbers` are those of the launches.
pub fn launches(assessment: &Assessment, numbers: &Launches) -> Vec<LaunchNumbers> {
    let used: Vec<u32> = blocks::used(&assessment.blocks).collect();
    let measured =
        assessment.record.trials.iter().filter(|trial| !trial.key.pilot && trial.outcome == Outcome::Completed);
    let of_trial = |trial: &TrialRecord| {
        let (key, variant) = (trial.key, trial.variant);
        let is_used = used.contains(&key.block);
        let of_cell = move |cell| {
            let metrics = Metric::ALL.into_iter().filter(|metric| metric.is_per_cell());
            let values = metrics.filter_map(|metric| Some((metric, numbers.get(&key)?.get(metric, Some(cell))?.value)));
            LaunchNumbers { key, variant, cell, is_used, values: values.collect() }
        };
        trial.cells.iter().map(|measured| measured.cell).map(of_cell).collect::<Vec<_>>()
    };
    measured.flat_map(of_trial).collect()
}

/// Each metric over the used launches of a variant.
fn spreads(numbers: &[LaunchNumbers], variant: VariantIndex, cell: usize) -> BTreeMap<Metric, Spread> {
    let own: Vec<_> = numbers.iter().filter(|one| one.is_used && (one.variant, one.cell) == (variant, cell)).collect();
    let values = |metric| own.iter().filter_map(|one| one.values.get(&metric).copied()).collect::<Vec<_>>();
    Metric::ALL.into_iter().filter_map(|metric| Some((metric, robust::spread(&values(metric))?))).collect()
}

fn measurement(launches: &[&TrialRecord], variant: VariantIndex, cell: usize) -> Option<Measurement> {
    let measured: Vec<_> =
        launches.iter().flat_map(|trial| &trial.cells).filter(|measured| measured.cell == cell).collect();
    let throughputs: Vec<f64> = measured.iter().filter_map(|cell| metrics::throughput(cell)).collect();
    let throughput = robust::median(&throughputs)?;
    let samples = || measured.iter().flat_map(|cell| &cell.samples);
    let (tally, latency) = (sample::tally(samples()), sample::latency(samples()));
    let client_cpu_s: f64 = samples().map(|sample| sample.client_cpu_s).sum();
    let cpu: Vec<f64> = measured.iter().filter_map(|cell| metrics::cpu_per_request(&cell.samples)).collect();
    Some(Measurement {
        variant,
        cell,
        requests: tally.ended(),
        failed_share: tally.failed_share(),
        throughput,
        throughput_range: [
            throughputs.iter().copied().fold(f64::INFINITY, f64::min),
            throughputs.iter().copied().fold(0.0, f64::max),
        ],
        percentiles: percentiles(&latency),
        cpu_per_request: robust::median(&cpu),
        spreads: BTreeMap::new(),
        memory_bytes: robust::median(
            &measured.iter().filter_map(|cell| metrics::cell_memory(cell)).collect::<Vec<_>>(),
        ),
        client_cpu_per_request: (tally.ended() > 0).then(|| client_cpu_s * 1e6 / tally.ended() as f64),
        server: typical(&measured.iter().map(|cell| metrics::server_time(cell)).collect::<Vec<_>>()),
        steps: steps(&measured),
    })
}

fn percentiles(times: &Histogram) -> Vec<Percentile> {
    let percentile = |percent: f64| Some(Percentile { percent, us: times.supported_quantile(percent / 100.0)? });
    PERCENTS.into_iter().filter_map(percentile).collect()
}

/// What the steps of a cell's scenarios did in these launches; empty without scenarios.
fn steps(measured: &[&CellRecord]) -> Vec<StepSummary> {
    let launches: Vec<(f64, Walked)> = measured
        .iter()
        .filter_map(|cell| Some((sample::seconds(&cell.samples), sample::walked(&cell.samples)?)))
        .filter(|(seconds, _)| *seconds > 0.0)
        .collect();
    let mut whole = Walked::default();
    for (_, walked) in &launches {
        whole.merge(walked);
    }
    let summary = |(name, step): (String, StepUse)| {
        let good = |walked: &Walked| walked.steps.get(&name).map_or(0, |own| own.tally.good) as f64;
        let rates: Vec<f64> = launches.iter().map(|(seconds, walked)| good(walked) / seconds).collect();
        Some(StepSummary {
            requests: step.tally.ended(),
            failed_share: step.tally.failed_share(),
            skipped: step.skipped,
            throughput: robust::median(&rates)?,
            percentiles: percentiles(&step.service),
            name,
        })
    };
    whole.steps.into_iter().filter_map(summary).collect()
}

/// The median of each figure.
fn typical(times: &[ServerTime]) -> ServerTime {
    let median = |of: fn(&ServerTime) -> Option<f64>| robust::median(&times.iter().filter_map(of).collect::<Vec<_>>());
    ServerTime {
        cores: median(|time| time.cores),
        busiest_core: median(|time| time.busiest_core),
        services_cpu_per_request: median(|time| time.services_cpu_per_request),
        system_cpu_per_request: median(|time| time.system_cpu_per_request),
        waits_per_request: median(|time| time.waits_per_request),
        preemptions_per_request: median(|time| time.preemptions_per_request),
        gc_share: median(|time| time.gc_share),
        safepoint_share: median(|time| time.safepoint_share),
        classes_loaded: median(|time| time.classes_loaded),
        jit_per_request: median(|time| time.jit_per_request),
        allocated_per_request: median(|time| time.allocated_per_request),
        exceptions_per_request: median(|time| time.exceptions_per_request),
        jruby_compiled: median(|time| time.jruby_compiled),
        collections_per_request: median(|time| time.collections_per_request),
        collecting_per_request: median(|time| time.collecting_per_request),
        objects_per_request: median(|time| time.objects_per_request),
    }
}

/// The primary metric of each measured block, used or not.
pub fn blocks(assessment: &Assessment) -> Vec<BlockSummary> {
    let Assessment { record, blocks, .. } = assessment;
    let primary = Primary::of(record);
    let trials = Trials::of(record);
    let value = |block, variant| {
        let trial = trials.get(block, variant)?;
        let is_whole = trial.outcome == Outcome::Completed;
        metrics::value(trial, primary.metric, primary.cell).filter(|_| is_whole)
    };
    blocks
        .iter()
        .map(|block| BlockSummary {
            block: block.index,
            order: record.plan.blocks[block.index as usize].trials.iter().map(|trial| trial.variant).collect(),
            values: (0..record.study.variants.len()).map(|variant| value(block.index, variant)).collect(),
            excluded: (block.status == BlockStatus::Excluded).then(|| block.disturbances.join("; ")),
        })
        .collect()
}

/// The warm-up of every launch.
pub fn warm_ups(record: &StudyRecord) -> Vec<WarmUpSeries> {
    let of = |trial: &TrialRecord| {
        let warm_up = trial.warm_up.as_ref()?;
        let samples = || warm_up.samples.iter().filter(|sample| sample.length_s > 0.0);
        let rate = |value: f64, sample: &Sample| [sample.start_s, value / sample.length_s];
        Some(WarmUpSeries {
            key: trial.key,
            variant: trial.variant,
            points: samples().map(|i| rate(i.tally.good as f64, i)).collect(),
            steady_at_s: warm_up.steady_at_s(),
            cpu: samples().filter_map(|i| Some(rate(i.server.as_ref()?.cpu_s, i))).collect(),
            gc: samples().filter_map(|i| Some(rate(metrics::gc_s(i)?, i))).collect(),
        })
    };
    record.trials.iter().filter_map(of).collect()
}

/// How to do it again.
pub fn reproduce(record: &StudyRecord, goes_on: Option<String>) -> Reproduce {
    let quick = if record.plan.mode == Mode::Quick { " --quick" } else { "" };
    Reproduce {
        command: format!("bakeoff run {} --seed {}{quick}", record.study.file, record.plan.seed),
        study: record.study.source.clone(),
        goes_on,
    }
}

#[cfg(test)]
mod tests {
    use model::{Failure, SettingSource};

    use super::*;
    use crate::fixture;

    #[test]
    fn steps_are_summed_over_launches_and_their_rate_is_the_median() {
        let plain =
            fixture::record(2, 0.0).trials.into_iter().find_map(|trial| trial.cells.into_iter().next()).unwrap();
        // Each second: so many orders of 10 ms and, a tenth of them failing, payments of 20 ms; one step is left out after a failure.
        let launch = |orders: u64| {
            let step = |good: u64, failed: u64, skipped: u64, us: u64| {
                let mut step = StepUse { skipped, ..StepUse::default() };
                step.tally.good = good;
                step.tally.failures.insert(Failure::Status, failed);
                (0..good).for_each(|_| step.service.record(us));
                step
            };
            let mut cell = plain.clone();
            for sample in &mut cell.samples {
                sample.length_s = 1.0;
                let (order, pay) = (step(orders, 0, 0, 10_000), step(orders * 9 / 10, orders / 10, 1, 20_000));
                let steps = [("order".to_owned(), order), ("pay".to_owned(), pay)].into();
                sample.walked = Some(Walked { steps, ..Walked::default() });
            }
            cell
        };
        let launches = [20, 60, 30].map(launch);
        let seconds: f64 = launches.iter().map(|cell| sample::seconds(&cell.samples)).sum();
        let of_each = seconds / 3.0;

        let found = steps(&launches.iter().collect::<Vec<_>>());

        let [order, pay] = &found[..] else { panic!("{found:?}") };
        assert_eq!((order.name.as_str(), pay.name.as_str()), ("order", "pay"));
        assert_eq!((order.requests as f64, order.skipped), (110.0 * of_each, 0));
        assert_eq!((pay.requests as f64, pay.skipped as f64), (110.0 * of_each, seconds));
        assert!((order.throughput - 30.0).abs() < 1e-9 && (pay.throughput - 27.0).abs() < 1e-9, "{found:?}");
        assert!(order.failed_share == 0.0 && (pay.failed_share - 0.1).abs() < 1e-9, "{found:?}");
        let median =
            |step: &StepSummary| step.percentiles.iter().find(|of| (of.percent - 50.0).abs() < 1e-9).unwrap().us as f64;
        assert!((median(order) / 10_000.0 - 1.0).abs() < 0.01 && (median(pay) / 20_000.0 - 1.0).abs() < 0.01);
        assert!(steps(&[&plain]).is_empty());
    }

    #[test]
    fn what_an_assertion_read_in_all_launches_is_reported_in_one() {
        let mut record = fixture::record(5, 0.0);
        let read = |live: &str, result| Setting {
            key: Key::Assertion("database's time".to_owned()),
            name: "database's time".to_owned(),
            requested: ">= 0".to_owned(),
            live: Some(live.to_owned()),
            default: None,
            source: SettingSource::Command,
            result,
            shared: false,
        };
        // As after loads: a pilot has none, and so has none of these.
        let own = record.trials.iter_mut().filter(|trial| trial.variant == 1).skip(1);
        for (trial, live) in own.zip(["3.25", "2.5", "4"]) {
            trial.settings.push(read(live, SettingResult::InEffect));
        }
        let reported = |record: &StudyRecord| {
            let settings = &variants(record)[1].settings;
            settings.iter().filter_map(|setting| setting.live.clone()).collect::<Vec<_>>()
        };
        assert_eq!(reported(&record), ["true", "3.25 (2.50 to 4.00)"]);
        // What is wrong is shown as it was seen.
        let first = record.trials.iter_mut().filter(|trial| trial.variant == 1).nth(1).unwrap();
        first.settings[1].result = SettingResult::Overridden;
        assert_eq!(reported(&record), ["true", "3.25"]);
    }
}
