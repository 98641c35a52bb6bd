//! A user of a script.

use rand_chacha::ChaCha8Rng;

use super::cookies::Jar;
use crate::fetch::Answer;

/// What a user of a script has at hand.
#[derive(Debug)]
pub(crate) struct User {
    /// The variables' values; empty before they get any.
    pub values: Vec<String>,
    pub jar: Jar,
    /// The last answer, as far as the step looks at it.
    pub answer: Answer,
    /// By feeder: the user's number and how many rows it took.
    pub(super) turns: Vec<usize>,
    pub(super) draws: ChaCha8Rng,
}
