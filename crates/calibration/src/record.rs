//! A study and its record, as the store gives them back.
//!
//! Written as stored JSON: what later versions add to a record, older records lack.

use std::time::Duration;

use model::{Histogram, Mode, Study, StudyRecord};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::noise::{Disturbance, Noise, Shape, normal};

/// Good answers per second of the baseline.
const RATE: f64 = 2_000.0;
/// Their median service time, µs.
const MEDIAN_US: f64 = 8_000.0;

/// So many variants of one server, two at least, that are the same, in so many cells: 3 to 30 blocks, 60 s a cell.
///
/// # Panics
///
/// Where `model` no longer reads what it used to store.
pub fn study(variants: usize, cells: usize) -> Study {
    let seconds = |secs: u64| json!(Duration::from_secs(secs));
    let timing = |max_blocks: u32| {
        json!({ "warm_up": { "pilot": { "cap": seconds(300) } }, "measure": seconds(60), "min_blocks": 3,
            "max_blocks": max_blocks })
    };
    let variant = |name: &str| {
        json!({
            "name": name, "levels": { "speed": name }, "shared": [],
            "server": {
                "runtime": { "kind": "command", "command": "serve" }, "args": [], "env": { "SPEED": name }, "dir": "/study",
                "ready": { "sign": { "get": "/" }, "within": seconds(60) }, "stop_within": seconds(10),
            },
            "treatment": [{ "factor": "speed", "kind": "env", "key": "SPEED", "name": "SPEED", "value": name }],
        })
    };
    let names: Vec<String> = (1..=variants).map(|number| format!("v{number}")).collect();
    let variants: Vec<Value> = names.iter().map(|name| variant(name)).collect();
    let shapes: Vec<usize> = (1..=cells).collect();
    stored(json!({
        "name": "calibration", "question": null, "dir": "/study", "file": "study.toml", "source": "",
        "factors": [{ "name": "speed", "levels": names }], "variants": variants, "services": [],
        "workloads": [{
            "name": "pages", "shapes": shapes,
            "request": { "method": "GET", "path": "/", "headers": [], "body": null },
            "expect": { "status": 200, "json": null, "contains": null },
        }],
        "hooks": { "setup": null, "prepare": null, "cleanup": null }, "launches": "one-after-another",
        "warm_up_users": 20, "timing": timing(30), "quick": timing(6),
        "decide": { "primary": "throughput", "cell": null, "rope": crate::ROPE },
    }))
}

/// A run of such a [`study`] with pilots and so many blocks: closed loops, 60 one-second samples a cell and in each warm-up, each
/// with a histogram of 2,000 answers, answers and settings of each launch.
///
/// # Panics
///
/// As [`study`].
pub fn record(study: &Study, blocks: usize, seed: u64) -> StudyRecord {
    let plan = analysis::plan(study, Mode::Full, seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let noise = Noise { shape: Shape::Normal, disturbance: Disturbance::None, scale: 0.03 };
    let planned: Vec<_> = plan.pilot.iter().chain(&plan.blocks[..blocks]).flat_map(|block| &block.trials).collect();
    let speeds = noise.launches(planned.len(), &mut rng);
    // A few shapes of latency serve all samples: drawing 2,000 answers for each would take longer than the analysis.
    let shapes: Vec<Value> = (0..16).map(|_| histogram(|| (0.3 * normal(&mut rng)).exp())).collect();
    let mut number = 0;
    let mut samples = |speed: f64, seconds: u32| -> Vec<Value> {
        (0..seconds)
            .map(|second| {
                number += 1;
                sample(second, (RATE * speed.exp()).round() as u64, &shapes[number % shapes.len()])
            })
            .collect()
    };
    let trials: Vec<Value> = planned
        .iter()
        .zip(speeds)
        .enumerate()
        .map(|(launch, (trial, speed))| {
            let measured: Vec<Value> = trial
                .cells
                .iter()
                .map(|cell| json!({ "cell": cell, "since_ready_s": 60.0, "samples": samples(speed, 60) }))
                .collect();
            let variant = &study.variants[trial.variant].name;
            json!({
                "key": trial.key, "variant": trial.variant, "started": "2026-01-31T10:00:00Z",
                "outcome": { "kind": "completed" }, "launch": facts(launch, variant),
                "settings": [{ "kind": "env", "key": "SPEED", "name": "SPEED", "requested": variant, "live": variant, "default": null,
                    "source": "proc", "result": { "kind": "in-effect" } }],
                "answers": [answer(launch, 1), answer(launch, 2)],
                "warm_up": { "samples": samples(speed, 60), "steady_at_s": 40.0 }, "cells": measured,
                "host": { "elapsed_s": 480.0, "busy_cores": 1.5, "steal_cores": 0.0, "others_cores": 0.0, "throttled_s": 0.0 },
                "canary_ns": [1_000_000, 1_001_000],
            })
        })
        .collect();
    stored(json!({
        "run": "run", "version": "0.1.0", "started": "2026-01-31T10:00:00Z", "study": study, "plan": plan,
        "host": { "os": "Debian", "kernel": "6.12", "cpu_model": "", "cpus": 2, "memory_bytes": 8_u64 << 30 },
        "warm_up_length": { "seconds": 50.0, "established": true }, "horizon": study.timing.max_blocks, "trials": trials,
    }))
}

fn stored<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap_or_else(|error| panic!("a stored record is not readable: {error}"))
}

/// 2,000 service times, each the median times a factor.
fn histogram(mut factor: impl FnMut() -> f64) -> Value {
    let mut histogram = Histogram::new();
    (0..RATE as u64).for_each(|_| histogram.record((MEDIAN_US * factor()) as u64));
    json!(histogram)
}

fn sample(second: u32, good: u64, service: &Value) -> Value {
    json!({
        "start_s": second, "length_s": 1.0,
        "tally": { "good": good, "failures": {}, "statuses": { "200": good }, "body_length": { "min": 15_118, "max": 15_118 } },
        "bins": vec![good / 10; 10], "service": service, "bytes": good * 15_300, "client_cpu_s": 0.1,
        "server": { "cpu_s": 0.9, "rss_bytes": 400 << 20, "threads": 40 },
        "host": { "elapsed_s": 1.0, "busy_cores": 1.5, "steal_cores": 0.0, "others_cores": 0.0, "throttled_s": 0.0 },
    })
}

fn facts(launch: usize, variant: &str) -> Value {
    json!({
        "pid": 4_000 + launch, "command": ["serve"], "env": { "PORT": (40_000 + launch).to_string(), "SPEED": variant },
        "versions": {}, "libraries": { "serve": "aa" }, "port": 40_000 + launch, "shared_cpus": 0, "ready_s": 8.0,
        "log": format!("/run/trials/{launch}/server.log"),
    })
}

/// A page of twenty pieces: one holds the time, one the process.
fn answer(launch: usize, time: usize) -> Value {
    let mut lines: Vec<String> = (0..18).map(|line| format!("line-{line}")).collect();
    lines.extend([format!("process-{launch}"), format!("time-{launch}-{time}")]);
    json!({
        "workload": 0, "status": 200, "content_type": "text/html", "length": 15_118, "hash": format!("{launch}-{time}"),
        "lines": lines, "excerpt": "<html>", "unmet": [],
    })
}

#[cfg(test)]
mod tests {
    use analysis::Boundaries;

    use super::*;

    #[test]
    fn the_record_is_one_that_analysis_has_work_with() {
        let report = analysis::analyse(&analysis::assess(&record(&study(2, 2), 6, 1), &Boundaries::standard()), None);
        assert_eq!((report.blocks.len(), report.cells.len()), (6, 2));
        assert!(report.comparisons.len() > 7, "{}", report.comparisons.len());
        let vetoes = report.findings.iter().filter(|finding| finding.severity == model::Severity::Invalid);
        assert_eq!(vetoes.collect::<Vec<_>>(), Vec::<&model::Finding>::new());
    }
}
