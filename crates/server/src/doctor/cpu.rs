//! The processor and its clock.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;

use model::fitness::HostCheck;
use model::host::{Burst, burst};

use super::container;
use super::host::{Files, doubtful, fit, unfit, unknown};

const CPUS: &str = "sys/devices/system/cpu";

pub(super) fn checks(host: &Files) -> Vec<HostCheck> {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    vec![cores(cpus), governor(host), turbo(host), smt(host), clock(host), machine(host)]
}

/// `cpus` is how many processors this process may use.
fn cores(cpus: usize) -> HostCheck {
    match cpus {
        1 => unfit(
            "cores",
            "one processor: client and server take turns on it",
            "measure on a machine of two cores or more, and give client and server their own",
        ),
        cpus @ 2..4 => doubtful(
            "cores",
            format!("{cpus} processors: client, server and its own threads (JIT, GC) compete for them"),
            "measure where the server has as many cores as in production, and the client one more; [host] keeps them apart",
        ),
        cpus => fit("cores", format!("{cpus} processors")),
    }
}

/// Values of a file that every processor has.
fn of_all(host: &Files, file: &str) -> BTreeSet<String> {
    let names = host.names(Path::new(CPUS));
    let cpus = names.iter().filter(|name| name.strip_prefix("cpu").is_some_and(|rest| rest.parse::<u32>().is_ok()));
    cpus.filter_map(|cpu| host.text(&format!("{CPUS}/{cpu}/{file}"))).collect()
}

fn governor(host: &Files) -> HostCheck {
    let governors = of_all(host, "cpufreq/scaling_governor");
    let found = governors.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    if governors.is_empty() {
        unknown("governor", "the kernel does not scale the frequency here, or does not show it (virtual machines)")
    } else if found == "performance" {
        fit("governor", found)
    } else {
        doubtful("governor", found, "set the governor to performance: cpupower frequency-set -g performance")
    }
}

fn turbo(host: &Files) -> HostCheck {
    let off = |path: &str, value: &str| host.text(path).map(|text| text == value);
    let is_off = off("sys/devices/system/cpu/intel_pstate/no_turbo", "1")
        .or_else(|| off("sys/devices/system/cpu/cpufreq/boost", "0"));
    match is_off {
        None => {
            unknown("turbo", "the kernel does not say (virtual machines): the canary of each trial watches the speed")
        }
        Some(true) => fit("turbo", "off"),
        Some(false) => doubtful(
            "turbo",
            "on: the frequency depends on temperature and on what the other cores do",
            "switch it off while you measure: write 1 to intel_pstate/no_turbo, or 0 to cpufreq/boost, in /sys/devices/system/cpu",
        ),
    }
}

fn smt(host: &Files) -> HostCheck {
    match host.text("sys/devices/system/cpu/smt/active").as_deref() {
        None => unknown("SMT", "the kernel does not say"),
        Some("0") => fit("SMT", "processors share no core, as far as this kernel sees"),
        Some(_) => doubtful(
            "SMT",
            "two processors share a core: client and server may slow each other down",
            "keep client and server on different cores with [host] server_cpus and client_cpus, or switch SMT off",
        ),
    }
}

/// Reading any other clock is a system call or slower, and the client reads it twice a request.
fn clock(host: &Files) -> HostCheck {
    const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";
    match host.text(&format!("{FOLDER}/current_clocksource")) {
        None => unknown("clock", "the kernel does not name its clock source"),
        Some(source)
            if ["tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"].contains(&source.as_str()) =>
        {
            fit("clock", source)
        }
        Some(source) => doubtful(
            "clock",
            format!("{source}: slow to read, which costs the client and any server that measures itself"),
            "boot with clocksource=tsc where the processor's counter is stable (dmesg says why the kernel does not use it)",
        ),
    }
}

/// What kind of machine it is, and whether it is one that is slowed down when its credits are spent.
fn machine(host: &Files) -> HostCheck {
    let dmi = |name: &str| host.text(&format!("sys/devices/virtual/dmi/id/{name}"));
    let found = [dmi("sys_vendor"), dmi("product_name")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let burst = burst(&found);
    if burst == Burst::Burstable {
        unfit(
            "machine",
            format!("{found}: a burstable type, which is slowed down when its CPU credits are spent"),
            "measure on a type with cores of its own",
        )
    } else if let Some(runtime) = container::runtime(host) {
        doubtful(
            "machine",
            format!(
                "{found}{}a container ({runtime}): others on its host share cores, caches and disk",
                if found.is_empty() { "" } else { "; " }
            ),
            "measure on the host itself, or give the container cores of its own (docker and podman: --cpuset-cpus; Kubernetes: whole \
             CPUs and the static CPU manager; LXC: limits.cpu; systemd-nspawn: AllowedCPUs=)",
        )
    } else if let Burst::Unknown(types) = burst {
        unknown("machine", format!("{found}: it does not name its type; make sure that it is not burstable ({types})"))
    } else if found.is_empty() {
        unknown(
            "machine",
            "it does not name its type: if it is rented, make sure that its cores are its own (not burstable)",
        )
    } else {
        fit("machine", found)
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

    #[test]
    fn client_and_server_need_processors_to_themselves() {
        assert_eq!([1, 2, 3, 4, 64].map(|cpus| cores(cpus).fitness), [Unfit, Doubtful, Doubtful, Fit, Fit]);
    }

    #[test]
    fn a_governor_that_scales_is_doubtful() {
        let cpu =
            |number: u32, governor: &'static str| (format!("{CPUS}/cpu{number}/cpufreq/scaling_governor"), governor);
        let with = |governors: [&'static str; 2]| {
            let files = [cpu(0, governors[0]), cpu(1, governors[1])];
            of(&files.each_ref().map(|(path, text)| (path.as_str(), *text)))
        };
        assert_eq!(fitness(&with(["performance\n", "performance\n"]), "governor"), Fit);
        assert_eq!(fitness(&with(["performance\n", "powersave\n"]), "governor"), Doubtful);
        assert_eq!(fitness(&of(&[("sys/devices/system/cpu/cpufreq/x", "")]), "governor"), Unknown);
    }

    #[test]
    fn turbo_and_smt_are_reported_by_either_vendors_file() {
        assert_eq!(fitness(&of(&[("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n")]), "turbo"), Fit);
        assert_eq!(fitness(&of(&[("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")]), "turbo"), Doubtful);
        assert_eq!(fitness(&of(&[("sys/devices/system/cpu/cpufreq/boost", "1\n")]), "turbo"), Doubtful);
        assert_eq!(fitness(&of(&[("sys/devices/system/cpu/smt/active", "1\n")]), "SMT"), Doubtful);
        assert_eq!(fitness(&of(&[]), "turbo"), Unknown);
    }

    #[test]
    fn a_slow_clock_and_a_burstable_machine_are_found() {
        let clock = |name: &str| of(&[("sys/devices/system/clocksource/clocksource0/current_clocksource", name)]);
        assert_eq!(fitness(&clock("tsc\n"), "clock"), Fit);
        assert_eq!(fitness(&clock("acpi_pm\n"), "clock"), Doubtful);
        let machine = |vendor: &str, name: &str| {
            of(&[("sys/devices/virtual/dmi/id/sys_vendor", vendor), ("sys/devices/virtual/dmi/id/product_name", name)])
        };
        assert_eq!(fitness(&machine("Amazon EC2\n", "t3.medium\n"), "machine"), Unfit);
        assert_eq!(fitness(&machine("Amazon EC2\n", "c7i.large\n"), "machine"), Fit);
        assert_eq!(fitness(&machine("Google\n", "Google Compute Engine\n"), "machine"), Unknown);
        assert_eq!(fitness(&of(&[]), "machine"), Unknown);
        assert_eq!(fitness(&of(&[(".dockerenv", "")]), "machine"), Doubtful);
    }
}
