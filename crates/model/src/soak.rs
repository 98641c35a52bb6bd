//! A soak: one launch of a variant under one load for hours, and what was seen of it. It compares nothing, and belongs to no verdict.

use serde::{Deserialize, Serialize};

use crate::trial::is_zero;
use crate::{FailedTearDowns, Histogram, LaunchFacts, Outcome, Setting, Tally, VariantIndex};

/// A soak of one variant, as far as it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SoakRecord {
    /// What was launched.
    pub variant: VariantIndex,
    /// When it began, RFC 3339.
    pub started: String,
    /// How it ended; absent while it runs, and where it was interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// What is known of the server; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<LaunchFacts>,
    /// Settings read back from the running process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// How long it was warmed up, seconds.
    #[serde(default)]
    pub warm_up_s: f64,
    /// When the warm-up's rule found it steady, seconds since the warm-up began; absent if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_at_s: Option<f64>,
    /// Heap of its JVM in use after a collection of all of it that was asked for, before the load and after it, bytes.
    #[serde(default)]
    pub whole_heap_bytes: [Option<u64>; 2],
    /// As [`TrialRecord::oom_kills`](crate::TrialRecord::oom_kills).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub oom_kills: u64,
    /// As [`TrialRecord::failed_tear_downs`](crate::TrialRecord::failed_tear_downs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_tear_downs: Option<FailedTearDowns>,
    /// What was seen, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<SoakWindow>,
}

impl SoakRecord {
    /// One that begins.
    pub fn new(variant: VariantIndex, started: String) -> Self {
        Self {
            variant,
            started,
            outcome: None,
            launch: None,
            settings: Vec::new(),
            warm_up_s: 0.0,
            steady_at_s: None,
            whole_heap_bytes: [None; 2],
            oom_kills: 0,
            failed_tear_downs: None,
            windows: Vec::new(),
        }
    }

    /// How long it was loaded, seconds.
    pub fn seconds(&self) -> f64 {
        self.windows.last().map_or(0.0, |last| last.start_s + last.length_s)
    }
}

/// What was seen in a window of a soak.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SoakWindow {
    /// Start, seconds since the load began.
    pub start_s: f64,
    /// Length, seconds.
    pub length_s: f64,
    /// How requests that ended in it ended.
    pub tally: Tally,
    /// What users waited for good answers ([`Sample::latency`](crate::Sample::latency)).
    pub latency: Histogram,
    /// The server's use, where it could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<SoakUse>,
    /// Cores that others than the server, its services and bakeoff used, mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cores: Option<f64>,
    /// Cores that the host's own host took away, mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_cores: Option<f64>,
}

/// What a server's whole process tree used in a window, and held at its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SoakUse {
    /// CPU time, seconds.
    pub cpu_s: f64,
    /// Resident memory, bytes. Pages that processes share count in each of them.
    pub rss_bytes: u64,
    /// Threads.
    pub threads: u32,
    /// What it held open; absent where it could not be read, or was not read in this window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// Its JVM's collections, where its log is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap: Option<SoakHeap>,
    /// Processes of it that ended in the window.
    #[serde(default, skip_serializing_if = "is_none")]
    pub ended: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

/// What processes hold open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Open file descriptors.
    pub descriptors: u32,
    /// TCP connections of theirs, either way, those that the other side has closed included.
    pub connections: u32,
}

/// What a JVM's collections left and took in a window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SoakHeap {
    /// Heap in use after the last collection, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bytes: Option<u64>,
    /// Heap in use after the last collection that took the old generation, or all, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_bytes: Option<u64>,
    /// Time of all pauses, seconds.
    pub paused_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_not_stored() {
        let window = SoakWindow { length_s: 1.0, server: Some(SoakUse::default()), ..SoakWindow::default() };
        let text = serde_json::to_string(&window).unwrap();
        assert!(!["held", "heap", "ended", "steal"].iter().any(|name| text.contains(name)), "{text}");
        assert_eq!(serde_json::from_str::<SoakWindow>(&text).unwrap(), window);
    }
}
