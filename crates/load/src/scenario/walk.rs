//! The users of one thread on their way through scenarios, under load.

use std::time::Duration;

use model::Failure;

use super::feeder::FeederExhausted;
use super::script::Script;
use super::step::{PreparedStep, keep_cookies};
use super::user::User;
use crate::LoadError;
use crate::connection::{Connection, RequestEnd, RequestTimes};
use crate::recorder::Recorder;
use crate::request::PreparedRequest;
use crate::target::Target;
use crate::work::{NextAction, Work};

/// What the users of one thread do; each has a slot.
pub(crate) struct Walks<'a> {
    scripts: &'a [Script],
    target: &'a Target,
    /// Place of each script's first step among those of all.
    firsts: Vec<usize>,
    visitors: &'a mut [Visitor],
}

/// A user under load.
#[derive(Debug)]
pub(crate) struct Visitor {
    /// The user as each script knows it, to which it turns one after another.
    pub users: Vec<User>,
    /// Scripts whose set-up it has gone through, so that there is something to tear down.
    pub scripts_set_up: usize,
    /// The script whose turn it is, counted on.
    turn: usize,
    /// Where in an iteration it is.
    place: Option<Place>,
    /// The request in hand.
    request: Option<PreparedRequest>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    scenario: usize,
    step: usize,
    /// When the iteration began; known when its first request has ended.
    began: Duration,
}

/// The users of a load; `count` of them, each with its own number.
pub(crate) fn visitors(scripts: &[Script], count: usize, seed: u64) -> Result<Vec<Visitor>, FeederExhausted> {
    let visitor = |number| {
        let users = scripts.iter().map(|script| script.user(number, seed)).collect::<Result<_, _>>()?;
        Ok(Visitor { users, scripts_set_up: 0, turn: number, place: None, request: None })
    };
    (0..count).map(visitor).collect()
}

/// The names under which steps are recorded, in order: a number distinguishes scripts where there are several.
pub(crate) fn step_names(scripts: &[Script]) -> Vec<String> {
    let numbered = scripts.iter().enumerate().flat_map(|(index, script)| {
        script
            .steps()
            .map(move |name| if scripts.len() > 1 { format!("{}/{name}", index + 1) } else { name.to_owned() })
    });
    numbered.collect()
}

impl<'a> Walks<'a> {
    pub fn new(scripts: &'a [Script], target: &'a Target, visitors: &'a mut [Visitor]) -> Self {
        let first = |sum: &mut usize, script: &Script| {
            let first = *sum;
            *sum += script.steps().count();
            Some(first)
        };
        Self { scripts, target, firsts: scripts.iter().scan(0, first).collect(), visitors }
    }
}

impl Visitor {
    /// The script in turn, and the user of it.
    fn user(&self, scripts: &[Script]) -> usize {
        self.turn % scripts.len()
    }
}

fn step<'s>(scripts: &'s [Script], visitor: &Visitor) -> &'s PreparedStep {
    let Place { scenario, step, .. } = visitor.place.unwrap_or(Place::START);
    &scripts[visitor.user(scripts)].0.scenarios[scenario].steps[step]
}

impl Place {
    const START: Self = Self { scenario: 0, step: 0, began: Duration::ZERO };
}

impl Work for Walks<'_> {
    fn is_midway(&self, slot: usize) -> bool {
        self.visitors[slot].place.is_some()
    }

    fn prepare(&mut self, slot: usize, _: u64) -> Result<usize, LoadError> {
        let visitor = &mut self.visitors[slot];
        let index = visitor.user(self.scripts);
        if visitor.place.is_none() {
            let scenario = self.scripts[index].begin(&mut visitor.users[index])?;
            visitor.place = Some(Place { scenario, ..Place::START });
        }
        visitor.request = Some(step(self.scripts, visitor).request(&visitor.users[index], self.target));
        let answer = &mut visitor.users[index].answer;
        answer.headers.clear();
        answer.body.clear();
        Ok(0)
    }

    fn request(&self, slot: usize, _: usize) -> &PreparedRequest {
        let visitor = &self.visitors[slot];
        visitor.request.as_ref().unwrap_or_else(|| step(self.scripts, visitor).rules())
    }

    fn received(&mut self, slot: usize, connection: &mut Connection, bytes: &[u8]) -> Option<RequestEnd> {
        let visitor = &mut self.visitors[slot];
        let step = step(self.scripts, visitor);
        let index = visitor.user(self.scripts);
        connection.received(bytes, step.rules(), &mut step.keep(&mut visitor.users[index].answer))
    }

    /// Bodies are few here, and most are looked at.
    fn skippable(&self, _: usize, _: &Connection) -> u64 {
        0
    }

    fn skipped(&mut self, _: usize, _: &mut Connection, _: u64) -> Option<RequestEnd> {
        None
    }

    fn closed(&mut self, slot: usize, connection: &mut Connection) -> RequestEnd {
        let visitor = &mut self.visitors[slot];
        let step = step(self.scripts, visitor);
        let index = visitor.user(self.scripts);
        connection.closed(step.rules(), &mut step.keep(&mut visitor.users[index].answer))
    }

    fn ended<Emit: FnMut(model::Sample)>(
        &mut self,
        slot: usize,
        ended: &mut RequestEnd,
        took: RequestTimes,
        end: Duration,
        recorder: &mut Recorder<Emit>,
    ) -> NextAction {
        let visitor = &mut self.visitors[slot];
        let index = visitor.user(self.scripts);
        let Some(place) = visitor.place.as_mut() else { return NextAction::default() };
        let scenario = &self.scripts[index].0.scenarios[place.scenario];
        let step = &scenario.steps[place.step];
        let user = &mut visitor.users[index];
        let mut unmet = None;
        if let Some(answered) = ended.answered {
            user.answer.status = answered.status;
            if let Some(request) = &visitor.request {
                keep_cookies(&user.answer, request.bytes(), &mut user.jar);
            }
            if ended.judged.is_ok()
                && let Err(what) = step.take_in(user)
            {
                ended.judged = Err(Failure::Content);
                unmet = Some(what);
            }
        }
        if place.step == 0 {
            place.began = end.saturating_sub(took.response.unwrap_or(took.service));
        }
        let first = self.firsts[index] + scenario.first;
        recorder.step(first + place.step, took, ended, unmet);
        let next = place.step + 1;
        if ended.judged.is_ok() && next < scenario.steps.len() {
            place.step = next;
            return NextAction { midway: true, think: step.think };
        }
        if ended.judged.is_ok() {
            recorder.finished(end.saturating_sub(place.began));
        } else {
            recorder.stopped(first + next..first + scenario.steps.len());
        }
        visitor.place = None;
        visitor.turn += 1;
        NextAction { midway: false, think: step.think.filter(|_| ended.judged.is_ok()) }
    }
}
