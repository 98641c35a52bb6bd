//! Keeps what was measured: runs and their trials in one SQLite file, a transaction a trial.
//!
//! What is stored is the record, in the words of `model`; conclusions are drawn anew from it each time.
//! Calls block. Several processes may use one store at once.

mod error;
mod lock;
mod open;
mod soaks;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use model::{
    Mode, Plan, ProfilingRun, ProfilingSkipped, RunSummary, SoakRecord, SoakWindow, Status, Study, StudyRecord,
    TrialRecord, WarmUpLength,
};
use serde_json::to_string as json;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row, SqliteConnection};
use tokio::runtime::{Builder, Runtime};

pub use error::StoreError;
use error::{is_there_already, refers_to_nothing};
pub use lock::RunLock;
use soaks::SoakRow;

/// A store of runs. Not to be called from asynchronous code: every call waits for the disk.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Mutex<SqliteConnection>,
    runtime: Runtime,
}

/// What names the run that began last.
pub const LATEST: &str = "latest";

impl Store {
    /// Where the store is unless one is named: `$XDG_DATA_HOME/bakeoff/store.db`, else `~/.local/share/bakeoff/store.db`.
    pub fn default_path() -> Result<PathBuf, StoreError> {
        open::default_path()
    }

    /// Opens the store at `path`; makes it, and the folders above, if it is not there.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let path = absolute(path)?;
        open::make_folder(&path)?;
        let runtime = runtime()?;
        let connection = Mutex::new(runtime.block_on(open::connect(&path))?);
        Ok(Self { path, connection, runtime })
    }

    /// Opens the store at `path` for commands that only read: nothing is made, and neither file nor folder need be
    /// writable. `None` where there is no store yet. What would write fails with [`StoreError::ReadOnly`].
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, StoreError> {
        let path = absolute(path)?;
        let runtime = runtime()?;
        let connection = runtime.block_on(open::connect_to_read(&path))?;
        Ok(connection.map(|connection| Self { path, connection: Mutex::new(connection), runtime }))
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of a run, where its logs and its report are kept: `store.runs/RUN` beside `store.db`.
    pub fn run_folder(&self, run: &str) -> PathBuf {
        self.path.with_extension("runs").join(run)
    }

    /// Keeps other processes from carrying out `run` as long as the lock is held: to be taken before a run begins or is
    /// resumed. The error names the process that holds it.
    pub fn lock(&self, run: &str) -> Result<RunLock, StoreError> {
        RunLock::take(run, &self.run_folder(run))
    }

    /// Stores a run that begins, with the trials that `record` already has (usually none).
    pub fn create_run(&self, record: &StudyRecord) -> Result<(), StoreError> {
        self.insert(record, Status::Running)
    }

    /// Stores a run that was measured elsewhere or earlier.
    pub fn import(&self, record: &StudyRecord) -> Result<(), StoreError> {
        self.insert(record, Status::Finished)
    }

    /// Stores trials that ended, all of them or none; once this returns, they survive a power cut. A key is stored once.
    pub fn add_trials(&self, run: &str, trials: &[TrialRecord]) -> Result<(), StoreError> {
        let rows = trials.iter().map(|trial| TrialRow::of(run, trial)).collect::<Result<Vec<_>, _>>()?;
        self.wait(async |connection| {
            let mut transaction = connection.begin().await?;
            for row in &rows {
                row.insert(&mut transaction).await?;
            }
            transaction.commit().await
        })
        .map_err(|cause| {
            if let Some(trial) = trials.first().filter(|_| is_there_already(&cause)) {
                StoreError::TrialExists { run: run.to_owned(), key: trial.key }
            } else if refers_to_nothing(&cause) {
                StoreError::NoSuchRun { wanted: run.to_owned() }
            } else {
                self.reported(cause)
            }
        })
    }

    /// Stores a profiling run that ended; once this returns, it survives a power cut. A variant has at most one.
    pub fn add_profiling_run(&self, run: &str, made: &ProfilingRun) -> Result<(), StoreError> {
        let row = ProfilingRow::of(run, made)?;
        self.wait(async |connection| row.insert(connection).await).map_err(|cause| {
            if refers_to_nothing(&cause) {
                StoreError::NoSuchRun { wanted: run.to_owned() }
            } else {
                self.reported(cause)
            }
        })
    }

    /// Stores a soak as far as it is known, in place of what is stored of it, and further windows of it after those that are; its own
    /// are left out. All of it or nothing; once this returns, it survives a power cut.
    pub fn add_to_soak(&self, run: &str, soak: &SoakRecord, further: &[SoakWindow]) -> Result<(), StoreError> {
        let row = SoakRow::of(run, soak).map_err(unreadable(run))?;
        let windows = soaks::windows(further).map_err(unreadable(run))?;
        self.wait(async |connection| {
            let mut transaction = connection.begin().await?;
            soaks::put(&mut transaction, &row).await?;
            soaks::add(&mut transaction, &row, &windows).await?;
            transaction.commit().await
        })
        .map_err(|cause| {
            if refers_to_nothing(&cause) {
                StoreError::NoSuchRun { wanted: run.to_owned() }
            } else {
                self.reported(cause)
            }
        })
    }

    /// Takes out a run of which no trial ended and no soak was begun; any other stays.
    pub fn forget(&self, run: &str) -> Result<(), StoreError> {
        const FORGET: &str = "DELETE FROM run WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM trial WHERE run = $1) \
                              AND NOT EXISTS (SELECT 1 FROM soak WHERE run = $1)";
        self.rows(FORGET, &[run]).map(drop)
    }

    /// Stores the warm-up length in force from now on.
    pub fn set_warm_up_length(&self, run: &str, length: WarmUpLength) -> Result<(), StoreError> {
        let length = json(&length).map_err(unreadable(run))?;
        self.update(run, "UPDATE run SET warm_up_length = $2 WHERE name = $1", &length)
    }

    /// Stores another plan in place of a run's.
    pub fn set_plan(&self, run: &str, plan: &Plan) -> Result<(), StoreError> {
        let plan = json(plan).map_err(unreadable(run))?;
        self.update(run, "UPDATE run SET plan = $2 WHERE name = $1", &plan)
    }

    /// Stores how many blocks the run uses at most.
    pub fn set_horizon(&self, run: &str, blocks: u32) -> Result<(), StoreError> {
        let blocks = json(&blocks).map_err(unreadable(run))?;
        self.update(run, "UPDATE run SET horizon = $2 WHERE name = $1", &blocks)
    }

    /// Stores why no profiling runs were made; `None` where none are wanted, or they may be made yet.
    pub fn set_profiling_skipped(&self, run: &str, skipped: Option<&ProfilingSkipped>) -> Result<(), StoreError> {
        let skipped = json(&skipped).map_err(unreadable(run))?;
        self.update(run, "UPDATE run SET profiling_skipped = $2 WHERE name = $1", &skipped)
    }

    /// Stores how far a run has come.
    pub fn set_status(&self, run: &str, status: Status) -> Result<(), StoreError> {
        self.update(run, "UPDATE run SET status = $2 WHERE name = $1", status.name())
    }

    /// Everything known about the run that `wanted` names: its name, the beginning of it and of no other's, or [`LATEST`].
    pub fn load(&self, wanted: &str) -> Result<StudyRecord, StoreError> {
        let run = self.find(wanted)?;
        // One transaction: no trial can come in between.
        let (row, trials, profiling_runs, soaks) = self
            .wait(async |connection| {
                let mut transaction = connection.begin().await?;
                let row =
                    sqlx::query("SELECT * FROM run WHERE name = $1").bind(&run).fetch_one(&mut *transaction).await?;
                let trials: Vec<String> = sqlx::query_scalar("SELECT record FROM trial WHERE run = $1 ORDER BY rowid")
                    .bind(&run)
                    .fetch_all(&mut *transaction)
                    .await?;
                let profiling_runs: Vec<String> =
                    sqlx::query_scalar("SELECT record FROM profiling_run WHERE run = $1 ORDER BY rowid")
                        .bind(&run)
                        .fetch_all(&mut *transaction)
                        .await?;
                let soaks = soaks::fetch(&mut transaction, &run).await?;
                Ok((row, trials, profiling_runs, soaks))
            })
            .map_err(|cause| self.reported(cause))?;
        let soaks = soaks::records(&soaks).map_err(unreadable(&run))?;
        let record = record(&row, &trials, &profiling_runs).map_err(unreadable(&run))?;
        Ok(StudyRecord { soaks, ..record })
    }

    /// Every run, the latest first.
    pub fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        const LIST: &str = "SELECT name, study_name, started, status, mode, version, json_extract(plan, '$.soak') IS NOT NULL AS is_soak, \
                            (SELECT count(*) FROM trial WHERE trial.run = run.name) AS trials \
                            FROM run ORDER BY started DESC, rowid DESC";
        let rows = self.rows(LIST, &[])?;
        let died = |run: &RunSummary| run.status == Status::Running && !RunLock::is_held(&self.run_folder(&run.run));
        let known = rows.iter().map(summary);
        Ok(known.map(|run| if died(&run) { RunSummary { status: Status::Interrupted, ..run } } else { run }).collect())
    }

    /// The name of the latest run of this very study (same text, same folder) that did not come to its end; of those that compare: what was
    /// soaked cannot be gone on with.
    pub fn latest_unfinished(&self, study: &Study) -> Result<Option<String>, StoreError> {
        const UNFINISHED: &str = "SELECT name FROM run WHERE status IN ('running', 'interrupted') \
                                  AND json_extract(plan, '$.soak') IS NULL \
                                  AND json_extract(study, '$.source') = $1 AND json_extract(study, '$.dir') = $2 \
                                  ORDER BY started DESC, rowid DESC LIMIT 1";
        let rows = self.rows(UNFINISHED, &[&study.source, &study.dir.to_string_lossy()])?;
        Ok(rows.first().map(|row| row.get("name")))
    }

    /// The whole name of the run that `wanted` names.
    fn find(&self, wanted: &str) -> Result<String, StoreError> {
        const NEWEST: &str = "SELECT name FROM run ORDER BY started DESC, rowid DESC LIMIT 1";
        const BEGINNING: &str = "SELECT name FROM run WHERE substr(name, 1, length($1)) = $1 ORDER BY name";
        let names = |rows: Vec<SqliteRow>| rows.iter().map(|row| row.get("name")).collect::<Vec<String>>();
        let runs = names(self.rows(BEGINNING, &[wanted])?);
        match &runs[..] {
            [run] => Ok(run.clone()),
            runs if runs.iter().any(|run| run == wanted) => Ok(wanted.to_owned()),
            [] if wanted == LATEST => {
                let latest = names(self.rows(NEWEST, &[])?).pop();
                latest.ok_or_else(|| StoreError::Empty { path: self.path.clone() })
            }
            [] => Err(StoreError::NoSuchRun { wanted: wanted.to_owned() }),
            _ => Err(StoreError::Ambiguous { wanted: wanted.to_owned(), runs }),
        }
    }

    fn insert(&self, record: &StudyRecord, status: Status) -> Result<(), StoreError> {
        const RUN: &str = "INSERT INTO run (name, version, started, status, mode, study_name, study, plan, host, warm_up_length, horizon, profiling_skipped) \
                           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let run = &record.run;
        let written = (|| Ok((json(&record.study)?, json(&record.plan)?, json(&record.host)?)))();
        let (study, plan, host) = written.map_err(unreadable(run))?;
        let length = record.warm_up_length.map(|length| json(&length)).transpose().map_err(unreadable(run))?;
        let horizon = record.horizon.map(|blocks| json(&blocks)).transpose().map_err(unreadable(run))?;
        let skipped = record.profiling_skipped.as_ref().map(json).transpose().map_err(unreadable(run))?;
        let trials: Vec<TrialRow> =
            record.trials.iter().map(|trial| TrialRow::of(run, trial)).collect::<Result<_, _>>()?;
        let profiling_runs: Vec<ProfilingRow> =
            record.profiling_runs.iter().map(|made| ProfilingRow::of(run, made)).collect::<Result<_, _>>()?;
        let soak_rows = |soak: &SoakRecord| Ok((SoakRow::of(run, soak)?, soaks::windows(&soak.windows)?));
        let soaks: Vec<_> = record.soaks.iter().map(soak_rows).collect::<Result<_, _>>().map_err(unreadable(run))?;
        self.wait(async |connection| {
            let mut transaction = connection.begin().await?;
            sqlx::query(RUN)
                .bind(run)
                .bind(&record.version)
                .bind(&record.started)
                .bind(status.name())
                .bind(mode_name(record.plan.mode))
                .bind(&record.study.name)
                .bind(study)
                .bind(plan)
                .bind(host)
                .bind(length)
                .bind(horizon)
                .bind(skipped)
                .execute(&mut *transaction)
                .await?;
            for trial in &trials {
                trial.insert(&mut transaction).await?;
            }
            for made in &profiling_runs {
                made.insert(&mut transaction).await?;
            }
            for (row, windows) in &soaks {
                soaks::put(&mut transaction, row).await?;
                soaks::add(&mut transaction, row, windows).await?;
            }
            transaction.commit().await
        })
        .map_err(|cause| {
            if is_there_already(&cause) { StoreError::RunExists { run: run.clone() } } else { self.reported(cause) }
        })
    }

    /// Changes one column of a run.
    fn update(&self, run: &str, sql: &'static str, value: &str) -> Result<(), StoreError> {
        let changed = self
            .wait(async |connection| {
                let done = sqlx::query(sql).bind(run).bind(value).execute(connection).await?;
                Ok(done.rows_affected())
            })
            .map_err(|cause| self.reported(cause))?;
        if changed == 0 { Err(StoreError::NoSuchRun { wanted: run.to_owned() }) } else { Ok(()) }
    }

    fn rows(&self, sql: &'static str, values: &[&str]) -> Result<Vec<SqliteRow>, StoreError> {
        self.wait(async |connection| {
            let query = values.iter().fold(sqlx::query(sql), |query, value| query.bind(*value));
            query.fetch_all(connection).await
        })
        .map_err(|cause| self.reported(cause))
    }

    /// Waits for `work` on the connection.
    fn wait<T>(
        &self,
        work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, sqlx::Error>,
    ) -> Result<T, sqlx::Error> {
        // A panic while holding it leaves at most an open transaction, which the next use rolls back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        self.runtime.block_on(work(&mut connection))
    }

    fn reported(&self, cause: sqlx::Error) -> StoreError {
        StoreError::from_database(&self.path, cause)
    }
}

/// Brings everything into the main file, so that copying that one is enough. Waits for nobody, and may be left undone:
/// the next to open the store finds the rest beside it.
impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.rows("PRAGMA wal_checkpoint(PASSIVE)", &[]);
    }
}

fn absolute(path: &Path) -> Result<PathBuf, StoreError> {
    std::path::absolute(path).map_err(|cause| StoreError::Folder { folder: path.to_owned(), cause })
}

fn runtime() -> Result<Runtime, StoreError> {
    Builder::new_current_thread().enable_all().build().map_err(StoreError::Runtime)
}

/// A trial as its table has it.
struct TrialRow<'a> {
    run: &'a str,
    trial: &'a TrialRecord,
    record: String,
}

impl<'a> TrialRow<'a> {
    fn of(run: &'a str, trial: &'a TrialRecord) -> Result<Self, StoreError> {
        Ok(Self { run, trial, record: json(trial).map_err(unreadable(run))? })
    }

    async fn insert(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        const TRIAL: &str = "INSERT INTO trial (run, pilot, block, position, variant, started, record) \
                             VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let key = self.trial.key;
        sqlx::query(TRIAL)
            .bind(self.run)
            .bind(key.pilot)
            .bind(key.block)
            .bind(key.position)
            .bind(self.trial.variant as u32)
            .bind(&self.trial.started)
            .bind(&self.record)
            .execute(connection)
            .await?;
        Ok(())
    }
}

/// A profiling run as its table has it.
struct ProfilingRow<'a> {
    run: &'a str,
    made: &'a ProfilingRun,
    record: String,
}

impl<'a> ProfilingRow<'a> {
    fn of(run: &'a str, made: &'a ProfilingRun) -> Result<Self, StoreError> {
        Ok(Self { run, made, record: json(made).map_err(unreadable(run))? })
    }

    async fn insert(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        sqlx::query("INSERT INTO profiling_run (run, variant, started, record) VALUES ($1, $2, $3, $4)")
            .bind(self.run)
            .bind(self.made.variant as u32)
            .bind(&self.made.started)
            .bind(&self.record)
            .execute(connection)
            .await?;
        Ok(())
    }
}

fn record(row: &SqliteRow, trials: &[String], profiling_runs: &[String]) -> Result<StudyRecord, serde_json::Error> {
    let length: Option<&str> = row.get("warm_up_length");
    let horizon: Option<&str> = row.get("horizon");
    let skipped: Option<&str> = row.get("profiling_skipped");
    Ok(StudyRecord {
        run: row.get("name"),
        version: row.get("version"),
        started: row.get("started"),
        study: serde_json::from_str(row.get("study"))?,
        plan: serde_json::from_str(row.get("plan"))?,
        host: serde_json::from_str(row.get("host"))?,
        warm_up_length: length.map(serde_json::from_str).transpose()?,
        horizon: horizon.map(serde_json::from_str).transpose()?,
        trials: trials.iter().map(|trial| serde_json::from_str(trial)).collect::<Result<_, _>>()?,
        profiling_runs: profiling_runs.iter().map(|made| serde_json::from_str(made)).collect::<Result<_, _>>()?,
        profiling_skipped: skipped.map(serde_json::from_str).transpose()?.flatten(),
        soaks: Vec::new(),
    })
}

fn summary(row: &SqliteRow) -> RunSummary {
    let status: &str = row.get("status");
    let mode: &str = row.get("mode");
    RunSummary {
        run: row.get("name"),
        study: row.get("study_name"),
        started: row.get("started"),
        status: [Status::Running, Status::Finished]
            .into_iter()
            .find(|known| known.name() == status)
            .unwrap_or(Status::Interrupted),
        mode: if mode == mode_name(Mode::Quick) { Mode::Quick } else { Mode::Full },
        version: row.get("version"),
        trials: row.get::<i64, _>("trials") as u64,
        soak: row.get("is_soak"),
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Full => "full",
        Mode::Quick => "quick",
    }
}

fn unreadable(run: &str) -> impl FnOnce(serde_json::Error) -> StoreError {
    move |cause| StoreError::Unreadable { run: run.to_owned(), cause }
}
