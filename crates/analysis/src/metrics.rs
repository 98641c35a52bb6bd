//! One number for each launch: requests and seconds are never replicates.

use model::{CellIndex, CellRecord, Histogram, Metric, TrialRecord, interval};

/// The metric of one launch, in its unit ([`Metric::unit`]): of `cell`, or over all its cells together (the geometric
/// mean). Metrics of the launch ([`Metric::is_per_cell`] is false) take no notice of `cell`.
///
/// `None` where it was not measured, is not supported by the number of answers, or is not above zero (it has no
/// logarithm then).
pub fn value(trial: &TrialRecord, metric: Metric, cell: Option<CellIndex>) -> Option<f64> {
    let value = match metric {
        Metric::StartUp => trial.launch.as_ref().map(|launch| launch.ready_s),
        Metric::Memory => peak_memory(trial).map(|bytes| bytes as f64),
        _ => match cell {
            Some(cell) => in_cell(trial.cells.iter().find(|record| record.cell == cell)?, metric),
            None => over_cells(trial, metric),
        },
    };
    value.filter(|value| value.is_finite() && *value > 0.0)
}

fn over_cells(trial: &TrialRecord, metric: Metric) -> Option<f64> {
    geometric_mean(trial.cells.iter().map(|cell| in_cell(cell, metric)))
}

/// exp of the mean of the logs; `None` when there are none or one is missing.
fn geometric_mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let logs: Option<Vec<f64>> = values.map(|value| value.filter(|value| *value > 0.0).map(f64::ln)).collect();
    let logs = logs.filter(|logs| !logs.is_empty())?;
    Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// Every metric of one launch, worked out once: merging histograms is what costs.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    launch: Vec<(Metric, Option<f64>)>,
    cells: Vec<(CellIndex, Metric, Option<f64>)>,
}

impl Numbers {
    /// The numbers of a launch.
    pub fn of(trial: &TrialRecord) -> Self {
        let launch = Metric::ALL.into_iter().filter(|metric| !metric.is_per_cell());
        let cells = trial.cells.iter().flat_map(|cell| {
            let latency = latency(cell);
            Metric::ALL.into_iter().filter(|metric| metric.is_per_cell()).map(move |metric| {
                let value = metric.quantile().map_or_else(|| in_cell(cell, metric), |q| quantile(&latency, q));
                (cell.cell, metric, value)
            })
        });
        Self { launch: launch.map(|metric| (metric, value(trial, metric, None))).collect(), cells: cells.collect() }
    }

    /// As [`value`].
    pub fn get(&self, metric: Metric, cell: Option<CellIndex>) -> Option<f64> {
        if let Some((_, value)) = self.launch.iter().find(|(of, _)| *of == metric) {
            return *value;
        }
        let mut of_metric = self.cells.iter().filter(|(_, of, _)| *of == metric);
        let value = match cell {
            Some(cell) => of_metric.find(|(in_cell, _, _)| *in_cell == cell)?.2,
            None => geometric_mean(of_metric.map(|(_, _, value)| *value)),
        };
        value.filter(|value| *value > 0.0)
    }
}

fn in_cell(cell: &CellRecord, metric: Metric) -> Option<f64> {
    match metric {
        Metric::Throughput => throughput(cell),
        Metric::CpuPerRequest => cpu_per_request(cell),
        _ => quantile(&latency(cell), metric.quantile()?),
    }
}

/// Good answers per second of a measured cell; `None` when it was measured for no time.
pub fn throughput(cell: &CellRecord) -> Option<f64> {
    let seconds = interval::seconds(&cell.intervals);
    (seconds > 0.0).then(|| interval::tally(&cell.intervals).good as f64 / seconds)
}

/// A quantile of latency in µs, from the merged histogram; `None` with fewer than 100 answers beyond it.
fn quantile(latency: &Histogram, q: f64) -> Option<f64> {
    latency.supported_quantile(q).map(|us| us as f64)
}

/// Latencies of a measured cell ([`model::Interval::latency`]).
pub fn latency(cell: &CellRecord) -> Histogram {
    let mut merged = Histogram::new();
    for interval in &cell.intervals {
        merged.merge(interval.latency());
    }
    merged
}

/// CPU time of the server's process tree per good answer, µs, over the intervals in which it could be read.
pub fn cpu_per_request(cell: &CellRecord) -> Option<f64> {
    let read = || cell.intervals.iter().filter_map(|interval| Some((interval.server?.cpu_s, interval.tally.good)));
    let good: u64 = read().map(|(_, good)| good).sum();
    (good > 0).then(|| read().map(|(cpu_s, _)| cpu_s).sum::<f64>() * 1e6 / good as f64)
}

/// CPU time of the load generator, in cores: 1.0 = its one thread was busy all the time.
pub fn client_cores(cell: &CellRecord) -> f64 {
    let seconds = interval::seconds(&cell.intervals);
    let cpu: f64 = cell.intervals.iter().map(|interval| interval.client_cpu_s).sum();
    if seconds > 0.0 { cpu / seconds } else { 0.0 }
}

/// Highest resident memory seen in a launch, bytes.
pub fn peak_memory(trial: &TrialRecord) -> Option<u64> {
    let warm_up = trial.warm_up.iter().flat_map(|warm_up| &warm_up.intervals);
    let measured = trial.cells.iter().flat_map(|cell| &cell.intervals);
    warm_up.chain(measured).filter_map(|interval| interval.server).map(|server| server.rss_bytes).max()
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
                assert_eq!(numbers.get(metric, cell), value(&trial, metric, cell), "{metric} of {cell:?}");
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
