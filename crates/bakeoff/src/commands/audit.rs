//! `bakeoff audit`: what results of other load tools support.

use std::fs::{self, DirEntry, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use model::imported::AuditedRun;

use crate::{cli, exit, output};

/// The name that stands for standard input.
const STDIN: &str = "-";

pub fn run(typed: &cli::Audit) -> miette::Result<ExitCode> {
    let options = import::Options { format: typed.format, delimiter: typed.delimiter, is_lenient: typed.lenient };
    let files = typed.files.iter().flat_map(|path| files_in(path));
    let audited: Vec<Result<AuditedRun, String>> =
        files.map(|file| file.and_then(|path| audited(&path, options))).collect();
    output::print(&if typed.json { report::audit_json(&audited) } else { report::audit(&audited, output::style()) })?;
    let is_any_read = audited.iter().any(Result::is_ok);
    Ok(if is_any_read { ExitCode::SUCCESS } else { exit::USAGE.into() })
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
        import::read(&name, file, options)
    };
    Ok(analysis::audit_imported(run.map_err(|error| error.to_string())?))
}
