//! A Ruby program on MRI.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use model::study::ServerSpec;

use super::error::RuntimeError;
use super::installed::{Installed, study_file};
use super::mri;

pub(super) fn install(
    version: Option<&str>,
    options: &[String],
    script: &str,
    spec: &ServerSpec,
    dir: &Path,
) -> Result<Installed, RuntimeError> {
    let ruby = mri::find(version)?;
    let path = study_file("script", script, dir)?;
    let mut args = options.to_vec();
    args.push(path.to_string_lossy().into_owned());
    args.extend(spec.args.iter().cloned());
    Ok(Installed {
        versions: IndexMap::from([("ruby".to_owned(), ruby.version)]),
        files: script_files(script, path, dir),
        runs_ruby: true,
        is_probed: true,
        ..Installed::new(ruby.path, args, spec)
    })
}

/// The script and the lock file that decides on its libraries: beside it, or in the study's folder.
pub(super) fn script_files(name: &str, path: PathBuf, dir: &Path) -> IndexMap<String, PathBuf> {
    let beside = path.parent().unwrap_or(dir);
    let lock = [beside, dir].map(|folder| folder.join("Gemfile.lock")).into_iter().find(|path| path.is_file());
    let lock = lock.map(|path| ("Gemfile.lock".to_owned(), path));
    [(name.to_owned(), path)].into_iter().chain(lock).collect()
}
