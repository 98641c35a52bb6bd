//! What the server was asked to do: the script, read from TOML or built in Rust.

use crate::span;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The whole behaviour of one server. The default answers `/` with 20 bytes, at once.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Script {
    /// Seed of every random delay: request `k` of a route gets the same delay in every run with this seed.
    pub seed: u64,
    /// Event loops, each on a thread of its own; connections are handed out in turn. At least 1.
    pub threads: usize,
    /// How long the port refuses connections before the server listens.
    #[serde(deserialize_with = "span::de")]
    pub start_delay: Duration,
    /// How long after listening every request is answered 503.
    #[serde(deserialize_with = "span::de")]
    pub not_ready_for: Duration,
    /// Standard deviation of ln(factor), where one factor is drawn afresh at each start and multiplies every
    /// cost (CPU and delay): servers differ from launch to launch. 0 = none. Not seeded; see `Record::launch_factor`.
    pub launch_spread: f64,
    /// Fraction 0..=1 of accepted connections that are closed at once, spread evenly.
    pub close_on_accept: f64,
    /// The server does not start: the message goes to stderr and the process exits.
    pub exit_at_start: Option<Exit>,
    /// The server ends by itself.
    pub exit_after: Option<ExitAfter>,
    /// Times in which the server does nothing at all.
    #[serde(rename = "stall")]
    pub stalls: Vec<Stall>,
    /// Requests answered with an error, at once and without the route's costs. The first that applies wins.
    #[serde(rename = "error")]
    pub errors: Vec<ErrorBurst>,
    /// What is answered where. The first route that matches wins; no match is a 404.
    #[serde(rename = "route")]
    pub routes: Vec<Route>,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            seed: 1,
            threads: 1,
            start_delay: Duration::ZERO,
            not_ready_for: Duration::ZERO,
            launch_spread: 0.0,
            close_on_accept: 0.0,
            exit_at_start: None,
            exit_after: None,
            stalls: Vec::new(),
            errors: Vec::new(),
            routes: vec![Route::default()],
        }
    }
}

/// What one path answers, and what that costs.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Route {
    /// Path without query, matched exactly; a trailing `*` matches every continuation.
    pub path: String,
    /// Status code, 200..=599.
    pub status: u16,
    /// Value of `Content-Type`.
    pub content_type: String,
    /// Further response headers, sent as they are.
    pub headers: BTreeMap<String, String>,
    /// The body.
    #[serde(deserialize_with = "body_or_text")]
    pub body: Body,
    /// What is appended to the body, different in every answer.
    pub varying: Option<Varying>,
    /// Sends the body in chunks of 4 KiB instead of with a `Content-Length` (HTTP/1.1 clients only).
    pub chunked: bool,
    /// Time the answer waits after the CPU work, without using CPU.
    #[serde(deserialize_with = "delay_or_fixed")]
    pub delay: Delay,
    /// CPU time burnt per request on the event loop's thread, by the thread's CPU clock.
    #[serde(deserialize_with = "span::de")]
    pub cpu: Duration,
    /// How many requests may have their delay at once, as in a pool of threads: others wait, first come, first served. So at most `workers`
    /// by the mean delay are answered a second. All at once when absent.
    pub workers: Option<usize>,
    /// With `workers`: how many may wait for one; more are answered 503 at once. Any number when absent.
    pub queue: Option<usize>,
    /// What the first requests cost more than later ones.
    pub warm_up: Option<WarmUp>,
    /// What requests leave behind for good.
    pub leak: Option<Leak>,
    /// What grows until it is full.
    pub cache: Option<Cache>,
    /// What is wrong with the answer.
    pub fault: Option<Fault>,
    /// Fraction 0..=1 of this route's requests that get the fault, spread evenly.
    pub fault_share: f64,
}

impl Default for Route {
    fn default() -> Self {
        Self::text("/", "hello, known world!\n")
    }
}

impl Route {
    /// A route that answers `path` with 200, `text/plain` and this body, at once.
    pub fn text(path: &str, body: &str) -> Self {
        Self {
            path: path.to_owned(),
            status: 200,
            content_type: "text/plain".to_owned(),
            headers: BTreeMap::new(),
            body: Body::Text(body.to_owned()),
            varying: None,
            chunked: false,
            delay: Delay::default(),
            cpu: Duration::ZERO,
            workers: None,
            queue: None,
            warm_up: None,
            leak: None,
            cache: None,
            fault: None,
            fault_share: 1.0,
        }
    }

    /// A route that answers `path` with 200 and `bytes` bytes of filler, at once.
    pub fn sized(path: &str, bytes: usize) -> Self {
        Self { body: Body::Size(bytes), ..Self::text(path, "") }
    }
}

/// Where a body comes from. In TOML: `"text"`, `{ size = 33945 }` or `{ echo = "request" }`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Body {
    /// This text.
    Text(String),
    /// This many bytes of printable filler, always the same.
    Size(usize),
    /// Part of the request, so that a test sees what a client really sent.
    Echo(Echo),
}

/// Which part of the request comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Echo {
    /// Request line, headers and body, byte for byte.
    Request,
    /// The body, byte for byte (chunked bodies with their framing).
    Body,
}

/// Natural variation between answers that are all correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Varying {
    /// The number of the request on its route, from 1: the length varies.
    Counter,
    /// Milliseconds since 1970: the length does not vary.
    Timestamp,
}

/// How long an answer waits. In TOML: `"5ms"` or `{ uniform = ["1ms", "9ms"] }`, `{ exponential = "5ms" }`,
/// `{ lognormal = { median = "5ms", sigma = 0.5 } }`.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Delay {
    /// Always this long.
    #[serde(deserialize_with = "span::de")]
    Fixed(Duration),
    /// Evenly between the two.
    #[serde(deserialize_with = "span::de_pair")]
    Uniform((Duration, Duration)),
    /// Exponential with this mean.
    #[serde(deserialize_with = "span::de")]
    Exponential(Duration),
    /// Lognormal.
    Lognormal {
        /// Median of the delay.
        #[serde(deserialize_with = "span::de")]
        median: Duration,
        /// Standard deviation of ln(delay).
        sigma: f64,
    },
}

impl Default for Delay {
    fn default() -> Self {
        Self::Fixed(Duration::ZERO)
    }
}

/// The first request of a route costs `cold` times its CPU and delay, the factor then decays exponentially
/// and is exactly 1 from request `requests` + 1 on; see [`crate::behaviour::warm_up_factor`].
#[derive(Debug, Clone, Copy, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WarmUp {
    /// Cost factor of the first request, above 0 (below 1: a server that gets slower).
    pub cold: f64,
    /// Requests until it is warm.
    pub requests: u64,
}

/// What a route's requests leave behind and never give back, however the answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Leak {
    /// Bytes of memory, written to.
    pub bytes: usize,
    /// Open file descriptors.
    pub descriptors: u32,
    /// Threads, which wait.
    pub threads: u32,
    /// One request in so many leaks, at least 1.
    pub every: u64,
}

impl Default for Leak {
    fn default() -> Self {
        Self { bytes: 0, descriptors: 0, threads: 0, every: 1 }
    }
}

/// A cache: each request asks for one of its entries, all equally likely, which is kept from the first time on. After n requests
/// `entries`·(1 − e^(−n/`entries`)) of them are there: it grows ever more slowly, and then not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// Bytes of an entry, written to.
    pub bytes: usize,
    /// How many there are, at least 1.
    pub entries: usize,
}

/// A time in which the whole server answers nothing, accepts nothing and reads nothing, as in a long collection.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stall {
    /// First beginning, since listening; `every` when absent.
    #[serde(default, deserialize_with = "span::de_optional")]
    pub at: Option<Duration>,
    /// From one beginning to the next; only once when absent.
    #[serde(default, deserialize_with = "span::de_optional")]
    pub every: Option<Duration>,
    /// How long it lasts (`for` in TOML).
    #[serde(rename = "for", deserialize_with = "span::de")]
    pub lasts: Duration,
}

/// Requests that are answered with an error.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ErrorBurst {
    /// Beginning, since listening.
    #[serde(deserialize_with = "span::de")]
    pub from: Duration,
    /// End (not included), since listening; never when absent.
    #[serde(deserialize_with = "span::de_optional")]
    pub until: Option<Duration>,
    /// Fraction 0..=1 of the requests: of the first n requests to the server, exactly ⌊n·share⌋ when the
    /// burst covers all times and paths.
    pub share: f64,
    /// Only this path (as in [`Route::path`]); every one when absent.
    pub path: Option<String>,
    /// Status code, 200..=599.
    pub status: u16,
    /// Body, `text/plain`.
    pub body: String,
}

impl Default for ErrorBurst {
    fn default() -> Self {
        Self { from: Duration::ZERO, until: None, share: 1.0, path: None, status: 500, body: "error\n".to_owned() }
    }
}

/// What is wrong with an answer. In TOML: `"garbage"`, `{ wrong-content-length = 10 }`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Fault {
    /// `Content-Length` is the body's length plus this many bytes. Above 0 the connection is closed after the
    /// body, too early; below 0 it stays open with bytes on it that belong to nothing. Overrides `chunked`.
    WrongContentLength(isize),
    /// Bytes that are not HTTP, then the connection is closed.
    Garbage,
    /// The connection is closed instead of an answer.
    Close,
    /// The connection is closed after half of the body.
    CloseMidBody,
    /// No answer, ever; the connection stays open.
    NeverAnswer,
    /// The head at once, the body a few bytes at a time; the answer is correct in the end.
    SlowDrip {
        /// Bytes sent at a time, at least 1.
        bytes: usize,
        /// Time between them.
        #[serde(deserialize_with = "span::de")]
        every: Duration,
    },
}

/// How a process ends that does not start.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exit {
    /// Exit code.
    #[serde(default = "one")]
    pub code: u8,
    /// Written to stderr before.
    #[serde(default)]
    pub message: String,
}

/// When a server ends by itself: whichever comes first.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExitAfter {
    /// Once the request with this number was answered; later ones never are.
    #[serde(default)]
    pub requests: Option<u64>,
    /// This long after listening.
    #[serde(default, deserialize_with = "span::de_optional")]
    pub time: Option<Duration>,
    /// Exit code.
    #[serde(default = "one")]
    pub code: u8,
    /// Written to stderr before.
    #[serde(default)]
    pub message: String,
}

fn one() -> u8 {
    1
}

/// Why a script cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Not TOML, or not these keys; shows the place.
    #[error("the script is wrong: {0}")]
    Toml(#[from] toml::de::Error),
    /// A value that makes no sense.
    #[error("the script is wrong: {0}")]
    Value(String),
}

impl Script {
    /// Reads and checks a script.
    pub fn from_toml(text: &str) -> Result<Self, ScriptError> {
        let script: Self = toml::from_str(text)?;
        script.check()?;
        Ok(script)
    }

    /// Reads and checks a script file.
    pub fn from_file(path: &Path) -> Result<Self, ScriptError> {
        let read = |source| ScriptError::Read { path: path.to_owned(), source };
        Self::from_toml(&std::fs::read_to_string(path).map_err(read)?)
    }

    /// Whether every value makes sense.
    pub fn check(&self) -> Result<(), ScriptError> {
        require(self.threads >= 1, || "threads must be at least 1".to_owned())?;
        require(self.launch_spread.is_finite() && self.launch_spread >= 0.0, || {
            format!("launch-spread must be 0 or more, found {}", self.launch_spread)
        })?;
        fraction("close-on-accept", self.close_on_accept)?;
        if let Some(exit) = &self.exit_after {
            require(exit.requests.is_some() || exit.time.is_some(), || {
                "exit-after needs `requests` or `time`".to_owned()
            })?;
            require(exit.requests != Some(0), || "exit-after: requests must be at least 1".to_owned())?;
        }
        self.stalls.iter().try_for_each(Stall::check)?;
        self.errors.iter().try_for_each(ErrorBurst::check)?;
        self.routes.iter().try_for_each(Route::check)
    }
}

impl Stall {
    fn check(&self) -> Result<(), ScriptError> {
        require(self.at.is_some() || self.every.is_some(), || "a stall needs `at` or `every`".to_owned())?;
        require(self.every.is_none_or(|every| self.lasts < every), || {
            "a stall's `for` must be shorter than its `every`: the server would never answer again".to_owned()
        })
    }
}

impl ErrorBurst {
    fn check(&self) -> Result<(), ScriptError> {
        status("error", self.status)?;
        fraction("error: share", self.share)
    }
}

impl Route {
    fn check(&self) -> Result<(), ScriptError> {
        let path = &self.path;
        require(path.starts_with('/') || path == "*", || {
            format!("a route's path starts with `/` or is `*`, found {path:?}")
        })?;
        status(path, self.status)?;
        fraction("fault-share", self.fault_share)?;
        let plain = |text: &str| !text.contains(['\r', '\n']);
        require(
            plain(&self.content_type) && self.headers.iter().all(|(name, value)| plain(name) && plain(value)),
            || format!("route {path}: a header holds a line break"),
        )?;
        require(self.workers != Some(0), || format!("route {path}: workers must be at least 1"))?;
        require(self.queue.is_none() || self.workers.is_some(), || format!("route {path}: a queue is for `workers`"))?;
        if let Some(warm_up) = &self.warm_up {
            require(warm_up.cold.is_finite() && warm_up.cold > 0.0 && warm_up.requests > 0, || {
                format!("route {path}: warm-up needs `cold` above 0 and `requests` of at least 1")
            })?;
        }
        if let Some(leak) = &self.leak {
            require(leak.every > 0, || format!("route {path}: leak needs `every` of at least 1"))?;
            require(leak.bytes > 0 || leak.descriptors > 0 || leak.threads > 0, || {
                format!("route {path}: leak needs `bytes`, `descriptors` or `threads`")
            })?;
        }
        require(self.cache.is_none_or(|cache| cache.entries > 0), || {
            format!("route {path}: cache needs `entries` of at least 1")
        })?;
        match self.delay {
            Delay::Uniform((low, high)) => {
                require(low <= high, || format!("route {path}: uniform delay from {low:?} to {high:?}"))?;
            }
            Delay::Lognormal { sigma, .. } => {
                require(sigma.is_finite() && sigma >= 0.0, || format!("route {path}: sigma must be 0 or more"))?;
            }
            Delay::Fixed(_) | Delay::Exponential(_) => {}
        }
        match self.fault {
            Some(Fault::SlowDrip { bytes: 0, .. }) => {
                Err(ScriptError::Value(format!("route {path}: slow-drip needs `bytes` of at least 1")))
            }
            _ => Ok(()),
        }
    }
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), ScriptError> {
    if holds { Ok(()) } else { Err(ScriptError::Value(otherwise())) }
}

fn fraction(name: &str, value: f64) -> Result<(), ScriptError> {
    require((0.0..=1.0).contains(&value), || format!("{name} must be a fraction 0..=1, found {value}"))
}

fn status(place: &str, value: u16) -> Result<(), ScriptError> {
    require((200..=599).contains(&value), || format!("{place}: status must be 200..=599, found {value}"))
}

fn body_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Body, D::Error> {
    deserializer.deserialize_any(TextOr {
        expecting: "a text, { size = BYTES } or { echo = \"request\" }",
        from_text: |text| Ok(Body::Text(text.to_owned())),
        value: PhantomData,
    })
}

fn delay_or_fixed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Delay, D::Error> {
    deserializer.deserialize_any(TextOr {
        expecting: "a duration such as \"5ms\" or { uniform | exponential | lognormal = … }",
        from_text: |text| span::parse(text).map(Delay::Fixed),
        value: PhantomData,
    })
}

/// Reads a value that has a short form as a text besides its long form as a table.
struct TextOr<T> {
    expecting: &'static str,
    from_text: fn(&str) -> Result<T, String>,
    value: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOr<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.expecting)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.from_text)(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_empty_script_answers_twenty_bytes() {
        let script = Script::from_toml("").unwrap();
        assert_eq!(script, Script::default());
        assert_eq!(script.routes[0].body, Body::Text("hello, known world!\n".to_owned()));
    }

    #[test]
    fn the_example_says_everything() {
        let script = Script::from_toml(include_str!("../examples/everything.toml")).unwrap();
        assert_eq!(script.stalls, [Stall { at: None, every: Some(10_000 * MS), lasts: 1000 * MS }]);
        assert_eq!(script.exit_after.as_ref().and_then(|exit| exit.requests), Some(1_000_000));
        let page = &script.routes[0];
        assert_eq!(page.body, Body::Size(33945));
        assert_eq!(page.delay, Delay::Lognormal { median: 5 * MS, sigma: 0.5 });
        assert_eq!(page.warm_up, Some(WarmUp { cold: 8.0, requests: 1000 }));
        assert_eq!(page.leak, Some(Leak { bytes: 100_000, descriptors: 1, threads: 1, every: 100 }));
        assert_eq!(page.cache, Some(Cache { bytes: 100_000, entries: 500 }));
        let faults: Vec<_> = script.routes.iter().filter_map(|route| route.fault).collect();
        assert_eq!(
            faults,
            [
                Fault::WrongContentLength(10),
                Fault::WrongContentLength(-5),
                Fault::Garbage,
                Fault::Close,
                Fault::CloseMidBody,
                Fault::NeverAnswer,
                Fault::SlowDrip { bytes: 4, every: 10 * MS },
            ]
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("sead = 1", "sead"),
            ("[[route]]\ndealy = \"5ms\"", "dealy"),
            ("[[route]]\ndelay = \"5 weeks\"", "5 weeks"),
            ("[[route]]\ndelay = { normal = \"5ms\" }", "normal"),
            ("[[route]]\ndelay = { lognormal = { median = \"5ms\", sigma = 1.0, mu = 2 } }", "mu"),
            ("[[route]]\ndelay = { uniform = [\"5ms\", \"1ms\"] }", "uniform"),
            ("[[route]]\npath = \"here\"", "here"),
            ("[[route]]\nstatus = 99", "99"),
            ("[[route]]\nfault = { slow-drip = { bytes = 0, every = \"1ms\" } }", "slow-drip"),
            ("[[route]]\nwarm-up = { cold = 0.0, requests = 10 }", "warm-up"),
            ("[[route]]\nleak = { every = 10 }", "leak"),
            ("[[route]]\nleak = { bytes = 10, every = 0 }", "every"),
            ("[[route]]\ncache = { bytes = 10, entries = 0 }", "entries"),
            ("[[stall]]\nfor = \"1s\"", "stall"),
            ("[[stall]]\nevery = \"1s\"\nfor = \"1s\"", "every"),
            ("[[error]]\nshare = 2.0", "share"),
            ("[exit-after]\ncode = 3", "exit-after"),
            ("threads = 0", "threads"),
            ("[[route]]\nworkers = 0", "workers"),
            ("[[route]]\nqueue = 5", "queue"),
        ] {
            let error = Script::from_toml(text).expect_err(text).to_string();
            assert!(error.contains(named), "{text:?} gave: {error}");
        }
    }
}
