//! What a setting sets, whatever it sets it to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::jvm;

/// What a setting sets in the process, whatever value it sets it to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "key", rename_all = "kebab-case")]
pub enum Key {
    /// An option of JRuby, named without its `jruby.` prefix.
    Jruby(String),
    /// A flag of the JVM, by its name: `UseG1GC` of `-XX:+UseG1GC`, `MaxHeapSize` of `-Xmx1g`.
    JvmFlag(String),
    /// An option of the JVM that is no flag and no property: the whole of it, such as `-Xlog:gc`.
    JvmOption(String),
    /// A system property of Java's.
    Property(String),
    /// An environment variable.
    Env(String),
    /// An argument of the server or an option of its runtime: the whole of it.
    Argument(String),
    /// The runtime, its version, its JDK, or the program it runs.
    Runtime(RuntimePart),
    /// What the study wants to see with its own eyes: an `[[assertion]]`, by its name.
    Assertion(String),
    /// What its control group allows.
    Limit(Limit),
}

impl Key {
    /// What it is called: a name, or for options and arguments without one the whole text.
    pub fn name(&self) -> &str {
        match self {
            Self::Jruby(name)
            | Self::JvmFlag(name)
            | Self::JvmOption(name)
            | Self::Property(name)
            | Self::Env(name)
            | Self::Argument(name)
            | Self::Assertion(name) => name,
            Self::Runtime(part) => part.name(),
            Self::Limit(limit) => limit.name(),
        }
    }

    /// Whether one adds to those given before it, such as `--add-opens=…`, rather than taking their place. Each word of a list of
    /// arguments is another argument, as far as anybody but the program knows.
    pub fn adds(&self) -> bool {
        match self {
            Self::JvmFlag(name) => jvm::is_list(name),
            Self::JvmOption(_) | Self::Argument(_) | Self::Runtime(RuntimePart::Jars) => true,
            _ => false,
        }
    }

    /// Whether it is an option of the JVM's command line.
    pub fn is_of_jvm(&self) -> bool {
        matches!(self, Self::JvmFlag(_) | Self::JvmOption(_) | Self::Property(_))
    }
}

/// A part of what runs, by its key in a study file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RuntimePart {
    /// What kind of runtime it is.
    Runtime,
    /// Its version.
    Version,
    /// Its JDK.
    Jdk,
    /// A command line.
    Command,
    /// A script of Ruby's.
    Script,
    /// A class, or its source.
    Main,
    /// An archive that is run.
    Jar,
    /// One of the class path's entries.
    Jars,
    /// The working folder.
    Dir,
}

impl RuntimePart {
    const ALL: [Self; 9] = [
        Self::Runtime,
        Self::Version,
        Self::Jdk,
        Self::Command,
        Self::Script,
        Self::Main,
        Self::Jar,
        Self::Jars,
        Self::Dir,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Version => "version",
            Self::Jdk => "jdk",
            Self::Command => "command",
            Self::Script => "script",
            Self::Main => "main",
            Self::Jar => "jar",
            Self::Jars => "jars",
            Self::Dir => "dir",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.name() == name)
    }

    /// Whether it is a file, or several.
    pub fn is_file(self) -> bool {
        matches!(self, Self::Script | Self::Main | Self::Jar | Self::Jars)
    }
}

/// What a control group limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// CPU time, in cores.
    Cpus,
    /// Memory.
    Memory,
}

impl Limit {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Cpus, Self::Memory];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpus => "cpus",
            Self::Memory => "memory",
        }
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}
