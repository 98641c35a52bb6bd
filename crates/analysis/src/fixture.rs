//! Study records for tests: two variants, `off` and `on`, that differ in one JRuby option.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use model::profiling::{CpuUse, Recording, Seen, Sum, Sums};
use model::sample::OpenLoop;
use model::study::{
    Decide, Expect, Factor, Hooks, Isolation, Limits, Ready, ReadySign, Request, RequestedSetting, Runtime, ServerSpec,
    Timing, Variant, WarmUp, Workload, WorkloadKind,
};
use model::{
    AnswerSample, Arrivals, BodyLength, CellRecord, Failed, HostFacts, HostUse, LaunchFacts, Metric, Mode, Outcome,
    Phase, Profile, ProfilingRun, Sample, ServerUse, Setting, SettingResult, SettingSource, Shape, Slice, Study,
    StudyRecord, Tally, TrialRecord, WarmUpLength, WarmUpRecord,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use runtimes::{Given, Key};

use crate::boundaries::normal;
use crate::design;

/// Start-up time of every launch, seconds.
pub const READY_S: f64 = 8.0;
/// Length of every body, bytes.
pub const LENGTH: u64 = 15_118;
/// Seconds of each measured cell.
const MEASURED_S: u32 = 4;

fn strings<const N: usize>(pairs: [(&str, &str); N]) -> IndexMap<String, String> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// One workload at two concurrencies, factor `invokedynamic` off and on.
pub fn study() -> Study {
    let timing = Timing {
        warm_up: WarmUp::Pilot { cap: Duration::from_secs(300) },
        measure: Duration::from_secs(u64::from(MEASURED_S)),
        min_blocks: 5,
        max_blocks: 30,
    };
    Study {
        name: "invokedynamic".to_owned(),
        question: None,
        dir: PathBuf::from("/study"),
        file: "study.toml".to_owned(),
        source: "name = \"invokedynamic\"".to_owned(),
        factors: vec![Factor { name: "invokedynamic".into(), levels: vec!["off".into(), "on".into()] }],
        variants: vec![variant("off", "false"), variant("on", "true")],
        services: Vec::new(),
        workloads: vec![Workload {
            name: "pages".to_owned(),
            kind: WorkloadKind::Request {
                request: Request { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: None },
                expect: Expect::default(),
            },
            shapes: vec![Shape::users(1), Shape::users(20)],
        }],
        hooks: Hooks::default(),
        launches: model::Launches::OneAfterAnother,
        warm_up_users: 20,
        quick: Timing { max_blocks: 6, ..timing.clone() },
        timing,
        decide: Decide {
            primary: Metric::Throughput,
            cell: None,
            secondary: Vec::new(),
            rope: 0.02,
            detect: Decide::DETECT,
            within: None,
            redeploy_every: None,
        },
        profiling: None,
        host: Isolation::default(),
    }
}

/// A variant whose level sets `compile.invokedynamic`.
pub fn variant(name: &str, value: &str) -> Variant {
    Variant {
        name: name.to_owned(),
        levels: strings([("invokedynamic", name)]),
        server: ServerSpec {
            runtime: Runtime::Command { command: "serve".to_owned() },
            args: Vec::new(),
            env: IndexMap::new(),
            dir: PathBuf::from("/study"),
            ready: Ready { sign: ReadySign::Get("/".to_owned()), within: Duration::from_secs(60) },
            stop_within: Duration::from_secs(10),
            limits: Limits::default(),
        },
        treatment: vec![RequestedSetting::new("invokedynamic", Given::jruby("compile.invokedynamic", value))],
        shared: Vec::new(),
        assertions: Vec::new(),
    }
}

/// A run that has stored nothing yet.
pub fn empty(study: Study, mode: Mode) -> StudyRecord {
    let plan = design::plan(&study, mode, 42);
    StudyRecord {
        run: "run".to_owned(),
        version: "0.1.0".to_owned(),
        started: "2026-01-31T10:00:00Z".to_owned(),
        study,
        plan,
        host: HostFacts::default(),
        warm_up_length: None,
        horizon: None,
        trials: Vec::new(),
        profiling_runs: Vec::new(),
        profiling_skipped: None,
    }
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
    study.workloads[0].shapes = [1_000.0, 4_000.0]
        .map(|rate| Shape { connections: 500, arrivals: Arrivals::Open(Profile::constant(rate)) })
        .to_vec();
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
    let folder = format!("/run/trials/{number}");
    TrialRecord {
        key: model::TrialKey { pilot: false, block: number as u32 / 2, position: number as u32 % 2 },
        variant,
        started: "2026-01-31T10:00:00Z".to_owned(),
        outcome: Outcome::Completed,
        launch: Some(LaunchFacts {
            pid: 4_000 + number as u32,
            command: vec![
                "/opt/jdk/bin/java".to_owned(),
                format!("-Djruby.compile.invokedynamic={value}"),
                format!("-Djava.io.tmpdir={folder}/tmp"),
                "server.rb".to_owned(),
            ],
            env: [("PORT".to_owned(), (41_000 + number).to_string()), ("HOME".to_owned(), "/root".to_owned())].into(),
            hides_command: false,
            hides_env: false,
            versions: strings([("jdk", "25"), ("jruby", "10.1.1.0")]),
            libraries: strings([("jruby.jar", "aa"), ("server.rb", "bb")]),
            gems: strings([("json", "2.7.1"), ("rack", "2.2.9")]),
            opened: IndexMap::new(),
            build: IndexMap::new(),
            changed_options: Vec::new(),
            varied: Vec::new(),
            port: 41_000 + number as u16,
            shared_cpus: Some(0),
            ready_s: READY_S,
            log: PathBuf::from(folder).join("server.log"),
        }),
        settings: vec![setting(value)],
        answers: vec![answer(number, 1), answer(number, 2)],
        warm_up: Some(WarmUpRecord {
            samples: vec![sample(0, 1_000.0)],
            slices: Vec::new(),
            steady_at_s: Some(40.0),
            steady_from_s: None,
        }),
        cells: Vec::new(),
        host: HostUse { elapsed_s: 60.0, busy_cores: 1.5, ..HostUse::default() },
        canary_ns: [1_000_000, 1_002_000],
        oom_kills: 0,
        failed_tear_downs: None,
        service_logs: IndexMap::new(),
    }
}

/// The factor's setting, in effect.
pub fn setting(value: &str) -> Setting {
    Setting {
        key: Key::Jruby("compile.invokedynamic".to_owned()),
        name: "compile.invokedynamic".to_owned(),
        requested: value.to_owned(),
        live: Some(value.to_owned()),
        default: Some("false".to_owned()),
        source: SettingSource::InProcess,
        result: if value == "false" { SettingResult::AlreadyDefault } else { SettingResult::InEffect },
        shared: false,
    }
}

/// A page of twenty lines: one holds the time, one the process.
pub fn answer(launch: usize, time: usize) -> AnswerSample {
    let mut lines: Vec<String> = (0..18).map(|line| format!("line-{line}")).collect();
    lines.push(format!("process-{launch}"));
    lines.push(format!("time-{launch}-{time}"));
    AnswerSample {
        workload: 0,
        step: None,
        status: 200,
        content_type: "text/html; charset=utf-8".to_owned(),
        length: LENGTH,
        hash: format!("{launch}-{time}"),
        lines,
        excerpt: "<html>".to_owned(),
        unmet: Vec::new(),
    }
}

/// A few seconds of a cell at `rate` good answers per second.
pub fn cell(index: usize, rate: f64) -> CellRecord {
    let samples = (0..MEASURED_S).map(|s| sample(s, rate)).collect();
    CellRecord {
        cell: index,
        since_ready_s: 50.0,
        ramp_up: Vec::new(),
        slices: Vec::new(),
        samples,
        jruby: None,
        ruby_gc: None,
    }
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
    WarmUpRecord { samples: series(0, good).samples, slices: Vec::new(), steady_at_s, steady_from_s: None }
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
        round: 0,
        length_s: good as f64 / rate.max(1e-9),
        tally: Tally {
            good,
            failures: [].into(),
            malformed: [].into(),
            statuses: if good > 0 { [(200, good)].into() } else { [].into() },
            body_length: (good > 0).then_some(BodyLength { min: LENGTH, max: LENGTH }),
        },
        bins: vec![(good / 10) as u32; 10],
        service,
        open: None,
        walked: None,
        bytes: good * LENGTH,
        client_cpu_s: 0.1,
        server: Some(ServerUse { cpu_s: 0.5, rss_bytes: 400 << 20, threads: 40, ..ServerUse::default() }),
        host: None,
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
        seen: Some(Seen {
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
