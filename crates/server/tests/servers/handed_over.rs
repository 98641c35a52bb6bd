//! What becomes of settings where the launched program hands over to another, or makes something else of them: what cannot be known is
//! unverified, and no other value.

use std::fs;

use model::Setting;
use model::SettingResult::{self, AlreadyDefault, InEffect, Inert, Overridden, Unknown, Unverified};
use model::study::{RequestedSetting, Runtime, ServerSpec};
use runtimes::{Given, RuntimePart};
use server::{Running, install};

use crate::common::{RUBY_SERVER, command, launcher, requested, ruby, spec, study, toolbox};

const SERVER: &str = include_str!("common/Server.java");

fn launch(spec: &ServerSpec, dir: &tempfile::TempDir) -> Running {
    let installed = install(spec, dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    launcher.server(&installed, &launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap()).unwrap()
}

/// A start script, and the variables that it is given.
fn scripted(start: &str, env: &[(&str, &str)], dir: &tempfile::TempDir) -> Running {
    fs::write(dir.path().join("start.sh"), start).unwrap();
    let mut spec = spec(command("sh start.sh {port}"), &[], dir.path());
    spec.env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    launch(&spec, dir)
}

fn variable(name: &str, value: &str) -> RequestedSetting {
    requested(Given::variable(name, value))
}

fn is_unverified(setting: &Setting, part: &str) -> bool {
    matches!(&setting.result, Unverified { reason } if reason.contains(part))
}

fn results(settings: &[Setting]) -> Vec<(&str, SettingResult)> {
    settings.iter().map(|setting| (setting.name.as_str(), setting.result.clone())).collect()
}

/// Options that all variants have make no difference, and are named by themselves; what differs decides.
#[test]
fn options_that_all_variants_have_are_shared() {
    let dir = study("Server.java", SERVER);
    let value = "-XX:+IgnoreUnrecognizedVMOptions -XX:MaxPermSize=128m -XX:+UseNUMA -Xmx64m";
    let running = scripted("exec java $JAVA_OPTS Server.java $1\n", &[("JAVA_OPTS", value)], &dir);
    let judge = |other: &[(&str, &str)]| {
        let other = other.iter().map(|(name, value)| variable(name, value)).collect();
        running.read_back(&[variable("JAVA_OPTS", value)], &[other])
    };
    let unknown = Unknown { nearest: Some("MaxHeapSize".into()) };

    let settings = judge(&[("JAVA_OPTS", &value.replace("64m", "256m"))]);
    let (permanent, numa) = ("JAVA_OPTS: -XX:MaxPermSize=128m", "JAVA_OPTS: -XX:+UseNUMA");
    let expected = [("JAVA_OPTS", InEffect), (permanent, unknown.clone()), (numa, Overridden)];
    assert_eq!(results(&settings), expected, "{settings:#?}");
    assert_eq!(settings.iter().map(|setting| setting.shared).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(settings[0].live.as_deref(), Some(value));

    // Here it differs.
    let settings = judge(&[("JAVA_OPTS", "-XX:+IgnoreUnrecognizedVMOptions -XX:+UseNUMA -Xmx64m")]);
    assert_eq!(results(&settings), [("JAVA_OPTS", unknown.clone()), (numa, Overridden)], "{settings:#?}");
    assert_eq!(settings[0].live.as_deref(), Some("-XX:MaxPermSize=128m: absent"));
    // And here all of it does.
    assert_eq!(results(&judge(&[])), [("JAVA_OPTS", unknown)]);
}

/// As the start scripts of many servers do.
#[test]
fn what_a_shell_expands_is_no_other_value() {
    let dir = study("Server.java", SERVER);
    let env = [
        ("JAVA_OPTS", "-Dapp.logs=$APP_HOME/logs -XX:+UseParallelGC"),
        ("JVM_OPTS", "-Dapp.kept=x -Xmn20m"),
        ("WORKER_OPTS", "-Xmx64m"),
    ];
    let start = "APP_HOME=/srv\neval \"exec java $JAVA_OPTS $JVM_OPTS -Xmn30m Server.java $1\"\n";
    let running = scripted(start, &env, &dir);
    let settings = running.read_back(&env.map(|(name, value)| variable(name, value)), &[]);
    assert!(is_unverified(&settings[0], "$APP_HOME"), "{settings:#?}");
    assert_eq!(settings[1].result, Overridden, "the later one wins: {settings:#?}");
    assert!(is_unverified(&settings[2], "was not given"), "{settings:#?}");
}

/// A word that is only named as a runtime hides no options.
#[test]
fn a_folder_among_a_commands_words_is_no_program() {
    let dir = study("Server.java", SERVER);
    fs::create_dir_all(dir.path().join("jdk/java")).unwrap();
    let judge = |start: &str, options: &str| {
        fs::write(dir.path().join("start.sh"), start).unwrap();
        let started = format!("sh start.sh {options} --home jdk/java {{port}}");
        let requested = |text: &str| requested(Given::runtime(RuntimePart::Command, text));
        let running = launch(&spec(command(&started), &[], dir.path()), &dir);
        running.read_back(&[requested(&started)], &[vec![requested("sh start.sh --home jdk/java {port}")]]).remove(0)
    };
    let hands_on = "exec java $1 Server.java $4\n";
    assert_eq!(judge(hands_on, "-Xmx80m").result, InEffect);
    assert_eq!(judge(hands_on, "-XX:+UseThreadPriorities").result, AlreadyDefault);
    let kept = judge("exec java -Xmx64m Server.java $4\n", "-Xmx80m");
    assert!(is_unverified(&kept, "does not show `-Xmx80m`"), "{kept:#?}");
}

/// A launcher and what it becomes may bear one name.
#[test]
fn a_command_may_hand_over_to_its_like() {
    let dir = study("server.rb", RUBY_SERVER);
    fs::create_dir_all(dir.path().join("bin")).unwrap();
    fs::write(dir.path().join("start.sh"), "exec sh bin/run.sh \"$@\"\n").unwrap();
    fs::write(dir.path().join("bin/run.sh"), "ruby server.rb \"$@\"\nexit\n").unwrap();
    fs::write(dir.path().join("boot.rb"), "exec('ruby', 'server.rb', ARGV[0])\n").unwrap();
    for (started, other) in
        [("sh start.sh {port}", "sh other.sh {port}"), ("ruby boot.rb {port} --fast", "ruby boot.rb {port}")]
    {
        let running = launch(&spec(command(started), &[], dir.path()), &dir);
        let requested = |text: &str| requested(Given::runtime(RuntimePart::Command, text));
        let settings = running.read_back(&[requested(started)], &[vec![requested(other)]]);
        assert_eq!(results(&settings), [("command", InEffect)], "{settings:#?}");
        assert_eq!(settings[0].live.as_deref(), Some(started), "it is the same in each launch");
    }
    // And its arguments may be for the launcher alone.
    let running = launch(&spec(command("ruby boot.rb"), &["{port}", "--fast"], dir.path()), &dir);
    let settings = running.read_back(&[requested(Given::argument("--fast"))], &[]);
    assert!(is_unverified(&settings[0], "another command line"), "{settings:#?}");
    fs::write(dir.path().join("start.sh"), "ruby server.rb $1\nexit\n").unwrap();
    let running = launch(&spec(command("sh start.sh"), &["{port}", "--fast"], dir.path()), &dir);
    let settings = running.read_back(&[requested(Given::argument("--fast"))], &[]);
    assert!(is_unverified(&settings[0], "another than was launched"), "{settings:#?}");
}

/// What the first one reported of itself is of no account.
#[test]
fn a_ruby_that_becomes_itself_anew_has_reported_nothing() {
    let dir = study("server.rb", RUBY_SERVER);
    let boot = "ENV.delete('RUBYOPT')\nexec('ruby', 'server.rb', *ARGV)\n";
    fs::write(dir.path().join("boot.rb"), boot).unwrap();
    let Runtime::Ruby { version, script, .. } = ruby("boot.rb") else { panic!("no Ruby") };
    let runtime = Runtime::Ruby { version, options: vec!["--yjit".into()], script };
    let running = launch(&spec(runtime, &["{port}"], dir.path()), &dir);
    let settings = running.read_back(&[requested(Given::argument("--yjit"))], &[]);
    assert!(is_unverified(&settings[0], "another command line"), "{settings:#?}");
}

/// In one word or in two, and before the script: behind it the same is the program's own.
#[test]
fn a_ruby_is_reported_not_to_read_its_options_by_its_own_words_only() {
    let dir = study("server.rb", RUBY_SERVER);
    let judge = |started: &str| {
        let env = [("RUBYOPT".to_owned(), "-W0".to_owned())].into();
        let running = launch(&ServerSpec { env, ..spec(command(started), &[], dir.path()) }, &dir);
        running.read_back(&[variable("RUBYOPT", "-W0")], &[]).remove(0).result
    };
    for started in ["ruby --disable rubyopt server.rb {port}", "ruby -I lib --disable=gems,rubyopt server.rb {port}"] {
        let Inert { reason, .. } = judge(started) else { panic!("{started}: it is not read") };
        assert!(reason.contains("does not read it: --disable="), "{reason}");
    }
    assert_eq!(judge("ruby server.rb {port} --disable=all"), InEffect);
}

/// Two commands that differ in what is the default.
#[test]
fn commands_that_come_to_the_same_are_the_default() {
    let dir = study("Server.java", SERVER);
    let (plain, other) = ("java Server.java {port}", "java -XX:+UseThreadPriorities Server.java {port}");
    let requested = |text: &str| requested(Given::runtime(RuntimePart::Command, text));
    for (started, other, expected) in [
        (plain, other, AlreadyDefault),
        (other, plain, AlreadyDefault),
        (plain, "java Server.java {port} --fast", InEffect),
    ] {
        let running = launch(&spec(command(started), &[], dir.path()), &dir);
        let settings = running.read_back(&[requested(started)], &[vec![requested(other)]]);
        assert_eq!(results(&settings), [("command", expected)], "{started} and {other}: {settings:#?}");
    }
}

/// The JVM has been given them, whatever its program has made of them since.
#[test]
fn properties_that_the_program_takes_or_changes_were_given() {
    let own = "System.clearProperty(\"pool.size\"); System.setProperty(\"app.dir\", \"/srv\");";
    let main = "throws Exception {\n";
    let dir = study("Server.java", &SERVER.replacen(main, &format!("{main}{own}\n"), 1));
    let start = "exec java -Dpool.size=10 -Dapp.dir=. -Dlate=1 -Dlate=2 Server.java $1\n";
    let running = scripted(start, &[], &dir);
    let wanted =
        [("pool.size", "10"), ("app.dir", "."), ("late", "1"), ("late", "2"), ("never", "1"), ("pool.size", "1")];
    let settings = running.read_back(&wanted.map(|(name, value)| requested(Given::property(name, value))), &[]);
    assert!(is_unverified(&settings[0], "taken it away"), "{settings:#?}");
    assert!(is_unverified(&settings[1], "made it `/srv`"), "{settings:#?}");
    let rest: Vec<_> = settings[2..].iter().map(|setting| setting.result.clone()).collect();
    assert_eq!(rest, [Overridden, InEffect, Overridden, Overridden], "{settings:#?}");
}
