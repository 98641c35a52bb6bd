//! What others do with this host meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::fitness::HostCheck;
use model::{HostUse, NoisyNeighbour};

use super::host::{doubtful, fit, unfit};
use crate::probe::{HostSampler, Others, own_cpu_s};
use crate::supervise::GLANCE;

/// Cores that the hypervisor may take before results become noisier: from there on a run's `host-noise` reports it.
const NOTICEABLE_STEAL: f64 = 0.03;
/// Cores that others may take.
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
    judged(&host.sample(own_cpu_s() - own), &others.busiest())
}

/// What it means.
fn judged(used: &HostUse, busiest: &[NoisyNeighbour]) -> Vec<HostCheck> {
    let (steal, others) = (used.steal_cores, used.others_cores);
    let steal_found = format!("{steal:.2} cores in {:.0} s", used.elapsed_s);
    let others_found = format!("{others:.2} cores in {:.0} s{}", used.elapsed_s, named(busiest));
    vec![
        match steal {
            ..NOTICEABLE_STEAL => fit("steal", steal_found),
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
fn named(busiest: &[NoisyNeighbour]) -> String {
    let named = busiest.iter().take(NAMED).map(|other| format!("{} ({}) {:.2}", other.name, other.pid, other.cores));
    let named = named.collect::<Vec<_>>().join(", ");
    if named.is_empty() { named } else { format!(": {named}") }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fitness;
    use super::*;
    use model::fitness::Fitness::{Doubtful, Fit, Unfit};

    fn other(name: &str, pid: u32, cores: f64) -> NoisyNeighbour {
        NoisyNeighbour { name: name.to_owned(), pid, cores }
    }

    #[test]
    fn the_busiest_are_named() {
        let four = [other("java", 9, 1.0), other("sh", 8, 0.25), other("a b", 7, 0.1), other("c", 6, 0.05)];
        assert_eq!(named(&four), ": java (9) 1.00, sh (8) 0.25, a b (7) 0.10");
        assert_eq!(named(&[]), "");
    }

    /// Of steal a thirtieth of a core is noticed, of others a twentieth; half a core is too much; of time that is stopped any is.
    #[test]
    fn what_others_take_is_noticed_and_may_be_too_much() {
        let by = |used: HostUse| {
            let checks = judged(&HostUse { elapsed_s: 10.0, ..used }, &[]);
            [fitness(&checks, "steal"), fitness(&checks, "competing load")]
        };
        for (steal_cores, expected) in [(0.0, Fit), (0.029, Fit), (0.03, Doubtful), (0.49, Doubtful), (0.5, Unfit)] {
            assert_eq!(by(HostUse { steal_cores, ..HostUse::default() }), [expected, Fit], "{steal_cores}");
        }
        for (others_cores, expected) in [(0.0, Fit), (0.049, Fit), (0.05, Doubtful), (0.49, Doubtful), (0.5, Unfit)] {
            assert_eq!(by(HostUse { others_cores, ..HostUse::default() }), [Fit, expected], "{others_cores}");
        }
        let stopped = |throttled_s| judged(&HostUse { throttled_s, ..HostUse::default() }, &[]);
        assert_eq!([0.0, 0.01].map(|seconds| fitness(&stopped(seconds), "throttling")), [Fit, Unfit]);
    }

    #[test]
    fn whose_load_it_is_is_reported() {
        let used = HostUse { elapsed_s: 10.0, others_cores: 1.25, ..HostUse::default() };
        let checks = judged(&used, &[other("java", 9, 1.25)]);
        let found = checks.iter().find(|check| check.subject == "competing load").unwrap();
        assert_eq!(found.found, "1.25 cores in 10 s: java (9) 1.25");
    }
}
