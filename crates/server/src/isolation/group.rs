//! Control groups, version 2 where it has the controllers, else version 1 (cgroups(7)).

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use model::study::Limits;

use super::IsolationError;

const ROOT: &str = "/sys/fs/cgroup";
/// Period over which CPU time is counted, µs: the kernel's own default.
const PERIOD_US: f64 = 100_000.0;

/// Control groups of one launch, removed when dropped, which is to be after the last of its processes has ended.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
}

impl Group {
    /// Groups that keep these limits.
    pub fn new(limits: &Limits) -> Result<Self, IsolationError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("bakeoff-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut group = Self { folders: Vec::new() };
        let wanted = wanted(limits);
        if wanted.is_empty() {
            return Ok(group);
        }
        sweep();
        let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        if let Some(parent) = unified(&membership, &wanted) {
            let folder = group.make(&parent, &name)?;
            wanted.iter().try_for_each(|limit| write(&folder.join(limit.two.0), &limit.two.1))?;
            return Ok(group);
        }
        for limit in &wanted {
            let parent = own(&membership, limit.controller);
            let folder = group.make(&parent, &name)?;
            write(&folder.join(limit.one.0), &limit.one.1)?;
        }
        Ok(group)
    }

    /// The files into which a process writes its id to be in the groups.
    pub fn doors(&self) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| folder.join("cgroup.procs")).collect()
    }

    fn make(&mut self, parent: &Path, name: &str) -> Result<PathBuf, IsolationError> {
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(failed(&folder))?;
        self.folders.push(folder.clone());
        Ok(folder)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A limit: its controller, and file and text in both versions.
struct Wanted {
    controller: &'static str,
    two: (&'static str, String),
    one: (&'static str, String),
}

fn wanted(limits: &Limits) -> Vec<Wanted> {
    let cpu = limits.cpus.map(|cores| {
        let quota = (cores * PERIOD_US).round();
        Wanted {
            controller: "cpu",
            two: ("cpu.max", format!("{quota} {PERIOD_US}")),
            one: ("cpu.cfs_quota_us", quota.to_string()),
        }
    });
    let memory = limits.memory_bytes.map(|bytes| Wanted {
        controller: "memory",
        two: ("memory.max", bytes.to_string()),
        one: ("memory.limit_in_bytes", bytes.to_string()),
    });
    cpu.into_iter().chain(memory).collect()
}

/// Removes what a bakeoff that was killed has left.
fn sweep() {
    let folders = ["", "cpu", "memory"].map(|controller| fs::read_dir(Path::new(ROOT).join(controller)));
    for entry in folders.into_iter().flatten().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("bakeoff-")?.split_once('-'));
        if pid.is_some_and(|(pid, _)| !Path::new("/proc").join(pid).exists()) {
            // One that still holds processes stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The group of version 2 whose children have these controllers: our own, or the one above all. They have to be enabled
/// there already, as systemd does: a group that holds processes, as ours does, could not enable them.
fn unified(membership: &str, wanted: &[Wanted]) -> Option<PathBuf> {
    [own(membership, ""), PathBuf::from(ROOT)].into_iter().find(|parent| {
        let enabled = fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default();
        wanted.iter().all(|limit| enabled.split_whitespace().any(|controller| controller == limit.controller))
    })
}

/// The folder of this process's group, of version 2 where the controller is none.
fn own(membership: &str, controller: &str) -> PathBuf {
    let names =
        |line: &&str| line.split(':').nth(1).is_some_and(|names| names.split(',').any(|name| name == controller));
    let path = membership.lines().find(names).and_then(|line| line.splitn(3, ':').nth(2)).unwrap_or("/");
    let mount = Path::new(ROOT).join(controller);
    let folder = mount.join(path.trim_start_matches('/'));
    // In a container the name outside may mean nothing inside.
    if folder.is_dir() { folder } else { mount }
}

/// What a process's groups allow: cores, or bytes; `None` where there is no limit, or it cannot be read.
pub(crate) fn live(pid: u32, limit: &str) -> Option<f64> {
    let membership = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    let read = |controller: &str, file: &str| fs::read_to_string(own(&membership, controller).join(file)).ok();
    let number = |text: String| text.trim().parse::<f64>().ok();
    match limit {
        "cpus" => {
            let two = read("", "cpu.max").map(|text| {
                let mut words = text.split_whitespace().map(str::parse::<f64>);
                Some(words.next()?.ok()? / words.next()?.ok()?)
            });
            two.unwrap_or_else(|| {
                let quota = number(read("cpu", "cpu.cfs_quota_us")?).filter(|quota| *quota > 0.0)?;
                Some(quota / number(read("cpu", "cpu.cfs_period_us")?)?)
            })
        }
        _ => match read("", "memory.max") {
            Some(text) => number(text),
            // Version 1 writes "none" as the largest whole number of pages.
            None => number(read("memory", "memory.limit_in_bytes")?).filter(|bytes| *bytes < 9e18),
        },
    }
}

/// Writes to a file of the kernel's, and makes none of its own where that is not there.
fn write(file: &Path, text: &str) -> Result<(), IsolationError> {
    let written = File::options().write(true).open(file).and_then(|mut open| open.write_all(text.as_bytes()));
    written.map_err(failed(file))
}

fn failed(place: &Path) -> impl FnOnce(io::Error) -> IsolationError {
    let place = place.display().to_string();
    |source| IsolationError::Limits { place, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limits_need_no_group() {
        assert!(Group::new(&Limits::default()).unwrap().doors().is_empty());
    }

    #[test]
    fn limits_are_written_as_each_version_has_them() {
        let limits = wanted(&Limits { cpus: Some(1.5), memory_bytes: Some(1 << 20) });
        assert_eq!(limits[0].two, ("cpu.max", "150000 100000".to_owned()));
        assert_eq!(limits[0].one, ("cpu.cfs_quota_us", "150000".to_owned()));
        assert_eq!((limits[1].two.0, limits[1].two.1.as_str()), ("memory.max", "1048576"));
    }
}
