//! `bakeoff audit --series`: runs of one kind together.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use model::imported::{Audit, AuditedRun, AuditedSeries};
use regex::Regex;

use crate::exit::UsageError;

/// Runs by series.
pub struct Grouped {
    /// What the runs of each series say together.
    pub all: Vec<AuditedSeries>,
    /// The runs of all series.
    pub runs: Vec<AuditedRun>,
    /// Why files are in none.
    pub left_out: Vec<String>,
}

/// The runs of the audit by series, and what they say together.
pub fn series(audit: Audit, pattern: Option<&Regex>) -> Grouped {
    let mut runs_of: BTreeMap<Option<String>, Vec<AuditedRun>> = BTreeMap::new();
    let mut left_out: Vec<String> = audit.unused.into_iter().chain(audit.refused).collect();
    let of_runs = audit.runs.iter().flat_map(|audited| &audited.settings);
    let settings = of_runs.chain(&audit.settings).map(|settings| &settings.settings.file);
    left_out.extend(settings.map(|file| format!("{file}: a series is not judged by settings")));
    for run in audit.runs {
        match series_of(&run, pattern) {
            Ok(name) => runs_of.entry(name).or_default().push(run),
            Err(reason) => left_out.push(reason),
        }
    }
    let (mut all, mut runs) = (Vec::new(), Vec::new());
    for (name, own) in runs_of {
        let (own, copies) = analysis::distinct(own);
        left_out.extend(copies);
        all.push(analysis::audit_series(name, &own));
        runs.extend(own);
    }
    Grouped { all, runs, left_out }
}

/// A pattern with a group.
pub fn groups(pattern: &str) -> Result<Regex, UsageError> {
    let refused = |reason: String| UsageError::Pattern { pattern: pattern.to_owned(), reason };
    let regex = Regex::new(pattern).map_err(|error| refused(error.to_string()))?;
    if regex.captures_len() < 2 { Err(refused("it has no group in parentheses".to_owned())) } else { Ok(regex) }
}

/// The series that a run belongs to by its file's name.
fn series_of(audited: &AuditedRun, pattern: Option<&Regex>) -> Result<Option<String>, String> {
    let Some(pattern) = pattern else { return Ok(None) };
    let file = &audited.run.file;
    let name = Path::new(file).file_name().map_or_else(|| file.as_str().into(), OsStr::to_string_lossy);
    let group = pattern.captures(&name).and_then(|found| Some(found.get(1)?.as_str().to_owned()));
    group.map(Some).ok_or_else(|| format!("{file}: the pattern finds nothing in its name"))
}
