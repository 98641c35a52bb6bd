//! What ended in a part of an imported run.

use model::imported::{ImportedRun, Interval};

/// What ended in a time: requests, and parts of those of an interval that is partly in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ended {
    pub good: f64,
    pub failed: f64,
    /// What the good ones took, together, µs; 0 where the file does not say.
    pub good_us: f64,
    /// What all took, together, µs.
    pub took_us: f64,
}

impl Ended {
    /// What ended in a time, seconds since the run began; of an interval that is partly in it, as large a part.
    pub fn between(run: &ImportedRun, from_s: f64, to_s: f64) -> Self {
        let part = |index: usize| {
            let (begin, end) = (index as f64 * run.interval_s, (index + 1) as f64 * run.interval_s);
            ((end.min(to_s) - begin.max(from_s)) / run.interval_s).clamp(0.0, 1.0)
        };
        let first = (from_s / run.interval_s).floor().max(0.0) as usize;
        let last = (to_s / run.interval_s).ceil().max(0.0) as usize;
        let intervals = run.intervals.iter().enumerate().take(last).skip(first);
        intervals.fold(Self::default(), |sum, (index, interval)| sum.with(part(index), interval))
    }

    fn with(self, part: f64, interval: &Interval) -> Self {
        Self {
            good: self.good + part * interval.good as f64,
            failed: self.failed + part * interval.failed as f64,
            good_us: self.good_us + part * interval.good_us as f64,
            took_us: self.took_us + part * (interval.good_us.saturating_add(interval.failed_us)) as f64,
        }
    }

    /// What a good one took in the mean, milliseconds.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.good_us > 0.0 && self.good > 0.0).then(|| self.good_us / self.good / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::imported;

    #[test]
    fn a_part_of_an_interval_has_a_part_of_its_requests() {
        let run = imported(10, 100);
        for (from_s, to_s, expected) in [(0.0, 10.0, 1_000.0), (2.5, 3.0, 50.0), (-5.0, 1.5, 150.0), (9.0, 99.0, 100.0)]
        {
            assert!((Ended::between(&run, from_s, to_s).good - expected).abs() < 1e-9, "{from_s} to {to_s}");
        }
        assert!(Ended::between(&run, 20.0, 30.0).good < 1e-9);
    }
}
