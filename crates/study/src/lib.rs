//! Reads a study file into a [`Study`]: every default filled in, every variant resolved, everything wrong found and shown.
//!
//! ```text
//! text -(toml, serde)-> file::StudyFile -(checks)-> model::Study
//! ```
//!
//! The form of single values (lengths of time, percentages, names of metrics) is checked while reading and ends it;
//! everything else is checked afterwards and reported together.

mod assertion;
mod cells;
mod decide;
mod design;
mod file;
mod host;
mod init;
mod keys;
mod launch;
mod limit;
mod memory;
mod numbers;
mod placeholder;
mod problem;
mod request;
mod scenario;
mod schema;
mod secondary;
mod shapes;
mod soak;
mod value;
mod variants;
mod workload;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::study::{Hooks, ReadySign};
use model::{Scenarios, Study};

pub use init::{InitError, draft};
pub use problem::StudyError;
pub use schema::json_schema;
pub use value::{NotALength, duration};

use file::{ScenarioFile, StudyFile};
use launch::Launches;
use placeholder::Placeholders;
use problem::{Problem, Problems};
use scenario::Files;
use value::{At, Text};

/// Reads the study file at `path`. Relative paths in it start at its folder.
pub fn read(path: &Path) -> Result<Study, StudyError> {
    let unreadable = |cause: std::io::Error| StudyError::unreadable(path, &cause);
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let absolute = path.canonicalize().map_err(unreadable)?;
    let dir = absolute.parent().unwrap_or(Path::new("/"));
    parse(&text, &path.display().to_string(), dir)
}

/// Reads a study from `text`; `name` is what errors call it, `dir` where its relative paths start.
pub fn parse(text: &str, name: &str, dir: &Path) -> Result<Study, StudyError> {
    let file: StudyFile =
        toml::from_str(text).map_err(|error| Problem::from_toml(&error).and(Vec::new(), name, text))?;
    let dir = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let mut problems = Problems::default();
    let study = resolve(&file, text, file_name(name), dir, &mut problems);
    problems.none_or(study, name, text)
}

/// Reads a file of scenarios: what a `[[workload]]` of a study would hold, without `workload.` before the names.
/// Relative paths in it start at its folder.
pub fn scenarios(path: &Path) -> Result<Scenarios, StudyError> {
    let unreadable = |cause: std::io::Error| StudyError::unreadable(path, &cause);
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let absolute = path.canonicalize().map_err(unreadable)?;
    let name = path.display().to_string();
    let file: ScenarioFile =
        toml::from_str(&text).map_err(|error| Problem::from_toml(&error).and(Vec::new(), &name, &text))?;
    let dir = absolute.parent().unwrap_or(Path::new("/")).to_owned();
    let mut problems = Problems::default();
    let files = Files { dir, may_come: false };
    let scenarios = scenario::scenarios(&(&file).into(), (0, 0).into(), &files, &mut problems);
    problems.none_or(scenarios, &name, &text)
}

/// The environment variables that a study's `{env.NAME}` stand for.
pub fn environment(study: &Study) -> BTreeSet<&str> {
    placeholder::names(&study.source).filter_map(|name| name.strip_prefix("env.")).collect()
}

/// The last part of what errors call the file.
fn file_name(name: &str) -> String {
    Path::new(name).file_name().map_or_else(|| name.to_owned(), |last| last.to_string_lossy().into_owned())
}

/// What the file means. Where something is wrong it is left out or replaced, and reported in `problems`.
fn resolve(file: &StudyFile, text: &str, file_name: String, dir: PathBuf, problems: &mut Problems) -> Study {
    let services = launch::services(&file.service, problems);
    let service_names: Vec<&str> = services.iter().map(|service| service.name.as_str()).collect();
    let launches = Launches {
        dir: dir.clone(),
        setup_builds: file.hooks.setup.is_some(),
        ready: default_sign(file),
        placeholders: Placeholders::of_server(&service_names),
    };
    let factors = variants::factors(file, problems);
    let variants = variants::variants(file, &launches, problems);
    if file.name.value.trim().is_empty() {
        problems.add(Problem::new("the study has no name").at(file.name.place, "empty").help("say what is compared"));
    }
    if file.workload.is_empty() {
        problems.add(
            Problem::new("nothing is asked of the server")
                .at(file.name.place, "a study without `[[workload]]`")
                .help("add `[[workload]]` with `name`, `get = \"/path\"` and `concurrency = [1, 20]`"),
        );
    }
    let files = Files { dir: dir.clone(), may_come: file.hooks.setup.is_some() };
    let workloads = workload::workloads(&file.workload, &files, problems);
    assertion::check_steps(&file.assertion, &workloads, problems);
    let decide = decide::decide(file, &workloads, problems);
    let hooks = hooks(file, &launches.placeholders, problems);
    let warm_up_users = decide::warm_up_users(&file.warmup, &workloads, problems);
    let timing = decide::full(file, problems);
    let soak = soak::soak(file, &workloads, problems);
    Study {
        name: file.name.value.clone(),
        question: file.question.clone(),
        dir,
        file: file_name,
        source: text.to_owned(),
        factors,
        variants,
        services,
        workloads,
        hooks,
        launches: file.design.launches.unwrap_or(model::Launches::SideBySide),
        warm_up_users,
        quick: decide::quick(file, problems),
        timing,
        decide,
        profiling: file.profiling.launch,
        soak,
        host: host::isolation(&file.host, problems),
    }
}

fn hooks(file: &StudyFile, placeholders: &Placeholders, problems: &mut Problems) -> Hooks {
    let mut hook = |command: &Option<At<Text>>| {
        let command = command.as_ref()?;
        placeholders.check(command, problems);
        Some(command.value.0.clone())
    };
    let keys = &file.hooks;
    Hooks {
        check: hook(&keys.check),
        setup: hook(&keys.setup),
        prepare: hook(&keys.prepare),
        cleanup: hook(&keys.cleanup),
    }
}

/// A good answer is the best sign of readiness; without a GET that has one, an open port has to do.
fn default_sign(file: &StudyFile) -> ReadySign {
    let answers_well = |status: i64| (200..300).contains(&status);
    file.workload
        .iter()
        .filter(|workload| workload.expect.status.as_ref().is_none_or(|status| answers_well(status.value)))
        .find_map(|workload| workload.get.as_ref())
        .map_or_else(|| ReadySign::Tcp("127.0.0.1:{port}".to_owned()), |path| ReadySign::Get(path.value.clone()))
}
