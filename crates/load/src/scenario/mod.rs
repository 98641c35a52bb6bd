//! What users do who do more than ask the same thing again and again ([`model::Scenarios`]).
//!
//! `script` makes scenarios ready for use: `template` fills in values, `feeder` gives them, `extract` takes them from
//! answers, `check` judges answers, `cookies` keeps cookies. `walk` has the users of one thread go through it under
//! load; `visit` goes through it once, request by request, for set-up, tear-down and single looks.

mod check;
mod content;
mod cookies;
mod error;
mod extract;
mod feeder;
mod script;
mod step;
pub(crate) mod template;
mod user;
mod visit;
mod walk;

pub use error::{ScriptError, StepFailed};
pub use script::Script;
pub use visit::StepAnswer;

pub(crate) use check::{Check, is_missing};
pub(crate) use content::Content;
pub(crate) use feeder::FeederExhausted;
pub(crate) use template::Names;
pub(crate) use visit::{TornDown, set_up, tear_down};
pub(crate) use walk::{Walks, step_names, visitors};
