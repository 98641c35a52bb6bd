//! Reading settings back from the running process: a treatment that did not happen is the commonest mistake there is.
//!
//! ```text
//! RequestedSetting ─ Reader ─→ Found{requested, live, default} ─ judged ─→ Setting     of a process that runs
//! RequestedSetting ─ refused ─→ Setting                                           of one that did not start
//! ```

mod commands;
mod context;
mod found;
mod jruby;
mod jvm;
mod launched;
mod mri;
mod option_variables;
mod options;
mod properties;
mod reader;
mod refused;
mod together;
mod varied;

use std::mem;
use std::path::Path;
use std::sync::Arc;

use model::study::{Limits, RequestedSetting};
use model::{Setting, SettingResult, SettingSource};
use runtimes::inert::{self, Inert, OtherSetting};
use runtimes::jvm::{CLASS_PATH, UNLOCK, is_plain, same_flag, takes_memory};
use runtimes::{Given, Key, Limit, OptionVariable, RuntimePart, jruby::is_of_rack, names, said, variables};
use rustix::param::page_size;

use crate::isolation;
use crate::probe;
use crate::proc;
use crate::runtime;
use crate::serving::RuntimeKind;
use context::SettingContext;
use found::exactly;
use jvm::{Place, Preflight};
use options::is_options;
use reader::{NO_ENVIRONMENT, Reader};

pub(crate) use found::Found;
pub(crate) use jvm::known_flags;
pub(crate) use options::changed_options;
pub(crate) use reader::LaunchedServer;
pub(crate) use refused::refused;
pub(crate) use varied::varied;

/// Reads back every setting, in the order asked. `others` is what each other variant asks for: of options in one text those that all
/// variants have follow as settings of their own, where they did not come out well.
pub(crate) fn read_back(
    target: &LaunchedServer<'_>,
    requested: &[RequestedSetting],
    others: &[Vec<RequestedSetting>],
) -> Vec<Setting> {
    let reader = Reader::new(target, requested, others);
    let read = |requested: &RequestedSetting| {
        let mut found = reader.found(requested).unwrap_or_else(Found::unverified);
        let common = mem::take(&mut found.common);
        let own = Setting { shared: reader.is_shared(requested), ..found.about(requested, target.site) };
        let of_common = |(option, found): (String, Found)| {
            let name = target.site.secrets.mask(&format!("{}: {option}", requested.name));
            let found = Found { requested: Some(found.requested.clone().unwrap_or_default()), ..found };
            Setting { name, shared: true, ..found.about(requested, target.site) }
        };
        let common: Vec<Setting> = common.into_iter().map(of_common).collect();
        [own].into_iter().chain(common)
    };
    requested.iter().flat_map(read).collect()
}

impl Reader<'_> {
    fn found(&self, requested: &RequestedSetting) -> Result<Found, String> {
        if proc::command_line(self.target.serving.pid).is_empty() {
            return Err("the process has ended".to_owned());
        }
        let given = self.completed(requested)?;
        match &given.key {
            Key::Jruby(name) => self.jruby_option(name, &given.value),
            Key::JvmFlag(_) | Key::JvmOption(_) => self.jvm_option(&given, &self.context(requested)),
            Key::Property(name) => self.property(name, &given.value),
            Key::Env(name) => self.variable(name, &given.value, &self.context(requested)),
            Key::Argument(text) => self.argument(text, &self.context(requested)),
            Key::Runtime(RuntimePart::Command) => Ok(self.command(requested, &given.value)),
            Key::Runtime(part) => Ok(self.runtime(*part, &given.value)),
            Key::Assertion(_) => Err("an assertion is read by itself".to_owned()),
            Key::Limit(limit) => Ok(self.limit(*limit)),
        }
    }

    fn jruby_option(&self, name: &str, value: &str) -> Result<Found, String> {
        let found = self.own_option(name, value)?;
        if matches!(found.result, SettingResult::Unknown { .. }) && is_of_rack(name) {
            return Err(
                "it is no option of JRuby's but jruby-rack's, which does not say what it makes of it".to_owned()
            );
        }
        Ok(found)
    }

    /// An option of JRuby's own, judged against what the variant would have without it.
    fn own_option(&self, name: &str, value: &str) -> Result<Found, String> {
        let found = self.listed_option(name, value)?;
        // That is what another of its settings says, if there is one, and not JRuby's default.
        let other = || {
            let arguments = self.jvm_arguments().ok()?;
            let property = format!("jruby.{name}");
            let mut values = arguments.values_of(&property);
            values.rfind(|other| !other.eq_ignore_ascii_case(value)).map(str::to_owned)
        };
        if found.result == SettingResult::AlreadyDefault
            && let Some(other) = other()
        {
            return Ok(Found { default: Some(other), result: SettingResult::InEffect, ..found });
        }
        Ok(found)
    }

    /// An option that JRuby itself lists; unknown, if it does not.
    fn listed_option(&self, name: &str, value: &str) -> Result<Found, String> {
        if let Some(inside) = self.target.inside.filter(|inside| inside.engine == RuntimeKind::Jruby) {
            return Ok(jruby::from_inside(inside, name, value));
        }
        let properties = self.properties()?;
        let home = properties.get(runtimes::jruby::HOME).ok_or("the server does not run JRuby")?;
        let defaults = jruby::defaults(self.jvm()?.jdk()?, Path::new(home))?;
        Ok(jruby::from_outside(&defaults, properties, name, value))
    }

    fn property(&self, name: &str, value: &str) -> Result<Found, String> {
        if let Some(option) = name.strip_prefix("jruby.").filter(|_| self.runtime_kind() == RuntimeKind::Jruby) {
            let found = self.own_option(option, value)?;
            // Some properties are no options, such as JRuby's folder: they are like nothing that it lists, or another library's.
            match found.result {
                SettingResult::Unknown { nearest: None } => {}
                SettingResult::Unknown { .. } if is_of_rack(option) => {}
                _ => return Ok(found),
            }
        }
        let live = self.properties()?.get(name).cloned();
        let default = self.default_property(name);
        let found = Found::value(value, live, default, SettingSource::Jcmd, exactly);
        if found.result == SettingResult::Overridden && name == CLASS_PATH && value.contains('*') {
            return Err("`java` has put the archives that are there in the place of `*`".to_owned());
        }
        if found.result == SettingResult::Overridden && found.default.is_none() && self.was_given(name, value) {
            let by_now = found.live.map_or("taken it away".to_owned(), |live| format!("made it `{live}`"));
            return Err(format!("the JVM was started with it, and its program has {by_now} since"));
        }
        if found.result == SettingResult::InEffect
            && found.default.is_none()
            && let Some(meant) = self.meant(name, value)?
        {
            return Ok(Found { live: found.live, ..Found::unknown(Some(meant), SettingSource::Jcmd) });
        }
        Ok(found)
    }

    /// What a property was meant to be that nothing reads: one of the JDK's own, misspelt, or one of the JVM's flags.
    fn meant(&self, name: &str, value: &str) -> Result<Option<String>, String> {
        let jdk = self.jvm()?.jdk()?;
        let is_flag = || is_plain(value) && !name.contains('.') && known_flags(jdk).iter().any(|flag| flag == name);
        Ok(properties::meant(jdk, name).or_else(|| is_flag().then(|| format!("-XX:{name}"))))
    }

    /// Whether the JVM was started with this value of a property: the last that it was given. Of the JDK's own it makes others.
    fn was_given(&self, name: &str, value: &str) -> bool {
        self.jvm_arguments().is_ok_and(|arguments| arguments.ends_with_value(name, value))
    }

    /// What the property would be without any that the study sets, in the environment that the server has; `None` where the
    /// JVM has it only once it is set, or reports it only when it is asked.
    fn default_property(&self, name: &str) -> Option<String> {
        let variables = self.environment().ok()?.iter().filter(|(name, value)| !is_options(name, value));
        let env = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
        let preflight = self.preflight(&[], &Place { env, ..self.place() }).ok()?;
        preflight.printed.properties.get(name).cloned()
    }

    fn jvm_option(&self, option: &Given, context: &SettingContext) -> Result<Found, String> {
        let name = match &option.key {
            Key::JvmFlag(name) => name,
            Key::Property(name) => return self.property(name, &option.value),
            _ => return self.other_jvm_option(&option.name),
        };
        let flags = self.flags()?;
        let Some(live) = flags.get(name) else { return self.absent_flag(name) };
        let default = self.default_flag(name, &option.name, &context.level);
        let same = |one: &str, other: &str| same_flag(flags, page_size(), name, one, other);
        let mut found = Found::value(&option.value, Some(live.value.clone()), default, SettingSource::Jcmd, same);
        found.live = found.live.map(|live| live.replace('\n', ", "));
        let known = |name: &str| {
            let flag = flags.get(name)?;
            Some(OtherSetting { value: &flag.value, kind: &flag.kind, is_set: flag.is_set() })
        };
        let inert = inert::of_jvm(name, self.jvm()?.major(), known).or_else(|| self.unmapped(name, &live.value));
        Ok(found.unless(inert))
    }

    /// A flag that the running JVM does not have, though it started with it.
    fn absent_flag(&self, name: &str) -> Result<Found, String> {
        let jdk = self.jvm()?.jdk()?;
        if let Some(words) = said::of_nothing(&self.preflight(&[], &Place::default())?.printed.said, name) {
            return Ok(Found::inert(
                format!("Java {} makes nothing of it: {words}", jdk.version),
                "the JVM's own words at its start",
                SettingSource::Preflight,
            ));
        }
        let known = known_flags(jdk);
        Ok(Found::unknown(names::nearest(name, known.iter().map(String::as_str)), SettingSource::Jcmd))
    }

    /// Processors and memory as the server has them: a JVM chooses by what it sees.
    fn place(&self) -> Place {
        Place { cpus: self.target.cpus.to_vec(), limits: self.target.installed.limits, ..Place::default() }
    }

    /// What the flag would be without `level`, the options of its level, and with everything else as it is; without all that the
    /// study asks for, too, where that needs them. `None` where the JVM that is asked does not say in time: a small quota may not let
    /// it.
    fn default_flag(&self, name: &str, option: &str, level: &[String]) -> Option<String> {
        // What is locked is not listed.
        let mut left_out: Vec<String> = level.iter().filter(|other| !other.starts_with(UNLOCK)).cloned().collect();
        left_out.push(option.to_owned());
        let mut preflight = self.preflight(&left_out, &self.place()).ok()?;
        if !preflight.starts {
            let options = self.requested.iter().filter(|requested| requested.key.is_of_jvm());
            left_out.extend(options.filter_map(|requested| Some(self.completed(requested).ok()?.name)));
            preflight = self.preflight(&left_out, &self.place()).ok()?;
        }
        preflight.printed.flags.get(name).map(|flag| flag.value.clone())
    }

    /// What a second JVM says that gets the options of the running one, but for those left out, and for what would take as much memory
    /// as the server has beside it.
    fn preflight(&self, left_out: &[String], place: &Place) -> Result<Arc<Preflight>, String> {
        let all: Vec<String> = self.jvm_arguments()?.options().map(str::to_owned).collect();
        let is_taken = |option: &&String| !left_out.contains(option) && !takes_memory(option, &all);
        let options: Vec<String> = all.iter().filter(is_taken).cloned().collect();
        jvm::preflight(self.jvm()?.jdk()?, &options, place)
    }

    /// `--add-opens`, `-javaagent` and the like: whether the JVM has got it is all there is to know.
    fn other_jvm_option(&self, option: &str) -> Result<Found, String> {
        let arguments = self.jvm_arguments()?;
        // What `java` itself makes use of, such as `-server`, it does not hand on to the JVM.
        let shown = proc::command_line(self.jvm()?.pid);
        let is_present = arguments.contains(option)
            || shown.iter().any(|word| word == option)
            || shown.windows(2).any(|words| words.join("=") == option)
            || self.is_read_by_java(option)?;
        let live = is_present.then(|| option.to_owned());
        let found = Found::value(option, live, None, SettingSource::Jcmd, exactly);
        let passed_over = || {
            let inert = self.ignored_at_start(option).or_else(|| self.lacking(option))?;
            Some(Found { live: found.live.clone(), ..inert })
        };
        Ok(if found.is_wrong() { found } else { passed_over().unwrap_or(found) })
    }

    /// What the JVM said, as it started, that it makes nothing of. What stands behind a command may have another JVM at work before it.
    fn ignored_at_start(&self, option: &str) -> Option<Found> {
        if self.target.installed.is_command() {
            return None;
        }
        let said = self.said_at_start();
        let reason = format!("the JVM makes nothing of it: {}", said::of_nothing(&said, option)?);
        Some(Found::inert(reason, "its own words at its start, in the server's log", SettingSource::Proc))
    }

    /// Archives of classes that the JVM is to find, none of which is there: it passes over them without a word.
    fn lacking(&self, option: &str) -> Option<Found> {
        let files = option.strip_prefix("-Xbootclasspath/a:")?;
        let folder = proc::folder(self.jvm().ok()?.pid);
        let is_absent = |file: &str| matches!(folder.join(file).try_exists(), Ok(false));
        files.split(':').all(is_absent).then(|| {
            let reason = format!("there is no {files}, and the JVM says nothing of it");
            Found::inert(reason, "the file system; java(1), -Xbootclasspath/a", SettingSource::Proc)
        })
    }

    /// Why an archive that the JVM is to share its classes with does nothing: what it uses it has mapped, and one that is not there, or
    /// not fit for this JVM and class path, it passes over.
    fn unmapped(&self, name: &str, files: &str) -> Option<Inert> {
        let flags = self.flags().ok()?;
        let is_made_at_exit = flags.get("AutoCreateSharedArchive").is_some_and(|flag| flag.value == "true");
        if !["SharedArchiveFile", "AOTCache"].contains(&name) || is_made_at_exit {
            return None;
        }
        // One that was replaced meanwhile has a word behind its name.
        let mapped: Vec<String> = proc::mapped(self.jvm().ok()?.pid)
            .filter_map(|path| Some(path.file_name()?.to_str()?.trim_end_matches(" (deleted)").to_owned()))
            .collect();
        let is_mapped = |file: &str| mapped.iter().any(|mapped| file.rsplit('/').next() == Some(mapped.as_str()));
        (!mapped.is_empty() && !files.split(':').any(is_mapped)).then_some(Inert {
            reason: "the JVM has not mapped it: it is not there, or was made for another JVM, other options or another class path",
            source: "/proc/PID/maps of the JVM; java(1), -XX:SharedArchiveFile and -Xshare:auto",
        })
    }

    /// Whether a variable has the option that the JVM or `java` reads, and the JVM runs: the contents of a file of options take its
    /// place in what the JVM reports.
    fn is_read_by_java(&self, option: &str) -> Result<bool, String> {
        let jvm = self.jvm()?;
        let environment = proc::environment(jvm.pid).ok_or(NO_ENVIRONMENT)?;
        let read = environment.iter().filter(|(name, _)| variables::is_read_by_java(name, jvm.major()));
        Ok(read.filter_map(|(_, text)| OptionVariable::Java.words(text).ok()).flatten().any(|word| word.name == option))
    }

    fn variable(&self, name: &str, value: &str, context: &SettingContext) -> Result<Found, String> {
        let found = if is_options(name, value) {
            self.options(name, value)?
        } else {
            let live = self.environment()?.get(name).cloned();
            let default = runtime::base_env().get(name).cloned();
            Found::value(value, live, default, SettingSource::Proc, exactly)
        };
        Ok(if found.result == SettingResult::InEffect {
            self.set_by_variable(name, value, context, found)
        } else {
            found
        })
    }

    /// What its control groups allow, in the study's terms.
    fn limit(&self, limit: Limit) -> Found {
        let Limits { cpus, memory_bytes } = self.target.installed.limits;
        let requested = match limit {
            Limit::Cpus => cpus,
            Limit::Memory => memory_bytes.map(|bytes| bytes as f64),
        };
        let live = isolation::live(self.target.serving.pid, limit);
        // The kernel counts memory in pages.
        let same = requested.zip(live).is_some_and(|(requested, live)| (requested / live - 1.0).abs() < 1e-3);
        let text = |number: f64| number.to_string();
        let requested = requested.map(text).unwrap_or_default();
        let mut found = Found::value(&requested, live.map(text), None, SettingSource::Proc, |_, _| same);
        if found.result == SettingResult::InEffect {
            let LaunchedServer { serving, installed, .. } = self.target;
            let allowed = isolation::count(serving.pid).unwrap_or(usize::MAX);
            let beyond = isolation::beyond(&installed.limits, allowed, probe::host_facts().memory_bytes);
            if let Some((_, reason)) = beyond.into_iter().find(|(beyond, _)| *beyond == limit) {
                let source = "the server's processors (sched_getaffinity) and /proc/meminfo".to_owned();
                found.result = SettingResult::Inert { reason, source };
            }
        }
        found
    }
}
