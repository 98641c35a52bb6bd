//! What a launch that is soaked gets, and what it shows while the soak goes on.

use std::sync::mpsc::Sender;

use model::{SoakPlan, SoakRecord, SoakWindow};

/// What a launch is soaked with, and who keeps what it shows.
pub(super) struct Soaking<'a> {
    pub plan: &'a SoakPlan,
    /// When it began, RFC 3339.
    pub started: String,
    pub seen: Sender<Seen>,
}

/// What a soak shows while it goes on.
pub(super) enum Seen {
    /// It is warm: all that is known by now.
    Warm(Box<SoakRecord>),
    /// A window is over.
    Window(Box<SoakWindow>),
}
