//! MRI: a `ruby` that is already on this machine.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use thiserror::Error;

use super::folders::{folders_in, manager, version_matches, version_numbers};
use crate::tool;

/// No Ruby fits.
#[derive(Debug, Error)]
#[error(
    "no Ruby {wanted} here; found {}. Looked at PATH, rbenv, asdf, mise and /opt/rubies; on Debian: apt-get install ruby",
    list(found)
)]
pub struct RubyError {
    /// The wanted version, or `of any version`.
    wanted: String,
    /// What is here.
    found: Vec<Ruby>,
}

fn list(found: &[Ruby]) -> String {
    if found.is_empty() {
        return "none".to_owned();
    }
    found.iter().map(|ruby| format!("{} ({})", ruby.version, ruby.path.display())).collect::<Vec<_>>().join(", ")
}

/// An installed MRI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruby {
    /// Its program.
    pub path: PathBuf,
    /// Such as `3.1.2`.
    pub version: String,
}

impl Ruby {
    fn at(path: &Path) -> Option<Self> {
        // The real path: a version manager's choice must not depend on the folder that the server runs in.
        let program = r#"print [RUBY_ENGINE, RUBY_VERSION, RbConfig.ruby].join("\n")"#;
        let mut command = Command::new(path);
        command.args(["--disable-gems", "-rrbconfig", "-e", program]).env_remove("RUBYOPT").env_remove("RUBYLIB");
        let ran = tool::run(&mut command, Duration::from_secs(20)).ok()?;
        let mut lines = ran.stdout.lines();
        lines.next().filter(|engine| *engine == "ruby")?;
        let version = lines.next()?.to_owned();
        Some(Self { path: PathBuf::from(lines.next()?).canonicalize().ok()?, version })
    }
}

/// All MRIs found: those on the PATH in its order, then the others, newest first.
pub(super) fn installed() -> Vec<Ruby> {
    let mut found: Vec<Ruby> = Vec::new();
    let mut add = |ruby: Ruby| {
        if !found.contains(&ruby) {
            found.push(ruby);
        }
    };
    tool::all_on_path("ruby").filter_map(|path| Ruby::at(&path)).for_each(&mut add);
    let mut others: Vec<Ruby> = [
        manager("RBENV_ROOT", ".rbenv").join("versions"),
        manager("ASDF_DATA_DIR", ".asdf").join("installs/ruby"),
        manager("MISE_DATA_DIR", ".local/share/mise").join("installs/ruby"),
        PathBuf::from("/opt/rubies"),
    ]
    .iter()
    .flat_map(|folder| folders_in(folder))
    .map(|home| home.join("bin/ruby"))
    .filter(|path| path.is_file())
    .filter_map(|path| Ruby::at(&path))
    .collect();
    others.sort_by_cached_key(|ruby| Reverse(version_numbers(&ruby.version)));
    others.into_iter().for_each(&mut add);
    found
}

/// The first of them that is of the wanted version.
pub(super) fn find(wanted: Option<&str>) -> Result<Ruby, RubyError> {
    let found = installed();
    let fits = |ruby: &&Ruby| wanted.is_none_or(|wanted| version_matches(&ruby.version, wanted));
    match found.iter().find(fits) {
        Some(ruby) => Ok(ruby.clone()),
        None => Err(RubyError { wanted: wanted.unwrap_or("of any version").to_owned(), found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ruby_is_found_by_the_beginning_of_its_version() {
        let any = find(None).unwrap();
        let (major, _) = any.version.split_once('.').unwrap();
        assert!(find(Some(major)).is_ok());
        let error = find(Some("0.9")).unwrap_err().to_string();
        assert!(error.contains("no Ruby 0.9 here") && error.contains(&any.version), "{error}");
    }
}
