//! One load of a server that was running already.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::sample::OpenLoop;
use crate::{Arrivals, Backend, Histogram, Sample, Tally, Walked, sample};

/// What was asked of a server, and what was seen. There is one side only: nothing is compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadRecord {
    /// What was asked for, as typed.
    pub url: String,
    /// Where redirects led before the load, one after the other: the last one is what was loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<String>,
    /// Where the answers redirect to, which was not followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirects_to: Option<String>,
    /// HTTP method; `None` where each step of a scenario has its own.
    pub method: Option<String>,
    /// The addresses connected to, and how much of the load each had.
    pub addresses: Vec<AddressUse>,
    /// What was spoken.
    pub transport: Transport,
    /// Connections kept open, and so the most requests in flight.
    pub connections: u32,
    /// Threads that made the load.
    pub threads: usize,
    /// How the client moved its bytes.
    pub backend: Backend,
    /// Whether the kernel reported when answers came; else it is when the client had read them.
    pub kernel_time: bool,
    /// What made requests start.
    pub arrivals: Arrivals,
    /// The status that a good answer has; `None` where each step of a scenario has its own.
    pub status: Option<u16>,
    /// The length of a good answer's body, bytes, without gzip if that was offered; `None` where any is good.
    pub length: Option<u64>,
    /// The scenarios that were walked, if it was no single request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<ScenarioLoad>,
    /// Requests that were sent and are in no sample: in flight when the load was over.
    pub abandoned: u64,
    /// What was seen, about a second each.
    pub samples: Vec<Sample>,
}

/// One of a server's addresses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressUse {
    /// An IP address with its port, or `unix:` and the path of a Unix socket.
    pub address: String,
    /// Connections opened to it.
    pub opened: u64,
    /// Requests that ended on them, well or not, or for which none could be made.
    pub ended: u64,
}

/// What is spoken on a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transport {
    /// `HTTP/1.1` or `HTTP/2`.
    pub http: String,
    /// What was agreed on by TLS; `None` in clear text.
    pub tls: Option<TlsFacts>,
}

/// What client and server agreed on by TLS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsFacts {
    /// Such as `TLS 1.3`.
    pub version: String,
    /// Cipher suite, such as `TLS13_AES_256_GCM_SHA384`.
    pub cipher: String,
    /// The protocol chosen by ALPN, such as `h2`; `None` where the server chose none.
    pub alpn: Option<String>,
    /// Whether the server had to prove who it is; not with `--insecure`.
    pub verified: bool,
}

/// What was walked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScenarioLoad {
    /// The file that says what users do, as typed.
    pub file: String,
    /// Users whose tear-down failed, or had no time left.
    pub teardowns_failed: u64,
    /// Why the first of them did.
    pub teardown_failure: Option<String>,
}

impl LoadRecord {
    /// How long it took, seconds.
    pub fn seconds(&self) -> f64 {
        sample::seconds(&self.samples)
    }

    /// How its requests ended.
    pub fn tally(&self) -> Tally {
        sample::tally(&self.samples)
    }

    /// Service time of all good answers.
    pub fn service(&self) -> Histogram {
        sample::service(&self.samples)
    }

    /// What was seen in each step or stage of the load, with its name; in a load that asks as much all the time there is one.
    /// A sample belongs to the part in which it begins. Parts that were not reached are left out.
    pub fn parts(&self) -> Vec<(String, Sample)> {
        let mut left = &self.samples[..];
        let mut end = Duration::ZERO;
        let mut part = |(name, length)| {
            end = end.saturating_add(length);
            let (own, rest) = left.split_at(left.partition_point(|sample| sample.start_s < end.as_secs_f64()));
            left = rest;
            Some((name, sample::joined(own)?))
        };
        self.arrivals.parts(self.connections).into_iter().filter_map(&mut part).collect()
    }

    /// What an open loop adds, its backlog being that of the end; `None` in a closed loop.
    pub fn open(&self) -> Option<OpenLoop> {
        sample::open(&self.samples)
    }

    /// Requests, or iterations of scenarios, that were due in an open loop and had not ended when it was over.
    pub fn unanswered(&self) -> u64 {
        let ended = self.samples.iter().map(Sample::arrivals_ended).sum();
        self.open().map_or(0, |open| open.due.saturating_sub(ended))
    }

    /// What scenarios add; `None` without them.
    pub fn walked(&self) -> Option<Walked> {
        sample::walked(&self.samples)
    }

    /// Cores that the client used.
    pub fn client_cores(&self) -> f64 {
        let seconds = self.seconds();
        let cpu: f64 = self.samples.iter().map(|sample| sample.client_cpu_s).sum();
        if seconds > 0.0 { cpu / seconds } else { 0.0 }
    }
}
