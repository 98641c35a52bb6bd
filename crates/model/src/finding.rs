//! What makes a result untrue, or limits it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Limits what the result says.
    Warning,
    /// Vetoes the verdict.
    Invalid,
}

impl Severity {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Invalid => "invalid",
        }
    }
}

/// The rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FindingId {
    /// Variants answer the same request differently.
    ResponsesDiffer,
    /// Requests failed.
    Errors,
    /// A variant could not be launched or measured.
    TrialFailed,
    /// Processes of a server were killed for lack of memory, and it went on without them.
    MemoryLimitHit,
    /// Users of scenarios left things behind.
    TearDownFailed,
    /// A factor's setting is not what the running process has.
    SettingNotEffective,
    /// The runtime does not start with a setting.
    SettingRefused,
    /// A factor's setting has a name the runtime does not know.
    SettingUnknown,
    /// A factor's setting is what the process would have had anyway.
    SettingIsDefault,
    /// A setting is accepted and does nothing in this configuration.
    SettingInert,
    /// A factor's setting could not be read back.
    SettingUnverified,
    /// What the study wants to see in the running server was not seen there.
    AssertionFailed,
    /// A start script assigned an option variable again without its old value.
    OptionsOverwritten,
    /// A pool is smaller than the users at once.
    PoolTooSmall,
    /// Variants differ in more than the declared factors.
    Confounded,
    /// The load generator was the bottleneck.
    ClientSaturated,
    /// Requests of an open loop were due faster than they were answered.
    RateNotKept,
    /// The load generator stood still.
    ClientPaused,
    /// Client and server took each other's cores.
    SharedCores,
    /// The machine's speed was borrowed.
    BurstCredit,
    /// A launch used the host while another one was loaded.
    BusyWhileWaiting,
    /// A server ended connections while it waited for its turn.
    ConnectionsLost,
    /// Something else used the host.
    HostNoise,
    /// The host ran short of memory.
    Swapping,
    /// No block counts.
    NoBlockUsed,
    /// Too few launches for any verdict.
    NotReplicated,
    /// A variant's speed had not settled.
    NotSteady,
    /// The speed changed for good while it was measured.
    RegimeChange,
    /// The run was short on purpose.
    QuickMode,
    /// A load is too short to say much.
    TooShort,
    /// No request ended for a while.
    Stall,
    /// Those who would have asked during a stall are missing from the latencies.
    CoordinatedOmission,
    /// The client had no port left to connect from.
    OutOfPorts,
}

impl FindingId {
    /// Every rule.
    pub const ALL: [Self; 33] = [
        Self::ResponsesDiffer,
        Self::Errors,
        Self::TrialFailed,
        Self::MemoryLimitHit,
        Self::TearDownFailed,
        Self::SettingNotEffective,
        Self::SettingRefused,
        Self::SettingUnknown,
        Self::SettingIsDefault,
        Self::SettingInert,
        Self::SettingUnverified,
        Self::AssertionFailed,
        Self::OptionsOverwritten,
        Self::PoolTooSmall,
        Self::Confounded,
        Self::ClientSaturated,
        Self::RateNotKept,
        Self::ClientPaused,
        Self::SharedCores,
        Self::BurstCredit,
        Self::BusyWhileWaiting,
        Self::ConnectionsLost,
        Self::HostNoise,
        Self::Swapping,
        Self::NoBlockUsed,
        Self::NotReplicated,
        Self::NotSteady,
        Self::RegimeChange,
        Self::QuickMode,
        Self::TooShort,
        Self::Stall,
        Self::CoordinatedOmission,
        Self::OutOfPorts,
    ];

    /// The id printed in reports and taken by `bakeoff explain`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ResponsesDiffer => "responses-differ",
            Self::Errors => "errors",
            Self::TrialFailed => "trial-failed",
            Self::MemoryLimitHit => "memory-limit-hit",
            Self::TearDownFailed => "tear-down-failed",
            Self::SettingNotEffective => "setting-not-effective",
            Self::SettingRefused => "setting-refused",
            Self::SettingUnknown => "setting-unknown",
            Self::SettingIsDefault => "setting-is-default",
            Self::SettingInert => "setting-inert",
            Self::SettingUnverified => "setting-unverified",
            Self::AssertionFailed => "assertion-failed",
            Self::OptionsOverwritten => "options-overwritten",
            Self::PoolTooSmall => "pool-too-small",
            Self::Confounded => "confounded",
            Self::ClientSaturated => "client-saturated",
            Self::RateNotKept => "rate-not-kept",
            Self::ClientPaused => "client-paused",
            Self::SharedCores => "shared-cores",
            Self::BurstCredit => "burst-credit",
            Self::BusyWhileWaiting => "busy-while-waiting",
            Self::ConnectionsLost => "connections-lost",
            Self::HostNoise => "host-noise",
            Self::Swapping => "swapping",
            Self::NoBlockUsed => "no-block-used",
            Self::NotReplicated => "not-replicated",
            Self::NotSteady => "not-steady",
            Self::RegimeChange => "regime-change",
            Self::QuickMode => "quick-mode",
            Self::TooShort => "too-short",
            Self::Stall => "stall",
            Self::CoordinatedOmission => "coordinated-omission",
            Self::OutOfPorts => "out-of-ports",
        }
    }

    /// The rule of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|id| id.name() == name)
    }
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule.
    pub id: FindingId,
    /// How much it matters here.
    pub severity: Severity,
    /// What it is about: a variant, a cell, a block, a setting.
    pub subject: String,
    /// The numbers it rests on.
    pub facts: Vec<Fact>,
    /// What it means for the result, one or two sentences.
    pub meaning: String,
    /// What to do about it.
    pub remedy: String,
}

/// One number or text that a finding rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Its value with its unit, as printed.
    pub value: String,
}

impl Fact {
    /// A named value.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_rules() {
        for id in FindingId::ALL {
            assert_eq!(FindingId::from_name(id.name()), Some(id));
            assert_eq!(serde_json::to_value(id).unwrap(), id.name());
        }
    }
}
