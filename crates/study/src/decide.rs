//! How long each part of a trial takes, and when the question counts as answered.

use std::time::Duration;

use model::Metric;
use model::study::{Decide, Timing, WarmUp, Workload};

use crate::file::{StudyFile, WarmUpKeys};
use crate::problem::{Problem, Problems, did_you_mean, quoted};
use crate::value::{At, Deciding, Length};

const PILOT_CAP: Duration = Duration::from_secs(180);
const MEASURE: Duration = Duration::from_secs(20);
const QUICK_WARM_UP: Duration = Duration::from_secs(12);
const QUICK_MEASURE: Duration = Duration::from_secs(3);
const ROPE: f64 = 0.02;
/// Fewer blocks support no verdict; the boundaries of the sequential test end with the most.
const FEWEST_BLOCKS: u32 = 5;
const MOST_BLOCKS: u32 = 30;
/// Measurements and warm-ups are seen second by second.
const ONE_INTERVAL: Duration = Duration::from_secs(1);

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
                .help("write `blocks = { min = 5, max = 30 }` or numbers between"),
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
    let blocks = blocks(keys.blocks.as_ref(), FEWEST_BLOCKS, problems);
    Timing {
        warm_up: WarmUp::Fixed(keys.warmup.as_ref().map_or(QUICK_WARM_UP, |length| length.value.0)),
        measure: length(keys.measure.as_ref(), QUICK_MEASURE, problems),
        min_blocks: blocks,
        max_blocks: blocks,
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

fn length(written: Option<&At<Length>>, default: Duration, problems: &mut Problems) -> Duration {
    let Some(written) = written else { return default };
    if written.value.0 < ONE_INTERVAL {
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
    // Cells of a workload that is wrong are not known yet.
    let cells_are_known =
        workloads.len() == file.workload.len() && workloads.iter().all(|workload| !workload.concurrency.is_empty());
    let primary = keys.primary.as_ref().map_or(Metric::Throughput, |metric| metric.value.0);
    if let Some(metric) = keys.primary.as_ref().filter(|metric| !metric.value.can_decide()) {
        problems.add(
            Problem::new(format!("a closed loop gives no verdict on `{primary}`"))
                .at(metric.place, "while the server stalls, its users wait and ask nothing")
                .help(format!("reports show {primary} anyway; to decide, use one of {}", quoted(&Deciding::NAMES))),
        );
    }
    if let Some(cell) = &keys.cell {
        let cells: Vec<String> = workloads
            .iter()
            .flat_map(|workload| workload.concurrency.iter().map(move |users| format!("{}@{users}", workload.name)))
            .collect();
        if let (Some(metric), false) = (&keys.primary, primary.is_per_cell()) {
            problems.add(
                Problem::new(format!("`{primary}` is one number a launch, not one a cell"))
                    .at(metric.place, "the same for all cells")
                    .at(cell.place, "has no value of its own")
                    .help("remove `cell`"),
            );
        } else if cells_are_known && !cells.contains(&cell.value) {
            let names: Vec<&str> = cells.iter().map(String::as_str).collect();
            problems.add(
                Problem::new(format!("there is no cell `{}`", cell.value))
                    .at(cell.place, "not a `workload@users` of this study")
                    .help(did_you_mean(cell, &names)),
            );
        }
    }
    Decide {
        primary,
        cell: keys.cell.as_ref().map(|cell| cell.value.clone()),
        rope: keys.rope.as_ref().map_or(ROPE, |rope| rope.value.0),
    }
}
