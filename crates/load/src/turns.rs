//! A load that comes in slices, between which its users wait: several servers are loaded in turns, one at a time, and meet the
//! same host.
//!
//! The load's clock stands still while its users wait, so that whatever is timed by it (users' thinking, stages, what is due)
//! goes on where it stopped. When a slice is over the requests in flight are waited for: nothing of it is left when another server
//! has its turn. That is its *drain*. Connections stay open from slice to slice, unless users wait for more than four seconds: then each makes a
//! new one, for all servers alike, since a server may end one that was idle for longer just when it is used again.
//!
//! Answers that come in a drain count, or slow ones would be missing. In a closed loop the time for which their users waited counts with
//! them, as a part of all users: a slice's time is its length and the mean over users of what the last request of each took after its end.
//! So each user's requests are whole ones, from the slice's beginning on, and the ratio of answers to time is not biased by where a slice ends
//! (Wald's identity). In an open loop nothing is due in a drain, and it takes no time.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use model::Sample;

/// How often a waiting client looks at its connections: a server may have ended some.
const LOOK: Duration = Duration::from_millis(500);

/// How a slice ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceEnd {
    /// How long its last requests were waited for, from when the client noticed its end.
    pub drain: Duration,
    /// How late the client noticed its end: it stood still.
    pub late: Duration,
    /// Connections that the server had ended while the users waited for this slice.
    pub lost: u32,
}

/// What an observer wants after a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The load goes on.
    Continue,
    /// The load is over: what ends from now on is not counted.
    Stop,
}

/// Who gives a load its slices, and sees what comes of them. Called on the thread that makes the load.
pub trait Turns {
    /// The length of the next slice, which begins when this returns; `None` ends the load. `ended` is the slice before, which is
    /// over: all its requests have ended.
    fn next(&mut self, ended: Option<SliceEnd>) -> Option<Duration>;

    /// A sample is over. It is a second long; the last of a slice may be shorter, and has its drain.
    fn observe(&mut self, sample: Sample) -> Flow;
}

/// A load without turns: one slice that nothing ends but the load itself.
pub(crate) struct Throughout<'a> {
    /// Called when it begins.
    pub begin: &'a mut dyn FnMut(),
    pub observer: &'a mut dyn FnMut(Sample) -> Flow,
}

impl Turns for Throughout<'_> {
    fn next(&mut self, _: Option<SliceEnd>) -> Option<Duration> {
        (self.begin)();
        Some(Duration::MAX)
    }

    fn observe(&mut self, sample: Sample) -> Flow {
        (self.observer)(sample)
    }
}

/// What a thread reports.
#[expect(clippy::large_enum_variant, reason = "most of what is reported is samples")]
pub(crate) enum ThreadMessage {
    /// A sample of this thread's is over.
    Sample(usize, Sample),
    /// A slice is over, and so are all its requests: the next one is waited for.
    SliceEnded(SliceEnd),
    /// This thread has finished.
    Finished(usize),
}

/// The slices of one thread's load, as its loop sees them. Times are the load's.
pub(crate) struct Slices {
    /// When requests are no longer sent.
    until: Duration,
    /// How long the ends of slices have been waited for so far: no time in which anything is due.
    drained: Duration,
    /// Once it has ended.
    drain: Option<Drain>,
    lost: u32,
    messages: Sender<ThreadMessage>,
    next: Receiver<Option<Duration>>,
}

/// The end of a slice.
struct Drain {
    /// Users that there were; none in an open loop.
    users: usize,
    /// When the client noticed that it had begun.
    noticed: Duration,
    /// What all of them together still waited.
    waited: Duration,
}

impl Slices {
    /// The first of them has this `length`; `messages` gets each slice's end, `next` has the length of the one after.
    pub fn new(length: Duration, messages: Sender<ThreadMessage>, next: Receiver<Option<Duration>>) -> Self {
        Self { until: length, drained: Duration::ZERO, drain: None, lost: 0, messages, next }
    }

    /// When the slice ends.
    pub fn until(&self) -> Duration {
        self.until
    }

    /// Whether it has ended, so that nothing more is sent.
    pub fn is_over(&self) -> bool {
        self.drain.is_some()
    }

    /// What the clock of arrivals shows at `now`. What is due at the very end of a slice is due in the next one.
    pub fn of_arrivals(&self, now: Duration) -> Duration {
        let last = self.until.saturating_sub(Duration::from_nanos(1));
        now.min(last).saturating_sub(self.drained)
    }

    /// The load's time of a moment of that clock.
    pub fn of_load(&self, time: Duration) -> Duration {
        time.saturating_add(self.drained)
    }

    /// Ends the slice at `now`, in which so many `users` asked; none in an open loop.
    pub fn end(&mut self, now: Duration, users: usize) {
        self.drain = Some(Drain { users, noticed: now, waited: Duration::ZERO });
    }

    /// Notes that a request ended at `now`.
    pub fn ended(&mut self, now: Duration) {
        if let Some(drain) = &mut self.drain {
            drain.waited += now.saturating_sub(self.until);
        }
    }

    /// Reports that nothing of the slice is left at `now`. The next slice is to be waited for.
    pub fn hand_over(&mut self, now: Duration) {
        let noticed = self.drain.as_ref().map_or(self.until, |drain| drain.noticed);
        let [drain, late] = [now.saturating_sub(noticed), noticed.saturating_sub(self.until)];
        // Who would hear it is gone only if the load is over.
        let _ = self.messages.send(ThreadMessage::SliceEnded(SliceEnd { drain, late, lost: self.lost }));
    }

    /// For how long the drain counts: the mean over users.
    pub fn drained(&self) -> Duration {
        match &self.drain {
            Some(Drain { users: users @ 1.., waited, .. }) => waited.div_f64(*users as f64),
            _ => Duration::ZERO,
        }
    }

    /// Waits for the next slice for a while: [`Wait::Longer`] means that it has not come.
    pub fn wait(&mut self) -> Wait {
        match self.next.recv_timeout(LOOK) {
            Ok(Some(length)) => Wait::Slice(length),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => Wait::Over,
            Err(RecvTimeoutError::Timeout) => Wait::Longer,
        }
    }

    /// Begins a slice of this `length` at `now`, so many connections having been `lost` meanwhile.
    pub fn begin(&mut self, now: Duration, length: Duration, lost: u32) {
        self.drained += now.saturating_sub(self.until);
        (self.until, self.lost, self.drain) = (now.saturating_add(length), lost, None);
    }
}

/// What waiting for a slice came to.
pub(crate) enum Wait {
    /// It begins, and has this length.
    Slice(Duration),
    /// The load is over.
    Over,
    /// It has not come yet.
    Longer,
}
