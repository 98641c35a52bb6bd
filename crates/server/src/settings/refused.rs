//! Which settings a runtime does not even start with. Found out after a launch has failed: it costs a good one nothing.

use std::path::Path;
use std::process::Command;

use indexmap::IndexMap;
use model::options::OF_JAVA;
use model::study::{RequestedSetting, SettingKind};
use model::{Setting, SettingResult, SettingSource};

use super::jvm::{self, ASK_WITHIN, Place};
use super::{Found, carriers, jruby};
use crate::runtime::{Installed, Jvm, base_env};
use crate::site::Site;
use crate::tool;

/// Of the settings asked for, those that the runtime refuses; none when it was something else that ended the launch.
/// `last_words` are its log's.
pub(crate) fn refused(
    installed: &Installed,
    site: &Site,
    requested: &[RequestedSetting],
    last_words: &str,
) -> Vec<Setting> {
    let reason = |requested: &RequestedSetting| {
        let complete = |text: &str| site.complete(text).ok();
        let (name, value) = (complete(&requested.name)?, complete(&requested.value)?);
        let tried = match (requested.kind, &installed.jvm) {
            (SettingKind::JvmFlag, Some(jvm)) => jvm_option(jvm, site, &name),
            (SettingKind::Env, Some(jvm)) if OF_JAVA.contains(&requested.name.as_str()) => {
                let variable = IndexMap::from([(name.clone(), value.clone())]);
                jvm::preflight(&jvm.jdk, &[], &Place { env: variable, ..Place::default() }).ok()?.refusal()
            }
            (SettingKind::Jruby, Some(jvm)) => jruby::refusal(&jvm.jdk, jvm.jruby.as_deref()?, &name, &value),
            (SettingKind::Argument, None) if installed.runs_ruby => {
                ruby_option(&installed.program, &installed.args, &name)
            }
            _ => None,
        };
        let options = match requested.kind {
            SettingKind::JvmFlag => shell_words::quote(&name).into_owned(),
            SettingKind::Property => shell_words::quote(&format!("-D{name}={value}")).into_owned(),
            SettingKind::Env if carriers::has_options(&requested.name, &requested.value) => value,
            SettingKind::Runtime if requested.name == "command" => value,
            _ => return tried,
        };
        tried.or_else(|| reason_in(last_words, &options))
    };
    let found = |reason: String| Found::new(SettingSource::Preflight, SettingResult::Refused { reason });
    requested.iter().filter_map(|requested| Some(found(reason(requested)?).about(requested, site))).collect()
}

/// The sentences in which runtimes say which option they do not start with: what comes before its words, and what after.
/// They are in arguments.cpp, jvmFlag.cpp and jvmtiAgent.cpp of JDK 17 to 25 and in its library's `ModuleBootstrap` and
/// `InvocationAdapter.c`, in Ruby's ruby.c, and in JRuby's `ArgumentProcessor`.
const REFUSALS: [(&str, &str); 18] = [
    ("Unrecognized VM option '", "'"),
    ("Missing +/- setting for VM option '", "'"),
    ("Unexpected +/- setting in VM option '", "'"),
    ("Improperly specified VM option '", "'"),
    ("VM option '", "' is experimental and must be enabled"),
    ("VM option '", "' is diagnostic and must be enabled"),
    ("VM option '", "' is develop"),
    ("Unrecognized option: ", ""),
    ("Invalid initial heap size: ", ""),
    ("Invalid maximum heap size: ", ""),
    ("Invalid initial young generation size: ", ""),
    ("Invalid thread stack size: ", ""),
    ("invalid option ", ""),
    ("invalid switch in RUBYOPT: ", ""),
    ("unknown option ", ""),
    ("Could not find agent library ", " "),
    ("Error opening zip file or JAR manifest missing : ", ""),
    ("FindException: Module ", " not found"),
];

/// A sentence that names no option, and the one that it is about.
const OF_SECURITY: (&str, &str) = ("Enabling a Security Manager is not supported", "-Djava.security.manager");

/// Options of the JVM that name something which has to be there.
const NAMING: [&str; 5] = ["-agentlib:", "-agentpath:", "-javaagent:", "--add-modules=", "--limit-modules="];

/// The same where the option's words come first: `uint MaxTenuringThreshold=20 is outside the allowed range [ 0 ... 16 ]`.
const OUTSIDE: &str = " is outside the allowed range";

/// Why what runs behind a command did not start with one of these options: the sentence of its last words that names it. There
/// is no process left that could be asked.
fn reason_in(said: &str, options: &str) -> Option<String> {
    let options = shell_words::split(options).ok()?;
    // Ruby names the letter of one that it does not know.
    let is_letter = |line: &str, option: &str, named: &str| {
        line.contains("invalid option -") && named.len() == 2 && named != "--" && option.starts_with(named)
    };
    let is_refused =
        |line: &str, named: &str| options.iter().any(|option| is(option, named) || is_letter(line, option, named));
    let line = said.lines().find(|line| refused_by(line).any(|named| is_refused(line, named)))?;
    Some(line.trim().to_owned())
}

/// The options that a line says are refused.
fn refused_by(line: &str) -> impl Iterator<Item = &str> {
    let quoted = REFUSALS.iter().filter_map(move |(before, after)| {
        let (_, rest) = line.split_once(before)?;
        if after.is_empty() { rest.split_whitespace().next() } else { Some(rest.split_once(after)?.0) }
    });
    let outside = line.split_once(OUTSIDE).and_then(|(before, _)| before.split_whitespace().last());
    let (sentence, option) = OF_SECURITY;
    quoted.chain(outside).chain(line.contains(sentence).then_some(option))
}

/// Whether a runtime means this option by these words: the option, the JVM's flag, with its value or without, or what it names.
fn is(option: &str, named: &str) -> bool {
    let option = option.strip_prefix("-J").unwrap_or(option);
    let unsigned = |flag: &str| flag.trim_start_matches(['+', '-']).to_owned();
    let flag = match option.strip_prefix("-XX:").map(|flag| flag.split_once('=').unwrap_or((flag, ""))) {
        Some((name, value)) => Some((unsigned(name), value.to_owned())),
        None => jvm::parse_option(option),
    };
    let is_flag = |(flag, requested): (String, String)| match named.split_once('=') {
        Some((name, value)) => flag == name && jvm::same_value(&requested, value),
        None => flag == unsigned(named),
    };
    let things = NAMING.iter().find_map(|begin| option.strip_prefix(begin)).unwrap_or_default();
    let property = option.starts_with("-D").then(|| option.split('=').next().unwrap_or_default());
    option == named
        || flag.is_some_and(is_flag)
        || things.split(['=', ',']).any(|name| name == named)
        || property == Some(named)
}

/// Why the JVM does not start once this option joins those that it accepted before it.
fn jvm_option(jvm: &Jvm, site: &Site, option: &str) -> Option<String> {
    let mut accepted: Vec<String> = Vec::new();
    for each in jvm.options.iter().filter_map(|each| site.complete(each).ok()) {
        accepted.push(each.clone());
        let refusal = jvm::preflight(&jvm.jdk, &accepted, &Place::default()).ok()?.refusal();
        if each == option {
            let reason = refusal?;
            return Some(nearest_flag(jvm, option).map_or(reason.clone(), |nearest| format!("{reason} ({nearest})")));
        }
        if refusal.is_some() {
            accepted.pop();
        }
    }
    None
}

/// The nearest flag's name, where the JVM knows none of this one's.
fn nearest_flag(jvm: &Jvm, option: &str) -> Option<String> {
    let (name, _) = jvm::parse_option(option)?;
    let known = jvm::known_flags(&jvm.jdk);
    if known.contains(&name) {
        return None;
    }
    let nearest = tool::nearest(&name, known.iter().map(String::as_str))?;
    Some(format!("the nearest that Java {} knows is {nearest}", jvm.jdk.version))
}

/// Why `ruby` does not start with one of its own options: what comes before the script.
fn ruby_option(program: &Path, args: &[String], option: &str) -> Option<String> {
    let own = args.iter().take_while(|arg| arg.starts_with('-'));
    own.into_iter().find(|arg| *arg == option)?;
    let mut command = Command::new(program);
    command.args([option, "--disable-gems", "-e", "0"]).env_clear().envs(base_env());
    let ran = tool::run(&mut command, ASK_WITHIN).ok()?;
    (!ran.status.success()).then(|| ran.output().lines().next().unwrap_or("it does not start").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_name_the_option() {
        let jvm = "starting\nUnrecognized VM option 'UseParalelGC'\nError: Could not create the Java Virtual Machine.";
        let refusal = |said: &str, options: &str| reason_in(said, options);
        assert_eq!(refusal(jvm, "-Xmx64m -XX:+UseParalelGC").as_deref(), Some("Unrecognized VM option 'UseParalelGC'"));
        assert_eq!(refusal(jvm, "-J-XX:-UseParalelGC").as_deref(), Some("Unrecognized VM option 'UseParalelGC'"));
        assert_eq!(refusal(jvm, "-Xmx64m"), None);
        assert_eq!(refusal("Improperly specified VM option 'MaxGCPauseMillis=x'", "-XX:MaxGCPauseMillis=y"), None);
        assert_eq!(refusal("UseParalelGC is on", "-XX:+UseParalelGC"), None, "no refusal");
        let ruby = "ruby: invalid switch in RUBYOPT: --foo (RuntimeError)";
        assert_eq!(refusal(ruby, "-W0 --foo").as_deref(), Some(ruby));
    }

    #[test]
    fn the_option_that_a_runtime_names_is_the_one() {
        let refusal = |options: &str, said: &str| reason_in(said, options).is_some();
        let ended = "Error: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit.\n";
        let range = format!("uint MaxTenuringThreshold=20 is outside the allowed range [ 0 ... 16 ]\n{ended}");
        assert!(refusal("-Xmx64m -XX:MaxTenuringThreshold=20", &range));
        assert!(!refusal("-XX:MaxTenuringThresholds=20 -XX:+UseG1GC", &range));
        assert!(refusal("-XX:UseG1GC", &format!("Missing +/- setting for VM option 'UseG1GC'\n{ended}")));
        assert!(refusal("-J-XX:+UseParalelGC", "Unrecognized VM option 'UseParalelGC'\n"));
        assert!(refusal("-Xmn8x", "Invalid initial young generation size: -Xmn8x\n"));
        assert!(refusal("--foo", "ruby: invalid option --foo  (-h will show valid options) (RuntimeError)"));
        let locked = "Error: VM option 'G1MaxNewSizePercent' is experimental and must be enabled via -XX:+UnlockExperimentalVMOptions.\n";
        assert!(refusal("-XX:G1MaxNewSizePercent=50", locked));
        let nameless = "java.lang.Error: A command line option has attempted to allow or enable the Security Manager. Enabling a Security Manager is not supported.\n";
        assert!(refusal("-Djava.security.manager=allow", nameless) && !refusal("-Djava.security.policy=a", nameless));
        assert!(refusal(
            "-agentlib:hrpof=cpu=samples",
            "Could not find agent library hrpof on the library path, with error: libhrpof.so\n"
        ));
        assert!(refusal("-javaagent:/a.jar=x", "Error opening zip file or JAR manifest missing : /a.jar\n"));
        assert!(refusal(
            "--add-modules=java.sql,no.such",
            "java.lang.module.FindException: Module no.such not found\n"
        ));
        assert!(refusal("-J-Xmx1g", "ruby: invalid option -J  (-h will show valid options) (RuntimeError)"));
        assert!(refusal("--yjit", "jruby: unknown option --yjit\n"));
        assert!(
            !refusal("--pool=3", "server: invalid option -- 'p'") && !refusal("-server", "Unrecognized option: -s\n")
        );
        // The program's own words.
        assert!(!refusal("-server", "Invalid value of database.pool in /etc/server.yml"));
        assert!(!refusal("-Dpool=3", "Unrecognized option: pool"));
    }
}
