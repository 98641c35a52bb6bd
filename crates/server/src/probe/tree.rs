//! What a process tree uses.

use std::time::Duration;

use model::ServerUse;
use rustix::time::{ClockId, clock_gettime};

use crate::proc::{self, Process};

/// Samples all that runs below one process. A sample costs one look at each process of the host: made for 1 Hz.
#[derive(Debug, Clone)]
pub struct ProcessTree {
    root: u32,
    cpu_s: f64,
}

impl ProcessTree {
    /// All descendants of `root`, a supervisor, which itself is not counted.
    pub(crate) fn below(root: u32) -> Self {
        let mut tree = Self { root, cpu_s: 0.0 };
        tree.sample();
        tree
    }

    /// The tree's use since the last sample (or since this sampler was made); `None` when nothing of it runs.
    pub fn sample(&mut self) -> Option<ServerUse> {
        let processes = proc::descendants(self.root);
        let cpu_s = self.total(&processes);
        let use_ = ServerUse {
            // A process may have ended while others were being looked at, and its time not be counted until the next.
            cpu_s: (cpu_s - self.cpu_s).max(0.0),
            rss_bytes: processes.iter().map(|process| process.rss_bytes).sum(),
            threads: processes.iter().map(|process| process.threads).sum(),
        };
        self.cpu_s = cpu_s.max(self.cpu_s);
        (!processes.is_empty()).then_some(use_)
    }

    /// Seconds of CPU the tree had used at the last sample, since its start. The ended are included: whoever waited for
    /// them has their time, and orphans fall to the root.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_s
    }

    fn total(&self, processes: &[Process]) -> f64 {
        let ended = Process::read(self.root).map_or(0.0, |root| root.reaped_cpu_s);
        processes.iter().map(|process| process.own_cpu_s + process.reaped_cpu_s).sum::<f64>() + ended
    }
}

/// Seconds of CPU this process has used since its start, and all that it launched and that has ended: helpers, and
/// supervisors with their whole trees. Those that still run have their own [`ProcessTree`].
pub fn own_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let ours = Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32).as_secs_f64();
    ours + Process::read(std::process::id()).map_or(0.0, |process| process.reaped_cpu_s)
}
