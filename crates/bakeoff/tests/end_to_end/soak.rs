//! Soaks: what a server keeps for good is found with its slope, what levels off is not called that, and what was seen is never lost.

use std::process::Command;
use std::thread;
use std::time::Duration;

use model::soaked::{Gauge, Reading, SoakEnd};
use model::{Course, FindingId, SoakReport};
use needs::Need;

use crate::common::{Place, script};

/// Requests in a second, which come at a rate: so their number is known.
const RATE: f64 = 200.0;
const HOUR_S: f64 = 3_600.0;

/// A study at that rate whose first variant keeps what `keeps` says.
fn keeping(keeps: &str) -> Place {
    let page = |more: &str| script("", &format!("body = {{ size = 2000 }}\ndelay = \"2ms\"\n{more}"));
    let place = Place::with_study(&[("first", &page(keeps)), ("other", &page(""))]);
    place.change("concurrency = 2", &format!("rate = {RATE}")).change("fixed = \"200ms\"", "cap = \"3s\"");
    place
}

fn soaked(place: &Place) -> SoakReport {
    serde_json::from_value(place.json(&["report", "--json"])).unwrap()
}

fn found(report: &SoakReport) -> Vec<&str> {
    report.findings.iter().map(|finding| FindingId::name(&finding.id)).collect()
}

#[track_caller]
fn course(report: &SoakReport, gauge: Gauge) -> &Course {
    report.soaks[0].courses.iter().find(|course| course.gauge == gauge).unwrap()
}

#[test]
fn a_leak_is_found_with_its_slope() {
    const BYTES: f64 = 8_192.0;
    let place = keeping(&format!("leak = {{ bytes = {BYTES} }}"));
    let soak = ["run", "study.toml", "--soak", "70s", "--variant", "first", "--fail-on", "worse"];
    let ran = place.run(&soak).ends_with(3);
    ran.says("▼ RISES first over 70 s: resident memory +").says("memory-leak").says("resident memory");
    ran.complains("soak, first: soaked for 70").complains("all is soaked");

    let report = soaked(&place);
    assert_eq!(found(&report), ["memory-leak"], "{report:#?}");
    let trend = course(&report, Gauge::Memory).trend.unwrap();
    let slope = RATE * BYTES * HOUR_S;
    // The allocator needs a few bytes of its own for each.
    let covers = trend.low * 0.99 <= slope && slope <= trend.high * 1.01;
    assert!(covers && trend.high - trend.low < 0.2 * slope, "{slope} {trend:?}");
    // The last may still be under way at the end.
    let requests = report.soaks[0].requests;
    assert!((70 * 200 - 2..=70 * 200).contains(&requests), "{requests}");

    // The same again, in every form.
    place.run(&["report"]).ends_with(0).says("▼ RISES first");
    place.run(&["report", "--md"]).ends_with(0).says("**▼ RISES**").says("| resident memory |");
    let csv = place.run(&["report", "--csv"]).ends_with(0).stdout;
    assert!(csv.lines().filter(|line| line.contains(",resident memory,")).count() >= 60, "{csv}");
    place.run(&["report", "--html", "again.html"]).ends_with(0);
    let page = std::fs::read_to_string(place.path("again.html")).unwrap();
    assert!(page.contains("resident memory over the soak") && page.contains("memory-leak"));
    place.run(&["report", "--xlsx", "again.xlsx"]).ends_with(2).complains("a soak has no spreadsheet");
    place.run(&["list"]).ends_with(0).says("finished soak a test");
    place.run(&["show"]).ends_with(0).says("soak of first").says(&format!("{requests} good, 0 failed"));
    // It travels like any run, and is none that can go on.
    let exported = place.run(&["export"]).ends_with(0).stdout;
    let elsewhere = Place::new();
    elsewhere.write("soak.json", &exported);
    elsewhere.run(&["import", "soak.json"]).ends_with(0);
    assert_eq!(soaked(&elsewhere), report);
    place.run(&["run", "study.toml", "--resume"]).ends_with(2).complains("no unfinished run");
    place.assert_nothing_is_left();
}

/// All of it is there after ten seconds.
#[test]
fn a_cache_that_levels_off_is_no_leak() {
    let place = keeping("cache = { bytes = 65536, entries = 500 }");
    let soak = ["run", "study.toml", "--soak", "64s", "--variant", "first", "--fail-on", "inconclusive"];
    let ran = place.run(&soak).ends_with(0);
    ran.says("= STEADY first").says("nothing rises to the end");
    let report = soaked(&place);
    assert_eq!(found(&report), [""; 0], "{report:#?}");
    let memory = course(&report, Gauge::Memory);
    assert!(matches!(memory.reading, Reading::LevelledOff { .. } | Reading::Level), "{memory:?}");
    assert!(memory.last > 500.0 * 65_536.0, "{memory:?}");
    place.assert_nothing_is_left();
}

#[test]
fn a_server_that_keeps_nothing_has_no_finding() {
    let place = keeping("");
    // A study's own soak.
    place.change("[decide]", "[soak]\nduration = \"62s\"\ncell = \"page@200/s\"\n\n[decide]");
    place.run(&["run", "study.toml", "--soak", "--variant", "first", "--fail-on", "inconclusive"]).ends_with(0);
    let report = soaked(&place);
    assert_eq!((found(&report), report.planned_s), (Vec::new(), 62.0), "{report:#?}");
    let gauges: Vec<Gauge> = report.soaks[0].courses.iter().map(|course| course.gauge).collect();
    let all_but_heap: Vec<Gauge> = Gauge::ALL.into_iter().filter(|gauge| *gauge != Gauge::Heap).collect();
    assert_eq!(gauges, all_but_heap);
    place.assert_nothing_is_left();
}

#[test]
fn threads_and_descriptors_that_are_never_given_back_are_found() {
    let place = keeping("leak = { descriptors = 1, threads = 1, every = 100 }");
    place.run(&["run", "study.toml", "--soak", "64s", "--variant", "first"]).ends_with(0);
    let report = soaked(&place);
    let named: Vec<&str> = report
        .findings
        .iter()
        .filter(|finding| finding.id.name() == "resource-leak")
        .map(|finding| finding.facts[0].name.as_str())
        .collect();
    assert_eq!(named, ["file descriptors", "threads"], "{report:#?}");
    let trend = course(&report, Gauge::Threads).trend.unwrap();
    let slope = RATE / 100.0 * HOUR_S;
    assert!(trend.low * 0.97 <= slope && slope <= trend.high * 1.03, "{slope} {trend:?}");
    place.assert_nothing_is_left();
}

#[test]
fn a_server_that_dies_leaves_what_was_seen_and_why() {
    let page = script(
        "exit-after = { time = \"12s\", code = 3, message = \"out of handles\" }",
        "body = { size = 2000 }\ndelay = \"2ms\"",
    );
    let place = Place::with_study(&[("first", &page), ("other", &page)]);
    let ran = place.run(&["run", "study.toml", "--soak", "1h"]).ends_with(5);
    ran.says("✗ FAILED first failed after")
        .says("the server ended by itself under load (exit code 3)")
        .says("out of handles");
    // The other has its turn all the same.
    ran.says("✗ FAILED other failed after").complains("all is soaked");
    let report = soaked(&place);
    for soak in &report.soaks {
        assert!(matches!(&soak.end, SoakEnd::Failed(failed) if failed.log_tail.contains("out of handles")), "{soak:?}");
        assert!(soak.seconds > 5.0 && soak.requests > 100, "{soak:?}");
        assert!(soak.too_short.as_ref().is_some_and(|why| why.contains("in less than 5 min")), "{soak:?}");
    }
    place.run(&["show"]).ends_with(0).says("FAILED (measure): the server ended by itself");
    place.assert_nothing_is_left();
}

#[test]
fn ctrl_c_keeps_what_was_seen_and_says_it() {
    let place = keeping("");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml", "--soak", "10m"]));
    needs::eventually("a server", || !place.servers().is_empty());
    thread::sleep(Duration::from_secs(10));
    started.signal("INT");
    let ran = started.end().ends_with(130);
    ran.says("? TOO SHORT first was loaded for").says("It was interrupted").complains("interrupted");
    let report = soaked(&place);
    assert_eq!((report.soaks.len(), place.status().as_str()), (1, "interrupted"));
    assert!(report.soaks[0].seconds >= 4.0 && report.soaks[0].requests > 0, "{report:#?}");
    place.assert_nothing_is_left();
}

/// What was seen is stored every minute.
#[test]
fn killed_in_mid_soak_it_leaves_no_process_and_what_was_seen_until_a_minute_before() {
    let place = keeping("leak = { bytes = 8192 }");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml", "--soak", "8m"]));
    needs::eventually("a server", || !place.servers().is_empty());
    thread::sleep(Duration::from_secs(75));
    started.signal("KILL");
    assert_eq!(started.end().code, None);
    needs::eventually("the end of every process", || place.processes().is_empty());
    let report = soaked(&place);
    assert_eq!((report.soaks.len(), place.status().as_str()), (1, "interrupted"));
    let soak = &report.soaks[0];
    assert!(soak.end == SoakEnd::Interrupted && soak.seconds >= 55.0, "{soak:?}");
    place.run(&["report"]).ends_with(0).says("It was interrupted");
}

#[test]
fn what_says_nothing_is_refused() {
    let place = keeping("");
    let refused = |args: &[&str], why: &str| {
        place.run(&[&["run", "study.toml"], args].concat()).ends_with(2).complains(why);
    };
    refused(&["--soak", "20s"], "a soak of 20 s says nothing: it takes 60 s at least");
    refused(&["--soak"], "the study does not say how long a soak takes");
    refused(&["--soak", "4h", "--variant", "third"], "the study has no variant third");
    refused(&["--soak", "4h", "--resume"], "cannot be used with");
    refused(&["--variant", "first"], "--soak");
    place.change("[decide]", "[soak]\nduration = \"30s\"\ncell = \"page@7\"\n\n[decide]");
    refused(&["--soak"], "a soak this short says nothing");
    refused(&["--soak"], "there is no cell `page@7`");
    place.change("page@7", "page@200/s").change("duration = \"30s\"", "duration = \"4h\"");
    place.change("rate = 200", "stages = [{ to = 100, over = \"5s\" }]");
    place.change("page@200/s", "page@stages");
    refused(&["--soak"], "`page@stages` is no load for hours");
    assert!(place.json(&["list", "--json"]).as_array().is_none_or(Vec::is_empty));
}

/// A full disk takes no more. What was stored before stays, and what was seen since is shown all the same.
#[test]
fn a_disk_that_fills_loses_nothing_that_was_stored() {
    /// In a mount namespace of its own, so that nobody else sees the disk.
    const SCENE: &str = r#"
mkdir disk && mount -t tmpfs -o size=8m tmpfs disk || exit 99
"$BAKEOFF" --store disk/store.db run study.toml --soak 75s --variant first &
until "$BAKEOFF" --store disk/store.db show | grep -q 'in [1-9][0-9]* windows'; do sleep 0.5; done
cat /dev/zero > disk/filler 2> /dev/null
wait $!
echo "stopped with $?"
rm disk/filler
"$BAKEOFF" --store disk/store.db show --json > kept.json
"#;
    if !needs::has(Need::Mounts) {
        return;
    }
    let place = keeping("");
    let mut own_mounts = Command::new("unshare");
    own_mounts.args(["--mount", "sh", "-c", SCENE]).current_dir(place.path(""));
    own_mounts.env("BAKEOFF", env!("CARGO_BIN_EXE_bakeoff"));
    let ran = place.start(&mut own_mounts).end().ends_with(0);
    ran.says("= STEADY first over 75 s").says("stopped with 1").complains("No space left on device");
    let kept: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(place.path("kept.json")).unwrap()).unwrap();
    let windows = kept[0]["windows"].as_array().unwrap().len();
    // The last of them may find room in a file that is there.
    assert!((55..=75).contains(&windows), "{windows}");
    place.assert_nothing_is_left();
}

const JAVA: &str = r#"name = "a Java program"

[server]
runtime = "java"
jdk = "17 or 21"
main = "Server.java"
jvm = ["-Xmx128m"]
ready = { get = "/ready", within = "60s" }

[factor.keeps]
all = { args = ["{port}", "all"] }
some = { args = ["{port}", "some"] }

[[workload]]
name = "page"
get = "/"
rate = 200

[warmup]
cap = "5s"
"#;

/// Keeps a block of 4 KiB of each request in a list, or in a map of 500 entries that are replaced all the time; each request makes garbage, too.
const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicLong;

public class Server {
    static final List<byte[]> KEPT = Collections.synchronizedList(new LinkedList<>());
    static final Map<Long, byte[]> SOME = new ConcurrentHashMap<>();

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        boolean all = args[1].equals("all");
        AtomicLong number = new AtomicLong();
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/ready", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.createContext("/", exchange -> {
            byte[] garbage = new byte[200_000];
            exchange.setAttribute("garbage", garbage);
            if (all) {
                KEPT.add(new byte[4096]);
            } else {
                SOME.put(number.incrementAndGet() % 500, new byte[16384]);
            }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }
}
"#;

fn soaked_java(variant: &str) -> SoakReport {
    let place = Place::new();
    place.write("study.toml", JAVA);
    place.write("Server.java", SERVER);
    place.run(&["run", "study.toml", "--soak", "80s", "--variant", variant]).ends_with(0);
    place.assert_nothing_is_left();
    soaked(&place)
}

#[test]
fn a_list_that_grows_in_a_jvm_is_found_in_its_heap() {
    let report = soaked_java("all");
    let leak = report.findings.iter().find(|finding| finding.id.name() == "memory-leak");
    let heap = course(&report, Gauge::Heap);
    let leak = leak.unwrap_or_else(|| panic!("{heap:#?}"));
    assert_eq!((leak.facts[0].name.as_str(), heap.reading), ("heap after collections", Reading::Rising), "{leak:?}");
    assert_eq!(heap.doubt, None);
    let trend = heap.trend.unwrap();
    // A block with its head and its node of the list.
    let slope = RATE * (4_096.0 + 16.0 + 24.0) * HOUR_S;
    assert!((trend.per_hour / slope - 1.0).abs() < 0.25, "{slope} {trend:?}");
    assert_eq!(heap.limit.as_ref().map(|limit| limit.value), Some(128.0 * 1_048_576.0));
}

#[test]
fn a_map_that_is_full_in_a_jvm_is_no_leak() {
    let report = soaked_java("some");
    let heap = report.soaks[0].courses.iter().find(|course| course.gauge == Gauge::Heap);
    let grave = report.findings.iter().any(|finding| finding.severity > model::Severity::Note);
    assert!(!grave && heap.is_some_and(|heap| heap.reading != Reading::Rising), "{:#?}\n{heap:#?}", report.findings);
}
