//! Load tests that other tools made, as far as their files say, and what was found about them.

mod audit;
mod host;
mod pair;
mod run;
mod series;

pub use audit::Audit;
pub use host::{HostLog, HostOfRun, HostSample, HostShares, HostTimes, Placed};
pub use pair::{Answer, AnsweredClaim, AuditedPair, Matched, Times, Totals};
pub use run::{AuditedRun, BadLine, Fidelity, ImportedRun, Interval, Level, Lines, Requests, Stated, Support};
pub use series::{AuditedSeries, Fall, Ranked, Ranking, RunOfSeries, Scatter, Silence};
