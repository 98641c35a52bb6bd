//! What the host did, and what it is.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Instant;

use model::{HostFacts, HostUse};
use rustix::param::clock_ticks_per_second;

use super::throttle::Throttle;

/// Samples the host.
#[derive(Debug, Clone)]
pub struct HostSampler {
    at: Instant,
    busy_s: f64,
    steal_s: f64,
    throttled_s: f64,
    throttle: Throttle,
    cores_s: Vec<f64>,
    pressure_s: Option<f64>,
    frequencies: Vec<PathBuf>,
}

impl HostSampler {
    /// Starts the first span now.
    pub fn new() -> Self {
        let throttle = Throttle::of("self");
        let stat = stat();
        let (busy_s, steal_s) = parse_cpu(&stat, ticks());
        let cores_s = parse_cores(&stat, ticks());
        Self {
            at: Instant::now(),
            busy_s,
            steal_s,
            throttled_s: throttle.seconds(),
            throttle,
            pressure_s: pressure_s(),
            frequencies: frequency_files(cores_s.len()),
            cores_s,
        }
    }

    /// The host's use since the last sample (or since this sampler was made). `own_cpu_s` is the CPU time that the launched
    /// trees and bakeoff itself used in the same span, seconds.
    pub fn sample(&mut self, own_cpu_s: f64) -> HostUse {
        let (now, stat) = (Instant::now(), stat());
        let (busy_s, steal_s) = parse_cpu(&stat, ticks());
        let (cores_s, pressure_s, throttled_s) = (parse_cores(&stat, ticks()), pressure_s(), self.throttle.seconds());
        let elapsed_s = now.duration_since(self.at).as_secs_f64();
        let cores = |seconds: f64| if elapsed_s > 0.0 { seconds.max(0.0) / elapsed_s } else { 0.0 };
        let share = |seconds: f64| (cores(seconds).min(1.0) * 100.0).round() / 100.0;
        let per_core: Vec<f64> = cores_s.iter().zip(&self.cores_s).map(|(now, before)| share(now - before)).collect();
        let sampled = HostUse {
            elapsed_s,
            busy_cores: cores(busy_s - self.busy_s),
            steal_cores: cores(steal_s - self.steal_s),
            others_cores: cores(busy_s - self.busy_s - own_cpu_s),
            noisy_neighbour: None,
            services_cores: None,
            waiting_cores: None,
            swapped_bytes: None,
            throttled_s: (throttled_s - self.throttled_s).max(0.0),
            pressure: pressure_s.zip(self.pressure_s).map(|(now, before)| cores(now - before).min(1.0)),
            mhz: frequency(&self.frequencies, &per_core),
            per_core,
        };
        (self.at, self.busy_s, self.steal_s, self.throttled_s) = (now, busy_s, steal_s, throttled_s);
        (self.cores_s, self.pressure_s) = (cores_s, pressure_s);
        sampled
    }
}

impl Default for HostSampler {
    fn default() -> Self {
        Self::new()
    }
}

fn stat() -> String {
    fs::read_to_string("/proc/stat").unwrap_or_default()
}

fn ticks() -> f64 {
    clock_ticks_per_second() as f64
}

/// Busy and stolen seconds of all processors together, since boot.
fn parse_cpu(stat: &str, ticks_per_second: f64) -> (f64, f64) {
    parse_line(stat.lines().next().unwrap_or_default(), ticks_per_second)
}

fn parse_line(line: &str, ticks_per_second: f64) -> (f64, f64) {
    let fields = line.split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    let seconds = |index: usize| ticks.get(index).copied().unwrap_or_default() / ticks_per_second;
    // user, nice, system, irq, softirq; a guest's time is in user already. Idle and waiting for I/O are not busy.
    ([0, 1, 2, 5, 6].into_iter().map(seconds).sum(), seconds(7))
}

/// Busy seconds of each processor, in the kernel's order.
fn parse_cores(stat: &str, ticks_per_second: f64) -> Vec<f64> {
    let lines = stat.lines().skip(1).take_while(|line| line.starts_with("cpu"));
    lines.map(|line| parse_line(line, ticks_per_second).0).collect()
}

/// Seconds in which some task of the host waited for a processor.
fn pressure_s() -> Option<f64> {
    parse_pressure(&fs::read_to_string("/proc/pressure/cpu").ok()?)
}

fn parse_pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some.split_whitespace().find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<f64>().ok()? / 1e6)
}

/// The files with each processor's frequency in kHz; none on most virtual machines.
fn frequency_files(cpus: usize) -> Vec<PathBuf> {
    let file = |cpu| PathBuf::from(format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"));
    (0..cpus).map(file).filter(|file| file.is_file()).collect()
}

/// The mean of the frequencies, MHz, weighted by how busy the cores were: an idle core's frequency slows nobody.
fn frequency(files: &[PathBuf], busy: &[f64]) -> Option<f64> {
    let khz = files.iter().map(|file| fs::read_to_string(file).ok()?.trim().parse::<f64>().ok());
    let weighted: Vec<(f64, f64)> = khz.zip(busy).filter_map(|(khz, busy)| Some((khz? / 1e3, *busy))).collect();
    let weights: f64 = weighted.iter().map(|(_, busy)| busy).sum();
    (weights > 0.0).then(|| weighted.iter().map(|(mhz, busy)| mhz * busy).sum::<f64>() / weights)
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
        machine: machine(),
        backend: None,
        floor: None,
    }
}

/// Maker and product as the firmware names them.
fn machine() -> Option<String> {
    let name = |what: &str| fs::read_to_string(format!("/sys/class/dmi/id/{what}")).ok();
    let names = [name("sys_vendor"), name("product_name")];
    let names: Vec<String> = names.into_iter().flatten().map(|name| name.trim().to_owned()).collect();
    let machine = names.join(" ").trim().to_owned();
    (!machine.is_empty()).then_some(machine)
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
    fn cores_and_pressure_are_read() {
        let cores = parse_cores("cpu  9 9 9 9\ncpu0 100 0 50 7\ncpu1 10 0 0 7\nintr 5\n", 100.0);
        assert_eq!(cores, [1.5, 0.1]);
        let pressure = "some avg10=0.02 avg60=1.21 avg300=3.94 total=2500000\nfull avg10=0.00 total=7\n";
        assert_eq!(parse_pressure(pressure), Some(2.5));
        assert_eq!(parse_pressure(""), None);
    }

    #[test]
    fn the_frequency_is_that_of_the_busy_cores() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, khz: &str| {
            fs::write(dir.path().join(name), khz).unwrap();
            dir.path().join(name)
        };
        let files = [file("0", "3000000\n"), file("1", "1000000\n")];
        assert_eq!(frequency(&files, &[0.5, 0.0]), Some(3_000.0));
        assert_eq!(frequency(&files, &[0.5, 0.5]), Some(2_000.0));
        assert_eq!(frequency(&[], &[0.5, 0.5]), None);
    }

    #[test]
    fn this_host_is_known() {
        let facts = host_facts();
        assert!(facts.cpus > 0 && facts.memory_bytes > 1 << 20, "{facts:?}");
        assert!(!facts.kernel.is_empty() && !facts.cpu_model.is_empty() && !facts.os.contains('"'), "{facts:?}");
        let mut sampler = HostSampler::new();
        let quiet = sampler.sample(1e9);
        assert!(quiet.others_cores == 0.0 && quiet.busy_cores >= 0.0, "{quiet:?}");
        assert!(quiet.per_core.len() >= facts.cpus as usize, "{quiet:?}");
    }
}
