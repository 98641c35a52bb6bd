//! What a running server does, looked at closely: who uses its CPU time, and what its virtual machine records of itself. It
//! disturbs, so it is for launches that measure nothing.

mod jfr;
mod threads;

pub use jfr::Recorder;
pub use threads::CpuWatch;
