//! What the system allows, and what it does with memory.

use std::path::Path;

use model::fitness::HostCheck;
use rustix::process::{Resource, getrlimit};

use super::host::{Files, doubtful, fit, unfit, unknown};
use crate::cgroup::{self, Controller, Quota};

/// Open files that a load of 10,000 connections needs on the side of a server that we launch.
const FILES: u64 = 20_000;
/// Ports towards one address below which a load without keep-alive runs out of them within seconds.
const PORTS: u32 = 20_000;

pub(super) fn checks(host: &Files) -> Vec<HostCheck> {
    vec![files(getrlimit(Resource::Nofile).maximum), ports(host), quota(host), swap(host), huge_pages(host)]
}

/// `most` is the hard limit of open files; `None` where there is none.
fn files(most: Option<u64>) -> HostCheck {
    match most {
        Some(most) if most < FILES => doubtful(
            "open files",
            format!("at most {most} a process: connections beyond that cannot be opened"),
            "raise the hard limit: ulimit -Hn, LimitNOFILE= in systemd, or limits.conf",
        ),
        most => fit("open files", most.map_or_else(|| "no limit".to_owned(), |most| format!("up to {most} a process"))),
    }
}

fn ports(host: &Files) -> HostCheck {
    let range = host.text("proc/sys/net/ipv4/ip_local_port_range");
    let ends = range.as_ref().and_then(|range| {
        let mut words = range.split_whitespace().map(str::parse::<u32>);
        Some((words.next()?.ok()?, words.next()?.ok()?))
    });
    match ends {
        None => unknown("ports", "the kernel does not say which it gives out"),
        Some((first, last)) if last.saturating_sub(first) < PORTS => doubtful(
            "ports",
            format!(
                "{first} to {last}: few for a load without keep-alive, each of whose connections keeps one for a minute"
            ),
            "widen them: sysctl net.ipv4.ip_local_port_range='15000 65000'",
        ),
        Some((first, last)) => fit("ports", format!("{first} to {last}")),
    }
}

/// The least CPU time that the control groups around us allow: what is above holds for what is below.
fn quota(host: &Files) -> HostCheck {
    let groups = cgroup::around(&host.root, "self", Controller::Cpu);
    let quotas = groups.iter().filter_map(|group| Some((group, group.quota()?)));
    match quotas.min_by(|(_, one), (_, other)| one.cores.total_cmp(&other.cores)) {
        Some((group, Quota { cores, period_us })) => unfit(
            "CPU quota",
            format!(
                "{cores:.2} cores for bakeoff and all that it launches, by {}: whoever uses more is stopped for up to {:.0} ms at a time",
                Path::new("/").join(group.folder.strip_prefix(&host.root).unwrap_or(&group.folder)).display(),
                period_us / 1e3
            ),
            "measure without a quota (docker: no --cpus; systemd: no CPUQuota=; Kubernetes: no CPU limit), and give the server the one of production as a factor",
        ),
        None => fit("CPU quota", "none"),
    }
}

fn swap(host: &Files) -> HostCheck {
    let swaps = host.text("proc/swaps").unwrap_or_default();
    match swaps.lines().count().saturating_sub(1) {
        0 => fit("swap", "none"),
        _ => doubtful(
            "swap",
            "on: a heap of which a part is on disk answers in milliseconds what it answered in nanoseconds",
            "switch it off while you measure: swapoff -a",
        ),
    }
}

fn huge_pages(host: &Files) -> HostCheck {
    let modes = host.text("sys/kernel/mm/transparent_hugepage/enabled");
    let chosen = modes.as_ref().and_then(|modes| Some(modes.split_once('[')?.1.split_once(']')?.0.to_owned()));
    match chosen.as_deref() {
        None => unknown("huge pages", "the kernel does not say"),
        Some("always") => doubtful(
            "huge pages",
            "always: when memory becomes huge pages is up to the kernel, and differs from launch to launch",
            "let programs ask: write madvise to /sys/kernel/mm/transparent_hugepage/enabled (JVMs ask with -XX:+UseTransparentHugePages)",
        ),
        Some(mode) => fit("huge pages", mode),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{fitness, host};
    use super::*;
    use model::fitness::Fitness::{Doubtful, Fit, Unfit, Unknown};

    fn of(files: &[(&str, &str)]) -> Vec<HostCheck> {
        checks(&host(files).1)
    }

    const TWO: (&str, &str) = ("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");

    #[test]
    fn a_quota_is_found_in_both_versions_of_control_groups() {
        let two = |max: &str| of(&[TWO, ("proc/self/cgroup", "0::/a/b\n"), ("sys/fs/cgroup/a/b/cpu.max", max)]);
        assert_eq!(fitness(&two("150000 100000\n"), "CPU quota"), Unfit);
        assert_eq!(fitness(&two("max 100000\n"), "CPU quota"), Fit);
        let found = two("150000 100000\n").remove(2).found;
        assert!(found.contains("1.50 cores") && found.contains("100 ms"), "{found}");
        let one = |quota: &str| {
            of(&[
                ("proc/self/cgroup", "4:cpu,cpuacct:/a\n0::/\n"),
                ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", quota),
                ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
            ])
        };
        assert_eq!(fitness(&one("50000\n"), "CPU quota"), Unfit);
        assert_eq!(fitness(&one("-1\n"), "CPU quota"), Fit);
        // What is below `/` in a container is its own group, whatever the name outside.
        let inside = of(&[TWO, ("proc/self/cgroup", "0::/outside\n"), ("sys/fs/cgroup/cpu.max", "50000 100000\n")]);
        assert_eq!(fitness(&inside, "CPU quota"), Unfit);
    }

    #[test]
    fn the_tightest_quota_of_the_groups_around_us_holds() {
        let mut checks = of(&[
            TWO,
            ("proc/self/cgroup", "0::/slice/service/job\n"),
            ("sys/fs/cgroup/slice/cpu.max", "80000 100000\n"),
            ("sys/fs/cgroup/slice/service/cpu.max", "400000 100000\n"),
            ("sys/fs/cgroup/slice/service/job/cpu.max", "max 100000\n"),
        ]);
        assert_eq!(fitness(&checks, "CPU quota"), Unfit);
        let found = checks.remove(2).found;
        assert!(found.contains("0.80 cores") && found.contains("by /sys/fs/cgroup/slice:"), "{found}");
    }

    #[test]
    fn a_hard_limit_below_the_connections_of_a_large_load_is_doubtful() {
        assert_eq!([Some(1_024), Some(19_999)].map(|most| files(most).fitness), [Doubtful; 2]);
        assert_eq!([Some(20_000), None].map(|most| files(most).fitness), [Fit; 2]);
    }

    #[test]
    fn few_ports_swap_and_huge_pages_are_doubtful() {
        let ports = |range: &str| of(&[("proc/sys/net/ipv4/ip_local_port_range", range)]);
        assert_eq!(fitness(&ports("32768\t60999\n"), "ports"), Fit);
        assert_eq!(fitness(&ports("50000\t60999\n"), "ports"), Doubtful);
        assert_eq!(fitness(&of(&[]), "ports"), Unknown);
        let swaps = |lines: &str| of(&[("proc/swaps", lines)]);
        assert_eq!(fitness(&swaps("Filename Type Size Used Priority\n"), "swap"), Fit);
        assert_eq!(fitness(&swaps("Filename Type Size Used Priority\n/swap file 9 0 -2\n"), "swap"), Doubtful);
        let pages = |modes: &str| of(&[("sys/kernel/mm/transparent_hugepage/enabled", modes)]);
        assert_eq!(fitness(&pages("always [madvise] never\n"), "huge pages"), Fit);
        assert_eq!(fitness(&pages("[always] madvise never\n"), "huge pages"), Doubtful);
    }
}
