//! Variables that carry settings: that a process has them says nothing about what became of these.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use model::{SettingResult, SettingSource, options};

use super::beside::Beside;
use super::together::{in_effect, together};
use super::{Found, Reader, exactly, jruby, jvm, mri, said};
use crate::proc;
use crate::serving::RuntimeKind;

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

/// Whether Ruby compiles: read by itself.
const YJIT_ENABLE: &str = "RUBY_YJIT_ENABLE";

/// How much of a log is looked at for what a runtime says at its start.
const START_BYTES: u64 = 64 << 10;

/// Libraries that the dynamic linker loads before a program's own, ld.so(8).
const OF_LINKER: &str = "LD_PRELOAD";

/// Whether a variable carries options, one word each: by its name, or by its words, such as `<APP>_OPTS` of Gradle's scripts.
pub(super) fn has_options(name: &str, value: &str) -> bool {
    is_named(name) || is_for_java(value)
}

fn is_named(name: &str) -> bool {
    options::is_read_by_runtime(name) || OF_SCRIPTS.contains(&name)
}

/// Whether all words are options of the JVM, and none of JRuby's own (`-Xname=value`).
fn is_for_java(value: &str) -> bool {
    let is_rubys = |word: &str| options::of_jruby(word).is_some();
    let is_javas = |word: &str| {
        !is_rubys(word)
            && ["-X", "-D", "--add-"].iter().any(|begin| word.len() > begin.len() && word.starts_with(begin))
    };
    jvm::options(value).is_ok_and(|options| !options.is_empty() && options.iter().all(|option| is_javas(option)))
}

impl Reader<'_> {
    /// What became of a variable that the process has, as `found` says: what reads it is asked.
    pub(super) fn carried(&self, name: &str, value: &str, beside: &Beside, found: Found) -> Found {
        let live = found.live.clone();
        // What a program without a JVM, or one that bakeoff starts itself, makes of words like these is its own affair.
        let is_javas = || is_for_java(value) && self.target.installed.jvm.is_none() && self.jvm().is_ok();
        let judged = match name {
            // Some Rubies heed it though it is empty.
            _ if value.trim().is_empty() && name != YJIT_ENABLE => return found,
            OF_LINKER => Ok(self.preloaded(value, beside, found)),
            options::OF_RUBY => self.rubyopt(value, beside, found),
            _ if name.starts_with("RUBY_") => self.read_by_ruby(name, value, found),
            _ if is_named(name) => self.read_by_java(name, value, beside, found),
            _ if is_javas() => self.maybe_read_by_java(value, beside, found),
            _ => return found,
        };
        let judged = judged.unwrap_or_else(Found::unverified);
        match judged.result {
            SettingResult::Unverified { reason } => {
                let reason =
                    format!("the process has the variable, but {reason}; see its effect by an `[[assertion]]`");
                Found { live, common: judged.common, ..Found::unverified(reason) }
            }
            _ => judged,
        }
    }

    /// Libraries to be loaded: each by its path, or by its name wherever the linker finds it.
    fn preloaded(&self, value: &str, beside: &Beside, found: Found) -> Found {
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
        let libraries = |value: &str| -> Vec<String> {
            value.split([':', ' ']).filter(|library| !library.is_empty()).map(str::to_owned).collect()
        };
        together(found, beside, &libraries(value), libraries, judge)
    }

    fn read_by_java(&self, name: &str, value: &str, beside: &Beside, found: Found) -> Result<Found, String> {
        if options::OF_JAVA.contains(&name) {
            return self.java_options(value, beside, found);
        }
        if self.target.installed.jvm.is_some() {
            return Ok(unread(
                found,
                "bakeoff starts `java` itself, and only start scripts such as JRuby's launcher read it",
                "docs/study-file.md: `jvm`, `properties` and `jruby` reach it",
            ));
        }
        if name == OF_JRUBY {
            self.jruby_options(value, beside, found)
        } else {
            self.java_options(value, beside, found)
        }
    }

    /// A variable that is known by its words only: it may be for another JVM, which the server starts, or will.
    fn maybe_read_by_java(&self, value: &str, beside: &Beside, found: Found) -> Result<Found, String> {
        let judge = |option: &str| {
            if self.is_given_to_jvm(option) {
                self.jvm_option(option, beside)
            } else {
                Err(format!(
                    "the JVM that serves was not given `{option}`: it may be for another that the server starts"
                ))
            }
        };
        Ok(together(found, beside, &jvm::options(value)?, read_options, judge))
    }

    /// Whether the JVM that serves has this among its options, wherever it has them from; its program's arguments are none.
    pub(super) fn is_given_to_jvm(&self, option: &str) -> bool {
        self.jvm_args().is_ok_and(|args| format!(" {args} ").contains(&format!(" {option} ")))
    }

    /// Options of Ruby: they are read, unless an option keeps Ruby from it, and YJIT reports whether it is on.
    fn rubyopt(&self, value: &str, beside: &Beside, found: Found) -> Result<Found, String> {
        if self.runtime_kind() == RuntimeKind::Ruby {
            let shown = proc::command_line(self.target.serving.pid);
            let (own, _) = mri::before_script(shown.into_iter().skip(1).collect());
            if let Some(switch) = own.iter().find(|option| mri::ignores_rubyopt(option)) {
                let reason = format!("Ruby does not read it: {switch}");
                return Ok(unread(found, &reason, "ruby(1), --disable: `rubyopt`"));
            }
            if self.target.inside.is_none() && self.target.serving.was_to_tell() {
                return Err(self.unreported("whether it has read it, and whether YJIT is on"));
            }
        }
        if !matches!(self.runtime_kind(), RuntimeKind::Ruby | RuntimeKind::Jruby) {
            return Err("no Ruby is seen that reads it".to_owned());
        }
        let requested = mri::asks_for_yjit(value);
        // What stands behind a command may have another Ruby at work before the one that serves.
        let said = if self.target.installed.is_command() { String::new() } else { self.said_at_start() };
        let of_nothing = |option: &str| {
            let reason = format!("Ruby makes nothing of it: {}", said::of_nothing(&said, option)?);
            Some(Ok(Found::inert(reason, "its own words at its start, in the server's log", SettingSource::Proc)))
        };
        let judge = |option: &str| {
            let reported = self.ruby_option(option, requested).or_else(|| of_nothing(option));
            reported.unwrap_or_else(|| Ok(in_effect(option)))
        };
        Ok(together(found, beside, &mri::words(value), mri::words, judge))
    }

    /// The beginning of the server's log.
    pub(super) fn said_at_start(&self) -> String {
        let mut said = Vec::new();
        let read = |file: File| file.take(START_BYTES).read_to_end(&mut said);
        let _nothing_to_read = File::open(self.target.log).and_then(read);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// What became of an option of Ruby's that is about YJIT, where all of them ask for it or not, as `requested` says; `None` of any other.
    pub(super) fn ruby_option(&self, option: &str, requested: Option<bool>) -> Option<Result<Found, String>> {
        let requested = mri::asks_for_yjit(option).and(requested)?;
        Some(match (self.runtime_kind(), self.target.inside) {
            (RuntimeKind::Java | RuntimeKind::Other, _) => Err("no Ruby is seen that reads it".to_owned()),
            (RuntimeKind::Jruby, _) => {
                Ok(Found::inert("JRuby has no YJIT", "ruby(1): YJIT is MRI's", SettingSource::Proc))
            }
            (RuntimeKind::Ruby, None) => Err(self.unreported("whether YJIT is on")),
            (RuntimeKind::Ruby, Some(inside)) => Ok(match mri::yjit(inside, requested) {
                found if mri::tunes_yjit(option) => mri::yjit_option(inside, found),
                found => found,
            }),
        })
    }

    fn read_by_ruby(&self, name: &str, value: &str, found: Found) -> Result<Found, String> {
        let pid = self.target.inside.map_or(self.target.serving.pid, |inside| inside.pid);
        match (self.runtime_kind(), self.target.inside) {
            // Such as RUBY_ENV: the program's own affair.
            (kind, _) if kind != RuntimeKind::Ruby && !mri::is_own(name) => Ok(found),
            (RuntimeKind::Java | RuntimeKind::Other, _) => Err("no Ruby is seen that reads it".to_owned()),
            (RuntimeKind::Jruby, _) => Ok(unread(
                found,
                "JRuby does not read it: its memory and compiler are the JVM's",
                "JRuby reads RUBYOPT and RUBYLIB; RUBY_* variables are MRI's, ruby(1)",
            )),
            _ if name.starts_with("RUBY_GC_") => mri::gc_variable(pid, self.environment()?, name, value),
            (_, inside) if name == YJIT_ENABLE => {
                let inside = inside.ok_or_else(|| self.unreported("whether YJIT is on"))?;
                Ok(mri::yjit(inside, mri::enables_yjit(value)))
            }
            _ => mri::other_variable(pid, name, found),
        }
    }

    /// Why `what` is not known of a Ruby.
    fn unreported(&self, what: &str) -> String {
        let why = if self.target.site.trial_dir.to_string_lossy().contains(char::is_whitespace) {
            "RUBYOPT takes no path with a space in it, such as that of this run's files (--store says where they are)"
        } else {
            "its RUBYOPT was set anew or is not read, or it forked, or became another, after its start"
        };
        format!("only Ruby itself knows {what}, and this one has reported nothing: {why}")
    }

    /// Options of the JVM, each judged by itself.
    fn java_options(&self, value: &str, beside: &Beside, found: Found) -> Result<Found, String> {
        let judge = |option: &str| self.jvm_option(option, beside);
        Ok(together(found, beside, &jvm::options(value)?, read_options, judge))
    }

    /// Options of JRuby's launcher, each judged by itself.
    fn jruby_options(&self, value: &str, beside: &Beside, found: Found) -> Result<Found, String> {
        if self.runtime_kind() != RuntimeKind::Jruby {
            return Err("no JRuby is seen that reads it".to_owned());
        }
        let options = jruby::last_of_each(shell_words::split(value).map_err(|error| error.to_string())?);
        let read = |text: &str| jruby::last_of_each(shell_words::split(text).unwrap_or_default());
        Ok(together(found, beside, &options, read, |word| self.launcher_option(word, beside)))
    }

    /// An option of JRuby's launcher: `-J` goes before those of the JVM.
    pub(super) fn launcher_option(&self, word: &str, beside: &Beside) -> Result<Found, String> {
        match (word.strip_prefix("-J"), options::of_jruby(word)) {
            (Some(option), _) => self.jvm_option(option, beside),
            (None, Some((name, value))) => self.jruby_option(name, value),
            (None, None) => Err(format!("JRuby does not say what it makes of `{word}`")),
        }
    }
}

fn read_options(text: &str) -> Vec<String> {
    jvm::options(text).unwrap_or_default()
}

fn unread(found: Found, reason: &str, source: &str) -> Found {
    let result = SettingResult::Inert { reason: reason.to_owned(), source: source.to_owned() };
    Found { result, source: SettingSource::Proc, ..found }
}
