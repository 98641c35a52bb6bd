//! What `bakeoff list` and `show` print: the stored runs, and what was measured in one.

use std::fmt::Write as _;

use model::{Outcome, RunSummary, StudyRecord, TrialRecord, sample};

use crate::words::to_the_second;

/// The stored runs, a line each.
pub fn runs(runs: &[RunSummary]) -> String {
    let width = runs.iter().map(|run| run.run.len()).max().unwrap_or(0);
    let line = |run: &RunSummary| {
        format!("{:<width$}  {:<11}  {:>3} trials  {}\n", run.run, run.status.name(), run.trials, run.study)
    };
    runs.iter().map(line).collect()
}

/// What was measured, trial by trial.
pub fn trials(record: &StudyRecord) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_record(&mut text, record);
    text
}

fn write_record(out: &mut String, record: &StudyRecord) -> std::fmt::Result {
    let started = to_the_second(&record.started);
    writeln!(out, "{}  {}  started {started}, seed {}", record.run, record.study.name, record.plan.seed)?;
    record.trials.iter().try_for_each(|trial| write_trial(out, record, trial))
}

fn write_trial(out: &mut String, record: &StudyRecord, trial: &TrialRecord) -> std::fmt::Result {
    let variant = &record.study.variants[trial.variant].name;
    let ready =
        trial.launch.as_ref().map_or_else(String::new, |launch| format!(", ready after {:.1} s", launch.ready_s));
    writeln!(out, "\n{}: {variant}, {}{ready}", trial.key, to_the_second(&trial.started))?;
    if let Outcome::Failed(failed) = &trial.outcome {
        writeln!(out, "  FAILED ({}): {}", failed.phase.name(), failed.reason)?;
        for line in failed.log_tail.lines() {
            writeln!(out, "  | {line}")?;
        }
    }
    for setting in &trial.settings {
        let live = setting.live.as_deref().unwrap_or("(none)");
        writeln!(out, "  {} = {live} in the process, requested {}", setting.name, setting.requested)?;
    }
    if trial.oom_kills > 0 {
        writeln!(out, "  processes killed for needing more memory than `limits` allow: {}", trial.oom_kills)?;
    }
    if let Some(warm_up) = &trial.warm_up {
        let steady = warm_up.steady_at_s().map_or("not found steady".to_owned(), |at| format!("steady at {at:.0} s"));
        let seconds = sample::seconds(&warm_up.samples);
        writeln!(out, "  warm-up {seconds:.0} s, {steady}")?;
    }
    for cell in &trial.cells {
        let (seconds, tally) = (sample::seconds(&cell.samples), sample::tally(&cell.samples));
        let name = record.plan.cells[cell.cell].name(&record.study.workloads);
        let rate = tally.good as f64 / seconds;
        writeln!(out, "  {name:<24} {rate:>10.1}/s  {} good, {} failed in {seconds:.1} s", tally.good, tally.failed())?;
    }
    trial.launch.as_ref().map_or(Ok(()), |launch| writeln!(out, "  log {}", launch.log.display()))
}
