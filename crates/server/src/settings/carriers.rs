//! Variables that carry settings: that a process has them says nothing about what became of these.

use std::path::{Path, PathBuf};

use model::{SettingResult, SettingSource};

use super::{Found, Reader, exactly, jvm, mri};
use crate::proc;
use crate::serving::Engine;

/// Options of the JVM: read by itself, and by the `java` program.
pub(super) const OF_JAVA: [&str; 3] = ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"];

/// What only start scripts read, such as JRuby's launcher and those of application servers.
const OF_SCRIPTS: [&str; 10] = [
    "JAVA_OPTS",
    OF_JRUBY,
    "JAVA_MEM",
    "JAVA_STACK",
    "CATALINA_OPTS",
    "JVM_OPTS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "JAVA_OPTIONS",
    "ES_JAVA_OPTS",
];

/// Options of JRuby, which its launcher reads.
pub(super) const OF_JRUBY: &str = "JRUBY_OPTS";

/// Options of Ruby: read by itself.
pub(super) const OF_RUBY: &str = "RUBYOPT";

/// Libraries that the dynamic linker loads before a program's own, ld.so(8).
const OF_LINKER: &str = "LD_PRELOAD";

/// Whether a variable carries options, one word each: by its name, or by its words, such as `<APP>_OPTS` of Gradle's scripts.
pub(super) fn has_options(name: &str, value: &str) -> bool {
    is_named(name) || is_for_java(value)
}

fn is_named(name: &str) -> bool {
    OF_JAVA.contains(&name) || OF_SCRIPTS.contains(&name) || name == OF_RUBY
}

/// Whether all words are options of the JVM, and none of JRuby's own (`-Xname=value`).
fn is_for_java(value: &str) -> bool {
    let is_rubys = |word: &str| own_option(word).is_some_and(|(name, _)| !name.contains(':'));
    let is_javas = |word: &str| {
        !is_rubys(word)
            && ["-X", "-D", "--add-"].iter().any(|begin| word.len() > begin.len() && word.starts_with(begin))
    };
    jvm::options(value).is_ok_and(|options| !options.is_empty() && options.iter().all(|option| is_javas(option)))
}

impl Reader<'_> {
    /// What became of a variable that the process has, as `found` says: what reads it is asked.
    pub(super) fn carried(&self, name: &str, value: &str, found: Found) -> Found {
        let live = found.live.clone();
        // What a program without a JVM, or one that bakeoff starts itself, makes of words like these is its own affair.
        let is_javas = || is_for_java(value) && self.target.installed.jvm.is_none() && self.jvm().is_ok();
        let judged = match name {
            _ if value.trim().is_empty() => return found,
            OF_LINKER => self.preloaded(value, found),
            OF_RUBY => self.read_by_ruby(name, value, found),
            _ if name.starts_with("RUBY_") => self.read_by_ruby(name, value, found),
            _ if is_named(name) || is_javas() => self.read_by_java(name, value, found),
            _ => return found,
        };
        let unverified =
            |reason| format!("the process has the variable, but {reason}; see its effect by a `[[proof]]`");
        judged.unwrap_or_else(|reason| Found { live, ..Found::unverified(unverified(reason)) })
    }

    /// Libraries to be loaded: each by its path, or by its name wherever the linker finds it.
    fn preloaded(&self, value: &str, found: Found) -> Result<Found, String> {
        let mapped: Vec<PathBuf> = proc::mapped(self.target.serving.pid).collect();
        let judge = |library: &str| {
            let path = Path::new(library);
            let is_there = match path.canonicalize() {
                Ok(path) if library.starts_with('/') => mapped.contains(&path),
                _ => mapped.iter().any(|mapped| mapped.file_name() == Some(path.as_os_str())),
            };
            if !is_there && (library.contains('$') || !library.starts_with('/')) {
                return Err(format!("where the linker finds {library} is not known"));
            }
            Ok(Found::value(library, is_there.then(|| library.to_owned()), None, SettingSource::Proc, exactly))
        };
        let libraries = value.split([':', ' ']).filter(|library| !library.is_empty());
        together(found, libraries.map(|library| (library.to_owned(), judge(library))))
    }

    fn read_by_java(&self, name: &str, value: &str, found: Found) -> Result<Found, String> {
        if OF_JAVA.contains(&name) {
            return self.java_options(value, found);
        }
        if self.target.installed.jvm.is_some() {
            return Ok(unread(
                found,
                "bakeoff starts `java` itself, and only start scripts such as JRuby's launcher read it",
                "docs/study-file.md: `jvm`, `properties` and `jruby` reach it",
            ));
        }
        if name == OF_JRUBY { self.jruby_options(value, found) } else { self.java_options(value, found) }
    }

    fn read_by_ruby(&self, name: &str, value: &str, found: Found) -> Result<Found, String> {
        let pid = self.target.inside.map_or(self.target.serving.pid, |inside| inside.pid);
        match (self.engine(), self.target.inside) {
            // Such as RUBY_ENV: the program's own affair.
            (engine, _) if engine != Engine::Ruby && name != OF_RUBY && !mri::is_own(name) => Ok(found),
            (Engine::Java | Engine::Other, _) => Err("no Ruby is seen that reads it".to_owned()),
            (engine, inside) if name == OF_RUBY => {
                let Some(asked) = mri::asks_for_yjit(value) else { return Ok(found) };
                let judged = match inside {
                    _ if engine == Engine::Jruby => {
                        Ok(Found::inert("JRuby has no YJIT", "ruby(1): YJIT is MRI's", SettingSource::Proc))
                    }
                    Some(inside) => Ok(mri::yjit(inside, asked)),
                    None => Err(self.untold()),
                };
                let tuning = value.split_whitespace().filter(|option| mri::tunes_yjit(option));
                let tuning = tuning.map(|option| (option.to_owned(), Err(mri::UNTOLD.to_owned())));
                together(found, [("YJIT".to_owned(), judged)].into_iter().chain(tuning))
            }
            (Engine::Jruby, _) => Ok(unread(
                found,
                "JRuby does not read it: its memory and compiler are the JVM's",
                "JRuby reads RUBYOPT and RUBYLIB; RUBY_* variables are MRI's, ruby(1)",
            )),
            _ if name.starts_with("RUBY_GC_") => mri::gc_variable(pid, self.environment()?, name, value),
            (_, inside) if name == "RUBY_YJIT_ENABLE" => {
                let inside = inside.ok_or_else(|| self.untold())?;
                Ok(mri::yjit(inside, mri::enables_yjit(value)))
            }
            _ => mri::other_variable(pid, name, found),
        }
    }

    /// Why it is not known whether YJIT is on.
    fn untold(&self) -> String {
        let why = if self.target.site.trial_dir.to_string_lossy().contains(char::is_whitespace) {
            "RUBYOPT takes no path with a space in it, such as that of this run's files (--store says where they are)"
        } else {
            "its RUBYOPT was set anew, or it forked after its start"
        };
        format!("Ruby tells only from inside whether YJIT is on, and this one has told nothing: {why}")
    }

    /// Options of the JVM, each judged by itself.
    fn java_options(&self, value: &str, found: Found) -> Result<Found, String> {
        let options = jvm::options(value)?;
        together(found, options.into_iter().map(|option| (option.clone(), self.jvm_option(&option))))
    }

    /// Options of JRuby's launcher, each judged by itself: `-J` goes before those of the JVM.
    fn jruby_options(&self, value: &str, found: Found) -> Result<Found, String> {
        if self.engine() != Engine::Jruby {
            return Err("no JRuby is seen that reads it".to_owned());
        }
        let words = shell_words::split(value).map_err(|error| error.to_string())?;
        let name = |word: &str| match (word.strip_prefix("-J"), own_option(word)) {
            (Some(option), _) => jvm::name(option),
            (None, own) => own.map(|(name, _)| format!("-Djruby.{name}")),
        };
        let judge = |word: &str| match (word.strip_prefix("-J"), own_option(word)) {
            (Some(option), _) => self.jvm_option(option),
            (None, Some((name, value))) => self.jruby_option(name, value),
            (None, None) => Err(format!("JRuby does not tell what it makes of `{word}`")),
        };
        together(found, jvm::last_of_each(words, name).into_iter().map(|word| (word.clone(), judge(&word))))
    }
}

/// Name and value of `-Xname=value`, an option of JRuby's own.
pub(super) fn own_option(word: &str) -> Option<(&str, &str)> {
    word.strip_prefix("-X")?.split_once('=')
}

/// What becomes of a variable by what became of each of its options. Its own text stays what was asked for and what the process
/// has: two values of it are two treatments. The first option that did not come out well speaks for all, by name, and they are
/// the default only where each of them is.
fn together(found: Found, options: impl Iterator<Item = (String, Result<Found, String>)>) -> Result<Found, String> {
    let (mut all_default, mut source, mut untold) = (true, found.source, None);
    for (option, judged) in options {
        let judged = judged.unwrap_or_else(Found::unverified);
        match judged.result {
            SettingResult::Unverified { reason } => drop(untold.get_or_insert(reason)),
            SettingResult::AlreadyDefault => source = judged.source,
            SettingResult::InEffect => (source, all_default) = (judged.source, false),
            _ => return Ok(found.by_option(&option, judged)),
        }
    }
    let result = if all_default { SettingResult::AlreadyDefault } else { SettingResult::InEffect };
    let default = found.live.clone().filter(|_| all_default);
    untold.map_or(Ok(Found { default, source, result, ..found }), Err)
}

impl Found {
    /// A variable that one of its options speaks for.
    fn by_option(self, option: &str, judged: Self) -> Self {
        let Self { live, source, result, .. } = judged;
        match result {
            SettingResult::Inert { reason, source: known } => {
                let result = SettingResult::Inert { reason: format!("{option}: {reason}"), source: known };
                Self { source, result, ..self }
            }
            result => {
                let live = Some(format!("{option}: {}", live.as_deref().unwrap_or("absent")));
                Self { live, source, result, ..self }
            }
        }
    }
}

fn unread(found: Found, reason: &str, source: &str) -> Found {
    let result = SettingResult::Inert { reason: reason.to_owned(), source: source.to_owned() };
    Found { result, source: SettingSource::Proc, ..found }
}
