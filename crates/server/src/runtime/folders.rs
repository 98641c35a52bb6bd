//! Where versions of runtimes lie, and how versions compare.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder in `parent` that nobody else uses, for what is renamed when it is complete: what is half done must never be
/// taken for the whole.
pub(super) fn unfinished(parent: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    parent.join(format!("unfinished-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)))
}

/// Renames a complete folder to where it belongs. Somebody else may have been faster: theirs is as good, and stays.
pub(super) fn finish(unfinished: &Path, folder: &Path) -> io::Result<()> {
    match fs::rename(unfinished, folder) {
        Err(_) if folder.is_dir() => Ok(()),
        renamed => renamed,
    }
}

pub(super) fn home() -> PathBuf {
    env::home_dir().unwrap_or_else(|| PathBuf::from("/"))
}

/// The folder of a version manager: what `variable` names, or `default` in the home folder.
pub(super) fn manager(variable: &str, default: &str) -> PathBuf {
    env::var_os(variable).map_or_else(|| home().join(default), PathBuf::from)
}

/// Folders inside `folder`, sorted; none when it is not there.
pub(super) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// A version's numbers, for comparing: `17.0.15+6` is 17, 0, 15, 6.
pub(crate) fn version_numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// Whether `version` is `wanted` or begins with it at a dot.
pub(crate) fn version_matches(version: &str, wanted: &str) -> bool {
    version.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || !rest.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_match_at_their_dots() {
        assert!(version_matches("3.1.2", "3.1"));
        assert!(version_matches("17.0.15", "17"));
        assert!(version_matches("17", "17"));
        assert!(!version_matches("3.10.0", "3.1"));
        assert!(!version_matches("3.1", "3.1.2"));
    }
}
