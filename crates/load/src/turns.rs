//! A load that comes in slices, between which its users wait: several servers are loaded in turns, one at a time, and meet the
//! same host.
//!
//! The load's clock stands still while its users wait, so that whatever is timed by it (users' thinking, stages, what is due)
//! goes on where it stopped. A slice has three parts ([`Part`]): it ramps up, it is counted, and when it is over the requests in
//! flight are waited for, so that nothing of it is left when another server has its turn. Connections stay open from slice to slice.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use model::Interval;

use crate::run::{Flow, Told};

/// How often a waiting client looks at its connections: a server may have ended some.
const LOOK: Duration = Duration::from_millis(500);

/// A part of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// From its beginning until each of the requests that it began with has ended: all users ask at once, so that fewer answers
    /// come than the server gives.
    RampUp,
    /// What is measured.
    Counted,
    /// After its end, until the requests in flight have ended. Nothing more is sent.
    Drain,
}

/// How a slice ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceEnd {
    /// How long it ramped up; all of it where that never ended.
    pub ramp_up: Duration,
    /// Connections that the server had ended while the users waited for this slice.
    pub lost: u32,
}

/// Who gives a load its slices, and sees what comes of them. Called on the thread that makes the load.
pub trait Turns {
    /// The length of the next slice, which begins when this returns; `None` ends the load. `ended` is the slice before, which is
    /// over: all its requests have ended.
    fn next(&mut self, ended: Option<SliceEnd>) -> Option<Duration>;

    /// An interval is over. It is about a second long, less where its part of the slice ends.
    fn observe(&mut self, part: Part, interval: Interval) -> Flow;
}

/// A load without turns: one slice that nothing ends but the load itself. All of it is counted.
pub(crate) struct Throughout<'a> {
    /// Called when it begins.
    pub begin: &'a mut dyn FnMut(),
    pub observer: &'a mut dyn FnMut(Interval) -> Flow,
}

impl Turns for Throughout<'_> {
    fn next(&mut self, _: Option<SliceEnd>) -> Option<Duration> {
        (self.begin)();
        Some(Duration::MAX)
    }

    fn observe(&mut self, _: Part, interval: Interval) -> Flow {
        (self.observer)(interval)
    }
}

/// The slices of one thread's load, as its loop sees them. Times are the load's.
pub(crate) struct Slices {
    /// When requests are no longer sent.
    until: Duration,
    /// When it began.
    from: Duration,
    /// How long the ends of slices have been waited for so far: no time in which anything is due.
    drained: Duration,
    is_over: bool,
    /// Requests that the slice began with and that have not ended; `None` before they are sent and when they all have.
    starting: Option<usize>,
    ramp_up: Option<Duration>,
    lost: u32,
    told: Sender<Told>,
    next: Receiver<Option<Duration>>,
}

impl Slices {
    /// The first of them has this `length`; `told` hears of each slice's end, `next` has the length of the one after.
    pub fn new(length: Duration, told: Sender<Told>, next: Receiver<Option<Duration>>) -> Self {
        Self {
            until: length,
            from: Duration::ZERO,
            drained: Duration::ZERO,
            is_over: false,
            starting: None,
            ramp_up: None,
            lost: 0,
            told,
            next,
        }
    }

    /// When the slice ends.
    pub fn until(&self) -> Duration {
        self.until
    }

    /// Whether it has ended, so that nothing more is sent.
    pub fn is_over(&self) -> bool {
        self.is_over
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

    /// Notes how many requests the slice began with.
    pub fn began_with(&mut self, requests: usize) {
        self.starting = Some(requests);
    }

    /// Whether nothing of the slice has been sent yet.
    pub fn is_new(&self) -> bool {
        self.starting.is_none() && self.ramp_up.is_none()
    }

    /// Whether the ramp-up ends at `now`, by a request that ended (`ended`) or since there is none to wait for.
    pub fn ramps_up_until(&mut self, now: Duration, ended: bool) -> bool {
        let Some(starting) = &mut self.starting else { return false };
        *starting = starting.saturating_sub(usize::from(ended));
        if *starting > 0 || self.is_over {
            return false;
        }
        self.starting = None;
        self.ramp_up = Some(now.saturating_sub(self.from));
        true
    }

    /// Ends the slice.
    pub fn end(&mut self) {
        self.is_over = true;
    }

    /// Tells that nothing of the slice is left. The next one is to be waited for.
    pub fn hand_over(&mut self) {
        let ramp_up = self.ramp_up.unwrap_or(self.until.saturating_sub(self.from));
        // Who would hear it is gone only if the load is over.
        let _ = self.told.send(Told::SliceEnded(SliceEnd { ramp_up, lost: self.lost }));
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
        (self.from, self.until, self.lost) = (now, now.saturating_add(length), lost);
        (self.is_over, self.starting, self.ramp_up) = (false, None, None);
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
