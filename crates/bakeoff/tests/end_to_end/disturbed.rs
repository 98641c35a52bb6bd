//! Hosts that are not fit while something is measured: what disturbs is found, and named for what it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use crate::common::{Place, findings, page, text_of};
use model::Report;
use needs::Need;

/// A study whose server answers as fast as it can, long enough for a disturbance to be seen.
fn busy() -> Place {
    let place = Place::with_study(&[("one", &page("2ms")), ("two", &page("3ms"))]);
    place.change("duration = \"1s\"", "duration = \"3s\"");
    place
}

/// All that the findings of a rule say.
fn said(report: &Report, rule: &str) -> String {
    findings(report, rule).into_iter().map(text_of).collect()
}

#[test]
fn a_paused_client_is_named() {
    let place = busy();
    let run = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    // Between two slices nothing is lost: one pause of three falls into a slice.
    for stored in [2, 4, 6] {
        place.wait_for_mid_trial(stored);
        needs::eventually("a measured load of both launches", || {
            // A warm-up is shorter than this.
            let before = run.loads();
            thread::sleep(Duration::from_secs(1));
            before.len() == 2 && run.loads() == before
        });
        run.signal("STOP");
        thread::sleep(Duration::from_millis(1_200));
        run.signal("CONT");
    }
    run.end().ends_with(0);
    let report = place.report();
    let paused = said(&report, "client-paused");
    assert!(paused.contains("block ") && paused.contains("stood still for "), "{paused}\n{:#?}", report.findings);
    place.assert_nothing_is_left();
}

/// Programs that do nothing but use a processor, ended with this.
struct Hogs(Vec<Child>);

impl Hogs {
    fn start(count: usize) -> Self {
        let hog = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..count).map(|_| hog()).collect())
    }
}

impl Drop for Hogs {
    fn drop(&mut self) {
        for hog in &mut self.0 {
            let _ = hog.kill();
            let _ = hog.wait();
        }
    }
}

#[test]
fn a_competing_hog_is_named() {
    let place = busy();
    let run = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(4);
    let hogs = Hogs::start(1);
    run.end().ends_with(0);
    drop(hogs);
    let report = place.report();
    let noise = said(&report, "host-noise");
    assert!(noise.contains("other processes"), "{noise}\n{:#?}", report.findings);
    // Whose they are: the hog's, unless something else keeps this machine busier still.
    let trials = place.trials();
    let mut names = trials.iter().filter_map(|trial| trial["host"]["noisy_neighbour"]["name"].as_str());
    let is_shown = |name: &str| [format!("{name}, in "), format!(", {name} ")].iter().any(|text| noise.contains(text));
    assert!(names.any(is_shown), "{noise}\n{trials:#?}");
}

/// A control group of a test's own, with a CPU quota; gone with it.
struct Group {
    folder: PathBuf,
    /// The file that takes a quota, and the text that stands for so many µs in 100 ms.
    quota: (PathBuf, fn(u32) -> String),
}

impl Group {
    /// `None` where this machine lets nobody make one.
    fn make() -> Option<Self> {
        let name = format!("bakeoff-test-{}", std::process::id());
        let one = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let two = Path::new("/sys/fs/cgroup").join(&name);
        let version_1: (_, _, fn(u32) -> String) = (one, "cpu.cfs_quota_us", |us| us.to_string());
        let version_2: (_, _, fn(u32) -> String) = (two, "cpu.max", |us| format!("{us} 100000"));
        for (folder, file, text) in [version_1, version_2] {
            if !folder.parent().is_some_and(Path::is_dir) || fs::create_dir(&folder).is_err() {
                continue;
            }
            let group = Self { quota: (folder.join(file), text), folder };
            if group.quota.0.is_file() {
                return Some(group);
            }
        }
        needs::left_out(Need::ControlGroups, "none with a CPU quota can be made");
        None
    }

    fn allow(&self, us: u32) {
        fs::write(&self.quota.0, self.quota.1(us)).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // It can go when its last process has.
        needs::eventually("the control group's end", || fs::remove_dir(&self.folder).is_ok());
    }
}

#[test]
fn a_quota_cut_in_mid_run_is_named() {
    let Some(group) = Group::make() else { return };
    // The server puts itself into a group that is not bakeoff's, and works for its answers.
    let script = "[[route]]\npath = \"/ready\"\n\n[[route]]\npath = \"/page\"\nbody = { size = 2000 }\ncpu = \"4ms\"\n";
    let place = Place::with_study(&[("one", script), ("two", &script.replace("4ms", "5ms"))]);
    let server = crate::common::knownserver();
    let enter = format!("echo $$ > {}/cgroup.procs; exec {} \\\"$@\\\"", group.folder.display(), server.display());
    let command = format!("\"sh -c '{enter}' sh --port {{port}}\"");
    place.change(&format!("\"{} --port {{port}}\"", server.display()), &command);
    place.change("duration = \"1s\"", "duration = \"2s\"");
    let run = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(4);
    group.allow(20_000);
    run.end().ends_with(0);
    let report = place.report();
    let noise = said(&report, "host-noise");
    assert!(noise.contains("server's control group"), "{noise}\n{:#?}", report.findings);
    place.assert_nothing_is_left();
}
