//! The garbage collection log of a JVM: single pauses, heap in use after a collection, allocation.
//!
//! Lines of unified logging (JDK 9 and later) at the level `info`, whatever decorates them:
//!
//! ```text
//! [81704110662ns][gc          ] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 120M->6M(200M) 3.168ms
//! ```

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::GcUse;
use model::jvm::{GC_LOG, gc_log_option};

use crate::attach;
use crate::proc;
use crate::runtime::Installed;
use crate::serving::LiveJvm;

/// The first Java with unified logging.
const FIRST_RELEASE: u32 = 9;

/// By which a study says that it wants no log at all.
const NONE_WANTED: &str = "-Xlog:disable";

/// How long a running JVM may take to begin one.
const BEGUN_WITHIN: Duration = Duration::from_secs(10);

/// Read at once at most; what is left is read a second later.
const MOST: u64 = 64 << 20;

/// Where the JVM of a trial writes its log.
pub(crate) fn path(trial_dir: &Path) -> PathBuf {
    trial_dir.join(GC_LOG)
}

/// The option that makes it write one, the same for every variant; none where the study's own options name the file, for
/// a JVM that has no such option, and for a folder whose name the option cannot hold. What else the study logs stays as
/// it is, and goes before: its `-Xlog:disable` takes this log away, too.
pub(crate) fn option(installed: &Installed, options: &[String], trial_dir: &Path) -> Option<String> {
    installed.jvm.as_ref().filter(|jvm| jvm.jdk.major().is_some_and(|major| major >= FIRST_RELEASE))?;
    let path = holdable(trial_dir)?;
    let is_theirs = options.iter().any(|option| option.contains(&path));
    (!is_theirs).then(|| gc_log_option(&path))
}

/// Has a JVM that runs write the same from now on, where it writes none yet: one that a start script has launched was given no
/// option of ours. Costs the server what any question by `jcmd` does. One that cannot be asked, or that cannot write there, has no log.
pub(crate) fn begin(jvm: &LiveJvm, trial_dir: &Path, interrupted: &AtomicBool) {
    let environment = proc::environment(jvm.pid).unwrap_or_default().into_iter().map(|(_, value)| value);
    let none_is_wanted =
        proc::command_line(jvm.pid).into_iter().chain(environment).any(|text| text.contains(NONE_WANTED));
    let has_logging = jvm.major().is_some_and(|major| major >= FIRST_RELEASE);
    if path(trial_dir).exists() || none_is_wanted || !has_logging {
        return;
    }
    if let (Some(path), Ok(jdk)) = (holdable(trial_dir), jvm.jdk()) {
        let output = format!("output=\"{path}\"");
        let question = ["VM.log", &output, "what=gc*", "decorators=tn,tags", "output_options=filecount=0"];
        // Whether it went well is seen by the file.
        let _ = attach::ask(jdk, jvm.pid, &question, BEGUN_WITHIN, interrupted);
    }
}

/// The file's name, where an option can hold it.
fn holdable(trial_dir: &Path) -> Option<String> {
    Some(path(trial_dir).display().to_string()).filter(|path| !path.contains([':', '%', '"', ',']))
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
            self.log.line(line, &mut used);
        }
        Some(used)
    }
}

/// What has to be remembered between lines.
#[derive(Debug, Default)]
struct Log {
    /// Numbers of the collections that have the world stopped: one may stand inside another.
    open: HashSet<u64>,
    /// Heap, or with ZGC its young part, in use after the last collection, bytes.
    left: Option<u64>,
    /// With ZGC: the part in use as this collection began and as it ended, bytes.
    used: Option<(u64, u64)>,
}

impl Log {
    fn line(&mut self, line: &str, used: &mut GcUse) {
        let Some((number, message)) = message(line) else { return };
        // ZGC with generations says which it is about: the old one is collected while the young one is.
        let (generation, message) = match message.split_once(": ") {
            Some((generation @ ("y" | "Y" | "o" | "O"), rest)) => (generation, rest.trim_start()),
            _ => ("", message.trim_start()),
        };
        if message.starts_with("Pause ") {
            self.pause(number, message, used);
        }
        if matches!(generation, "o" | "O") {
            return;
        }
        if let Some(row) = message.strip_prefix("Used:") {
            let sizes: Vec<u64> = row.split_whitespace().filter_map(size).collect();
            // Of all pages: as marking started, as it ended, as relocation started and ended.
            self.used = sizes.first().copied().zip(sizes.get(3).copied());
        } else if let Some(row) = message.strip_prefix("Allocated:") {
            let meanwhile = row.split_whitespace().filter_map(size).next_back().unwrap_or_default();
            if let Some((before, after)) = self.used.take() {
                self.collected(before, after, used);
                used.allocated_bytes += meanwhile;
            }
        } else if let Some((before, after)) = change(message) {
            if is_of_all(message) {
                used.heap_after_bytes = Some(after);
            }
            if message.starts_with("Pause ") || message.starts_with("Concurrent cleanup ") {
                used.heap_after_bytes = Some(after);
                self.collected(before, after, used);
            }
        }
    }

    fn pause(&mut self, number: u64, message: &str, used: &mut GcUse) {
        let milliseconds = message.rsplit(' ').next().and_then(|last| last.strip_suffix("ms")?.parse::<f64>().ok());
        let Some(milliseconds) = milliseconds else {
            self.open.insert(number);
            return;
        };
        self.open.remove(&number);
        if self.open.is_empty() {
            used.pauses_s.push(milliseconds / 1e3);
        }
    }

    /// What is in use now and was not after the collection before has been allocated.
    fn collected(&mut self, before: u64, after: u64, used: &mut GcUse) {
        used.allocated_bytes += self.left.map_or(0, |left| before.saturating_sub(left));
        self.left = Some(after);
    }
}

/// ZGC's last line of a collection, which is about all of the heap.
fn is_of_all(message: &str) -> bool {
    ["Garbage Collection ", "Minor Collection ", "Major Collection "].iter().any(|start| message.starts_with(start))
}

/// The number of the collection that a line is about, and what it says.
fn message(line: &str) -> Option<(u64, &str)> {
    let (_, rest) = line.split_once("] GC(")?;
    let (number, message) = rest.split_once(") ")?;
    Some((number.parse().ok()?, message))
}

/// `120M->6M` as bytes before and after.
fn change(message: &str) -> Option<(u64, u64)> {
    let (before, after) = message.split(' ').find_map(|word| word.split_once("->"))?;
    Some((size(before)?, size(after)?))
}

/// `120M`, with or without parentheses after it, as bytes.
fn size(text: &str) -> Option<u64> {
    let text = text.split('(').next()?;
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let shift = match &text[unit..] {
        "B" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    text[..unit].parse::<u64>().ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn read(lines: &[&str]) -> GcUse {
        let (mut log, mut used) = (Log::default(), GcUse::default());
        for line in lines {
            log.line(line, &mut used);
        }
        used
    }

    #[test]
    fn pauses_heap_and_allocation() {
        let used = read(&[
            "[1ns][gc,start    ] GC(3) Pause Young (Normal) (G1 Evacuation Pause)",
            "[2ns][gc,heap     ] GC(3) Eden regions: 116->0(114)",
            "[3ns][gc          ] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 120M->6M(200M) 3.168ms",
            "[4ns][gc,start    ] GC(4) Pause Remark",
            "[5ns][gc          ] GC(4) Pause Remark 96M->90M(200M) 1.500ms",
            "[6ns][gc          ] GC(4) Concurrent Mark Cycle 20.000ms",
        ]);
        assert_eq!(used.pauses_s, [3.168 / 1e3, 1.5 / 1e3]);
        assert_eq!((used.heap_after_bytes, used.allocated_bytes), (Some(90 * MIB), 90 * MIB));
    }

    /// Serial collects all where a young collection did not do; the default decorations have a level.
    #[test]
    fn a_pause_inside_another_is_not_counted_twice() {
        let used = read(&[
            "[0.1s][info][gc,start    ] GC(4) Pause Young (Allocation Failure)",
            "[0.1s][info][gc,start    ] GC(5) Pause Full (Allocation Failure)",
            "[0.1s][info][gc,phases   ] GC(5) Phase 1: Mark live objects 2.000ms",
            "[0.2s][info][gc          ] GC(5) Pause Full (Allocation Failure) 18M->9M(19M) 8.000ms",
            "[0.2s][info][gc          ] GC(4) Pause Young (Allocation Failure) 18M->9M(19M) 9.000ms",
        ]);
        assert_eq!(used.pauses_s, [0.009]);
    }

    #[test]
    fn z_allocates_while_it_collects() {
        let used = read(&[
            "[gc,phases   ] GC(4) y: Pause Mark Start 0.008ms",
            "[gc,heap     ] GC(4) y:      Used:      106M (53%)        114M (57%)        112M (56%)          22M (11%)         114M (57%)      ",
            "[gc,heap     ] GC(4) y: Young Generation Statistics:",
            "[gc,heap     ] GC(4) y:      Used:      102M (51%)        110M (55%)        108M (54%)          18M (9%)     ",
            "[gc,heap     ] GC(4) y: Allocated:         -                 8M (4%)            8M (4%)           10M (5%)     ",
            "[gc          ] GC(4) Minor Collection (Allocation Rate) 106M(53%)->22M(11%) 0.003s",
            "[gc,heap     ] GC(5) O:      Used:       70M (51%)         70M (55%)         70M (54%)          60M (9%)     ",
            "[gc,heap     ] GC(5) O: Allocated:         -                 1M (4%)            1M (4%)            1M (5%)     ",
            "[gc,heap     ] GC(6) y:      Used:      118M (51%)        120M (55%)        110M (54%)          20M (9%)     ",
            "[gc,heap     ] GC(6) y: Allocated:         -                 2M (4%)            2M (4%)            3M (5%)     ",
        ]);
        assert_eq!(used.pauses_s, [0.000_008]);
        // 10 MiB in the first collection, 100 between the two, 3 in the second.
        assert_eq!((used.heap_after_bytes, used.allocated_bytes), (Some(22 * MIB), 113 * MIB));
    }

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
        assert_eq!((used.pauses_s.len(), used.allocated_bytes), (1, 52 * MIB));
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
