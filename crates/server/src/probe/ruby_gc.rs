//! What MRI's collector does, reported by every process of a server when it is asked: before and after a load.
//!
//! In each a thread waits for that at a pipe. It does so in the kernel, and not under the lock that Ruby code needs: as long
//! as nobody asks it does not wake. One that is kept from answering in time answers when it can.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::RubyGc;
use serde::Deserialize;

/// Ruby code for the probe that every Ruby process requires.
pub const PROBE: &str = include_str!("ruby_gc.rb");

/// The name of the thread that answers.
pub(crate) const THREAD: &str = "bakeoff";

/// How long processes may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// What MRI's collector has done in each process of a server, from its start on.
#[derive(Debug, Clone, PartialEq)]
pub struct RubyGcs(BTreeMap<Process, RubyGc>);

/// One process: what becomes another program, or itself anew, keeps its number and has another pipe.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    pid: u32,
    pipe: String,
}

impl RubyGcs {
    /// What it has done by now in the processes `pids` of the trial in `trial_dir`; `None` unless there are some and all of them answer.
    pub(crate) fn ask(trial_dir: &Path, pids: &[u32]) -> Option<Self> {
        static QUESTION: AtomicU8 = AtomicU8::new(0);
        let question = QUESTION.fetch_add(1, Ordering::Relaxed);
        // All or none: nobody is to answer later on what is not waited for.
        let mut pipes: Vec<_> = pids.iter().map(|pid| open(trial_dir, *pid)).collect::<Option<_>>()?;
        for (_, pipe) in &mut pipes {
            pipe.write_all(&[question]).ok()?;
        }
        let deadline = Instant::now() + ANSWER_WITHIN;
        let reported = |(process, _): (Process, File)| {
            let gc = wait(trial_dir, process.pid, question, deadline)?;
            Some((process, gc))
        };
        let all: BTreeMap<Process, RubyGc> = pipes.into_iter().map(reported).collect::<Option<_>>()?;
        (!all.is_empty()).then_some(Self(all))
    }

    /// What it has done since `before`, in all processes together; `None` where they are not the same ones: what those did
    /// that ended or began meanwhile is not known.
    pub fn since(&self, before: &Self) -> Option<RubyGc> {
        if !self.0.keys().eq(before.0.keys()) {
            return None;
        }
        let each = self.0.values().zip(before.0.values()).map(|(after, before)| after.since(*before));
        each.reduce(|sum, one| Some(sum? + one?)).flatten()
    }
}

/// Where a process waits, as it reported.
#[derive(Debug, Deserialize)]
struct RequestPipe {
    /// By which it has the pipe open.
    descriptor: u32,
    /// Such as `pipe:[4711]`.
    pipe: String,
}

/// What a process answered.
#[derive(Debug, Deserialize)]
struct Answer {
    question: u8,
    count: u64,
    major_gc_count: u64,
    /// ms.
    time: Option<u64>,
    total_allocated_objects: u64,
}

/// Process `pid`, with its pipe; `None` where it has not reported, or has closed it.
fn open(trial_dir: &Path, pid: u32) -> Option<(Process, File)> {
    let reported = fs::read(trial_dir.join(format!("probe.{pid}.asks.json"))).ok()?;
    let RequestPipe { descriptor, pipe } = serde_json::from_slice(&reported).ok()?;
    let descriptor = format!("/proc/{pid}/fd/{descriptor}");
    // A program may have closed it, and opened something else by its number.
    if fs::read_link(&descriptor).ok()?.to_str() != Some(pipe.as_str()) {
        return None;
    }
    let file = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(descriptor).ok()?;
    Some((Process { pid, pipe }, file))
}

fn wait(trial_dir: &Path, pid: u32, question: u8, deadline: Instant) -> Option<RubyGc> {
    let file = trial_dir.join(format!("probe.{pid}.gc.json"));
    loop {
        let answer = fs::read(&file).ok().and_then(|json| serde_json::from_slice::<Answer>(&json).ok());
        if let Some(reported) = answer.filter(|answer| answer.question == question) {
            return Some(RubyGc {
                collections: reported.count,
                major: reported.major_gc_count,
                time_s: reported.time.map(|ms| ms as f64 / 1e3),
                allocated_objects: reported.total_allocated_objects,
            });
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;

    fn gc(collections: u64, time_s: Option<f64>) -> RubyGc {
        RubyGc { collections, major: collections / 10, time_s, allocated_objects: 1_000 * collections }
    }

    fn all<const N: usize>(of: [(u32, &str, RubyGc); N]) -> RubyGcs {
        RubyGcs(of.map(|(pid, pipe, gc)| (Process { pid, pipe: pipe.to_owned() }, gc)).into())
    }

    #[test]
    fn processes_are_added_up_where_they_are_the_same() {
        let before = all([(7, "a", gc(100, Some(0.5))), (9, "b", gc(20, Some(0.25)))]);
        let after = all([(7, "a", gc(140, Some(1.5))), (9, "b", gc(30, Some(0.5)))]);
        assert_eq!(after.since(&before), Some(gc(50, Some(1.25))));
        assert_eq!(before.since(&after), None, "nothing is undone");
        for others in [
            all([(7, "a", gc(140, Some(1.5))), (11, "b", gc(30, Some(0.5)))]),
            // Itself anew.
            all([(7, "a", gc(140, Some(1.5))), (9, "c", gc(30, Some(0.5)))]),
            all([(7, "a", gc(140, Some(1.5)))]),
        ] {
            assert_eq!((others.since(&before), before.since(&others)), (None, None), "{others:?}");
        }
    }

    #[test]
    fn a_time_that_is_not_counted_is_not_reported() {
        let [before, counted] = [gc(100, Some(0.5)), gc(140, None)].map(|gc| all([(7, "a", gc)]));
        assert_eq!(counted.since(&before), Some(gc(40, None)));
        let after = all([(7, "a", gc(140, Some(0.25)))]);
        assert_eq!(after.since(&before), None);
    }

    #[test]
    fn all_are_asked_or_none() {
        let dir = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let (reads, writes) = std::io::pipe().unwrap();
        let tell = |descriptor: i32, pipe: &str| {
            let reported = format!(r#"{{"descriptor":{descriptor},"pipe":"{pipe}"}}"#);
            fs::write(dir.path().join(format!("probe.{own}.asks.json")), reported).unwrap();
        };
        assert_eq!(RubyGcs::ask(dir.path(), &[]), None);
        assert_eq!(RubyGcs::ask(dir.path(), &[own]), None, "it has not reported");

        // Another file has the number by now: nothing is written into it.
        let file = File::create(dir.path().join("its own")).unwrap();
        tell(file.as_raw_fd(), "pipe:[1]");
        assert_eq!(RubyGcs::ask(dir.path(), &[own]), None);
        assert_eq!(file.metadata().unwrap().len(), 0);

        // One that could be asked is not, as long as another cannot.
        let pipe = fs::read_link(format!("/proc/self/fd/{}", writes.as_raw_fd())).unwrap();
        tell(writes.as_raw_fd(), pipe.to_str().unwrap());
        assert!(open(dir.path(), own).is_some());
        assert_eq!(RubyGcs::ask(dir.path(), &[own, u32::MAX]), None);
        drop(writes);
        assert_eq!(std::io::read_to_string(reads).unwrap(), "");
    }

    #[test]
    fn an_answer_to_an_earlier_question_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let answer = r#"{"question":7,"count":3,"major_gc_count":1,"total_allocated_objects":5}"#;
        fs::write(dir.path().join("probe.4711.gc.json"), answer).unwrap();
        let wait = |question| wait(dir.path(), 4711, question, Instant::now());
        let reported = RubyGc { collections: 3, major: 1, time_s: None, allocated_objects: 5 };
        assert_eq!((wait(7), wait(8)), (Some(reported), None));
    }
}
