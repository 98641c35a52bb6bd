//! What was found about a load test that another tool made.

use serde::{Deserialize, Serialize};

use super::{AuditedSettings, HostOfRun, ImportedRun, Silence, SpeedLevel, Support};
use crate::Finding;

/// What was found about an imported run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditedRun {
    /// The run.
    pub run: ImportedRun,
    /// What it supports.
    pub support: Support,
    /// The levels of its speed; none where its file does not say.
    pub levels: Vec<SpeedLevel>,
    /// What its machines did meanwhile: a log each.
    pub hosts: Vec<HostOfRun>,
    /// What was found, gravest first.
    pub findings: Vec<Finding>,
    /// The rules that its file keeps too little for.
    pub silent: Vec<Silence>,
    /// The files of settings that belong to it.
    pub settings: Vec<AuditedSettings>,
}
