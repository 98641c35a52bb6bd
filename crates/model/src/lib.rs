//! The words of bakeoff: what a study asks, what was planned, what was measured, what was concluded.
//!
//! Every other crate depends on this one and on none of its siblings; data flows one way:
//!
//! ```text
//! study.toml -> Study -> Plan -> TrialRecord[] -> StudyRecord -> Report
//! ```
//!
//! The types carry data and small facts about it (polarity, merging, names); they do no I/O.

pub mod assertion;
pub mod attribution;
pub mod change;
pub mod curve;
pub mod finding;
pub mod fitness;
pub mod forecast;
pub mod histogram;
pub mod host;
pub mod imported;
mod integrity;
pub mod jvm;
pub mod limit;
pub mod load;
pub mod malformed;
pub mod metric;
pub mod options;
pub mod plan;
pub mod profiling;
pub mod record;
pub mod report;
pub mod ruby;
pub mod run;
pub mod sample;
pub mod scalability;
pub mod scenario;
pub mod search;
pub mod shape;
pub mod soak;
pub mod soaked;
pub mod study;
pub mod subject;
pub mod template;
#[cfg(feature = "testing")]
pub mod testing;
pub mod text;
pub mod trial;
pub mod turns;
pub mod verdict;
pub mod warm_up;
pub mod why;

pub use attribution::Attribution;
pub use change::{ChangedSeries, LevelChange};
pub use curve::AgeCurve;
pub use finding::{Fact, FactValue, Finding, FindingId, Severity};
pub use forecast::Forecast;
pub use histogram::Histogram;
pub use host::{Backend, ClientFloor, HostFacts, HostUse, NoisyNeighbour};
pub use jvm::{CollectorUse, GcUse, JvmCounters, JvmUse};
pub use limit::{FindLimit, Objective};
pub use load::LoadRecord;
pub use malformed::Malformed;
pub use metric::{Metric, Polarity};
pub use options::{ChangedOptions, LiveOptions};
pub use plan::{
    BASELINE, Block, Cell, CellIndex, Mode, Plan, Schedule, SoakPlan, Trial, TrialKey, VariantIndex, WarmUpLength,
};
pub use profiling::{ProfilingRun, ProfilingSkipped};
pub use record::StudyRecord;
pub use report::Report;
pub use ruby::{JrubyCounts, RubyGc};
pub use run::{RunSummary, Status};
pub use sample::{BodyLength, Failure, Sample, ServerUse, Switches, Tally, Walked};
pub use scalability::Scalability;
pub use scenario::Scenarios;
pub use search::LimitSearch;
pub use shape::{Arrivals, Profile, Shape, Spacing, Stage, Step, Think};
pub use soak::{Held, SoakHeap, SoakRecord, SoakUse, SoakWindow};
pub use soaked::{Course, Gauge, SoakReport, Soaked};
pub use study::{Launches, Study};
pub use subject::{Names, SharedSettings, Subject};
pub use template::{Template, TemplateError};
pub use trial::{
    AnswerSample, CellRecord, Failed, FailedTearDowns, LaunchFacts, Outcome, Phase, READY_POLL, Setting, SettingResult,
    SettingSource, Steady, TrialRecord, WarmUpRecord,
};
pub use turns::{Slice, Waited};
pub use verdict::{Comparison, Effect, Interpretation, Needs, Outlook, Reach, Role, Verdict};
pub use warm_up::WarmingUp;
pub use why::Why;
