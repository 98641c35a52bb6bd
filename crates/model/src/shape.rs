//! Load shapes: what makes requests start. The times at which they do are the `load` crate's work.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limit::FindLimit;

/// A load as a workload is measured under it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Connections, and so the most requests in flight: the users of a closed loop, the cap of an open one.
    pub connections: u32,
    /// What makes requests start; in a search for the limit at the first rate that is tried.
    pub arrivals: Arrivals,
    /// Where the highest rate is looked for at which an objective holds: how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub find_limit: Option<FindLimit>,
}

impl Shape {
    /// A closed loop of so many users, who do not think.
    pub fn users(users: u32) -> Self {
        Self { connections: users, arrivals: Arrivals::default(), find_limit: None }
    }

    /// An open loop over at most so many connections.
    pub fn open(connections: u32, profile: Profile) -> Self {
        Self { connections, arrivals: Arrivals::Open(profile), find_limit: None }
    }

    /// Its part of a cell's name: `20`, `300/s`, `stages`, `limit`.
    pub fn name(&self) -> String {
        match &self.arrivals {
            _ if self.find_limit.is_some() => "limit".to_owned(),
            Arrivals::Closed { .. } => self.connections.to_string(),
            Arrivals::Open(profile) => {
                profile.constant_rate().map_or_else(|| "stages".to_owned(), |rate| format!("{rate}/s"))
            }
        }
    }
}

/// What makes requests start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Closed loop: each user has a connection, and asks again after the answer and after thinking about it. All of
    /// them begin at once.
    Closed {
        /// How long a user thinks after each answer, if at all.
        think: Option<Think>,
        /// How many of the connections have a user when, step after step; after the last step none has. Each has one
        /// all the time where there are no steps.
        steps: Vec<Step>,
    },
    /// Open loop: requests are due when the profile says so, whatever the server does. What is due while no
    /// connection is free waits: first due, first sent.
    Open(Profile),
}

impl Default for Arrivals {
    /// Users who are always there, and do not think.
    fn default() -> Self {
        Self::Closed { think: None, steps: Vec::new() }
    }
}

impl Arrivals {
    /// Whether requests are due at times of their own.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// Whether it asks as much at all times, as far as the server lets it.
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Closed { steps, .. } => steps.is_empty(),
            Self::Open(profile) => profile.constant_rate().is_some(),
        }
    }

    /// Its steps or stages, each with its name (`20`, `300/s`, `0-200/s`) and length, over so many connections.
    pub fn parts(&self, connections: u32) -> Vec<(String, Duration)> {
        match self {
            Self::Closed { steps, .. } if steps.is_empty() => vec![(connections.to_string(), Duration::MAX)],
            Self::Closed { steps, .. } => steps.iter().map(|step| (step.users.to_string(), step.length)).collect(),
            Self::Open(profile) => profile.stages.iter().map(|stage| (stage.name(), stage.length)).collect(),
        }
    }

    /// How long it goes on by itself; `None` for ever.
    pub fn length(&self) -> Option<Duration> {
        match self {
            Self::Closed { steps, .. } => (!steps.is_empty()).then(|| steps.iter().map(|step| step.length).sum()),
            Self::Open(profile) => profile.length(),
        }
    }
}

/// How long a user thinks after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Think {
    /// Always this long.
    Fixed(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
}

/// A time in which so many users ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Their number.
    pub users: u32,
    /// Its length.
    pub length: Duration,
}

/// How many requests are due when, stage after stage. After the last stage none is due any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The stages, one after the other.
    pub stages: Vec<Stage>,
    /// How arrivals keep to the rate.
    pub spacing: Spacing,
}

/// A time in which the rate moves evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// Rate at its beginning, requests/s, 0 or more.
    pub from: f64,
    /// Rate at its end, requests/s, 0 or more.
    pub to: f64,
    /// Its length; 0 where the rate jumps.
    pub length: Duration,
}

/// How arrivals keep to a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Each at the moment at which the rate has added up to one more request; the first at the beginning.
    Even,
    /// As of many users who know nothing of each other: a Poisson process of this rate.
    Poisson,
}

impl Profile {
    /// The highest rate that a load may have, requests/s: beyond what one machine can ask.
    pub const MOST_RATE: f64 = 1e6;

    /// `rate` requests/s for ever, evenly spaced.
    pub fn constant(rate: f64) -> Self {
        Self { stages: vec![Stage { from: rate, to: rate, length: Duration::MAX }], spacing: Spacing::Even }
    }

    /// Stages that lead from rate to rate, requests/s, each within its time; the first begins at 0.
    pub fn through(rates: impl IntoIterator<Item = (f64, Duration)>, spacing: Spacing) -> Self {
        let mut from = 0.0;
        let stage = |(to, length)| Stage { from: std::mem::replace(&mut from, to), to, length };
        Self { stages: rates.into_iter().map(stage).collect(), spacing }
    }

    /// The rate where it is one for ever, requests/s.
    pub fn constant_rate(&self) -> Option<f64> {
        match self.stages[..] {
            [Stage { from, length: Duration::MAX, .. }] => Some(from),
            _ => None,
        }
    }

    /// How long anything is due; `None` for ever.
    pub fn length(&self) -> Option<Duration> {
        self.stages
            .iter()
            .try_fold(Duration::ZERO, |sum, stage| sum.checked_add(stage.length))
            .filter(|sum| *sum < Duration::MAX)
    }

    /// Requests due within `time` of the beginning: the integral of the rate.
    pub fn due_within(&self, time: Duration) -> f64 {
        let mut left = time;
        let due = |stage: &Stage| {
            let within = stage.length.min(left);
            left -= within;
            stage.due_within(within)
        };
        self.stages.iter().map(due).sum()
    }
}

impl Stage {
    /// `300/s`, or `0-200/s` where the rate moves.
    fn name(&self) -> String {
        let Self { from, to, .. } = self;
        if from.total_cmp(to).is_eq() { format!("{to}/s") } else { format!("{from}-{to}/s") }
    }

    /// Requests due within `time` of its beginning, which is not longer than the stage: the integral of its rate.
    pub fn due_within(&self, time: Duration) -> f64 {
        if time.is_zero() {
            return 0.0;
        }
        let (time, length) = (time.as_secs_f64(), self.length.as_secs_f64());
        let reached = self.from + (self.to - self.from) * (time / length);
        f64::midpoint(self.from, reached) * time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn shapes_have_names() {
        let open = |profile| Shape::open(500, profile);
        let ramp = Profile::through([(200.0, SECOND)], Spacing::Poisson);
        assert_eq!(Shape::users(20).name(), "20");
        assert_eq!(open(Profile::constant(300.0)).name(), "300/s");
        assert_eq!(open(Profile::constant(0.5)).name(), "0.5/s");
        assert_eq!(open(ramp).name(), "stages");
    }

    #[test]
    fn what_was_written_is_read() {
        let shape = Shape::open(500, Profile::constant(300.0));
        for shape in [shape, Shape::users(20)] {
            assert_eq!(serde_json::from_str::<Shape>(&serde_json::to_string(&shape).unwrap()).unwrap(), shape);
        }
    }

    #[test]
    fn stages_lead_on_from_the_one_before() {
        let profile =
            Profile::through([(200.0, 10 * SECOND), (200.0, 30 * SECOND), (50.0, Duration::ZERO)], Spacing::Even);
        let stage = |from, to, length| Stage { from, to, length };
        assert_eq!(profile.stages[..2], [stage(0.0, 200.0, 10 * SECOND), stage(200.0, 200.0, 30 * SECOND)]);
        assert_eq!(profile.length(), Some(40 * SECOND));
        assert_eq!((profile.constant_rate(), Profile::constant(5.0).constant_rate()), (None, Some(5.0)));
        assert_eq!(Profile::constant(5.0).length(), None);
        let due = |time| profile.due_within(time);
        assert!(
            [(5, 250.0), (10, 1_000.0), (11, 1_200.0), (40, 7_000.0), (99, 7_000.0)]
                .iter()
                .all(|(seconds, count)| (due(*seconds * SECOND) - count).abs() < 1e-6)
        );
        assert!((Profile::constant(5.0).due_within(7 * SECOND) - 35.0).abs() < 1e-9);
    }

    #[test]
    fn a_load_of_steps_or_stages_ends_by_itself() {
        let steps = vec![Step { users: 1, length: SECOND }, Step { users: 5, length: 2 * SECOND }];
        assert_eq!(Arrivals::Closed { think: None, steps }.length(), Some(3 * SECOND));
        assert_eq!(Arrivals::default().length(), None);
    }
}
