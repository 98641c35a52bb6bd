//! JRuby's options.

use std::path::Path;
use std::process::Command;

use indexmap::IndexMap;
use model::SettingSource;
use runtimes::inert::{self, OtherSetting};
use runtimes::jruby::{self, same_value};
use runtimes::{jvm, names};

use super::found::Found;
use super::jvm::ASK_WITHIN;
use crate::runtime::base_env;
use crate::runtime::jdk::Jdk;
use crate::serving::Inside;
use crate::tool::{self, ToolOutput};

/// From what JRuby itself has loaded.
pub(super) fn from_inside(inside: &Inside, name: &str, requested: &str) -> Found {
    let source = SettingSource::InProcess;
    let Some(option) = inside.options.iter().find(|option| option.name == name) else {
        let names = inside.options.iter().map(|option| option.name.as_str());
        return Found::unknown(names::nearest(name, names), source);
    };
    let found = Found::value(requested, option.value.clone(), option.default.clone(), source, same_value);
    let live = |name: &str| {
        let option = inside.options.iter().find(|option| option.name == name)?;
        Some(known(option.value.as_deref().unwrap_or_default(), option.default.as_deref().unwrap_or_default()))
    };
    found.unless(inert::of_jruby(name, live))
}

fn known<'a>(value: &'a str, default: &str) -> OtherSetting<'a> {
    OtherSetting { value, kind: "", is_set: value != default }
}

/// From the system properties, where the process did not say by itself: weaker, since JRuby may have read them earlier.
pub(super) fn from_outside(
    defaults: &IndexMap<String, String>,
    properties: &IndexMap<String, String>,
    name: &str,
    requested: &str,
) -> Found {
    let source = SettingSource::Jcmd;
    let Some(default) = defaults.get(name) else {
        return Found::unknown(names::nearest(name, defaults.keys().map(String::as_str)), source);
    };
    let value = |name: &str| properties.get(&format!("jruby.{name}")).or_else(|| defaults.get(name));
    let live = value(name).unwrap_or(default).clone();
    let found = Found::value(requested, Some(live), Some(default.clone()), source, same_value);
    found.unless(inert::of_jruby(name, |name| Some(known(value(name)?, defaults.get(name)?))))
}

/// JRuby's options and what they are when nothing sets them.
pub(super) fn defaults(jdk: &Jdk, home: &Path) -> Result<IndexMap<String, String>, String> {
    let options: IndexMap<String, String> = jvm::pairs(&listed(jdk, home, None)?.stdout);
    if options.is_empty() { Err("JRuby listed no options".to_owned()) } else { Ok(options) }
}

/// Why JRuby does not start with this option, if it does not.
pub(super) fn refusal(jdk: &Jdk, home: &Path, name: &str, value: &str) -> Option<String> {
    let ran = listed(jdk, home, Some(&jruby::property(name, value))).ok()?;
    (!ran.status.success()).then(|| jruby::refusal(&ran.stderr).to_owned())
}

fn listed(jdk: &Jdk, home: &Path, option: Option<&str>) -> Result<ToolOutput, String> {
    let mut command = Command::new(jdk.tool("java"));
    command
        .args(option)
        .arg(format!("-D{}={}", jruby::HOME, home.display()))
        .arg("-cp")
        .arg(home.join("lib/jruby.jar"));
    // `/`: a .jrubyrc in the working folder is no default.
    command.args(["org.jruby.Main", "-X?"]).env_clear().envs(base_env()).current_dir("/");
    tool::run(&mut command, ASK_WITHIN).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use model::SettingResult;

    use super::*;

    fn result(name: &str, requested: &str) -> SettingResult {
        let json = r#"{"engine": "jruby", "engine_version": "9.4.15.0", "ruby": "3.1.7", "java": "17.0.15", "options": [
            {"name": "compile.invokedynamic", "value": "true", "default": "false"},
            {"name": "jit.threshold", "value": "50", "default": "50"}]}"#;
        from_inside(&serde_json::from_str(json).unwrap(), name, requested).result
    }

    #[test]
    fn what_jruby_has_loaded_decides() {
        assert_eq!(result("compile.invokedynamic", "TRUE"), SettingResult::InEffect);
        assert_eq!(result("compile.invokedynamic", "false"), SettingResult::Overridden);
        assert_eq!(result("jit.threshold", "50"), SettingResult::AlreadyDefault);
        assert_eq!(result("jit.treshold", "50"), SettingResult::Unknown { nearest: Some("jit.threshold".into()) });
    }
}
