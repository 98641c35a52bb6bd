//! Which runtime serves: the one answer to that.

use indexmap::IndexMap;
use runtimes::jruby;
use serde::Deserialize;

use super::{Inside, Serving};
use crate::proc;
use crate::runtime::Installed;

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

impl Serving {
    /// By what a Ruby in it reported of itself, else by what is seen from outside; `has_property` says whether its JVM has a system
    /// property, and is asked last, since that costs the server CPU.
    pub fn runtime(&self, inside: Option<&Inside>, has_property: impl FnOnce(&str) -> bool) -> RuntimeKind {
        if let Some(inside) = inside {
            return inside.engine;
        }
        if self.runs_mri() {
            return RuntimeKind::Ruby;
        }
        let Ok(Some(jvm)) = self.jvm() else { return RuntimeKind::Other };
        let home = format!("-D{}=", jruby::HOME);
        let is_jruby =
            proc::command_line(jvm.pid).iter().any(|word| word.starts_with(&home)) || has_property(jruby::HOME);
        if is_jruby { RuntimeKind::Jruby } else { RuntimeKind::Java }
    }

    /// The versions of `jdk`, `jruby` and `ruby` in it, in that order: what it reports goes before what was installed.
    pub fn versions(&self, inside: Option<&Inside>, installed: &Installed) -> IndexMap<String, String> {
        let mut reported = inside.map(Inside::versions).unwrap_or_default();
        if let Ok(Some(jvm)) = self.jvm()
            && let Ok(jdk) = jvm.jdk()
        {
            reported.entry("jdk".to_owned()).or_insert_with(|| jdk.version.clone());
        }
        let known = |name: &str| reported.get(name).or_else(|| installed.versions.get(name)).cloned();
        ["jdk", "jruby", "ruby"].into_iter().filter_map(|name| Some((name.to_owned(), known(name)?))).collect()
    }
}
