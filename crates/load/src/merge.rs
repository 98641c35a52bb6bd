//! Puts the samples of several threads together, second by second.

use std::collections::VecDeque;

use model::Sample;

/// Holds samples back until every thread has given its part.
pub(crate) struct Merge {
    /// Sums of what came, the oldest first.
    waiting: VecDeque<Sample>,
    /// Number of samples already taken out.
    taken: usize,
    /// Number of samples each thread has given; as many as can be once it has finished.
    given: Vec<usize>,
}

impl Merge {
    pub fn new(threads: usize) -> Self {
        Self { waiting: VecDeque::new(), taken: 0, given: vec![0; threads] }
    }

    /// Takes the next sample of `thread`.
    pub fn add(&mut self, thread: usize, sample: Sample) {
        let place = self.given[thread] - self.taken;
        self.given[thread] += 1;
        match self.waiting.get_mut(place) {
            Some(sum) => sum.merge(&sample),
            None => self.waiting.push_back(sample),
        }
    }

    /// Notes that `thread` gives no more.
    pub fn finished(&mut self, thread: usize) {
        self.given[thread] = usize::MAX;
    }

    /// Takes out the oldest sample that is complete.
    pub fn next(&mut self) -> Option<Sample> {
        let complete = self.given.iter().all(|given| *given > self.taken);
        let sample = if complete { self.waiting.pop_front() } else { None };
        self.taken += usize::from(sample.is_some());
        sample
    }

    /// What nobody has taken out, complete or not.
    pub fn into_rest(self) -> impl Iterator<Item = Sample> {
        self.waiting.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Tally;
    use model::sample::OpenLoop;

    fn sample(good: u64, bins: &[u32]) -> Sample {
        Sample {
            length_s: bins.len() as f64 / 10.0,
            tally: Tally { good, ..Tally::default() },
            bins: bins.to_vec(),
            bytes: good * 100,
            client_cpu_s: 0.25,
            ..Sample::default()
        }
    }

    fn goods(merge: &mut Merge) -> Vec<u64> {
        std::iter::from_fn(|| merge.next()).map(|sample| sample.tally.good).collect()
    }

    #[test]
    fn a_sample_waits_for_every_thread() {
        let mut merge = Merge::new(2);
        merge.add(0, sample(1, &[1]));
        merge.add(0, sample(2, &[2]));
        assert_eq!(goods(&mut merge), [0u64; 0]);
        merge.add(1, sample(10, &[10]));
        assert_eq!(goods(&mut merge), [11]);
        merge.finished(1);
        assert_eq!(goods(&mut merge), [2]);
        merge.add(0, sample(3, &[3]));
        merge.finished(0);
        assert_eq!(goods(&mut merge), [3]);
    }

    #[test]
    fn parts_add_up_even_when_one_is_shorter() {
        let mut merge = Merge::new(2);
        merge.add(0, sample(1, &[1]));
        merge.add(1, sample(5, &[2, 3]));
        let sum = merge.next().unwrap();
        assert_eq!((sum.bins.as_slice(), sum.bytes), ([3, 3].as_slice(), 600));
        assert!((sum.length_s - 0.2).abs() < 1e-12 && (sum.client_cpu_s - 0.5).abs() < 1e-12);
        assert_eq!(sum.open, None);
    }

    #[test]
    fn what_an_open_loop_adds_adds_up() {
        let open = |due| Some(OpenLoop { due, backlog: 2 * due, ..OpenLoop::default() });
        let mut merge = Merge::new(2);
        merge.add(0, Sample { open: open(1), ..sample(1, &[1]) });
        merge.add(1, Sample { open: open(10), ..sample(1, &[1]) });
        assert_eq!(merge.next().unwrap().open, open(11).map(|sum| OpenLoop { backlog: 22, ..sum }));
    }
}
