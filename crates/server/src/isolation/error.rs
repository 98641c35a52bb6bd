//! Why processes cannot be kept apart.

use std::io;

use thiserror::Error;

/// Why processes cannot be kept apart as the study asks.
#[derive(Debug, Error)]
pub enum IsolationError {
    /// The processors cannot be had.
    #[error(
        "processors {cpus:?} of [host] cannot be used here: {source}; `nproc` and `taskset -p $$` say which there are"
    )]
    Cpus {
        /// By number.
        cpus: Vec<usize>,
        /// The kernel's reason.
        source: io::Error,
    },
    /// No control group could be made, or it does not take the limit.
    #[error(
        "`limits` cannot be kept here: {place}: {source}; run as root on a host whose control groups have this controller (in version 2: in cgroup.subtree_control of the group above all)"
    )]
    Limits {
        /// The file or folder.
        place: String,
        /// The kernel's reason.
        source: io::Error,
    },
    /// No network of our own.
    #[error(
        "a network of its own (`[host] network = \"own\"`) cannot be made for a trial: {source}; it takes root, or a user namespace (unshare -Ur)"
    )]
    Network {
        /// The kernel's reason.
        source: io::Error,
    },
}
