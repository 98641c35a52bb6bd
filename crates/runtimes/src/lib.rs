//! What `HotSpot`, JRuby, MRI and their launchers are like: their options, variables, sentences and needs, with the source of each.
//!
//! Pure knowledge: tables, and functions from text to text. Nothing here asks a process or knows of a study.
//!
//! ```text
//! a text of a study's, a variable's or a command's ─→ Given{key, name, value}    parsed once
//! ```

pub mod command;
pub mod gc_log;
mod given;
pub mod inert;
pub mod jruby;
pub mod jvm;
mod key;
pub mod mri;
pub mod names;
pub mod removed;
pub mod said;
pub mod variables;

pub use command::Command;
pub use given::Given;
pub use key::{Key, Limit, RuntimePart};
pub use variables::OptionVariable;
