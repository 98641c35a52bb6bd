//! What the process itself shows: arguments, versions, programs.

use std::ffi::OsStr;
use std::path::Path;

use model::SettingSource;
use runtimes::{RuntimePart, mri};

use super::context::SettingContext;
use super::found::{Found, exactly};
use super::mri as live_mri;
use super::reader::Reader;
use crate::proc;
use crate::runtime;
use crate::runtime::jdk::alternatives;
use crate::serving::RuntimeKind;

impl Reader<'_> {
    pub(super) fn argument(&self, text: &str, context: &SettingContext) -> Result<Found, String> {
        // YJIT can be asked for and still be off: where it was not built in, or was switched off again.
        let inside = self.target.inside.filter(|inside| inside.engine == RuntimeKind::Ruby);
        let requested = self.asks_for_yjit(text).filter(|_| !mri::tunes_yjit(text));
        if let Some((inside, requested)) = inside.zip(requested) {
            return Ok(live_mri::yjit(inside, requested));
        }
        if let Some(judged) = self.among_arguments(text, context) {
            return judged;
        }
        let words = shell_words::split(text).map_err(|error| error.to_string())?;
        let holds = |args: &[String]| {
            args.iter().any(|arg| *arg == text)
                || !words.is_empty() && args.windows(words.len()).any(|window| window == words)
        };
        // A start script may have handed them on to what it became or started, which may show another title by now.
        let reported = self.target.inside.is_some_and(|inside| holds(&inside.argv));
        let is_present = reported || holds(&proc::command_line(self.target.serving.pid));
        if !is_present && self.target.serving.pid != self.target.launched {
            return Err("the process that serves is another than was launched, and does not show it: whether it was handed on, \
                        or what the launched one makes of it, is not known"
                .to_owned());
        }
        let live = (is_present || holds(&self.shown()?)).then(|| text.to_owned());
        let found = Found::value(text, live, None, SettingSource::Proc, exactly);
        Ok(match inside {
            Some(inside) if mri::tunes_yjit(text) => live_mri::yjit_option(inside, found),
            _ => found,
        })
    }

    /// Whether an argument asks Ruby for YJIT. One that does not name it may be the program's, unless it stands before the script.
    fn asks_for_yjit(&self, text: &str) -> Option<bool> {
        let installed = self.target.installed;
        let mut own = installed.args.iter().take_while(|arg| arg.starts_with('-'));
        mri::asks_for_yjit([text])
            .filter(|_| text.contains("yjit") || installed.runs_ruby && own.any(|arg| arg == text))
    }

    /// The words that the launched process was started with, as it shows them. A process that has become another program, or the same
    /// with other words, or shows another title, does not.
    fn shown(&self) -> Result<Vec<String>, String> {
        let installed = self.target.installed;
        let args = proc::command_line(self.target.launched);
        let started: Option<Vec<String>> =
            installed.args.iter().map(|arg| self.target.site.complete(arg).ok()).collect();
        let is_it = args.iter().any(|arg| is_program(arg, installed.program.file_name()));
        if is_it && started.is_some_and(|started| args.ends_with(&started)) {
            return Ok(args);
        }
        Err(format!("the process shows another command line than it was started with: `{}`", args.join(" ")))
    }

    /// The same; a Ruby that bakeoff starts showed its program and the words after it at its start.
    fn command_line(&self) -> Result<Vec<String>, String> {
        let inside = self.target.inside.filter(|_| self.target.installed.runs_ruby);
        let reported = || inside.map(|inside| inside.argv.clone()).filter(|argv| !argv.is_empty());
        self.shown().or_else(|why| reported().ok_or(why))
    }

    /// The runtime, a version, or the program.
    pub(super) fn runtime(&self, part: RuntimePart, value: &str) -> Found {
        let version =
            |name: &str| self.target.serving.versions(self.target.inside, self.target.installed).shift_remove(name);
        // Whatever runs behind a command, it is that command.
        let is_command = self.target.installed.is_command();
        let inside = self.target.inside.filter(|_| !is_command);
        let source = if inside.is_some() { SettingSource::InProcess } else { SettingSource::Proc };
        match part {
            RuntimePart::Runtime => {
                let kind = if is_command { RuntimeKind::Other } else { self.runtime_kind() };
                Found::value(value, Some(kind.name().to_owned()), None, source, exactly)
            }
            RuntimePart::Version => {
                let live = version(self.runtime_kind().name());
                Found::value(value, live, None, source, begins)
            }
            RuntimePart::Jdk if !value.contains('/') => {
                let live = version("jdk").map(|version| version.trim_start_matches("1.").to_owned());
                let any = |requested: &str, live: &str| {
                    alternatives(requested).any(|requested| begins(requested.trim_start_matches("1."), live))
                };
                Found::value(value, live, None, source, any)
            }
            RuntimePart::Dir => {
                // Where it was started, or it would not run: a start script or the program may go elsewhere then.
                let live = self.target.installed.dir.canonicalize().ok();
                let same = |requested: &str, live: &str| {
                    self.target.site.dir.join(requested).canonicalize().is_ok_and(|path| path == Path::new(live))
                };
                let live = live.map(|path| path.to_string_lossy().into_owned());
                Found::value(value, live, None, SettingSource::Proc, same)
            }
            _ => self.program(value),
        }
    }

    /// A JDK's folder, a script, an archive or a class: the command line must hold it.
    fn program(&self, value: &str) -> Found {
        let file = self.target.installed.files.get(value).cloned();
        let path = file.or_else(|| self.target.site.dir.join(value).canonicalize().ok());
        let folder = value.strip_suffix("/*").and_then(|folder| self.target.site.dir.join(folder).canonicalize().ok());
        let path = path.or(folder);
        let class = value.strip_suffix(".java").map(|path| path.rsplit('/').next().unwrap_or(path));
        let holds = |arg: &String| {
            arg == value
                || arg.split(':').any(|part| path.as_ref().is_some_and(|path| Path::new(part).starts_with(path)))
                || class.is_some_and(|class| arg.rsplit('.').next() == Some(class))
        };
        self.in_command_line(value, |args| args.iter().any(holds))
    }

    fn in_command_line(&self, value: &str, holds: impl Fn(&[String]) -> bool) -> Found {
        match self.command_line() {
            Ok(args) => {
                let live = if holds(&args) { value.to_owned() } else { args.join(" ") };
                Found::value(value, Some(live), None, SettingSource::Proc, exactly)
            }
            Err(reason) => Found::unverified(reason),
        }
    }
}

/// Whether a word names this program, and is no option that has such a name at its end (`-Djruby.shell=/bin/sh`).
fn is_program(word: &str, name: Option<&OsStr>) -> bool {
    !word.starts_with('-') && Path::new(word).file_name() == name
}

/// Whether the live version is the one asked for or begins with it at a dot.
fn begins(requested: &str, live: &str) -> bool {
    runtime::version_matches(live, requested)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_no_program() {
        let name = Some(OsStr::new("sh"));
        assert!(is_program("/bin/sh", name) && is_program("sh", name));
        assert!(!is_program("-Djruby.shell=/bin/sh", name));
    }
}
