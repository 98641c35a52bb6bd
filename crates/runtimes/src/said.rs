//! What runtimes say: of an option that they take and make nothing of, of one that they refuse, and why they end.

use crate::{Given, Key, jruby, jvm};

/// The sentence in a runtime's own words, if there is one. `option` is an option as it was given, or the name of a JVM's flag.
///
/// The JVM's sentences are in arguments.cpp and in `ModuleBootstrap` of JDK 17 to 25; Ruby's in ruby.c, and JRuby's in its
/// `ArgumentProcessor`.
pub fn of_nothing<'a>(said: &'a str, option: &str) -> Option<&'a str> {
    let sentence = |line: &'a str| ["WARNING: ", "warning: "].iter().find_map(|begin| Some(line.split_once(begin)?.1));
    said.lines().filter_map(sentence).map(str::trim).find(|sentence| is_about(sentence, option))
}

fn is_about(sentence: &str, option: &str) -> bool {
    let rest = |before: &str| sentence.strip_prefix(before);
    let named = |before: &str, after: &str| Some(rest(before)?.split_once(after)?.0);
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    if let Some((module, by)) = rest("Unknown module: ").and_then(|rest| rest.split_once(" specified to ")) {
        // Of several that it is opened to, others may be there.
        let (from, to) = value.split_once('=').unwrap_or((value, ""));
        return by == name && (from.split('/').next() == Some(module) || to == module);
    }
    if let Some((package, module)) = rest("package ").and_then(|rest| rest.split_once(" not in ")) {
        return name.starts_with("--add-") && value.starts_with(&format!("{module}/{package}="));
    }
    if let Some(category) = rest("unknown warning category: ") {
        let plain = |category: &str| category.trim_matches(['`', '\'', ':']).trim_start_matches("no-").to_owned();
        return option.strip_prefix("-W:").is_some_and(|requested| plain(requested) == plain(category));
    }
    [named("Ignoring option ", ";"), named("", " argument ignored")].contains(&Some(option))
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

/// Why a runtime did not start with one of these: the sentence of its last words that names it.
pub fn refusal<'a>(said: &'a str, options: &[Given]) -> Option<&'a str> {
    // Ruby names the letter of one that it does not know.
    let is_letter = |line: &str, option: &Given, named: &str| {
        line.contains("invalid option -") && named.len() == 2 && named != "--" && option.name.starts_with(named)
    };
    let is_refused =
        |line: &str, named: &str| options.iter().any(|option| is(option, named) || is_letter(line, option, named));
    said.lines().find(|line| refused_by(line).any(|named| is_refused(line, named))).map(str::trim)
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
fn is(option: &Given, named: &str) -> bool {
    let of_jvm = jruby::of_jvm(option);
    let text = of_jvm.name.as_str();
    let unsigned = |flag: &str| flag.trim_start_matches(['+', '-']).to_owned();
    // One that is misspelt, as without its sign, is no flag yet.
    let written = text.strip_prefix("-XX:").map(|flag| unsigned(flag.split('=').next().unwrap_or(flag)));
    let flag = written.or_else(|| match &option.key {
        Key::JvmFlag(name) => Some(name.clone()),
        _ => None,
    });
    let is_flag = |flag: String| match named.split_once('=') {
        Some((name, value)) => flag == name && jvm::same_value(&option.value, value),
        None => flag == unsigned(named),
    };
    let things = NAMING.iter().find_map(|begin| text.strip_prefix(begin)).unwrap_or_default();
    let property = text.starts_with("-D").then(|| text.split('=').next().unwrap_or_default());
    text == named
        || flag.is_some_and(is_flag)
        || things.split(['=', ',']).any(|name| name == named)
        || property == Some(named)
}

/// What a JVM that does not start says beside the reason.
const NOT_WHY: [&str; 5] = [
    "[Global flags]",
    "Could not create the Java",
    "A fatal exception has occurred",
    "Error occurred during init",
    "Picked up ",
];

/// Why a JVM does not start, in what it said.
pub fn why(said: &str) -> String {
    let reported = |line: &&str| !line.trim().is_empty() && says_why(line);
    said.lines().filter(reported).map(str::trim).take(2).collect::<Vec<_>>().join("; ")
}

/// Levels of loggers: those of lines that tell how all goes on, and those of lines that tell what went wrong.
const GOES_ON: [&str; 3] = ["TRACE", "DEBUG", "INFO"];
const WENT_WRONG: [&str; 5] = ["WARN", "WARNING", "ERROR", "FATAL", "SEVERE"];

/// Whether a line of a program's last words may say why it ended: it is no part of a trace, not what a JVM says beside the reason, and not
/// what a logger tells of how all goes on. A server that has failed often logs its whole shutdown after the reason.
pub fn says_why(line: &str) -> bool {
    !is_frame(line) && !goes_on(line) && !NOT_WHY.iter().any(|other| line.contains(other))
}

/// Whether the first level that a line names is one of a logger's lower ones, and nothing in it speaks of an error.
fn goes_on(line: &str) -> bool {
    let words = || line.split(|c: char| !c.is_alphanumeric());
    let level = words().find(|word| GOES_ON.contains(word) || WENT_WRONG.contains(word));
    let speaks_of_error = ["rror", "xception"].iter().any(|part| line.contains(part));
    level.is_some_and(|level| GOES_ON.contains(&level)) && !speaks_of_error
}

/// A line of the trace that Ruby or Java writes after what went wrong.
fn is_frame(line: &str) -> bool {
    (line.starts_with("from ") && line.contains(":in "))
        || (line.starts_with("at ") && line.ends_with(')'))
        || (line.starts_with("... ") && line.ends_with(" more"))
}

/// What a JVM that did not start, or ended, says of itself.
#[derive(Debug, PartialEq, Eq)]
pub enum JvmFailure<'a> {
    /// It knows no flag of this name.
    UnknownFlag(&'a str),
    /// It knows no such option.
    UnknownOption(&'a str),
    /// Something was compiled for a newer Java.
    TooOld,
}

impl<'a> JvmFailure<'a> {
    /// By its last words.
    pub fn by(said: &'a str) -> Option<Self> {
        if let Some((_, rest)) = said.split_once("Unrecognized VM option '") {
            let name = rest.split(['\'', '=']).next()?;
            return Some(Self::UnknownFlag(name.trim_start_matches(['+', '-'])));
        }
        if let Some((_, option)) = said.split_once("Unrecognized option: ") {
            return Some(Self::UnknownOption(option.lines().next().unwrap_or_default()));
        }
        said.contains("UnsupportedClassVersionError").then_some(Self::TooOld)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::option_of_any;

    #[test]
    fn sentences_name_what_they_are_about() {
        let said = "OpenJDK 64-Bit Server VM warning: Ignoring option --illegal-access=permit; support was removed in 17.0\n\
            OpenJDK 64-Bit Server VM warning: Ignoring option UseConcMarkSweepGC; support was removed in 14.0\n\
            WARNING: Unknown module: no.such specified to --add-opens\n\
            WARNING: package no.such.pack not in java.base\n\
            warning: -J-Xmx100m argument ignored (launched in same VM?)\n\
            ruby: warning: unknown warning category: `depreciated'\n";
        let reported = |option| of_nothing(said, option).unwrap_or_default();
        assert!(reported("--illegal-access=permit").starts_with("Ignoring option --illegal"));
        assert!(reported("UseConcMarkSweepGC").ends_with("removed in 14.0"));
        assert_eq!(reported("--add-opens=no.such/x=ALL-UNNAMED"), "Unknown module: no.such specified to --add-opens");
        assert_eq!(
            reported("--add-exports=java.base/no.such.pack=ALL-UNNAMED"),
            "package no.such.pack not in java.base"
        );
        assert!(reported("-J-Xmx100m").contains("ignored"));
        assert_eq!(reported("-W:no-depreciated"), "unknown warning category: `depreciated'");
        for other in [
            "--add-exports=no.such/x=y",
            "--add-opens=java.base/no.such=y",
            "--add-opens=java.base/a=ALL-UNNAMED,no.such",
            "-J-Xmx1g",
            "-W:deprecated",
            "-W0",
            "UseG1GC",
        ] {
            assert_eq!(reported(other), "", "{other}");
        }
        assert!(of_nothing("warning: unknown warning category: no-depreciated", "-W:no-depreciated").is_some());
    }

    fn given(options: &str) -> Vec<Given> {
        options.split(' ').map(option_of_any).collect()
    }

    #[test]
    fn the_last_words_name_the_option() {
        let jvm = "starting\nUnrecognized VM option 'UseParalelGC'\nError: Could not create the Java Virtual Machine.";
        let refusal = |said, options| refusal(said, &given(options));
        assert_eq!(refusal(jvm, "-Xmx64m -XX:+UseParalelGC"), Some("Unrecognized VM option 'UseParalelGC'"));
        assert_eq!(refusal(jvm, "-J-XX:-UseParalelGC"), Some("Unrecognized VM option 'UseParalelGC'"));
        assert_eq!(refusal(jvm, "-Xmx64m"), None);
        assert_eq!(refusal("Improperly specified VM option 'MaxGCPauseMillis=x'", "-XX:MaxGCPauseMillis=y"), None);
        assert_eq!(refusal("UseParalelGC is on", "-XX:+UseParalelGC"), None, "no refusal");
        let ruby = "ruby: invalid switch in RUBYOPT: --foo (RuntimeError)";
        assert_eq!(refusal(ruby, "-W0 --foo"), Some(ruby));
    }

    #[test]
    fn the_option_that_a_runtime_names_is_the_one() {
        let refusal = |options: &str, said: &str| refusal(said, &given(options)).is_some();
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

    #[test]
    fn the_flag_that_java_refuses_is_found() {
        let name = |said| JvmFailure::by(said);
        assert_eq!(name("x\nUnrecognized VM option 'UseParalelGC'\ny"), Some(JvmFailure::UnknownFlag("UseParalelGC")));
        assert_eq!(name("Unrecognized VM option '-Foo=3'"), Some(JvmFailure::UnknownFlag("Foo")));
        assert_eq!(name("Unrecognized option: --fo\nEnd"), Some(JvmFailure::UnknownOption("--fo")));
        assert_eq!(name("all is well"), None);
    }
}
