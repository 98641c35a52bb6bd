//! Opening a store: a file of ours in a form we know, or a new one.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use sqlx::migrate::{Migrate as _, MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{Connection, SqliteConnection};

use crate::error::{BUSY, StoreError, is_busy, is_shut};

/// Every form that the store has had, oldest first. What a release wrote is never changed here: its checksum is in the file.
static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let migration = |version, description: &'static str, sql: &'static str| {
        Migration::new(version, description.into(), MigrationType::Simple, sql.into(), false)
    };
    let all = vec![
        migration(1, "runs and trials", include_str!("../migrations/0001_runs_and_trials.sql")),
        migration(2, "soaks", include_str!("../migrations/0002_soaks.sql")),
    ];
    Migrator { migrations: all.into(), ..Migrator::DEFAULT }
});

/// Marks a SQLite file as ours: "bake" in ASCII.
const APPLICATION_ID: i64 = 0x6261_6b65;

/// Where the store is unless one is named: `$XDG_DATA_HOME/bakeoff/store.db`, else `~/.local/share/bakeoff/store.db`.
pub(crate) fn default_path() -> Result<PathBuf, StoreError> {
    // The XDG specification has relative paths ignored.
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    data.map(|data| data.join("bakeoff/store.db")).ok_or(StoreError::NoHome)
}

/// Makes the folders above `path`.
pub(crate) fn make_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder).map_err(|cause| StoreError::Folder { folder: folder.to_owned(), cause })
}

/// Connects to the store at `path`, which is made if there is no file.
pub(crate) async fn connect(path: &Path) -> Result<SqliteConnection, StoreError> {
    let reported = |cause| StoreError::from_database(path, cause);
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        // A trial takes minutes and is committed once: waiting for the disk costs nothing, losing it to a power cut does.
        .synchronous(SqliteSynchronous::Full);
    let mut connection = SqliteConnection::connect_with(&options).await.map_err(reported)?;
    claim(&mut connection, path).await?;
    // Only now: the file is known to be ours.
    write_ahead(&mut connection).await.map_err(reported)?;
    Ok(connection)
}

/// Connects to the store at `path` to read it, where nothing need be writable; `None` where there is no store.
///
/// A store of an older form is brought to this version's first, which takes the right to write.
pub(crate) async fn connect_to_read(path: &Path) -> Result<Option<SqliteConnection>, StoreError> {
    match std::fs::File::open(path).and_then(|file| file.metadata()) {
        Ok(file) if file.is_file() => {}
        Ok(_) => return Err(StoreError::NotOurs { path: path.to_owned() }),
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
        Err(cause) => return Err(StoreError::NotReadable { path: path.to_owned(), cause }),
    }
    let (connection, form) = match read(path, false).await {
        // Where its companions cannot be made, nobody else can be writing, and the file alone has everything ...
        Err(Unread::Shut) if is_settled(path) => read(path, true).await,
        read => read,
    }
    .map_err(|unread| match unread {
        // ... unless a process died before it brought everything there.
        Unread::Shut => StoreError::Unsettled { path: path.to_owned() },
        Unread::Other(error) => error,
    })?;
    match form {
        Form::Ours => Ok(Some(connection)),
        Form::Empty => Ok(None),
        Form::Older => {
            connection.close().await.map_err(|cause| StoreError::from_database(path, cause))?;
            connect(path).await.map(Some)
        }
    }
}

/// What a file that can be read turns out to be.
enum Form {
    /// A store of this version's form.
    Ours,
    /// A store of an older version's.
    Older,
    /// A database of which nothing was made yet.
    Empty,
}

/// Why a file could not be read.
enum Unread {
    /// It or its companions could not be opened or made.
    Shut,
    /// Anything else.
    Other(StoreError),
}

/// Opens the file for reading and looks what it is; `alone` without its companions and without locks.
async fn read(path: &Path, alone: bool) -> Result<(SqliteConnection, Form), Unread> {
    let reported = |cause| if is_shut(&cause) { Unread::Shut } else { other(path, cause) };
    // With the right to write, SQLite takes away its companions again; without, it opens the file to read by itself.
    let options =
        SqliteConnectOptions::new().filename(path).immutable(alone).pragma("query_only", "ON").busy_timeout(BUSY);
    let mut connection = SqliteConnection::connect_with(&options).await.map_err(reported)?;
    let id: i64 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut connection).await.map_err(reported)?;
    let tables: i64 =
        sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(&mut connection).await.map_err(reported)?;
    match (id, tables) {
        (_, 0) => return Ok((connection, Form::Empty)),
        (APPLICATION_ID, _) => {}
        _ => return Err(Unread::Other(StoreError::NotOurs { path: path.to_owned() })),
    }
    let applied = connection
        .list_applied_migrations()
        .await
        .map_err(|cause| Unread::Other(StoreError::from_database(path, sqlx::Error::Migrate(Box::new(cause)))))?;
    let is_known =
        |version, checksum: &[u8]| MIGRATIONS.iter().any(|m| m.version == version && *m.checksum == *checksum);
    if applied.iter().any(|migration| !is_known(migration.version, &migration.checksum)) {
        return Err(Unread::Other(StoreError::OtherVersion { path: path.to_owned() }));
    }
    let form = if applied.len() < MIGRATIONS.iter().count() { Form::Older } else { Form::Ours };
    Ok((connection, form))
}

fn other(path: &Path, cause: sqlx::Error) -> Unread {
    Unread::Other(StoreError::from_database(path, cause))
}

/// Whether no changes wait beside the file.
fn is_settled(path: &Path) -> bool {
    let mut beside = path.as_os_str().to_owned();
    beside.push("-wal");
    std::fs::metadata(beside).map_or(true, |wal| wal.len() == 0)
}

/// Has changes written beside the file first, so that readers and a writer do not block each other.
///
/// SQLite refuses the switch at once while another connection uses the file, without the wait that it grants everything
/// else; the file keeps the mode, so that only the first openers of a new store meet here.
async fn write_ahead(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let begun = Instant::now();
    loop {
        match sqlx::query("PRAGMA journal_mode = WAL").execute(&mut *connection).await {
            Err(cause) if is_busy(&cause) && begun.elapsed() < BUSY => std::thread::sleep(Duration::from_millis(5)),
            done => return done.map(drop),
        }
    }
}

/// Makes sure that the file is ours and of this version's form, in one transaction: a second opener waits for the first.
async fn claim(connection: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let reported = |cause| StoreError::from_database(path, cause);
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await.map_err(reported)?;
    let id: i64 = sqlx::query_scalar("PRAGMA application_id").fetch_one(&mut *transaction).await.map_err(reported)?;
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *transaction)
        .await
        .map_err(reported)?;
    match (id, tables) {
        (APPLICATION_ID, _) => {}
        (0, 0) => {
            let mark = format!("PRAGMA application_id = {APPLICATION_ID}");
            sqlx::query(&mark).execute(&mut *transaction).await.map_err(reported)?;
        }
        _ => return Err(StoreError::NotOurs { path: path.to_owned() }),
    }
    MIGRATIONS.run(&mut *transaction).await.map_err(|cause| match cause {
        // A migration that this version does not have, or has otherwise.
        MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_) => {
            StoreError::OtherVersion { path: path.to_owned() }
        }
        MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => reported(cause),
        other => reported(sqlx::Error::Migrate(Box::new(other))),
    })?;
    transaction.commit().await.map_err(reported)
}
