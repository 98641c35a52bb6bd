//! MRI: its variables and options, and what it says of them.

use std::path::Path;

use crate::Given;

/// Whether Ruby compiles: read by itself.
pub const YJIT_ENABLE: &str = "RUBY_YJIT_ENABLE";

/// How the names of the collector's variables begin.
pub const OF_GC: &str = "RUBY_GC_";

/// Value and default in a line such as `RUBY_GC_HEAP_INIT_SLOTS=600000 (default value: 10000)`.
pub fn reported(said: &str, name: &str) -> Option<(String, String)> {
    let said = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    let (value, after) = said.split_once(" (default value: ")?;
    let (default, end) = after.split_once(')')?;
    let live = if end.contains("is ignored") { default } else { value };
    Some((live.to_owned(), default.to_owned()))
}

/// Whether Ruby takes both for the same number.
pub fn same_number(one: &str, other: &str) -> bool {
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
pub fn is_own(name: &str) -> bool {
    OWN.iter().any(|begin| name.starts_with(begin))
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

/// Whether this Ruby may lack a variable of this name that others have.
pub fn is_of_others(name: &str) -> bool {
    OF_OTHERS.contains(&name)
}

/// Whether a file is MRI's program or its library.
pub fn is_file_of(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("ruby") || name.starts_with("libruby")
}

/// Names of Ruby's variables, such as `RUBY_GC_HEAP_INIT_SLOTS`, in its program or library: texts that end with a zero byte.
pub fn variables_in(bytes: &[u8]) -> Vec<String> {
    let is_name = |text: &&str| text.starts_with("RUBY_") && text.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    bytes
        .split(|byte| *byte == 0)
        .filter_map(|text| std::str::from_utf8(text).ok())
        .filter(|text| is_name(text) && !CONSTANTS.contains(text))
        .map(str::to_owned)
        .collect()
}

/// The options in a text of them, each in one word.
pub fn options(text: &str) -> Vec<Given> {
    words(text).map(Given::argument).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let joined = text.replace("--enable ", "--enable=").replace("--disable ", "--disable=");
    joined.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter()
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
pub fn before_script(words: Vec<String>) -> (Vec<String>, Vec<String>) {
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

/// Whether options of Ruby's ask for YJIT, on or off: the last that is about it decides, `None` where none is. `--jit` is the
/// platform's compiler, which is YJIT, and tuning it turns it on (ruby(1); ruby.c, `proc_long_options`, of 3.1 to 3.4).
pub fn asks_for_yjit<'a>(options: impl IntoIterator<Item = &'a str>) -> Option<bool> {
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
    options.into_iter().filter_map(asks).last()
}

/// Whether an option has Ruby not read RUBYOPT.
pub fn ignores_rubyopt(option: &str) -> bool {
    let features = option.strip_prefix("--disable").and_then(|rest| rest.strip_prefix(['=', '-']));
    features.is_some_and(|features| features.split(',').any(|feature| ["rubyopt", "all"].contains(&feature)))
}

/// Whether an option, such as `--yjit-call-threshold=5`, says how YJIT is to work.
pub fn tunes_yjit(option: &str) -> bool {
    option.starts_with("--yjit-") && option != "--yjit-disable"
}

/// Whether `RUBY_YJIT_ENABLE` asks for YJIT. Ruby 3.1 turns it on whatever the value is, later ones by `1`, `true` and `yes` only.
pub fn enables_yjit(value: &str) -> bool {
    !["", "0", "false", "no", "off"].iter().any(|off| value.eq_ignore_ascii_case(off))
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
        let asked = |text: &str| asks_for_yjit(words(text).collect::<Vec<_>>().iter().map(String::as_str));
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
            assert_eq!(asked(on), Some(true), "{on}");
        }
        for off in ["--disable=yjit", "--yjit --disable-jit", "--jit --disable yjit", "--yjit-disable"] {
            assert_eq!(asked(off), Some(false), "{off}");
        }
        for other in ["", "-W0", "--enable=gems", "--mjit", "--yjitter", "--enable=frozen-string-literal yjit"] {
            assert_eq!(asked(other), None, "{other}");
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
        assert_eq!(variables_in(b"\x01x\0RUBY_GC_X\0RUBY_ x\0\xffRUBY_Y\0RUBY_VERSION\0"), ["RUBY_GC_X"]);
    }
}
