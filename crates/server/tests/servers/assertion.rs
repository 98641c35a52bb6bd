//! `[[assertion]]`: values read from real servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::assertion::{Assertion, AssertionSource, Expected};
use model::study::{JavaProgram, Runtime, ServerSpec};
use model::{Setting, SettingResult, SettingSource};
use server::{Running, SuperviseError, install};

use crate::common::{RUBY_SERVER, command, launcher, on_jdk, ruby, spec, study, toolbox};

/// A bean of its own, threads with names, and JSON for an answer.
const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import javax.management.ObjectName;

public class Pools {
    public interface PoolMXBean { int getSize(); int getBroken(); }
    public static class Pool implements PoolMXBean {
        public int getSize() { return 30; }
        public int getBroken() { throw new IllegalStateException("closed"); }
    }

    static Object open;

    public static void main(String[] args) throws Exception {
        if (args.length > 1) open = new java.util.jar.JarFile(args[1]);
        ManagementFactory.getPlatformMBeanServer().registerMBean(new Pool(), new ObjectName("known:type=Pool (main)"));
        for (int number = 0; number < 3; number++) {
            Thread thread = new Thread(() -> { while (true) try { Thread.sleep(60000); } catch (InterruptedException e) { } },
                "a worker with a long name-" + number);
            thread.setDaemon(true);
            thread.start();
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
        server.createContext("/", exchange -> {
            byte[] body = "{\"pool\": {\"size\": 12, \"name\": \"main\"}}".getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
"#;

/// A JVM that serves nobody. It makes a file of its argument's name once it works.
const IDLE: &str = r#"
public class Idle {
    public static void main(String[] args) throws Exception {
        Thread.currentThread().setName("idle");
        java.nio.file.Files.createFile(java.nio.file.Path.of(args.length > 0 ? args[0] : "idle"));
        Thread.sleep(600000);
    }
}
"#;

fn assertion(read: AssertionSource, expect: &str) -> Assertion {
    Assertion {
        name: "assertion".into(),
        read,
        expect: Expected::parse(expect).unwrap(),
        answered: Vec::new(),
        after: false,
        is_pool: false,
    }
}

fn jmx(bean: &str, attribute: &str, expect: &str) -> Assertion {
    assertion(AssertionSource::Jmx { bean: bean.into(), attribute: attribute.into() }, expect)
}

fn http(json: &str, expect: &str) -> Assertion {
    assertion(AssertionSource::Http { path: "/".into(), json: json.into() }, expect)
}

fn said(command: &str, regex: Option<&str>, expect: &str) -> Assertion {
    assertion(AssertionSource::Command { command: command.into(), regex: regex.map(str::to_owned) }, expect)
}

fn threads(name: &str, expect: &str) -> Assertion {
    assertion(AssertionSource::Threads(name.into()), expect)
}

fn launch(spec: &ServerSpec, dir: &tempfile::TempDir) -> Running {
    let installed = install(spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap()).unwrap()
}

/// The live value, or why there is none; and whether it is what was expected.
fn reported(setting: &Setting) -> (&str, bool) {
    match &setting.result {
        SettingResult::Unverified { reason } => (reason, false),
        result => (setting.live.as_deref().unwrap(), *result == SettingResult::InEffect),
    }
}

#[test]
fn what_a_jvm_shows() {
    let dir = study("Pools.java", SERVER);
    let program = JavaProgram::Main("Pools.java".into());
    let running = launch(&spec(Runtime::Java { java: on_jdk(&["-Xmx64m"]), program }, &["{port}"], dir.path()), &dir);
    let assertions = [
        jmx("known:type=Pool (main)", "Size", "30"),
        jmx("known:type=Pool*", "Size", "31"),
        jmx("java.lang:type=Memory", "HeapMemoryUsage.max", "<= 67108864"),
        jmx("known:type=Other", "Size", "30"),
        jmx("known:type=Pool (main)", "Sise", "30"),
        http("$.pool.size", ">= 12"),
        http("$.pool.name", "other"),
        http("$.pond", "1"),
        said("echo size=$SERVER_PID on {port}", Some(r"size=(\d+)"), &running.pid().to_string()),
        said("exit 3", None, "1"),
        threads("^a worker with a long name-", "3"),
        jmx("java.lang:type=Memory", "HeapMemoryUsage.maximum", "1"),
        jmx("java.lang:type=Memory", "Verbose.max", "1"),
        jmx("java.lang:type=GarbageCollector,*", "CollectionCount", "1"),
        jmx("known:type=Pool (main)", "Broken", "1"),
        jmx("java.lang:type=Memori", "Verbose", "true"),
        said("echo Picked up an option >&2; echo 30; echo done >&2", None, "30"),
        said("echo version 30 >&2", Some(r"version (\d+)"), "30"),
        said("echo why >&2; echo what; exit 3", None, "30"),
    ];
    let settings = running.check_assertions(&assertions).unwrap();
    let reported: Vec<_> = settings.iter().map(reported).collect();
    assert_eq!(reported[0], ("30", true));
    assert_eq!(reported[1], ("30", false));
    assert!(reported[2].1, "{:?}", reported[2]);
    assert_eq!(reported[3].0, "no bean is called `known:type=Other`; there are `known:type=Pool (main)`");
    assert_eq!(reported[4].0, "bean `known:type=Pool (main)` has no attribute `Sise`; the nearest is `Size`");
    assert_eq!(reported[5], ("12", true));
    assert_eq!(reported[6], ("main", false));
    assert_eq!(reported[7].0, "$.pond finds nothing in GET /");
    assert!(reported[8].1, "{:?}", reported[8]);
    assert!(reported[9].0.contains("exit code 3, and wrote nothing"), "{:?}", reported[9]);
    assert_eq!(reported[10], ("3", true));
    let parts = "attribute `HeapMemoryUsage` has no part `maximum`; there are `committed`, `init`, `max`, `used`";
    assert_eq!(reported[11].0, parts);
    assert_eq!(reported[12].0, "attribute `Verbose` has no parts, so there is no `max` in it: ask for `Verbose`");
    assert!(
        reported[13].0.contains("beans are called `java.lang:type=GarbageCollector,*`: `java.lang:"),
        "{:?}",
        reported[13]
    );
    assert_eq!(reported[14].0, "the server's own bean fails when it is asked: IllegalStateException: closed");
    assert_eq!(reported[15].0, "no bean is called `java.lang:type=Memori`; the nearest is `java.lang:type=Memory`");
    assert_eq!(reported[16], ("30", true));
    let elsewhere =
        "is not in what the command wrote to its standard output; its standard error has it, which `2>&1` adds";
    assert!(reported[17].0.ends_with(elsewhere), "{:?}", reported[17]);
    assert_eq!(reported[18].0, "the command ended with exit code 3: what\nwhy");
    assert_eq!((settings[0].source, settings[10].source), (SettingSource::Jmx, SettingSource::Proc));
}

#[test]
fn what_other_programs_show() {
    let dir = study("server.rb", &format!("Thread.new {{ sleep }}.name = 'known-worker'\n{RUBY_SERVER}"));
    let running = launch(&spec(ruby("server.rb"), &["{port}"], dir.path()), &dir);
    let assertions = [threads("^known-worker$", "1"), jmx("a:b=c", "D", "1")];
    let settings = running.check_assertions(&assertions).unwrap();
    assert_eq!(reported(&settings[0]), ("1", true));
    assert_eq!(reported(&settings[1]).0, "the server runs no JVM that can be found");
    drop(running);

    // Of the JVMs that a start script runs the one that answers is asked; the names of the other's threads come from the kernel.
    std::fs::write(dir.path().join("Pools.java"), SERVER).unwrap();
    std::fs::write(dir.path().join("Idle.java"), IDLE).unwrap();
    let start = "jar cf known.jar server.rb; java Idle.java & java Pools.java $1 known.jar; exit\n";
    std::fs::write(dir.path().join("start.sh"), start).unwrap();
    let running = launch(&spec(command("sh start.sh {port}"), &[], dir.path()), &dir);
    needs::eventually("the other JVM works", || dir.path().join("idle").is_file());
    let size = jmx("known:type=Pool (main)", "Size", "30");
    let settings =
        running.check_assertions(&[size, threads("^a worker with a long name-", "3"), threads("^idle$", "1")]).unwrap();
    let reported_of: Vec<_> = settings.iter().map(reported).collect();
    assert_eq!(reported_of, [("30", true), ("3", true), ("1", true)]);

    // What it has opened is known, though nothing but the script names it.
    let mut facts = running.facts().clone();
    running.loaded(&mut facts);
    assert_eq!(facts.opened["known.jar"].len(), 64, "{:?}", facts.opened);
}

/// As Tomcat does with those of an application.
#[test]
fn an_archive_that_is_closed_soon_is_known_all_the_same() {
    let closes = "early = File.open('early.jar')\n\
                  Thread.new { sleep 0.01 until File.exist?('close'); early.close; File.write('closed', '') }\n";
    let dir = study("server.rb", &format!("{closes}{RUBY_SERVER}"));
    std::fs::write(dir.path().join("early.jar"), "an archive").unwrap();
    let running = launch(&spec(ruby("server.rb"), &["{port}"], dir.path()), &dir);
    std::fs::write(dir.path().join("close"), "").unwrap();
    needs::eventually("the archive is closed", || dir.path().join("closed").is_file());
    let mut facts = running.facts().clone();
    running.loaded(&mut facts);
    assert_eq!(facts.opened["early.jar"].len(), 64, "{:?}", facts.opened);
}

/// What answers is no JVM, and behind it there are two.
#[test]
fn jvms_of_which_none_answers_are_reported() {
    let dir = study("server.rb", &format!("Thread.new {{ sleep }}.name = 'known-worker'\n{RUBY_SERVER}"));
    std::fs::write(dir.path().join("Idle.java"), IDLE).unwrap();
    let start =
        |jvms: &str| std::fs::write(dir.path().join("start.sh"), format!("{jvms} exec ruby server.rb $1\n")).unwrap();
    let assertions =
        [jmx("java.lang:type=Runtime", "SpecVersion", ">= 17"), threads("^idle$", "1"), threads("^known-worker$", "1")];
    let settings = |ready: &[&str]| {
        let running = launch(&spec(command("sh start.sh {port}"), &[], dir.path()), &dir);
        for file in ready {
            needs::eventually("the JVMs work", || dir.path().join(file).is_file());
        }
        running.check_assertions(&assertions).unwrap()
    };
    start("java Idle.java one &");
    let one = settings(&["one"]);
    assert!(
        one.iter().all(|setting| reported(setting).1),
        "the only one is meant, and hides no other's threads: {one:?}"
    );
    start("java Idle.java two & java Idle.java three &");
    for setting in settings(&["two", "three"]) {
        let (reason, _) = reported(&setting);
        assert!(reason.starts_with("the server runs 2 JVMs") && reason.contains("Idle.java three"), "{reason}");
    }
}

#[test]
fn a_jvm_that_lets_nobody_ask_it_is_shown_with_the_cure() {
    let dir = study("Pools.java", SERVER);
    let java = on_jdk(&["-Xmx64m", "-XX:+DisableAttachMechanism"]);
    let program = JavaProgram::Main("Pools.java".into());
    let running = launch(&spec(Runtime::Java { java, program }, &["{port}"], dir.path()), &dir);
    for setting in running.check_assertions(&[jmx("known:type=Pool (main)", "Size", "30"), threads("^a", "3")]).unwrap()
    {
        assert!(reported(&setting).0.ends_with("-XX:+DisableAttachMechanism; leave that out"), "{setting:?}");
    }
}

#[test]
fn a_command_ends_when_the_run_is_interrupted() {
    let dir = study("server.rb", RUBY_SERVER);
    let installed =
        install(&spec(ruby("server.rb"), &["{port}"], dir.path()), dir.path(), &toolbox(dir.path())).unwrap();
    let interrupted = Arc::new(AtomicBool::new(false));
    let launcher = launcher().interrupted_by(interrupted.clone());
    let running =
        launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap()).unwrap();
    interrupted.store(true, Ordering::Relaxed);
    let settings = running.check_assertions(&[said("sleep 600", None, "1")]).unwrap();
    assert_eq!(reported(&settings[0]).0, "the command was interrupted");
}

/// What it has started may run on beside the load.
#[test]
fn a_command_that_may_have_left_something_behind_is_no_missing_value() {
    let dir = study("server.rb", RUBY_SERVER);
    let running = launch(&spec(ruby("server.rb"), &["{port}"], dir.path()), &dir);
    let error = running.check_assertions(&[said("kill -9 $PPID", None, "1")]).unwrap_err();
    assert!(matches!(error, SuperviseError::Lost { .. }), "{error}");
}

#[test]
fn the_gems_that_a_ruby_has_loaded() {
    let dir = study("server.rb", &format!("require 'json'\n{RUBY_SERVER}"));
    let mut ruby = std::process::Command::new("ruby");
    let version = ruby.args(["-rjson", "-e", "print JSON::VERSION"]).output().unwrap().stdout;
    let running = launch(&spec(crate::common::ruby("server.rb"), &["{port}"], dir.path()), &dir);
    let mut facts = running.facts().clone();
    assert!(facts.gems.is_empty() && facts.build["description"].starts_with("ruby "), "{facts:?}");
    running.loaded(&mut facts);
    assert_eq!(facts.gems["json"].as_bytes(), version, "{:?}", facts.gems);
    // The probe has reported; the thread of it that stays does not count.
    let threads = running.check_assertions(&[threads("", "1")]).unwrap();
    let alone = threads[0].live.as_deref().unwrap().parse::<u32>().unwrap();
    assert!(alone <= 2, "MRI may keep a thread for its timer: {alone}");
}
