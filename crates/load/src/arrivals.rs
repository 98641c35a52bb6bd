//! When requests start: pure functions of the time and of how many were started.

use std::iter::{Skip, StepBy, Take};
use std::time::Duration;

use model::{Arrivals, Step, Think};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::schedule::{Starts, exponential, intended_starts};

/// When a load is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After this time. What is not answered then is not in the tally; an open loop counts it as unanswered.
    After(Duration),
    /// When exactly this many requests have ended, well or not; earlier when no more are ever due.
    Count(u64),
    /// Only when the observer or the stop flag says so, or when no more requests are ever due.
    External,
}

impl Stop {
    /// The moment after which nothing counts any more, if there is one.
    fn end(self) -> Option<Duration> {
        match self {
            Self::After(length) => Some(length),
            Self::Count(_) | Self::External => None,
        }
    }

    /// The most requests that are started, if that is what ends the load.
    fn count(self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(count),
            Self::After(_) | Self::External => None,
        }
    }

    /// When thread `index` of `threads` is done.
    fn share(self, threads: u64, index: u64) -> Self {
        match self {
            Self::Count(count) => Self::Count(share(count, threads, index)),
            Self::After(_) | Self::External => self,
        }
    }
}

/// How many users ask `time` after the beginning of a load of these steps. A step holds from its beginning until before
/// its end; after the last nobody asks.
pub fn users_at(steps: &[Step], time: Duration) -> u32 {
    step_at(steps, time).map_or(0, |(step, _)| step.users)
}

/// The step that holds at `time`, and its end.
fn step_at(steps: &[Step], time: Duration) -> Option<(Step, Duration)> {
    let ends = steps.iter().scan(Duration::ZERO, |end, step| {
        *end = end.saturating_add(step.length);
        Some((*step, *end))
    });
    ends.into_iter().find(|(_, end)| time < *end)
}

/// What a free connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dispatch {
    /// Start a request now, in an open loop one with this intended start.
    Send(Option<Duration>),
    /// Wait until a request is due.
    Idle,
    /// Start no more requests.
    End,
}

/// Where one thread's requests come from. Times count from the start of the load; `started` is how many requests
/// the thread has started.
pub(crate) enum Source<'a> {
    Closed(ClosedLoop<'a>),
    Open(Box<Queue<'a>>),
}

impl<'a> Source<'a> {
    /// What part `index` of `parts` does of a load. Of an open loop it takes every `parts`-th arrival, so that the
    /// schedule of all together does not depend on their number; of each step of a closed loop its share of the users.
    pub fn share(arrivals: &'a Arrivals, stop: Stop, seed: u64, parts: u64, index: u64) -> Self {
        let stop = stop.share(parts, index);
        match arrivals {
            Arrivals::Closed { think, steps } => {
                let mut draws = ChaCha8Rng::seed_from_u64(seed);
                draws.set_stream(index);
                Self::Closed(ClosedLoop::new(stop, *think, Users::share(steps, parts, index), draws))
            }
            Arrivals::Open(profile) => {
                let starts = intended_starts(profile, seed).skip(index as usize).step_by(parts as usize);
                Self::Open(Box::new(Queue::new(starts, stop)))
            }
        }
    }

    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// The moment after which nothing counts any more, if there is one.
    pub fn end(&self) -> Option<Duration> {
        match self {
            Self::Closed(closed) => closed.stop.end(),
            Self::Open(queue) => queue.end,
        }
    }

    /// When a connection that has nothing to do may have something: when the next request is due that [`Self::take_due`]
    /// has not taken, or when the number of users changes.
    pub fn next_change(&self) -> Option<Duration> {
        match self {
            Self::Closed(closed) => closed.users.until,
            Self::Open(queue) => queue.next,
        }
    }

    /// Puts the next request that is due at `now` into the backlog; returns its intended start.
    pub fn take_due(&mut self, now: Duration) -> Option<Duration> {
        match self {
            Self::Closed(_) => None,
            Self::Open(queue) => queue.take_due(now),
        }
    }

    /// Length of the backlog.
    pub fn waiting(&self) -> u64 {
        match self {
            Self::Closed(_) => 0,
            Self::Open(queue) => queue.waiting,
        }
    }

    /// Whether one more connection would have something to send, beside `live` that have.
    pub fn wants_connection(&mut self, now: Duration, started: u64, live: usize) -> bool {
        match self {
            Self::Closed(closed) => !closed.is_over(now, started) && (live as u64) < closed.users.at(now),
            Self::Open(queue) => queue.waiting > 0,
        }
    }

    /// Whether no connection will ever have anything to send.
    pub fn is_over(&self, now: Duration, started: u64) -> bool {
        match self {
            Self::Closed(closed) => closed.is_over(now, started),
            Self::Open(queue) => queue.is_over(),
        }
    }

    /// What a free connection does; it is one of the `live` ones, which have something to do.
    pub fn dispatch(&mut self, now: Duration, started: u64, live: usize) -> Dispatch {
        match self {
            Self::Closed(closed) => closed.dispatch(now, started, live as u64),
            Self::Open(queue) => queue.pop().map_or(Dispatch::Idle, |intended| Dispatch::Send(Some(intended))),
        }
    }

    /// How long a connection that was answered waits before it does what [`Self::dispatch`] says; in a closed loop at
    /// least as long as the request itself asks for.
    pub fn think(&mut self, now: Duration, started: u64, least: Option<Duration>) -> Option<Duration> {
        match self {
            Self::Closed(closed) => closed.think(now, started, least),
            Self::Open(_) => None,
        }
    }
}

/// Closed loop: each connection that has a user sends its next request after the answer to the one before.
pub(crate) struct ClosedLoop<'a> {
    stop: Stop,
    /// From when on nothing is started.
    end: Option<Duration>,
    users: Users<'a>,
    think: Option<Think>,
    /// Where think times are drawn from.
    draws: Box<ChaCha8Rng>,
}

impl<'a> ClosedLoop<'a> {
    fn new(stop: Stop, think: Option<Think>, users: Users<'a>, draws: ChaCha8Rng) -> Self {
        let end = [stop.end(), users.end()].into_iter().flatten().min();
        Self { stop, end, users, think, draws: Box::new(draws) }
    }

    fn is_over(&self, now: Duration, started: u64) -> bool {
        self.end.is_some_and(|end| now >= end) || self.stop.count().is_some_and(|count| started >= count)
    }

    fn dispatch(&mut self, now: Duration, started: u64, live: u64) -> Dispatch {
        if self.is_over(now, started) {
            Dispatch::End
        } else if live > self.users.at(now) {
            Dispatch::Idle
        } else {
            Dispatch::Send(None)
        }
    }

    fn think(&mut self, now: Duration, started: u64, least: Option<Duration>) -> Option<Duration> {
        if self.is_over(now, started) {
            return None;
        }
        let own = self.think.map(|think| match think {
            Think::Fixed(fixed) => fixed,
            Think::Exponential(mean) => mean.mul_f64(exponential(&mut self.draws)),
        });
        own.max(least)
    }
}

/// One part's users, whose number is looked up once a step.
struct Users<'a> {
    /// None where every connection has one all the time.
    steps: &'a [Step],
    parts: u64,
    index: u64,
    /// Their number.
    now: u64,
    /// Until when it holds; `None` for ever.
    until: Option<Duration>,
}

impl<'a> Users<'a> {
    fn share(steps: &'a [Step], parts: u64, index: u64) -> Self {
        let until = (!steps.is_empty()).then_some(Duration::ZERO);
        Self { steps, parts, index, now: u64::MAX, until }
    }

    /// Their number at `now`, which never goes back.
    fn at(&mut self, now: Duration) -> u64 {
        if self.until.is_some_and(|until| now >= until) {
            let step = step_at(self.steps, now);
            self.now = share(step.map_or(0, |(step, _)| step.users).into(), self.parts, self.index);
            self.until = step.map(|(_, end)| end);
        }
        self.now
    }

    /// After the last step.
    fn end(&self) -> Option<Duration> {
        let lengths = self.steps.iter().map(|step| step.length);
        (!self.steps.is_empty()).then(|| lengths.fold(Duration::ZERO, Duration::saturating_add))
    }
}

/// One part's arrivals.
type Schedule<'a> = Take<StepBy<Skip<Starts<'a>>>>;

/// Open loop: requests that are due wait for a connection, the oldest first.
///
/// The backlog is no list. What is due is a function of the arrival's number, so that it is worked out a second time when it
/// is sent: a server that hangs for an hour takes no memory, and no arrival need be dropped.
pub(crate) struct Queue<'a> {
    /// What is not due yet, but for `next`.
    starts: Schedule<'a>,
    /// What is not sent yet.
    unsent: Schedule<'a>,
    /// Nothing is due from here on.
    end: Option<Duration>,
    /// Intended start of the next request that is not in the backlog.
    next: Option<Duration>,
    /// Length of the backlog.
    waiting: u64,
}

impl<'a> Queue<'a> {
    fn new(starts: StepBy<Skip<Starts<'a>>>, stop: Stop) -> Self {
        let starts = starts.take(stop.count().map_or(usize::MAX, |count| count as usize));
        let mut queue = Self { unsent: starts.clone(), starts, end: stop.end(), next: None, waiting: 0 };
        queue.advance();
        queue
    }

    fn advance(&mut self) {
        self.next = self.starts.next().filter(|start| self.end.is_none_or(|end| *start < end));
    }

    fn take_due(&mut self, now: Duration) -> Option<Duration> {
        let intended = self.next.filter(|start| *start <= now)?;
        self.waiting += 1;
        self.advance();
        Some(intended)
    }

    /// Takes the oldest out of the backlog; returns its intended start.
    fn pop(&mut self) -> Option<Duration> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.unsent.next()
    }

    /// A load of a given length lasts so long even if nothing is due any more.
    fn is_over(&self) -> bool {
        self.end.is_none() && self.next.is_none() && self.waiting == 0
    }
}

/// Part `index` of `whole` when divided as evenly as can be among `parts`.
pub(crate) fn share(whole: u64, parts: u64, index: u64) -> u64 {
    whole / parts + u64::from(index < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Profile, Spacing, Stage};
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_closed_loop_sends_until_it_is_over() {
        let users = Arrivals::default();
        let mut timed = Source::share(&users, Stop::After(SECOND), 1, 1, 0);
        assert_eq!(timed.dispatch(SECOND.mul_f64(0.99), u64::MAX, 1), Dispatch::Send(None));
        assert_eq!(timed.dispatch(SECOND, 0, 1), Dispatch::End);
        let mut counted = Source::share(&users, Stop::Count(2), 1, 1, 0);
        assert_eq!(counted.dispatch(SECOND * 1_000, 1, 1), Dispatch::Send(None));
        assert_eq!(counted.dispatch(Duration::ZERO, 2, 1), Dispatch::End);
        assert!(counted.wants_connection(SECOND, 1, 0) && !counted.wants_connection(SECOND, 2, 0));
        let mut reported = Source::share(&users, Stop::External, 1, 1, 0);
        assert_eq!(reported.dispatch(SECOND * 1_000_000, u64::MAX, 1), Dispatch::Send(None));
        assert_eq!((reported.think(SECOND, 1, None), reported.next_change()), (None, None));
    }

    #[test]
    fn users_think_as_long_as_there_is_something_to_ask() {
        let users = Arrivals::Closed { think: Some(Think::Fixed(3 * MS)), steps: Vec::new() };
        let mut fixed = Source::share(&users, Stop::Count(2), 1, 1, 0);
        assert_eq!(fixed.think(SECOND, 1, None), Some(3 * MS));
        assert_eq!([MS, 9 * MS].map(|least| fixed.think(SECOND, 1, Some(least))), [Some(3 * MS), Some(9 * MS)]);
        assert_eq!(fixed.think(SECOND, 2, Some(MS)), None);
        let users = Arrivals::Closed { think: Some(Think::Exponential(3 * MS)), steps: Vec::new() };
        let drawn = |index| {
            let mut source = Source::share(&users, Stop::External, 5, 2, index);
            (0..10_000).filter_map(|_| source.think(SECOND, 0, None)).collect::<Vec<_>>()
        };
        let first = drawn(0);
        assert_eq!(first, drawn(0));
        assert_ne!(first, drawn(1));
        // Five standard errors; the draws are fixed by the seed, so this cannot fail by chance.
        let mean = first.iter().sum::<Duration>() / 10_000;
        assert!(mean.abs_diff(3 * MS) < 3 * MS / 20, "{mean:?}");
    }

    #[test]
    fn what_is_due_waits_for_its_turn() {
        let arrivals = Arrivals::Open(Profile::constant(100.0));
        let mut queue = Source::share(&arrivals, Stop::After(35 * MS), 1, 1, 0);
        assert_eq!((queue.dispatch(SECOND, 0, 1), queue.waiting()), (Dispatch::Idle, 0));
        assert_eq!(queue.take_due(15 * MS), Some(Duration::ZERO));
        assert_eq!(queue.take_due(15 * MS), Some(10 * MS));
        assert_eq!(queue.take_due(15 * MS), None);
        assert_eq!((queue.waiting(), queue.next_change()), (2, Some(20 * MS)));
        assert_eq!(queue.dispatch(15 * MS, 0, 1), Dispatch::Send(Some(Duration::ZERO)));
        assert_eq!(queue.dispatch(15 * MS, 1, 1), Dispatch::Send(Some(10 * MS)));
        assert_eq!(queue.dispatch(15 * MS, 2, 1), Dispatch::Idle);
        // Nothing is due at the end or after it.
        assert_eq!(std::iter::from_fn(|| queue.take_due(SECOND)).count(), 2);
        assert!(queue.next_change().is_none() && !queue.is_over(SECOND, 4));
    }

    #[test]
    fn an_open_loop_without_a_given_length_is_over_when_all_is_sent() {
        let stage = Stage { from: 3.0, to: 3.0, length: SECOND };
        let arrivals = Arrivals::Open(Profile { stages: vec![stage], spacing: Spacing::Even });
        for (stop, count) in [(Stop::External, 3), (Stop::Count(2), 2), (Stop::Count(9), 3)] {
            let mut queue = Source::share(&arrivals, stop, 1, 1, 0);
            assert_eq!(std::iter::from_fn(|| queue.take_due(SECOND)).count(), count, "{stop:?}");
            assert!(queue.next_change().is_none() && !queue.is_over(SECOND, 0));
            assert_eq!(
                std::iter::from_fn(|| (queue.dispatch(SECOND, 0, 1) != Dispatch::Idle).then_some(())).count(),
                count
            );
            assert!(queue.is_over(SECOND, 0));
        }
    }

    /// A load of whole milliseconds and users.
    fn steps(steps: &[(u32, u32)]) -> Vec<Step> {
        steps.iter().map(|(users, length)| Step { users: *users, length: MS * *length }).collect()
    }

    #[test]
    fn users_come_and_go_by_steps() {
        let arrivals = Arrivals::Closed { think: None, steps: steps(&[(1, 10), (3, 20), (0, 10), (2, 5)]) };
        let mut source = Source::share(&arrivals, Stop::External, 1, 1, 0);
        assert!(source.wants_connection(Duration::ZERO, 0, 0) && !source.wants_connection(Duration::ZERO, 1, 1));
        assert_eq!(source.next_change(), Some(10 * MS));
        // Two more may come, one at a time.
        assert!(source.wants_connection(10 * MS, 1, 2) && !source.wants_connection(10 * MS, 1, 3));
        assert_eq!(source.dispatch(29 * MS, 9, 3), Dispatch::Send(None));
        assert_eq!(source.dispatch(30 * MS, 9, 3), Dispatch::Idle);
        // A whole step may pass unseen.
        assert_eq!(
            (source.dispatch(42 * MS, 9, 3), source.dispatch(42 * MS, 9, 2)),
            (Dispatch::Idle, Dispatch::Send(None))
        );
        assert!(!source.is_over(44 * MS, 9) && source.is_over(45 * MS, 9));
        assert_eq!((source.dispatch(45 * MS, 9, 1), source.next_change()), (Dispatch::End, Some(45 * MS)));
        // Whichever comes first ends it.
        let mut counted = Source::share(&arrivals, Stop::Count(2), 1, 1, 0);
        assert_eq!((counted.dispatch(MS, 1, 1), counted.dispatch(MS, 2, 1)), (Dispatch::Send(None), Dispatch::End));
        assert_eq!(Source::share(&arrivals, Stop::After(9 * MS), 1, 1, 0).dispatch(9 * MS, 0, 1), Dispatch::End);
    }

    proptest! {
        #[test]
        fn the_users_of_all_threads_are_those_of_the_step(
            shape in proptest::collection::vec((0_u32..50, 0_u32..40), 1..6),
            threads in 1_u64..9,
        ) {
            // Which step a millisecond lies in, worked out by hand.
            let by_hand: Vec<u32> = shape.iter().flat_map(|(users, length)| vec![*users; *length as usize]).collect();
            let steps = steps(&shape);
            let mut parts: Vec<Users> = (0..threads).map(|index| Users::share(&steps, threads, index)).collect();
            for ms in 0..by_hand.len() + 5 {
                let users = by_hand.get(ms).copied().unwrap_or(0);
                // The first and the last microsecond of it.
                for time in [MS * ms as u32, MS * ms as u32 + Duration::from_micros(999)] {
                    prop_assert_eq!(users_at(&steps, time), users);
                    prop_assert_eq!(parts.iter_mut().map(|part| part.at(time)).sum::<u64>(), u64::from(users));
                }
            }
            prop_assert!(parts.iter().all(|part| part.end() == Some(MS * by_hand.len() as u32)));
        }

        #[test]
        fn the_threads_together_keep_the_one_schedule(
            threads in 1_u64..9,
            count in 0_u64..500,
            seed in any::<u64>(),
            stages in proptest::collection::vec((0_u32..2_000, 0_u64..300), 1..5),
            spacing in prop_oneof![Just(Spacing::Even), Just(Spacing::Poisson)],
            timed in any::<bool>(),
        ) {
            let stages = stages.into_iter().map(|(rate, ms)| (f64::from(rate), Duration::from_millis(ms)));
            let profile = Profile::through(stages.chain([(1_000.0, Duration::MAX)]), spacing);
            let end = MS * count as u32;
            let stop = if timed { Stop::After(end) } else { Stop::Count(count) };
            let expected: Vec<Duration> = if timed {
                intended_starts(&profile, seed).take_while(|start| *start < end).collect()
            } else {
                intended_starts(&profile, seed).take(count as usize).collect()
            };
            if timed && spacing == Spacing::Even {
                // An arrival that is due at the end itself is rounded to this side or that.
                let exact = profile.due_within(end);
                prop_assert!((expected.len() as f64 - exact).abs() < 1.0 + 1e-6, "{exact} and {}", expected.len());
            }
            let arrivals = Arrivals::Open(profile);
            let share = |index| {
                let mut queue = Source::share(&arrivals, stop, seed, threads, index);
                std::iter::from_fn(move || queue.take_due(Duration::MAX)).collect::<Vec<_>>()
            };
            let shares: Vec<Vec<Duration>> = (0..threads).map(share).collect();
            let mut together: Vec<Duration> = shares.concat();
            together.sort();
            prop_assert_eq!(together, expected);
            prop_assert!(shares.windows(2).all(|pair| pair[0].len() - pair[1].len() <= 1));
        }

        #[test]
        fn what_waits_is_sent_in_its_order_and_nothing_is_lost(
            turns in proptest::collection::vec((0_u32..40, 0_usize..6), 1..20),
            poisson in any::<bool>(),
        ) {
            let spacing = if poisson { Spacing::Poisson } else { Spacing::Even };
            let arrivals = Arrivals::Open(Profile { spacing, ..Profile::constant(200.0) });
            let mut queue = Source::share(&arrivals, Stop::External, 3, 2, 1);
            let (mut now, mut due, mut sent) = (Duration::ZERO, Vec::new(), Vec::new());
            for (ms, free) in turns {
                now += MS * ms;
                due.extend(std::iter::from_fn(|| queue.take_due(now)));
                sent.extend((0..free).map_while(|_| match queue.dispatch(now, 0, 1) {
                    Dispatch::Send(intended) => intended,
                    Dispatch::Idle | Dispatch::End => None,
                }));
                prop_assert_eq!(queue.waiting() as usize, due.len() - sent.len());
                prop_assert_eq!(&due[..sent.len()], &sent[..]);
            }
        }
    }

    #[test]
    fn shares_add_up_and_differ_by_one_at_most() {
        for (whole, parts) in [(0, 3), (2, 3), (10, 3), (12, 3), (1_000_003, 7)] {
            let shares: Vec<u64> = (0..parts).map(|index| share(whole, parts, index)).collect();
            assert_eq!(shares.iter().sum::<u64>(), whole);
            assert!(shares[0] - shares[shares.len() - 1] <= 1);
        }
    }
}
