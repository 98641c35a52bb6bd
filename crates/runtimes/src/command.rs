//! The words of a command line: options among them are those of the runtime that it names.

use std::path::Path;

use crate::{Given, Key, jruby, jvm, mri};

/// A runtime that a command names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// `java`.
    Java,
    /// `jruby`.
    Jruby,
    /// `ruby`, be it with a version behind its name.
    Ruby,
}

/// A command line, as far as the names in it show.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The runtime that it names.
    pub named: Option<Named>,
    /// Whether the runtime is the program, and reads its options itself.
    pub is_program: bool,
    /// Those of the runtime, each in one word; of the words before it, or where none is named of all, whatever looks like one of
    /// the JVM's or about YJIT.
    pub options: Vec<Given>,
    /// All others.
    pub others: Vec<String>,
}

impl Command {
    /// `can_run` says whether a word names a program that is there.
    pub fn of(command: &str, can_run: impl Fn(&str) -> bool) -> Self {
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
            Some(Named::Java) => jvm::before_program(behind),
            Some(Named::Jruby) => {
                let (options, rest) = mri::before_script(behind);
                (jruby::launched_with(options), rest)
            }
            Some(Named::Ruby) => {
                let (options, rest) = mri::before_script(behind);
                (options.into_iter().map(Given::argument).collect(), rest)
            }
        };
        others.extend(rest);
        let before = before.iter().map(|word| option_of_any(word));
        Self { named, is_program, options: before.chain(own).collect(), others }
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

/// Whether a word may be an option of the JVM's, or about YJIT, whatever reads it.
pub fn looks_like_option(word: &str) -> bool {
    let begins = ["-X", "-D", "-J-", "--yjit", "--add-"];
    begins.iter().any(|begin| word.len() > begin.len() && word.starts_with(begin)) || word == "--yjit"
}

/// An option of which it is not known what reads it: no option of JRuby's or about YJIT looks like one of the JVM's.
pub fn option_of_any(word: &str) -> Given {
    match jruby::given(word) {
        own if !matches!(own.key, Key::Argument(_)) => own,
        about_yjit if word.starts_with("--yjit") => about_yjit,
        _ => jvm::given(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where nothing is a program but what is found on the `PATH`.
    fn parts(command: &str) -> (Option<Named>, bool, String, String) {
        let Command { named, is_program, options, others } = Command::of(command, |word| !word.contains('/'));
        let options: Vec<String> = options.into_iter().map(|option| option.name).collect();
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
