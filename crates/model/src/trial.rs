//! What was measured in one launch.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use runtimes::Key;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CellIndex, ChangedOptions, HostUse, JrubyCounts, LimitSearch, LiveOptions, RubyGc, Sample, Slice, TrialKey,
    VariantIndex,
};

/// From one try whether a server is ready to the next: its start-up is known no more finely.
pub const READY_POLL: Duration = Duration::from_millis(20);

/// One trial that ended, well or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its place in the plan.
    pub key: TrialKey,
    /// What was launched.
    pub variant: VariantIndex,
    /// When it began, RFC 3339.
    pub started: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What is known of the launched server; absent when there was none.
    pub launch: Option<LaunchFacts>,
    /// Settings read back from the running process.
    pub settings: Vec<Setting>,
    /// Answers asked one by one before the loads, and once more after them.
    pub answers: Vec<AnswerSample>,
    /// The warm-up.
    pub warm_up: Option<WarmUpRecord>,
    /// The measured cells, in the order they ran.
    pub cells: Vec<CellRecord>,
    /// What the host did during the trial.
    pub host: HostUse,
    /// Time a fixed spin of the CPU took before and after the trial, ns: a canary of the host's speed.
    pub canary_ns: [u64; 2],
    /// How many processes of the server the kernel killed, from its start until bakeoff ended it, ready or not, since they needed more memory
    /// than `limits` allow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub oom_kills: u64,
    /// Users of its loads whose tear-down failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_tear_downs: Option<FailedTearDowns>,
    /// The last lines of each service's log, by its name, where requests or the trial failed.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub service_logs: IndexMap<String, String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Users of scenarios who could not go through their tear-down: what they leave behind may burden what follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTearDowns {
    /// How many.
    pub users: u64,
    /// Why the first did not, secrets masked.
    pub first: String,
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    /// Everything planned was done.
    Completed,
    /// It could not be finished: that is the variant's result.
    Failed(Failed),
}

/// Where and why a trial failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// What was being done.
    pub phase: Phase,
    /// What went wrong.
    pub reason: String,
    /// The last lines of the server's log, or of the service's that failed.
    pub log_tail: String,
}

/// The parts of a trial, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Services and hooks.
    Prepare,
    /// The server's start until it is ready.
    Launch,
    /// Reading settings back, asking for single answers.
    Inspect,
    /// Warm-up.
    WarmUp,
    /// Measurement.
    Measure,
    /// Watching, in a profiling run.
    Watch,
    /// The end of the server, services and hooks.
    Stop,
}

impl Phase {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Launch => "launch",
            Self::Inspect => "inspect",
            Self::WarmUp => "warm-up",
            Self::Measure => "measure",
            Self::Watch => "watch",
            Self::Stop => "stop",
        }
    }
}

/// What is known of a launched server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchFacts {
    /// The process that serves: the launched one, or what it has started.
    pub pid: u32,
    /// Its command line as `/proc/PID/cmdline` had it, or as it was launched where that is a title; secrets masked.
    pub command: Vec<String>,
    /// Its environment, or the one it was launched with where a title stands in its place; secrets masked, sorted by name.
    pub env: IndexMap<String, String>,
    /// Whether `command` is not shown by the process: it has a title.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides_command: bool,
    /// Whether `env` is not shown by the process: its title is as long as that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides_env: bool,
    /// Names and versions of what runs: `jdk`, `jruby`, `ruby`, in that order where known.
    pub versions: IndexMap<String, String>,
    /// Files that it runs (jars, those inside of archives, scripts): name and checksum, hexadecimal.
    pub libraries: IndexMap<String, String>,
    /// Ruby gems that it had loaded when it had answered: name and version.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub gems: IndexMap<String, String>,
    /// Archives that its processes had open when it became ready or had answered, whoever opened them: name and SHA-256, hexadecimal.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub opened: IndexMap<String, String>,
    /// How its Ruby was built: names and values of `RbConfig`.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub build: IndexMap<String, String>,
    /// Option variables that it had with other values than it was launched with when it had answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_options: Vec<ChangedOptions>,
    /// What its JVM or its JRuby has of the options that make the study's variants differ, whether it was launched with them or not;
    /// what these do not report is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub varied: Vec<LiveOptions>,
    /// Port it listens on.
    pub port: u16,
    /// Logical processors that both it and the client may run on; absent where it could not be found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_cpus: Option<u32>,
    /// Seconds from launch to the first good answer, asked for every [`READY_POLL`].
    pub ready_s: f64,
    /// Its log.
    pub log: PathBuf,
}

/// A setting as asked for and as found in the running process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// What it sets.
    #[serde(flatten)]
    pub key: Key,
    /// As the study writes it.
    pub name: String,
    /// The value asked for.
    pub requested: String,
    /// The value in the running process; absent when it has none.
    pub live: Option<String>,
    /// The value the process would have had anyway, where known.
    pub default: Option<String>,
    /// How it was read.
    pub source: SettingSource,
    /// What that amounts to.
    pub result: SettingResult,
    /// Whether all variants share it: no level of a factor asks for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

/// How a setting was read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingSource {
    /// Ruby code inside the process reported it: JRuby's own options, versions, whether YJIT is on.
    InProcess,
    /// `jcmd PID VM.flags`, `VM.system_properties` or `VM.command_line`.
    Jcmd,
    /// `/proc/PID`.
    Proc,
    /// The same runtime, asked with the same options and environment in a process of its own.
    Preflight,
    /// A value that a managed bean of the process has.
    Jmx,
    /// An answer of the server.
    Http,
    /// What a command of the study's wrote.
    Command,
    /// It could not be read: the process or its tools did not answer.
    Unread,
}

/// Whether a setting took effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SettingResult {
    /// The live value is the one asked for, and differs from the default where that is known.
    InEffect,
    /// The live value is the one asked for, and the default.
    AlreadyDefault,
    /// The live value is another.
    Overridden,
    /// The runtime knows no such name.
    Unknown {
        /// The nearest name it knows.
        nearest: Option<String>,
    },
    /// It could not be read back.
    Unverified {
        /// Why.
        reason: String,
    },
    /// The runtime does not start with it.
    Refused {
        /// The runtime's own words.
        reason: String,
    },
    /// The live value is the one asked for, and has no effect in this configuration.
    Inert {
        /// Why.
        reason: String,
        /// Where that can be read.
        source: String,
    },
}

/// One answer, looked at closely.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerSample {
    /// Index into [`Study::workloads`].
    pub workload: usize,
    /// The step, where the workload is scenarios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, empty when absent.
    pub content_type: String,
    /// Length of the body, bytes.
    pub length: u64,
    /// SHA-256 of the body, hexadecimal.
    pub hash: String,
    /// The first 64 bits of SHA-256, hexadecimal, of each piece of the body in order; a piece ends after a line end, a `>` or
    /// a comma. Pieces in which two answers of one variant agree are stable, the others its natural variation.
    pub lines: Vec<String>,
    /// The first 400 characters of the body.
    pub excerpt: String,
    /// What the study expects and this answer lacks; empty when it is good.
    pub unmet: Vec<String>,
}

/// The warm-up of one launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WarmUpRecord {
    /// Per-second series, all workloads mixed.
    pub samples: Vec<Sample>,
    /// Side by side: its turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
    /// When the warm-up's rule first found it steady; `None` if never.
    pub steady: Option<Steady>,
}

impl WarmUpRecord {
    /// When it was found steady, seconds since the load began.
    pub fn steady_at_s(&self) -> Option<f64> {
        self.steady.map(|steady| steady.at_s)
    }
}

/// That a launch was found steady, in seconds since its load began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Where the window begins that showed it.
    pub from_s: f64,
    /// When the rule first held.
    pub at_s: f64,
}

/// The measurement of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Index into [`Plan::cells`].
    pub cell: CellIndex,
    /// Seconds from the launch's readiness to the start of this measurement.
    pub since_ready_s: f64,
    /// One after another: the beginning of the load, until a closed loop flows. Stored, and not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ramp_up: Vec<Sample>,
    /// Per-second series of what counts; its times go on from those of the ramp-up.
    pub samples: Vec<Sample>,
    /// Side by side: its turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slices: Vec<Slice>,
    /// What JRuby counted meanwhile, where its `management.enabled` is on: of the whole series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jruby: Option<JrubyCounts>,
    /// What MRI's collector did meanwhile, in all processes of the server that answer: of the whole series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruby_gc: Option<RubyGc>,
    /// Of a cell that looks for the limit: the search. The series is then that of the confirmation of the highest rate that held, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<LimitSearch>,
}

impl CellRecord {
    /// The whole series, its ramp-up included.
    pub fn whole(&self) -> impl Iterator<Item = &Sample> {
        self.ramp_up.iter().chain(&self.samples)
    }
}
