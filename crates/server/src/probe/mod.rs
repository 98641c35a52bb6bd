//! What the servers and the host did meanwhile.

mod canary;
pub(crate) mod gc_log;
mod host;
mod hsperfdata;
mod jvm;
mod ruby_gc;
mod server;
mod throttle;
mod tree;

pub use canary::canary_ns;
pub use host::{HostSampler, host_facts};
pub use ruby_gc::{PROBE as RUBY_GC_PROBE, ruby_gc};
pub use server::ServerSampler;
pub use tree::{ProcessTree, own_cpu_s};

/// A server that has this in its environment, with the value `off`, is sampled for its CPU time only and writes no log of
/// its collections: for measuring what the probes cost (`bench/run.sh probes`), and for nothing else.
const SWITCH: &str = "BAKEOFF_PROBES";

/// Whether a server with this environment has all probes.
pub(crate) fn wanted(env: &indexmap::IndexMap<String, String>) -> bool {
    env.get(SWITCH).is_none_or(|value| value != "off")
}
