//! Reading settings back from the running process: a treatment that did not happen is the commonest mistake there is.
//!
//! ```text
//! RequestedSetting ─ Reader ─→ Found{requested, live, default} ─ judged ─→ Setting     of a process that runs
//! RequestedSetting ─ refused ─→ Setting                                           of one that did not start
//! ```

mod beside;
mod carriers;
mod commands;
mod jruby;
mod jvm;
mod launched;
mod mri;
mod options;
mod properties;
mod refused;
mod together;
mod varied;

use std::cell::OnceCell;
use std::mem;
use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use model::options::without_probe;
use model::study::{Limits, RequestedSetting};
use model::{Setting, SettingResult, SettingSource};
use runtimes::inert::{self, Inert, Live};
use runtimes::jvm::{CLASS_PATH, Flags, UNLOCK, is_option, is_plain, same_flag, takes_memory};
use runtimes::{Carrier, Given, Key, Limit, RuntimePart, jruby::is_of_rack, said, variables};
use rustix::param::page_size;

use crate::isolation;
use crate::probe;
use crate::proc;
use crate::runtime::{self, Installed};
use crate::serving::{Inside, LiveJvm, NO_JVM, RuntimeKind, Serving};
use crate::site::Site;
use crate::tool;
use beside::Beside;
use jvm::{Place, Preflight};

pub(crate) use jvm::known_flags;
pub(crate) use options::changed_options;
pub(crate) use refused::refused;
pub(crate) use varied::varied;

/// The server to be asked, and how it was launched.
pub(crate) struct Target<'a> {
    pub serving: &'a Serving,
    /// The process that bakeoff started: the words of its command line and its folder were asked of it, and of no other.
    pub launched: u32,
    pub installed: &'a Installed,
    pub site: &'a Site,
    pub inside: Option<&'a Inside>,
    /// What it has written.
    pub log: &'a Path,
    /// Processors that it is kept to, by number; any if there are none.
    pub cpus: &'a [usize],
}

/// Reads back every setting, in the order asked. `others` is what each other variant asks for: of options in one text those that all
/// variants have follow as settings of their own, where they did not come out well.
pub(crate) fn read_back(
    target: &Target<'_>,
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

/// What was found of one setting.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Found {
    /// What was asked, in the terms of `live`; the study's own words when absent.
    pub requested: Option<String>,
    pub live: Option<String>,
    pub default: Option<String>,
    pub source: SettingSource,
    pub result: SettingResult,
    /// Of options in one text: those that all variants have and that did not come out well.
    pub common: Vec<(String, Found)>,
}

impl Found {
    /// That nothing was read.
    pub fn new(source: SettingSource, result: SettingResult) -> Self {
        Self { requested: None, live: None, default: None, source, result, common: Vec::new() }
    }

    /// Judges a value that was read. `same` compares texts that the runtime takes for equal.
    pub fn value(
        requested: &str,
        live: Option<String>,
        default: Option<String>,
        source: SettingSource,
        same: impl Fn(&str, &str) -> bool,
    ) -> Self {
        let result = match &live {
            Some(live) if same(requested, live) => match &default {
                Some(default) if same(default, live) => SettingResult::AlreadyDefault,
                _ => SettingResult::InEffect,
            },
            _ => SettingResult::Overridden,
        };
        Self { requested: Some(requested.to_owned()), live, default, ..Self::new(source, result) }
    }

    fn unknown(nearest: Option<String>, source: SettingSource) -> Self {
        Self::new(source, SettingResult::Unknown { nearest })
    }

    pub fn unverified(reason: impl Into<String>) -> Self {
        Self::new(SettingSource::Unread, SettingResult::Unverified { reason: reason.into() })
    }

    fn inert(reason: impl Into<String>, source: impl Into<String>, read: SettingSource) -> Self {
        Self::new(read, SettingResult::Inert { reason: reason.into(), source: source.into() })
    }

    /// Whether the process has something else than was asked for, or makes nothing of it.
    fn is_wrong(&self) -> bool {
        use SettingResult::{AlreadyDefault, InEffect, Unverified};
        !matches!(self.result, InEffect | AlreadyDefault | Unverified { .. })
    }

    /// A value that is there, differs from the default, and does nothing for this reason.
    fn unless(mut self, inert: Option<Inert>) -> Self {
        if let (SettingResult::InEffect, Some(Inert { reason, source })) = (&self.result, inert) {
            self.result = SettingResult::Inert { reason: reason.to_owned(), source: source.to_owned() };
        }
        self
    }

    /// As it is recorded: without secrets.
    pub fn about(self, requested: &RequestedSetting, site: &Site) -> Setting {
        let mask = |text: String| site.secrets.mask(&text);
        let result = match self.result {
            SettingResult::Unverified { reason } => SettingResult::Unverified { reason: mask(reason) },
            SettingResult::Refused { reason } => SettingResult::Refused { reason: mask(reason) },
            SettingResult::Inert { reason, source } => SettingResult::Inert { reason: mask(reason), source },
            result => result,
        };
        Setting {
            key: requested.key.clone(),
            name: requested.name.clone(),
            requested: mask(self.requested.unwrap_or_else(|| requested.written_value().to_owned())),
            live: self.live.map(mask),
            default: self.default.map(mask),
            source: self.source,
            result,
            shared: requested.factor.is_empty(),
        }
    }
}

/// Asks each source once, and only if something needs it.
struct Reader<'a> {
    target: &'a Target<'a>,
    /// What the study asks of this variant.
    requested: &'a [RequestedSetting],
    /// And of each other.
    others: &'a [Vec<RequestedSetting>],
    jvm: OnceCell<Result<LiveJvm, String>>,
    flags: OnceCell<Result<Flags, String>>,
    properties: OnceCell<Result<IndexMap<String, String>, String>>,
    jvm_args: OnceCell<Result<String, String>>,
    environment: OnceCell<Result<IndexMap<String, String>, String>>,
}

impl<'a> Reader<'a> {
    fn new(target: &'a Target<'a>, requested: &'a [RequestedSetting], others: &'a [Vec<RequestedSetting>]) -> Self {
        Self {
            target,
            requested,
            others,
            jvm: OnceCell::new(),
            flags: OnceCell::new(),
            properties: OnceCell::new(),
            jvm_args: OnceCell::new(),
            environment: OnceCell::new(),
        }
    }

    fn found(&self, requested: &RequestedSetting) -> Result<Found, String> {
        if proc::command_line(self.target.serving.pid).is_empty() {
            return Err("the process has ended".to_owned());
        }
        let given = self.completed(requested)?;
        match &given.key {
            Key::Jruby(name) => self.jruby_option(name, &given.value),
            Key::JvmFlag(_) | Key::JvmOption(_) => self.jvm_option(&given, &self.beside(requested)),
            Key::Property(name) => self.property(name, &given.value),
            Key::Env(name) => self.variable(name, &given.value, &self.beside(requested)),
            Key::Argument(text) => self.argument(text, &self.beside(requested)),
            Key::Runtime(RuntimePart::Command) => Ok(self.command(requested, &given.value)),
            Key::Runtime(part) => Ok(self.runtime(*part, &given.value)),
            Key::Assertion(_) => Err("an assertion is read by itself".to_owned()),
            Key::Limit(limit) => Ok(self.limit(*limit)),
        }
    }

    /// As the launch has it.
    fn completed(&self, requested: &RequestedSetting) -> Result<Given, String> {
        requested.completed(|text| self.target.site.complete(text)).map_err(|error| error.to_string())
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
        let args = self.jvm_args().unwrap_or_default();
        let mut others = args
            .split(' ')
            .filter_map(|arg| arg.strip_prefix(&format!("-Djruby.{name}=")))
            .filter(|other| !other.eq_ignore_ascii_case(value));
        Ok(match (&found.result, others.next_back()) {
            (SettingResult::AlreadyDefault, Some(other)) => {
                Found { default: Some(other.to_owned()), result: SettingResult::InEffect, ..found }
            }
            _ => found,
        })
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
        let Ok(args) = self.jvm_args() else { return false };
        let args = format!(" {args} ");
        let given = args.rfind(&format!(" -D{name}=")).map(|at| &args[at..]);
        given.is_some_and(|given| given.starts_with(&format!(" -D{name}={value} ")))
    }

    /// Which runtime serves.
    fn runtime_kind(&self) -> RuntimeKind {
        let has_property = |name: &str| self.properties().is_ok_and(|properties| properties.contains_key(name));
        self.target.serving.runtime(self.target.inside, has_property)
    }

    /// What the property would be without any that the study sets, in the environment that the server has; `None` where the
    /// JVM has it only once it is set, or reports it only when it is asked.
    fn default_property(&self, name: &str) -> Option<String> {
        let variables = self.environment().ok()?.iter().filter(|(name, value)| !is_options(name, value));
        let env = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
        let preflight = self.preflight(&[], &Place { env, ..self.place() }).ok()?;
        preflight.printed.properties.get(name).cloned()
    }

    fn jvm_option(&self, option: &Given, beside: &Beside) -> Result<Found, String> {
        let name = match &option.key {
            Key::JvmFlag(name) => name,
            Key::Property(name) => return self.property(name, &option.value),
            _ => return self.other_jvm_option(&option.name),
        };
        let flags = self.flags()?;
        let Some(live) = flags.get(name) else { return self.absent_flag(name) };
        let default = self.default_flag(name, &option.name, &beside.level);
        let same = |one: &str, other: &str| same_flag(flags, page_size(), name, one, other);
        let mut found = Found::value(&option.value, Some(live.value.clone()), default, SettingSource::Jcmd, same);
        found.live = found.live.map(|live| live.replace('\n', ", "));
        let known = |name: &str| {
            let flag = flags.get(name)?;
            Some(Live { value: &flag.value, kind: &flag.kind, is_set: flag.is_set() })
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
        Ok(Found::unknown(tool::nearest(name, known.iter().map(String::as_str)), SettingSource::Jcmd))
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
        let args = self.jvm_args()?.split(' ').filter(|word| is_option(word));
        let args: Vec<String> = args.map(str::to_owned).collect();
        let is_taken = |option: &&String| !left_out.contains(option) && !takes_memory(option, &args);
        let options: Vec<String> = args.iter().filter(is_taken).cloned().collect();
        jvm::preflight(self.jvm()?.jdk()?, &options, place)
    }

    /// `--add-opens`, `-javaagent` and the like: whether the JVM has got it is all there is to know.
    fn other_jvm_option(&self, option: &str) -> Result<Found, String> {
        let args = self.jvm_args()?;
        // What `java` itself makes use of, such as `-server`, it does not hand on to the JVM.
        let shown = proc::command_line(self.jvm()?.pid);
        let is_present = format!(" {args} ").contains(&format!(" {option} "))
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
        Ok(read.filter_map(|(_, text)| Carrier::Java.words(text).ok()).flatten().any(|word| word.name == option))
    }

    fn variable(&self, name: &str, value: &str, beside: &Beside) -> Result<Found, String> {
        let found = if is_options(name, value) {
            self.options(name, value)?
        } else {
            let live = self.environment()?.get(name).cloned();
            let default = runtime::base_env().get(name).cloned();
            Found::value(value, live, default, SettingSource::Proc, exactly)
        };
        Ok(if found.result == SettingResult::InEffect { self.carried(name, value, beside, found) } else { found })
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
            let Target { serving, installed, .. } = self.target;
            let allowed = isolation::count(serving.pid).unwrap_or(usize::MAX);
            let beyond = isolation::beyond(&installed.limits, allowed, probe::host_facts().memory_bytes);
            if let Some((_, reason)) = beyond.into_iter().find(|(beyond, _)| *beyond == limit) {
                let source = "the server's processors (sched_getaffinity) and /proc/meminfo".to_owned();
                found.result = SettingResult::Inert { reason, source };
            }
        }
        found
    }

    fn jvm(&self) -> Result<&LiveJvm, String> {
        let find = || self.target.serving.jvm()?.ok_or_else(|| NO_JVM.to_owned());
        self.jvm.get_or_init(find).as_ref().map_err(Clone::clone)
    }

    fn flags(&self) -> Result<&Flags, String> {
        self.flags.get_or_init(|| jvm::live_flags(self.jvm()?)).as_ref().map_err(Clone::clone)
    }

    fn properties(&self) -> Result<&IndexMap<String, String>, String> {
        self.properties.get_or_init(|| jvm::properties(self.jvm()?)).as_ref().map_err(Clone::clone)
    }

    /// All options that the JVM got, by its command line, by variables and from files, separated by spaces.
    fn jvm_args(&self) -> Result<&str, String> {
        let args = self.jvm_args.get_or_init(|| jvm::arguments(self.jvm()?));
        args.as_deref().map_err(Clone::clone)
    }

    /// As the process was started with it, without the probe.
    fn environment(&self) -> Result<&IndexMap<String, String>, String> {
        let read = || {
            let mut environment = self.target.serving.environment(self.target.inside).ok_or(NO_ENVIRONMENT)?;
            if let Some(options) = environment.get_mut(variables::OF_RUBY) {
                *options = without_probe(options);
            }
            Ok(environment)
        };
        self.environment.get_or_init(read).as_ref().map_err(Clone::clone)
    }
}

/// Whether a variable carries options, one word each.
fn is_options(name: &str, value: &str) -> bool {
    Carrier::of(name, value).is_some_and(Carrier::is_options)
}

/// Why it is not known what a process has of a variable.
const NO_ENVIRONMENT: &str =
    "the process shows the environment no more that it was started with: a title of its own stands there";

fn exactly(one: &str, other: &str) -> bool {
    one == other
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(requested: &str, live: Option<&str>, default: Option<&str>) -> Found {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Found::value(requested, owned(live), owned(default), SettingSource::Proc, exactly)
    }

    #[test]
    fn a_value_is_judged_against_the_requested_and_the_default() {
        let judge = |requested, live, default| found(requested, live, default).result;
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
