//! Stopping all that runs of a server for a while.

use std::collections::HashSet;

use rustix::process::{Pid, Signal, kill_process};

use crate::proc;

/// All processes below one, stopped (SIGSTOP) until this is dropped.
#[derive(Debug)]
pub struct Paused {
    stopped: HashSet<u32>,
}

impl Paused {
    /// Stops all descendants of `root`, which itself runs on.
    pub(crate) fn below(root: u32) -> Self {
        let mut stopped = HashSet::new();
        loop {
            // What was started while we looked is found the next time; what is stopped starts nothing.
            let descendants = proc::descendants(root).into_iter().map(|process| process.pid);
            let new: Vec<u32> = descendants.filter(|pid| !stopped.contains(pid)).collect();
            if new.is_empty() {
                return Self { stopped };
            }
            signal(&new, Signal::STOP);
            stopped.extend(new);
        }
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        signal(&self.stopped, Signal::CONT);
    }
}

fn signal<'a>(pids: impl IntoIterator<Item = &'a u32>, signal: Signal) {
    for pid in pids.into_iter().filter_map(|pid| Pid::from_raw(pid.cast_signed())) {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}
