//! `bakeoff run`: from a study file to a verdict.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use analysis::{Assessment, Boundaries, Next};
use miette::{Context as _, IntoDiagnostic as _};
use model::{RunSummary, Status, Study, StudyRecord};
use server::Launcher;
use store::{Store, StoreError};

use crate::cli::{self, Cli};
use crate::commands::soak;
use crate::conduct::{Conductor, Ending};
use crate::exit::{self, UsageError};
use crate::planned::planned;
use crate::{floor, interrupt, output, progress};

pub fn run(store: &Store, cli: &Cli, typed: &cli::Run) -> miette::Result<ExitCode> {
    let mut record = match typed.soak {
        Some(duration) => soak::planned(&typed.planned, duration, &typed.variants)?,
        None if typed.resume => unfinished(store, typed)?,
        None => planned(&typed.planned, typed.profile())?,
    };
    if let Some(budget) = typed.planned.budget.filter(|_| typed.resume) {
        require_room(&analysis::assess(&record, &Boundaries::for_study(&record)), budget)?;
    }
    for file in typed.html.iter().chain(&typed.xlsx) {
        output::require_writable(file)?;
    }
    require_isolation(&record.study)?;
    // Servers inherit the limit of files: the first of them is to have the one that those after the first load have.
    let connections = record.plan.cells.iter().map(|cell| cell.shape.connections).max().unwrap_or(0);
    load::allow_connections(connections, 1).into_diagnostic()?;
    let interrupted = interrupt::flag().into_diagnostic()?;
    if !typed.resume {
        record.host.floor = floor::measure(record.host.backend, &record.study.host, &interrupted)?;
        begin(store, &mut record)?;
    }
    let _lock = store.lock(&record.run)?;
    if let Some(profiling) = typed.profile().filter(|profiling| *profiling != record.plan.schedule.profiling) {
        record.plan.schedule.profiling = profiling;
        store.set_plan(&record.run, &record.plan)?;
    }
    let folder = store.run_folder(&record.run);
    let conducted = Conductor {
        store,
        launcher: &Launcher::new(super::supervisor()?)
            .interrupted_by(interrupted.clone())
            .on_cpus(&record.study.host.server_cpus)
            .thinning_probes(std::env::var_os("BAKEOFF_PROBES").is_some()),
        folder: &folder,
        // A run that goes on has its horizon, and as much time as it takes unless somebody says otherwise.
        budget: typed.planned.budget.or_else(|| (!typed.resume).then_some(record.plan.schedule.within)),
        interrupted: &interrupted,
        watcher: &mut *progress::watcher(cli.quiet),
    }
    .run(&mut record);
    if record.plan.soak.is_some() {
        return soak::ended(&record, conducted, &folder, typed);
    }
    if conducted.is_err() && record.trials.is_empty() {
        store.forget(&record.run)?;
    }
    let ending = conducted.wrap_err_with(|| stopped(&record))?;

    let boundaries = Boundaries::for_study(&record);
    let goes_on = goes_on(store, cli, &record, &typed.planned.study)?;
    let made = analysis::analyse(&analysis::assess(&record, &boundaries), goes_on);
    let html = typed.html.clone().unwrap_or_else(|| folder.join("report.html"));
    // What was found out is shown even where the file cannot be written.
    if typed.json {
        output::print(&report::json(&made))?;
        output::write(&html, report::html(&made))?;
    } else {
        output::print(&report::terminal(&made, output::style()))?;
        output::write(&html, report::html(&made))?;
        output::print(&format!(
            "
report: {}
",
            html.display()
        ))?;
    }
    if let Some(xlsx) = &typed.xlsx {
        output::write(xlsx, report::xlsx(&made).into_diagnostic()?)?;
    }
    Ok(match ending {
        Ending::Interrupted => exit::INTERRUPTED.into(),
        Ending::Finished(_) | Ending::Budget(_) | Ending::Soaked => exit::of_report(&made, typed.fail_on),
    })
}

/// Refuses to go on within a budget that has no room for a single block, unless none is left to run.
fn require_room(assessment: &Assessment, budget: Duration) -> Result<(), UsageError> {
    let block = analysis::block_time(assessment);
    let is_over = || matches!(analysis::next_step(assessment), Next::Stop(_));
    if budget < block && !is_over() { Err(UsageError::SmallBudget { budget, block }) } else { Ok(()) }
}

/// Refuses a study whose processes cannot be kept apart here as it asks.
fn require_isolation(study: &Study) -> miette::Result<()> {
    let limits = study.variants.iter().map(|variant| &variant.server.limits);
    server::unavailable(&study.host, limits).into_iter().next().map_or(Ok(()), Err).into_diagnostic()
}

/// Stores a new run before anything is launched. Of several that begin within a second the later ones get a number.
fn begin(store: &Store, record: &mut StudyRecord) -> Result<(), StoreError> {
    let name = record.run.clone();
    let mut number = 1;
    loop {
        match store.create_run(record) {
            Err(StoreError::RunExists { .. }) => {
                number += 1;
                record.run = format!("{name}-{number}");
            }
            created => return created,
        }
    }
}

/// The last unfinished run of the very study that the file now holds.
fn unfinished(store: &Store, typed: &cli::Run) -> miette::Result<StudyRecord> {
    let study = study::read(&typed.planned.study)?;
    let nothing = || UsageError::NothingToResume { study: typed.planned.study.clone() };
    Ok(store.load(&store.latest_unfinished(&study)?.ok_or_else(nothing)?)?)
}

/// What stands above the reason why a run cannot go on.
fn stopped(record: &StudyRecord) -> String {
    if record.trials.is_empty() {
        format!("run {} stopped before anything was measured; nothing of it is stored", record.run)
    } else {
        format!("run {} stopped; what was measured is stored, --resume goes on", record.run)
    }
}

/// The command that goes on with a run of the study in this file; none where that is not what `--resume` would do.
pub fn goes_on(store: &Store, cli: &Cli, record: &StudyRecord, file: &Path) -> Result<Option<String>, StoreError> {
    let is_interrupted = |run: RunSummary| run.run == record.run && run.status == Status::Interrupted;
    if store.latest_unfinished(&record.study)?.as_deref() != Some(&record.run)
        || !store.list()?.into_iter().any(is_interrupted)
    {
        return Ok(None);
    }
    Ok(Some(format!("bakeoff run {} --resume{}", output::word(file), cli.store_again())))
}
