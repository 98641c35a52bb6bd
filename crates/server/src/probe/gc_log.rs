//! The garbage collection log of a JVM: single pauses, heap in use after a collection, allocation.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use model::GcUse;
use runtimes::gc_log::{self, GcEvent, Log};

use crate::attach;
use crate::proc;
use crate::runtime::Installed;
use crate::serving::LiveJvm;

/// How long a running JVM may take to begin one.
const BEGUN_WITHIN: Duration = Duration::from_secs(10);

/// How long a collection of all of its heap may take.
const COLLECTED_WITHIN: Duration = Duration::from_secs(60);
/// How long its line may take to be in the log after that.
const WRITTEN_WITHIN: Duration = Duration::from_secs(1);

/// Read at once at most; what is left is read a second later.
const MOST: u64 = 64 << 20;

/// Where the JVM of a trial writes its log.
pub(crate) fn path(trial_dir: &Path) -> PathBuf {
    trial_dir.join(gc_log::FILE)
}

/// The option that makes it write one, the same for every variant; none where the study's own options name the file, for
/// a JVM that has no such option, and for a folder whose name the option cannot hold. What else the study logs stays as
/// it is, and goes before: its `-Xlog:disable` takes this log away, too.
pub(crate) fn option(installed: &Installed, options: &[String], trial_dir: &Path) -> Option<String> {
    installed.jvm.as_ref().filter(|jvm| gc_log::is_known_to(jvm.jdk.major()))?;
    let path = holdable(trial_dir)?;
    let is_theirs = options.iter().any(|option| option.contains(&path));
    (!is_theirs).then(|| gc_log::option(&path))
}

/// Has a JVM that runs write the same from now on, where it writes none yet: one that a start script has launched was given no
/// option of ours. Costs the server what any question by `jcmd` does. One that cannot be asked, or that cannot write there, has no log.
pub(crate) fn begin(jvm: &LiveJvm, trial_dir: &Path, interrupted: &AtomicBool) {
    let environment = proc::environment(jvm.pid).unwrap_or_default().into_iter().map(|(_, value)| value);
    let none_is_wanted =
        proc::command_line(jvm.pid).into_iter().chain(environment).any(|text| gc_log::is_unwanted(&text));
    if path(trial_dir).exists() || none_is_wanted || !gc_log::is_known_to(jvm.major()) {
        return;
    }
    if let (Some(path), Ok(jdk)) = (holdable(trial_dir), jvm.jdk()) {
        let question = gc_log::question(&path);
        // Whether it went well is seen by the file.
        let _ = attach::ask(jdk, jvm.pid, &question.each_ref().map(String::as_str), BEGUN_WITHIN, interrupted);
    }
}

/// Has a JVM that writes its log here collect all of its heap, and what is in use after that, bytes; `None` where it cannot be asked, writes no
/// log, or was started so that it heeds no such requests. The server waits meanwhile.
pub(crate) fn live_bytes(jvm: &LiveJvm, trial_dir: &Path, interrupted: &AtomicBool) -> Option<u64> {
    let mut log = Tail::of(trial_dir)?;
    attach::ask(jvm.jdk().ok()?, jvm.pid, &["GC.run"], COLLECTED_WITHIN, interrupted).ok()?;
    // The answer may come before the line is written.
    let until = Instant::now() + WRITTEN_WITHIN;
    loop {
        match log.read()?.live_bytes {
            Some(bytes) => return Some(bytes),
            None if Instant::now() > until => return None,
            None => thread::sleep(WRITTEN_WITHIN / 20),
        }
    }
}

/// The file's name, where an option can hold it.
fn holdable(trial_dir: &Path) -> Option<String> {
    Some(path(trial_dir).display().to_string()).filter(|path| gc_log::can_hold(path))
}

/// Reads along in a log.
#[derive(Debug)]
pub(super) struct Tail {
    path: PathBuf,
    at: u64,
    log: Log,
}

impl Tail {
    /// Knows what has been written so far, and reports what comes from now on; `None` where there is no log.
    pub fn of(trial_dir: &Path) -> Option<Self> {
        let mut tail = Self { path: path(trial_dir), at: 0, log: Log::default() };
        loop {
            let before = tail.at;
            tail.read()?;
            if tail.at == before {
                return Some(tail);
            }
        }
    }

    /// What has been written since.
    pub fn read(&mut self) -> Option<GcUse> {
        let mut file = File::open(&self.path).ok()?;
        file.seek(SeekFrom::Start(self.at)).ok()?;
        let mut bytes = Vec::new();
        file.take(MOST).read_to_end(&mut bytes).ok()?;
        // A line that is not complete is left for the next time.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.at += whole as u64;
        let mut used = GcUse::default();
        for line in String::from_utf8_lossy(&bytes[..whole]).lines() {
            for seen in self.log.line(line) {
                match seen {
                    GcEvent::Pause(seconds) => used.pauses_s.push(seconds),
                    GcEvent::HeapAfter(bytes) => used.heap_after_bytes = Some(bytes),
                    GcEvent::LiveAfter(bytes) => used.live_bytes = Some(bytes),
                    GcEvent::Allocated(bytes) => used.allocated_bytes += bytes,
                }
            }
        }
        Some(used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_along() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Tail::of(dir.path()).is_none());
        let line = "[gc] GC(0) Pause Young (Allocation Failure) 53M->1M(193M) 20.5ms\n";
        std::fs::write(path(dir.path()), line).unwrap();
        let mut tail = Tail::of(dir.path()).unwrap();
        assert_eq!(tail.read(), Some(GcUse::default()));
        let (begun, rest) = line.split_at(30);
        std::fs::write(path(dir.path()), format!("{line}{line}{begun}")).unwrap();
        assert_eq!(tail.read().map(|used| used.pauses_s), Some(vec![0.020_5]));
        std::fs::write(path(dir.path()), format!("{line}{line}{begun}{rest}")).unwrap();
        let used = tail.read().unwrap();
        assert_eq!((used.pauses_s.len(), used.allocated_bytes), (1, 52 << 20));
    }

    /// However much a server has logged until then.
    #[test]
    fn what_was_logged_before_is_none_of_the_first_sample() {
        let dir = tempfile::tempdir().unwrap();
        let pause = "[gc] GC(0) Pause Young (Allocation Failure) 53M->1M(193M) 20.5ms\n";
        let long = "x".repeat(1 << 20) + "\n";
        std::fs::write(path(dir.path()), long.repeat(65) + pause).unwrap();
        let mut tail = Tail::of(dir.path()).unwrap();
        assert_eq!(tail.read(), Some(GcUse::default()));
    }
}
