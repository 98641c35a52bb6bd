//! One thread's loop: gives requests to connections, and takes in what comes of them. It moves no bytes itself.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Backend, Failure, Sample};
use rustix::io::Errno;
use rustix::net::SocketAddrAny;
use rustix::thread::set_current_timer_slack;

use crate::LoadError;
use crate::arrivals::{Dispatch, Source};
use crate::backend::{Driver, Event, EventKind};
use crate::connection::{Connection, RequestEnd, State, Task};
use crate::receive;
use crate::recorder::Recorder;
use crate::target::{Address, Target};
use crate::turns::{Slices, Wait};
use crate::work::Work;

/// Longest sleep, and so the time in which a stop flag is noticed.
const TICK: Duration = Duration::from_millis(100);

/// How long connections are kept while their users wait for a slice. Usual servers end one that is idle, after 5 s at the soonest (Apache httpd's
/// `KeepAliveTimeout`, Node.js's `server.keepAliveTimeout`). One that was stopped meanwhile does so as it goes on: just when users ask again.
const KEPT: Duration = Duration::from_secs(4);

/// What one thread is to do.
pub(crate) struct Job<'a> {
    pub target: &'a Target,
    /// Names of the steps of scenarios, if those are what is asked.
    pub steps: &'a [String],
    /// Index of the first address; the others follow in turn.
    pub first: usize,
    pub connections: usize,
    pub arrivals: Source<'a>,
    pub time_limit: Duration,
    /// Start of the load, the same for all its threads.
    pub began: Instant,
    /// Flags each of which ends the load.
    pub stops: [&'a AtomicBool; 2],
    /// Its slices, where its users wait between them.
    pub slices: Option<Slices>,
}

/// What a thread has to report when it has finished.
#[derive(Debug, Clone)]
pub(crate) struct Finished {
    /// How much of the load each address had.
    pub addresses: Vec<AddressTally>,
    /// Requests sent, in whole or in part, that had not ended when the load was over.
    pub abandoned: u64,
    /// Whether the kernel reported when answers came.
    pub kernel_time: bool,
    /// How bytes were moved.
    pub backend: Backend,
}

/// What an address had of a load.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AddressTally {
    /// Connections opened.
    pub opened: u64,
    /// Requests that ended.
    pub ended: u64,
}

/// Does the job by `backend`, which has a slot for each connection: asks what `work` says, giving away a sample a second.
pub(crate) fn run<B: Driver>(
    job: Job<'_>,
    backend: B,
    work: &mut impl Work,
    emit: impl FnMut(Sample),
) -> Result<Finished, LoadError> {
    // Without it a sleep may last 50 µs longer than asked for (prctl(2)); that would show as send delay.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let kernel = job.target.addresses.iter().map(Address::to_kernel).collect::<Result<Vec<_>, _>>();
    let addresses = kernel.map_err(LoadError::system("use the address of a Unix socket"))?;
    let thread = Thread {
        finished: Finished {
            addresses: vec![AddressTally::default(); addresses.len()],
            abandoned: 0,
            kernel_time: false,
            backend: B::BACKEND,
        },
        next_address: job.first % addresses.len(),
        addresses,
        backend,
        connections: (0..job.connections).map(|_| Connection::new()).collect(),
        next_sweep: TICK.min(job.time_limit),
        recorder: Recorder::new(job.arrivals.is_open(), job.steps, emit),
        work,
        free: VecDeque::new(),
        unconnected: (0..job.connections).rev().collect(),
        job,
        timers: BinaryHeap::new(),
        started: 0,
        live: 0,
    };
    thread.run()
}

struct Thread<'a, B, W, Emit> {
    job: Job<'a>,
    work: &'a mut W,
    backend: B,
    /// Where connections go, and the next of them.
    addresses: Vec<SocketAddrAny>,
    next_address: usize,
    /// By slot.
    connections: Vec<Connection>,
    recorder: Recorder<Emit>,
    /// Slots with nothing to do whose connection is open, or was until the server ended it; used in turn.
    free: VecDeque<usize>,
    /// Slots with nothing to do and no connection.
    unconnected: Vec<usize>,
    /// When which slot goes on that waits.
    timers: BinaryHeap<Reverse<(Duration, usize)>>,
    /// Requests, or iterations of scenarios, started.
    started: u64,
    /// Slots that have a request in hand, or wait to go on.
    live: usize,
    /// What is reported in the end.
    finished: Finished,
    /// When deadlines are looked at next.
    next_sweep: Duration,
}

impl<B: Driver, W: Work, Emit: FnMut(Sample)> Thread<'_, B, W, Emit> {
    fn run(mut self) -> Result<Finished, LoadError> {
        let over_at = loop {
            let now = self.now();
            if let Some(end) = self.job.arrivals.end()
                && now >= end
            {
                break end;
            }
            if self.job.stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
                break now;
            }
            if self.ends_slice(now) {
                if self.in_flight() == 0 {
                    if !self.next_slice(now)? {
                        break now;
                    }
                    continue;
                }
            } else {
                self.wake(now)?;
                self.dispatch(now)?;
                // What slices there are is not for the load to say.
                if self.job.slices.is_none() && self.live == 0 && self.job.arrivals.is_over(now, self.started) {
                    break now;
                }
            }
            if now >= self.next_sweep {
                self.sweep(now)?;
            }
            self.backend.wait(self.sleep())?;
            while let Some(event) = self.backend.next()? {
                self.on_event(event)?;
                // What has become due meanwhile is not to wait for the other events.
                if self.job.arrivals.is_open() {
                    self.dispatch(self.now())?;
                }
            }
        };
        self.roll(over_at);
        self.recorder.waiting(self.job.arrivals.waiting());
        let in_flight = |connection: &&Connection| matches!(connection.state(), State::InFlight { .. });
        self.finished.abandoned = self.connections.iter().filter(in_flight).count() as u64;
        // A backend may hold sends back until it waits: what counts as abandoned has been sent.
        self.backend.wait(Duration::ZERO)?;
        (0..self.connections.len()).for_each(|index| self.close(index));
        self.recorder.finish(over_at);
        Ok(self.finished)
    }

    /// Time since the load began, without that in which its users waited for a slice.
    fn now(&self) -> Duration {
        self.job.began.elapsed()
    }

    /// What the clock of arrivals shows at `now`: nothing is due while a slice is being ended.
    fn of_arrivals(&self, now: Duration) -> Duration {
        self.job.slices.as_ref().map_or(now, |slices| slices.of_arrivals(now))
    }

    /// The load's time of a moment of that clock.
    fn of_load(&self, time: Duration) -> Duration {
        self.job.slices.as_ref().map_or(time, |slices| slices.of_load(time))
    }

    /// Requests that have been sent, or wait for their connection.
    fn in_flight(&self) -> usize {
        self.live - self.timers.len()
    }

    /// Whether the slice is over, which is noted.
    fn ends_slice(&mut self, now: Duration) -> bool {
        let Some(slices) = &mut self.job.slices else { return false };
        if !slices.is_over() && now >= slices.until() {
            let until = slices.until();
            self.take_due(until);
            self.recorder.hold(until);
            let users = if self.job.arrivals.is_open() { 0 } else { self.live };
            if let Some(slices) = &mut self.job.slices {
                slices.end(now, users);
            }
            return true;
        }
        slices.is_over()
    }

    /// Hands over, waits for the next slice, and begins it; whether there is one. The load's clock stands still meanwhile.
    fn next_slice(&mut self, now: Duration) -> Result<bool, LoadError> {
        let open = |thread: &Self| (0..thread.connections.len()).filter(|index| thread.backend.is_open(*index)).count();
        let before = open(self);
        let Some(slices) = &mut self.job.slices else { return Ok(false) };
        self.recorder.release(now, slices.drained());
        slices.hand_over(now);
        let length = loop {
            let waited = self.job.slices.as_mut().map_or(Wait::Over, Slices::wait);
            self.backend.wait(Duration::ZERO)?;
            while let Some(event) = self.backend.next()? {
                self.on_event(event)?;
            }
            match waited {
                Wait::Slice(length) => break length,
                Wait::Over => return Ok(false),
                Wait::Longer => {}
            }
        };
        let waited = self.now().saturating_sub(now);
        self.job.began += waited;
        self.recorder.skip_cpu();
        // Where all are made anew, none is the server's loss.
        let lost = if waited > KEPT {
            (0..self.connections.len()).for_each(|index| self.close(index));
            0
        } else {
            before.saturating_sub(open(self)) as u32
        };
        if let Some(slices) = &mut self.job.slices {
            slices.begin(now, length, lost);
        }
        Ok(true)
    }

    /// Takes in what is due at `now`, and gives away every sample that is over.
    fn roll(&mut self, now: Duration) {
        self.take_due(now);
        self.recorder.roll(now);
    }

    /// Takes in what is due at `now`.
    fn take_due(&mut self, now: Duration) {
        self.recorder.waiting(self.job.arrivals.waiting());
        let of_arrivals = self.of_arrivals(now);
        while let Some(intended) = self.job.arrivals.take_due(of_arrivals) {
            let intended = self.of_load(intended);
            self.recorder.due(intended);
        }
    }

    /// Gives requests to slots that have nothing to do, as long as there are both.
    fn dispatch(&mut self, now: Duration) -> Result<(), LoadError> {
        if self.ends_slice(now) || self.job.arrivals.end().is_some_and(|end| now >= end) {
            return Ok(());
        }
        self.roll(now);
        while self.job.arrivals.wants_connection(self.of_arrivals(now), self.started, self.live)
            && let Some(index) = self.take_free()
        {
            self.live += 1;
            self.next(index, self.now())?;
        }
        Ok(())
    }

    /// A slot with nothing to do, one with an open connection if there is any.
    fn take_free(&mut self) -> Option<usize> {
        while let Some(index) = self.free.pop_front() {
            if self.backend.is_open(index) {
                return Some(index);
            }
            self.unconnected.push(index);
        }
        self.unconnected.pop()
    }

    /// Has every slot go on that has waited long enough.
    fn wake(&mut self, now: Duration) -> Result<(), LoadError> {
        while let Some(&Reverse((until, index))) = self.timers.peek()
            && until <= now
        {
            self.timers.pop();
            self.next(index, self.now())?;
        }
        Ok(())
    }

    /// How long nothing is to be done if nothing happens.
    fn sleep(&self) -> Duration {
        let slices = self.job.slices.as_ref();
        let is_over = slices.is_some_and(Slices::is_over);
        let first = if is_over { self.next_sweep } else { self.next_sweep.min(self.recorder.sample_end()) };
        // What is due in a drain has to wait for the next slice.
        let wakes = if is_over {
            [None; 4]
        } else {
            let timer = self.timers.peek().map(|Reverse((until, _))| *until);
            let change = self.job.arrivals.next_change().map(|change| self.of_load(change));
            [timer, change, self.job.arrivals.end(), slices.map(Slices::until)]
        };
        let wake = wakes.into_iter().flatten().fold(first, Duration::min);
        wake.saturating_sub(self.now()).min(TICK)
    }

    /// Ends what took too long.
    fn sweep(&mut self, now: Duration) -> Result<(), LoadError> {
        self.next_sweep = now + TICK.min(self.job.time_limit);
        for index in 0..self.connections.len() {
            let (deadline, failure) = match self.connections[index].state() {
                State::Idle | State::Waiting => continue,
                State::Connecting { deadline } => (deadline, Failure::Connect),
                State::InFlight { deadline } => (deadline, Failure::TimedOut),
            };
            if deadline <= now {
                self.ended(index, &failure.into(), None, true)?;
            } else {
                self.next_sweep = self.next_sweep.min(deadline);
            }
        }
        Ok(())
    }

    /// Gives a slot its next request, if it is to have one.
    fn next(&mut self, index: usize, now: Duration) -> Result<(), LoadError> {
        let before = self.started;
        let intended = if self.work.is_midway(index) {
            None
        } else {
            let dispatch = self.job.arrivals.dispatch(self.of_arrivals(now), self.started, self.live);
            let Dispatch::Send(intended) = dispatch else {
                if dispatch == Dispatch::End {
                    self.close(index);
                }
                self.set_free(index);
                return Ok(());
            };
            self.started += 1;
            intended.map(|intended| self.of_load(intended))
        };
        let task = Task { request: self.work.prepare(index, before)?, intended };
        if self.backend.is_open(index) {
            self.start(index, task, now)
        } else {
            let address = self.next_address;
            self.next_address = (address + 1) % self.addresses.len();
            self.connections[index].connect_for(task, address, now + self.job.time_limit);
            match self.backend.connect(index, &self.addresses[address])? {
                Ok(()) => Ok(()),
                Err(error) => self.ended(index, &unconnected(error).into(), None, true),
            }
        }
    }

    /// Ends a slot's connection, if it has one.
    fn close(&mut self, index: usize) {
        self.backend.close(index, self.connections[index].close_bytes());
    }

    /// Notes that a slot has nothing to do.
    fn set_free(&mut self, index: usize) {
        self.live -= 1;
        self.connections[index].rest();
        if self.backend.is_open(index) {
            self.free.push_back(index);
        } else {
            self.unconnected.push(index);
        }
    }

    fn on_event(&mut self, Event { slot, kind }: Event) -> Result<(), LoadError> {
        let connection = &mut self.connections[slot];
        match (connection.state(), kind) {
            (State::Connecting { .. }, EventKind::Connected) => {
                self.finished.addresses[connection.address()].opened += 1;
                let begun = connection.connected(self.job.target);
                self.go_on_connecting(slot, begun)
            }
            (State::Connecting { .. }, EventKind::Received { .. }) => {
                let bytes = self.backend.received();
                self.recorder.received(bytes.len());
                let agreed = connection.agree(bytes);
                self.go_on_connecting(slot, agreed)
            }
            (State::Connecting { .. }, EventKind::Broken(error)) => {
                self.ended(slot, &unconnected(error).into(), None, true)
            }
            (State::InFlight { .. }, EventKind::Received { came_at, ends }) => {
                let bytes = self.backend.received();
                self.recorder.received(bytes.len());
                let ended = self.work.received(slot, connection, bytes);
                if ended.is_none() {
                    self.backend.skip(slot, self.work.skippable(slot, connection));
                }
                self.send_unsent(slot)?;
                match ended {
                    Some(ended) => self.ended(slot, &ended, came_at, ends),
                    None => Ok(()),
                }
            }
            (State::InFlight { .. }, EventKind::Skipped { bytes, came_at, ends }) => {
                self.recorder.received(bytes as usize);
                match self.work.skipped(slot, connection, bytes) {
                    Some(ended) => self.ended(slot, &ended, came_at, ends),
                    None => Ok(()),
                }
            }
            (State::Connecting { .. } | State::InFlight { .. }, EventKind::Ended) => {
                let ended = self.work.closed(slot, connection);
                self.ended(slot, &ended, None, true)
            }
            (State::InFlight { .. }, _) | (State::Connecting { .. }, EventKind::Skipped { .. }) => {
                let ended = connection.broken();
                self.ended(slot, &ended, None, true)
            }
            (State::Idle | State::Waiting, EventKind::Received { ends: false, .. })
                if connection.received_unsolicited(self.backend.received()) =>
            {
                self.send_unsent(slot)
            }
            // A connection that ends while nothing is asked is no failure, and one that says something unasked can
            // not be trusted: the next request makes another.
            (State::Idle | State::Waiting, _) => {
                self.close(slot);
                Ok(())
            }
        }
    }

    /// Starts the request for which a connection is made, as soon as that is ready.
    fn go_on_connecting(&mut self, index: usize, so_far: Result<(), Failure>) -> Result<(), LoadError> {
        self.send_unsent(index)?;
        if let Err(failure) = so_far {
            return self.ended(index, &failure.into(), None, true);
        }
        let connection = &self.connections[index];
        if connection.is_ready() { self.start(index, connection.task(), self.now()) } else { Ok(()) }
    }

    /// Sends what a connection has to say beside its requests.
    #[inline]
    fn send_unsent(&mut self, index: usize) -> Result<(), LoadError> {
        let unsent = self.connections[index].unsent();
        if unsent.is_empty() { Ok(()) } else { self.backend.send(index, unsent) }
    }

    /// Starts a request on a connection that is open.
    fn start(&mut self, index: usize, task: Task, now: Duration) -> Result<(), LoadError> {
        let connection = &mut self.connections[index];
        connection.start(task, now, now + self.job.time_limit);
        if let Some(send_delay) = connection.send_delay() {
            self.recorder.send_delay(send_delay);
        }
        match connection.send(self.work.request(index, task.request)) {
            Ok(bytes) => self.backend.send(index, bytes),
            Err(failure) => self.ended(index, &failure.into(), None, true),
        }
    }

    /// Counts a request that ended, and has its slot go on. `came_at` is what the kernel says of the end.
    fn ended(
        &mut self,
        index: usize,
        ended: &RequestEnd,
        came_at: Option<Duration>,
        hung_up: bool,
    ) -> Result<(), LoadError> {
        let now = self.now();
        if self.job.arrivals.end().is_some_and(|end| now >= end) {
            return Ok(());
        }
        let waits_for_slice = self.ends_slice(now);
        if now >= self.recorder.sample_end() {
            self.roll(now);
        }
        self.finished.kernel_time |= came_at.is_some();
        let connection = &mut self.connections[index];
        self.finished.addresses[connection.address()].ended += 1;
        let end = now.saturating_sub(came_at.map_or(Duration::ZERO, receive::age));
        let took = connection.finish(end);
        let mut ended = *ended;
        let then = self.work.ended(index, &mut ended, took, end, &mut self.recorder);
        self.recorder.ended(now, took, &ended);
        // A server may answer before it has the whole request: what is left of it can go nowhere then.
        if hung_up || !ended.reusable || !self.backend.has_sent(index) {
            self.close(index);
        }
        let wait = match ended.answered {
            Some(_) if then.midway => then.think,
            Some(_) => self.job.arrivals.think(self.of_arrivals(now), self.started, then.think),
            None => Some(self.connections[index].back_off()),
        };
        if let Some(slices) = &mut self.job.slices {
            slices.ended(now);
        }
        let Some(wait) = wait.or(waits_for_slice.then_some(Duration::ZERO)) else { return self.next(index, now) };
        self.connections[index].wait();
        self.timers.push(Reverse((now.saturating_add(wait), index)));
        Ok(())
    }
}

/// Why no connection could be made.
fn unconnected(error: Errno) -> Failure {
    match error {
        // Every port that this machine may use towards that address is in use (connect(2)).
        Errno::ADDRNOTAVAIL => Failure::NoPorts,
        _ => Failure::Connect,
    }
}
