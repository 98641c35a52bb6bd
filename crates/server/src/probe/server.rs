//! What a server does, seen from outside.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use model::{ServerUse, Switches};

use super::jvm::JvmSampler;
use super::throttle::Throttle;
use super::tree::ProcessTree;
use super::watched::Watched;
use crate::proc::{self, Process};
use crate::serving::Serving;

/// Samples a server: its whole process tree, its control group, its JVM. Made for 1 Hz.
#[derive(Debug)]
pub struct ServerSampler {
    tree: ProcessTree,
    more: More,
    watched: Watched,
    /// The processes that ran at the last sample.
    running: HashSet<u32>,
    /// Samples so far.
    samples: u32,
}

#[derive(Debug)]
struct More {
    /// Of each thread, up to the last sample.
    switches: HashMap<u32, Switches>,
    /// Of a control group that is not ours, and its seconds up to the last sample.
    throttle: Option<(Throttle, f64)>,
    jvm: Option<JvmSampler>,
}

impl ServerSampler {
    /// Of what runs in `tree`, where `serving` serves, whose log of garbage collections would be in `trial_dir`.
    pub(crate) fn new(mut tree: ProcessTree, serving: &Serving, trial_dir: &Path, watched: Watched) -> Self {
        let processes = tree.sample().map(|used| used.processes).unwrap_or_default();
        let running = pids(&processes);
        Self { tree, more: More::new(&processes, serving, trial_dir), watched, running, samples: 0 }
    }

    /// What it used since the last sample (or since this sampler was made); `None` when nothing of it runs.
    pub fn sample(&mut self) -> Option<ServerUse> {
        let used = self.tree.sample()?;
        let running = pids(&used.processes);
        let before = std::mem::replace(&mut self.running, running);
        let ended = before.difference(&self.running).count() as u32;
        let mut sampled = ServerUse {
            ended: (ended > 0).then_some(ended),
            cpu_s: used.cpu_s,
            system_s: Some(used.system_s),
            rss_bytes: used.processes.iter().map(|process| process.rss_bytes).sum(),
            threads: used.processes.iter().map(|process| process.threads).sum(),
            ..ServerUse::default()
        };
        if self.watched.includes(self.samples) {
            self.more.sample(&used.processes, &mut sampled);
        }
        self.samples += 1;
        Some(sampled)
    }

    /// Memory with shared pages divided among those who share them, bytes. The server waits while the kernel counts: for
    /// after a load.
    pub fn pss_bytes(&mut self) -> Option<u64> {
        let processes = self.tree.sample()?.processes;
        processes.iter().map(|process| proc::pss_bytes(process.pid)).sum()
    }
}

impl More {
    fn new(processes: &[Process], serving: &Serving, trial_dir: &Path) -> Self {
        let throttle = Throttle::of(&serving.pid.to_string());
        let throttle = Some(throttle).filter(|throttle| *throttle != Throttle::of("self"));
        let jvm = serving.jvm().ok().flatten().map(|jvm| jvm.pid);
        Self {
            switches: switches(processes),
            throttle: throttle.map(|throttle| (throttle.clone(), throttle.seconds())),
            jvm: JvmSampler::of(jvm, trial_dir),
        }
    }

    fn sample(&mut self, processes: &[Process], sampled: &mut ServerUse) {
        let now = switches(processes);
        let since = now.iter().map(|(thread, now)| {
            let before = self.switches.get(thread).copied().unwrap_or_default();
            (now.voluntary.saturating_sub(before.voluntary), now.involuntary.saturating_sub(before.involuntary))
        });
        let switched = since.fold(Switches::default(), |sum, (voluntary, involuntary)| Switches {
            voluntary: sum.voluntary + voluntary,
            involuntary: sum.involuntary + involuntary,
        });
        self.switches = now;
        sampled.switches = Some(switched);
        sampled.throttled_s = self.throttle.as_mut().map(|(throttle, before)| {
            let now = throttle.seconds();
            (now - std::mem::replace(before, now)).max(0.0)
        });
        sampled.jvm = self.jvm.as_mut().map(JvmSampler::sample);
    }
}

fn pids(processes: &[Process]) -> HashSet<u32> {
    processes.iter().map(|process| process.pid).collect()
}

fn switches(processes: &[Process]) -> HashMap<u32, Switches> {
    let mut counts = HashMap::new();
    for process in processes {
        proc::switches(process.pid, &mut counts);
    }
    counts
}
