//! Environment variables that carry options, and who reads them.

use crate::{Given, Key, jruby, jvm, mri};

/// Variables of options of the JVM: read by itself, and by the `java` program.
const OF_JAVA: [&str; 3] = ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", BY_JAVA];

/// Which `java` reads, from 9 on.
const BY_JAVA: &str = "JDK_JAVA_OPTIONS";

/// The variable of options of Ruby: read by itself.
pub const OF_RUBY: &str = "RUBYOPT";

/// Options of JRuby, which its launcher reads.
const OF_JRUBY: &str = "JRUBY_OPTS";

/// What only start scripts read, such as JRuby's launcher and those of application servers.
const OF_SCRIPTS: [&str; 9] = [
    "JAVA_OPTS",
    "JAVA_MEM",
    "JAVA_STACK",
    "CATALINA_OPTS",
    "JVM_OPTS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "JAVA_OPTIONS",
    "ES_JAVA_OPTS",
];

/// Libraries that the dynamic linker loads before a program's own, ld.so(8).
const OF_LINKER: &str = "LD_PRELOAD";

/// The variable from which start scripts learn which JDK to take.
pub const JAVA_HOME: &str = "JAVA_HOME";

/// Variables that say where Ruby's gems are.
pub const OF_GEMS: [&str; 6] = ["GEM_PATH", "GEM_HOME", "BUNDLE_GEMFILE", "BUNDLE_PATH", "BUNDLE_WITHOUT", "RUBYLIB"];

/// What a variable carries, by who reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionVariable {
    /// Options of the JVM, read by itself or by `java`, whoever starts it.
    Java,
    /// Options of Ruby, read by itself.
    Ruby,
    /// Options of JRuby, read by its launcher.
    Jruby,
    /// Options of the JVM, read by start scripts.
    Scripts,
    /// What looks like options of the JVM by its words, such as `<APP>_OPTS` of Gradle's scripts.
    Words,
    /// Libraries for the dynamic linker.
    Linker,
}

impl OptionVariable {
    /// What a variable carries, by its name or by its words; `None` where that is one value.
    pub fn of(name: &str, value: &str) -> Option<Self> {
        match name {
            OF_RUBY => Some(Self::Ruby),
            OF_JRUBY => Some(Self::Jruby),
            OF_LINKER => Some(Self::Linker),
            _ if OF_JAVA.contains(&name) => Some(Self::Java),
            _ if OF_SCRIPTS.contains(&name) => Some(Self::Scripts),
            _ => is_for_java(value).then_some(Self::Words),
        }
    }

    /// Whether these are options, which a start script may add to or move.
    pub fn is_options(self) -> bool {
        self != Self::Linker
    }

    /// Whether a runtime reads it by itself, whoever starts it.
    pub fn is_read_by_runtime(self) -> bool {
        matches!(self, Self::Java | Self::Ruby)
    }

    /// What it carries, one by one; the reason where that cannot be told apart.
    pub fn words(self, value: &str) -> Result<Vec<Given>, String> {
        match self {
            Self::Java | Self::Scripts | Self::Words => jvm::options(value),
            Self::Jruby => jruby::options(value),
            Self::Ruby => Ok(mri::options(value)),
            Self::Linker => Ok(value.split([':', ' ']).filter(|file| !file.is_empty()).map(Given::argument).collect()),
        }
    }
}

/// Whether Java of this number reads its options from a variable by itself, or `java` does.
pub fn is_read_by_java(name: &str, java: Option<u32>) -> bool {
    OF_JAVA.contains(&name) && (name != BY_JAVA || java != Some(8))
}

/// Whether all words are options of the JVM, and none of JRuby's own (`-Xname=value`).
fn is_for_java(value: &str) -> bool {
    let is_javas = |option: &Given| {
        let is_rubys = matches!(jruby::given(&option.name).key, Key::Jruby(_));
        let begins = ["-X", "-D", "--add-"];
        !is_rubys && begins.iter().any(|begin| option.name.len() > begin.len() && option.name.starts_with(begin))
    };
    jvm::options(value).is_ok_and(|options| !options.is_empty() && options.iter().all(is_javas))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_known_by_name_or_by_their_words() {
        assert_eq!(OptionVariable::of("JAVA_TOOL_OPTIONS", ""), Some(OptionVariable::Java));
        assert_eq!(OptionVariable::of("JAVA_OPTS", "anything"), Some(OptionVariable::Scripts));
        assert_eq!(OptionVariable::of("APP_OPTS", "-Xmx1g -Da=b"), Some(OptionVariable::Words));
        for (name, value) in [("APP_OPTS", "-Xjit.max=1"), ("APP_OPTS", "-v"), ("APP_OPTS", ""), ("MODE", "fast")] {
            assert_eq!(OptionVariable::of(name, value), None, "{name}={value}");
        }
    }

    #[test]
    fn java_8_reads_one_variable_less() {
        assert!(is_read_by_java("JAVA_TOOL_OPTIONS", Some(8)) && is_read_by_java("JDK_JAVA_OPTIONS", Some(9)));
        assert!(!is_read_by_java("JDK_JAVA_OPTIONS", Some(8)) && !is_read_by_java("JAVA_OPTS", Some(17)));
    }
}
