//! What the exit code says.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use miette::Diagnostic;
use model::soaked::SoakEnd;
use model::text::{exactly, minutes};
use model::{Report, Severity, SoakPlan, SoakReport, Verdict};
use store::StoreError;
use study::StudyError;
use thiserror::Error;

/// All went well, or no verdict that the user asked to fail on.
pub const FINE: u8 = 0;
/// bakeoff itself failed.
pub const FAILED: u8 = 1;
/// The command line or the study file is wrong.
pub const USAGE: u8 = 2;
/// A variant is worse than the baseline.
pub const WORSE: u8 = 3;
/// The run could not say.
pub const INCONCLUSIVE: u8 = 4;
/// The comparison is invalid, or there is none.
pub const INVALID: u8 = 5;
/// Interrupted by Ctrl-C or TERM; what was measured is stored.
pub const INTERRUPTED: u8 = 130;

/// Printed below `--help`.
pub const HELP: &str = "\
Exit codes: 0 fine, 1 bakeoff failed, 2 usage or study file wrong, 3 worse, 4 inconclusive, \
5 invalid comparison, 130 interrupted (see run --fail-on).";

/// Verdicts that a run may fail on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum FailOn {
    Never,
    Invalid,
    Worse,
    Inconclusive,
}

/// The exit code of a run that has ended: the gravest of its verdicts that the user wants to fail on. A run without a used block compared
/// nothing, and fails whatever the user wants.
pub fn of_report(report: &Report, fail_on: FailOn) -> ExitCode {
    if !report.launches.iter().any(|launch| launch.is_used) {
        return INVALID.into();
    }
    let codes = report.judgements.iter().map(|judgement| match judgement.verdict {
        Verdict::Invalid { .. } if fail_on >= FailOn::Invalid => INVALID,
        Verdict::Worse { .. } if fail_on >= FailOn::Worse => WORSE,
        Verdict::Inconclusive { .. } if fail_on >= FailOn::Inconclusive => INCONCLUSIVE,
        _ => FINE,
    });
    let gravity = |code: &u8| match *code {
        INVALID => 3,
        WORSE => 2,
        INCONCLUSIVE => 1,
        _ => 0,
    };
    codes.max_by_key(gravity).unwrap_or(FINE).into()
}

/// The exit code of soaks that have ended: whether the server came through, by what the user wants to fail on whether something leaks or
/// drifts, and whether anything can be said.
pub fn of_soak(report: &SoakReport, fail_on: FailOn) -> ExitCode {
    let failed = report.soaks.iter().any(|soak| matches!(soak.end, SoakEnd::Failed(_)));
    let gets_worse = report.findings.iter().any(|finding| finding.severity >= Severity::Warning);
    let says_nothing = report.soaks.iter().any(|soak| soak.too_short.is_some());
    match () {
        () if failed && fail_on >= FailOn::Invalid => INVALID,
        () if gets_worse && fail_on >= FailOn::Worse => WORSE,
        () if says_nothing && fail_on >= FailOn::Inconclusive => INCONCLUSIVE,
        () => FINE,
    }
    .into()
}

/// Something asked for on the command line that is not there.
#[derive(Debug, Error, Diagnostic)]
pub enum UsageError {
    /// A file that would be overwritten.
    #[error("there is a file {} already, and a study is never overwritten", path.display())]
    #[diagnostic(help("`-o FILE` names another one, `-o -` prints the study"))]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The minimum number of blocks cannot be had within the budget.
    #[error(transparent)]
    #[diagnostic(help(
        "fewer cells, fewer variants, shorter stages or a shorter `[warmup] fixed` take less; `bakeoff check --budget TIME` shows a plan"
    ))]
    NoRoom(#[from] analysis::NoRoom),
    /// Nothing could be measured within the budget of a run that goes on.
    #[error("a budget of {} has no room for one block, which takes {} or more", minutes(*budget), minutes(*block))]
    #[diagnostic(help("`bakeoff check` says how long a whole run takes; --quick is shorter"))]
    SmallBudget {
        /// What was allowed.
        budget: Duration,
        /// What a block takes at least.
        block: Duration,
    },
    /// A soak of which nobody says how long it takes.
    #[error("the study does not say how long a soak takes")]
    #[diagnostic(help("say it: --soak 4h, or `duration = \"4h\"` under `[soak]` in the study"))]
    NoSoak,
    /// A soak of which nothing could be said.
    #[error("a soak of {} says nothing: it takes {} at least", exactly(*duration), exactly(SoakPlan::shortest()))]
    #[diagnostic(help("what leaks slowly takes hours to be seen: --soak 4h"))]
    ShortSoak {
        /// As asked for.
        duration: Duration,
    },
    /// A study whose loads all change.
    #[error("no load of the study stays the same for hours")]
    #[diagnostic(help("give a workload `concurrency` or `rate`: stages and steps end by themselves"))]
    NoSoakCell,
    /// A variant that the study does not have.
    #[error("the study has no variant {name}")]
    #[diagnostic(help("its variants: {}", known.join(", ")))]
    NoVariant {
        /// As typed.
        name: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// A spreadsheet of something that has none.
    #[error("a soak has no spreadsheet")]
    #[diagnostic(help("--csv has the same figures: a row for each window"))]
    NoSpreadsheet,
    /// An address that cannot be loaded.
    #[error("cannot load {url}: {reason}")]
    #[diagnostic(help("expected http://HOST:PORT/PATH or https://HOST:PORT/PATH"))]
    Url {
        /// As typed.
        url: String,
        /// Why.
        reason: String,
    },
    /// A URL that results would show with a secret in it.
    #[error("a user's name or password in a URL would not be sent, and stand in the result")]
    #[diagnostic(help("leave them out, and send what the server asks for: -H \"Authorization: Basic …\""))]
    Credentials,
    /// TLS cannot be used as asked for.
    #[error(transparent)]
    #[diagnostic(help("--cacert, --cert and --key name files in PEM"))]
    Tls(#[from] load::TlsError),
    /// An option of TLS where none is spoken.
    #[error("--{option} is about TLS, and {url} is in clear text")]
    #[diagnostic(help("write the URL with https://"))]
    ClearText {
        /// The option.
        option: &'static str,
        /// As typed.
        url: String,
    },
    /// Steps or stages that seconds cannot separate.
    #[error("{} is no whole number of seconds", exactly(*length))]
    #[diagnostic(help("samples are a second long: give each step or stage whole seconds"))]
    NoWholeSeconds {
        /// The length of one.
        length: Duration,
    },
    /// Stages in which nothing is due.
    #[error("nothing is due in these stages")]
    #[diagnostic(help("give at least one a rate above 0 and a time: --stages 200:10s,200:30s"))]
    NothingDue,
    /// A request that cannot be sent.
    #[error(transparent)]
    Request(load::RequestError),
    /// Several numbers of connections without a meaning.
    #[error("several numbers of connections are steps of a closed loop, each of which takes --duration")]
    #[diagnostic(help("give one number, or leave out --rate, --stages and --requests"))]
    NoSteps,
    /// Somebody else's server.
    #[error("{host} is neither this machine nor in a private network, and was not loaded")]
    #[diagnostic(help("load only what is yours; --yes does it without asking back"))]
    Foreign {
        /// Its name.
        host: String,
    },
    /// Redirects without end.
    #[error("{url} redirects on and on, at last to {last}")]
    #[diagnostic(help("load the URL at which they should end, or load without --follow"))]
    Redirects {
        /// As typed.
        url: String,
        /// Where the last one led that was followed.
        last: String,
    },
    /// A file that was named and is not there.
    #[error("there is no file {}", path.display())]
    #[diagnostic(help("name files or folders that are there, or `-` for standard input"))]
    NoFile {
        /// As typed.
        path: PathBuf,
    },
    /// A comparison of other than two results.
    #[error("two results are compared, and {} read here", match runs { 0 => "none is".to_owned(), 1 => "only one is".to_owned(), runs => format!("{runs} are") })]
    #[diagnostic(help("{}", if refused.is_empty() { "give two files".to_owned() } else { format!("not read: {}", refused.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("; ")) }))]
    NoPair {
        /// Results that were read.
        runs: usize,
        /// Why other files were not.
        refused: Vec<String>,
    },
    /// A claim that is none about two results.
    #[error(transparent)]
    #[diagnostic(help("`bakeoff audit --help` shows claims"))]
    Claim(analysis::ClaimError),
    /// What should group files by their names, and cannot.
    #[error("{pattern} is no pattern to group files by: {reason}")]
    #[diagnostic(help("write a regular expression with a group: --by 'run-(\\d+)_'"))]
    Pattern {
        /// As typed.
        pattern: String,
        /// Why not.
        reason: String,
    },
    /// No store where runs are looked for.
    #[error("no runs are stored yet: there is no store {}", path.display())]
    #[diagnostic(help("`bakeoff run STUDY` makes one; `--store FILE` names another"))]
    NoStore {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// No run to go on with.
    #[error("no unfinished run of {} is stored", study.display())]
    #[diagnostic(help(
        "run without --resume; `bakeoff list` shows what is stored. A study that was changed since is another study"
    ))]
    NothingToResume {
        /// The study file.
        study: PathBuf,
    },
}

/// The exit code of an error: whether what was typed is wrong, or bakeoff failed.
pub fn of_error(error: &miette::Report) -> ExitCode {
    let names_no_run = |error: &StoreError| {
        matches!(error, StoreError::NoSuchRun { .. } | StoreError::Ambiguous { .. } | StoreError::Empty { .. })
    };
    let is_usage = error.downcast_ref::<StudyError>().is_some()
        || error.downcast_ref::<UsageError>().is_some()
        || error.downcast_ref::<StoreError>().is_some_and(names_no_run);
    if is_usage { USAGE.into() } else { FAILED.into() }
}
