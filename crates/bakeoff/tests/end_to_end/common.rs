//! What the end-to-end tests share: a folder with a study in it, the real `bakeoff` and the real `knownserver`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use model::{Finding, Report};
use serde_json::Value;
use tempfile::TempDir;

/// Nothing here takes so long; it ends tests that would hang.
const BOUND: Duration = Duration::from_secs(280);

/// A study as short as can be; `LEVELS` and `KNOWNSERVER` are put in by [`Place::study`].
const STUDY: &str = r#"name = "a test"
question = "Which of the two is it?"

[server]
runtime = "command"
command = "KNOWNSERVER --port {port}"
ready = { get = "/ready", within = "30s" }
stop_within = "5s"

[factor.script]
LEVELS
[[workload]]
name = "page"
get = "/page"
concurrency = 2

[warmup]
fixed = "200ms"

[measure]
duration = "1s"

[decide]
rope = "2%"
blocks = { min = 5, max = 5 }
"#;

/// A page that takes this long, by waiting: how busy the machine is hardly matters.
pub fn page(delay: &str) -> String {
    script("", &format!("body = {{ size = 2000 }}\ndelay = \"{delay}\""))
}

/// A script with keys of its own and of its page; `/ready` is always as it should be.
pub fn script(keys: &str, page: &str) -> String {
    format!("{keys}\n[[route]]\npath = \"/ready\"\n\n[[route]]\npath = \"/page\"\n{page}\n")
}

/// The known server's program.
pub fn knownserver() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_bakeoff")).with_file_name("knownserver");
    assert!(path.is_file(), "there is no {}: run cargo build -p knownserver first", path.display());
    path
}

/// The list of the processors that the process or thread of this folder may use, as the kernel writes it.
pub fn processors(folder: &Path) -> Option<String> {
    let status = fs::read_to_string(folder.join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:\t")).map(str::to_owned)
}

/// A folder of one test's own, gone with it.
pub struct Place {
    _folder: TempDir,
    path: PathBuf,
    started: AtomicU32,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // As `/proc` will show it.
        let path = folder.path().canonicalize().unwrap();
        Self { _folder: folder, path, started: AtomicU32::new(0) }
    }

    /// A place with a study of one factor, whose levels have these scripts.
    pub fn with_study(levels: &[(&str, &str)]) -> Self {
        let place = Self::new();
        let mut lines = String::new();
        for (level, script) in levels {
            place.write(&format!("{level}.toml"), script);
            writeln!(lines, "{level} = {{ args = [\"--script={{dir}}/{level}.toml\"] }}").unwrap();
        }
        let study = STUDY.replace("LEVELS", &lines).replace("KNOWNSERVER", &knownserver().to_string_lossy());
        place.write("study.toml", &study);
        place
    }

    /// The study with one thing changed.
    #[track_caller]
    pub fn change(&self, from: &str, to: &str) -> &Self {
        let text = fs::read_to_string(self.path("study.toml")).unwrap();
        assert_eq!(text.matches(from).count(), 1, "`{from}` has to occur once");
        self.write("study.toml", &text.replace(from, to));
        self
    }

    /// The study with launches one after another.
    #[track_caller]
    pub fn one_after_another(&self) -> &Self {
        self.change(
            "[[workload]]\nname = \"page\"",
            "[design]\nlaunches = \"one-after-another\"\n\n[[workload]]\nname = \"page\"",
        )
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where the store is, with logs and reports.
    pub fn store_folder(&self) -> PathBuf {
        self.path("store")
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// `bakeoff` with the store of this place.
    pub fn bakeoff(&self, args: &[&str]) -> Command {
        self.bakeoff_with(&self.store_folder().join("store.db"), args)
    }

    pub fn bakeoff_with(&self, store: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bakeoff"));
        command.arg("--store").arg(store).args(args).current_dir(&self.path);
        command
    }

    /// Starts a command; what it says goes to files, so that it never waits for us.
    pub fn start(&self, command: &mut Command) -> Started {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let [out, err] = ["out", "err"].map(|kind| self.path(&format!("said-{number}.{kind}")));
        let [to_out, to_err] = [&out, &err].map(|path| File::create(path).unwrap());
        let child = command.stdin(Stdio::null()).stdout(to_out).stderr(to_err).spawn().unwrap();
        Started { child, out, err }
    }

    /// `bakeoff` with these arguments, from beginning to end.
    pub fn run(&self, args: &[&str]) -> Finished {
        self.start(&mut self.bakeoff(args)).end()
    }

    /// What `bakeoff` prints as JSON.
    #[track_caller]
    pub fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.run(args).ends_with(0).stdout).unwrap()
    }

    /// The report of the latest run.
    #[track_caller]
    pub fn report(&self) -> Report {
        serde_json::from_value(self.json(&["report", "--json"])).unwrap()
    }

    /// The trials stored of the latest run.
    #[track_caller]
    pub fn trials(&self) -> Vec<Value> {
        self.json(&["show", "--json"]).as_array().unwrap().clone()
    }

    /// How far the only run has come.
    #[track_caller]
    pub fn status(&self) -> String {
        let list = self.json(&["list", "--json"]);
        let [run] = &list.as_array().unwrap()[..] else { panic!("one run has to be stored: {list}") };
        run["status"].as_str().unwrap().to_owned()
    }

    /// Waits until so many trials are stored and the server of another one runs.
    #[track_caller]
    pub fn wait_for_mid_trial(&self, stored: u64) {
        needs::eventually("a trial's end", || {
            let list = self.run(&["list", "--json"]);
            let list: Value = serde_json::from_str(&list.stdout).unwrap_or_default();
            list[0]["trials"].as_u64().is_some_and(|trials| trials >= stored)
        });
        needs::eventually("a server", || !self.servers().is_empty());
    }

    /// Processes of this place that are not `bakeoff`.
    pub fn servers(&self) -> Vec<String> {
        let mut found = self.processes();
        found.retain(|process| !process.contains(&format!(": {} ", env!("CARGO_BIN_EXE_bakeoff"))));
        found
    }

    /// Processes that have to do with this place: by their command line or by a file they hold open (a supervisor's log).
    pub fn processes(&self) -> Vec<String> {
        let ours = self.path.to_string_lossy();
        let test = fs::read_link("/proc/self/exe").unwrap();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let process = entry.path();
            // Another thread's fork, before it becomes another program, holds our files too.
            if fs::read_link(process.join("exe")).is_ok_and(|exe| exe == test) {
                continue;
            }
            let command = fs::read(process.join("cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            let mut files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
            if command.contains(&*ours)
                || files.any(|file| fs::read_link(file.path()).is_ok_and(|target| target.starts_with(&self.path)))
            {
                found.push(format!("{}: {command}", process.display()));
            }
        }
        found
    }

    #[track_caller]
    pub fn assert_nothing_is_left(&self) {
        assert_eq!(self.processes(), Vec::<String>::new());
    }
}

/// A command that runs; it does not outlive its test.
pub struct Started {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Started {
    /// Waits for its end.
    #[track_caller]
    pub fn end(mut self) -> Finished {
        let deadline = Instant::now() + BOUND;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break Some(status);
            }
            if Instant::now() >= deadline {
                break None;
            }
            thread::sleep(Duration::from_millis(20));
        };
        let read = |path| String::from_utf8(fs::read(path).unwrap()).unwrap();
        let (stdout, stderr) = (read(&self.out), read(&self.err));
        let status = status.unwrap_or_else(|| panic!("it does not end\n{stdout}\n{stderr}"));
        Finished { code: status.code(), stdout, stderr }
    }

    /// Lists of the processors that its threads may use by now, as the kernel writes them.
    pub fn processors(&self) -> Vec<String> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten().flatten();
        threads.filter_map(|thread| processors(&thread.path())).collect()
    }

    /// The first thread of each load that is on.
    pub fn loads(&self) -> Vec<PathBuf> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten().flatten();
        let is_first = |thread: &Path| fs::read_to_string(thread.join("comm")).is_ok_and(|name| name == "load-0\n");
        threads.map(|thread| thread.path()).filter(|thread| is_first(thread)).collect()
    }

    /// Whether it has said this on stderr.
    pub fn has_said(&self, text: &str) -> bool {
        fs::read_to_string(&self.err).unwrap_or_default().contains(text)
    }

    /// Sends it a signal, as a user would.
    pub fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success(), "{kill}");
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It ended, or its test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that ended.
#[derive(Debug)]
pub struct Finished {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Looks for a text on stdout, however its lines are broken.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(unwrapped(&self.stdout).contains(text), "no `{text}` in\n{}\n{}", self.stdout, self.stderr);
        self
    }

    /// Looks for a text on stderr, however its lines are broken and decorated.
    #[track_caller]
    pub fn complains(&self, text: &str) -> &Self {
        assert!(unwrapped(&self.stderr.replace('│', " ")).contains(text), "no `{text}` in\n{}", self.stderr);
        self
    }
}

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The findings of a rule.
pub fn findings<'a>(report: &'a Report, rule: &str) -> Vec<&'a Finding> {
    assert!(analysis::RULES.iter().any(|known| known.id.name() == rule), "there is no rule {rule}");
    report.findings.iter().filter(|finding| finding.id.name() == rule).collect()
}

/// What the findings of a rule are about.
pub fn subjects(report: &Report, rule: &str) -> Vec<String> {
    findings(report, rule).iter().map(|finding| finding.subject.text(&report.names())).collect()
}

/// All facts of a finding, a line each.
pub fn text_of(finding: &Finding) -> String {
    finding.facts.iter().map(|fact| format!("{}: {}\n", fact.name, fact.value)).collect::<Vec<_>>().concat()
}
