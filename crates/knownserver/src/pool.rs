//! A pool of workers that only wait: at most so many requests have their delay at once, others queue. So the capacity is known exactly,
//! and costs no CPU.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The workers of a route and who waits for them, first come, first served.
#[derive(Debug)]
pub(crate) struct Pool {
    /// When each worker has done all that was given to it.
    free_at: Vec<Instant>,
    /// When those begin that wait, earliest first.
    begin_at: VecDeque<Instant>,
    /// How many may wait; any number when absent.
    queue: Option<usize>,
}

impl Pool {
    /// So many workers, at least one, idle from `now` on.
    pub(crate) fn new(workers: usize, queue: Option<usize>, now: Instant) -> Self {
        Self { free_at: vec![now; workers.max(1)], begin_at: VecDeque::new(), queue }
    }

    /// When a request is done that comes at `now` and takes a worker so long; `None` where too many wait.
    pub(crate) fn admit(&mut self, now: Instant, takes: Duration) -> Option<Instant> {
        while self.begin_at.front().is_some_and(|begin| *begin <= now) {
            self.begin_at.pop_front();
        }
        let first = self.free_at.iter_mut().min()?;
        let begin = now.max(*first);
        if begin > now {
            if self.queue.is_some_and(|most| self.begin_at.len() >= most) {
                return None;
            }
            self.begin_at.push_back(begin);
        }
        *first = begin + takes;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn no_more_are_served_at_once_than_there_are_workers() {
        let began = Instant::now();
        let mut pool = Pool::new(2, None, began);
        let done = |pool: &mut Pool, at: u32| pool.admit(began + at * MS, 10 * MS).map(|done| done - began);
        let all: Vec<_> = [0, 0, 1, 2, 15, 40].iter().map(|at| done(&mut pool, *at)).collect();
        assert_eq!(all, [10, 10, 20, 20, 30, 50].map(|ms: u32| Some(ms * MS)));
    }

    #[test]
    fn who_finds_the_queue_full_is_sent_away() {
        let began = Instant::now();
        let mut pool = Pool::new(1, Some(1), began);
        let admitted: Vec<bool> =
            [0, 1, 2, 11, 12, 50].iter().map(|at: &u32| pool.admit(began + *at * MS, 10 * MS).is_some()).collect();
        assert_eq!(admitted, [true, true, false, true, false, true]);
        assert!(Pool::new(1, Some(0), began).admit(began, MS).is_some(), "nobody has to wait");
    }
}
