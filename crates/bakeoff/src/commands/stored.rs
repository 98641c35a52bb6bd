//! `bakeoff list`, `show`, `export`, `import`: the store of runs.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;
use std::process::ExitCode;

use miette::{Context as _, IntoDiagnostic as _, Report, miette};
use model::{Outcome, StudyRecord, TrialRecord, sample};
use store::{RunSummary, Store};

use crate::{cli, output};

pub fn list(store: Option<&Store>, typed: &cli::List) -> miette::Result<ExitCode> {
    let runs = store.map_or_else(|| Ok(Vec::new()), Store::list)?;
    if typed.json {
        output::print(&(serde_json::to_string_pretty(&runs).into_diagnostic()? + "\n"))?;
    } else if runs.is_empty() {
        output::print("no runs are stored yet; `bakeoff run STUDY` makes one\n")?;
    } else {
        let width = runs.iter().map(|run| run.run.len()).max().unwrap_or(0);
        let line = |run: &RunSummary| {
            format!("{:<width$}  {:<11}  {:>3} trials  {}\n", run.run, run.status.name(), run.trials, run.study)
        };
        output::print(&runs.iter().map(line).collect::<String>())?;
    }
    Ok(ExitCode::SUCCESS)
}

pub fn show(store: &Store, typed: &cli::Show) -> miette::Result<ExitCode> {
    let record = store.load(&typed.run)?;
    let text = if typed.json {
        serde_json::to_string_pretty(&record.trials).into_diagnostic()? + "\n"
    } else {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = write_record(&mut text, &record);
        text
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn write_record(out: &mut String, record: &StudyRecord) -> std::fmt::Result {
    let started = to_the_second(&record.started);
    writeln!(out, "{}  {}  started {started}, seed {}", record.run, record.study.name, record.plan.seed)?;
    record.trials.iter().try_for_each(|trial| write_trial(out, record, trial))
}

/// A moment (RFC 3339, UTC) without its fraction of a second.
fn to_the_second(moment: &str) -> String {
    moment.split_once('.').map_or_else(|| moment.to_owned(), |(second, _)| format!("{second}Z"))
}

fn write_trial(out: &mut String, record: &StudyRecord, trial: &TrialRecord) -> std::fmt::Result {
    let variant = &record.study.variants[trial.variant].name;
    let ready =
        trial.launch.as_ref().map_or_else(String::new, |launch| format!(", ready after {:.1} s", launch.ready_s));
    writeln!(out, "\n{}: {variant}, {}{ready}", trial.key, to_the_second(&trial.started))?;
    if let Outcome::Failed(failed) = &trial.outcome {
        writeln!(out, "  FAILED ({}): {}", failed.phase.name(), failed.reason)?;
        for line in failed.log_tail.lines() {
            writeln!(out, "  | {line}")?;
        }
    }
    for setting in &trial.settings {
        let live = setting.live.as_deref().unwrap_or("(none)");
        writeln!(out, "  {} = {live} in the process, requested {}", setting.name, setting.requested)?;
    }
    if trial.oom_kills > 0 {
        writeln!(out, "  processes killed for needing more memory than `limits` allow: {}", trial.oom_kills)?;
    }
    if let Some(warm_up) = &trial.warm_up {
        let steady = warm_up.steady_at_s.map_or("not found steady".to_owned(), |at| format!("steady at {at:.0} s"));
        let seconds = sample::seconds(&warm_up.samples);
        writeln!(out, "  warm-up {seconds:.0} s, {steady}")?;
    }
    for cell in &trial.cells {
        let (seconds, tally) = (sample::seconds(&cell.samples), sample::tally(&cell.samples));
        let name = record.plan.cells[cell.cell].name(&record.study.workloads);
        let rate = tally.good as f64 / seconds;
        writeln!(out, "  {name:<24} {rate:>10.1}/s  {} good, {} failed in {seconds:.1} s", tally.good, tally.failed())?;
    }
    trial.launch.as_ref().map_or(Ok(()), |launch| writeln!(out, "  log {}", launch.log.display()))
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
