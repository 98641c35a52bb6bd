//! What `bakeoff load` prints: for people, as JSON, as CSV, as HdrHistogram's percentile distribution.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use indexmap::IndexMap;
use model::load::{AddressUse, ScenarioLoad, TlsFacts, Transport};
use model::sample::{OpenLoop, StepUse};
use model::{
    Arrivals, Backend, Failure, Finding, Histogram, LoadRecord, Malformed, Names, Sample, Spacing, Tally, Think,
    Walked, text,
};
use serde::Serialize;

use crate::csv::quoted;
use crate::json::pretty;
use crate::terminal::{Page, Style};
use crate::{number, tables};

/// Percentiles that are shown where the number of requests supports them.
const PERCENTILES: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9];

/// The load for a terminal, and what was found about it.
pub fn load(record: &LoadRecord, findings: &[Finding], style: Style) -> String {
    let mut page = Page::new(style);
    let (tally, seconds, service) = (record.tally(), record.seconds(), record.service());
    let per_second = |amount: f64| if seconds > 0.0 { amount / seconds } else { 0.0 };
    let what = record.method.as_ref().or(record.scenario.as_ref().map(|walked| &walked.file));
    page.line(&format!("{} {}", what.map_or("", String::as_str), record.url));
    for url in &record.followed {
        page.line(&format!("  redirects to {url}, which was followed"));
    }
    if let Some(url) = &record.redirects_to {
        page.line(&format!("  redirects to {url}, which was not loaded: --follow loads that instead"));
    }
    page.line(&format!(
        "{}{}{}",
        shape(record),
        record.status.map_or_else(String::new, |status| format!("; answers with status {status}")),
        record.length.map_or_else(String::new, |length| format!(" and {}", text::plural(length, "byte")))
    ));
    page.line(&transport(record));
    page.heading("Requests");
    let bytes = record.samples.iter().map(|sample| sample.bytes).sum::<u64>() as f64;
    page.line(&format!("  good     {:>12}  {}", text::count(tally.good), number::rate(per_second(tally.good as f64))));
    page.line(&format!("  failed   {:>12}  {}", text::count(tally.failed()), number::share(tally.failed_share())));
    for (failure, count) in &tally.failures {
        page.line(&format!("           {:>12}  {}", text::count(*count), failure.name()));
        for (why, count) in tally.malformed.iter().filter(|(why, _)| why.failure() == *failure) {
            page.line(&format!("           {:>12}    {why}", text::count(*count)));
        }
    }
    for (status, count) in &tally.statuses {
        page.line(&format!("           {:>12}  status {status}", text::count(*count)));
    }
    if record.abandoned > 0 {
        page.line(&format!("  left     {:>12}  in flight at the end", text::count(record.abandoned)));
    }
    page.line(&format!("  received {:>12}  {}/s", number::bytes(bytes), number::bytes(per_second(bytes))));
    let clock = if record.kernel_time { "kernel" } else { "client itself" };
    let cores = record.client_cores();
    page.line(&format!("  client   {cores:>12.2}  cores, by {}; answers timed by the {clock}", record.backend));
    if record.addresses.len() > 1 {
        page.heading("Addresses");
        for AddressUse { address, opened, ended } in &record.addresses {
            page.line(&format!(
                "  {address}: {} opened, {} ended",
                text::plural(*opened, "connection"),
                text::plural(*ended, "request")
            ));
        }
    }
    if let Some(walked) = record.walked() {
        steps(&mut page, &walked);
    }
    if let Some(ScenarioLoad { teardowns_failed: failed @ 1.., teardown_failure, .. }) = &record.scenario {
        let reason = teardown_failure.as_deref().unwrap_or_default();
        page.line(&format!("  {} failed, the first: {reason}", text::plural(*failed, "tear-down")));
    }
    page.heading("Service time: from a request's sending to the last byte of its answer");
    page.line(&times(&service));
    if let Some(open) = record.open() {
        page.heading("Response time: from when a request was due");
        page.line(&times(&open.response));
        page.line(&format!(
            "  due {}, unanswered at the end {}, of these never sent {}",
            text::count(open.due),
            text::count(record.unanswered()),
            text::count(open.backlog)
        ));
        page.heading("Send delay: the client's own, where a connection was free");
        page.line(&if open.send_delay.count() == 0 {
            "  none was free when a request was due".to_owned()
        } else {
            times(&open.send_delay)
        });
    }
    let parts = record.parts();
    if parts.len() > 1 {
        page.table(&tables::parts(&parts, record.arrivals.is_open()));
    }
    page.findings(&findings.iter().collect::<Vec<_>>(), &Names::default());
    page.text
}

/// The load as indented JSON: times in µs, CPU time in seconds, lengths in bytes.
pub fn load_json(record: &LoadRecord, findings: &[Finding]) -> String {
    let (tally, service) = (record.tally(), record.service());
    pretty(&Whole {
        url: &record.url,
        followed: &record.followed,
        redirects_to: record.redirects_to.as_deref(),
        method: record.method.as_deref(),
        addresses: &record.addresses,
        transport: &record.transport,
        connections: record.connections,
        threads: record.threads,
        backend: record.backend,
        kernel_time: record.kernel_time,
        rate: match &record.arrivals {
            Arrivals::Closed { .. } => None,
            Arrivals::Open(profile) => profile.constant_rate(),
        },
        seconds: record.seconds(),
        good: tally.good,
        failed: tally.failed(),
        failures: tally.failures.iter().map(|(failure, count)| (failure.name(), *count)).collect(),
        malformed: &tally.malformed,
        statuses: &tally.statuses,
        abandoned: record.abandoned,
        bytes: record.samples.iter().map(|sample| sample.bytes).sum(),
        client_cores: record.client_cores(),
        service_us: Times::of(&service),
        scenario: record.walked().map(|walked| Scenario::of(&walked, record.scenario.as_ref())),
        open: record.open().map(|open| Open {
            due: open.due,
            unanswered: record.unanswered(),
            unsent: open.backlog,
            response_us: Times::of(&open.response),
            send_delay_us: Times::of(&open.send_delay),
        }),
        parts: record.parts().iter().map(|(load, whole)| Part::of(load, whole)).collect(),
        samples: record.samples.iter().map(Span::of).collect(),
        findings,
    })
}

/// A row a second or, where the load has steps or stages, a row for each of them: times in µs. `load` is its number of users
/// or its rate. What only an open loop has is empty in a closed one. Scenarios add a row a step.
pub fn load_csv(record: &LoadRecord) -> String {
    let has_steps = record.scenario.is_some();
    let mut rows = String::from(
        "load,start_s,length_s,good,failed,bytes,client_cpu_s,service_p50_us,service_p99_us,service_max_us,due,backlog,\
         response_p50_us,response_p99_us,response_max_us,send_delay_p50_us,send_delay_p99_us,send_delay_max_us,malformed",
    );
    rows += if has_steps { ",step,skipped\n" } else { "\n" };
    let mut row = |load: &str, sample: &Sample| {
        let Span { start_s, length_s, good, failed, bytes, client_cpu_s, service_us, .. } = Span::of(sample);
        let open = sample.open.as_ref().map_or_else(|| ",,,,,,,".to_owned(), open_fields);
        let service = service_us.fields();
        let malformed = malformed_field(&sample.tally);
        // Writing to a String cannot fail.
        let _ = write!(
            rows,
            "{load},{start_s:.3},{length_s:.3},{good},{failed},{bytes},{client_cpu_s:.6},{service},{open},{malformed}"
        );
        rows += if has_steps { ",,\n" } else { "\n" };
        for (name, step) in sample.walked.iter().flat_map(|walked| &walked.steps) {
            let (good, failed, skipped) = (step.tally.good, step.tally.failed(), step.skipped);
            let (service, name) = (Times::of(&step.service).fields(), quoted(name));
            let malformed = malformed_field(&step.tally);
            let _ = writeln!(
                rows,
                "{load},{start_s:.3},{length_s:.3},{good},{failed},,,{service},,,,,,,,,{malformed},{name},{skipped}"
            );
        }
    };
    match &record.parts()[..] {
        [(load, _)] => record.samples.iter().for_each(|sample| row(load, sample)),
        parts => parts.iter().for_each(|(load, whole)| row(load, whole)),
    }
    rows
}

/// What was wrong with answers, such as `bare-cr=2 cut-body=1`.
fn malformed_field(tally: &Tally) -> String {
    let named = |(why, count): (&Malformed, &u64)| format!("{}={count}", why.name());
    tally.malformed.iter().map(named).collect::<Vec<_>>().join(" ")
}

fn open_fields(open: &OpenLoop) -> String {
    let [response, send_delay] = [&open.response, &open.send_delay].map(|times| Times::of(times).fields());
    format!("{},{},{response},{send_delay}", open.due, open.backlog)
}

/// The service times, in an open loop the response times, as HdrHistogram's tools read them (`.hgrm`), values in ms.
pub fn load_hgrm(record: &LoadRecord) -> String {
    let times = record.open().map_or_else(|| record.service(), |open| open.response);
    let mut lines = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
    for (us, quantile, count) in times.distribution() {
        let beyond = if quantile < 1.0 { format!("{:.2}", 1.0 / (1.0 - quantile)) } else { "inf".to_owned() };
        let _ = writeln!(lines, "{:12.3} {quantile:14.12} {count:10} {beyond:>14}", us as f64 / 1e3);
    }
    let _ = writeln!(lines, "#[Mean    = {:12.3}]", times.mean() / 1e3);
    let _ = writeln!(lines, "#[Max     = {:12.3}, Total count    = {:12}]", times.max() as f64 / 1e3, times.count());
    lines
}

/// A row a step, below it what was wrong.
fn steps(page: &mut Page, walked: &Walked) {
    page.heading("Steps");
    let width = walked.steps.keys().map(|name| name.chars().count()).max().unwrap_or(0).max(4);
    let columns = |name: &str, [good, failed, skipped]: [String; 3], [p50, p99]: [String; 2]| {
        format!("  {name:<width$}  {good:>10}  {failed:>8}  {skipped:>8}  {p50:>10}  {p99:>10}")
    };
    let heads = ["good", "failed", "skipped"].map(str::to_owned);
    page.line(&columns("step", heads, ["p50", "p99"].map(str::to_owned)));
    for (name, step) in &walked.steps {
        let counts = [step.tally.good, step.tally.failed(), step.skipped].map(text::count);
        let times = [0.5, 0.99]
            .map(|q| step.service.supported_quantile(q).map_or_else(|| "–".to_owned(), |us| number::micros(us as f64)));
        page.line(&columns(name, counts, times));
        for (failure, count) in step.tally.failures.iter().filter(|(failure, _)| **failure != Failure::Content) {
            page.line(&format!("  {:<width$}  {:>10}  {}", "", text::count(*count), failure.name()));
        }
        for (what, count) in &step.unmet {
            page.line(&format!("  {:<width$}  {:>10}  {}: {what}", "", text::count(*count), Failure::Content.name()));
        }
    }
    page.heading("Iterations: from the first request of a scenario to the last answer");
    page.line(&format!("  finished {}, stopped {}", text::count(walked.finished), text::count(walked.stopped)));
    page.line(&times(&walked.iteration));
}

/// `closed loop, 10 connections, 10.0 s`, `open loop at 300/s, …`, `open loop of 2 stages, …`.
fn shape(record: &LoadRecord) -> String {
    let random = |spacing| if spacing == Spacing::Poisson { ", at random (Poisson)" } else { "" };
    let kind = match &record.arrivals {
        Arrivals::Closed { steps, think } => {
            let steps = if steps.is_empty() { String::new() } else { format!(" of {} steps", steps.len()) };
            let think = match think {
                None => String::new(),
                Some(Think::Fixed(time)) => format!(", thinking {}", number::micros(time.as_secs_f64() * 1e6)),
                Some(Think::Exponential(mean)) => {
                    format!(", thinking {} on average", number::micros(mean.as_secs_f64() * 1e6))
                }
            };
            format!("closed loop{steps}{think}")
        }
        Arrivals::Open(profile) => {
            let random = random(profile.spacing);
            profile.constant_rate().map_or_else(
                || format!("open loop of {}{random}", text::plural(profile.stages.len() as u64, "stage")),
                |rate| format!("open loop at {}{random}", number::rate(rate)),
            )
        }
    };
    format!("{kind}, {}, {}", text::plural(record.connections.into(), "connection"), number::seconds(record.seconds()))
}

/// `HTTP/2, TLS 1.3 (TLS13_AES_256_GCM_SHA384, ALPN h2), to 127.0.0.1:443`
fn transport(record: &LoadRecord) -> String {
    let Transport { http, tls } = &record.transport;
    let tls = tls.as_ref().map_or_else(
        || "in clear text".to_owned(),
        |TlsFacts { version, cipher, alpn, verified }| {
            let alpn = alpn.as_ref().map_or_else(String::new, |alpn| format!(", ALPN {alpn}"));
            let doubt = if *verified { "" } else { ", certificate NOT verified" };
            format!("{version} ({cipher}{alpn}){doubt}")
        },
    );
    let to = match record.addresses.as_slice() {
        [only] => format!(", to {}", only.address),
        _ => String::new(),
    };
    format!("{http}, {tls}{to}")
}

/// `p50 1.20 ms  p90 …  max …`, as far as the number of answers supports it.
fn times(histogram: &Histogram) -> String {
    if histogram.count() == 0 {
        return "  no good answer".to_owned();
    }
    let shown = PERCENTILES.iter().filter_map(|percent| {
        let us = histogram.supported_quantile(percent / 100.0)?;
        Some(format!("{} {}", number::percentile(*percent), number::micros(us as f64)))
    });
    let max = format!("max {}", number::micros(histogram.max() as f64));
    format!("  {}", shown.chain([max]).collect::<Vec<_>>().join("   "))
}

#[derive(Serialize)]
struct Whole<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    followed: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    redirects_to: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    addresses: &'a [AddressUse],
    transport: &'a Transport,
    connections: u32,
    threads: usize,
    backend: Backend,
    kernel_time: bool,
    rate: Option<f64>,
    seconds: f64,
    good: u64,
    failed: u64,
    failures: BTreeMap<&'a str, u64>,
    malformed: &'a BTreeMap<Malformed, u64>,
    statuses: &'a BTreeMap<u16, u64>,
    abandoned: u64,
    bytes: u64,
    client_cores: f64,
    service_us: Times,
    #[serde(skip_serializing_if = "Option::is_none")]
    scenario: Option<Scenario>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<Open>,
    parts: Vec<Part<'a>>,
    samples: Vec<Span>,
    findings: &'a [Finding],
}

/// What scenarios add.
#[derive(Serialize)]
struct Scenario {
    file: Option<String>,
    finished: u64,
    stopped: u64,
    iteration_us: Times,
    teardowns_failed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    teardown_failure: Option<String>,
    steps: IndexMap<String, StepRow>,
}

#[derive(Serialize)]
struct StepRow {
    good: u64,
    failed: u64,
    skipped: u64,
    failures: BTreeMap<&'static str, u64>,
    unmet: BTreeMap<String, u64>,
    statuses: BTreeMap<u16, u64>,
    service_us: Times,
}

impl Scenario {
    fn of(walked: &Walked, load: Option<&ScenarioLoad>) -> Self {
        let step = |step: &StepUse| StepRow {
            good: step.tally.good,
            failed: step.tally.failed(),
            skipped: step.skipped,
            failures: step.tally.failures.iter().map(|(failure, count)| (failure.name(), *count)).collect(),
            unmet: step.unmet.clone(),
            statuses: step.tally.statuses.clone(),
            service_us: Times::of(&step.service),
        };
        Self {
            file: load.map(|load| load.file.clone()),
            finished: walked.finished,
            stopped: walked.stopped,
            iteration_us: Times::of(&walked.iteration),
            teardowns_failed: load.map_or(0, |load| load.teardowns_failed),
            teardown_failure: load.and_then(|load| load.teardown_failure.clone()),
            steps: walked.steps.iter().map(|(name, own)| (name.clone(), step(own))).collect(),
        }
    }
}

/// What an open loop adds.
#[derive(Serialize)]
struct Open {
    due: u64,
    unanswered: u64,
    unsent: u64,
    response_us: Times,
    send_delay_us: Times,
}

/// A step or a stage.
#[derive(Serialize)]
struct Part<'a> {
    /// Its number of users, or its rate.
    load: &'a str,
    /// Good answers per second.
    per_second: f64,
    client_cores: f64,
    #[serde(flatten)]
    span: Span,
}

impl<'a> Part<'a> {
    fn of(load: &'a str, whole: &Sample) -> Self {
        let per_second = |amount: f64| amount / whole.length_s;
        let client_cores = per_second(whole.client_cpu_s);
        Self { load, per_second: per_second(whole.tally.good as f64), client_cores, span: Span::of(whole) }
    }
}

/// A second, or a part of the load.
#[derive(Serialize)]
struct Span {
    start_s: f64,
    length_s: f64,
    good: u64,
    failed: u64,
    bytes: u64,
    client_cpu_s: f64,
    service_us: Times,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_us: Option<Times>,
}

impl Span {
    fn of(sample: &Sample) -> Self {
        Self {
            start_s: sample.start_s,
            length_s: sample.length_s,
            good: sample.tally.good,
            failed: sample.tally.failed(),
            bytes: sample.bytes,
            client_cpu_s: sample.client_cpu_s,
            service_us: Times::of(&sample.service),
            response_us: sample.open.as_ref().map(|open| Times::of(&open.response)),
        }
    }
}

/// Percentiles, absent where fewer than 100 answers lie beyond them.
#[derive(Serialize)]
struct Times {
    p50: Option<u64>,
    p90: Option<u64>,
    p99: Option<u64>,
    p99_9: Option<u64>,
    max: Option<u64>,
}

impl Times {
    fn of(histogram: &Histogram) -> Self {
        let [p50, p90, p99, p99_9] = [0.5, 0.9, 0.99, 0.999].map(|q| histogram.supported_quantile(q));
        Self { p50, p90, p99, p99_9, max: (histogram.count() > 0).then(|| histogram.max()) }
    }

    /// Median, 99th percentile and longest as fields of a row.
    fn fields(&self) -> String {
        [self.p50, self.p99, self.max].map(|us| us.map_or_else(String::new, |us| us.to_string())).join(",")
    }
}
