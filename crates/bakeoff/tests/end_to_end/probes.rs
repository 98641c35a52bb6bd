//! What is seen of a real JVM beside the client's view, over whole trials.

use std::fs;

use serde_json::Value;

use crate::common::Place;

const STUDY: &str = r#"name = "a Java program"

[server]
runtime = "java"
jdk = "17 or 21"
main = "Server.java"
args = ["{port}"]
jvm = ["-Xms64m", "-Xmx64m", "-XX:+UseSerialGC", "-Dsun.net.httpserver.nodelay=true"]
ready = { get = "/", within = "60s" }

[factor.name]
one = { properties = { "a.name" = "one" } }
two = { properties = { "a.name" = "two" } }

[[workload]]
name = "page"
get = "/"
concurrency = 2

[warmup]
fixed = "1s"

[measure]
duration = "1s"

[decide]
rope = "2%"
blocks = { min = 5, max = 5 }
"#;

/// Every answer costs 200 KB of garbage, and is sent at once: 40 ms later is what this server is known for.
const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Server {
    static volatile byte[] last;

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/", exchange -> {
            for (int piece = 0; piece < 50; piece++) {
                last = new byte[4000];
            }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }
}
"#;

/// Sum of the numbers that a path leads to in all samples of a trial.
fn sum(trial: &Value, path: &str) -> f64 {
    let loads = trial["cells"].as_array().unwrap().iter().chain([&trial["warm_up"]]);
    let samples = loads.flat_map(|load| load["samples"].as_array().unwrap());
    samples.flat_map(|sample| numbers(sample.pointer(path).unwrap_or(&Value::Null))).sum()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => value.as_f64().into_iter().collect(),
    }
}

/// The pauses of a load as its samples have them, in order, milliseconds.
fn pauses_ms(load: &Value) -> Vec<f64> {
    let samples = load["samples"].as_array().unwrap().iter();
    let pauses = samples.filter_map(|sample| sample["server"]["jvm"]["gc"]["pauses_s"].as_array());
    pauses.flatten().map(|pause| pause.as_f64().unwrap() * 1e3).collect()
}

/// Whether the kernel reports how long tasks waited for a processor.
fn is_pressure_known() -> bool {
    fs::read_to_string("/proc/pressure/cpu").is_ok_and(|text| text.contains("some "))
}

#[test]
fn pauses_of_whole_trials_are_those_of_the_log() {
    let place = Place::new();
    place.write("study.toml", STUDY);
    place.write("Server.java", SERVER);
    place.run(&["run", "study.toml", "--fail-on", "never", "--budget", "30s"]).ends_with(0);
    let trials = place.trials();
    assert!(!trials.is_empty());
    for trial in &trials {
        let folder = trial["launch"]["log"].as_str().unwrap().replace("/server.log", "");
        let log = fs::read_to_string(format!("{folder}/gc.log")).unwrap();
        let ended = log.lines().filter(|line| line.contains(") Pause Young") && line.ends_with("ms"));
        let logged: Vec<f64> =
            ended.map(|line| line.rsplit(' ').next().unwrap().trim_end_matches("ms").parse().unwrap()).collect();
        let (logged_s, seen_s) = (logged.iter().sum::<f64>() / 1e3, sum(trial, "/server/jvm/gc/pauses_s"));
        let text = format!("{} pauses, {logged_s:.4} s in the log, {seen_s:.4} s in the samples", logged.len());
        println!("{text}");
        // The log has those of the start and between the loads, too: of a load all are there, one after the other.
        for load in [&trial["warm_up"]].into_iter().chain(trial["cells"].as_array().unwrap()) {
            let seen = pauses_ms(load);
            let is_part =
                logged.windows(seen.len()).any(|part| part.iter().zip(&seen).all(|(a, b)| (a - b).abs() < 1e-6));
            assert!(!seen.is_empty() && is_part, "{text}: {seen:?} of {logged:?}");
        }
        assert!(logged.len() > 3 && seen_s > logged_s / 2.0, "{text}");
        // Beside it, in the same samples.
        let good = sum(trial, "/tally/good");
        let allocated = sum(trial, "/server/jvm/gc/allocated_bytes") / good;
        assert!((150_000.0..250_000.0).contains(&allocated), "{allocated} bytes a request");
        assert!(sum(trial, "/server/system_s") > 0.0 && sum(trial, "/server/switches/voluntary") > 0.0);
        assert!(sum(trial, "/server/pss_bytes") > 0.0 && sum(trial, "/server/jvm/counters/jit_s") > 0.0);
        assert!(sum(trial, "/host/per_core") > 0.0);
        // Client and server wait for a processor now and then, at least for some microseconds.
        assert_eq!(sum(trial, "/host/pressure") > 0.0, is_pressure_known(), "{trial:#}");
        let canary = trial["canary_ns"].as_array().unwrap();
        assert!(canary.len() == 2 && canary.iter().all(|ns| ns.as_u64().is_some_and(|ns| ns > 0)), "{canary:?}");
    }
    // The table of the report has them, and the option that makes the log is no difference between the variants.
    let report = place.report();
    assert!(report.measurements.iter().all(|measurement| measurement.server.gc_share.is_some_and(|share| share > 0.0)));
    for time in report.measurements.iter().map(|measurement| measurement.server) {
        let cores = trials.iter().map(|trial| sum(trial, "/server/cpu_s") / sum(trial, "/length_s"));
        let [least, most] = [f64::min, f64::max].map(|pick| cores.clone().reduce(pick).unwrap());
        // The warm-up, which is in the trials' figures, takes more of it.
        assert!(time.cores.is_some_and(|cores| cores > least / 2.0 && cores < most * 2.0), "{time:?}");
        assert!(time.busiest_core.is_some_and(|busy| busy > 0.0 && busy <= 1.0), "{time:?}");
        assert!(time.waits_per_request.is_some_and(|waits| waits > 0.0), "{time:?}");
        assert!(time.preemptions_per_request.is_some() && time.classes_loaded.is_some(), "{time:?}");
        assert!(time.safepoint_share.is_some_and(|share| share > 0.0 && share < 1.0), "{time:?}");
    }
    let table = place.run(&["report", "--md"]).ends_with(0);
    table.says("| cores used | busiest core | kernel CPU per request | waits per request | preemptions per request |");
    table.says("| at safepoints | classes loaded |");
    assert!(report.differences.iter().all(|difference| difference.factor.is_some()), "{:?}", report.differences);
}
