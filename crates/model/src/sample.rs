//! What was seen during about one second.

use std::collections::BTreeMap;
use std::iter::Sum;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Histogram, HostUse, JvmUse, Malformed};

/// Why a request was not answered well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// The status is not the expected one; [`Tally::statuses`] says which came.
    Status,
    /// The status is right, the body's length is not.
    Length,
    /// Status and length are right, but a scenario's check of the content failed, or nothing was found to extract;
    /// [`StepUse::unmet`] says what.
    Content,
    /// The bytes are not an HTTP response; [`Tally::malformed`] says why.
    Malformed,
    /// The connection closed before the response was complete; [`Tally::malformed`] says where.
    Closed,
    /// The body's content coding cannot be undone; [`Tally::malformed`] says why.
    Coding,
    /// No connection could be made. Never sent: it has no latency.
    Connect,
    /// No connection could be made, since this machine has no port left to make it from. Never sent.
    NoPorts,
    /// The two sides did not agree on TLS, or one broke its rules.
    Tls,
    /// The server ended the request's stream (HTTP/2's `RST_STREAM`).
    Reset,
    /// The server refused the request's stream unseen (HTTP/2's `REFUSED_STREAM`).
    Refused,
    /// The server was ending the connection and left the request unseen (HTTP/2's `GOAWAY`).
    GoAway,
    /// No complete answer within the time limit.
    TimedOut,
}

impl Failure {
    /// Whether a request that failed so had been sent. TLS fails before the first request of a connection, as a rule.
    pub fn was_sent(self) -> bool {
        !matches!(self, Self::Connect | Self::NoPorts | Self::Tls)
    }

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Status => "unexpected status",
            Self::Length => "unexpected length",
            Self::Content => "unexpected content",
            Self::Malformed => "not HTTP",
            Self::Closed => "connection closed",
            Self::Coding => "undecodable body",
            Self::Connect => "no connection",
            Self::NoPorts => "no local port left",
            Self::Tls => "TLS failed",
            Self::Reset => "stream reset",
            Self::Refused => "stream refused",
            Self::GoAway => "connection given up by the server",
            Self::TimedOut => "timed out",
        }
    }
}

impl Malformed {
    /// The kind of failure that it is.
    pub fn failure(self) -> Failure {
        match self {
            Self::NoAnswer | Self::CutHead | Self::CutBody | Self::CutChunks => Failure::Closed,
            Self::Gzip | Self::LongBody => Failure::Coding,
            _ => Failure::Malformed,
        }
    }
}

/// Length in bytes of the bodies of complete answers, good or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BodyLength {
    /// Shortest.
    pub min: u64,
    /// Longest.
    pub max: u64,
}

impl BodyLength {
    /// The span that covers both.
    #[must_use]
    pub fn covering(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// Counts of answers, good and bad. Tallies add.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Answers with the expected status and length.
    pub good: u64,
    /// Failures by kind.
    pub failures: BTreeMap<Failure, u64>,
    /// What was wrong with the answers of the failures [`Failure::Malformed`], [`Failure::Closed`] and
    /// [`Failure::Coding`]: of HTTP/1.1 their counts are these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub malformed: BTreeMap<Malformed, u64>,
    /// Complete answers by HTTP status, good or not.
    pub statuses: BTreeMap<u16, u64>,
    /// Lengths of complete answers; absent when none was complete.
    pub body_length: Option<BodyLength>,
}

impl Tally {
    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.good += other.good;
        for (failure, count) in &other.failures {
            *self.failures.entry(*failure).or_default() += count;
        }
        for (malformed, count) in &other.malformed {
            *self.malformed.entry(*malformed).or_default() += count;
        }
        for (status, count) in &other.statuses {
            *self.statuses.entry(*status).or_default() += count;
        }
        self.body_length = match (self.body_length, other.body_length) {
            (Some(a), Some(b)) => Some(a.covering(b)),
            (a, b) => a.or(b),
        };
    }

    /// Requests that failed.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Requests that ended, well or not.
    pub fn ended(&self) -> u64 {
        self.good + self.failed()
    }

    /// Failed share, 0..=1; 0 when nothing ended.
    pub fn failed_share(&self) -> f64 {
        let ended = self.ended();
        if ended == 0 { 0.0 } else { self.failed() as f64 / ended as f64 }
    }
}

impl<'a> Sum<&'a Self> for Tally {
    fn sum<I: Iterator<Item = &'a Self>>(tallies: I) -> Self {
        tallies.fold(Self::default(), |mut whole, tally| {
            whole.merge(tally);
            whole
        })
    }
}

/// What the server's whole process tree used during a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerUse {
    /// CPU time, user and system, seconds.
    pub cpu_s: f64,
    /// The part of [`Self::cpu_s`] that the kernel used, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// Resident memory at its end, bytes. Pages that processes share count in each of them.
    pub rss_bytes: u64,
    /// Resident memory with shared pages divided among those who share them (PSS), bytes; read once a load, after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_bytes: Option<u64>,
    /// Threads at its end.
    pub threads: u32,
    /// How often its threads left a core. Threads that ended meanwhile are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<Switches>,
    /// Seconds that its own control group was throttled by a CPU quota; absent where that group is bakeoff's as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<f64>,
    /// Processes of it that have ended since the sample before; absent where none has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u32>,
    /// What its Java virtual machine did, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jvm: Option<JvmUse>,
}

/// Context switches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Switches {
    /// The thread had to wait for something.
    pub voluntary: u64,
    /// The kernel gave the core to somebody else.
    pub involuntary: u64,
}

/// What an open loop adds to a sample: its requests are due at times of their own, whatever the server does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// Requests, or iterations of scenarios, whose intended start fell in it.
    pub due: u64,
    /// Response time (intended start to last byte) of good answers; of scenarios, those to their first steps.
    pub response: Histogram,
    /// The client's own send delay (intended start to sending) of requests for which a connection was free when they
    /// were due.
    pub send_delay: Histogram,
    /// Requests that waited for a connection at its end.
    pub backlog: u64,
}

impl OpenLoop {
    /// Adds what another part of the load saw in the same time.
    pub fn merge(&mut self, other: &Self) {
        self.due += other.due;
        self.response.merge(&other.response);
        self.send_delay.merge(&other.send_delay);
        self.backlog += other.backlog;
    }

    /// Adds what was seen after it: the backlog is a length, which does not add up over time.
    pub fn append(&mut self, next: &Self) {
        self.merge(next);
        self.backlog = next.backlog;
    }
}

/// What scenarios add to a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Walked {
    /// Iterations all of whose steps were answered well.
    pub finished: u64,
    /// Iterations that a failed step ended.
    pub stopped: u64,
    /// Time that finished iterations took, pauses for thought included: from the first request's sending, in an open
    /// loop from the intended start, to the last byte of the last answer.
    pub iteration: Histogram,
    /// What came of each step, by name, in the scenarios' order.
    pub steps: IndexMap<String, StepUse>,
}

/// What came of a step's requests in a sample.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepUse {
    /// How its requests ended.
    pub tally: Tally,
    /// Service time (request sent to last byte) of good answers.
    pub service: Histogram,
    /// Requests that were never sent, since a step before failed. They are no answers, and have no time.
    pub skipped: u64,
    /// What was not as it must be in answers whose status and length were, such as ``json `$.items` ``, and how often.
    pub unmet: BTreeMap<String, u64>,
}

impl Walked {
    /// Iterations that ended, well or not.
    pub fn ended(&self) -> u64 {
        self.finished + self.stopped
    }

    /// Adds what another part of the load saw in the same time, or the same part at another.
    pub fn merge(&mut self, other: &Self) {
        self.finished += other.finished;
        self.stopped += other.stopped;
        self.iteration.merge(&other.iteration);
        for (name, step) in &other.steps {
            self.steps.entry(name.clone()).or_default().merge(step);
        }
    }
}

impl StepUse {
    fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.service.merge(&other.service);
        self.skipped += other.skipped;
        for (what, count) in &other.unmet {
            *self.unmet.entry(what.clone()).or_default() += count;
        }
    }
}

/// The client's, the server's and the host's view of one span of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Start, seconds of load since the load began: the time that a launch waits for its turn is not counted.
    pub start_s: f64,
    /// Length, seconds; 1 but for the last of a load or of a slice. There it has the drain, as long as the mean over users of what their last
    /// requests took after the slice's end.
    pub length_s: f64,
    /// The round of turns that it belongs to, within the launch's whole load; 0 in a load without turns.
    #[serde(default, skip_serializing_if = "is_first")]
    pub round: u32,
    /// How requests that ended in it ended.
    pub tally: Tally,
    /// Good answers in each tenth of a second of the sample.
    pub bins: Vec<u32>,
    /// Service time (request sent to last byte) of good answers.
    pub service: Histogram,
    /// What an open loop adds; absent in a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoop>,
    /// What scenarios add; absent without them. [`Self::tally`] then counts the requests of all steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walked: Option<Walked>,
    /// Bytes received, heads included.
    pub bytes: u64,
    /// CPU time of the load's own threads, seconds.
    pub client_cpu_s: f64,
    /// The server's use, where it could be read.
    pub server: Option<ServerUse>,
    /// The host's use, where it could be read.
    pub host: Option<HostUse>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_first(round: &u32) -> bool {
    *round == 0
}

impl Sample {
    /// What a user waits for a good answer: service time in a closed loop, response time in an open one.
    pub fn latency(&self) -> &Histogram {
        self.open.as_ref().map_or(&self.service, |open| &open.response)
    }

    /// Adds what another part of the load saw in the same time.
    pub fn merge(&mut self, other: &Self) {
        self.length_s = self.length_s.max(other.length_s);
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin += more;
        }
        if let (Some(open), Some(other)) = (&mut self.open, &other.open) {
            open.merge(other);
        }
        self.add(other);
    }

    /// Adds what was seen after it.
    fn append(&mut self, next: &Self) {
        self.length_s += next.length_s;
        self.bins.extend(&next.bins);
        if let (Some(open), Some(next)) = (&mut self.open, &next.open) {
            open.append(next);
        }
        self.add(next);
    }

    /// Adds what adds up alike over parts of a load and over time.
    fn add(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.service.merge(&other.service);
        if let (Some(walked), Some(other)) = (&mut self.walked, &other.walked) {
            walked.merge(other);
        }
        self.bytes += other.bytes;
        self.client_cpu_s += other.client_cpu_s;
    }

    /// Takes less memory from now on ([`Histogram::pack`]).
    pub fn pack(&mut self) {
        let open = self.open.iter_mut().flat_map(|open| [&mut open.response, &mut open.send_delay]);
        let walked = self
            .walked
            .iter_mut()
            .flat_map(|walked| walked.steps.values_mut().map(|step| &mut step.service).chain([&mut walked.iteration]));
        open.chain(walked).chain([&mut self.service]).for_each(Histogram::pack);
    }

    /// Of what arrives in an open loop, how much ended, well or not: iterations of scenarios, or requests.
    pub fn arrivals_ended(&self) -> u64 {
        self.walked.as_ref().map_or_else(|| self.tally.ended(), Walked::ended)
    }
}

/// Seconds that these samples took together.
pub fn seconds<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> f64 {
    samples.into_iter().map(|sample| sample.length_s).sum()
}

/// How the requests of these samples ended, all together.
pub fn tally<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Tally {
    samples.into_iter().map(|sample| &sample.tally).sum()
}

/// These samples, which follow each other, as one; what was seen of server and host is left out. `None` of none.
pub fn joined(samples: &[Sample]) -> Option<Sample> {
    let (first, rest) = samples.split_first()?;
    let whole = Sample { server: None, host: None, ..first.clone() };
    Some(rest.iter().fold(whole, |mut whole, sample| {
        whole.append(sample);
        whole
    }))
}

/// Service time of the good answers of all of these samples.
pub fn service<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Histogram {
    samples.into_iter().map(|sample| &sample.service).sum()
}

/// What users waited for the good answers of all of these samples ([`Sample::latency`]).
pub fn latency<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Histogram {
    samples.into_iter().map(Sample::latency).sum()
}

/// What an open loop adds to all of these samples, its backlog being that of the end; `None` in a closed loop.
pub fn open(samples: &[Sample]) -> Option<OpenLoop> {
    let mut parts = samples.iter().filter_map(|sample| sample.open.as_ref());
    let first = parts.next()?.clone();
    Some(parts.fold(first, |mut whole, part| {
        whole.append(part);
        whole
    }))
}

/// What scenarios add to all of these samples; `None` without them.
pub fn walked(samples: &[Sample]) -> Option<Walked> {
    let mut parts = samples.iter().filter_map(|sample| sample.walked.as_ref());
    let first = parts.next()?.clone();
    Some(parts.fold(first, |mut whole, part| {
        whole.merge(part);
        whole
    }))
}

/// Length of one of [`Sample::bins`], seconds.
pub const BIN_S: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add() {
        let one = Tally {
            good: 3,
            failures: [(Failure::Status, 1), (Failure::Malformed, 2)].into(),
            malformed: [(Malformed::BareCr, 2)].into(),
            statuses: [(200, 3), (500, 1)].into(),
            body_length: Some(BodyLength { min: 10, max: 20 }),
        };
        let mut sum = Tally::default();
        sum.merge(&one);
        sum.merge(&one);
        assert_eq!((sum.good, sum.failed(), sum.ended()), (6, 6, 12));
        assert_eq!((sum.statuses[&500], sum.malformed[&Malformed::BareCr]), (2, 4));
        assert!((sum.failed_share() - 0.5).abs() < 1e-12);
        assert_eq!(sum.body_length, Some(BodyLength { min: 10, max: 20 }));
    }

    #[test]
    fn a_tally_that_names_nothing_malformed_is_stored_without_it() {
        let stored = r#"{"good":1,"failures":{"malformed":2,"closed":1},"statuses":{"200":1},"body_length":null}"#;
        let tally: Tally = serde_json::from_str(stored).unwrap();
        assert_eq!((tally.failed(), tally.malformed.len()), (3, 0));
        assert_eq!(serde_json::to_string(&tally).unwrap(), stored);

        let named = Tally { malformed: [(Malformed::CutBody, 1), (Malformed::DifferentLengths, 2)].into(), ..tally };
        let text = serde_json::to_string(&named).unwrap();
        assert!(text.contains(r#""malformed":{"different-lengths":2,"cut-body":1}"#), "{text}");
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), named);
    }

    #[test]
    fn a_sample_without_an_open_loop_is_stored_without_it() {
        let closed = Sample { length_s: 1.0, bins: vec![0; 10], ..Sample::default() };
        let text = serde_json::to_string(&closed).unwrap();
        assert!(!text.contains("\"open\"") && !text.contains("\"walked\""), "{text}");
        assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), closed);

        let mut open = OpenLoop { due: 3, backlog: 1, ..OpenLoop::default() };
        open.response.record(70);
        open.merge(&open.clone());
        assert_eq!((open.due, open.response.count(), open.backlog), (6, 2, 2));
        let sample = Sample { open: Some(open), ..closed };
        let text = serde_json::to_string(&sample).unwrap();
        assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);

        let later = Sample { start_s: 1.0, length_s: 0.5, ..sample.clone() };
        let joined = joined(&[sample, later]).unwrap();
        assert_eq!((joined.start_s, joined.length_s, joined.bins.len()), (0.0, 1.5, 20));
        assert_eq!(joined.open.map(|open| (open.due, open.backlog)), Some((12, 2)));
    }
}
