//! Any program.

use std::path::{Path, PathBuf};

use model::study::ServerSpec;

use super::error::RuntimeError;
use super::installed::Installed;
use crate::tool;

/// Splits a command line as a shell would, and finds its program.
pub(super) fn install(command: &str, spec: &ServerSpec, dir: &Path) -> Result<Installed, RuntimeError> {
    let words_error = |reason: &str| RuntimeError::Words { command: command.to_owned(), reason: reason.to_owned() };
    let mut words = shell_words::split(command).map_err(|error| words_error(&error.to_string()))?;
    if words.is_empty() {
        return Err(words_error("it is empty"));
    }
    let program = words.remove(0);
    words.extend(spec.args.iter().cloned());
    let path =
        find(&program, dir).ok_or_else(|| RuntimeError::NoProgram { program: program.clone(), dir: dir.to_owned() })?;
    let files =
        words.iter().map(|word| (word.clone(), spec.dir.join(word))).filter(|(_, path)| path.is_file()).collect();
    Ok(Installed { files, is_probed: true, ..Installed::new(path, words, spec) })
}

/// A name with a slash is a path from the study's folder; one with a placeholder is found out at launch.
fn find(program: &str, dir: &Path) -> Option<PathBuf> {
    if program.contains('{') {
        Some(program.into())
    } else if program.contains('/') {
        Some(dir.join(program)).filter(|path| path.is_file())
    } else {
        tool::on_path(program)
    }
}
