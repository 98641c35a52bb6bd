//! A study and its record, as the store gives them back.

use std::time::Duration;

use model::study::{Decide, Expect, RequestedSetting, ServerSpec, Timing, Variant, WorkloadKind};
use model::testing::{self, LENGTH};
use model::{
    BodyLength, CellRecord, Histogram, HostFacts, HostUse, LaunchFacts, Mode, Sample, ServerUse, Setting,
    SettingResult, SettingSource, Shape as Load, Study, StudyRecord, Tally, Trial, TrialRecord, WarmUpLength,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use runtimes::{Given, Key};

use crate::noise::{Disturbance, Noise, Shape, normal};

/// Good answers per second of the baseline.
const RATE: f64 = 2_000.0;
/// Their median service time, µs.
const MEDIAN_US: f64 = 8_000.0;
/// Seconds of each load.
const LOAD_S: u32 = 60;

/// So many variants of one server, two at least, that are the same, in so many cells: 3 to 30 blocks, 60 s a cell.
pub fn study(variants: usize, cells: usize) -> Study {
    let names: Vec<String> = (1..=variants).map(|number| format!("v{number}")).collect();
    let mut study = Study { name: "calibration".to_owned(), ..testing::study() };
    study.factors = vec![testing::factor("speed", &names.iter().map(String::as_str).collect::<Vec<_>>())];
    study.variants = names.iter().map(|name| variant(name)).collect();
    for workload in &mut study.workloads {
        workload.shapes = (1..=cells as u32).map(Load::users).collect();
        if let WorkloadKind::Request { expect, .. } = &mut workload.kind {
            *expect = Expect { status: Some(200), ..Expect::default() };
        }
    }
    study.timing = Timing { measure: Duration::from_secs(LOAD_S.into()), min_blocks: 3, ..study.timing };
    study.quick = Timing { max_blocks: 6, ..study.timing.clone() };
    study.decide = Decide { rope: crate::ROPE, ..study.decide };
    study
}

fn variant(name: &str) -> Variant {
    let plain = testing::variant("speed", name);
    Variant {
        server: ServerSpec { env: [("SPEED".to_owned(), name.to_owned())].into(), ..plain.server },
        treatment: vec![RequestedSetting::new("speed", Given::variable("SPEED", name))],
        ..plain
    }
}

/// A run of such a [`study`] with pilots and so many blocks: closed loops, 60 one-second samples a cell and in each warm-up, each
/// with a histogram of 2,000 answers, answers and settings of each launch.
pub fn record(study: &Study, blocks: usize, seed: u64) -> StudyRecord {
    let plan = analysis::plan(study, Mode::Full, seed);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let noise = Noise { shape: Shape::Normal, disturbance: Disturbance::None, scale: 0.03 };
    let planned: Vec<_> = plan.pilot.iter().chain(&plan.blocks[..blocks]).flat_map(|block| &block.trials).collect();
    let speeds = noise.launches(planned.len(), &mut rng);
    // A few shapes of latency serve all samples: drawing 2,000 answers for each would take longer than the analysis.
    let shapes: Vec<Histogram> = (0..16).map(|_| histogram(|| (0.3 * normal(&mut rng)).exp())).collect();
    let mut number = 0;
    let mut samples = |speed: f64| -> Vec<Sample> {
        (0..LOAD_S)
            .map(|second| {
                number += 1;
                sample(second, (RATE * speed.exp()).round() as u64, &shapes[number % shapes.len()])
            })
            .collect()
    };
    let mut trial = |(number, (trial, speed)): (usize, (&&Trial, f64))| {
        let variant = &study.variants[trial.variant].name;
        let measured = trial.cells.iter().map(|cell| testing::cell(*cell, samples(speed)));
        TrialRecord {
            launch: Some(launch(number, variant)),
            settings: vec![setting(variant)],
            answers: vec![testing::answer(number, 1), testing::answer(number, 2)],
            cells: measured.map(|cell| CellRecord { since_ready_s: 60.0, ..cell }).collect(),
            warm_up: Some(testing::warm_up(samples(speed), Some(40.0))),
            host: HostUse { elapsed_s: 480.0, busy_cores: 1.5, ..HostUse::default() },
            ..testing::trial(trial.key, trial.variant)
        }
    };
    let trials = planned.iter().zip(speeds).enumerate().map(&mut trial).collect();
    StudyRecord {
        host: HostFacts { os: "Debian".to_owned(), cpus: 2, memory_bytes: 8 << 30, ..HostFacts::default() },
        warm_up_length: Some(WarmUpLength { seconds: 50.0, established: true }),
        horizon: Some(study.timing.max_blocks),
        trials,
        ..testing::record(study.clone(), plan)
    }
}

/// 2,000 service times, each the median times a factor.
fn histogram(mut factor: impl FnMut() -> f64) -> Histogram {
    let mut histogram = Histogram::new();
    (0..RATE as u64).for_each(|_| histogram.record((MEDIAN_US * factor()) as u64));
    histogram
}

fn sample(second: u32, good: u64, service: &Histogram) -> Sample {
    Sample {
        start_s: second.into(),
        length_s: 1.0,
        tally: Tally {
            good,
            statuses: [(200, good)].into(),
            body_length: Some(BodyLength { min: LENGTH, max: LENGTH }),
            ..Tally::default()
        },
        bins: vec![(good / 10) as u32; 10],
        service: service.clone(),
        bytes: good * 15_300,
        client_cpu_s: 0.1,
        server: Some(ServerUse { cpu_s: 0.9, rss_bytes: 400 << 20, threads: 40, ..ServerUse::default() }),
        host: Some(HostUse { elapsed_s: 1.0, busy_cores: 1.5, ..HostUse::default() }),
        ..Sample::default()
    }
}

fn launch(number: usize, variant: &str) -> LaunchFacts {
    let mut launch = testing::launch(number);
    launch.env.insert("SPEED".to_owned(), variant.to_owned());
    launch.libraries.insert("serve".to_owned(), "aa".to_owned());
    launch
}

fn setting(variant: &str) -> Setting {
    Setting {
        key: Key::Env("SPEED".to_owned()),
        name: "SPEED".to_owned(),
        default: None,
        source: SettingSource::Proc,
        result: SettingResult::InEffect,
        ..testing::setting(variant)
    }
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
