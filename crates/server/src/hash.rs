//! SHA-256 of files.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use sha2::{Digest as _, Sha256};

/// A file, whatever its names: device and inode.
type Identity = (u64, u64);

/// What becomes another when a file is written: its size, and when content and inode last changed, ns. The last cannot be set
/// back.
type Stamp = (u64, [i128; 2]);

/// Files do not change between the trials of a run, and jars are large: each is read once while its stamp stays.
static KNOWN: LazyLock<Mutex<HashMap<Identity, (Stamp, String)>>> = LazyLock::new(Mutex::default);

/// SHA-256 of a file, or of a folder's files with their paths; hexadecimal.
pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() { of_folder(path) } else { of_file(path, &metadata) }
}

fn stamp(metadata: &Metadata) -> (Identity, Stamp) {
    let ns = |seconds: i64, ns: i64| i128::from(seconds) * 1_000_000_000 + i128::from(ns);
    let changed = [ns(metadata.mtime(), metadata.mtime_nsec()), ns(metadata.ctime(), metadata.ctime_nsec())];
    ((metadata.dev(), metadata.ino()), (metadata.len(), changed))
}

fn of_file(path: &Path, metadata: &Metadata) -> io::Result<String> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let (file_id, stamp) = stamp(metadata);
    if let Some((_, hash)) = known().get(&file_id).filter(|(seen, _)| *seen == stamp) {
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
    known().insert(file_id, (stamp, hash.clone()));
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

    #[test]
    fn a_file_is_read_once_whatever_it_is_called_until_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["a", "b"].map(|name| folder.path().join(name));
        fs::write(&file, "abc").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let (identity, stamp) = stamp(&fs::metadata(&file).unwrap());
        let abc = sha256(&file).unwrap();
        KNOWN.lock().unwrap().insert(identity, (stamp, "remembered".to_owned()));
        assert_eq!([sha256(&file).unwrap(), sha256(&link).unwrap()], ["remembered"; 2]);
        // As long as before, and made to look as old.
        let modified = fs::metadata(&file).unwrap().modified().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&file, "abd").unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
        let now = sha256(&file).unwrap();
        assert!(now != "remembered" && now != abc, "{now}");
    }
}
