//! From what a study asks to what this machine can launch: once a run, before the first trial.

mod command;
mod java;
pub(crate) mod jdk;
mod jruby;
mod maven;
mod ruby;
mod toolbox;

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use indexmap::IndexMap;
use model::study::{Limits, Ready, Runtime, ServerSpec, Service};
use thiserror::Error;

use crate::library;
use crate::tool::ToolError;
use jdk::Jdk;

pub use maven::MavenError;
pub use toolbox::Toolbox;

/// Why a server cannot be launched on this machine.
#[derive(Debug, Error)]
pub enum RuntimeError {
    /// No such JDK.
    #[error(transparent)]
    Jdk(#[from] jdk::JdkError),
    /// No such Ruby.
    #[error(transparent)]
    Ruby(#[from] ruby::RubyError),
    /// An archive could not be fetched.
    #[error(transparent)]
    Maven(#[from] MavenError),
    /// A JRuby that Maven cannot get.
    #[error(
        "JRuby {version} is not here ({}) and cannot be fetched; the versions that exist are those of org.jruby:jruby-dist in the repository your Maven uses. {error}",
        here(kept)
    )]
    NoJruby {
        /// The wanted version.
        version: String,
        /// Versions in the cache.
        kept: Vec<String>,
        /// Why it cannot be fetched.
        error: Box<MavenError>,
    },
    /// A command line that cannot be split.
    #[error("cannot split the command `{command}` into words: {reason}")]
    Words {
        /// The command.
        command: String,
        /// Why.
        reason: String,
    },
    /// A program that is not there.
    #[error("there is no program `{program}`, neither in {dir} nor on the PATH; install it or give its path", dir = dir.display())]
    NoProgram {
        /// Its name.
        program: String,
        /// The study's folder.
        dir: PathBuf,
    },
    /// A file that the study names is not there.
    #[error("{what} `{name}` is not there: {path}: {source}", path = path.display())]
    NoFile {
        /// Its part in the study.
        what: &'static str,
        /// As the study writes it.
        name: String,
        /// Where it was looked for.
        path: PathBuf,
        /// Why it cannot be read.
        source: io::Error,
    },
    /// `-jar` makes Java ignore the class path.
    #[error(
        "`jars` has no effect with the runnable archive `{0}`, since Java ignores the class path then; give `main` with the archive among `jars`"
    )]
    JarAndClassPath(String),
    /// The author's program does not compile.
    #[error("{source_file} does not compile with {jdk}:\n{output}", source_file = source_file.display(), jdk = jdk.display())]
    Compile {
        /// The file.
        source_file: PathBuf,
        /// The JDK's folder.
        jdk: PathBuf,
        /// What the compiler said.
        output: String,
    },
    /// An installed file is not what was installed.
    #[error("{path} has changed since it was installed: SHA-256 {found}, expected {expected}; delete {folder} to install it again", path = path.display(), folder = folder.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// What was recorded.
        expected: String,
        /// What it is now.
        found: String,
        /// What to delete.
        folder: PathBuf,
    },
    /// A helper gave no answer.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A file of ours could not be read or written.
    #[error("cannot {doing} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn here(kept: &[String]) -> String {
    if kept.is_empty() { "no other is, either".to_owned() } else { format!("here: {}", kept.join(", ")) }
}

impl RuntimeError {
    /// Whether it is only that the caller's flag was raised.
    pub fn is_interrupted(&self) -> bool {
        matches!(
            self,
            Self::Tool(ToolError::Interrupted { .. }) | Self::Maven(MavenError::Tool(ToolError::Interrupted { .. }))
        )
    }
}

/// Names what could not be done with a file.
fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RuntimeError {
    move |source| RuntimeError::Io { doing, path: path.to_owned(), source }
}

/// A folder in `parent` that nobody else uses, for what is renamed when it is complete: what is half done must never be
/// taken for the whole.
fn unfinished(parent: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    parent.join(format!("unfinished-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// Renames a complete folder to where it belongs. Somebody else may have been faster: theirs is as good, and stays.
fn finish(unfinished: &Path, folder: &Path) -> Result<(), RuntimeError> {
    match std::fs::rename(unfinished, folder) {
        Err(_) if folder.is_dir() => Ok(()),
        renamed => renamed.map_err(io_error("create", folder)),
    }
}

fn home() -> PathBuf {
    env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// The folder of a version manager: what `variable` names, or `default` in the home folder.
fn manager(variable: &str, default: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| home().join(default), PathBuf::from)
}

/// Folders inside `folder`, sorted; none when it is not there.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// A version's numbers, for comparing: `17.0.15+6` is 17, 0, 15, 6.
pub(crate) fn version_numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// Whether `version` is `wanted` or begins with it at a dot.
pub(crate) fn version_matches(version: &str, wanted: &str) -> bool {
    version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || !rest.starts_with(|c: char| c.is_ascii_digit()))
}

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

    fn new(program: PathBuf, args: Vec<String>, spec: &ServerSpec) -> Self {
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

/// Finds or fetches what `spec` needs. `dir` is the study's folder.
pub fn install(spec: &ServerSpec, dir: &Path, toolbox: &Toolbox<'_>) -> Result<Installed, RuntimeError> {
    match &spec.runtime {
        Runtime::Command { command } => command::install(command, spec, dir),
        Runtime::Java { java, program } => java::install(java, program, spec, dir, toolbox),
        Runtime::Jruby { version, java, options, program } => {
            jruby::install(&jruby::JrubyNeeds { version, java, options, program }, spec, dir, toolbox)
        }
        Runtime::Ruby { version, options, script } => ruby::install(version.as_deref(), options, script, spec, dir),
    }
}

/// What `spec` needs and this machine lacks, of what cannot be fetched: a program, a JDK, a Ruby, a script. Changes nothing.
pub fn lacking(spec: &ServerSpec, dir: &Path) -> Option<RuntimeError> {
    match &spec.runtime {
        Runtime::Command { command } => command::install(command, spec, dir).err(),
        Runtime::Java { java, .. } | Runtime::Jruby { java, .. } => {
            jdk::find(java.jdk.as_deref(), dir).err().map(Into::into)
        }
        Runtime::Ruby { version, options, script } => {
            ruby::install(version.as_deref(), options, script, spec, dir).err()
        }
    }
}

/// What a service needs and this machine lacks: its program. Changes nothing.
pub fn service_lacking(service: &Service, dir: &Path) -> Option<RuntimeError> {
    install_service(service, dir).err()
}

/// The same as [`install`] for a service. It runs in the study's folder.
pub(crate) fn install_service(service: &Service, dir: &Path) -> Result<Installed, RuntimeError> {
    let spec = ServerSpec {
        runtime: Runtime::Command { command: service.command.clone() },
        args: Vec::new(),
        env: service.env.clone(),
        dir: dir.to_owned(),
        ready: service.ready.clone(),
        stop_within: service.stop_within,
        limits: Limits::default(),
    };
    let installed = command::install(&service.command, &spec, dir)?;
    Ok(Installed { is_probed: false, ..installed })
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
fn study_file(what: &'static str, name: &str, dir: &Path) -> Result<PathBuf, RuntimeError> {
    let path = dir.join(name);
    path.canonicalize().map_err(|source| RuntimeError::NoFile { what, name: name.to_owned(), path, source })
}

/// What there is on this machine to run servers with, version and place, in the order in which it is chosen.
pub(crate) struct Inventory {
    pub jdks: Vec<String>,
    /// Versions of JRuby that need not be fetched.
    pub jrubies: Vec<String>,
    pub rubies: Vec<String>,
}

/// Looks, and asks those that do not say by their place what they are.
pub(crate) fn inventory() -> Inventory {
    let mut jrubies = jruby::installed(&toolbox::cache());
    jrubies.sort_by_cached_key(|version| std::cmp::Reverse(version_numbers(version)));
    Inventory {
        jdks: jdk::installed().iter().map(|jdk| format!("{} ({})", jdk.version, jdk.home.display())).collect(),
        jrubies,
        rubies: ruby::installed().iter().map(|ruby| format!("{} ({})", ruby.version, ruby.path.display())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_match_at_their_dots() {
        assert!(version_matches("3.1.2", "3.1"));
        assert!(version_matches("17.0.15", "17"));
        assert!(version_matches("17", "17"));
        assert!(!version_matches("3.10.0", "3.1"));
        assert!(!version_matches("3.1", "3.1.2"));
    }

    #[test]
    fn the_base_environment_is_small() {
        let base = base_env();
        assert_eq!(base["LANG"], "C.UTF-8");
        assert!(base.len() <= 5 && base.contains_key("PATH"), "{base:?}");
    }
}
