//! Options of a server's runtime: what became of them.

use runtimes::Key;
use serde::{Deserialize, Serialize};

/// What a process has of a setting that some variant's treatment asks for, whether its own does or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveOptions {
    /// What it sets.
    #[serde(flatten)]
    pub key: Key,
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
