//! What became of soaked servers, as data: computed once, only rendered after that.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::Reproduce;
use crate::{Failed, Finding, HostFacts, Names, text};

/// Version of the published JSON form; raised when a reader would break.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything a report of soaks shows. It compares nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SoakReport {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// Version of bakeoff that measured.
    pub version: String,
    /// Name of the run.
    pub run: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The study's name.
    pub name: String,
    /// The study's question.
    pub question: Option<String>,
    /// The name of the cell that each variant was loaded with, such as `pages@20`.
    pub cell: String,
    /// How long each was to be loaded, seconds.
    pub planned_s: f64,
    /// How long a window is, seconds: the points of all courses.
    pub window_s: f64,
    /// The names of the study's variants, in its order: findings name them by index.
    pub variant_names: Vec<String>,
    /// What was soaked.
    pub soaks: Vec<Soaked>,
    /// What was found, gravest first.
    pub findings: Vec<Finding>,
    /// The machine.
    pub host: HostFacts,
    /// How to do it again.
    pub reproduce: Reproduce,
}

impl SoakReport {
    /// What its variants are called.
    pub fn names(&self) -> Names {
        Names { variants: self.variant_names.clone(), cells: Vec::new() }
    }
}

/// One variant over its soak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Soaked {
    /// Index into [`SoakReport::variant_names`].
    pub variant: usize,
    /// How long it was loaded, seconds.
    pub seconds: f64,
    /// How it ended.
    pub end: SoakEnd,
    /// How long it was warmed up before, seconds.
    pub warm_up_s: f64,
    /// When it was found steady in that, seconds; absent if never.
    pub steady_at_s: Option<f64>,
    /// Requests that ended.
    pub requests: u64,
    /// Failed share, 0..=1.
    pub failed_share: f64,
    /// Why nothing is said of how anything went: it was too short. A sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_short: Option<String>,
    /// What was watched, and how it went.
    pub courses: Vec<Course>,
}

/// How a soak ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SoakEnd {
    /// After its time.
    Completed,
    /// Before it: by Ctrl-C, or since bakeoff died.
    Interrupted,
    /// Before it, by the server's fault.
    Failed(Failed),
}

/// What is watched over a soak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gauge {
    /// Resident memory of all processes, bytes.
    Memory,
    /// Heap of the JVM after collections that took the old generation too, bytes.
    Heap,
    /// Threads of all processes.
    Threads,
    /// Open file descriptors of all processes.
    Descriptors,
    /// TCP connections of all processes.
    Connections,
    /// Median latency, µs.
    P50,
    /// 99th percentile of latency, µs.
    P99,
    /// Good answers per second.
    Throughput,
}

impl Gauge {
    /// All of them, in the order shown.
    pub const ALL: [Self; 8] = [
        Self::Memory,
        Self::Heap,
        Self::Threads,
        Self::Descriptors,
        Self::Connections,
        Self::P50,
        Self::P99,
        Self::Throughput,
    ];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "resident memory",
            Self::Heap => "heap after collections",
            Self::Threads => "threads",
            Self::Descriptors => "file descriptors",
            Self::Connections => "connections",
            Self::P50 => "p50",
            Self::P99 => "p99",
            Self::Throughput => "throughput",
        }
    }

    /// A value in its unit, as people read it.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Memory | Self::Heap => text::bytes(value),
            Self::Threads | Self::Descriptors | Self::Connections => text::significant(value, 3),
            Self::P50 | Self::P99 => text::micros(value),
            Self::Throughput => format!("{}/s", text::significant(value, 3)),
        }
    }

    /// A change with its sign: `+71.2 MiB`, `−3.00 ms`.
    pub fn signed(self, value: f64) -> String {
        let sign = match value {
            0.0 => "",
            less if less < 0.0 => "−",
            _ => "+",
        };
        format!("{sign}{}", self.text(value.abs()))
    }
}

/// How something went over a soak.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Course {
    /// What.
    pub gauge: Gauge,
    /// Seconds since the load began, at the middle of each window, and the value, in the gauge's unit.
    pub points: Vec<[f64; 2]>,
    /// Median of the first tenth of the time.
    pub first: f64,
    /// Median of the last tenth of it.
    pub last: f64,
    /// How it moved in the second half; absent where too little was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// What that amounts to.
    pub reading: Reading,
    /// Where its level changed for ten windows or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<SoakStep>,
    /// Why the reading may be wrong, a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// What it cannot exceed, in its unit, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
}

/// A bound of a gauge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// What sets it, such as `-Xmx`.
    pub name: String,
    /// The bound, in the gauge's unit.
    pub value: f64,
}

/// A slope, and an interval that holds the true one in 99 of 100 cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trend {
    /// Change in an hour, in the gauge's unit.
    pub per_hour: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// What a course amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reading {
    /// It ended where it began.
    Level,
    /// It rises evenly, to the end.
    Rising,
    /// It still rises at the end, more slowly than before: it may level off, and a longer soak would tell.
    Slowing,
    /// It rose, and has been level since.
    LevelledOff {
        /// By so much.
        by: f64,
        /// Since then, seconds since the load began.
        since_s: f64,
    },
    /// It fell.
    Fell,
    /// Too little was seen of it.
    Unknown,
}

/// A change of level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SoakStep {
    /// When, seconds since the load began.
    pub at_s: f64,
    /// Median before.
    pub before: f64,
    /// Median after.
    pub after: f64,
}
