//! What the server did, to the request.

use crate::times::Times;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Path that answers what the server did, as the JSON form of [`Record`].
pub const RECORD_PATH: &str = "/known/record";

/// What the server did since it was started. Requests for the record itself are not in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Connections accepted (those closed at once included).
    pub connections: u64,
    /// Requests received complete.
    pub received: u64,
    /// Correct answers handed to the kernel complete, errors and slow drips included.
    pub answered: u64,
    /// Requests dealt with by a fault: wrong length, garbage, closed, never answered.
    pub spoilt: u64,
    /// Requests that were not HTTP, answered 400; not in `received`.
    pub malformed: u64,
    /// CPU time burnt on purpose, in nanoseconds, as the thread's CPU clock counted it.
    pub burnt_ns: u64,
    /// What this launch multiplied every cost by; 1 without `launch-spread`.
    pub launch_factor: f64,
    /// How long correct answers took: from when the request's last byte came to this machine, by the kernel's clock, to
    /// when the answer's last byte was handed to the kernel.
    pub times: Times,
    /// By path: of the route (its pattern), or as requested where no route matched.
    pub paths: BTreeMap<String, PathRecord>,
}

/// What happened on one path. `received` − `answered` − `spoilt` were still in work, or their client left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRecord {
    /// Requests received complete.
    pub received: u64,
    /// Correct answers by status.
    pub answered: BTreeMap<u16, u64>,
    /// Requests dealt with by a fault.
    pub spoilt: u64,
    /// CPU time burnt on purpose, in nanoseconds.
    pub burnt_ns: u64,
}

impl Record {
    /// What happened on `path`; all 0 where nothing did.
    pub fn path(&self, path: &str) -> PathRecord {
        self.paths.get(path).cloned().unwrap_or_default()
    }

    fn add(&mut self, path: &str, counted: &PathRecord) {
        if counted.received == 0 {
            return;
        }
        let entry = self.paths.entry(path.to_owned()).or_default();
        entry.received += counted.received;
        entry.spoilt += counted.spoilt;
        entry.burnt_ns += counted.burnt_ns;
        for (&status, &count) in &counted.answered {
            *entry.answered.entry(status).or_default() += count;
            self.answered += count;
        }
        self.received += counted.received;
        self.spoilt += counted.spoilt;
        self.burnt_ns += counted.burnt_ns;
    }
}

/// What a request is counted under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Label {
    Route(usize),
    Unmatched(String),
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered(u16),
    Spoilt,
}

/// Unmatched paths counted one by one; a client that invents paths must not fill the memory.
const UNMATCHED_PATHS: usize = 1000;
const OTHER_PATHS: &str = "(other)";

/// One thread's counts.
#[derive(Debug)]
pub(crate) struct Tally {
    routes: Vec<PathRecord>,
    unmatched: BTreeMap<String, PathRecord>,
    pub(crate) malformed: u64,
    times: Times,
}

impl Tally {
    pub(crate) fn new(routes: usize) -> Self {
        Self {
            routes: vec![PathRecord::default(); routes],
            unmatched: BTreeMap::new(),
            malformed: 0,
            times: Times::default(),
        }
    }

    pub(crate) fn received(&mut self, label: &Label) {
        self.of(label).received += 1;
    }

    pub(crate) fn burnt(&mut self, label: &Label, spent: Duration) {
        self.of(label).burnt_ns += spent.as_nanos() as u64;
    }

    pub(crate) fn ended(&mut self, label: &Label, outcome: Outcome) {
        let entry = self.of(label);
        match outcome {
            Outcome::Answered(status) => *entry.answered.entry(status).or_default() += 1,
            Outcome::Spoilt => entry.spoilt += 1,
        }
    }

    pub(crate) fn took(&mut self, time: Duration) {
        self.times.record(time);
    }

    /// Adds this thread's counts to the record.
    pub(crate) fn add_to<'a>(&self, record: &mut Record, route_path: impl Fn(usize) -> &'a str) {
        for (index, counted) in self.routes.iter().enumerate() {
            record.add(route_path(index), counted);
        }
        for (path, counted) in &self.unmatched {
            record.add(path, counted);
        }
        record.malformed += self.malformed;
        record.times.add(&self.times);
    }

    fn of(&mut self, label: &Label) -> &mut PathRecord {
        match label {
            Label::Route(index) => &mut self.routes[*index],
            Label::Unmatched(path) => {
                let full = self.unmatched.len() >= UNMATCHED_PATHS && !self.unmatched.contains_key(path);
                let path = if full { OTHER_PATHS } else { path };
                self.unmatched.entry(path.to_owned()).or_default()
            }
        }
    }
}
