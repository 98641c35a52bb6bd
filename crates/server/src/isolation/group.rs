//! A control group of a launch's own.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use model::study::Limits;
use runtimes::Limit;

use super::error::IsolationError;
use crate::cgroup::{self, Controller, Quota, Version};

/// Period over which CPU time is counted, µs: the kernel's own default.
const PERIOD_US: f64 = 100_000.0;

/// Control groups of one launch, removed when dropped, which is to be after the last of its processes has ended.
#[derive(Debug)]
pub(crate) struct Group {
    made: Vec<cgroup::Group>,
    limits: Limits,
}

impl Group {
    /// Groups that keep these limits.
    pub fn new(limits: &Limits) -> Result<Self, IsolationError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("bakeoff-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mut group = Self { made: Vec::new(), limits: *limits };
        let controllers = controllers(limits);
        for controller in &controllers {
            let made = group.make(&parent(*controller, &controllers)?, &name)?;
            match controller {
                Controller::Cpu => {
                    limits.cpus.map_or(Ok(()), |cores| made.set_quota(Quota { cores, period_us: PERIOD_US }))
                }
                Controller::Memory => limits.memory_bytes.map_or(Ok(()), |bytes| made.set_memory(bytes)),
            }
            .map_err(|(file, error)| failed(&file)(error))?;
        }
        Ok(group)
    }

    /// The files into which a process writes its id to be in the groups.
    pub fn doors(&self) -> Vec<PathBuf> {
        self.made.iter().map(cgroup::Group::door).collect()
    }

    /// Has a program run in the groups from its start.
    pub fn confine(&self, command: &mut Command) -> io::Result<()> {
        confine(command, &self.doors())
    }

    /// How many processes of it the kernel has killed since they needed more memory than `limits` allow.
    pub fn oom_kills(&self) -> u64 {
        if self.limits.memory_bytes.is_none() {
            return 0;
        }
        self.made.iter().map(cgroup::Group::oom_kills).sum()
    }

    /// Why processes of it were killed, where the kernel did so for lack of memory.
    pub fn killed(&self) -> Option<String> {
        let kills = self.oom_kills();
        let bytes = self.limits.memory_bytes.filter(|_| kills > 0)?;
        Some(format!(
            "the kernel killed {} for needing more memory than `limits.memory` allows ({:.0} MiB); allow more, or give it a smaller heap",
            if kills == 1 { "a process of it".to_owned() } else { format!("{kills} processes of it") },
            bytes as f64 / f64::from(1 << 20)
        ))
    }

    /// The group of this name in `parent`, made unless another controller of the same hierarchy made it already.
    fn make(&mut self, parent: &cgroup::Group, name: &str) -> Result<cgroup::Group, IsolationError> {
        let group = cgroup::Group { version: parent.version, folder: parent.folder.join(name) };
        if !self.made.contains(&group) {
            sweep(&parent.folder);
            fs::create_dir(&group.folder).map_err(failed(&group.folder))?;
            self.made.push(group.clone());
        }
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for group in &self.made {
            let _ = fs::remove_dir(&group.folder);
        }
    }
}

/// Has a program run in the groups of these [doors](Group::doors) from its start; who starts it stays outside.
pub(crate) fn confine(command: &mut Command, doors: &[PathBuf]) -> io::Result<()> {
    for door in doors {
        let door = File::options().write(true).open(door)?;
        let enter = move || Ok(rustix::io::write(&door, b"0").map(drop)?);
        // SAFETY: the closure runs between fork and exec, and makes one system call: it neither allocates nor locks.
        unsafe { command.pre_exec(enter) };
    }
    Ok(())
}

fn controllers(limits: &Limits) -> Vec<Controller> {
    let cpu = limits.cpus.map(|_| Controller::Cpu);
    cpu.into_iter().chain(limits.memory_bytes.map(|_| Controller::Memory)).collect()
}

/// The group in which one with this controller can be made: our own, or in version 2, where a process is in one group for all
/// controllers, the innermost around it that passes on all that are wanted of it.
fn parent(controller: Controller, wanted: &[Controller]) -> Result<cgroup::Group, IsolationError> {
    let around = |controller| cgroup::around(Path::new("/"), "self", controller);
    let absent = |file: PathBuf| failed(&file)(io::ErrorKind::Unsupported.into());
    let groups = around(controller);
    let top = groups.last().ok_or_else(|| absent(PathBuf::from("/sys/fs/cgroup").join(controller.name())))?;
    let in_two =
        |controller: &&Controller| around(**controller).first().is_some_and(|group| group.version == Version::Two);
    let fits = |group: &cgroup::Group| wanted.iter().filter(in_two).all(|controller| group.passes_on(*controller));
    let parent = groups.iter().find(|group| group.version == Version::One || fits(group));
    parent.cloned().ok_or_else(|| absent(top.folder.join("cgroup.subtree_control")))
}

/// Removes what a bakeoff that was killed has left.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("bakeoff-")?.split_once('-')?.0.parse::<u32>().ok());
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            // One that still holds processes stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// The least that the groups around a process allow: cores, or bytes; `None` where there is no limit, or it cannot be read.
pub(crate) fn live(pid: u32, limit: Limit) -> Option<f64> {
    let of = |controller, read: fn(&cgroup::Group) -> Option<f64>| {
        let groups = cgroup::around(Path::new("/"), &pid.to_string(), controller);
        groups.iter().filter_map(read).reduce(f64::min)
    };
    match limit {
        Limit::Cpus => of(Controller::Cpu, |group| Some(group.quota()?.cores)),
        Limit::Memory => of(Controller::Memory, cgroup::Group::memory_bytes),
    }
}

fn failed(place: &Path) -> impl FnOnce(io::Error) -> IsolationError {
    let place = place.display().to_string();
    |source| IsolationError::Limits { place, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use needs::Need;
    use std::os::unix::process::ExitStatusExt as _;

    #[test]
    fn no_limits_need_no_group() {
        let group = Group::new(&Limits::default()).unwrap();
        assert!(group.doors().is_empty() && group.killed().is_none());
    }

    /// Real groups, where they are permitted.
    #[test]
    fn what_needs_more_memory_than_it_may_have_is_killed_and_reported() {
        let group = match Group::new(&Limits { cpus: Some(0.5), memory_bytes: Some(32 << 20) }) {
            Ok(group) => group,
            Err(error) => return needs::left_out(Need::ControlGroups, error),
        };
        let run = |script: &str| {
            let mut command = Command::new("/bin/sh");
            group.confine(command.args(["-c", script])).unwrap();
            command.output().unwrap()
        };
        let inside = run("cat /proc/self/cgroup");
        let inside = String::from_utf8_lossy(&inside.stdout).into_owned();
        assert!(inside.contains(&format!("/bakeoff-{}-", std::process::id())), "{inside}");
        assert_eq!((group.oom_kills(), group.killed()), (0, None));
        for (file, least) in [("memory.swap.max", "0"), ("memory.memsw.limit_in_bytes", "33554432")] {
            let swap = group.made.iter().filter_map(|group| fs::read_to_string(group.folder.join(file)).ok());
            assert!(swap.into_iter().all(|text| text.trim() == least), "{file}");
        }
        // `tail` keeps the last line, which has no end. It is alone in the group: while a process dies, held up by the quota, the
        // kernel kills any other, and one that is left holds the group.
        let ended = run("exec tail -n 1 /dev/zero");
        assert_eq!(ended.status.signal(), Some(9), "{ended:?}");
        let reported = group.killed().unwrap();
        assert!(
            group.oom_kills() >= 1 && reported.contains("of it for needing more memory") && reported.contains("32 MiB"),
            "{reported}"
        );
        let folders = group.made.clone();
        drop(group);
        assert!(folders.iter().all(|group| !group.folder.exists()), "{folders:?}");
    }
}
