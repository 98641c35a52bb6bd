//! A run to store.

use std::time::Duration;

use model::study::{
    Decide, Expect, Factor, Hooks, Isolation, Limits, Ready, ReadySign, Request, Runtime, ServerSpec, Timing, Variant,
    WarmUp, Workload, WorkloadKind,
};
use model::{
    Cell, CellRecord, FailedTearDowns, Histogram, HostFacts, HostUse, Metric, Mode, Outcome, Plan, Sample, Schedule,
    Shape, Study, StudyRecord, Tally, TrialKey, TrialRecord, WarmUpRecord,
};

/// A run of a small study, without trials.
pub fn run(name: &str, started: &str) -> StudyRecord {
    let timing = Timing {
        warm_up: WarmUp::Fixed(Duration::ZERO),
        measure: Duration::from_secs(1),
        min_blocks: 5,
        max_blocks: 30,
    };
    let variant = |level: &str| Variant {
        name: level.to_owned(),
        levels: [("size".to_owned(), level.to_owned())].into(),
        server: ServerSpec {
            runtime: Runtime::Command { command: "server {port}".to_owned() },
            args: vec![level.to_owned()],
            env: [].into(),
            dir: "/study".into(),
            ready: Ready { sign: ReadySign::Get("/".to_owned()), within: Duration::from_secs(60) },
            stop_within: Duration::from_secs(10),
            limits: Limits::default(),
        },
        treatment: Vec::new(),
        shared: Vec::new(),
        assertions: Vec::new(),
    };
    let request = Request { method: "GET".to_owned(), path: "/".to_owned(), headers: Vec::new(), body: None };
    StudyRecord {
        run: name.to_owned(),
        version: "0.1.0".to_owned(),
        started: started.to_owned(),
        study: Study {
            name: "Größe".to_owned(),
            question: None,
            dir: "/study".into(),
            file: "study.toml".to_owned(),
            source: "name = \"Größe\"".to_owned(),
            factors: vec![Factor { name: "size".to_owned(), levels: vec!["small".to_owned(), "large".to_owned()] }],
            variants: vec![variant("small"), variant("large")],
            services: Vec::new(),
            workloads: vec![Workload {
                name: "front".to_owned(),
                kind: WorkloadKind::Request { request, expect: Expect::default() },
                shapes: vec![Shape::users(1)],
            }],
            hooks: Hooks::default(),
            launches: model::Launches::OneAfterAnother,
            warm_up_users: 1,
            timing: timing.clone(),
            quick: timing,
            decide: Decide {
                primary: Metric::Throughput,
                cell: None,
                secondary: Vec::new(),
                rope: 0.02,
                detect: 0.05,
                within: None,
                redeploy_every: None,
            },
            profiling: None,
            host: Isolation::default(),
        },
        plan: Plan {
            fallback: None,
            seed: u64::MAX,
            mode: Mode::Full,
            cells: vec![Cell { workload: 0, shape: Shape::users(1) }],
            pilot: Vec::new(),
            blocks: Vec::new(),
            schedule: Schedule {
                launches: model::Launches::OneAfterAnother,
                warm_up: WarmUp::Fixed(Duration::ZERO),
                measure: Duration::from_secs(1),
                min_blocks: 5,
                max_blocks: 30,
                spare_blocks: 6,
                within: Duration::from_secs(1_800),
                profiling: false,
            },
        },
        host: HostFacts::default(),
        warm_up_length: None,
        horizon: None,
        trials: Vec::new(),
        profiling_runs: Vec::new(),
        profiling_skipped: None,
    }
}

/// A trial with a second of everything in it.
pub fn trial(block: u32, position: u32) -> TrialRecord {
    let mut service = Histogram::new();
    for us in 0..10_000 {
        service.record(us * 7 + u64::from(block));
    }
    let sample = Sample {
        start_s: 0.1 + 0.2,
        round: 0,
        length_s: 1.0,
        tally: Tally { good: 10_000, statuses: [(200, 10_000)].into(), ..Tally::default() },
        bins: vec![1_000; 10],
        service,
        open: None,
        walked: None,
        bytes: 1 << 40,
        client_cpu_s: 0.3,
        server: None,
        host: Some(HostUse { elapsed_s: 1.0, busy_cores: 1.0 / 3.0, ..HostUse::default() }),
    };
    TrialRecord {
        key: TrialKey { pilot: false, block, position },
        variant: position as usize,
        started: "2026-01-31T12:00:00Z".to_owned(),
        outcome: Outcome::Completed,
        launch: None,
        settings: Vec::new(),
        answers: Vec::new(),
        warm_up: Some(WarmUpRecord {
            samples: vec![sample.clone()],
            slices: Vec::new(),
            steady_at_s: None,
            steady_from_s: None,
        }),
        cells: vec![CellRecord {
            cell: 0,
            since_ready_s: 12.5,
            samples: vec![sample; 3],
            ramp_up: Vec::new(),
            slices: Vec::new(),
            jruby: None,
            ruby_gc: None,
        }],
        host: HostUse::default(),
        canary_ns: [1_000_000, u64::MAX],
        oom_kills: 3,
        failed_tear_downs: Some(FailedTearDowns { users: 2, first: "step `log out` failed".into() }),
        service_logs: [].into(),
    }
}
