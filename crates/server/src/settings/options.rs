//! Option variables: what the processes that serve have of them. A start script may have assigned them again.

use indexmap::IndexMap;
use model::{ChangedOptions, SettingSource};

use super::carriers;
use super::inside::without_probe;
use super::{Found, Reader, exactly};
use crate::proc;
use crate::site::Secrets;

/// The option variables among `env`, what the processes below `root` were launched with, that one of them which listens
/// has with another value.
pub(crate) fn changed_options(root: u32, env: &IndexMap<String, String>, secrets: &Secrets) -> Vec<ChangedOptions> {
    let asked = env.iter().filter(|(name, _)| carriers::has_options(name));
    let asked: Vec<_> = asked.map(|(name, value)| (name.as_str(), without_probe(value))).collect();
    let masked = |changed: ChangedOptions| ChangedOptions {
        variable: changed.variable,
        asked: secrets.mask(&changed.asked),
        live: secrets.mask(&changed.live),
        command: changed.command.iter().map(|word| secrets.mask(word)).collect(),
    };
    changed(root, &asked).into_iter().map(masked).collect()
}

/// Those of the variables that a process which serves has with another value; workers that are alike are told once. A process
/// without the variable is left out: it may be none of those that it is for.
fn changed(root: u32, asked: &[(&str, &str)]) -> Vec<ChangedOptions> {
    let asked: Vec<_> = asked.iter().filter(|(_, value)| !value.trim().is_empty()).collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for process in proc::serving(root) {
        for (variable, asked) in &asked {
            let changed = as_it_is(process.pid, variable, asked).filter(|changed| changed.live != changed.asked);
            if let Some(changed) = changed.filter(|changed| !all.contains(changed)) {
                all.push(changed);
            }
        }
    }
    all
}

/// What a process has of a variable, if it has that.
fn as_it_is(pid: u32, variable: &str, asked: &str) -> Option<ChangedOptions> {
    let (_, live) = proc::environment(pid).into_iter().find(|(name, _)| name == variable)?;
    Some(ChangedOptions {
        variable: variable.to_owned(),
        asked: asked.to_owned(),
        live: without_probe(&live).to_owned(),
        command: proc::command_line(pid),
    })
}

impl Reader<'_> {
    /// An option variable that the study asks for: other options beside its own are no other value, and the process that
    /// serves counts where the one launched is only its script.
    pub(super) fn options(&self, name: &str, value: &str) -> Found {
        let here = as_it_is(self.target.pid, name, value);
        let live = here.as_ref().map(|here| here.live.clone());
        let lacking = here.into_iter().chain(changed(self.target.root, &[(name, value)]));
        match lacking.into_iter().find(|changed| !changed.lost().is_empty()) {
            Some(lacking) => Found::value(value, Some(lacking.live), None, SettingSource::Proc, |_, _| false),
            None if value.trim().is_empty() => Found::value(value, live, None, SettingSource::Proc, exactly),
            None => Found::value(value, live, None, SettingSource::Proc, |_, _| true),
        }
    }
}
