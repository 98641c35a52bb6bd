//! How long each part of a trial takes, and when the question counts as answered.

use std::time::Duration;

use model::histogram::LEAST_BEYOND;
use model::study::{Decide, Timing, WarmUp, Workload};
use model::verdict::FEWEST_BLOCKS;
use model::warm_up::HORIZON_S;
use model::{Arrivals, Metric, Shape, text};

use crate::file::{StudyFile, WarmUpKeys};
use crate::problem::{Problem, Problems, did_you_mean, quoted};
use crate::secondary::secondary;
use crate::shapes::MOST_CONNECTIONS;
use crate::value::{At, Length};

/// Users who warm up for a load without users who ask at once: enough to keep several threads of a server busy.
const WARM_UP_USERS: u32 = 10;
const PILOT_CAP: Duration = Duration::from_secs(180);
const MEASURE: Duration = Duration::from_secs(20);
const QUICK_WARM_UP: Duration = Duration::from_secs(12);
const QUICK_MEASURE: Duration = Duration::from_secs(3);
const QUICK_BLOCKS: u32 = 5;
const ROPE: f64 = 0.02;
/// The boundaries of the sequential test end with so many.
const MOST_BLOCKS: u32 = 30;
/// Share of requests on top of those that a quantile needs: some are not answered when the measurement ends, and random
/// arrivals are now more, now fewer.
const RESERVE: f64 = 0.05;
/// Measurements and warm-ups are seen second by second.
const ONE_SAMPLE: Duration = Duration::from_secs(1);

/// Lengths and limits of a full run.
pub(crate) fn full(file: &StudyFile, problems: &mut Problems) -> Timing {
    let keys = &file.decide.blocks;
    let min_blocks = blocks(keys.min.as_ref(), FEWEST_BLOCKS, problems);
    let max_blocks = blocks(keys.max.as_ref(), MOST_BLOCKS, problems);
    if let (Some(min), Some(max)) = (&keys.min, &keys.max)
        && min_blocks > max_blocks
    {
        problems.add(
            Problem::new("the least number of blocks is larger than the largest")
                .at(min.place, "at least")
                .at(max.place, "at most")
                .help("write `blocks = { min = 3, max = 30 }` or numbers between"),
        );
    }
    Timing {
        warm_up: warm_up(&file.warmup, problems),
        measure: length(file.measure.duration.as_ref(), MEASURE, problems),
        min_blocks,
        max_blocks,
    }
}

/// Lengths and limits of a quick run.
pub(crate) fn quick(file: &StudyFile, problems: &mut Problems) -> Timing {
    let keys = &file.quick;
    let max_blocks = blocks(keys.blocks.as_ref(), QUICK_BLOCKS, problems);
    Timing {
        warm_up: WarmUp::Fixed(keys.warmup.as_ref().map_or(QUICK_WARM_UP, |length| length.value.0)),
        measure: length(keys.measure.as_ref(), QUICK_MEASURE, problems),
        min_blocks: FEWEST_BLOCKS,
        max_blocks,
    }
}

fn warm_up(keys: &WarmUpKeys, problems: &mut Problems) -> WarmUp {
    match (&keys.cap, &keys.fixed) {
        (Some(cap), Some(fixed)) => {
            problems.add(
                Problem::new("the warm-up is found by a pilot or fixed, not both")
                    .at(cap.place, "bounds the pilot")
                    .at(fixed.place, "needs no pilot")
                    .help("remove `fixed`, unless you know how long every variant takes to warm up"),
            );
            WarmUp::Fixed(fixed.value.0)
        }
        (None, Some(fixed)) => WarmUp::Fixed(fixed.value.0),
        (cap, None) => WarmUp::Pilot { cap: length(cap.as_ref(), PILOT_CAP, problems) },
    }
}

/// How many users warm up: as written, or as many as the largest load has.
pub(crate) fn warm_up_users(keys: &WarmUpKeys, workloads: &[Workload], problems: &mut Problems) -> u32 {
    let shapes = workloads.iter().flat_map(|workload| &workload.shapes);
    let Some(written) = &keys.concurrency else { return shapes.map(users_to_warm_up_for).max().unwrap_or(1) };
    if !(1..=MOST_CONNECTIONS).contains(&written.value) {
        problems.add(
            Problem::new(format!("{} users cannot warm up", written.value))
                .at(written.place, format!("not from 1 to {MOST_CONNECTIONS}"))
                .help("write how many users send requests in the warm-up, such as `concurrency = 2`"),
        );
    }
    written.value as u32
}

fn users_to_warm_up_for(shape: &Shape) -> u32 {
    match shape.arrivals {
        Arrivals::Closed { think: None, .. } => shape.connections,
        Arrivals::Closed { .. } | Arrivals::Open(_) => shape.connections.min(WARM_UP_USERS),
    }
}

fn length(written: Option<&At<Length>>, default: Duration, problems: &mut Problems) -> Duration {
    let Some(written) = written else { return default };
    if written.value.0 < ONE_SAMPLE {
        problems.add(
            Problem::new("too short to see anything")
                .at(written.place, "less than one second")
                .help(format!("write at least \"1s\"; the default is \"{}s\"", default.as_secs())),
        );
    }
    written.value.0
}

fn blocks(written: Option<&At<i64>>, default: u32, problems: &mut Problems) -> u32 {
    let Some(written) = written else { return default };
    let valid = u32::try_from(written.value).ok().filter(|count| (FEWEST_BLOCKS..=MOST_BLOCKS).contains(count));
    valid.unwrap_or_else(|| {
        problems.add(
            Problem::new(format!("{FEWEST_BLOCKS} to {MOST_BLOCKS} blocks are possible, not {}", written.value))
                .at(written.place, "outside")
                .help(format!(
                    "fewer than {FEWEST_BLOCKS} launches support no verdict; the sequential test ends with {MOST_BLOCKS}"
                )),
        );
        default
    })
}

/// When the question counts as answered.
pub(crate) fn decide(file: &StudyFile, workloads: &[Workload], problems: &mut Problems) -> Decide {
    let keys = &file.decide;
    let cells = Cells::of(file, workloads);
    let is_open = cells.called(keys.cell.as_ref()).any(|(_, shape)| shape.arrivals.is_open());
    let usual = if is_open { Metric::P50 } else { Metric::Throughput };
    let primary = keys.primary.as_ref().map_or(usual, |metric| metric.value);
    match (&keys.primary, &keys.cell) {
        (Some(metric), cell) => cells.can_judge(file, metric, cell.as_ref(), problems),
        (None, Some(cell)) => cells.exists(cell, problems),
        (None, None) => {}
    }
    let secondary = secondary(file, &cells, primary, problems);
    let rope = keys.rope.as_ref().map_or(ROPE, |rope| rope.value.0);
    // Where the margin is wide, five percent may lie within it.
    let detect = keys.detect.as_ref().map_or(Decide::DETECT.max(2.0 * rope), |detect| detect.value.0);
    if let Some(wanted) = keys.detect.as_ref().filter(|_| detect <= rope) {
        problems.add(
            Problem::new("a difference that counts as none cannot be what the study is after")
                .at(wanted.place, format!("not above the margin of equivalence, {}", text::margin(rope)))
                .help("write a larger `detect`, or a smaller `rope`"),
        );
    }
    Decide {
        primary,
        cell: keys.cell.as_ref().map(|cell| cell.value.clone()),
        secondary,
        rope,
        detect,
        within: keys.within.as_ref().map(|within| length(Some(within), Decide::WITHIN, problems)),
        redeploy_every: keys.redeploy_every.as_ref().map(|life| lifetime(life, problems)),
    }
}

/// How long a launch serves until the next deployment.
fn lifetime(written: &At<Length>, problems: &mut Problems) -> Duration {
    if written.value.0 < ONE_SAMPLE || written.value.0.as_secs_f64() > HORIZON_S {
        problems.add(
            Problem::new("a launch serves for a second at least, and for thirty days at most")
                .at(written.place, "outside")
                .help("write a length from \"1s\" to \"720h\""),
        );
    }
    written.value.0
}

/// The cells of a study, by name.
pub(crate) struct Cells<'a> {
    cells: Vec<(String, &'a Shape)>,
    /// Those of a workload that is wrong are not known yet.
    are_known: bool,
}

impl<'a> Cells<'a> {
    fn of(file: &StudyFile, workloads: &'a [Workload]) -> Self {
        let of_workload = |workload: &'a Workload| {
            workload.shapes.iter().map(|shape| (format!("{}@{}", workload.name, shape.name()), shape))
        };
        Self {
            cells: workloads.iter().flat_map(of_workload).collect(),
            are_known: workloads.len() == file.workload.len() && workloads.iter().all(|one| !one.shapes.is_empty()),
        }
    }

    /// The cell of that name; all of them where none is named.
    fn called(&self, name: Option<&At<String>>) -> impl Iterator<Item = &(String, &'a Shape)> {
        self.cells.iter().filter(move |(cell, _)| name.is_none_or(|name| name.value == *cell))
    }

    /// The cell that a metric is of; none for all together. All of one is that one.
    pub fn own(&self, metric: Metric, name: Option<&At<String>>) -> Option<String> {
        name.filter(|_| metric.is_per_cell() && self.cells.len() > 1).map(|name| name.value.clone())
    }

    fn exists(&self, cell: &At<String>, problems: &mut Problems) {
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
        for (name, shape) in self.called(cell) {
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
                    .help("remove `fixed`: a pilot then finds out how long every variant takes"),
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
