//! What each factor contributes where several of them differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Effect, Interpretation, VariantIndex};

/// The primary metric's difference shared out among the factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Attribution {
    /// The effects that the design can estimate: main effects first, then interactions of two.
    pub contributions: Vec<Contribution>,
    /// What the design cannot separate, a sentence each.
    pub aliases: Vec<String>,
}

/// One effect, averaged over the levels of the other factors. All of a study's intervals hold at once with the stated
/// confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contribution {
    /// Whether it is a factor's own effect or one that two have on each other.
    pub kind: ContributionKind,
    /// It in words: `ruby: jruby against mri`, `ruby jruby × server webrick`.
    pub name: String,
    /// The variants that it rests on.
    pub variants: Vec<VariantIndex>,
    /// A log ratio: of a main effect, level against level; of an interaction, what the first factor's effect is more at that
    /// level of the second. Absent with fewer blocks than an interval needs.
    pub effect: Option<Effect>,
    /// How it reads.
    pub interpretation: Interpretation,
}

/// What an effect is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ContributionKind {
    /// A level of a factor against its first.
    Main,
    /// A level of each of two factors.
    Interaction,
}
