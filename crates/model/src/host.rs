//! The machine that a study ran on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Engine;

/// What does not change during a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Operating system, as its release file names it.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// Logical processors this process may use.
    pub cpus: u32,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Maker and product as the firmware names them, such as `Amazon EC2 t3.micro`; absent where it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// How the client moves its bytes here; absent in records of versions that knew one way only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// What the client measures here of a server that does next to nothing; absent in records of versions that did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<ClientFloor>,
}

/// What the client measures on a host of a server that does next to nothing, on the host itself: no server is seen to be
/// faster than this.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientFloor {
    /// Median service time of one user, µs.
    pub p50_us: u64,
    /// Its 99th percentile, µs.
    pub p99_us: u64,
    /// Answers per second to many users at once; the server took its share of the processors.
    pub rate: f64,
    /// How many.
    pub users: u32,
    /// Cores that the client used meanwhile.
    pub client_cores: f64,
}

/// What the host did beside the study during a span of time. CPU figures are in cores: 1.0 = one core all the time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostUse {
    /// Length of the span, seconds.
    pub elapsed_s: f64,
    /// Cores busy, whoever used them.
    pub busy_cores: f64,
    /// Cores the hypervisor gave to somebody else although we wanted them (steal).
    pub steal_cores: f64,
    /// Cores used by processes that are neither the server, its services nor ourselves.
    pub others_cores: f64,
    /// Seconds this control group was throttled by its CPU quota.
    pub throttled_s: f64,
    /// How busy each logical processor was, 0..=1 to two decimals, in the kernel's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_core: Vec<f64>,
    /// Part of the time that some task of the host waited for a processor, 0..=1 (PSI, `some`); absent where the kernel
    /// does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// Clock frequency at the end, MHz, the mean of the cores weighted by how busy they were; absent where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mhz: Option<f64>,
}
