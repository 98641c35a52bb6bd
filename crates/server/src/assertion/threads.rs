//! Threads counted by their names.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use regex::Regex;

use crate::attach;
use crate::probe::RUBY_GC_THREAD;
use crate::proc;
use crate::serving::Serving;

/// How many threads of the server have a name in which `pattern` is found: its JVM reports whole names, the kernel the first
/// 15 bytes of those of all other processes. bakeoff's own in MRI is none of them.
pub(super) fn count(
    serving: &Serving,
    pattern: &str,
    within: Duration,
    interrupted: &AtomicBool,
) -> Result<usize, String> {
    let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
    let jvm = serving.jvm()?;
    let mut names = match &jvm {
        Some(jvm) => of_a_jvm(&attach::ask(jvm.jdk()?, jvm.pid, &["Thread.print"], within, interrupted)?),
        None => Vec::new(),
    };
    let others = proc::descendants(serving.root).into_iter().map(|process| process.pid);
    let others = others.filter(|other| jvm.as_ref().is_none_or(|jvm| *other != jvm.pid));
    names.extend(others.flat_map(of_a_process));
    Ok(names.iter().filter(|name| regex.is_match(name)).count())
}

/// Names in lines such as `"main" #1 prio=5 os_prio=0 cpu=55.1ms …`.
fn of_a_jvm(dump: &str) -> Vec<String> {
    let name = |line: &str| Some(line.strip_prefix('"')?.rsplit_once('"')?.0.to_owned());
    dump.lines().filter_map(name).collect()
}

fn of_a_process(pid: u32) -> Vec<String> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let name = |task: fs::DirEntry| Some(fs::read_to_string(task.path().join("comm")).ok()?.trim_end().to_owned());
    tasks.filter_map(name).filter(|name| name != RUBY_GC_THREAD).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_names_threads() {
        let dump = "Full thread dump\n\"pool \"x\"-1\" #12 prio=5\n   at a.b(C.java)\n\"G1 Main\" os_prio=0\n";
        assert_eq!(of_a_jvm(dump), ["pool \"x\"-1", "G1 Main"]);
    }
}
