//! Load tests of one kind that other tools made, and what they say together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Silence, SpeedLevel, Support};
use crate::Finding;

/// Runs of one kind, and what was found about all of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditedSeries {
    /// What the names of its files have in common; `None` where all files are one series.
    pub name: Option<String>,
    /// Its runs in order of time, those without a time last.
    pub runs: Vec<RunOfSeries>,
    /// How far runs of the same users lie apart, fewest users first.
    pub scatter: Vec<Scatter>,
    /// Good requests in all held against the same time of each run; `None` where three runs have no such time in common.
    pub ranking: Option<Ranking>,
    /// The names of runs that are not ranked since half of their requests, or more, failed in that time.
    pub failing: Vec<String>,
    /// What was found, gravest first.
    pub findings: Vec<Finding>,
    /// The rules that its runs keep too little for.
    pub silent: Vec<Silence>,
}

/// A run, as far as it counts among others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunOfSeries {
    /// The file, as named.
    pub file: String,
    /// The file's name without what all names have in common at either end: their folder, and their extension.
    pub name: String,
    /// When the first request began, milliseconds since 1970; `None` where the file does not say.
    pub began_ms: Option<i64>,
    /// Whether that is a local time of a zone that the file does not say, taken for UTC.
    pub has_local_time: bool,
    /// From the end of the run before until it began, seconds; `None` for the first, where they overlap or have no times, and where a run
    /// whose time is of another kind may lie between.
    pub idle_s: Option<f64>,
    /// From the first request's beginning to the last one's end, seconds; 0 where the file does not say.
    pub seconds: f64,
    /// Users, or requests in flight, at most.
    pub users: Option<u32>,
    /// Requests that ended, well or not.
    pub requests: u64,
    /// Those of them that ended well.
    pub good: u64,
    /// Share of them that failed, 0..=1.
    pub failed_share: f64,
    /// The level on which its speed settled, its warm-up over. `None` where its file keeps no series, and where half of the requests in it
    /// or more failed.
    pub settled: Option<SpeedLevel>,
    /// How its speed fell from there; `None` where it did not.
    pub fall: Option<Fall>,
    /// What it supports.
    pub support: Support,
}

/// How the speed of a run fell for the first time: by a fifth or more, from one level to the next. Levels in which half of the requests or
/// more failed, and what comes after them, do not count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fall {
    /// When it began to, seconds since the first request.
    pub after_s: f64,
    /// What it fell to, requests a second.
    pub rate: f64,
    /// What it fell to as a part of the settled level's rate.
    pub left: f64,
    /// Whether it fell that once, and stayed there.
    pub is_only: bool,
}

/// How far the settled rates of good requests of runs of the same users lie apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scatter {
    /// Their users; `None` where the files do not say.
    pub users: Option<u32>,
    /// The runs, three or more.
    pub runs: usize,
    /// The lowest and the highest rate, requests a second.
    pub range: [f64; 2],
    /// Standard deviation as a part of the mean.
    pub variation: f64,
    /// The difference that 19 of 20 pairs of further such runs stay below, as a part of the mean.
    pub smallest: f64,
    /// The run that lies furthest from the median, where the variation is less than half without it, and the variation without it.
    pub without: Option<(String, f64)>,
}

/// Good requests in all, held against the same time of each run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranking {
    /// The time, seconds since each run's first request: all users were at work, and none of the runs had fallen.
    pub window_s: [f64; 2],
    /// The runs that can be ranked, most good requests in all first.
    pub ranked: Vec<Ranked>,
    /// The rank correlation (Spearman) of good requests in all and in the window, −1..=1; `None` where either is the same in all runs.
    pub agreement: Option<f64>,
}

/// A run that can be ranked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ranked {
    /// Its name in the series.
    pub name: String,
    /// Good requests in all.
    pub good: u64,
    /// Good requests a second in the window.
    pub rate: f64,
    /// Share of the window's requests that failed, 0..=1.
    pub failed_share: f64,
}
