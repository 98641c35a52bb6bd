//! Checksums of what a program is made of, down to archives inside of folders and of archives.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use crate::hash;

/// The file or folder `path`, called `name`, and every archive inside of it: names and checksums. What cannot be read is left
/// out.
pub(crate) fn checksums(name: &str, path: &Path) -> Vec<(String, String)> {
    let whole = hash::sha256(path).map(|hash| (name.to_owned(), hash));
    let inside = if path.is_dir() { in_folder(name, path) } else { in_archive(name, path) };
    whole.into_iter().chain(inside).collect()
}

/// Whether it is an archive of Java's.
pub(crate) fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["jar", "war", "ear"].iter().any(|archive| extension == *archive))
}

fn in_folder(name: &str, folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let named = |path: &PathBuf| format!("{name}/{}", path.file_name().unwrap_or_default().display());
    let inside = paths.iter().map(|path| match path {
        path if path.is_dir() => in_folder(&named(path), path),
        path if is_archive(path) => checksums(&named(path), path),
        _ => Vec::new(),
    });
    inside.flatten().collect()
}

/// By the checksum that an archive keeps of each part (CRC-32): enough to see that one was exchanged.
fn in_archive(name: &str, path: &Path) -> Vec<(String, String)> {
    let Some(mut archive) =
        is_archive(path).then(|| File::open(path).ok()).flatten().and_then(|file| ZipArchive::new(file).ok())
    else {
        return Vec::new();
    };
    let mut inside = Vec::new();
    for index in 0..archive.len() {
        let Ok(part) = archive.by_index_raw(index) else { continue };
        let Ok(within) = part.name() else { continue };
        if is_archive(Path::new(&*within)) {
            inside.push((format!("{name}!/{within}"), format!("crc32:{:08x}", part.crc32())));
        }
    }
    inside
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn war(path: &Path, library: &[u8]) {
        let mut war = ZipWriter::new(File::create(path).unwrap());
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for (name, text) in [("WEB-INF/lib/json.jar", library), ("WEB-INF/web.xml", b"<web-app/>")] {
            war.start_file(name, stored).unwrap();
            war.write_all(text).unwrap();
        }
        war.finish().unwrap();
    }

    #[test]
    fn an_exchanged_jar_inside_a_war_or_a_folder_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lib/app.war");
        fs::create_dir(dir.path().join("lib")).unwrap();
        let sums = |library: &[u8]| {
            war(&path, library);
            checksums("lib", &dir.path().join("lib"))
        };
        // CRC-32 of "123456789" is the check value of its definition.
        let (one, other) = (sums(b"123456789"), sums(b"123456780"));
        let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["lib", "lib/app.war", "lib/app.war!/WEB-INF/lib/json.jar"]);
        assert_eq!(one[2].1, "crc32:cbf43926");
        assert!(one.iter().zip(&other).all(|(one, other)| one.0 == other.0 && one.1 != other.1));
    }
}
