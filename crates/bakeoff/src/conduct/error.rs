//! Why a run cannot go on, and why a trial has no end.

use miette::{Diagnostic, NamedSource, SourceSpan};
use model::{Failed, Study, text};
use server::{LaunchError, PlaceholderError, SuperviseError};
use thiserror::Error;

/// Why a run cannot go on. What was measured is stored.
#[derive(Debug, Error, Diagnostic)]
pub enum ConductError {
    /// The store took no more.
    #[error(transparent)]
    Store(#[from] store::StoreError),
    /// The study's setup failed, or what it says cannot be done here.
    #[error(transparent)]
    Launch(Box<LaunchError>),
    /// A text of the study cannot be completed here.
    #[error("{why}")]
    Text {
        /// Why.
        why: Box<PlaceholderError>,
        /// The study file.
        #[source_code]
        file: NamedSource<String>,
        /// Where it stands there, as far as it can be found.
        #[label("needed here")]
        place: Option<SourceSpan>,
    },
    /// A launch did not end as it should, or could not be cleaned up after: what is left would disturb the next.
    #[error("{left}")]
    End {
        /// What was not ended, or not cleaned up.
        left: Box<LaunchError>,
        /// What had failed before that, where something had.
        #[source]
        before: Option<Box<ConductError>>,
    },
    /// A variant cannot be put together on this machine.
    #[error("variant {variant} cannot run here")]
    Runtime {
        /// The variant's name.
        variant: String,
        /// Why.
        #[source]
        source: Box<server::RuntimeError>,
    },
    /// The launches of a block do not fit into memory at once.
    #[error("all launches of a block at once need {} of memory, and {} can be had", text::bytes(*need as f64), text::bytes(*available as f64))]
    #[diagnostic(help("write `launches = \"one-after-another\"` into `[design]`, or give the servers less memory"))]
    Memory {
        /// What those that are yet to start need, bytes: as much each as the largest so far, and a quarter more.
        need: u64,
        /// What there is for them, bytes.
        available: u64,
    },
    /// A workload cannot be sent.
    #[error("workload {workload} cannot be sent")]
    Request {
        /// The workload's name.
        workload: String,
        /// Why.
        #[source]
        source: load::RequestError,
    },
    /// The scenarios of a workload cannot be walked.
    #[error("workload {workload} cannot be walked")]
    Script {
        /// The workload's name.
        workload: String,
        /// Why.
        #[source]
        source: load::ScriptError,
    },
    /// The client itself failed.
    #[error(transparent)]
    Load(#[from] load::LoadError),
}

impl ConductError {
    pub(super) fn launch(study: &Study, error: LaunchError) -> Self {
        match error {
            LaunchError::Placeholder(why) => Self::Text {
                file: NamedSource::new(&study.file, study.source.clone()),
                place: place(&study.source, &why),
                why: Box::new(why),
            },
            LaunchError::Supervise(SuperviseError::Lost { .. } | SuperviseError::Survived { .. }) => {
                Self::End { left: Box::new(error), before: None }
            }
            error => Self::Launch(Box::new(error)),
        }
    }

    /// What is shown of a launch that failed with `error` and came to this end: first what may be left behind.
    pub(super) fn after(end: Result<(), LaunchError>, error: Self) -> Self {
        match end {
            Err(left) => Self::End { left: Box::new(left), before: Some(Box::new(error)) },
            Ok(()) => error,
        }
    }

    /// Whether something may be left behind that would disturb the next launch.
    pub(super) fn leaves_something(&self) -> bool {
        matches!(self, Self::End { .. })
    }
}

/// Where a study file has a text: as it was read or, where it is written in another way, what it lacks.
fn place(file: &str, error: &PlaceholderError) -> Option<SourceSpan> {
    let (text, lacks) = match error {
        PlaceholderError::Unknown { name, text, .. } => (text, format!("{{{name}}}")),
        PlaceholderError::Unset { name, text } => (text, format!("{{env.{name}}}")),
    };
    [text, &lacks].into_iter().find_map(|part| Some((file.find(part)?, part.len()).into()))
}

/// Why a trial has no end.
pub(super) enum TrialError {
    /// The variant could not be launched or measured: that is its result.
    Variant(Failed),
    /// Ctrl-C: there is no result.
    Interrupted,
    /// We failed: there is none either.
    Ours(ConductError),
}

impl<E: Into<ConductError>> From<E> for TrialError {
    fn from(error: E) -> Self {
        Self::Ours(error.into())
    }
}
