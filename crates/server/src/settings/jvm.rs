//! A JVM's flags and properties, by the JDK's own `jcmd` and `java`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;
use model::study::Limits;
use runtimes::jvm::{self, Arguments, Flags};
use runtimes::said;

use crate::attach;
use crate::isolation::{Group, Pinned};
use crate::runtime::base_env;
use crate::runtime::jdk::Jdk;
use crate::serving::LiveJvm;
use crate::tool;

/// Bound of one question.
pub(super) const ASK_WITHIN: Duration = Duration::from_secs(10);

/// The flags of a running JVM.
pub(super) fn live_flags(live: &LiveJvm) -> Result<Flags, String> {
    ask(live, &["VM.flags", "-all"]).map(|text| jvm::parse_flags(&text))
}

/// The options that a running JVM was given.
pub(super) fn arguments(live: &LiveJvm) -> Result<Arguments, String> {
    ask(live, &["VM.command_line"]).map(|text| Arguments::parse(&text))
}

/// The system properties of a running JVM.
pub(super) fn properties(live: &LiveJvm) -> Result<IndexMap<String, String>, String> {
    ask(live, &["VM.system_properties"]).map(|text| jvm::pairs(&text))
}

fn ask(live: &LiveJvm, question: &[&str]) -> Result<String, String> {
    attach::ask(live.jdk()?, live.pid, question, ASK_WITHIN, &AtomicBool::new(false))
}

/// Names of all flags that this JDK knows, experimental ones included; none when it cannot be asked.
pub(crate) fn known_flags(jdk: &Jdk) -> Vec<String> {
    let preflight = preflight(jdk, &jvm::UNLOCK_ALL.map(str::to_owned), &Place::default());
    preflight.map(|preflight| preflight.printed.flags.keys().cloned().collect()).unwrap_or_default()
}

/// What a JVM with these options says before it runs anything.
#[derive(Debug)]
pub(super) struct Preflight {
    pub printed: jvm::Printed,
    pub starts: bool,
}

impl Preflight {
    /// Why it does not start.
    pub fn refusal(&self) -> Option<String> {
        (!self.starts).then(|| said::why(&self.printed.said))
    }
}

/// What such a JVM gets beside its options.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// Environment beside the base.
    pub env: IndexMap<String, String>,
    /// Processors by number; any if there are none.
    pub cpus: Vec<usize>,
    /// A JVM chooses by the memory and the processors that it sees.
    pub limits: Limits,
}

type Question = (PathBuf, Vec<String>, String);

/// Answers stay the same for a whole run.
static ANSWERS: LazyLock<Mutex<HashMap<Question, Arc<Preflight>>>> = LazyLock::new(Mutex::default);

/// Starts `java -XX:+PrintFlagsFinal -XshowSettings:properties -version` with these options at this place. What would do more
/// than be read (agents, files that are written) is left out.
pub(super) fn preflight(jdk: &Jdk, options: &[String], place: &Place) -> Result<Arc<Preflight>, String> {
    let answers = || ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let options: Vec<String> = options.iter().filter(|option| jvm::is_only_read(option)).cloned().collect();
    let question = (jdk.home.clone(), options, format!("{place:?}"));
    if let Some(answer) = answers().get(&question) {
        return Ok(Arc::clone(answer));
    }
    let mut command = Command::new(jdk.tool("java"));
    command.args(&question.1).args(jvm::PRINT_ALL);
    command.env_clear().envs(base_env()).envs(&place.env);
    // A group of its own: it is not to take the server's memory.
    let group = Group::new(&place.limits).map_err(|error| error.to_string())?;
    group.confine(&mut command).map_err(|error| error.to_string())?;
    let pinned = Pinned::to(&place.cpus).map_err(|error| error.to_string())?;
    let ran = tool::run(&mut command, ASK_WITHIN).map_err(|error| error.to_string())?;
    drop(pinned);
    let printed = jvm::Printed::by(&ran.stdout, &ran.stderr);
    let answer = Arc::new(Preflight { printed, starts: ran.status.success() });
    answers().insert(question, Arc::clone(&answer));
    Ok(answer)
}
