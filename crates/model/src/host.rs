//! The machine that a study ran on.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kernel's way by which a client moves its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// epoll(7): everywhere.
    #[default]
    Epoll,
    /// `io_uring(7)`: where kernel and container allow it.
    IoUring,
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Epoll => "epoll",
            Self::IoUring => "io_uring",
        })
    }
}

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
    /// How the client moves its bytes here; absent where that was not found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// What the client measures here of a server that does next to nothing; absent where that was not found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<ClientFloor>,
}

/// Cloud machines that run at full speed only while their credit of CPU time lasts, and how far their firmware names them.
struct Provider {
    /// What the firmware calls the machine, begins with this.
    machine: &'static str,
    /// The beginnings of the names of such types.
    burstable: &'static [&'static str],
    /// What people call them.
    called: &'static str,
    /// Whether the firmware names the type.
    tells: bool,
}

/// Types by the providers' own pages:
/// <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-performance-instances.html>,
/// <https://learn.microsoft.com/azure/virtual-machines/sizes/general-purpose/b-family>,
/// <https://cloud.google.com/compute/docs/general-purpose-machines#sharedcore>. The vendor and product names of the firmware (DMI)
/// hold the type on Amazon's Nitro machines only; its older ones (t1, t2) run on Xen, and Azure and Google name themselves and no
/// type.
const PROVIDERS: [Provider; 4] = [
    Provider {
        machine: "Amazon EC2",
        burstable: &["t1.", "t2.", "t3.", "t3a.", "t4g."],
        called: "t1, t2, t3, t3a and t4g",
        tells: true,
    },
    Provider { machine: "Xen HVM domU", burstable: &["t1.", "t2."], called: "Amazon's t1 and t2", tells: false },
    Provider {
        machine: "Microsoft Corporation Virtual Machine",
        burstable: &["Standard_B"],
        called: "the B series of Azure",
        tells: false,
    },
    Provider {
        machine: "Google",
        burstable: &["e2-micro", "e2-small", "e2-medium", "f1-micro", "g1-small"],
        called: "e2-micro, e2-small, e2-medium, f1-micro and g1-small",
        tells: false,
    },
];

/// What a machine's name says about its speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Burst {
    /// It is fast only while its credit of CPU time lasts.
    Burstable,
    /// It may be: these types of its provider are, and the firmware does not say which one it is.
    Unknown(&'static str),
    /// It is none that is known to be.
    No,
}

/// Whether a machine, named by [`HostFacts::machine`], is of a burstable type.
pub fn burst(machine: &str) -> Burst {
    let Some(provider) = PROVIDERS.iter().find(|provider| machine.starts_with(provider.machine)) else {
        return Burst::No;
    };
    let is_burstable = |word: &str| provider.burstable.iter().any(|family| word.starts_with(family));
    if machine.split_whitespace().any(is_burstable) {
        Burst::Burstable
    } else if provider.tells {
        Burst::No
    } else {
        Burst::Unknown(provider.called)
    }
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

/// Somebody else's program that used the host's processors, with all that it had started and all that had started it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NoisyNeighbour {
    /// The program's name as the kernel has it, at most 15 bytes.
    pub name: String,
    /// The process id that it had.
    pub pid: u32,
    /// Cores that all of them used together.
    pub cores: f64,
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
    /// The busiest of them; of whole launches only, and absent where none is worth a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noisy_neighbour: Option<NoisyNeighbour>,
    /// Cores used by the study's services; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub services_cores: Option<f64>,
    /// Cores used by the launches that waited for their turn, their services included; absent one after another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_cores: Option<f64>,
    /// Memory that the host swapped in and out, bytes; of whole launches only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapped_bytes: Option<u64>,
    /// Seconds this control group was throttled by its CPU quota.
    pub throttled_s: f64,
    /// How busy each logical processor was, 0..=1 to two decimals, in the kernel's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_core: Vec<f64>,
    /// Part of the time that some task of the host waited for a processor, 0..=1 (PSI, `some`); absent where the kernel
    /// does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<f64>,
    /// Clock frequency at the end, MHz, the mean of the cores weighted by how busy they were; absent where it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mhz: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burstable_machine_is_known_as_far_as_its_firmware_tells() {
        for machine in ["Amazon EC2 t3.micro", "Amazon EC2 t4g.large", "Amazon EC2 t3a.nano"] {
            assert_eq!(burst(machine), Burst::Burstable, "{machine}");
        }
        for machine in ["Amazon EC2 m5.large", "Amazon EC2 trn1.2xlarge", "Dell Inc. t3.x", "Xen 4.17", ""] {
            assert_eq!(burst(machine), Burst::No, "{machine}");
        }
        let unreported = |machine| match burst(machine) {
            Burst::Unknown(types) => types,
            reported => panic!("{machine}: {reported:?}"),
        };
        assert!(unreported("Google Google Compute Engine").contains("e2-micro"));
        assert!(unreported("Microsoft Corporation Virtual Machine").contains("B series"));
        assert!(unreported("Xen HVM domU").contains("t2"));
        assert_eq!(burst("Microsoft Corporation Virtual Machine Standard_B2s"), Burst::Burstable);
        assert_eq!(burst("Google Google Compute Engine e2-small"), Burst::Burstable);
    }
}
