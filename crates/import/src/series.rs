//! What ended in each interval, one after another, in the same room however long it went on.

use std::collections::VecDeque;

use model::imported::Interval;

/// Most intervals that are kept; beyond them two become one.
pub const MOST: usize = 1 << 14;

/// Intervals of one length without gaps.
#[derive(Debug)]
pub struct Series {
    /// When the first begins, milliseconds.
    origin_ms: i64,
    interval_ms: i64,
    intervals: VecDeque<Interval>,
}

impl Series {
    pub fn of_seconds() -> Self {
        Self::of(1_000)
    }

    /// Of intervals of this length, at least a millisecond.
    pub fn of(interval_ms: i64) -> Self {
        Self { origin_ms: 0, interval_ms: interval_ms.max(1), intervals: VecDeque::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.intervals.is_empty()
    }

    /// Adds what ended at this moment. Moments must not lie so far apart that the caller would wait for what is between them.
    pub fn add(&mut self, at_ms: i64, ended: Interval) {
        if self.intervals.is_empty() {
            self.origin_ms = at_ms - at_ms.rem_euclid(self.interval_ms);
        }
        while at_ms < self.origin_ms {
            self.intervals.push_front(Interval::default());
            self.origin_ms -= self.interval_ms;
            self.halve_beyond_most();
        }
        let mut index = self.index(at_ms);
        while index >= self.intervals.len() {
            self.intervals.push_back(Interval::default());
            self.halve_beyond_most();
            index = self.index(at_ms);
        }
        self.intervals[index].merge(ended);
    }

    /// The length of an interval in seconds, and the intervals.
    pub fn finish(self) -> (f64, Vec<Interval>) {
        (self.interval_ms as f64 / 1e3, self.intervals.into())
    }

    /// The place of the interval in which a moment lies that is not before the first.
    fn index(&self, at_ms: i64) -> usize {
        ((at_ms - self.origin_ms) / self.interval_ms) as usize
    }

    /// Makes one of each two intervals where there are too many.
    fn halve_beyond_most(&mut self) {
        if self.intervals.len() <= MOST {
            return;
        }
        self.interval_ms *= 2;
        // Intervals begin at multiples of their length.
        if self.origin_ms.rem_euclid(self.interval_ms) != 0 {
            self.intervals.push_front(Interval::default());
            self.origin_ms -= self.interval_ms / 2;
        }
        let halved = |index: usize| {
            let mut both = self.intervals[2 * index];
            both.merge(self.intervals.get(2 * index + 1).copied().unwrap_or_default());
            both
        };
        self.intervals = (0..self.intervals.len().div_ceil(2)).map(halved).collect();
    }
}
