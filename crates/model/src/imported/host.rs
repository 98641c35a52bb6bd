//! What a machine's processors did while a load test ran, as a tool beside it wrote down.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Lines;

/// Shares of the time of all processors of a machine, each 0..=1; together 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostShares {
    /// Programs, and guests of this machine.
    pub user: f64,
    /// The kernel, with its interrupts.
    pub system: f64,
    /// Idle while a disk was waited for.
    pub iowait: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
    /// Nothing to do.
    pub idle: f64,
}

impl HostShares {
    /// What programs and the kernel used, 0..=1.
    pub fn busy(&self) -> f64 {
        self.user + self.system
    }

    /// The mean of shares, each with the seconds for which it counts; `None` where these come to nothing.
    pub fn mean(parts: impl Iterator<Item = (Self, f64)>) -> Option<Self> {
        let (mut sum, mut seconds) = (Self::default(), 0.0);
        for (shares, length_s) in parts {
            sum = sum.plus(&shares, length_s);
            seconds += length_s;
        }
        (seconds > 0.0).then(|| Self::default().plus(&sum, 1.0 / seconds))
    }

    fn plus(&self, other: &Self, factor: f64) -> Self {
        Self {
            user: self.user + factor * other.user,
            system: self.system + factor * other.system,
            iowait: self.iowait + factor * other.iowait,
            steal: self.steal + factor * other.steal,
            idle: self.idle + factor * other.idle,
        }
    }
}

/// What the processors did in a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// When it began, seconds: in a log since the first began, beside a run since the run began.
    pub start_s: f64,
    /// Its length, seconds; 1 in a log that has no times.
    pub length_s: f64,
    /// Means of this time.
    pub shares: HostShares,
}

impl HostSample {
    /// When it ended, seconds.
    pub fn end_s(&self) -> f64 {
        self.start_s + self.length_s
    }

    /// How much of it lies in a time, seconds.
    pub fn within_s(&self, from_s: f64, to_s: f64) -> f64 {
        (self.end_s().min(to_s) - self.start_s.max(from_s)).max(0.0)
    }
}

/// A file in which a tool wrote down what a machine's processors did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostLog {
    /// The file, as named.
    pub file: String,
    /// The tool that made it, such as `mpstat`.
    pub tool: String,
    /// Processors of the machine; `None` where the file does not say.
    pub processors: Option<u32>,
    /// What its times are.
    pub times: HostTimes,
    /// In the order of the file; one or more.
    pub samples: Vec<HostSample>,
    /// The lines of the file.
    pub lines: Lines,
}

/// What the times of a log are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostTimes {
    /// The first sample began at this moment, milliseconds since 1970. The file has no time zone; it is taken for UTC.
    Since(i64),
    /// It has none: its samples follow each other at an interval that it does not say.
    Unknown,
}

/// A log of a machine, as far as it belongs to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HostOfRun {
    /// The file of the log, as named.
    pub file: String,
    /// The tool that made it.
    pub tool: String,
    /// Processors of the machine; `None` where the file does not say.
    pub processors: Option<u32>,
    /// How it is known what of it belongs to the run.
    pub placed: Placed,
    /// How much of the run it covers, 0..=1; `None` where the run does not say how long it took.
    pub covers: Option<f64>,
    /// Means of the time that it covers.
    pub mean: HostShares,
    /// The samples that lie in the run, wholly or in part, since it began.
    pub samples: Vec<HostSample>,
}

impl HostOfRun {
    /// Means of a part of the run, seconds since it began; `None` where the log has nothing of it.
    pub fn mean_between(&self, from_s: f64, to_s: f64) -> Option<HostShares> {
        HostShares::mean(self.samples.iter().map(|sample| (sample.shares, sample.within_s(from_s, to_s))))
    }

    /// So large a share of the machine in processors; of one, the least that a machine has, where their number is not known.
    pub fn cores(&self, share: f64) -> f64 {
        share * f64::from(self.processors.unwrap_or(1))
    }
}

/// How it is known what of a log belongs to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placed {
    /// By the times of both.
    ByTime,
    /// One of them has no times, and there is one run: both are taken to begin together.
    FromTheBeginning,
    /// The log has no times and no interval, and there is one run: its samples are taken to fill the run evenly.
    Evenly,
}
