//! The real program, from the command line to the exit code, against servers whose behaviour is known: all goes well,
//! servers fail in every way, runs are cut short. One test program, so that tests that mostly wait do so together.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has to fail")]

mod audit;
mod audit_settings;
mod commands;
mod common;
mod disturbed;
mod faults;
mod interrupted;
mod isolation;
mod limits;
mod load;
#[path = "../../../load/tests/behaviour/nginx.rs"]
mod nginx;
mod options;
#[path = "../../../load/tests/behaviour/ports.rs"]
mod ports;
mod probes;
mod profiling;
mod run;
mod services;
mod settings;
mod shapes;
mod side_by_side;
mod soak;
mod studies;
mod terminal;
mod transports;
