//! The runtimes that may serve.

use serde::Deserialize;

/// What runs the program that serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub(crate) enum RuntimeKind {
    /// JRuby, on a JVM.
    Jruby,
    /// Another Ruby: MRI.
    Ruby,
    /// A JVM in which no JRuby is seen.
    Java,
    /// None of these.
    Other,
}

impl RuntimeKind {
    /// As a study file calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jruby => "jruby",
            Self::Ruby => "ruby",
            Self::Java => "java",
            Self::Other => "command",
        }
    }
}

/// By what a Ruby calls itself, its `RUBY_ENGINE`.
impl From<String> for RuntimeKind {
    fn from(name: String) -> Self {
        if name == "jruby" { Self::Jruby } else { Self::Ruby }
    }
}
