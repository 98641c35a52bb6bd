//! `bakeoff report` and `explain`.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use analysis::Boundaries;
use miette::{Context as _, IntoDiagnostic as _};
use model::{FindingId, Report};
use store::Store;

use crate::exit::UsageError;
use crate::{cli, output};

pub fn run(store: &Store, typed: &cli::Report) -> miette::Result<ExitCode> {
    let record = store.load(&typed.run)?;
    let made = analysis::analyse(&record, &Boundaries::for_variants(record.study.variants.len()));
    let format = &typed.format;
    if let Some(path) = &format.html {
        write_html(path, &made)?;
        output::print(&format!("wrote {}\n", path.display()))?;
    } else if format.md {
        output::print(&report::markdown(&made))?;
    } else if format.csv {
        output::print(&report::csv(&made))?;
    } else if format.json {
        output::print(&report::json(&made))?;
    } else {
        output::print(&report::terminal(&made, output::style()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a report as one HTML file, making its folder.
pub fn write_html(path: &Path, made: &Report) -> miette::Result<()> {
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, report::html(made)))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write the report {}", path.display()))
}

pub fn explain(typed: &cli::Explain) -> miette::Result<ExitCode> {
    let text = match &typed.finding {
        None => FindingId::ALL.map(|id| format!("{:<24} {}\n", id.name(), title(id))).concat(),
        Some(name) => {
            let id = FindingId::from_name(name).ok_or_else(|| UsageError::NoSuchFinding { name: name.clone() })?;
            analysis::explain(id).to_owned()
        }
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The first sentence of what a finding means.
fn title(id: FindingId) -> String {
    let (_, meaning) = analysis::explain(id).split_once("## What it means").unwrap_or_default();
    let sentence = meaning.split_once(". ").map_or(meaning, |(sentence, _)| sentence);
    sentence.split_whitespace().collect::<Vec<_>>().join(" ")
}
