//! Whether this host is fit to measure on: one look at what makes results noisy, untrue, or impossible to get.

mod container;
mod cpu;
mod limits;
mod load;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use model::fitness::{Fitness, HostCheck};

/// Looks at everything. Takes `watch` (10 s is enough to see steal and competing load) unless it is interrupted, and what
/// asking the JDKs and Rubies takes.
pub fn examine(watch: Duration, interrupted: &AtomicBool) -> Vec<HostCheck> {
    let host = Files::new("/");
    let mut checks = cpu::checks(&host);
    checks.extend(limits::checks(&host));
    checks.extend(load::checks(watch, interrupted));
    checks.extend(tools::checks());
    checks
}

/// The kernel's and the system's files, below a root of their own in tests.
struct Files {
    root: PathBuf,
}

impl Files {
    fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file's text without the blanks around it; `None` where it cannot be read or is empty.
    fn text(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.path(path)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a folder, sorted.
    fn names(&self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

fn fit(subject: &str, found: impl Into<String>) -> HostCheck {
    HostCheck { subject: subject.to_owned(), fitness: Fitness::Fit, found: found.into(), cure: None }
}

fn unknown(subject: &str, found: impl Into<String>) -> HostCheck {
    HostCheck { fitness: Fitness::Unknown, ..fit(subject, found) }
}

fn doubtful(subject: &str, found: impl Into<String>, cure: impl Into<String>) -> HostCheck {
    HostCheck { fitness: Fitness::Doubtful, cure: Some(cure.into()), ..fit(subject, found) }
}

fn unfit(subject: &str, found: impl Into<String>, cure: impl Into<String>) -> HostCheck {
    HostCheck { fitness: Fitness::Unfit, cure: Some(cure.into()), ..fit(subject, found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files as a host has them, by path.
    pub(super) fn host(files: &[(&str, &str)]) -> (tempfile::TempDir, Files) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let files = Files::new(root.path());
        (root, files)
    }

    /// The fitness of one check on such a host.
    pub(super) fn fitness(checks: &[HostCheck], subject: &str) -> Fitness {
        let found = checks.iter().find(|check| check.subject == subject);
        found.unwrap_or_else(|| panic!("no check of {subject}")).fitness
    }

    #[test]
    fn this_host_can_be_examined_and_whatever_is_wrong_has_a_cure() {
        let checks = examine(Duration::from_millis(50), &AtomicBool::new(false));
        assert!(checks.len() > 15, "{checks:?}");
        let subjects: std::collections::BTreeSet<&str> = checks.iter().map(|check| check.subject.as_str()).collect();
        assert_eq!(subjects.len(), checks.len(), "each subject once");
        for check in checks {
            assert_eq!(check.cure.is_some(), check.fitness >= Fitness::Doubtful, "{check:?}");
            assert!(!check.found.is_empty(), "{check:?}");
        }
    }
}
