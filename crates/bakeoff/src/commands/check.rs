//! `bakeoff check`: the plan, in the order it will run; changes nothing.

use std::process::ExitCode;

use miette::IntoDiagnostic as _;
use model::{HostFacts, Study};
use server::{HOOK_WITHIN, LaunchError, Launcher};

use crate::planned::planned;
use crate::{cli, output};

/// `store` is what names the store again, empty for the default one.
pub fn run(typed: &cli::Check, store: &str) -> miette::Result<ExitCode> {
    let record = planned(&typed.planned, None)?;
    if typed.json {
        output::print(&(serde_json::to_string_pretty(&record.plan).into_diagnostic()? + "\n"))?;
    } else {
        let missing = missing(&record.study)?;
        let doubts: Vec<String> = missing.into_iter().chain(doubts(&record.study, &record.host)).collect();
        let command = command(&typed.planned, record.plan.seed, store);
        output::print(&report::plan(&record, &analysis::forecast(&record), &doubts, &command))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The command that runs this very plan.
fn command(typed: &cli::Planned, seed: u64, store: &str) -> String {
    let study = output::word(&typed.study);
    let quick = if typed.quick { " --quick" } else { "" };
    let budget = typed.budget.map_or_else(String::new, |budget| format!(" --budget {}s", budget.as_secs_f64()));
    format!("bakeoff run {study} --seed {seed}{quick}{budget}{store}")
}

/// What the study's own check finds missing.
fn missing(study: &Study) -> miette::Result<Option<String>> {
    let Some(check) = &study.hooks.check else { return Ok(None) };
    let place = tempfile::tempdir().into_diagnostic()?;
    let launcher = Launcher::new(super::supervisor()?);
    let site = launcher.site(&study.dir, place.path(), &study.services).into_diagnostic()?;
    let failed = launcher.hook("check", check, &site, HOOK_WITHIN).err();
    Ok(failed.map(|error| match error.log_tail().lines().map(str::trim).rfind(|line| !line.is_empty()) {
        Some(last) => format!("the check hook: {last}"),
        None => match error {
            LaunchError::Hook { exit, .. } => format!("the check hook ended with {exit}, and said nothing"),
            error => error.to_string(),
        },
    }))
}

/// What would spoil a run that began here and now.
fn doubts(study: &Study, host: &HostFacts) -> Vec<String> {
    let limits = study.variants.iter().map(|variant| &variant.server.limits);
    let mut doubts: Vec<String> = server::unavailable(&study.host, limits).iter().map(ToString::to_string).collect();
    let kept_to = study.host.server_cpus.len();
    let allowed = if kept_to == 0 { host.cpus as usize } else { kept_to };
    for (index, variant) in study.variants.iter().enumerate() {
        let beyond = server::beyond(&variant.server.limits, allowed, host.memory_bytes);
        doubts.extend(beyond.into_iter().map(|(_, reason)| format!("{}: {reason}", variant.name)));
        if let Some(lacking) = server::lacking(&variant.server, &study.dir) {
            doubts.push(format!("{}: {lacking}", variant.name));
        }
        if let Some(twin) = study.variants[..index].iter().find(|twin| twin.server == variant.server) {
            let names = format!("{} and {}", twin.name, variant.name);
            doubts.push(format!("{names} are the same treatment: whatever differs between them is chance"));
        }
    }
    for service in &study.services {
        let lacking = server::service_lacking(service, &study.dir);
        doubts.extend(lacking.map(|lacking| format!("service {}: {lacking}", service.name)));
    }
    doubts.extend(analysis::aliases(study));
    for name in study::environment(study) {
        if std::env::var_os(name).is_none() {
            doubts.push(format!("the environment variable {name} is not set"));
        }
    }
    doubts
}
