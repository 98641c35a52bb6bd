//! One number for each launch: requests and seconds are never replicates.

use std::collections::HashMap;

use model::report::ServerTime;
use model::sample::Switches;
use model::search::Recovery;
use model::{
    CellIndex, CellRecord, GcUse, Histogram, JvmUse, Metric, READY_POLL, Sample, StudyRecord, TrialKey, TrialRecord,
    sample,
};

use crate::quantity::{Quantity, weighed};
use crate::warm_up::{self, Warm};

/// CPU time comes in steps of this, seconds: the kernel reports it in hundredths, user and system each for itself.
const CPU_STEP_S: f64 = 0.02;

/// The metric of one launch, in its unit ([`Metric::unit`]), with its resolution: of `cell`, or over all its cells together (the
/// geometric mean). Metrics of the launch ([`Metric::is_per_cell`] is false) take no notice of `cell`.
///
/// `None` where it was not measured, is not supported by the number of answers, or is not above zero (it has no
/// logarithm then).
pub fn quantity(trial: &TrialRecord, metric: Metric, cell: Option<CellIndex>) -> Option<Quantity> {
    let reading = match metric {
        Metric::StartUp => trial.launch.as_ref().map(|launch| reported(launch.ready_s, READY_POLL.as_secs_f64())),
        Metric::WarmUpTime => warm(trial).map(|warm| reported(warm.seconds, warm.next.0)),
        Metric::WarmUpRequests => warm(trial).map(|warm| reported(warm.requests, warm.next.1)),
        Metric::Memory => peak_memory(trial).map(|bytes| Quantity::from(bytes as f64)),
        _ => match cell {
            Some(cell) => {
                in_cell(trial.cells.iter().find(|record| record.cell == cell && has(record, metric))?, metric)
            }
            None => over_cells(trial, metric),
        },
    };
    reading.filter(|reading| reading.value.is_finite() && reading.value > 0.0)
}

/// [`reading`], without its resolution.
pub fn value(trial: &TrialRecord, metric: Metric, cell: Option<CellIndex>) -> Option<f64> {
    quantity(trial, metric, cell).map(|reading| reading.value)
}

/// A number that comes in steps of `step`, in its unit.
fn reported(value: f64, step: f64) -> Quantity {
    Quantity::in_steps(value, step, value)
}

fn warm(trial: &TrialRecord) -> Option<Warm> {
    warm_up::warm(trial.warm_up.as_ref()?)
}

fn over_cells(trial: &TrialRecord, metric: Metric) -> Option<Quantity> {
    geometric_mean(trial.cells.iter().filter(|cell| has(cell, metric)).map(|cell| in_cell(cell, metric)))
}

/// Whether a cell is one that this metric is of. What a search shows at its limit is at a rate of its own: speeds there are not to be compared.
fn has(cell: &CellRecord, metric: Metric) -> bool {
    let is_of_rate = metric == Metric::Throughput || metric.quantile().is_some();
    if cell.search.is_some() { !is_of_rate } else { !metric.is_of_limit() }
}

/// exp of the mean of the logs; `None` when there are none or one is missing.
fn geometric_mean(readings: impl Iterator<Item = Option<Quantity>>) -> Option<Quantity> {
    let above_zero = |reading: Option<Quantity>| reading.filter(|reading| reading.value > 0.0);
    let logs: Vec<Quantity> = readings.map(|reading| above_zero(reading).map(Quantity::ln)).collect::<Option<_>>()?;
    let even = 1.0 / logs.len() as f64;
    (!logs.is_empty()).then(|| weighed(logs.into_iter().map(|log| (even, log))).exp())
}

/// The numbers of every launch, by its place in the plan.
pub type Launches = HashMap<TrialKey, Numbers>;

/// The numbers of every launch of a run.
pub fn launches(record: &StudyRecord) -> Launches {
    record.trials.iter().map(|trial| (trial.key, Numbers::of(trial))).collect()
}

/// Every metric of one launch, worked out once: merging histograms is what costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    launch: Vec<(Metric, Option<Quantity>)>,
    cells: Vec<(CellIndex, Metric, Option<Quantity>)>,
}

impl Numbers {
    /// The numbers of a launch.
    pub fn of(trial: &TrialRecord) -> Self {
        let launch = Metric::ALL.into_iter().filter(|metric| !metric.is_per_cell());
        let cells = trial.cells.iter().flat_map(|cell| {
            let latency = sample::latency(&cell.samples);
            Metric::ALL.into_iter().filter(|metric| metric.is_per_cell() && has(cell, *metric)).map(move |metric| {
                let reading = metric.quantile().map_or_else(|| in_cell(cell, metric), |q| quantile(&latency, q));
                (cell.cell, metric, reading)
            })
        });
        Self { launch: launch.map(|metric| (metric, quantity(trial, metric, None))).collect(), cells: cells.collect() }
    }

    /// As [`reading`].
    pub fn get(&self, metric: Metric, cell: Option<CellIndex>) -> Option<Quantity> {
        if let Some((_, reading)) = self.launch.iter().find(|(of, _)| *of == metric) {
            return *reading;
        }
        let mut of_metric = self.cells.iter().filter(|(_, of, _)| *of == metric);
        let reading = match cell {
            Some(cell) => of_metric.find(|(in_cell, _, _)| *in_cell == cell)?.2,
            None => geometric_mean(of_metric.map(|(_, _, reading)| *reading)),
        };
        reading.filter(|reading| reading.value > 0.0)
    }
}

fn in_cell(cell: &CellRecord, metric: Metric) -> Option<Quantity> {
    match metric {
        Metric::Throughput => {
            Some(Quantity::in_steps(throughput(cell)?, 1.0, sample::tally(&cell.samples).good as f64))
        }
        Metric::CpuPerRequest => {
            let (value, (cpu_s, good)) = (cpu_per_request(&cell.samples)?, cpu(&cell.samples));
            // Both are counted: the time in steps of the clock, what it was for in answers.
            let resolution = CPU_STEP_S / cpu_s + 1.0 / good as f64;
            Some(Quantity { value, resolution })
        }
        Metric::Capacity => {
            let (value, resolution) = cell.search.as_ref()?.end.capacity()?;
            Some(Quantity { value, resolution })
        }
        Metric::Goodput => {
            let overload = cell.search.as_ref()?.overload.as_ref()?;
            // Where nothing was in time, less than one answer was.
            let counted = overload.in_time.max(1) as f64;
            Some(Quantity::in_steps(counted / overload.length_s, 1.0, counted))
        }
        Metric::RecoveryTime => match cell.search.as_ref()?.overload.as_ref()?.recovery {
            Recovery::After { seconds } => Some(reported(seconds, 1.0)),
            Recovery::NotWithin { .. } => None,
        },
        _ => quantile(&sample::latency(&cell.samples), metric.quantile()?),
    }
}

/// Good answers per second of a measured cell; `None` when it was measured for no time.
pub fn throughput(cell: &CellRecord) -> Option<f64> {
    let seconds = sample::seconds(&cell.samples);
    (seconds > 0.0).then(|| sample::tally(&cell.samples).good as f64 / seconds)
}

/// A quantile of latency in µs, from the merged histogram, which reports it in whole µs and to three digits; `None` with fewer than 100
/// answers beyond it.
fn quantile(latency: &Histogram, q: f64) -> Option<Quantity> {
    let us = latency.supported_quantile(q)? as f64;
    Some(reported(us, f64::max(1.0, us * Histogram::PRECISION)))
}

/// CPU time of the server's process tree per good answer, µs, over the samples in which it could be read.
pub fn cpu_per_request(samples: &[Sample]) -> Option<f64> {
    let (cpu_s, good) = cpu(samples);
    (good > 0).then(|| cpu_s * 1e6 / good as f64)
}

/// CPU time of the server's process tree, s, and good answers of the samples in which it could be read.
fn cpu(samples: &[Sample]) -> (f64, u64) {
    let read = samples.iter().filter_map(|sample| Some((sample.server.as_ref()?.cpu_s, sample.tally.good)));
    read.fold((0.0, 0), |(cpu_s, good), (more_s, more)| (cpu_s + more_s, good + more))
}

/// What the server's time went into in a measured cell.
pub fn server_time(cell: &CellRecord) -> ServerTime {
    let per_request = |of: fn(&Sample) -> Option<f64>| {
        let read = || cell.samples.iter().filter_map(|sample| Some((of(sample)?, sample.tally.good)));
        let good: u64 = read().map(|(_, good)| good).sum();
        (good > 0).then(|| read().map(|(value, _)| value).sum::<f64>() / good as f64)
    };
    let per_second = |of: &dyn Fn(&Sample) -> Option<f64>| {
        let read = || cell.samples.iter().filter_map(|sample| Some((of(sample)?, sample.length_s)));
        let seconds: f64 = read().map(|(_, length_s)| length_s).sum();
        (seconds > 0.0).then(|| read().map(|(value, _)| value).sum::<f64>() / seconds)
    };
    let cores = cell.samples.iter().filter_map(|sample| Some(sample.host.as_ref()?.per_core.len())).max();
    let busy = |core: usize| per_second(&|sample| Some(sample.host.as_ref()?.per_core.get(core)? * sample.length_s));
    let classes = || cell.samples.iter().filter_map(|sample| Some(jvm(sample)?.counters.as_ref()?.classes));
    ServerTime {
        cores: per_second(&|sample| Some(sample.server.as_ref()?.cpu_s)),
        busiest_core: (0..cores.unwrap_or(0)).filter_map(busy).max_by(f64::total_cmp),
        services_cpu_per_request: per_request(|sample| {
            let host = sample.host.as_ref()?;
            Some(host.services_cores? * host.elapsed_s * 1e6)
        }),
        system_cpu_per_request: per_request(|sample| Some(sample.server.as_ref()?.system_s? * 1e6)),
        waits_per_request: per_request(|sample| Some(switches(sample)?.voluntary as f64)),
        preemptions_per_request: per_request(|sample| Some(switches(sample)?.involuntary as f64)),
        gc_share: per_second(&gc_s),
        safepoint_share: per_second(&|sample| Some(jvm(sample)?.counters.as_ref()?.safepoint_s)),
        classes_loaded: classes().next().map(|_| classes().sum::<u64>() as f64),
        jit_per_request: per_request(|sample| Some(jit_s(sample)? * 1e6)),
        allocated_per_request: per_request(|sample| Some(jvm(sample)?.gc.as_ref()?.allocated_bytes as f64))
            .filter(|_| collected_samples(cell) >= 2),
        exceptions_per_request: cell.jruby.and_then(|counts| per_good(counts.exceptions as f64, cell.whole())),
        jruby_compiled: cell.jruby.and_then(|counts| Some(counts.compiled? as f64)),
        collections_per_request: cell.ruby_gc.and_then(|gc| per_good(gc.collections as f64, cell.whole())),
        collecting_per_request: cell.ruby_gc.and_then(|gc| per_good(gc.time_s? * 1e6, cell.whole())),
        objects_per_request: cell.ruby_gc.and_then(|gc| per_good(gc.allocated_objects as f64, cell.whole())),
    }
}

/// Highest resident memory of the server while a cell was measured, bytes.
pub fn cell_memory(cell: &CellRecord) -> Option<f64> {
    let sampled = cell.samples.iter().filter_map(|sample| sample.server.as_ref());
    sampled.map(|server| server.rss_bytes as f64).max_by(f64::total_cmp)
}

fn per_good<'a>(amount: f64, samples: impl IntoIterator<Item = &'a Sample>) -> Option<f64> {
    let good: u64 = samples.into_iter().map(|sample| sample.tally.good).sum();
    (good > 0).then(|| amount / good as f64)
}

/// Samples in which the heap was collected: what is allocated is known between two of them only.
fn collected_samples(cell: &CellRecord) -> usize {
    let collected = |sample: &&Sample| {
        let gc = jvm(sample).and_then(|jvm| jvm.gc.as_ref());
        gc.is_some_and(|gc| gc.heap_after_bytes.is_some())
    };
    cell.samples.iter().filter(collected).count()
}

fn switches(sample: &Sample) -> Option<&Switches> {
    sample.server.as_ref()?.switches.as_ref()
}

fn jvm(sample: &Sample) -> Option<&JvmUse> {
    sample.server.as_ref()?.jvm.as_ref()
}

/// Seconds of compiling that a sample has, all compiler threads together; `None` where the server reports none.
pub fn jit_s(sample: &Sample) -> Option<f64> {
    Some(jvm(sample)?.counters.as_ref()?.jit_s)
}

/// Time that the JVM was paused for garbage collection in a sample, seconds: by its log, or, where it has none, by the
/// counters of pauses. What calls itself otherwise (Shenandoah's) counts more than pauses.
pub fn gc_s(sample: &Sample) -> Option<f64> {
    let jvm = jvm(sample)?;
    let counted = || {
        let collectors = jvm.counters.as_ref()?.collectors.iter();
        Some(collectors.filter(|collector| collector.name.ends_with("pauses")).map(|collector| collector.time_s).sum())
    };
    jvm.gc.as_ref().map(GcUse::paused_s).or_else(counted)
}

/// CPU time of the load generator, in cores: 1.0 = its one thread was busy all the time.
pub fn client_cores(cell: &CellRecord) -> f64 {
    let seconds = sample::seconds(&cell.samples);
    let cpu: f64 = cell.samples.iter().map(|sample| sample.client_cpu_s).sum();
    if seconds > 0.0 { cpu / seconds } else { 0.0 }
}

/// Highest resident memory seen in a launch, bytes.
pub fn peak_memory(trial: &TrialRecord) -> Option<u64> {
    let warm_up = trial.warm_up.iter().flat_map(|warm_up| &warm_up.samples);
    let measured = trial.cells.iter().flat_map(CellRecord::whole);
    warm_up.chain(measured).filter_map(|sample| sample.server.as_ref()).map(|server| server.rss_bytes).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn close(left: Option<f64>, right: f64) -> bool {
        left.is_some_and(|left| (left / right - 1.0).abs() < 1e-9)
    }

    #[test]
    fn by_hand() {
        let mut trial = fixture::trial(0, 0);
        trial.cells = vec![fixture::cell(0, 100.0), fixture::cell(1, 400.0)];
        assert!(close(value(&trial, Metric::Throughput, Some(0)), 100.0));
        assert!(close(value(&trial, Metric::Throughput, Some(1)), 400.0));
        assert!(close(value(&trial, Metric::Throughput, None), 200.0));
        assert_eq!(value(&trial, Metric::Throughput, Some(2)), None);
        assert!(close(value(&trial, Metric::StartUp, None), fixture::READY_S));
        // The server uses half a core whatever it answers.
        assert!(close(value(&trial, Metric::CpuPerRequest, Some(0)), 5_000.0));
        assert!(close(value(&trial, Metric::CpuPerRequest, None), 2_500.0));
    }

    #[test]
    fn the_servers_time_is_taken_apart() {
        let mut trial = fixture::trial(0, 0);
        trial.cells = vec![fixture::cell(0, 100.0)];
        // 4 s in which the server used half a core.
        let known = server_time(&trial.cells[0]);
        assert!(close(known.cores, 0.5), "{known:?}");
        assert!(ServerTime { cores: None, ..known }.is_empty(), "{known:?}");
        for (second, sample) in trial.cells[0].samples.iter_mut().enumerate() {
            let gc = GcUse {
                pauses_s: vec![0.01, 0.04],
                heap_after_bytes: Some(1),
                live_bytes: None,
                allocated_bytes: 50_000,
            };
            let counters =
                model::JvmCounters { jit_s: 0.2, safepoint_s: 0.06, classes: 3, ..model::JvmCounters::default() };
            // One core is busy at first, then the other, and a little more in all.
            let per_core = if second < 2 { vec![0.9, 0.1] } else { vec![0.2, 1.0] };
            sample.host = Some(model::HostUse { per_core, ..model::HostUse::default() });
            let server = sample.server.as_mut().unwrap();
            server.system_s = Some(0.1);
            server.switches = Some(Switches { voluntary: 250, involuntary: 30 });
            server.jvm = Some(JvmUse { counters: Some(counters), gc: Some(gc) });
        }
        let time = server_time(&trial.cells[0]);
        assert!(close(time.system_cpu_per_request, 1_000.0), "{time:?}");
        assert!(close(time.gc_share, 0.05) && close(time.safepoint_share, 0.06), "{time:?}");
        assert!(close(time.waits_per_request, 2.5) && close(time.preemptions_per_request, 0.3), "{time:?}");
        assert!(close(time.busiest_core, 0.55) && close(time.classes_loaded, 12.0), "{time:?}");
        assert!(close(time.jit_per_request, 2_000.0), "{time:?}");
        assert!(close(time.allocated_per_request, 500.0), "{time:?}");
        assert_eq!(time.exceptions_per_request, None);

        // 4 s of 100 answers.
        trial.cells[0].jruby = Some(model::JrubyCounts { exceptions: 2_000, compiled: None });
        let time = server_time(&trial.cells[0]);
        assert!(close(time.exceptions_per_request, 5.0) && time.jruby_compiled.is_none(), "{time:?}");
    }

    #[test]
    fn what_mri_collected_in_a_load_is_shared_among_its_answers() {
        let mut cell = fixture::cell(0, 250.0);
        assert_eq!(server_time(&cell).collections_per_request, None);
        // 1,000 answers.
        let gc = model::RubyGc { collections: 40, major: 4, time_s: Some(0.5), allocated_objects: 9_000 };
        cell.ruby_gc = Some(gc);
        let time = server_time(&cell);
        assert!(close(time.collections_per_request, 0.04) && close(time.collecting_per_request, 500.0), "{time:?}");
        assert!(close(time.objects_per_request, 9.0), "{time:?}");
        // Before 3.1 Ruby counted no time.
        cell.ruby_gc = Some(model::RubyGc { time_s: None, ..gc });
        let time = server_time(&cell);
        assert!(close(time.collections_per_request, 0.04) && time.collecting_per_request.is_none(), "{time:?}");
    }

    #[test]
    fn what_is_allocated_is_absent_without_two_collections() {
        let mut trial = fixture::trial(0, 0);
        trial.cells = vec![fixture::cell(0, 100.0)];
        let cell = &mut trial.cells[0];
        let mut known = Vec::new();
        for collected in 0..3 {
            for (index, sample) in cell.samples.iter_mut().enumerate() {
                let gc = if index < collected {
                    GcUse { pauses_s: vec![0.01], heap_after_bytes: Some(1), live_bytes: None, allocated_bytes: 50_000 }
                } else {
                    GcUse::default()
                };
                sample.server.as_mut().unwrap().jvm = Some(JvmUse { counters: None, gc: Some(gc) });
            }
            let time = server_time(cell);
            assert!(time.gc_share.is_some(), "no pause is known to be none");
            known.push(time.allocated_per_request.is_some());
        }
        assert_eq!(known, [false, false, true]);
    }

    #[test]
    fn quantiles_come_from_merged_histograms_and_need_support() {
        let mut trial = fixture::trial(0, 0);
        trial.cells = vec![fixture::cell(0, 250.0)];
        // 4 s of 250 answers: one second alone supports no P90, all together do; P99 would need 10,000.
        assert!(value(&trial, Metric::P90, Some(0)).is_some());
        assert_eq!(value(&trial, Metric::P99, Some(0)), None);
    }

    #[test]
    fn numbers_worked_out_at_once_are_the_same() {
        let mut trial = fixture::trial(0, 0);
        trial.cells = vec![fixture::cell(0, 100.0), fixture::cell(1, 4_000.0)];
        let numbers = Numbers::of(&trial);
        for metric in Metric::ALL {
            for cell in [None, Some(0), Some(1), Some(2)] {
                assert_eq!(numbers.get(metric, cell), quantity(&trial, metric, cell), "{metric} of {cell:?}");
            }
        }
    }

    #[test]
    fn nothing_answered_has_no_logarithm() {
        let mut trial = fixture::trial(0, 0);
        trial.cells = vec![fixture::cell(0, 0.0), fixture::cell(1, 100.0)];
        assert_eq!(value(&trial, Metric::Throughput, Some(0)), None);
        assert_eq!(value(&trial, Metric::Throughput, None), None);
        assert_eq!(value(&trial, Metric::CpuPerRequest, Some(0)), None);
    }
}
