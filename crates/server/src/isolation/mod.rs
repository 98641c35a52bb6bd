//! Keeping the processes of a study apart: processors of their own, what a control group allows, a network of their own.

mod cpus;
mod error;
mod group;
mod network;

use std::panic::resume_unwind;
use std::thread;

use model::study::{Isolation, Limits};
use model::text;
use runtimes::Limit;

pub use cpus::Pinned;
pub(crate) use cpus::{count, pin};
pub use error::IsolationError;
pub(crate) use group::{Group, confine, live};
pub use network::own_network;

/// What of this cannot be had on this host. All of it is tried as a trial does it, and given back.
pub fn unavailable<'a>(host: &Isolation, mut limits: impl Iterator<Item = &'a Limits>) -> Vec<IsolationError> {
    let cpus = [&host.server_cpus, &host.client_cpus].map(|cpus| Pinned::to(cpus).err());
    let group = limits.find_map(|limits| Group::new(limits).err());
    // There is no way back from a network: for a thread that ends.
    let tried = || thread::scope(|scope| scope.spawn(own_network).join().unwrap_or_else(|panic| resume_unwind(panic)));
    let network = host.own_network.then(tried).and_then(Result::err);
    cpus.into_iter().chain([group, network]).flatten().collect()
}

/// Those of these limits that limit nothing, by their key in `limits`, and why: a server that may use so many processors of a
/// host with so much memory cannot get beyond them.
pub fn beyond(limits: &Limits, cpus: usize, memory_bytes: u64) -> Vec<(Limit, String)> {
    let cores = limits.cpus.filter(|cores| *cores >= cpus as f64).map(|cores| {
        let there = text::plural(cpus as u64, "processor");
        (Limit::Cpus, format!("a limit of {cores} cores is none here: the server may use {there} only"))
    });
    let memory = limits.memory_bytes.filter(|bytes| *bytes >= memory_bytes).map(|bytes| {
        let [limit, there] = [bytes, memory_bytes].map(|bytes| text::bytes(bytes as f64));
        (Limit::Memory, format!("a limit of {limit} is none here: there are {there} only"))
    });
    cores.into_iter().chain(memory).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_cannot_get_beyond_is_no_limit() {
        let named = |cpus: f64, memory_bytes: u64, allowed: usize| {
            let limits = Limits { cpus: Some(cpus), memory_bytes: Some(memory_bytes) };
            beyond(&limits, allowed, 4 << 30).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(named(1.9, (4 << 30) - 1, 2), []);
        assert_eq!(named(2.0, 1 << 30, 2), [Limit::Cpus]);
        assert_eq!(named(1.5, 4 << 30, 1), [Limit::Cpus, Limit::Memory]);
        assert!(beyond(&Limits::default(), 1, 1).is_empty());
        let reported = beyond(&Limits { cpus: Some(1.5), memory_bytes: None }, 1, 1);
        assert_eq!(reported[0].1, "a limit of 1.5 cores is none here: the server may use 1 processor only");
    }

    #[test]
    fn what_nobody_asks_for_is_not_lacking() {
        assert!(unavailable(&Isolation::default(), [Limits::default()].iter()).is_empty());
    }

    #[test]
    fn what_is_not_there_is_reported_once_for_each() {
        let host = Isolation { server_cpus: vec![0, 1_000], client_cpus: vec![2_000], own_network: false };
        let reported: Vec<String> = unavailable(&host, [].iter()).iter().map(ToString::to_string).collect();
        assert_eq!(reported.len(), 2, "{reported:?}");
        assert!(reported[0].contains("[0, 1000]") && reported[1].contains("[2000]"), "{reported:?}");
    }
}
