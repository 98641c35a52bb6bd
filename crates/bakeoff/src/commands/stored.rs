//! `bakeoff list`, `show`, `export`, `import`: the store of runs.

use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;

use miette::{Context as _, IntoDiagnostic as _, Report, miette};
use model::StudyRecord;
use store::Store;

use crate::{cli, output};

pub fn list(store: Option<&Store>, typed: &cli::List) -> miette::Result<ExitCode> {
    let runs = store.map_or_else(|| Ok(Vec::new()), Store::list)?;
    if typed.json {
        output::print(&(serde_json::to_string_pretty(&runs).into_diagnostic()? + "\n"))?;
    } else if runs.is_empty() {
        output::print("no runs are stored yet; `bakeoff run STUDY` makes one\n")?;
    } else {
        output::print(&report::runs(&runs))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn show(store: &Store, typed: &cli::Show) -> miette::Result<ExitCode> {
    let record = store.load(&typed.run)?;
    let text = if typed.json {
        if record.plan.soak.is_some() {
            serde_json::to_string_pretty(&record.soaks).into_diagnostic()? + "\n"
        } else {
            serde_json::to_string_pretty(&record.trials).into_diagnostic()? + "\n"
        }
    } else {
        report::trials(&record)
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub fn export(store: &Store, typed: &cli::Export) -> miette::Result<ExitCode> {
    let record = store.load(&typed.run)?;
    let json = serde_json::to_string(&record).into_diagnostic()?;
    if typed.output == Path::new("-") {
        output::print(&(json + "\n"))?;
    } else {
        output::write(&typed.output, &json)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn import(store: &Store, typed: &cli::Import) -> miette::Result<ExitCode> {
    let mut text = String::new();
    let read = if typed.file == Path::new("-") {
        io::stdin().read_to_string(&mut text).map(|_| ())
    } else {
        fs::read_to_string(&typed.file).map(|read| text = read)
    };
    read.into_diagnostic().wrap_err_with(|| format!("cannot read {}", typed.file.display()))?;
    let record: StudyRecord = serde_json::from_str(&text)
        .into_diagnostic()
        .wrap_err_with(|| format!("{} is not what `bakeoff export` writes", typed.file.display()))?;
    if let Some(dangling) = record.dangling() {
        return Err(miette!(
            help = "export it anew with `bakeoff export` where it was measured: the file was cut, changed or put together by hand",
            "{} is no whole run: {dangling}",
            typed.file.display()
        ));
    }
    store.import(&record).map_err(Report::from)?;
    output::print(&format!("stored {}\n", record.run))?;
    Ok(ExitCode::SUCCESS)
}
