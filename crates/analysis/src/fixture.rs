//! Study records for tests: two variants, `off` and `on`, that differ in one JRuby option.

use indexmap::IndexMap;
use model::imported::{Assignment, Settings};
use model::profiling::{CpuUse, Observation, Recording, Sum, Sums};
use model::sample::OpenLoop;
use model::study::{RequestedSetting, Variant};
use model::testing;
pub use model::testing::{LENGTH, READY_S, answer, setting};
use model::{
    BodyLength, CellRecord, Failed, LaunchFacts, Metric, Mode, Outcome, Phase, Profile, ProfilingRun, Sample,
    ServerUse, Shape, Slice, Study, StudyRecord, Tally, TrialKey, TrialRecord, WarmUpLength, WarmUpRecord,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use runtimes::Given;

use crate::boundaries::normal;
use crate::design;

/// Seconds of each measured cell.
const MEASURED_S: u32 = 4;

/// A file of settings with a line for each of these: variable, block, whether it is added, options.
pub fn settings(lines: &[(&str, usize, bool, &str)]) -> Settings {
    let assignment = |(line, (variable, block, is_added, options)): (u64, &(&str, usize, bool, &str))| Assignment {
        variable: (*variable).to_owned(),
        line,
        block: *block,
        options: options.split_whitespace().map(str::to_owned).collect(),
        is_added: *is_added,
        is_read: false,
    };
    Settings { file: "a.sh".to_owned(), assignments: (1..).zip(lines).map(assignment).collect() }
}

/// One workload at two concurrencies, factor `invokedynamic` off and on.
pub fn study() -> Study {
    Study { variants: vec![variant("off", "false"), variant("on", "true")], ..testing::study() }
}

/// A variant whose level sets `compile.invokedynamic`.
pub fn variant(name: &str, value: &str) -> Variant {
    Variant {
        treatment: vec![RequestedSetting::new("invokedynamic", Given::jruby("compile.invokedynamic", value))],
        ..testing::variant("invokedynamic", name)
    }
}

/// A run that has stored nothing yet.
pub fn empty(study: Study, mode: Mode) -> StudyRecord {
    let plan = design::plan(&study, mode, 42);
    testing::record(study, plan)
}

/// A run of [`study`] with both pilots and `blocks` blocks, noise of 1 % a launch.
pub fn record(blocks: usize, effect: f64) -> StudyRecord {
    record_of(study(), blocks, effect, 0.01, 3)
}

/// A run with both pilots and `blocks` blocks; each variant is faster than the one before by `effect`, with
/// normal `noise` of each launch (both log ratios).
pub fn record_of(study: Study, blocks: usize, effect: f64, noise: f64, seed: u64) -> StudyRecord {
    let mut record = empty(study, Mode::Full);
    record.warm_up_length = Some(WarmUpLength { seconds: 50.0, established: true });
    record.horizon = Some(record.plan.schedule.max_blocks);
    let planned = record.plan.pilot.iter().chain(&record.plan.blocks[..blocks]).flat_map(|block| &block.trials);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let run = planned.enumerate().map(|(number, planned)| {
        let mut trial = trial(planned.variant, number);
        trial.key = planned.key;
        let faster = (effect * planned.variant as f64 + noise * normal(&mut rng)).exp();
        trial.cells = planned.cells.iter().map(|index| cell(*index, [1_000.0, 4_000.0][*index % 2] * faster)).collect();
        trial
    });
    record.trials = run.collect();
    record
}

/// A run as [`record`] has it, of open loops at 1,000 and 4,000 requests/s: throughput and service time are the same for all,
/// response times are shorter by `effect`.
pub fn open(blocks: usize, effect: f64) -> StudyRecord {
    let mut study = study();
    study.workloads[0].shapes = [1_000.0, 4_000.0].map(|rate| Shape::open(500, Profile::constant(rate))).to_vec();
    study.decide.primary = Metric::P50;
    let mut record = record_of(study, blocks, effect, 0.01, 3);
    for trial in &mut record.trials {
        for measured in &mut trial.cells {
            let rate = [1_000.0, 4_000.0][measured.cell];
            let faster = measured.samples[0].tally.good as f64 / rate;
            *measured = cell(measured.cell, rate);
            for sample in &mut measured.samples {
                let mut open = OpenLoop { due: rate as u64, ..OpenLoop::default() };
                (0..open.due).for_each(|i| open.response.record(((20_000 + 10 * (i % 100)) as f64 / faster) as u64));
                (0..open.due).for_each(|i| open.send_delay.record(20 + i % 20));
                sample.open = Some(open);
            }
        }
    }
    record
}

/// A run of 100 users, of whom 60 are answered in a second: the first two of five seconds are each measurement's ramp-up.
pub fn crowd(blocks: usize) -> StudyRecord {
    let mut study = study();
    study.workloads[0].shapes = vec![Shape::users(100)];
    let mut record = record_of(study, blocks, 0.0, 0.01, 3);
    for trial in &mut record.trials {
        trial.warm_up = Some(warm_up(&[0, 0, 60, 60], None));
        for cell in &mut trial.cells {
            *cell = series(0, &[9, 71, 60, 60, 60]);
            cell.ramp_up = cell.samples.drain(..2).collect();
        }
    }
    record
}

/// A launch that went well and measured nothing; `number` makes its port, process and folder its own.
pub fn trial(variant: usize, number: usize) -> TrialRecord {
    let value = if variant == 0 { "false" } else { "true" };
    TrialRecord {
        launch: Some(LaunchFacts {
            command: vec![
                "/opt/jdk/bin/java".to_owned(),
                format!("-Djruby.compile.invokedynamic={value}"),
                format!("-Djava.io.tmpdir=/run/trials/{number}/tmp"),
                "server.rb".to_owned(),
            ],
            env: [("PORT".to_owned(), (41_000 + number).to_string()), ("HOME".to_owned(), "/root".to_owned())].into(),
            versions: strings([("jdk", "25"), ("jruby", "10.1.1.0")]),
            libraries: strings([("jruby.jar", "aa"), ("server.rb", "bb")]),
            gems: strings([("json", "2.7.1"), ("rack", "2.2.9")]),
            ..testing::launch(number)
        }),
        settings: vec![setting(value)],
        answers: vec![answer(number, 1), answer(number, 2)],
        warm_up: Some(testing::warm_up(vec![sample(0, 1_000.0)], Some(40.0))),
        ..testing::trial(TrialKey { pilot: false, block: number as u32 / 2, position: number as u32 % 2 }, variant)
    }
}

fn strings<const N: usize>(pairs: [(&str, &str); N]) -> IndexMap<String, String> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A few seconds of a cell at `rate` good answers per second.
pub fn cell(index: usize, rate: f64) -> CellRecord {
    testing::cell(index, (0..MEASURED_S).map(|second| sample(second, rate)).collect())
}

/// A run of [`study`] side by side without differences, noise of 1 % a launch: each measured cell has one slice a second. `of` changes
/// the slices of a variant.
pub fn side_by_side(blocks: usize, of: impl Fn(usize, &mut Slice)) -> StudyRecord {
    let mut study = study();
    study.launches = model::Launches::SideBySide;
    let mut record = record_of(study, blocks, 0.0, 0.01, 3);
    for trial in &mut record.trials {
        for cell in &mut trial.cells {
            let slice = |(round, sample): (u32, &mut Sample)| {
                sample.round = round;
                let mut slice = Slice {
                    round,
                    began_s: 2.0 * f64::from(round),
                    length_s: sample.length_s,
                    drain_s: 0.0,
                    late_s: 0.0,
                    lost_connections: 0,
                    waited: None,
                };
                of(trial.variant, &mut slice);
                slice
            };
            cell.slices = (0..).zip(&mut cell.samples).map(slice).collect();
        }
    }
    record
}

/// A cell whose good answers in each second are these; they have no service times.
pub fn series(index: usize, good: &[u64]) -> CellRecord {
    let second = |(second, good): (usize, &u64)| {
        let mut sample = sample(second as u32, 0.0);
        (sample.length_s, sample.tally.good) = (1.0, *good);
        // So much per request, whatever the rate.
        sample.server = Some(ServerUse { cpu_s: *good as f64 / 2e3, ..ServerUse::default() });
        sample
    };
    CellRecord { samples: good.iter().enumerate().map(second).collect(), ..cell(index, 0.0) }
}

/// A warm-up with these good answers second by second, found steady after so many seconds.
pub fn warm_up(good: &[u64], steady_at_s: Option<f64>) -> WarmUpRecord {
    testing::warm_up(series(0, good).samples, steady_at_s)
}

/// 100 s: `cold` answers in each of the first so many seconds, then `full`.
pub fn step(seconds: u32, cold: u64, full: u64) -> Vec<u64> {
    (0..100).map(|second| if second < seconds { cold } else { full }).collect()
}

/// A study of so many blocks in which each launch is ready after 8 s and warms up as `curve` of variant and block says.
pub fn warming(blocks: usize, curve: impl Fn(usize, u32) -> Vec<u64>) -> StudyRecord {
    let mut record = record(blocks, 0.0);
    for trial in &mut record.trials {
        trial.warm_up = Some(warm_up(&curve(trial.variant, trial.key.block), Some(90.0)));
    }
    record
}

/// One second at `rate` good answers per second, of which the client needs a tenth and the server half a core.
fn sample(second: u32, rate: f64) -> Sample {
    let good = rate.round() as u64;
    let mut service = model::Histogram::new();
    for i in 0..good {
        service.record(1_000 + i % 100);
    }
    Sample {
        start_s: f64::from(second),
        length_s: good as f64 / rate.max(1e-9),
        tally: Tally {
            good,
            statuses: if good > 0 { [(200, good)].into() } else { [].into() },
            body_length: (good > 0).then_some(BodyLength { min: LENGTH, max: LENGTH }),
            ..Tally::default()
        },
        bins: vec![(good / 10) as u32; 10],
        service,
        bytes: good * LENGTH,
        client_cpu_s: 0.1,
        server: Some(ServerUse { cpu_s: 0.5, rss_bytes: 400 << 20, threads: 40, ..ServerUse::default() }),
        ..Sample::default()
    }
}

/// Makes a trial fail.
pub fn fail(trial: &mut TrialRecord) {
    trial.outcome = Outcome::Failed(Failed {
        phase: Phase::Launch,
        reason: "not ready within 60 s".to_owned(),
        log_tail: "bang".to_owned(),
    });
    trial.cells.clear();
}

/// A profiling run of so many requests, each of which takes 1 ms of CPU, and `jit_us` more of compiling.
pub fn profiling_run(variant: usize, requests: u64, jit_us: f64) -> ProfilingRun {
    let compiling_s = requests as f64 * jit_us / 1e6;
    ProfilingRun {
        variant,
        started: "2026-01-31T11:00:00Z".to_owned(),
        outcome: Outcome::Completed,
        load: "pages@20".to_owned(),
        settings: vec![setting(["false", "true"][variant.min(1)])],
        observation: Some(Observation {
            requests,
            elapsed_s: 10.0,
            cpu: Some(CpuUse {
                total_s: requests as f64 / 1e3 + compiling_s + 0.2,
                jit_s: compiling_s,
                gc_s: 0.0,
                recorder_s: 0.2,
            }),
            recording: Recording::Jfr { file: "/run/profile.jfr".into(), profile: Box::default() },
        }),
        oom_kills: 0,
        failed_tear_downs: None,
    }
}

/// Events added up: key, count, amount of each group.
pub fn sums(groups: &[(&[&str], u64, f64)]) -> Sums {
    Sums {
        count: groups.iter().map(|(_, count, _)| count).sum(),
        amount: groups.iter().map(|(.., amount)| amount).sum(),
        top: groups
            .iter()
            .map(|(key, count, amount)| Sum {
                key: key.iter().map(|part| (*part).to_owned()).collect(),
                count: *count,
                amount: *amount,
            })
            .collect(),
    }
}
