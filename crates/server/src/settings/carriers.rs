//! Variables that carry settings: that a process has them says nothing about what became of these.

use indexmap::IndexMap;
use model::{SettingResult, SettingSource};

use super::mri;
use super::{Found, Reader};

/// Options of the JVM: read by itself, and by the `java` program.
pub(super) const OF_JAVA: [&str; 3] = ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"];

/// What only start scripts read, such as JRuby's launcher and those of application servers.
const OF_SCRIPTS: [&str; 8] =
    ["JAVA_OPTS", "JRUBY_OPTS", "JAVA_MEM", "JAVA_STACK", "CATALINA_OPTS", "JVM_OPTS", "MAVEN_OPTS", "GRADLE_OPTS"];

/// Options of Ruby: read by itself.
const OF_RUBY: &str = "RUBYOPT";

/// What begins so is read by Ruby itself, too.
const RUBYS_OWN: &str = "RUBY_";

/// Whether a variable carries options, one word each.
pub(super) fn has_options(name: &str) -> bool {
    OF_JAVA.contains(&name) || OF_SCRIPTS.contains(&name) || name == OF_RUBY
}

/// Why it is not known what a runtime made of a variable that the process has.
const NOBODY_ASKED: &str = "the process has the variable, and only a runtime that bakeoff starts by itself is asked what it makes of it: use \
     `runtime = \"jruby\"`, `\"java\"` or `\"ruby\"`, or see its effect by a `[[proof]]`";

impl Reader<'_> {
    /// What became of a variable that the process has, as `found` says.
    pub(super) fn carried(&self, name: &str, value: &str, found: Found) -> Result<Found, String> {
        let runs_jvm = self.target.installed.jvm.is_some();
        let is_rubys = name == OF_RUBY || name.starts_with(RUBYS_OWN);
        if !is_rubys && !has_options(name) {
            return Ok(found);
        }
        let is_asked = if is_rubys { self.target.installed.runs_ruby } else { runs_jvm };
        if !is_asked {
            let is_empty = value.trim().is_empty();
            return Ok(if is_empty { found } else { Found { live: found.live, ..Found::unverified(NOBODY_ASKED) } });
        }
        if OF_JAVA.contains(&name) {
            return self.java_options(value, found);
        }
        if OF_SCRIPTS.contains(&name) {
            return Ok(unread(
                found,
                "bakeoff starts `java` itself, and only start scripts such as JRuby's launcher read it",
                "docs/study-file.md: `jvm`, `properties` and `jruby` reach it",
            ));
        }
        if name == OF_RUBY {
            let wants_yjit = value.split(' ').any(|option| option == "--yjit");
            return if wants_yjit { self.argument("--yjit", "") } else { Ok(found) };
        }
        if runs_jvm {
            return Ok(unread(
                found,
                "JRuby does not read it: its memory and compiler are the JVM's",
                "JRuby reads RUBYOPT and RUBYLIB; RUBY_* variables are MRI's, ruby(1)",
            ));
        }
        match self.target.inside {
            _ if name.starts_with("RUBY_GC_") => mri::gc_variable(self.target.pid, self.environment(), name, value),
            Some(inside) if name == "RUBY_YJIT_ENABLE" => Ok(mri::yjit(inside, matches!(value, "1" | "true" | "yes"))),
            _ => mri::other_variable(self.target.pid, name, found),
        }
    }

    /// Each option that a variable holds, judged by itself: the first that did not come out well speaks for all.
    fn java_options(&self, value: &str, found: Found) -> Result<Found, String> {
        let words = shell_words::split(value).map_err(|error| error.to_string())?;
        let mut last = found;
        for word in &words {
            last = self.jvm_option(word)?;
            if last.result != SettingResult::InEffect {
                break;
            }
        }
        Ok(last)
    }

    /// The variables with options of the JVM that the process has.
    pub(super) fn carriers(&self) -> IndexMap<String, String> {
        let variables = OF_JAVA.into_iter().filter_map(|name| Some((name, self.environment().get(name)?)));
        variables.map(|(name, value)| (name.to_owned(), value.clone())).collect()
    }
}

fn unread(found: Found, reason: &str, source: &str) -> Found {
    let result = SettingResult::Inert { reason: reason.to_owned(), source: source.to_owned() };
    Found { result, source: SettingSource::Proc, ..found }
}
