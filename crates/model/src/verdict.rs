//! What was concluded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CellIndex, FindingId, Metric, VariantIndex};

/// Fewest blocks from which an interval is made.
pub const FEWEST_BLOCKS: u32 = 3;

/// The answer to "does this variant differ from the baseline?".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Verdict {
    /// The primary metric improved.
    Better {
        /// By how much.
        effect: Effect,
    },
    /// The primary metric got worse.
    Worse {
        /// By how much.
        effect: Effect,
    },
    /// Any difference is smaller than what matters.
    Equivalent {
        /// The interval, all of it inside the region of practical equivalence.
        effect: Effect,
    },
    /// The run could not say.
    Inconclusive {
        /// What is known so far; absent with fewer blocks than an interval needs.
        effect: Option<Effect>,
        /// What it would take.
        needs: Needs,
    },
    /// The numbers do not bear on the question, whatever they say.
    Invalid {
        /// The vetoing rules.
        findings: Vec<FindingId>,
    },
}

impl Verdict {
    /// The word used in reports.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Better { .. } => "better",
            Self::Worse { .. } => "worse",
            Self::Equivalent { .. } => "equivalent",
            Self::Inconclusive { .. } => "inconclusive",
            Self::Invalid { .. } => "invalid",
        }
    }

    /// The sign that stands beside the word, so that no meaning rests on colour.
    pub fn sign(&self) -> &'static str {
        match self {
            Self::Better { .. } => "▲",
            Self::Worse { .. } => "▼",
            Self::Equivalent { .. } => "=",
            Self::Inconclusive { .. } => "?",
            Self::Invalid { .. } => "✗",
        }
    }
}

/// A difference with its repeated confidence interval. The first four are natural logarithms of the ratio
/// variant / baseline: 0 means no difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effect {
    /// Point estimate.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// How far from the estimate the interval reaches at least, on either side: what is counted is known no more finely, whatever the
    /// number of blocks. 0 where nothing is counted.
    pub resolution: f64,
    /// Blocks it rests on.
    pub blocks: u32,
    /// Confidence level of the interval, 0..=1, valid at every look.
    pub confidence: f64,
}

impl Effect {
    /// The ratio variant / baseline minus one, as a fraction, of a logarithm: 0.048 means 4.8 % more.
    pub fn fraction(log_ratio: f64) -> f64 {
        log_ratio.exp_m1()
    }

    /// The baseline against the variant.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { estimate: -self.estimate, low: -self.high, high: -self.low, ..*self }
    }

    /// Whether the interval excludes no difference at all.
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }

    /// Whether the whole interval lies within `±margin` (a log ratio).
    pub fn lies_within(&self, margin: f64) -> bool {
        self.low > -margin && self.high < margin
    }

    /// Whether any of the interval lies within `±margin` (a log ratio).
    pub fn overlaps(&self, margin: f64) -> bool {
        self.low < margin && self.high > -margin
    }
}

/// What an inconclusive run would have needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Needs {
    /// Why it ended inconclusive, a sentence.
    pub reason: String,
    /// The smallest difference (a log ratio) this run could have distinguished from none, where it can be said.
    pub smallest_effect: Option<f64>,
    /// Blocks a run as noisy would need to settle the question at the present estimate, where it can be said; absent where no number
    /// of blocks would, since the resolution is too coarse.
    pub blocks: Option<u32>,
}

/// What it takes to distinguish the difference that the study cares about from none, with a power of 80 %, as noisy as the run has been
/// so far. Absent numbers are of more blocks than a study can have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outlook {
    /// The difference, a fraction.
    pub detect: f64,
    /// Standard deviation of a block's difference, a log ratio.
    pub spread: f64,
    /// Blocks it takes.
    pub blocks: Option<u32>,
    /// How long a run of so many blocks takes, seconds, pilots included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Fewest and most, since the noise itself is known by a few blocks only: 80 % of samples of it have a spread between those two.
    pub range: [Option<u32>; 2],
    /// What more time shows, the run's own time first.
    pub reach: Vec<Reach>,
}

/// What a run of some length shows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reach {
    /// Its length, seconds, pilots included.
    pub seconds: f64,
    /// Blocks that it has.
    pub blocks: u32,
    /// The smallest difference that four of five such runs distinguish from none, a log ratio above zero.
    pub smallest: f64,
}

/// What a comparison is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Decides and stops the run.
    Primary,
    /// Judged once the run has ended, all of these together (Holm 1979): that some difference among them which is none is called
    /// better or worse is as seldom as a study's error rate says.
    Secondary,
    /// Reported without correction: a lead, not a result.
    Exploratory,
}

/// How an effect reads, given the region of practical equivalence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpretation {
    /// Better by a margin that excludes no difference.
    Better,
    /// Worse by a margin that excludes no difference.
    Worse,
    /// Inside the region of practical equivalence.
    Equivalent,
    /// None of these: the interval reaches into the region and beyond it, or there are too few blocks for one.
    Inconclusive,
    /// Not judged: a closed loop says nothing of the slow tail, since while the server stalls, its users wait and send nothing.
    NotJudged,
}

/// One metric of one variant against the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// What it is for.
    pub role: Role,
    /// What is compared.
    pub metric: Metric,
    /// The cell; `None` for all cells together (the mean of their logs) or for a metric of the launch.
    pub cell: Option<CellIndex>,
    /// Against the baseline.
    pub variant: VariantIndex,
    /// Median over the launches compared, in the metric's unit, of baseline and variant; absent where none were compared.
    pub typical: [Option<f64>; 2],
    /// Difference within each block, ln(variant) − ln(baseline), by block index.
    pub differences: Vec<(u32, f64)>,
    /// The estimate; absent with fewer blocks than an interval needs.
    pub effect: Option<Effect>,
    /// How it reads.
    pub interpretation: Interpretation,
}
