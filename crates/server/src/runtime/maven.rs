//! Archives by their Maven coordinates, fetched through the user's own `mvn`: its settings, mirrors and proxies.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use thiserror::Error;

use super::folders::unfinished;
use super::toolbox::Toolbox;
use crate::hash;
use crate::tool::{self, ToolError};

const FETCH_WITHIN: Duration = Duration::from_secs(15 * 60);

/// Pinned: which plugin runs must not depend on what Maven finds newest that day.
const COPY: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";

/// Why an archive could not be fetched.
#[derive(Debug, Error)]
pub enum MavenError {
    /// No Maven.
    #[error("{wanted} is needed and fetched by `mvn`, which is not on the PATH; on Debian: apt-get install maven")]
    NoMaven {
        /// The coordinates.
        wanted: String,
    },
    /// Nothing has these coordinates.
    #[error("{wanted} does not exist where Maven looks; check the version's spelling. Maven said: {said}")]
    NotFound {
        /// The coordinates.
        wanted: String,
        /// Maven's own words.
        said: String,
    },
    /// No connection.
    #[error(
        "{wanted} could not be fetched: the repository cannot be reached. Check the network, and the proxy and mirror in ~/.m2/settings.xml. Maven said: {said}"
    )]
    Unreachable {
        /// The coordinates.
        wanted: String,
        /// Maven's own words.
        said: String,
    },
    /// What came is not what was sent.
    #[error(
        "{wanted} came damaged: its checksum is not the repository's. Try again; if it stays so, ask who runs the mirror. Maven said: {said}"
    )]
    Checksum {
        /// The coordinates.
        wanted: String,
        /// Maven's own words.
        said: String,
    },
    /// The repository does not say what the checksum is, so that nobody knows whether it came whole.
    #[error(
        "{wanted} cannot be verified: the repository has no checksum of it. Try again later, or ask for another version. Maven said: {said}"
    )]
    NoChecksum {
        /// The coordinates.
        wanted: String,
        /// Maven's own words.
        said: String,
    },
    /// Anything else that Maven says.
    #[error("{wanted} could not be fetched. Maven said: {said}")]
    Other {
        /// The coordinates.
        wanted: String,
        /// Maven's own words.
        said: String,
    },
    /// A cached archive is not what was fetched.
    #[error("{path} has changed since it was fetched; delete it to fetch it again", path = path.display())]
    Changed {
        /// The archive.
        path: PathBuf,
    },
    /// Maven gave no answer.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// The cache cannot be used.
    #[error("cannot use the cache {path}: {source}", path = path.display())]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// `group:artifact:version[:classifier]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Coordinates {
    pub group: String,
    pub artifact: String,
    pub version: String,
    pub packaging: &'static str,
    pub classifier: Option<String>,
}

impl fmt::Display for Coordinates {
    /// As the plugin wants them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}", self.group, self.artifact, self.version, self.packaging)?;
        self.classifier.iter().try_for_each(|classifier| write!(f, ":{classifier}"))
    }
}

impl Coordinates {
    /// Coordinates of a jar; `None` for anything that looks like a path.
    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let word = |part: &&str| !part.is_empty() && !part.contains(['/', ' ']);
        let (&[group, artifact, version], classifier) = (parts.first_chunk()?, parts.get(3));
        (parts.len() <= 4 && parts.iter().all(word)).then(|| Self {
            group: group.to_owned(),
            artifact: artifact.to_owned(),
            version: version.to_owned(),
            packaging: "jar",
            classifier: classifier.map(ToString::to_string),
        })
    }

    fn file_name(&self) -> String {
        let classifier = self.classifier.as_ref().map(|classifier| format!("-{classifier}")).unwrap_or_default();
        format!("{}-{}{classifier}.{}", self.artifact, self.version, self.packaging)
    }

    /// The archive in the cache, fetched if it is not there yet, and unchanged since.
    pub fn fetch(&self, toolbox: &Toolbox<'_>) -> Result<PathBuf, MavenError> {
        let folder = toolbox.cache.join("maven").join(&self.group).join(&self.artifact).join(&self.version);
        let path = folder.join(self.file_name());
        let sum = folder.join(format!("{}.sha256", self.file_name()));
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| MavenError::Cache { path, source }
        };
        if path.is_file() {
            let found = hash::sha256(&path).map_err(failed(&path))?;
            let expected = fs::read_to_string(&sum).map_err(failed(&sum))?;
            return if found == expected.trim() { Ok(path) } else { Err(MavenError::Changed { path }) };
        }
        toolbox.announce(&format!("fetching {self} through mvn"));
        let unfinished = unfinished(&folder);
        fs::create_dir_all(&unfinished).map_err(failed(&unfinished))?;
        let fetched = self.copy_to(&unfinished, toolbox);
        let kept = fetched.and_then(|fetched| {
            let hash = hash::sha256(&fetched).map_err(failed(&fetched))?;
            fs::write(&sum, hash).map_err(failed(&sum))?;
            fs::rename(&fetched, &path).map_err(failed(&path))
        });
        let _ = fs::remove_dir_all(&unfinished);
        kept.map(|()| path)
    }

    /// Has Maven copy the archive into `folder`.
    pub fn copy_to(&self, folder: &Path, toolbox: &Toolbox<'_>) -> Result<PathBuf, MavenError> {
        let mvn = tool::on_path("mvn").ok_or_else(|| MavenError::NoMaven { wanted: self.to_string() })?;
        let mut command = Command::new(mvn);
        // -C: a wrong checksum is an error. -U: an earlier failure is not taken for this one's answer.
        command
            .args(["-B", "-q", "-C", "-U", "-Dstyle.color=never", "-Dmdep.useBaseVersion=true", COPY])
            .arg(format!("-Dartifact={self}"))
            .arg(format!("-DoutputDirectory={}", folder.display()))
            // Outside of any project: a pom.xml in the working folder is none of this.
            .current_dir(folder);
        let ended = toolbox.run(&command, FETCH_WITHIN)?;
        let path = folder.join(self.file_name());
        if ended.well && path.is_file() { Ok(path) } else { Err(self.explain(&ended.output)) }
    }

    fn explain(&self, output: &str) -> MavenError {
        // Colours are written even where none are wanted: the text begins after the mark.
        let said = output.lines().find_map(|line| Some(line.split_once("[ERROR] ")?.1));
        let said = said.or(output.lines().next()).unwrap_or("nothing").to_owned();
        let wanted = self.to_string();
        let has = |signs: &[&str]| signs.iter().any(|sign| output.contains(sign));
        if has(&["no checksums available"]) {
            MavenError::NoChecksum { wanted, said }
        } else if has(&["Checksum validation failed", "ChecksumFailure"]) {
            MavenError::Checksum { wanted, said }
        } else if has(&[&format!("Could not find artifact {}:{}:", self.group, self.artifact)]) {
            MavenError::NotFound { wanted, said }
        } else if has(&["Could not transfer", "Unknown host", "Connection refused", "offline mode", "timed out"]) {
            MavenError::Unreachable { wanted, said }
        } else {
            MavenError::Other { wanted, said }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_reported_from_paths() {
        let jar = Coordinates::parse("org.jruby.rack:jruby-rack:1.2.6").unwrap();
        assert_eq!(jar.to_string(), "org.jruby.rack:jruby-rack:1.2.6:jar");
        assert_eq!(jar.file_name(), "jruby-rack-1.2.6.jar");
        assert_eq!(Coordinates::parse("g:a:1:tests").unwrap().file_name(), "a-1-tests.jar");
        for path in ["lib/a.jar", "a:b", "/x:y:z", "a::b", "a:b:c:d:e"] {
            assert_eq!(Coordinates::parse(path), None, "{path}");
        }
    }

    #[test]
    fn maven_failures_are_distinguished() {
        let jar = Coordinates::parse("org.x:bad:1.0").unwrap();
        let explain = |line: &str| jar.explain(&format!("\u{1b}[0m[ERROR] {line} -> [Help 1]\n[ERROR] more"));
        let missing = explain("Unable to find/resolve artifact. Could not find artifact org.x:bad:jar:1.0 in central");
        assert!(matches!(missing, MavenError::NotFound { .. }), "{missing}");
        assert!(missing.to_string().contains("Maven said: Unable to find"), "{missing}");
        let plugin = explain("Could not find artifact org.apache.maven.plugins:maven-dependency-plugin:jar:3.8.1");
        assert!(matches!(plugin, MavenError::Other { .. }), "{plugin}");
        for line in [
            "Could not transfer artifact org.x:bad:pom:1.0 from/to m: Connect to 127.0.0.1:9 failed: Connection refused",
            "Cannot access central in offline mode and the artifact org.x:bad:jar:1.0 has not been downloaded",
        ] {
            assert!(matches!(explain(line), MavenError::Unreachable { .. }));
        }
        let damaged = "Could not transfer artifact org.x:bad:jar:1.0: Checksum validation failed, expected 0";
        assert!(matches!(explain(damaged), MavenError::Checksum { .. }));
        let without =
            "Could not transfer artifact org.x:bad:jar:1.0: Checksum validation failed, no checksums available";
        assert!(matches!(explain(without), MavenError::NoChecksum { .. }));
    }
}
