//! What a study file asks, resolved and checked. Reading the file is the `study` crate's work.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use runtimes::{Given, Key, jvm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::assertion::Assertion;
use crate::scenario::{Body, Checks, Scenario, ScenarioStep, Scenarios};
use crate::{Metric, Shape, Template};

/// A question about servers, and how it is to be answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// What reports call it.
    pub name: String,
    /// What it is to find out, in the author's words.
    pub question: Option<String>,
    /// Absolute folder of the study file, `{dir}` in it; relative paths start here.
    pub dir: PathBuf,
    /// Name of the study file in that folder.
    pub file: String,
    /// The file's text as read.
    pub source: String,
    /// The declared differences, in the file's order.
    pub factors: Vec<Factor>,
    /// Every combination of the factors' levels; the first is the baseline.
    pub variants: Vec<Variant>,
    /// What a server needs beside it, in starting order.
    pub services: Vec<Service>,
    /// What is asked of the servers.
    pub workloads: Vec<Workload>,
    /// Commands run around trials.
    pub hooks: Hooks,
    /// How the launches of a block share the host.
    pub launches: Launches,
    /// How many users, who do not think, warm each launch up: all workloads mixed.
    pub warm_up_users: u32,
    /// How long to warm, measure, repeat: by default and with `--quick`.
    pub timing: Timing,
    /// The same in quick mode.
    pub quick: Timing,
    /// When the question counts as answered.
    pub decide: Decide,
    /// Whether each variant is launched once more at the end, to see why they differ: `None` leaves it to the mode and
    /// to what the variants run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiling: Option<bool>,
    /// How it is soaked where nothing else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soak: Option<Soak>,
    /// What of the host the processes get.
    #[serde(default, skip_serializing_if = "Isolation::is_none")]
    pub host: Isolation,
}

/// A load for hours, on each variant by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Soak {
    /// How long.
    pub duration: Duration,
    /// The name of the cell; `None` for the one that decides, else the first.
    pub cell: Option<String>,
}

/// How the processes of a study are kept apart from each other and from the rest of the host; the same for all variants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Isolation {
    /// Processors for the server and its services, by number; empty is any.
    pub server_cpus: Vec<usize>,
    /// Processors for the load, by number; empty is any.
    pub client_cpus: Vec<usize>,
    /// Whether each trial has a network of its own: nothing but a loopback interface, on which every port is free.
    pub own_network: bool,
}

impl Isolation {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// One declared difference between variants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// Names of its levels, at least two; the first is the baseline's.
    pub levels: Vec<String>,
}

/// One way to run the server: a level of each factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Level names joined by `/`, such as `off` or `off/puma`.
    pub name: String,
    /// Level of each factor, by factor name.
    pub levels: IndexMap<String, String>,
    /// How it is launched.
    pub server: ServerSpec,
    /// What its levels set: the treatment whose taking effect has to be shown.
    pub treatment: Vec<RequestedSetting>,
    /// What all variants share and none of its levels replaces: read back as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<RequestedSetting>,
    /// What its running server has to show beside its settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
}

/// A setting that the study asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedSetting {
    /// The factor that asks; empty where all variants share it.
    pub factor: String,
    /// What it sets.
    #[serde(flatten)]
    pub key: Key,
    /// As the study writes it: a name, or of options and arguments the whole of it.
    pub name: String,
    /// The value that it sets the key to; empty where the name says all.
    pub value: String,
}

impl RequestedSetting {
    /// What `factor` asks for.
    pub fn new(factor: &str, given: Given) -> Self {
        let Given { key, name, value } = given;
        Self { factor: factor.to_owned(), key, name, value }
    }

    /// Whether it takes the place of `other` where both are asked for, this one later.
    pub fn replaces(&self, other: &Self) -> bool {
        self.key == other.key && (!self.key.adds() || self.is_same(other))
    }

    /// Whether both ask for the same, whichever factor asks.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.key, &self.name, &self.value) == (&other.key, &other.name, &other.value)
    }

    /// What a launch is given of it, its placeholders replaced by `complete`.
    pub fn completed<E>(&self, complete: impl Fn(&str) -> Result<String, E>) -> Result<Given, E> {
        let is_option = match &self.key {
            Key::JvmFlag(_) | Key::JvmOption(_) => true,
            Key::Property(name) => self.name != *name,
            _ => false,
        };
        match &self.key {
            // What a placeholder hid of an option is known by now.
            _ if is_option && self.name.contains('{') => Ok(jvm::given(&complete(&self.name)?)),
            Key::Argument(text) => Ok(Given::argument(complete(text)?)),
            key => Ok(Given { key: key.clone(), name: self.name.clone(), value: complete(&self.value)? }),
        }
    }

    /// The value as the study writes it beside the name; empty where the name says all, as `-Xmx1g` does.
    pub fn written_value(&self) -> &str {
        if self.name == self.key.name() { &self.value } else { "" }
    }
}

/// How to launch a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerSpec {
    /// What runs it.
    pub runtime: Runtime,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Environment added to a small clean one. Values may hold `{port}`, `{port.SERVICE}`, `{env.NAME}`, `{dir}`, `{trial_dir}`.
    pub env: IndexMap<String, String>,
    /// Absolute working folder.
    pub dir: PathBuf,
    /// When it counts as ready.
    pub ready: Ready,
    /// How long it may take to end after TERM before it is killed.
    pub stop_within: Duration,
    /// What it and all that it starts may use at most.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
}

/// What a control group allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU time, cores; above 0.
    pub cpus: Option<f64>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
}

impl Limits {
    /// Whether anything goes.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What runs a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Runtime {
    /// Any program; split into words as a shell would, run without a shell.
    Command {
        /// The command line.
        command: String,
    },
    /// A Java program.
    Java {
        /// The virtual machine and its options.
        java: JavaSpec,
        /// What it runs.
        program: JavaProgram,
    },
    /// A Ruby program on JRuby.
    Jruby {
        /// JRuby's version, such as `9.4.12.0`: a Maven version of `org.jruby:jruby-dist`.
        version: String,
        /// The virtual machine and its options.
        java: JavaSpec,
        /// JRuby options without the `jruby.` prefix.
        options: IndexMap<String, String>,
        /// What it runs.
        program: JrubyProgram,
    },
    /// A Ruby program on MRI or another `ruby`.
    Ruby {
        /// Wanted version or its beginning, such as `3.1`; any when absent.
        version: Option<String>,
        /// Options of the interpreter, such as `--yjit`.
        options: Vec<String>,
        /// Script, relative to the study's folder.
        script: String,
    },
}

impl Runtime {
    /// The name a study file uses.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Command { .. } => "command",
            Self::Java { .. } => "java",
            Self::Jruby { .. } => "jruby",
            Self::Ruby { .. } => "ruby",
        }
    }
}

/// A Java virtual machine and what it is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JavaSpec {
    /// Wanted major version such as `17`, several in order of preference such as `17 or 21`, or a JDK's folder; the newest
    /// found when absent.
    pub jdk: Option<String>,
    /// Options of the JVM, in order.
    pub jvm: Vec<String>,
    /// System properties.
    pub properties: IndexMap<String, String>,
    /// Class path: files and folders relative to the study's folder, or Maven coordinates `group:artifact:version`.
    pub jars: Vec<String>,
}

/// What a JVM runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JavaProgram {
    /// A runnable archive: a file, or Maven coordinates.
    Jar(String),
    /// A class name; or a `.java` file, which is compiled once a run with the same JDK.
    Main(String),
}

/// What JRuby runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JrubyProgram {
    /// A Ruby script, relative to the study's folder.
    Script(String),
    /// A Java program that embeds JRuby: a class name, or a `.java` file compiled once a run.
    Main(String),
}

/// When a server counts as ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The sign to wait for.
    pub sign: ReadySign,
    /// How long to wait before the launch counts as failed.
    pub within: Duration,
}

/// A sign of readiness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadySign {
    /// A GET of this path is answered with a 2xx status.
    Get(String),
    /// This address (`host:port`, may hold `{port}` or `{port.SERVICE}`) accepts a connection.
    Tcp(String),
}

/// A helper process that every server of the study needs; a fresh one for each trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Its name; its port is `{port.NAME}`.
    pub name: String,
    /// Command line, split into words as a shell would.
    pub command: String,
    /// Environment added to a small clean one.
    pub env: IndexMap<String, String>,
    /// When it counts as ready.
    pub ready: Ready,
    /// How long it may take to end after TERM before it is killed.
    pub stop_within: Duration,
}

/// Commands of the author's, run in the study's folder by `/bin/sh -c`. One that fails stops the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Before anything else: whether all that the study needs is here. Changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Once, before the first trial.
    pub setup: Option<String>,
    /// Before each trial, after its services are ready.
    pub prepare: Option<String>,
    /// After each trial, whatever came of it.
    pub cleanup: Option<String>,
}

/// What is asked, and the loads that are made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name.
    pub name: String,
    /// What is asked.
    #[serde(flatten)]
    pub kind: WorkloadKind,
    /// The loads under which it is measured, each in a cell of its own.
    pub shapes: Vec<Shape>,
}

/// What a workload asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum WorkloadKind {
    /// The same request again and again.
    Request {
        /// The request.
        request: Request,
        /// What a good answer is.
        expect: Expect,
    },
    /// Scenarios.
    Scenarios {
        /// What each user does.
        scenarios: Scenarios,
    },
}

impl WorkloadKind {
    /// What is looked at apart from each other: measured steps by name; `None` is the one request where there are none.
    pub fn steps(&self) -> Vec<Option<&str>> {
        match self {
            Self::Request { .. } => vec![None],
            Self::Scenarios { scenarios } => {
                let measured = scenarios.scenarios.iter().flat_map(|scenario| &scenario.steps);
                measured.map(|step| Some(step.name.as_str())).collect()
            }
        }
    }
}

/// One HTTP request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Method, upper case.
    pub method: String,
    /// Path and query, starting with `/`.
    pub path: String,
    /// Header fields added to `Host`, in order. Values may hold `{env.NAME}`.
    pub headers: Vec<(String, String)>,
    /// Body, sent with its length.
    pub body: Option<String>,
}

/// What a good answer is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expect {
    /// The status; any 2xx or 3xx when absent. Checked on every answer.
    pub status: Option<u16>,
    /// A JSONPath that must find something. Checked on the answers asked before and after each load.
    pub json: Option<String>,
    /// Text that must occur. Checked on the answers asked before and after each load.
    pub contains: Option<String>,
}

impl Request {
    /// The same as scenarios: a user that makes it again and again.
    pub fn as_scenarios(&self, name: &str, expect: &Expect, length: Option<(u64, u64)>) -> Scenarios {
        let step = ScenarioStep {
            name: name.to_owned(),
            method: self.method.clone(),
            path: Template::literal(&self.path),
            headers: self.headers.iter().map(|(name, value)| (name.clone(), Template::literal(value))).collect(),
            body: self.body.as_deref().map(|body| Body::Text(Template::literal(body))),
            checks: Checks { status: expect.status, length, ..Checks::default() },
            extract: Vec::new(),
            think: None,
        };
        let scenarios = vec![Scenario { name: name.to_owned(), weight: 1, steps: vec![step] }];
        Scenarios { scenarios, ..Scenarios::default() }
    }
}

impl Expect {
    /// The same as the checks of a step.
    pub fn checks(&self) -> Checks {
        Checks {
            status: self.status,
            json: self.json.iter().map(|path| (path.clone(), None)).collect(),
            contains: self.contains.as_deref().map(Template::literal),
            ..Checks::default()
        }
    }
}

/// How the launches of a block share the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Launches {
    /// All variants of a block are alive at once and loaded in turns, one at a time: they meet the same host (the *duet* of Bulej et
    /// al., ICPE 2020; *interleaved trials* of Abedi & Brecht, ICPE 2017).
    SideBySide,
    /// A launch begins when the one before has ended.
    OneAfterAnother,
}

/// How long each part of a trial takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// How warming up is bounded.
    pub warm_up: WarmUp,
    /// Length of the measurement of one cell.
    pub measure: Duration,
    /// Least number of blocks before any verdict, 5 or more.
    pub min_blocks: u32,
    /// Blocks after which the run ends inconclusive, 30 or fewer.
    pub max_blocks: u32,
}

/// How the warm-up length is found; it is the same for all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// Pilot blocks warm up until steady, or for at most this long; they decide the warm-up length.
    Pilot {
        /// Longest warm-up of one launch.
        cap: Duration,
    },
    /// A fixed time: no claim of steadiness is made beyond what the measured part shows.
    Fixed(Duration),
}

/// When the question counts as answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decide {
    /// The metric that decides.
    pub primary: Metric,
    /// The cell that decides, such as `pages@20` or `pages@300/s`; the mean of the logs over all cells when absent.
    pub cell: Option<String>,
    /// What is judged as well, once the run has ended; it stops nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secondary: Vec<Secondary>,
    /// Region of practical equivalence, a fraction: 0.02 means that differences below 2 % do not matter.
    pub rope: f64,
    /// The difference that the study cares to find, a fraction: it says how many blocks that takes, and decides nothing.
    pub detect: f64,
    /// The time that a run may take where the command line says nothing; as it comes where this says nothing either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Duration>,
    /// How long a launch serves until the next deployment: of such a life, too, the report says who serves more. It decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redeploy_every: Option<Duration>,
}

/// A metric that is judged beside the primary one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secondary {
    /// The metric.
    pub metric: Metric,
    /// The cell that it is taken of; the mean of the logs over all cells when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<String>,
}

impl fmt::Display for Secondary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cell {
            Some(cell) => write!(f, "{} of {cell}", self.metric),
            None => self.metric.fmt(f),
        }
    }
}

impl Decide {
    /// The difference that a study cares to find where it does not say.
    pub const DETECT: f64 = 0.05;
    /// The time of a run that nobody has limited, where its minimum number of blocks takes no longer.
    pub const WITHIN: Duration = Duration::from_secs(30 * 60);
}

#[cfg(test)]
mod tests {
    use runtimes::RuntimePart;

    use super::*;

    #[test]
    fn what_a_level_asks_for_takes_the_place_of_what_all_share() {
        let replaces = |later: Given, earlier: Given| {
            let [later, earlier] = [later, earlier].map(|given| RequestedSetting::new("", given));
            later.replaces(&earlier)
        };
        let [quiet, inline] = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=inline,A::b"].map(jvm::given);
        assert!(replaces(quiet.clone(), quiet.clone()) && !replaces(quiet, inline), "a list");
        assert!(replaces(jvm::given("-Xmx1g"), jvm::given("-XX:MaxHeapSize=2g")));
        assert!(replaces(Given::property("a", "1"), jvm::given("-Da=2")));
        let [one, other] = ["a.jar", "b.jar"].map(|jar| Given::runtime(RuntimePart::Jars, jar));
        assert!(!replaces(one, other));
    }

    #[test]
    fn what_a_placeholder_hid_is_known_at_launch() {
        let completed = |given: Given| {
            let complete = |text: &str| Ok::<_, ()>(text.replace("{env.X}", "512k").replace("{env.O}", "-Xmx1g"));
            RequestedSetting::new("", given).completed(complete).unwrap()
        };
        assert_eq!(completed(jvm::given("-Xss{env.X}")), jvm::given("-Xss512k"));
        assert_eq!(completed(jvm::given("{env.O}")), jvm::given("-Xmx1g"));
        assert_eq!(completed(Given::property("a", "{env.X}")), Given::property("a", "512k"));
        assert_eq!(completed(Given::argument("{env.X}")), Given::argument("512k"));
    }

    #[test]
    fn an_option_says_all_by_its_name() {
        let written = |given: Given| RequestedSetting::new("", given).written_value().to_owned();
        assert_eq!(written(Given::property("a", "b")), "b");
        for whole in [jvm::given("-Xmx1g"), jvm::given("-Da=b"), Given::argument("--fast")] {
            assert_eq!(written(whole.clone()), "", "{whole:?}");
        }
    }
}
