//! Who serves: of all the processes of a launch, the one that is meant when the server is asked, looked at or recorded.
//!
//! It is the process of the launched tree that holds the socket that listens where the server answers, be it the launched one,
//! what a start script became, or a grandchild of it. Of several that hold it, as a master and the workers that it has forked
//! do, it is the one nearest to the launched process: the others have from it what they run with, and come and go. Where none is
//! seen to hold it, since the address is another machine's, it is the process that was launched.

mod inside;
mod runtime;

use std::net::SocketAddr;
use std::path::PathBuf;

use indexmap::IndexMap;
use model::options::without_probe;
use runtimes::{jruby, mri, variables};

use crate::proc;
use crate::runtime::Installed;
use crate::runtime::jdk::Jdk;

pub(crate) use inside::Inside;
pub(crate) use runtime::RuntimeKind;

/// Why nothing is known of a server's virtual machine where there is none.
pub(crate) const NO_JVM: &str = "the server runs no JVM that can be found";

/// The process that serves, found once, when the server has become ready.
#[derive(Debug)]
pub(crate) struct Serving {
    pub pid: u32,
    /// The process below which all is that belongs to the server: its supervisor.
    pub root: u32,
    /// Where it answers.
    pub address: SocketAddr,
    /// The folder of its trial.
    trial_dir: PathBuf,
    /// Its own virtual machine.
    own: Option<LiveJvm>,
}

/// A virtual machine that runs.
#[derive(Debug, Clone)]
pub(crate) struct LiveJvm {
    pub pid: u32,
    jdk: Option<Jdk>,
}

impl Serving {
    /// Among all below `root`, of which `launched` was started by bakeoff, the one that answers at `address`. What Rubies report about
    /// themselves they write into `trial_dir`.
    pub fn find(root: u32, launched: u32, address: SocketAddr, trial_dir: PathBuf) -> Self {
        // Whoever is nearer to the root stands before those that are farther.
        let pid = proc::answering(root, address).first().map_or(launched, |nearest| nearest.pid);
        Self { pid, root, address, trial_dir, own: LiveJvm::of(pid) }
    }

    /// Its virtual machine: its own, or, where what listens is none (a proxy, a Ruby with a helper), the only one that the
    /// server runs. The reason in words where there are several, and which is meant is not known.
    pub fn jvm(&self) -> Result<Option<LiveJvm>, String> {
        if let Some(own) = &self.own {
            return Ok(Some(own.clone()));
        }
        let mut all: Vec<LiveJvm> =
            proc::descendants(self.root).into_iter().filter_map(|process| LiveJvm::of(process.pid)).collect();
        if all.len() < 2 {
            return Ok(all.pop());
        }
        let named = all.iter().map(|jvm| format!("process {} ({})", jvm.pid, proc::command_line(jvm.pid).join(" ")));
        Err(format!(
            "the server runs {} JVMs, and which one is meant is not known, since none of them is the process that answers: {}; \
             read it by `http` or `command`",
            all.len(),
            named.collect::<Vec<_>>().join(", "),
        ))
    }

    /// Itself, and its virtual machine where that is another process.
    pub fn processes(&self) -> Vec<u32> {
        let jvm = self.jvm().ok().flatten().map(|jvm| jvm.pid).filter(|pid| *pid != self.pid);
        [self.pid].into_iter().chain(jvm).collect()
    }

    /// Whether it is a Ruby by its program, MRI: one that became a daemon reports nothing from inside.
    fn runs_mri(&self) -> bool {
        proc::program(self.pid).is_some_and(|program| mri::is_file_of(&program))
    }

    /// Whether it was started with what has a Ruby report on itself.
    pub fn has_probe(&self) -> bool {
        let options = self.environment(None).and_then(|mut environment| environment.shift_remove(variables::OF_RUBY));
        options.is_some_and(|options| without_probe(&options) != options)
    }

    /// What a Ruby in it has reported of itself, or, where what listens is neither Ruby nor a JVM (a proxy), the only Ruby that the
    /// server runs, but for those that were forked from it.
    pub fn inside(&self) -> Option<Inside> {
        let own = Inside::of(&self.trial_dir, self.pid);
        if own.is_some() || self.own.is_some() || self.runs_mri() {
            return own;
        }
        let reported =
            proc::descendants(self.root).into_iter().filter_map(|process| Inside::of(&self.trial_dir, process.pid));
        let mut started = reported.filter(|inside| !inside.forked);
        let first = started.next();
        if started.next().is_some() { None } else { first }
    }

    /// The gems loaded by now by its Rubies: workers have their own beside those of their master.
    pub fn gems(&self) -> IndexMap<String, String> {
        Inside::gems(&self.trial_dir, &self.rubies())
    }

    /// Whether YJIT is on in one of its Rubies, as they reported with their gems: a program that only the workers load turns it on there,
    /// and what is on in the master is on in them.
    pub fn yjit(&self) -> Option<String> {
        Inside::yjit_by_then(&self.trial_dir, &self.rubies())
    }

    /// Those of its processes that answer and are MRI.
    pub fn mris(&self) -> Vec<u32> {
        let is_one = |pid: &u32| proc::program(*pid).is_some_and(|program| mri::is_file_of(&program));
        self.rubies().into_iter().filter(is_one).collect()
    }

    /// All that hold its socket, and the Ruby behind it with its workers.
    fn rubies(&self) -> Vec<u32> {
        let mut pids: Vec<u32> = proc::answering(self.root, self.address).iter().map(|holder| holder.pid).collect();
        if let Some(behind) = self.inside().map(|inside| inside.pid).filter(|pid| !pids.contains(pid)) {
            pids.extend([behind].into_iter().chain(proc::descendants(behind).iter().map(|worker| worker.pid)));
        }
        pids
    }

    /// By what a Ruby in it reported of itself, else by what is seen from outside; `has_property` says whether its JVM has a system
    /// property, and is asked last, since that costs the server CPU.
    pub fn runtime(&self, inside: Option<&Inside>, has_property: impl FnOnce(&str) -> bool) -> RuntimeKind {
        if let Some(inside) = inside {
            return inside.engine;
        }
        if self.runs_mri() {
            return RuntimeKind::Ruby;
        }
        let Ok(Some(jvm)) = self.jvm() else { return RuntimeKind::Other };
        let home = format!("-D{}=", jruby::HOME);
        let is_jruby =
            proc::command_line(jvm.pid).iter().any(|word| word.starts_with(&home)) || has_property(jruby::HOME);
        if is_jruby { RuntimeKind::Jruby } else { RuntimeKind::Java }
    }

    /// The versions of `jdk`, `jruby` and `ruby` in it, in that order: what it reports goes before what was installed.
    pub fn versions(&self, inside: Option<&Inside>, installed: &Installed) -> IndexMap<String, String> {
        let mut reported = inside.map(Inside::versions).unwrap_or_default();
        if let Ok(Some(jvm)) = self.jvm()
            && let Ok(jdk) = jvm.jdk()
        {
            reported.entry("jdk".to_owned()).or_insert_with(|| jdk.version.clone());
        }
        let known = |name: &str| reported.get(name).or_else(|| installed.versions.get(name)).cloned();
        ["jdk", "jruby", "ruby"].into_iter().filter_map(|name| Some((name.to_owned(), known(name)?))).collect()
    }

    /// The environment that it, or the Ruby behind it, was started with; `None` where that shows it no more.
    pub fn environment(&self, inside: Option<&Inside>) -> Option<IndexMap<String, String>> {
        let pid = inside.map_or(self.pid, |inside| inside.pid);
        proc::environment(pid).map(|variables| variables.into_iter().collect())
    }
}

impl LiveJvm {
    /// What runs in process `pid`, if that has a JVM loaded: `java`, or another program that has it as a library.
    pub fn of(pid: u32) -> Option<Self> {
        let library = proc::mapped(pid).find(|path| path.file_name() == Some("libjvm.so".as_ref()))?;
        Some(Self { pid, jdk: Jdk::around(&library) })
    }

    /// Its Java's number, such as 17 or, for 1.8, 8.
    pub fn major(&self) -> Option<u32> {
        self.jdk.as_ref()?.major()
    }

    /// The JDK that it is part of, whose tools can ask it; the reason in words where there is none.
    pub fn jdk(&self) -> Result<&Jdk, String> {
        let Self { pid, jdk } = self;
        jdk.as_ref().ok_or_else(|| format!("process {pid} is a JVM without a JDK around it, whose tools could ask it"))
    }
}
