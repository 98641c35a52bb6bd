//! A program that was launched and became ready.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexMap;
use model::assertion::Assertion;
use model::study::RequestedSetting;
use model::{ChangedOptions, JrubyCounts, LaunchFacts, LiveOptions, Setting};

use super::error::Log;
use super::hint::{self, FOREGROUND};
use super::program::ResolvedProgram;
use crate::assertion::AssertionReader;
use crate::hash;
use crate::isolation::Group;
use crate::library;
use crate::pause::Paused;
use crate::probe::{self, HeldSampler, ProcessTree, RubyGcs, ServerSampler, gc_log};
use crate::proc;
use crate::profiling::{CpuWatch, FlightRecorder, Recorder, Sampling};
use crate::runtime::Installed;
use crate::serving::{Inside, Serving};
use crate::settings::{self, LaunchedServer};
use crate::supervise::{Exit, SuperviseError, Supervised};

/// A server or service that runs. Dropping it ends it and all that it started.
#[derive(Debug)]
pub struct Running {
    supervised: Supervised,
    /// Goes after what runs in it.
    group: Group,
    launch: ResolvedProgram,
    installed: Installed,
    serving: Serving,
    inside: Option<Inside>,
    facts: LaunchFacts,
    /// Archives that its processes had open when it became ready: Tomcat soon closes those of an application that are not read.
    opened: HashSet<PathBuf>,
}

impl Running {
    pub(super) fn new(
        supervised: Supervised,
        group: Group,
        launch: ResolvedProgram,
        installed: Installed,
        address: SocketAddr,
        ready_s: f64,
    ) -> Self {
        let trial_dir = launch.site.trial_dir.clone();
        let serving = Serving::find(supervised.root(), supervised.pid(), address, trial_dir);
        let inside = serving.inside();
        let mask = |text: &String| launch.site.secrets.mask(text);
        let (env, command) = (serving.environment(None), proc::arguments(serving.pid));
        let (hides_env, hides_command) = (env.is_none(), command.is_none());
        let order = &launch.order;
        let env = env.unwrap_or_else(|| order.env.clone());
        let launched =
            || [order.program.to_string_lossy().into_owned()].into_iter().chain(order.args.clone()).collect();
        let command: Vec<String> = command.unwrap_or_else(launched);
        let facts = LaunchFacts {
            pid: serving.pid,
            command: command.iter().map(mask).collect(),
            env: env.iter().map(|(name, value)| (name.clone(), mask(value))).collect(),
            hides_command,
            hides_env,
            versions: serving.versions(inside.as_ref(), &installed),
            libraries: installed.libraries(),
            gems: IndexMap::new(),
            opened: IndexMap::new(),
            changed_options: Vec::new(),
            varied: Vec::new(),
            build: build(inside.as_ref()),
            port: address.port(),
            shared_cpus: proc::shared_cpus(serving.pid),
            ready_s,
            log: launch.order.log.clone(),
        };
        let opened = open_archives(serving.root);
        Self { supervised, group, launch, installed, serving, inside, facts, opened }
    }

    /// What is known of the process that serves, as of when it became ready.
    pub fn facts(&self) -> &LaunchFacts {
        &self.facts
    }

    /// Where it answers.
    pub fn address(&self) -> SocketAddr {
        self.serving.address
    }

    /// The id of the process that was launched; what serves may be another that it has started.
    pub fn pid(&self) -> u32 {
        self.supervised.pid()
    }

    /// Whether the launched process still runs.
    pub fn is_alive(&self) -> bool {
        self.exit().is_none()
    }

    /// Whether nothing of it runs any more, neither the launched process nor anything that it started.
    pub fn has_ended(&self) -> bool {
        !self.is_alive() && self.tree().sample().is_none()
    }

    /// How the launched process ended, if it did.
    pub fn exit(&self) -> Option<Exit> {
        self.supervised.exit()
    }

    /// The same in words, with what mends it where it went well and left something running.
    pub fn ending(&self) -> Option<String> {
        self.ending_within(Duration::ZERO)
    }

    /// The same, once it has ended or this time has passed.
    pub fn ending_within(&self, within: Duration) -> Option<String> {
        let exit = self.supervised.wait(within, &self.launch.interrupted)?;
        let went_away = exit.is_success() && !self.has_ended();
        Some(if went_away { format!("{exit}: {FOREGROUND}") } else { exit.to_string() })
    }

    /// Why processes of it were killed by now, where the kernel did so for lack of memory, for people.
    pub fn killed(&self) -> Option<String> {
        self.group.killed()
    }

    /// How many of its processes the kernel has killed by now since they needed more memory than `limits` allow.
    pub fn oom_kills(&self) -> u64 {
        self.group.oom_kills()
    }

    /// The last lines of its log, secrets masked.
    pub fn log_tail(&self) -> String {
        Log::read(&self.launch.order.log, &self.launch.site.secrets).tail
    }

    /// The last that it said, as a part of a sentence.
    pub fn last_words(&self) -> Option<String> {
        hint::last_words(&self.log_tail())
    }

    /// A sampler of the CPU time of it and all that it started.
    pub fn tree(&self) -> ProcessTree {
        ProcessTree::below(self.serving.root)
    }

    /// A sampler of all that can be seen of it from outside.
    pub fn sampler(&self) -> ServerSampler {
        ServerSampler::new(self.tree(), &self.serving, &self.launch.site.trial_dir, self.launch.watched)
    }

    /// A counter of what its processes hold open. Made for once in some seconds.
    pub fn held(&self) -> HeldSampler {
        HeldSampler::new(self.serving.root)
    }

    /// What its JVM's program holds: heap in use after a collection of all of it that this asks for, bytes. `None` where there is no JVM that
    /// can be asked, or none that logs its collections. The server waits meanwhile: not to be called while measuring.
    pub fn live_heap_bytes(&self) -> Option<u64> {
        let jvm = self.serving.jvm().ok()??;
        gc_log::live_bytes(&jvm, &self.launch.site.trial_dir, &self.launch.interrupted)
    }

    /// Has its JVM log its collections into the trial's folder, where it does not do so from its start. Takes up to a second, some
    /// CPU of which is the server's: not to be called while measuring.
    pub(super) fn log_collections(&self) {
        if let Ok(Some(jvm)) = self.serving.jvm() {
            gc_log::begin(&jvm, &self.launch.site.trial_dir, &self.launch.interrupted);
        }
    }

    /// Reads the settings back from the running process; `others` is what each other variant asks for. Takes up to a second for a
    /// JVM, some CPU of which is the server's: not to be called while measuring.
    pub fn read_back(&self, requested: &[RequestedSetting], others: &[Vec<RequestedSetting>]) -> Vec<Setting> {
        settings::read_back(&self.target(self.inside().as_ref()), requested, others)
    }

    /// What it has of these settings, whether it was launched with them or not, as far as its JVM or its JRuby reports. Not to be
    /// called while measuring, as `read_back`.
    pub fn varied(&self, requested: &[RequestedSetting]) -> Vec<LiveOptions> {
        settings::varied(&self.target(self.inside().as_ref()), requested)
    }

    fn target<'a>(&'a self, inside: Option<&'a Inside>) -> LaunchedServer<'a> {
        LaunchedServer {
            serving: &self.serving,
            launched: self.pid(),
            installed: &self.installed,
            site: &self.launch.site,
            inside,
            log: &self.launch.order.log,
            cpus: &self.launch.order.cpus,
        }
    }

    /// Watches who uses its CPU time, from now on.
    pub fn watch_cpu(&self) -> CpuWatch {
        CpuWatch::new(self.tree(), self.serving.processes())
    }

    /// Begins to record what its virtual machine does, into the trial's folder: MRI once, and only where it was launched for that. It costs
    /// the server CPU, some of it before and after: not to be called while measuring. An error says in words why there is no recording.
    pub fn record(&self) -> Result<Recorder, String> {
        let (folder, interrupted) = (&self.launch.site.trial_dir, Arc::clone(&self.launch.interrupted));
        if let Some(jvm) = self.serving.jvm()? {
            return FlightRecorder::start(jvm, folder, interrupted).map(Recorder::Jfr);
        }
        let rubies = self.serving.mris();
        if rubies.is_empty() {
            return Err("a server without a JVM keeps no record of itself, and bakeoff takes no samples from outside"
                .to_owned());
        }
        Sampling::start(rubies, folder, interrupted).map(Recorder::Stackprof)
    }

    /// What is known of it once it has answered, added to `facts`: gems that its Rubies report, archives that its processes have open, or had
    /// when it became ready, and what a Ruby is that has come up since. Whether it reports something else of itself than then, so that
    /// settings are to be read back again.
    pub fn loaded(&self, facts: &mut LaunchFacts) -> bool {
        facts.gems = self.serving.gems();
        let known: HashSet<&Path> = self.installed.files.values().map(PathBuf::as_path).collect();
        let mut archives = open_archives(self.serving.root);
        archives.extend(self.opened.iter().cloned());
        let archives = archives.into_iter().filter(|path| !known.contains(path.as_path()));
        let named = |path: PathBuf| Some((path.file_name()?.to_string_lossy().into_owned(), hash::sha256(&path).ok()?));
        let mut opened: Vec<(String, String)> = archives.filter_map(named).collect();
        opened.sort();
        facts.opened = opened.into_iter().collect();
        let inside = self.inside();
        facts.versions = self.serving.versions(inside.as_ref(), &self.installed);
        facts.build = build(inside.as_ref());
        inside != self.inside
    }

    /// Option variables that the process that serves has with other values than it was launched with, once it has answered.
    pub fn changed_options(&self) -> Vec<ChangedOptions> {
        settings::changed_options(&self.serving, &self.launch.order.env, &self.launch.site.secrets)
    }

    /// Reads what the study wants to see beside its settings. Takes up to a second where a JVM is asked for its beans: not
    /// to be called while measuring. A JVM that was asked keeps two idle threads of its own for it. The error is that a command
    /// could not be started or ended.
    pub fn check_assertions(&self, assertions: &[Assertion]) -> Result<Vec<Setting>, SuperviseError> {
        self.assertion_reader().check_assertions(assertions)
    }

    /// What JRuby has counted by now; `None`, and no cost, where its `management.enabled` is off. Takes a second or two, some
    /// CPU of which is the server's: not to be called while measuring.
    pub fn jruby_counts(&self) -> Option<JrubyCounts> {
        self.shows_beans().then(|| probe::jruby_counts(self.assertion_reader().beans())).flatten()
    }

    /// What MRI's collector has done by now; `None` where not all of its processes answer. Takes some ms, five
    /// seconds where one is too busy to answer, and a little CPU of the server's: not to be called while measuring.
    pub fn ruby_gc(&self) -> Option<RubyGcs> {
        RubyGcs::ask(&self.launch.site.trial_dir, &self.serving.mris())
    }

    /// Whether JRuby shows its beans: by the value that it has loaded, or, where it does not say that, by its command line.
    fn shows_beans(&self) -> bool {
        match self.inside() {
            Some(inside) => inside.options.iter().any(|option| {
                option.name == probe::MANAGEMENT && option.value.as_deref().is_some_and(|on| on.trim() == "true")
            }),
            None => proc::command_line(self.serving.pid).contains(&format!("-Djruby.{}=true", probe::MANAGEMENT)),
        }
    }

    /// What a Ruby in the process reported of itself: an embedded one may have started only after the port was open, and YJIT is turned on
    /// by Rails (`config.yjit`) when that has booted.
    fn inside(&self) -> Option<Inside> {
        let mut inside = self.inside.clone().or_else(|| self.serving.inside())?;
        if inside.yjit.is_some() {
            inside.yjit = self.serving.yjit().or(inside.yjit);
        }
        Some(inside)
    }

    fn assertion_reader(&self) -> AssertionReader<'_> {
        AssertionReader {
            serving: &self.serving,
            site: &self.launch.site,
            supervisor: &self.launch.supervisor,
            interrupted: &self.launch.interrupted,
        }
    }

    /// Stops all that runs of it until the result is dropped: no timer, no collector and no compiler of it works meanwhile.
    pub fn pause(&self) -> Paused {
        Paused::below(self.serving.root)
    }

    /// Ends it and all that it started: TERM, and KILL after `grace`. Says how the launched process ended.
    pub fn stop(mut self, grace: Duration) -> Result<Exit, SuperviseError> {
        self.supervised.stop(grace)
    }
}

/// Archives that the processes below `root` have open.
fn open_archives(root: u32) -> HashSet<PathBuf> {
    let processes = proc::descendants(root);
    let open = processes.iter().flat_map(|process| proc::open_files(process.pid));
    open.filter(|path| library::is_archive(path)).collect()
}

/// How a Ruby was built, as it reports.
fn build(inside: Option<&Inside>) -> IndexMap<String, String> {
    inside.map(|inside| inside.build.clone()).unwrap_or_default()
}
