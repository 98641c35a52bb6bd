//! The host as checks look at it, and what they say of it.

use std::fs;
use std::path::{Path, PathBuf};

use model::fitness::{Fitness, HostCheck};

/// The kernel's and the system's files, below a root of their own in tests.
pub(super) struct Files {
    pub root: PathBuf,
}

impl Files {
    pub(super) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file's text without the blanks around it; `None` where it cannot be read or is empty.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let text = fs::read_to_string(self.path(path)).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a folder, sorted.
    pub(super) fn names(&self, folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}

pub(super) fn fit(subject: &str, found: impl Into<String>) -> HostCheck {
    HostCheck { subject: subject.to_owned(), fitness: Fitness::Fit, found: found.into(), cure: None }
}

pub(super) fn unknown(subject: &str, found: impl Into<String>) -> HostCheck {
    HostCheck { fitness: Fitness::Unknown, ..fit(subject, found) }
}

pub(super) fn doubtful(subject: &str, found: impl Into<String>, cure: impl Into<String>) -> HostCheck {
    HostCheck { fitness: Fitness::Doubtful, cure: Some(cure.into()), ..fit(subject, found) }
}

pub(super) fn unfit(subject: &str, found: impl Into<String>, cure: impl Into<String>) -> HostCheck {
    HostCheck { fitness: Fitness::Unfit, cure: Some(cure.into()), ..fit(subject, found) }
}
