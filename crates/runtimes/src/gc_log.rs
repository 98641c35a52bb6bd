//! The log of a JVM's collections: how it is had, and how it reads.
//!
//! Lines of unified logging at the level `info`, whatever decorates them:
//!
//! ```text
//! [81704110662ns][gc          ] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 120M->6M(200M) 3.168ms
//! ```

use std::collections::HashSet;

/// The first Java with unified logging.
const FIRST_RELEASE: u32 = 9;

/// By which options say that no log at all is wanted.
const NONE_WANTED: &str = "-Xlog:disable";

/// Name of the log's file in the trial's folder.
pub const FILE: &str = "gc.log";

/// Whether a Java of this number can log its collections so.
pub fn is_known_to(java: Option<u32>) -> bool {
    java.is_some_and(|java| java >= FIRST_RELEASE)
}

/// The option by which a JVM writes its collections into `file`, the same for every variant and never part of a treatment.
///
/// Not rotated: whoever reads along would lose the place. `tn` is the kernel's monotonic clock.
pub fn option(file: &str) -> String {
    format!("-Xlog:gc*:file={file}:tn,tags:filecount=0")
}

/// The same by `jcmd`, of a JVM that runs.
pub fn question(file: &str) -> [String; 5] {
    let output = format!("output=\"{file}\"");
    ["VM.log", &output, "what=gc*", "decorators=tn,tags", "output_options=filecount=0"].map(str::to_owned)
}

/// Whether option and question can hold the name of a file.
pub fn can_hold(file: &str) -> bool {
    !file.contains([':', '%', '"', ','])
}

/// Whether a text of options says that no log is wanted.
pub fn is_unwanted(options: &str) -> bool {
    options.contains(NONE_WANTED)
}

/// What a line says of the JVM's memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GcEvent {
    /// All threads were stopped for this long, seconds.
    Pause(f64),
    /// The heap in use after a collection, bytes.
    HeapAfter(u64),
    /// The same after one that took the old generation too, or all: young ones leave old garbage where it is.
    LiveAfter(u64),
    /// What was allocated between two collections, bytes.
    Allocated(u64),
}

/// What has to be remembered between lines.
#[derive(Debug, Default)]
pub struct Log {
    /// Numbers of the collections that have the world stopped: one may stand inside another.
    open: HashSet<u64>,
    /// Heap, or with ZGC its young part, in use after the last collection, bytes.
    left: Option<u64>,
    /// With ZGC: the part in use as this collection began and as it ended, bytes.
    used: Option<(u64, u64)>,
    /// With G1: marking has freed whole regions since the last young collection, which says nothing of the old ones.
    swept: bool,
}

impl Log {
    /// What a line of the log says, in this order.
    pub fn line(&mut self, line: &str) -> Vec<GcEvent> {
        let mut seen = Vec::new();
        self.read(line, &mut seen);
        seen
    }

    fn read(&mut self, line: &str, seen: &mut Vec<GcEvent>) {
        let Some((number, message)) = message(line) else { return };
        // ZGC with generations says which it is about: the old one is collected while the young one is.
        let (generation, message) = match message.split_once(": ") {
            Some((generation @ ("y" | "Y" | "o" | "O"), rest)) => (generation, rest.trim_start()),
            _ => ("", message.trim_start()),
        };
        if message.starts_with("Pause ") {
            self.pause(number, message, seen);
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
                self.collected(before, after, seen);
                seen.push(GcEvent::Allocated(meanwhile));
            }
        } else if let Some((before, after)) = change(message) {
            if is_of_all(message) {
                seen.push(GcEvent::HeapAfter(after));
            }
            if self.leaves_live(message) {
                seen.push(GcEvent::LiveAfter(after));
            }
            if message.starts_with("Pause ") || message.starts_with("Concurrent cleanup ") {
                seen.push(GcEvent::HeapAfter(after));
                self.collected(before, after, seen);
            }
        }
    }

    fn pause(&mut self, number: u64, message: &str, seen: &mut Vec<GcEvent>) {
        let milliseconds = message.rsplit(' ').next().and_then(|last| last.strip_suffix("ms")?.parse::<f64>().ok());
        let Some(milliseconds) = milliseconds else {
            self.open.insert(number);
            return;
        };
        self.open.remove(&number);
        if self.open.is_empty() {
            seen.push(GcEvent::Pause(milliseconds / 1e3));
        }
    }

    /// Whether what this collection leaves is little else than what the program holds. G1 takes old regions in mixed collections; where marking
    /// has freed all that is worth it, none follows, and the next young collection shows what is left.
    fn leaves_live(&mut self, message: &str) -> bool {
        if message.starts_with("Pause Cleanup") {
            self.swept = true;
            return false;
        }
        let is_young = message.starts_with("Pause Young");
        let follows_marking = is_young && std::mem::take(&mut self.swept);
        follows_marking
            || is_young && message.contains("(Mixed)")
            || ["Pause Full", "Garbage Collection ", "Major Collection ", "Concurrent cleanup "]
                .iter()
                .any(|start| message.starts_with(start))
    }

    /// What is in use now and was not after the collection before has been allocated.
    fn collected(&mut self, before: u64, after: u64, seen: &mut Vec<GcEvent>) {
        seen.push(GcEvent::Allocated(self.left.map_or(0, |left| before.saturating_sub(left))));
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

    #[derive(Default)]
    struct Used {
        pauses_s: Vec<f64>,
        heap_after_bytes: Option<u64>,
        live_bytes: Vec<u64>,
        allocated_bytes: u64,
    }

    fn read(lines: &[&str]) -> Used {
        let (mut log, mut used) = (Log::default(), Used::default());
        for seen in lines.iter().flat_map(|line| log.line(line)) {
            match seen {
                GcEvent::Pause(seconds) => used.pauses_s.push(seconds),
                GcEvent::HeapAfter(bytes) => used.heap_after_bytes = Some(bytes),
                GcEvent::LiveAfter(bytes) => used.live_bytes.push(bytes),
                GcEvent::Allocated(bytes) => used.allocated_bytes += bytes,
            }
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
        assert_eq!(used.live_bytes, [9 * MIB]);
    }

    #[test]
    fn what_the_program_holds_is_seen_where_the_old_generation_was_taken() {
        let used = read(&[
            "[gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 120M->60M(200M) 3.168ms",
            "[gc] GC(2) Pause Remark 96M->80M(200M) 1.500ms",
            "[gc] GC(2) Pause Cleanup 80M->80M(200M) 0.100ms",
            "[gc] GC(3) Pause Young (Prepare Mixed) (G1 Evacuation Pause) 90M->50M(200M) 3.168ms",
            "[gc] GC(4) Pause Young (Mixed) (G1 Evacuation Pause) 90M->30M(200M) 3.168ms",
            "[gc] GC(5) Pause Young (Normal) (G1 Evacuation Pause) 90M->35M(200M) 3.168ms",
            "[gc] GC(6) Pause Full (System.gc()) 90M->20M(200M) 30.168ms",
            "[gc] GC(7) Minor Collection (Allocation Rate) 106M(53%)->22M(11%) 0.003s",
            "[gc] GC(8) Major Collection (Proactive) 106M(53%)->12M(6%) 0.013s",
        ]);
        assert_eq!(used.live_bytes, [50, 30, 20, 12].map(|size| size * MIB));
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
}
