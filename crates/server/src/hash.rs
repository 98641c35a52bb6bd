//! SHA-256 of files.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::SystemTime;

use sha2::{Digest as _, Sha256};

type Stamp = (u64, Option<SystemTime>);

/// Files do not change between the trials of a run, and jars are large: each is read once while its stamp stays.
static KNOWN: LazyLock<Mutex<HashMap<PathBuf, (Stamp, String)>>> = LazyLock::new(Mutex::default);

/// SHA-256 of a file, or of a folder's files with their paths; hexadecimal.
pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() { of_folder(path) } else { of_file(path, (metadata.len(), metadata.modified().ok())) }
}

fn of_file(path: &Path, stamp: Stamp) -> io::Result<String> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, hash)) = known().get(path).filter(|(seen, _)| *seen == stamp) {
        return Ok(hash.clone());
    }
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 16];
    loop {
        match file.read(&mut chunk)? {
            0 => break,
            length => hasher.update(&chunk[..length]),
        }
    }
    let hash = hex(hasher);
    known().insert(path.to_owned(), (stamp, hash.clone()));
    Ok(hash)
}

fn of_folder(folder: &Path) -> io::Result<String> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        hasher.update(file.file_name().unwrap_or_default().as_encoded_bytes());
        hasher.update([0]);
        hasher.update(sha256(&file)?);
    }
    Ok(hex(hasher))
}

/// SHA-256 of a text, hexadecimal.
pub(crate) fn sha256_of(text: &str) -> String {
    hex(Sha256::new_with_prefix(text))
}

fn hex(hasher: Sha256) -> String {
    let digits = |byte: u8| [byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap_or_default());
    hasher.finalize().iter().flat_map(|byte| digits(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_have_hashes_that_follow_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&file).unwrap(), abc);
        assert_eq!(sha256_of("abc"), abc);
        let before = sha256(folder.path()).unwrap();
        fs::write(&file, "abcd").unwrap();
        assert_ne!(sha256(&file).unwrap(), abc);
        assert_ne!(sha256(folder.path()).unwrap(), before);
    }
}
