//! What is compared, in which unit, and which direction is better.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which direction of a metric is an improvement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Polarity {
    /// Throughput, for example.
    HigherIsBetter,
    /// Latency, for example.
    LowerIsBetter,
}

/// A quantity of which each launch of a server yields one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Good answers per second.
    Throughput,
    /// Median latency, µs: service time in a closed loop, response time in an open one.
    P50,
    /// 90th percentile of that latency, µs.
    P90,
    /// 99th percentile of that latency, µs.
    P99,
    /// 99.9th percentile of that latency, µs.
    #[serde(rename = "p99.9")]
    P99_9,
    /// CPU time of the server's whole process tree per good answer, µs.
    CpuPerRequest,
    /// Seconds from launch to the first correct answer.
    StartUp,
    /// Seconds of the warm-up's load until a launch is warm; of launches that were found steady.
    WarmUpTime,
    /// Good answers of the warm-up until a launch is warm; of launches that were found steady.
    WarmUpRequests,
    /// Peak resident memory of the server's process tree, bytes.
    Memory,
    /// The highest rate at which the objective of a search holds, requests/s.
    Capacity,
    /// Good answers in time per second while twice that is asked.
    Goodput,
    /// Seconds after that until the objective holds again, at half the capacity.
    RecoveryTime,
}

impl Metric {
    /// Every metric, in the order reports list them.
    pub const ALL: [Self; 13] = [
        Self::Throughput,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P99_9,
        Self::CpuPerRequest,
        Self::StartUp,
        Self::WarmUpTime,
        Self::WarmUpRequests,
        Self::Memory,
        Self::Capacity,
        Self::Goodput,
        Self::RecoveryTime,
    ];

    /// The name a study file uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
            Self::CpuPerRequest => "cpu-per-request",
            Self::StartUp => "start-up",
            Self::WarmUpTime => "warm-up-time",
            Self::WarmUpRequests => "warm-up-requests",
            Self::Memory => "memory",
            Self::Capacity => "capacity",
            Self::Goodput => "goodput",
            Self::RecoveryTime => "recovery-time",
        }
    }

    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Throughput | Self::Capacity | Self::Goodput => "requests/s",
            Self::P50 | Self::P90 | Self::P99 | Self::P99_9 | Self::CpuPerRequest => "µs",
            Self::StartUp | Self::WarmUpTime | Self::RecoveryTime => "s",
            Self::WarmUpRequests => "requests",
            Self::Memory => "bytes",
        }
    }

    /// Which direction is better.
    pub fn polarity(self) -> Polarity {
        match self {
            Self::Throughput | Self::Capacity | Self::Goodput => Polarity::HigherIsBetter,
            _ => Polarity::LowerIsBetter,
        }
    }

    /// The quantile of latency that it is, 0..=1.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P99 => Some(0.99),
            Self::P99_9 => Some(0.999),
            Self::Throughput
            | Self::CpuPerRequest
            | Self::StartUp
            | Self::WarmUpTime
            | Self::WarmUpRequests
            | Self::Memory
            | Self::Capacity
            | Self::Goodput
            | Self::RecoveryTime => None,
        }
    }

    /// Whether it speaks of the slow tail, which a closed loop cannot judge: while the server stalls, its users wait, and
    /// the requests that would have suffered are never sent.
    pub fn is_tail(self) -> bool {
        matches!(self, Self::P90 | Self::P99 | Self::P99_9)
    }

    /// Whether a launch yields one value per cell (else one per launch).
    pub fn is_per_cell(self) -> bool {
        !(self.is_of_warm_up() || matches!(self, Self::StartUp | Self::Memory))
    }

    /// Whether it is of a search for the limit.
    pub fn is_of_limit(self) -> bool {
        matches!(self, Self::Capacity | Self::Goodput | Self::RecoveryTime)
    }

    /// Whether it is of the warm-up, which a launch has that was found steady.
    pub fn is_of_warm_up(self) -> bool {
        matches!(self, Self::WarmUpTime | Self::WarmUpRequests)
    }

    /// The words for a change upwards and downwards, as in "4.8 % faster".
    pub fn comparatives(self) -> (&'static str, &'static str) {
        match self {
            Self::Throughput => ("faster", "slower"),
            Self::P50 | Self::P90 | Self::P99 | Self::P99_9 | Self::RecoveryTime => ("longer", "shorter"),
            Self::Capacity | Self::Goodput => ("higher", "lower"),
            Self::CpuPerRequest | Self::WarmUpTime | Self::Memory => ("more", "less"),
            Self::WarmUpRequests => ("more", "fewer"),
            Self::StartUp => ("later", "earlier"),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_stored_by_their_names() {
        for metric in Metric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
        }
    }
}
