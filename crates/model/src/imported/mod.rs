//! Load tests that other tools made, as far as their files say, and what was found about them.

mod run;

pub use run::{AuditedRun, BadLine, Fidelity, ImportedRun, Interval, Level, Lines, Requests, Support};
