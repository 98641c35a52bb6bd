//! Going through a script once, request by request: set-up, tear-down, and single looks. Nothing of it is measured.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use model::scenario::Each;

use super::check::is_missing;
use super::error::{Reason, ShownBody, StepFailed};
use super::script::Script;
use super::step::{PreparedStep, keep_cookies};
use super::user::User;
use super::walk::Visitor;
use crate::LoadError;
use crate::fetch::{Answer, fetch};
use crate::target::Target;

/// Users who set up, or tear down, at the same time.
const AT_ONCE: usize = 32;

/// Bytes of an answer that are shown.
const SHOWN: usize = 200;

/// Shortest value of a variable that is hidden where an answer is shown, bytes.
const SECRET: usize = 4;

/// The answer to a step that was looked at.
#[derive(Debug, Clone)]
pub struct StepAnswer {
    /// The step's name.
    pub step: String,
    /// Its answer.
    pub answer: Answer,
    /// What of it is not as it must be.
    pub unmet: Option<String>,
}

/// What came of the tear-downs of a load.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TornDown {
    /// Users whose tear-down failed.
    pub failed: u64,
    /// Why the first of them did.
    pub first: Option<String>,
}

impl Script {
    /// Has a user of its own go through set-up, each scenario once and tear-down, and returns what the scenarios'
    /// steps were answered. A step whose answer is not good ends its scenario. Feeders give it rows as to any user.
    pub fn look(&self, target: &Target, limit: Duration) -> Result<Vec<StepAnswer>, LoadError> {
        let mut user = self.user(0, 0)?;
        let visit = Visit { target, limit };
        visit.all(&self.0.setup, &mut user).map_err(LoadError::SetUp)?;
        let seen = self.seen(visit, &mut user);
        // What a look leaves behind is no part of what it reports.
        let _ = visit.all(&self.0.teardown, &mut user);
        seen
    }

    fn seen(&self, visit: Visit<'_>, user: &mut User) -> Result<Vec<StepAnswer>, LoadError> {
        let mut seen = Vec::new();
        for scenario in &self.0.scenarios {
            self.feed(Each::Iteration, user)?;
            for step in &scenario.steps {
                let wrong = visit.one(step, user).map_err(LoadError::Look)?;
                let is_wrong = wrong.is_some();
                seen.push(StepAnswer { step: step.name.clone(), answer: user.answer.clone(), unmet: wrong });
                if is_wrong {
                    break;
                }
            }
        }
        Ok(seen)
    }
}

/// Has every user go through the set-up of its scripts, until one fails or `stop` is set.
pub(crate) fn set_up(
    scripts: &[Script],
    visitors: &mut [Visitor],
    target: &Target,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<(), LoadError> {
    let visit = Visit { target, limit };
    let failed = AtomicBool::new(false);
    let errors = each(visitors, |visitor| {
        for (script, user) in scripts.iter().zip(&mut visitor.users) {
            if stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            visit.all(&script.0.setup, user).inspect_err(|_| failed.store(true, Ordering::Relaxed))?;
            visitor.scripts_set_up += 1;
        }
        Ok(())
    });
    errors.into_values().next().map_or(Ok(()), |error| Err(LoadError::SetUp(error)))
}

/// Has every user go through the tear-down of those of its scripts that it has set up, all users together within `limit`.
pub(crate) fn tear_down(scripts: &[Script], visitors: &mut [Visitor], target: &Target, limit: Duration) -> TornDown {
    let deadline = Instant::now() + limit;
    let errors = each(visitors, |visitor| {
        for (script, user) in scripts.iter().zip(&mut visitor.users).take(visitor.scripts_set_up) {
            // A request that has no time left fails at once, and counts as one that took too long.
            let limit = deadline.saturating_duration_since(Instant::now()).max(Duration::from_micros(1));
            Visit { target, limit }.all(&script.0.teardown, user)?;
        }
        Ok(())
    });
    TornDown { failed: errors.len() as u64, first: errors.into_values().next().map(|error| error.to_string()) }
}

/// Has `act` done for every visitor, several at once; returns the errors by the visitor's number.
fn each(
    visitors: &mut [Visitor],
    act: impl Fn(&mut Visitor) -> Result<(), StepFailed> + Sync,
) -> BTreeMap<usize, StepFailed> {
    let workers = visitors.len().min(AT_ONCE);
    let (waiting, errors) = (Mutex::new(visitors.iter_mut().enumerate()), Mutex::new(BTreeMap::new()));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some((number, visitor)) = next() {
            if let Err(error) = act(visitor) {
                errors.lock().unwrap_or_else(PoisonError::into_inner).insert(number, error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    errors.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How single requests are made.
#[derive(Clone, Copy)]
struct Visit<'a> {
    target: &'a Target,
    /// Longest time for each.
    limit: Duration,
}

impl Visit<'_> {
    /// Goes through steps until one fails.
    fn all(self, steps: &[PreparedStep], user: &mut User) -> Result<(), StepFailed> {
        for step in steps {
            if let Some(wrong) = self.one(step, user)? {
                let (status, body) = (user.answer.status, &user.answer.body);
                // An answer that refuses holds nothing to be taken, and says why.
                let is_taken_from = step.takes_variables() && status < 400;
                let body = if is_taken_from {
                    ShownBody::Length(body.len())
                } else {
                    ShownBody::Beginning(beginning(body, &user.values))
                };
                let reason = Reason::Answered { wrong, status, body };
                return Err(StepFailed { step: step.name.clone(), reason });
            }
        }
        Ok(())
    }

    /// Makes one request; returns what is wrong with its answer, which `user` has then.
    fn one(self, step: &PreparedStep, user: &mut User) -> Result<Option<String>, StepFailed> {
        let request = step.request(user, self.target);
        user.answer = fetch(self.target, &request, self.limit)
            .map_err(|error| StepFailed { step: step.name.clone(), reason: Reason::Unanswered(error) })?;
        keep_cookies(&user.answer, request.bytes(), &mut user.jar);
        if let Err(failure) = request.judge(user.answer.status, user.answer.body.len() as u64) {
            return Ok(Some(failure.name().to_owned()));
        }
        Ok(step.take_in(user).err().map(is_missing))
    }
}

/// The beginning of a body, without the values of variables.
fn beginning(body: &[u8], values: &[String]) -> String {
    let body = String::from_utf8_lossy(&body[..body.len().min(16 * SHOWN)]).into_owned();
    let mut secrets: Vec<&String> = values.iter().filter(|value| value.len() >= SECRET).collect();
    // One may be the beginning of another.
    secrets.sort_by_key(|secret| Reverse(secret.len()));
    let hidden = secrets.into_iter().fold(body, |text, secret| text.replace(secret.as_str(), "***"));
    hidden.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_shown_without_secrets() {
        let values = ["hunt".to_owned(), "hunter2".to_owned(), "a".to_owned(), String::new()];
        let body = format!("no user ann with password hunter2 {}", "x".repeat(500));
        let shown = beginning(body.as_bytes(), &values);
        assert!(shown.starts_with("no user ann with password *** x"), "{shown}");
        assert_eq!(shown.chars().count(), SHOWN);
    }
}
