//! Reading settings back from the running process: a treatment that did not happen is the commonest mistake there is.
//!
//! ```text
//! AskedSetting ─ Reader ─→ Found{asked, live, default} ─ judged ─→ Setting     of a process that runs
//! AskedSetting ─ refused ─→ Setting                                           of one that did not start
//! ```

mod carriers;
mod inside;
mod jruby;
mod jvm;
mod launched;
mod mri;
mod needs;
mod options;
mod refused;

use std::cell::OnceCell;

use indexmap::IndexMap;
use model::study::{AskedSetting, Limits, SettingKind};
use model::{Setting, SettingResult, SettingSource};

use crate::isolation;
use crate::probe;
use crate::proc;
use crate::runtime::{self, Installed};
use crate::site::Site;
use crate::tool;
use jvm::{Flags, Place};
use needs::{Inert, Live};

pub(crate) use inside::Inside;
pub(crate) use jvm::known_flags;
pub(crate) use options::changed_options;
pub(crate) use refused::refused;

/// The process to be asked, and how it was launched.
pub(crate) struct Target<'a> {
    pub pid: u32,
    /// The process below which all is that belongs to the server.
    pub root: u32,
    pub installed: &'a Installed,
    pub jvm_options: &'a [String],
    pub site: &'a Site,
    pub inside: Option<&'a Inside>,
    pub versions: &'a IndexMap<String, String>,
    /// Processors that it is kept to, by number; any if there are none.
    pub cpus: &'a [usize],
}

/// Reads back every setting, in the order asked.
pub(crate) fn read_back(target: &Target<'_>, asked: &[AskedSetting]) -> Vec<Setting> {
    let reader = Reader::new(target, asked);
    let read = |asked: &AskedSetting| reader.found(asked).unwrap_or_else(Found::unverified).about(asked, target.site);
    asked.iter().map(read).collect()
}

/// What was found of one setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// What was asked, in the terms of `live`; the study's own words when absent.
    pub asked: Option<String>,
    pub live: Option<String>,
    pub default: Option<String>,
    pub source: SettingSource,
    pub result: SettingResult,
}

impl Found {
    /// Judges a value that was read. `same` compares texts that the runtime takes for equal.
    pub fn value(
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

    pub fn unverified(reason: impl Into<String>) -> Self {
        let result = SettingResult::Unverified { reason: reason.into() };
        Self { asked: None, live: None, default: None, source: SettingSource::Unread, result }
    }

    fn inert(reason: impl Into<String>, source: impl Into<String>, read: SettingSource) -> Self {
        let result = SettingResult::Inert { reason: reason.into(), source: source.into() };
        Self { asked: None, live: None, default: None, source: read, result }
    }

    /// A value that is there, differs from the default, and does nothing for this reason.
    fn unless(mut self, inert: Option<Inert>) -> Self {
        if let (SettingResult::InEffect, Some(Inert { reason, source })) = (&self.result, inert) {
            self.result = SettingResult::Inert { reason: reason.to_owned(), source: source.to_owned() };
        }
        self
    }

    /// As it is recorded: without secrets.
    pub fn about(self, asked: &AskedSetting, site: &Site) -> Setting {
        let mask = |text: String| site.secrets.mask(&text);
        let result = match self.result {
            SettingResult::Unverified { reason } => SettingResult::Unverified { reason: mask(reason) },
            SettingResult::Refused { reason } => SettingResult::Refused { reason: mask(reason) },
            SettingResult::Inert { reason, source } => SettingResult::Inert { reason: mask(reason), source },
            result => result,
        };
        Setting {
            kind: asked.kind,
            name: asked.name.clone(),
            asked: mask(self.asked.unwrap_or_else(|| asked.value.clone())),
            live: self.live.map(mask),
            default: self.default.map(mask),
            source: self.source,
            result,
            shared: asked.factor.is_empty(),
        }
    }
}

/// Asks each source once, and only if something needs it.
struct Reader<'a> {
    target: &'a Target<'a>,
    /// The JVM's options that the study asks for.
    asked_flags: Vec<String>,
    flags: OnceCell<Result<Flags, String>>,
    properties: OnceCell<Result<IndexMap<String, String>, String>>,
    jvm_args: OnceCell<Result<String, String>>,
    environment: OnceCell<IndexMap<String, String>>,
}

impl<'a> Reader<'a> {
    fn new(target: &'a Target<'a>, asked: &[AskedSetting]) -> Self {
        let flags = asked.iter().filter(|asked| asked.kind == SettingKind::JvmFlag);
        Self {
            target,
            asked_flags: flags.filter_map(|asked| target.site.complete(&asked.name).ok()).collect(),
            flags: OnceCell::new(),
            properties: OnceCell::new(),
            jvm_args: OnceCell::new(),
            environment: OnceCell::new(),
        }
    }

    fn found(&self, asked: &AskedSetting) -> Result<Found, String> {
        if proc::command_line(self.target.pid).is_empty() {
            return Err("the process has ended".to_owned());
        }
        let complete = |text: &str| self.target.site.complete(text).map_err(|error| error.to_string());
        let value = complete(&asked.value)?;
        match asked.kind {
            SettingKind::Jruby => self.jruby_option(&asked.name, &value),
            SettingKind::JvmFlag => self.jvm_option(&complete(&asked.name)?),
            SettingKind::Property => self.property(&asked.name, &value),
            SettingKind::Env => self.variable(&asked.name, &value),
            SettingKind::Argument => self.argument(&complete(&asked.name)?, &value),
            SettingKind::Runtime => Ok(self.runtime(&asked.name, &value)),
            SettingKind::Proof => Err("a proof is read by itself".to_owned()),
            SettingKind::Limit => Ok(self.limit(&asked.name)),
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

    fn property(&self, name: &str, value: &str) -> Result<Found, String> {
        if let Some(option) = name.strip_prefix("jruby.").filter(|_| self.runs_jruby()) {
            let found = self.jruby_option(option, value)?;
            // Some of JRuby's properties are no options, such as its folder: they are like nothing that it lists.
            if found.result != (SettingResult::Unknown { nearest: None }) {
                return Ok(found);
            }
        }
        let live = self.properties()?.get(name).cloned();
        Ok(Found::value(value, live, self.default_property(name), SettingSource::Jcmd, exactly))
    }

    fn runs_jruby(&self) -> bool {
        let installed = self.target.installed.jvm.as_ref().is_some_and(|jvm| jvm.jruby.is_some());
        installed || self.target.inside.is_some_and(|inside| inside.engine == "jruby")
    }

    /// What the property would be without any that the study sets, in the environment that the server has; `None` where the
    /// JVM has it only once it is set, or tells it only when it is asked.
    fn default_property(&self, name: &str) -> Option<String> {
        let variables = self.environment().iter().filter(|(name, _)| !carriers::has_options(name));
        let env = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
        let preflight = jvm::preflight(&self.jvm().ok()?.jdk, self.target.jvm_options, &Place { env, ..self.place() });
        preflight.ok()?.properties.get(name).cloned()
    }

    fn jvm_option(&self, option: &str) -> Result<Found, String> {
        if let Some(property) = option.strip_prefix("-D") {
            let (name, value) = property.split_once('=').unwrap_or((property, ""));
            return self.property(name, value);
        }
        let Some((name, value)) = jvm::parse_option(option) else { return self.other_jvm_option(option) };
        let flags = self.flags()?;
        let Some(live) = flags.get(&name) else { return self.absent_flag(&name) };
        let default = self.default_flag(&name, option);
        let found = Found::value(&value, Some(live.value.clone()), default, SettingSource::Jcmd, jvm::same_value);
        let known = |name: &str| {
            let flag = flags.get(name)?;
            Some(Live { value: &flag.value, kind: &flag.kind, is_set: flag.origin.contains("command line") })
        };
        Ok(found.unless(needs::of_jvm(&name, known)))
    }

    /// A flag that the running JVM does not have, though it started with it.
    fn absent_flag(&self, name: &str) -> Result<Found, String> {
        let jdk = &self.jvm()?.jdk;
        let asked = jvm::preflight(jdk, self.target.jvm_options, &Place { env: self.carriers(), ..Place::default() })?;
        if let Some(words) = asked.ignores(name) {
            return Ok(Found::inert(
                format!("Java {} ignores it: {words}", jdk.version),
                "the JVM's own words at its start",
                SettingSource::Preflight,
            ));
        }
        let known = known_flags(jdk);
        Ok(Found::unknown(tool::nearest(name, known.iter().map(String::as_str)), SettingSource::Jcmd))
    }

    /// Processors and memory as the server has them: a JVM chooses by what it sees.
    fn place(&self) -> Place {
        Place { cpus: self.target.cpus.to_vec(), limits: self.target.installed.limits, ..Place::default() }
    }

    /// What the flag would be with everything else as it is; without the study's other flags, too, where those need it.
    /// `None` where the JVM that is asked does not tell in time: a small quota may not let it.
    fn default_flag(&self, name: &str, option: &str) -> Option<String> {
        let jdk = &self.jvm().ok()?.jdk;
        let without = |left_out: &[String]| {
            let options = self.target.jvm_options.iter().filter(|option| !left_out.contains(option));
            let options: Vec<String> = options.cloned().collect();
            jvm::preflight(jdk, &options, &self.place()).ok()
        };
        let mut preflight = without(&[option.to_owned()])?;
        if !preflight.starts {
            preflight = without(&self.asked_flags)?;
        }
        preflight.flags.get(name).map(|flag| flag.value.clone())
    }

    /// `--add-opens`, `-javaagent` and the like: whether the JVM has got it is all there is to know.
    fn other_jvm_option(&self, option: &str) -> Result<Found, String> {
        let args = self.jvm_args.get_or_init(|| jvm::arguments(&self.jvm()?.jdk, self.target.pid)).as_ref()?;
        let present = format!(" {args} ").contains(&format!(" {option} "));
        let live = present.then(|| option.to_owned());
        Ok(Found::value(option, live, None, SettingSource::Jcmd, exactly))
    }

    fn variable(&self, name: &str, value: &str) -> Result<Found, String> {
        let found = if carriers::has_options(name) {
            self.options(name, value)
        } else {
            let live = self.environment().get(name).cloned();
            let default = runtime::base_env().get(name).cloned();
            Found::value(value, live, default, SettingSource::Proc, exactly)
        };
        if found.result == SettingResult::InEffect { self.carried(name, value, found) } else { Ok(found) }
    }

    /// What its control groups allow, in the study's terms.
    fn limit(&self, name: &str) -> Found {
        let Limits { cpus, memory_bytes } = self.target.installed.limits;
        let asked = if name == "cpus" { cpus } else { memory_bytes.map(|bytes| bytes as f64) };
        let live = isolation::live(self.target.pid, name);
        // The kernel counts memory in pages.
        let same = asked.zip(live).is_some_and(|(asked, live)| (asked / live - 1.0).abs() < 1e-3);
        let text = |number: f64| number.to_string();
        let asked = asked.map(text).unwrap_or_default();
        let mut found = Found::value(&asked, live.map(text), None, SettingSource::Proc, |_, _| same);
        if found.result == SettingResult::InEffect {
            let Target { pid, installed, .. } = self.target;
            let allowed = isolation::count(*pid).unwrap_or(usize::MAX);
            let beyond = isolation::beyond(&installed.limits, allowed, probe::host_facts().memory_bytes);
            if let Some((_, reason)) = beyond.into_iter().find(|(limit, _)| *limit == name) {
                let source = "the server's processors (sched_getaffinity) and /proc/meminfo".to_owned();
                found.result = SettingResult::Inert { reason, source };
            }
        }
        found
    }

    fn jvm(&self) -> Result<&runtime::Jvm, String> {
        let jvm = self.target.installed.jvm.as_ref();
        jvm.ok_or_else(|| "the server is no Java program of bakeoff's launching".to_owned())
    }

    fn flags(&self) -> Result<&Flags, String> {
        let read = || jvm::live_flags(&self.jvm()?.jdk, self.target.pid);
        self.flags.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    fn properties(&self) -> Result<&IndexMap<String, String>, String> {
        let read = || jvm::properties(&self.jvm()?.jdk, self.target.pid);
        self.properties.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// As the process was started with it, without the probe.
    fn environment(&self) -> &IndexMap<String, String> {
        self.environment.get_or_init(|| {
            let mut environment: IndexMap<String, String> = proc::environment(self.target.pid).into_iter().collect();
            if let Some(options) = environment.get_mut("RUBYOPT") {
                *options = inside::without_probe(options).to_owned();
            }
            environment
        })
    }
}

fn exactly(one: &str, other: &str) -> bool {
    one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(asked: &str, live: Option<&str>, default: Option<&str>) -> Found {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Found::value(asked, owned(live), owned(default), SettingSource::Proc, exactly)
    }

    #[test]
    fn a_value_is_judged_against_the_asked_and_the_default() {
        let judge = |asked, live, default| found(asked, live, default).result;
        assert_eq!(judge("a", Some("a"), Some("b")), SettingResult::InEffect);
        assert_eq!(judge("a", Some("a"), None), SettingResult::InEffect);
        assert_eq!(judge("a", Some("a"), Some("a")), SettingResult::AlreadyDefault);
        assert_eq!(judge("a", Some("b"), Some("a")), SettingResult::Overridden);
        assert_eq!(judge("a", None, None), SettingResult::Overridden);
    }

    #[test]
    fn only_what_would_be_in_effect_is_inert() {
        let inert = Some(Inert { reason: "no need", source: "the manual" });
        let judge = |live| found("a", Some(live), Some("b")).unless(inert).result;
        assert!(matches!(judge("a"), SettingResult::Inert { .. }));
        assert_eq!(judge("b"), SettingResult::Overridden);
    }
}
