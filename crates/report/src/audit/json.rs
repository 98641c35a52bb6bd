//! An audit for other programs; its schema is `schema/audit.schema.json`.

use model::imported::{
    AnsweredClaim, Audit, AuditedPair, AuditedRun, AuditedSettings, Fidelity, HostOfRun, HostShares, Lines, Placed,
    SCHEMA_VERSION, Silence, SpeedLevel, Support,
};
use model::{BodyLength, Finding};
use schemars::{JsonSchema, schema_for};
use serde::Serialize;

use super::words::QUANTILES;
use crate::json::pretty;

/// The audit as JSON, without the series.
pub fn audit_json(audit: &Audit) -> String {
    let Audit { runs, settings, unused, refused, pair, claim } = audit;
    let runs = runs.iter().map(Run::of).collect();
    let (pair, claim) = (pair.as_ref(), claim.as_ref());
    pretty(&Written { schema: SCHEMA_VERSION, version: VERSION, runs, settings, unused, refused, pair, claim })
}

/// The JSON Schema of what [`audit_json`] writes.
pub fn audit_schema() -> String {
    pretty(&schema_for!(Written<'_>))
}

/// Version of bakeoff.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What was found in results of other load tools, by `bakeoff audit --json`. Times end in `_s`, `_ms` or `_us`; an effect is a natural
/// logarithm of a ratio.
#[derive(Serialize, JsonSchema)]
#[schemars(title = "Audit")]
struct Written<'a> {
    /// The version of this form.
    schema: u32,
    /// Version of bakeoff that looked at the files.
    version: &'a str,
    /// The runs, in the order of their files.
    runs: Vec<Run<'a>>,
    /// Files of settings that belong to none of the runs.
    settings: &'a [AuditedSettings],
    /// Why logs of a machine belong to none of the runs, each with its file's name.
    unused: &'a [String],
    /// Why other files have no results, each with its name.
    refused: &'a [String],
    /// The second run held against the first; null where that was not asked for.
    pair: Option<&'a AuditedPair>,
    /// What becomes of a claim about the two; null where none was made.
    claim: Option<&'a AnsweredClaim>,
}

/// A run that another tool made, and what was found about it.
#[derive(Serialize, JsonSchema)]
struct Run<'a> {
    /// The file, as named.
    file: &'a str,
    /// The format that it was read as, such as `ab`.
    format: &'a str,
    /// The tool that made it with its version.
    tool: &'a str,
    /// How much it keeps.
    fidelity: Fidelity,
    /// What it supports.
    support: Support,
    /// What was asked for; null where the file does not say.
    url: Option<&'a str>,
    /// Users, or requests in flight, at most.
    users: Option<u32>,
    /// When the first request began, milliseconds since 1970.
    began_ms: Option<i64>,
    /// Whether that is a local time of a zone that the file does not say, taken for UTC.
    has_local_time: bool,
    /// From the first request's beginning to the last one's end, seconds; 0 where the file does not say.
    seconds: f64,
    /// Requests that ended, well or not.
    requests: u64,
    /// Those of them that failed.
    failed: u64,
    /// Quantiles of what a good request took, µs; null where the file does not say.
    p50_us: Option<f64>,
    /// The same.
    p90_us: Option<f64>,
    /// The same.
    p99_us: Option<f64>,
    /// Length of the bodies of those that ended well, bytes.
    body_length: Option<BodyLength>,
    /// Length of the bodies of those that failed, bytes.
    failed_length: Option<BodyLength>,
    /// The levels of its speed; none where its file does not say.
    levels: &'a [SpeedLevel],
    /// The lines of its file.
    lines: &'a Lines,
    /// What its machines did meanwhile: a log each.
    hosts: Vec<Host<'a>>,
    /// What was found, gravest first.
    findings: &'a [Finding],
    /// The rules that its file keeps too little for.
    silent: &'a [Silence],
    /// The files of settings that belong to it.
    settings: &'a [AuditedSettings],
}

impl<'a> Run<'a> {
    fn of(audited: &'a AuditedRun) -> Self {
        let AuditedRun { run, support, levels, hosts, findings, silent, settings } = audited;
        let [p50_us, p90_us, p99_us] = QUANTILES.map(|q| run.quantile_us(q));
        Self {
            file: &run.file,
            format: &run.format,
            tool: &run.tool,
            fidelity: run.fidelity,
            support: *support,
            url: run.url.as_deref(),
            users: run.users,
            began_ms: run.began_ms,
            has_local_time: run.has_local_time,
            seconds: run.seconds,
            requests: run.all.ended(),
            failed: run.all.failed,
            p50_us,
            p90_us,
            p99_us,
            body_length: run.all.body_length,
            failed_length: run.all.failed_length,
            levels,
            lines: &run.lines,
            hosts: hosts.iter().map(Host::of).collect(),
            findings,
            silent,
            settings,
        }
    }
}

/// What a log says of a machine during a run.
#[derive(Serialize, JsonSchema)]
struct Host<'a> {
    /// The file of the log, as named.
    file: &'a str,
    /// The tool that made it.
    tool: &'a str,
    /// Processors of the machine; null where the file does not say.
    processors: Option<u32>,
    /// How it is known what of it belongs to the run.
    placed: Placed,
    /// How much of the run it covers, 0..=1; null where the run does not say how long it took.
    covers: Option<f64>,
    /// Means of the time that it covers.
    mean: HostShares,
}

impl<'a> Host<'a> {
    fn of(host: &'a HostOfRun) -> Self {
        let HostOfRun { file, tool, processors, placed, covers, mean, samples: _ } = host;
        Self { file, tool, processors: *processors, placed: *placed, covers: *covers, mean: *mean }
    }
}
