//! Real servers on every runtime: started, asked, watched and ended.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod assertion;
mod common;
mod handed_over;
mod jvm;
mod launch;
mod probes;
mod profiling;
mod serving;
mod settings;
mod supervise;
