//! From what was measured to what may be concluded. Pure: no clock, no I/O, no threads; every random number comes from
//! a seed among the arguments, so the same record always gives the same report.
//!
//! ```text
//! Study ─ design ─► Plan ─(conductor: assess, next_step)─► StudyRecord
//! StudyRecord ─ blocks ─► used blocks ─ metrics ─► one number a launch ─ sequential ─► Effect ┐
//!             └ audit ──► findings ──────────────────────────────────────────────────────────┴ verdict ─► Report
//! ```
//!
//! A caller needs a plan, the next step, what to show meanwhile, and the report; the sequential test, Holm's steps, changes of level, the
//! warm-up's rule and curves over concurrency are open to their calibration (`crates/calibration`), the rest is private.
//!
//! How a verdict is reached: `docs/method.md`; why so: ADR 5.

mod assess;
mod audit;
mod blocks;
pub mod boundaries;
mod budget;
mod changepoint;
mod claim;
mod compare;
mod compiling;
mod cores;
mod correlation;
mod cumulative_responses;
mod curve;
mod design;
mod effective;
mod ended;
mod factorial;
mod forecast;
pub mod holm;
mod hosts;
mod levels;
pub mod limit;
mod limit_summary;
mod linear;
mod matched;
mod metrics;
mod next;
mod outlook;
mod pace;
mod profiling;
mod quantity;
mod ramp_up;
mod reach;
mod regimes;
mod robust;
mod same_run;
mod scalability;
mod sentence;
pub mod sequential;
mod series;
mod settled;
mod soak;
mod steady;
mod step;
mod student;
mod summary;
mod trend;
mod verdict;
mod warm_up;
mod warming_up;
mod way_out;
mod why;

#[cfg(test)]
mod clean_imports;
#[cfg(test)]
mod fixture;

pub use assess::{Assessment, assess, excluded};
pub use audit::{RULES, Rule, audit_imported, audit_load, audit_pair, audit_series, audit_settings};
pub use boundaries::Boundaries;
pub use budget::{NoRoom, more_for_profiling};
pub use changepoint::{Shift, shifts};
pub use claim::{ClaimError, answer_claim};
pub use compare::looks;
pub use compiling::Compiling;
pub use design::{one_after_another, plan, plan_within, rounds};
pub use factorial::aliases;
pub use forecast::forecast;
pub use hosts::hosts_of;
pub use next::{missing_profiling_runs, next_step};
pub use outlook::outlook;
pub use pace::{block_time, profiling_aside, profiling_time, time_left};
pub use profiling::profiling_window;
pub use ramp_up::ramp_up;
pub use same_run::distinct;
pub use scalability::curves;
pub use soak::{course, soaked};
pub use steady::{Second, Steadiness, warm_up_length};
pub use step::{Next, Stop};
pub use verdict::analyse;
