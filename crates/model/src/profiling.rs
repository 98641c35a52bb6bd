//! What one more launch of a variant showed, made after the verdict to explain it: no part of any verdict.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::trial::is_zero;
use crate::{FailedTearDowns, Outcome, Setting, VariantIndex, text};

/// One profiling run that ended, well or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProfilingRun {
    /// What was launched.
    pub variant: VariantIndex,
    /// When it began, RFC 3339.
    pub started: String,
    /// How it ended.
    pub outcome: Outcome,
    /// What was asked for, and of how many users: `dashboard@20`.
    pub load: String,
    /// Settings read back from the running process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
    /// What was seen while it was watched, until it failed where it did; absent when it failed before.
    pub observation: Option<Observation>,
    /// As [`TrialRecord::oom_kills`](crate::TrialRecord::oom_kills).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub oom_kills: u64,
    /// As [`TrialRecord::failed_tear_downs`](crate::TrialRecord::failed_tear_downs).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_tear_downs: Option<FailedTearDowns>,
}

/// Why no profiling run was made although some were wanted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProfilingSkipped {
    /// The run ended without anything to explain.
    NothingToExplain {
        /// How it ended.
        because: String,
    },
    /// They would have taken longer than the budget allowed.
    NoRoom {
        /// The budget.
        budget: Duration,
        /// What all of them would have taken.
        time: Duration,
    },
    /// The budget ended the run before the question was settled.
    Unsettled {
        /// The budget.
        budget: Duration,
    },
}

impl fmt::Display for ProfilingSkipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToExplain { because } => write!(f, "there is nothing to explain: {because}"),
            Self::NoRoom { budget, time } => write!(
                f,
                "they would take about {}, more than was left of the budget of {}",
                text::minutes(*time),
                text::minutes(*budget)
            ),
            Self::Unsettled { budget } => {
                write!(f, "the budget of {} ended the run before its verdict; --resume goes on", text::minutes(*budget))
            }
        }
    }
}

/// What was seen of a server while it was watched: from a moment at which nothing was asked to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// Requests that were sent and ended in that time, well or not: all of those that the server worked on.
    pub requests: u64,
    /// Length, seconds.
    pub elapsed_s: f64,
    /// CPU time of the server; absent where it could not be read.
    pub cpu: Option<CpuUse>,
    /// What its virtual machine recorded, or why there is no recording.
    pub recording: Recording,
}

/// CPU time of a server's process tree by what used it, seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUse {
    /// All of it.
    pub total_s: f64,
    /// Threads of the JVM's compilers.
    pub jit_s: f64,
    /// Threads of the JVM's garbage collector, and the one that stops all others to carry out operations.
    pub gc_s: f64,
    /// Threads of the recorder itself: they would not be there without it.
    pub recorder_s: f64,
}

impl CpuUse {
    /// All that is not the recorder's own, seconds.
    pub fn without_recorder_s(&self) -> f64 {
        (self.total_s - self.recorder_s).max(0.0)
    }

    /// What is left for the program itself, seconds.
    pub fn program_s(&self) -> f64 {
        (self.without_recorder_s() - self.jit_s - self.gc_s).max(0.0)
    }
}

/// What the virtual machine recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Recording {
    /// A recording of the JDK's Flight Recorder.
    Jfr {
        /// The recording itself.
        file: PathBuf,
        /// What it adds up to.
        profile: Box<Profile>,
    },
    /// Samples that MRI took of itself by the gem `stackprof`.
    Stackprof {
        /// Those of the process that has the most of them, as the gem's own program reads them; those of others lie beside it.
        file: PathBuf,
        /// What those of all processes add up to.
        stack_samples: Box<StackSamples>,
    },
    /// There is none.
    None {
        /// Why.
        reason: String,
    },
}

impl Recording {
    /// Where it is, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Jfr { file, .. } | Self::Stackprof { file, .. } => Some(file),
            Self::None { .. } => None,
        }
    }
}

/// What samples of MRI add up to. Each is of the thread that used the CPU.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StackSamples {
    /// By the method at the top, be it Ruby's or C's; `(marking)` and `(sweeping)` are garbage collection.
    pub methods: Sums,
    /// Those with a Ruby method, by the one nearest to the top.
    pub ruby_methods: Sums,
}

/// What a recording of a JVM adds up to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Throwables made, by class, `walk` where it only served to look at a stack and was never thrown (else empty), and place.
    pub throwables: Sums,
    /// The same by class and `walk` alone, every group of them.
    pub thrown: Sums,
    /// Compilations by method; their amount is seconds.
    pub compiled: Sums,
    /// Compilations that failed, by reason; their amount is seconds spent in vain.
    pub failed: Sums,
    /// Compiled code that was given up, by reason, every group of it.
    pub deoptimizations: Sums,
    /// Samples of allocation by class and place; their amount is bytes, an estimate.
    pub allocations: Sums,
    /// Waits for a lock that another thread held, by the lock's class and place; their amount is seconds.
    pub locks: Sums,
    /// Samples of running threads by method at the top.
    pub stack_samples: Sums,
    /// Those with a Ruby method, by the one nearest to the top.
    pub ruby_methods: Sums,
    /// The same samples by the package at the top, `compiled Ruby` where JRuby compiled the method.
    pub packages: Sums,
    /// Garbage collections by the collector's name; their amount is seconds in which all stood still.
    pub collections: Sums,
    /// Threads that started.
    pub threads_started: u64,
    /// Bytes of the recording that were lost: above zero, counts are too low.
    pub lost_bytes: u64,
}

impl Profile {
    /// Throwables of a kind: all of them, from however many places.
    pub fn throwables_of(&self, kind: ThrowableKind) -> u64 {
        self.thrown.top.iter().filter(|sum| ThrowableKind::of(sum) == kind).map(|sum| sum.count).sum()
    }
}

/// Events added up by what they have in common.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// All events.
    pub count: u64,
    /// Their amounts together.
    pub amount: f64,
    /// The largest groups, largest first, by amount where there are amounts, else by count.
    pub top: Vec<Sum>,
}

/// Events that have a key in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sum {
    /// What they have in common.
    pub key: Vec<String>,
    /// How many there are.
    pub count: u64,
    /// Their amounts together.
    pub amount: f64,
}

/// What a throwable of a class means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ThrowableKind {
    /// Ruby's `raise`, or an error of Ruby's core.
    RubyRaise,
    /// JRuby's way of leaving a block, a `catch`, a thread.
    ControlFlow,
    /// A stack was looked at: nothing was thrown.
    StackWalk,
    /// An exception of Java code.
    Java,
}

impl ThrowableKind {
    /// The kind of a group of [`Profile::throwables`] or [`Profile::thrown`]. JRuby makes one object of its own classes for each raise, however
    /// often that is raised again.
    pub fn of(sum: &Sum) -> Self {
        /// What JRuby throws to leave somewhere, in the package of Ruby's own errors.
        const LEAVING: [&str; 5] = ["CatchThrow", "ThreadKill", "FiberKill", "MainExitException", "Unrescuable"];
        let class = sum.key.first().map_or("", String::as_str);
        let own = class.strip_prefix("org.jruby.exceptions.");
        match own {
            _ if sum.key.get(1).is_some_and(|walk| walk == "walk") => Self::StackWalk,
            Some(name) if LEAVING.contains(&name) || name.starts_with("JumpException") => Self::ControlFlow,
            Some(_) => Self::RubyRaise,
            None if class.starts_with("org.jruby.ir.runtime.IR") => Self::ControlFlow,
            None => Self::Java,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raise_is_reported_from_control_flow() {
        let kind = |class: &str, walk: &str| {
            ThrowableKind::of(&Sum {
                key: vec![class.into(), walk.into(), "page (server:4)".into()],
                count: 1,
                amount: 0.0,
            })
        };
        assert_eq!(kind("org.jruby.exceptions.ArgumentError", ""), ThrowableKind::RubyRaise);
        assert_eq!(kind("org.jruby.exceptions.StopIteration", ""), ThrowableKind::RubyRaise);
        assert_eq!(kind("org.jruby.exceptions.EncodingError$CompatibilityError", ""), ThrowableKind::RubyRaise);
        assert_eq!(kind("org.jruby.exceptions.CatchThrow", ""), ThrowableKind::ControlFlow);
        assert_eq!(kind("org.jruby.exceptions.JumpException$FlowControlException", ""), ThrowableKind::ControlFlow);
        assert_eq!(kind("org.jruby.ir.runtime.IRBreakJump", ""), ThrowableKind::ControlFlow);
        assert_eq!(kind("java.lang.Exception", "walk"), ThrowableKind::StackWalk);
        assert_eq!(kind("java.lang.Exception", ""), ThrowableKind::Java);
    }
}
