//! Launching real servers, services and hooks.

use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indexmap::IndexMap;
use model::SettingResult::{self, AlreadyDefault, InEffect, Overridden};
use model::SettingSource;
use model::study::{JavaProgram, Limits, Runtime, ServerSpec, Service};
use needs::Need;
use runtimes::{Given, RuntimePart, jvm};
use server::{Exit, FailureCause, LaunchError, Running, canary_ns, install};

use crate::common::{RUBY_SERVER, command, get, launcher, on_jdk, requested, ruby, runs, spec, study, tcp, toolbox};

fn launch(spec: &ServerSpec, dir: &tempfile::TempDir) -> Result<Running, LaunchError> {
    let installed = install(spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap())
}

#[test]
fn a_server_is_launched_known_and_ended() {
    let dir = study("server.rb", RUBY_SERVER);
    let mut spec = spec(ruby("server.rb"), &["{port}", "--threads", "5"], dir.path());
    // CARGO_MANIFEST_DIR stands for a secret: it is set, and occurs nowhere else.
    spec.env = IndexMap::from([
        ("TOKEN".to_owned(), "Bearer {env.CARGO_MANIFEST_DIR}".to_owned()),
        ("RUBYOPT".to_owned(), "-W0".to_owned()),
    ]);
    let running = launch(&spec, &dir).unwrap();
    let (mut tree, mut sampler) = (running.tree(), running.sampler());
    assert!(running.is_alive());

    let facts = running.facts().clone();
    assert_eq!((facts.pid, facts.port), (running.pid(), running.address().port()));
    assert_eq!(facts.command[2..], [facts.port.to_string(), "--threads".to_owned(), "5".to_owned()]);
    assert_eq!(facts.env["TOKEN"], "Bearer ***");
    assert!(!facts.env.contains_key("CARGO_MANIFEST_DIR"), "the environment is a clean one");
    assert_eq!(facts.env["LANG"], "C.UTF-8");
    assert_eq!(facts.versions.keys().collect::<Vec<_>>(), ["ruby"]);
    assert_eq!(facts.libraries["server.rb"].len(), 64);
    assert!(facts.ready_s > 0.0);

    let settings = running.read_back(
        &[
            requested(Given::variable("TOKEN", "Bearer {env.CARGO_MANIFEST_DIR}")),
            requested(Given::variable("LANG", "C.UTF-8")),
            requested(Given::variable("RUBYOPT", "-W0")),
            requested(Given::variable("NOWHERE", "1")),
            requested(Given::argument("--threads 5")),
            requested(Given::argument("--threads 6")),
            requested(Given::runtime(RuntimePart::Version, &facts.versions["ruby"])),
            requested(Given::runtime(RuntimePart::Version, "1.8")),
            requested(Given::runtime(RuntimePart::Script, "server.rb")),
            requested(Given::runtime(RuntimePart::Runtime, "ruby")),
            requested(Given::property("a", "b")),
        ],
        &[],
    );
    let results: Vec<&SettingResult> = settings.iter().map(|setting| &setting.result).collect();
    let expected = [
        &InEffect,
        &AlreadyDefault,
        &InEffect,
        &Overridden,
        &InEffect,
        &Overridden,
        &InEffect,
        &Overridden,
        &InEffect,
        &InEffect,
    ];
    assert_eq!(results[..10], expected, "{settings:#?}");
    assert!(matches!(results[10], SettingResult::Unverified { .. }), "{:?}", settings[10]);
    assert_eq!((settings[0].requested.as_str(), settings[0].live.as_deref()), ("Bearer ***", Some("Bearer ***")));
    assert_eq!(settings[6].source, SettingSource::InProcess);

    let used = tree.sample().unwrap();
    assert!(used.cpu_s >= used.system_s && used.system_s >= 0.0, "{used:?}");
    let seen = sampler.sample().unwrap();
    assert!(seen.threads >= 1 && seen.rss_bytes > 1 << 20 && seen.jvm.is_none(), "{seen:?}");
    assert!(sampler.pss_bytes().is_some_and(|pss| pss > 1 << 20));
    assert!(running.facts().shared_cpus.is_some_and(|cpus| cpus > 0));
    assert!(tree.cpu_s() > 0.0);
    let pid = running.pid();
    assert!(matches!(running.stop(Duration::from_secs(20)).unwrap(), Exit::Signal(_) | Exit::Code(_)));
    assert!(!runs(pid));
    assert_eq!(tree.sample(), None);
}

/// As Puma shows it.
#[test]
fn a_ruby_with_a_title_of_its_own_tells_what_it_runs() {
    let dir = study("server.rb", &format!("Process.setproctitle('a title of its own')\n{RUBY_SERVER}"));
    let spec = spec(ruby("server.rb"), &["{port}", "--threads", "5"], dir.path());
    let running = launch(&spec, &dir).unwrap();
    let settings = running.read_back(
        &[
            requested(Given::runtime(RuntimePart::Script, "server.rb")),
            requested(Given::runtime(RuntimePart::Script, "other.rb")),
            requested(Given::argument("--threads 5")),
        ],
        &[],
    );
    let results: Vec<&SettingResult> = settings.iter().map(|setting| &setting.result).collect();
    assert_eq!(results, [&InEffect, &Overridden, &InEffect], "{settings:#?}");
}

#[test]
fn a_server_that_ends_early_is_an_error_with_its_last_words() {
    let dir = study("server.rb", "100.times { |n| warn \"line #{n}\" }; exit 3");
    let error = launch(&spec(ruby("server.rb"), &[], dir.path()), &dir).unwrap_err();
    assert!(matches!(error, LaunchError::Exited { exit: Exit::Code(3), .. }), "{error}");
    assert!(error.to_string().contains("its last words were `line 99`"), "{error}");
    assert_eq!(
        error.log_tail().lines().collect::<Vec<_>>(),
        (80..100).map(|n| format!("line {n}")).collect::<Vec<_>>()
    );
}

/// Within limits, where control groups can be made.
fn limited(limits: Limits, runtime: Runtime, dir: &tempfile::TempDir) -> Option<Result<Running, LaunchError>> {
    let mut spec = spec(runtime, &["{port}"], dir.path());
    spec.limits = limits;
    let launched = launch(&spec, dir);
    if let Err(LaunchError::Isolation(error)) = &launched {
        needs::left_out(Need::ControlGroups, error);
        return None;
    }
    Some(launched)
}

#[test]
fn a_kill_for_lack_of_memory_is_reported() {
    let limits = Limits { memory_bytes: Some(48 << 20), ..Limits::default() };
    let eat = "kept = (1..).lazy.map { |n| n.chr * 1_000_000 }.first(200)\n";
    let dir = study("server.rb", &format!("{eat}{RUBY_SERVER}"));
    let Some(launched) = limited(limits, ruby("server.rb"), &dir) else { return };
    let error = launched.unwrap_err();
    assert!(matches!(error, LaunchError::Exited { exit: Exit::Signal(9), .. }), "{error}");
    assert_eq!(error.oom_kills(), 1);
    let reported = "for needing more memory than `limits.memory` allows (48 MiB)";
    assert!(error.to_string().contains(reported), "{error}");

    // The same of one that serves already, below a shell.
    let dir = study(
        "server.rb",
        &RUBY_SERVER.replace(
            "  client.write",
            "  File.exist?('eat') and (1..200).map { |n| n.chr * 1_000_000 }\n  client.write",
        ),
    );
    std::fs::write(dir.path().join("start.sh"), "ruby server.rb $1; exit $?\n").unwrap();
    let running = limited(limits, command("sh start.sh {port}"), &dir).unwrap().unwrap();
    assert_eq!((running.is_alive(), running.killed()), (true, None));
    // Who supervises it is none of those that may be killed.
    let of = |pid: &str, file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap();
    let pid = running.pid().to_string();
    let supervisor =
        of(&pid, "status").lines().find_map(|line| line.strip_prefix("PPid:\t").map(str::to_owned)).unwrap();
    let is_limited = |pid: &str| of(pid, "cgroup").contains("/bakeoff-");
    assert_eq!((is_limited(&pid), is_limited(&supervisor)), (true, false));
    std::fs::write(dir.path().join("eat"), "").unwrap();
    let mut requested = std::net::TcpStream::connect(running.address()).unwrap();
    std::io::Write::write_all(&mut requested, b"GET / HTTP/1.0\r\n\r\n").unwrap();
    needs::eventually("it has ended", || running.exit().is_some());
    assert_eq!(running.exit().unwrap().to_string(), "exit code 137");
    assert!(running.killed().is_some_and(|why| why.contains(reported)), "{:?}", running.killed());
}

/// A JVM on one processor chooses the serial collector, and a quarter of the memory that it sees for its heap.
#[test]
fn defaults_are_those_of_the_processors_and_the_memory_that_the_server_has() {
    let dir = study("Server.java", include_str!("common/Server.java"));
    let flags = [requested(jvm::given("-XX:+UseSerialGC")), requested(jvm::given("-Xmx128m"))];
    let java = on_jdk(&["-XX:+UseSerialGC", "-Xmx128m"]);
    let runtime = Runtime::Java { java, program: JavaProgram::Main("Server.java".into()) };
    let mut spec = spec(runtime, &["{port}"], dir.path());
    let results = |spec: &ServerSpec, launcher: &server::Launcher| {
        let installed = install(spec, dir.path(), &toolbox(dir.path())).unwrap();
        let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
        let launched = launcher.server(&installed, &site);
        if let Err(LaunchError::Isolation(error)) = &launched {
            needs::left_out(Need::ControlGroups, error);
            return None;
        }
        Some(launched.unwrap().read_back(&flags, &[]).into_iter().map(|setting| setting.result).collect::<Vec<_>>())
    };
    let cpu = std::fs::read_to_string("/proc/self/status").unwrap();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:\t")).unwrap();
    let first: usize = cpu.split(['-', ',']).next().unwrap().parse().unwrap();
    assert_eq!(results(&spec, &launcher().on_cpus(&[first])).unwrap()[0], AlreadyDefault);
    spec.limits = Limits { cpus: None, memory_bytes: Some(512 << 20) };
    if let Some(limited) = results(&spec, &launcher()) {
        assert_eq!(limited[1], AlreadyDefault);
    }
}

#[test]
fn a_server_that_never_answers_well_is_late() {
    let dir = study("server.rb", RUBY_SERVER);
    let mut spec = spec(ruby("server.rb"), &["{port}"], dir.path());
    spec.env.insert("STATUS".into(), "500 Oops".into());
    spec.ready = get(5);
    let error = launch(&spec, &dir).unwrap_err();
    assert!(error.to_string().contains("last had: status 500"), "{error}");
}

#[test]
fn another_process_on_the_port_is_named() {
    let dir = study("server.rb", "sleep");
    let ours = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = spec(ruby("server.rb"), &[], dir.path());
    spec.ready = tcp(&ours.local_addr().unwrap().to_string(), 60);
    let error = launch(&spec, &dir).unwrap_err();
    assert!(matches!(error, LaunchError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains(&format!("(process {}", std::process::id())), "{error}");
}

#[test]
fn a_command_is_known_by_its_words() {
    let dir = study("server.rb", RUBY_SERVER);
    std::fs::create_dir(dir.path().join("below")).unwrap();
    let mut spec = spec(command("ruby -W0 ../server.rb {port}"), &[], dir.path());
    spec.dir = dir.path().join("below");
    let running = launch(&spec, &dir).unwrap();
    let settings = running.read_back(
        &[
            requested(Given::runtime(RuntimePart::Command, "ruby -W0 ../server.rb {port}")),
            requested(Given::runtime(RuntimePart::Command, "ruby -W1 ../server.rb {port}")),
            requested(Given::runtime(RuntimePart::Command, "ruby")),
            requested(Given::runtime(RuntimePart::Dir, "below")),
            requested(Given::runtime(RuntimePart::Dir, ".")),
            requested(Given::runtime(RuntimePart::Runtime, "command")),
        ],
        &[],
    );
    let results: Vec<&SettingResult> = settings.iter().map(|setting| &setting.result).collect();
    assert_eq!(results, [&InEffect, &Overridden, &InEffect, &InEffect, &Overridden, &InEffect], "{settings:#?}");
}

/// As by a start script's `cd`, or Puma's `directory`.
#[test]
fn a_server_that_goes_elsewhere_was_started_in_its_folder() {
    let dir = study("server.rb", RUBY_SERVER);
    std::fs::create_dir(dir.path().join("below")).unwrap();
    std::fs::write(dir.path().join("start.sh"), "cd /\nexec ruby \"$OLDPWD/server.rb\" \"$1\"\n").unwrap();
    let running = launch(&spec(command("sh start.sh {port}"), &[], dir.path()), &dir).unwrap();
    let settings =
        running.read_back(&[".", "below"].map(|folder| requested(Given::runtime(RuntimePart::Dir, folder))), &[]);
    let results: Vec<&SettingResult> = settings.iter().map(|setting| &setting.result).collect();
    assert_eq!(results, [&InEffect, &Overridden], "{settings:#?}");
}

#[test]
fn an_unknown_placeholder_is_an_error_before_anything_is_started() {
    let dir = study("server.rb", RUBY_SERVER);
    let error = launch(&spec(ruby("server.rb"), &["{prot}"], dir.path()), &dir).unwrap_err();
    assert!(matches!(error, LaunchError::Placeholder(_)), "{error}");
}

#[test]
fn services_have_ports_that_hooks_and_servers_know() {
    let dir = study("server.rb", RUBY_SERVER);
    let service = Service {
        name: "db".into(),
        command: "ruby server.rb {port.db}".into(),
        env: IndexMap::new(),
        ready: tcp("127.0.0.1:{port.db}", 60),
        stop_within: Duration::from_secs(5),
    };
    let launcher = launcher();
    let site = launcher.site(dir.path(), &dir.path().join("trial"), std::slice::from_ref(&service)).unwrap();
    let running = launcher.service(&service, &site).unwrap();
    assert_eq!(running.address().port(), site.ports["db"]);
    assert_ne!(site.ports["db"], site.port);
    assert_eq!(running.facts().libraries.keys().collect::<Vec<_>>(), ["server.rb"]);
    let within = Duration::from_secs(60);
    launcher.hook("prepare", "echo {port.db} ${HOME} > seen", &site, within).unwrap();
    let seen = std::fs::read_to_string(dir.path().join("seen")).unwrap();
    assert!(seen.starts_with(&format!("{} /", site.ports["db"])), "{seen}");
    running.stop(Duration::from_secs(5)).unwrap();
}

#[test]
fn a_secret_is_hidden_in_all_that_is_known_of_the_run() {
    // Set by cargo, and long enough to be a secret.
    let secret = env!("CARGO_MANIFEST_DIR");
    let dir = study("server.rb", &format!("warn \"token {secret}\"\n{RUBY_SERVER}"));
    let launcher = launcher();
    let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
    let installed =
        install(&spec(ruby("server.rb"), &["{port}"], dir.path()), dir.path(), &toolbox(dir.path())).unwrap();
    let running = launcher.server(&installed, &site).unwrap();
    assert_eq!((running.log_tail(), launcher.mask(secret)), (format!("token {secret}"), secret.to_owned()));
    // What one text makes known, be it a header's or a hook's, is hidden in the words of all others.
    assert_eq!(site.complete("Bearer {env.CARGO_MANIFEST_DIR}").unwrap(), format!("Bearer {secret}"));
    assert_eq!((running.log_tail().as_str(), launcher.mask(&format!("<{secret}>")).as_str()), ("token ***", "<***>"));
    let other = launcher.site(dir.path(), &dir.path().join("other"), &[]).unwrap();
    let hook = format!("echo {secret} {{env.CARGO_PKG_NAME}}; exit 1");
    let error = launcher.hook("setup", &hook, &other, Duration::from_secs(60)).unwrap_err();
    assert_eq!(error.log_tail(), "*** ***");
}

#[test]
fn hooks_fail_with_their_last_words_and_leave_nothing() {
    let dir = study("x", "");
    let launcher = launcher();
    let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
    let error = launcher.hook("setup", "echo no disk; exit 7", &site, Duration::from_secs(60)).unwrap_err();
    assert!(matches!(error, LaunchError::Hook { exit: Exit::Code(7), .. }), "{error}");
    assert_eq!(error.log_tail(), "no disk");
    assert!(error.to_string().contains("exit code 7: its last words were `no disk`"), "{error}");
    let error = launcher.hook("slow", "echo $$ > pid; sleep 600", &site, Duration::from_millis(500)).unwrap_err();
    assert!(matches!(error, LaunchError::HookSlow { .. }), "{error}");
    assert!(!runs(crate::common::read_pid(&dir.path().join("pid"))));
    launcher.hook("leave", "sleep 600 & echo $! > pid", &site, Duration::from_secs(60)).unwrap();
    assert!(!runs(crate::common::read_pid(&dir.path().join("pid"))));
}

/// Raises the flag as soon as `file` is there.
fn interrupt_at(file: &Path, flag: &Arc<AtomicBool>) -> JoinHandle<()> {
    let (file, flag) = (file.to_owned(), Arc::clone(flag));
    thread::spawn(move || {
        needs::eventually("the program has started", || file.is_file());
        flag.store(true, Ordering::Relaxed);
    })
}

#[test]
fn an_interrupt_ends_waiting_and_leaves_nothing() {
    // It accepts connections and never answers: the hardest to turn away from.
    let mute = "require 'socket'; server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
        kept = server.accept; File.write('pid.new', $$); File.rename('pid.new', 'pid'); sleep";
    let dir = study("server.rb", mute);
    let pid = dir.path().join("pid");
    let mut spec = spec(ruby("server.rb"), &["{port}"], dir.path());
    spec.ready = get(600);
    let installed = install(&spec, dir.path(), &toolbox(dir.path())).unwrap();
    let flag = Arc::new(AtomicBool::new(false));
    let launcher = launcher().interrupted_by(Arc::clone(&flag));
    let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
    let raising = interrupt_at(&pid, &flag);
    let error = launcher.server(&installed, &site).unwrap_err();
    raising.join().unwrap();
    assert!(matches!(error, LaunchError::Interrupted { .. }) && error.blame() == FailureCause::Interrupted, "{error}");
    assert!(!runs(crate::common::read_pid(&pid)));

    std::fs::remove_file(&pid).unwrap();
    flag.store(false, Ordering::Relaxed);
    let raising = interrupt_at(&pid, &flag);
    let (hook, within) = ("echo $$ > pid.new; mv pid.new pid; sleep 600", Duration::from_secs(600));
    let error = launcher.hook("prepare", hook, &site, within).unwrap_err();
    raising.join().unwrap();
    assert!(matches!(error, LaunchError::Interrupted { .. }), "{error}");
    assert!(!runs(crate::common::read_pid(&pid)));

    // From then on nothing is started any more, but what cleans up.
    std::fs::remove_file(&pid).unwrap();
    assert!(matches!(launcher.hook("prepare", hook, &site, within), Err(LaunchError::Interrupted { .. })));
    assert!(matches!(launcher.server(&installed, &site), Err(LaunchError::Interrupted { .. })));
    assert!(!pid.exists());
    launcher.cleanup("sleep 0.3; touch cleaned", &site, within).unwrap();
    assert!(dir.path().join("cleaned").is_file());
    let error = launcher.cleanup("sleep 600", &site, Duration::from_millis(300)).unwrap_err();
    assert!(matches!(error, LaunchError::HookSlow { .. }) && error.blame() == FailureCause::Ours, "{error}");
}

#[test]
fn the_cpu_time_of_children_that_ended_is_counted() {
    let burn = "n = 0; n += 1 while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < 0.3";
    let dir = study("server.rb", &format!("fork {{ {burn} }}\nProcess.wait\n{RUBY_SERVER}"));
    let running = launch(&spec(ruby("server.rb"), &["{port}"], dir.path()), &dir).unwrap();
    assert!(running.tree().cpu_s() > 0.25, "{}", running.tree().cpu_s());
}

/// As where a supervisor replaces a worker.
#[test]
fn a_process_that_ends_is_seen() {
    let child = "child = spawn('sleep', '600')\nProcess.detach(child)\nFile.write('child', child.to_s)\n";
    let dir = study("server.rb", &format!("{child}{RUBY_SERVER}"));
    let running = launch(&spec(ruby("server.rb"), &["{port}"], dir.path()), &dir).unwrap();
    let mut sampler = running.sampler();
    assert_eq!(sampler.sample().unwrap().ended, None);
    let child = std::fs::read_to_string(dir.path().join("child")).unwrap();
    assert!(std::process::Command::new("kill").arg(child).status().unwrap().success());
    needs::eventually("the end of the child is seen", || sampler.sample().unwrap().ended == Some(1));
    assert_eq!(sampler.sample().unwrap().ended, None);
}

#[test]
fn a_missing_program_is_named() {
    let dir = study("x", "");
    let error =
        install(&spec(command("no-such-program 1"), &[], dir.path()), dir.path(), &toolbox(dir.path())).unwrap_err();
    assert!(error.to_string().contains("`no-such-program`"), "{error}");
    assert!(canary_ns() > 0);
}
