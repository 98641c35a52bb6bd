//! The JVM's flags and properties, by the JDK's own `jcmd`.

use std::collections::HashMap;
use std::iter::Peekable;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use indexmap::IndexMap;
use model::study::{Limits, SettingKind};
use rustix::param::page_size;

use crate::attach;
use crate::isolation::{Group, Pinned};
use crate::runtime::base_env;
use crate::runtime::jdk::Jdk;
use crate::serving::LiveJvm;
use crate::tool;

/// Bound of one question.
pub(super) const ASK_WITHIN: Duration = Duration::from_secs(10);

/// A flag of a JVM, as it prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flag {
    /// Of one that is a list, and was given several times, a line for each.
    pub value: String,
    /// What it belongs to: `product`, `C2 product`.
    pub kind: String,
    /// Where its value comes from: `default`, `command line`, `ergonomic`.
    pub origin: String,
}

impl Flag {
    /// Whether somebody set it: by the command line, a variable or a file. What the JVM chose or corrected by itself counts only if
    /// it says so (`command line, ergonomic`).
    pub fn is_set(&self) -> bool {
        !matches!(self.origin.as_str(), "default" | "ergonomic")
    }
}

/// Flags by name.
pub(super) type Flags = IndexMap<String, Flag>;

/// The property that has what `-cp` sets.
pub(super) const CLASS_PATH: &str = "java.class.path";

/// How the options begin without which a JVM neither takes nor shows some others.
pub(super) const UNLOCK: &str = "-XX:+Unlock";

/// Options that look like flags and name files of them: the JVM lists none of these.
const OF_FILES: [&str; 2] = ["-XX:VMOptionsFile=", "-XX:Flags="];

/// The flag behind an option, and the value it asks for; `None` for options that are no flags.
pub(super) fn parse_option(option: &str) -> Option<(String, String)> {
    if OF_FILES.iter().any(|begin| option.starts_with(begin)) {
        return None;
    }
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

/// The options in a text of them, as `java` hands them on to the JVM (java(1)): one that is two words becomes one, and of one that
/// is given twice the last counts.
pub(super) fn options(text: &str) -> Result<Vec<String>, String> {
    let words = shell_words::split(text).map_err(|error| error.to_string())?;
    Ok(handed_on(words.into_iter().peekable(), |_| true).0)
}

/// The options at the beginning of the words after `java`, as it hands them on, and the other words: its program and what is that's.
pub(super) fn options_before_program(words: &[String]) -> (Vec<String>, Vec<String>) {
    let is_option = |word: &str| word.starts_with(['-', '@']) && !["-jar", "-m", "--module"].contains(&word);
    handed_on(words.iter().cloned().peekable(), is_option)
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
) -> (Vec<String>, Vec<String>) {
    let mut options = Vec::new();
    while let Some(word) = words.next_if(|word| is_option(word)) {
        let is_path = ["-cp", "-classpath", "--class-path"].contains(&word.as_str());
        let is_modules = ["-p", "--module-path"].contains(&word.as_str());
        match words.next_if(|_| is_path || is_modules || WITH_VALUE.contains(&word.as_str())) {
            Some(value) if is_path => options.push(format!("-D{CLASS_PATH}={value}")),
            Some(value) if is_modules => options.push(format!("--module-path={value}")),
            Some(value) => options.push(format!("{word}={value}")),
            None => options.push(word),
        }
    }
    (last_of_each(options, name), words.collect())
}

/// Without those that a later one of the same name replaces.
pub(super) fn last_of_each(options: Vec<String>, name: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let names: Vec<Option<String>> = options.iter().map(|option| name(option)).collect();
    let is_last = |at: usize| names[at].is_none() || !names[at + 1..].contains(&names[at]);
    options.into_iter().enumerate().filter(|(at, _)| is_last(*at)).map(|(_, option)| option).collect()
}

/// What an option sets, if it sets one thing to one value: a flag, or a property.
pub(super) fn name(option: &str) -> Option<String> {
    if SettingKind::JvmFlag.key(option) == option {
        return None;
    }
    let property = option.strip_prefix("-D").map(|property| property.split('=').next().unwrap_or_default());
    property.map(|name| format!("-D{name}")).or_else(|| parse_option(option).map(|(name, _)| name))
}

/// `512m` as bytes; the JVM takes `0x20000000`, too.
fn bytes(size: &str) -> Option<u64> {
    let (digits, radix) = match size.strip_prefix("0x").or(size.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None => (size, 10),
    };
    let number = digits.trim_end_matches(|c: char| c.is_ascii_alphabetic() && !c.is_digit(radix));
    let shift = match &*digits[number.len()..].to_ascii_lowercase() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return None,
    };
    u64::from_str_radix(number, radix).ok()?.checked_mul(1 << shift)
}

/// Whether the JVM takes both for the same. It rounds sizes that were given with a unit up to what it can map: a hundredth
/// more is no other value.
pub(super) fn same_value(requested: &str, live: &str) -> bool {
    let (requested, live) = (requested.trim(), live.trim());
    if let (Some(wanted), Some(found)) = (bytes(requested), bytes(live)) {
        let slack = if requested.ends_with(|c: char| c.is_ascii_alphabetic()) { wanted / 100 } else { 0 };
        return wanted.abs_diff(found) <= slack;
    }
    match (requested.parse::<f64>(), live.parse::<f64>()) {
        (Ok(requested), Ok(live)) => (requested - live).abs() < 1e-6,
        _ => requested == live,
    }
}

/// Whether a JVM with these flags takes both for the same value of `name`; of a list any member may be the one asked for.
///
/// With G1 the heap and its parts are whole regions, which grow with it (up to 32 MiB, java(1)). A heap is rounded up to what one page
/// of the card table covers (`GCArguments::compute_heap_alignment`: 512 bytes a card, so 2 MiB), and ZGC's to its granules of 2 MiB;
/// Shenandoah's and Epsilon's are not. The young part of it is rounded down.
pub(super) fn same_flag(flags: &Flags, name: &str, requested: &str, live: &str) -> bool {
    let of = |name: &str| flags.get(name).map(|flag| flag.value.as_str());
    let is_on = |collector: &&str| of(collector) == Some("true");
    let region = of("G1HeapRegionSize").filter(|_| is_on(&"UseG1GC")).and_then(bytes);
    let is_aligned = ["UseSerialGC", "UseParallelGC", "UseG1GC", "UseZGC"].iter().any(is_on);
    let heap = is_aligned.then(|| region.unwrap_or_default().max(BYTES_A_CARD * page_size() as u64));
    let grain = GRAINS.iter().find(|(collector, _)| is_on(collector)).map(|(_, bytes)| bytes);
    let is_rounded = |requested: u64, live: u64| match name {
        "MaxHeapSize" | "InitialHeapSize" | "MinHeapSize" => {
            heap.is_some_and(|unit| requested.checked_next_multiple_of(unit) == Some(live))
        }
        "NewSize" | "MaxNewSize" => {
            region.is_some_and(|unit| requested.abs_diff(live) < unit)
                || grain.is_some_and(|unit| requested - requested % unit == live)
        }
        _ => false,
    };
    let sizes = bytes(requested).zip(bytes(live));
    same_value(requested, live)
        || sizes.is_some_and(|(requested, live)| is_rounded(requested, live))
        || live.lines().any(|member| member == requested)
}

/// Of what collectors make their generations, bytes (`GenAlignment`; JDK 17 to 25).
const GRAINS: [(&str, u64); 2] = [("UseSerialGC", 64 << 10), ("UseParallelGC", 512 << 10)];

/// How much of the heap a byte of `HotSpot`'s card table is for.
const BYTES_A_CARD: u64 = 512;

/// The flags of a running JVM.
pub(super) fn live_flags(jvm: &LiveJvm) -> Result<Flags, String> {
    ask(jvm, &["VM.flags", "-all"]).map(|text| parse_flags(&text))
}

/// The options a running JVM was given, separated by spaces.
pub(super) fn arguments(jvm: &LiveJvm) -> Result<String, String> {
    let text = ask(jvm, &["VM.command_line"])?;
    let args = text.lines().find_map(|line| line.strip_prefix("jvm_args: "));
    Ok(args.unwrap_or_default().trim().to_owned())
}

/// The system properties of a running JVM.
pub(super) fn properties(jvm: &LiveJvm) -> Result<IndexMap<String, String>, String> {
    ask(jvm, &["VM.system_properties"]).map(|text| pairs(&text))
}

fn ask(jvm: &LiveJvm, question: &[&str]) -> Result<String, String> {
    attach::ask(jvm.jdk()?, jvm.pid, question, ASK_WITHIN, &AtomicBool::new(false))
}

/// Whether a word of a JVM's arguments is an option, and no part of one that has a space in it.
pub(super) fn is_option(word: &str) -> bool {
    parse_option(word).is_some() || ["--", "-X"].iter().any(|begin| word.starts_with(begin))
}

/// Names of all flags that this JDK knows, experimental ones included; none when it cannot be asked.
pub(crate) fn known_flags(jdk: &Jdk) -> Vec<String> {
    let unlock = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions"].map(str::to_owned);
    let preflight = preflight(jdk, &unlock, &Place::default());
    preflight.map(|preflight| preflight.flags.keys().cloned().collect()).unwrap_or_default()
}

/// What a JVM with these options says before it runs anything.
#[derive(Debug)]
pub(super) struct Preflight {
    pub flags: Flags,
    pub properties: IndexMap<String, String>,
    /// Its warnings, and why it does not start.
    pub said: String,
    pub starts: bool,
}

impl Preflight {
    /// Why it does not start.
    pub fn refusal(&self) -> Option<String> {
        let reported = |line: &&str| !line.trim().is_empty() && !NOT_WHY.iter().any(|other| line.contains(other));
        let why: Vec<&str> = self.said.lines().filter(reported).map(str::trim).take(2).collect();
        (!self.starts).then(|| why.join("; "))
    }
}

/// What a JVM that does not start says beside the reason.
pub(crate) const NOT_WHY: [&str; 5] = [
    "[Global flags]",
    "Could not create the Java",
    "A fatal exception has occurred",
    "Error occurred during init",
    "Picked up ",
];

/// What such a JVM gets beside its options.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// Environment beside the base.
    pub env: IndexMap<String, String>,
    /// Processors by number; any if there are none.
    pub cpus: Vec<usize>,
    /// A JVM chooses by the memory and the processors that it sees.
    pub limits: Limits,
}

type Question = (PathBuf, Vec<String>, String);

/// Answers stay the same for a whole run.
static ANSWERS: LazyLock<Mutex<HashMap<Question, Arc<Preflight>>>> = LazyLock::new(Mutex::default);

/// Starts `java -XX:+PrintFlagsFinal -XshowSettings:properties -version` with these options at this place. What would do more
/// than be read (agents, files that are written) is left out.
pub(super) fn preflight(jdk: &Jdk, options: &[String], place: &Place) -> Result<Arc<Preflight>, String> {
    let answers = || ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let options: Vec<String> = options.iter().filter(|option| is_only_read(option)).cloned().collect();
    let question = (jdk.home.clone(), options, format!("{place:?}"));
    if let Some(answer) = answers().get(&question) {
        return Ok(Arc::clone(answer));
    }
    let mut command = Command::new(jdk.tool("java"));
    command.args(&question.1).args(["-XX:+PrintFlagsFinal", "-XshowSettings:properties", "-version"]);
    command.env_clear().envs(base_env()).envs(&place.env);
    // A group of its own: it is not to take the server's memory.
    let group = Group::new(&place.limits).map_err(|error| error.to_string())?;
    group.confine(&mut command).map_err(|error| error.to_string())?;
    let pinned = Pinned::to(&place.cpus).map_err(|error| error.to_string())?;
    let ran = tool::run(&mut command, ASK_WITHIN).map_err(|error| error.to_string())?;
    drop(pinned);
    let (flags, properties) = (parse_flags(&ran.stdout), parse_properties(&ran.stderr));
    // Some of its words are on the one stream, some on the other.
    let is_reported =
        |line: &str| line.starts_with("openjdk version") || line == PROPERTIES || line.starts_with(INDENT);
    let is_words = |line: &&str| !is_reported(line) && parse_flags(line).is_empty();
    let words = ran.stdout.lines().chain(ran.stderr.lines()).filter(is_words).collect::<Vec<_>>().join("\n");
    let answer = Arc::new(Preflight { flags, properties, said: words, starts: ran.status.success() });
    answers().insert(question, Arc::clone(&answer));
    Ok(answer)
}

/// How `-XshowSettings:properties` begins, and each of its lines.
const PROPERTIES: &str = "Property settings:";
const INDENT: &str = "    ";

/// Reads lines such as `    java.io.tmpdir = /tmp`; each further part of a list of folders has a line of its own, indented twice.
fn parse_properties(text: &str) -> IndexMap<String, String> {
    let mut properties: IndexMap<String, String> = IndexMap::new();
    let lines = text.lines().skip_while(|line| *line != PROPERTIES).skip(1);
    for line in lines.map_while(|line| line.strip_prefix(INDENT)) {
        match (line.strip_prefix(INDENT), line.split_once(" = ").or_else(|| Some((line.strip_suffix(" =")?, "")))) {
            (Some(part), _) => {
                if let Some((_, list)) = properties.last_mut() {
                    list.push(':');
                    list.push_str(part);
                }
            }
            (None, Some((name, value))) => {
                properties.insert(name.to_owned(), value.to_owned());
            }
            (None, None) => {}
        }
    }
    properties
}

/// Whether a JVM that only prints its version may be given this: an agent, a recording or a log would be at work a second
/// time, and archives would be written. Properties change no flag.
fn is_only_read(option: &str) -> bool {
    if let Some((_, value)) = parse_option(option) {
        return is_plain(&value);
    }
    let at_work = ["-D", "-agent", "-javaagent", "-Xlog", "-Xrun", "-Xdebug", "-XX:StartFlight", "-XX:AOT", "@"];
    // A file may be named from the server's folder.
    !at_work.iter().chain(&OF_FILES).any(|at_work| option.starts_with(at_work))
}

/// Whether a JVM that has this option among `options` takes memory for its heap though it runs nothing. ZGC has what it begins with from
/// the kernel at once (`ZPhysicalMemoryManager::commit`: fallocate(2)), the others with a flag only.
pub(super) fn takes_memory(option: &str, options: &[String]) -> bool {
    let is_z = || options.iter().any(|option| option == "-XX:+UseZGC");
    let begins_with = ["-Xms", "-XX:InitialHeapSize=", "-XX:MinHeapSize="];
    option.starts_with("-XX:+AlwaysPreTouch") || begins_with.iter().any(|size| option.starts_with(size)) && is_z()
}

/// Whether it is a value that a flag may have which names nothing: a switch, a number or a size.
pub(super) fn is_plain(value: &str) -> bool {
    matches!(value, "true" | "false") || value.parse::<f64>().is_ok() || is_size(value)
}

/// Whether it looks like a size, be it with a unit that does not exist: then the JVM has to refuse it.
fn is_size(value: &str) -> bool {
    value.starts_with(|c: char| c.is_ascii_digit()) && value.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Reads lines such as `   size_t MaxHeapSize   = 536870912   {product} {command line}`. A list that was given several times has a line for
/// each, `ccstrlist Name = first` and `Name += second`, of which the last shows what it belongs to.
fn parse_flags(text: &str) -> Flags {
    let mut flags = Flags::new();
    let mut begun = String::new();
    for line in text.lines() {
        let Some((left, right)) = line.split_once('=') else { continue };
        let words: Vec<&str> = left.trim_end_matches([':', ' ']).split_whitespace().collect();
        let (name, is_first) = match words[..] {
            [name, "+"] => (name, false),
            [_type, name] => (name, true),
            _ => continue,
        };
        if is_first {
            begun.clear();
        } else {
            begun.push('\n');
        }
        let Some((rest, origin)) = right.rsplit_once(" {") else {
            begun.push_str(right.trim());
            continue;
        };
        let (value, kind) = rest.rsplit_once(" {").unwrap_or((rest, ""));
        let inner = |braced: &str| braced.trim_end().trim_end_matches('}').to_owned();
        let value = std::mem::take(&mut begun) + value.trim();
        flags.insert(name.to_owned(), Flag { value, kind: inner(kind), origin: inner(origin) });
    }
    flags
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
        for other in
            ["-Xlog:gc", "-Xmixed", "--add-opens=a/b=c", "-server", "-XX:UseG1GC", "-XX:Flags=a", "-XX:VMOptionsFile=a"]
        {
            assert_eq!(parsed(other), None, "{other}");
        }
    }

    #[test]
    fn options_are_taken_as_java_hands_them_on() {
        let taken = |text| options(text).unwrap().join(" ");
        assert_eq!(
            taken("--add-opens java.base/a=b -ea --enable-preview -Dx=1"),
            "--add-opens=java.base/a=b -ea --enable-preview -Dx=1"
        );
        assert_eq!(taken("-cp a:b -p c"), "-Djava.class.path=a:b --module-path=c");
        assert_eq!(taken("-Xss512k -Dx=1 -Xss1m -XX:MaxHeapSize=1g -Dx=2 -Xmx2g"), "-Xss1m -Dx=2 -Xmx2g");
        assert_eq!(taken("-Xlog:gc -Xlog:jit -XX:+UseG1GC -XX:-UseG1GC"), "-Xlog:gc -Xlog:jit -XX:-UseG1GC");
        assert_eq!(taken("-XX:OnError=a -XX:OnError=b"), "-XX:OnError=a -XX:OnError=b");
    }

    #[test]
    fn values_are_compared_as_the_jvm_means_them() {
        assert!(same_value("512m", "536870912"));
        assert!(same_value("100000k", "102760448"), "rounded up to whole pages");
        assert!(!same_value("3m", "4194304"));
        assert!(!same_value("100", "101"));
        assert!(same_value("40", "40.000000"));
        assert!(same_value("0x80000000", "2147483648") && !same_value("0x80000000", "2147483649"));
        assert!(same_value("0x8k", "8192") && !same_value("0x", "0"));
        assert!(same_value("true", "true") && !same_value("true", "false"));
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

    #[test]
    fn a_heap_is_whole_regions() {
        let flags = |collector: &str| {
            parse_flags(&format!(
                "bool UseG1GC = {} {{product}} {{default}}\nsize_t G1HeapRegionSize = 4194304 {{product}} {{ergonomic}}\n",
                collector == "G1"
            ))
        };
        let same = |collector, name, requested, live| same_flag(&flags(collector), name, requested, live);
        assert!(same("G1", "MaxNewSize", "90m", "92274688"));
        assert!(!same("G1", "MaxNewSize", "90m", "100663296"));
        assert!(!same("Serial", "MaxNewSize", "90m", "92274688"));
        assert!(!same("G1", "MetaspaceSize", "90m", "92274688"));
        assert!(same("G1", "MaxHeapSize", "65m", "71303168"), "up to 68 MiB");
        assert!(!same("G1", "MaxHeapSize", "65m", "69206016") && !same("G1", "MaxHeapSize", "65m", "67108864"));
    }

    #[test]
    fn a_heap_is_rounded_up() {
        let same = |collector: &str, requested, live| {
            same_flag(
                &parse_flags(&format!("bool {collector} = true {{product}} {{command line}}\n")),
                "MaxHeapSize",
                requested,
                live,
            )
        };
        // As JDK 17 and 25 say of -Xmx65m, where a page has 4 KiB.
        for collector in ["UseSerialGC", "UseParallelGC", "UseZGC"] {
            assert!(same(collector, "65m", "69206016"), "{collector}");
            assert!(same(collector, "67000000", "67108864"), "{collector}");
            assert!(!same(collector, "65m", "67108864") && !same(collector, "64m", "69206016"), "{collector}");
        }
        assert!(!same("UseEpsilonGC", "65m", "69206016") && same("UseEpsilonGC", "65m", "68157440"));
        let parallel = parse_flags("bool UseParallelGC = true {product} {command line}\n");
        let young = |requested, live| same_flag(&parallel, "MaxNewSize", requested, live);
        assert!(young("5700k", "5767168") && !young("5700k", "6291456") && !young("5m", "5767168"));
    }

    #[test]
    fn a_list_is_printed_in_several_lines() {
        // Of JDK 17 and 25 alike.
        let flags = parse_flags(
            "ccstrlist CompileCommand                           = quiet\n\
             \x20         CompileCommand                          += inline,A::b            {product} {command line}\n\
             \x20   ccstr CompileCommandFile                       =                                           {product} {default}\n\
             ccstrlist CompileOnly                              = A::b                                      {product} {command line}\n",
        );
        assert_eq!(flags.keys().collect::<Vec<_>>(), ["CompileCommand", "CompileCommandFile", "CompileOnly"]);
        let list = &flags["CompileCommand"];
        assert_eq!((list.value.as_str(), list.kind.as_str(), list.is_set()), ("quiet\ninline,A::b", "product", true));
        let same = |requested| same_flag(&flags, "CompileCommand", requested, &list.value);
        assert!(same("quiet") && same("inline,A::b") && !same("inline,A::c") && !same(""));
        assert_eq!(flags["CompileOnly"].value, "A::b");
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
        let region = &flags["G1HeapRegionSize"];
        let reported = [&region.value, &region.kind, &region.origin].map(String::as_str);
        assert_eq!(reported, ["4194304", "product", "command line, ergonomic"]);
        assert_eq!(flags["HeapDumpPath"].value, "");
        assert_eq!(flags["ErrorFile"].value, "/tmp/x.log");
        assert_eq!(flags.len(), 4);
    }

    #[test]
    fn shown_properties_are_read() {
        let text = "x\nProperty settings:\n    file.encoding = UTF-8\n    java.class.path = \n    java.library.path = /a\n        /b\n\
                    \x20   user.dir = /x = y\n\nopenjdk version \"17\"\n    no = property\n";
        let read = parse_properties(text);
        let reported: Vec<(&str, &str)> = read.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let wanted = [
            ("file.encoding", "UTF-8"),
            ("java.class.path", ""),
            ("java.library.path", "/a:/b"),
            ("user.dir", "/x = y"),
        ];
        assert_eq!(reported, wanted);
    }

    #[test]
    fn properties_are_unescaped() {
        let read = pairs("42:\n#a comment\nfile.separator=/\na\\ b\\=c=x\\:y\\\\\\u00e9\n");
        assert_eq!(read["a b=c"], "x:y\\é");
        assert_eq!(read.len(), 2);
    }
}
