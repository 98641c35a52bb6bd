//! Why a load could not be made.

use std::io;
use std::path::PathBuf;

use model::Profile;
use rustix::io::Errno;
use thiserror::Error;

use crate::scenario::{FeederExhausted, StepFailed};

/// Why a load could not be made. A server that fails is no such error: its failures are counted.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The load asks nothing.
    #[error("a load needs at least one request, one address, one connection, one thread and a time limit above zero")]
    Nothing,
    /// The rates of an open loop are none.
    #[error("an open loop needs rates in requests/s that are 0 or more, at most {most}, and not all 0", most = Profile::MOST_RATE)]
    Rates,
    /// There is no `io_uring` for us, though it was asked for by name.
    #[error(
        "io_uring cannot be used here ({0}; seccomp and the limit of locked memory, `ulimit -l`, can forbid it): \
         choose epoll, or leave the choice to bakeoff"
    )]
    NoIoUring(io::Error),
    /// This process may not open so many connections.
    #[error("{wanted} file descriptors are needed, the hard limit is {limit}: raise it (ulimit -Hn)")]
    Descriptors {
        /// Descriptors needed.
        wanted: u64,
        /// Descriptors allowed.
        limit: u64,
    },
    /// A user could not set up, so that nothing was measured.
    #[error("set-up failed: {0}")]
    SetUp(#[source] StepFailed),
    /// A step was not answered when it was looked at.
    #[error(transparent)]
    Look(StepFailed),
    /// A feeder whose rows are unique has none left.
    #[error(
        "all {rows} rows of `{}` are used up: give it more, ask for less, or let `take` be \"shared\" or \"recycled\"",
        file.display()
    )]
    FeederExhausted {
        /// The feeder's file.
        file: PathBuf,
        /// How many rows it has.
        rows: usize,
    },
    /// The system refused.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

impl From<FeederExhausted> for LoadError {
    fn from(FeederExhausted { file, rows }: FeederExhausted) -> Self {
        Self::FeederExhausted { file, rows }
    }
}

impl LoadError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(Errno) -> Self {
        move |error| Self::System { doing, source: error.into() }
    }
}
