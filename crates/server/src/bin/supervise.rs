//! The supervisor as a program of its own: what tests launch servers through.

use std::process::ExitCode;

fn main() -> ExitCode {
    server::supervise()
}
