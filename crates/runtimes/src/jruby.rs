//! JRuby and its launcher.

use crate::given::last_of_each;
use crate::{Given, jvm};

/// The property that says where JRuby is installed: its launcher sets it, and so does bakeoff.
pub const HOME: &str = "jruby.home";

/// What JRuby opens for itself in its `bin/.jruby.module_opts`; for the class path, where its jar is an unnamed module.
pub const OPENS: [&str; 4] =
    ["java.base/java.io", "java.base/java.nio.channels", "java.base/sun.nio.ch", "java.management/sun.management"];

/// What JRuby's launcher gives every thread, so that deep recursion ends where Ruby programs expect it.
pub const STACK: &str = "-Xss2048k";

/// How the names of jruby-rack's properties begin, without `jruby.`, or all of one (its README, "JRuby-Rack Configuration", and its
/// `DefaultRackConfig`). They are its own affair: JRuby lists none of them.
const OF_RACK: [&str; 8] = [
    "rack.",
    "runtime.",
    "min.runtimes",
    "max.runtimes",
    "pool.minIdle",
    "pool.maxActive",
    "init.serial",
    "compat.version",
];

/// Whether a property is jruby-rack's, which runs Ruby programs in a servlet container.
pub fn is_of_rack(name: &str) -> bool {
    OF_RACK.iter().any(|known| if known.ends_with('.') { name.starts_with(known) } else { name == *known })
}

/// An option as a property of Java's.
pub fn property(name: &str, value: &str) -> String {
    format!("-Djruby.{name}={value}")
}

/// A word for the launcher by what it sets: `-J` goes before options of the JVM, and `-Xname=value` is an option of JRuby's own.
pub fn given(word: &str) -> Given {
    match (word.strip_prefix("-J"), own(word)) {
        (Some(option), _) => Given { name: word.to_owned(), ..jvm::given(option) },
        (None, Some((name, value))) => Given { name: word.to_owned(), ..Given::jruby(name, value) },
        (None, None) => Given::argument(word),
    }
}

/// The option of the JVM in a word for the launcher.
pub fn of_jvm(given: &Given) -> Given {
    let name = given.name.strip_prefix("-J").unwrap_or(&given.name);
    Given { name: name.to_owned(), ..given.clone() }
}

/// The words in a text of them; of one that is given twice the last counts.
pub fn options(text: &str) -> Result<Vec<Given>, String> {
    Ok(launched_with(shell_words::split(text).map_err(|error| error.to_string())?))
}

/// The same of words.
pub fn launched_with(words: impl IntoIterator<Item = String>) -> Vec<Given> {
    last_of_each(words.into_iter().map(|word| given(&word)).collect())
}

/// Name and value of `-Xname=value`, an option of JRuby's own.
fn own(word: &str) -> Option<(&str, &str)> {
    word.strip_prefix("-X")?.split_once('=').filter(|(name, _)| !name.contains(':'))
}

/// What the launcher makes of a word for the JVM, if it makes something: `-J-Xmx1g`, `-Xcompile.mode=OFF` and `-Xjit.logging` become
/// `-Xmx1g`, `-Djruby.compile.mode=OFF` and `-Djruby.jit.logging` (`-X` and a name with a dot in it: jruby.sh of 9.4 and 10.1).
pub fn handed_to_jvm(word: &str) -> Option<String> {
    let is_own = |name: &&str| name.split('=').next().is_some_and(|name| name.contains('.') && !name.contains(':'));
    let own = || word.strip_prefix("-X").filter(is_own).map(|own| format!("-Djruby.{own}"));
    word.strip_prefix("-J").map(str::to_owned).or_else(own)
}

/// Whether JRuby takes both for the same value of an option: it reads booleans in any case.
pub fn same_value(one: &str, other: &str) -> bool {
    one.trim().eq_ignore_ascii_case(other.trim())
}

/// Why it does not start, in what it said: without what every such report begins with.
pub fn refusal(said: &str) -> &str {
    let why = |line: &&str| line.contains("Exception") && !line.contains("ExceptionInInitializerError");
    let line = said.lines().find(why).or_else(|| said.lines().next()).unwrap_or_default();
    line.trim_start_matches("Exception in thread \"main\" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;

    #[test]
    fn the_launcher_hands_on_its_own_options_and_the_jvms() {
        let handed = |word: &str| handed_to_jvm(word).unwrap_or_else(|| "-".to_owned());
        assert_eq!(handed("-J-Xmx1g"), "-Xmx1g");
        assert_eq!(handed("-Xcompile.mode=OFF"), "-Djruby.compile.mode=OFF");
        assert_eq!(handed("-Xmx1g"), "-", "neither JRuby's option nor the JVM's");
        assert_eq!(handed("-Xjit.logging"), "-Djruby.jit.logging");
        assert_eq!(handed("-XX:HeapDumpPath=/a.b"), "-");
        assert_eq!(handed("-Xlog:gc=debug:file=a.log"), "-");
        assert_eq!(handed("--dev"), "-");
    }

    #[test]
    fn words_of_the_launcher_set_what_they_name() {
        let key = |word: &str| given(word).key;
        assert_eq!(key("-Xcompile.mode=OFF"), Key::Jruby("compile.mode".to_owned()));
        assert_eq!(key("-J-Xmx1g"), Key::JvmFlag("MaxHeapSize".to_owned()));
        assert_eq!(of_jvm(&given("-J-Xmx1g")), jvm::given("-Xmx1g"));
        for other in ["-XX:MaxGCPauseMillis=50", "-Xlog:gc=debug", "--dev"] {
            assert_eq!(key(other), Key::Argument(other.to_owned()));
        }
        let last = options("-Xjit.max=1 -J-Xmx1g -Xjit.max=2").unwrap();
        assert_eq!(last.iter().map(|given| given.name.as_str()).collect::<Vec<_>>(), ["-J-Xmx1g", "-Xjit.max=2"]);
    }

    #[test]
    fn what_jruby_rack_reads_is_known_by_its_name() {
        for name in ["rack.logging", "runtime.acquire.timeout", "min.runtimes"] {
            assert!(is_of_rack(name), "{name}");
        }
        for name in ["jit.treshold", "rack", "min.runtime", "min.runtimes.x"] {
            assert!(!is_of_rack(name), "{name}");
        }
    }
}
