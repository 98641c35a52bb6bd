//! What a plan comes to, known before anything of it has run.

use std::ops::Range;
use std::time::Duration;

use crate::Reach;

/// What a plan takes, and what it can show.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// Least and most time until the answer is known.
    pub time: Range<Duration>,
    /// What the run's own time shows, and what more time would: each `smallest` is in standard deviations of a block's difference, which is
    /// not known yet.
    pub reach: Vec<Reach>,
    /// About how long one profiling run takes; `None` where none are planned.
    pub profiling: Option<Duration>,
    /// The time in which the profiling runs have room, where the run's own may leave none.
    pub enough_for_profiling: Option<Duration>,
}
