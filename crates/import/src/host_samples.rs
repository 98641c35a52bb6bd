//! What a machine did, sample by sample, in the same room however long its log is.

use model::imported::{HostSample, HostShares};

/// Most samples that are kept; beyond them two neighbours become one.
const MOST: usize = 1 << 14;

/// Samples in the order in which they were added.
#[derive(Debug, Default)]
pub struct HostSamples {
    samples: Vec<HostSample>,
    /// Samples that are added as one.
    together: usize,
    /// The part of the next one that is known, and how many were added to it.
    begun: Option<(HostSample, usize)>,
}

impl HostSamples {
    pub fn add(&mut self, sample: HostSample) {
        let (sum, added) = match self.begun.take() {
            Some((sum, added)) => (joined(sum, sample), added + 1),
            None => (sample, 1),
        };
        if added < self.together {
            self.begun = Some((sum, added));
            return;
        }
        self.samples.push(sum);
        if self.samples.len() > MOST {
            let halved = self.samples.chunks(2).filter_map(|two| two.iter().copied().reduce(joined)).collect();
            self.samples = halved;
            self.together = 2 * self.together.max(1);
        }
    }

    pub fn finish(mut self) -> Vec<HostSample> {
        self.samples.extend(self.begun.map(|(sum, _)| sum));
        self.samples
    }
}

/// Two neighbours as one. A gap between them is left out of its length.
fn joined(first: HostSample, second: HostSample) -> HostSample {
    let parts = [first, second].map(|sample| (sample.shares, sample.length_s));
    HostSample {
        start_s: first.start_s,
        length_s: first.length_s + second.length_s,
        shares: HostShares::mean(parts.into_iter()).unwrap_or(second.shares),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_many_there_are_their_mean_stays() {
        let mut samples = HostSamples::default();
        let count = 5 * MOST + 3;
        for second in 0..count {
            let steal = if second % 4 == 0 { 0.4 } else { 0.0 };
            let shares = HostShares { steal, idle: 1.0 - steal, ..HostShares::default() };
            samples.add(HostSample { start_s: second as f64, length_s: 1.0, shares });
        }
        let samples = samples.finish();
        assert!(samples.len() <= MOST + 1, "{}", samples.len());
        let seconds: f64 = samples.iter().map(|sample| sample.length_s).sum();
        assert!((seconds - count as f64).abs() < 1e-6, "{seconds}");
        let mean = HostShares::mean(samples.iter().map(|sample| (sample.shares, sample.length_s))).unwrap();
        assert!((mean.steal - 0.1).abs() < 1e-4, "{mean:?}");
    }
}
