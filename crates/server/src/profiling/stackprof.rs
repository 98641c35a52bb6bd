//! Samples that MRI takes of itself, by the gem `stackprof` where it is there: every Ruby process of the server does so in a thread
//! of its own, for as long as a file is there.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::profiling::{Recording, StackSamples, Sum, Sums};
use serde::Deserialize;

use crate::proc;
use crate::runtime::base_env;
use crate::tool;

/// Ruby code for the probe that every Ruby process of a launch requires that is to be recorded.
pub(crate) const PROBE: &str = include_str!("stackprof.rb");

/// How long a Ruby may take to say where the gem is.
const FOUND_WITHIN: Duration = Duration::from_secs(20);
/// How long a process may take to begin: it looks for the file ten times a second.
const BEGUN_WITHIN: Duration = Duration::from_secs(10);
/// Of adding up what it has sampled.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);
/// Entries of a list that are kept.
const LISTED: usize = 100;

/// Samples that are being taken, until this is ended or dropped.
#[derive(Debug)]
pub struct Sampling {
    folder: PathBuf,
    pids: Vec<u32>,
    /// Ends the waiting, when raised.
    interrupted: Arc<AtomicBool>,
}

/// What a process says when it has begun, and what it has seen when it has ended.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ProcessSamples {
    /// Why it cannot.
    error: Option<String>,
    methods: HashMap<String, u64>,
    ruby_methods: HashMap<String, u64>,
}

impl Sampling {
    /// Begins in the Ruby processes `pids` of the trial in `folder`, all of them or none; the reason in words where that cannot be.
    pub(crate) fn start(pids: Vec<u32>, folder: &Path, interrupted: Arc<AtomicBool>) -> Result<Self, String> {
        let sampling = Self { folder: folder.to_owned(), pids, interrupted };
        let (file, unfinished) = (sampling.wanted(), folder.join("probe.sample.unfinished"));
        let folders = sampling.pids.first().and_then(|pid| folders(*pid)).unwrap_or_default();
        let written = fs::write(&unfinished, folders).and_then(|()| fs::rename(&unfinished, &file));
        written.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        for pid in &sampling.pids {
            let begun = sampling.reported(*pid, "sampling", BEGUN_WITHIN).ok_or_else(|| {
                format!(
                    "Ruby process {pid} takes no samples of itself: it does not require bakeoff's probe, as after a change of RUBYOPT \
                     or with a space in the path of this run's files, it was forked by a Ruby before 3.1, or it is too busy"
                )
            })?;
            if let Some(error) = begun.error {
                let is_missing = error.contains("cannot load such file");
                let cure = if is_missing { "; on Debian: apt-get install ruby-stackprof" } else { "" };
                return Err(format!(
                    "MRI takes samples of itself by the gem stackprof, which cannot be had here: {error}{cure}"
                ));
            }
        }
        Ok(sampling)
    }

    /// Ends them and adds them up, those of processes forked meanwhile too. The files stay.
    pub(super) fn end(self) -> Recording {
        match self.sums() {
            Ok((file, sums)) => Recording::Stackprof { file, stack_samples: Box::new(sums) },
            Err(reason) => Recording::None { reason },
        }
    }

    fn sums(&self) -> Result<(PathBuf, StackSamples), String> {
        self.stop();
        let mut all = Vec::new();
        for pid in self.sampled() {
            let reported = self.reported(pid, "samples", ANSWER_WITHIN);
            // One that came meanwhile may have gone meanwhile.
            let Some(reported) = reported.or_else(|| (!self.pids.contains(&pid)).then(ProcessSamples::default)) else {
                return Err(format!("Ruby process {pid} ended, and its samples with it"));
            };
            if let Some(error) = reported.error {
                return Err(format!("the samples of Ruby process {pid} cannot be read: {error}"));
            }
            all.push((pid, reported));
        }
        let most = all.iter().max_by_key(|(_, reported)| reported.methods.values().sum::<u64>()).map(|(pid, _)| *pid);
        let file = self.folder.join(format!("probe.{}.stackprof", most.unwrap_or_default()));
        let sums =
            |of: fn(&ProcessSamples) -> &HashMap<String, u64>| added_up(all.iter().map(|(_, reported)| of(reported)));
        Ok((
            file,
            StackSamples {
                methods: sums(|reported| &reported.methods),
                ruby_methods: sums(|reported| &reported.ruby_methods),
            },
        ))
    }

    /// All processes that have begun, those that came later as well.
    fn sampled(&self) -> Vec<u32> {
        let names = fs::read_dir(&self.folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let pid = |name: &str| name.strip_prefix("probe.")?.strip_suffix(".sampling.json")?.parse().ok();
        let has_begun = |pid: &u32| {
            self.reported(*pid, "sampling", Duration::ZERO).is_some_and(|reported| reported.error.is_none())
        };
        names.filter_map(|name| pid(name.to_str()?)).filter(has_begun).collect()
    }

    /// What process `pid` says in a file of this kind, once it does; `None` where it does not in time, or ends before.
    fn reported(&self, pid: u32, kind: &str, within: Duration) -> Option<ProcessSamples> {
        let file = self.folder.join(format!("probe.{pid}.{kind}.json"));
        let process = PathBuf::from(format!("/proc/{pid}"));
        let deadline = Instant::now() + within;
        while !file.is_file() {
            if !process.exists() || self.interrupted.load(Ordering::Relaxed) || Instant::now() > deadline {
                return None;
            }
            thread::sleep(Duration::from_millis(20));
        }
        serde_json::from_slice(&fs::read(file).ok()?).ok()
    }

    /// The file that is there as long as samples are wanted.
    fn wanted(&self) -> PathBuf {
        self.folder.join("probe.sample")
    }

    fn stop(&self) {
        let _ = fs::remove_file(self.wanted());
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The folders of the gem, one a line: reported by the same Ruby outside of the server, since an application's bundle hides what it does not
/// name.
fn folders(pid: u32) -> Option<String> {
    let variables = proc::environment(pid).unwrap_or_default().into_iter();
    let variables = variables.filter(|(name, _)| ["GEM_HOME", "GEM_PATH", "LD_LIBRARY_PATH"].contains(&name.as_str()));
    let mut command = Command::new(proc::program(pid)?);
    command.args(["-e", "puts Gem::Specification.find_by_name('stackprof').full_require_paths"]);
    let ran = tool::run(command.env_clear().envs(base_env()).envs(variables), FOUND_WITHIN).ok()?;
    ran.status.success().then_some(ran.stdout)
}

/// The samples of several processes, the largest groups first.
fn added_up<'a>(processes: impl Iterator<Item = &'a HashMap<String, u64>>) -> Sums {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for (name, count) in processes.flatten() {
        *counts.entry(name).or_default() += count;
    }
    let sum = |(name, count): (&str, u64)| Sum { key: vec![name.to_owned()], count, amount: 0.0 };
    let mut top: Vec<Sum> = counts.into_iter().map(sum).collect();
    top.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.key.cmp(&b.key)));
    let count = top.iter().map(|sum| sum.count).sum();
    top.truncate(LISTED);
    Sums { count, amount: 0.0, top }
}
