//! `bakeoff audit`: what results of other load tools support.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use miette::IntoDiagnostic as _;
use model::imported::{Answer, Audit, AuditedRun, Support};

use crate::exit::UsageError;
use crate::{cli, exit, output};

/// The name that stands for standard input.
const STDIN: &str = "-";
/// Files that are read for so long that one wants to see how far, bytes.
const LONG: u64 = 64 << 20;

pub fn run(typed: &cli::Audit) -> miette::Result<ExitCode> {
    let options = import::Options { format: typed.format, delimiter: typed.delimiter, is_lenient: typed.lenient };
    let mut audit = Audit::default();
    for file in typed.files.iter().flat_map(|path| files_in(path)) {
        match file.and_then(|path| audited(&path, options)) {
            Ok(audited) => audit.runs.push(audited),
            Err(refused) => audit.refused.push(refused),
        }
    }
    if typed.pair || typed.claim.is_some() {
        let [first, second] = &audit.runs[..] else {
            return Err(UsageError::NoPair { runs: audit.runs.len(), refused: audit.refused }.into());
        };
        let pair = analysis::audit_pair([first, second]);
        let answer = |claim: &String| analysis::answer_claim(claim, &pair).map_err(UsageError::Claim);
        audit.claim = typed.claim.as_ref().map(answer).transpose()?;
        audit.pair = Some(pair);
    }
    let format = &typed.format_of_output;
    if let Some(path) = &format.html {
        output::write(path, report::audit_html(&audit))?;
        output::print(&format!("wrote {}\n", path.display()))?;
    } else if format.md {
        output::print(&report::audit_markdown(&audit))?;
    } else if format.json {
        output::print(&report::audit_json(&audit))?;
    } else {
        output::print(&report::audit(&audit, output::style()))?;
    }
    Ok(code(&audit).into())
}

fn code(audit: &Audit) -> u8 {
    let is_invalid = audit.pair.as_ref().is_some_and(|pair| pair.support == Support::NotSupported)
        || audit.claim.as_ref().is_some_and(|claim| claim.answer == Answer::NotSupported);
    match audit.runs.is_empty() {
        true => exit::USAGE,
        false if is_invalid => exit::INVALID,
        false => exit::FINE,
    }
}

/// A file, or all files of a folder and of the folders in it, by name; links in it are not followed.
fn files_in(path: &Path) -> Vec<Result<PathBuf, String>> {
    if !path.is_dir() {
        return vec![Ok(path.to_owned())];
    }
    let inside = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut inside = match inside {
        Ok(inside) => inside,
        Err(error) => return vec![Err(format!("{}: {error}", path.display()))],
    };
    if inside.is_empty() {
        return vec![Err(format!("{}: nothing is in this folder", path.display()))];
    }
    inside.sort_by_key(DirEntry::path);
    let is_real = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file());
    inside.iter().filter(|entry| is_real(entry)).flat_map(|entry| files_in(&entry.path())).collect()
}

fn audited(path: &Path, options: import::Options) -> Result<AuditedRun, String> {
    let name = path.display().to_string();
    let run = if path == Path::new(STDIN) {
        import::read("standard input", io::stdin().lock(), options)
    } else {
        let file = File::open(path).map_err(|error| format!("{name}: {error}"))?;
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let bar = progress(&name, length).map_err(|error| error.to_string())?;
        let run = import::read(&name, bar.wrap_read(file), options);
        bar.finish_and_clear();
        run
    };
    Ok(analysis::audit_imported(run.map_err(|error| error.to_string())?))
}

/// How far a long file is read, on a terminal.
fn progress(name: &str, length: u64) -> miette::Result<ProgressBar> {
    if length < LONG {
        return Ok(ProgressBar::hidden());
    }
    let style = ProgressStyle::with_template("{msg}: {bytes} of {total_bytes} read, {eta} left").into_diagnostic()?;
    Ok(ProgressBar::new(length).with_style(style).with_message(name.to_owned()))
}
