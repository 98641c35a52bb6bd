//! What is typed on the command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use analysis::{RULES, Rule};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};
use model::{Mode, Profile, Think};

use crate::exit::{self, FailOn};
use crate::output;

/// Does this change to how my server runs make it faster, and by how much?
#[derive(Debug, Parser)]
#[command(name = "bakeoff", version, max_term_width = 100, after_help = exit::HELP)]
pub struct Cli {
    /// The store of runs; by default `bakeoff/store.db` in the XDG data folder.
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    pub store: Option<PathBuf>,
    /// No progress on stderr.
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// Heading of the options that every command takes.
const GLOBAL: &str = "Options of every command";

impl Cli {
    /// What has to be typed for another command to find the same store.
    pub fn store_again(&self) -> String {
        self.store.as_deref().map_or_else(String::new, |path| format!(" --store {}", output::word(path)))
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented study file for what is in a folder.
    Init(Init),
    /// Validate a study and print its plan; change nothing.
    Check(Check),
    /// Run a study.
    Run(Run),
    /// Load a server that is running already, and say what was seen.
    Load(Box<Load>),
    /// Say what results of other load tools support.
    ///
    /// Reads results of ApacheBench, JMeter, wrk, h2load, oha, hey, vegeta, k6, Locust, Gatling and HdrHistogram, also packed by gzip or zstd.
    /// What a file is, its contents say.
    Audit(Audit),
    /// Show the report of a stored run.
    Report(Report),
    /// List the stored runs.
    List(List),
    /// Show what was measured in a stored run, trial by trial.
    Show(Show),
    /// Write a stored run as JSON.
    Export(Export),
    /// Store a run that was exported elsewhere.
    ///
    /// It counts as finished, however far it had come: `run --resume` goes on only with runs that began in this store.
    Import(Import),
    /// Say whether this host is fit to measure on, and what to do where it is not.
    Doctor(Doctor),
    /// What a finding means, how it was decided, what to do.
    Explain(Explain),
    /// Watches over one server process; for bakeoff's own use.
    #[command(hide = true)]
    Supervise,
}

#[derive(Debug, Args)]
pub struct Init {
    /// The folder to look at.
    #[arg(default_value = ".")]
    pub folder: PathBuf,
    /// Where to write; `-` is stdout. An existing file is never overwritten [default: study.toml in the folder].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// What plan is meant.
#[derive(Debug, Args)]
pub struct Planned {
    /// The study file.
    pub study: PathBuf,
    /// Short warm-up, short measurements, few blocks: large effects only.
    #[arg(long)]
    pub quick: bool,
    /// The time that the run may take: 15m, 2h. The plan is made to fit [default: `[decide] within`, else 30m or as long as it takes].
    #[arg(long, value_parser = duration, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Seed of every random choice; the same seed gives the same plan [default: from the clock].
    #[arg(long)]
    pub seed: Option<u64>,
}

impl Planned {
    /// The mode that is meant.
    pub fn mode(&self) -> Mode {
        if self.quick { Mode::Quick } else { Mode::Full }
    }
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub planned: Planned,
    /// The plan as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option that is given or not")]
pub struct Run {
    #[command(flatten)]
    pub planned: Planned,
    /// Go on with the last unfinished run of this study, quick or full as it began.
    #[arg(long, conflicts_with_all = ["seed", "quick"])]
    pub resume: bool,
    /// At the end, launch each variant once more and profile it, to see why they differ [default: in full runs of Java, JRuby and Ruby; with --resume as the run began].
    #[arg(long, overrides_with = "no_profile")]
    pub profile: bool,
    /// Do not.
    #[arg(long, overrides_with = "profile")]
    pub no_profile: bool,
    /// Compare nothing: load each variant once, for so long (4h), and say what leaks and what drifts [default: the study's `[soak] duration`].
    #[arg(long, value_parser = duration, value_name = "TIME", num_args = 0..=1, conflicts_with_all = ["resume", "quick", "budget", "profile", "no_profile", "xlsx"])]
    #[expect(clippy::option_option, reason = "clap's type of an option whose value may be left out")]
    pub soak: Option<Option<Duration>>,
    /// Soak only this variant; may be given several times.
    #[arg(long = "variant", value_name = "NAME", requires = "soak")]
    pub variants: Vec<String>,
    /// From which verdict on the run fails; each one includes those before it. A run that compared nothing always fails.
    #[arg(long, value_enum, default_value_t = FailOn::Invalid, value_name = "VERDICT")]
    pub fail_on: FailOn,
    /// Where to write the HTML report [default: beside the store].
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the figures as a spreadsheet (XLSX) too.
    #[arg(long, value_name = "FILE")]
    pub xlsx: Option<PathBuf>,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

impl Run {
    /// Whether profiling runs are asked for; `None` where nothing is said.
    pub fn profile(&self) -> Option<bool> {
        (self.profile || self.no_profile).then_some(self.profile)
    }
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option that is given or not")]
pub struct Load {
    /// What to ask for: `http://HOST:PORT/PATH` or `https://…`; `http://` may be left out.
    pub url: String,
    /// Connections, each of which asks again as soon as it is answered. Several numbers, as in 1,10,50, are steps, each of
    /// which takes --duration.
    #[arg(short, long, value_name = "COUNT", default_value = "10", value_delimiter = ',', value_parser = value_parser!(u32).range(1..))]
    pub connections: Vec<u32>,
    /// How long each of them thinks after an answer: 2s, or exp:2s for random times of that mean (exponential).
    #[arg(long, value_name = "TIME", conflicts_with = "open", value_parser = think)]
    pub think: Option<Think>,
    /// Have each connection's user walk through the scenarios in this file instead of asking the same again and again.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["headers", "method", "body", "no_keepalive", "any_length", "compressed", "follow"])]
    pub scenario: Option<PathBuf>,
    /// End after exactly so many requests; with --scenario, iterations.
    #[arg(short = 'n', long, value_name = "COUNT", conflicts_with = "duration", value_parser = value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// End after so long: 30s, 2m [default: 10s].
    #[arg(short, long, value_parser = lasting, value_name = "TIME")]
    pub duration: Option<Duration>,
    /// Requests, with --scenario iterations, due per second in all, whatever the server does: an open loop, in which response time counts from when a
    /// request was due. The connections are the most that are used.
    #[arg(short = 'R', long, value_name = "PER SECOND", group = "open", value_parser = rate)]
    pub rate: Option<f64>,
    /// An open loop whose rate moves: 200:10s,200:30s goes from 0 to 200/s in 10 s and stays there for 30 s; 0s jumps.
    #[arg(long, value_name = "RATE:TIME,…", group = "open", conflicts_with_all = ["requests", "duration"], value_delimiter = ',', value_parser = stage)]
    pub stages: Vec<(f64, Duration)>,
    /// Requests due at random times instead of evenly spaced ones (a Poisson process).
    #[arg(long, requires = "open")]
    pub poisson: bool,
    /// Seed of the random times, and of the choice among scenarios.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// A header field; may be given several times.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE", value_parser = header)]
    pub headers: Vec<(String, String)>,
    /// The method.
    #[arg(short, long, default_value = "GET")]
    pub method: String,
    /// The request's body.
    #[arg(long, value_name = "TEXT")]
    pub body: Option<String>,
    /// A new connection for every request.
    #[arg(long)]
    pub no_keepalive: bool,
    /// Offer gzip (`Accept-Encoding: gzip`). Lengths are always those of the decoded body.
    #[arg(long)]
    pub compressed: bool,
    /// Follow redirects, 10 at most, before the load, and load what is at their end.
    #[arg(long)]
    pub follow: bool,
    /// Take answers of any length for good; else it has to be that of the first two, where those agree.
    #[arg(long)]
    pub any_length: bool,
    /// Longest time for a connection to be made, and again for an answer.
    #[arg(long, value_parser = lasting, value_name = "TIME", default_value = "30s")]
    pub timeout: Duration,
    /// Threads of the client.
    #[arg(long, value_name = "COUNT", default_value = "1", value_parser = threads)]
    pub threads: usize,
    /// How the client moves its bytes [default: the best that works here].
    #[arg(long, value_enum, value_name = "BACKEND")]
    pub backend: Option<Backend>,
    /// Answers come when the client has read them, not when the kernel received them: for those who compare the two.
    #[arg(long)]
    pub no_kernel_time: bool,
    /// Load a public address without asking back, also one that a redirect leads to.
    #[arg(long)]
    pub yes: bool,
    /// As JSON.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// As CSV, a row a second, or one for each step or stage.
    #[arg(long)]
    pub csv: bool,
    /// Write the distribution of service times, in an open loop of response times, for HdrHistogram's tools too.
    #[arg(long, value_name = "FILE")]
    pub hgrm: Option<PathBuf>,
    #[command(flatten)]
    pub transport: Transport,
}

/// The kernel's ways of moving bytes.
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Backend {
    Epoll,
    IoUring,
}

impl From<Backend> for model::Backend {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Epoll => Self::Epoll,
            Backend::IoUring => Self::IoUring,
        }
    }
}

/// How the server is reached, and what is spoken.
#[derive(Debug, Args)]
#[command(next_help_heading = "Transport")]
pub struct Transport {
    /// HTTP/2: over TLS by ALPN, else with prior knowledge. One request at a time on each connection.
    #[arg(long)]
    pub http2: bool,
    /// Connect to this address instead of the URL's host; if given several times, to each in turn.
    #[arg(long = "address", value_name = "IP[:PORT]", value_parser = address, conflicts_with = "unix")]
    pub addresses: Vec<(IpAddr, Option<u16>)>,
    /// Connect to this Unix socket.
    #[arg(long, value_name = "PATH")]
    pub unix: Option<PathBuf>,
    /// Certificates to trust instead of the platform's, in PEM.
    #[arg(long, value_name = "FILE")]
    pub cacert: Option<PathBuf>,
    /// A client certificate for servers that ask for one, in PEM, followed by those between it and its authority.
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// Its private key, in PEM [default: in the certificate's file].
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// The name to ask for in TLS, and that the certificate has to be for [default: the URL's host].
    #[arg(long, value_name = "NAME")]
    pub sni: Option<String>,
    /// Take any certificate, whoever it is for and whoever signed it. The result says so.
    #[arg(short = 'k', long)]
    pub insecure: bool,
}

#[derive(Debug, Args)]
pub struct Report {
    /// Name of the run, or the beginning of one.
    #[arg(default_value = store::LATEST)]
    pub run: String,
    #[command(flatten)]
    pub format: Format,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Format {
    /// As one HTML file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// As Markdown.
    #[arg(long)]
    pub md: bool,
    /// As CSV, a row for each figure.
    #[arg(long)]
    pub csv: bool,
    /// As a spreadsheet (XLSX) with the same figures, a sheet for each kind of them.
    #[arg(long, value_name = "FILE")]
    pub xlsx: Option<PathBuf>,
    /// As JSON, by `schema/report.schema.json`.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct List {
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Show {
    /// Name of the run, or the beginning of one.
    #[arg(default_value = store::LATEST)]
    pub run: String,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Export {
    /// Name of the run, or the beginning of one.
    #[arg(default_value = store::LATEST)]
    pub run: String,
    /// Where to write, over what is there; `-` is stdout.
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

#[derive(Debug, Args)]
pub struct Import {
    /// What `export` wrote; `-` is stdin.
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// How long to watch for steal and for what others do.
    #[arg(long, value_parser = duration, value_name = "TIME", default_value = "10s")]
    pub watch: Duration,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Audit {
    /// Files, folders of them, or `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Look at all runs together.
    #[arg(long, conflicts_with_all = ["pair", "claim"])]
    pub series: bool,
    /// A series for each text that the group in this regular expression finds in the files' names: 'run-(\d+)_'.
    #[arg(long, value_name = "PATTERN", requires = "series")]
    pub by: Option<String>,
    /// The format of all files, instead of what their contents say.
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: Option<&'static str>,
    /// The character between the columns of a JTL; guessed where it is not given.
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Take files of which more than one line in a hundred cannot be read.
    #[arg(long)]
    pub lenient: bool,
    /// Hold the second of two results against the first, over the time in which both ran at one speed.
    #[arg(long)]
    pub pair: bool,
    /// What two results say of a claim about speed: "b is faster than a", "a is 3 times slower than b", "a is 20 % faster than b", "b is
    /// twice as fast as a", "a is as fast as b", "b answers 20 % more requests than a". The first is a, the second b; each also goes by its
    /// file's name.
    #[arg(long, value_name = "SENTENCE")]
    pub claim: Option<String>,
    #[command(flatten)]
    pub format_of_output: AuditFormat,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct AuditFormat {
    /// As one HTML file, with pictures.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// As Markdown.
    #[arg(long)]
    pub md: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// A format by its name.
fn format() -> impl TypedValueParser<Value = &'static str> {
    let names = PossibleValuesParser::new(import::FORMATS.iter().map(|format| format.id));
    names.try_map(|name| import::FORMATS.iter().map(|format| format.id).find(|id| *id == name).ok_or("no such format"))
}

/// One ASCII character; `\t` is a tab.
fn delimiter(typed: &str) -> Result<u8, &'static str> {
    match typed.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [one] if one.is_ascii() && *one != b'"' => Ok(*one),
        _ => Err("it has to be one character of ASCII, or \\t, and no quote"),
    }
}

#[derive(Debug, Args)]
pub struct Explain {
    /// The finding's id, such as `responses-differ`; all of them when absent.
    #[arg(value_parser = finding(), hide_possible_values = true)]
    pub finding: Option<&'static Rule>,
}

/// A finding by its id; of another name the nearest is shown.
fn finding() -> impl TypedValueParser<Value = &'static Rule> {
    let names = PossibleValuesParser::new(RULES.iter().map(|rule| rule.id.name()));
    names.try_map(|name| RULES.iter().find(|rule| rule.id.name() == name).ok_or("no such finding"))
}

/// An IP address, an IPv6 one with or without brackets, maybe with a port.
fn address(typed: &str) -> Result<(IpAddr, Option<u16>), String> {
    let bare = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(typed);
    let alone = bare.parse().map(|address| (address, None));
    alone
        .or_else(|_| typed.parse().map(|address: SocketAddr| (address.ip(), Some(address.port()))))
        .map_err(|_| "expected an IP address such as 127.0.0.2, 127.0.0.2:8080, ::1 or [::1]:8080".to_owned())
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("expected NAME: VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn rate(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|rate: &f64| *rate > 0.0 && *rate <= Profile::MOST_RATE)
        .ok_or_else(|| format!("expected a number above 0, at most {}", Profile::MOST_RATE))
}

/// `RATE:TIME`
fn stage(text: &str) -> Result<(f64, Duration), String> {
    let (to, over) = text.split_once(':').ok_or("expected RATE:TIME, such as 200:10s")?;
    let to = to.parse().ok().filter(|rate: &f64| (0.0..=Profile::MOST_RATE).contains(rate));
    let expected = || format!("expected a rate from 0 to {} before the colon", Profile::MOST_RATE);
    Ok((to.ok_or_else(expected)?, duration(over)?))
}

/// `2s` or `exp:2s`
fn think(text: &str) -> Result<Think, String> {
    text.strip_prefix("exp:")
        .map_or_else(|| duration(text).map(Think::Fixed), |mean| duration(mean).map(Think::Exponential))
}

fn threads(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|threads| (1..=1_024).contains(threads)).ok_or_else(|| "expected 1 to 1024".to_owned())
}

/// A time that is not 0.
fn lasting(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| if time.is_zero() { Err("expected more than no time".to_owned()) } else { Ok(time) })
}

fn duration(text: &str) -> Result<Duration, String> {
    study::duration(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_commands_are_well_formed() {
        Cli::command().debug_assert();
    }
}
