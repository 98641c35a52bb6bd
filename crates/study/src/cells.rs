//! The cells of a study, and which metrics they give a verdict on.

use std::time::Duration;

use model::histogram::LEAST_BEYOND;
use model::study::Workload;
use model::{Arrivals, Metric, Shape, text};

use crate::file::StudyFile;
use crate::problem::{Problem, Problems, did_you_mean, quoted};
use crate::value::At;

/// How long a cell is measured where the study does not say.
pub(crate) const MEASURE: Duration = Duration::from_secs(20);
/// Share of requests on top of those that a quantile needs: some are not answered when the measurement ends, and random
/// arrivals are now more, now fewer.
const RESERVE: f64 = 0.05;

/// The cells of a study, by name.
pub(crate) struct Cells<'a> {
    cells: Vec<(String, &'a Shape)>,
    /// Those of a workload that is wrong are not known yet.
    are_known: bool,
}

impl<'a> Cells<'a> {
    pub fn of(file: &StudyFile, workloads: &'a [Workload]) -> Self {
        let of_workload = |workload: &'a Workload| {
            workload.shapes.iter().map(|shape| (format!("{}@{}", workload.name, shape.name()), shape))
        };
        Self {
            cells: workloads.iter().flat_map(of_workload).collect(),
            are_known: workloads.len() == file.workload.len() && workloads.iter().all(|one| !one.shapes.is_empty()),
        }
    }

    /// The cell of that name; all of them where none is named.
    pub fn called(&self, name: Option<&At<String>>) -> impl Iterator<Item = &(String, &'a Shape)> {
        self.cells.iter().filter(move |(cell, _)| name.is_none_or(|name| name.value == *cell))
    }

    /// The cell that a metric is of; none for all together. All of one is that one.
    pub fn own(&self, metric: Metric, name: Option<&At<String>>) -> Option<String> {
        name.filter(|_| metric.is_per_cell() && self.cells.len() > 1).map(|name| name.value.clone())
    }

    pub fn exists(&self, cell: &At<String>, problems: &mut Problems) {
        if self.are_known && self.called(Some(cell)).next().is_none() {
            let names: Vec<&str> = self.cells.iter().map(|(name, _)| name.as_str()).collect();
            problems.add(
                Problem::new(format!("there is no cell `{}`", cell.value))
                    .at(cell.place, "not a cell of this study, which is a workload and its load")
                    .help(did_you_mean(cell, &names)),
            );
        }
    }

    /// Whether a verdict can be given on a metric of a cell, or of all together; says why not.
    pub fn can_judge(&self, file: &StudyFile, metric: &At<Metric>, cell: Option<&At<String>>, problems: &mut Problems) {
        if let Some(cell) = cell {
            if metric.is_per_cell() {
                self.exists(cell, problems);
            } else {
                problems.add(
                    Problem::new(format!("`{}` is one number a launch, not one a cell", metric.value))
                        .at(metric.place, "the same for all cells")
                        .at(cell.place, "has no value of its own")
                        .help("remove `cell`"),
                );
            }
        }
        let is_searched = |(_, shape): &&(String, &Shape)| shape.find_limit.is_some();
        let is_of_rate = metric.value == Metric::Throughput || metric.quantile().is_some();
        let searched = self.called(cell).filter(is_searched).count();
        if metric.is_of_limit() && self.are_known && searched == 0 {
            problems.add(
                Problem::new(format!("nothing gives a verdict on `{}`", metric.value))
                    .at(metric.place, "of a workload whose limit is looked for")
                    .help("write `find_limit = { p95 = \"200ms\" }` in place of a workload's `concurrency` or `rate`"),
            );
        }
        if is_of_rate && searched > 0 && self.called(cell).all(|cell| is_searched(&cell)) {
            problems.add(
                Problem::new(format!("a search for the limit gives no verdict on `{}`", metric.value))
                    .at(metric.place, "each variant is asked at rates of its own")
                    .help("use `capacity`, `goodput` or `recovery-time`, or write `rate` in place of `find_limit`"),
            );
        }
        for (name, shape) in self.called(cell).filter(|cell| !is_searched(cell)) {
            let wrong = if shape.arrivals.is_open() { of_open(file, name, shape, metric) } else { of_closed(metric) };
            if let Some(problem) = wrong {
                problems.add(problem);
            }
        }
        if let Some(fixed) = file.warmup.fixed.as_ref().filter(|_| metric.is_of_warm_up()) {
            problems.add(
                Problem::new(format!("a fixed warm-up gives no verdict on `{}`", metric.value))
                    .at(metric.place, "of launches that are warmed until they are steady")
                    .at(fixed.place, "ends whether they are or not")
                    .help("remove `fixed`: bakeoff then finds out how long every variant takes"),
            );
        }
    }
}

/// Why there is no verdict on a metric in a closed loop.
fn of_closed(metric: &At<Metric>) -> Option<Problem> {
    metric.value.is_tail().then(|| {
        Problem::new(format!("a closed loop gives no verdict on `{}`", metric.value))
            .at(metric.place, "while the server stalls, its users wait and ask nothing")
            .help(format!(
                "reports show {} anyway; to judge it, write `rate` in place of `concurrency`, or use one of {}",
                metric.value,
                quoted(&[
                    "throughput",
                    "p50",
                    "cpu-per-request",
                    "start-up",
                    "warm-up-time",
                    "warm-up-requests",
                    "memory"
                ])
            ))
    })
}

/// Why there is no verdict on a metric in this cell, which is of an open loop.
fn of_open(file: &StudyFile, cell: &str, shape: &Shape, metric: &At<Metric>) -> Option<Problem> {
    if metric.value == Metric::Throughput {
        return Some(
            Problem::new("an open loop gives no verdict on `throughput`")
                .at(metric.place, format!("the rate of `{cell}` is the study's, whatever the server does"))
                .help(
                    "use `p50`, `p90`, `p99`, `p99.9` or `cpu-per-request`; or write `concurrency` in place of `rate`",
                ),
        );
    }
    let Arrivals::Open(profile) = &shape.arrivals else { return None };
    let least = (1.0 + RESERVE) * f64::from(LEAST_BEYOND) / (1.0 - metric.value.quantile()?);
    let length = profile.length().or(file.measure.duration.as_ref().map(|length| length.value.0)).unwrap_or(MEASURE);
    let due = profile.due_within(length);
    (due + 1e-6 < least).then(|| {
        let count = |requests: f64| text::count(requests.round() as u64);
        let problem = Problem::new(format!("too few requests for `{}`", metric.value))
            .at(metric.place, format!("needs {} in a measurement; `{cell}` has {}", count(least), count(due)));
        problem.help(match profile.constant_rate() {
            Some(rate) => {
                format!("write `duration = \"{}s\"` or more in `[measure]`, or a higher rate", (least / rate).ceil())
            }
            None => "write longer stages, or higher rates".to_owned(),
        })
    })
}
