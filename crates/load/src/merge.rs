//! Puts the intervals of several threads together, second by second.

use std::collections::VecDeque;

use model::Interval;

/// Holds intervals back until every thread has given its part.
pub(crate) struct Merge {
    /// Sums of what came, the oldest first.
    waiting: VecDeque<Interval>,
    /// Number of intervals already taken out.
    taken: usize,
    /// Number of intervals each thread has given; as many as can be once it has finished.
    given: Vec<usize>,
}

impl Merge {
    pub fn new(threads: usize) -> Self {
        Self { waiting: VecDeque::new(), taken: 0, given: vec![0; threads] }
    }

    /// Takes the next interval of `thread`.
    pub fn add(&mut self, thread: usize, interval: Interval) {
        let place = self.given[thread] - self.taken;
        self.given[thread] += 1;
        match self.waiting.get_mut(place) {
            Some(sum) => absorb(sum, &interval),
            None => self.waiting.push_back(interval),
        }
    }

    /// Notes that `thread` gives no more.
    pub fn finished(&mut self, thread: usize) {
        self.given[thread] = usize::MAX;
    }

    /// Takes out the oldest interval that is complete.
    pub fn next(&mut self) -> Option<Interval> {
        let complete = self.given.iter().all(|given| *given > self.taken);
        let interval = if complete { self.waiting.pop_front() } else { None };
        self.taken += usize::from(interval.is_some());
        interval
    }

    /// What nobody has taken out, complete or not.
    pub fn into_rest(self) -> impl Iterator<Item = Interval> {
        self.waiting.into_iter()
    }
}

/// Adds what another thread saw in the same second.
fn absorb(sum: &mut Interval, other: &Interval) {
    sum.length_s = sum.length_s.max(other.length_s);
    sum.tally.merge(&other.tally);
    if sum.bins.len() < other.bins.len() {
        sum.bins.resize(other.bins.len(), 0);
    }
    for (bin, more) in sum.bins.iter_mut().zip(&other.bins) {
        *bin += more;
    }
    sum.service.merge(&other.service);
    if let (Some(sum), Some(other)) = (&mut sum.open, &other.open) {
        sum.merge(other);
    }
    if let (Some(sum), Some(other)) = (&mut sum.walked, &other.walked) {
        sum.merge(other);
    }
    sum.bytes += other.bytes;
    sum.client_cpu_s += other.client_cpu_s;
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::interval::OpenLoop;
    use model::{Histogram, Tally};

    fn interval(good: u64, bins: &[u32]) -> Interval {
        Interval {
            start_s: 0.0,
            round: 0,
            length_s: bins.len() as f64 / 10.0,
            tally: Tally { good, ..Tally::default() },
            bins: bins.to_vec(),
            service: Histogram::new(),
            open: None,
            walked: None,
            bytes: good * 100,
            client_cpu_s: 0.25,
            server: None,
            host: None,
        }
    }

    fn goods(merge: &mut Merge) -> Vec<u64> {
        std::iter::from_fn(|| merge.next()).map(|interval| interval.tally.good).collect()
    }

    #[test]
    fn an_interval_waits_for_every_thread() {
        let mut merge = Merge::new(2);
        merge.add(0, interval(1, &[1]));
        merge.add(0, interval(2, &[2]));
        assert_eq!(goods(&mut merge), [0u64; 0]);
        merge.add(1, interval(10, &[10]));
        assert_eq!(goods(&mut merge), [11]);
        merge.finished(1);
        assert_eq!(goods(&mut merge), [2]);
        merge.add(0, interval(3, &[3]));
        merge.finished(0);
        assert_eq!(goods(&mut merge), [3]);
    }

    #[test]
    fn parts_add_up_even_when_one_is_shorter() {
        let mut merge = Merge::new(2);
        merge.add(0, interval(1, &[1]));
        merge.add(1, interval(5, &[2, 3]));
        let sum = merge.next().unwrap();
        assert_eq!((sum.bins.as_slice(), sum.bytes), ([3, 3].as_slice(), 600));
        assert!((sum.length_s - 0.2).abs() < 1e-12 && (sum.client_cpu_s - 0.5).abs() < 1e-12);
        assert_eq!(sum.open, None);
    }

    #[test]
    fn what_an_open_loop_adds_adds_up() {
        let open = |due| Some(OpenLoop { due, backlog: 2 * due, ..OpenLoop::default() });
        let mut merge = Merge::new(2);
        merge.add(0, Interval { open: open(1), ..interval(1, &[1]) });
        merge.add(1, Interval { open: open(10), ..interval(1, &[1]) });
        assert_eq!(merge.next().unwrap().open, open(11).map(|sum| OpenLoop { backlog: 22, ..sum }));
    }
}
