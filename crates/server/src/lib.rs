//! The servers under test: found, launched, watched, asked what they really run with, and ended.
//!
//! ```text
//! ServerSpec ─ install ─→ Installed        once a run: JDK, Ruby, JRuby found or fetched, sources compiled
//! Installed + Site ─ Launcher ─→ Running   each trial: ports chosen, placeholders replaced, ready or an error
//! Running ─→ LaunchFacts, Setting[], ServerUse per sample, and a sure end
//! ```
//!
//! Synchronous: every call blocks, with a bound.

mod assertion;
mod attach;
mod cgroup;
mod doctor;
mod hash;
mod http;
mod isolation;
mod jmx;
mod launch;
mod library;
mod pause;
mod probe;
mod proc;
mod profiling;
mod runtime;
mod serving;
mod settings;
mod site;
mod supervise;
mod tool;

pub use doctor::examine;
pub use isolation::{IsolationError, Pinned, beyond, own_network, unavailable};
pub use launch::{FailureCause, HOOK_WITHIN, LaunchError, Launcher, Log, Running};
pub use pause::Paused;
pub use probe::{
    HeldSampler, HostSampler, Memory, Others, ProcessTree, RubyGcs, ServerSampler, canary_ns, host_facts, memory,
    own_cpu_s,
};
pub use profiling::{CpuWatch, Recorder};
pub use runtime::{Installed, MavenError, RuntimeError, Toolbox, install, lacking, service_lacking};
pub use site::{Environment, PlaceholderError, Site};
pub use supervise::{Exit, SuperviseError, supervise};
