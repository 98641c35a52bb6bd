//! What others do with this host meanwhile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::fitness::HostCheck;

use super::{doubtful, fit, unfit};
use crate::probe::{HostSampler, own_cpu_s};
use crate::proc;
use crate::supervise::GLANCE;

/// Cores that others may take, or the hypervisor, before results become noisier.
const NOTICEABLE: f64 = 0.05;
/// Cores that leave nothing to be measured.
const TOO_MUCH: f64 = 0.5;
/// Processes that are named.
const NAMED: usize = 3;

/// Watches for a while.
pub(super) fn checks(watch: Duration, interrupted: &AtomicBool) -> Vec<HostCheck> {
    let (mut host, own, before) = (HostSampler::new(), own_cpu_s(), cpu_by_process());
    let end = Instant::now() + watch;
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|_| !interrupted.load(Ordering::Relaxed)) {
        thread::sleep(left.min(GLANCE));
    }
    let used = host.sample(own_cpu_s() - own);
    let busiest = busiest(&before, &cpu_by_process(), used.elapsed_s);
    let (steal, others) = (used.steal_cores, used.others_cores);
    let steal_found = format!("{steal:.2} cores in {:.0} s", used.elapsed_s);
    let others_found = format!("{others:.2} cores in {:.0} s{busiest}", used.elapsed_s);
    vec![
        match steal {
            ..NOTICEABLE => fit("steal", steal_found),
            ..TOO_MUCH => doubtful(
                "steal",
                steal_found,
                "the hypervisor gives these cores to somebody else: use a machine with cores of its own",
            ),
            _ => unfit(
                "steal",
                steal_found,
                "the hypervisor gives these cores to somebody else, or the machine's CPU credits are spent: use another machine",
            ),
        },
        match others {
            ..NOTICEABLE => fit("competing load", others_found),
            ..TOO_MUCH => doubtful(
                "competing load",
                others_found,
                "end what you can: every core that others take is one that moves the results",
            ),
            _ => unfit("competing load", others_found, "end it, or measure when it has ended"),
        },
        if used.throttled_s > 0.0 {
            unfit(
                "throttling",
                format!("{:.1} s in {:.0} s", used.throttled_s, used.elapsed_s),
                "measure without a CPU quota",
            )
        } else {
            fit("throttling", "none")
        },
    ]
}

/// CPU seconds of every process so far.
fn cpu_by_process() -> HashMap<u32, f64> {
    proc::every().map(|process| (process.pid, process.own_cpu_s)).collect()
}

/// `: java (4711) 0.52, …`, those that used at least a hundredth of a core.
fn busiest(before: &HashMap<u32, f64>, after: &HashMap<u32, f64>, elapsed_s: f64) -> String {
    let ours = std::process::id();
    let used = |(pid, cpu): (&u32, &f64)| (*pid, (cpu - before.get(pid).unwrap_or(&0.0)) / elapsed_s.max(1e-9));
    let mut used: Vec<(u32, f64)> =
        after.iter().map(used).filter(|(pid, cores)| *pid != ours && *cores >= 0.01).collect();
    used.sort_by(|one, other| other.1.total_cmp(&one.1));
    let named = used.iter().take(NAMED).map(|(pid, cores)| format!("{} ({pid}) {cores:.2}", proc::name(*pid)));
    let named = named.collect::<Vec<_>>().join(", ");
    if named.is_empty() { named } else { format!(": {named}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_processes_are_named_in_their_order() {
        let before = HashMap::from([(u32::MAX, 1.0), (u32::MAX - 1, 1.0), (u32::MAX - 2, 1.0)]);
        let after = HashMap::from([(u32::MAX, 1.5), (u32::MAX - 1, 3.0), (u32::MAX - 2, 1.001)]);
        let text = busiest(&before, &after, 2.0);
        let places = [u32::MAX - 1, u32::MAX].map(|pid| text.find(&pid.to_string()).unwrap());
        assert!(places[0] < places[1] && text.contains("1.00") && text.contains("0.25"), "{text}");
        assert!(!text.contains(&(u32::MAX - 2).to_string()), "{text}");
        assert_eq!(busiest(&before, &before, 2.0), "");
    }
}
