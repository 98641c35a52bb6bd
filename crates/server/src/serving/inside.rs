//! What a Ruby process reports about itself from inside.
//!
//! A system property proves nothing: JRuby reads its options early, and a property set later, as by `.jrubyrc`, reads as
//! set and does nothing. The values that JRuby itself has loaded are the truth.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use indexmap::IndexMap;
use serde::Deserialize;

use super::runtime::RuntimeKind;
use crate::proc;

const PROBE: &str = include_str!("probe.rb");

/// How long a process may take to report what it has loaded.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// What the probe wrote.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct Inside {
    /// Whose word it is.
    #[serde(skip)]
    pub pid: u32,
    /// Whether it was forked from another Ruby, and not started by itself.
    #[serde(default)]
    pub forked: bool,
    /// By its `RUBY_ENGINE`.
    pub engine: RuntimeKind,
    pub engine_version: String,
    pub ruby: String,
    pub java: Option<String>,
    /// `true` or `false`, at its start; absent where Ruby has no YJIT.
    pub yjit: Option<String>,
    /// JRuby's own options, with the values it uses.
    pub options: Vec<JrubyOption>,
    /// The program that runs it.
    #[serde(default)]
    pub exe: Option<PathBuf>,
    /// Where its stack and its arguments lay: elsewhere once it has become another program, be it the same one anew.
    #[serde(default)]
    pub place: Option<String>,
    /// The program's file and its arguments.
    #[serde(default)]
    pub argv: Vec<String>,
    /// How this Ruby was built: some of its `RbConfig`.
    #[serde(default)]
    pub build: IndexMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct JrubyOption {
    pub name: String,
    pub value: Option<String>,
    pub default: Option<String>,
}

/// What it reported once its program had answered.
#[derive(Debug, Deserialize)]
struct Loaded {
    /// As in [`Inside`], by then.
    yjit: Option<String>,
    /// Names and versions.
    gems: BTreeMap<String, String>,
}

impl Loaded {
    fn file(trial_dir: &Path, pid: u32) -> PathBuf {
        trial_dir.join(format!("probe.{pid}.loaded.json"))
    }

    fn of(trial_dir: &Path, pid: u32) -> Option<Self> {
        serde_json::from_slice(&fs::read(Self::file(trial_dir, pid)).ok()?).ok()
    }
}

impl Inside {
    /// Puts the probe into the trial's folder and into the environment.
    ///
    /// RUBYOPT is split at spaces and knows no quoting: from a folder with a space in its path nothing can be required,
    /// so then the settings are read back from outside, and what is known only from inside is unverified. `also` is more that
    /// each Ruby is to run as it starts.
    pub fn prepare(trial_dir: &Path, also: &str, env: &mut IndexMap<String, String>) -> io::Result<()> {
        let script = trial_dir.join("probe.rb");
        let require = format!("-r{}", script.display());
        if require.contains(char::is_whitespace) {
            return Ok(());
        }
        fs::write(&script, [PROBE, also].concat())?;
        env.insert("BAKEOFF_PROBE".to_owned(), trial_dir.join("probe").display().to_string());
        let options = env.get("RUBYOPT").map(|options| format!(" {options}")).unwrap_or_default();
        env.insert("RUBYOPT".to_owned(), require + &options);
        Ok(())
    }

    /// What process `pid` wrote into the trial's folder.
    pub fn of(trial_dir: &Path, pid: u32) -> Option<Self> {
        let json = fs::read(trial_dir.join(format!("probe.{pid}.json"))).ok()?;
        let inside = Self { pid, ..serde_json::from_slice(&json).ok()? };
        // A Ruby that became another program, or itself anew, has reported what is no more.
        let is_same = inside.exe.is_none() || inside.exe == proc::program(pid);
        let is_there = inside.place.is_none() || inside.place == proc::place(pid);
        (is_same && is_there).then_some(inside)
    }

    /// Asks every Ruby of the trial which gems it has loaded by now, and returns what those of `pids` have that reported:
    /// names and versions, all of them where processes have several.
    pub fn gems(trial_dir: &Path, pids: &[u32]) -> IndexMap<String, String> {
        if fs::write(trial_dir.join("probe.ask"), "").is_err() {
            return IndexMap::new();
        }
        let tells = |pid: &&u32| Self::of(trial_dir, **pid).is_some();
        let has_reported = |pid: &u32| Loaded::file(trial_dir, *pid).is_file();
        let deadline = Instant::now() + ANSWER_WITHIN;
        while !pids.iter().filter(tells).all(has_reported) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
        }
        let mut gems: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let loaded = pids.iter().filter_map(|pid| Loaded::of(trial_dir, *pid));
        for (name, version) in loaded.flat_map(|loaded| loaded.gems) {
            gems.entry(name).or_default().insert(version);
        }
        gems.into_iter().map(|(name, versions)| (name, Vec::from_iter(versions).join(", "))).collect()
    }

    /// Whether YJIT was on in one of `pids` when they reported their gems: `true` or `false`; `None` where none has reported.
    pub fn yjit_by_then(trial_dir: &Path, pids: &[u32]) -> Option<String> {
        let reported: Vec<String> = pids.iter().filter_map(|pid| Loaded::of(trial_dir, *pid)?.yjit).collect();
        reported.iter().find(|on| *on == "true").or(reported.first()).cloned()
    }

    /// `jdk`, `jruby` and `ruby`: the language's version as the engine implements it.
    pub fn versions(&self) -> IndexMap<String, String> {
        let jruby = (self.engine == RuntimeKind::Jruby).then(|| self.engine_version.clone());
        [("jdk", self.java.clone()), ("jruby", jruby), ("ruby", Some(self.ruby.clone()))]
            .into_iter()
            .filter_map(|(name, version)| Some((name.to_owned(), version?)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use model::options::without_probe;

    use super::*;

    #[test]
    fn the_probe_goes_before_the_studys_options() {
        let dir = tempfile::tempdir().unwrap();
        let mut env = IndexMap::from([("RUBYOPT".to_owned(), "-W0".to_owned())]);
        Inside::prepare(dir.path(), "", &mut env).unwrap();
        assert!(env["RUBYOPT"].starts_with("-r/") && env["RUBYOPT"].ends_with("/probe.rb -W0"), "{env:?}");
        assert_eq!(without_probe(&env["RUBYOPT"]), "-W0");
        assert_eq!(without_probe(&format!("-rbundler/setup {}", env["RUBYOPT"])), "-rbundler/setup -W0");
        assert_eq!(without_probe("-W0  -W1"), "-W0  -W1");
        let spaced = dir.path().join("a b");
        let mut env = IndexMap::new();
        Inside::prepare(&spaced, "", &mut env).unwrap();
        assert!(env.is_empty());
    }
}
