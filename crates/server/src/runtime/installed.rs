//! A program that is ready to be launched.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use model::study::{Limits, Ready, ServerSpec};

use super::error::RuntimeError;
use super::jdk::Jdk;
use crate::library;

/// A program that is ready to be launched as often as wanted. Its texts may still hold placeholders.
#[derive(Debug, Clone)]
pub struct Installed {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    /// Complete: the base and what the study adds.
    pub(crate) env: IndexMap<String, String>,
    pub(crate) dir: PathBuf,
    pub(crate) ready: Ready,
    pub(crate) stop_within: Duration,
    pub(crate) limits: Limits,
    /// `jdk`, `jruby`, `ruby`, in that order where known.
    pub(crate) versions: IndexMap<String, String>,
    /// Files it runs, by the names that the study gives them.
    pub(crate) files: IndexMap<String, PathBuf>,
    pub(crate) jvm: Option<Jvm>,
    /// Whether it is Ruby that is launched.
    pub(crate) runs_ruby: bool,
    /// Whether any Ruby in it is to report about itself from inside.
    pub(crate) is_probed: bool,
}

/// The virtual machine of an installed program.
#[derive(Debug, Clone)]
pub(crate) struct Jvm {
    pub jdk: Jdk,
    /// Everything before the class path.
    pub options: Vec<String>,
    /// JRuby's folder.
    pub jruby: Option<PathBuf>,
}

impl Installed {
    /// How long the program may take to end after TERM.
    pub fn stop_within(&self) -> Duration {
        self.stop_within
    }

    /// Whether it is a command of the author's, and what runs behind it is seen only once it runs.
    pub(crate) fn is_command(&self) -> bool {
        self.jvm.is_none() && !self.runs_ruby
    }

    pub(super) fn new(program: PathBuf, args: Vec<String>, spec: &ServerSpec) -> Self {
        let mut env = base_env();
        env.extend(spec.env.clone());
        Self {
            program,
            args,
            env,
            dir: spec.dir.clone(),
            ready: spec.ready.clone(),
            stop_within: spec.stop_within,
            limits: spec.limits,
            versions: IndexMap::new(),
            files: IndexMap::new(),
            jvm: None,
            runs_ruby: false,
            is_probed: false,
        }
    }

    /// Names and checksums of its files, and of the archives in them. A file that has vanished since is left out.
    pub(crate) fn libraries(&self) -> IndexMap<String, String> {
        self.files.iter().flat_map(|(name, path)| library::checksums(name, path)).collect()
    }
}

/// The environment that every program starts from: what programs cannot do without, and nothing that would differ
/// between the users of one machine without being seen.
pub(crate) fn base_env() -> IndexMap<String, String> {
    let inherited = ["PATH", "HOME", "TMPDIR", "USER"];
    let mut env: IndexMap<String, String> =
        inherited.iter().filter_map(|name| Some(((*name).to_owned(), env::var(name).ok()?))).collect();
    env.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    env
}

/// A file that the study names, relative to its folder.
pub(super) fn study_file(what: &'static str, name: &str, dir: &Path) -> Result<PathBuf, RuntimeError> {
    let path = dir.join(name);
    path.canonicalize().map_err(|source| RuntimeError::NoFile { what, name: name.to_owned(), path, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_base_environment_is_small() {
        let base = base_env();
        assert_eq!(base["LANG"], "C.UTF-8");
        assert!(base.len() <= 5 && base.contains_key("PATH"), "{base:?}");
    }
}
