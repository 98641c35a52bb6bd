//! What is seen of a JVM from outside, held against what it reports itself: real JVMs, every collector they have. What MRI reports about
//! itself, held against what it was made to do.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use model::JvmUse;
use model::study::{JavaProgram, JavaSpec, Runtime};
use needs::Need;
use server::{Others, Running, install};

use crate::common::{launcher, packages_of, ruby, spec, study, toolbox};

const CHURN: &str = include_str!("common/Churn.java");
/// A master and two workers, who collect as often as a request's path says, all of the heap, and never otherwise.
const COLLECTS: &str = include_str!("common/collects.rb");
/// KiB that a request allocates.
const PIECES: usize = 20_000;
/// Of the JVMs whose collectors are compared, bytes.
const HEAP: u64 = 128 << 20;
/// Requests of one comparison.
const REQUESTS: usize = 30;

fn launch(jdk: &str, jvm: &[&str], dir: &Path) -> Option<Running> {
    let java = JavaSpec {
        jdk: Some(jdk.to_owned()),
        jvm: jvm.iter().map(ToString::to_string).collect(),
        ..JavaSpec::default()
    };
    let spec = spec(Runtime::Java { java, program: JavaProgram::Main("Churn.java".into()) }, &["{port}"], dir);
    if let Some(lacking) = server::lacking(&spec, dir) {
        needs::left_out(Need::Package(&packages_of(jdk)), lacking);
        return None;
    }
    let installed = install(&spec, dir, &toolbox(dir)).unwrap();
    let launcher = launcher();
    Some(launcher.server(&installed, &launcher.site(dir, &dir.join("trial"), &[]).unwrap()).unwrap())
}

fn get(address: SocketAddr, path: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("ok"), "{answer}");
}

/// Allocates a known amount in a few samples' time; their sum.
fn churned(running: &Running) -> JvmUse {
    let mut sampler = running.sampler();
    let mut sum = JvmUse::default();
    for part in 0..4 {
        if part < 3 {
            (0..REQUESTS / 3).for_each(|_| get(running.address(), &format!("/{PIECES}")));
        } else {
            // What collects beside the program may not be done when the last answer is there.
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
        let used = sampler.sample().unwrap().jvm.unwrap_or_else(|| panic!("no JVM is seen in part {part}"));
        if let Some(gc) = used.gc {
            let all = sum.gc.get_or_insert_default();
            all.pauses_s.extend(gc.pauses_s);
            all.heap_after_bytes = gc.heap_after_bytes.or(all.heap_after_bytes);
            all.allocated_bytes += gc.allocated_bytes;
        }
        if let Some(counters) = used.counters {
            let all = sum.counters.get_or_insert_default();
            all.collectors.extend(counters.collectors);
            all.safepoint_s += counters.safepoint_s;
            all.jit_s += counters.jit_s;
            all.classes += counters.classes;
            all.threads = counters.threads;
        }
    }
    sum
}

/// What the log says of pauses that begin and end after `from`, ns of the monotonic clock, seconds: read by other code.
fn logged_s(log: &str, from: u64) -> f64 {
    let pause = |line: &str| {
        let at: u64 = line.strip_prefix('[')?.split_once("ns]")?.0.parse().ok()?;
        let (_, rest) = line.split_once("] GC(")?;
        let ms = rest.strip_suffix("ms")?;
        (at > from && rest.contains(" Pause ")).then(|| ms.rsplit(' ').next()?.parse::<f64>().ok())?
    };
    log.lines().filter_map(pause).sum::<f64>() / 1e3
}

fn last_ns(log: &str) -> u64 {
    let at = |line: &str| line.strip_prefix('[')?.split_once("ns]")?.0.parse().ok();
    log.lines().filter_map(at).max().unwrap()
}

/// The sum of our samples stays within 5 % of the log; the counters report the same pauses where they count pauses.
fn agrees(jdk: &str, collector: &str, counts_pauses: bool) {
    let dir = study("Churn.java", CHURN);
    let flag = format!("-XX:+Use{collector}GC");
    let Some(running) = launch(jdk, &["-Xms128m", "-Xmx128m", &flag], dir.path()) else { return };
    let log = dir.path().join("trial/gc.log");
    let before = last_ns(&fs::read_to_string(&log).unwrap());
    let used = churned(&running);
    let written = fs::read_to_string(&log).unwrap();
    let (gc, counters) = (used.gc.unwrap(), used.counters.unwrap());
    let (logged_s, ours_s) = (logged_s(&written, before), gc.paused_s());
    let counted_s: f64 = counters.collectors.iter().map(|collector| collector.time_s).sum();
    let reported = format!(
        "JDK {jdk}, {collector}: pauses {:.2} ms in the log, {:.2} ms in our samples, {:.2} ms counted; {} pauses, {:.1} MiB \
         allocated of {:.1}; safepoints {:.1} ms",
        logged_s * 1e3,
        ours_s * 1e3,
        counted_s * 1e3,
        gc.pauses_s.len(),
        gc.allocated_bytes as f64 / 1_048_576.0,
        (REQUESTS * PIECES * 1016) as f64 / 1_048_576.0,
        counters.safepoint_s * 1e3,
    );
    println!("{reported}");
    assert!(!gc.pauses_s.is_empty(), "{reported}");
    let within = |value: f64, of: f64, share: f64| (value / of - 1.0).abs() <= share;
    assert!(within(ours_s, logged_s, 0.05), "{reported}");
    // The counters leave out a pause's first and last steps: a second way to see that nothing is missing, no more.
    assert!(!counts_pauses || within(counted_s, logged_s, 0.3), "{reported}");
    assert!(gc.heap_after_bytes.is_some_and(|bytes| bytes < 128 << 20), "{reported}");
    // All but what came after the last collection, and during it where the program goes on meanwhile. ZGC counts whole pages, and
    // leaves some half empty.
    let requested = (REQUESTS * PIECES * 1016) as u64;
    let unknown = if matches!(collector, "Z" | "Shenandoah") { 2 * HEAP } else { HEAP };
    assert!((requested.saturating_sub(unknown)..requested * 7 / 5).contains(&gc.allocated_bytes), "{reported}");
    assert!(counters.jit_s > 0.0 && counters.threads > 5, "{counters:?}");
}

/// Shenandoah's counters count its concurrent work as well.
const COLLECTORS: [(&str, bool); 5] =
    [("Serial", true), ("Parallel", true), ("G1", true), ("Z", true), ("Shenandoah", false)];

#[test]
fn pauses_agree_with_the_log_on_17() {
    for (collector, counts_pauses) in COLLECTORS {
        agrees("17", collector, counts_pauses);
    }
}

#[test]
fn pauses_agree_with_the_log_on_25() {
    for (collector, counts_pauses) in COLLECTORS {
        agrees("25", collector, counts_pauses);
    }
}

/// What the JDK's own tool says about a JVM's counters.
fn printed(running: &Running) -> String {
    let pid = running.pid().to_string();
    let java = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    let said = Command::new(java.with_file_name("jcmd")).args([&pid, "PerfCounter.print"]).output().unwrap();
    String::from_utf8_lossy(&said.stdout).into_owned()
}

/// There is no second way to them: the JDK's tool reads the same file.
#[test]
fn a_jvm_without_counters_still_has_its_log() {
    let dir = study("Churn.java", CHURN);
    for (flag, has_counters) in
        [("-XX:+UsePerfData", true), ("-XX:-UsePerfData", false), ("-XX:+PerfDisableSharedMem", false)]
    {
        let running = launch("17 or 21", &["-Xmx128m", flag], dir.path()).unwrap();
        let used = churned(&running);
        assert_eq!(used.counters.is_some(), has_counters, "{flag}");
        assert!(used.gc.is_some_and(|gc| gc.paused_s() > 0.0), "{flag}");
        let printed = printed(&running);
        assert_eq!(printed.contains("sun.rt.safepointTime="), has_counters, "{flag}: {printed}");
    }
}

/// For measuring what the probes cost.
#[test]
fn a_server_may_be_looked_at_every_other_span_only() {
    let dir = study("Churn.java", CHURN);
    let java = JavaSpec { jdk: Some("17 or 21".into()), ..JavaSpec::default() };
    let mut spec =
        spec(Runtime::Java { java, program: JavaProgram::Main("Churn.java".into()) }, &["{port}"], dir.path());
    spec.env.insert("BAKEOFF_PROBES".into(), "odd".into());
    let installed = install(&spec, dir.path(), &toolbox(dir.path())).unwrap();
    let looked = |thinned: bool| {
        let launcher = launcher().thinning_probes(thinned);
        let site = launcher.site(dir.path(), &dir.path().join(format!("trial-{thinned}")), &[]).unwrap();
        let running = launcher.server(&installed, &site).unwrap();
        let mut sampler = running.sampler();
        (0..10)
            .map(|_| {
                let used = sampler.sample().unwrap();
                assert!(used.rss_bytes > 0 && used.jvm.is_some() == used.switches.is_some(), "{used:?}");
                used.jvm.is_some()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(looked(true), [false, false, false, false, true, true, true, true, false, false]);
    assert_eq!(looked(false), [true; 10], "what a study says is not enough");
}

#[test]
fn the_studys_own_log_stays_and_its_wish_for_none_is_heeded() {
    let dir = study("Churn.java", CHURN);
    let own = dir.path().join("own.log");
    let option = format!("-Xlog:gc*:file={}", own.display());
    let running = launch("17 or 21", &["-Xmx128m", &option], dir.path()).unwrap();
    assert!(churned(&running).gc.is_some_and(|gc| gc.paused_s() > 0.0));
    assert!(fs::read_to_string(&own).unwrap().contains("Pause Young"));
    drop(running);

    let running = launch("17 or 21", &["-Xmx128m", "-Xlog:disable"], dir.path()).unwrap();
    let used = churned(&running);
    assert!(used.gc.is_none_or(|gc| gc.pauses_s.is_empty()) && used.counters.is_some());
    drop(running);

    // Theirs in our place, decorated their way.
    let running = launch("17 or 21", &["-Xmx128m", "-Xlog:gc*:file={trial_dir}/gc.log"], dir.path()).unwrap();
    assert!(churned(&running).gc.is_some_and(|gc| gc.paused_s() > 0.0));
    assert_eq!(running.facts().command.iter().filter(|word| word.starts_with("-Xlog")).count(), 1);
}

/// A process of nobody's that keeps a processor busy, ended with this.
struct Hog(String);

impl Hog {
    fn start() -> Self {
        let hog = "sh -c 'printf known-hog > /proc/self/comm; while :; do :; done' > /dev/null 2>&1 & echo $!";
        let said = Command::new("sh").args(["-c", hog]).output().unwrap().stdout;
        Self(String::from_utf8(said).unwrap().trim().to_owned())
    }
}

impl Drop for Hog {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", &self.0]).status();
    }
}

/// The state, voluntary and involuntary context switches of the threads that wait to be asked, in all processes of the server.
fn state_of_who_waits(pids: &[u32]) -> Vec<Vec<String>> {
    let tasks = pids.iter().flat_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).unwrap());
    let statuses = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("status")).unwrap_or_default());
    let waiting = statuses.filter(|status| status.starts_with("Name:\tbakeoff\n"));
    let reported = |line: &&str| line.starts_with("State") || line.contains("ctxt_switches");
    waiting.map(|status| status.lines().filter(reported).map(str::to_owned).collect()).collect()
}

#[test]
fn mri_tells_its_collections_before_and_after_a_load() {
    let dir = study("collects.rb", COLLECTS);
    let spec = spec(ruby("collects.rb"), &["{port}"], dir.path());
    let installed = install(&spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    let running =
        launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap()).unwrap();
    assert_eq!(running.ruby_gc(), None, "nobody waits to be asked before gems were asked for");
    let mut facts = running.facts().clone();
    running.loaded(&mut facts);

    let before = running.ruby_gc().unwrap();
    let master = running.pid();
    let children = fs::read_to_string(format!("/proc/{master}/task/{master}/children")).unwrap();
    let workers = children.split_whitespace().map(|pid| pid.parse().unwrap());
    let pids: Vec<u32> = [master].into_iter().chain(workers).collect();
    let mut waiting = Vec::new();
    needs::eventually("all wait again", || {
        let before = std::mem::replace(&mut waiting, state_of_who_waits(&pids));
        waiting == before && waiting.len() == 3 && waiting.iter().all(|thread| thread[0].contains("sleeping"))
    });
    (0..REQUESTS).for_each(|_| get(running.address(), "/2"));
    assert_eq!(state_of_who_waits(&pids), waiting, "who waits does not wake in a load");

    let gc = running.ruby_gc().unwrap().since(&before).unwrap();
    let exact = 2 * REQUESTS as u64;
    assert_eq!((gc.collections, gc.major), (exact, exact), "{gc:?}");
    assert!(gc.time_s.is_none_or(|time_s| time_s > 0.0) && gc.allocated_objects > exact, "{gc:?}");

    // Of who comes later nothing is known.
    get(running.address(), "/fork");
    assert_eq!(running.ruby_gc(), None);
}

#[test]
fn a_program_of_others_is_known_by_its_name() {
    let others = Others::new();
    let hog = Hog::start();
    let pid: u32 = hog.0.parse().unwrap();
    needs::eventually("the hog is seen", || others.busiest().iter().any(|other| other.pid == pid));
    let hog = others.busiest().into_iter().find(|other| other.pid == pid).unwrap();
    assert!(hog.name == "known-hog" && hog.cores > 0.0, "{hog:?}");
}
