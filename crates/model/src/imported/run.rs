//! A load test that another tool made, as far as its file says.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::net::IpAddr;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BodyLength, Histogram};

/// How much of a load test a file keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fidelity {
    /// Numbers of the whole.
    Summary,
    /// Numbers of each few seconds.
    Intervals,
    /// Every request.
    Samples,
}

impl Fidelity {
    /// What the file has, in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Summary => "a summary",
            Self::Intervals => "numbers of intervals",
            Self::Samples => "every request",
        }
    }
}

/// What a file says of a load test. What it does not say is absent or empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportedRun {
    /// The file, as named.
    pub file: String,
    /// The format that it was read as, such as `ab`.
    pub format: String,
    /// The tool that made it with its version, such as `ApacheBench 2.3`.
    pub tool: String,
    /// How much it keeps.
    pub fidelity: Fidelity,
    /// What was asked for.
    pub url: Option<String>,
    /// Users, or requests in flight, at most.
    pub users: Option<u32>,
    /// Whether these were only counted while at work: a slow server may have kept more of them waiting than were set.
    #[serde(default)]
    pub has_counted_users: bool,
    /// When the first request began, milliseconds since 1970.
    pub began_ms: Option<i64>,
    /// Whether that is a local time of a zone that the file does not say, taken for UTC.
    #[serde(default)]
    pub has_local_time: bool,
    /// From the first request's beginning to the last one's end, seconds; 0 where the file does not say.
    pub seconds: f64,
    /// All requests.
    pub all: Requests,
    /// The requests by label, in the order of their first one; empty where the file has none.
    pub labels: IndexMap<String, Requests>,
    /// Length of each of [`Self::intervals`], seconds.
    pub interval_s: f64,
    /// What ended in each interval from the beginning on, without gaps; empty in a summary.
    pub intervals: Vec<Interval>,
    /// Quantiles of the time that a request took, as the tool states them: the fraction (0..=1), and milliseconds.
    pub stated_quantiles: Vec<(f64, f64)>,
    /// Other numbers that the tool states, for a look at whether they agree with each other.
    #[serde(default)]
    pub stated: Stated,
    /// What the tool itself warns of.
    pub warnings: Vec<String>,
    /// The lines of the file.
    pub lines: Lines,
}

impl ImportedRun {
    /// What the fraction `q` of the requests took at most, µs: as the tool states it, or of every good request where enough of them
    /// lie beyond ([`Histogram::supported_quantile`]); `None` where the file does not say.
    pub fn quantile_us(&self, q: f64) -> Option<f64> {
        let stated = self.stated_quantiles.iter().find(|(fraction, _)| (fraction - q).abs() < 1e-9);
        stated.map(|(_, ms)| ms * 1e3).or_else(|| Some(self.all.latency.supported_quantile(q)? as f64))
    }

    /// What a request took in the mean, µs: as the tool states it, or of every good request; `None` where the file does not say.
    pub fn mean_us(&self) -> Option<f64> {
        let of_each = || (self.all.latency.count() > 0).then(|| self.all.latency.mean());
        self.stated.mean_ms.map(|ms| ms * 1e3).or_else(of_each)
    }

    /// Whether it asked the machine that it ran on: `localhost`, or an address of the ranges for that.
    pub fn is_on_loopback(&self) -> bool {
        let Some(url) = self.url.as_deref() else { return false };
        let behind = url.split_once("://").map_or(url, |(_, behind)| behind);
        let authority = behind.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((host, _)) => host,
            None => host.split(':').next().unwrap_or_default(),
        };
        host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// The requests by label; all under one name, where the file has no labels.
    pub fn by_label(&self) -> Vec<(&str, &Requests)> {
        if self.labels.is_empty() {
            return vec![("all requests", &self.all)];
        }
        self.labels.iter().map(|(label, requests)| (label.as_str(), requests)).collect()
    }
}

/// Numbers that a tool states beside its counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stated {
    /// Requests in a second, of those that are counted here, or of the good ones among them.
    pub rate: Option<f64>,
    /// Mean time that a request took, milliseconds.
    pub mean_ms: Option<f64>,
}

/// What became of some requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    /// Those that ended well.
    pub good: u64,
    /// Those that failed.
    pub failed: u64,
    /// Of those that failed: never sent, since they took no time and have no status of HTTP.
    pub never_sent: u64,
    /// All by status, or by what stands in its place.
    pub codes: BTreeMap<String, u64>,
    /// Of these, those that ended well, where the file has each request.
    #[serde(default)]
    pub good_codes: BTreeMap<String, u64>,
    /// How long the good ones took, where the file has each.
    pub latency: Histogram,
    /// Length of bodies of those that ended well, bytes, where the file says it.
    pub body_length: Option<BodyLength>,
    /// Length of bodies of those that failed, bytes, where the file says it.
    #[serde(default)]
    pub failed_length: Option<BodyLength>,
}

impl Requests {
    /// Requests that ended, well or not.
    pub fn ended(&self) -> u64 {
        self.good + self.failed
    }

    /// Requests that were sent and ended, well or not.
    pub fn sent(&self) -> u64 {
        self.ended().saturating_sub(self.never_sent)
    }

    /// Requests that were sent and failed.
    pub fn failed_when_sent(&self) -> u64 {
        self.failed.saturating_sub(self.never_sent)
    }

    /// Failed share, 0..=1; 0 when none ended.
    pub fn failed_share(&self) -> f64 {
        if self.ended() == 0 { 0.0 } else { self.failed as f64 / self.ended() as f64 }
    }

    /// Length of the bodies that stand for these requests, bytes: of the good ones, or of the failed ones where all failed.
    pub fn usual_length(&self) -> Option<BodyLength> {
        if self.good > 0 { self.body_length } else { self.failed_length }
    }
}

impl<'a> Sum<&'a Self> for Requests {
    fn sum<I: Iterator<Item = &'a Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut whole, part| {
            whole.good += part.good;
            whole.failed += part.failed;
            whole.never_sent += part.never_sent;
            for (codes, of_part) in [(&mut whole.codes, &part.codes), (&mut whole.good_codes, &part.good_codes)] {
                for (code, count) in of_part {
                    *codes.entry(code.clone()).or_default() += count;
                }
            }
            whole.latency.merge(&part.latency);
            for (length, of_part) in
                [(&mut whole.body_length, part.body_length), (&mut whole.failed_length, part.failed_length)]
            {
                *length = (*length).into_iter().chain(of_part).reduce(BodyLength::covering);
            }
            whole
        })
    }
}

/// What ended in a span of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// Requests that ended well.
    pub good: u64,
    /// Requests that failed.
    pub failed: u64,
    /// What those that ended well took, together, µs; 0 where the file does not say. Where it has only the mean of all that ended, that
    /// is taken for theirs.
    pub good_us: u64,
    /// What those that failed took, together, µs; 0 where the file does not say.
    pub failed_us: u64,
    /// Users at work, at most; 0 where the file does not say.
    pub users: u32,
}

impl Interval {
    /// Requests that ended, well or not.
    pub fn ended(self) -> u64 {
        self.good + self.failed
    }

    /// Failed share, 0..=1; 0 when none ended.
    pub fn failed_share(self) -> f64 {
        if self.ended() == 0 { 0.0 } else { self.failed as f64 / self.ended() as f64 }
    }

    /// Adds what ended in another part of the same span, or in another span.
    pub fn merge(&mut self, other: Self) {
        self.good += other.good;
        self.failed += other.failed;
        self.good_us = self.good_us.saturating_add(other.good_us);
        self.failed_us = self.failed_us.saturating_add(other.failed_us);
        self.users = self.users.max(other.users);
    }
}

impl<'a> Sum<&'a Self> for Interval {
    fn sum<I: Iterator<Item = &'a Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut whole, part| {
            whole.merge(*part);
            whole
        })
    }
}

/// How many lines a file has, and which of them could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lines {
    /// All lines with something in them.
    pub read: u64,
    /// Those that could not be read, and were left out.
    pub bad: u64,
    /// The first of these.
    pub first_bad: Vec<BadLine>,
    /// Rows that were read and hold no request of their own: they stand for several that have rows, or are parts of one.
    #[serde(default)]
    pub set_apart: u64,
}

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BadLine {
    /// Its number, from 1 on.
    pub number: u64,
    /// Why not.
    pub reason: String,
}

/// A time in which the speed was the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SpeedLevel {
    /// From when on, seconds since the first request.
    pub from_s: f64,
    /// Until when.
    pub to_s: f64,
    /// Requests that ended well in a second, in the second half of the time.
    pub rate: f64,
}

/// What an imported run supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// Its numbers do not mean what they seem to.
    NotSupported,
    /// It keeps too little to know.
    CannotTell,
    /// It is one run, or one run a side: which is faster may be real, how much is not known.
    DirectionOnly,
}

impl Support {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::NotSupported => "not supported",
            Self::CannotTell => "cannot tell",
            Self::DirectionOnly => "direction only",
        }
    }
}
