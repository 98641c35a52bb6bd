//! The launches after the verdict that show why the variants differ.

use std::process::Command;

use crate::common::{Place, page, script};
use model::why::Row;
use std::fs;

const JAVA: &str = r#"name = "a Java program"

[server]
runtime = "java"
jdk = "17 or 21"
main = "Server.java"
jvm = ["-Xmx64m", "-XX:TieredStopAtLevel=1"]
ready = { get = "/ready", within = "60s" }

[factor.careful]
yes = { args = ["{port}", "0"] }
no = { args = ["{port}", "3"] }

[[workload]]
name = "page"
get = "/"
concurrency = 2

[warmup]
fixed = "200ms"

[measure]
duration = "1s"

[decide]
blocks = { min = 5, max = 5 }
"#;

/// Makes as many exceptions for each request as its path says.
const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

public class Server {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        int faults = Integer.parseInt(args[1]);
        server.setExecutor(Executors.newFixedThreadPool(4));
        server.createContext("/ready", exchange -> {
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.createContext("/", exchange -> {
            for (int fault = 0; fault < faults; fault++) {
                try {
                    throw new IllegalStateException("no");
                } catch (IllegalStateException expected) {
                    exchange.setAttribute("fault", expected.getMessage());
                }
            }
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }
}
"#;

#[test]
fn a_full_run_of_java_programs_ends_with_why() {
    let place = Place::new();
    place.write("study.toml", JAVA);
    place.write("Server.java", SERVER);
    let ran = place.run(&["run", "study.toml", "--seed", "1"]).ends_with(0);
    ran.says("It explains, and proves nothing");
    let why = place.report().why.unwrap();
    let exact = |row: &&Row| row.what.contains("IllegalStateException");
    let row = why.topics.iter().flat_map(|topic| &topic.rows).find(exact).unwrap();
    assert_eq!(row.values, [Some(0.0), Some(3.0)], "{row:?}");
    let text = why.explanations[0].differences.iter().find(|difference| difference.topic == "exceptions").unwrap();
    assert!(text.sentence.starts_with("no: 3 exceptions of Java code per request against 0"), "{text:?}");
    assert!(why.launches.iter().all(|launch| launch.cpu_per_request.is_some() && launch.missing.is_none()), "{why:#?}");
    // The recordings stay with the run.
    for launch in &why.launches {
        assert!(fs::metadata(launch.recording.as_ref().unwrap()).unwrap().len() > 0);
    }
    place.assert_nothing_is_left();
}

const RUBY: &str = r#"name = "a Ruby program"

[server]
runtime = "ruby"
script = "server.rb"
ready = { get = "/", within = "60s" }

[factor.rounds]
few = { args = ["{port}", "10000"] }
many = { args = ["{port}", "40000"] }

[[workload]]
name = "page"
get = "/"
concurrency = 2

[warmup]
fixed = "200ms"

[measure]
duration = "1s"

[decide]
blocks = { min = 5, max = 5 }
"#;

/// Spends its time in one method.
const SPINNING: &str = r"
require 'socket'

def spin(rounds)
  rounds -= 1 while rounds > 0
end

server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
loop do
  Thread.new(server.accept) do |client|
    while client.gets
      nil until (line = client.gets).nil? || line.strip.empty?
      spin(ARGV[1].to_i)
      client.write %(HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok)
    end
  end
end
";

#[test]
fn a_full_run_of_ruby_programs_ends_with_samples_of_them() {
    let place = Place::new();
    place.write("study.toml", RUBY);
    place.write("server.rb", SPINNING);
    place.run(&["run", "study.toml", "--seed", "1"]).ends_with(0);
    let why = place.report().why.unwrap();
    for launch in &why.launches {
        assert!(launch.missing.as_ref().unwrap().contains("samples of its methods"), "{launch:#?}");
        assert!(fs::metadata(launch.recording.as_ref().unwrap()).unwrap().len() > 0);
    }
    // Few samples, as of a processor that others use, are not reported.
    let methods: Vec<_> = why.topics.iter().filter(|topic| topic.title.ends_with(" methods of MRI")).collect();
    assert!(methods.iter().all(|topic| topic.rows[0].what.starts_with("Object#spin (")), "{methods:#?}");
}

#[test]
fn profiling_runs_are_resumed_and_can_be_declined() {
    let place = Place::with_study(&[("one", &page("1ms")), ("two", &page("2ms"))]);
    let run = ["run", "study.toml", "--seed", "1", "--profile"];
    let started = place.start(&mut place.bakeoff(&run));
    needs::eventually("the first profiling run's end", || started.has_said("profiling run, one:"));
    started.signal("INT");
    started.end().ends_with(130).says("It goes on with: bakeoff run study.toml --resume --store");
    place.assert_nothing_is_left();
    assert_eq!(place.status(), "interrupted");

    // No block is left that a budget could be too small for; what is left is.
    let copy = place.path("copy");
    assert!(Command::new("cp").arg("-r").arg(place.store_folder()).arg(&copy).status().unwrap().success());
    let small = ["run", "study.toml", "--resume", "--budget", "1s"];
    let ran = place.start(&mut place.bakeoff_with(&copy.join("store.db"), &small)).end().ends_with(0);
    ran.complains("more than was left of the budget of 1 s");

    let copy = place.path("declined");
    assert!(Command::new("cp").arg("-r").arg(place.store_folder()).arg(&copy).status().unwrap().success());
    let declined = ["run", "study.toml", "--resume", "--no-profile"];
    let ran = place.start(&mut place.bakeoff_with(&copy.join("store.db"), &declined)).end().ends_with(0);
    assert!(!ran.stderr.contains("profiling run, "), "{}", ran.stderr);

    let resumed = place.run(&["run", "study.toml", "--resume"]).ends_with(0);
    resumed.complains("profiling run, two: no recording: a server without a JVM keeps no record of itself");
    assert!(!resumed.stderr.contains("profiling run, one:"), "{}", resumed.stderr);
    let why = place.report().why.unwrap();
    assert_eq!(why.launches.iter().map(|launch| launch.variant).collect::<Vec<_>>(), [0, 1]);
    assert!(why.launches.iter().all(|launch| launch.requests > 0 && launch.recording.is_none()), "{why:#?}");

    // Commands report nothing: by default they are not watched.
    place.run(&["run", "study.toml", "--seed", "2"]).ends_with(0);
    assert_eq!(place.report().why, None);
}

/// What it did until then is not lost.
#[test]
fn what_was_seen_of_a_server_that_died_while_it_was_watched_is_kept() {
    let place = Place::with_study(&[("one", &page("5ms")), ("two", &page("6ms"))]);
    // After more requests than warm a launch up, and before as many as it is watched for.
    let dies = "exit-after = { requests = 60, code = 3, message = \"out of memory\" }";
    place.write("dies.toml", &script(dies, "body = { size = 2000 }\ndelay = \"20ms\""));
    for level in ["one", "two"] {
        place.change(&format!("{{dir}}/{level}.toml"), &format!("{{trial_dir}}/{level}.toml"));
    }
    let hook = "prepare = \"cp one.toml two.toml {trial_dir}; \
                case {trial_dir} in *profiling*) for level in one two; do cp dies.toml {trial_dir}/$level.toml; done;; esac\"";
    place.change("[[workload]]", &format!("[hooks]\n{hook}\n\n[[workload]]"));
    let ran = place.run(&["run", "study.toml", "--profile", "--fail-on", "never"]).ends_with(0);
    ran.complains("profiling run, one: FAILED: ");
    place.assert_nothing_is_left();
    let why = place.report().why.unwrap();
    assert_eq!(why.launches.len(), 2);
    for launch in why.launches {
        assert!(launch.missing.as_ref().unwrap().starts_with("The launch failed: "), "{launch:#?}");
        assert!(launch.requests >= 10, "{launch:#?}");
    }
}
