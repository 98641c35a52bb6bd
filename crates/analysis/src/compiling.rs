//! Are a server's compilers at work? By the JVM's own counters, where it publishes them.

use model::Sample;

use crate::metrics;

/// Seconds of compiling for each second of the server's CPU time, above which its compilers are at work.
pub const BUSY_SHARE: f64 = 0.1;
/// Seconds of compiling in each second, by the clock, that are too little to matter, however little the server does.
pub const BUSY_CORES: f64 = 0.05;

/// What a server compiled and used, over some seconds of load.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Compiling {
    /// Compiling, seconds by the clock, summed over compiler threads. A compilation counts where it ends.
    pub jit_s: f64,
    /// CPU time of the server, its compilers included, seconds.
    pub cpu_s: f64,
    /// Load, seconds.
    pub load_s: f64,
}

impl Compiling {
    /// That of a sample; `None` where the server publishes nothing of its compilers.
    pub fn of(sample: &Sample) -> Option<Self> {
        let jit_s = metrics::jit_s(sample)?;
        Some(Self { jit_s, cpu_s: sample.server.as_ref()?.cpu_s, load_s: sample.length_s })
    }

    /// That of all of these; nothing of none.
    pub(crate) fn sum(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().fold(Self::default(), |sum, more| Self {
            jit_s: sum.jit_s + more.jit_s,
            cpu_s: sum.cpu_s + more.cpu_s,
            load_s: sum.load_s + more.load_s,
        })
    }

    /// Seconds of compiling for each second of CPU time; `None` where no CPU time was seen.
    pub(crate) fn share(self) -> Option<f64> {
        (self.cpu_s > 0.0).then(|| self.jit_s / self.cpu_s)
    }

    /// Seconds of compiling in each second of load; `None` without load.
    pub(crate) fn cores(self) -> Option<f64> {
        (self.load_s > 0.0).then(|| self.jit_s / self.load_s)
    }

    /// Whether compilers take more than a tenth of what the server uses, and more than 0.05 s a second.
    pub fn is_busy(self) -> bool {
        self.share().is_some_and(|share| share > BUSY_SHARE) && self.cores().is_some_and(|cores| cores > BUSY_CORES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_busy_by_share_and_by_the_clock() {
        let is_busy = |jit_s, cpu_s| Compiling { jit_s, cpu_s, load_s: 1.0 }.is_busy();
        assert!(is_busy(0.2, 1.9) && is_busy(0.9, 1.9));
        assert!(!is_busy(0.18, 1.9) && !is_busy(0.0, 1.9));
        assert!(!is_busy(0.04, 0.1), "too little to matter");
        assert!(!Compiling::sum([]).is_busy());
    }
}
