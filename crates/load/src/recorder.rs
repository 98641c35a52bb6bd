//! Turns what happens to requests into one [`Sample`] a second.

use std::mem;
use std::ops::Range;
use std::time::Duration;

use indexmap::IndexMap;
use model::sample::{BIN_S, OpenLoop, StepUse};
use model::{BodyLength, Sample, Tally, Walked};
use rustix::time::{ClockId, clock_gettime};

use crate::connection::{RequestEnd, RequestTimes};

/// Length of a sample, seconds.
const LENGTH: Duration = Duration::from_secs(1);

/// Length of a bin, nanoseconds.
const BIN_NS: u128 = (BIN_S * 1e9) as u128;

/// Bins in a whole sample.
const BINS: usize = (LENGTH.as_nanos() / BIN_NS) as usize;

/// Records one thread's requests and gives away each sample as soon as it is over.
/// Belongs to the thread whose CPU time it reads. Times count from the start of the load.
pub(crate) struct Recorder<Emit> {
    emit: Emit,
    /// When the sample being filled began.
    began: Duration,
    /// When the slice ended whose drain it has; it goes on until [`Recorder::release`].
    held: Option<Duration>,
    current: Sample,
    /// CPU time of this thread when it began.
    cpu: Duration,
    /// Length of an open loop's backlog.
    waiting: u64,
}

impl<Emit: FnMut(Sample)> Recorder<Emit> {
    /// `open` says whether what is recorded is an open loop; `steps` names those of scenarios, if there are any.
    pub fn new(open: bool, steps: &[String], emit: Emit) -> Self {
        let steps: IndexMap<_, _> = steps.iter().map(|name| (name.clone(), StepUse::default())).collect();
        let walked = (!steps.is_empty()).then(|| Walked { steps, ..Walked::default() });
        let current = blank(Duration::ZERO, open.then(OpenLoop::default), walked);
        Self { emit, began: Duration::ZERO, held: None, current, cpu: thread_cpu(), waiting: 0 }
    }

    /// Counts a request that is due, in the sample of its intended start, which must not be over.
    pub fn due(&mut self, intended: Duration) {
        self.roll(intended);
        if let Some(open) = &mut self.current.open {
            open.due += 1;
        }
    }

    /// Records how late the client sent a request by its own doing.
    pub fn send_delay(&mut self, send_delay: Duration) {
        if let Some(open) = &mut self.current.open {
            open.send_delay.record(send_delay.as_micros() as u64);
        }
    }

    /// Notes how many requests wait for a connection.
    pub fn waiting(&mut self, requests: u64) {
        self.waiting = requests;
    }

    /// Counts the end of a step's request, which [`Self::ended`] gets as well; `unmet` is what was wrong with the
    /// content of its answer. The sample is that of the last [`Self::roll`], as for all that scenarios add.
    pub fn step(&mut self, index: usize, took: RequestTimes, ended: &RequestEnd, unmet: Option<&str>) {
        let Some((_, step)) = self.current.walked.as_mut().and_then(|walked| walked.steps.get_index_mut(index)) else {
            return;
        };
        count(&mut step.tally, ended);
        if ended.judged.is_ok() {
            step.service.record(took.service.as_micros() as u64);
        }
        if let Some(what) = unmet {
            *step.unmet.entry(what.to_owned()).or_default() += 1;
        }
    }

    /// Counts an iteration that took this long.
    pub fn finished(&mut self, took: Duration) {
        if let Some(walked) = &mut self.current.walked {
            walked.finished += 1;
            walked.iteration.record(took.as_micros() as u64);
        }
    }

    /// Counts an iteration that was stopped before these steps.
    pub fn stopped(&mut self, skipped: Range<usize>) {
        if let Some(walked) = &mut self.current.walked {
            walked.stopped += 1;
            for index in skipped {
                walked.steps[index].skipped += 1;
            }
        }
    }

    /// Counts a request that ended at `now`.
    pub fn ended(&mut self, now: Duration, took: RequestTimes, ended: &RequestEnd) {
        self.roll(now);
        count(&mut self.current.tally, ended);
        if ended.judged.is_ok() {
            let bin = now.saturating_sub(self.began).as_nanos() / BIN_NS;
            // What comes in a drain is in no bin.
            if let Some(bin) = self.current.bins.get_mut(bin as usize).filter(|_| self.held.is_none()) {
                *bin += 1;
            }
            self.current.service.record(took.service.as_micros() as u64);
            if let (Some(open), Some(response)) = (&mut self.current.open, took.response) {
                open.response.record(response.as_micros() as u64);
            }
        }
    }

    /// Counts received bytes.
    pub fn received(&mut self, bytes: usize) {
        self.current.bytes += bytes as u64;
    }

    /// Gives away every sample that is over at `now`.
    #[inline]
    pub fn roll(&mut self, now: Duration) {
        while self.held.is_none() && now >= self.sample_end() {
            self.close(LENGTH, self.sample_end());
        }
    }

    /// Gives away every sample that is over before `until`, the end of a slice: the last one goes on, for its drain.
    pub fn hold(&mut self, until: Duration) {
        while until > self.sample_end() {
            self.close(LENGTH, self.sample_end());
        }
        self.held = Some(until);
    }

    /// Gives away the last sample of a slice whose drain ended at `now` and counts for so long.
    pub fn release(&mut self, now: Duration, drain: Duration) {
        if let Some(until) = self.held {
            let length = until.saturating_sub(self.began) + drain;
            // No sample is empty of time, so that rates can be taken from every one.
            if !length.is_zero() || self.current.tally.ended() > 0 {
                self.close(length.max(Duration::from_nanos(1)), now);
            }
            self.began = now;
        }
        self.held = None;
    }

    /// Leaves out the CPU time of this thread since the last sample: the load stood still.
    pub fn skip_cpu(&mut self) {
        self.cpu = thread_cpu();
    }

    /// When the sample being filled is over.
    pub fn sample_end(&self) -> Duration {
        self.began + LENGTH
    }

    /// Gives away all that is left, the load being over at `now`.
    pub fn finish(mut self, now: Duration) {
        self.release(now, Duration::ZERO);
        self.roll(now);
        let rest = now.saturating_sub(self.began);
        if !rest.is_zero() || self.current.tally.ended() > 0 {
            // No sample is empty of time, so that rates can be taken from every one.
            self.close(rest.max(Duration::from_nanos(1)), now);
        }
    }

    /// Gives away a sample of this length; the next begins at `next`.
    fn close(&mut self, length: Duration, next: Duration) {
        let bins = self.held.unwrap_or(next).saturating_sub(self.began).as_nanos().div_ceil(BIN_NS) as usize;
        self.began = next;
        let open = self.current.open.as_ref().map(|_| OpenLoop::default());
        let walked = self.current.walked.as_ref().map(|walked| Walked {
            steps: walked.steps.keys().map(|name| (name.clone(), StepUse::default())).collect(),
            ..Walked::default()
        });
        let mut sample = mem::replace(&mut self.current, blank(self.began, open, walked));
        sample.length_s = length.as_secs_f64();
        sample.bins.truncate(bins);
        let cpu = thread_cpu();
        sample.client_cpu_s = cpu.saturating_sub(self.cpu).as_secs_f64();
        self.cpu = cpu;
        if let Some(open) = &mut sample.open {
            open.backlog = self.waiting;
        }
        (self.emit)(sample);
    }
}

/// Counts how a request ended.
fn count(tally: &mut Tally, ended: &RequestEnd) {
    if let Some(answered) = ended.answered {
        *tally.statuses.entry(answered.status).or_default() += 1;
        let length = BodyLength { min: answered.body_bytes, max: answered.body_bytes };
        tally.body_length = Some(tally.body_length.map_or(length, |before| before.covering(length)));
    }
    match ended.judged {
        Ok(()) => tally.good += 1,
        Err(failure) => {
            *tally.failures.entry(failure).or_default() += 1;
            if let Some(malformed) = ended.malformed {
                *tally.malformed.entry(malformed).or_default() += 1;
            }
        }
    }
}

fn blank(began: Duration, open: Option<OpenLoop>, walked: Option<Walked>) -> Sample {
    Sample { start_s: began.as_secs_f64(), bins: vec![0; BINS], open, walked, ..Sample::default() }
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

    const TOOK: RequestTimes = RequestTimes { service: Duration::from_micros(700), response: None };

    fn good() -> RequestEnd {
        let answered = Answered { status: 200, body_bytes: 20, keep_alive: true };
        RequestEnd { answered: Some(answered), judged: Ok(()), malformed: None, reusable: true }
    }

    fn record(events: &[(u64, RequestEnd)], end_ms: u64) -> Vec<Sample> {
        let mut samples = Vec::new();
        let mut recorder = Recorder::new(false, &[], |sample| samples.push(sample));
        for (ms, ended) in events {
            recorder.ended(Duration::from_millis(*ms), TOOK, ended);
        }
        recorder.finish(Duration::from_millis(end_ms));
        samples
    }

    #[test]
    fn each_request_counts_in_its_second_and_bin() {
        let bad = RequestEnd { judged: Err(Failure::Status), ..good() };
        let samples = record(&[(0, good()), (99, good()), (100, bad), (2_950, good())], 3_250);
        assert_eq!(samples.iter().map(|sample| sample.tally.good).collect::<Vec<_>>(), [2, 0, 1, 0]);
        assert_eq!(samples.iter().map(|sample| sample.bins.len()).collect::<Vec<_>>(), [10, 10, 10, 3]);
        assert_eq!(samples[0].bins[..2], [2, 0]);
        assert_eq!(samples[2].bins[9], 1);
        assert_eq!(samples[0].tally.failures[&Failure::Status], 1);
        assert_eq!(samples[0].tally.statuses[&200], 3);
        assert_eq!(samples[0].tally.body_length, Some(BodyLength { min: 20, max: 20 }));
        assert_eq!((samples[0].service.count(), samples[0].service.max()), (2, 700));
        assert_eq!(samples.iter().map(|sample| sample.start_s as u64).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!((samples[3].length_s - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_failure_without_an_answer_has_no_status_length_or_latency() {
        let samples = record(&[(5, Failure::Connect.into())], 500);
        assert_eq!(samples[0].tally.failures[&Failure::Connect], 1);
        assert!(samples[0].tally.statuses.is_empty() && samples[0].tally.body_length.is_none());
        assert_eq!((samples[0].service.count(), samples[0].bins.iter().sum::<u32>()), (0, 0));
    }

    #[test]
    fn an_open_loop_counts_what_is_due_in_the_second_in_which_it_is() {
        let ms = Duration::from_millis;
        let mut samples = Vec::new();
        let mut recorder = Recorder::new(true, &[], |sample| samples.push(sample));
        recorder.due(ms(0));
        recorder.send_delay(ms(2));
        recorder.ended(ms(9), RequestTimes { service: ms(7), response: Some(ms(9)) }, &good());
        recorder.waiting(1);
        for intended in [999, 1_000, 1_001, 3_100] {
            recorder.due(ms(intended));
        }
        recorder.waiting(4);
        recorder.ended(ms(3_200), RequestTimes { service: ms(1), response: Some(ms(100)) }, &Failure::Closed.into());
        recorder.finish(ms(3_500));
        let open: Vec<OpenLoop> = samples.into_iter().map(|sample| sample.open.unwrap()).collect();
        assert_eq!(open.iter().map(|open| open.due).collect::<Vec<_>>(), [2, 2, 0, 1]);
        assert_eq!(open.iter().map(|open| open.backlog).collect::<Vec<_>>(), [1, 1, 1, 4]);
        assert_eq!(open.iter().map(|open| open.response.count()).collect::<Vec<_>>(), [1, 0, 0, 0]);
        assert_eq!((open[0].send_delay.count(), open[0].response.quantile(1.0) / 100), (1, 90));
        assert!(record(&[(1, good())], 500)[0].open.is_none());
    }

    #[test]
    fn no_sample_is_left_over_at_a_whole_second() {
        assert_eq!(record(&[(1, good())], 2_000).len(), 2);
        assert_eq!(record(&[(2_000, good())], 2_000).len(), 3);
        assert_eq!(record(&[], 0).len(), 0);
    }
}
