//! Option variables: what the processes that serve have of them. A start script may have assigned them again.

use indexmap::IndexMap;
use model::options::without_probe;
use model::{ChangedOptions, SettingSource};
use runtimes::OptionVariable;

use super::found::{Found, exactly};
use super::reader::Reader;
use crate::proc;
use crate::serving::Serving;
use crate::site::Secrets;

/// Whether a variable carries options, one word each.
pub(super) fn is_options(name: &str, value: &str) -> bool {
    OptionVariable::of(name, value).is_some_and(OptionVariable::is_options)
}

/// The option variables among `env`, what the server was launched with, that it has with another value where it serves.
pub(crate) fn changed_options(
    serving: &Serving,
    env: &IndexMap<String, String>,
    secrets: &Secrets,
) -> Vec<ChangedOptions> {
    let requested = env.iter().filter(|(name, value)| is_options(name, value));
    let requested: Vec<_> = requested.map(|(name, value)| (name.as_str(), without_probe(value))).collect();
    let masked = |changed: ChangedOptions| ChangedOptions {
        variable: changed.variable,
        requested: secrets.mask(&changed.requested),
        live: secrets.mask(&changed.live),
        command: changed.command.iter().map(|word| secrets.mask(word)).collect(),
    };
    changed(serving, &requested).into_iter().map(masked).collect()
}

/// Those of the variables that the process which serves, or its JVM, has with another value. A process without the variable is
/// left out: it may be none of those that it is for.
fn changed(serving: &Serving, requested: &[(&str, String)]) -> Vec<ChangedOptions> {
    let requested = requested.iter().filter(|(_, value)| !value.trim().is_empty());
    let as_they_are = requested.flat_map(|(variable, requested)| as_it_is(serving, variable, requested));
    as_they_are.filter(|changed| changed.live != changed.requested).collect()
}

/// What the process that serves has of a variable, and its JVM, if they have that.
fn as_it_is(serving: &Serving, variable: &str, requested: &str) -> Vec<ChangedOptions> {
    let of = |pid: u32| {
        let (_, live) = proc::environment(pid)?.into_iter().find(|(name, _)| name == variable)?;
        Some(ChangedOptions {
            variable: variable.to_owned(),
            requested: requested.to_owned(),
            live: without_probe(&live),
            command: proc::command_line(pid),
        })
    };
    serving.processes().into_iter().filter_map(of).collect()
}

/// Whether a process that serves has all these options on its command line: a launcher may move them there and take the variable away.
fn is_moved(serving: &Serving, variable: &str, requested: &str) -> bool {
    let moved = |pid: u32| {
        let (variable, requested, live) = (variable.to_owned(), requested.to_owned(), String::new());
        ChangedOptions { variable, requested, live, command: proc::command_line(pid) }.lost().is_empty()
    };
    serving.processes().into_iter().any(moved)
}

impl Reader<'_> {
    /// An option variable that the study asks for: other options beside its own are no other value.
    pub(super) fn options(&self, name: &str, value: &str) -> Result<Found, String> {
        let live = self.environment()?.get(name).cloned();
        let as_they_are = as_it_is(self.target.serving, name, value);
        if live.is_none() && as_they_are.is_empty() {
            let live = is_moved(self.target.serving, name, value).then(|| value.to_owned());
            return Ok(Found::value(value, live, None, SettingSource::Proc, exactly));
        }
        Ok(match as_they_are.into_iter().find(|changed| !changed.lost().is_empty()) {
            Some(lacking) => Found::value(value, Some(lacking.live), None, SettingSource::Proc, |_, _| false),
            None if value.trim().is_empty() => Found::value(value, live, None, SettingSource::Proc, exactly),
            None => Found::value(value, live, None, SettingSource::Proc, |_, _| true),
        })
    }
}
