//! A store on a real disk: what goes in comes out, whatever happens in between.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::time::Duration;
use std::{fs, slice, thread};

use common::{run, trial};
use model::profiling::{Observation, Recording};
use model::{Outcome, ProfilingRun, ProfilingSkipped, SoakPlan, SoakRecord, SoakWindow, Status, WarmUpLength};
use needs::Need;
use store::{LATEST, Store, StoreError};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder for a test")
}

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("deep/er/store.db")
}

fn open(path: &Path) -> Store {
    Store::open(path).expect("the store opens")
}

#[test]
fn a_block_is_stored_whole_or_not_at_all() {
    let folder = folder();
    let store = open(&file(&folder));
    store.create_run(&run("a", "2026-01-31T12:00:00Z")).unwrap();
    store.add_trials("a", &[trial(0, 0), trial(0, 1)]).unwrap();
    assert!(matches!(store.add_trials("a", &[trial(1, 0), trial(0, 1)]), Err(StoreError::TrialExists { .. })));
    let stored: Vec<_> = store.load("a").unwrap().trials.iter().map(|trial| trial.key).collect();
    assert_eq!(stored, [trial(0, 0).key, trial(0, 1).key]);
}

#[test]
fn a_run_survives_closing() {
    let folder = folder();
    let mut expected = run("2026-01-31-size-3f9a", "2026-01-31T12:00:00Z");
    {
        let store = open(&file(&folder));
        store.create_run(&expected).unwrap();
        // Stored in the order they ran, which is not the order of their keys.
        for (block, position) in [(0, 1), (0, 0), (1, 0)] {
            expected.trials.push(trial(block, position));
            store.add_trials(&expected.run, slice::from_ref(&expected.trials[expected.trials.len() - 1])).unwrap();
        }
        let mut pilot = trial(0, 0);
        pilot.key.pilot = true;
        store.add_trials(&expected.run, slice::from_ref(&pilot)).unwrap();
        expected.trials.push(pilot);
        let length = WarmUpLength { seconds: 41.3, established: true };
        store.set_warm_up_length(&expected.run, length).unwrap();
        expected.warm_up_length = Some(length);
        store.set_horizon(&expected.run, 12).unwrap();
        expected.horizon = Some(12);
        let made = ProfilingRun {
            variant: 1,
            started: "2026-01-31T13:00:00Z".to_owned(),
            outcome: Outcome::Completed,
            load: "front@1".to_owned(),
            settings: Vec::new(),
            observation: Some(Observation {
                requests: 7,
                elapsed_s: 0.1 + 0.2,
                cpu: None,
                recording: Recording::Jfr { file: "/runs/profile.jfr".into(), profile: Box::default() },
            }),
            oom_kills: 0,
            failed_tear_downs: None,
        };
        store.add_profiling_run(&expected.run, &made).unwrap();
        expected.profiling_runs.push(made);
        let skipped = ProfilingSkipped::NothingToExplain { because: "all is alike".to_owned() };
        store.set_profiling_skipped(&expected.run, Some(&skipped)).unwrap();
        assert_eq!(store.load(&expected.run).unwrap().profiling_skipped, Some(skipped));
        store.set_profiling_skipped(&expected.run, None).unwrap();
        store.set_status(&expected.run, Status::Finished).unwrap();
    }
    let store = open(&file(&folder));
    assert_eq!(store.load(&expected.run).unwrap(), expected);
    let list = store.list().unwrap();
    assert_eq!(list.len(), 1);
    assert_eq!((list[0].study.as_str(), list[0].status, list[0].trials), ("Größe", Status::Finished, 4));
}

#[test]
fn only_a_run_without_trials_is_forgotten() {
    let folder = folder();
    let store = open(&file(&folder));
    for name in ["empty", "measured"] {
        store.create_run(&run(name, "2026-01-01T00:00:00Z")).unwrap();
    }
    store.add_trials("measured", slice::from_ref(&trial(0, 0))).unwrap();
    for name in ["empty", "measured", "unheard of"] {
        store.forget(name).unwrap();
    }
    let left: Vec<String> = store.list().unwrap().into_iter().map(|run| run.run).collect();
    assert_eq!(left, ["measured"]);
}

#[test]
fn one_file_is_the_whole_store_once_closed() {
    let (one, other) = (folder(), folder());
    let mut record = run("a", "2026-01-01T00:00:00Z");
    record.trials.push(trial(0, 0));
    drop(open(&file(&one)).import(&record));
    let copy = other.path().join("copy.db");
    fs::copy(file(&one), &copy).unwrap();
    assert_eq!(open(&copy).load("a").unwrap(), record);
}

#[test]
fn export_and_import_keep_everything() {
    let (one, other) = (folder(), folder());
    let mut record = run("a", "2026-01-01T00:00:00Z");
    record.trials = (0..5).map(|block| trial(block, 0)).collect();
    let first = open(&file(&one));
    first.import(&record).unwrap();
    let exported = serde_json::to_string(&first.load("a").unwrap()).unwrap();
    let second = open(&file(&other));
    second.import(&serde_json::from_str(&exported).unwrap()).unwrap();
    assert_eq!(second.load(LATEST).unwrap(), record);
    assert_eq!(second.list().unwrap()[0].status, Status::Finished);
    let again = second.import(&record).unwrap_err();
    assert!(matches!(&again, StoreError::RunExists { run } if run == "a"), "{again}");
}

#[test]
fn runs_are_found_by_name_beginning_and_age() {
    let folder = folder();
    let store = open(&file(&folder));
    assert!(matches!(store.load(LATEST), Err(StoreError::Empty { .. })));
    store.create_run(&run("2026-02-01-b-77", "2026-02-01T00:00:00Z")).unwrap();
    store.create_run(&run("2026-01-01-a", "2026-01-01T00:00:00Z")).unwrap();
    store.create_run(&run("2026-01-01-a%", "2026-01-01T00:00:00Z")).unwrap();
    let found = |wanted: &str| store.load(wanted).map(|record| record.run);
    assert_eq!(found(LATEST).unwrap(), "2026-02-01-b-77");
    assert_eq!(found("2026-02").unwrap(), "2026-02-01-b-77");
    assert_eq!(found("2026-01-01-a").unwrap(), "2026-01-01-a", "a whole name is no beginning");
    assert_eq!(found("2026-01-01-a%").unwrap(), "2026-01-01-a%");
    let ambiguous = found("2026-").unwrap_err();
    assert!(matches!(&ambiguous, StoreError::Ambiguous { runs, .. } if runs.len() == 3), "{ambiguous}");
    assert!(matches!(found("2026_"), Err(StoreError::NoSuchRun { .. })), "no wildcards");
    assert!(matches!(store.set_status("none", Status::Finished), Err(StoreError::NoSuchRun { .. })));
    assert!(matches!(store.add_trials("none", slice::from_ref(&trial(0, 0))), Err(StoreError::NoSuchRun { .. })));
    let names: Vec<String> = store.list().unwrap().into_iter().map(|summary| summary.run).collect();
    assert_eq!(names, ["2026-02-01-b-77", "2026-01-01-a%", "2026-01-01-a"]);
}

#[test]
fn the_latest_unfinished_run_is_of_the_same_study() {
    let folder = folder();
    let store = open(&file(&folder));
    for (name, started, status) in [
        ("old", "2026-01-01T00:00:00Z", Status::Interrupted),
        ("newer", "2026-01-02T00:00:00Z", Status::Running),
        ("finished", "2026-01-03T00:00:00Z", Status::Finished),
    ] {
        store.create_run(&run(name, started)).unwrap();
        store.set_status(name, status).unwrap();
    }
    let mut elsewhere = run("elsewhere", "2026-01-05T00:00:00Z");
    elsewhere.study.dir = "/another".into();
    store.create_run(&elsewhere).unwrap();
    let mut study = run("x", "").study;
    assert_eq!(store.latest_unfinished(&study).unwrap().as_deref(), Some("newer"));
    study.source.push('\n');
    assert_eq!(store.latest_unfinished(&study).unwrap(), None, "a changed study is another one");
}

#[test]
fn a_trial_is_stored_once() {
    let folder = folder();
    let store = open(&file(&folder));
    store.create_run(&run("a", "2026-01-01T00:00:00Z")).unwrap();
    store.add_trials("a", slice::from_ref(&trial(2, 1))).unwrap();
    let again = store.add_trials("a", slice::from_ref(&trial(2, 1))).unwrap_err();
    assert!(again.to_string().contains("block 3, trial 2 of run `a`"), "{again}");
    assert_eq!(store.load("a").unwrap().trials.len(), 1);
}

/// What the process that dies does: not a test of its own, but run by the next one.
#[test]
fn a_process_that_dies() {
    let Some(path) = std::env::var_os("STORE_OF_THE_DYING") else { return };
    let store = open(Path::new(&path));
    store.create_run(&run("a", "2026-01-01T00:00:00Z")).unwrap();
    store.add_trials("a", slice::from_ref(&trial(0, 0))).unwrap();
    store.add_trials("a", slice::from_ref(&trial(0, 1))).unwrap();
    std::process::abort();
}

#[test]
fn trials_survive_the_death_of_their_process() {
    let folder = folder();
    let died = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_that_dies"])
        .env("STORE_OF_THE_DYING", file(&folder))
        .output()
        .unwrap();
    assert!(!died.status.success());
    let store = open(&file(&folder));
    assert_eq!(store.load("a").unwrap().trials, [trial(0, 0), trial(0, 1)]);
    assert_eq!(store.list().unwrap()[0].status, Status::Interrupted);
    let lock = store.lock(&store.list().unwrap()[0].run).unwrap();
    assert_eq!(store.list().unwrap()[0].status, Status::Running);
    drop(lock);
    store.add_trials("a", slice::from_ref(&trial(1, 0))).unwrap();
    assert_eq!(store.load("a").unwrap().trials.len(), 3);
}

#[test]
fn many_may_use_one_store_at_once() {
    let folder = folder();
    let path = file(&folder);
    thread::scope(|scope| {
        for worker in 0..8 {
            let path = &path;
            scope.spawn(move || {
                let store = open(path);
                let name = format!("run-{worker}");
                store.create_run(&run(&name, "2026-01-01T00:00:00Z")).unwrap();
                for block in 0..10 {
                    store.add_trials(&name, slice::from_ref(&trial(block, 0))).unwrap();
                    store.list().unwrap();
                }
                store.set_status(&name, Status::Finished).unwrap();
            });
        }
    });
    let list = open(&path).list().unwrap();
    assert_eq!(list.len(), 8);
    assert!(list.iter().all(|summary| summary.trials == 10 && summary.status == Status::Finished));
}

#[test]
fn many_may_make_one_store_at_once() {
    for _ in 0..20 {
        let folder = folder();
        let path = file(&folder);
        let barrier = Barrier::new(8);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    barrier.wait();
                    open(&path).list().unwrap();
                });
            }
        });
    }
}

#[test]
fn reading_makes_nothing() {
    let folder = folder();
    assert!(Store::open_to_read(&file(&folder)).unwrap().is_none());
    assert!(!folder.path().join("deep").exists());
    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    assert!(Store::open_to_read(&empty).unwrap().is_none());
    assert_eq!(fs::metadata(&empty).unwrap().len(), 0);

    let path = folder.path().join("store.db");
    let others = || {
        let files = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        files.filter(|name| name.to_string_lossy().starts_with("store.db-")).count()
    };
    // A connection is closed by a thread of its own.
    let soon_gone = || {
        (0..500).any(|_| {
            others() == 0 || {
                thread::sleep(Duration::from_millis(10));
                false
            }
        })
    };
    drop(open(&path));
    assert!(soon_gone());
    let reader = Store::open_to_read(&path).unwrap().expect("a store");
    assert!(reader.list().unwrap().is_empty());
    drop(reader);
    assert!(soon_gone(), "a reader left its companions behind");
}

#[test]
fn a_reader_sees_what_a_writer_stores() {
    let folder = folder();
    let writer = open(&file(&folder));
    writer.create_run(&run("a", "2026-01-01T00:00:00Z")).unwrap();
    let reader = Store::open_to_read(&file(&folder)).unwrap().expect("a store");
    assert!(reader.load("a").unwrap().trials.is_empty());
    writer.add_trials("a", slice::from_ref(&trial(0, 0))).unwrap();
    assert_eq!(reader.load("a").unwrap().trials.len(), 1);
    let refused = reader.add_trials("a", slice::from_ref(&trial(0, 1))).unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    drop(reader);
    writer.add_trials("a", slice::from_ref(&trial(0, 1))).unwrap();
    assert_eq!(open(&file(&folder)).load("a").unwrap().trials.len(), 2);
}

#[test]
fn readers_leave_what_is_not_a_store_alone() {
    let folder = folder();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "notes, and not a database ".repeat(50)).unwrap();
    assert!(matches!(Store::open_to_read(&text), Err(StoreError::NotOurs { .. })));
    let database = folder.path().join("other.db");
    sql(&database, "CREATE TABLE run (x)");
    assert!(matches!(Store::open_to_read(&database), Err(StoreError::NotOurs { .. })));
    assert!(matches!(Store::open_to_read(folder.path()), Err(StoreError::NotOurs { .. })));
    let beneath_a_file = Store::open_to_read(&text.join("store.db")).unwrap_err();
    assert!(matches!(beneath_a_file, StoreError::NotReadable { .. }), "{beneath_a_file}");
    let path = file(&folder);
    drop(open(&path));
    sql(
        &path,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'from the future', 1, x'00', 0)",
    );
    assert!(matches!(Store::open_to_read(&path), Err(StoreError::OtherVersion { .. })));
}

#[test]
fn a_store_of_an_older_form_is_brought_up_to_date_to_be_read() {
    let folder = folder();
    let path = file(&folder);
    drop(open(&path));
    // As far as a store goes that no migration has reached yet.
    sql(&path, "DROP TABLE soak_window");
    sql(&path, "DROP TABLE soak");
    sql(&path, "DROP TABLE profiling_run");
    sql(&path, "DROP TABLE trial");
    sql(&path, "DROP TABLE run");
    sql(&path, "DELETE FROM _sqlx_migrations");
    assert_eq!(Store::open_to_read(&path).unwrap().expect("a store").list().unwrap(), []);
}

#[test]
fn a_read_only_disk_can_be_read() {
    let folder = folder();
    let Some(disk) = SmallDisk::mount(folder.path()) else { return };
    let (settled, unsettled) = (disk.0.join("store.db"), disk.0.join("unsettled.db"));
    {
        let store = open(&settled);
        store.create_run(&run("a", "2026-01-01T00:00:00Z")).unwrap();
        store.add_trials("a", slice::from_ref(&trial(0, 0))).unwrap();
        // What a process that died leaves behind and somebody copied without the file of its index.
        fs::copy(&settled, &unsettled).unwrap();
        fs::copy(disk.0.join("store.db-wal"), disk.0.join("unsettled.db-wal")).unwrap();
    }
    let remount = || Command::new("mount").args(["-o", "remount,ro"]).arg(&disk.0).status().unwrap().success();
    // A process that another test is just starting holds our files until it has become another program.
    let is_read_only = (0..100).any(|_| {
        remount() || {
            thread::sleep(Duration::from_millis(50));
            false
        }
    });
    assert!(is_read_only);
    let store = Store::open_to_read(&settled).unwrap().expect("a store");
    assert_eq!(store.load("a").unwrap().trials, [trial(0, 0)]);
    assert!(Store::open_to_read(&disk.0.join("none.db")).unwrap().is_none());
    let error = Store::open_to_read(&unsettled).unwrap_err();
    assert!(matches!(error, StoreError::Unsettled { .. }), "{error}");
}

/// What a process that carries out a run does: not a test of its own, but run by the next one.
#[test]
fn a_process_that_holds_a_lock() {
    let Some(path) = std::env::var_os("STORE_OF_THE_HOLDER") else { return };
    let _lock = open(Path::new(&path)).lock("a").unwrap();
    println!("held");
    thread::sleep(Duration::from_secs(600));
}

#[test]
fn one_process_at_a_time_carries_out_a_run() {
    use std::io::{BufRead as _, BufReader};
    let folder = folder();
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process_that_holds_a_lock", "--nocapture"])
        .env("STORE_OF_THE_HOLDER", file(&folder))
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("held")));

    let store = open(&file(&folder));
    let error = store.lock("a").unwrap_err();
    assert!(matches!(&error, StoreError::Running { pid, .. } if *pid == Some(holder.id())), "{error:?}");
    assert!(error.to_string().contains(&format!("process {}", holder.id())), "{error}");
    let other = store.lock("b").expect("another run");
    assert!(store.lock("b").is_err(), "not even this process twice");
    drop(other);

    // Death gives it up.
    holder.kill().unwrap();
    holder.wait().unwrap();
    let lock = store.lock("a").expect("its process is dead");
    let text = fs::read_to_string(store.run_folder("a").join("lock")).unwrap();
    assert_eq!(text.trim(), std::process::id().to_string());
    drop(lock);
    drop(store.lock("a").expect("given up when dropped"));
}

#[test]
fn a_folder_that_cannot_be_made() {
    let folder = folder();
    let blocked = folder.path().join("file");
    fs::write(&blocked, "").unwrap();
    let error = Store::open(&blocked.join("store.db")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written() {
    // Root may write everywhere but here.
    let error = Store::open(Path::new("/proc/store.db")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = folder();
    let text = folder.path().join("notes.txt");
    let words = "These are notes, and long enough to be taken for the header of a database. ".repeat(20);
    fs::write(&text, &words).unwrap();
    let error = Store::open(&text).unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(fs::read_to_string(&text).unwrap(), words);

    let database = folder.path().join("other.db");
    sql(&database, "CREATE TABLE run (x)");
    let before = fs::read(&database).unwrap();
    let error = Store::open(&database).unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    assert_eq!(fs::read(&database).unwrap(), before);
}

#[test]
fn stores_of_other_versions_are_left_alone() {
    let folder = folder();
    let path = file(&folder);
    drop(open(&path));
    sql(
        &path,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'from the future', 1, x'00', 0)",
    );
    let error = Store::open(&path).unwrap_err();
    assert!(matches!(error, StoreError::OtherVersion { .. }), "{error}");
}

#[test]
fn a_full_disk() {
    let folder = folder();
    let Some(disk) = SmallDisk::mount(folder.path()) else { return };
    let path = disk.0.join("store.db");
    let store = open(&path);
    store.create_run(&run("a", "2026-01-01T00:00:00Z")).unwrap();
    let mut stored = 0;
    let error = loop {
        match store.add_trials("a", slice::from_ref(&trial(stored, 0))) {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 10_000, "the disk is never full");
    };
    assert!(stored > 0);
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    assert_eq!(store.load("a").unwrap().trials.len(), stored as usize, "what was stored before is safe");
}

/// A file system of one megabyte, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where nothing can be mounted.
    fn mount(folder: &Path) -> Option<Self> {
        if !needs::has(Need::Mounts) {
            return None;
        }
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder);
        assert!(mount.status().is_ok_and(|status| status.success()));
        Some(Self(folder.to_owned()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

/// Does something to a database that is not the store's business.
fn sql(path: &Path, statement: &'static str) {
    use sqlx::Connection;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path).create_if_missing(true);
        let mut connection = sqlx::SqliteConnection::connect_with(&options).await.expect("a connection");
        sqlx::query(statement).execute(&mut connection).await.expect("the statement");
        connection.close().await.expect("the end");
    });
}

#[test]
fn a_soak_is_stored_while_it_goes_on() {
    let folder = folder();
    let store = open(&file(&folder));
    let mut record = run("a", "2026-01-31T12:00:00Z");
    record.plan.soak = Some(SoakPlan { duration: Duration::from_secs(3_600), cell: 0, variants: vec![1], window_s: 5 });
    store.create_run(&record).unwrap();
    let window = |number: u32| SoakWindow { start_s: f64::from(number), length_s: 1.0, ..SoakWindow::default() };
    let mut soak = SoakRecord::new(1, "2026-01-31T12:00:01Z".to_owned());
    store.add_to_soak("a", &soak, &[]).unwrap();
    store.add_to_soak("a", &soak, &[window(0), window(1)]).unwrap();
    store.add_to_soak("a", &soak, &[window(2)]).unwrap();
    // As far as it has come, whatever happens now.
    let so_far = SoakRecord { windows: (0..3).map(window).collect(), ..soak.clone() };
    assert_eq!(store.load("a").unwrap().soaks, slice::from_ref(&so_far));
    soak.outcome = Some(Outcome::Completed);
    store.add_to_soak("a", &soak, &[]).unwrap();
    record.soaks = vec![SoakRecord { outcome: Some(Outcome::Completed), ..so_far }];
    assert_eq!(store.load("a").unwrap(), record);

    assert!(matches!(store.add_to_soak("b", &soak, &[]), Err(StoreError::NoSuchRun { .. })));
    assert!(store.list().unwrap()[0].soak);
    // It is not gone on with, and not forgotten.
    assert_eq!(store.latest_unfinished(&record.study).unwrap(), None);
    store.forget("a").unwrap();
    assert_eq!(store.list().unwrap().len(), 1);
    let elsewhere = Store::open(&folder.path().join("other.db")).unwrap();
    elsewhere.import(&record).unwrap();
    assert_eq!(elsewhere.load("a").unwrap(), record);
}
