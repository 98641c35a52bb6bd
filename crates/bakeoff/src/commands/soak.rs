//! `bakeoff run --soak`: its plan, and its report.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use miette::Context as _;
use model::{CellIndex, SoakPlan, SoakReport, StudyRecord, VariantIndex};

use crate::cli;
use crate::conduct::{ConductError, Ending};
use crate::exit::{self, UsageError};
use crate::output;
use crate::planned;

/// The record of a soak that has not begun, of so many variants or of all.
pub fn planned(typed: &cli::Planned, duration: Option<Duration>, variants: &[String]) -> miette::Result<StudyRecord> {
    let mut record = planned::planned(typed, Some(false))?;
    let asked = record.study.soak.as_ref();
    let duration = duration.or(asked.map(|soak| soak.duration)).ok_or(UsageError::NoSoak)?;
    if duration < SoakPlan::shortest() {
        return Err(UsageError::ShortSoak { duration }.into());
    }
    let cell = asked.and_then(|soak| soak.cell.as_deref());
    let named = cell.and_then(|name| record.names().cells.iter().position(|cell| cell == name));
    let is_constant = |cell: &CellIndex| record.plan.cells[*cell].shape.arrivals.is_constant();
    let first = || (0..record.plan.cells.len()).find(is_constant);
    let cell =
        named.or_else(|| record.deciding_cell().filter(is_constant)).or_else(first).ok_or(UsageError::NoSoakCell)?;
    let variants = chosen(&record, variants)?;
    record.plan.soak = Some(SoakPlan { duration, cell, variants, window_s: SoakPlan::window_of(duration) });
    // Nothing is compared.
    record.plan.pilot.clear();
    record.plan.blocks.clear();
    Ok(record)
}

fn chosen(record: &StudyRecord, names: &[String]) -> Result<Vec<VariantIndex>, UsageError> {
    let known = record.names().variants;
    if names.is_empty() {
        return Ok((0..known.len()).collect());
    }
    let find = |name: &String| {
        let unknown = || UsageError::NoVariant { name: name.clone(), known: known.clone() };
        known.iter().position(|variant| variant == name).ok_or_else(unknown)
    };
    let mut chosen: Vec<VariantIndex> = names.iter().map(find).collect::<Result<_, _>>()?;
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

/// Reports a soak that is over, whatever ended it.
pub fn ended(
    record: &StudyRecord,
    conducted: Result<Ending, ConductError>,
    folder: &Path,
    typed: &cli::Run,
) -> miette::Result<ExitCode> {
    let report = analysis::soaked(record).filter(|report| !report.soaks.is_empty());
    if let Some(report) = &report {
        let html = typed.html.clone().unwrap_or_else(|| folder.join("report.html"));
        let written = output::write(&html, report::soak_html(report));
        if typed.json {
            output::print(&report::soak_json(report))?;
        } else {
            output::print(&report::soak(report, output::style()))?;
            if written.is_ok() {
                output::print(&format!("\nreport: {}\n", html.display()))?;
            }
        }
        // What failed before is reported first.
        if conducted.is_ok() {
            written?;
        }
    }
    let ending = conducted.wrap_err_with(|| format!("soak {} stopped; what was seen is stored", record.run))?;
    Ok(match (ending, report) {
        (Ending::Interrupted, _) => exit::INTERRUPTED.into(),
        (_, Some(report)) => exit::of_soak(&report, typed.fail_on),
        (_, None) => exit::INVALID.into(),
    })
}

/// The stored soak again, in a format.
pub fn again(report: &SoakReport, format: &cli::Format) -> miette::Result<ExitCode> {
    if let Some(path) = &format.html {
        output::write(path, report::soak_html(report))?;
        output::print(&format!("wrote {}\n", path.display()))?;
    } else if format.xlsx.is_some() {
        return Err(UsageError::NoSpreadsheet.into());
    } else if format.md {
        output::print(&report::soak_markdown(report))?;
    } else if format.csv {
        output::print(&report::soak_csv(report))?;
    } else if format.json {
        output::print(&report::soak_json(report))?;
    } else {
        output::print(&report::soak(report, output::style()))?;
    }
    Ok(ExitCode::SUCCESS)
}
