//! Who serves: start scripts with something else behind them. It is asked, looked at and recorded, and not the script.

use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use model::SettingResult::{self, AlreadyDefault, InEffect, Overridden};
use model::assertion::{Assertion, AssertionSource, Expected};
use model::profiling::Recording;
use model::study::ServerSpec;
use model::{JvmUse, LaunchFacts, Setting};
use needs::Need;
use runtimes::{Given, RuntimePart, jvm};
use server::{Running, install};

use crate::common::{RUBY_SERVER, command, launcher, requested, spec, study, tcp, toolbox};

const SERVER: &str = include_str!("common/Server.java");

fn launch(start: &str, env: &[(&str, &str)], dir: &tempfile::TempDir) -> Running {
    launch_into("trial", start, env, dir)
}

/// With the trial's folder `trial` in that of the study.
fn launch_into(trial: &str, start: &str, env: &[(&str, &str)], dir: &tempfile::TempDir) -> Running {
    fs::write(dir.path().join("start.sh"), start).unwrap();
    let mut spec = spec(command("sh start.sh {port}"), &[], dir.path());
    spec.env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let installed = install(&spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join(trial), &[]).unwrap()).unwrap()
}

fn get(address: SocketAddr) {
    let answer = answer(address);
    assert!(answer.ends_with("ok"), "{answer}");
}

fn answer(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// What is known once it has answered.
fn facts(running: &Running) -> LaunchFacts {
    get(running.address());
    let mut facts = running.facts().clone();
    running.loaded(&mut facts);
    facts
}

fn results(settings: &[Setting]) -> Vec<SettingResult> {
    settings.iter().map(|setting| setting.result.clone()).collect()
}

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

/// The script stays, and the program is its child.
#[test]
fn a_java_program_behind_a_script() {
    let dir = study("Server.java", SERVER);
    let env = [
        ("JAVA_OPTS", "-Xmx80m -Dknown.place=here"),
        ("CATALINA_OPTS", "-XX:+UseThreadPriorities"),
        ("MAVEN_OPTS", "-Dmaven.home=/opt -Xmn20m"),
        ("JRUBY_OPTS", "-Xjit.threshold=30"),
    ];
    let start = "export BY_SCRIPT=1\njava $JAVA_OPTS $CATALINA_OPTS Server.java $1\nexit $?\n";
    let running = launch(start, &env, &dir);

    let facts = facts(&running);
    assert_ne!(facts.pid, running.pid());
    assert!(facts.command[0].ends_with("java") && facts.command.contains(&"-Xmx80m".to_owned()), "{facts:?}");
    assert_eq!(facts.env["BY_SCRIPT"], "1");
    assert_eq!(facts.versions.keys().collect::<Vec<_>>(), ["jdk"]);

    let mut wanted: Vec<_> = env.iter().map(|(name, value)| requested(Given::variable(name, value))).collect();
    wanted.push(requested(Given::runtime(RuntimePart::Runtime, "command")));
    wanted.push(requested(Given::runtime(RuntimePart::Command, "sh start.sh {port}")));
    let settings = running.read_back(&wanted, &[]);
    assert_eq!(results(&settings)[..3], [InEffect, AlreadyDefault, Overridden], "{settings:#?}");
    // Each is itself, and not one of its options; of what is not as it should be the test shows which.
    let values = |at: usize| {
        [Some(settings[at].requested.as_str()), settings[at].live.as_deref(), settings[at].default.as_deref()]
    };
    assert_eq!(values(0), [Some(env[0].1), Some(env[0].1), None]);
    assert_eq!(values(1), [Some(env[1].1); 3]);
    assert_eq!(values(2), [Some(env[2].1), Some("-Dmaven.home=/opt: absent"), None]);
    let SettingResult::Unverified { reason } = &settings[3].result else { panic!("{settings:#?}") };
    assert!(reason.contains("no JRuby"), "{reason}");
    assert_eq!(results(&settings)[4..], [InEffect, InEffect], "{settings:#?}");

    // What it has of options that others are launched with.
    let opens = "--add-opens=java.base/java.io=ALL-UNNAMED";
    let others = [
        requested(Given::variable("JAVA_OPTS", "-Xmx64m -XX:+UseThreadPriorities -Dknown.place=there")),
        requested(jvm::given("-Xmn20m")),
        requested(Given::variable("RUBYOPT", "-W0")),
        requested(jvm::given(opens)),
        requested(Given::property("maven.home", "/opt")),
    ];
    let reported = running.varied(&others);
    let live: Vec<&str> = reported.iter().map(|live| live.live.as_str()).collect();
    assert_eq!(live[0], "MaxHeapSize = 83886080, UseThreadPriorities = true, known.place = here");
    assert!(live[1].starts_with("NewSize = ") && live[1].contains(", MaxNewSize = "), "{reported:?}");
    assert_eq!(live[2..], [format!("{opens} absent").as_str(), "maven.home absent"]);

    let mut sampler = running.sampler();
    get(running.address());
    // By a log that it was made to write: the script knows of none.
    let collect = Command::new("jcmd").args([&facts.pid.to_string(), "GC.run"]).output().unwrap();
    assert!(collect.status.success(), "{collect:?}");
    let JvmUse { counters, gc } = sampler.sample().unwrap().jvm.unwrap();
    assert!(counters.is_some_and(|counters| counters.threads > 5));
    assert!(gc.is_some_and(|gc| gc.paused_s() > 0.0 && gc.heap_after_bytes.is_some()));
    let assertions = [
        assertion(AssertionSource::Threads("^HTTP-Dispatcher$".into()), "1"),
        assertion(AssertionSource::Command { command: "echo $SERVER_PID".into(), regex: None }, &facts.pid.to_string()),
    ];
    assert_eq!(results(&running.check_assertions(&assertions).unwrap()), [InEffect, InEffect]);

    let (recorder, cpu) = (running.record().unwrap(), running.watch_cpu());
    (0..50).for_each(|_| get(running.address()));
    assert!(cpu.end().unwrap().jit_s > 0.0);
    let Recording::Jfr { profile, .. } = recorder.end() else { panic!("no recording") };
    assert!(profile.allocations.amount > 0.0 && profile.compiled.count > 0);
}

/// What the script or the study says of the log goes before.
#[test]
fn a_log_of_collections_is_begun_where_none_is_and_one_is_wanted() {
    let dir = study("Server.java", SERVER);
    for (folder, options, is_there) in [
        ("in the study's words", "-Xlog:gc:file=gc.log", true),
        ("none", "-Xlog:disable", false),
        ("a:b", "-Xmx80m", false),
    ] {
        let running = launch_into(folder, "exec java $JAVA_OPTS Server.java $1\n", &[("JAVA_OPTS", options)], &dir);
        let log = dir.path().join(folder).join("gc.log");
        assert_eq!(log.exists(), is_there, "{options}");
        assert_eq!(running.sampler().sample().unwrap().jvm.unwrap().gc.is_some(), is_there, "{options}");
    }
    assert!(dir.path().join("gc.log").exists(), "its own stays");
}

/// The script becomes the program.
#[test]
fn a_ruby_behind_a_script() {
    let dir = study("server.rb", &format!("require 'json'\n{RUBY_SERVER}"));
    let env = [
        ("RUBY_GC_HEAP_INIT_SLOTS", "600000"),
        ("RUBY_GC_HEAP_GROWTH_FACTOR", "0.5"),
        ("RUBY_GC_HEAP_INIT_SLOT", "3"),
        ("RUBYOPT", "-W0"),
        ("JAVA_OPTS", "-Xmx80m"),
    ];
    let running = launch("exec ruby server.rb $1\n", &env, &dir);
    let facts = facts(&running);
    assert_eq!(facts.pid, running.pid());
    assert_eq!(facts.versions.keys().collect::<Vec<_>>(), ["ruby"]);
    assert!(facts.gems.contains_key("json") && facts.build["description"].starts_with("ruby "), "{facts:?}");
    let mut wanted: Vec<_> = env.iter().map(|(name, value)| requested(Given::variable(name, value))).collect();
    wanted.push(requested(Given::runtime(RuntimePart::Runtime, "command")));
    wanted.push(requested(Given::runtime(RuntimePart::Command, "sh start.sh {port}")));
    let settings = running.read_back(&wanted, &[]);
    let unknown = SettingResult::Unknown { nearest: Some("RUBY_GC_HEAP_INIT_SLOTS".into()) };
    assert_eq!(results(&settings)[..4], [InEffect, Overridden, unknown, InEffect], "{settings:#?}");
    assert!(matches!(settings[4].result, SettingResult::Unverified { .. }), "{settings:#?}");
    assert_eq!(results(&settings)[5..], [InEffect, InEffect], "{settings:#?}");
}

/// As one that was built into a folder of its own: without the linker's path to its library it does not start.
#[test]
fn a_ruby_that_needs_the_linkers_path_is_asked_with_it() {
    let dir = study("server.rb", RUBY_SERVER);
    let tell = r"require 'rbconfig'; puts RbConfig.ruby, File.read('/proc/self/maps')[%r{/\S*libruby\S*}]";
    let said = String::from_utf8(Command::new("ruby").args(["-e", tell]).output().unwrap().stdout).unwrap();
    let lines: Vec<&str> = said.lines().collect();
    let [ruby, library] = lines[..] else { panic!("{said}") };
    let mut program = fs::read(ruby).unwrap();
    let Some(at) = program.windows(8).position(|bytes| bytes == b"libruby-") else {
        return needs::left_out(Need::Package(&["ruby".to_owned()]), "this Ruby is one piece");
    };
    // It looks for its library by another name, which is found nowhere else.
    let end = at + program[at..].iter().position(|byte| *byte == 0).unwrap();
    program[end - 1] = b'x';
    let name = String::from_utf8(program[at..end].to_vec()).unwrap();
    fs::write(dir.path().join("ruby"), program).unwrap();
    fs::set_permissions(dir.path().join("ruby"), Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(dir.path().join("lib")).unwrap();
    fs::copy(library, dir.path().join("lib").join(name)).unwrap();
    let variable = ("RUBY_GC_HEAP_INIT_SLOTS", "600000");
    let judge = |path: &str| {
        let start = format!("LD_LIBRARY_PATH={path} exec ./ruby server.rb $1\n");
        let running = launch(&start, &[variable], &dir);
        running.read_back(&[requested(Given::variable(variable.0, variable.1))], &[]).remove(0).result
    };
    assert_eq!(judge("$PWD/lib"), InEffect);
    // Of the server's folder, and not of where it is asked.
    let SettingResult::Unverified { reason } = judge("lib") else { panic!("it was asked") };
    assert!(reason.contains("does not start") && reason.contains("libruby"), "{reason}");
}

/// A library that is there is in the process.
#[test]
fn a_library_that_is_preloaded_is_mapped() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let libc = maps.lines().find_map(|line| line.find('/').map(|at| &line[at..]).filter(|path| path.contains("libc")));
    let libc = libc.unwrap();
    let dir = study("server.rb", RUBY_SERVER);
    let env = [("LD_PRELOAD", libc), ("KNOWN_OPTS", "-Xmn20m")];
    let running = launch("exec ruby server.rb $1\n", &env, &dir);
    let missing = format!("{libc} /nonexistent/a.so");
    let requested = |name: &str, value: &str| requested(Given::variable(name, value));
    let settings = running.read_back(
        &[requested("LD_PRELOAD", libc), requested("KNOWN_OPTS", "-Xmn20m"), requested("LD_PRELOAD", &missing)],
        &[],
    );
    assert_eq!(results(&settings), [InEffect, InEffect, Overridden], "{settings:#?}");
}

/// Whether YJIT is on is known only from inside.
#[test]
fn a_ruby_that_has_reported_nothing_is_not_said_to_be_without_yjit() {
    for (trial, start, why) in [
        ("a trial", "exec ruby server.rb $1\n", "no path with a space"),
        ("trial", "RUBYOPT=--yjit exec ruby server.rb $1\n", "set anew"),
    ] {
        let dir = study("server.rb", RUBY_SERVER);
        let running = launch_into(trial, start, &[("RUBYOPT", "--yjit")], &dir);
        let settings = running.read_back(&[requested(Given::variable("RUBYOPT", "--yjit"))], &[]);
        let SettingResult::Unverified { reason } = &settings[0].result else { panic!("{settings:#?}") };
        assert!(reason.contains("only Ruby itself knows") && reason.contains(why), "{reason}");
        assert_eq!(settings[0].live.as_deref(), Some("--yjit"));
    }
}

/// Arguments that the script hands on, though its own command line and then the program's title are gone.
#[test]
fn arguments_that_a_script_hands_on_are_seen() {
    let titled = format!("$0 = 'known server'\n{RUBY_SERVER}");
    for (server, start) in [
        (RUBY_SERVER, "exec ruby server.rb $1 --threads 5\n"),
        (titled.as_str(), "exec ruby server.rb $1 --threads 5\n"),
        (RUBY_SERVER, "ruby server.rb $1 --threads 5\nexit\n"),
    ] {
        let dir = study("server.rb", server);
        let running = launch(start, &[], &dir);
        let wanted = ["--threads", "5", "--threads=5"].map(|name| requested(Given::argument(name)));
        let settings = running.read_back(&wanted, &[]);
        assert_eq!(results(&settings)[..2], [InEffect, InEffect], "{start}{settings:#?}");
        let is_unseen = matches!(settings[2].result, SettingResult::Unverified { .. } | Overridden);
        assert!(is_unseen, "{start}{settings:#?}");
    }
}

/// As a server does that loads the application in its workers only: one gem, a version each.
#[test]
fn the_gems_of_forked_workers_are_seen() {
    let body = RUBY_SERVER.split_once("loop do").unwrap().1;
    let server = format!(
        "require 'socket'\nserver = TCPServer.new('127.0.0.1', Integer(ARGV[0]))\n\
         %w[1.0 2.0].each do |version|\nfork do\ngem 'widget', version\nloop do{body}end\nend\nProcess.waitall\n"
    );
    let dir = study("server.rb", &server);
    for version in ["1.0", "2.0"] {
        let specification = dir.path().join(format!("gems/specifications/widget-{version}.gemspec"));
        fs::create_dir_all(dir.path().join(format!("gems/gems/widget-{version}/lib"))).unwrap();
        fs::create_dir_all(specification.parent().unwrap()).unwrap();
        let text = "Gem::Specification.new('widget', 'VERSION') { |gem| gem.authors, gem.summary = ['a'], 'b' }\n";
        fs::write(specification, text.replace("VERSION", version)).unwrap();
    }
    let gems = dir.path().join("gems").display().to_string();
    let running = launch("exec ruby server.rb $1\n", &[("GEM_PATH", &gems)], &dir);
    let facts = facts(&running);
    assert_eq!(facts.gems.get("widget").map(String::as_str), Some("1.0, 2.0"), "{:?}", facts.gems);
    let reported = |kind: &str| {
        let files = fs::read_dir(dir.path().join("trial")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("probe.") && name.ends_with(kind)).count()
    };
    assert_eq!(reported(".loaded.json"), 3, "the master has reported, too");
}

/// As Rails does once it has booted, on Ruby 3.3 and later: earlier ones cannot, and only say so here.
#[test]
fn yjit_that_the_program_turns_on_is_seen() {
    let turn_on = "if RubyVM::YJIT.respond_to?(:enable)\nRubyVM::YJIT.enable\n\
                   else\nRubyVM::YJIT.define_singleton_method(:enabled?) { true }\nend\n";
    let (head, body) = RUBY_SERVER.split_once("loop do").unwrap();
    for (server, is_on) in [
        (RUBY_SERVER.to_owned(), false),
        (format!("{turn_on}{RUBY_SERVER}"), true),
        // In the worker only.
        (format!("{head}fork do\n{turn_on}loop do{body}end\nProcess.waitall\n"), true),
    ] {
        let dir = study("server.rb", &server);
        let running = launch("exec ruby server.rb $1\n", &[("RUBYOPT", "--disable=yjit")], &dir);
        get(running.address());
        let requested = [requested(Given::variable("RUBYOPT", "--disable=yjit"))];
        assert_eq!(results(&running.read_back(&requested, &[])), [AlreadyDefault], "{server}");
        let mut facts = running.facts().clone();
        assert_eq!(running.loaded(&mut facts), is_on, "{server}");
        let settings = running.read_back(&requested, &[]);
        assert_eq!(results(&settings), [if is_on { Overridden } else { AlreadyDefault }], "{server}{settings:#?}");
    }
}

/// A master keeps the socket that its workers have from it, and they come and go.
#[test]
fn the_master_of_workers_serves() {
    let body = RUBY_SERVER.split_once("loop do").unwrap().1;
    let forks = format!(
        "require 'socket'\nserver = TCPServer.new('127.0.0.1', Integer(ARGV[0]))\nworker = proc do\nloop do{body}end\n2.times {{ fork(&worker) }}\nProcess.waitall\n"
    );
    let dir = study("server.rb", &forks);
    let running = launch("ruby server.rb $1\nexit\n", &[("RUBY_GC_HEAP_INIT_SLOTS", "600000")], &dir);
    let facts = facts(&running);
    let parent = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit_once(')').unwrap().1.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap()
    };
    assert_eq!(parent(facts.pid), running.pid(), "the script's child, and no worker");
    let settings = running.read_back(&[requested(Given::variable("RUBY_GC_HEAP_INIT_SLOTS", "600000"))], &[]);
    assert_eq!(results(&settings), [InEffect], "{settings:#?}");
}

/// The end of a start script: it becomes a proxy before the socket `proxy/socket`.
fn proxying() -> String {
    let temporary =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|what| format!("{what}_temp_path {what}; "));
    format!(
        "cat > proxy/conf <<END\n\
         daemon off; user root; pid pid; error_log error; events {{}}\n\
         http {{ {} access_log off; server {{ listen 127.0.0.1:$1; location / {{ proxy_pass http://unix:$PWD/proxy/socket:; }} }} }}\n\
         END\nexec nginx -p proxy -c conf\n",
        temporary.concat()
    )
}

/// A proxy listens, and a Ruby behind it answers by workers of its own.
#[test]
fn a_ruby_behind_a_proxy() {
    let server = RUBY_SERVER.replace("TCPServer.new('127.0.0.1', Integer(ARGV[0]))", "UNIXServer.new(ARGV[0])");
    let (head, body) = server.split_once("loop do").unwrap();
    let dir = study("server.rb", &format!("{head}fork do\nrequire 'json'\nloop do{body}end\nProcess.waitall\n"));
    let start = format!("mkdir proxy\nruby server.rb proxy/socket &\n{}", proxying());
    let running = launch(&start, &[("RUBY_GC_HEAP_INIT_SLOTS", "600000"), ("WORKERS", "1")], &dir);
    let facts = facts(&running);
    assert_eq!(facts.pid, running.pid(), "the proxy");
    assert_eq!(facts.versions.keys().collect::<Vec<_>>(), ["ruby"]);
    assert!(facts.gems.contains_key("json") && facts.build.contains_key("arch"), "{facts:?}");
    let wanted = [("RUBY_GC_HEAP_INIT_SLOTS", "600000"), ("WORKERS", "1")];
    let settings = running.read_back(&wanted.map(|(name, value)| requested(Given::variable(name, value))), &[]);
    assert_eq!(results(&settings), [InEffect, InEffect], "{settings:#?}");
}

/// As of a servlet container that begins to listen before its program has booted.
#[test]
fn a_ruby_that_comes_up_behind_an_open_port_is_known() {
    let server = RUBY_SERVER.replace("TCPServer.new('127.0.0.1', Integer(ARGV[0]))", "UNIXServer.new(ARGV[0])");
    let dir = study("server.rb", &server);
    let late = "(until test -e go; do sleep 0.05; done; exec ruby server.rb proxy/socket) &\n";
    fs::write(dir.path().join("start.sh"), format!("mkdir proxy\n{late}{}", proxying())).unwrap();
    let spec =
        ServerSpec { ready: tcp("127.0.0.1:{port}", 60), ..spec(command("sh start.sh {port}"), &[], dir.path()) };
    let installed = install(&spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
    let running = launcher.server(&installed, &site).unwrap();
    let mut facts = running.facts().clone();
    assert!(facts.versions.is_empty() && facts.build.is_empty(), "{facts:?}");
    fs::write(dir.path().join("go"), "").unwrap();
    needs::eventually("the Ruby answers", || answer(running.address()).ends_with("ok"));
    assert!(running.loaded(&mut facts), "settings are to be read back of it");
    assert_eq!(facts.versions.keys().collect::<Vec<_>>(), ["ruby"]);
    assert!(facts.build["description"].starts_with("ruby "), "{facts:?}");
    let version = requested(Given::runtime(RuntimePart::Version, &facts.versions["ruby"]));
    assert_eq!(results(&running.read_back(&[version], &[])), [InEffect]);
}

/// As Puma's: longer than the command line, it takes the environment's place.
#[test]
fn a_title_over_the_environment_is_no_other_value() {
    let dir = study("server.rb", &format!("Process.setproctitle('title ' * 20)\n{RUBY_SERVER}"));
    let running = launch("exec ruby server.rb $1\n", &[("WORKERS", "3")], &dir);
    let settings = running.read_back(&[requested(Given::variable("WORKERS", "3"))], &[]);
    let SettingResult::Unverified { reason } = &settings[0].result else { panic!("{settings:#?}") };
    assert!(reason.contains("title"), "{reason}");
    let facts = running.facts();
    assert_eq!(facts.env.get("WORKERS").map(String::as_str), Some("3"), "as it was launched");
    assert_eq!(facts.command[1], "start.sh", "as it was launched: {:?}", facts.command);
    assert!(facts.hides_env && facts.hides_command);
}

/// What is left of the command line's place behind it are no words.
#[test]
fn a_title_of_one_word_is_all_that_is_shown() {
    let dir = study("server.rb", &format!("Process.setproctitle('title')\n{RUBY_SERVER}"));
    let running = launch("exec ruby server.rb $1 and more\n", &[("WORKERS", "3")], &dir);
    let facts = running.facts();
    assert_eq!(facts.command, ["title"]);
    assert!(!facts.hides_env && !facts.hides_command && facts.env["WORKERS"] == "3", "{facts:?}");
}

/// A Ruby that becomes another program has reported of itself, and is no more.
#[test]
fn what_a_ruby_was_before_is_not_reported() {
    let dir = study("server.rb", RUBY_SERVER);
    fs::write(dir.path().join("Server.java"), SERVER).unwrap();
    let running = launch("exec ruby -e 'exec \"java\", \"Server.java\", *ARGV' $1\n", &[("RUBYOPT", "-W0")], &dir);
    assert_eq!(running.facts().versions.keys().collect::<Vec<_>>(), ["jdk"]);
    let settings = running.read_back(&[requested(Given::variable("RUBYOPT", "-W0"))], &[]);
    let SettingResult::Unverified { reason } = &settings[0].result else { panic!("{settings:#?}") };
    assert!(reason.contains("no Ruby"), "{reason}");
}
