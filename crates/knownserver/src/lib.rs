//! An HTTP/1.1 server whose behaviour is scripted and therefore known.
//!
//! Whatever measures servers has to be tried on one whose truth is not in doubt: this one answers
//! late by exactly the delay asked for, burns exactly the CPU asked for, fails exactly the requests
//! asked for, and counts every request so that a client's numbers can be reconciled to the request.
//!
//! ```
//! use knownserver::{Delay, KnownServer, Route, Script};
//! use std::time::Duration;
//!
//! let slow = Route { delay: Delay::Fixed(Duration::from_millis(5)), ..Route::text("/slow", "at last\n") };
//! let server = KnownServer::start(Script { routes: vec![slow], ..Script::default() })?;
//! assert!(server.url("/slow").starts_with("http://127.0.0.1:"));
//! assert_eq!(server.record().received, 0);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The flow of a request: [`script`] is what was asked, [`behaviour`] turns a request's number and
//! time into what is to be done (pure), the connection does it, [`record`] counts it.

pub mod behaviour;
mod connection;
mod kept;
mod pool;
mod receive;
pub mod record;
mod render;
mod request;
pub mod script;
mod serve;
mod shared;
pub mod span;
pub mod times;
mod worker;

pub use record::{PathRecord, RECORD_PATH, Record};
pub use script::{
    Body, Cache, Delay, Echo, ErrorBurst, Exit, ExitAfter, Fault, Leak, Route, Script, ScriptError, Stall, Varying,
    WarmUp,
};
pub use serve::KnownServer;
pub use shared::ServerEnd;
pub use times::Times;
