//! What the servers and the host did meanwhile.

mod canary;
pub(crate) mod gc_log;
mod held;
mod host;
mod hsperfdata;
mod jruby;
mod jvm;
mod memory;
mod others;
mod ruby_gc;
mod server;
mod throttle;
mod tree;
mod watched;

pub use canary::canary_ns;
pub use held::HeldSampler;
pub use host::{HostSampler, host_facts};
pub(crate) use jruby::{MANAGEMENT, jruby_counts};
pub use memory::{Memory, memory};
pub use others::Others;
pub(crate) use ruby_gc::THREAD as RUBY_GC_THREAD;
pub use ruby_gc::{PROBE as RUBY_GC_PROBE, RubyGcs};
pub use server::ServerSampler;
pub use tree::{ProcessTree, own_cpu_s};
pub(crate) use watched::{Watched, watched};
