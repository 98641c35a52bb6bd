//! What a process tree uses.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::proc::{self, Process};

/// Samples all that runs below one process. A sample costs one look at each process of the host: made for 1 Hz.
#[derive(Debug, Clone)]
pub struct ProcessTree {
    root: u32,
    cpu_s: f64,
    system_s: f64,
}

/// What a tree used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TreeUse {
    /// CPU time, user and system, seconds.
    pub cpu_s: f64,
    /// The part of it that the kernel used, seconds.
    pub system_s: f64,
    /// The processes that run.
    pub(crate) processes: Vec<Process>,
}

impl ProcessTree {
    /// All descendants of `root`, a supervisor, which itself is not counted.
    pub(crate) fn below(root: u32) -> Self {
        let mut tree = Self { root, cpu_s: 0.0, system_s: 0.0 };
        tree.sample();
        tree
    }

    /// The tree's use since the last sample (or since this sampler was made); `None` when nothing of it runs.
    pub fn sample(&mut self) -> Option<TreeUse> {
        let processes = proc::descendants(self.root);
        // The ended are included: whoever waited for them has their time, and orphans fall to the root.
        let root = Process::read(self.root);
        let cpu_s = processes.iter().map(|process| process.own_cpu_s + process.reaped_cpu_s).sum::<f64>()
            + root.as_ref().map_or(0.0, |root| root.reaped_cpu_s);
        // The root's own time is next to nothing: it waits.
        let system_s = processes.iter().chain(&root).map(|process| process.system_s).sum::<f64>();
        let used = TreeUse {
            // A process may have ended while others were being looked at, and its time not be counted until the next.
            cpu_s: (cpu_s - self.cpu_s).max(0.0),
            system_s: (system_s - self.system_s).max(0.0),
            processes,
        };
        (self.cpu_s, self.system_s) = (cpu_s.max(self.cpu_s), system_s.max(self.system_s));
        (!used.processes.is_empty()).then_some(used)
    }

    /// Resident memory of all that runs of it, bytes. Pages that processes share count in each of them.
    pub fn rss_bytes(&self) -> u64 {
        proc::descendants(self.root).iter().map(|process| process.rss_bytes).sum()
    }

    /// Seconds of CPU the tree had used at the last sample, since its start.
    pub fn cpu_s(&self) -> f64 {
        self.cpu_s
    }
}

/// Seconds of CPU this process has used since its start, and all that it launched and that has ended: helpers, and
/// supervisors with their whole trees. Those that still run have their own [`ProcessTree`].
pub fn own_cpu_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let ours = Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32).as_secs_f64();
    ours + Process::read(std::process::id()).map_or(0.0, |process| process.reaped_cpu_s)
}
