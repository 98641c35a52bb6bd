//! Turns what happens to requests into one [`Interval`] a second.

use std::mem;
use std::time::Duration;

use model::interval::BIN_S;
use model::{BodyLength, Histogram, Interval, Tally};
use rustix::time::{ClockId, clock_gettime};

use crate::connection::Ended;

/// Length of an interval, seconds.
const LENGTH: Duration = Duration::from_secs(1);

/// Length of a bin, nanoseconds.
const BIN_NS: u128 = (BIN_S * 1e9) as u128;

/// Bins in a whole interval.
const BINS: usize = (LENGTH.as_nanos() / BIN_NS) as usize;

/// Records one thread's requests and gives away each interval as soon as it is over.
/// Belongs to the thread whose CPU time it reads. Times count from the start of the load.
pub(crate) struct Recorder<Emit> {
    emit: Emit,
    /// The interval being filled begins at this second.
    second: u64,
    current: Interval,
    /// CPU time of this thread when it began.
    cpu: Duration,
}

impl<Emit: FnMut(Interval)> Recorder<Emit> {
    pub fn new(emit: Emit) -> Self {
        Self { emit, second: 0, current: blank(0), cpu: thread_cpu() }
    }

    /// Counts a request that ended at `now`, `service` after it was sent.
    pub fn ended(&mut self, now: Duration, service: Duration, ended: &Ended) {
        self.roll(now);
        let tally = &mut self.current.tally;
        if let Some(answered) = ended.answered {
            *tally.statuses.entry(answered.status).or_default() += 1;
            let length = BodyLength { min: answered.body_bytes, max: answered.body_bytes };
            tally.body_length = Some(tally.body_length.map_or(length, |before| before.covering(length)));
        }
        match ended.judged {
            Ok(()) => {
                tally.good += 1;
                self.current.bins[(u128::from(now.subsec_nanos()) / BIN_NS) as usize] += 1;
                self.current.service.record(service.as_micros() as u64);
            }
            Err(failure) => *tally.failures.entry(failure).or_default() += 1,
        }
    }

    /// Counts received bytes.
    pub fn received(&mut self, bytes: usize) {
        self.current.bytes += bytes as u64;
    }

    /// Gives away every interval that is over at `now`.
    #[inline]
    pub fn roll(&mut self, now: Duration) {
        while now.as_secs() > self.second {
            self.close(LENGTH);
        }
    }

    /// When the interval being filled is over.
    pub fn interval_end(&self) -> Duration {
        Duration::from_secs(self.second) + LENGTH
    }

    /// Gives away all that is left, the load being over at `now`.
    pub fn finish(mut self, now: Duration) {
        self.roll(now);
        let rest = now.saturating_sub(Duration::from_secs(self.second));
        if !rest.is_zero() || self.current.tally.ended() > 0 {
            // No interval is empty of time, so that rates can be taken from every one.
            self.close(rest.max(Duration::from_nanos(1)));
        }
    }

    fn close(&mut self, length: Duration) {
        self.second += 1;
        let mut interval = mem::replace(&mut self.current, blank(self.second));
        interval.length_s = length.as_secs_f64();
        interval.bins.truncate(length.as_nanos().div_ceil(BIN_NS) as usize);
        let cpu = thread_cpu();
        interval.client_cpu_s = cpu.saturating_sub(self.cpu).as_secs_f64();
        self.cpu = cpu;
        (self.emit)(interval);
    }
}

fn blank(second: u64) -> Interval {
    Interval {
        start_s: second as f64,
        length_s: 0.0,
        tally: Tally::default(),
        bins: vec![0; BINS],
        service: Histogram::new(),
        open: None,
        bytes: 0,
        client_cpu_s: 0.0,
        server: None,
        host: None,
    }
}

/// CPU time of the calling thread.
fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::Answered;
    use model::Failure;

    const SERVICE: Duration = Duration::from_micros(700);

    fn good() -> Ended {
        let answered = Answered { status: 200, body_bytes: 20, keep_alive: true };
        Ended { answered: Some(answered), judged: Ok(()), reusable: true }
    }

    fn record(events: &[(u64, Ended)], end_ms: u64) -> Vec<Interval> {
        let mut intervals = Vec::new();
        let mut recorder = Recorder::new(|interval| intervals.push(interval));
        for (ms, ended) in events {
            recorder.ended(Duration::from_millis(*ms), SERVICE, ended);
        }
        recorder.finish(Duration::from_millis(end_ms));
        intervals
    }

    #[test]
    fn each_request_counts_in_its_second_and_bin() {
        let bad = Ended { judged: Err(Failure::Status), ..good() };
        let intervals = record(&[(0, good()), (99, good()), (100, bad), (2_950, good())], 3_250);
        assert_eq!(intervals.iter().map(|interval| interval.tally.good).collect::<Vec<_>>(), [2, 0, 1, 0]);
        assert_eq!(intervals.iter().map(|interval| interval.bins.len()).collect::<Vec<_>>(), [10, 10, 10, 3]);
        assert_eq!(intervals[0].bins[..2], [2, 0]);
        assert_eq!(intervals[2].bins[9], 1);
        assert_eq!(intervals[0].tally.failures[&Failure::Status], 1);
        assert_eq!(intervals[0].tally.statuses[&200], 3);
        assert_eq!(intervals[0].tally.body_length, Some(BodyLength { min: 20, max: 20 }));
        assert_eq!((intervals[0].service.count(), intervals[0].service.max()), (2, 700));
        assert_eq!(intervals.iter().map(|interval| interval.start_s as u64).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!((intervals[3].length_s - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_failure_without_an_answer_has_no_status_length_or_latency() {
        let intervals = record(&[(5, Failure::Connect.into())], 500);
        assert_eq!(intervals[0].tally.failures[&Failure::Connect], 1);
        assert!(intervals[0].tally.statuses.is_empty() && intervals[0].tally.body_length.is_none());
        assert_eq!((intervals[0].service.count(), intervals[0].bins.iter().sum::<u32>()), (0, 0));
    }

    #[test]
    fn no_interval_is_left_over_at_a_whole_second() {
        assert_eq!(record(&[(1, good())], 2_000).len(), 2);
        assert_eq!(record(&[(2_000, good())], 2_000).len(), 3);
        assert_eq!(record(&[], 0).len(), 0);
    }
}
