//! The client: asks a server for the same things again and again, over HTTP/1.1 or HTTP/2 on connections that are kept,
//! and records what came of every request.
//!
//! A [`Load`] says what is asked, over how many connections, when and until when; [`run`] does it and hands over one
//! [`model::Sample`] a second. [`fetch()`] gets one whole answer.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use std::time::Duration;
//!
//! use load::{Flow, LengthRule, Load, PreparedRequest, Stop, Target};
//! use model::study::{Expect, Request};
//!
//! let target = Target::from(std::net::SocketAddr::from(([127, 0, 0, 1], 8080)));
//! let request = Request { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: None };
//! let prepared = PreparedRequest::new(&request, &Expect::default(), &target, LengthRule::Any)?;
//! let answer = load::fetch(&target, &prepared, Duration::from_secs(5))?;
//! let prepared = prepared.with_length(LengthRule::Exact(answer.body.len() as u64));
//!
//! let load = Load { connections: 20, ..Load::new(target, vec![prepared], Stop::After(Duration::from_secs(30))) };
//! let summary = load::run(&load, &AtomicBool::new(false), &mut |sample| {
//!     println!("{} good in {} s", sample.tally.good, sample.length_s);
//!     Flow::Continue
//! })?;
//! println!("p50 = {} µs", summary.service.quantile(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From the outside in: `run` spreads a load over threads and merges what they saw; `engine` is one thread's loop;
//! `work` says what is asked, the same things in turn or, by `scenario`, steps that depend on each other; `backend`
//! moves the bytes; `arrivals` says when requests start, by `schedule` in an open loop; `connection` follows one
//! connection without touching a socket, on a `wire`: HTTP/1.1 as it is, or layers of `tls` and `http2`; `receive` reads,
//! and asks the kernel when bytes came; `response` finds where a response ends; `recorder` makes samples. `expected` holds a single
//! answer of `fetch` against what a study expects.

mod arrivals;
mod backend;
mod connection;
mod content;
mod engine;
mod error;
mod expected;
mod fetch;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod http2;
mod merge;
mod pattern;
mod protocol;
mod receive;
mod recorder;
mod request;
mod response;
mod run;
mod scenario;
mod schedule;
mod target;
mod tls;
mod turns;
mod wire;
mod work;

pub use arrivals::{Stop, users_at};
pub use backend::best_backend;
pub use error::LoadError;
pub use expected::Expected;
pub use fetch::{Answer, FetchError, fetch};
pub use http2::Http2Error;
pub use pattern::PatternError;
pub use protocol::Protocol;
pub use request::{LengthRule, PreparedRequest, RequestError};
pub use run::{Load, RequestSource, Summary, allow_connections, run, run_from, run_in_turns};
pub use scenario::{Script, ScriptError, StepAnswer, StepFailed};
pub use schedule::{Starts, intended_starts};
pub use target::{Address, Target};
pub use tls::{Identity, Tls, TlsError, TlsOptions};
pub use turns::{Flow, SliceEnd, Turns};
pub use wire::WireError;
