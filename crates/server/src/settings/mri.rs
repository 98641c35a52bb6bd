//! What MRI makes of its variables and options.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use indexmap::IndexMap;
use model::{SettingResult, SettingSource};
use runtimes::{mri, names};

use super::found::{Found, exactly};
use super::jvm::ASK_WITHIN;
use crate::proc;
use crate::runtime::base_env;
use crate::serving::Inside;
use crate::tool;

/// A variable of the collector: the same Ruby, asked with the same variables, reports by `-w` what it makes of each; what it
/// says nothing of it does not know.
pub(super) fn gc_variable(
    pid: u32,
    environment: &IndexMap<String, String>,
    name: &str,
    value: &str,
) -> Result<Found, String> {
    let program = proc::program(pid).ok_or("the process has ended")?;
    // It may find its own library only by what the server's start script sets.
    let is_its = |name: &str| name.starts_with(mri::OF_GC) || name == "LD_LIBRARY_PATH";
    let variables = environment.iter().filter(|(name, _)| is_its(name));
    let mut command = Command::new(&program);
    command.args(["-w", "--disable-gems", "-e", "0"]).env_clear().envs(base_env()).envs(variables);
    let ran = tool::run(&mut command, ASK_WITHIN).map_err(|error| error.to_string())?;
    if !ran.status.success() {
        let why = ran.output().lines().next().unwrap_or("without a word").to_owned();
        return Err(format!("the same Ruby, asked what it makes of it, does not start outside of the server: {why}"));
    }
    match mri::reported(&ran.stderr, name) {
        Some((live, default)) => {
            Ok(Found::value(value, Some(live), Some(default), SettingSource::Preflight, mri::same_number))
        }
        None if ran.stderr.contains(&format!("invalid string for {name}:")) => {
            Ok(Found::value(value, Some("not a number to Ruby".to_owned()), None, SettingSource::Preflight, exactly))
        }
        None => misspelt(pid, name),
    }
}

/// A variable that Ruby cannot be asked about: known, if its own program has the name in it; unknown, if that is a misspelt one; else
/// the program's own, such as `RUBY_ENV`, where it is not named as Ruby's are.
pub(super) fn other_variable(pid: u32, name: &str, found: Found) -> Result<Found, String> {
    let is_known = names(pid).iter().any(|known| known == name);
    match misspelt(pid, name) {
        Ok(unknown) => Ok(Found { live: found.live, ..unknown }),
        Err(_) if !is_known && !mri::is_own(name) => Ok(found),
        unreported => unreported,
    }
}

/// A name that this Ruby does not have: unknown where it is nearly one of its own, or one that other Rubies have. Any other may be the
/// program's own, whatever it begins with.
fn misspelt(pid: u32, name: &str) -> Result<Found, String> {
    let names = names(pid);
    if names.iter().any(|known| known == name) {
        return Err("Ruby does not say what it makes of it".to_owned());
    }
    let own = names.iter().map(String::as_str).filter(|known| mri::is_own(known));
    let nearest = names::nearest(name, own);
    let is_near = nearest.as_ref().is_some_and(|nearest| strsim::osa_distance(nearest, name) <= names::MISSPELT);
    if is_near || mri::is_of_others(name) {
        return Ok(Found::unknown(nearest, SettingSource::Proc));
    }
    Err("this Ruby has no such variable: it is the program's own, or misspelt".to_owned())
}

/// Names such as `RUBY_GC_HEAP_INIT_SLOTS` in the interpreter and its library: what it reads from the environment has to be
/// there.
fn names(pid: u32) -> Vec<String> {
    let mut files: Vec<PathBuf> = proc::mapped(pid).filter(|path| mri::is_file_of(path)).collect();
    files.dedup();
    let mut names: Vec<String> =
        files.iter().filter_map(|path| fs::read(path).ok()).flat_map(|bytes| mri::variables_in(&bytes)).collect();
    names.sort();
    names.dedup();
    names
}

/// Whether the second compiler is on as asked.
pub(super) fn yjit(inside: &Inside, requested: bool) -> Found {
    let reported = |is_on: bool| if is_on { "YJIT on" } else { "YJIT off" }.to_owned();
    // Where it was not built in it is off.
    let live = inside.yjit.as_deref().map(|is_on| is_on == "true").or((!requested).then_some(false));
    if let Some(live) = live {
        return Found::value(
            &reported(requested),
            Some(reported(live)),
            Some(reported(false)),
            SettingSource::InProcess,
            exactly,
        );
    }
    Found {
        requested: Some(reported(requested)),
        ..Found::inert(
            "this Ruby was built without YJIT",
            "RubyVM::YJIT is not defined in the process",
            SettingSource::InProcess,
        )
    }
}

/// Why it is not known what became of options that tune YJIT.
pub(super) const UNREPORTED: &str = "YJIT is on, and Ruby does not say what it makes of its options";

/// An option of YJIT's, such as `--yjit-call-threshold=5`, that the process was given.
pub(super) fn yjit_option(inside: &Inside, found: Found) -> Found {
    match inside.yjit.as_deref() {
        _ if found.result != SettingResult::InEffect => found,
        Some("true") => Found::unverified(UNREPORTED),
        _ => Found {
            live: found.live,
            ..Found::inert("YJIT is off", "RubyVM::YJIT.enabled? in the process", SettingSource::InProcess)
        },
    }
}
