//! `bakeoff doctor`: whether this host is fit to measure on.

use std::process::ExitCode;
use std::sync::atomic::Ordering;

use miette::IntoDiagnostic as _;
use model::HostFacts;
use model::fitness::{Examination, Fitness};
use model::study::Isolation;

use crate::{cli, exit, floor, interrupt, output};

pub fn run(typed: &cli::Doctor) -> miette::Result<ExitCode> {
    let interrupted = interrupt::flag().into_diagnostic()?;
    let backend = load::best_backend();
    // Before the host is watched: it takes the processors to their limit for a moment.
    let floor = floor::measure(Some(backend), &Isolation::default(), &interrupted)?;
    let checks = server::examine(typed.watch, &interrupted);
    if interrupted.load(Ordering::Relaxed) {
        return Ok(exit::INTERRUPTED.into());
    }
    let host = HostFacts { backend: Some(backend), floor, ..server::host_facts() };
    let examination = Examination { host, checks };
    output::print(&if typed.json {
        report::doctor_json(&examination)
    } else {
        report::doctor(&examination, output::style())
    })?;
    let is_unfit = examination.fitness() == Fitness::Unfit;
    Ok(if is_unfit { exit::INVALID.into() } else { ExitCode::SUCCESS })
}
