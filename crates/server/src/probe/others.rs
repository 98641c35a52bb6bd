//! Whose programs use the host beside ours, by name. Two looks at each process of the host: nothing is done in between.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use model::NoisyNeighbour;

use crate::proc::{self, Process};

/// Cores below which nobody is named.
const LEAST: f64 = 0.01;

/// Watches the trees of processes that are not ours, from when it is made.
#[derive(Debug)]
pub struct Others {
    at: Instant,
    above: HashSet<u32>,
    before: HashMap<u32, OtherProcess>,
}

/// A process of somebody else's.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OtherProcess {
    /// The process that its tree begins with.
    root: u32,
    /// CPU time of it and of what it has waited for, seconds.
    cpu_s: f64,
}

impl Others {
    /// Begins now.
    pub fn new() -> Self {
        let processes: Vec<Process> = proc::every().collect();
        let above = above(&processes, std::process::id());
        Self { at: Instant::now(), before: seen(&processes, std::process::id(), &above), above }
    }

    /// The trees that have used the most since, the busiest first, each by the name of its busiest program. What has ended counts
    /// for whoever waited for it.
    pub fn busiest(&self) -> Vec<NoisyNeighbour> {
        let now = seen(&proc::every().collect::<Vec<_>>(), std::process::id(), &self.above);
        let elapsed_s = self.at.elapsed().as_secs_f64().max(1e-9);
        let used = used(&self.before, &now).into_iter();
        used.filter(|(_, used_s)| used_s / elapsed_s >= LEAST)
            .map(|(pid, used_s)| NoisyNeighbour { name: proc::name(pid), pid, cores: used_s / elapsed_s })
            .collect()
    }
}

impl Default for Others {
    fn default() -> Self {
        Self::new()
    }
}

/// The processes above `ours`.
fn above(processes: &[Process], ours: u32) -> HashSet<u32> {
    let parents = parents(processes);
    std::iter::successors(parents.get(&ours), |pid| parents.get(pid)).copied().collect()
}

/// The parent of each process that has one.
fn parents(processes: &[Process]) -> HashMap<u32, u32> {
    processes.iter().map(|process| (process.pid, process.parent)).filter(|(_, parent)| *parent != 0).collect()
}

/// Every process that is not below `ours`, nor that itself. Those that were `above` it are no tree: they have waited for ours as well.
fn seen(processes: &[Process], ours: u32, above: &HashSet<u32>) -> HashMap<u32, OtherProcess> {
    let parents = parents(processes);
    let parent = |pid: &u32| parents.get(pid).copied();
    let of = |process: &Process| {
        let line: Vec<u32> =
            std::iter::successors(Some(process.pid), parent).take_while(|pid| !above.contains(pid)).collect();
        let cpu_s = process.own_cpu_s + if line.is_empty() { 0.0 } else { process.reaped_cpu_s };
        let root = line.last().copied().unwrap_or(process.pid);
        (!line.contains(&ours)).then_some((process.pid, OtherProcess { root, cpu_s }))
    };
    processes.iter().filter_map(of).collect()
}

/// What each tree has used meanwhile, seconds, with its busiest process; the busiest tree first.
fn used(before: &HashMap<u32, OtherProcess>, now: &HashMap<u32, OtherProcess>) -> Vec<(u32, f64)> {
    let mut trees: HashMap<u32, (u32, f64, f64)> = HashMap::new();
    for (pid, seen) in now {
        let used_s = seen.cpu_s - before.get(pid).map_or(0.0, |seen| seen.cpu_s);
        let (busiest, most_s, all_s) = trees.entry(seen.root).or_insert((*pid, f64::MIN, 0.0));
        if used_s > *most_s {
            (*busiest, *most_s) = (*pid, used_s);
        }
        *all_s += used_s;
    }
    // What has ended had used this much already when it began to count for who waited for it.
    for (_, seen) in before.iter().filter(|(pid, _)| !now.contains_key(pid)) {
        if let Some((.., all_s)) = trees.get_mut(&seen.root) {
            *all_s -= seen.cpu_s;
        }
    }
    let mut used: Vec<(u32, f64)> = trees.into_values().map(|(busiest, _, all_s)| (busiest, all_s)).collect();
    used.sort_by(|one, other| other.1.total_cmp(&one.1));
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32, own_cpu_s: f64, reaped_cpu_s: f64) -> Process {
        Process { pid, parent, own_cpu_s, reaped_cpu_s, system_s: 0.0, threads: 1, rss_bytes: 0 }
    }

    #[test]
    fn trees_of_others_are_distinguished_from_ours() {
        let before = [
            process(1, 0, 5.0, 900.0),
            process(10, 1, 1.0, 50.0),
            // Ours, and what it runs.
            process(20, 10, 3.0, 0.0),
            process(21, 20, 7.0, 0.0),
            // A build with a child that will end, beside a program.
            process(30, 10, 0.0, 2.0),
            process(31, 30, 4.0, 0.0),
            process(40, 1, 1.0, 0.0),
        ];
        let after = [
            process(1, 0, 5.0, 900.0),
            process(10, 1, 1.5, 90.0),
            process(20, 10, 9.0, 0.0),
            process(21, 20, 99.0, 0.0),
            process(30, 10, 0.5, 12.0),
            process(32, 30, 1.0, 0.0),
            process(40, 1, 4.0, 0.0),
        ];
        let above = above(&before, 20);
        let used = used(&seen(&before, 20, &above), &seen(&after, 20, &above));
        // 0.5 of its own, 10 that it has waited for of which 4 were before, 1 of its new child.
        assert_eq!(used, [(30, 7.5), (40, 3.0), (10, 0.5), (1, 0.0)]);
    }

    /// A shell in between ends, and ours goes on in the background: what the one above has waited for is older than this.
    #[test]
    fn who_was_above_ours_stays_so() {
        let before =
            [process(1, 0, 0.0, 0.0), process(10, 1, 1.0, 127.0), process(15, 10, 0.0, 0.0), process(20, 15, 3.0, 0.0)];
        let after = [process(1, 0, 0.0, 0.0), process(10, 1, 1.5, 127.0), process(20, 1, 9.0, 0.0)];
        let above = above(&before, 20);
        let used = used(&seen(&before, 20, &above), &seen(&after, 20, &above));
        assert_eq!(used, [(10, 0.5), (1, 0.0)]);
    }

    #[test]
    fn who_keeps_a_processor_busy_is_named() {
        let others = Others { before: HashMap::new(), ..Others::new() };
        let busiest = others.busiest();
        assert!(busiest.iter().all(|other| other.pid != std::process::id()), "{busiest:?}");
        assert!(busiest.windows(2).all(|pair| pair[0].cores >= pair[1].cores), "{busiest:?}");
    }
}
