//! `bakeoff load`: one server that is running already, loaded once. Nothing is compared and nothing is stored.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::ProgressBar;
use load::{Arrivals, Ask, Flow, LengthRule, Load, Profile, Spacing, Stop, Target};
use miette::IntoDiagnostic as _;
use model::study::{Expect, Request};
use model::{Interval, LoadRecord};
use url::Url;

use crate::exit::{self, UsageError};
use crate::{cli, interrupt, output};

/// How long a load takes when neither its time nor its number of requests is given.
const UNASKED: Duration = Duration::from_secs(10);
/// Seconds that the live line looks back.
const SHOWN: usize = 30;

pub fn run(typed: &cli::Load, quiet: bool) -> miette::Result<ExitCode> {
    let url = http(&typed.url)?;
    let target = target(&url)?;
    if !is_near(target.address.ip()) && !typed.yes && !confirmed(&target)? {
        return Err(UsageError::Foreign { host: target.host }.into());
    }
    let (ask, status, length) = checked(typed, &url, &target)?;
    let stop = match (typed.requests, typed.duration) {
        (Some(count), _) => Stop::Count(count),
        (None, time) => Stop::After(time.unwrap_or(UNASKED)),
    };
    let load = Load {
        connections: typed.connections,
        arrivals: arrivals(typed),
        seed: typed.seed,
        threads: typed.threads,
        time_limit: typed.timeout,
        engine: typed.engine.map(Into::into),
        ..Load::new(target.clone(), vec![ask], stop)
    };
    let interrupted = interrupt::flag().into_diagnostic()?;
    let live = Live::new(quiet);
    let mut intervals = Vec::new();
    let summary = load::run(&load, &interrupted, &mut |interval| {
        intervals.push(interval);
        live.show(&intervals);
        Flow::Continue
    })
    .into_diagnostic()?;
    live.end();

    let record = LoadRecord {
        url: typed.url.clone(),
        method: typed.method.clone(),
        address: target.address.to_string(),
        connections: typed.connections,
        threads: typed.threads,
        engine: summary.engine,
        rate: typed.rate,
        status,
        length,
        intervals,
    };
    tell(&record, typed)?;
    let was_interrupted = interrupted.load(Ordering::Relaxed);
    Ok(if was_interrupted { exit::INTERRUPTED.into() } else { ExitCode::SUCCESS })
}

fn arrivals(typed: &cli::Load) -> Arrivals {
    match typed.rate {
        None => Arrivals::Closed { think: None },
        Some(rate) => {
            let spacing = if typed.poisson { Spacing::Poisson } else { Spacing::Even };
            Arrivals::Open(Profile { spacing, ..Profile::constant(rate) })
        }
    }
}

fn tell(record: &LoadRecord, typed: &cli::Load) -> miette::Result<()> {
    let findings = analysis::audit_load(record);
    output::print(&if typed.json {
        report::load_json(record, &findings)
    } else if typed.csv {
        report::load_csv(record)
    } else {
        report::load(record, &findings, output::style())
    })?;
    typed.hgrm.as_deref().map_or(Ok(()), |path: &Path| output::write(path, &report::load_hgrm(record)))
}

fn http(typed: &str) -> Result<Url, UsageError> {
    let refused = |reason: String| UsageError::Url { url: typed.to_owned(), reason };
    // As ab, wrk and curl take it.
    let whole = if typed.contains("://") { typed.to_owned() } else { format!("http://{typed}") };
    let url = Url::parse(&whole).map_err(|error| refused(error.to_string()))?;
    match url.scheme() {
        "http" => Ok(url),
        "https" => Err(refused("TLS is not built yet".to_owned())),
        other => Err(refused(format!("{other} is not http"))),
    }
}

fn target(url: &Url) -> Result<Target, UsageError> {
    let refused = |reason: String| UsageError::Url { url: url.to_string(), reason };
    let addresses = url.socket_addrs(|| None).map_err(|error| refused(error.to_string()))?;
    let address = *addresses.first().ok_or_else(|| refused("its host has no address".to_owned()))?;
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Ok(Target { address, host })
}

/// Whether an address is this machine's or a private network's (RFC 1918, RFC 4193, RFC 3927, RFC 4291 §2.5.6).
fn is_near(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local(),
    }
}

/// Asks whoever sits at the terminal; without one the answer is no.
fn confirmed(target: &Target) -> miette::Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(false);
    }
    eprint!(
        "{} ({}) is neither this machine nor in a private network. Load it? [y/N] ",
        target.host,
        target.address.ip()
    );
    io::stderr().flush().into_diagnostic()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).into_diagnostic()?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The request, whose answers are all checked against the first ones: their status, and their length where two agree on it.
fn checked(typed: &cli::Load, url: &Url, target: &Target) -> miette::Result<(Ask, u16, Option<u64>)> {
    let path = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    let mut headers = typed.headers.clone();
    if typed.no_keepalive {
        headers.push(("Connection".to_owned(), "close".to_owned()));
    }
    let request = Request { method: typed.method.clone(), path, headers, body: typed.body.clone() };
    let any = Ask::new(&request, &Expect::default(), target, LengthRule::Any).into_diagnostic()?;
    let answer = || load::ask(target, &any, typed.timeout).into_diagnostic();
    let [first, second] = [answer()?, answer()?];
    let lengths = [first.body.len() as u64, second.body.len() as u64];
    let length = (lengths[0] == lengths[1] && !typed.any_length).then_some(lengths[0]);
    let expect = Expect { status: Some(first.status), ..Expect::default() };
    let rule = length.map_or(LengthRule::Any, LengthRule::Exact);
    Ok((Ask::new(&request, &expect, target, rule).into_diagnostic()?, first.status, length))
}

/// What is seen while the load goes on: a line that is drawn over and over on a terminal, else a line a second.
enum Live {
    Silent,
    Line(ProgressBar),
    Lines,
}

impl Live {
    fn new(quiet: bool) -> Self {
        if quiet {
            Self::Silent
        } else if io::stderr().is_terminal() {
            Self::Line(ProgressBar::new_spinner())
        } else {
            Self::Lines
        }
    }

    fn show(&self, intervals: &[Interval]) {
        let Some(last) = intervals.last() else { return };
        match self {
            Self::Silent => {}
            Self::Line(bar) => {
                let recent = &intervals[intervals.len().saturating_sub(SHOWN)..];
                bar.set_message(format!("{} {}", now(last), sparkline(recent)));
                bar.tick();
            }
            // A closed stderr is no reason to lose a load.
            Self::Lines => drop(writeln!(io::stderr(), "{}", now(last))),
        }
    }

    fn end(&self) {
        if let Self::Line(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// `12 s  12,345/s  p50 1.2 ms  3 failed`
fn now(interval: &Interval) -> String {
    let rate = interval.tally.good as f64 / interval.length_s;
    let mut text = format!("{:.0} s  {rate:.0}/s", interval.start_s + interval.length_s);
    if interval.service.count() > 0 {
        // Writing to a String cannot fail.
        let _ = write!(text, "  p50 {:.1} ms", interval.service.quantile(0.5) as f64 / 1e3);
    }
    if interval.tally.failed() > 0 {
        let _ = write!(text, "  {} failed", interval.tally.failed());
    }
    if let Some(open) = interval.open.as_ref().filter(|open| open.backlog > 0) {
        let _ = write!(text, "  {} waiting", open.backlog);
    }
    text
}

/// Median service time of each interval as a row of bars, from nothing to the slowest.
fn sparkline(intervals: &[Interval]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let medians: Vec<u64> = intervals.iter().map(|interval| interval.service.quantile(0.5)).collect();
    let slowest = medians.iter().copied().max().unwrap_or(0).max(1);
    medians.iter().map(|us| BARS[(us * (BARS.len() as u64 - 1) / slowest) as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Histogram, Tally};

    #[test]
    fn only_this_machine_and_private_networks_are_near() {
        let near =
            ["127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "fd00::1", "fe80::1", "::ffff:10.0.0.1"];
        assert!(near.iter().all(|address| is_near(address.parse().unwrap())));
        let far = ["8.8.8.8", "172.32.0.1", "2001:db8::1", "::ffff:8.8.8.8"];
        assert!(far.iter().all(|address| !is_near(address.parse().unwrap())));
    }

    #[test]
    fn an_address_is_taken_as_other_tools_take_it() {
        let parts = |typed| http(typed).and_then(|url| target(&url)).map(|target| (target.host, target.address.port()));
        assert_eq!(parts("http://127.0.0.1:8080/x?y").unwrap(), ("127.0.0.1:8080".to_owned(), 8080));
        assert_eq!(parts("127.0.0.1/x").unwrap(), ("127.0.0.1".to_owned(), 80));
        assert_eq!(parts("http://[::1]:81").unwrap(), ("[::1]:81".to_owned(), 81));
        for wrong in ["ftp://127.0.0.1/", "https://127.0.0.1/", "http://", "http://127.0.0.1:port/"] {
            assert!(parts(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bars_grow_with_the_median() {
        let interval = |us: u64| {
            let mut service = Histogram::new();
            service.record(us);
            Interval {
                start_s: 0.0,
                length_s: 1.0,
                tally: Tally { good: 1, ..Tally::default() },
                bins: vec![1],
                service,
                open: None,
                bytes: 0,
                client_cpu_s: 0.0,
                server: None,
                host: None,
            }
        };
        assert_eq!(sparkline(&[interval(1), interval(500), interval(1_000)]), "▁▄█");
        assert_eq!(now(&interval(1_500)), "1 s  1/s  p50 1.5 ms");
    }
}
