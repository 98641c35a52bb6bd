//! Control groups: which ones a process is in, and what their files say, in version 2 and in version 1 (cgroups(7); the files:
//! Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of the kernel).
//!
//! A host may have both versions at once; a controller belongs to one of them.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

/// Where both versions are mounted.
const MOUNT: &str = "sys/fs/cgroup";
/// What version 1 writes for no limit of memory: the largest whole number of pages.
const NO_LIMIT: f64 = 9e18;

/// A hierarchy of groups with a controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// A controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controller {
    Cpu,
    Memory,
}

impl Controller {
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
        }
    }
}

/// One group, of one controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    pub version: Version,
    pub folder: PathBuf,
}

/// CPU time that a group may use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quota {
    pub cores: f64,
    /// Time over which it is counted, µs.
    pub period_us: f64,
}

/// The group that a controller has process `pid` in (`self` is one, too), and all around it that are to be seen from here, from
/// the innermost: what limits any of them limits the process. None where the kernel shows no such controller. `root` is `/` but
/// in tests.
pub(crate) fn around(root: &Path, pid: &str, controller: Controller) -> Vec<Group> {
    let Some((version, mount)) = mount(root, controller) else { return Vec::new() };
    let membership = fs::read_to_string(root.join("proc").join(pid).join("cgroup")).unwrap_or_default();
    let named = if version == Version::Two { "" } else { controller.name() };
    let path = path(&membership, named).strip_prefix("/").unwrap_or(Path::new(""));
    // In a container the name outside may mean nothing inside.
    let is_here = path.components().all(|part| matches!(part, Component::Normal(_))) && mount.join(path).is_dir();
    let own = if is_here { path } else { Path::new("") };
    own.ancestors().map(|path| Group { version, folder: mount.join(path) }).collect()
}

/// Where the controller's groups are.
fn mount(root: &Path, controller: Controller) -> Option<(Version, PathBuf)> {
    let (mount, name) = (root.join(MOUNT), controller.name());
    let mut two = [mount.clone(), mount.join("unified")].into_iter();
    if let Some(two) = two.find(|mount| has_word(&mount.join("cgroup.controllers"), name)) {
        return Some((Version::Two, two));
    }
    // Version 1 may have `cpu` joined with what counts CPU time.
    let mut one = [mount.join(name), mount.join(format!("{name},{name}acct"))].into_iter();
    one.find(|folder| folder.is_dir()).map(|one| (Version::One, one))
}

/// The path behind a name in `/proc/PID/cgroup`; version 2 has no name.
fn path<'a>(membership: &'a str, named: &str) -> &'a Path {
    let is_it = |line: &&str| line.split(':').nth(1).is_some_and(|names| names.split(',').any(|name| name == named));
    Path::new(membership.lines().find(is_it).and_then(|line| line.splitn(3, ':').nth(2)).unwrap_or("/"))
}

fn has_word(file: &Path, word: &str) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|each| each == word))
}

impl Group {
    /// Whether groups that are made in it have the controller. In version 2 that has to be enabled here, as systemd does, and
    /// cannot be in a group that holds processes.
    pub fn passes_on(&self, controller: Controller) -> bool {
        match self.version {
            Version::One => true,
            Version::Two => has_word(&self.folder.join("cgroup.subtree_control"), controller.name()),
        }
    }

    /// The file into which a process writes its id to be in the group.
    pub fn door(&self) -> PathBuf {
        self.folder.join("cgroup.procs")
    }

    /// What it may use of the processors; `None` where there is no quota.
    pub fn quota(&self) -> Option<Quota> {
        let (quota_us, period_us) = match self.version {
            Version::Two => {
                let text = self.text("cpu.max")?;
                let (quota, period) = text.split_once(' ')?;
                (quota.parse::<f64>().ok()?, period.parse::<f64>().ok()?)
            }
            Version::One => (self.number("cpu.cfs_quota_us")?, self.number("cpu.cfs_period_us")?),
        };
        (quota_us > 0.0 && period_us > 0.0).then(|| Quota { cores: quota_us / period_us, period_us })
    }

    /// What it may use of the memory, bytes; `None` where there is no limit.
    pub fn memory_bytes(&self) -> Option<f64> {
        match self.version {
            Version::Two => self.number("memory.max"),
            Version::One => self.number("memory.limit_in_bytes").filter(|bytes| *bytes < NO_LIMIT),
        }
    }

    /// How long its quota has kept it from running so far, seconds; `None` where it does not say.
    pub fn throttled_s(&self) -> Option<f64> {
        match self.version {
            Version::Two => Some(self.field("cpu.stat", "throttled_usec")? / 1e6),
            Version::One => Some(self.field("cpu.stat", "throttled_time")? / 1e9),
        }
    }

    /// How many processes of it, and of groups in it, the kernel has killed since they needed more memory than they may have.
    pub fn oom_kills(&self) -> u64 {
        let file = if self.version == Version::Two { "memory.events" } else { "memory.oom_control" };
        self.field(file, "oom_kill").unwrap_or_default() as u64
    }

    /// Limits the CPU time to so many cores over this period, µs.
    pub fn set_quota(&self, Quota { cores, period_us }: Quota) -> Result<(), (PathBuf, io::Error)> {
        let quota_us = (cores * period_us).round();
        match self.version {
            Version::Two => self.write("cpu.max", &format!("{quota_us} {period_us}")),
            Version::One => {
                self.write("cpu.cfs_period_us", &period_us.to_string())?;
                self.write("cpu.cfs_quota_us", &quota_us.to_string())
            }
        }
    }

    /// Limits the memory, and takes swap away: a server that may swap is slow where it should be refused. Kernels that do not
    /// count swap have no file for it.
    pub fn set_memory(&self, bytes: u64) -> Result<(), (PathBuf, io::Error)> {
        let (memory, swap) = match self.version {
            Version::Two => ("memory.max", ("memory.swap.max", 0)),
            // The sum of both, which may not be less than the first.
            Version::One => ("memory.limit_in_bytes", ("memory.memsw.limit_in_bytes", bytes)),
        };
        self.write(memory, &bytes.to_string())?;
        match self.write(swap.0, &swap.1.to_string()) {
            Err((_, error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            written => written,
        }
    }

    fn text(&self, file: &str) -> Option<String> {
        Some(fs::read_to_string(self.folder.join(file)).ok()?.trim().to_owned())
    }

    fn number(&self, file: &str) -> Option<f64> {
        self.text(file)?.parse().ok()
    }

    /// The number behind a name, in a file of lines such as `oom_kill 0`.
    fn field(&self, file: &str, name: &str) -> Option<f64> {
        let text = self.text(file)?;
        text.lines().find_map(|line| line.split_once(' ').filter(|(each, _)| *each == name)?.1.trim().parse().ok())
    }

    /// Writes to a file of the kernel's, and makes none of its own where that is not there.
    fn write(&self, file: &str, text: &str) -> Result<(), (PathBuf, io::Error)> {
        let file = self.folder.join(file);
        let written = File::options().write(true).open(&file).and_then(|mut open| open.write_all(text.as_bytes()));
        written.map_err(|error| (file, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files below a root of their own.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    const TWO: (&str, &str) = ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory pids\n");

    fn folders(root: &tempfile::TempDir, controller: Controller) -> Vec<String> {
        let base = root.path().join(MOUNT);
        let below = |group: Group| group.folder.strip_prefix(&base).unwrap().display().to_string();
        around(root.path(), "self", controller).into_iter().map(below).collect()
    }

    #[test]
    fn the_groups_around_a_process_are_found_in_both_versions() {
        let two =
            root(&[TWO, ("proc/self/cgroup", "0::/user/job\n"), ("sys/fs/cgroup/user/job/cpu.max", "max 100000\n")]);
        assert_eq!(folders(&two, Controller::Cpu), ["user/job", "user", ""]);
        // Both at once: the controller of version 1 that is not in version 2.
        let both = root(&[
            ("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/b/c\n0::/d\n"),
            ("sys/fs/cgroup/unified/cgroup.controllers", "memory\n"),
            ("sys/fs/cgroup/unified/d/memory.max", "max\n"),
            ("sys/fs/cgroup/cpu,cpuacct/a/cpu.stat", ""),
            ("sys/fs/cgroup/memory/x", ""),
        ]);
        assert_eq!(folders(&both, Controller::Cpu), ["cpu,cpuacct/a", "cpu,cpuacct"]);
        assert_eq!(folders(&both, Controller::Memory), ["unified/d", "unified"]);
        let none = root(&[("proc/self/cgroup", "0::/\n")]);
        assert!(folders(&none, Controller::Cpu).is_empty());
    }

    #[test]
    fn a_name_from_outside_of_a_container_is_its_own_root() {
        for name in ["/outside/of/it", "/../other"] {
            let inside = root(&[TWO, ("proc/self/cgroup", &format!("0::{name}\n"))]);
            assert_eq!(folders(&inside, Controller::Memory), [""], "{name}");
        }
    }

    #[test]
    fn files_are_read_as_each_version_writes_them() {
        let root = root(&[
            ("two/cpu.max", "150000 100000\n"),
            ("two/cpu.stat", "usage_usec 7\nnr_throttled 3\nthrottled_usec 2500000\n"),
            ("two/memory.max", "1048576\n"),
            ("two/memory.events", "low 0\nmax 9\noom 2\noom_kill 1\n"),
            ("one/cpu.cfs_quota_us", "150000\n"),
            ("one/cpu.cfs_period_us", "100000\n"),
            ("one/cpu.stat", "nr_periods 7\nthrottled_time 2500000000\n"),
            ("one/memory.limit_in_bytes", "1048576\n"),
            ("one/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            ("free/cpu.max", "max 100000\n"),
            ("free/memory.max", "max\n"),
            ("free/cpu.cfs_quota_us", "-1\n"),
            ("free/cpu.cfs_period_us", "100000\n"),
            ("free/memory.limit_in_bytes", "9223372036854771712\n"),
        ]);
        let group = |version, name: &str| Group { version, folder: root.path().join(name) };
        for limited in [group(Version::Two, "two"), group(Version::One, "one")] {
            assert_eq!(limited.quota(), Some(Quota { cores: 1.5, period_us: 100_000.0 }), "{limited:?}");
            assert_eq!((limited.throttled_s(), limited.memory_bytes()), (Some(2.5), Some(1_048_576.0)), "{limited:?}");
            assert_eq!(limited.oom_kills(), 1, "{limited:?}");
        }
        for free in [group(Version::Two, "free"), group(Version::One, "free")] {
            assert_eq!((free.quota(), free.memory_bytes(), free.throttled_s()), (None, None, None), "{free:?}");
            assert_eq!(free.oom_kills(), 0);
        }
    }

    #[test]
    fn limits_are_written_as_each_version_has_them_and_take_swap_away() {
        let root = root(&[
            ("two/cpu.max", ""),
            ("two/memory.max", ""),
            ("two/memory.swap.max", ""),
            ("one/cpu.cfs_period_us", ""),
            ("one/cpu.cfs_quota_us", ""),
            ("one/memory.limit_in_bytes", ""),
        ]);
        let read = |file: &str| fs::read_to_string(root.path().join(file)).ok();
        for (version, name) in [(Version::Two, "two"), (Version::One, "one")] {
            let group = Group { version, folder: root.path().join(name) };
            group.set_quota(Quota { cores: 1.5, period_us: 100_000.0 }).unwrap();
            group.set_memory(1 << 20).unwrap();
        }
        assert_eq!(read("two/cpu.max").as_deref(), Some("150000 100000"));
        assert_eq!((read("two/memory.max"), read("two/memory.swap.max")), (Some("1048576".into()), Some("0".into())));
        assert_eq!(read("one/cpu.cfs_quota_us").as_deref(), Some("150000"));
        assert_eq!(read("one/memory.limit_in_bytes").as_deref(), Some("1048576"));
        // Swap is not counted there.
        assert_eq!(read("one/memory.memsw.limit_in_bytes"), None);
    }
}
