//! Settings of real runtimes, each classified: the table of `docs/settings.md`, run.

mod page;
mod table;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use model::study::{JavaProgram, JavaSpec, JrubyProgram, RequestedSetting, Runtime, ServerSpec};
use model::{Setting, SettingResult};
use needs::Need;
use runtimes::{Given, RuntimePart, jvm};
use server::{LaunchError, install};
use table::{Case, Expect, GROUPS, Group, On, Place};

use crate::common::{RUBY_SERVER, get, launcher, packages_of, requested, spec, study, toolbox};

const SERVER: &str = include_str!("../common/Server.java");
/// Becomes the program that serves.
const START_RUBY: &str = "unset DROPPED\nexec ruby server.rb \"$1\"\n";
/// Has it for a child.
const START_JAVA: &str = "moved=$MOVED_OPTS\nunset MOVED_OPTS DROPPED_OPTS\njava WITH $MY_OPTS $moved $JAVA_OPTS $CATALINA_OPTS $JVM_OPTS $JAVA_MEM $JAVA_STACK $GRADLE_OPTS -Xms32m Server.java \"$1\"\nexit $?\n";
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

#[test]
fn command_java() {
    run(On::CommandJava);
}

#[test]
fn command_jruby() {
    run(On::CommandJruby);
}

#[test]
fn command_mri() {
    run(On::CommandMri);
}

/// Runs every group of a runtime; all that differs from the table is shown together.
fn run(on: On) {
    if let Some((lacking, packages)) = absent(on) {
        return needs::left_out(Need::Package(&packages), format!("{} ({lacking})", on.name()));
    }
    let wrong: Vec<String> = GROUPS.iter().filter(|group| group.on == on).flat_map(misjudged).collect();
    assert!(wrong.is_empty(), "{}: {:#?}", on.name(), wrong);
}

/// The cases of one launch that came out otherwise.
fn misjudged(group: &Group) -> Vec<String> {
    let dir = study("server.rb", RUBY_SERVER);
    fs::write(dir.path().join("Server.java"), SERVER).unwrap();
    fs::write(dir.path().join("start.sh"), start_script(group)).unwrap();
    if group.on == On::CommandJruby {
        let jruby = dir.path().join("jruby");
        fs::write(&jruby, format!("#!/bin/sh\nexec sh {}/bin/jruby \"$@\"\n", JRUBY_HOME.display())).unwrap();
        fs::set_permissions(&jruby, Permissions::from_mode(0o755)).unwrap();
    }
    fs::write(dir.path().join("options.txt"), "-Xmx128m\n").unwrap();
    fs::write(dir.path().join("flags.txt"), "+UseSerialGC\n").unwrap();
    fs::write(dir.path().join("heap.txt"), "MaxHeapSize=67108864\n").unwrap();
    for case in group.cases.iter().filter(|case| case.by_other_means) {
        fs::write(dir.path().join(".jrubyrc"), format!("{}={}\n", case.name, case.value)).unwrap();
    }
    let installed = install(&server(group, dir.path()), dir.path(), &toolbox(dir.path())).unwrap();
    let launcher = launcher();
    let site = launcher.site(dir.path(), &dir.path().join("trial"), &[]).unwrap();
    let settings: Vec<Option<Setting>> = match launcher.server(&installed, &site) {
        Ok(running) => {
            let wanted: Vec<RequestedSetting> = group.cases.iter().map(|case| wanted(case, group)).collect();
            // A word of a command is judged by what the other variant's command is without.
            let of_word = |case: &Case| {
                let other = requested(Given::runtime(RuntimePart::Command, &command(group, Some(case.name))));
                running.read_back(&wanted[..1], &[vec![other]]).into_iter().next()
            };
            if group.cases.iter().any(|case| case.place == Place::Command) {
                group.cases.iter().map(of_word).collect()
            } else {
                running.read_back(&wanted, &[]).into_iter().map(Some).collect()
            }
        }
        Err(error @ LaunchError::Exited { .. }) => {
            let refused =
                |case: &Case| launcher.refused(&installed, &site, &[wanted(case, group)], &error).into_iter().next();
            group.cases.iter().map(refused).collect()
        }
        Err(error) => panic!("{error}"),
    };
    let found = group.cases.iter().zip(&settings);
    let wrong = found.filter(|(case, found)| !found.as_ref().is_some_and(|setting| is(case.expect, setting)));
    let reported = |(case, found): (&Case, &Option<Setting>)| {
        let found = found.as_ref().map(|setting| (&setting.result, &setting.live, &setting.default));
        format!("{} {}: expected {:?}, found {found:?}", case.name, case.value, case.expect)
    };
    wrong.map(reported).collect()
}

/// What a study asks for that has the case.
fn wanted(case: &Case, group: &Group) -> RequestedSetting {
    requested(match case.place {
        Place::Argument => Given::argument(case.name),
        Place::Command => Given::runtime(RuntimePart::Command, &command(group, None)),
        Place::Env => Given::variable(case.name, case.value),
        Place::Jruby => Given::jruby(case.name, case.value),
        Place::Jvm => jvm::given(case.name),
        Place::Property => Given::property(case.name, case.value),
    })
}

/// The command of a group, which has its cases for words, but for one of them.
fn command(group: &Group, without: Option<&str>) -> String {
    let words = group.cases.iter().map(|case| case.name).filter(|word| Some(*word) != without);
    let words = group.with.iter().copied().chain(words).collect::<Vec<_>>().join(" ");
    match group.on {
        On::CommandJava => format!("java {words} Server.java {{port}}"),
        On::CommandJruby => format!("./jruby {words} server.rb {{port}}"),
        On::CommandMri => format!("ruby {words} server.rb {{port}}"),
        _ => "sh start.sh {port}".to_owned(),
    }
}

/// The folder of JRuby 9.4: it is fetched as for a study.
static JRUBY_HOME: LazyLock<PathBuf> = LazyLock::new(|| {
    let dir = study("server.rb", RUBY_SERVER);
    let group = Group { on: On::Jruby94, with: &[], cases: &[] };
    install(&server(&group, dir.path()), dir.path(), &toolbox(dir.path())).unwrap();
    toolbox(dir.path()).cache.join("jruby").join(JRUBY_94).join("home")
});

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
    let of = |place: Place| group.cases.iter().filter(move |case| case.place == place && !case.by_other_means);
    let pairs = |place| of(place).map(|case| (case.name.to_owned(), case.value.to_owned())).collect();
    let flags = group.with.iter().copied().chain(of(Place::Jvm).map(|case| case.name));
    let java = |jdk: &str| JavaSpec {
        jdk: Some(jdk.to_owned()),
        jvm: flags.clone().map(str::to_owned).collect(),
        properties: pairs(Place::Property),
        jars: Vec::new(),
    };
    let on_java = |jdk| Runtime::Java { java: java(jdk), program: JavaProgram::Main("Server.java".into()) };
    let on_jruby = |version: &str, jdk| Runtime::Jruby {
        version: version.to_owned(),
        java: java(jdk),
        options: pairs(Place::Jruby),
        program: JrubyProgram::Script("server.rb".into()),
    };
    let runtime = match group.on {
        On::Jdk17 => on_java("17"),
        On::Jdk25 => on_java("25"),
        On::Jruby94 => on_jruby(JRUBY_94, "17 or 21"),
        On::Jruby101 => on_jruby(JRUBY_101, "21 or 25"),
        On::Mri => Runtime::Ruby {
            version: None,
            options: of(Place::Argument).map(|case| case.name.to_owned()).collect(),
            script: "server.rb".into(),
        },
        _ => Runtime::Command { command: command(group, None) },
    };
    let args: &[&str] = if matches!(runtime, Runtime::Command { .. }) { &[] } else { &["{port}"] };
    ServerSpec { env: pairs(Place::Env), ready: get(120), ..spec(runtime, args, dir) }
}

fn start_script(group: &Group) -> String {
    match group.on {
        On::ScriptJava => START_JAVA.replace("WITH", &group.with.join(" ")),
        On::ScriptJruby => START_JRUBY.replace("HOME", &JRUBY_HOME.display().to_string()),
        _ => START_RUBY.to_owned(),
    }
}

/// Why a runtime's cases cannot be run here, and what packages there would be. The table is about these versions: others have
/// other defaults.
fn absent(on: On) -> Option<(String, Vec<String>)> {
    let jdk = |requested: &str| {
        let java = JavaSpec { jdk: Some(requested.to_owned()), ..JavaSpec::default() };
        let runtime = Runtime::Java { java, program: JavaProgram::Main("Server.java".into()) };
        let lacking = server::lacking(&spec(runtime, &[], Path::new("/")), Path::new("/"))?;
        Some((lacking.to_string(), packages_of(requested)))
    };
    match on {
        On::Jdk17 => jdk("17"),
        On::Jdk25 => jdk("25"),
        On::Jruby94 | On::ScriptJruby | On::CommandJruby => jdk("17 or 21"),
        On::Jruby101 => jdk("21 or 25"),
        On::Mri | On::Script | On::CommandMri => {
            let said = Command::new("ruby").args(["--yjit", "-v"]).output().unwrap();
            let said = String::from_utf8_lossy(&said.stdout).into_owned();
            let is_known = said.starts_with("ruby 3.1.") && said.contains("+YJIT");
            (!is_known).then(|| (format!("here is: {said}"), vec!["ruby3.1".to_owned()]))
        }
        On::ScriptJava | On::CommandJava => None,
    }
}

/// The table's archives are not there; this one is the JDK's own.
#[test]
fn an_archive_that_the_jvm_has_mapped_is_in_effect() {
    for on in [On::Jdk17, On::Jdk25] {
        if let Some((lacking, packages)) = absent(on) {
            needs::left_out(Need::Package(&packages), format!("{} ({lacking})", on.name()));
            continue;
        }
        let dir = study("Server.java", SERVER);
        let mut spec = server(&Group { on, with: &[], cases: &[] }, dir.path());
        let launcher = launcher();
        let launch = |spec: &ServerSpec, trial: &str| {
            let installed = install(spec, dir.path(), &toolbox(dir.path())).unwrap();
            let site = launcher.site(dir.path(), &dir.path().join(trial), &[]).unwrap();
            launcher.server(&installed, &site).unwrap()
        };
        let first = launch(&spec, "first");
        let java = fs::read_link(format!("/proc/{}/exe", first.pid())).unwrap();
        let archive = java.parent().unwrap().join("../lib/server/classes.jsa");
        let option = format!("-XX:SharedArchiveFile={}", archive.display());
        let Runtime::Java { java, .. } = &mut spec.runtime else { panic!("no Java") };
        java.jvm.push(option.clone());
        let settings = launch(&spec, "second").read_back(&[requested(jvm::given(&option))], &[]);
        assert!(is(Expect::InEffect, &settings[0]), "{settings:#?}");
    }
}

#[test]
fn the_table_is_as_large_as_it_claims() {
    let count = |on: On| GROUPS.iter().filter(|group| group.on == on).map(|group| group.cases.len()).sum::<usize>();
    // 40 of JDKs and 20 of Rubies are claimed, of each version some.
    let least = [(On::Jdk17, 80), (On::Jdk25, 25), (On::Jruby94, 25), (On::Jruby101, 9), (On::Mri, 30)];
    let behind = [(On::Script, 13), (On::ScriptJava, 23), (On::ScriptJruby, 9)];
    let commands = [(On::CommandJava, 10), (On::CommandJruby, 8), (On::CommandMri, 5)];
    for (on, least) in least.into_iter().chain(behind).chain(commands) {
        assert!(count(on) >= least, "{}: {} cases", on.name(), count(on));
    }
}
