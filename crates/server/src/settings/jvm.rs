//! The JVM's flags and properties, by the JDK's own `jcmd`.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;

use crate::runtime::base_env;
use crate::runtime::jdk::Jdk;
use crate::tool;

/// Bound of one question.
pub(super) const ASK_WITHIN: Duration = Duration::from_secs(10);

/// Values by flag name, as the JVM prints them.
pub(super) type Flags = IndexMap<String, String>;

/// The flag behind an option, and the value it asks for; `None` for options that are no flags.
pub(super) fn parse_option(option: &str) -> Option<(String, String)> {
    if let Some(flag) = option.strip_prefix("-XX:") {
        let (name, value) = match flag.split_once('=') {
            Some((name, value)) => (name, value),
            None => (
                flag.strip_prefix('+').or(flag.strip_prefix('-'))?,
                if flag.starts_with('+') { "true" } else { "false" },
            ),
        };
        return Some((name.to_owned(), value.to_owned()));
    }
    // Short options that stand for flags. `-Xss` counts in bytes, its flag in KiB; `-Xmn` sets NewSize as well.
    let alias = |short: &str| option.strip_prefix(short).filter(|size| bytes(size).is_some());
    let short = [("-Xmx", "MaxHeapSize"), ("-Xms", "InitialHeapSize"), ("-Xmn", "MaxNewSize")];
    let sized = short.iter().find_map(|(short, name)| Some(((*name).to_owned(), alias(short)?.to_owned())));
    sized.or_else(|| Some(("ThreadStackSize".to_owned(), (bytes(alias("-Xss")?)? / 1024).to_string())))
}

/// `512m` as bytes.
fn bytes(size: &str) -> Option<u64> {
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &*size[digits.len()..].to_ascii_lowercase() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Whether the JVM takes both for the same. It rounds sizes that were given with a unit up to what it can map: a hundredth
/// more is no other value.
pub(super) fn same_value(asked: &str, live: &str) -> bool {
    let (asked, live) = (asked.trim(), live.trim());
    if let (Some(wanted), Some(found)) = (bytes(asked), bytes(live)) {
        let slack = if asked.ends_with(|c: char| c.is_ascii_alphabetic()) { wanted / 100 } else { 0 };
        return wanted.abs_diff(found) <= slack;
    }
    match (asked.parse::<f64>(), live.parse::<f64>()) {
        (Ok(asked), Ok(live)) => (asked - live).abs() < 1e-6,
        _ => asked == live,
    }
}

/// Asks a running JVM.
fn jcmd(jdk: &Jdk, pid: u32, question: &[&str]) -> Result<String, String> {
    let mut command = Command::new(jdk.tool("jcmd"));
    command.arg(pid.to_string()).args(question);
    let ran = tool::run(&mut command, ASK_WITHIN).map_err(|error| error.to_string())?;
    if ran.status.success() {
        Ok(ran.stdout)
    } else {
        Err(format!("jcmd {}: {}", question.join(" "), ran.output().trim()))
    }
}

/// The flags of a running JVM.
pub(super) fn live_flags(jdk: &Jdk, pid: u32) -> Result<Flags, String> {
    jcmd(jdk, pid, &["VM.flags", "-all"]).map(|text| parse_flags(&text))
}

/// The options a running JVM was given, separated by spaces.
pub(super) fn arguments(jdk: &Jdk, pid: u32) -> Result<String, String> {
    let text = jcmd(jdk, pid, &["VM.command_line"])?;
    let args = text.lines().find_map(|line| line.strip_prefix("jvm_args: "));
    Ok(args.unwrap_or_default().trim().to_owned())
}

/// The system properties of a running JVM.
pub(super) fn properties(jdk: &Jdk, pid: u32) -> Result<IndexMap<String, String>, String> {
    jcmd(jdk, pid, &["VM.system_properties"]).map(|text| pairs(&text))
}

/// The flags as they would be with the study's other options and without `asked`.
pub(super) fn defaults(jdk: &Jdk, options: &[String], asked: &[String]) -> Result<Arc<Flags>, String> {
    // Only switches and numbers: an agent or a log file would be at work a second time.
    let plain = |option: &&String| {
        parse_option(option).is_some_and(|(_, value)| {
            matches!(value.as_str(), "true" | "false") || value.parse::<f64>().is_ok() || bytes(&value).is_some()
        })
    };
    let others: Vec<String> = options.iter().filter(|option| !asked.contains(option)).filter(plain).cloned().collect();
    print_flags(jdk, &others)
}

/// Names of all flags that this JDK knows, experimental ones included; none when it cannot be asked.
pub(crate) fn known_flags(jdk: &Jdk) -> Vec<String> {
    let unlock = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions"].map(str::to_owned);
    print_flags(jdk, &unlock).map(|flags| flags.keys().cloned().collect()).unwrap_or_default()
}

type Question = (PathBuf, Vec<String>);

/// Answers stay the same for a whole run.
static PRINTED: LazyLock<Mutex<HashMap<Question, Arc<Flags>>>> = LazyLock::new(Mutex::default);

fn print_flags(jdk: &Jdk, options: &[String]) -> Result<Arc<Flags>, String> {
    let printed = || PRINTED.lock().unwrap_or_else(PoisonError::into_inner);
    let question = (jdk.home.clone(), options.to_vec());
    if let Some(flags) = printed().get(&question) {
        return Ok(Arc::clone(flags));
    }
    let mut command = Command::new(jdk.tool("java"));
    command.args(options).args(["-XX:+PrintFlagsFinal", "-version"]).env_clear().envs(base_env());
    let ran = tool::run(&mut command, ASK_WITHIN).map_err(|error| error.to_string())?;
    if !ran.status.success() {
        return Err(format!("java -XX:+PrintFlagsFinal: {}", ran.output().trim()));
    }
    let flags = Arc::new(parse_flags(&ran.stdout));
    printed().insert(question, Arc::clone(&flags));
    Ok(flags)
}

/// Reads lines such as `   size_t MaxHeapSize   = 536870912   {product} {command line}`.
fn parse_flags(text: &str) -> Flags {
    text.lines()
        .filter_map(|line| {
            let (left, right) = line.split_once('=')?;
            let mut words = left.trim_end_matches([':', ' ']).split_whitespace();
            let (_type, name) = (words.next()?, words.next()?);
            let value = right.rsplit_once(" {").map_or(right, |(value, _)| value);
            let value = value.rsplit_once(" {").map_or(value, |(value, _)| value);
            words.next().is_none().then(|| (name.to_owned(), value.trim().to_owned()))
        })
        .collect()
}

/// Reads `name=value` lines, escaped as Java's `Properties` are.
pub(super) fn pairs(text: &str) -> IndexMap<String, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| split_pair(line).map(|(name, value)| (unescape(name), unescape(value)))).collect()
}

/// At the first `=` that no backslash hides.
fn split_pair(line: &str) -> Option<(&str, &str)> {
    let mut hidden = false;
    for (at, c) in line.char_indices() {
        match c {
            '=' if !hidden => return Some((&line[..at], &line[at + 1..])),
            _ => hidden = c == '\\' && !hidden,
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match if c == '\\' { rest.next() } else { None } {
            None => out.push(c),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let code = u32::from_str_radix(&rest.by_ref().take(4).collect::<String>(), 16).ok();
                out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            Some(other) => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_name_flags() {
        let parsed = |option| parse_option(option).map(|(name, value)| format!("{name}={value}"));
        assert_eq!(parsed("-XX:+UseParallelGC").as_deref(), Some("UseParallelGC=true"));
        assert_eq!(parsed("-XX:-UseG1GC").as_deref(), Some("UseG1GC=false"));
        assert_eq!(parsed("-XX:G1HeapRegionSize=3m").as_deref(), Some("G1HeapRegionSize=3m"));
        assert_eq!(parsed("-Xmx512m").as_deref(), Some("MaxHeapSize=512m"));
        assert_eq!(parsed("-Xss2m").as_deref(), Some("ThreadStackSize=2048"));
        for other in ["-Xlog:gc", "-Xmixed", "--add-opens=a/b=c", "-server", "-XX:UseG1GC"] {
            assert_eq!(parsed(other), None, "{other}");
        }
    }

    #[test]
    fn values_are_compared_as_the_jvm_means_them() {
        assert!(same_value("512m", "536870912"));
        assert!(same_value("100000k", "102760448"), "rounded up to whole pages");
        assert!(!same_value("3m", "4194304"));
        assert!(!same_value("100", "101"));
        assert!(same_value("40", "40.000000"));
        assert!(same_value("true", "true") && !same_value("true", "false"));
    }

    #[test]
    fn printed_flags_are_read() {
        let flags = parse_flags(
            "[Global flags]\n\
             \x20  size_t G1HeapRegionSize      = 4194304     {product} {command line, ergonomic}\n\
             \x20   ccstr HeapDumpPath          =             {manageable} {default}\n\
             \x20   ccstr ErrorFile             = /tmp/x.log  {product} {command line}\n\
             \x20  double MaxRAMPercentage      = 40.000000   {product} {default}\n",
        );
        assert_eq!(flags["G1HeapRegionSize"], "4194304");
        assert_eq!(flags["HeapDumpPath"], "");
        assert_eq!(flags["ErrorFile"], "/tmp/x.log");
        assert_eq!(flags.len(), 4);
    }

    #[test]
    fn properties_are_unescaped() {
        let read = pairs("42:\n#a comment\nfile.separator=/\na\\ b\\=c=x\\:y\\\\\\u00e9\n");
        assert_eq!(read["a b=c"], "x:y\\é");
        assert_eq!(read.len(), 2);
    }
}
