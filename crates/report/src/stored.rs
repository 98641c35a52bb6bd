//! What `bakeoff list` and `show` print: the stored runs, and what was measured in one.

use std::fmt::Write as _;

use model::{Failed, Outcome, RunSummary, SoakRecord, StudyRecord, TrialRecord, sample};

use crate::words::to_the_second;

/// The stored runs, a line each.
pub fn runs(runs: &[RunSummary]) -> String {
    let width = runs.iter().map(|run| run.run.len()).max().unwrap_or(0);
    let line = |run: &RunSummary| {
        let what = if run.soak { "soak".to_owned() } else { format!("{:>3} trials", run.trials) };
        format!("{:<width$}  {:<11}  {what:>10}  {}\n", run.run, run.status.name(), run.study)
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
    record.soaks.iter().try_for_each(|soak| write_soak(out, record, soak))?;
    record.trials.iter().try_for_each(|trial| write_trial(out, record, trial))
}

fn write_soak(out: &mut String, record: &StudyRecord, soak: &SoakRecord) -> std::fmt::Result {
    let variant = &record.study.variants[soak.variant].name;
    writeln!(out, "\nsoak of {variant}, {}", to_the_second(&soak.started))?;
    match &soak.outcome {
        Some(Outcome::Completed) => {}
        Some(Outcome::Failed(failed)) => write_failed(out, failed)?,
        None => writeln!(out, "  it did not come to its end")?,
    }
    let (good, failed) = soak
        .windows
        .iter()
        .fold((0, 0), |(good, failed), window| (good + window.tally.good, failed + window.tally.failed()));
    let (windows, seconds) = (soak.windows.len(), soak.seconds());
    writeln!(
        out,
        "  warm-up {:.0} s, then {seconds:.0} s in {windows} windows: {good} good, {failed} failed",
        soak.warm_up_s
    )?;
    soak.launch.as_ref().map_or(Ok(()), |launch| writeln!(out, "  log {}", launch.log.display()))
}

fn write_failed(out: &mut String, failed: &Failed) -> std::fmt::Result {
    writeln!(out, "  FAILED ({}): {}", failed.phase.name(), failed.reason)?;
    failed.log_tail.lines().try_for_each(|line| writeln!(out, "  | {line}"))
}

fn write_trial(out: &mut String, record: &StudyRecord, trial: &TrialRecord) -> std::fmt::Result {
    let variant = &record.study.variants[trial.variant].name;
    let ready =
        trial.launch.as_ref().map_or_else(String::new, |launch| format!(", ready after {:.1} s", launch.ready_s));
    writeln!(out, "\n{}: {variant}, {}{ready}", trial.key, to_the_second(&trial.started))?;
    if let Outcome::Failed(failed) = &trial.outcome {
        write_failed(out, failed)?;
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
