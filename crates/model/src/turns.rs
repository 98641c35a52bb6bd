//! Turns: side by side, each launch of a block is loaded for a slice at a time, while the others wait.

use serde::{Deserialize, Serialize};

/// One turn of a launch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// The round, counted over all loads of the block: each of its launches has one slice in it.
    pub round: u32,
    /// When it began, seconds since the block's first launch was begun.
    pub began_s: f64,
    /// Its length, seconds of load, its drain apart.
    pub length_s: f64,
    /// How long its last requests were waited for after its end, seconds.
    pub drain_s: f64,
    /// How late the client noticed its end, seconds: it stood still.
    pub late_s: f64,
    /// Connections that the server had ended since the slice before, and that had to be made again.
    pub lost_connections: u32,
    /// What the launch did since its slice before; absent before its first.
    pub waited: Option<Waited>,
}

/// What a launch used while it waited for its turn and nothing was asked of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Waited {
    /// How long it waited, seconds.
    pub elapsed_s: f64,
    /// CPU time of its process tree, seconds: next to nothing, since it is stopped meanwhile.
    pub cpu_s: f64,
}
