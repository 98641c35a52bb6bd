//! Variables that carry settings: that a process has them says nothing about what became of these.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use model::{SettingResult, SettingSource};
use runtimes::{Given, Key, OptionVariable, jruby, mri, said};

use super::context::SettingContext;
use super::found::{Found, exactly};
use super::mri as live_mri;
use super::reader::Reader;
use super::together::{in_effect, together};
use crate::proc;
use crate::serving::RuntimeKind;

/// How much of a log is looked at for what a runtime says at its start.
const START_BYTES: u64 = 64 << 10;

impl Reader<'_> {
    /// What became of a variable that the process has, as `found` says: what reads it is asked.
    pub(super) fn set_by_variable(&self, name: &str, value: &str, context: &SettingContext, found: Found) -> Found {
        let live = found.live.clone();
        // What a program without a JVM, or one that bakeoff starts itself, makes of words like these is its own affair.
        let is_javas = || self.target.installed.jvm.is_none() && self.jvm().is_ok();
        let variable = OptionVariable::of(name, value);
        let judged = match variable {
            // Some Rubies heed it though it is empty.
            _ if value.trim().is_empty() && name != mri::YJIT_ENABLE => return found,
            None if name.starts_with("RUBY_") => self.read_by_ruby(name, value, found),
            None => return found,
            Some(OptionVariable::Words) if !is_javas() => return found,
            Some(variable) => variable.words(value).and_then(|words| self.read_by(variable, &words, context, found)),
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

    fn read_by(
        &self,
        variable: OptionVariable,
        words: &[Given],
        context: &SettingContext,
        found: Found,
    ) -> Result<Found, String> {
        let is_started_by_us = self.target.installed.jvm.is_some();
        let each = |judge: &dyn Fn(&Given) -> Result<Found, String>| Ok(together(found.clone(), context, words, judge));
        match variable {
            OptionVariable::Linker => each(&|library| self.preloaded(&library.name)),
            OptionVariable::Ruby => self.rubyopt(words, context, found),
            OptionVariable::Jruby | OptionVariable::Scripts if is_started_by_us => Ok(unread(
                found,
                "bakeoff starts `java` itself, and only start scripts such as JRuby's launcher read it",
                "docs/study-file.md: `jvm`, `properties` and `jruby` reach it",
            )),
            OptionVariable::Jruby if self.runtime_kind() != RuntimeKind::Jruby => {
                Err("no JRuby is seen that reads it".to_owned())
            }
            OptionVariable::Jruby => each(&|word| self.launcher_option(word, context)),
            OptionVariable::Java | OptionVariable::Scripts => each(&|option| self.jvm_option(option, context)),
            // It may be for another JVM, which the server starts, or will.
            OptionVariable::Words => each(&|option| {
                if self.is_given_to_jvm(&option.name) {
                    return self.jvm_option(option, context);
                }
                let Given { name, .. } = option;
                Err(format!("the JVM that serves was not given `{name}`: it may be for another that the server starts"))
            }),
        }
    }

    /// A library to be loaded: by its path, or by its name wherever the linker finds it.
    fn preloaded(&self, library: &str) -> Result<Found, String> {
        let mapped: Vec<PathBuf> = proc::mapped(self.target.serving.pid).collect();
        let path = Path::new(library);
        let is_there = match path.canonicalize() {
            Ok(path) if library.starts_with('/') => mapped.contains(&path),
            _ => mapped.iter().any(|mapped| mapped.file_name() == Some(path.as_os_str())),
        };
        if !is_there && (library.contains('$') || !library.starts_with('/')) {
            return Err(format!("where the linker finds {library} is not known"));
        }
        Ok(Found::value(library, is_there.then(|| library.to_owned()), None, SettingSource::Proc, exactly))
    }

    /// Whether the JVM that serves has this among its options, wherever it has them from; its program's arguments are none.
    pub(super) fn is_given_to_jvm(&self, option: &str) -> bool {
        self.jvm_arguments().is_ok_and(|arguments| arguments.contains(option))
    }

    /// Options of Ruby: they are read, unless an option keeps Ruby from it, and YJIT reports whether it is on.
    fn rubyopt(&self, words: &[Given], context: &SettingContext, found: Found) -> Result<Found, String> {
        if self.runtime_kind() == RuntimeKind::Ruby {
            let shown = proc::command_line(self.target.serving.pid);
            let (own, _) = mri::before_script(shown.into_iter().skip(1).collect());
            if let Some(switch) = own.iter().find(|option| mri::ignores_rubyopt(option)) {
                let reason = format!("Ruby does not read it: {switch}");
                return Ok(unread(found, &reason, "ruby(1), --disable: `rubyopt`"));
            }
            if self.target.inside.is_none() && self.target.serving.has_probe() {
                return Err(self.unreported("whether it has read it, and whether YJIT is on"));
            }
        }
        if !matches!(self.runtime_kind(), RuntimeKind::Ruby | RuntimeKind::Jruby) {
            return Err("no Ruby is seen that reads it".to_owned());
        }
        let requested = mri::asks_for_yjit(words.iter().map(|word| word.name.as_str()));
        // What stands behind a command may have another Ruby at work before the one that serves.
        let said = if self.target.installed.is_command() { String::new() } else { self.said_at_start() };
        let of_nothing = |option: &str| {
            let reason = format!("Ruby makes nothing of it: {}", said::of_nothing(&said, option)?);
            Some(Ok(Found::inert(reason, "its own words at its start, in the server's log", SettingSource::Proc)))
        };
        let judge = |option: &Given| {
            let reported = self.ruby_option(&option.name, requested).or_else(|| of_nothing(&option.name));
            reported.unwrap_or_else(|| Ok(in_effect(&option.name)))
        };
        Ok(together(found, context, words, judge))
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
        let requested = mri::asks_for_yjit([option]).and(requested)?;
        Some(match (self.runtime_kind(), self.target.inside) {
            (RuntimeKind::Java | RuntimeKind::Other, _) => Err("no Ruby is seen that reads it".to_owned()),
            (RuntimeKind::Jruby, _) => {
                Ok(Found::inert("JRuby has no YJIT", "ruby(1): YJIT is MRI's", SettingSource::Proc))
            }
            (RuntimeKind::Ruby, None) => Err(self.unreported("whether YJIT is on")),
            (RuntimeKind::Ruby, Some(inside)) => Ok(match live_mri::yjit(inside, requested) {
                found if mri::tunes_yjit(option) => live_mri::yjit_option(inside, found),
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
            _ if name.starts_with(mri::OF_GC) => live_mri::gc_variable(pid, self.environment()?, name, value),
            (_, inside) if name == mri::YJIT_ENABLE => {
                let inside = inside.ok_or_else(|| self.unreported("whether YJIT is on"))?;
                Ok(live_mri::yjit(inside, mri::enables_yjit(value)))
            }
            _ => live_mri::other_variable(pid, name, found),
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

    /// An option of JRuby's launcher.
    pub(super) fn launcher_option(&self, word: &Given, context: &SettingContext) -> Result<Found, String> {
        match &word.key {
            Key::Jruby(name) => self.jruby_option(name, &word.value),
            key if key.is_of_jvm() => self.jvm_option(&jruby::of_jvm(word), context),
            _ => Err(format!("JRuby does not say what it makes of `{}`", word.name)),
        }
    }
}

fn unread(found: Found, reason: &str, source: &str) -> Found {
    let result = SettingResult::Inert { reason: reason.to_owned(), source: source.to_owned() };
    Found { result, source: SettingSource::Proc, ..found }
}
