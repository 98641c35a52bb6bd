//! What a running server does, looked at closely: who uses its CPU time, and what its virtual machine records of itself. It
//! disturbs, so it is for launches that measure nothing.

mod jfr;
mod stackprof;
mod threads;

use model::profiling::Recording;

pub(crate) use jfr::FlightRecorder;
pub(crate) use stackprof::{PROBE as STACKPROF_PROBE, Sampling};
pub use threads::CpuWatch;

/// A recording that has begun. It ends with the server at the latest.
#[derive(Debug)]
pub enum Recorder {
    /// Of a JVM.
    Jfr(FlightRecorder),
    /// Of MRI.
    Stackprof(Sampling),
}

impl Recorder {
    /// Ends it and adds it up. The file stays.
    pub fn end(self) -> Recording {
        match self {
            Self::Jfr(recorder) => recorder.end(),
            Self::Stackprof(sampling) => sampling.end(),
        }
    }
}
