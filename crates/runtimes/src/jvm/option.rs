//! Options of `java` and of the JVM.

use std::iter::Peekable;

use super::value::{bytes, is_plain};
use crate::given::last_of_each;
use crate::{Given, Key};

/// The property that has what `-cp` sets.
pub const CLASS_PATH: &str = "java.class.path";

/// How the options begin without which a JVM neither takes nor shows some others.
pub const UNLOCK: &str = "-XX:+Unlock";

/// Options that look like flags and name files of them: the JVM lists none of these.
const OF_FILES: [&str; 2] = ["-XX:VMOptionsFile=", "-XX:Flags="];

/// A short option that stands for a flag and takes an amount of memory. java(1)
#[derive(Debug, Clone, Copy)]
pub struct SizeOption {
    /// Its beginning; the amount follows at once.
    pub name: &'static str,
    /// The flag. `-Xmn` sets `NewSize` as well.
    pub flag: &'static str,
    /// Fewer bytes make no JVM, or not the one that was meant.
    pub least: u64,
    /// The unit in which such amounts are mostly thought.
    pub unit: &'static str,
}

/// All of them.
const SIZES: [SizeOption; 4] = [
    SizeOption { name: "-Xmx", flag: "MaxHeapSize", least: 2 << 20, unit: "m" },
    SizeOption { name: "-Xms", flag: "InitialHeapSize", least: 1 << 20, unit: "m" },
    SizeOption { name: "-Xmn", flag: "MaxNewSize", least: 1 << 16, unit: "m" },
    SizeOption { name: STACK, flag: "ThreadStackSize", least: 1 << 16, unit: "k" },
];

const STACK: &str = "-Xss";

/// Options of another JVM (`OpenJ9`) that only begin alike.
const OF_OPENJ9: [&str; 4] = ["-Xmns", "-Xmnx", "-Xmso", "-Xssi"];

impl SizeOption {
    /// The one that an option begins with, and its amount.
    pub fn of(option: &str) -> Option<(Self, &str)> {
        let is_others = OF_OPENJ9.iter().any(|other| option.starts_with(other));
        SIZES.into_iter().filter(|_| !is_others).find_map(|size| Some((size, option.strip_prefix(size.name)?)))
    }
}

/// An option of the JVM by what it sets: a flag, a property, or itself.
pub fn given(option: &str) -> Given {
    let property = || {
        let property = option.strip_prefix("-D")?;
        let (name, value) = property.split_once('=').unwrap_or((property, ""));
        Some((Key::Property(name.to_owned()), value.to_owned()))
    };
    let flag = || flag(option).map(|(name, value)| (Key::JvmFlag(name.to_owned()), value));
    let (key, value) = flag().or_else(property).unwrap_or_else(|| (Key::JvmOption(option.to_owned()), String::new()));
    Given { key, name: option.to_owned(), value }
}

/// The flag behind an option, and the value it asks for; `None` for options that are no flags.
fn flag(option: &str) -> Option<(&str, String)> {
    if OF_FILES.iter().any(|begin| option.starts_with(begin)) {
        return None;
    }
    if let Some(flag) = option.strip_prefix("-XX:") {
        if let Some((name, value)) = flag.split_once('=') {
            return Some((name, value.to_owned()));
        }
        let name = flag.strip_prefix(['+', '-'])?;
        return Some((name, flag.starts_with('+').to_string()));
    }
    let (size, amount) = SizeOption::of(option)?;
    let is_placeholder = amount.starts_with('{');
    // `-Xss` counts in bytes, its flag in KiB.
    let value = match bytes(amount) {
        Some(bytes) if size.name == STACK => (bytes / 1024).to_string(),
        Some(_) => amount.to_owned(),
        None if is_placeholder => amount.to_owned(),
        None => return None,
    };
    Some((size.flag, value))
}

/// The options in a text of them, as `java` hands them on to the JVM (java(1)): one that is two words becomes one, and of one that
/// is given twice the last counts.
pub fn options(text: &str) -> Result<Vec<Given>, String> {
    let words = shell_words::split(text).map_err(|error| error.to_string())?;
    Ok(handed_on(words.into_iter().peekable(), |_| true).0)
}

/// The options at the beginning of the words after `java`, as it hands them on, and the other words: its program and what is that's.
pub fn before_program(words: Vec<String>) -> (Vec<Given>, Vec<String>) {
    let is_option = |word: &str| word.starts_with(['-', '@']) && !["-jar", "-m", "--module"].contains(&word);
    handed_on(words.into_iter().peekable(), is_option)
}

/// Options of `java` that take the next word, beside those that set a path (java(1); `IsWhiteSpaceOption` of java.c).
const WITH_VALUE: [&str; 12] = [
    "--add-exports",
    "--add-modules",
    "--add-opens",
    "--add-reads",
    "--enable-native-access",
    "--finalization",
    "--illegal-native-access",
    "--limit-modules",
    "--patch-module",
    "--source",
    "--sun-misc-unsafe-memory-access",
    "--upgrade-module-path",
];

fn handed_on(
    mut words: Peekable<impl Iterator<Item = String>>,
    is_option: impl Fn(&str) -> bool,
) -> (Vec<Given>, Vec<String>) {
    let mut options = Vec::new();
    while let Some(word) = words.next_if(|word| is_option(word)) {
        let is_path = ["-cp", "-classpath", "--class-path"].contains(&word.as_str());
        let is_modules = ["-p", "--module-path"].contains(&word.as_str());
        options.push(match words.next_if(|_| is_path || is_modules || WITH_VALUE.contains(&word.as_str())) {
            Some(value) if is_path => format!("-D{CLASS_PATH}={value}"),
            Some(value) if is_modules => format!("--module-path={value}"),
            Some(value) => format!("{word}={value}"),
            None => word,
        });
    }
    (last_of_each(options.iter().map(|option| given(option)).collect()), words.collect())
}

/// Whether a word of a JVM's arguments is an option, and no part of one that has a space in it.
pub fn is_option(word: &str) -> bool {
    flag(word).is_some() || ["--", "-X"].iter().any(|begin| word.starts_with(begin))
}

/// Whether a JVM that only prints its version may be given this: an agent, a recording or a log would be at work a second
/// time, and archives would be written. Properties change no flag.
pub fn is_only_read(option: &str) -> bool {
    if let Some((_, value)) = flag(option) {
        return is_plain(&value);
    }
    let at_work = ["-D", "-agent", "-javaagent", "-Xlog", "-Xrun", "-Xdebug", "-XX:StartFlight", "-XX:AOT", "@"];
    // A file may be named from the server's folder.
    !at_work.iter().chain(&OF_FILES).any(|at_work| option.starts_with(at_work))
}

/// Whether a JVM that has this option among `options` takes memory for its heap though it runs nothing. ZGC has what it begins with from
/// the kernel at once (`ZPhysicalMemoryManager::commit`: fallocate(2)), the others with a flag only.
pub fn takes_memory(option: &str, options: &[String]) -> bool {
    let is_z = || options.iter().any(|option| option == "-XX:+UseZGC");
    let begins_with = ["-Xms", "-XX:InitialHeapSize=", "-XX:MinHeapSize="];
    option.starts_with("-XX:+AlwaysPreTouch") || begins_with.iter().any(|size| option.starts_with(size)) && is_z()
}

/// Options that hand something to the program, or that have other code loaded, beside properties. java(1)
const OF_PROGRAM: [&str; 7] =
    ["-javaagent:", "-agentlib:", "-agentpath:", "-Xbootclasspath", "--module-path", "--patch-module", "--add-modules"];

/// Whether an option that is neither flag nor property hands something to the program, or has other code loaded.
pub fn is_of_program(option: &str) -> bool {
    OF_PROGRAM.iter().any(|begin| option.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_name_flags() {
        let parsed = |option| {
            let Given { key, value, .. } = given(option);
            format!("{}={value}", key.name())
        };
        assert_eq!(parsed("-XX:+UseParallelGC"), "UseParallelGC=true");
        assert_eq!(parsed("-XX:-UseG1GC"), "UseG1GC=false");
        assert_eq!(parsed("-XX:G1HeapRegionSize=3m"), "G1HeapRegionSize=3m");
        assert_eq!(parsed("-Xmx512m"), "MaxHeapSize=512m");
        assert_eq!(parsed("-Xmx{env.HEAP}"), "MaxHeapSize={env.HEAP}");
        assert_eq!(parsed("-Xss2m"), "ThreadStackSize=2048");
        assert_eq!(parsed("-Dname=a=b"), "name=a=b");
        for other in [
            "-Xlog:gc",
            "-Xmixed",
            "-Xmnx64m",
            "--add-opens=a/b=c",
            "-server",
            "-XX:UseG1GC",
            "-XX:Flags=a",
            "-XX:VMOptionsFile=a",
        ] {
            assert_eq!(given(other).key, Key::JvmOption(other.to_owned()));
        }
    }

    #[test]
    fn options_that_add_to_others_take_no_ones_place() {
        for adds in
            ["--add-opens=java.base/java.io=ALL-UNNAMED", "-XX:CompileCommand=quiet", "-javaagent:a.jar=1", "-Xlog:gc"]
        {
            assert!(given(adds).key.adds(), "{adds}");
        }
        for [one, other] in [["-XX:MaxHeapSize=1g", "-Xmx2g"], ["-Da=1", "-Da=2"], ["-XX:+UseG1GC", "-XX:-UseG1GC"]] {
            let [one, other] = [one, other].map(|option| given(option).key);
            assert!(one == other && !one.adds(), "{one:?}");
        }
    }

    #[test]
    fn options_are_taken_as_java_hands_them_on() {
        let taken = |text| {
            let names: Vec<String> = options(text).unwrap().into_iter().map(|option| option.name).collect();
            names.join(" ")
        };
        assert_eq!(
            taken("--add-opens java.base/a=b -ea --enable-preview -Dx=1"),
            "--add-opens=java.base/a=b -ea --enable-preview -Dx=1"
        );
        assert_eq!(taken("-cp a:b -p c"), "-Djava.class.path=a:b --module-path=c");
        assert_eq!(taken("-Xss512k -Dx=1 -Xss1m -XX:MaxHeapSize=1g -Dx=2 -Xmx2g"), "-Xss1m -Dx=2 -Xmx2g");
        assert_eq!(taken("-Xlog:gc -Xlog:jit -XX:+UseG1GC -XX:-UseG1GC"), "-Xlog:gc -Xlog:jit -XX:-UseG1GC");
        assert_eq!(taken("-XX:OnError=a -XX:OnError=b"), "-XX:OnError=a -XX:OnError=b");
    }

    /// A second JVM that touched the heap's pages would hold as much memory as the server.
    #[test]
    fn what_takes_memory_is_left_out_of_a_jvm_that_is_only_asked() {
        let takes = |option: &str, others: &[&str]| {
            let options: Vec<String> = others.iter().map(|other| (*other).to_owned()).collect();
            takes_memory(option, &options)
        };
        assert!(takes("-XX:+AlwaysPreTouch", &[]));
        assert!(!takes("-XX:-AlwaysPreTouch", &[]));
        assert!(!takes("-Xms1g", &["-XX:+UseG1GC"]));
        assert!(takes("-Xms1g", &["-XX:+UseZGC"]));
        assert!(!takes("-Xmx1g", &["-XX:+UseZGC"]));
    }
}
