//! From what a study asks to what this machine can launch: once a run, before the first trial.

mod command;
mod error;
mod folders;
mod installed;
mod java;
pub(crate) mod jdk;
mod jruby;
mod maven;
mod mri;
mod ruby;
mod toolbox;

use std::cmp::Reverse;
use std::path::Path;

use model::study::{Limits, Runtime, ServerSpec, Service};

use folders::version_numbers;

pub use error::RuntimeError;
pub(crate) use folders::version_matches;
pub use installed::Installed;
pub(crate) use installed::{Jvm, base_env};
pub use maven::MavenError;
pub use toolbox::Toolbox;

/// Finds or fetches what `spec` needs. `dir` is the study's folder.
pub fn install(spec: &ServerSpec, dir: &Path, toolbox: &Toolbox<'_>) -> Result<Installed, RuntimeError> {
    match &spec.runtime {
        Runtime::Command { command } => command::install(command, spec, dir),
        Runtime::Java { java, program } => java::install(java, program, spec, dir, toolbox),
        Runtime::Jruby { version, java, options, program } => {
            jruby::install(&jruby::JrubyNeeds { version, java, options, program }, spec, dir, toolbox)
        }
        Runtime::Ruby { version, options, script } => ruby::install(version.as_deref(), options, script, spec, dir),
    }
}

/// What `spec` needs and this machine lacks, of what cannot be fetched: a program, a JDK, a Ruby, a script. Changes nothing.
pub fn lacking(spec: &ServerSpec, dir: &Path) -> Option<RuntimeError> {
    match &spec.runtime {
        Runtime::Command { command } => command::install(command, spec, dir).err(),
        Runtime::Java { java, .. } | Runtime::Jruby { java, .. } => {
            jdk::find(java.jdk.as_deref(), dir).err().map(Into::into)
        }
        Runtime::Ruby { version, options, script } => {
            ruby::install(version.as_deref(), options, script, spec, dir).err()
        }
    }
}

/// What a service needs and this machine lacks: its program. Changes nothing.
pub fn service_lacking(service: &Service, dir: &Path) -> Option<RuntimeError> {
    install_service(service, dir).err()
}

/// The same as [`install`] for a service. It runs in the study's folder.
pub(crate) fn install_service(service: &Service, dir: &Path) -> Result<Installed, RuntimeError> {
    let spec = ServerSpec {
        runtime: Runtime::Command { command: service.command.clone() },
        args: Vec::new(),
        env: service.env.clone(),
        dir: dir.to_owned(),
        ready: service.ready.clone(),
        stop_within: service.stop_within,
        limits: Limits::default(),
    };
    let installed = command::install(&service.command, &spec, dir)?;
    Ok(Installed { is_probed: false, ..installed })
}

/// What there is on this machine to run servers with, version and place, in the order in which it is chosen.
pub(crate) struct Inventory {
    pub jdks: Vec<String>,
    /// Versions of JRuby that need not be fetched.
    pub jrubies: Vec<String>,
    pub rubies: Vec<String>,
}

/// Looks, and asks those that do not say by their place what they are.
pub(crate) fn inventory() -> Inventory {
    let mut jrubies = jruby::installed(&toolbox::cache());
    jrubies.sort_by_cached_key(|version| Reverse(version_numbers(version)));
    Inventory {
        jdks: jdk::installed().iter().map(|jdk| format!("{} ({})", jdk.version, jdk.home.display())).collect(),
        jrubies,
        rubies: mri::installed().iter().map(|ruby| format!("{} ({})", ruby.version, ruby.path.display())).collect(),
    }
}
