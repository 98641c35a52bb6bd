//! A finished analysis as data: computed once, only rendered after that.

use std::collections::BTreeMap;
use std::fmt;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::search::LimitSummary;
use crate::warm_up::Spread;
use crate::{
    AgeCurve, Attribution, ChangedSeries, Comparison, Failed, Finding, HostFacts, Metric, Mode, Names, Outlook,
    Scalability, Setting, TrialKey, VariantIndex, Verdict, WarmUpLength, WarmingUp, Why,
};

/// Version of the published JSON form; raised when a reader would break.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything a report shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
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
    /// Full or quick.
    pub mode: Mode,
    /// The answer in one sentence for each variant against the baseline.
    pub judgements: Vec<Judgement>,
    /// How each variant compares with the baseline over a server's life; empty where no warm-up was seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<AgeCurve>,
    /// What the run cannot support, a sentence each.
    pub limits: Vec<String>,
    /// The variants, baseline first.
    pub variants: Vec<VariantSummary>,
    /// Names of the cells (such as `pages@20`), in the plan's order.
    pub cells: Vec<CellName>,
    /// Which metric decides.
    pub primary: Metric,
    /// Region of practical equivalence, a fraction.
    pub rope: f64,
    /// What it takes to distinguish the difference that the study cares about from none; absent while nothing is known of the noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outlook: Option<Outlook>,
    /// Comparisons, the primary first.
    pub comparisons: Vec<Comparison>,
    /// What one more launch of each variant says about why they differ; absent where none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// What each variant did in each cell.
    pub measurements: Vec<Measurement>,
    /// What each launch gave in each cell, those of blocks that are not used as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches: Vec<LaunchNumbers>,
    /// How much of the processors each variant uses where it answers most, for each workload in a closed loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub core_use: Vec<CoreUse>,
    /// How busy each processor was while one launch of each variant was measured: those of the first block that is used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_core: Vec<CoreSeries>,
    /// What searches for the limit found, for each variant and cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found_limits: Vec<LimitSummary>,
    /// What each factor contributes; absent where there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<Attribution>,
    /// How throughput grows with the number of users, for each workload that was measured with four numbers of them or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalability: Vec<Scalability>,
    /// What each measured block gave.
    pub blocks: Vec<BlockSummary>,
    /// Warm-up series of every launch.
    pub warm_ups: Vec<WarmUpSeries>,
    /// What warming up costs, and when it has paid; absent where no warm-up was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warming_up: Option<WarmingUp>,
    /// The warm-up length in force.
    pub warm_up_length: Option<WarmUpLength>,
    /// Launches whose speed changed while it was measured, as series with their changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<ChangedSeries>,
    /// What was found, gravest first.
    pub findings: Vec<Finding>,
    /// The machine.
    pub host: HostFacts,
    /// How the variants' processes differed, each difference with the factor that explains it.
    pub differences: Vec<EnvironmentDifference>,
    /// How to do it again.
    pub reproduce: Reproduce,
}

impl Report {
    /// What its variants and cells are called.
    pub fn names(&self) -> Names {
        Names {
            variants: self.variants.iter().map(|variant| variant.name.clone()).collect(),
            cells: self.cells.iter().map(|cell| cell.name.clone()).collect(),
        }
    }
}

/// A verdict in words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// Against the baseline.
    pub variant: VariantIndex,
    /// The verdict.
    pub verdict: Verdict,
    /// One sentence, such as "on is 4.8 % faster than off [3.1, 6.4], 9 blocks".
    pub sentence: String,
}

/// One variant over the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VariantSummary {
    /// Its name.
    pub name: String,
    /// Its level of each factor.
    pub levels: IndexMap<String, String>,
    /// Measuring trials that completed.
    pub completed: u32,
    /// Trials that failed, pilots included.
    pub failed: Vec<FailedTrial>,
    /// Settings of the factors as the first launch that has them read them. Of a number that is as it should be and differs between
    /// launches (an assertion's), `live` is what all had: the median, and from where to where.
    pub settings: Vec<Setting>,
    /// Command line of its first launch, secrets masked.
    pub command: Vec<String>,
    /// Names and versions of what runs it.
    pub versions: IndexMap<String, String>,
    /// Median seconds from launch to the first good answer.
    pub ready_s: Option<f64>,
    /// Median seconds until the warm-up rule found a launch steady, over launches that became steady.
    pub steady_s: Option<f64>,
    /// Launches found steady, of those that warmed up.
    pub steady: [u32; 2],
    /// Highest resident memory seen, bytes.
    pub memory_bytes: Option<u64>,
}

/// A trial that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedTrial {
    /// Which.
    pub key: TrialKey,
    /// How.
    pub failed: Failed,
}

/// A cell's name and parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellName {
    /// Such as `pages@20` or, in an open loop, `pages@300/s`.
    pub name: String,
    /// The workload's name.
    pub workload: String,
    /// Users of a closed loop; absent in an open loop.
    pub concurrency: Option<u32>,
}

/// What one variant did in one cell, over all used launches. Times in µs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// The variant.
    pub variant: VariantIndex,
    /// Index into [`Report::cells`].
    pub cell: usize,
    /// Requests that ended.
    pub requests: u64,
    /// Failed share, 0..=1.
    pub failed_share: f64,
    /// Median over launches of good answers per second.
    pub throughput: f64,
    /// Lowest and highest launch.
    pub throughput_range: [f64; 2],
    /// Latency by percentile, service time in a closed loop and response time in an open one, from the merged histogram; only those that the count supports.
    pub percentiles: Vec<Percentile>,
    /// Median over launches of server CPU per good answer, µs, where it could be read.
    pub cpu_per_request: Option<f64>,
    /// Each metric's median over launches, with an interval from six launches on. A percentile here is the median of the
    /// launches' own, where [`Self::percentiles`] is that of all their requests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spreads: BTreeMap<Metric, Spread>,
    /// Median over launches of the highest resident memory of the server in this cell, bytes, where it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<f64>,
    /// Client CPU per request, µs; absent when no request ended.
    pub client_cpu_per_request: Option<f64>,
    /// What the server's time went into, as far as it could be seen.
    pub server: ServerTime,
    /// The steps of its scenarios, in their order; empty where the workload has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepSummary>,
}

/// What one step of a scenario did for one variant in one cell, over all used launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepSummary {
    /// The step's name.
    pub name: String,
    /// Requests that ended.
    pub requests: u64,
    /// Failed share of them, 0..=1.
    pub failed_share: f64,
    /// Requests that were never sent, since a step before them had failed.
    pub skipped: u64,
    /// Median over launches of good answers per second.
    pub throughput: f64,
    /// Service time by percentile, from the merged histogram; only those that the count supports.
    pub percentiles: Vec<Percentile>,
}

/// What a server's time went into: medians over launches, each absent where it could not be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTime {
    /// Cores that the server used: its CPU time by the length of the load.
    pub cores: Option<f64>,
    /// How busy that logical processor of the host was that was busiest, whoever used it, 0..=1.
    pub busiest_core: Option<f64>,
    /// CPU time of the study's services, such as a database, per good answer, µs; no part of [`Measurement::cpu_per_request`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services_cpu_per_request: Option<f64>,
    /// CPU time in the kernel per good answer, µs; part of [`Measurement::cpu_per_request`].
    pub system_cpu_per_request: Option<f64>,
    /// How often its threads left a core of their own accord, to wait for something, per good answer.
    pub waits_per_request: Option<f64>,
    /// How often the kernel took a core from its threads, per good answer.
    pub preemptions_per_request: Option<f64>,
    /// Part of the time that the JVM was paused for garbage collection, 0..=1.
    pub gc_share: Option<f64>,
    /// Part of the time that all threads of the JVM were stopped, for collections or anything else, 0..=1.
    pub safepoint_share: Option<f64>,
    /// Classes that the JVM loaded meanwhile.
    pub classes_loaded: Option<f64>,
    /// Time of the JVM's compiler threads per good answer, µs.
    pub jit_per_request: Option<f64>,
    /// Allocated by the JVM per good answer, bytes, as its collections show it.
    pub allocated_per_request: Option<f64>,
    /// Ruby exceptions per good answer, as JRuby counts them.
    pub exceptions_per_request: Option<f64>,
    /// Methods and blocks that JRuby's compiler compiled meanwhile.
    pub jruby_compiled: Option<f64>,
    /// Collections of MRI's collector per good answer.
    pub collections_per_request: Option<f64>,
    /// Their time per good answer, µs.
    pub collecting_per_request: Option<f64>,
    /// Objects that MRI allocated per good answer.
    pub objects_per_request: Option<f64>,
}

impl ServerTime {
    /// Whether nothing could be read.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What one launch gave in one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaunchNumbers {
    /// Which launch.
    pub key: TrialKey,
    /// Its variant.
    pub variant: VariantIndex,
    /// Index into [`Report::cells`].
    pub cell: usize,
    /// Whether its block is used.
    pub is_used: bool,
    /// Metrics of the cell, in their units; those that could be measured.
    pub values: BTreeMap<Metric, f64>,
}

/// How much of the processors a variant uses in the cell of a workload in which it answers most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreUse {
    /// The variant.
    pub variant: VariantIndex,
    /// Index into [`Report::cells`].
    pub cell: usize,
    /// Good answers per second there.
    pub throughput: f64,
    /// Cores that the server used, median over launches.
    pub cores: f64,
    /// Cores that it may use: the host's, those that the study keeps it to, or its limit, whichever is fewest.
    pub available: f64,
}

/// How busy each logical processor of the host was while a launch was measured, whoever used it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoreSeries {
    /// The launch.
    pub key: TrialKey,
    /// Its variant.
    pub variant: VariantIndex,
    /// The cells in the order in which they were measured, with the second at which each began.
    pub cells: Vec<(usize, f64)>,
    /// Seconds since the server was ready, at the beginning of each sample of about a second.
    pub from_s: Vec<f64>,
    /// By processor, in the kernel's order, and sample: 0..=1.
    pub busy: Vec<Vec<f64>>,
}

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentile {
    /// 0..=100.
    pub percent: f64,
    /// Latency, µs.
    pub us: u64,
}

/// The primary metric of one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BlockSummary {
    /// Its index in the plan.
    pub block: u32,
    /// Variants in running order.
    pub order: Vec<VariantIndex>,
    /// The primary metric by variant, in its unit; absent where a trial failed or is missing.
    pub values: Vec<Option<f64>>,
    /// Why the block was excluded, if it was.
    pub excluded: Option<String>,
}

/// The warm-up of one launch as a series.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WarmUpSeries {
    /// Which trial.
    pub key: TrialKey,
    /// Its variant.
    pub variant: VariantIndex,
    /// Seconds since the load began, and good answers per second.
    pub points: Vec<[f64; 2]>,
    /// When it was found steady, seconds.
    pub steady_at_s: Option<f64>,
    /// Seconds since the load began, and cores that the server used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu: Vec<[f64; 2]>,
    /// Seconds since the load began, and the part of the time that its JVM was paused for garbage collection, 0..=1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gc: Vec<[f64; 2]>,
}

/// Something that is not the same in two variants' processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EnvironmentDifference {
    /// What.
    pub aspect: Aspect,
    /// Its value in each variant; absent where it has none.
    pub values: Vec<Option<String>>,
    /// The factor that declares it; `None` makes it a confounder.
    pub factor: Option<String>,
}

/// What of the variants' processes is laid side by side, in the order shown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "name", rename_all = "kebab-case")]
pub enum Aspect {
    /// The version of something that runs the server.
    Version(String),
    /// The checksum of a file that is run.
    Library(String),
    /// The version of a gem.
    Gem(String),
    /// The checksum of an archive that the process has opened.
    Opened(String),
    /// How its Ruby was built.
    Build(String),
    /// The command line.
    Command,
    /// A variable of its environment.
    Environment(String),
}

impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(name) => write!(f, "version {name}"),
            Self::Library(name) => write!(f, "library {name}"),
            Self::Gem(name) => write!(f, "gem {name}"),
            Self::Opened(name) => write!(f, "loaded {name}"),
            Self::Build(name) => write!(f, "Ruby's build {name}"),
            Self::Command => f.write_str("command line"),
            Self::Environment(name) => write!(f, "environment {name}"),
        }
    }
}

/// How to do it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reproduce {
    /// The command, with its seed.
    pub command: String,
    /// The study file's text.
    pub study: String,
    /// The command that goes on with a run that has not come to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goes_on: Option<String>,
}
