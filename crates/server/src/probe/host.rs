//! What the host did, and what it is.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use model::{HostFacts, HostUse};
use rustix::param::clock_ticks_per_second;

/// Samples the host.
#[derive(Debug, Clone)]
pub struct HostSampler {
    at: Instant,
    busy_s: f64,
    steal_s: f64,
    throttled_s: f64,
    throttle: Option<PathBuf>,
}

impl HostSampler {
    /// Starts the first span now.
    pub fn new() -> Self {
        let throttle = throttle_file();
        let (busy_s, steal_s) = cpu_seconds();
        Self { at: Instant::now(), busy_s, steal_s, throttled_s: throttled_seconds(throttle.as_ref()), throttle }
    }

    /// The host's use since the last sample (or since this sampler was made). `own_cpu_s` is the CPU time that the launched
    /// trees and bakeoff itself used in the same span, seconds.
    pub fn sample(&mut self, own_cpu_s: f64) -> HostUse {
        let (now, (busy_s, steal_s)) = (Instant::now(), cpu_seconds());
        let throttled_s = throttled_seconds(self.throttle.as_ref());
        let elapsed_s = now.duration_since(self.at).as_secs_f64();
        let cores = |seconds: f64| if elapsed_s > 0.0 { seconds.max(0.0) / elapsed_s } else { 0.0 };
        let sampled = HostUse {
            elapsed_s,
            busy_cores: cores(busy_s - self.busy_s),
            steal_cores: cores(steal_s - self.steal_s),
            others_cores: cores(busy_s - self.busy_s - own_cpu_s),
            throttled_s: (throttled_s - self.throttled_s).max(0.0),
        };
        (self.at, self.busy_s, self.steal_s, self.throttled_s) = (now, busy_s, steal_s, throttled_s);
        sampled
    }
}

impl Default for HostSampler {
    fn default() -> Self {
        Self::new()
    }
}

/// Busy and stolen seconds of all processors together, since boot.
fn cpu_seconds() -> (f64, f64) {
    parse_cpu(&fs::read_to_string("/proc/stat").unwrap_or_default(), clock_ticks_per_second() as f64)
}

fn parse_cpu(stat: &str, ticks_per_second: f64) -> (f64, f64) {
    let fields = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    let seconds = |index: usize| ticks.get(index).copied().unwrap_or_default() / ticks_per_second;
    // user, nice, system, irq, softirq; a guest's time is in user already. Idle and waiting for I/O are not busy.
    ([0, 1, 2, 5, 6].into_iter().map(seconds).sum(), seconds(7))
}

/// The `cpu.stat` of this process's control group: version 2 where it has the CPU controller, otherwise version 1.
fn throttle_file() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = |controller: &str| {
        let line = groups
            .lines()
            .find(|line| line.split(':').nth(1).is_some_and(|names| names.split(',').any(|name| name == controller)))?;
        Some(line.splitn(3, ':').nth(2)?.trim_start_matches('/').to_owned())
    };
    let candidates = [
        path("").map(|path| PathBuf::from("/sys/fs/cgroup").join(path)),
        path("cpu").map(|path| PathBuf::from("/sys/fs/cgroup/cpu").join(path)),
        path("cpu").map(|path| PathBuf::from("/sys/fs/cgroup/cpu,cpuacct").join(path)),
    ];
    let files = candidates.into_iter().flatten().map(|folder| folder.join("cpu.stat"));
    files.into_iter().find(|file| fs::read_to_string(file).is_ok_and(|text| parse_throttled(&text).is_some()))
}

fn throttled_seconds(file: Option<&PathBuf>) -> f64 {
    file.and_then(|file| parse_throttled(&fs::read_to_string(file).ok()?)).unwrap_or_default()
}

fn parse_throttled(stat: &str) -> Option<f64> {
    stat.lines().find_map(|line| match line.split_once(' ')? {
        ("throttled_usec", microseconds) => Some(microseconds.parse::<f64>().ok()? / 1e6),
        ("throttled_time", nanoseconds) => Some(nanoseconds.parse::<f64>().ok()? / 1e9),
        _ => None,
    })
}

/// What the machine is.
pub fn host_facts() -> HostFacts {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.map(|value| value.trim_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '"')).to_owned())
    };
    let memory = field(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
    let kibibytes = memory.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    let cpu = read("/proc/cpuinfo");
    HostFacts {
        os: field(&read("/etc/os-release"), "PRETTY_NAME=").unwrap_or_else(|| "Linux".to_owned()),
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        cpu_model: field(&cpu, "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cpus: thread::available_parallelism().map_or(1, |cpus| cpus.get() as u32),
        memory_bytes: kibibytes.unwrap_or_default() * 1024,
        engine: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_all_but_idle_waiting_and_stolen() {
        let (busy, steal) = parse_cpu("cpu  100 20 30 9999 888 4 6 50 70 0\ncpu0 1 1 1 1\n", 100.0);
        assert!((busy - 1.6).abs() < 1e-9, "{busy}");
        assert!((steal - 0.5).abs() < 1e-9, "{steal}");
    }

    #[test]
    fn throttling_is_read_from_both_versions() {
        assert_eq!(parse_throttled("usage_usec 7\nthrottled_usec 2500000\n"), Some(2.5));
        assert_eq!(parse_throttled("nr_periods 7\nthrottled_time 2500000000\n"), Some(2.5));
        assert_eq!(parse_throttled("usage_usec 7\n"), None);
    }

    #[test]
    fn this_host_is_known() {
        let facts = host_facts();
        assert!(facts.cpus > 0 && facts.memory_bytes > 1 << 20, "{facts:?}");
        assert!(!facts.kernel.is_empty() && !facts.cpu_model.is_empty() && !facts.os.contains('"'), "{facts:?}");
        let mut sampler = HostSampler::new();
        let quiet = sampler.sample(1e9);
        assert!(quiet.others_cores == 0.0 && quiet.busy_cores >= 0.0, "{quiet:?}");
    }
}
