//! A run to store.

use std::time::Duration;

use model::study::WarmUp;
use model::{
    Cell, FailedTearDowns, Histogram, HostUse, Launches, Mode, Plan, Sample, Schedule, Shape, Study, StudyRecord,
    Tally, TrialKey, TrialRecord, testing,
};

/// A run of a small study, without trials.
pub fn run(name: &str, started: &str) -> StudyRecord {
    let plan = Plan {
        fallback: None,
        soak: None,
        seed: u64::MAX,
        mode: Mode::Full,
        cells: vec![Cell { workload: 0, shape: Shape::users(1) }],
        pilot: Vec::new(),
        blocks: Vec::new(),
        schedule: Schedule {
            launches: Launches::OneAfterAnother,
            warm_up: WarmUp::Fixed(Duration::ZERO),
            measure: Duration::from_secs(1),
            min_blocks: 5,
            max_blocks: 30,
            spare_blocks: 6,
            within: Duration::from_secs(1_800),
            profiling: false,
        },
    };
    let study = Study { name: "Größe".to_owned(), source: "name = \"Größe\"".to_owned(), ..testing::study() };
    StudyRecord { run: name.to_owned(), started: started.to_owned(), ..testing::record(study, plan) }
}

/// A trial with a second of everything in it.
pub fn trial(block: u32, position: u32) -> TrialRecord {
    let mut service = Histogram::new();
    for us in 0..10_000 {
        service.record(us * 7 + u64::from(block));
    }
    let sample = Sample {
        start_s: 0.1 + 0.2,
        length_s: 1.0,
        tally: Tally { good: 10_000, statuses: [(200, 10_000)].into(), ..Tally::default() },
        bins: vec![1_000; 10],
        service,
        bytes: 1 << 40,
        client_cpu_s: 0.3,
        host: Some(HostUse { elapsed_s: 1.0, busy_cores: 1.0 / 3.0, ..HostUse::default() }),
        ..Sample::default()
    };
    TrialRecord {
        warm_up: Some(testing::warm_up(vec![sample.clone()], None)),
        cells: vec![testing::cell(0, vec![sample; 3])],
        canary_ns: [1_000_000, u64::MAX],
        oom_kills: 3,
        failed_tear_downs: Some(FailedTearDowns { users: 2, first: "step `log out` failed".into() }),
        ..testing::trial(TrialKey { pilot: false, block, position }, position as usize)
    }
}
