//! Reading settings back from the running process: a treatment that did not happen is the commonest mistake there is.

mod inside;
mod jruby;
mod jvm;

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use indexmap::IndexMap;
use model::study::{AskedSetting, SettingKind};
use model::{Setting, SettingResult, SettingSource};

use crate::proc;
use crate::runtime::jdk::alternatives;
use crate::runtime::{self, Installed};
use crate::site::Site;
use inside::without_probe;
use jvm::Flags;

pub(crate) use inside::Inside;
pub(crate) use jvm::known_flags;

/// The process to be asked, and how it was launched.
pub(crate) struct Target<'a> {
    pub pid: u32,
    pub installed: &'a Installed,
    pub jvm_options: &'a [String],
    pub site: &'a Site,
    pub inside: Option<&'a Inside>,
    pub versions: &'a IndexMap<String, String>,
}

/// Reads back every setting, in the order asked.
pub(crate) fn read_back(target: &Target<'_>, asked: &[AskedSetting]) -> Vec<Setting> {
    let reader = Reader::new(target, asked);
    asked.iter().map(|asked| reader.setting(asked)).collect()
}

/// What was found of one setting.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    /// What was asked, in the terms of `live`; the study's own words when absent.
    asked: Option<String>,
    live: Option<String>,
    default: Option<String>,
    source: SettingSource,
    result: SettingResult,
}

impl Found {
    /// Judges a value that was read. `same` compares texts that the runtime takes for equal.
    fn value(
        asked: &str,
        live: Option<String>,
        default: Option<String>,
        source: SettingSource,
        same: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let result = match &live {
            Some(live) if same(asked, live) => match &default {
                Some(default) if same(default, live) => SettingResult::AlreadyDefault,
                _ => SettingResult::InEffect,
            },
            _ => SettingResult::Overridden,
        };
        Self { asked: Some(asked.to_owned()), live, default, source, result }
    }

    fn unknown(nearest: Option<String>, source: SettingSource) -> Self {
        Self { asked: None, live: None, default: None, source, result: SettingResult::Unknown { nearest } }
    }

    fn unverified(reason: impl Into<String>) -> Self {
        let result = SettingResult::Unverified { reason: reason.into() };
        Self { asked: None, live: None, default: None, source: SettingSource::Unread, result }
    }
}

/// Asks each source once, and only if something needs it.
struct Reader<'a> {
    target: &'a Target<'a>,
    asked_flags: Vec<String>,
    flags: OnceCell<Result<Flags, String>>,
    properties: OnceCell<Result<IndexMap<String, String>, String>>,
    jvm_args: OnceCell<Result<String, String>>,
}

impl<'a> Reader<'a> {
    fn new(target: &'a Target<'a>, asked: &[AskedSetting]) -> Self {
        let flags = asked.iter().filter(|asked| asked.kind == SettingKind::JvmFlag);
        let mut reader = Self {
            target,
            asked_flags: Vec::new(),
            flags: OnceCell::new(),
            properties: OnceCell::new(),
            jvm_args: OnceCell::new(),
        };
        reader.asked_flags = flags.filter_map(|asked| reader.expand(&asked.name).ok()).collect();
        reader
    }

    fn expand(&self, text: &str) -> Result<String, String> {
        self.target.site.complete(text).map_err(|error| error.to_string())
    }

    fn setting(&self, asked: &AskedSetting) -> Setting {
        let found = self.found(asked).unwrap_or_else(Found::unverified);
        let mask = |text: String| self.target.site.secrets.mask(&text);
        Setting {
            kind: asked.kind,
            name: asked.name.clone(),
            asked: mask(found.asked.unwrap_or_else(|| asked.value.clone())),
            live: found.live.map(mask),
            default: found.default.map(mask),
            source: found.source,
            result: match found.result {
                SettingResult::Unverified { reason } => SettingResult::Unverified { reason: mask(reason) },
                result => result,
            },
        }
    }

    fn found(&self, asked: &AskedSetting) -> Result<Found, String> {
        if proc::command_line(self.target.pid).is_empty() {
            return Err("the process has ended".to_owned());
        }
        let value = self.expand(&asked.value)?;
        match asked.kind {
            SettingKind::Jruby => self.jruby_option(&asked.name, &value),
            SettingKind::JvmFlag => self.jvm_option(&self.expand(&asked.name)?),
            SettingKind::Property => {
                let live = self.properties()?.get(&asked.name).cloned();
                Ok(Found::value(&value, live, None, SettingSource::Jcmd, exactly))
            }
            SettingKind::Env => Ok(self.variable(&asked.name, &value)),
            SettingKind::Argument => self.argument(&self.expand(&asked.name)?, &value),
            SettingKind::Runtime => Ok(self.runtime(&asked.name, &value)),
        }
    }

    fn jruby_option(&self, name: &str, value: &str) -> Result<Found, String> {
        if let Some(inside) = self.target.inside.filter(|inside| inside.engine == "jruby") {
            return Ok(jruby::from_inside(inside, name, value));
        }
        let home = self.jvm()?.jruby.as_deref().ok_or("the server does not run JRuby")?;
        let defaults = jruby::defaults(&self.jvm()?.jdk, home)?;
        Ok(jruby::from_outside(&defaults, self.properties()?, name, value))
    }

    fn jvm_option(&self, option: &str) -> Result<Found, String> {
        let Some((name, value)) = jvm::parse_option(option) else { return self.other_jvm_option(option) };
        let live = self.flags()?;
        let default = jvm::defaults(&self.jvm()?.jdk, self.target.jvm_options, &self.asked_flags)?;
        let Some(found) = live.get(&name) else {
            let names = live.keys().chain(default.keys()).map(String::as_str);
            return Ok(Found::unknown(crate::tool::nearest(&name, names), SettingSource::Jcmd));
        };
        let default = default.get(&name).cloned();
        Ok(Found::value(&value, Some(found.clone()), default, SettingSource::Jcmd, jvm::same_value))
    }

    /// `--add-opens`, `-javaagent` and the like: whether the JVM has got it is all there is to know.
    fn other_jvm_option(&self, option: &str) -> Result<Found, String> {
        let args = self.jvm_args.get_or_init(|| jvm::arguments(&self.jvm()?.jdk, self.target.pid)).as_ref()?;
        let present = format!(" {args} ").contains(&format!(" {option} "));
        let live = present.then(|| option.to_owned());
        Ok(Found::value(option, live, None, SettingSource::Jcmd, exactly))
    }

    fn variable(&self, name: &str, value: &str) -> Found {
        let environment = proc::environment(self.target.pid);
        let live = environment.into_iter().find(|(known, _)| known == name).map(|(_, live)| live);
        let live = live.map(|live| if name == "RUBYOPT" { without_probe(&live).to_owned() } else { live });
        let default = runtime::base_env().get(name).cloned();
        Found::value(value, live, default, SettingSource::Proc, exactly)
    }

    fn argument(&self, name: &str, value: &str) -> Result<Found, String> {
        // YJIT can be asked for and still be off: where it was not built in, or was switched off again.
        if name.starts_with("--yjit")
            && let Some(inside) = self.target.inside
        {
            let live = inside.yjit.clone().or_else(|| Some("not in this Ruby".to_owned()));
            return Ok(Found::value("true", live, None, SettingSource::InProcess, exactly));
        }
        let text = [name, value].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let words = shell_words::split(&text).map_err(|error| error.to_string())?;
        let args = proc::command_line(self.target.pid);
        let joined = format!("{name}={value}");
        let present = args.iter().any(|arg| *arg == text || *arg == joined)
            || !words.is_empty() && args.windows(words.len()).any(|window| window == words);
        let live = present.then(|| text.clone());
        Ok(Found::value(&text, live, None, SettingSource::Proc, exactly))
    }

    /// The runtime, a version, or the program.
    fn runtime(&self, name: &str, value: &str) -> Found {
        let versions = self.target.versions;
        let source = if self.target.inside.is_some() { SettingSource::InProcess } else { SettingSource::Proc };
        match name {
            "runtime" => {
                let live = ["jruby", "ruby"].into_iter().find(|name| versions.contains_key(*name));
                let live = live.or(versions.get("jdk").map(|_| "java")).unwrap_or("command");
                Found::value(value, Some(live.to_owned()), None, source, exactly)
            }
            "version" => {
                let live = versions.get("jruby").or(versions.get("ruby")).cloned();
                Found::value(value, live, None, source, begins)
            }
            "jdk" if !value.contains('/') => {
                let live = versions.get("jdk").map(|version| version.trim_start_matches("1.").to_owned());
                let any = |asked: &str, live: &str| {
                    alternatives(asked).any(|asked| begins(asked.trim_start_matches("1."), live))
                };
                Found::value(value, live, None, source, any)
            }
            "dir" => {
                let live = fs::read_link(format!("/proc/{}/cwd", self.target.pid)).ok();
                let same = |asked: &str, live: &str| {
                    self.target.site.dir.join(asked).canonicalize().is_ok_and(|path| path == Path::new(live))
                };
                let live = live.map(|path| path.to_string_lossy().into_owned());
                Found::value(value, live, None, SettingSource::Proc, same)
            }
            "command" => self.command(value),
            _ => self.program(value),
        }
    }

    /// A JDK's folder, a script, an archive or a class: the command line must hold it.
    fn program(&self, value: &str) -> Found {
        let file = self.target.installed.files.get(value).cloned();
        let path = file.or_else(|| self.target.site.dir.join(value).canonicalize().ok());
        let class = value.strip_suffix(".java").map(|path| path.rsplit('/').next().unwrap_or(path));
        let holds = |arg: &String| {
            arg == value
                || arg.split(':').any(|part| path.as_ref().is_some_and(|path| Path::new(part).starts_with(path)))
                || class.is_some_and(|class| arg.rsplit('.').next() == Some(class))
        };
        self.in_command_line(value, |args| args.iter().any(holds))
    }

    /// The program's name, wherever it was found, and its arguments.
    fn command(&self, value: &str) -> Found {
        let words = shell_words::split(value).unwrap_or_default();
        let Some((program, rest)) = words.split_first() else { return Found::unverified("the command is empty") };
        let name = Path::new(program).file_name();
        self.in_command_line(value, |args| {
            let after = args.iter().position(|arg| Path::new(arg).file_name() == name).map(|at| &args[at + 1..]);
            after.is_some_and(|after| after.starts_with(rest))
        })
    }

    fn in_command_line(&self, value: &str, holds: impl Fn(&[String]) -> bool) -> Found {
        let args = proc::command_line(self.target.pid);
        let live = if holds(&args) { value.to_owned() } else { args.join(" ") };
        Found::value(value, Some(live), None, SettingSource::Proc, exactly)
    }

    fn jvm(&self) -> Result<&runtime::Jvm, String> {
        self.target
            .installed
            .jvm
            .as_ref()
            .ok_or_else(|| "the server is no Java program of bakeoff's launching".to_owned())
    }

    fn flags(&self) -> Result<&Flags, String> {
        let read = || jvm::live_flags(&self.jvm()?.jdk, self.target.pid);
        self.flags.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    fn properties(&self) -> Result<&IndexMap<String, String>, String> {
        let read = || jvm::properties(&self.jvm()?.jdk, self.target.pid);
        self.properties.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

fn exactly(one: &str, other: &str) -> bool {
    one == other
}

/// Whether the live version is the one asked for or begins with it at a dot.
fn begins(asked: &str, live: &str) -> bool {
    runtime::version_matches(live, asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(asked: &str, live: Option<&str>, default: Option<&str>) -> SettingResult {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Found::value(asked, owned(live), owned(default), SettingSource::Proc, exactly).result
    }

    #[test]
    fn a_value_is_judged_against_the_asked_and_the_default() {
        assert_eq!(judge("a", Some("a"), Some("b")), SettingResult::InEffect);
        assert_eq!(judge("a", Some("a"), None), SettingResult::InEffect);
        assert_eq!(judge("a", Some("a"), Some("a")), SettingResult::AlreadyDefault);
        assert_eq!(judge("a", Some("b"), Some("a")), SettingResult::Overridden);
        assert_eq!(judge("a", None, None), SettingResult::Overridden);
    }
}
