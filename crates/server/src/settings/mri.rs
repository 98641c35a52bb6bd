//! What MRI makes of its variables and options.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use indexmap::IndexMap;
use model::{SettingResult, SettingSource};

use super::jvm::ASK_WITHIN;
use super::{Found, exactly};
use crate::proc;
use crate::runtime::{base_env, is_mri};
use crate::serving::Inside;
use crate::tool;

/// A variable of the collector: the same Ruby, asked with the same variables, reports by `-w` what it makes of each; what it
/// says nothing of it does not know.
pub(super) fn gc_variable(
    pid: u32,
    environment: &IndexMap<String, String>,
    name: &str,
    value: &str,
) -> Result<Found, String> {
    let program = proc::program(pid).ok_or("the process has ended")?;
    // It may find its own library only by what the server's start script sets.
    let is_its = |name: &str| name.starts_with("RUBY_GC_") || name == "LD_LIBRARY_PATH";
    let variables = environment.iter().filter(|(name, _)| is_its(name));
    let mut command = Command::new(&program);
    command.args(["-w", "--disable-gems", "-e", "0"]).env_clear().envs(base_env()).envs(variables);
    let ran = tool::run(&mut command, ASK_WITHIN).map_err(|error| error.to_string())?;
    if !ran.status.success() {
        let why = ran.output().lines().next().unwrap_or("without a word").to_owned();
        return Err(format!("the same Ruby, asked what it makes of it, does not start outside of the server: {why}"));
    }
    match reported(&ran.stderr, name) {
        Some((live, default)) => {
            Ok(Found::value(value, Some(live), Some(default), SettingSource::Preflight, same_number))
        }
        None if ran.stderr.contains(&format!("invalid string for {name}:")) => {
            Ok(Found::value(value, Some("not a number to Ruby".to_owned()), None, SettingSource::Preflight, exactly))
        }
        None => misspelt(pid, name),
    }
}

/// Value and default in a line such as `RUBY_GC_HEAP_INIT_SLOTS=600000 (default value: 10000)`.
fn reported(said: &str, name: &str) -> Option<(String, String)> {
    let said = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    let (value, after) = said.split_once(" (default value: ")?;
    let (default, end) = after.split_once(')')?;
    let live = if end.contains("is ignored") { default } else { value };
    Some((live.to_owned(), default.to_owned()))
}

fn same_number(one: &str, other: &str) -> bool {
    match (number(one), number(other)) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-6,
        _ => one == other,
    }
}

/// A number as Ruby reads it from a variable: sizes may have a unit, and be hexadecimal (`get_envparam_size` of gc.c).
fn number(text: &str) -> Option<f64> {
    let units = [(['k', 'K'], 1_u64 << 10), (['m', 'M'], 1 << 20), (['g', 'G'], 1 << 30)];
    let sized = units.into_iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)));
    let (digits, size) = sized.unwrap_or((text, 1));
    let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok()? as f64,
        None => digits.parse().ok()?,
    };
    Some(number * size as f64)
}

/// How the names of its variables begin that set the collector, YJIT and stacks.
const OWN: [&str; 4] = ["RUBY_GC_", "RUBY_YJIT_", "RUBY_THREAD_", "RUBY_FIBER_"];

/// Constants of the language, and no variables.
const CONSTANTS: [&str; 9] = [
    "RUBY_COPYRIGHT",
    "RUBY_DESCRIPTION",
    "RUBY_ENGINE",
    "RUBY_ENGINE_VERSION",
    "RUBY_PATCHLEVEL",
    "RUBY_PLATFORM",
    "RUBY_RELEASE_DATE",
    "RUBY_REVISION",
    "RUBY_VERSION",
];

/// Whether a variable of this name can only be meant for Ruby.
pub(super) fn is_own(name: &str) -> bool {
    OWN.iter().any(|begin| name.starts_with(begin))
}

/// A variable that Ruby cannot be asked about: known, if its own program has the name in it; unknown, if that is a misspelt one; else
/// the program's own, such as `RUBY_ENV`, where it is not named as Ruby's are.
pub(super) fn other_variable(pid: u32, name: &str, found: Found) -> Result<Found, String> {
    let is_known = names(pid).iter().any(|known| known == name);
    match misspelt(pid, name) {
        Ok(unknown) => Ok(Found { live: found.live, ..unknown }),
        Err(_) if !is_known && !is_own(name) => Ok(found),
        unreported => unreported,
    }
}

/// A name that this Ruby does not have: unknown where it is nearly one of its own, or one that other Rubies have. Any other may be the
/// program's own, whatever it begins with.
fn misspelt(pid: u32, name: &str) -> Result<Found, String> {
    let names = names(pid);
    if names.iter().any(|known| known == name) {
        return Err("Ruby does not say what it makes of it".to_owned());
    }
    let own = names.iter().map(String::as_str).filter(|known| is_own(known));
    let nearest = tool::nearest(name, own);
    let is_near = nearest.as_ref().is_some_and(|nearest| strsim::osa_distance(nearest, name) <= tool::MISSPELT);
    if is_near || OF_OTHERS.contains(&name) {
        return Ok(Found::unknown(nearest, SettingSource::Proc));
    }
    Err("this Ruby has no such variable: it is the program's own, or misspelt".to_owned())
}

/// Variables that some Rubies have and others do not: the size pools' came with 3.3 (gc.c), as did the threads' (thread.c, ractor.c)
/// and the reports' (error.c); the time slice's (vm.c) and the freeing of all memory's at the end came with 3.4 and 3.3.
const OF_OTHERS: [&str; 12] = [
    "RUBY_CRASH_REPORT",
    "RUBY_FREE_AT_EXIT",
    "RUBY_GC_HEAP_0_INIT_SLOTS",
    "RUBY_GC_HEAP_1_INIT_SLOTS",
    "RUBY_GC_HEAP_2_INIT_SLOTS",
    "RUBY_GC_HEAP_3_INIT_SLOTS",
    "RUBY_GC_HEAP_4_INIT_SLOTS",
    "RUBY_GC_HEAP_INIT_SLOTS",
    "RUBY_GC_HEAP_REMEMBERED_WB_UNPROTECTED_OBJECTS_LIMIT_RATIO",
    "RUBY_MAX_CPU",
    "RUBY_MN_THREADS",
    "RUBY_THREAD_TIMESLICE",
];

/// Names such as `RUBY_GC_HEAP_INIT_SLOTS` in the interpreter and its library: what it reads from the environment has to be
/// there.
fn names(pid: u32) -> Vec<String> {
    let mut files: Vec<PathBuf> = proc::mapped(pid).filter(|path| is_mri(path)).collect();
    files.dedup();
    let mut names: Vec<String> =
        files.iter().filter_map(|path| fs::read(path).ok()).flat_map(|bytes| texts(&bytes)).collect();
    names.retain(|name| !CONSTANTS.contains(&name.as_str()));
    names.sort();
    names.dedup();
    names
}

/// Texts that end with a zero byte and are names of Ruby's variables.
fn texts(bytes: &[u8]) -> Vec<String> {
    let is_name = |text: &&str| text.starts_with("RUBY_") && text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|text| std::str::from_utf8(text).ok())
        .filter(is_name)
        .map(str::to_owned)
        .collect()
}

/// Options of Ruby, each in one word.
pub(super) fn words(text: &str) -> Vec<String> {
    let joined = text.replace("--enable ", "--enable=").replace("--disable ", "--disable=");
    joined.split_whitespace().map(str::to_owned).collect()
}

/// Options of Ruby that take the next word (ruby(1); `proc_options` of ruby.c), and of JRuby's launcher.
const WITH_VALUE: [&str; 11] = [
    "-C",
    "-E",
    "-I",
    "-r",
    "--encoding",
    "--external-encoding",
    "--internal-encoding",
    "--backtrace-limit",
    "--parser",
    "-J-cp",
    "-J-classpath",
];

/// Options of Ruby, and the words from its script on, be it one in the command line itself.
pub(super) fn before_script(words: Vec<String>) -> (Vec<String>, Vec<String>) {
    let mut options = Vec::new();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.starts_with('-') && !["-", "--", "-e"].contains(&word.as_str())) {
        let is_feature = ["--enable", "--disable"].contains(&word.as_str());
        match words.next_if(|_| is_feature || WITH_VALUE.contains(&word.as_str())) {
            Some(value) if is_feature => options.push(format!("{word}={value}")),
            Some(value) => options.push(format!("{word} {value}")),
            None => options.push(word),
        }
    }
    (options, words.collect())
}

/// Whether options of Ruby's ask for YJIT, on or off: the last that is about it decides, and `None` is about it. `--jit` is the
/// platform's compiler, which is YJIT, and tuning it turns it on (ruby(1); ruby.c, `proc_long_options`, of 3.1 to 3.4).
pub(super) fn asks_for_yjit(options: &str) -> Option<bool> {
    let names_it = |features: &str| {
        features.split(',').any(|one| ["jit", "yjit"].iter().any(|known| one.eq_ignore_ascii_case(known)))
    };
    let feature = |word: &str, switch: &str| {
        let features = word.strip_prefix(switch).and_then(|rest| rest.strip_prefix(['=', '-']));
        features.is_some_and(names_it)
    };
    let asks = |word: &str| match word {
        "--yjit" | "--jit" => Some(true),
        "--yjit-disable" => Some(false),
        _ if tunes_yjit(word) || feature(word, "--enable") => Some(true),
        _ => feature(word, "--disable").then_some(false),
    };
    words(options).iter().filter_map(|word| asks(word)).next_back()
}

/// Whether an option has Ruby not read RUBYOPT.
pub(super) fn ignores_rubyopt(option: &str) -> bool {
    let features = option.strip_prefix("--disable").and_then(|rest| rest.strip_prefix(['=', '-']));
    features.is_some_and(|features| features.split(',').any(|feature| ["rubyopt", "all"].contains(&feature)))
}

/// Whether an option, such as `--yjit-call-threshold=5`, says how YJIT is to work.
pub(super) fn tunes_yjit(option: &str) -> bool {
    option.starts_with("--yjit-") && option != "--yjit-disable"
}

/// Whether `RUBY_YJIT_ENABLE` asks for YJIT. Ruby 3.1 turns it on whatever the value is, later ones by `1`, `true` and `yes` only.
pub(super) fn enables_yjit(value: &str) -> bool {
    !["", "0", "false", "no", "off"].iter().any(|off| value.eq_ignore_ascii_case(off))
}

/// Whether the second compiler is on as asked.
pub(super) fn yjit(inside: &Inside, requested: bool) -> Found {
    let reported = |is_on: bool| if is_on { "YJIT on" } else { "YJIT off" }.to_owned();
    // Where it was not built in it is off.
    let live = inside.yjit.as_deref().map(|is_on| is_on == "true").or((!requested).then_some(false));
    if let Some(live) = live {
        return Found::value(
            &reported(requested),
            Some(reported(live)),
            Some(reported(false)),
            SettingSource::InProcess,
            exactly,
        );
    }
    Found {
        requested: Some(reported(requested)),
        ..Found::inert(
            "this Ruby was built without YJIT",
            "RubyVM::YJIT is not defined in the process",
            SettingSource::InProcess,
        )
    }
}

/// Why it is not known what became of options that tune YJIT.
pub(super) const UNREPORTED: &str = "YJIT is on, and Ruby does not say what it makes of its options";

/// An option of YJIT's, such as `--yjit-call-threshold=5`, that the process was given.
pub(super) fn yjit_option(inside: &Inside, found: Found) -> Found {
    match inside.yjit.as_deref() {
        _ if found.result != SettingResult::InEffect => found,
        Some("true") => Found::unverified(UNREPORTED),
        _ => Found {
            live: found.live,
            ..Found::inert("YJIT is off", "RubyVM::YJIT.enabled? in the process", SettingSource::InProcess)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ruby_says_of_a_variable() {
        let said = "RUBY_GC_HEAP_INIT_SLOTS=600000 (default value: 10000)\n\
            RUBY_GC_HEAP_GROWTH_FACTOR=0.500000 (default value: 1.800000) is ignored because it must be greater than 1.000000.\n";
        let pair = |live: &str, default: &str| Some((live.to_owned(), default.to_owned()));
        assert_eq!(reported(said, "RUBY_GC_HEAP_INIT_SLOTS"), pair("600000", "10000"));
        assert_eq!(reported(said, "RUBY_GC_HEAP_GROWTH_FACTOR"), pair("1.800000", "1.800000"));
        assert_eq!(reported(said, "RUBY_GC_HEAP_INIT_SLOT"), None);
        assert!(same_number("1.1", "1.100000") && !same_number("a", "b"));
        assert!(same_number("0x100000", "1048576") && same_number("0x2k", "2048") && !same_number("0x10", "10"));
        assert!(same_number("32m", "33554432") && same_number("1K", "1024") && !same_number("32m", "32"));
    }

    /// Each as MRI 3.1 does, and `--yjit-disable` as 3.3.
    #[test]
    fn yjit_is_asked_for_in_many_words() {
        for on in [
            "--yjit",
            "--jit",
            "-W0 --enable=yjit",
            "--enable-yjit",
            "--enable yjit",
            "--enable=gems,jit",
            "--enable-YJIT",
            "--yjit-call-threshold=5",
            "--disable=yjit --yjit",
        ] {
            assert_eq!(asks_for_yjit(on), Some(true), "{on}");
        }
        for off in ["--disable=yjit", "--yjit --disable-jit", "--jit --disable yjit", "--yjit-disable"] {
            assert_eq!(asks_for_yjit(off), Some(false), "{off}");
        }
        for other in ["", "-W0", "--enable=gems", "--mjit", "--yjitter", "--enable=frozen-string-literal yjit"] {
            assert_eq!(asks_for_yjit(other), None, "{other}");
        }
        assert!(
            enables_yjit("1")
                && enables_yjit("on")
                && !enables_yjit("")
                && !enables_yjit("0")
                && !enables_yjit("FALSE")
        );
    }

    #[test]
    fn names_are_found_among_bytes() {
        assert_eq!(texts(b"\x01x\0RUBY_GC_X\0RUBY_ x\0\xffRUBY_Y\0"), ["RUBY_GC_X"]);
    }
}
