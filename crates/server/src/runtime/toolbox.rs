//! What installing works with: folders, a supervisor for its helpers, and someone to report to.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use super::folders::home;
use crate::supervise::{Order, Supervised};
use crate::tool::ToolError;

/// Where installed runtimes and compiled programs go, and how the helpers that make them (`mvn`, `javac`, `jar`) are run.
#[derive(Clone)]
pub struct Toolbox<'a> {
    /// Kept between runs: unpacked JRuby versions and other archives.
    pub cache: PathBuf,
    /// The run's own folder: compiled classes, what the helpers said.
    pub work: PathBuf,
    supervisor: Vec<String>,
    interrupted: Arc<AtomicBool>,
    announce: &'a dyn Fn(&str),
}

/// Where archives are kept between runs.
pub(super) fn cache() -> PathBuf {
    let xdg = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    xdg.unwrap_or_else(|| home().join(".cache")).join("bakeoff")
}

/// How a helper ended, and what it said on both streams.
pub(super) struct ToolEnd {
    pub well: bool,
    pub output: String,
}

impl<'a> Toolbox<'a> {
    /// Keeps archives in `$XDG_CACHE_HOME/bakeoff`, which is `~/.cache/bakeoff` by default.
    pub(crate) fn new(work: &Path, supervisor: Vec<String>, interrupted: Arc<AtomicBool>) -> Self {
        Self { cache: cache(), work: work.to_owned(), supervisor, interrupted, announce: &|_| {} }
    }

    /// Says by `announce` what is about to be done, such as `fetching JRuby 9.4.15.0 through mvn`, before each step that
    /// may take long.
    #[must_use]
    pub fn announcing<'b>(self, announce: &'b dyn Fn(&str)) -> Toolbox<'b>
    where
        'a: 'b,
    {
        Toolbox { announce, ..self }
    }

    pub(super) fn announce(&self, step: &str) {
        (self.announce)(step);
    }

    /// Runs a helper, with the user's environment, to its end. It and all that it starts (the user's `mvn` may be any
    /// script) end with us, after `within`, and when the run is interrupted.
    pub(super) fn run(&self, command: &Command, within: Duration) -> Result<ToolEnd, ToolError> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let program = PathBuf::from(command.get_program());
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let log = self.work.join(format!("{name}-{}.log", COUNT.fetch_add(1, Ordering::Relaxed) + 1));
        // What an earlier run said there is not this one's answer; most often there is none.
        let _ = fs::remove_file(&log);
        let failed = |source| ToolError::Log { path: log.clone(), source };
        fs::create_dir_all(&self.work).map_err(failed)?;
        let order = Order {
            program,
            args: command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            env: env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            dir: command.get_current_dir().unwrap_or(Path::new(".")).to_owned(),
            log: log.clone(),
            ..Order::default()
        };
        let mut supervised = Supervised::start(&self.supervisor, &order)?;
        let exit = supervised.wait(within, &self.interrupted);
        supervised.stop(Duration::from_secs(2))?;
        let output = String::from_utf8_lossy(&fs::read(&log).map_err(failed)?).into_owned();
        match exit {
            Some(exit) => Ok(ToolEnd { well: exit.is_success(), output }),
            None if self.interrupted.load(Ordering::Relaxed) => Err(ToolError::Interrupted { program: name }),
            None => Err(ToolError::Slow { program: name, within }),
        }
    }
}
