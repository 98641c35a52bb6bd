//! What the integration tests share: small real servers, and a launcher that uses the supervisor as a program.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use model::study::{JavaProgram, JavaSpec, Limits, Ready, ReadySign, RequestedSetting, Runtime, ServerSpec};
use runtimes::Given;
use server::{Launcher, Toolbox};

/// Answers every request with `ok`.
pub const RUBY_SERVER: &str = include_str!("server.rb");

/// Listens, and leaves a grandchild in a session of its own that ignores TERM and whose parent is gone.
pub const STUBBORN: &str = include_str!("stubborn.rb");

pub fn launcher() -> Launcher {
    Launcher::new(vec![env!("CARGO_BIN_EXE_bakeoff-supervise").to_owned()])
}

/// A study's folder with one script in it.
pub fn study(script: &str, text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(script), text).unwrap();
    dir
}

/// Installed runtimes are kept from one test run to the next.
pub fn toolbox(work: &Path) -> Toolbox<'static> {
    toolbox_of(&launcher(), work)
}

/// The same with the launcher's interrupt flag.
pub fn toolbox_of(launcher: &Launcher, work: &Path) -> Toolbox<'static> {
    let mut toolbox = launcher.toolbox(&work.join("work"));
    toolbox.cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache");
    toolbox
}

/// A JDK in the folder `jdk` whose compiler leaves its process id in `javac`, that of a grandchild in a session of its own
/// in `grandchild`, and then hangs: as bad as a helper can be. Returns what compiles with it.
pub fn hanging_jdk(dir: &Path) -> ServerSpec {
    let bin = dir.join("jdk/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(dir.join("jdk/release"), "JAVA_VERSION=\"17.0.0\"\n").unwrap();
    let grandchild = format!("trap '' TERM; echo $$ > {0}/new; mv {0}/new {0}/grandchild; sleep 600", dir.display());
    let javac =
        format!("setsid sh -c \"{}\" &\necho $$ > {}/javac\nwait\n", grandchild.replace('$', "\\$"), dir.display());
    for (name, script) in [("java", ""), ("jcmd", ""), ("javac", javac.as_str())] {
        fs::write(bin.join(name), format!("#!/bin/sh\n{script}")).unwrap();
        fs::set_permissions(bin.join(name), Permissions::from_mode(0o755)).unwrap();
    }
    let java = JavaSpec { jdk: Some("./jdk".into()), ..JavaSpec::default() };
    spec(Runtime::Java { java, program: JavaProgram::Main("Server.java".into()) }, &[], dir)
}

pub fn get(within: u64) -> Ready {
    Ready { sign: ReadySign::Get("/".into()), within: Duration::from_secs(within) }
}

pub fn tcp(address: &str, within: u64) -> Ready {
    Ready { sign: ReadySign::Tcp(address.into()), within: Duration::from_secs(within) }
}

pub fn spec(runtime: Runtime, args: &[&str], dir: &Path) -> ServerSpec {
    ServerSpec {
        runtime,
        args: args.iter().map(ToString::to_string).collect(),
        env: IndexMap::new(),
        dir: dir.to_owned(),
        ready: get(60),
        stop_within: Duration::from_secs(20),
        limits: Limits::default(),
    }
}

pub fn ruby(script: &str) -> Runtime {
    Runtime::Ruby { version: None, options: Vec::new(), script: script.into() }
}

pub fn command(command: &str) -> Runtime {
    Runtime::Command { command: command.into() }
}

/// The packages of a JDK such as `17 or 21`.
pub fn packages_of(jdk: &str) -> Vec<String> {
    jdk.split(" or ").map(|major| format!("openjdk-{major}-jdk-headless")).collect()
}

/// On a JDK that JRuby 9.4 runs on.
pub fn on_jdk(jvm: &[&str]) -> JavaSpec {
    let jvm = jvm.iter().map(ToString::to_string).collect();
    JavaSpec { jdk: Some("17 or 21".into()), jvm, ..JavaSpec::default() }
}

pub fn requested(given: Given) -> RequestedSetting {
    RequestedSetting::new("factor", given)
}

/// Whether the process runs; one that ended and was not waited for does not.
pub fn runs(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

pub fn read_pid(path: &Path) -> u32 {
    fs::read_to_string(path).unwrap().trim().parse().unwrap()
}
