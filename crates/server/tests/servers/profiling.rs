//! What a recording says about a server: counted exactly, on `JRuby` 9.4 and 10.1.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::thread;

use model::profiling::{Recording, ThrowableKind};
use model::study::{JavaProgram, JavaSpec, JrubyProgram, Runtime, ServerSpec};
use needs::Need;
use server::{Running, RuntimeError, install};

use crate::common::{get, launcher, packages_of, ruby, spec, study, toolbox};

const RAISES: &str = include_str!("common/raises.rb");
/// Users who ask at the same time, and requests of each.
const USERS: u64 = 4;
const EACH: u64 = 100;

/// Asks again and again over one connection.
fn ask(address: SocketAddr, times: u64) {
    let mut connection = TcpStream::connect(address).unwrap();
    for _ in 0..times {
        connection.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"ok") {
            let mut part = [0; 256];
            let length = connection.read(&mut part).unwrap();
            assert!(length > 0, "the server closed the connection");
            answer.extend_from_slice(&part[..length]);
        }
    }
}

fn all_ask(address: SocketAddr) {
    let users: Vec<_> = (0..USERS).map(|_| thread::spawn(move || ask(address, EACH))).collect();
    for user in users {
        user.join().unwrap();
    }
}

fn jruby(version: &str, jdk: &str, dir: &Path) -> ServerSpec {
    let java = JavaSpec {
        jdk: Some(jdk.into()),
        jvm: ["-Xmx300m", "-XX:TieredStopAtLevel=1"].map(str::to_owned).to_vec(),
        ..JavaSpec::default()
    };
    let program = JrubyProgram::Script("server.rb".into());
    let runtime = Runtime::Jruby { version: version.into(), java, options: [].into(), program };
    ServerSpec {
        ready: model::study::Ready { sign: model::study::ReadySign::Get("/ready".into()), ..get(120) },
        ..spec(runtime, &["{port}"], dir)
    }
}

/// JRuby's own count, read twice: exact as well, and nothing where its option is off. Of each of `trials` its folder is given, and whether
/// the option is on.
fn jruby_counts_itself(version: &str, jdk: &str, trials: &[(bool, &str)]) {
    // What the script itself defines is compiled before it runs; what it loads, once it is hot.
    let dir = study("server.rb", "load File.join(__dir__, 'raises.rb')\n");
    fs::write(dir.path().join("raises.rb"), RAISES).unwrap();
    let launcher = launcher();
    for &(on, folder) in trials {
        let mut spec = jruby(version, jdk, dir.path());
        if let (true, Runtime::Jruby { options, .. }) = (on, &mut spec.runtime) {
            options.insert("management.enabled".into(), "true".into());
        }
        let installed = match install(&spec, dir.path(), &toolbox(dir.path())) {
            Err(RuntimeError::Jdk(error)) => return needs::left_out(Need::Package(&packages_of(jdk)), error),
            installed => installed.unwrap(),
        };
        let site = launcher.site(dir.path(), &dir.path().join(folder), &[]).unwrap();
        let running = launcher.server(&installed, &site).unwrap();
        let before = running.jruby_counts();
        all_ask(running.address());
        let after = running.jruby_counts();
        if !on {
            assert_eq!((before, after), (None, None));
            assert!(!dir.path().join(folder).join("ReadBeans.java").exists(), "nothing was read");
            continue;
        }
        let counted = after.unwrap().since(before.unwrap()).unwrap();
        assert_eq!(counted.exceptions, 5 * USERS * EACH, "{folder}");
        assert!(counted.compiled.unwrap() > 0, "{counted:?}");
    }
}

#[test]
fn jruby_9_4_counts_exceptions_itself() {
    // The probe that reports JRuby's options cannot be required from a folder with a space in its name.
    jruby_counts_itself("9.4.15.0", "17 or 21", &[(true, "trial"), (true, "another trial"), (false, "off")]);
}

#[test]
fn jruby_10_1_counts_exceptions_itself() {
    jruby_counts_itself("10.1.1.0", "21 or 25", &[(true, "trial")]);
}

/// Five Ruby raises for each request: no more, and no less.
fn raises_are_exact(version: &str, jdk: &str) {
    let dir = study("server.rb", RAISES);
    let installed = match install(&jruby(version, jdk, dir.path()), dir.path(), &toolbox(dir.path())) {
        Err(RuntimeError::Jdk(error)) => return needs::left_out(Need::Package(&packages_of(jdk)), error),
        installed => installed.unwrap(),
    };
    let launcher = launcher();
    let running =
        launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("a trial"), &[]).unwrap()).unwrap();
    // Some methods are compiled, others interpreted: raises count the same.
    all_ask(running.address());

    let recorder = running.record().unwrap();
    let cpu = running.watch_cpu();
    all_ask(running.address());
    let cpu = cpu.end().unwrap();
    let Recording::Jfr { file, profile } = recorder.end() else { panic!("no recording") };

    let requests = USERS * EACH;
    assert_eq!(profile.throwables_of(ThrowableKind::RubyRaise), 5 * requests, "{:#?}", profile.throwables);
    assert!(profile.throwables_of(ThrowableKind::ControlFlow) >= requests, "{:#?}", profile.throwables);
    assert!(profile.throwables_of(ThrowableKind::StackWalk) >= requests, "{:#?}", profile.throwables);
    let raised = profile.throwables.top.iter().find(|sum| ThrowableKind::of(sum) == ThrowableKind::RubyRaise).unwrap();
    assert_eq!(raised.key[0], "org.jruby.exceptions.ArgumentError");
    assert_eq!((profile.threads_started >= USERS, profile.lost_bytes), (true, 0));
    assert!(profile.allocations.amount > 0.0 && profile.compiled.count > 0);
    assert!(fs::metadata(&file).unwrap().len() > 0, "the recording stays");
    assert!(cpu.total_s > 0.0 && cpu.program_s() > 0.0 && cpu.jit_s > 0.0, "{cpu:?}");
}

#[test]
fn ruby_raises_are_exact_on_jruby_9_4() {
    raises_are_exact("9.4.15.0", "17 or 21");
}

#[test]
fn ruby_raises_are_exact_on_jruby_10_1() {
    raises_are_exact("10.1.1.0", "21 or 25");
}

/// A server that throws once at each of so many places for every request.
fn throws_at(places: u64) -> String {
    let method = |place| format!("static void m{place}() {{ try {{ throw new Gone(); }} catch (Gone gone) {{ }} }}");
    let methods = (0..places).map(method).collect::<Vec<_>>().join("\n");
    let calls = (0..places).map(|place| format!("m{place}();")).collect::<Vec<_>>().join("\n");
    format!(
        r#"
        import com.sun.net.httpserver.HttpServer;
        import java.net.InetSocketAddress;

        public class Server {{
            static class Gone extends Exception {{ }}
            {methods}
            public static void main(String[] args) throws Exception {{
                InetSocketAddress address = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
                HttpServer server = HttpServer.create(address, 0);
                server.createContext("/", exchange -> {{
                    {calls}
                    exchange.sendResponseHeaders(200, 2);
                    exchange.getResponseBody().write("ok".getBytes());
                    exchange.close();
                }});
                server.start();
            }}
        }}"#
    )
}

/// Only the largest groups are named by their place; the sum of a kind is of all.
#[test]
fn throwables_of_many_places_are_all_counted() {
    const PLACES: u64 = 150;
    let dir = study("Server.java", &throws_at(PLACES));
    let runtime =
        Runtime::Java { java: crate::common::on_jdk(&["-Xmx100m"]), program: JavaProgram::Main("Server.java".into()) };
    let spec = ServerSpec { ready: get(60), ..spec(runtime, &["{port}"], dir.path()) };
    let installed = install(&spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    let running =
        launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap()).unwrap();
    ask(running.address(), 1);

    let recorder = running.record().unwrap();
    ask(running.address(), EACH);
    let Recording::Jfr { profile, .. } = recorder.end() else { panic!("no recording") };

    let thrown = &profile.thrown;
    let gone = thrown.top.iter().find(|sum| sum.key[0] == "Server$Gone").unwrap();
    assert_eq!(gone.count, PLACES * EACH, "{thrown:#?}");
    assert!(profile.throwables_of(ThrowableKind::Java) >= gone.count, "{thrown:#?}");
    let reported: u64 = profile.throwables.top.iter().map(|sum| sum.count).sum();
    assert!(reported < gone.count && profile.throwables.count == thrown.count, "not all places are listed");
}

/// Uses most of its CPU time in one method.
const HOT: &str = r"
    require 'socket'
    def spin(times)
      times -= 1 while times > 0
    end
    def hot = spin(100_000)
    def cold = [3, 1, 2].sort!
    def serve(server)
      loop do
        Thread.new(server.accept) do |client|
          while (line = client.gets)
            nil until (line = client.gets).nil? || line == %(\r\n)
            cold
            hot
            client.write %(HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok)
          end
        end
      end
    end
    server = TCPServer.new('127.0.0.1', Integer(ARGV[0]))
    ARGV[1].to_i.times { fork { serve(server) } }
    ARGV[1] == '0' ? serve(server) : Process.waitall
";

fn launch_ruby(script: &str, args: &[&str], gems: Option<&str>, dir: &Path) -> Running {
    fs::write(dir.join("server.rb"), script).unwrap();
    let mut spec = spec(ruby("server.rb"), args, dir);
    spec.env.extend(gems.map(|path| ("GEM_PATH".to_owned(), path.to_owned())));
    let launcher = launcher();
    let installed = install(&spec, dir, &toolbox(dir)).unwrap();
    launcher.recordable_server(&installed, &launcher.site(dir, &dir.join("trial"), &[]).unwrap()).unwrap()
}

/// In one process, whose bundle hides what it does not name, and in workers that a master has forked, which do all of the work.
#[test]
fn the_hot_method_of_a_ruby_is_found() {
    for (first, workers) in [("require 'bundler/setup'; ", "0"), ("", "2")] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("Gemfile"), "").unwrap();
        let script = [first, HOT].concat();
        let running = launch_ruby(&script, &["{port}", workers], None, dir.path());
        let recorder = running.record().unwrap();
        let cpu = running.watch_cpu();
        all_ask(running.address());
        let cpu = cpu.end().unwrap();
        let Recording::Stackprof { file, stack_samples } = recorder.end() else { panic!("no recording") };
        for sums in [&stack_samples.methods, &stack_samples.ruby_methods] {
            let first = &sums.top[0];
            assert!(
                first.key[0].starts_with("Object#spin (") && first.key[0].contains("/server.rb:3)"),
                "{stack_samples:#?}"
            );
            assert!(first.count * 2 > stack_samples.methods.count, "{stack_samples:#?}");
        }
        assert!(stack_samples.methods.count >= stack_samples.ruby_methods.count, "{stack_samples:#?}");
        assert!(fs::metadata(&file).unwrap().len() > 0, "the recording stays");
        assert!(cpu.total_s > 0.0 && cpu.program_s() > 0.0, "{cpu:?}");
    }
}

#[test]
fn a_ruby_without_a_recorder_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let none = dir.path().join("no gems").display().to_string();
    let running = launch_ruby(RAISES, &["{port}"], Some(&none), dir.path());
    let cpu = running.watch_cpu();
    all_ask(running.address());
    let reported = running.record().unwrap_err();
    assert!(reported.contains("gem stackprof") && reported.contains("apt-get install ruby-stackprof"), "{reported}");
    let cpu = cpu.end().unwrap();
    assert!(cpu.total_s > 0.0 && (cpu.jit_s - 0.0).abs() < 1e-9, "{cpu:?}");
}

/// Those of the master alone would show a server that does nothing.
#[test]
fn a_master_without_its_workers_is_no_recording() {
    // As in a Ruby before 3.1, which informs nobody about its forks.
    let unseen = "original = Process.method(:_fork).super_method\n\
                  Process.singleton_class.prepend(Module.new { define_method(:_fork) { original.call } })\n";
    let dir = tempfile::tempdir().unwrap();
    let running = launch_ruby(&[unseen, HOT].concat(), &["{port}", "2"], None, dir.path());
    let reported = running.record().unwrap_err();
    assert!(
        reported.contains("takes no samples of itself") && reported.contains("forked by a Ruby before 3.1"),
        "{reported}"
    );
}
