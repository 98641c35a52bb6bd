//! Settings that are accepted, read back as set, and do nothing in the configuration that runs.
//!
//! No runtime says so by itself: this table is what its documentation and its source say. It is held against the LIVE values,
//! never against what was asked. A need is listed only where it is sure: a setting that nothing here is about counts as
//! in effect.

/// What is known of another setting of the same process.
#[derive(Debug, Clone, Copy)]
pub struct OtherSetting<'a> {
    /// Its value.
    pub value: &'a str,
    /// Of a JVM's flag: what it belongs to, such as `C2 product`.
    pub kind: &'a str,
    /// Whether somebody set it.
    pub is_set: bool,
}

/// Why a setting does nothing, and where that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inert {
    /// Why it does nothing.
    pub reason: &'static str,
    /// Where that can be read.
    pub source: &'static str,
}

/// Settings, and of what one at least has to hold for them to matter.
struct Need {
    about: &'static [About],
    any: &'static [If],
    reason: &'static str,
    source: &'static str,
}

/// Which settings a row is about.
enum About {
    Name(&'static str),
    Prefix(&'static str),
    Kind(&'static str),
}

enum If {
    Is(&'static str, &'static str),
    IsNot(&'static str, &'static str),
    Unset(&'static str),
    /// A size below, or above, this many bytes.
    Below(&'static str, u64),
    Above(&'static str, u64),
    /// A JVM of this Java's number, or a later one.
    Java(u32),
}

use About::{Kind, Name, Prefix};
use If::{Above, Below, Is, IsNot, Java, Unset};

const SERIAL: If = Is("UseSerialGC", "true");
const PARALLEL: If = Is("UseParallelGC", "true");
const G1: If = Is("UseG1GC", "true");
const Z: If = Is("UseZGC", "true");
const SHENANDOAH: If = Is("UseShenandoahGC", "true");
const EPSILON: If = Is("UseEpsilonGC", "true");

/// Flags of the JVM.
const JVM: &[Need] = &[
    Need {
        about: &[Name("CompileThreshold"), Name("OnStackReplacePercentage"), Name("InterpreterProfilePercentage")],
        any: &[
            Is("TieredCompilation", "false"),
            Is("TieredStopAtLevel", "1"),
            Is("TieredStopAtLevel", "2"),
            Is("TieredStopAtLevel", "3"),
            Is("CompilationMode", "quick-only"),
            Is("CompilationMode", "high-only"),
        ],
        reason: "tiered compilation is on and has thresholds of its own; CompileThresholdScaling scales them",
        source: "HotSpot, compilerDefinitions.cpp, set_legacy_emulation_flags: \"Normal tiered mode, ignore legacy flags\"",
    },
    Need {
        about: &[
            Prefix("Tier0"),
            Prefix("Tier2"),
            Prefix("Tier3"),
            Prefix("Tier4"),
            Prefix("CompileThreshold"),
            Kind("C1"),
            Kind("C2"),
        ],
        any: &[IsNot("UseCompiler", "false")],
        reason: "nothing is compiled: the JVM only interprets (-Xint)",
        source: "java(1), -Xint",
    },
    Need {
        about: &[Name("TieredStopAtLevel")],
        any: &[Is("TieredCompilation", "true"), Is("TieredStopAtLevel", "0")],
        reason: "without tiered compilation (it is off, or -Xint is given) there is no level to stop at",
        source: "HotSpot, compilationPolicy.cpp, highest_compile_level: the level counts `if (TieredCompilation)`",
    },
    Need {
        about: &[Kind("C1")],
        any: &[Is("TieredCompilation", "true")],
        reason: "without tiered compilation the first compiler, C1, is not used",
        source: "HotSpot, c1_globals.hpp and compilationPolicy.cpp; java(1), -XX:-TieredCompilation",
    },
    Need {
        about: &[Kind("C2"), Prefix("Tier4")],
        any: &[Is("TieredStopAtLevel", "4"), Is("TieredCompilation", "false")],
        reason: "compilation stops at a lower level, so that the second compiler, C2, is not used",
        source: "HotSpot, c2_globals.hpp and compilationPolicy.cpp; the level 4 of TieredStopAtLevel is C2's",
    },
    Need {
        about: &[Prefix("G1"), Name("GCPauseIntervalMillis"), Name("InitiatingHeapOccupancyPercent")],
        any: &[G1],
        reason: "it is an option of the G1 collector, and another collector runs",
        source: "HotSpot, g1_globals.hpp and gc_globals.hpp",
    },
    Need {
        about: &[Name("MaxGCPauseMillis"), Name("GCTimeRatio")],
        any: &[G1, PARALLEL],
        reason: "only the G1 and the parallel collector aim at it, and another collector runs",
        source: "java(1), -XX:MaxGCPauseMillis; HotSpot, gc_globals.hpp",
    },
    Need {
        about: &[Prefix("Z")],
        any: &[Z],
        reason: "it is an option of the Z collector, and another collector runs",
        source: "HotSpot, z_globals.hpp",
    },
    Need {
        about: &[Prefix("Shenandoah")],
        any: &[SHENANDOAH],
        reason: "it is an option of the Shenandoah collector, and another collector runs",
        source: "HotSpot, shenandoah_globals.hpp",
    },
    Need {
        about: &[Prefix("Epsilon")],
        any: &[EPSILON],
        reason: "it is an option of the Epsilon collector, and another collector runs",
        source: "HotSpot, epsilon_globals.hpp",
    },
    Need {
        about: &[
            Name("UseAdaptiveSizePolicy"),
            Prefix("AdaptiveSize"),
            Name("UsePSAdaptiveSurvivorSizePolicy"),
            Name("MaximumHeapGrowthIncrement"),
            Prefix("YoungGenerationSize"),
            Prefix("TenuredGenerationSize"),
        ],
        any: &[PARALLEL],
        reason: "only the parallel collector sizes its generations by it, and another collector runs",
        source: "HotSpot, parallel_globals.hpp and gc_globals.hpp; java(1), -XX:+UseAdaptiveSizePolicy",
    },
    Need {
        about: &[Name("ParallelGCThreads")],
        any: &[PARALLEL, G1, Z, SHENANDOAH],
        reason: "the collector that runs has no parallel threads",
        source: "HotSpot, workerPolicy.cpp; the serial collector uses a single thread: java(1), -XX:+UseSerialGC",
    },
    Need {
        about: &[Name("ConcGCThreads")],
        any: &[G1, Z, SHENANDOAH],
        reason: "the collector that runs has no concurrent threads",
        source: "HotSpot, gc_globals.hpp, ConcGCThreads: \"Number of threads concurrent gc will use\"",
    },
    Need {
        about: &[
            Name("NewRatio"),
            Name("NewSize"),
            Name("MaxNewSize"),
            Name("SurvivorRatio"),
            Name("InitialSurvivorRatio"),
            Name("MinSurvivorRatio"),
            Name("TargetSurvivorRatio"),
        ],
        any: &[SERIAL, PARALLEL, G1],
        reason: "the collector that runs does not size a young generation by it",
        source: "HotSpot, genArguments.cpp and g1Arguments.cpp: only these collectors read it",
    },
    Need {
        about: &[Name("NewRatio")],
        any: &[Unset("NewSize"), Unset("MaxNewSize")],
        reason: "the young generation's size is given in bytes (-Xmn), so that no ratio is asked for",
        source: "HotSpot, g1YoungGenSizer.cpp: \"-XX:NewSize and -XX:MaxNewSize override -XX:NewRatio\"; genArguments.cpp",
    },
    Need {
        about: &[Name("G1PeriodicGCInvokesConcurrent"), Name("G1PeriodicGCSystemLoadThreshold")],
        any: &[IsNot("G1PeriodicGCInterval", "0")],
        reason: "there are no periodic collections: G1PeriodicGCInterval is 0",
        source: "JEP 346; HotSpot, g1_globals.hpp, G1PeriodicGCInterval: \"A value of 0 disables\"",
    },
    Need {
        about: &[Name("PretenureSizeThreshold")],
        any: &[SERIAL],
        reason: "only the serial collector reads it, and another collector runs",
        source: "HotSpot, serial/defNewGeneration.hpp",
    },
    Need {
        about: &[Name("ExplicitGCInvokesConcurrent")],
        any: &[G1, SHENANDOAH],
        reason: "only the G1 and the Shenandoah collector can make System.gc() concurrent by it, and another collector runs",
        source: "HotSpot, gc_globals.hpp, ExplicitGCInvokesConcurrent",
    },
    Need {
        about: &[Name("ExplicitGCInvokesConcurrent")],
        any: &[Is("DisableExplicitGC", "false")],
        reason: "System.gc() does nothing at all: DisableExplicitGC is on",
        source: "java(1), -XX:+DisableExplicitGC",
    },
    Need {
        about: &[Name("SoftMaxHeapSize")],
        any: &[Z, SHENANDOAH, G1],
        reason: "the collector that runs knows no soft maximum",
        source: "HotSpot, gc_globals.hpp, SoftMaxHeapSize: \"Soft limit for maximum heap size\", read by concurrent collectors",
    },
    Need {
        about: &[Name("SoftMaxHeapSize")],
        any: &[IsNot("UseG1GC", "true"), Java(26)],
        reason: "the G1 collector has no soft maximum, up to Java 25 at least",
        source: "JDK-8236073, which is to give it one; JDK 17 to 25 have no word of it in gc/g1",
    },
    Need {
        about: &[Prefix("BiasedLocking")],
        any: &[Is("UseBiasedLocking", "true")],
        reason: "locks are not biased: UseBiasedLocking is off, its default since JDK 15",
        source: "JEP 374",
    },
    Need {
        about: &[
            Name("MaxRAMPercentage"),
            Name("MinRAMPercentage"),
            Name("MaxRAMFraction"),
            Name("MinRAMFraction"),
            Name("MaxRAM"),
        ],
        any: &[Unset("MaxHeapSize")],
        reason: "the heap's maximum is set in bytes (-Xmx), so that no share of the memory is asked for",
        source: "HotSpot, arguments.cpp, set_heap_size; java(1), -XX:MaxRAMPercentage: \"before applying ergonomics\"",
    },
    Need {
        about: &[Name("MinRAMPercentage"), Name("MinRAMFraction")],
        // Set to anything, it lifts the bound that compressed pointers set to a heap that is not asked for (override_coop_limit).
        any: &[Below("MaxHeapSize", 256 << 20), Above("MaxHeapSize", 30 << 30)],
        reason: "it is for hosts with little memory, where this share is below some 125 MiB; here MaxRAMPercentage decides",
        source: "HotSpot, arguments.cpp, set_heap_size: \"Small physical memory, so use a minimum fraction of it for the heap\"",
    },
    Need {
        about: &[Name("InitialRAMPercentage"), Name("InitialRAMFraction")],
        any: &[Unset("InitialHeapSize")],
        reason: "the heap's first size is set in bytes (-Xms), so that no share of the memory is asked for",
        source: "HotSpot, arguments.cpp, set_heap_size",
    },
    Need {
        about: &[Prefix("StringDeduplication")],
        any: &[Is("UseStringDeduplication", "true")],
        reason: "strings are not deduplicated: UseStringDeduplication is off",
        source: "JEP 192",
    },
    Need {
        about: &[Name("HeapDumpPath")],
        any: &[
            Is("HeapDumpOnOutOfMemoryError", "true"),
            Is("HeapDumpBeforeFullGC", "true"),
            Is("HeapDumpAfterFullGC", "true"),
        ],
        reason: "no heap is dumped by itself: HeapDumpOnOutOfMemoryError is off",
        source: "java(1), -XX:HeapDumpPath",
    },
    Need {
        about: &[Name("LargePageSizeInBytes")],
        any: &[Is("UseLargePages", "true")],
        reason: "large pages are off",
        source: "java(1), -XX:LargePageSizeInBytes",
    },
    Need {
        about: &[Prefix("NUMA")],
        any: &[Is("UseNUMA", "true"), Is("UseNUMAInterleaving", "true")],
        reason: "UseNUMA is off",
        source: "HotSpot, globals.hpp",
    },
    Need {
        about: &[Name("NonNMethodCodeHeapSize"), Name("ProfiledCodeHeapSize"), Name("NonProfiledCodeHeapSize")],
        any: &[Is("SegmentedCodeCache", "true")],
        reason: "the code cache is one piece: SegmentedCodeCache is off",
        source: "JEP 197",
    },
    Need {
        about: &[Name("CompressedClassSpaceSize")],
        any: &[Is("UseCompressedClassPointers", "true")],
        reason: "class pointers are not compressed",
        source: "java(1), -XX:CompressedClassSpaceSize",
    },
];

/// Options of JRuby.
const JRUBY: &[Need] = &[
    Need {
        about: &[Prefix("jit."), Name("compile.invokedynamic"), Prefix("invokedynamic.")],
        any: &[IsNot("compile.mode", "OFF")],
        reason: "Ruby code is only interpreted (compile.mode=OFF): nothing is compiled that it could change",
        source: "JRuby, `jruby --properties`: compile.mode, \"JIT = at runtime; FORCE = before execution\"",
    },
    Need {
        about: &[Prefix("invokedynamic.")],
        any: &[Is("compile.invokedynamic", "true")],
        reason: "invokedynamic is not used at all: compile.invokedynamic is false",
        source: "JRuby, `jruby --properties`: compile.invokedynamic, \"Use invokedynamic for optimizing Ruby code\"",
    },
    Need {
        about: &[Name("jit.background")],
        any: &[IsNot("jit.threshold", "0")],
        reason: "methods are compiled before their first call: jit.threshold is 0",
        source: "JRuby, `jruby --properties`: jit.background, \"Off if jit.threshold=0\"",
    },
    Need {
        about: &[Prefix("ir.inliner.")],
        any: &[Is("ir.inliner", "true")],
        reason: "the inliner is off: ir.inliner is false",
        source: "JRuby, `jruby --properties`: ir.inliner, \"Enable the inliner\"",
    },
    Need {
        about: &[Prefix("reify.variables.")],
        any: &[Is("reify.variables", "true")],
        reason: "instance variables are not kept in fields: reify.variables is false",
        source: "JRuby, `jruby --properties`: reify.variables",
    },
    Need {
        about: &[Name("fixnum.cache.size")],
        any: &[Is("fixnum.cache", "true")],
        reason: "there is no cache of small integers: fixnum.cache is false",
        source: "JRuby, `jruby --properties`: fixnum.cache",
    },
    Need {
        about: &[Name("ir.print.color"), Name("ir.print.pattern")],
        any: &[Is("ir.print", "true"), Is("ir.print.all", "true"), Is("ir.print.opt", "true")],
        reason: "nothing is printed: ir.print is false",
        source: "JRuby, `jruby --properties`: ir.print",
    },
    Need {
        about: &[Prefix("native."), Prefix("ffi.compile.")],
        any: &[Is("native.enabled", "true")],
        reason: "native code is off: native.enabled is false",
        source: "JRuby, `jruby --properties`: native.enabled",
    },
];

/// Why the JVM's flag `name` does nothing, as its other flags are; `java` is its number.
pub fn of_jvm<'a>(name: &str, java: Option<u32>, live: impl Fn(&str) -> Option<OtherSetting<'a>>) -> Option<Inert> {
    // AutoBoxCacheMax is C2's by its kind, and sets the library's cache of integers whatever compiles.
    if name == "AutoBoxCacheMax" { None } else { unmet(JVM, name, java, live) }
}

/// Why JRuby's option `name` does nothing, as its other options are.
pub fn of_jruby<'a>(name: &str, live: impl Fn(&str) -> Option<OtherSetting<'a>>) -> Option<Inert> {
    if name == "native.enabled" { None } else { unmet(JRUBY, name, None, live) }
}

fn unmet<'a>(
    needs: &[Need],
    name: &str,
    java: Option<u32>,
    live: impl Fn(&str) -> Option<OtherSetting<'a>>,
) -> Option<Inert> {
    let kind = live(name).map_or("", |live| live.kind);
    let is_about = |about: &About| match about {
        Name(one) => *one == name,
        Prefix(beginning) => name.starts_with(beginning),
        Kind(owner) => kind.split(' ').any(|word| word == *owner),
    };
    let size = |other: &str| live(other)?.value.parse::<u64>().ok();
    // What this runtime does not know can neither hold nor fail.
    let holds = |condition: &If| match condition {
        Is(other, value) => live(other).map(|live| live.value == *value),
        IsNot(other, value) => live(other).map(|live| live.value != *value),
        Unset(other) => live(other).map(|live| !live.is_set),
        Below(other, bytes) => size(other).map(|value| value < *bytes),
        Above(other, bytes) => size(other).map(|value| value > *bytes),
        // Only in its favour: that it is an earlier one says nothing by itself.
        Java(least) => java.is_none_or(|java| java >= *least).then_some(true),
    };
    let fails = |need: &&Need| {
        let known: Vec<bool> = need.any.iter().filter_map(holds).collect();
        !known.is_empty() && !known.contains(&true)
    };
    let need = needs.iter().filter(|need| need.about.iter().any(is_about)).find(fails)?;
    Some(Inert { reason: need.reason, source: need.source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(name: &str, others: &[(&str, &'static str, &'static str)]) -> Option<&'static str> {
        let live = |name: &str| {
            let (_, value, kind) = others.iter().find(|(other, ..)| *other == name)?;
            Some(OtherSetting { value, kind, is_set: *value == "set" })
        };
        of_jvm(name, Some(17), live).map(|inert| inert.reason)
    }

    #[test]
    fn one_condition_of_several_is_enough() {
        let parallel = [("UseG1GC", "false", "product"), ("UseParallelGC", "true", "product")];
        assert_eq!(reason("MaxGCPauseMillis", &parallel), None);
        assert!(reason("G1HeapRegionSize", &parallel).unwrap().contains("G1"));
        assert!(reason("MaxGCPauseMillis", &[("UseG1GC", "false", ""), ("UseParallelGC", "false", "")]).is_some());
    }

    #[test]
    fn a_flag_belongs_to_the_compiler_that_the_jvm_names() {
        let quick = [
            ("DoEscapeAnalysis", "false", "C2 product"),
            ("TieredStopAtLevel", "1", ""),
            ("TieredCompilation", "true", ""),
        ];
        assert!(reason("DoEscapeAnalysis", &quick).unwrap().contains("C2"));
        assert_eq!(reason("UseNUMA", &quick), None);
    }

    /// With level 0 it is the setting itself that leaves everything to the interpreter.
    #[test]
    fn levels_are_of_tiered_compilation() {
        let at = |level, tiered| {
            reason("TieredStopAtLevel", &[("TieredStopAtLevel", level, ""), ("TieredCompilation", tiered, "")])
        };
        assert_eq!((at("1", "true"), at("0", "false")), (None, None));
        assert!(at("1", "false").is_some());
    }

    #[test]
    fn the_share_of_a_small_memory_is_for_small_memories() {
        let with = |heap| reason("MinRAMPercentage", &[("MaxHeapSize", heap, "")]);
        assert_eq!((with("104857600"), with("unread"), with("64424509440")), (None, None, None));
        assert!(with("6320816128").unwrap().contains("MaxRAMPercentage"));
    }

    #[test]
    fn a_ratio_is_for_what_no_size_is_given_for() {
        let with = |young, largest| reason("NewRatio", &[("NewSize", young, ""), ("MaxNewSize", largest, "")]);
        assert_eq!((with("set", "1"), with("1", "set")), (None, None));
        assert!(with("set", "set").unwrap().contains("-Xmn"));
    }

    #[test]
    fn what_later_versions_may_have_is_reported_only_of_earlier_ones() {
        let live = |name: &str| (name == "UseG1GC").then_some(OtherSetting { value: "true", kind: "", is_set: true });
        let is_inert = |java| of_jvm("SoftMaxHeapSize", java, live).is_some();
        assert!(is_inert(Some(17)) && is_inert(Some(25)) && !is_inert(Some(26)) && !is_inert(None));
    }

    #[test]
    fn what_the_runtime_does_not_know_decides_nothing() {
        assert_eq!(reason("BiasedLockingStartupDelay", &[]), None);
        assert!(reason("BiasedLockingStartupDelay", &[("UseBiasedLocking", "false", "")]).is_some());
        assert!(reason("MaxRAMPercentage", &[("MaxHeapSize", "set", "")]).is_some());
        assert_eq!(reason("MaxRAMPercentage", &[("MaxHeapSize", "1", "")]), None);
    }
}
