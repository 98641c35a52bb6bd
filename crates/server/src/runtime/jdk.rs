//! JDKs on this machine.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use thiserror::Error;

use super::folders::{folders_in, manager, version_matches, version_numbers};
use crate::tool;

/// Why no JDK fits.
#[derive(Debug, Error)]
pub enum JdkError {
    /// None of the wanted version.
    #[error(
        "no JDK {wanted} here; found {}. On Debian: apt-get install openjdk-{}-jdk-headless; or give a JDK's folder as `jdk`",
        list(found),
        alternatives(wanted).next().unwrap_or(wanted)
    )]
    NotFound {
        /// The wanted version.
        wanted: String,
        /// What is here.
        found: Vec<Jdk>,
    },
    /// None at all.
    #[error(
        "no JDK here; looked at PATH, JAVA_HOME, /usr/lib/jvm, SDKMAN, asdf and mise. On Debian: apt-get install openjdk-21-jdk-headless"
    )]
    None,
    /// A folder that is no JDK.
    #[error("{path} is no JDK: it has no bin/java that runs; found elsewhere: {}", list(found), path = path.display())]
    NotOne {
        /// The folder.
        path: PathBuf,
        /// What is here.
        found: Vec<Jdk>,
    },
}

fn list(found: &[Jdk]) -> String {
    if found.is_empty() {
        return "none".to_owned();
    }
    found.iter().map(|jdk| format!("{} ({})", jdk.version, jdk.home.display())).collect::<Vec<_>>().join(", ")
}

/// An installed JDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// Its folder.
    pub home: PathBuf,
    /// Such as `17.0.15`.
    pub version: String,
}

impl Jdk {
    /// One of its programs.
    pub fn tool(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// `17` of `17.0.15`, `8` of `1.8.0`; `None` where that is no number.
    pub fn major(&self) -> Option<u32> {
        let version = self.version.strip_prefix("1.").unwrap_or(&self.version);
        version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    }

    /// Whether it is of this version: `17`, `17.0.15`; `8` is `1.8.0` as well.
    pub fn is(&self, wanted: &str) -> bool {
        let version = self.version.strip_prefix("1.").filter(|_| !wanted.starts_with("1.")).unwrap_or(&self.version);
        version_matches(version, wanted)
    }

    /// The JDK that a library of a virtual machine belongs to; `None` where what is around it has no tools.
    pub fn around(library: &Path) -> Option<Self> {
        let is_home = |folder: &&Path| folder.join("bin/jcmd").is_file() && folder.join("release").is_file();
        library.ancestors().find(is_home).and_then(Self::at)
    }

    fn at(home: &Path) -> Option<Self> {
        let home = home.canonicalize().ok()?;
        let java = home.join("bin/java");
        if !java.is_file() {
            return None;
        }
        let release = fs::read_to_string(home.join("release")).unwrap_or_default();
        match release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=")) {
            Some(version) => Some(Self { home, version: version.trim_matches('"').to_owned() }),
            None => Self::query(&java),
        }
    }

    /// What a `java` says about itself: version managers put scripts in its place.
    fn query(java: &Path) -> Option<Self> {
        let mut command = Command::new(java);
        let ran = tool::run(command.args(["-XshowSettings:properties", "-version"]), Duration::from_secs(20)).ok()?;
        let text = ran.output();
        let property = |name: &str| {
            text.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().strip_prefix("= ").map(str::to_owned))
        };
        Some(Self { home: property("java.home")?.into(), version: property("java.version")? })
    }
}

/// All JDKs found, newest first. Java runtimes without tools are left out.
pub(super) fn installed() -> Vec<Jdk> {
    let mut found: Vec<Jdk> = Vec::new();
    let on_path = tool::all_on_path("java").filter_map(|java| {
        let home = java.canonicalize().ok()?.parent()?.parent()?.to_owned();
        Jdk::at(&home).or_else(|| Jdk::query(&java))
    });
    for jdk in on_path.chain(places().iter().filter_map(|home| Jdk::at(home))) {
        if jdk.tool("jcmd").is_file() && !found.contains(&jdk) {
            found.push(jdk);
        }
    }
    found.sort_by_cached_key(|jdk| std::cmp::Reverse(version_numbers(jdk.version.trim_start_matches("1."))));
    found
}

fn places() -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    for folder in [
        PathBuf::from("/usr/lib/jvm"),
        manager("SDKMAN_DIR", ".sdkman").join("candidates/java"),
        manager("ASDF_DATA_DIR", ".asdf").join("installs/java"),
        manager("MISE_DATA_DIR", ".local/share/mise").join("installs/java"),
    ] {
        places.extend(folders_in(&folder));
    }
    places
}

/// The versions in `17 or 21`.
pub(crate) fn alternatives(wanted: &str) -> impl Iterator<Item = &str> {
    wanted.split(" or ").map(str::trim)
}

/// The JDK that a study asks for: a version, several as `17 or 21` (the first that is here), a folder (with a slash), or
/// the newest.
pub(crate) fn find(wanted: Option<&str>, dir: &Path) -> Result<Jdk, JdkError> {
    match wanted {
        Some(path) if path.contains('/') => {
            let path = dir.join(path);
            Jdk::at(&path).ok_or_else(|| JdkError::NotOne { path, found: installed() })
        }
        Some(wanted) => {
            let found = installed();
            let fitting = alternatives(wanted).find_map(|wanted| found.iter().find(|jdk| jdk.is(wanted)));
            fitting.cloned().ok_or_else(|| JdkError::NotFound { wanted: wanted.to_owned(), found })
        }
        None => installed().into_iter().next().ok_or(JdkError::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_major_version_finds_its_jdk() {
        let newest = &installed()[0];
        let major = newest.version.split(['.', '+']).next().unwrap();
        let jdk = find(Some(major), Path::new("/")).unwrap();
        assert!(&jdk == newest && jdk.tool("jcmd").is_file(), "{jdk:?}");
        assert_eq!(find(Some(&format!("3 or {major}")), Path::new("/")).unwrap(), jdk);
        let same = find(Some(jdk.home.to_str().unwrap()), Path::new("/")).unwrap();
        assert_eq!(same, jdk);
    }

    #[test]
    fn the_newest_is_the_default() {
        let all = installed();
        assert_eq!(find(None, Path::new("/")).unwrap(), all[0]);
        assert!(all.windows(2).all(|pair| version_numbers(&pair[0].version) >= version_numbers(&pair[1].version)));
    }

    #[test]
    fn a_missing_one_is_an_error_that_lists_the_others() {
        let error = find(Some("3"), Path::new("/")).unwrap_err().to_string();
        assert!(error.contains("no JDK 3 here; found ") && error.contains("openjdk-3-jdk-headless"), "{error}");
        assert!(matches!(find(Some("/tmp"), Path::new("/")), Err(JdkError::NotOne { .. })));
    }

    #[test]
    fn old_versions_have_two_names() {
        let jdk = Jdk { home: "/x".into(), version: "1.8.0_392".into() };
        assert!(jdk.is("8") && jdk.is("1.8") && !jdk.is("1"));
        assert_eq!(jdk.major(), Some(8));
        assert_eq!(Jdk { version: "25-ea".into(), ..jdk }.major(), Some(25));
    }

    #[test]
    fn a_java_without_a_release_file_is_asked() {
        let known = &installed()[0];
        assert_eq!(Jdk::query(&known.tool("java")).unwrap().version, known.version);
    }
}
