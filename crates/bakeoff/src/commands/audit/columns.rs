//! Which columns a result file of JMeter has, by the settings of JMeter beside it.

use std::fs;
use std::path::{Path, PathBuf};

use import::JtlColumns;

use super::files::STDIN;

/// Most bytes of a file of JMeter's settings; the one that it brings has 56,000.
const LONGEST_SETTINGS: u64 = 1 << 18;

/// The columns of result files that a file gives, where it is one of JMeter's settings.
pub fn columns_in(path: &Path) -> Option<JtlColumns> {
    let is_short_file = fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= LONGEST_SETTINGS);
    is_short_file
        .then(|| fs::read(path).ok())
        .flatten()
        .and_then(|text| import::jtl_columns(&String::from_utf8_lossy(&text)))
}

/// The columns that the `.properties` in a file's folder give. What a later one by name sets is stronger: `user.properties` after
/// `jmeter.properties`.
pub fn beside(path: &Path) -> Option<JtlColumns> {
    if path == Path::new(STDIN) {
        return None;
    }
    // The parent of a bare name is empty, and means the working directory.
    let folder = path.parent().map(|parent| if parent == Path::new("") { Path::new(".") } else { parent })?;
    let inside = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut properties: Vec<PathBuf> =
        inside.filter(|path| path.extension().is_some_and(|extension| extension == "properties")).collect();
    properties.sort();
    merged(properties.iter().filter_map(|path| columns_in(path)))
}

/// All of these, the later ones in the place of what earlier ones say, too.
pub fn merged(columns: impl Iterator<Item = JtlColumns>) -> Option<JtlColumns> {
    columns.reduce(JtlColumns::overridden_by)
}
