//! Files and folders that are audited.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

/// The name that stands for standard input.
pub const STDIN: &str = "-";

/// A file, or all files of a folder and of the folders in it, by name; links in it are not followed.
pub fn files_in(path: &Path) -> Vec<Result<PathBuf, String>> {
    if !path.is_dir() {
        return vec![Ok(path.to_owned())];
    }
    let inside = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut inside = match inside {
        Ok(inside) => inside,
        Err(error) => return vec![Err(format!("{}: {error}", path.display()))],
    };
    if inside.is_empty() {
        return vec![Err(format!("{}: nothing is in this folder", path.display()))];
    }
    inside.sort_by_key(DirEntry::path);
    let is_real = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file());
    inside.iter().filter(|entry| is_real(entry)).flat_map(|entry| files_in(&entry.path())).collect()
}
