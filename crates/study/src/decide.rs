//! How long each part of a trial takes, and when the question counts as answered.

use std::time::Duration;

use model::study::{Decide, Timing, WarmUp, Workload};
use model::verdict::FEWEST_BLOCKS;
use model::warm_up::HORIZON_S;
use model::{Arrivals, Metric, Shape, text};

use crate::cells::{Cells, MEASURE};
use crate::file::{StudyFile, WarmUpKeys};
use crate::problem::{Problem, Problems};
use crate::secondary::secondary;
use crate::shapes::MOST_CONNECTIONS;
use crate::value::{At, Length};

/// Users who warm up for a load without users who ask at once: enough to keep several threads of a server busy.
const WARM_UP_USERS: u32 = 10;
const PILOT_CAP: Duration = Duration::from_secs(180);
const QUICK_WARM_UP: Duration = Duration::from_secs(12);
const QUICK_MEASURE: Duration = Duration::from_secs(3);
const QUICK_BLOCKS: u32 = 5;
const ROPE: f64 = 0.02;
/// The boundaries of the sequential test end with so many.
const MOST_BLOCKS: u32 = 30;
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
            Problem::new("the minimum number of blocks is larger than the maximum")
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
                Problem::new("the length of the warm-up is found or fixed, not both")
                    .at(cap.place, "bounds the search for it")
                    .at(fixed.place, "leaves nothing to find")
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
    let decides = |is_so: fn(&Shape) -> bool| cells.called(keys.cell.as_ref()).any(|(_, shape)| is_so(shape));
    let usual = if decides(|shape| shape.find_limit.is_some()) {
        Metric::Capacity
    } else if decides(|shape| shape.arrivals.is_open()) {
        Metric::P50
    } else {
        Metric::Throughput
    };
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
