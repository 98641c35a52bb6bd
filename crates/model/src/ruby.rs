//! What a Ruby counts of itself, reported before and after a load.

use std::ops::Add;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `JRuby` counts of itself and shows by its managed beans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JrubyCounts {
    /// Ruby exceptions (`ExceptionCount` of its bean `Runtime`); raised again, one counts once.
    pub exceptions: u64,
    /// Methods and blocks that its own compiler compiled as they became hot (`SuccessCount` of its bean `JITCompiler`), where
    /// it reports. Those of the script it is started with are compiled before, and not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<u64>,
}

impl JrubyCounts {
    /// What was counted since `before`; `None` where a count went down, so that it does not count what it should.
    pub fn since(self, before: Self) -> Option<Self> {
        let compiled = || self.compiled?.checked_sub(before.compiled?);
        Some(Self { exceptions: self.exceptions.checked_sub(before.exceptions)?, compiled: compiled() })
    }
}

/// What MRI's collector did, by `GC.stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RubyGc {
    /// Collections, minor and major.
    pub collections: u64,
    /// Major ones.
    pub major: u64,
    /// Their time, seconds, in whole ms; absent where it is not counted: before Ruby 3.1, and where the program has that turned off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<f64>,
    /// Objects allocated.
    pub allocated_objects: u64,
}

impl RubyGc {
    /// What it did since `before`; `None` where a count went down, so that it does not count what it should.
    pub fn since(self, before: Self) -> Option<Self> {
        let time_s = self.time_s.zip(before.time_s).map(|(after_s, before_s)| after_s - before_s);
        Some(Self {
            collections: self.collections.checked_sub(before.collections)?,
            major: self.major.checked_sub(before.major)?,
            time_s: Some(time_s).filter(|time_s| time_s.is_none_or(|time_s| time_s >= 0.0))?,
            allocated_objects: self.allocated_objects.checked_sub(before.allocated_objects)?,
        })
    }
}

/// What it did in two processes.
impl Add for RubyGc {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            collections: self.collections + other.collections,
            major: self.major + other.major,
            time_s: self.time_s.zip(other.time_s).map(|(one_s, other_s)| one_s + other_s),
            allocated_objects: self.allocated_objects + other.allocated_objects,
        }
    }
}
