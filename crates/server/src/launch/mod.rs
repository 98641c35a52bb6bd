//! Launching servers, services and hooks, each under a supervisor.

mod error;
mod hint;
mod port;
mod program;
mod ready;
mod running;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use model::Setting;
use model::study::{RequestedSetting, Service};

use crate::isolation::{Group, Pinned};
use crate::probe::{self, RUBY_GC_PROBE, Watched};
use crate::profiling::STACKPROF_PROBE;
use crate::runtime::{self, Installed, Toolbox};
use crate::settings;
use crate::site::{Secrets, Site};
use crate::supervise::{Order, Supervised};
use port::Ports;
use program::ResolvedProgram;

pub use error::{FailureCause, LaunchError, Log};
pub use running::Running;

/// How long a hook may take unless the caller says otherwise.
pub const HOOK_WITHIN: Duration = Duration::from_secs(10 * 60);

/// What a program that is not ready is given to end by itself.
const UNREADY_GRACE: Duration = Duration::from_secs(2);

/// Launches programs; one for a whole run.
#[derive(Debug)]
pub struct Launcher {
    supervisor: Vec<String>,
    ports: Ports,
    interrupted: Arc<AtomicBool>,
    secrets: Secrets,
    cpus: Vec<usize>,
    thins_probes: bool,
}

impl Launcher {
    /// `supervisor` is a command line that ends up in [`crate::supervise`]: bakeoff's own program and its hidden subcommand.
    pub fn new(supervisor: Vec<String>) -> Self {
        Self {
            supervisor,
            ports: Ports::default(),
            interrupted: Arc::default(),
            secrets: Secrets::default(),
            cpus: Vec::new(),
            thins_probes: false,
        }
    }

    /// Keeps servers and services to these processors, by number; to any if there are none.
    #[must_use]
    pub fn on_cpus(self, cpus: &[usize]) -> Self {
        Self { cpus: cpus.to_owned(), ..self }
    }

    /// Lets a server's `BAKEOFF_PROBES` (`even`, `odd`) have it looked at only in every other span of a load: for measuring what
    /// the probes cost (`make probes`). Without this the variable means nothing.
    #[must_use]
    pub fn thinning_probes(self, thins_probes: bool) -> Self {
        Self { thins_probes, ..self }
    }

    /// Starts nothing more and gives up waiting, for readiness or for a hook's end, as soon as `flag` is raised; only
    /// [`Launcher::cleanup`] is run all the same.
    #[must_use]
    pub fn interrupted_by(self, flag: Arc<AtomicBool>) -> Self {
        Self { interrupted: flag, ..self }
    }

    /// What [`crate::install`] needs: helpers run under the same supervisor and heed the same flag. `work` is a folder of
    /// the run's own.
    pub fn toolbox(&self, work: &Path) -> Toolbox<'static> {
        Toolbox::new(work, self.supervisor.clone(), Arc::clone(&self.interrupted))
    }

    /// `text` without the secrets of this run: every value that `{env.NAME}` stood for in anything completed so far, be it
    /// for a server, a service, a hook or by [`Site::complete`]. For whatever is recorded of what servers and hooks say;
    /// to be called before a text is cut, since half a secret is not found.
    pub fn mask(&self, text: &str) -> String {
        self.secrets.mask(text)
    }

    /// A place for one trial: `trial_dir` made, a free port for the server and for each service.
    pub fn site(&self, dir: &Path, trial_dir: &Path, services: &[Service]) -> Result<Site, LaunchError> {
        fs::create_dir_all(trial_dir).map_err(LaunchError::io("create", trial_dir))?;
        let free = || self.ports.free().map_err(LaunchError::io("find a free port for", trial_dir));
        let ports = services.iter().map(|service| Ok((service.name.clone(), free()?)));
        let ports = ports.collect::<Result<IndexMap<_, _>, LaunchError>>()?;
        Ok(Site {
            dir: dir.to_owned(),
            trial_dir: trial_dir.to_owned(),
            port: free()?,
            ports,
            secrets: self.secrets.clone(),
        })
    }

    /// Starts a service and waits until it is ready.
    pub fn service(&self, service: &Service, site: &Site) -> Result<Running, LaunchError> {
        let installed = runtime::install_service(service, &site.dir)
            .map_err(|source| LaunchError::Service { name: service.name.clone(), source: Box::new(source) })?;
        let port = site.ports.get(&service.name).copied().unwrap_or_default();
        self.start(&format!("service-{}", service.name), "", &installed, site, port)
    }

    /// Starts the server, waits until it is ready, and has its JVM log its collections if it does not do so yet.
    pub fn server(&self, installed: &Installed, site: &Site) -> Result<Running, LaunchError> {
        self.server_with(RUBY_GC_PROBE, installed, site)
    }

    /// The same for [`Running::record`], which MRI has to be prepared for: no launch to measure.
    pub fn recordable_server(&self, installed: &Installed, site: &Site) -> Result<Running, LaunchError> {
        self.server_with(&[RUBY_GC_PROBE, STACKPROF_PROBE].concat(), installed, site)
    }

    /// `probe` is what each Ruby runs as it starts, beside what reports on itself.
    fn server_with(&self, probe: &str, installed: &Installed, site: &Site) -> Result<Running, LaunchError> {
        let running = self.start("server", probe, installed, site, site.port)?;
        running.log_collections();
        Ok(running)
    }

    /// After a launch has failed with `error`: those of the settings asked for that the runtime does not even start with.
    pub fn refused(
        &self,
        installed: &Installed,
        site: &Site,
        requested: &[RequestedSetting],
        error: &LaunchError,
    ) -> Vec<Setting> {
        settings::refused(installed, site, requested, error.log_tail())
    }

    /// Runs the hook `name`, a command of the author's, by `/bin/sh -c` in the study's folder, to its end. What it leaves
    /// running in the background is ended with it: that is what services are for.
    pub fn hook(&self, name: &str, command: &str, site: &Site, within: Duration) -> Result<(), LaunchError> {
        self.run_hook(name, command, site, within, &self.interrupted)
    }

    /// The same for the cleanup hook, which an interrupt neither keeps from running nor ends: only its time is bounded.
    pub fn cleanup(&self, command: &str, site: &Site, within: Duration) -> Result<(), LaunchError> {
        self.run_hook("cleanup", command, site, within, &AtomicBool::new(false))
    }

    fn run_hook(
        &self,
        name: &str,
        command: &str,
        site: &Site,
        within: Duration,
        interrupted: &AtomicBool,
    ) -> Result<(), LaunchError> {
        go_on(name, interrupted)?;
        let order = Order {
            program: "/bin/sh".into(),
            args: vec!["-c".to_owned(), site.complete_script(command)?],
            env: runtime::base_env(),
            dir: site.dir.clone(),
            log: site.trial_dir.join(format!("hook-{name}.log")),
            ..Order::default()
        };
        let mut supervised = Supervised::start(&self.supervisor, &order)?;
        let exit = supervised.wait(within, interrupted);
        supervised.stop(Duration::from_secs(2))?;
        let log = || Box::new(Log::read(&order.log, &self.secrets));
        match exit {
            Some(exit) if exit.is_success() => Ok(()),
            Some(exit) => Err(LaunchError::Hook { name: name.to_owned(), exit, log: log() }),
            None => {
                go_on(name, interrupted)?;
                Err(LaunchError::HookSlow { name: name.to_owned(), within, log: log() })
            }
        }
    }

    fn start(
        &self,
        name: &str,
        probe: &str,
        installed: &Installed,
        site: &Site,
        port: u16,
    ) -> Result<Running, LaunchError> {
        go_on(name, &self.interrupted)?;
        let mut launch = ResolvedProgram::prepare(name, probe, installed, site, port)?;
        let group = Group::new(&installed.limits)?;
        // The kernel would take a set of which it has a part.
        drop(Pinned::to(&self.cpus)?);
        launch.order.cpus.clone_from(&self.cpus);
        launch.order.groups = group.doors();
        launch.supervisor.clone_from(&self.supervisor);
        launch.interrupted = Arc::clone(&self.interrupted);
        launch.watched = Some(&launch.order.env).filter(|_| self.thins_probes).map_or(Watched::Always, probe::watched);
        let mut supervised = Supervised::start(&self.supervisor, &launch.order)?;
        let started = Instant::now();
        let within = installed.ready.within;
        match ready::wait(&supervised, &launch.sign, started + within, &self.interrupted) {
            Ok((seen, address)) => {
                let ready_s = seen.duration_since(started).as_secs_f64();
                Ok(Running::new(supervised, group, launch, installed.clone(), address, ready_s))
            }
            Err(unready) => {
                // Ended before its log is read: the last words count.
                supervised.stop(UNREADY_GRACE)?;
                Err(launch.explain(name, unready, installed, &group))
            }
        }
    }
}

fn go_on(name: &str, interrupted: &AtomicBool) -> Result<(), LaunchError> {
    let raised = interrupted.load(Ordering::Relaxed);
    if raised { Err(LaunchError::Interrupted { name: name.to_owned() }) } else { Ok(()) }
}
