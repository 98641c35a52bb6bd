//! What others do with this host meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::Competitor;
use model::fitness::HostCheck;

use super::{doubtful, fit, unfit};
use crate::probe::{HostSampler, Others, own_cpu_s};
use crate::supervise::GLANCE;

/// Cores that others may take, or the hypervisor, before results become noisier.
const NOTICEABLE: f64 = 0.05;
/// Cores that leave nothing to be measured.
const TOO_MUCH: f64 = 0.5;
/// Programs that are named.
const NAMED: usize = 3;

/// Watches for a while.
pub(super) fn checks(watch: Duration, interrupted: &AtomicBool) -> Vec<HostCheck> {
    let (others, mut host, own) = (Others::new(), HostSampler::new(), own_cpu_s());
    let end = Instant::now() + watch;
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|_| !interrupted.load(Ordering::Relaxed)) {
        thread::sleep(left.min(GLANCE));
    }
    let used = host.sample(own_cpu_s() - own);
    let named = named(&others.busiest());
    let (steal, others) = (used.steal_cores, used.others_cores);
    let steal_found = format!("{steal:.2} cores in {:.0} s", used.elapsed_s);
    let others_found = format!("{others:.2} cores in {:.0} s{named}", used.elapsed_s);
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

/// `: java (4711) 0.52, …`: the busiest of others.
fn named(busiest: &[Competitor]) -> String {
    let named = busiest.iter().take(NAMED).map(|other| format!("{} ({}) {:.2}", other.name, other.pid, other.cores));
    let named = named.collect::<Vec<_>>().join(", ");
    if named.is_empty() { named } else { format!(": {named}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_are_named() {
        let other = |name: &str, pid: u32, cores: f64| Competitor { name: name.to_owned(), pid, cores };
        let four = [other("java", 9, 1.0), other("sh", 8, 0.25), other("a b", 7, 0.1), other("c", 6, 0.05)];
        assert_eq!(named(&four), ": java (9) 1.00, sh (8) 0.25, a b (7) 0.10");
        assert_eq!(named(&[]), "");
    }
}
