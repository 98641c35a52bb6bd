//! All that an audit of files found.

use super::{AnsweredClaim, AuditedPair, AuditedRun, AuditedSettings};

/// The version of an audit's JSON, alone, of a pair or of series. A change that readers have to know of makes it one more.
pub const SCHEMA_VERSION: u32 = 1;

/// What was found in files, in their order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Audit {
    /// The runs.
    pub runs: Vec<AuditedRun>,
    /// Why other files have no results, each with its name.
    pub refused: Vec<String>,
    /// Why logs of a machine belong to none of the runs, each with its file's name.
    pub unused: Vec<String>,
    /// Files of settings that belong to none of the runs.
    pub settings: Vec<AuditedSettings>,
    /// The second run held against the first, where that was asked for.
    pub pair: Option<AuditedPair>,
    /// What becomes of a claim about the two, where one was made.
    pub claim: Option<AnsweredClaim>,
}
