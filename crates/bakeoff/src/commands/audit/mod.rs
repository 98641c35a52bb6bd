//! `bakeoff audit`: what results of other load tools support.

mod columns;
mod files;
mod series;
mod settings;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use import::ImportError;
use indicatif::{ProgressBar, ProgressStyle};
use miette::IntoDiagnostic as _;
use model::imported::{Answer, Audit, AuditedSettings, HostLog, ImportedRun, Support};

use crate::exit::UsageError;
use crate::{cli, exit, output};
use columns::{beside, columns_in, merged};
use files::{STDIN, files_in};
use series::{Grouped, groups, series};
use settings::{give_to_runs, settings_in};

/// Files that are read for so long that one wants to see how far, bytes.
const LONG: u64 = 64 << 20;

pub fn run(typed: &cli::Audit) -> miette::Result<ExitCode> {
    if let Some(path) = typed.files.iter().find(|path| !is_stdin(path) && !path.exists()) {
        return Err(UsageError::NoFile { path: path.clone() }.into());
    }
    if typed.series {
        return together(typed);
    }
    let mut audit = read(typed);
    if typed.pair || typed.claim.is_some() {
        compare(&mut audit, typed.claim.as_deref())?;
    }
    write(
        &typed.format_of_output,
        &Written {
            html: &|| report::audit_html(&audit),
            markdown: &|| report::audit_markdown(&audit),
            json: &|| report::audit_json(&audit),
            terminal: &|| report::audit(&audit, output::style()),
        },
    )?;
    Ok(code(&audit).into())
}

/// Looks at all runs together.
fn together(typed: &cli::Audit) -> miette::Result<ExitCode> {
    let pattern = typed.by.as_deref().map(groups).transpose()?;
    let Grouped { all, runs, left_out } = series(read(typed), pattern.as_ref());
    write(
        &typed.format_of_output,
        &Written {
            html: &|| report::audit_series_html(&all, &runs, &left_out),
            markdown: &|| report::audit_series_markdown(&all, &left_out),
            json: &|| report::audit_series_json(&all, &left_out),
            terminal: &|| report::audit_series(&all, &left_out, output::style()),
        },
    )?;
    Ok(if all.is_empty() { exit::USAGE } else { exit::FINE }.into())
}

/// What was found, in each form that may be asked for.
struct Written<'a> {
    html: &'a dyn Fn() -> String,
    markdown: &'a dyn Fn() -> String,
    json: &'a dyn Fn() -> String,
    terminal: &'a dyn Fn() -> String,
}

/// Writes or prints the form that is asked for.
fn write(format: &cli::AuditFormat, written: &Written) -> miette::Result<()> {
    match &format.html {
        Some(path) => {
            output::write(path, (written.html)())?;
            output::print(&format!("wrote {}\n", path.display()))
        }
        None if format.md => output::print(&(written.markdown)()),
        None if format.json => output::print(&(written.json)()),
        None => output::print(&(written.terminal)()),
    }
}

/// What is in all files, and what was found about it.
fn read(typed: &cli::Audit) -> Audit {
    let given = merged(typed.files.iter().filter_map(|path| columns_in(path)));
    let options_of = |path: &Path| import::Options {
        format: typed.format,
        delimiter: typed.delimiter,
        columns: merged(beside(path).into_iter().chain(given)),
        is_lenient: typed.lenient,
    };
    let files = typed.files.iter().flat_map(|path| files_in(path));
    let is_result = |file: &Result<PathBuf, String>| file.as_ref().map_or(true, |path| columns_in(path).is_none());
    let (mut runs, mut logs, mut settings, mut refused) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for file in files.filter(is_result) {
        match file.and_then(|path| content(&path, options_of(&path))) {
            Ok(Content::Run(run)) => runs.push(*run),
            Ok(Content::Host(log)) => logs.push(log),
            Ok(Content::Settings(file)) => settings.push(*file),
            Err(reason) => refused.push(reason),
        }
    }
    let (hosts, unused) = analysis::hosts_of(&runs, logs);
    let runs = runs.into_iter().zip(hosts).map(|(run, hosts)| analysis::audit_imported(run, hosts)).collect();
    let mut audit = Audit { runs, settings, unused, refused, ..Audit::default() };
    give_to_runs(&mut audit);
    if audit.runs.is_empty() && audit.settings.is_empty() && audit.unused.is_empty() && audit.refused.is_empty() {
        audit.refused.push("these are settings of JMeter: name a file of results, too".to_owned());
    }
    audit
}

/// Holds the second of two runs against the first, and answers a claim about them.
fn compare(audit: &mut Audit, claim: Option<&str>) -> Result<(), UsageError> {
    let [first, second] = &audit.runs[..] else {
        return Err(UsageError::NoPair { runs: audit.runs.len(), refused: audit.refused.clone() });
    };
    let pair = analysis::audit_pair([first, second]);
    audit.claim = claim.map(|claim| analysis::answer_claim(claim, &pair)).transpose().map_err(UsageError::Claim)?;
    audit.pair = Some(pair);
    Ok(())
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

fn code(audit: &Audit) -> u8 {
    let is_invalid = audit.pair.as_ref().is_some_and(|pair| pair.support == Support::NotSupported)
        || audit.claim.as_ref().is_some_and(|claim| claim.answer == Answer::NotSupported);
    match audit.runs.is_empty() && audit.settings.is_empty() {
        true => exit::USAGE,
        false if is_invalid => exit::INVALID,
        false => exit::FINE,
    }
}

/// What a file has.
enum Content {
    Run(Box<ImportedRun>),
    Host(HostLog),
    Settings(Box<AuditedSettings>),
}

fn content(path: &Path, options: import::Options) -> Result<Content, String> {
    let name = path.display().to_string();
    let open = || File::open(path).map_err(|error| format!("{name}: {error}"));
    let run = if is_stdin(path) {
        import::read("standard input", io::stdin().lock(), options)
    } else {
        let file = open()?;
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let bar = progress(&name, length).map_err(|error| error.to_string())?;
        let run = import::read(&name, bar.wrap_read(file), options);
        bar.finish_and_clear();
        run
    };
    let unknown = match run {
        Ok(run) => return Ok(Content::Run(Box::new(run))),
        // Standard input cannot be read again.
        Err(unknown @ ImportError::Unknown { .. }) if !is_stdin(path) => unknown,
        Err(error) => return Err(error.to_string()),
    };
    if let Some(log) = import::read_host(&name, open()?, options).map_err(|error| error.to_string())? {
        return Ok(Content::Host(log));
    }
    settings_in(path).map(|settings| Content::Settings(Box::new(settings))).ok_or_else(|| unknown.to_string())
}

/// How far a long file is read, on a terminal.
fn progress(name: &str, length: u64) -> miette::Result<ProgressBar> {
    if length < LONG {
        return Ok(ProgressBar::hidden());
    }
    let style = ProgressStyle::with_template("{msg}: {bytes} of {total_bytes} read, {eta} left").into_diagnostic()?;
    Ok(ProgressBar::new(length).with_style(style).with_message(name.to_owned()))
}
