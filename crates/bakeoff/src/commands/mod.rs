//! A file a command: what was typed becomes what is meant, then is done.

pub mod audit;
pub mod check;
pub mod doctor;
pub mod init;
pub mod load;
mod redirect;
pub mod report;
pub mod run;
mod soak;
mod spool;
pub mod stored;
pub mod target;

use miette::IntoDiagnostic as _;

/// The command line that ends up in `server::supervise`: this program's hidden subcommand.
fn supervisor() -> miette::Result<Vec<String>> {
    let ourselves = std::env::current_exe().into_diagnostic()?;
    Ok(vec![ourselves.to_string_lossy().into_owned(), "supervise".to_owned()])
}
