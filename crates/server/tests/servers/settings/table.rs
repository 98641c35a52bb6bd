//! The cases: what is asked of which runtime, and what comes of it by the runtime's documentation or source.
//!
//! Written from those, not from what bakeoff says. `docs/settings.md` is made from this.

/// What has to come out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Expect {
    /// It does not start; the reason holds this.
    Refused(&'static str),
    /// No such name; the nearest one, where that is sure.
    Unknown(Option<&'static str>),
    Overridden,
    Default,
    Inert,
    InEffect,
    Unverified,
}

use Expect::{Default, InEffect, Inert, Overridden, Refused, Unknown, Unverified};
use Place::{Argument, Command, Env, Jruby, Jvm, Property};

/// Where a study writes a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Argument,
    Command,
    Env,
    Jruby,
    Jvm,
    Property,
}

/// A setting and what has to come of it.
pub struct Case {
    pub place: Place,
    pub name: &'static str,
    pub value: &'static str,
    pub expect: Expect,
    /// Why: documentation or source.
    pub why: &'static str,
    /// Whether the runtime gets it by another way than the study's keys (a file).
    pub by_other_means: bool,
}

/// Settings that one process is launched with.
pub struct Group {
    /// What runs.
    pub on: On,
    /// What it is launched with beside the cases; no case itself.
    pub with: &'static [&'static str],
    pub cases: &'static [Case],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    Jdk17,
    Jdk25,
    Jruby94,
    Jruby101,
    Mri,
    Script,
    ScriptJava,
    ScriptJruby,
    CommandJava,
    CommandJruby,
    CommandMri,
}

impl On {
    pub fn name(self) -> &'static str {
        match self {
            Self::Jdk17 => "JDK 17",
            Self::Jdk25 => "JDK 25",
            Self::Jruby94 => "JRuby 9.4",
            Self::Jruby101 => "JRuby 10.1",
            Self::Mri => "MRI 3.1",
            Self::Script => "A start script that runs MRI",
            Self::ScriptJava => "A start script that runs Java",
            Self::ScriptJruby => "A start script that runs JRuby 9.4",
            Self::CommandJava => "A command `java`",
            Self::CommandJruby => "A command `jruby` of JRuby 9.4",
            Self::CommandMri => "A command `ruby`",
        }
    }
}

const fn case(place: Place, name: &'static str, value: &'static str, expect: Expect, why: &'static str) -> Case {
    Case { place, name, value, expect, why, by_other_means: false }
}

const fn flag(option: &'static str, expect: Expect, why: &'static str) -> Case {
    case(Jvm, option, "", expect, why)
}

const fn jruby(name: &'static str, value: &'static str, expect: Expect, why: &'static str) -> Case {
    case(Jruby, name, value, expect, why)
}

/// A word of a command that the other variants' commands are without.
const fn word(word: &'static str, expect: Expect, why: &'static str) -> Case {
    case(Command, word, "", expect, why)
}

const fn env(name: &'static str, value: &'static str, expect: Expect, why: &'static str) -> Case {
    case(Env, name, value, expect, why)
}

pub const GROUPS: &[Group] = &[
    Group {
        on: On::Jdk17,
        with: &["-XX:+UseG1GC", "-XX:+UnlockExperimentalVMOptions"],
        cases: &[
            flag("-Xmx256m", InEffect, "MaxHeapSize"),
            flag("-Xms64m", InEffect, "InitialHeapSize"),
            flag("-Xmn40m", InEffect, "NewSize and MaxNewSize"),
            flag("-Xss2m", InEffect, "ThreadStackSize, in KiB: 2048"),
            flag("-XX:+UseThreadPriorities", Default, "globals.hpp: true"),
            flag("-XX:+UseCompressedOops", Default, "on for heaps below 32 GB"),
            flag("-XX:G1HeapRegionSize=3m", Overridden, "java(1): a power of 2, so 4 MiB"),
            flag("-XX:MaxGCPauseMillis=50", InEffect, "G1 aims for it; its default is 200"),
            flag("-XX:G1ReservePercent=20", Overridden, "given twice: the later one wins"),
            flag("-XX:G1ReservePercent=25", InEffect, "given twice: the later one wins; the default is 10"),
            flag("-XX:CompileThreshold=500", Inert, "tiered compilation ignores it (compilerDefinitions.cpp)"),
            flag("-XX:MaxRAMPercentage=50", Inert, "-Xmx sets the size"),
            flag("-XX:+UseBiasedLocking", InEffect, "deprecated and off since JDK 15 (JEP 374), still there"),
            flag("-XX:ReservedCodeCacheSize=64m", InEffect, "67108864 bytes"),
            flag("-XX:MaxMetaspaceSize=100001k", InEffect, "rounded to whole pages"),
            flag("-XX:+UseStringDeduplication", InEffect, "G1 supports it (JEP 192)"),
            flag("-XX:StringDeduplicationAgeThreshold=5", InEffect, "deduplication is on; the default is 3"),
            flag("-XX:+ExplicitGCInvokesConcurrent", InEffect, "G1 supports it"),
            flag("-XX:ZCollectionInterval=5", Inert, "ZGC's (z_globals.hpp), and G1 runs"),
            flag("-XX:PretenureSizeThreshold=1m", Inert, "the serial collector's"),
            flag("-XX:G1NewSizePercent=10", InEffect, "experimental, and unlocked before it"),
            flag("-XX:HeapDumpPath=/tmp/heap", Inert, "no dump is requested"),
            flag("-XX:MaxHeapFreeRatio=50", InEffect, "the default is 70"),
            flag("-XX:+UseTLAB", Default, "globals: true"),
            flag("--add-opens=java.base/java.io=ALL-UNNAMED", InEffect, "an option of the module system"),
            flag("--add-opens=java.base/java.nio=ALL-UNNAMED", InEffect, "a second one"),
            flag("-XX:CompileCommand=quiet", InEffect, "a list: each one is added"),
            flag("-XX:CompileCommand=dontinline,java.lang.String::isEmpty", InEffect, "a second one"),
            flag("-XX:SoftMaxHeapSize=100m", Inert, "G1 has no soft maximum (JDK-8236073)"),
            flag("-XX:HeapBaseMinAddress=0x40000000", InEffect, "in hexadecimal; the default is 2 GiB"),
            flag("-XX:NewRatio=3", Inert, "-Xmn sets the size (g1YoungGenSizer.cpp)"),
            flag("-XX:G1PeriodicGCSystemLoadThreshold=1", Inert, "there are no periodic collections (JEP 346)"),
            flag("-XX:SharedArchiveFile=missing.jsa", Inert, "java(1), -Xshare:auto: the JVM runs without it"),
            flag("--illegal-access=permit", Inert, "ignored since JDK 17 (JEP 403)"),
            flag("--add-opens=no.such.module/a=ALL-UNNAMED", Inert, "no such module: the JVM warns and goes on"),
            flag("--add-exports=java.base/no.such=ALL-UNNAMED", Inert, "no such package: the JVM warns and goes on"),
            flag(
                "--add-opens=java.base/java.net=ALL-UNNAMED,no.such",
                InEffect,
                "opened to ALL-UNNAMED; the missing module is ignored",
            ),
            flag("-Xbootclasspath/a:missing.jar", Inert, "java(1): a missing archive is ignored"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-XX:+UseSerialGC", "-Xmx128m"],
        cases: &[
            flag("-XX:TieredStopAtLevel=1", InEffect, "the default is 4"),
            flag(
                "-XX:CompileThreshold=500",
                InEffect,
                "works with C1 alone (compilerDefinitions.cpp, set_legacy_emulation_flags)",
            ),
            flag("-XX:-DoEscapeAnalysis", Inert, "C2's, and compilation stops at level 1"),
            flag("-XX:FreqInlineSize=200", Inert, "C2's, and compilation stops at level 1"),
            flag("-XX:Tier4InvocationThreshold=100", Inert, "level 4 is never reached"),
            flag("-XX:MaxGCPauseMillis=50", Inert, "the serial collector has no such goal"),
            flag("-XX:GCTimeRatio=19", Inert, "the serial collector has no such goal"),
            flag("-XX:G1HeapRegionSize=2m", Inert, "G1's, and the serial collector runs"),
            flag("-XX:ParallelGCThreads=3", Inert, "the serial collector has one thread"),
            flag("-XX:ConcGCThreads=1", Inert, "the serial collector is never concurrent"),
            flag(
                "-XX:+UseStringDeduplication",
                Overridden,
                "not supported with the serial collector before JDK 18 (JDK-8272609); the JVM turns it off",
            ),
            flag("-XX:PretenureSizeThreshold=1m", InEffect, "the serial collector's"),
            flag("-XX:SurvivorRatio=6", InEffect, "the default is 8"),
            flag("-XX:SoftMaxHeapSize=100m", Inert, "the serial collector has no soft maximum"),
            flag("-XX:+DisableExplicitGC", InEffect, "off by default"),
            flag("-XX:+ExplicitGCInvokesConcurrent", Inert, "the serial collector cannot"),
            flag("-XX:BiasedLockingStartupDelay=500", Inert, "UseBiasedLocking is off"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-XX:+UseG1GC", "-XX:G1HeapRegionSize=8m"],
        cases: &[
            flag("-Xmx301m", InEffect, "a heap consists of whole regions: 304 MiB"),
            flag("-Xmn90m", InEffect, "whole regions: 88 MiB"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-XX:+UseSerialGC"],
        cases: &[
            flag("-Xmx65m", InEffect, "rounded up to 66 MiB: each byte of a card-table page covers 512 bytes"),
            flag("-Xms33m", InEffect, "the same: 34 MiB"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-XX:+UseSerialGC", "-Xmx256m"],
        cases: &[
            flag("-XX:NewSize=40m", InEffect, "the default is 5 MiB, whatever the other flag makes of it"),
            flag(
                "-XX:MaxNewSize=40m",
                InEffect,
                "the default is a third of the heap, whatever the other flag makes of it",
            ),
            flag("-XX:+AlwaysPreTouch", InEffect, "off by default"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-XX:+UseParallelGC", "-Xmx64m", "-Xms8m"],
        cases: &[
            flag("-Xmx61m", Overridden, "given twice: the later one wins"),
            flag("-XX:MaxHeapSize=65m", InEffect, "rounded up to 66 MiB"),
            flag("-Xmn5700k", InEffect, "rounded down to generations of 512 KiB each: 5632 KiB"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-XX:+IgnoreUnrecognizedVMOptions"],
        cases: &[
            flag("-XX:+UseParallelGC", InEffect, "never the default of JDK 17"),
            flag("-XX:-TieredCompilation", InEffect, "on by default"),
            flag("-XX:CompileThreshold=500", InEffect, "works with C2 alone"),
            flag("-XX:C1MaxInlineSize=30", Inert, "C1 is not used without tiered compilation"),
            flag("-XX:-UseAdaptiveSizePolicy", InEffect, "the parallel collector's; on by default"),
            flag("-XX:GCTimeRatio=19", InEffect, "the parallel collector aims for it; its default is 99"),
            flag("-XX:InitiatingHeapOccupancyPercent=30", Inert, "G1's, and the parallel collector runs"),
            flag("-XX:TieredStopAtLevel=1", Inert, "a level of tiered compilation (compilationPolicy.cpp)"),
            flag("-XX:MaxRAMPercentage=50", InEffect, "no -Xmx here; printed as 50.000000"),
            flag("-XX:MinRAMPercentage=60", Inert, "for hosts with about 200 MiB (arguments.cpp, set_heap_size)"),
            flag(
                "-XX:+UseParalelGC",
                Unknown(Some("UseParallelGC")),
                "misspelt; the JVM is set to ignore unknown options",
            ),
            flag("-XX:MaxPermSize=128m", Unknown(None), "without effect since JDK 8, removed in 17"),
            flag("-XX:+UseConcMarkSweepGC", Unknown(None), "removed in JDK 14 (JEP 363)"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &[],
        cases: &[
            flag("-XX:CompileThresholdScaling=0.5", InEffect, "printed as 0.500000"),
            env("JAVA_TOOL_OPTIONS", "-XX:MaxHeapFreeRatio=60", InEffect, "read by the JVM (JVM TI)"),
            env(
                "JDK_JAVA_OPTIONS",
                "-XX:+UseParallelGC -Dplace=here",
                InEffect,
                "read by `java` since JDK 9 (java(1))",
            ),
            env("JAVA_OPTS", "-Xmx1g", Inert, "only start scripts read it"),
            env("TZ", "UTC", InEffect, "an ordinary variable"),
            case(
                Property,
                "user.timezone",
                "UTC",
                InEffect,
                "-Duser.timezone=UTC; unset until the time zone is first needed",
            ),
            case(Property, "file.encoding", "UTF-8", Default, "from LANG=C.UTF-8, which every program gets"),
            case(Property, "java.io.tmpdir", "/var/tmp", InEffect, "the default is /tmp"),
            case(Property, "java.net.preferIPv4Stack", "true", InEffect, "read by java.net"),
            case(Property, "java.net.preferIPv4Stak", "true", Unknown(Some("java.net.preferIPv4Stack")), "misspelt"),
            case(Property, "UseParallelGC", "true", Unknown(Some("-XX:UseParallelGC")), "a flag, not a property"),
            case(Property, "user.role", "admin", InEffect, "the program's own"),
            case(Property, "LogFile", "app.log", InEffect, "named like a flag, but its value is a file name"),
            case(Property, "line.shown", "a = b", InEffect, "not a JDK property: it has no default"),
            flag("-Duser.language=en", Default, "from LANG; in `jvm` as in `properties`"),
            flag("-Duser.country=FR", InEffect, "C.UTF-8 has no country"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-Xmx64m"],
        cases: &[
            flag("-XX:+UseParalelGC", Refused("Unrecognized VM option"), "misspelt"),
            flag("-XX:PermSize=64m", Refused("Unrecognized VM option"), "removed in JDK 17"),
            flag("-XX:+UseConcMarkSweepGC", Refused("Unrecognized VM option"), "removed in JDK 14 (JEP 363)"),
            flag("-XX:+AggressiveOpts", Refused("Unrecognized VM option"), "removed in JDK 12"),
            flag("-XX:+ZGenerational", Refused("Unrecognized VM option"), "new in JDK 21 (JEP 439)"),
            flag("-XX:G1MaxNewSizePercent=50", Refused("UnlockExperimentalVMOptions"), "experimental, not unlocked"),
            flag("-XX:MaxTenuringThreshold=20", Refused("outside the allowed range"), "at most 16"),
            flag("-XX:UseG1GC", Refused("Missing +/-"), "a boolean flag needs + or -"),
            flag("-Xmn8x", Refused("Invalid"), "not a unit of size"),
            flag("-Xfoo", Refused("Unrecognized option"), "no such option"),
            env("JAVA_TOOL_OPTIONS", "-XX:+UseParNewGC", Refused("Unrecognized VM option"), "removed in JDK 14"),
            flag("--add-modules=no.such.module", Refused("Module no.such.module not found"), "no such module"),
        ],
    },
    Group {
        on: On::Jdk17,
        with: &["-Xmx64m"],
        cases: &[flag("-agentlib:hrpof=cpu=samples", Refused("Could not find agent library hrpof"), "misspelt: hprof")],
    },
    Group {
        on: On::Jdk17,
        with: &["-Xmx64m"],
        cases: &[flag("-javaagent:missing.jar=a", Refused("Error opening zip file"), "no such archive")],
    },
    Group {
        on: On::Jdk25,
        with: &[],
        cases: &[
            flag("-XX:+UseZGC", InEffect, "never the default"),
            case(Property, "file.encoding", "UTF-8", Default, "whatever the locale, since JDK 18 (JEP 400)"),
            case(Property, "java.io.tmpdir", "/tmp", Default, "on Linux (java.lang.System)"),
            flag("-XX:ZCollectionInterval=5", InEffect, "ZGC's"),
            flag("-XX:+ZGenerational", Inert, "ignored: there is no other mode since JDK 24 (JEP 490)"),
            flag("-XX:MaxGCPauseMillis=50", Inert, "ZGC has no such goal"),
            flag("-XX:NewRatio=3", Inert, "ZGC sizes its generations itself"),
            flag("-XX:G1ReservePercent=20", Inert, "G1's, and ZGC runs"),
            flag("-XX:+UseStringDeduplication", InEffect, "ZGC supports it since JDK 18"),
            flag("-XX:+UseCompactObjectHeaders", InEffect, "a product option since JDK 25 (JEP 519)"),
            flag("-Xmx256m", InEffect, "MaxHeapSize"),
            flag("-XX:SoftMaxHeapSize=100m", InEffect, "ZGC supports it"),
            flag("-XX:CompileThreshold=500", Inert, "tiered compilation ignores it"),
            flag("-XX:MaxRAMPercentage=50", Inert, "-Xmx sets the size"),
            flag("-XX:+UseThreadPriorities", Default, "globals.hpp: true"),
        ],
    },
    Group {
        on: On::Jdk25,
        with: &["-XX:+UseZGC"],
        cases: &[flag("-Xmx65m", InEffect, "rounded up to granules of 2 MiB (zGlobals.hpp): 66 MiB")],
    },
    Group {
        on: On::Jdk25,
        with: &["-XX:+UseG1GC", "-XX:Flags=heap.txt"],
        cases: &[
            flag("-XX:MaxRAMPercentage=50", Inert, "the file of flags sets the heap size"),
            flag("-XX:SoftMaxHeapSize=32m", Inert, "G1 has no soft maximum (JDK-8236073)"),
        ],
    },
    Group {
        on: On::Jdk25,
        with: &["-XX:+UseSerialGC", "-Xmx64m"],
        cases: &[
            flag(
                "-XX:+UseStringDeduplication",
                InEffect,
                "the serial collector supports it since JDK 18 (JDK-8272609)",
            ),
            flag("-XX:G1HeapRegionSize=4m", Inert, "G1's, and the serial collector runs"),
            flag("-XX:MaxGCPauseMillis=50", Inert, "the serial collector has no such goal"),
            flag("-XX:TieredStopAtLevel=1", InEffect, "the default is 4"),
            flag("-XX:-EliminateLocks", Inert, "C2's, and compilation stops at level 1"),
            flag("-XX:AOTCache=missing.aot", Inert, "java(1), -XX:AOTMode=auto: the JVM runs without it"),
        ],
    },
    Group {
        on: On::Jdk25,
        with: &["-Xint"],
        cases: &[flag("-XX:TieredStopAtLevel=1", Inert, "nothing is compiled, so there is no level")],
    },
    Group {
        on: On::Jdk25,
        with: &["-Xmx64m"],
        cases: &[case(
            Property,
            "java.security.manager",
            "allow",
            Refused("Enabling a Security Manager is not supported"),
            "since JDK 24 (JEP 486)",
        )],
    },
    Group {
        on: On::Jdk25,
        with: &["-Xmx64m"],
        cases: &[
            flag("-XX:+UseBiasedLocking", Refused("Unrecognized VM option"), "removed after JDK 17 (JEP 374)"),
            flag("-XX:MaxPermSize=128m", Refused("Unrecognized VM option"), "removed in JDK 17"),
            flag("-XX:TieredStopAtLevel=9", Refused("outside the allowed range"), "0 to 4"),
            flag("-XX:MaxRAMPercentage=150", Refused("outside the allowed range"), "0 to 100"),
            flag("-Xfuture", Refused("Unrecognized option"), "removed"),
        ],
    },
    Group {
        on: On::Jruby94,
        with: &["-XX:TieredStopAtLevel=1"],
        cases: &[
            jruby("compile.invokedynamic", "true", InEffect, "false by default before JRuby 10"),
            jruby("jit.maxsize", "2000", InEffect, "the default is 3000"),
            jruby("jit.treshold", "30", Unknown(Some("jit.threshold")), "misspelt: JRuby warns and goes on"),
            jruby("jit.max", "10000", Default, "--properties: 10000"),
            jruby("invokedynamic.maxpoly", "8", InEffect, "the default is 6, and invokedynamic is on"),
            jruby("ir.inliner", "ja", Overridden, "not a boolean: silently taken as false"),
            jruby("ir.inliner.threshold", "30", Inert, "the inliner is off"),
            jruby("jit.background", "false", InEffect, "true by default"),
            jruby("thread.pool.enabled", "true", Unknown(None), "removed: it no longer pools fibers and threads"),
            jruby("fixnum.cache.size", "512", InEffect, "the default is 256"),
            Case {
                by_other_means: true,
                ..jruby("jit.threshold", "44", Overridden, "set in .jrubyrc, which JRuby reads after its options")
            },
            env("JRUBY_OPTS", "-Xjit.logging=true", Inert, "only JRuby's launcher reads it"),
            env("RUBY_GC_HEAP_INIT_SLOTS", "600000", Inert, "MRI's"),
            env("RUBYOPT", "-W0", InEffect, "read by JRuby"),
        ],
    },
    Group {
        on: On::Jruby94,
        with: &["-XX:TieredStopAtLevel=1"],
        cases: &[
            jruby("compile.mode", "OFF", InEffect, "JIT by default"),
            jruby("jit.threshold", "30", Inert, "nothing is compiled"),
            jruby("compile.invokedynamic", "true", Inert, "nothing is compiled"),
            jruby("jit.logging", "false", Default, "--properties: false"),
            case(Property, "jruby.jit.max", "10000", Default, "a JRuby option, written as its property"),
            case(Property, "jruby.jit.maxsize", "2000", Inert, "the same, and nothing is compiled"),
            case(Property, "jruby.jit.backgroud", "true", Unknown(Some("jit.background")), "the same, misspelt"),
            case(Property, "jruby.rack.logging", "stdout", InEffect, "jruby-rack's, not a misspelt `jit.logging`"),
            case(Property, "jruby.max.runtimes", "2", InEffect, "jruby-rack's"),
            jruby("min.runtimes", "2", Unverified, "the same, requested as a JRuby option, which it is not"),
            case(Property, "file.encoding", "ISO-8859-1", InEffect, "the default is UTF-8"),
            env("RUBYOPT", "-J-Xmx100m", Inert, "the JVM already runs: JRuby warns and goes on"),
        ],
    },
    Group {
        on: On::Jruby94,
        with: &["-XX:TieredStopAtLevel=1", "-Djruby.compile.invokedynamic=true"],
        cases: &[
            jruby(
                "compile.invokedynamic",
                "false",
                InEffect,
                "the default, but without it the other value would be in effect",
            ),
            env("RUBYOPT", "-W:no-depreciated", Inert, "no such category: JRuby warns and goes on"),
        ],
    },
    Group {
        on: On::Jruby94,
        with: &["-XX:TieredStopAtLevel=1"],
        cases: &[env("RUBYOPT", "--yjit", Refused("unknown option --yjit"), "JRuby has no YJIT")],
    },
    Group {
        on: On::Jruby94,
        with: &["-XX:TieredStopAtLevel=1"],
        cases: &[
            jruby("jit.threshold", "abc", Refused("NumberFormatException"), "not a number"),
            jruby("compile.mode", "NONE", Refused("No enum constant"), "JIT, FORCE or OFF"),
        ],
    },
    Group {
        on: On::Jruby101,
        with: &["-XX:TieredStopAtLevel=1"],
        cases: &[
            jruby("compile.invokedynamic", "false", InEffect, "true by default since JRuby 10"),
            jruby("invokedynamic.maxpoly", "8", Inert, "invokedynamic is off"),
            jruby("jit.maxsize", "2000", InEffect, "the default is 3000"),
            jruby("jit.background", "true", Default, "--properties: true"),
            jruby("jit.treshold", "30", Unknown(Some("jit.threshold")), "misspelt: JRuby warns and goes on"),
            jruby("compile.fastops", "false", Unknown(None), "an option of JRuby 9.4 that 10 does not have"),
            jruby("ir.inliner", "ja", Overridden, "not a boolean: silently taken as false"),
            Case {
                by_other_means: true,
                ..jruby("jit.threshold", "44", Overridden, "set in .jrubyrc, which JRuby reads after its options")
            },
            env("JRUBY_OPTS", "-Xjit.logging=true", Inert, "only JRuby's launcher reads it"),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[
            env("RUBY_GC_HEAP_INIT_SLOTS", "600000", InEffect, "ruby(1); the default is 10000"),
            env("RUBY_GC_HEAP_GROWTH_FACTOR", "0.5", Overridden, "gc.c: ignored because it must be greater than 1.0"),
            env("RUBY_GC_MALLOC_LIMIT", "33554432", InEffect, "ruby(1); the default is 16 MiB"),
            env("RUBY_GC_HEAP_FREE_SLOTS", "4096", Default, "gc.c: 4096"),
            env("RUBY_GC_OLDMALLOC_LIMIT", "abc", Overridden, "not a number: ignored"),
            env("RUBY_GC_HEAP_INIT_SLOT", "3", Unknown(Some("RUBY_GC_HEAP_INIT_SLOTS")), "misspelt: nothing reads it"),
            env("RUBY_YJIT_ENABLE", "1", InEffect, "ruby(1): the same as --yjit"),
            env("RUBY_THREAD_VM_STACK_SIZE", "2097152", Unverified, "ruby(1) knows it, and no Ruby reports its value"),
            env("RUBY_FIBRE_VM_STACK_SIZE", "1", Unknown(Some("RUBY_FIBER_VM_STACK_SIZE")), "misspelt"),
            env("RUBY_YJIT_FOO", "1", Unverified, "named like Ruby's own, but not one: the program may read it"),
            env("RUBY_THREAD_COUNT", "5", Unverified, "the same"),
            env("RUBY_GC_COMPACT", "1", Unverified, "the same, named like the garbage collector's"),
            env(
                "RUBY_GC_HEAP_0_INIT_SLOTS",
                "600000",
                Unknown(Some("RUBY_GC_HEAP_INIT_SLOTS")),
                "a Ruby option since 3.3",
            ),
            env("RUBY_MN_THREADS", "1", Unknown(None), "a Ruby option since 3.3"),
            env("RUBY_ENV", "production", InEffect, "the program's own: Ruby has no similar one"),
            env("RUBY_VERSION", "3.1", InEffect, "the program's own: in Ruby it is a constant"),
            env("RUBYOPT", "-W0", InEffect, "read by Ruby"),
            env("LANG", "C.UTF-8", Default, "in the environment that every program gets"),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[
            case(Argument, "--yjit", "", InEffect, "ruby(1)"),
            case(
                Argument,
                "--yjit-call-threshold=5",
                "",
                Unverified,
                "ruby(1) knows it, and no Ruby reports its value",
            ),
            env("RUBYOPT", "-W1", InEffect, "read by Ruby"),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[
            env(
                "RUBY_YJIT_ENABLE",
                "0",
                Overridden,
                "ruby.c of 3.1: any value turns it on; since 3.2 only 1, true, yes",
            ),
            env("RUBYOPT", "--enable=yjit", InEffect, "ruby(1): the same as --yjit"),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[
            case(Argument, "--jit", "", Overridden, "ruby(1): YJIT here; the later option turns it off"),
            case(Argument, "--disable=yjit", "", Default, "ruby.c: the last of these options counts; off by default"),
            env(
                "RUBYOPT",
                "--yjit-call-threshold=5",
                Overridden,
                "it turns YJIT on; the command line turns it off again",
            ),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[
            case(Argument, "--enable-jit", "", InEffect, "ruby(1): YJIT"),
            env(
                "RUBYOPT",
                "-W0 --yjit-call-threshold=5",
                Unverified,
                "it turns YJIT on, and no Ruby reports its value",
            ),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[
            env("RUBY_YJIT_ENABLE", "", Overridden, "ruby.c of 3.1: on, although empty"),
            env("RUBYOPT", "-W:no-depreciated", Inert, "no such category: Ruby warns and goes on"),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[
            case(Argument, "--disable=rubyopt", "", InEffect, "ruby(1)"),
            env("RUBYOPT", "-W0", Inert, "Ruby is set not to read it"),
            env("RUBY_YJIT_ENABLE", "1", Unverified, "Ruby reports only from inside, through RUBYOPT"),
        ],
    },
    Group {
        on: On::Mri,
        with: &[],
        cases: &[case(Argument, "--foo", "", Refused("invalid option --foo"), "no such option")],
    },
    Group {
        on: On::Script,
        with: &[],
        cases: &[
            env("JAVA_OPTS", "-Djruby.jit.treshold=30", Unverified, "no JVM runs that could read it"),
            env("JAVA_TOOL_OPTIONS", "-XX:+UseThreadPriorities", Unverified, "the same"),
            env("JRUBY_OPTS", "--dev", Unverified, "the same"),
            env("RUBY_GC_HEAP_INIT_SLOTS", "0x927c0", InEffect, "gc.c: 600000; the default is 10000"),
            env("RUBY_GC_HEAP_GROWTH_FACTOR", "0.5", Overridden, "gc.c: ignored because it must be greater than 1.0"),
            env("RUBY_GC_HEAP_FREE_SLOTS", "4096", Default, "gc.c: 4096"),
            env("RUBY_GC_HEAP_INIT_SLOT", "3", Unknown(Some("RUBY_GC_HEAP_INIT_SLOTS")), "misspelt: nothing reads it"),
            env("RUBY_YJIT_ENABLE", "1", InEffect, "ruby(1): the same as --yjit"),
            env("RUBYOPT", "-W0", InEffect, "read by Ruby"),
            env("JDK_JAVA_OPTIONS", "", InEffect, "empty: it holds no option that could fail"),
            env("WORKERS", "3", InEffect, "the program's own: the process has it"),
            env("RUBY_ENV", "test", InEffect, "the same"),
            env("DROPPED", "1", Overridden, "the script removes it"),
        ],
    },
    Group {
        on: On::ScriptJava,
        with: &["-XX:+IgnoreUnrecognizedVMOptions"],
        cases: &[
            env("JAVA_OPTS", "-Xmx100m -XX:+UseThreadPriorities", InEffect, "one of the two is not the default"),
            env("CATALINA_OPTS", "-XX:+UseThreadPriorities", Default, "globals.hpp: true"),
            env("JVM_OPTS", "-Dknown.place=x", InEffect, "a property that exists only because it is set"),
            env(
                "JAVA_MEM",
                "-XX:+UseParalelGC",
                Unknown(Some("UseParallelGC")),
                "misspelt; the script has the JVM ignore unknown options",
            ),
            env("JAVA_STACK", "-XX:MaxRAMPercentage=50", Inert, "-Xmx sets the size"),
            env("GRADLE_OPTS", "-Xms70m -Dx=y", Overridden, "the script sets -Xms32m after it"),
            env("MAVEN_OPTS", "-Xmn20m", Overridden, "the script does not pass it on"),
            env(
                "MOVED_OPTS",
                "-Dknown.moved=1 -XX:MaxHeapFreeRatio=60",
                InEffect,
                "the script moves them to the command line, and removes the variable",
            ),
            env("DROPPED_OPTS", "-Dknown.dropped=1", Overridden, "the script removes the variable"),
            env("JAVA_TOOL_OPTIONS", "-XX:+UseParallelGC", InEffect, "the JVM reads it by itself"),
            env("JRUBY_OPTS", "-Xjit.threshold=30", Unverified, "no JRuby runs that could read it"),
            env("RUBY_YJIT_ENABLE", "1", Unverified, "no Ruby runs that could read it"),
        ],
    },
    Group {
        on: On::ScriptJava,
        with: &[],
        cases: &[
            env("JAVA_OPTS", "-XX:VMOptionsFile=options.txt", InEffect, "java(1): its options are read from there"),
            env("CATALINA_OPTS", "-XX:Flags=flags.txt", InEffect, "arguments.cpp: a file of flags"),
            env("JVM_OPTS", "-Xss512k -Xss1m -Dx=1", InEffect, "given twice: the later one wins"),
            env(
                "JDK_JAVA_OPTIONS",
                "--add-opens java.base/java.lang=ALL-UNNAMED",
                InEffect,
                "java(1): the same as with `=` instead of the space",
            ),
            env("JAVA_MEM", "--add-opens java.base/java.util=ALL-UNNAMED", InEffect, "the same"),
            env(
                "KNOWN_OPTS",
                "-Xmn20m -Dknown.size=3",
                Unverified,
                "the script does not pass it on, and it may be for a JVM that the program starts",
            ),
            env("MY_OPTS", "-Xms80m -Dmy.own=3", Overridden, "passed on, but the script sets -Xms32m after it"),
            env("KNOWN_OPTIONS", "-Xfast=yes", InEffect, "the program's own: no option of the JVM"),
            env(
                "LD_PRELOAD",
                "/nonexistent/libjemalloc.so.2",
                Overridden,
                "ld.so(8): what cannot be loaded is ignored",
            ),
            env("JAVA_TOOL_OPTIONS", "-XX:VMOptionsFile=options.txt", InEffect, "the JVM reads it by itself"),
        ],
    },
    Group {
        on: On::ScriptJava,
        with: &[],
        cases: &[env("JAVA_OPTS", "-XX:+UseParalelGC", Refused("Unrecognized VM option"), "no such flag")],
    },
    Group {
        on: On::ScriptJava,
        with: &[],
        cases: &[env(
            "JAVA_OPTS",
            "-Xmx64m -XX:MaxTenuringThreshold=20",
            Refused("MaxTenuringThreshold=20 is outside the allowed range"),
            "at most 16",
        )],
    },
    Group { on: On::Script, with: &[], cases: &[env("RUBYOPT", "-W0 --foo", Refused("--foo"), "no such option")] },
    Group { on: On::Mri, with: &[], cases: &[env("RUBYOPT", "-J-Xmx1g", Refused("invalid option -J"), "JRuby's")] },
    Group {
        on: On::ScriptJruby,
        with: &[],
        cases: &[
            env(
                "JRUBY_OPTS",
                "-Xjit.maxsize=2000 -J-Xmn30m",
                InEffect,
                "JRuby's launcher reads it: the default is 1000",
            ),
            env(
                "JAVA_OPTS",
                "-Djruby.jit.treshold=30",
                Unknown(Some("jit.threshold")),
                "misspelt: JRuby warns and goes on",
            ),
            env("JAVA_MEM", "-Xmx300m", InEffect, "JRuby's launcher passes it on"),
            env("JAVA_TOOL_OPTIONS", "-Djruby.jit.max=10000", Default, "--properties: 10000"),
            env("JVM_OPTS", "-Djruby.jit.background=false", Overridden, "JRuby's launcher does not read it"),
            env("RUBY_GC_HEAP_INIT_SLOTS", "600000", Inert, "MRI's"),
            env("RUBYOPT", "-W0", InEffect, "read by JRuby"),
        ],
    },
    Group {
        on: On::ScriptJruby,
        with: &[],
        cases: &[
            env("JRUBY_OPTS", "--dev", Unverified, "JRuby's launcher turns it into other options"),
            env("RUBY_ENV", "test", InEffect, "the program's own"),
        ],
    },
    Group {
        on: On::CommandJava,
        with: &["-cp", "."],
        cases: &[
            word("-XX:+IgnoreUnrecognizedVMOptions", InEffect, "off by default"),
            word("-XX:+UseParalelGC", Unknown(Some("UseParallelGC")), "misspelt, but accepted"),
            word("-XX:+UseParallelGC", InEffect, "never the default"),
            word("-XX:ZCollectionInterval=5", Inert, "ZGC's, and the parallel collector runs"),
            word("-XX:+UseThreadPriorities", Default, "globals.hpp: true"),
            word("-Xmx64m", Default, "given twice: the later one wins, so removing it changes nothing"),
            word("-Xmx80m", InEffect, "MaxHeapSize"),
            word("-XX:MaxRAMPercentage=50", Inert, "-Xmx sets the size"),
            word("-Dmy.own=1", InEffect, "a property that exists only because it is set"),
            word("--add-opens=java.base/java.io=ALL-UNNAMED", InEffect, "an option of the module system"),
        ],
    },
    Group {
        on: On::CommandJava,
        with: &[],
        cases: &[word("-XX:+UseParalelGC", Refused("Unrecognized VM option"), "misspelt")],
    },
    Group {
        on: On::CommandJruby,
        with: &["-J-Xmx300m"],
        cases: &[
            word("-Xcompile.invokedynmic=true", Unknown(Some("compile.invokedynamic")), "misspelt: JRuby goes on"),
            word("-Xjit.maxsize=2000", InEffect, "the default is 1000"),
            word("-Xjit.max=10000", Default, "--properties: 10000"),
            word("-Xir.inliner=ja", Overridden, "not a boolean: silently taken as false"),
            word("-J-Xmn30m", InEffect, "passed on to the JVM"),
            word("-J-XX:ZCollectionInterval=5", Inert, "ZGC's, and another collector runs"),
            word("--headless", Unverified, "JRuby's launcher turns it into another option"),
            word("-W0", InEffect, "passed on to JRuby"),
        ],
    },
    Group {
        on: On::CommandMri,
        with: &[],
        cases: &[
            word("--yjit", InEffect, "ruby(1)"),
            word("--yjit-call-threshold=5", Unverified, "ruby(1) knows it, and no Ruby reports its value"),
            word("-W0", InEffect, "ruby(1)"),
        ],
    },
    Group {
        on: On::CommandMri,
        with: &[],
        cases: &[
            word("--jit", Default, "a later option turns it off, so removing it changes nothing"),
            word("--disable=yjit", Default, "ruby.c: the last of these options counts; off by default"),
        ],
    },
    Group { on: On::CommandMri, with: &[], cases: &[word("--foo", Refused("--foo"), "no such option")] },
];
