//! The counters that a JVM publishes in a file, `hsperfdata_USER/PID`: read without its noticing, the same on JDK 17 and 25.
//!
//! The format is no formal interface, but has been the same since JDK 1.4.2 (`sun.jvmstat.perfdata.monitor.v2_0` in the
//! JDK's sources): a prologue of 32 bytes, then entries, each with a name, a type and a value in the JVM's own byte order.
//! `jcmd PerfCounter.print` and `jstat` read the same file.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use model::{CollectorUse, JvmCounters};

/// What a file begins with.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Length of the prologue, bytes.
const PROLOGUE: usize = 32;
/// A JVM has no more collectors than this.
const COLLECTORS: usize = 4;

/// Counters by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Counters {
    numbers: HashMap<String, i64>,
    texts: HashMap<String, String>,
}

/// The file of process `pid`, in the `/tmp` that this process sees.
pub(super) fn file_of(pid: u32) -> Option<PathBuf> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    // In a container it has a number of its own.
    let inside = status.lines().find_map(|line| line.strip_prefix("NSpid:")?.split_whitespace().next_back())?;
    let user = fs::metadata(format!("/proc/{pid}")).ok()?.uid();
    let folders = fs::read_dir(format!("/proc/{pid}/root/tmp")).ok()?.flatten();
    let folders = folders.filter(|folder| folder.file_name().to_string_lossy().starts_with("hsperfdata_"));
    // A folder of another user's may hold what a process with the same number has left.
    let own = folders.filter(|folder| folder.metadata().is_ok_and(|folder| folder.uid() == user));
    own.map(|folder| folder.path().join(inside)).find(|file| file.is_file())
}

impl Counters {
    /// `None` when these are no counters, or of a version that is not known.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (prologue, _) = bytes.split_at_checked(PROLOGUE)?;
        let is_little = prologue[4] == 1;
        if prologue[..4] != MAGIC || prologue[5] != 2 {
            return None;
        }
        let int = |at: usize| -> Option<usize> {
            let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
            let value = if is_little { i32::from_le_bytes(bytes) } else { i32::from_be_bytes(bytes) };
            value.try_into().ok()
        };
        let long = |at: usize| -> Option<i64> {
            let bytes = bytes.get(at..at + 8)?.try_into().ok()?;
            Some(if is_little { i64::from_le_bytes(bytes) } else { i64::from_be_bytes(bytes) })
        };
        let text = |at: usize, most: usize| -> Option<String> {
            let bytes = bytes.get(at..)?;
            let end = bytes.iter().take(most).position(|byte| *byte == 0).unwrap_or(most.min(bytes.len()));
            Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
        };
        let mut counters = Self::default();
        let mut entry = int(24)?;
        for _ in 0..int(28)? {
            let (length, name, vector) = (int(entry)?, int(entry + 4)?, int(entry + 8)?);
            let (kind, data) = (*bytes.get(entry + 12)?, int(entry + 16)?);
            let name = text(entry + name, 256)?;
            match (kind, vector) {
                (b'J', 0) => drop(counters.numbers.insert(name, long(entry + data)?)),
                (b'B', 1..) => drop(counters.texts.insert(name, text(entry + data, vector)?)),
                _ => {}
            }
            // An entry without a length would never end.
            entry += Some(length).filter(|length| *length > 0)?;
        }
        Some(counters)
    }

    fn number(&self, name: &str) -> i64 {
        self.numbers.get(name).copied().unwrap_or_default()
    }

    fn seconds(&self, name: &str) -> f64 {
        let frequency = self.number("sun.os.hrt.frequency").max(1);
        self.number(name) as f64 / frequency as f64
    }

    /// What was counted since `before`.
    pub fn since(&self, before: &Self) -> JvmCounters {
        let counted = |name: &str| (self.number(name) - before.number(name)).max(0).cast_unsigned();
        let time = |name: &str| (self.seconds(name) - before.seconds(name)).max(0.0);
        let collectors = (0..COLLECTORS).filter_map(|index| {
            let name = self.texts.get(&format!("sun.gc.collector.{index}.name"))?.clone();
            let count = counted(&format!("sun.gc.collector.{index}.invocations"));
            let time_s = time(&format!("sun.gc.collector.{index}.time"));
            (count > 0 || time_s > 0.0).then_some(CollectorUse { name, count, time_s })
        });
        JvmCounters {
            collectors: collectors.collect(),
            safepoint_s: time("sun.rt.safepointTime"),
            jit_s: time("java.ci.totalTime"),
            threads: self.number("java.threads.live").try_into().unwrap_or_default(),
            classes: counted("java.cls.loadedClasses") + counted("java.cls.sharedLoadedClasses"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: u8, vector: u32, data: &[u8]) -> Vec<u8> {
        let name_at = 20;
        let data_at = (name_at + name.len() + 1).next_multiple_of(8);
        let length = (data_at + data.len()).next_multiple_of(8);
        let mut bytes: Vec<u8> = [length as u32, name_at as u32, vector].iter().flat_map(|n| n.to_le_bytes()).collect();
        bytes.extend([kind, 0, 0, 0]);
        bytes.extend((data_at as u32).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(data_at, 0);
        bytes.extend(data);
        bytes.resize(length, 0);
        bytes
    }

    fn file(entries: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 2, 0, 1]);
        bytes.resize(24, 0);
        bytes.extend(32_u32.to_le_bytes());
        bytes.extend((entries.len() as u32).to_le_bytes());
        bytes.extend(entries.concat());
        bytes
    }

    #[test]
    fn what_was_counted_meanwhile_is_a_difference() {
        let at = |collections: i64, time: i64, jit: i64| {
            Counters::parse(&file(&[
                entry("sun.os.hrt.frequency", b'J', 0, &1_000_i64.to_le_bytes()),
                entry("sun.gc.collector.0.name", b'B', 20, b"Serial young\0"),
                entry("sun.gc.collector.0.invocations", b'J', 0, &collections.to_le_bytes()),
                entry("sun.gc.collector.0.time", b'J', 0, &time.to_le_bytes()),
                entry("java.ci.totalTime", b'J', 0, &jit.to_le_bytes()),
                entry("java.threads.live", b'J', 0, &12_i64.to_le_bytes()),
            ]))
            .unwrap()
        };
        let counted = at(7, 900, 5_000).since(&at(4, 400, 2_000));
        let collector = CollectorUse { name: "Serial young".into(), count: 3, time_s: 0.5 };
        assert_eq!((counted.collectors.as_slice(), counted.threads), ([collector].as_slice(), 12));
        assert!((counted.jit_s - 3.0).abs() < 1e-12);
        assert_eq!(at(7, 900, 0).since(&at(7, 900, 0)).collectors, []);
    }

    #[test]
    fn no_bytes_make_it_fail() {
        let whole = file(&[entry("a", b'J', 0, &1_i64.to_le_bytes()), entry("b", b'B', 3, b"xyz")]);
        assert!(Counters::parse(&whole).is_some());
        for cut in 0..whole.len() - 8 {
            assert_eq!(Counters::parse(&whole[..cut]), None, "cut at {cut}");
        }
        for at in 0..whole.len() {
            for byte in [0, 1, 0x7f, 0x80, 0xff] {
                let mut broken = whole.clone();
                broken[at] = byte;
                // Whatever it says, it ends.
                let _ = Counters::parse(&broken);
            }
        }
    }
}
