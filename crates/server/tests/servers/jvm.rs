//! Java programs and JRuby: launched for real, and asked what they run with.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::time::Duration;

use indexmap::IndexMap;
use model::SettingResult::{self, AlreadyDefault, InEffect, Overridden};
use model::study::{JavaProgram, JrubyProgram, Ready, ReadySign, Runtime, ServerSpec};
use model::{Setting, SettingSource};
use runtimes::{Given, RuntimePart, jvm};
use server::{LaunchError, MavenError, Running, RuntimeError, install};

use crate::common::{RUBY_SERVER, launcher, on_jdk, requested, spec, study, toolbox};

const SERVER: &str = include_str!("common/Server.java");
const EMBED: &str = include_str!("common/Embed.java");
const JRUBY: &str = "9.4.15.0";

fn java(jvm: &[&str], dir: &Path) -> ServerSpec {
    let program = JavaProgram::Main("Server.java".into());
    spec(Runtime::Java { java: on_jdk(jvm), program }, &["{port}"], dir)
}

fn jruby(version: &str, options: &[(&str, &str)], program: JrubyProgram, args: &[&str], dir: &Path) -> ServerSpec {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let java = on_jdk(&["-Xmx300m", "-XX:TieredStopAtLevel=1"]);
    spec(Runtime::Jruby { version: version.into(), java, options, program }, args, dir)
}

fn launch(spec: &ServerSpec, dir: &Path) -> Result<Running, LaunchError> {
    let installed = install(spec, dir, &toolbox(dir)).unwrap();
    let launcher = launcher();
    launcher.server(&installed, &launcher.site(dir, &dir.join("trial"), &[]).unwrap())
}

fn results(settings: &[Setting]) -> Vec<SettingResult> {
    settings.iter().map(|setting| setting.result.clone()).collect()
}

fn unknown(nearest: &str) -> SettingResult {
    SettingResult::Unknown { nearest: Some(nearest.into()) }
}

#[test]
fn a_java_program_is_compiled_launched_and_asked() {
    let dir = study("Server.java", SERVER);
    let flags = [
        "-Xmx200m",
        "-Xss2m",
        "-XX:+UseParallelGC",
        "-XX:+UseThreadPriorities",
        "-XX:+UseNUMA",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
    ];
    let mut spec = java(&flags, dir.path());
    let Runtime::Java { java, .. } = &mut spec.runtime else { unreachable!() };
    java.properties = IndexMap::from([("known.place".into(), "a b:{port}".into())]);
    let running = launch(&spec, dir.path()).unwrap();

    let mut wanted: Vec<_> = flags.iter().map(|flag| requested(jvm::given(flag))).collect();
    wanted.extend([
        requested(jvm::given("-XX:+UseParalelGC")),
        requested(jvm::given("-javaagent:x.jar")),
        requested(Given::property("known.place", "a b:{port}")),
        requested(Given::property("known.plaice", "x")),
        requested(Given::runtime(RuntimePart::Jdk, "17 or 21")),
        requested(Given::runtime(RuntimePart::Jdk, "25")),
        requested(Given::runtime(RuntimePart::Main, "Server.java")),
        requested(Given::runtime(RuntimePart::Main, "Other.java")),
    ]);
    let settings = running.read_back(&wanted, &[]);
    // UseNUMA is switched off without a word where there is one node; and UseThreadPriorities is no change at all.
    assert_eq!(
        results(&settings),
        [
            InEffect,
            InEffect,
            InEffect,
            AlreadyDefault,
            settings[4].result.clone(),
            InEffect,
            unknown("UseParallelGC"),
            Overridden,
            InEffect,
            Overridden,
            InEffect,
            Overridden,
            InEffect,
            Overridden
        ],
        "{settings:#?}"
    );
    assert!(matches!(settings[4].result, InEffect | Overridden));
    assert_eq!(settings[0].live.as_deref(), Some("209715200"));
    assert_eq!(settings[2].source, SettingSource::Jcmd);
    let facts = running.facts();
    assert!(["17.", "21."].iter().any(|major| facts.versions["jdk"].starts_with(major)), "{facts:?}");
    assert_eq!(facts.libraries.keys().collect::<Vec<_>>(), ["Server.java"]);
    assert!(facts.command.ends_with(&["known.Server".to_owned(), facts.port.to_string()]), "{:?}", facts.command);

    // The same sources are not compiled a second time.
    let reported = RefCell::new(Vec::new());
    let announce = |step: &str| reported.borrow_mut().push(step.to_owned());
    install(&spec, dir.path(), &toolbox(dir.path()).announcing(&announce)).unwrap();
    assert!(reported.take().is_empty());
}

#[test]
fn a_flag_that_java_refuses_is_explained() {
    let dir = study("Server.java", SERVER);
    let error = launch(&java(&["-XX:+UseParalelGC"], dir.path()), dir.path()).unwrap_err();
    assert!(
        error.to_string().contains("knows no option UseParalelGC; the nearest it knows is UseParallelGC"),
        "{error}"
    );
}

#[test]
fn a_program_that_does_not_compile_is_an_error_that_says_where() {
    let dir = study("Server.java", "class Server { broken }");
    let error = install(&java(&[], dir.path()), dir.path(), &toolbox(dir.path())).unwrap_err();
    assert!(matches!(error, RuntimeError::Compile { .. }), "{error}");
    assert!(error.to_string().contains("Server.java:1"), "{error}");
}

#[test]
fn jruby_tells_what_took_effect() {
    let dir = study("server.rb", RUBY_SERVER);
    let options = [("compile.invokedynamic", "true"), ("jit.treshold", "30"), ("jit.threshold", "50")];
    let program = JrubyProgram::Script("server.rb".into());
    let spec = jruby(JRUBY, &options, program, &["{port}"], dir.path());
    let running = launch(&spec, dir.path()).unwrap();

    let mut wanted: Vec<_> = options.iter().map(|(name, value)| requested(Given::jruby(name, value))).collect();
    wanted.push(requested(Given::jruby("jit.max", "77")));
    wanted.push(requested(jvm::given("-XX:TieredStopAtLevel=1")));
    wanted.push(requested(Given::runtime(RuntimePart::Version, JRUBY)));
    let settings = running.read_back(&wanted, &[]);
    let expected = [InEffect, unknown("jit.threshold"), AlreadyDefault, Overridden, InEffect, InEffect];
    assert_eq!(results(&settings), expected, "{settings:#?}");
    assert_eq!(settings[0].source, SettingSource::InProcess);
    assert_eq!(settings[0].default.as_deref(), Some("false"));
    // Another variant's, however they are asked for.
    let others = [
        requested(Given::jruby("jit.max", "77")),
        requested(Given::property("jruby.jit.threshold", "30")),
        requested(Given::variable("JRUBY_OPTS", "-Xcompile.invokedynamic=false -J-Xmx1g")),
        requested(Given::variable("JRUBY_OPTS", "--dev")),
    ];
    let live: Vec<String> = running.varied(&others).into_iter().map(|live| live.live).collect();
    assert!(live[0].starts_with("jit.max = "), "{live:?}");
    assert_eq!(live[1..], ["jit.threshold = 50", "compile.invokedynamic = true, MaxHeapSize = 314572800"]);

    let facts = running.facts();
    assert_eq!(facts.versions.keys().collect::<Vec<_>>(), ["jdk", "jruby", "ruby"]);
    assert_eq!(facts.versions["jruby"], JRUBY);
    assert_eq!(facts.libraries.keys().collect::<Vec<_>>(), ["jruby.jar", "server.rb"]);
}

/// In Tomcat, by jruby-rack, which hands the process's environment on unless it is given another.
#[test]
fn jruby_in_a_servlet_container_tells_what_took_effect() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies/gocd-invokedynamic");
    let options = [("jit.threshold", "30"), ("jit.treshold", "30"), ("compile.invokedynamic", "false")];
    let mut spec = jruby(JRUBY, &options, JrubyProgram::Main("app/Server.java".into()), &[], &shipped);
    let Runtime::Jruby { java, .. } = &mut spec.runtime else { unreachable!() };
    java.jars = [
        "org.jruby.rack:jruby-rack:1.2.6",
        "org.apache.tomcat.embed:tomcat-embed-core:9.0.122",
        "org.apache.tomcat:tomcat-annotations-api:9.0.122",
    ]
    .map(str::to_owned)
    .to_vec();
    spec.env = IndexMap::from([("PORT".into(), "{port}".into()), ("BAKEOFF_TRIAL_DIR".into(), "{trial_dir}".into())]);
    spec.ready = Ready { sign: ReadySign::Get("/go/pipelines.json".into()), within: Duration::from_secs(120) };
    let dir = tempfile::tempdir().unwrap();
    let installed = install(&spec, &shipped, &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    let site = launcher.site(&shipped, &dir.path().join("trial"), &[]).unwrap();
    let running = launcher.server(&installed, &site).unwrap();

    let wanted = options.map(|(name, value)| requested(Given::jruby(name, value)));
    let settings = running.read_back(&wanted, &[]);
    assert_eq!(results(&settings), [InEffect, unknown("jit.threshold"), AlreadyDefault], "{settings:#?}");
    assert!(settings.iter().all(|setting| setting.source == SettingSource::InProcess), "{settings:#?}");
}

#[test]
fn jruby_that_does_not_tell_is_asked_from_outside() {
    let dir = study("Embed.java", EMBED);
    fs::write(dir.path().join("server.rb"), RUBY_SERVER).unwrap();
    let program = JrubyProgram::Main("Embed.java".into());
    let options = [("compile.invokedynamic", "false"), ("jit.treshold", "30"), ("jit.threshold", "30")];
    let spec = jruby(JRUBY, &options, program, &["{dir}/server.rb", "{port}"], dir.path());
    let running = launch(&spec, dir.path()).unwrap();

    let wanted = options.map(|(name, value)| requested(Given::jruby(name, value)));
    let settings = running.read_back(&wanted, &[]);
    let expected = [AlreadyDefault, unknown("jit.threshold"), InEffect];
    assert_eq!(results(&settings), expected, "{settings:#?}");
    assert!(settings.iter().all(|setting| setting.source == SettingSource::Jcmd));
}

#[test]
fn a_jruby_that_does_not_exist_is_an_error_of_its_own() {
    let dir = study("server.rb", RUBY_SERVER);
    let spec = jruby("9.4.999.0", &[], JrubyProgram::Script("server.rb".into()), &[], dir.path());
    let mut toolbox = toolbox(dir.path());
    toolbox.cache = dir.path().join("cache");
    fs::create_dir_all(dir.path().join("cache/jruby/9.4.15.0")).unwrap();
    let reported = RefCell::new(Vec::new());
    let announce = |step: &str| reported.borrow_mut().push(step.to_owned());
    let error = install(&spec, dir.path(), &toolbox.announcing(&announce)).unwrap_err();
    // Without a network it cannot be known.
    let RuntimeError::NoJruby { error: why, .. } = &error else { panic!("{error}") };
    assert!(matches!(**why, MavenError::NotFound { .. } | MavenError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("jruby-dist:9.4.999.0"), "{error}");
    assert!(error.to_string().contains("JRuby 9.4.999.0 is not here (here: 9.4.15.0)"), "{error}");
    assert_eq!(reported.take(), ["fetching JRuby 9.4.999.0 through mvn"]);
}
