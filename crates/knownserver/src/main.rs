//! `knownserver`: the known server as a process of its own, on loopback.

use clap::Parser;
use knownserver::{Body, Delay, Exit, KnownServer, Script, ScriptError, ServerEnd, WarmUp, span};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// An HTTP server whose behaviour is scripted and known: for tests, calibration and demonstrations.
///
/// Listens on 127.0.0.1 only. GET /known/record answers what it did, to the request.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// Port to listen on; 0 = a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Script (TOML); without one, / answers 20 bytes at once
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Leave a child behind that ignores TERM and lives for 120 s (it keeps stdout and stderr open)
    #[arg(long)]
    leave_child: bool,
    /// Ignore TERM
    #[arg(long)]
    ignore_term: bool,
    /// Be that child
    #[arg(long, hide = true, value_name = "SECONDS")]
    linger: Option<u64>,
    // Last: its heading would go on over what follows.
    #[command(flatten)]
    changes: Changes,
}

/// Flags that change the script; those of a route change every route.
#[derive(clap::Args)]
#[command(next_help_heading = "Changes to the script")]
struct Changes {
    /// Event loops, each on a thread of its own
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Seed of the delays
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Listen this much later, such as 500ms
    #[arg(long, value_name = "TIME", value_parser = span::parse)]
    start_delay: Option<Duration>,
    /// Answer 503 for this long
    #[arg(long, value_name = "TIME", value_parser = span::parse)]
    not_ready_for: Option<Duration>,
    /// Standard deviation of the logarithm of a cost factor drawn at every start, such as 0.02
    #[arg(long, value_name = "FRACTION")]
    launch_spread: Option<f64>,
    /// Do not start: write this to stderr and exit with code 1
    #[arg(long, value_name = "MESSAGE")]
    exit_at_start: Option<String>,
    /// Status of every route
    #[arg(long, value_name = "CODE")]
    status: Option<u16>,
    /// Body of every route
    #[arg(long, value_name = "TEXT", conflicts_with = "size")]
    body: Option<String>,
    /// Bytes of filler as the body of every route
    #[arg(long, value_name = "BYTES")]
    size: Option<usize>,
    /// Delay of every route
    #[arg(long, value_name = "TIME", value_parser = span::parse)]
    delay: Option<Duration>,
    /// CPU time every request burns, such as 200us
    #[arg(long, value_name = "TIME", value_parser = span::parse)]
    cpu: Option<Duration>,
    /// Cost factor of the first request and requests until warm, such as 8:1000
    #[arg(long, value_name = "COLD:REQUESTS", value_parser = warm_up)]
    warm_up: Option<WarmUp>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("knownserver: {error}");
            ExitCode::from(2)
        }
    }
}

/// What stops it before it serves.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Script(#[from] ScriptError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn run(arguments: &Arguments) -> Result<ExitCode, StartError> {
    if arguments.ignore_term || arguments.linger.is_some() {
        ignore_term()?;
    }
    if let Some(seconds) = arguments.linger {
        std::thread::sleep(Duration::from_secs(seconds));
        return Ok(ExitCode::SUCCESS);
    }
    let mut script = match &arguments.script {
        Some(file) => Script::from_file(file)?,
        None => Script::default(),
    };
    arguments.changes.apply(&mut script);
    script.check()?;
    if let Some(Exit { code, message }) = script.exit_at_start {
        eprintln!("{message}");
        return Ok(ExitCode::from(code));
    }
    allow_many_connections();
    if arguments.leave_child {
        leave_child()?;
    }
    // Here, not in the server, so that "listening" is said when it is true.
    std::thread::sleep(std::mem::take(&mut script.start_delay));
    let server = KnownServer::start_on(script, arguments.port)?;
    say(&format!("listening on {}", server.addr()))?;
    Ok(match server.wait() {
        Some(ServerEnd { code, message }) => {
            if !message.is_empty() {
                eprintln!("{message}");
            }
            ExitCode::from(code)
        }
        None => ExitCode::SUCCESS,
    })
}

impl Changes {
    fn apply(&self, script: &mut Script) {
        set(&mut script.threads, self.threads);
        set(&mut script.seed, self.seed);
        set(&mut script.start_delay, self.start_delay);
        set(&mut script.not_ready_for, self.not_ready_for);
        set(&mut script.launch_spread, self.launch_spread);
        if let Some(message) = &self.exit_at_start {
            script.exit_at_start = Some(Exit { code: 1, message: message.clone() });
        }
        for route in &mut script.routes {
            set(&mut route.status, self.status);
            set(&mut route.body, self.body.clone().map(Body::Text).or(self.size.map(Body::Size)));
            set(&mut route.delay, self.delay.map(Delay::Fixed));
            set(&mut route.cpu, self.cpu);
            route.warm_up = self.warm_up.or(route.warm_up);
        }
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn warm_up(text: &str) -> Result<WarmUp, String> {
    let expected = || format!("expected COLD:REQUESTS such as 8:1000, found {text:?}");
    let (cold, requests) = text.split_once(':').ok_or_else(expected)?;
    Ok(WarmUp { cold: cold.parse().map_err(|_| expected())?, requests: requests.parse().map_err(|_| expected())? })
}

/// A line on stdout, at once, whatever stdout is.
fn say(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}")?;
    stdout.flush()
}

fn ignore_term() -> io::Result<()> {
    // Whoever handles the signal is not ended by it; nobody looks at the flag.
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Thousands of clients need more descriptors than a shell allows by default.
fn allow_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Where it is refused, the limit stays what it was.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Starts a child that nobody waits for, in this process's group.
fn leave_child() -> io::Result<()> {
    const LIFE_SECONDS: &str = "120";
    let child = Command::new(std::env::current_exe()?).args(["--linger", LIFE_SECONDS]).stdin(Stdio::null()).spawn()?;
    say(&format!("left child {}", child.id()))
}
