//! Options of a server's runtime: the variables that runtimes read them from, what JRuby's launcher makes of them, and what became of them.

use serde::{Deserialize, Serialize};

use crate::study::SettingKind;

/// Variables of options of the JVM: read by itself, and by the `java` program.
pub const OF_JAVA: [&str; 3] = ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"];

/// The variable of options of Ruby: read by itself.
pub const OF_RUBY: &str = "RUBYOPT";

/// Whether a runtime reads a variable of options by itself, whoever starts it.
pub fn is_read_by_runtime(variable: &str) -> bool {
    OF_JAVA.contains(&variable) || variable == OF_RUBY
}

/// Name and value of `-Xname=value`, an option of JRuby's own.
pub fn of_jruby(word: &str) -> Option<(&str, &str)> {
    word.strip_prefix("-X")?.split_once('=').filter(|(name, _)| !name.contains(':'))
}

/// What JRuby's launcher makes of a word for the JVM, if it makes something: `-J-Xmx1g`, `-Xcompile.mode=OFF` and `-Xjit.logging` become
/// `-Xmx1g`, `-Djruby.compile.mode=OFF` and `-Djruby.jit.logging` (`-X` and a name with a dot in it: jruby.sh of 9.4 and 10.1).
pub fn handed_to_jvm(word: &str) -> Option<String> {
    let is_own = |name: &&str| name.split('=').next().is_some_and(|name| name.contains('.') && !name.contains(':'));
    let own = || word.strip_prefix("-X").filter(is_own).map(|own| format!("-Djruby.{own}"));
    word.strip_prefix("-J").map(str::to_owned).or_else(own)
}

/// What a process has of a setting that some variant's treatment asks for, whether its own does or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveOptions {
    /// Where it lives.
    pub kind: SettingKind,
    /// Its name in the study.
    pub name: String,
    /// Its value in the study.
    pub value: String,
    /// All that it sets, in the runtime's own terms: `NewSize = 41943040, MaxNewSize = 41943040`; secrets masked.
    pub live: String,
}

/// An option variable of the study's that a process which serves has with another value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedOptions {
    /// The variable.
    pub variable: String,
    /// The value that the server was launched with, secrets masked.
    pub requested: String,
    /// The value that the process was started with, secrets masked.
    pub live: String,
    /// The command line of the process, secrets masked.
    pub command: Vec<String>,
}

impl ChangedOptions {
    /// The options asked for that the process has neither in the variable nor as an argument, in the order asked. A launcher
    /// that moves an option from the variable to the command line loses nothing, and their order does not matter.
    pub fn lost(&self) -> Vec<String> {
        let command = self.command.join(" ");
        let has: Vec<String> = words(&self.live).chain(words(&command)).collect();
        words(&self.requested).filter(|word| !has.contains(word)).collect()
    }
}

/// The words of an option variable, without quotes: whoever reads it may take these away or not.
fn words(options: &str) -> impl Iterator<Item = String> {
    options.split_whitespace().map(|word| word.replace(['"', '\''], "")).filter(|word| !word.is_empty())
}

/// `RUBYOPT` without the probe that bakeoff put into it, `-r/…/probe.rb`; Bundler may have put something before.
pub fn without_probe(rubyopt: &str) -> String {
    let is_probe = |word: &&str| word.starts_with("-r/") && word.ends_with("/probe.rb");
    match rubyopt.split(' ').find(is_probe) {
        Some(probe) => rubyopt.split(' ').filter(|word| *word != probe).collect::<Vec<_>>().join(" "),
        None => rubyopt.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jrubys_launcher_hands_on_its_own_options_and_the_jvms() {
        let handed = |word: &str| handed_to_jvm(word).unwrap_or_else(|| "-".to_owned());
        assert_eq!(handed("-J-Xmx1g"), "-Xmx1g");
        assert_eq!(handed("-Xcompile.mode=OFF"), "-Djruby.compile.mode=OFF");
        assert_eq!(handed("-Xmx1g"), "-", "neither JRuby's option nor the JVM's");
        assert_eq!(handed("-Xjit.logging"), "-Djruby.jit.logging");
        assert_eq!(handed("-XX:HeapDumpPath=/a.b"), "-");
        assert_eq!(handed("-Xlog:gc=debug:file=a.log"), "-");
        assert_eq!(handed("--dev"), "-");
        assert_eq!(of_jruby("-Xcompile.mode=OFF"), Some(("compile.mode", "OFF")));
        assert_eq!((of_jruby("-XX:MaxGCPauseMillis=50"), of_jruby("-Xlog:gc=debug")), (None, None));
    }

    #[test]
    fn what_is_neither_in_the_variable_nor_in_the_command_is_lost() {
        let lost = |requested: &str, live: &str, command: &str| {
            let command = command.split(' ').map(str::to_owned).collect();
            let (requested, live) = (requested.to_owned(), live.to_owned());
            ChangedOptions { variable: "JAVA_OPTS".to_owned(), requested, live, command }.lost()
        };
        let requested = "-XX:+UseG1GC -Xmx1g";
        assert_eq!(lost(requested, "-XX:+UseThreadPriorities", "java Main"), ["-XX:+UseG1GC", "-Xmx1g"]);
        assert_eq!(lost(requested, "-Xmx1g", "java Main"), ["-XX:+UseG1GC"]);
        assert_eq!(lost(requested, "", "java -Xmx1g Main"), ["-XX:+UseG1GC"], "moved to the command line");
        assert_eq!(lost(requested, "-Xmx1g2 -XX:+UseG1GC", "java"), ["-Xmx1g"], "words are whole");
        let none: [&str; 0] = [];
        assert_eq!(lost(requested, "-Da=b -XX:+UseG1GC -Xmx1g -Dc=d", "java"), none, "added to");
        assert_eq!(lost(requested, "-Xmx1g  -XX:+UseG1GC", "java"), none, "in another order");
        assert_eq!(lost("-Dname='a b'", "", "java -Dname=a b Main"), none, "quotes taken away");
        assert_eq!(lost(" ", "-Xmx1g", "java"), none, "nothing was asked");
    }
}
