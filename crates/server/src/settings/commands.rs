//! The words of a `command`: options among them are judged as those of a variable are.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::study::RequestedSetting;
use model::{SettingResult, SettingSource, options};

use super::beside::Beside;
use super::together::{in_effect, together};
use super::{Found, Reader, exactly, jruby, jvm, mri};
use crate::proc;
use crate::serving::{LiveJvm, RuntimeKind};

/// A runtime that a command names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Java,
    Jruby,
    Ruby,
}

/// A command line, as far as the names in it show.
#[derive(Debug, PartialEq)]
struct Words {
    named: Option<Named>,
    /// Whether the runtime is the program, and reads its options itself.
    is_program: bool,
    /// Those of the runtime, each in one word; of the words before it, or where none is named of all, whatever looks like one of
    /// the JVM's or about YJIT.
    options: Vec<String>,
    others: Vec<String>,
}

impl Words {
    /// `can_run` says whether a word names a program that is there.
    fn of(command: &str, can_run: impl Fn(&str) -> bool) -> Self {
        let mut words = shell_words::split(command).unwrap_or_default();
        let is_script = matches!(&words[..], [shell, dash_c, ..] if is_shell(shell) && dash_c == "-c");
        if is_script && words.len() > 2 {
            let arguments = words.split_off(3);
            let script = words.pop().unwrap_or_default();
            words.extend(shell_words::split(&script).unwrap_or_else(|_| vec![script]));
            words.extend(arguments);
        }
        // A folder may bear a runtime's name.
        let is_run = |at: usize| at == 0 || leads_to_a_program(&words[at - 1]) || can_run(&words[at]);
        let name = |(at, word): (usize, &String)| Some((at, Named::by(word).filter(|_| is_run(at))?));
        let found = words.iter().enumerate().find_map(name);
        let (is_program, behind) = match found {
            Some((at, _)) => (at == 0, words.split_off(at + 1)),
            None => (false, Vec::new()),
        };
        let (before, mut others): (Vec<String>, Vec<String>) =
            words.into_iter().partition(|word| looks_like_option(word));
        let named = found.map(|(_, named)| named);
        let (own, rest) = match named {
            None => (Vec::new(), behind),
            Some(Named::Java) => jvm::options_before_program(&behind),
            Some(Named::Jruby) => {
                let (options, rest) = mri::before_script(behind);
                (jruby::last_of_each(options), rest)
            }
            Some(Named::Ruby) => mri::before_script(behind),
        };
        others.extend(rest);
        Self { named, is_program, options: [before, own].concat(), others }
    }
}

impl Named {
    fn by(word: &str) -> Option<Self> {
        let name = Path::new(word).file_name()?.to_str()?;
        match name {
            _ if word.starts_with('-') || is_assignment(word) => None,
            "java" => Some(Self::Java),
            "jruby" | "jruby.sh" => Some(Self::Jruby),
            _ => {
                let version = name.strip_prefix("ruby")?;
                let is_version = version.chars().all(|c| c.is_ascii_digit() || ".-".contains(c));
                is_version.then_some(Self::Ruby)
            }
        }
    }
}

/// Whether what follows this word is a program.
fn leads_to_a_program(word: &str) -> bool {
    ["exec", "env"].contains(&word) || is_assignment(word)
}

/// Whether a shell takes the word for a variable's value.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn is_shell(word: &str) -> bool {
    let name = Path::new(word).file_name().unwrap_or_default();
    ["sh", "bash", "dash", "ash", "ksh", "zsh"].iter().any(|shell| name == *shell)
}

fn looks_like_option(word: &str) -> bool {
    let begins = ["-X", "-D", "-J-", "--yjit", "--add-"];
    begins.iter().any(|begin| word.len() > begin.len() && word.starts_with(begin)) || word == "--yjit"
}

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
        let (beside, words) = (self.beside(requested), self.words(value));
        let read = |text: &str| self.words(text).options;
        let judge = |option: &str| self.in_command(&words, option, &beside);
        let judged = together(found.clone(), &beside, &words.options, read, judge);
        match judged.result {
            // Whatever it is, it is the same in all.
            SettingResult::Unverified { .. } if self.is_shared(requested) => found,
            SettingResult::Unverified { reason } => {
                let reason = format!("the command was started, but {reason}; see its effect by an `[[assertion]]`");
                Found { live: found.live, common: judged.common, ..Found::unverified(reason) }
            }
            // Any other word makes it another command.
            SettingResult::AlreadyDefault
                if beside.others.is_empty()
                    || beside.others.iter().any(|text| self.words(text).others != words.others) =>
            {
                Found { common: judged.common, source: judged.source, ..found }
            }
            _ => judged,
        }
    }

    /// The words of a command that is started where the server is.
    fn words(&self, command: &str) -> Words {
        let installed = self.target.installed;
        let path = installed.env.get("PATH").map(String::as_str).unwrap_or_default();
        let is_there = |file: PathBuf| fs::metadata(file).is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0);
        let is_on_path = |word: &str| env::split_paths(path).any(|folder| is_there(folder.join(word)));
        Words::of(
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

    fn in_command(&self, words: &Words, option: &str, beside: &Beside) -> Result<Found, String> {
        let unseen = || {
            Err(format!(
                "the process that serves does not show `{option}`: another has taken it, or made something else of it"
            ))
        };
        let is_shown = || option.split(' ').all(|word| self.is_shown(word));
        let as_shown = || if is_shown() { Ok(in_effect(option)) } else { unseen() };
        let is_jruby = || self.runtime_kind() == RuntimeKind::Jruby;
        let for_jvm = options::handed_to_jvm(option).filter(|option| !option.contains(' ') && is_jruby());
        let is_handed_on = for_jvm.as_ref().is_some_and(|option| self.is_given_to_jvm(option));
        // What stands behind another program's name is that program's to hand on.
        let is_read = words.is_program && self.is_its_jvm();
        match words.named {
            _ if option.starts_with('@') => Err(format!("what stands in the file {option} is not read")),
            Some(Named::Ruby) => {
                self.ruby_option(option, mri::asks_for_yjit(&words.options.join(" "))).unwrap_or_else(as_shown)
            }
            Some(Named::Java) if is_read || self.is_given_to_jvm(option) => self.jvm_option(option, beside),
            Some(Named::Jruby) if is_read && for_jvm.is_some() || is_handed_on => self.launcher_option(option, beside),
            None if mri::asks_for_yjit(option).is_some() => {
                match self.ruby_option(option, mri::asks_for_yjit(option)) {
                    Some(judged) if is_shown() => judged,
                    _ => as_shown(),
                }
            }
            None if self.is_given_to_jvm(option) => self.jvm_option(option, beside),
            None if is_handed_on => self.launcher_option(option, beside),
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
    pub(super) fn among_arguments(&self, option: &str, beside: &Beside) -> Option<Result<Found, String>> {
        let is_its = self.target.installed.is_command() && looks_like_option(option) && self.is_given_to_jvm(option);
        is_its.then(|| self.jvm_option(option, beside))
    }

    /// Whether the JVM that serves is not another's child that was started as a JVM itself.
    fn is_its_jvm(&self) -> bool {
        let launched = self.target.launched;
        self.jvm().is_ok_and(|jvm| jvm.pid == launched || LiveJvm::of(launched).is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where nothing is a program but what is found on the `PATH`.
    fn parts(command: &str) -> (Option<Named>, bool, String, String) {
        let Words { named, is_program, options, others } = Words::of(command, |word| !word.contains('/'));
        (named, is_program, options.join(" "), others.join(" "))
    }

    #[test]
    fn options_stand_before_the_program() {
        let java = |is_program, options: &str, others: &str| {
            (Some(Named::Java), is_program, options.to_owned(), others.to_owned())
        };
        assert_eq!(
            parts("/opt/bin/java -Xmx64m -cp a:b --add-opens x/y=z Main -Xfoo"),
            java(true, "-Xmx64m -Djava.class.path=a:b --add-opens=x/y=z", "/opt/bin/java Main -Xfoo")
        );
        assert_eq!(parts("java --enable-preview -jar a.jar"), java(true, "--enable-preview", "java -jar a.jar"));
        assert_eq!(parts("nice -n 5 java -Xss1m -Xss2m A"), java(false, "-Xss2m", "nice -n 5 java A"));
        assert_eq!(parts("sh -c 'exec java -Xmx1g A'"), java(false, "-Xmx1g", "sh -c exec java A"));
        assert_eq!(parts("java @options A"), java(true, "@options", "java A"));
    }

    #[test]
    fn a_folder_with_a_runtimes_name_is_none() {
        let none = |options: &str, others: &str| (None, false, options.to_owned(), others.to_owned());
        assert_eq!(
            parts("sh start.sh -Xmx1g --home /opt/java -Dx=1"),
            none("-Xmx1g -Dx=1", "sh start.sh --home /opt/java")
        );
        assert_eq!(parts("sh start.sh home=/opt/jruby"), none("", "sh start.sh home=/opt/jruby"));
        let java = |options: &str, others: &str| (Some(Named::Java), false, options.to_owned(), others.to_owned());
        assert_eq!(parts("sh -c 'exec /opt/bin/java -Xmx1g A'"), java("-Xmx1g", "sh -c exec /opt/bin/java A"));
        assert_eq!(parts("env A=b /opt/bin/java A"), java("", "env A=b /opt/bin/java A"));
        assert_eq!(parts("sh start.sh -Xmx1g java -Dx=1 A"), java("-Xmx1g -Dx=1", "sh start.sh java A"));
    }

    #[test]
    fn rubies_are_known_by_their_names() {
        let (jruby, ruby) = (Some(Named::Jruby), Some(Named::Ruby));
        let reported = |command: &str| {
            let (named, _, options, others) = parts(command);
            (named, options, others)
        };
        let of = |named, options: &str, others: &str| (named, options.to_owned(), others.to_owned());
        assert_eq!(
            reported("bin/jruby -Xjit.max=1 -J-Xmx1g -Xjit.max=2 -S puma -Xfoo"),
            of(jruby, "-J-Xmx1g -Xjit.max=2 -S", "bin/jruby puma -Xfoo")
        );
        assert_eq!(
            reported("ruby3.1 -I lib --enable yjit a.rb --yjit"),
            of(ruby, "-I lib --enable=yjit", "ruby3.1 a.rb --yjit")
        );
        assert_eq!(reported("bundle exec puma -C puma.rb"), of(None, "", "bundle exec puma -C puma.rb"));
        assert_eq!(reported("sh start.sh -Xmx64m fast --yjit"), of(None, "-Xmx64m --yjit", "sh start.sh fast"));
        assert_eq!(reported("rubyfmt -x a"), of(None, "", "rubyfmt -x a"));
    }
}
