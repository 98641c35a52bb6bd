//! Settings of real virtual machines: whether a treatment happened is found out, not believed.

use crate::common::{Place, findings, subjects, text_of};
use model::{Report, Setting, SettingResult, SettingSource, Severity};
use runtimes::Key;

const JAVA: &str = r#"name = "a Java program"

[server]
runtime = "java"
jdk = "17 or 21"
main = "Server.java"
args = ["{port}"]
jvm = ["-Xmx64m", "-XX:TieredStopAtLevel=1"]
ready = { get = "/", within = "60s" }

[factor.jvm]
LEVELS

[[workload]]
name = "page"
get = "/"
concurrency = 1

[warmup]
fixed = "200ms"

[measure]
duration = "1s"
"#;

const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

public class Server {
    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write("ok".getBytes());
            exchange.close();
        });
        server.start();
    }
}
"#;

/// Opens an archive where it is started with one of the options.
const SLIPPED_IN: &str = r#"
public class Server {
    static final java.util.zip.ZipFile ARCHIVE = opened();

    static java.util.zip.ZipFile opened() {
        try {
            boolean has = java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments().contains("-Xmn30m");
            return has ? new java.util.zip.ZipFile("extra.jar") : null;
        } catch (java.io.IOException error) {
            throw new java.io.UncheckedIOException(error);
        }
    }
"#;

const JRUBY: &str = r#"name = "a Ruby program"

[server]
runtime = "jruby"
version = "9.4.15.0"
jdk = "17 or 21"
script = "server.rb"
args = ["{port}"]
jvm = ["-Xmx300m", "-XX:TieredStopAtLevel=1"]
ready = { get = "/", within = "120s" }

[factor.jit]
late = { jruby = { "jit.threshold" = "60" } }
early = { jruby = { "jit.treshold" = "30" } }

[[workload]]
name = "page"
get = "/"
concurrency = 1

[warmup]
fixed = "200ms"

[measure]
duration = "1s"
"#;

/// Raises once for each request.
const SCRIPT: &str = r"
require 'socket'
server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
loop do
  Thread.new(server.accept) do |client|
    loop do
      line = client.gets
      break if line.nil?
      next unless line == %(\r\n)
      begin
        raise ArgumentError, 'rescued'
      rescue ArgumentError
        client.write %(HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok)
      end
    end
    client.close
  end
end
";

fn java(levels: &str) -> Place {
    let place = Place::new();
    place.write("study.toml", &JAVA.replace("LEVELS", levels));
    place.write("Server.java", SERVER);
    place
}

/// The same program, started by this script.
fn behind_a_start_script(levels: &str, script: &str) -> Place {
    let place = java(levels);
    place.write("start.sh", script);
    let text = JAVA.replace("LEVELS", levels);
    let (head, tail) = text.split_once("runtime = ").unwrap();
    let (_, tail) = tail.split_once("ready").unwrap();
    let server = "runtime = \"command\"\ncommand = \"sh start.sh {port}\"\nready";
    place.write("study.toml", &format!("{head}{server}{tail}"));
    place
}

fn setting(report: &Report, variant: usize) -> &Setting {
    let own: Vec<&Setting> = report.variants[variant].settings.iter().filter(|setting| !setting.shared).collect();
    let [setting] = own[..] else { panic!("{:#?}", report.variants[variant]) };
    setting
}

#[test]
fn a_flag_of_the_jvm_is_read_back() {
    let place = java("serial = { jvm = [\"-XX:+UseSerialGC\"] }\nparallel = { jvm = [\"-XX:+UseParallelGC\"] }");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(2);
    started.signal("INT");
    started.end().ends_with(130);
    place.assert_nothing_is_left();
    let report = place.report();
    // A small machine takes the serial collector by itself.
    let serial = setting(&report, 0);
    assert!(matches!(serial.result, SettingResult::InEffect | SettingResult::AlreadyDefault), "{serial:?}");
    let parallel = setting(&report, 1);
    assert_eq!((parallel.result.clone(), parallel.source), (SettingResult::InEffect, SettingSource::Jcmd));
    assert_eq!((parallel.live.as_deref(), parallel.default.as_deref()), (Some("true"), Some("false")));
    let jdk = &report.variants[1].versions["jdk"];
    assert!(jdk.starts_with("17.") || jdk.starts_with("21."), "{jdk}");
    // The factor explains all that differs.
    assert_eq!(findings(&report, "confounded").len(), 0, "{:#?}", report.findings);
}

/// The same behind a start script: its child is asked, and what it adds by itself is in both variants.
#[test]
fn a_flag_behind_a_start_script_is_read_back() {
    // The last option is the same in both.
    let [small, large] = ["-Xmn20m -Xmx96m", "-Xmn30m -Xmx96m"];
    let levels =
        format!("small = {{ env = {{ JAVA_OPTS = \"{small}\" }} }}\nlarge = {{ env = {{ JAVA_OPTS = \"{large}\" }} }}");
    let script = "export STARTED=1\njava -XX:TieredStopAtLevel=1 $JAVA_OPTS Server.java \"$1\"\nexit $?\n";
    let place = behind_a_start_script(&levels, script);
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(4);
    started.signal("INT");
    started.end().ends_with(130);
    place.assert_nothing_is_left();
    let report = place.report();
    for (variant, options) in [(0, small), (1, large)] {
        let setting = setting(&report, variant);
        assert_eq!((setting.result.clone(), setting.source), (SettingResult::InEffect, SettingSource::Jcmd));
        assert_eq!((setting.requested.as_str(), setting.live.as_deref()), (options, Some(options)));
        assert!(report.variants[variant].versions.contains_key("jdk"), "{:?}", report.variants[variant].versions);
    }
    let absent = ["confounded", "setting-unverified", "options-overwritten"];
    for id in absent.into_iter().chain(["setting-is-default"]) {
        assert_eq!(findings(&report, id).len(), 0, "{:#?}", report.findings);
    }
}

/// What slips in where nobody looks is found and named: one side's start script has an option more.
#[test]
fn an_option_that_a_start_script_adds_for_one_level_is_named() {
    let levels = "small = { env = { JAVA_OPTS = \"-Xmn20m\" } }\nlarge = { env = { JAVA_OPTS = \"-Xmn30m\" } }";
    let place = behind_a_start_script(
        levels,
        "case $JAVA_OPTS in *-Xmn30m*) own=-XX:MaxMetaspaceSize=100m;; *) own=;; esac\n\
         java $own $JAVA_OPTS Server.java \"$1\"\nexit $?\n",
    );
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(2);
    started.signal("INT");
    started.end().ends_with(130).says("confounded");
    let report = place.report();
    let [found] = &findings(&report, "confounded")[..] else { panic!("{:#?}", report.findings) };
    assert!(text_of(found).contains("command line: (none) | -XX:MaxMetaspaceSize=100m"), "{found:#?}");
    assert!(!text_of(found).contains("Xmn"), "{found:#?}");
}

/// A library that one side loads, which nothing in its level asks for.
#[test]
fn a_library_that_slips_into_one_level_vetoes() {
    let place = java("small = { jvm = [\"-Xmn20m\"] }\nlarge = { jvm = [\"-Xmn30m\"] }");
    // An archive of no entries.
    place.write("extra.jar", &format!("PK\u{5}\u{6}{}", "\0".repeat(18)));
    place.write("Server.java", &SERVER.replace("public class Server {", SLIPPED_IN));
    place.run(&["run", "study.toml"]).ends_with(5).says("✗ INVALID").says("confounded");
    assert_eq!(place.trials().len(), 4, "two launches of each show it");
    let report = place.report();
    let [found] = &findings(&report, "confounded")[..] else { panic!("{:#?}", report.findings) };
    assert!(
        found.severity == Severity::Invalid && text_of(found).contains("loaded extra.jar: (none) | "),
        "{found:#?}"
    );
}

#[test]
fn a_level_that_changes_nothing_is_no_treatment() {
    let place = java("stock = {}\nthreads = { jvm = [\"-XX:+UseThreadPriorities\"] }");
    place.run(&["run", "study.toml"]).ends_with(5).says("✗ INVALID").says("setting-is-default");
    assert_eq!(place.trials().len(), 2);
    let report = place.report();
    let same = findings(&report, "setting-is-default");
    assert!(same.iter().any(|finding| text_of(finding).contains("UseThreadPriorities")), "{same:#?}");
    assert_eq!(setting(&report, 1).result, SettingResult::AlreadyDefault);
}

/// Without the one of them the other would give it the value that it has; without both it has another.
#[test]
fn flags_that_bring_each_other_along_are_a_treatment() {
    let place = java("stock = {}\nyoung = { jvm = [\"-XX:NewSize=10m\", \"-XX:MaxNewSize=10m\"] }");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    place.wait_for_mid_trial(2);
    started.signal("INT");
    started.end().ends_with(130);
    let report = place.report();
    assert_eq!(findings(&report, "setting-is-default").len(), 0, "{:#?}", report.findings);
}

/// What the study wants to see with its own eyes, before the load and after it.
#[test]
fn an_assertion_that_fails_vetoes() {
    let levels = "serial = { jvm = [\"-XX:+UseSerialGC\"] }\nparallel = { jvm = [\"-XX:+UseParallelGC\"] }";
    let place = java(levels);
    let assertion = |name: &str, expect: &str, when: &str| {
        format!(
            "\n[[assertion]]\nname = \"{name}\"\nthreads = \"^HTTP-Dispatcher$\"\nexpect = {expect}\nwhen = \"{when}\"\n"
        )
    };
    let assertions = assertion("seven dispatchers", "7", "before")
        + &assertion("a dispatcher", "{ serial = 1, parallel = 1 }", "after");
    place.write("study.toml", &(JAVA.replace("LEVELS", levels) + &assertions));
    let ran = place.run(&["run", "study.toml", "--profile"]).ends_with(5);
    ran.says("✗ INVALID").says("assertion-failed (serial: seven dispatchers, seen 1, expected 7)");
    ran.says("read from threads named /^HTTP-Dispatcher$/")
        .says("Then mend what sets it, or what the assertion expects");
    let report = place.report();
    let failed = findings(&report, "assertion-failed");
    assert_eq!(failed.len(), 2, "{failed:#?}");
    let named = ["serial: seven dispatchers", "parallel: seven dispatchers"];
    assert_eq!(subjects(&report, "assertion-failed"), named, "{failed:#?}");
    assert_eq!(findings(&report, "setting-not-effective").len(), 0, "{report:#?}");
    let assertions: Vec<_> =
        report.variants[0].settings.iter().filter(|s| matches!(s.key, Key::Assertion(_))).collect();
    let results = [SettingResult::Overridden, SettingResult::InEffect];
    assert_eq!(
        assertions.iter().map(|assertion| assertion.result.clone()).collect::<Vec<_>>(),
        results,
        "{assertions:#?}"
    );
    assert!(assertions.iter().all(|assertion| assertion.live.as_deref() == Some("1")), "{assertions:#?}");

    // What was asked for and not done is reported: as it happens, and in every form of the report.
    let reason = "there is nothing to explain: whatever the numbers say, the comparison is invalid: assertion-failed";
    ran.complains(&format!("no profiling runs: {reason}")).says(&format!("There are no profiling runs: {reason}."));
    assert_eq!(report.why.unwrap().skipped, Some(format!("There are no profiling runs: {reason}.")));
    place.run(&["report", "--md"]).says(&format!("There are no profiling runs: {reason}."));
}

#[test]
fn a_flag_that_the_jvm_does_not_know_is_named() {
    let place = java("stock = {}\nparallel = { jvm = [\"-XX:+UseParalelGC\"] }");
    place.run(&["run", "study.toml"]).ends_with(5).says("trial-failed").says("setting-refused");
    let report = place.report();
    let failed = findings(&report, "trial-failed");
    assert!(
        failed.iter().any(|finding| text_of(finding).contains("the nearest it knows is UseParallelGC")),
        "{failed:#?}"
    );
    let refused = findings(&report, "setting-refused");
    assert!(text_of(refused[0]).contains("Unrecognized VM option 'UseParalelGC'"), "{refused:#?}");
    assert!(text_of(refused[0]).contains("knows is UseParallelGC"), "{refused:#?}");
}

#[test]
fn a_program_that_does_not_compile_ends_the_run() {
    let place = java("stock = {}\nparallel = { jvm = [\"-XX:+UseParallelGC\"] }");
    place.write("Server.java", "public class Server { broken }");
    place.run(&["run", "study.toml"]).ends_with(1).complains("cannot run here").complains("Server.java:1");
}

/// `-Djruby.jit.treshold=30` was once credited with a slow-down.
#[test]
fn a_misspelt_jruby_option_vetoes() {
    let place = Place::new();
    place.write("study.toml", &JRUBY.replace("args =", "jruby = { \"management.enabled\" = \"true\" }\nargs ="));
    place.write("server.rb", SCRIPT);
    let ran = place.run(&["run", "study.toml"]).ends_with(5);
    place.assert_nothing_is_left();
    ran.says("✗ INVALID early against late is no valid comparison").says("setting-unknown").says("jit.threshold");
    let trials = place.trials();
    assert_eq!(trials.len(), 2);
    // What JRuby counts is kept with each cell: one for each answer, and for what the load's beginning and end cut off.
    for cell in trials.iter().flat_map(|trial| trial["cells"].as_array().unwrap()) {
        let samples = cell["samples"].as_array().unwrap().iter();
        let good: u64 = samples.map(|sample| sample["tally"]["good"].as_u64().unwrap()).sum();
        let counted = cell["jruby"]["exceptions"].as_u64();
        assert!(
            good > 20 && counted.is_some_and(|counted| (good..good + 10).contains(&counted)),
            "{counted:?}: {cell:#}"
        );
    }
    let report = place.report();
    let unknown = findings(&report, "setting-unknown");
    assert_eq!(unknown.len(), 1, "{unknown:#?}");
    assert!(text_of(unknown[0]).contains("nearest known name: jit.threshold"), "{unknown:#?}");
    assert_eq!(setting(&report, 0).result, SettingResult::InEffect);
    assert_eq!(report.variants[1].versions["jruby"], "9.4.15.0");
}

/// Ruby's description of itself names the switch, `+indy`: that is the treatment, and no difference beside it.
#[test]
fn invokedynamic_on_and_off_is_one_difference() {
    let place = Place::new();
    let levels = "off = { jruby = { \"compile.invokedynamic\" = \"false\" } }\non = { jruby = { \"compile.invokedynamic\" = \"true\" } }";
    let (before, after) = JRUBY.split_once("late =").unwrap();
    place.write("study.toml", &format!("{before}{levels}\n{}", &after[after.find("\n[[").unwrap()..]));
    place.write("server.rb", SCRIPT);
    place.run(&["run", "study.toml", "--budget", "25s"]).ends_with(0);
    let report = place.report();
    assert_eq!([0, 1].map(|variant| report.variants[variant].completed > 0), [true; 2]);
    assert!(findings(&report, "confounded").is_empty(), "{:#?}", report.findings);
    let named: Vec<&str> = report.differences.iter().filter_map(|one| one.factor.as_deref()).collect();
    assert_eq!(named.len(), report.differences.len(), "{:#?}", report.differences);
}
