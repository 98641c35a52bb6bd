//! Whether a host is fit to measure on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::HostFacts;

/// What was found out about a host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// The host, with the floor of the client on it.
    pub host: HostFacts,
    /// What was looked at, in an order that does not change.
    pub checks: Vec<HostCheck>,
}

impl Examination {
    /// The worst of all checks.
    pub fn fitness(&self) -> Fitness {
        self.checks.iter().map(|check| check.fitness).max().unwrap_or(Fitness::Fit)
    }
}

/// One respect in which a host may be fit or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostCheck {
    /// What was looked at, such as `governor`.
    pub subject: String,
    /// How fit it is in that respect.
    pub fitness: Fitness,
    /// What was found.
    pub found: String,
    /// What to do about it; absent where nothing is to be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cure: Option<String>,
}

/// How fit a host is, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Nothing is wrong.
    Fit,
    /// It could not be found out.
    Unknown,
    /// Results will be noisier, or hold for less, than they could.
    Doubtful,
    /// What is measured here says little or nothing.
    Unfit,
}

impl Fitness {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fit => "fit",
            Self::Unknown => "unknown",
            Self::Doubtful => "doubtful",
            Self::Unfit => "unfit",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fitness::{Doubtful, Fit, Unfit, Unknown};
    use super::*;

    #[test]
    fn a_host_is_as_fit_as_the_worst_that_was_found() {
        let of = |all: &[Fitness]| {
            let check =
                |fitness: &Fitness| HostCheck { subject: "x".into(), fitness: *fitness, found: "x".into(), cure: None };
            Examination { host: HostFacts::default(), checks: all.iter().map(check).collect() }.fitness()
        };
        assert_eq!(of(&[]), Fit);
        assert_eq!(of(&[Fit, Unknown, Fit]), Unknown);
        assert_eq!(of(&[Doubtful, Unknown, Fit]), Doubtful);
        assert_eq!(of(&[Fit, Unfit, Doubtful]), Unfit);
    }
}
