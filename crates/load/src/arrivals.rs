//! When requests start: pure functions of the time and of how many were started.

use std::collections::VecDeque;
use std::iter::{Skip, StepBy, Take};
use std::time::Duration;

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use crate::schedule::{Profile, Starts, exponential};

/// When a load is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// After this time. What is not answered then is not in the tally; an open loop counts it as unanswered.
    After(Duration),
    /// When exactly this many requests have ended, well or not; earlier when no more are ever due.
    Count(u64),
    /// Only when told, by the observer or by the stop flag, or when no more requests are ever due.
    Told,
}

impl Stop {
    /// The moment after which nothing counts any more, if there is one.
    fn end(self) -> Option<Duration> {
        match self {
            Self::After(length) => Some(length),
            Self::Count(_) | Self::Told => None,
        }
    }

    /// The most requests that are started, if that is what ends the load.
    fn count(self) -> Option<u64> {
        match self {
            Self::Count(count) => Some(count),
            Self::After(_) | Self::Told => None,
        }
    }

    /// When thread `index` of `threads` is done.
    fn share(self, threads: u64, index: u64) -> Self {
        match self {
            Self::Count(count) => Self::Count(share(count, threads, index)),
            Self::After(_) | Self::Told => self,
        }
    }
}

/// What makes requests start.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Closed loop: each connection is a user, who asks again after the answer and after thinking about it.
    /// All of them begin at once.
    Closed {
        /// How long a user thinks after each answer, if at all.
        think: Option<Think>,
    },
    /// Open loop: requests are due when the profile says so, whatever the server does. What is due while no
    /// connection is free waits: first due, first sent.
    Open(Profile),
}

/// How long a user thinks after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Always this long.
    Fixed(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
}

impl Arrivals {
    /// What thread `index` of `threads` does. Of an open loop it takes every `threads`-th arrival, so that the
    /// schedule of all together does not depend on their number.
    pub(crate) fn share(&self, stop: Stop, seed: u64, threads: u64, index: u64) -> Source<'_> {
        let stop = stop.share(threads, index);
        match self {
            Self::Closed { think } => {
                let mut draws = ChaCha8Rng::seed_from_u64(seed);
                draws.set_stream(index);
                Source::Closed(ClosedLoop { stop, think: *think, draws })
            }
            Self::Open(profile) => {
                Source::Open(Queue::new(profile.starts(seed).skip(index as usize).step_by(threads as usize), stop))
            }
        }
    }
}

/// What a free connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
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
    Closed(ClosedLoop),
    Open(Queue<'a>),
}

impl Source<'_> {
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(_))
    }

    /// The moment after which nothing counts any more, if there is one.
    pub fn end(&self) -> Option<Duration> {
        match self {
            Self::Closed(users) => users.stop.end(),
            Self::Open(queue) => queue.end,
        }
    }

    /// When the next request is due that [`Self::take_due`] has not taken.
    pub fn next_due(&self) -> Option<Duration> {
        match self {
            Self::Closed(_) => None,
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
    pub fn waiting(&self) -> usize {
        match self {
            Self::Closed(_) => 0,
            Self::Open(queue) => queue.backlog.len(),
        }
    }

    /// Whether one more connection would have something to send.
    pub fn wants_connection(&self, now: Duration, started: u64) -> bool {
        match self {
            Self::Closed(users) => !users.is_over(now, started),
            Self::Open(queue) => !queue.backlog.is_empty(),
        }
    }

    /// Whether no connection will ever have anything to send.
    pub fn is_over(&self, now: Duration, started: u64) -> bool {
        match self {
            Self::Closed(users) => users.is_over(now, started),
            Self::Open(queue) => queue.is_over(),
        }
    }

    /// What a free connection does.
    pub fn pace(&mut self, now: Duration, started: u64) -> Pace {
        match self {
            Self::Closed(users) if users.is_over(now, started) => Pace::End,
            Self::Closed(_) => Pace::Send(None),
            Self::Open(queue) => queue.backlog.pop_front().map_or(Pace::Idle, |intended| Pace::Send(Some(intended))),
        }
    }

    /// How long a connection that was answered waits before it does what [`Self::pace`] says.
    pub fn think(&mut self, now: Duration, started: u64) -> Option<Duration> {
        match self {
            Self::Closed(users) => users.think(now, started),
            Self::Open(_) => None,
        }
    }
}

/// Closed loop: each connection sends its next request after the answer to the one before.
pub(crate) struct ClosedLoop {
    /// When it is over.
    stop: Stop,
    think: Option<Think>,
    /// Where think times are drawn from.
    draws: ChaCha8Rng,
}

impl ClosedLoop {
    fn is_over(&self, now: Duration, started: u64) -> bool {
        self.stop.end().is_some_and(|end| now >= end) || self.stop.count().is_some_and(|count| started >= count)
    }

    fn think(&mut self, now: Duration, started: u64) -> Option<Duration> {
        if self.is_over(now, started) {
            return None;
        }
        self.think.map(|think| match think {
            Think::Fixed(fixed) => fixed,
            Think::Exponential(mean) => mean.mul_f64(exponential(&mut self.draws)),
        })
    }
}

/// Open loop: requests that are due wait here for a connection, the oldest first.
pub(crate) struct Queue<'a> {
    starts: Take<StepBy<Skip<Starts<'a>>>>,
    /// Nothing is due from here on.
    end: Option<Duration>,
    /// Intended start of the next request that is not in the backlog.
    next: Option<Duration>,
    /// Intended starts of those that are due and not sent.
    backlog: VecDeque<Duration>,
}

impl<'a> Queue<'a> {
    fn new(starts: StepBy<Skip<Starts<'a>>>, stop: Stop) -> Self {
        let most = stop.count().map_or(usize::MAX, |count| count as usize);
        let mut queue = Self { starts: starts.take(most), end: stop.end(), next: None, backlog: VecDeque::new() };
        queue.advance();
        queue
    }

    fn advance(&mut self) {
        self.next = self.starts.next().filter(|start| self.end.is_none_or(|end| *start < end));
    }

    fn take_due(&mut self, now: Duration) -> Option<Duration> {
        let intended = self.next.filter(|start| *start <= now)?;
        self.backlog.push_back(intended);
        self.advance();
        Some(intended)
    }

    /// A load of a given length lasts so long even if nothing is due any more.
    fn is_over(&self) -> bool {
        self.end.is_none() && self.next.is_none() && self.backlog.is_empty()
    }
}

/// Part `index` of `whole` when divided as evenly as can be among `parts`.
pub(crate) fn share(whole: u64, parts: u64, index: u64) -> u64 {
    whole / parts + u64::from(index < whole % parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Spacing, Stage};
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_closed_loop_sends_until_it_is_over() {
        let users = Arrivals::Closed { think: None };
        let mut timed = users.share(Stop::After(SECOND), 1, 1, 0);
        assert_eq!(timed.pace(SECOND.mul_f64(0.99), u64::MAX), Pace::Send(None));
        assert_eq!(timed.pace(SECOND, 0), Pace::End);
        let mut counted = users.share(Stop::Count(2), 1, 1, 0);
        assert_eq!(counted.pace(SECOND * 1_000, 1), Pace::Send(None));
        assert_eq!(counted.pace(Duration::ZERO, 2), Pace::End);
        assert!(counted.wants_connection(SECOND, 1) && !counted.wants_connection(SECOND, 2));
        let mut told = users.share(Stop::Told, 1, 1, 0);
        assert_eq!(told.pace(SECOND * 1_000_000, u64::MAX), Pace::Send(None));
        assert_eq!((told.think(SECOND, 1), told.next_due()), (None, None));
    }

    #[test]
    fn users_think_as_long_as_there_is_something_to_ask() {
        let users = Arrivals::Closed { think: Some(Think::Fixed(3 * MS)) };
        let mut fixed = users.share(Stop::Count(2), 1, 1, 0);
        assert_eq!(fixed.think(SECOND, 1), Some(3 * MS));
        assert_eq!(fixed.think(SECOND, 2), None);
        let users = Arrivals::Closed { think: Some(Think::Exponential(3 * MS)) };
        let drawn = |index| {
            let mut source = users.share(Stop::Told, 5, 2, index);
            (0..10_000).filter_map(|_| source.think(SECOND, 0)).collect::<Vec<_>>()
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
        let mut queue = arrivals.share(Stop::After(35 * MS), 1, 1, 0);
        assert_eq!((queue.pace(SECOND, 0), queue.waiting()), (Pace::Idle, 0));
        assert_eq!(queue.take_due(15 * MS), Some(Duration::ZERO));
        assert_eq!(queue.take_due(15 * MS), Some(10 * MS));
        assert_eq!(queue.take_due(15 * MS), None);
        assert_eq!((queue.waiting(), queue.next_due()), (2, Some(20 * MS)));
        assert_eq!(queue.pace(15 * MS, 0), Pace::Send(Some(Duration::ZERO)));
        assert_eq!(queue.pace(15 * MS, 1), Pace::Send(Some(10 * MS)));
        assert_eq!(queue.pace(15 * MS, 2), Pace::Idle);
        // Nothing is due at the end or after it.
        assert_eq!(std::iter::from_fn(|| queue.take_due(SECOND)).count(), 2);
        assert!(queue.next_due().is_none() && !queue.is_over(SECOND, 4));
    }

    #[test]
    fn an_open_loop_without_a_given_length_is_over_when_all_is_sent() {
        let stage = Stage { from: 3.0, to: 3.0, length: SECOND };
        let arrivals = Arrivals::Open(Profile { stages: vec![stage], spacing: Spacing::Even });
        for (stop, count) in [(Stop::Told, 3), (Stop::Count(2), 2), (Stop::Count(9), 3)] {
            let mut queue = arrivals.share(stop, 1, 1, 0);
            assert_eq!(std::iter::from_fn(|| queue.take_due(SECOND)).count(), count, "{stop:?}");
            assert!(queue.next_due().is_none() && !queue.is_over(SECOND, 0));
            assert_eq!(std::iter::from_fn(|| (queue.pace(SECOND, 0) != Pace::Idle).then_some(())).count(), count);
            assert!(queue.is_over(SECOND, 0));
        }
    }

    proptest! {
        #[test]
        fn the_threads_together_keep_the_one_schedule(
            threads in 1_u64..9,
            count in 0_u64..500,
            seed in any::<u64>(),
            even in any::<bool>(),
            timed in any::<bool>(),
        ) {
            let spacing = if even { Spacing::Even } else { Spacing::Poisson };
            let profile = Profile { spacing, ..Profile::constant(1_000.0) };
            let end = MS * count as u32;
            let stop = if timed { Stop::After(end) } else { Stop::Count(count) };
            let expected: Vec<Duration> = if timed {
                profile.starts(seed).take_while(|start| *start < end).collect()
            } else {
                profile.starts(seed).take(count as usize).collect()
            };
            let arrivals = Arrivals::Open(profile);
            let share = |index| {
                let mut queue = arrivals.share(stop, seed, threads, index);
                std::iter::from_fn(move || queue.take_due(Duration::MAX)).collect::<Vec<_>>()
            };
            let shares: Vec<Vec<Duration>> = (0..threads).map(share).collect();
            let mut together: Vec<Duration> = shares.concat();
            together.sort();
            prop_assert_eq!(together, expected);
            prop_assert!(shares.windows(2).all(|pair| pair[0].len() - pair[1].len() <= 1));
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
