//! Settings of real runtimes, each classified: the table of `docs/settings.md`, run.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

#[path = "../common/mod.rs"]
mod common;
mod page;
mod table;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{RUBY_SERVER, asked, get, launcher, spec, study, toolbox};
use model::study::{AskedSetting, JavaProgram, JavaSpec, JrubyProgram, Runtime, ServerSpec, SettingKind};
use model::{Setting, SettingResult};
use server::{LaunchError, install};
use table::{Case, Expect, GROUPS, Group, On};

const SERVER: &str = include_str!("../common/Server.java");
/// Becomes the program that serves.
const START_RUBY: &str = "unset DROPPED\nexec ruby server.rb \"$1\"\n";
/// Has it for a child.
const START_JAVA: &str = "moved=$MOVED_OPTS\nunset MOVED_OPTS DROPPED_OPTS\njava WITH $moved $JAVA_OPTS $CATALINA_OPTS $JVM_OPTS $JAVA_MEM $JAVA_STACK $GRADLE_OPTS -Xms32m Server.java \"$1\"\nexit $?\n";
/// JRuby's own launcher reads what it reads.
const START_JRUBY: &str = "sh HOME/bin/jruby server.rb \"$1\"\nexit $?\n";
const JRUBY_94: &str = "9.4.15.0";
const JRUBY_101: &str = "10.1.1.0";

#[test]
fn jdk_17() {
    run(On::Jdk17);
}

#[test]
fn jdk_25() {
    run(On::Jdk25);
}

#[test]
fn jruby_94() {
    run(On::Jruby94);
}

#[test]
fn jruby_101() {
    run(On::Jruby101);
}

#[test]
fn mri() {
    run(On::Mri);
}

#[test]
fn script() {
    run(On::Script);
}

#[test]
fn script_java() {
    run(On::ScriptJava);
}

#[test]
fn script_jruby() {
    run(On::ScriptJruby);
}

/// Runs every group of a runtime; all that came out otherwise than the table says is told together.
fn run(on: On) {
    if let Some(absent) = absent(on) {
        println!("skipped: {} ({absent})", on.name());
        return;
    }
    let wrong: Vec<String> = GROUPS.iter().filter(|group| group.on == on).flat_map(misjudged).collect();
    assert!(wrong.is_empty(), "{}: {:#?}", on.name(), wrong);
}

/// The cases of one launch that came out otherwise.
fn misjudged(group: &Group) -> Vec<String> {
    let dir = study("server.rb", RUBY_SERVER);
    fs::write(dir.path().join("Server.java"), SERVER).unwrap();
    fs::write(dir.path().join("start.sh"), start_script(group, dir.path())).unwrap();
    fs::write(dir.path().join("options.txt"), "-Xmx128m\n").unwrap();
    fs::write(dir.path().join("flags.txt"), "+UseSerialGC\n").unwrap();
    fs::write(dir.path().join("heap.txt"), "MaxHeapSize=67108864\n").unwrap();
    for case in group.cases.iter().filter(|case| case.by_other_means) {
        fs::write(dir.path().join(".jrubyrc"), format!("{}={}\n", case.name, case.value)).unwrap();
    }
    let installed = install(&server(group, dir.path()), dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
    let wanted: Vec<AskedSetting> = group.cases.iter().map(|case| asked(case.kind, case.name, case.value)).collect();
    let settings = match launcher.server(&installed, &site) {
        Ok(running) => running.read_back(&wanted),
        Err(error @ LaunchError::Exited { .. }) => launcher.refused(&installed, &site, &wanted, &error),
        Err(error) => panic!("{error}"),
    };
    let found =
        |case: &Case| settings.iter().find(|setting| (setting.kind, setting.name.as_str()) == (case.kind, case.name));
    let wrong = |case: &&Case| !found(case).is_some_and(|setting| is(case.expect, setting));
    let told = |case: &Case| {
        let found = found(case).map(|setting| (&setting.result, &setting.live, &setting.default));
        format!("{} {}: expected {:?}, found {found:?}", case.name, case.value, case.expect)
    };
    group.cases.iter().filter(wrong).map(told).collect()
}

fn is(expect: Expect, setting: &Setting) -> bool {
    match (expect, &setting.result) {
        (Expect::Refused(part), SettingResult::Refused { reason }) => reason.contains(part),
        (Expect::Unknown(Some(nearest)), SettingResult::Unknown { nearest: found }) => {
            found.as_deref() == Some(nearest)
        }
        (Expect::Unknown(None), SettingResult::Unknown { .. })
        | (Expect::Overridden, SettingResult::Overridden)
        | (Expect::Default, SettingResult::AlreadyDefault)
        | (Expect::Inert, SettingResult::Inert { .. })
        | (Expect::InEffect, SettingResult::InEffect)
        | (Expect::Unverified, SettingResult::Unverified { .. }) => true,
        _ => false,
    }
}

/// The server of a group: launched with all its settings.
fn server(group: &Group, dir: &Path) -> ServerSpec {
    let of = |kind: SettingKind| group.cases.iter().filter(move |case| case.kind == kind && !case.by_other_means);
    let pairs = |kind| of(kind).map(|case| (case.name.to_owned(), case.value.to_owned())).collect();
    let flags = group.with.iter().copied().chain(of(SettingKind::JvmFlag).map(|case| case.name));
    let java = |jdk: &str| JavaSpec {
        jdk: Some(jdk.to_owned()),
        jvm: flags.clone().map(str::to_owned).collect(),
        properties: pairs(SettingKind::Property),
        jars: Vec::new(),
    };
    let on_java = |jdk| Runtime::Java { java: java(jdk), program: JavaProgram::Main("Server.java".into()) };
    let on_jruby = |version: &str, jdk| Runtime::Jruby {
        version: version.to_owned(),
        java: java(jdk),
        options: pairs(SettingKind::Jruby),
        program: JrubyProgram::Script("server.rb".into()),
    };
    let runtime = match group.on {
        On::Jdk17 => on_java("17"),
        On::Jdk25 => on_java("25"),
        On::Jruby94 => on_jruby(JRUBY_94, "17 or 21"),
        On::Jruby101 => on_jruby(JRUBY_101, "21 or 25"),
        On::Mri => Runtime::Ruby {
            version: None,
            options: of(SettingKind::Argument).map(|case| case.name.to_owned()).collect(),
            script: "server.rb".into(),
        },
        On::Script | On::ScriptJava | On::ScriptJruby => Runtime::Command { command: "sh start.sh".into() },
    };
    ServerSpec { env: pairs(SettingKind::Env), ready: get(120), ..spec(runtime, &["{port}"], dir) }
}

fn start_script(group: &Group, dir: &Path) -> String {
    match group.on {
        On::ScriptJava => START_JAVA.replace("WITH", &group.with.join(" ")),
        On::ScriptJruby => {
            // It is fetched as for a study, and unpacked into this folder.
            let on = On::Jruby94;
            install(&server(&Group { on, with: &[], cases: &[] }, dir), dir, &toolbox(dir)).unwrap();
            let home = toolbox(dir).cache.join("jruby").join(JRUBY_94).join("home");
            START_JRUBY.replace("HOME", &home.display().to_string())
        }
        _ => START_RUBY.to_owned(),
    }
}

/// Why a runtime's cases cannot be run here. The table is about these versions: others have other defaults.
fn absent(on: On) -> Option<String> {
    let jdk = |jdk: &str| {
        let java = JavaSpec { jdk: Some(jdk.to_owned()), ..JavaSpec::default() };
        let runtime = Runtime::Java { java, program: JavaProgram::Main("Server.java".into()) };
        server::lacking(&spec(runtime, &[], Path::new("/")), Path::new("/")).map(|lacking| lacking.to_string())
    };
    match on {
        On::Jdk17 => jdk("17"),
        On::Jdk25 => jdk("25"),
        On::Jruby94 | On::ScriptJruby => jdk("17 or 21"),
        On::Jruby101 => jdk("21 or 25"),
        On::Mri | On::Script => {
            let said = Command::new("ruby").args(["--yjit", "-v"]).output().unwrap();
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            let is_known = said.starts_with("ruby 3.1.") && said.contains("+YJIT");
            (!is_known).then(|| format!("here is: {said}"))
        }
        On::ScriptJava => None,
    }
}

#[test]
fn the_table_is_as_large_as_it_claims() {
    let count =
        |is: fn(On) -> bool| GROUPS.iter().filter(|group| is(group.on)).map(|group| group.cases.len()).sum::<usize>();
    assert!(count(|on| matches!(on, On::Jdk17 | On::Jdk25)) >= 40);
    assert!(count(|on| !matches!(on, On::Jdk17 | On::Jdk25)) >= 20);
}
