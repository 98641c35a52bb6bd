//! Which settings a runtime does not even start with. Found out after a launch has failed: it costs a good one nothing.

use std::path::Path;
use std::process::Command;

use indexmap::IndexMap;
use model::study::{AskedSetting, SettingKind};
use model::{Setting, SettingResult, SettingSource};

use super::jvm::{self, ASK_WITHIN, Place};
use super::{Found, carriers, jruby};
use crate::runtime::{Installed, Jvm, base_env};
use crate::site::Site;
use crate::tool;

/// Of the settings asked for, those that the runtime refuses; none when it was something else that ended the launch.
/// `last_words` are its log's.
pub(crate) fn refused(installed: &Installed, site: &Site, asked: &[AskedSetting], last_words: &str) -> Vec<Setting> {
    let reason = |asked: &AskedSetting| {
        let complete = |text: &str| site.complete(text).ok();
        match (asked.kind, &installed.jvm) {
            (SettingKind::JvmFlag, Some(jvm)) => jvm_option(jvm, site, &complete(&asked.name)?),
            (SettingKind::Env, Some(jvm)) if carriers::OF_JAVA.contains(&asked.name.as_str()) => {
                let variable = IndexMap::from([(asked.name.clone(), complete(&asked.value)?)]);
                jvm::preflight(&jvm.jdk, &[], &Place { env: variable, ..Place::default() }).ok()?.refusal()
            }
            (SettingKind::Env, None) if installed.is_command() && carriers::has_options(&asked.name) => {
                told_of(last_words, &complete(&asked.value)?)
            }
            (SettingKind::Jruby, Some(jvm)) => {
                jruby::refusal(&jvm.jdk, jvm.jruby.as_deref()?, &asked.name, &complete(&asked.value)?)
            }
            (SettingKind::Argument, None) if installed.runs_ruby => {
                ruby_option(&installed.program, &installed.args, &complete(&asked.name)?)
            }
            _ => None,
        }
    };
    let found = |reason: String| Found {
        asked: None,
        live: None,
        default: None,
        source: SettingSource::Preflight,
        result: SettingResult::Refused { reason },
    };
    asked.iter().filter_map(|asked| Some(found(reason(asked)?).about(asked, site))).collect()
}

/// How runtimes begin to say which option they do not start with.
const REFUSALS: [&str; 4] = ["Unrecognized", "Improperly specified", "Invalid", "invalid"];

/// Why what runs behind a command did not start with one of these options: its last words, where they name it. There is no
/// process left that could be asked.
fn told_of(said: &str, options: &str) -> Option<String> {
    let options = shell_words::split(options).ok()?;
    let bare = |option: &str| {
        option.trim_start_matches("-J").trim_start_matches("-XX:").trim_start_matches(['+', '-']).to_owned()
    };
    let names: Vec<String> = options.iter().map(|option| bare(option)).filter(|name| name.len() > 2).collect();
    let is_refusal = |line: &&str| REFUSALS.iter().any(|refusal| line.contains(refusal));
    let line = said.lines().filter(is_refusal).find(|line| names.iter().any(|name| line.contains(name)))?;
    Some(line.trim().to_owned())
}

/// Why the JVM does not start once this option joins those that it accepted before it.
fn jvm_option(jvm: &Jvm, site: &Site, option: &str) -> Option<String> {
    let mut accepted: Vec<String> = Vec::new();
    for each in jvm.options.iter().filter_map(|each| site.complete(each).ok()) {
        accepted.push(each.clone());
        let refusal = jvm::preflight(&jvm.jdk, &accepted, &Place::default()).ok()?.refusal();
        if each == option {
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
fn nearest_flag(jvm: &Jvm, option: &str) -> Option<String> {
    let (name, _) = jvm::parse_option(option)?;
    let known = jvm::known_flags(&jvm.jdk);
    if known.contains(&name) {
        return None;
    }
    let nearest = tool::nearest(&name, known.iter().map(String::as_str))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_name_the_option() {
        let jvm = "starting\nUnrecognized VM option 'UseParalelGC'\nError: Could not create the Java Virtual Machine.";
        let told = |said: &str, options: &str| told_of(said, options);
        assert_eq!(told(jvm, "-Xmx64m -XX:+UseParalelGC").as_deref(), Some("Unrecognized VM option 'UseParalelGC'"));
        assert_eq!(told(jvm, "-J-XX:-UseParalelGC").as_deref(), Some("Unrecognized VM option 'UseParalelGC'"));
        assert_eq!(told(jvm, "-Xmx64m"), None);
        assert_eq!(told("Improperly specified VM option 'MaxGCPauseMillis=x'", "-XX:MaxGCPauseMillis=y"), None);
        assert_eq!(told("UseParalelGC is on", "-XX:+UseParalelGC"), None, "no refusal");
        let ruby = "ruby: invalid switch in RUBYOPT: --foo (RuntimeError)";
        assert_eq!(told(ruby, "-W0 --foo").as_deref(), Some(ruby));
    }
}
