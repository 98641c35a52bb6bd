//! The words of a `command`: options among them are judged as those of a variable are.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::study::RequestedSetting;
use model::{SettingResult, SettingSource};
use runtimes::command::{Named, looks_like_option};
use runtimes::{Command, Given, jruby, jvm, mri};

use super::context::SettingContext;
use super::found::{Found, exactly};
use super::reader::Reader;
use super::together::{in_effect, together};
use crate::proc;
use crate::serving::{LiveJvm, RuntimeKind};

impl Reader<'_> {
    /// A command: it was started, since the server was. What became of the options in it is asked of what reads them.
    pub(super) fn command(&self, requested: &RequestedSetting, value: &str) -> Found {
        // As the study writes it: ports differ from launch to launch.
        let was_launched = self.was_launched(&requested.value);
        let live = was_launched.then(|| requested.value.clone());
        let found = Found::value(&requested.value, live, None, SettingSource::Proc, exactly);
        if !was_launched {
            return found;
        }
        let (context, words) = (self.context(requested), self.words(value));
        let judge = |option: &Given| self.in_command(&words, option, &context);
        let judged = together(found.clone(), &context, &words.options, judge);
        match judged.result {
            // Whatever it is, it is the same in all.
            SettingResult::Unverified { .. } if self.is_shared(requested) => found,
            SettingResult::Unverified { reason } => {
                let reason = format!("the command was started, but {reason}; see its effect by an `[[assertion]]`");
                Found { live: found.live, common: judged.common, ..Found::unverified(reason) }
            }
            // Any other word makes it another command.
            SettingResult::AlreadyDefault
                if context.others.is_empty() || context.others.iter().any(|other| other.others != words.others) =>
            {
                Found { common: judged.common, source: judged.source, ..found }
            }
            _ => judged,
        }
    }

    /// The words of a command that is started where the server is.
    pub(super) fn words(&self, command: &str) -> Command {
        let installed = self.target.installed;
        let path = installed.env.get("PATH").map(String::as_str).unwrap_or_default();
        let is_there = |file: PathBuf| fs::metadata(file).is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0);
        let is_on_path = |word: &str| env::split_paths(path).any(|folder| is_there(folder.join(word)));
        Command::of(
            command,
            |word| if word.contains('/') { is_there(installed.dir.join(word)) } else { is_on_path(word) },
        )
    }

    /// Whether this is what was started, or the beginning of it.
    fn was_launched(&self, command: &str) -> bool {
        let installed = self.target.installed;
        let words = shell_words::split(command).unwrap_or_default();
        words.split_first().is_some_and(|(program, rest)| {
            Path::new(program).file_name() == installed.program.file_name() && installed.args.starts_with(rest)
        })
    }

    fn in_command(&self, words: &Command, given: &Given, context: &SettingContext) -> Result<Found, String> {
        let option = given.name.as_str();
        let unseen = || {
            Err(format!(
                "the process that serves does not show `{option}`: another has taken it, or made something else of it"
            ))
        };
        let is_shown = || option.split(' ').all(|word| self.is_shown(word));
        let as_shown = || if is_shown() { Ok(in_effect(option)) } else { unseen() };
        let is_jruby = || self.runtime_kind() == RuntimeKind::Jruby;
        let for_jvm = jruby::handed_to_jvm(option).filter(|option| !option.contains(' ') && is_jruby());
        let is_handed_on = for_jvm.as_ref().is_some_and(|option| self.is_given_to_jvm(option));
        // What stands behind another program's name is that program's to hand on.
        let is_read = words.is_program && self.is_its_jvm();
        match words.named {
            _ if option.starts_with('@') => Err(format!("what stands in the file {option} is not read")),
            Some(Named::Ruby) => {
                let all = words.options.iter().map(|option| option.name.as_str());
                self.ruby_option(option, mri::asks_for_yjit(all)).unwrap_or_else(as_shown)
            }
            Some(Named::Java) if is_read || self.is_given_to_jvm(option) => self.jvm_option(given, context),
            Some(Named::Jruby) if is_read && for_jvm.is_some() || is_handed_on => self.launcher_option(given, context),
            None if mri::asks_for_yjit([option]).is_some() => {
                match self.ruby_option(option, mri::asks_for_yjit([option])) {
                    Some(judged) if is_shown() => judged,
                    _ => as_shown(),
                }
            }
            None if self.is_given_to_jvm(option) => self.jvm_option(given, context),
            None if is_handed_on => self.launcher_option(given, context),
            // The program's own affair.
            None if matches!(self.target.serving.jvm(), Ok(None)) => Ok(in_effect(option)),
            _ => as_shown(),
        }
    }

    /// Whether a process that serves shows this word on its command line.
    fn is_shown(&self, word: &str) -> bool {
        let shown = |pid: u32| proc::command_line(pid).iter().any(|shown| shown == word);
        self.target.serving.processes().into_iter().any(shown)
    }

    /// Of the arguments of a command one that looks like an option of the JVM's: it is one, if that was given it.
    pub(super) fn among_arguments(&self, option: &str, context: &SettingContext) -> Option<Result<Found, String>> {
        let is_its = self.target.installed.is_command() && looks_like_option(option) && self.is_given_to_jvm(option);
        is_its.then(|| self.jvm_option(&jvm::given(option), context))
    }

    /// Whether the JVM that serves is not another's child that was started as a JVM itself.
    fn is_its_jvm(&self) -> bool {
        let launched = self.target.launched;
        self.jvm().is_ok_and(|jvm| jvm.pid == launched || LiveJvm::of(launched).is_none())
    }
}
