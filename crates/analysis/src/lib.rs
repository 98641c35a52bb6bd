//! From what was measured to what may be concluded. Pure: no clock, no I/O, no threads; every random number comes from
//! a seed among the arguments, so the same record always gives the same report.
//!
//! ```text
//! Study ─ design ─► Plan ─(conductor: assess, next_step)─► StudyRecord
//! StudyRecord ─ blocks ─► used blocks ─ metrics ─► one number a launch ─ sequential ─► Effect ┐
//!             └ audit ──► findings ──────────────────────────────────────────────────────────┴ verdict ─► Report
//! ```
//!
//! A caller needs a plan, the next step, what to show meanwhile, and the report; the sequential test, what it reads, Holm's steps, changes of level, the
//! warm-up's rule and curves over concurrency are open to their calibration (`crates/calibration`), the rest is private.
//!
//! How a verdict is reached: `docs/method.md`. Where that leaves its specification, and why: ADR 5.

mod assess;
mod audit;
mod blocks;
pub mod boundaries;
mod budget;
mod changepoint;
mod compare;
mod compiling;
mod cores;
mod curve;
mod design;
mod evidence;
mod factorial;
pub mod holm;
mod lead_in;
mod linear;
mod metrics;
mod next;
mod outlook;
mod pace;
mod reach;
pub mod reading;
mod regimes;
mod robust;
mod scalability;
pub mod sequential;
mod steady;
mod student;
mod summary;
mod total_work;
mod verdict;
mod warm_up;
mod way_out;
mod why;

#[cfg(test)]
mod fixture;

pub use assess::{Assessment, assess};
pub use audit::{audit_load, explain};
pub use blocks::set_aside;
pub use boundaries::Boundaries;
pub use budget::{NoRoom, enough_for_evidence};
pub use changepoint::{Shift, shifts};
pub use compare::looks;
pub use compiling::Compiling;
pub use design::{one_after_another, plan, plan_within, rounds};
pub use evidence::{evidence_time, evidence_window, missing_evidence, wants_evidence};
pub use factorial::aliases;
pub use lead_in::lead_in;
pub use next::{Next, Stop, next_step};
pub use outlook::outlook;
pub use pace::{block_time, evidence_launches, has_evidence_room, time_left};
pub use reach::{planned, smallest};
pub use scalability::curves;
pub use steady::{Second, Steadiness, Steady, cut};
pub use verdict::analyse;
