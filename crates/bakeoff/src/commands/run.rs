//! `bakeoff run`: from a study file to a verdict.

use std::path::PathBuf;
use std::process::ExitCode;

use analysis::Boundaries;
use miette::{Context as _, IntoDiagnostic as _};
use model::StudyRecord;
use server::Launcher;
use store::Store;

use crate::cli;
use crate::commands::check::planned;
use crate::commands::report::write_html;
use crate::conduct::{Conductor, Ending};
use crate::exit::{self, UsageError};
use crate::{interrupt, output, progress};

pub fn run(store: &Store, quiet: bool, typed: &cli::Run) -> miette::Result<ExitCode> {
    let mut record = if typed.resume { unfinished(store, typed)? } else { begin(store, typed)? };
    let _lock = store.lock(&record.run)?;
    let interrupted = interrupt::flag().into_diagnostic()?;
    let boundaries = Boundaries::for_variants(record.study.variants.len());
    let folder = store.folder().join("runs").join(&record.run);
    let ourselves = std::env::current_exe().into_diagnostic()?;
    let supervisor = vec![ourselves.to_string_lossy().into_owned(), "supervise".to_owned()];
    let ending = Conductor {
        store,
        launcher: &Launcher::new(supervisor).interrupted_by(interrupted.clone()),
        boundaries: &boundaries,
        folder: &folder,
        budget: typed.budget,
        interrupted: &interrupted,
        watcher: &mut *progress::watcher(quiet),
    }
    .run(&mut record)
    .wrap_err_with(|| format!("run {} stopped; what was measured is stored, --resume goes on", record.run))?;

    let made = analysis::analyse(&record, &boundaries);
    let html: PathBuf = typed.html.clone().unwrap_or_else(|| folder.join("report.html"));
    write_html(&html, &made)?;
    let study = typed.planned.study.display();
    let text = if typed.json {
        report::json(&made)
    } else {
        let goes_on = match ending {
            Ending::Finished(_) => String::new(),
            Ending::Budget(_) | Ending::Interrupted => format!("goes on with: bakeoff run {study} --resume\n"),
        };
        format!("{}\nreport: {}\n{goes_on}", report::terminal(&made, output::style()), html.display())
    };
    output::print(&text)?;
    Ok(match ending {
        Ending::Interrupted => exit::INTERRUPTED.into(),
        Ending::Finished(_) | Ending::Budget(_) => exit::of_report(&made, typed.fail_on),
    })
}

/// A new run of a study, stored before anything is launched.
fn begin(store: &Store, typed: &cli::Run) -> miette::Result<StudyRecord> {
    let record = planned(&typed.planned)?;
    store.create_run(&record)?;
    Ok(record)
}

/// The last unfinished run of the very study that the file now holds.
fn unfinished(store: &Store, typed: &cli::Run) -> miette::Result<StudyRecord> {
    let study = study::read(&typed.planned.study)?;
    let nothing = || UsageError::NothingToResume { study: typed.planned.study.clone() };
    Ok(store.load(&store.latest_unfinished(&study)?.ok_or_else(nothing)?)?)
}
