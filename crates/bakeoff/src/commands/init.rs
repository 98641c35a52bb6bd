//! `bakeoff init`: a study file for what is in a folder.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use miette::{Context as _, IntoDiagnostic as _};

use crate::exit::UsageError;
use crate::{cli, output};

pub fn run(typed: &cli::Init) -> miette::Result<ExitCode> {
    let draft = study::draft(&typed.folder)?;
    let path = typed.output.clone().unwrap_or_else(|| typed.folder.join("study.toml"));
    if path == Path::new("-") {
        output::print(&draft)?;
        return Ok(ExitCode::SUCCESS);
    }
    match File::create_new(&path).and_then(|mut file| file.write_all(draft.as_bytes())) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(UsageError::Exists { path }.into()),
        written => written.into_diagnostic().wrap_err_with(|| format!("cannot write {}", path.display()))?,
    }
    output::print(&format!("wrote {0}; now read it, then: bakeoff check {0}\n", output::word(&path)))?;
    Ok(ExitCode::SUCCESS)
}
