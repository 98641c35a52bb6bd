//! Reports of soaks, in every form.

use model::report::Reproduce;
use model::soaked::{Course, Gauge, Limit, Reading, SCHEMA_VERSION, SoakEnd, SoakReport, SoakStep, Soaked, Trend};
use model::{Fact, Failed, Finding, FindingId, HostFacts, Phase, Severity, Subject};
use report::Style;

use super::html::{between, check_balance};

const MIB: f64 = 1_048_576.0;
const SECONDS: f64 = 14_400.0;

fn course(gauge: Gauge, [first, last]: [f64; 2], per_hour: f64, reading: Reading) -> Course {
    let point = |window: u32| {
        let at = f64::from(window) * 15.0 + 7.5;
        [at, first + (last - first) * at / SECONDS]
    };
    Course {
        gauge,
        points: (0..960).map(point).collect(),
        first,
        last,
        trend: Some(Trend { per_hour, low: per_hour * 0.9, high: per_hour * 1.1 }),
        reading,
        steps: Vec::new(),
        doubt: None,
        limit: None,
    }
}

fn soaked(variant: usize, end: SoakEnd, courses: Vec<Course>) -> Soaked {
    Soaked {
        variant,
        seconds: SECONDS,
        end,
        warm_up_s: 42.0,
        steady_at_s: Some(31.0),
        requests: 2_880_000,
        failed_share: 0.001,
        too_short: None,
        courses,
    }
}

/// A variant that leaks, one whose cache has filled, one that failed at once, and one that was interrupted.
fn report() -> SoakReport {
    let leak = Course {
        limit: Some(Limit { name: "limits.memory".into(), value: 2_048.0 * MIB }),
        ..course(Gauge::Memory, [100.0 * MIB, 400.0 * MIB], 75.0 * MIB, Reading::Rising)
    };
    let cache = Course {
        steps: vec![SoakStep { at_s: 3_607.5, before: 100.0 * MIB, after: 130.0 * MIB }],
        ..course(
            Gauge::Memory,
            [100.0 * MIB, 131.2 * MIB],
            0.0,
            Reading::LevelledOff { by: 31.2 * MIB, since_s: 3_600.0 },
        )
    };
    let threads = |reading| course(Gauge::Threads, [12.0, 12.0], 0.0, reading);
    let p50 = course(Gauge::P50, [2_100.0, 2_150.0], 12.0, Reading::Level);
    let died = Failed {
        phase: Phase::Measure,
        reason: "the server ended by itself under load (exit code 3)".into(),
        log_tail: "starting\nout of <memory>".into(),
    };
    let cut_short = |soak| Soaked {
        seconds: 31.0,
        too_short: Some("It was loaded for 31.0 s. Nothing can be said.".into()),
        ..soak
    };
    SoakReport {
        schema: SCHEMA_VERSION,
        version: "0.1.0".into(),
        run: "2026-01-31-143059-kept".into(),
        started: "2026-01-31T14:30:59.25Z".into(),
        name: "What is <kept>".into(),
        question: Some("Does it leak?".into()),
        cell: "page@200/s".into(),
        planned_s: SECONDS,
        window_s: 15.0,
        variant_names: ["leak", "cache", "dead", "stopped"].map(String::from).into(),
        soaks: vec![
            soaked(0, SoakEnd::Completed, vec![leak, threads(Reading::Level), p50]),
            soaked(1, SoakEnd::Completed, vec![cache, threads(Reading::Level)]),
            cut_short(soaked(2, SoakEnd::Failed(died), vec![threads(Reading::Unknown)])),
            cut_short(soaked(3, SoakEnd::Interrupted, Vec::new())),
        ],
        findings: vec![Finding {
            id: FindingId::new("memory-leak"),
            severity: Severity::Warning,
            subject: Subject::Variant { variant: 0 },
            facts: vec![Fact::new("resident memory", "100 MiB → 400 MiB in 4 h 0 min")],
            meaning: "Resident memory rises evenly.".into(),
            remedy: "Look at what is held.".into(),
        }],
        host: HostFacts::default(),
        reproduce: Reproduce {
            command: "bakeoff run study.toml --seed 1 --soak 14400s".into(),
            study: "name = \"</pre>\"".into(),
            goes_on: None,
        },
    }
}

#[test]
fn people_read_it() {
    insta::assert_snapshot!("soak-terminal", report::soak(&report(), Style::default()));
    insta::assert_snapshot!("soak-markdown", report::soak_markdown(&report()));
}

#[test]
fn its_page_is_well_formed_and_has_a_chart_for_each_gauge() {
    let page = report::soak_html(&report());
    check_balance(&page).unwrap();
    assert!(!page.contains("NaN") && !page.contains("<kept>") && !page.contains("</pre>\"<"));
    let charts: Vec<&str> =
        page.match_indices("<svg").map(|(start, _)| between(&page[start..], "<title>", "</title>")).collect();
    assert_eq!(charts, ["resident memory over the soak", "threads over the soak", "p50 over the soak"]);
    assert!(page.contains("100 MiB → 130 MiB after 60 min"));
}

#[test]
fn its_points_are_rows_of_csv() {
    let csv = report::soak_csv(&report());
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("run,variant,gauge,seconds,value"));
    assert_eq!(lines.next(), Some("2026-01-31-143059-kept,leak,resident memory,7.5,105021440"));
    assert_eq!(lines.count(), 6 * 960 - 1);
}

#[test]
fn its_json_is_by_the_published_schema() {
    let json = report::soak_json(&report());
    assert_eq!(serde_json::from_str::<SoakReport>(&json).unwrap(), report());
    super::text::assert_schema("soak.schema.json", &report::soak_schema());
}
