//! bakeoff: does this change to how my server runs make it faster, and by how much?

mod cli;
mod commands;
mod conduct;
mod exit;
mod floor;
mod interrupt;
mod output;
mod planned;
mod progress;

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};
use commands::{audit, check, doctor, init, load, report, run, stored};
use exit::UsageError;
use store::Store;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match dispatch(&cli) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:?}");
            exit::of_error(&error)
        }
    }
}

fn dispatch(cli: &Cli) -> miette::Result<ExitCode> {
    let path = || cli.store.clone().map_or_else(Store::default_path, Ok);
    match &cli.command {
        Command::Init(typed) => init::run(typed),
        Command::Check(typed) => check::run(typed, &cli.store_again()),
        Command::Run(typed) => run::run(&Store::open(&path()?)?, cli, typed),
        Command::Load(typed) => load::run(typed, cli.quiet),
        Command::Audit(typed) => audit::run(typed),
        Command::Report(typed) => report::run(&to_read(&path()?)?, cli, typed),
        // A store that was named has to be there; without one there are no runs yet.
        Command::List(typed) if cli.store.is_some() => stored::list(Some(&to_read(&path()?)?), typed),
        Command::List(typed) => stored::list(Store::open_to_read(&path()?)?.as_ref(), typed),
        Command::Show(typed) => stored::show(&to_read(&path()?)?, typed),
        Command::Export(typed) => stored::export(&to_read(&path()?)?, typed),
        Command::Import(typed) => stored::import(&Store::open(&path()?)?, typed),
        Command::Doctor(typed) => doctor::run(typed),
        Command::Explain(typed) => report::explain(typed),
        Command::Supervise => Ok(server::supervise()),
    }
}

/// The store, for commands that need something in it.
fn to_read(path: &Path) -> miette::Result<Store> {
    Ok(Store::open_to_read(path)?.ok_or_else(|| UsageError::NoStore { path: path.to_owned() })?)
}
