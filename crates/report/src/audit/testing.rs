//! What audits found, for tests.

use model::Effect;
use model::imported::{
    AuditedPair, AuditedRun, Fidelity, ImportedRun, Interval, Lines, Matched, Pace, Requests, SpeedLevel, Stated,
    Support, Totals,
};

/// A run of 4,000 s whose speed fell in its middle.
pub fn audited(name: &str) -> AuditedRun {
    let interval =
        |second: usize| Interval { good: if second < 2_000 { 8 } else { 2 }, users: 50, ..Interval::default() };
    let run = ImportedRun {
        file: format!("{name}.jtl"),
        format: "jtl".to_owned(),
        tool: "JMeter".to_owned(),
        fidelity: Fidelity::Samples,
        url: None,
        users: Some(50),
        has_counted_users: false,
        began_ms: Some(0),
        has_local_time: false,
        seconds: 4_000.0,
        all: Requests { good: 20_000, ..Requests::default() },
        labels: [].into(),
        interval_s: 1.0,
        intervals: (0..4_000).map(interval).collect(),
        stated_quantiles: Vec::new(),
        stated: Stated::default(),
        warnings: Vec::new(),
        lines: Lines::default(),
    };
    let level = |from_s: f64, rate| SpeedLevel { from_s, to_s: from_s + 2_000.0, rate };
    AuditedRun {
        run,
        support: Support::NotSupported,
        levels: vec![level(0.0, 7.5), level(2_000.0, 1.5)],
        hosts: Vec::new(),
        settings: Vec::new(),
        findings: Vec::new(),
        silent: Vec::new(),
    }
}

/// Two such runs held against each other: until they fell there is next to no difference.
pub fn pair(runs: &[AuditedRun; 2]) -> AuditedPair {
    let effect = Effect { estimate: 0.013, low: -0.02, high: 0.046, resolution: 0.0, blocks: 20, confidence: 0.95 };
    AuditedPair {
        files: runs.each_ref().map(|audited| audited.run.file.clone()),
        totals: Some(Totals { good: [20_000; 2], rates: [5.0; 2] }),
        matched: Some(Matched {
            from_s: 10.0,
            to_s: 2_000.0,
            rates: [7.5, 7.6],
            effect,
            times: None,
            pace: Pace::Servers,
        }),
        support: Support::CannotTell,
        findings: Vec::new(),
        silent: Vec::new(),
        options: None,
    }
}
