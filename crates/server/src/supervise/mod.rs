//! Every program that bakeoff starts runs under a small supervisor process of its own, so that nothing outlives us.
//!
//! bakeoff re-executes itself as the supervisor and keeps a pipe to it. The supervisor is the subreaper of all that the
//! program starts, so no descendant can leave its tree: neither by a double fork nor by `setsid`. When bakeoff asks, or
//! when the pipe closes because bakeoff died (by `kill -9`, too), it ends the whole tree and only then itself.
//!
//! Lines on the supervisor's standard input: an [`Order`] as JSON, then `stop SECONDS`.
//! Lines on its standard output: one [`Report`](pipe::Report) each.

mod pipe;
mod supervised;
mod supervisor;

pub use pipe::Exit;
pub(crate) use pipe::Order;
pub use supervised::SuperviseError;
pub(crate) use supervised::{GLANCE, Supervised};
pub use supervisor::supervise;
