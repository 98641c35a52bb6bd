//! Why a server cannot be launched on this machine.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::jdk::JdkError;
use super::maven::MavenError;
use super::mri::RubyError;
use crate::tool::ToolError;

/// Why a server cannot be launched on this machine.
#[derive(Debug, Error)]
pub enum RuntimeError {
    /// No such JDK.
    #[error(transparent)]
    Jdk(#[from] JdkError),
    /// No such Ruby.
    #[error(transparent)]
    Ruby(#[from] RubyError),
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
pub(super) fn io_error(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RuntimeError {
    move |source| RuntimeError::Io { doing, path: path.to_owned(), source }
}
