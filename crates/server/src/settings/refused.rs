//! Which settings a runtime does not even start with. Found out after a launch has failed: it costs a good one nothing.

use std::path::Path;
use std::process::Command;

use indexmap::IndexMap;
use model::study::RequestedSetting;
use model::{Setting, SettingResult, SettingSource};
use runtimes::{Given, Key, OptionVariable, RuntimePart, names, said};

use super::found::Found;
use super::jruby;
use super::jvm::{self, ASK_WITHIN, Place};
use crate::runtime::{Installed, Jvm, base_env};
use crate::site::Site;
use crate::tool;

/// Of the settings asked for, those that the runtime refuses; none when it was something else that ended the launch.
/// `last_words` are its log's.
pub(crate) fn refused(
    installed: &Installed,
    site: &Site,
    requested: &[RequestedSetting],
    last_words: &str,
) -> Vec<Setting> {
    let reason = |requested: &RequestedSetting| {
        let given = requested.completed(|text| site.complete(text)).ok()?;
        // Where there is no process that could be asked its last words have to do.
        tried(installed, site, &given).or_else(|| said::refusal(last_words, &options(&given)).map(str::to_owned))
    };
    let found = |reason: String| Found::new(SettingSource::Preflight, SettingResult::Refused { reason });
    requested.iter().filter_map(|requested| Some(found(reason(requested)?).about(requested, site))).collect()
}

/// Why the runtime does not start with it, where it can be tried.
fn tried(installed: &Installed, site: &Site, given: &Given) -> Option<String> {
    let Given { key, name, value } = given;
    match (key, &installed.jvm) {
        (Key::JvmFlag(_) | Key::JvmOption(_), Some(jvm)) => jvm_option(jvm, site, given),
        (Key::Env(_), Some(jvm)) if OptionVariable::of(name, value) == Some(OptionVariable::Java) => {
            let variable = IndexMap::from([(name.clone(), value.clone())]);
            jvm::preflight(&jvm.jdk, &[], &Place { env: variable, ..Place::default() }).ok()?.refusal()
        }
        (Key::Jruby(name), Some(jvm)) => jruby::refusal(&jvm.jdk, jvm.jruby.as_deref()?, name, value),
        (Key::Argument(option), None) if installed.runs_ruby => {
            ruby_option(&installed.program, &installed.args, option)
        }
        _ => None,
    }
}

/// The options in what a launch is given, as a runtime may name one that it refuses.
fn options(given: &Given) -> Vec<Given> {
    let Given { key, name, value } = given;
    match key {
        Key::JvmFlag(_) | Key::JvmOption(_) => vec![given.clone()],
        Key::Property(property) => vec![runtimes::jvm::given(&format!("-D{property}={value}"))],
        Key::Env(_) => {
            OptionVariable::of(name, value).and_then(|variable| variable.words(value).ok()).unwrap_or_default()
        }
        Key::Runtime(RuntimePart::Command) => {
            let words = runtimes::Command::of(value, |_| true);
            words.options.into_iter().chain(words.others.into_iter().map(Given::argument)).collect()
        }
        _ => Vec::new(),
    }
}

/// Why the JVM does not start once this option joins those that it accepted before it.
fn jvm_option(jvm: &Jvm, site: &Site, option: &Given) -> Option<String> {
    let mut accepted: Vec<String> = Vec::new();
    for each in jvm.options.iter().filter_map(|each| site.complete(each).ok()) {
        accepted.push(each.clone());
        let refusal = jvm::preflight(&jvm.jdk, &accepted, &Place::default()).ok()?.refusal();
        if each == option.name {
            let reason = refusal?;
            return Some(nearest_flag(jvm, option).map_or(reason.clone(), |nearest| format!("{reason} ({nearest})")));
        }
        if refusal.is_some() {
            accepted.pop();
        }
    }
    None
}

/// The nearest flag's name, where the JVM knows none of this one's.
fn nearest_flag(jvm: &Jvm, option: &Given) -> Option<String> {
    let Key::JvmFlag(name) = &option.key else { return None };
    let known = jvm::known_flags(&jvm.jdk);
    if known.contains(name) {
        return None;
    }
    let nearest = names::nearest(name, known.iter().map(String::as_str))?;
    Some(format!("the nearest that Java {} knows is {nearest}", jvm.jdk.version))
}

/// Why `ruby` does not start with one of its own options: what comes before the script.
fn ruby_option(program: &Path, args: &[String], option: &str) -> Option<String> {
    let own = args.iter().take_while(|arg| arg.starts_with('-'));
    own.into_iter().find(|arg| *arg == option)?;
    let mut command = Command::new(program);
    command.args([option, "--disable-gems", "-e", "0"]).env_clear().envs(base_env());
    let ran = tool::run(&mut command, ASK_WITHIN).ok()?;
    (!ran.status.success()).then(|| ran.output().lines().next().unwrap_or("it does not start").to_owned())
}
