//! The study file as it is written: keys, their forms, their meaning. `schema/study.schema.json` is made from this.

use indexmap::IndexMap;
use model::scenario::{Each, Take};
use model::{Launches, Metric};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::numbers::Numbers;
use crate::value::{At, Cpus, ExpectedValues, Length, SecondaryKeys, Share, Text, Thinking};

/// Named texts, such as environment variables.
pub(crate) type Table = IndexMap<At<String>, At<Text>>;

/// A study: which variants of a server to compare, on which requests, and when the question counts as answered.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "bakeoff study")]
pub(crate) struct StudyFile {
    /// What reports call the study.
    pub name: At<String>,
    /// What it is to find out, in your words.
    pub question: Option<String>,
    /// How the server is launched: what all variants share.
    pub server: At<ServerKeys>,
    /// Helper processes that the server needs: started before each trial in this order, stopped after it.
    #[serde(default)]
    pub service: Vec<At<ServiceKeys>>,
    /// The declared differences: factor, then level, then the `[server]` keys that this level changes.
    /// The first level of each factor is the baseline. Every combination of levels is a variant, unless `[design]` chooses.
    #[serde(default)]
    pub factor: IndexMap<At<String>, IndexMap<At<String>, ServerKeys>>,
    /// Which combinations of several factors' levels are run. Default: all.
    #[serde(default)]
    pub design: DesignKeys,
    /// What is asked of the server.
    #[serde(default)]
    pub workload: Vec<At<WorkloadKeys>>,
    /// What has to be seen in every running server, beside the settings, which are read back anyway.
    #[serde(default)]
    pub assertion: Vec<At<AssertionKeys>>,
    /// Commands run around trials, in the study's folder, by `/bin/sh -c`; one that fails stops the run.
    /// They may hold the placeholders of a launch; a shell's `${NAME}` is left alone.
    #[serde(default)]
    pub hooks: HookKeys,
    /// How the server is warmed up before it is measured. Default: until it is steady, `cap = "180s"`.
    #[serde(default)]
    pub warmup: WarmUpKeys,
    /// How long is measured.
    #[serde(default)]
    pub measure: MeasureKeys,
    /// The same for `bakeoff run --quick`.
    #[serde(default)]
    pub quick: QuickKeys,
    /// When the question counts as answered.
    #[serde(default)]
    pub decide: DecideKeys,
    /// Launches made at the end to see why the variants differ.
    #[serde(default)]
    pub profiling: ProfilingKeys,
    /// What `bakeoff run --soak` does: each variant is launched once and loaded for hours, to see what leaks and what drifts. Nothing is compared.
    pub soak: Option<SoakKeys>,
    /// What of the host the processes get, the same for all variants.
    #[serde(default)]
    pub host: HostKeys,
}

/// A load for hours.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SoakKeys {
    /// How long each variant is loaded after its warm-up, 60s or more, such as `4h`. `--soak TIME` goes before it.
    pub duration: At<Length>,
    /// The cell that it is loaded with, such as `pages@20`. Default: the one that decides, else the first.
    pub cell: Option<At<String>>,
}

/// Which combinations of several factors' levels are run. `bakeoff check` says which effects they cannot separate.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DesignKeys {
    /// These alone, the baseline first: a level of each factor, joined by `/`, such as `mri/thin`.
    pub variants: Option<At<Vec<At<String>>>>,
    /// A regular part of all, of factors with two levels each: `1/2`, `1/4`, `1/8`, `1/16`.
    pub fraction: Option<At<String>>,
    /// How the launches of a block share the host. `side-by-side`: all are alive at once and loaded in turns, so that they meet the
    /// same host. `one-after-another`: a launch begins when the one before has ended. Default: `side-by-side`.
    pub launches: Option<Launches>,
}

/// What of the host the processes get.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HostKeys {
    /// Processors for the server and its services, by number: `"0"`, `"0-3"`, `"0,2"`. Default: any.
    pub server_cpus: Option<At<Cpus>>,
    /// Processors for the load. Default: any.
    pub client_cpus: Option<At<Cpus>>,
    /// The network of each trial: the host's, or one of its own, with nothing but a loopback interface on which every port
    /// is free. Default: host. Its own needs root, or the right to make network namespaces.
    #[serde(default)]
    pub network: Network,
}

/// The network of a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Network {
    /// The host's.
    #[default]
    Host,
    /// One of its own.
    Own,
}

/// How a server is launched. In a level of a factor: texts and numbers replace those of `[server]`, tables merge by key, lists append.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ServerKeys {
    /// What runs the server.
    pub runtime: Option<At<RuntimeName>>,
    /// jruby: its version, such as `9.4.12.0` (required). ruby: the wanted version or its beginning, such as `3.4`; any when absent.
    pub version: Option<At<Text>>,
    /// java, jruby: the JDK's major version such as `21`, or its folder; the newest found when absent.
    pub jdk: Option<At<Text>>,
    /// command: the command line, split into words as a shell would, run without a shell.
    pub command: Option<At<Text>>,
    /// jruby, ruby: the Ruby script, from the study's folder.
    pub script: Option<At<Text>>,
    /// java, jruby: the class to run, or a `.java` file, which is compiled once a run.
    pub main: Option<At<Text>>,
    /// java: the runnable archive, from the study's folder, or Maven coordinates `group:artifact:version`.
    pub jar: Option<At<Text>>,
    /// java, jruby: class path, files and folders from the study's folder, or Maven coordinates `group:artifact:version`.
    pub jars: Vec<At<Text>>,
    /// java, jruby: options of the JVM, such as `-XX:+UseParallelGC`.
    pub jvm: Vec<At<Text>>,
    /// java, jruby: Java system properties.
    pub properties: Table,
    /// jruby: JRuby options without their `jruby.` prefix, such as `"compile.invokedynamic" = true`.
    pub jruby: Table,
    /// ruby: options of the interpreter, such as `--yjit`.
    pub ruby: Vec<At<Text>>,
    /// Arguments of the program.
    pub args: Vec<At<Text>>,
    /// Environment added to a small clean one. Like the other texts of a launch, values may hold `{port}`, `{port.SERVICE}`, `{env.NAME}`, `{dir}`, `{trial_dir}`.
    pub env: Table,
    /// What the server and all that it starts may use at most, kept by a control group: `cpus` in cores, as `"1.5"`, and
    /// `memory`, as `"512m"`. Needs root, or a control group of one's own.
    pub limits: Table,
    /// Working folder, from the study's folder, which it is when absent.
    pub dir: Option<At<Text>>,
    /// When the server counts as ready. Default: when the first workload that is a GET is answered with 2xx, else when the port accepts connections.
    pub ready: ReadyKeys,
    /// How long it may take to end after TERM before it is killed. Default: 10s.
    pub stop_within: Option<At<Length>>,
}

/// What runs a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RuntimeName {
    /// A Ruby program on JRuby.
    Jruby,
    /// A Java program.
    Java,
    /// A Ruby program on MRI or another `ruby`.
    Ruby,
    /// Any program.
    Command,
}

/// When a process counts as ready: one of `get` and `tcp`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ReadyKeys {
    /// When a GET of this path is answered with a 2xx status.
    pub get: Option<At<Text>>,
    /// When this address (`host:port`, may hold `{port}` or `{port.SERVICE}`) accepts a connection.
    pub tcp: Option<At<Text>>,
    /// How long to wait before the launch counts as failed. Default: 60s.
    pub within: Option<At<Length>>,
}

/// A helper process.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceKeys {
    /// Its name; its port is `{port.NAME}`.
    pub name: At<String>,
    /// Its command line, split into words as a shell would, run without a shell.
    pub command: At<Text>,
    /// Environment added to a small clean one.
    #[serde(default)]
    pub env: Table,
    /// When it counts as ready. Default: when `127.0.0.1:{port.NAME}` accepts connections, within 60s.
    #[serde(default)]
    pub ready: ReadyKeys,
    /// How long it may take to end after TERM before it is killed. Default: 10s.
    pub stop_within: Option<At<Length>>,
}

/// One kind of request, and the load that is made of it: `concurrency`, `rate` or `stages`. Exactly one of `get`, `head`, `post`, `put`, `patch`, `delete` holds the path.
/// Or scenarios: `step`, or several `scenario`, with `feeder`, `setup` and `teardown`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorkloadKeys {
    /// Its name; with a load it names a cell: `name@20`, `name@300/s`, `name@stages`, `name@limit`.
    pub name: At<String>,
    /// Path and query of a GET.
    pub get: Option<At<String>>,
    /// Path and query of a HEAD.
    pub head: Option<At<String>>,
    /// Path and query of a POST.
    pub post: Option<At<String>>,
    /// Path and query of a PUT.
    pub put: Option<At<String>>,
    /// Path and query of a PATCH.
    pub patch: Option<At<String>>,
    /// Path and query of a DELETE.
    pub delete: Option<At<String>>,
    /// Header fields, of all steps where there are any. Values may hold `{env.NAME}`.
    #[serde(default)]
    pub headers: Table,
    /// Body, sent with its length.
    pub body: Option<At<String>>,
    /// What a good answer is. Default: any 2xx or 3xx status.
    #[serde(default)]
    pub expect: ExpectKeys,
    /// Steps that each user goes through again and again, instead of one request.
    #[serde(default)]
    pub step: Vec<At<StepKeys>>,
    /// Several lists of steps, of which each iteration draws one by weight.
    #[serde(default)]
    pub scenario: Vec<At<ScenarioKeys>>,
    /// Steps that a user goes through once before, never measured.
    #[serde(default)]
    pub setup: Vec<At<StepKeys>>,
    /// Steps that a user goes through once after, never measured.
    #[serde(default)]
    pub teardown: Vec<At<StepKeys>>,
    /// Files whose rows give values to variables.
    #[serde(default)]
    pub feeder: Vec<At<FeederKeys>>,
    /// Closed loop: users, each of whom asks again as soon as it is answered and has thought: 1 to 10,000. Each number of a
    /// list is measured on its own.
    pub concurrency: Option<At<Numbers<i64>>>,
    /// How long a user thinks after an answer: `"2s"`, or `{ exponential = "2s" }` for random times of that mean.
    /// Default: not at all.
    pub think: Option<At<Thinking>>,
    /// Open loop: requests due per second, whatever the server does; latency counts from when a request was due. Each number
    /// of a list is measured on its own.
    pub rate: Option<At<Numbers<f64>>>,
    /// Open loop whose rate moves: each stage leads evenly from the rate of the one before (the first from 0) to another. The
    /// measurement lasts as long as the stages.
    pub stages: Option<At<Vec<StageKeys>>>,
    /// Open loop that looks for the highest rate at which an objective holds, and overloads the server after that:
    /// `{ p95 = "200ms", errors = "1%" }`.
    pub find_limit: Option<At<FindLimitKeys>>,
    /// Open loop: requests due at random times, as of many users who know nothing of each other (a Poisson process), instead
    /// of evenly spaced ones. Default: false.
    pub poisson: Option<At<bool>>,
    /// Open loop: the most connections open at once, 1 to 10,000; what is due while all are busy waits. Default: 500.
    #[schemars(range(min = 1, max = 10_000))]
    pub connections: Option<At<i64>>,
}

/// A part of an open loop in which the rate moves evenly.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StageKeys {
    /// The rate at its end, requests/s.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub to: At<f64>,
    /// How long it takes; `"0s"` jumps.
    pub over: At<Length>,
}

/// How the highest rate is looked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindLimitKeys {
    /// Half of the requests are answered within this time. One of the four percentiles is required.
    pub p50: Option<At<Length>>,
    /// Nine of ten are.
    pub p90: Option<At<Length>>,
    /// 19 of 20 are.
    pub p95: Option<At<Length>>,
    /// 99 of 100 are.
    pub p99: Option<At<Length>>,
    /// The part of the requests that may fail. Default: `1%`.
    pub errors: Option<At<Share>>,
    /// The first rate tried, requests per second. Default: 10.
    #[schemars(range(min = 0.001, max = 1_000_000))]
    pub from: Option<At<f64>>,
    /// The highest rate tried, requests per second. Default: 10,000.
    #[schemars(range(min = 0.001, max = 1_000_000))]
    pub to: Option<At<f64>>,
}

/// What a good answer is.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ExpectKeys {
    /// Its status. Default: any 2xx or 3xx. Checked on every answer.
    #[schemars(range(min = 100, max = 599))]
    pub status: Option<At<i64>>,
    /// A JSONPath that must find something. Checked on answers asked before and after each load.
    pub json: Option<At<String>>,
    /// Text that must occur. Checked on answers asked before and after each load.
    pub contains: Option<At<String>>,
}

/// What `bakeoff load --scenario` reads: what a workload of scenarios holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioFile {
    #[serde(default)]
    pub headers: Table,
    #[serde(default)]
    pub step: Vec<At<StepKeys>>,
    #[serde(default)]
    pub scenario: Vec<At<ScenarioKeys>>,
    #[serde(default)]
    pub setup: Vec<At<StepKeys>>,
    #[serde(default)]
    pub teardown: Vec<At<StepKeys>>,
    #[serde(default)]
    pub feeder: Vec<At<FeederKeys>>,
}

/// Steps of which an iteration may consist.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScenarioKeys {
    /// Its name.
    pub name: At<String>,
    /// How often it is drawn, in proportion to the others' weights: 1 or more. Default: 1.
    #[schemars(range(min = 1))]
    pub weight: Option<At<i64>>,
    /// Its steps, in order. The first that fails ends the iteration.
    #[serde(default)]
    pub step: Vec<At<StepKeys>>,
}

/// One request of a user's. `${name}` stands for a variable's value in path, header values, body and what answers are compared with; `$${` stands for `${`.
/// Exactly one of `get`, `head`, `post`, `put`, `patch`, `delete` holds the path.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepKeys {
    /// What reports call it.
    pub name: At<String>,
    /// Path and query of a GET.
    pub get: Option<At<String>>,
    /// Path and query of a HEAD.
    pub head: Option<At<String>>,
    /// Path and query of a POST.
    pub post: Option<At<String>>,
    /// Path and query of a PUT.
    pub put: Option<At<String>>,
    /// Path and query of a PATCH.
    pub patch: Option<At<String>>,
    /// Path and query of a DELETE.
    pub delete: Option<At<String>>,
    /// Header fields. Values may hold `{env.NAME}`.
    #[serde(default)]
    pub headers: Table,
    /// Body, sent with its length. May hold `{env.NAME}`.
    pub body: Option<At<String>>,
    /// A file that is sent as body as it is, from the study's folder.
    pub body_file: Option<At<Text>>,
    /// A file that holds the body with variables in it, from the study's folder.
    pub body_template: Option<At<Text>>,
    /// What a good answer is, checked on every one. Default: any 2xx or 3xx status.
    #[serde(default)]
    pub expect: StepExpectKeys,
    /// Variables that get their values from a good answer.
    #[serde(default)]
    pub extract: IndexMap<At<String>, At<ExtractKeys>>,
    /// How long the user thinks after a good answer.
    pub think: Option<At<Length>>,
}

/// What a good answer to a step is, checked on every one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StepExpectKeys {
    /// Its status. Default: any 2xx or 3xx.
    #[schemars(range(min = 100, max = 599))]
    pub status: Option<At<i64>>,
    /// The length of its body in bytes.
    #[schemars(range(min = 0))]
    pub length: Option<At<i64>>,
    /// Header fields and a regular expression that each must match; an empty one where it only has to be there.
    pub header: Table,
    /// A JSONPath that must find something.
    pub json: Option<At<String>>,
    /// By JSONPath: what the first thing found must be.
    pub json_is: Table,
    /// A regular expression that must match somewhere in the body.
    pub regex: Option<At<String>>,
    /// Text that must occur in the body.
    pub contains: Option<At<String>>,
}

/// Where in an answer a variable's value is: one of `json`, `regex`, `header` and `cookie`, or `header` with `regex`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ExtractKeys {
    /// A JSONPath: the first thing that it finds.
    pub json: Option<At<String>>,
    /// A regular expression: its first group, or all of its match, in the body or in the header field.
    pub regex: Option<At<String>>,
    /// The name of a header field.
    pub header: Option<At<String>>,
    /// The name of a cookie that the answer sets.
    pub cookie: Option<At<String>>,
}

/// A file whose rows give values to variables: CSV with the names in its first row, or one JSON object a line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeederKeys {
    /// The file, from the study's folder: `.csv`, `.jsonl` or `.ndjson`.
    pub file: At<Text>,
    /// Who gets which row. Default: shared.
    #[serde(default)]
    pub take: Take,
    /// How long a row is kept. Default: iteration.
    #[serde(default)]
    pub each: Each,
}

/// A value that has to be found in the running server: read by one of `jmx`, `http`, `command` and `threads`. Another value
/// makes the result invalid; one that cannot be read is reported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AssertionKeys {
    /// What reports call it.
    pub name: At<String>,
    /// An attribute of a managed bean of the server's JVM.
    pub jmx: Option<JmxKeys>,
    /// What a JSONPath finds first in the answer to a GET.
    pub http: Option<AnswerKeys>,
    /// A command for `/bin/sh -c` in the study's folder, `$SERVER_PID` being the server's process: what it writes to standard output.
    pub command: Option<At<Text>>,
    /// Of what `command` writes: a regular expression, its first group or all of its match. Default: all.
    pub regex: Option<At<String>>,
    /// How many threads have a name that this regular expression finds.
    pub threads: Option<At<String>>,
    /// What it has to be: a text, a number, `">= 8"` or `"<= 8"`, or `"same"`: one value in all launches of
    /// all variants, whatever it is. Or a table of these by the names of levels or variants. Required, unless there is `answered`.
    pub expect: Option<At<ExpectedValues>>,
    /// In place of `expect`, names of steps: the value has to be how many of their requests the server answered well, from its first
    /// request on. Needs `when = "after"`.
    pub answered: Option<At<Vec<At<String>>>>,
    /// Whether it is read before the load or after it. Default: before.
    #[serde(default)]
    pub when: When,
    /// Whether the value is the size of a pool (connections, threads, all processes together) of which each request takes one:
    /// one that is smaller than the users at once is reported. Default: false.
    pub pool: Option<At<bool>>,
}

/// A value that a JVM reports on itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JmxKeys {
    /// The bean's name, such as `java.lang:type=Memory`, or a pattern that fits one.
    pub bean: At<String>,
    /// The attribute, such as `HeapMemoryUsage.max`.
    pub attribute: At<String>,
}

/// A value in an answer.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerKeys {
    /// Path and query of a GET.
    pub get: At<String>,
    /// A JSONPath.
    pub json: At<String>,
}

/// When an assertion is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum When {
    /// Before the load.
    #[default]
    Before,
    /// After it.
    After,
}

/// Commands run around trials.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HookKeys {
    /// Whether all that the study needs is here: one that fails says what is missing. Run by `bakeoff check` and before
    /// anything else; it must change nothing.
    pub check: Option<At<Text>>,
    /// Once, before the first trial. It may build what is launched: with it, missing files are no error in the study.
    pub setup: Option<At<Text>>,
    /// Before each trial, after its services are ready.
    pub prepare: Option<At<Text>>,
    /// After each trial, whatever came of it.
    pub cleanup: Option<At<Text>>,
}

/// How a server is warmed up: one of `cap` and `fixed`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WarmUpKeys {
    /// The first block, or pilot blocks where launches go one after another, find out how long every variant takes to become steady, at
    /// most this long. Default: 180s.
    pub cap: Option<At<Length>>,
    /// Warm up for this long, steady or not.
    pub fixed: Option<At<Length>>,
    /// How many users, who do not think, send requests in it, 1 to 10,000, with `--quick` too. On few cores many users leave a JIT
    /// compiler's threads little time. Default: as many as the largest load; at most ten for an open loop, or for users who think.
    #[schemars(range(min = 1, max = 10_000))]
    pub concurrency: Option<At<i64>>,
}

/// How long is measured.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MeasureKeys {
    /// Measurement of one cell (a workload at one number of users) in one trial, at least 1s. Default: 20s.
    pub duration: Option<At<Length>>,
}

/// Lengths for `bakeoff run --quick`, which finds large effects only.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct QuickKeys {
    /// Fixed warm-up. Default: 12s.
    pub warmup: Option<At<Length>>,
    /// Measurement of one cell in one trial, at least 1s. Default: 3s.
    pub measure: Option<At<Length>>,
    /// Blocks at most, 3 to 30. Default: 5.
    #[schemars(range(min = 3, max = 30))]
    pub blocks: Option<At<i64>>,
}

/// When the question counts as answered.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DecideKeys {
    /// The metric that decides. Default: throughput; p50 where an open loop decides.
    pub primary: Option<At<Metric>>,
    /// The cell that decides, such as `pages@20` or `pages@300/s`. Default: the mean of the logarithms over all cells.
    pub cell: Option<At<String>>,
    /// Metrics that are judged as well once the run has ended, all of them together with an error rate of 5 % (Holm): names, or
    /// `{ metric = "p99", cell = "pages@300/s" }`. They stop nothing. All other metrics are exploratory.
    pub secondary: Vec<At<SecondaryKeys>>,
    /// Differences smaller than this do not matter (region of practical equivalence). Default: 2%.
    pub rope: Option<At<Share>>,
    /// The difference that you care to find, larger than `rope`: a run says how many blocks that takes. It decides nothing. Default: 5%, or twice `rope` where that is more.
    pub detect: Option<At<Share>>,
    /// The time that a run may take, such as `20m`: how many blocks it has is fixed by that, once a block's length is known. `--budget` replaces
    /// it. Default: 30m, or what the minimum number of blocks takes at the longest.
    pub within: Option<At<Length>>,
    /// How often the service is deployed anew, 1s to 720h: the report says who serves more in such a life,
    /// too. It decides nothing. Default: lives of 5 and 15 minutes, an hour and a day alone.
    pub redeploy_every: Option<At<Length>>,
    /// How often every variant is launched.
    pub blocks: BlockKeys,
}

/// One more launch of each variant after the verdict, watched and recorded, no part of it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProfilingKeys {
    /// Whether it is made. Default: in full runs, where a variant runs on Java, JRuby or Ruby. `--profile` and `--no-profile` go before it.
    pub launch: Option<bool>,
}

/// How many blocks: one launch of every variant each.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BlockKeys {
    /// Blocks before any verdict, 3 or more. Default: 3.
    #[schemars(range(min = 3, max = 30))]
    pub min: Option<At<i64>>,
    /// Blocks after which the run ends inconclusive, 30 or fewer. Default: 30.
    #[schemars(range(min = 3, max = 30))]
    pub max: Option<At<i64>>,
}
