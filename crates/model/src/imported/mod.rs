//! Load tests that other tools made, as far as their files say, and what was found about them.

mod audit;
mod audited;
mod host;
mod pair;
mod run;
mod series;
mod settings;
mod silence;

pub use audit::{Audit, SCHEMA_VERSION};
pub use audited::AuditedRun;
pub use host::{HostLog, HostOfRun, HostSample, HostShares, HostTimes, Placed};
pub use pair::{Answer, AnsweredClaim, AuditedPair, Matched, ONE_RUN, Pace, Times, Totals};
pub use run::{BadLine, Fidelity, ImportedRun, Interval, Lines, Requests, SpeedLevel, Stated, Support};
pub use series::{AuditedSeries, Fall, Ranked, Ranking, RunOfSeries, Scatter};
pub use settings::{Assignment, AuditedSettings, EffectiveOption, OptionDifference, Overwrite, Settings};
pub use silence::Silence;
