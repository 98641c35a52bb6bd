//! Studies, records and what they are made of, for tests: whole, small and plain, so that a test states only what it is about.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use runtimes::Key;

use crate::study::{
    Decide, Expect, Factor, Hooks, Isolation, Limits, Ready, ReadySign, Request, Runtime, ServerSpec, Timing, Variant,
    WarmUp, Workload, WorkloadKind,
};
use crate::{
    AnswerSample, CellIndex, CellRecord, HostFacts, HostUse, LaunchFacts, Launches, Metric, Outcome, Plan, Sample,
    Setting, SettingResult, SettingSource, Shape, Steady, Study, StudyRecord, TrialKey, TrialRecord, VariantIndex,
    WarmUpRecord,
};

/// When everything here began.
const STARTED: &str = "2026-01-31T10:00:00Z";
/// Start-up time of every launch, seconds.
pub const READY_S: f64 = 8.0;
/// Length of every body, bytes.
pub const LENGTH: u64 = 15_118;

/// A study of one factor, `invokedynamic`, off and on; one workload, `pages`, of 1 and of 20 users; 5 to 30 blocks one after another, with a
/// pilot.
pub fn study() -> Study {
    let timing = Timing {
        warm_up: WarmUp::Pilot { cap: Duration::from_secs(300) },
        measure: Duration::from_secs(4),
        min_blocks: 5,
        max_blocks: 30,
    };
    Study {
        name: "invokedynamic".to_owned(),
        question: None,
        dir: PathBuf::from("/study"),
        file: "study.toml".to_owned(),
        source: "name = \"invokedynamic\"".to_owned(),
        factors: vec![factor("invokedynamic", &["off", "on"])],
        variants: ["off", "on"].map(|level| variant("invokedynamic", level)).into(),
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
        launches: Launches::OneAfterAnother,
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
        soak: None,
        host: Isolation::default(),
    }
}

/// A factor with these levels.
pub fn factor(name: &str, levels: &[&str]) -> Factor {
    Factor { name: name.to_owned(), levels: levels.iter().map(|level| (*level).to_owned()).collect() }
}

/// A variant by the level of its factor, which sets nothing yet.
pub fn variant(factor: &str, level: &str) -> Variant {
    Variant {
        name: level.to_owned(),
        levels: [(factor.to_owned(), level.to_owned())].into(),
        server: ServerSpec {
            runtime: Runtime::Command { command: "serve".to_owned() },
            args: Vec::new(),
            env: IndexMap::new(),
            dir: PathBuf::from("/study"),
            ready: Ready { sign: ReadySign::Get("/".to_owned()), within: Duration::from_secs(60) },
            stop_within: Duration::from_secs(10),
            limits: Limits::default(),
        },
        treatment: Vec::new(),
        shared: Vec::new(),
        assertions: Vec::new(),
    }
}

/// A run of which nothing is stored yet.
pub fn record(study: Study, plan: Plan) -> StudyRecord {
    StudyRecord {
        run: "run".to_owned(),
        version: "0.1.0".to_owned(),
        started: STARTED.to_owned(),
        study,
        plan,
        host: HostFacts::default(),
        warm_up_length: None,
        horizon: None,
        trials: Vec::new(),
        profiling_runs: Vec::new(),
        profiling_skipped: None,
        soaks: Vec::new(),
    }
}

/// A trial that went well, launched nothing and measured nothing.
pub fn trial(key: TrialKey, variant: VariantIndex) -> TrialRecord {
    TrialRecord {
        key,
        variant,
        started: STARTED.to_owned(),
        outcome: Outcome::Completed,
        launch: None,
        settings: Vec::new(),
        answers: Vec::new(),
        warm_up: None,
        cells: Vec::new(),
        host: HostUse { elapsed_s: 60.0, busy_cores: 1.5, ..HostUse::default() },
        canary_ns: [1_000_000, 1_002_000],
        oom_kills: 0,
        failed_tear_downs: None,
        service_logs: IndexMap::new(),
    }
}

/// A launch; `number` makes its port, process and folder its own.
pub fn launch(number: usize) -> LaunchFacts {
    LaunchFacts {
        pid: 4_000 + number as u32,
        command: vec!["serve".to_owned()],
        env: [("PORT".to_owned(), (41_000 + number).to_string())].into(),
        hides_command: false,
        hides_env: false,
        versions: IndexMap::new(),
        libraries: IndexMap::new(),
        gems: IndexMap::new(),
        opened: IndexMap::new(),
        build: IndexMap::new(),
        changed_options: Vec::new(),
        varied: Vec::new(),
        port: 41_000 + number as u16,
        shared_cpus: Some(0),
        ready_s: READY_S,
        log: format!("/run/trials/{number}/server.log").into(),
    }
}

/// A warm-up, and when its second half showed that it was steady.
pub fn warm_up(samples: Vec<Sample>, steady_at_s: Option<f64>) -> WarmUpRecord {
    let steady = steady_at_s.map(|at_s| Steady { from_s: at_s / 2.0, at_s });
    WarmUpRecord { samples, slices: Vec::new(), steady }
}

/// A measured cell, begun 50 s after its launch was ready.
pub fn cell(cell: CellIndex, samples: Vec<Sample>) -> CellRecord {
    CellRecord {
        cell,
        since_ready_s: 50.0,
        ramp_up: Vec::new(),
        samples,
        slices: Vec::new(),
        jruby: None,
        ruby_gc: None,
        search: None,
    }
}

/// The JRuby option `compile.invokedynamic`, in effect.
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
