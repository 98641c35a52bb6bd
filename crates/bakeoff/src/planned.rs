//! A run that has not begun: from a study file and what was typed to its record.

use jiff::Timestamp;
use model::{HostFacts, Study, StudyRecord};

use crate::cli;
use crate::exit::UsageError;

/// Reads a study and makes its plan: the record of a run that has not begun. A seed that is not given comes from the clock; `profiling` is what
/// was typed of it.
pub fn planned(typed: &cli::Planned, profiling: Option<bool>) -> miette::Result<StudyRecord> {
    let study = study::read(&typed.study)?;
    let now = Timestamp::now();
    let seed = typed.seed.unwrap_or_else(|| now.as_microsecond().cast_unsigned() % 1_000_000);
    // The record keeps the study as its file has it, by which --resume finds it again.
    let asked = Study { profiling: profiling.or(study.profiling), ..study.clone() };
    let plan = analysis::plan_within(&asked, typed.mode(), seed, typed.budget).map_err(UsageError::from)?;
    Ok(StudyRecord {
        run: run_name(&study.name, now),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started: now.to_string(),
        host: HostFacts { backend: Some(load::best_backend()), ..server::host_facts() },
        study,
        plan,
        warm_up_length: None,
        horizon: None,
        trials: Vec::new(),
        profiling_runs: Vec::new(),
        profiling_skipped: None,
        soaks: Vec::new(),
    })
}

/// `2026-01-31-143059-a-study-s-name`: sorts by time, is unique, can be typed and used as a folder's name.
fn run_name(study: &str, now: Timestamp) -> String {
    let words = study.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let slug: Vec<String> = words.take(5).map(str::to_ascii_lowercase).collect();
    format!("{}-{}", now.strftime("%Y-%m-%d-%H%M%S"), slug.join("-"))
}
