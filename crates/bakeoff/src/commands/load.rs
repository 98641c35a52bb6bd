//! `bakeoff load`: one server that is running already, loaded once. Nothing is compared and nothing is stored.

use std::collections::VecDeque;
use std::io::{self, IsTerminal, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use indicatif::ProgressBar;
use load::{Address, Answer, FetchError, Flow, LengthRule, Load, PreparedRequest, RequestSource, Script, Stop, Target};
use miette::{IntoDiagnostic as _, miette};
use model::load::{ScenarioLoad, Transport};
use model::study::{Expect, Request};
use model::{Arrivals, LoadRecord, Profile, Sample, Spacing, Step};
use server::Environment;
use url::Url;

use crate::exit::{self, UsageError};
use crate::{cli, interrupt, output};

use super::spool::Spool;
use super::{redirect, target};

/// How long a load takes when neither its time nor its number of requests is given.
const DEFAULT_DURATION: Duration = Duration::from_secs(10);
/// Seconds that the live line looks back.
const SHOWN: usize = 30;

pub fn run(typed: &cli::Load, quiet: bool) -> miette::Result<ExitCode> {
    if let Some(file) = &typed.hgrm {
        output::require_writable(file)?;
    }
    let url = target::url(&typed.url)?;
    let mut aim = Destination::at(url.clone(), request(typed, &url), typed)?;
    let followed = if typed.follow { aim.follow(typed)? } else { Vec::new() };
    let arrivals = arrivals(typed)?;
    let environment = Environment::default();
    let Checked { source, status, length, redirects_to, transport } = match &typed.scenario {
        None => checked(typed, &mut aim)?,
        Some(file) => walked(typed, file, &mut aim, &environment)?,
    };
    let stop = match (typed.requests, arrivals.length()) {
        (Some(count), _) => Stop::Count(count),
        (None, Some(length)) => Stop::After(length),
        (None, None) => Stop::After(typed.duration.unwrap_or(DEFAULT_DURATION)),
    };
    let load = Load {
        connections: typed.connections.iter().copied().max().unwrap_or(1),
        arrivals,
        seed: typed.seed,
        threads: typed.threads,
        time_limit: typed.timeout,
        backend: typed.backend.map(Into::into),
        kernel_time: !typed.no_kernel_time,
        ..Load::new(aim.target, source, stop)
    };
    let interrupted = interrupt::flag().into_diagnostic()?;
    let mut live = LiveView::new(quiet);
    let mut spool = Spool::new().map_err(|error| unkept(&error))?;
    let mut lost = None;
    let made = load::run(&load, &interrupted, &mut |sample| {
        live.show(&sample);
        lost = spool.push(&sample).err();
        if lost.is_none() { Flow::Continue } else { Flow::Stop }
    });
    live.end();
    let summary = made.map_err(|error| miette!("{}", environment.mask(&error.to_string())))?;
    let samples = lost.map_or_else(|| spool.into_samples(), Err).map_err(|error| unkept(&error))?;

    let record = LoadRecord {
        url: typed.url.clone(),
        followed,
        redirects_to,
        method: typed.scenario.is_none().then_some(aim.request.method),
        addresses: summary.addresses,
        transport,
        connections: load.connections,
        threads: load.used_threads(),
        backend: summary.backend,
        kernel_time: summary.kernel_time,
        arrivals: load.arrivals,
        status,
        length,
        scenario: typed.scenario.as_ref().map(|file| ScenarioLoad {
            file: file.display().to_string(),
            teardowns_failed: summary.teardowns_failed,
            teardown_failure: summary.teardown_failure.map(|reason| environment.mask(&reason)),
        }),
        abandoned: summary.abandoned,
        samples,
    };
    tell(&record, typed)?;
    let was_interrupted = interrupted.load(Ordering::Relaxed);
    Ok(if was_interrupted { exit::INTERRUPTED.into() } else { ExitCode::SUCCESS })
}

/// What a load has seen cannot be kept.
fn unkept(error: &io::Error) -> miette::Report {
    let folder = std::env::temp_dir();
    miette!(
        "what is seen cannot be kept in {}: {error}; make room there, or name another folder by TMPDIR",
        folder.display()
    )
}

/// What makes requests start, as typed.
fn arrivals(typed: &cli::Load) -> Result<Arrivals, UsageError> {
    let spacing = if typed.poisson { Spacing::Poisson } else { Spacing::Even };
    let is_open = typed.rate.is_some() || !typed.stages.is_empty();
    let steps = match &typed.connections[..] {
        [_] => Vec::new(),
        _ if is_open || typed.requests.is_some() => return Err(UsageError::NoSteps),
        several => {
            let length = typed.duration.unwrap_or(DEFAULT_DURATION);
            several.iter().map(|users| Step { users: *users, length }).collect()
        }
    };
    let arrivals = match typed.rate {
        Some(rate) => Arrivals::Open(Profile { spacing, ..Profile::constant(rate) }),
        None if is_open => Arrivals::Open(Profile::through(typed.stages.iter().copied(), spacing)),
        None => Arrivals::Closed { think: typed.think, steps },
    };
    if let Arrivals::Open(profile) = &arrivals
        && profile.stages.iter().all(|stage| stage.length.is_zero() || stage.from.max(stage.to) == 0.0)
    {
        return Err(UsageError::NothingDue);
    }
    let parts = arrivals.parts(1).into_iter().map(|(_, length)| length).filter(|length| *length < Duration::MAX);
    match parts.into_iter().find(|length| length.subsec_nanos() > 0) {
        Some(length) => Err(UsageError::NoWholeSeconds { length }),
        None => Ok(arrivals),
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
    typed.hgrm.as_deref().map_or(Ok(()), |path: &Path| output::write(path, report::load_hgrm(record)))
}

/// What is asked, and where.
struct Destination {
    url: Url,
    target: Target,
    request: Request,
}

impl Destination {
    /// Refuses what is neither near nor allowed.
    fn at(url: Url, request: Request, typed: &cli::Load) -> miette::Result<Self> {
        let target = target::target(&url, &typed.transport)?;
        if !target::is_near(&target) && !typed.yes && !target::confirmed(&target)? {
            return Err(UsageError::Foreign { host: target.host }.into());
        }
        Ok(Self { url, target, request })
    }

    /// Goes where redirects lead; returns the places, the last of which is aimed at now.
    fn follow(&mut self, typed: &cli::Load) -> miette::Result<Vec<String>> {
        let mut followed = Vec::new();
        loop {
            let any = self.prepared(&Expect::default(), LengthRule::Any)?;
            let (answer, _) = first_answers(typed, &mut self.target, &any).into_diagnostic()?;
            let Some(to) = redirect::leads_to(&self.url, &answer) else { return Ok(followed) };
            if followed.len() == redirect::MOST {
                return Err(UsageError::Redirects { url: typed.url.clone(), last: to.into() }.into());
            }
            let request = redirect::request_at(&to, &self.url, answer.status, self.request.clone());
            *self = Self::at(target::url(to.as_str())?, request, typed)?;
            followed.push(self.url.to_string());
        }
    }

    fn prepared(&self, expect: &Expect, length: LengthRule) -> miette::Result<PreparedRequest> {
        Ok(PreparedRequest::new(&self.request, expect, &self.target, length).map_err(UsageError::Request)?)
    }
}

/// The request as typed.
fn request(typed: &cli::Load, url: &Url) -> Request {
    let mut headers = typed.headers.clone();
    if typed.no_keepalive {
        headers.push(("Connection".to_owned(), "close".to_owned()));
    }
    if typed.compressed && !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("accept-encoding")) {
        headers.push(("Accept-Encoding".to_owned(), "gzip".to_owned()));
    }
    Request { method: typed.method.clone(), path: redirect::path(url), headers, body: typed.body.clone() }
}

/// What is asked, and what is known of its answers before the load.
struct Checked {
    source: RequestSource,
    status: Option<u16>,
    length: Option<u64>,
    redirects_to: Option<String>,
    transport: Transport,
}

/// The scenarios in a file. Before them the server is asked for the URL, to learn how it speaks.
fn walked(typed: &cli::Load, file: &Path, aim: &mut Destination, environment: &Environment) -> miette::Result<Checked> {
    let Destination { url, target, .. } = aim;
    if url.path() != "/" || url.query().is_some() {
        let reason = "with --scenario, paths stand in its steps: write the URL without one".to_owned();
        return Err(UsageError::Url { url: url.to_string(), reason }.into());
    }
    let scenarios = study::scenarios(file)?;
    let scenarios = scenarios.map_texts(|text| environment.complete(text)).into_diagnostic()?;
    let front = Request { method: "GET".to_owned(), path: "/".to_owned(), headers: Vec::new(), body: None };
    let front = PreparedRequest::new(&front, &Expect::default(), target, LengthRule::Any).into_diagnostic()?;
    let (first, _) = first_answers(typed, target, &front).into_diagnostic()?;
    let source = vec![Script::new(&scenarios, target).into_diagnostic()?].into();
    Ok(Checked { source, status: None, length: None, redirects_to: None, transport: first.transport })
}

/// The request, whose answers are all checked against the first ones, one of each address: their status, and their
/// length where they agree on it.
fn checked(typed: &cli::Load, aim: &mut Destination) -> miette::Result<Checked> {
    let any = aim.prepared(&Expect::default(), LengthRule::Any)?;
    let (first, others) = first_answers(typed, &mut aim.target, &any).into_diagnostic()?;
    let wanted = first.body.len() as u64;
    let agree = others.iter().all(|other| other.body.len() as u64 == wanted);
    let length = (agree && !typed.any_length).then_some(wanted);
    let expect = Expect { status: Some(first.status), ..Expect::default() };
    let source = vec![aim.prepared(&expect, length.map_or(LengthRule::Any, LengthRule::Exact))?].into();
    let redirects_to = redirect::leads_to(&aim.url, &first).map(Into::into);
    Ok(Checked { source, status: Some(first.status), length, redirects_to, transport: first.transport })
}

/// An answer of each address, and of the first another if there is no other address. Of the addresses that a name has
/// (`localhost` may have two), those at which nothing listens are left out.
fn first_answers(
    typed: &cli::Load,
    target: &mut Target,
    request: &PreparedRequest,
) -> Result<(Answer, Vec<Answer>), FetchError> {
    let is_name = typed.transport.addresses.is_empty();
    let fetch_from = |address: &Address| {
        let only = Target { addresses: vec![address.clone()], ..target.clone() };
        load::fetch(&only, request, typed.timeout)
    };
    let (mut answers, mut used, mut refused) = (Vec::new(), Vec::new(), None);
    for address in &target.addresses {
        match fetch_from(address) {
            Ok(answer) => {
                answers.push(answer);
                used.push(address.clone());
            }
            Err(error @ FetchError::Connect { .. }) if is_name => refused = Some(error),
            Err(error) => return Err(error),
        }
    }
    if let [only] = used.as_slice() {
        answers.push(fetch_from(only)?);
    }
    target.addresses = used;
    let others = answers.split_off(answers.len().min(1));
    answers.pop().map(|first| (first, others)).ok_or(refused.unwrap_or(FetchError::NoAddress))
}

/// What is seen while the load goes on: a line that is drawn over and over on a terminal, else a line a second.
enum LiveView {
    Silent,
    /// With the median service times of the last samples, µs.
    Line(ProgressBar, VecDeque<u64>),
    Lines,
}

impl LiveView {
    fn new(quiet: bool) -> Self {
        if quiet {
            Self::Silent
        } else if io::stderr().is_terminal() {
            Self::Line(ProgressBar::new_spinner(), VecDeque::new())
        } else {
            Self::Lines
        }
    }

    fn show(&mut self, last: &Sample) {
        match self {
            Self::Silent => {}
            Self::Line(bar, medians) => {
                if medians.len() == SHOWN {
                    medians.pop_front();
                }
                medians.push_back(last.latency().quantile(0.5));
                bar.set_message(format!(
                    "{} {}",
                    report::load_sample(last),
                    report::sparkline(medians.iter().copied())
                ));
                bar.tick();
            }
            // A closed stderr is no reason to lose a load.
            Self::Lines => drop(writeln!(io::stderr(), "{}", report::load_sample(last))),
        }
    }

    fn end(&self) {
        if let Self::Line(bar, _) = self {
            bar.finish_and_clear();
        }
    }
}
