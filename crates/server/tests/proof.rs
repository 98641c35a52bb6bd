//! `[[proof]]`: values read from real servers.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod common;

use common::{RUBY_SERVER, command, launcher, on_jdk, ruby, spec, study, toolbox};
use model::proof::{Expected, Proof, ProofSource};
use model::study::{JavaProgram, Runtime, ServerSpec};
use model::{Setting, SettingResult, SettingSource};
use server::{Running, install};

/// A bean of its own, threads with names, and JSON for an answer.
const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import javax.management.ObjectName;

public class Pools {
    public interface PoolMXBean { int getSize(); }
    public static class Pool implements PoolMXBean { public int getSize() { return 30; } }

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

fn proof(read: ProofSource, expect: &str) -> Proof {
    Proof { name: "proof".into(), read, expect: Expected::parse(expect).unwrap(), after: false }
}

fn jmx(bean: &str, attribute: &str, expect: &str) -> Proof {
    proof(ProofSource::Jmx { bean: bean.into(), attribute: attribute.into() }, expect)
}

fn http(json: &str, expect: &str) -> Proof {
    proof(ProofSource::Http { path: "/".into(), json: json.into() }, expect)
}

fn said(command: &str, regex: Option<&str>, expect: &str) -> Proof {
    proof(ProofSource::Command { command: command.into(), regex: regex.map(str::to_owned) }, expect)
}

fn threads(name: &str, expect: &str) -> Proof {
    proof(ProofSource::Threads(name.into()), expect)
}

fn launch(spec: &ServerSpec, dir: &tempfile::TempDir) -> Running {
    let installed = install(spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap()).unwrap()
}

/// The live value, or why there is none; and whether it is what was expected.
fn told(setting: &Setting) -> (&str, bool) {
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
    let proofs = [
        jmx("known:type=Pool (main)", "Size", "30"),
        jmx("known:type=Pool*", "Size", "31"),
        jmx("java.lang:type=Memory", "HeapMemoryUsage.max", "<= 67108864"),
        jmx("known:type=Other", "Size", "30"),
        jmx("known:type=Pool (main)", "Colour", "30"),
        http("$.pool.size", ">= 12"),
        http("$.pool.name", "other"),
        http("$.pond", "1"),
        said("echo size=$SERVER_PID on {port}", Some(r"size=(\d+)"), &running.pid().to_string()),
        said("exit 3", None, "1"),
        threads("^a worker with a long name-", "3"),
    ];
    let settings = running.prove(&proofs.iter().collect::<Vec<_>>());
    let told: Vec<_> = settings.iter().map(told).collect();
    assert_eq!(told[0], ("30", true));
    assert_eq!(told[1], ("30", false));
    assert!(told[2].1, "{:?}", told[2]);
    assert!(told[3].0.contains("0 beans are called known:type=Other"), "{:?}", told[3]);
    assert!(told[4].0.contains("Colour"), "{:?}", told[4]);
    assert_eq!(told[5], ("12", true));
    assert_eq!(told[6], ("main", false));
    assert_eq!(told[7].0, "$.pond finds nothing in GET /");
    assert!(told[8].1, "{:?}", told[8]);
    assert!(told[9].0.contains("exit code 3, and wrote nothing"), "{:?}", told[9]);
    assert_eq!(told[10], ("3", true));
    assert_eq!((settings[0].source, settings[10].source), (SettingSource::Jmx, SettingSource::Proc));
}

#[test]
fn what_other_programs_show() {
    let dir = study("server.rb", &format!("Thread.new {{ sleep }}.name = 'known-worker'\n{RUBY_SERVER}"));
    let running = launch(&spec(ruby("server.rb"), &["{port}"], dir.path()), &dir);
    let proofs = [threads("^known-worker$", "1"), jmx("a:b=c", "D", "1")];
    let settings = running.prove(&proofs.iter().collect::<Vec<_>>());
    assert_eq!(told(&settings[0]), ("1", true));
    assert_eq!(told(&settings[1]).0, "the server runs no JVM that can be found");
    drop(running);

    // A JVM that a start script runs is found below it.
    std::fs::write(dir.path().join("Pools.java"), SERVER).unwrap();
    std::fs::write(dir.path().join("start.sh"), "jar cf known.jar server.rb; java Pools.java $1 known.jar; exit\n")
        .unwrap();
    let running = launch(&spec(command("sh start.sh {port}"), &[], dir.path()), &dir);
    let settings = running.prove(&[&jmx("known:type=Pool (main)", "Size", "30")]);
    assert_eq!(told(&settings[0]), ("30", true));

    // What it has opened is known, though nothing but the script names it.
    let mut facts = running.facts().clone();
    running.loaded(&mut facts);
    assert_eq!(facts.opened["known.jar"].len(), 64, "{:?}", facts.opened);
}

#[test]
fn the_gems_that_a_ruby_has_loaded() {
    let dir = study("server.rb", &format!("require 'json'\n{RUBY_SERVER}"));
    let mut ruby = std::process::Command::new("ruby");
    let version = ruby.args(["-rjson", "-e", "print JSON::VERSION"]).output().unwrap().stdout;
    let running = launch(&spec(common::ruby("server.rb"), &["{port}"], dir.path()), &dir);
    let mut facts = running.facts().clone();
    assert!(facts.gems.is_empty() && facts.build["description"].starts_with("ruby "), "{facts:?}");
    running.loaded(&mut facts);
    assert_eq!(facts.gems["json"].as_bytes(), version, "{:?}", facts.gems);
    // The probe has told, and is gone.
    let threads = running.prove(&[&threads("", "1")]);
    let alone = threads[0].live.as_deref().unwrap().parse::<u32>().unwrap();
    assert!(alone <= 2, "MRI may keep a thread for its timer: {alone}");
}
