//! What can go wrong with a store, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Diagnostic;
use model::TrialKey;
use thiserror::Error;

/// Why a store could not be opened, read or written.
#[derive(Debug, Error, Diagnostic)]
pub enum StoreError {
    /// Neither `XDG_DATA_HOME` nor `HOME` says where the default store is.
    #[error("no place for the store: neither XDG_DATA_HOME nor HOME is set")]
    #[diagnostic(help("name a file with --store"))]
    NoHome,
    /// The folder of the store does not exist and cannot be made.
    #[error("the store's folder `{}` cannot be made: {cause}", folder.display())]
    #[diagnostic(help("name another file with --store"))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The file or its folder cannot be written.
    #[error("the store `{}` cannot be written", path.display())]
    #[diagnostic(help("check the rights of the file and its folder, or name another file with --store"))]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be opened, not even to read.
    #[error("the store `{}` cannot be read: {cause}", path.display())]
    #[diagnostic(help("check the rights of the file and the folders above it, or name another file with --store"))]
    NotReadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The last changes lie beside the file, and reading them takes the right to write.
    #[error("the last changes to the store `{}` cannot be read without writing to its folder", path.display())]
    #[diagnostic(help(
        "its last process died before it put them into the file: copy the file with those beside it (`-wal`, `-shm`) to \
         a folder that can be written, and name that with --store"
    ))]
    Unsettled {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("`{}` is not a store of bakeoff's", path.display())]
    #[diagnostic(help("it was left as it is; name another file with --store"))]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The file has a form that this version does not know.
    #[error("the store `{}` was made by another version of bakeoff", path.display())]
    #[diagnostic(help("use that version, or name another file with --store"))]
    OtherVersion {
        /// The file.
        path: PathBuf,
    },
    /// There is no room left.
    #[error("there is no room left to write the store `{}`", path.display())]
    #[diagnostic(help("what was stored before is safe: make room, then go on with --resume"))]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process kept it locked.
    #[error("the store `{}` was kept locked by another process for {seconds} s", path.display())]
    #[diagnostic(help("look for another bakeoff, or a tool that has the file open, and try again"))]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// Another process is carrying out this run.
    #[error("run `{run}` is being carried out by {}", pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}")))]
    #[diagnostic(help("let it finish, or end it with Ctrl-C; --resume goes on from where it ended"))]
    Running {
        /// The run.
        run: String,
        /// The process, where it has said so.
        pid: Option<u32>,
    },
    /// The file that keeps other processes from the run cannot be used.
    #[error("the lock `{}` cannot be taken: {cause}", path.display())]
    #[diagnostic(help("check the rights of the file and its folder, or name another store with --store"))]
    Lock {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A run of that name is there.
    #[error("there is a run `{run}` in the store already")]
    RunExists {
        /// Its name.
        run: String,
    },
    /// That trial is there: another process may be carrying out the same run.
    #[error("{key} of run `{run}` is in the store already")]
    #[diagnostic(help("is another bakeoff carrying out this run?"))]
    TrialExists {
        /// The run.
        run: String,
        /// The trial.
        key: TrialKey,
    },
    /// No run has that name.
    #[error("no run in the store has a name that begins with `{wanted}`")]
    #[diagnostic(help("`bakeoff list` shows the runs that are stored"))]
    NoSuchRun {
        /// What was asked for.
        wanted: String,
    },
    /// Several runs have names that begin so.
    #[error("several runs have names that begin with `{wanted}`")]
    #[diagnostic(help("write more of the name: {}", runs.join(", ")))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Their names.
        runs: Vec<String>,
    },
    /// The store is empty.
    #[error("there is no run in the store `{}` yet", path.display())]
    #[diagnostic(help("`bakeoff run STUDY` makes one"))]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// What is stored of a run is not what this version understands.
    #[error("the stored run `{run}` cannot be read: {cause}")]
    Unreadable {
        /// The run.
        run: String,
        /// Why.
        cause: serde_json::Error,
    },
    /// Something else.
    #[error("the store `{}` failed: {cause}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What the database says.
        cause: sqlx::Error,
    },
    /// The thread that waits for the database could not be set up.
    #[error("the store could not be set up: {0}")]
    Runtime(io::Error),
}

/// How long a lock held by another process is waited for: its transactions take milliseconds.
pub(crate) const BUSY: Duration = Duration::from_secs(30);

impl StoreError {
    /// What a database error at the store `path` means.
    pub(crate) fn from_database(path: &Path, cause: sqlx::Error) -> Self {
        let path = path.to_owned();
        match kind(&cause) {
            Some(5 | 6) => Self::Busy { path, seconds: BUSY.as_secs() },
            Some(8 | 14) => Self::ReadOnly { path },
            Some(13) => Self::Full { path },
            Some(26) => Self::NotOurs { path },
            _ => Self::Database { path, cause },
        }
    }
}

/// The kind of a database error: the low byte of its code, the rest of which details it (<https://sqlite.org/rescode.html>).
fn kind(cause: &sqlx::Error) -> Option<u32> {
    let code: u32 = cause.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// Whether the file, or one that belongs beside it, could not be opened or made.
pub(crate) fn is_shut(cause: &sqlx::Error) -> bool {
    matches!(kind(cause), Some(8 | 14))
}

/// Whether another process has it locked.
pub(crate) fn is_busy(cause: &sqlx::Error) -> bool {
    matches!(kind(cause), Some(5 | 6))
}

/// Whether a row with the same key is there.
pub(crate) fn is_there_already(cause: &sqlx::Error) -> bool {
    cause.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation)
}

/// Whether the row that a new one refers to is missing.
pub(crate) fn refers_to_nothing(cause: &sqlx::Error) -> bool {
    cause.as_database_error().is_some_and(sqlx::error::DatabaseError::is_foreign_key_violation)
}
