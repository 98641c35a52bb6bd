//! `bakeoff init`: a study file for what is in a folder.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use miette::{Context as _, IntoDiagnostic as _};

use crate::{cli, output};

pub fn run(typed: &cli::Init) -> miette::Result<ExitCode> {
    let draft = study::draft(&typed.folder)?;
    if typed.output == Path::new("-") {
        output::print(&draft)?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = typed.folder.join(&typed.output);
    File::create_new(&path)
        .and_then(|mut file| file.write_all(draft.as_bytes()))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot write {}; an existing file is never overwritten", path.display()))?;
    output::print(&format!("wrote {0}; now read it, then: bakeoff check {0}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}
