//! What a Java virtual machine did during a sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Read from outside the process: its counters and its garbage collection log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmUse {
    /// By its counters; absent where it publishes none (`-XX:-UsePerfData`, `-XX:+PerfDisableSharedMem`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<JvmCounters>,
    /// By its log; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<GcUse>,
}

/// What its performance counters (`hsperfdata`) say of a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JvmCounters {
    /// The collectors that worked, each with how often and how long.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collectors: Vec<CollectorUse>,
    /// Time in which all threads were stopped, for collections or anything else, seconds.
    pub safepoint_s: f64,
    /// Time of the compilations that ended in it and succeeded, seconds by the clock, summed over the compiler threads: where these wait
    /// for a processor they use less of it (`java.ci.totalTime`).
    pub jit_s: f64,
    /// Java threads at its end.
    pub threads: u32,
    /// Classes loaded in it, from archives as well.
    pub classes: u64,
}

/// One of the collectors of a virtual machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CollectorUse {
    /// As it calls itself, such as `G1 young collection pauses`.
    pub name: String,
    /// Its collections.
    pub count: u64,
    /// Their time, seconds.
    pub time_s: f64,
}

/// What the garbage collection log says of a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GcUse {
    /// Length of each pause that ended in it, seconds, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses_s: Vec<f64>,
    /// Heap in use after its last collection, bytes; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_after_bytes: Option<u64>,
    /// Heap in use after its last collection that took the old generation too, or all, bytes: little else than what the program
    /// holds. Absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live_bytes: Option<u64>,
    /// Allocated between the collections that are known by its end, bytes.
    pub allocated_bytes: u64,
}

impl GcUse {
    /// Time of all pauses, seconds.
    pub fn paused_s(&self) -> f64 {
        self.pauses_s.iter().sum()
    }
}
