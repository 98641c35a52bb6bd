//! Who has the turn: side by side, one launch of a block does something at a time, and the others wait.
//!
//! A launch takes its [`TurnHandle`]'s turn before it does anything to its server (starts it, asks it, loads it, ends it) and passes it on
//! when its server has started, and after each slice of load. In every round each launch that is left has one turn. The first round is
//! in the plan's order, those after it in random balanced order. What a round is like (its slices' length, whether all have become steady)
//! is decided before it begins, from what the rounds before it showed: it is the same for all launches.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::{Phase, Waited};
use server::ProcessTree;

/// Length of a measured slice, unless drains ask for more. A turn costs 4 to 16 ms beside it; shorter slices meet more of the same noise
/// (ADR 13).
const SLICE: Duration = Duration::from_millis(500);
/// Length of a slice of warm-up. In a drain compilers have the processors for themselves: the fewer there are, the more a server warms
/// up as it does alone (ADR 15).
const WARM_UP_SLICE: Duration = Duration::from_secs(5);
/// The longest slice.
const LONGEST_SLICE: Duration = Duration::from_secs(10);
/// A slice lasts at least so many times as long as the longest drain of the round before.
const DRAINS: u32 = 10;
/// How often who waits looks whether the run is interrupted.
const LOOK: Duration = Duration::from_millis(100);

/// The launches of a block, and whose turn it is.
pub(super) struct TurnScheduler<'a> {
    state: Mutex<State>,
    changed: Condvar,
    interrupted: &'a AtomicBool,
    began: Instant,
}

struct State {
    /// The launches that are left, by place.
    present: Vec<bool>,
    /// Whether one of them failed in such a way that the block is given up.
    given_up: bool,
    round: Round,
    /// Places in this round's order, and the index there of the one whose turn it is.
    order: Vec<usize>,
    at: usize,
    orders: Box<dyn Iterator<Item = Vec<usize>> + Send>,
    /// The longest drain of this round.
    drain: Duration,
    /// When each launch was found steady, seconds of load.
    steady_at: Vec<Option<f64>>,
    /// What runs of each, its services included.
    trees: Vec<Vec<ProcessTree>>,
}

/// What is the same for all turns of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Round {
    /// Its number, from 0.
    pub number: u32,
    /// The longest drain of the round before.
    pub drain: Duration,
    /// Seconds of load until all launches that are left were found steady, the latest counting; `None` as long as one was not.
    pub steady_at: Option<f64>,
}

impl Round {
    /// How long each slice is in this phase, unless its load ends sooner.
    pub fn slice(self, phase: Phase) -> Duration {
        let least = if phase == Phase::WarmUp { WARM_UP_SLICE } else { SLICE };
        (self.drain * DRAINS).clamp(least, LONGEST_SLICE)
    }
}

impl<'a> TurnScheduler<'a> {
    /// For so many launches; `orders` gives the places of each round after the first.
    pub fn new(
        launches: usize,
        orders: impl Iterator<Item = Vec<usize>> + Send + 'static,
        interrupted: &'a AtomicBool,
    ) -> Self {
        let state = State {
            present: vec![true; launches],
            given_up: false,
            round: Round { number: 0, drain: Duration::ZERO, steady_at: None },
            order: (0..launches).collect(),
            at: 0,
            orders: Box::new(orders),
            drain: Duration::ZERO,
            steady_at: vec![None; launches],
            trees: vec![Vec::new(); launches],
        };
        Self { state: Mutex::new(state), changed: Condvar::new(), interrupted, began: Instant::now() }
    }

    /// The seat of the launch at this place in the plan's order.
    pub fn seat(&self, place: usize) -> TurnHandle<'_> {
        TurnHandle { scheduler: self, place, ends_well: false }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_turn_of(&self, place: usize) -> bool {
        self.order.get(self.at) == Some(&place)
    }

    /// Gives the turn to the next who is left, in this round or a new one.
    fn advance(&mut self) {
        if !self.present.contains(&true) {
            return;
        }
        loop {
            self.at += 1;
            if self.at >= self.order.len() {
                self.begin_round();
            }
            if self.order.get(self.at).is_some_and(|place| self.present[*place]) {
                return;
            }
        }
    }

    fn begin_round(&mut self) {
        let all = || (0..self.present.len()).collect();
        let order = self.orders.next().unwrap_or_else(all);
        let left = || self.present.iter().zip(&self.steady_at).filter(|(present, _)| **present);
        let steady_at = left().map(|(_, steady)| *steady).try_fold(0.0_f64, |latest, at| Some(latest.max(at?)));
        self.round = Round { number: self.round.number + 1, drain: mem::take(&mut self.drain), steady_at };
        (self.order, self.at) = (order, 0);
    }
}

/// A turn that a launch has, from one load to the next: it passes it on after each slice.
pub(super) struct Turn<'a> {
    pub seat: &'a TurnHandle<'a>,
    pub round: Round,
    /// What its server did while it waited for this turn, where it was under load before.
    pub waited: Option<Waited>,
}

/// The place of a launch among those of its block. Who drops it has left, and the block is given up; [`TurnHandle::complete`] leaves without that.
pub(super) struct TurnHandle<'a> {
    scheduler: &'a TurnScheduler<'a>,
    place: usize,
    ends_well: bool,
}

impl TurnHandle<'_> {
    /// Waits for its turn; `None` when the run is interrupted or the block is given up.
    pub fn take(&self) -> Option<Turn<'_>> {
        let mut state = self.scheduler.state();
        loop {
            if state.given_up || self.scheduler.interrupted.load(Ordering::Relaxed) {
                return None;
            }
            if state.is_turn_of(self.place) {
                return Some(Turn { seat: self, round: state.round, waited: None });
            }
            let waited = self.scheduler.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Passes the turn on, which it has, and waits for its next one, as [`Self::take`] does.
    pub fn next(&self) -> Option<Turn<'_>> {
        self.pass();
        self.take()
    }

    fn pass(&self) {
        self.scheduler.state().advance();
        self.scheduler.changed.notify_all();
    }

    /// Notes how long the slice of this turn took to drain, and when the launch was found steady, if it was.
    pub fn report(&self, drain: Duration, steady_at: Option<f64>) {
        let mut state = self.scheduler.state();
        state.drain = state.drain.max(drain);
        state.steady_at[self.place] = steady_at;
    }

    /// Leaves with a result, so that the others may go on.
    pub fn complete(mut self) {
        self.ends_well = true;
    }

    /// Notes what runs of this launch.
    pub fn register(&self, trees: Vec<ProcessTree>) {
        self.scheduler.state().trees[self.place] = trees;
    }

    /// The resident memory of the largest launch that runs, bytes, and how many have not started yet, this one included.
    pub fn memory(&self) -> (u64, u64) {
        let state = self.scheduler.state();
        let started = state.trees.iter().filter(|trees| !trees.is_empty()).count();
        let to_start = state.present.iter().filter(|present| **present).count().saturating_sub(started);
        let of = |trees: &Vec<ProcessTree>| trees.iter().map(ProcessTree::rss_bytes).sum::<u64>();
        (state.trees.iter().map(of).max().unwrap_or(0), to_start as u64)
    }

    /// What runs of the others.
    pub fn others(&self) -> Vec<ProcessTree> {
        let state = self.scheduler.state();
        let others = state.trees.iter().enumerate().filter(|(place, _)| *place != self.place);
        others.flat_map(|(_, trees)| trees.clone()).collect()
    }

    /// Since when the block's turns go on.
    pub fn began(&self) -> Instant {
        self.scheduler.began
    }
}

impl Drop for TurnHandle<'_> {
    fn drop(&mut self) {
        let mut state = self.scheduler.state();
        let had_turn = state.is_turn_of(self.place);
        state.present[self.place] = false;
        state.given_up |= !self.ends_well;
        state.trees[self.place] = Vec::new();
        if had_turn {
            state.advance();
        }
        drop(state);
        self.scheduler.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Who had which turn, of launches that leave after so many turns each.
    fn turns(leave_after: &[usize]) -> Vec<(u32, usize)> {
        let interrupted = AtomicBool::new(false);
        let scheduler = TurnScheduler::new(leave_after.len(), analysis::rounds(leave_after.len(), 1, 0), &interrupted);
        let seen = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for (place, turns) in leave_after.iter().enumerate() {
                let (seat, seen) = (scheduler.seat(place), &seen);
                scope.spawn(move || {
                    for turn in 0..*turns {
                        let round = seat.take().unwrap().round;
                        seen.lock().unwrap().push((round.number, place));
                        if turn + 1 < *turns {
                            seat.pass();
                        }
                    }
                    seat.complete();
                });
            }
        });
        seen.into_inner().unwrap()
    }

    #[test]
    fn each_has_one_turn_a_round() {
        let seen = turns(&[5, 5, 5]);
        assert_eq!(seen[..3], [(0, 0), (0, 1), (0, 2)]);
        for (number, round) in (0..).zip(seen.chunks(3)) {
            let mut places: Vec<usize> = round.iter().map(|(_, place)| *place).collect();
            places.sort_unstable();
            assert_eq!((places, round[2].0), (vec![0, 1, 2], number));
        }
    }

    #[test]
    fn who_leaves_holds_nobody_up() {
        let seen = turns(&[1, 4, 2]);
        assert_eq!(seen.iter().map(|(round, _)| *round).collect::<Vec<_>>(), [0, 0, 0, 1, 1, 2, 3]);
        assert_eq!(seen[5..], [(2, 1), (3, 1)]);
    }

    #[test]
    fn a_round_is_decided_by_the_one_before() {
        let interrupted = AtomicBool::new(false);
        let scheduler = TurnScheduler::new(2, analysis::rounds(2, 1, 0), &interrupted);
        let seats = [scheduler.seat(0), scheduler.seat(1)];
        let round = |reports: [(u64, Option<f64>); 2]| {
            let order = scheduler.state().order.clone();
            for place in order {
                seats[place].take().unwrap();
                let (ms, steady_at) = reports[place];
                seats[place].report(Duration::from_millis(ms), steady_at);
                seats[place].pass();
            }
            scheduler.state().round
        };
        let second = round([(10, None), (900, Some(40.0))]);
        assert_eq!((second.number, second.steady_at), (1, None));
        assert_eq!([Phase::WarmUp, Phase::Measure].map(|phase| second.slice(phase)), [Duration::from_secs(9); 2]);
        let third = round([(10, Some(30.0)), (10, Some(40.0))]);
        assert_eq!((third.number, third.steady_at), (2, Some(40.0)));
        assert_eq!([Phase::WarmUp, Phase::Measure].map(|phase| third.slice(phase)), [WARM_UP_SLICE, SLICE]);
        assert_eq!(round([(60_000, Some(30.0)), (0, Some(40.0))]).slice(Phase::Measure), LONGEST_SLICE);
    }

    #[test]
    fn nobody_waits_for_a_block_that_is_given_up_or_a_run_that_is_interrupted() {
        let interrupted = AtomicBool::new(false);
        let scheduler = TurnScheduler::new(2, analysis::rounds(2, 1, 0), &interrupted);
        let (first, second) = (scheduler.seat(0), scheduler.seat(1));
        assert!(first.take().is_some());
        interrupted.store(true, Ordering::Relaxed);
        assert!(second.take().is_none());
        interrupted.store(false, Ordering::Relaxed);
        drop(first);
        assert!(second.take().is_none());
    }
}
