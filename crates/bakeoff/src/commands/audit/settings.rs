//! Files of settings, and the results that they belong to.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use model::imported::{Audit, AuditedSettings};

/// Longer files are not read for options, bytes.
const LONGEST: u64 = 64 << 10;

/// What a file assigns, where it assigns options.
pub fn settings_in(path: &Path) -> Option<AuditedSettings> {
    let is_short_file = fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() <= LONGEST);
    let text = is_short_file.then(|| fs::read(path).ok()).flatten()?;
    import::settings(&path.display().to_string(), &text).map(analysis::audit_settings)
}

/// Gives each file of settings to its run: to the one in the same folder whose name is the same up to the first dot, or to the only
/// run if it is the only such file. The others stay by themselves.
pub fn give_to_runs(audit: &mut Audit) {
    let are_single = audit.runs.len() == 1 && audit.settings.len() == 1;
    for settings in std::mem::take(&mut audit.settings) {
        let is_its = |run: &str| are_single || own_name(run) == own_name(&settings.settings.file);
        match audit.runs.iter_mut().find(|audited| is_its(&audited.run.file)) {
            Some(audited) => audited.settings.push(settings),
            None => audit.settings.push(settings),
        }
    }
}

/// The folder of a file, and its name up to the first dot.
fn own_name(file: &str) -> (Option<&Path>, &str) {
    let path = Path::new(file);
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    (path.parent(), name.split('.').next().unwrap_or_default())
}
