//! `[[assertion]]`: what a study wants to see in the running server with its own eyes.

mod threads;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use model::assertion::{Assertion, AssertionSource};
use model::study::RequestedSetting;
use model::{Setting, SettingResult, SettingSource};
use regex::Regex;
use runtimes::Key;
use serde_json_path::JsonPath;

use crate::http;
use crate::jmx::Beans;
use crate::runtime::base_env;
use crate::serving::Serving;
use crate::settings::Found;
use crate::site::Site;
use crate::supervise::{Exit, Order, SuperviseError, Supervised};

/// Bound of one reading.
const READ_WITHIN: Duration = Duration::from_secs(30);

/// The server to be looked at.
pub(crate) struct AssertionReader<'a> {
    pub serving: &'a Serving,
    pub site: &'a Site,
    /// What commands run under.
    pub supervisor: &'a [String],
    /// Ends what commands do, when raised.
    pub interrupted: &'a AtomicBool,
}

impl AssertionReader<'_> {
    /// Reads each assertion and judges it; the error is that a command could not be started or ended.
    pub fn check_assertions(&self, assertions: &[Assertion]) -> Result<Vec<Setting>, SuperviseError> {
        let beans: Vec<(&str, &str)> = assertions.iter().filter_map(|assertion| bean(assertion)).collect();
        let mut of_beans = self.beans().read(&beans).into_iter();
        let mut value = |assertion: &Assertion| -> Result<Result<String, String>, SuperviseError> {
            Ok(match &assertion.read {
                AssertionSource::Jmx { .. } => of_beans.next().unwrap_or_else(|| Err("it was not read".to_owned())),
                AssertionSource::Http { path, json } => self.answered(path, json),
                AssertionSource::Command { command, regex } => self.said(command, regex.as_deref())?,
                AssertionSource::Threads(name) => {
                    let count = threads::count(self.serving, name, READ_WITHIN, self.interrupted);
                    count.map(|count| count.to_string())
                }
            })
        };
        assertions
            .iter()
            .map(|assertion| Ok(judge(assertion, value(assertion)?).about(&as_requested(assertion), self.site)))
            .collect()
    }

    /// The beans of its JVM.
    pub fn beans(&self) -> Beans<'_> {
        Beans { serving: self.serving, folder: &self.site.trial_dir, interrupted: self.interrupted }
    }

    fn answered(&self, path: &str, json: &str) -> Result<String, String> {
        let path = self.site.complete(path).map_err(|error| error.to_string())?;
        let body = http::body_of(self.serving.address, &path, READ_WITHIN, self.interrupted);
        let body = body.map_err(|error| format!("GET {path}: {error}"))?;
        let answer: serde_json::Value =
            serde_json::from_slice(&body).map_err(|error| format!("the answer to GET {path} is no JSON: {error}"))?;
        let json_path = JsonPath::parse(json).map_err(|error| error.to_string())?;
        let found = json_path.query(&answer).first().ok_or_else(|| format!("{json} finds nothing in GET {path}"))?;
        Ok(found.as_str().map_or_else(|| found.to_string(), str::to_owned))
    }

    /// What a command says; the inner error is why that is nothing.
    fn said(&self, command: &str, regex: Option<&str>) -> Result<Result<String, String>, SuperviseError> {
        let script = match self.site.complete_script(command) {
            Ok(script) => script,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let mut env = base_env();
        env.insert("SERVER_PID".to_owned(), self.serving.pid.to_string());
        let order = Order {
            program: "/bin/sh".into(),
            args: vec!["-c".to_owned(), script],
            env,
            dir: self.site.dir.clone(),
            log: self.site.trial_dir.join("assertion.log"),
            errors: Some(self.site.trial_dir.join("assertion.err")),
            ..Order::default()
        };
        let exit = self.ran(&order)?;
        Ok(self.written(&order, exit).and_then(|said| found(&said, regex)))
    }

    /// Runs a program to its end and to that of all it starts; says how it ended, if it did by itself.
    fn ran(&self, order: &Order) -> Result<Option<Exit>, SuperviseError> {
        for file in written_to(order) {
            let _ = fs::remove_file(file);
        }
        let mut supervised = Supervised::start(self.supervisor, order)?;
        let exit = supervised.wait(READ_WITHIN, self.interrupted);
        supervised.stop(Duration::ZERO)?;
        Ok(exit)
    }

    /// What a program that ended well has written to standard output and standard error.
    fn written(&self, order: &Order, exit: Option<Exit>) -> Result<[String; 2], String> {
        let read = |file| fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let [log, errors] = written_to(order).map(|file| read(file).map_err(|error| error.to_string()));
        let said = [log?, errors?];
        let both = said.concat();
        match exit {
            Some(exit) if exit.is_success() => Ok(said),
            Some(exit) if both.trim().is_empty() => Err(format!("the command ended with {exit}, and wrote nothing")),
            Some(exit) => Err(format!("the command ended with {exit}: {}", both.trim())),
            None if self.interrupted.load(Ordering::Relaxed) => Err("the command was interrupted".to_owned()),
            None => Err(format!("the command did not end within {READ_WITHIN:?}")),
        }
    }
}

/// The files of its standard output and its standard error.
fn written_to(order: &Order) -> [&PathBuf; 2] {
    [&order.log, order.errors.as_ref().unwrap_or(&order.log)]
}

/// What a regular expression finds in what a command wrote, or all of it.
fn found([said, complained]: &[String; 2], regex: Option<&str>) -> Result<String, String> {
    let Some(pattern) = regex else { return Ok(said.trim().to_owned()) };
    let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
    let found = regex.captures(said).ok_or_else(|| {
        let cure = if regex.is_match(complained) { "; its standard error has it, which `2>&1` adds" } else { "" };
        format!("`{pattern}` is not in what the command wrote to its standard output{cure}")
    })?;
    Ok(found.get(1).or_else(|| found.get(0)).map_or("", |part| part.as_str()).to_owned())
}

fn bean(assertion: &Assertion) -> Option<(&str, &str)> {
    match &assertion.read {
        AssertionSource::Jmx { bean, attribute } => Some((bean, attribute)),
        _ => None,
    }
}

fn judge(assertion: &Assertion, value: Result<String, String>) -> Found {
    let live = match value {
        Ok(live) => live,
        Err(reason) => return Found::unverified(reason),
    };
    let source = match &assertion.read {
        AssertionSource::Jmx { .. } => SettingSource::Jmx,
        AssertionSource::Http { .. } => SettingSource::Http,
        AssertionSource::Command { .. } => SettingSource::Command,
        AssertionSource::Threads(_) => SettingSource::Proc,
    };
    if !assertion.expect.fits(&live) {
        return Found::unverified(format!(
            "`{live}` is no number, and cannot be held against `{}`",
            assertion.expect.text()
        ));
    }
    let result = if assertion.expect.holds(&live) { SettingResult::InEffect } else { SettingResult::Overridden };
    Found { live: Some(live), ..Found::new(source, result) }
}

/// An assertion belongs to what the study claims of its variants, whatever level it is about.
fn as_requested(assertion: &Assertion) -> RequestedSetting {
    RequestedSetting {
        factor: "assertion".to_owned(),
        key: Key::Assertion(assertion.name.clone()),
        name: assertion.name.clone(),
        value: assertion.expect.text().to_owned(),
    }
}
