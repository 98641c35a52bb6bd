//! A file a command: what was typed becomes what is meant, then is done.

pub mod check;
pub mod doctor;
pub mod init;
pub mod load;
mod redirect;
pub mod report;
pub mod run;
mod spool;
pub mod stored;
pub mod target;
