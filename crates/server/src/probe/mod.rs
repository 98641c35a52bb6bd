//! What the servers and the host did meanwhile.

mod canary;
mod host;
mod tree;

pub use canary::canary_ns;
pub use host::{HostSampler, host_facts};
pub use tree::{ProcessTree, own_cpu_s};
