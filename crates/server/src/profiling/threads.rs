//! CPU time by what used it: the JVM's own threads have names of their own.

use std::collections::HashMap;
use std::fs;

use model::profiling::CpuUse;

use crate::probe::ProcessTree;
use crate::proc;

/// What a thread is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Purpose {
    Jit,
    Gc,
    Recorder,
    Program,
}

impl Purpose {
    /// By the name that the kernel knows: its first 15 characters.
    fn of(name: &str) -> Self {
        const JIT: [&str; 4] = ["C1 Compiler", "C2 Compiler", "JVMCI", "Sweeper"];
        const GC: [&str; 9] =
            ["GC Thread", "G1 ", "ParGC", "ZDirector", "ZDriver", "ZWorker", "XWorker", "Shenandoah", "VM Thread"];
        let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
        match name {
            _ if begins(&JIT) => Self::Jit,
            // JRuby's own compiler, which makes bytecode of Ruby: `Ruby-0-JIT-1`.
            _ if name.starts_with("Ruby-") && name.contains("-JIT") => Self::Jit,
            _ if begins(&GC) => Self::Gc,
            _ if name.starts_with("JFR ") => Self::Recorder,
            _ => Self::Program,
        }
    }
}

/// Watches the CPU time of a server's process tree, and of the threads of the processes that serve, from when it is made.
#[derive(Debug)]
pub struct CpuWatch {
    tree: ProcessTree,
    pids: Vec<u32>,
    /// CPU time by thread as last seen, seconds, with what it had when it was first seen.
    threads: HashMap<u32, (Purpose, f64, f64)>,
    total_s: Option<f64>,
}

impl CpuWatch {
    pub(crate) fn new(tree: ProcessTree, pids: Vec<u32>) -> Self {
        let mut watch = Self { tree, pids, threads: HashMap::new(), total_s: Some(0.0) };
        watch.tree.sample();
        watch.look(true);
        watch
    }

    /// Looks again: to be called about once a second, since the time of threads that have ended is not known by thread.
    pub fn sample(&mut self) {
        let used = self.tree.sample();
        self.total_s = self.total_s.zip(used).map(|(total, used)| total + used.cpu_s);
        self.look(false);
    }

    /// What was used since it was made; `None` where the process is gone.
    pub fn end(mut self) -> Option<CpuUse> {
        self.sample();
        let of = |purpose| {
            let own = self.threads.values().filter(|(own, ..)| *own == purpose);
            own.map(|(_, first, last)| last - first).sum::<f64>()
        };
        let (jit_s, gc_s, recorder_s) = (of(Purpose::Jit), of(Purpose::Gc), of(Purpose::Recorder));
        self.total_s.map(|total_s| CpuUse { total_s, jit_s, gc_s, recorder_s })
    }

    fn look(&mut self, is_first: bool) {
        for pid in &self.pids {
            let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
            for thread in tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()) {
                let Some((name, cpu_s)) = proc::thread(*pid, thread) else { continue };
                // A thread that came later has used all of its time since.
                let first = if is_first { cpu_s } else { 0.0 };
                self.threads.entry(thread).or_insert((Purpose::of(&name), first, cpu_s)).2 = cpu_s;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_virtual_machine_are_known_by_name() {
        for (name, purpose) in [
            ("C2 CompilerThre", Purpose::Jit),
            ("Ruby-0-JIT-1", Purpose::Jit),
            ("C1 CompilerThre", Purpose::Jit),
            ("GC Thread#0", Purpose::Gc),
            ("G1 Conc#0", Purpose::Gc),
            ("VM Thread", Purpose::Gc),
            ("JFR Recorder Th", Purpose::Recorder),
            ("Ruby-0-Thread-1", Purpose::Program),
            ("http-nio-8080-e", Purpose::Program),
            ("java", Purpose::Program),
        ] {
            assert_eq!(Purpose::of(name), purpose, "{name}");
        }
    }
}
