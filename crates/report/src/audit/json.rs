//! An audit for other programs.

use model::imported::{
    AnsweredClaim, Audit, AuditedPair, AuditedRun, AuditedSettings, Fidelity, HostOfRun, HostShares, Lines, Placed,
    Silence, SpeedLevel, Support,
};
use model::{BodyLength, Finding};
use serde::Serialize;

use super::words::QUANTILES;
use crate::json::pretty;

/// The audit as JSON, without the series.
pub fn audit_json(audit: &Audit) -> String {
    let Audit { runs, settings, unused, refused, pair, claim } = audit;
    let runs = runs.iter().map(Run::of).collect();
    pretty(&Written { runs, settings, unused, refused, pair: pair.as_ref(), claim: claim.as_ref() })
}

#[derive(Serialize)]
struct Written<'a> {
    runs: Vec<Run<'a>>,
    settings: &'a [AuditedSettings],
    unused: &'a [String],
    refused: &'a [String],
    pair: Option<&'a AuditedPair>,
    claim: Option<&'a AnsweredClaim>,
}

#[derive(Serialize)]
struct Run<'a> {
    file: &'a str,
    format: &'a str,
    tool: &'a str,
    fidelity: Fidelity,
    support: Support,
    url: Option<&'a str>,
    users: Option<u32>,
    began_ms: Option<i64>,
    has_local_time: bool,
    seconds: f64,
    requests: u64,
    failed: u64,
    p50_us: Option<f64>,
    p90_us: Option<f64>,
    p99_us: Option<f64>,
    body_length: Option<BodyLength>,
    failed_length: Option<BodyLength>,
    levels: &'a [SpeedLevel],
    lines: &'a Lines,
    hosts: Vec<Host<'a>>,
    findings: &'a [Finding],
    silent: &'a [Silence],
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

#[derive(Serialize)]
struct Host<'a> {
    file: &'a str,
    tool: &'a str,
    processors: Option<u32>,
    placed: Placed,
    covers: Option<f64>,
    mean: HostShares,
}

impl<'a> Host<'a> {
    fn of(host: &'a HostOfRun) -> Self {
        let HostOfRun { file, tool, processors, placed, covers, mean, samples: _ } = host;
        Self { file, tool, processors: *processors, placed: *placed, covers: *covers, mean: *mean }
    }
}
