//! How long a CPU quota kept a control group from running.

use std::fs;
use std::path::{Path, PathBuf};

/// The files that tell of it for one process: those of its group and of all groups around it, since a quota anywhere above
/// holds for what is below. Version 2 of control groups where they have the CPU controller, otherwise version 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Throttle {
    files: Vec<PathBuf>,
}

impl Throttle {
    /// Of process `pid`; `self` is a process, too.
    pub fn of(pid: &str) -> Self {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let files = folders(&groups).map(|folder| folder.join("cpu.stat"));
        Self { files: files.filter(|file| seconds(file).is_some()).collect() }
    }

    /// Seconds so far.
    pub fn seconds(&self) -> f64 {
        self.files.iter().filter_map(|file| seconds(file)).sum()
    }
}

fn seconds(file: &Path) -> Option<f64> {
    parse(&fs::read_to_string(file).ok()?)
}

/// Where the CPU controller may have the groups that a `/proc/PID/cgroup` names, and those around them.
fn folders(groups: &str) -> impl Iterator<Item = PathBuf> + '_ {
    let path = |controller: &str| {
        let names = |line: &&str| line.split(':').nth(1).is_some_and(|names| names.split(',').any(|n| n == controller));
        groups.lines().find(names)?.splitn(3, ':').nth(2)
    };
    let roots = [("", "/sys/fs/cgroup"), ("cpu", "/sys/fs/cgroup/cpu"), ("cpu", "/sys/fs/cgroup/cpu,cpuacct")];
    let found = roots.into_iter().filter_map(move |(controller, root)| {
        // Where both names are there, one leads to the other.
        let root = Path::new(root).canonicalize().ok()?;
        Some(Path::new(path(controller)?).ancestors().map(|group| below(&root, group)).collect::<Vec<_>>())
    });
    let mut folders: Vec<PathBuf> = found.flatten().collect();
    folders.sort();
    folders.dedup();
    folders.into_iter()
}

fn below(root: &Path, group: &Path) -> PathBuf {
    root.join(group.strip_prefix("/").unwrap_or(group))
}

fn parse(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", microseconds) => Some(microseconds.parse::<f64>().ok()? / 1e6),
        ("throttled_time", nanoseconds) => Some(nanoseconds.parse::<f64>().ok()? / 1e9),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throttling_is_read_from_both_versions() {
        assert_eq!(parse("usage_usec 7\nthrottled_usec 2500000\n"), Some(2.5));
        assert_eq!(parse("nr_periods 7\nthrottled_time 2500000000\n"), Some(2.5));
        assert_eq!(parse("usage_usec 7\n"), None);
    }

    #[test]
    fn a_quota_above_holds_for_what_is_below() {
        let all: Vec<PathBuf> = folders("0::/user/job\n").collect();
        if Path::new("/sys/fs/cgroup").is_dir() {
            let wanted = ["", "user", "user/job"].map(|group| Path::new("/sys/fs/cgroup").join(group));
            assert_eq!(all, wanted);
        }
    }
}
