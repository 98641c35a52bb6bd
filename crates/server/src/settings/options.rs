//! Option variables: what the processes that serve have of them. A start script may have assigned them again.

use indexmap::IndexMap;
use model::ChangedOptions;

use super::carriers;
use super::inside::without_probe;
use crate::proc;
use crate::site::Secrets;

/// The option variables among `asked`, what the processes below `root` were launched with, that one of them which listens
/// has with another value. A process that has no such variable at all is not told of: it may be none of those it is for.
pub(crate) fn changed_options(root: u32, asked: &IndexMap<String, String>, secrets: &Secrets) -> Vec<ChangedOptions> {
    let asked: Vec<(&str, &str)> = asked
        .iter()
        .map(|(name, value)| (name.as_str(), without_probe(value)))
        .filter(|(name, value)| carriers::has_options(name) && !value.trim().is_empty())
        .collect();
    if asked.is_empty() {
        return Vec::new();
    }
    let mut changed = Vec::new();
    for process in proc::serving(root) {
        let live = proc::environment(process.pid);
        for (variable, asked) in &asked {
            let value = live.iter().find(|(name, _)| name == variable).map(|(_, value)| without_probe(value));
            let Some(value) = value.filter(|value| value != asked) else { continue };
            let found = ChangedOptions {
                variable: (*variable).to_owned(),
                asked: secrets.mask(asked),
                live: secrets.mask(value),
                command: proc::command_line(process.pid).iter().map(|word| secrets.mask(word)).collect(),
            };
            // Workers are alike.
            if !changed.contains(&found) {
                changed.push(found);
            }
        }
    }
    changed
}
