//! The next step of a run, and why a run is over.

use std::fmt;

use model::{FindingId, TrialKey, WarmUpLength};

/// Launches of a variant that all fail, from the first, before it counts as hopeless.
pub const FAILED_LAUNCHES: usize = 2;

/// The next step of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Store this as [`model::StudyRecord::warm_up_length`].
    FixWarmUpLength(WarmUpLength),
    /// Store this as [`model::StudyRecord::horizon`].
    FixHorizon(u32),
    /// Run this trial of the plan and store its record.
    Run(TrialKey),
    /// The run is over.
    Stop(Stop),
}

/// Why a run is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// Every variant's question is answered.
    Decided,
    /// All blocks that the plan allows were used or lost.
    Exhausted,
    /// A variant's first launches all failed: no block with it can ever count.
    VariantFails {
        /// The variant's name.
        variant: String,
    },
    /// Findings that no further block would lift veto every verdict.
    Vetoed {
        /// Their rules.
        findings: Vec<FindingId>,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decided => f.write_str("the question is answered"),
            Self::Exhausted => f.write_str("all planned blocks have run"),
            Self::VariantFails { variant } => write!(f, "the first {FAILED_LAUNCHES} launches of {variant} failed"),
            Self::Vetoed { findings } => {
                let names: Vec<&str> = findings.iter().map(FindingId::name).collect();
                write!(f, "whatever the numbers say, the comparison is invalid: {}", names.join(", "))
            }
        }
    }
}
