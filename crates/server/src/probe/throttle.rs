//! How long a CPU quota kept a process from running.

use std::path::Path;

use crate::cgroup::{self, Controller, Group};

/// The groups that report it for one process: its own and all around it, since a quota anywhere above holds for what is below.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Throttle {
    groups: Vec<Group>,
}

impl Throttle {
    /// Of process `pid`; `self` is a process, too.
    pub fn of(pid: &str) -> Self {
        let mut groups = cgroup::around(Path::new("/"), pid, Controller::Cpu);
        groups.retain(|group| group.throttled_s().is_some());
        Self { groups }
    }

    /// Seconds so far.
    pub fn seconds(&self) -> f64 {
        self.groups.iter().filter_map(Group::throttled_s).sum()
    }
}
