//! Scenarios made ready for one target.

use std::fs;
use std::sync::Arc;

use model::scenario::{self, Body, Each};
use model::{Scenarios, Template};
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::cookies::Jar;
use super::error::ScriptError;
use super::feeder::{Feeder, FeederExhausted};
use super::step::PreparedStep;
use super::template::Names;
use super::user::User;
use crate::fetch::Answer;
use crate::target::Target;

/// Streams of random numbers from here on are users'.
const FIRST_STREAM: u64 = 1 << 32;

/// Scenarios made ready for one target. Clones share the rows of the feeders, of which those that users take in turn
/// go on from load to load.
#[derive(Debug, Clone)]
pub struct Script(pub(super) Arc<Ready>);

#[derive(Debug)]
pub(super) struct Ready {
    pub setup: Vec<PreparedStep>,
    pub scenarios: Vec<Scenario>,
    pub teardown: Vec<PreparedStep>,
    feeders: Vec<Feeder>,
    /// How many variables there are.
    variables: usize,
    /// Sum of the scenarios' weights.
    weights: u64,
}

/// What an iteration may be.
#[derive(Debug)]
pub(super) struct Scenario {
    weight: u32,
    pub steps: Vec<PreparedStep>,
    /// Place of the first step among those of all scenarios.
    pub first: usize,
}

impl Script {
    /// Makes scenarios ready: reads the files that they name, and finds what is wrong with them.
    pub fn new(scenarios: &Scenarios, target: &Target) -> Result<Self, ScriptError> {
        let weights = scenarios.scenarios.iter().map(|scenario| u64::from(scenario.weight)).sum();
        let idle = |scenario: &scenario::Scenario| scenario.steps.is_empty() || scenario.weight == 0;
        if weights == 0 || scenarios.scenarios.iter().any(idle) {
            return Err(ScriptError::Nothing);
        }
        let scenarios = &with_templates_read(scenarios.clone())?;
        let mut names = Names::default();
        let mut columns = Vec::new();
        let mut feeders = Vec::new();
        for feeder in &scenarios.feeders {
            let (read, own) = Feeder::read(feeder, &mut names)?;
            feeders.push(read);
            columns.push(own);
        }
        if let Some(missing) = scenarios.missing(&columns) {
            return Err(ScriptError::Variable {
                step: missing.step,
                variable: missing.variable,
                known: missing.known.join(", "),
            });
        }
        let mut ready = |steps: &[scenario::ScenarioStep]| -> Result<Vec<PreparedStep>, ScriptError> {
            steps.iter().map(|step| PreparedStep::new(step, target, &mut names)).collect()
        };
        let mut first = 0;
        let (setup, teardown) = (ready(&scenarios.setup)?, ready(&scenarios.teardown)?);
        let mut list = Vec::new();
        for scenario in &scenarios.scenarios {
            let steps = ready(&scenario.steps)?;
            let next = first + steps.len();
            list.push(Scenario { weight: scenario.weight, steps, first });
            first = next;
        }
        let variables = names.count();
        Ok(Self(Arc::new(Ready { setup, scenarios: list, teardown, feeders, variables, weights })))
    }

    /// Names of the measured steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.0.scenarios.iter().flat_map(|scenario| &scenario.steps).map(|step| step.name.as_str())
    }

    /// A user, by its number among all users of a load.
    pub(super) fn user(&self, number: usize, seed: u64) -> Result<User, FeederExhausted> {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        draws.set_stream(FIRST_STREAM + number as u64);
        let mut user = User {
            values: vec![String::new(); self.0.variables],
            jar: Jar::default(),
            answer: Answer::default(),
            turns: vec![number; self.0.feeders.len()],
            draws,
        };
        self.feed(Each::User, &mut user)?;
        Ok(user)
    }

    /// Begins an iteration; says of which scenario.
    pub(super) fn begin(&self, user: &mut User) -> Result<usize, FeederExhausted> {
        self.feed(Each::Iteration, user)?;
        let Ready { scenarios, weights, .. } = &*self.0;
        if scenarios.len() == 1 {
            return Ok(0);
        }
        let mut drawn = user.draws.random_range(0..*weights);
        let reached = |scenario: &Scenario| {
            let weight = u64::from(scenario.weight);
            let is_it = drawn < weight;
            drawn = drawn.saturating_sub(weight);
            is_it
        };
        Ok(scenarios.iter().position(reached).unwrap_or(0))
    }

    /// Takes rows of the feeders that give them so often.
    pub(super) fn feed(&self, each: Each, user: &mut User) -> Result<(), FeederExhausted> {
        for (feeder, turn) in self.0.feeders.iter().zip(&mut user.turns) {
            if feeder.each() == each {
                feeder.feed(turn, &mut user.values)?;
            }
        }
        Ok(())
    }
}

/// The same scenarios with the templates in the place of the files that hold them.
fn with_templates_read(mut scenarios: Scenarios) -> Result<Scenarios, ScriptError> {
    let Scenarios { setup, scenarios: list, teardown, .. } = &mut scenarios;
    let measured = list.iter_mut().flat_map(|scenario| &mut scenario.steps);
    for body in setup.iter_mut().chain(measured).chain(teardown).filter_map(|step| step.body.as_mut()) {
        if let Body::TemplateFile(file) = body {
            let text = fs::read_to_string(&*file).map_err(|source| ScriptError::File { file: file.clone(), source })?;
            let template =
                Template::parse(&text).map_err(|source| ScriptError::Template { file: file.clone(), source })?;
            *body = Body::Text(template);
        }
    }
    Ok(scenarios)
}
