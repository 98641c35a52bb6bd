//! A JVM seen from outside: nothing runs in it, and it does not notice.

use std::fs;
use std::path::{Path, PathBuf};

use model::JvmUse;

use super::gc_log::Tail;
use super::hsperfdata::{Counters, file_of};

/// Samples the JVM of a server.
#[derive(Debug)]
pub(super) struct JvmSampler {
    counters: Option<(PathBuf, Counters)>,
    log: Option<Tail>,
}

impl JvmSampler {
    /// Of the counters of process `pid`, and of the log in the trial's folder; `None` where there is neither.
    pub fn of(pid: Option<u32>, trial_dir: &Path) -> Option<Self> {
        let counters = pid.and_then(file_of).and_then(|file| {
            let counters = read(&file)?;
            Some((file, counters))
        });
        let log = Tail::of(trial_dir);
        (counters.is_some() || log.is_some()).then_some(Self { counters, log })
    }

    /// What it did since the last sample (or since this sampler was made).
    pub fn sample(&mut self) -> JvmUse {
        let counters = self.counters.as_mut().and_then(|(file, before)| {
            let now = read(file)?;
            let counted = now.since(before);
            *before = now;
            Some(counted)
        });
        JvmUse { counters, gc: self.log.as_mut().and_then(Tail::read) }
    }
}

fn read(file: &Path) -> Option<Counters> {
    Counters::parse(&fs::read(file).ok()?)
}
