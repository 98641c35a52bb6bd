//! One thread's loop: epoll, edge-triggered.
//!
//! System calls are what a request costs the client, so a request in the steady state makes two of its own, one
//! send and one receive, and shares a wait with every other that is ready: a socket is registered once for its
//! life; requests are written at once, without asking whether they may be; a response that is complete is not
//! followed by a read that finds nothing, since the event itself says whether the stream ended.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use model::{Failure, Interval};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, connect, send, socket_with, sockopt};
use rustix::thread::set_current_timer_slack;

use crate::LoadError;
use crate::arrivals::{Pace, Source};
use crate::connection::{Connection, Ended, State, Task};
use crate::receive;
use crate::recorder::Recorder;
use crate::request::{Ask, Target};

/// Longest sleep, and so the time in which a stop flag is noticed.
const TICK: Duration = Duration::from_millis(100);

/// Bytes read at most at a time.
const BUFFER: usize = 64 * 1024;

/// Full buffers read at most from one connection before the others, the clock and the stop flags have their turn.
const READS: usize = 16;

/// Events taken at most at a time.
const EVENTS: usize = 512;

/// What one thread is to do.
pub(crate) struct Job<'a> {
    pub target: &'a Target,
    pub asks: &'a [Ask],
    /// Index of the first ask; the others follow in turn.
    pub first_ask: usize,
    pub connections: usize,
    pub arrivals: Source<'a>,
    pub time_limit: Duration,
    /// Whether the kernel is asked when answers came.
    pub kernel_time: bool,
    /// Start of the load, the same for all its threads.
    pub began: Instant,
    /// Flags each of which ends the load.
    pub stops: [&'a AtomicBool; 2],
}

/// What a thread has to tell when it has finished.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Finished {
    /// Connections opened.
    pub opened: u64,
    /// Whether the kernel told when answers came.
    pub kernel_time: bool,
}

/// Does the job, giving away an interval a second.
pub(crate) fn work(job: Job<'_>, emit: impl FnMut(Interval)) -> Result<Finished, LoadError> {
    // Without it a sleep may last 50 µs longer than asked for (prctl(2)); that would show as lateness.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(LoadError::system("create an epoll instance"))?;
    let slots = (0..job.connections).map(|_| Slot { socket: None, connection: Connection::new() }).collect();
    let engine = Engine {
        next_sweep: TICK.min(job.time_limit),
        recorder: Recorder::new(job.arrivals.is_open(), emit),
        free: VecDeque::new(),
        unconnected: (0..job.connections).rev().collect(),
        job,
        epoll,
        slots,
        buffer: vec![0; BUFFER].into(),
        timers: BinaryHeap::new(),
        started: 0,
        live: 0,
        finished: Finished::default(),
    };
    engine.run()
}

/// A place for one connection after another.
struct Slot {
    socket: Option<OwnedFd>,
    connection: Connection,
}

struct Engine<'a, Emit> {
    job: Job<'a>,
    epoll: OwnedFd,
    slots: Vec<Slot>,
    /// Read into by every connection in turn, so that it stays in the processor's cache.
    buffer: Box<[u8]>,
    recorder: Recorder<Emit>,
    /// Slots with nothing to do whose connection is open, or was until the server ended it; used in turn.
    free: VecDeque<usize>,
    /// Slots with nothing to do and no connection.
    unconnected: Vec<usize>,
    /// When which slot goes on that waits.
    timers: BinaryHeap<Reverse<(Duration, usize)>>,
    /// Requests started.
    started: u64,
    /// Slots that have a request in hand, or wait to go on.
    live: usize,
    /// What is told in the end.
    finished: Finished,
    /// When deadlines are looked at next.
    next_sweep: Duration,
}

impl<Emit: FnMut(Interval)> Engine<'_, Emit> {
    fn run(mut self) -> Result<Finished, LoadError> {
        let mut events = Vec::with_capacity(EVENTS);
        let over_at = loop {
            let now = self.now();
            if let Some(end) = self.job.arrivals.end()
                && now >= end
            {
                break end;
            }
            let nothing_left = self.live == 0 && self.job.arrivals.is_over(now, self.started);
            if nothing_left || self.job.stops.iter().any(|stop| stop.load(Ordering::Relaxed)) {
                break now;
            }
            self.wake(now)?;
            self.dispatch(now)?;
            if now >= self.next_sweep {
                self.sweep(now)?;
            }
            self.wait(&mut events)?;
            for event in events.drain(..) {
                self.on_event(event.data.u64() as usize, event.flags)?;
                // What has become due meanwhile is not to wait for the other events.
                if self.job.arrivals.is_open() {
                    self.dispatch(self.now())?;
                }
            }
        };
        self.roll(over_at);
        self.recorder.waiting(self.job.arrivals.waiting());
        self.recorder.finish(over_at);
        Ok(self.finished)
    }

    /// Time since the load began.
    fn now(&self) -> Duration {
        self.job.began.elapsed()
    }

    /// Takes in what is due at `now`, and gives away every interval that is over.
    fn roll(&mut self, now: Duration) {
        self.recorder.waiting(self.job.arrivals.waiting());
        while let Some(intended) = self.job.arrivals.take_due(now) {
            self.recorder.due(intended);
        }
        self.recorder.roll(now);
    }

    /// Gives requests to slots that have nothing to do, as long as there are both.
    fn dispatch(&mut self, now: Duration) -> Result<(), LoadError> {
        self.roll(now);
        while self.job.arrivals.wants_connection(now, self.started)
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
            if self.slots[index].socket.is_some() {
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

    fn wait(&self, events: &mut Vec<epoll::Event>) -> Result<(), LoadError> {
        let timer = self.timers.peek().map(|Reverse((until, _))| *until);
        let wakes = [timer, self.job.arrivals.next_due(), self.job.arrivals.end()];
        let first = self.next_sweep.min(self.recorder.interval_end());
        let wake = wakes.into_iter().flatten().fold(first, Duration::min);
        let sleep = wake.saturating_sub(self.now()).min(TICK);
        let timeout = Timespec { tv_sec: sleep.as_secs().cast_signed(), tv_nsec: sleep.subsec_nanos().into() };
        match epoll::wait(&self.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(LoadError::system("wait for events")(error)),
        }
    }

    /// Ends what took too long.
    fn sweep(&mut self, now: Duration) -> Result<(), LoadError> {
        self.next_sweep = now + TICK.min(self.job.time_limit);
        for index in 0..self.slots.len() {
            let (deadline, failure) = match self.slots[index].connection.state() {
                State::Idle | State::Waiting => continue,
                State::Connecting { deadline } => (deadline, Failure::Connect),
                State::Asking { deadline } => (deadline, Failure::TimedOut),
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
        let pace = self.job.arrivals.pace(now, self.started);
        let Pace::Send(intended) = pace else {
            if pace == Pace::End {
                self.slots[index].socket = None;
            }
            self.set_free(index);
            return Ok(());
        };
        let ask = (self.job.first_ask + self.started as usize) % self.job.asks.len();
        let task = Task { ask, intended };
        self.started += 1;
        if self.slots[index].socket.is_some() {
            self.start(index, task, now)
        } else {
            self.slots[index].connection.connect_for(task, now + self.job.time_limit);
            self.connect(index)
        }
    }

    /// Notes that a slot has nothing to do.
    fn set_free(&mut self, index: usize) {
        self.live -= 1;
        self.slots[index].connection.rest();
        if self.slots[index].socket.is_some() {
            self.free.push_back(index);
        } else {
            self.unconnected.push(index);
        }
    }

    fn connect(&mut self, index: usize) -> Result<(), LoadError> {
        let family = if self.job.target.address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket =
            socket_with(family, SocketType::STREAM, flags, None).map_err(LoadError::system("make a socket"))?;
        sockopt::set_tcp_nodelay(&socket, true).map_err(LoadError::system("set TCP_NODELAY"))?;
        if self.job.kernel_time {
            receive::ask_for_timestamps(&socket);
        }
        match connect(&socket, &self.job.target.address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(_) => return self.ended(index, &Failure::Connect.into(), None, true),
        }
        epoll::add(&self.epoll, &socket, epoll::EventData::new_u64(index as u64), interest())
            .map_err(LoadError::system("register a socket"))?;
        self.slots[index].socket = Some(socket);
        Ok(())
    }

    fn on_event(&mut self, index: usize, flags: epoll::EventFlags) -> Result<(), LoadError> {
        let hung_up = flags.intersects(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR);
        let Slot { socket: Some(socket), connection } = &self.slots[index] else { return Ok(()) };
        match connection.state() {
            State::Connecting { .. } => match sockopt::socket_error(socket) {
                Ok(Ok(())) if flags.contains(epoll::EventFlags::OUT) => {
                    self.finished.opened += 1;
                    let task = connection.task();
                    self.start(index, task, self.now())
                }
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) | Err(_) => self.ended(index, &Failure::Connect.into(), None, true),
            },
            State::Asking { .. } => {
                if flags.contains(epoll::EventFlags::OUT) && !self.write(index) {
                    return self.read(index, true);
                }
                if hung_up || flags.contains(epoll::EventFlags::IN) { self.read(index, hung_up) } else { Ok(()) }
            }
            State::Idle | State::Waiting => {
                // A connection that ends while nothing is asked is no failure: the next request makes another.
                if hung_up {
                    self.slots[index].socket = None;
                }
                Ok(())
            }
        }
    }

    /// Starts a request on a connection that is open.
    fn start(&mut self, index: usize, task: Task, now: Duration) -> Result<(), LoadError> {
        let connection = &mut self.slots[index].connection;
        connection.start(task, now, now + self.job.time_limit);
        if let Some(lateness) = connection.lateness() {
            self.recorder.late(lateness);
        }
        if self.write(index) { Ok(()) } else { self.read(index, true) }
    }

    /// Writes as much as the kernel takes; `false` when the connection takes no more: what it still holds to be
    /// read says how the request ended.
    fn write(&mut self, index: usize) -> bool {
        let Slot { socket: Some(socket), connection } = &mut self.slots[index] else { return true };
        let ask = &self.job.asks[connection.task().ask];
        loop {
            let unsent = connection.unsent(ask);
            if unsent.is_empty() {
                return true;
            }
            match send(&*socket, unsent, SendFlags::NOSIGNAL) {
                Ok(bytes) => connection.wrote(bytes),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Reads until the response is complete or nothing is left; `hung_up` says that the stream has an end to be
    /// read.
    fn read(&mut self, index: usize, hung_up: bool) -> Result<(), LoadError> {
        for _ in 0..READS {
            let Slot { socket: Some(socket), connection } = &mut self.slots[index] else { return Ok(()) };
            let ask = &self.job.asks[connection.task().ask];
            let (ended, came_at) = match receive::recv(socket, &mut self.buffer, self.job.kernel_time) {
                Ok((0, _)) => (Some(connection.closed(ask)), None),
                Ok((bytes, came_at)) => {
                    self.recorder.received(bytes);
                    let ended = connection.received(&self.buffer[..bytes], ask);
                    // A short read has emptied the socket (epoll(7)); what comes later makes a new event.
                    if ended.is_none() && bytes < self.buffer.len() && !hung_up {
                        return Ok(());
                    }
                    (ended, came_at)
                }
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => (None, None),
                Err(_) => (Some(Failure::Closed.into()), None),
            };
            if let Some(ended) = ended {
                return self.ended(index, &ended, came_at, hung_up);
            }
        }
        // Registered anew, the socket reports again what is already there.
        let Slot { socket: Some(socket), .. } = &self.slots[index] else { return Ok(()) };
        epoll::modify(&self.epoll, socket, epoll::EventData::new_u64(index as u64), interest())
            .map_err(LoadError::system("register a socket"))
    }

    /// Counts a request that ended, and has its slot go on. `came_at` is what the kernel says of the end.
    fn ended(
        &mut self,
        index: usize,
        ended: &Ended,
        came_at: Option<Duration>,
        hung_up: bool,
    ) -> Result<(), LoadError> {
        let now = self.now();
        if self.job.arrivals.end().is_some_and(|end| now >= end) {
            return Ok(());
        }
        if now >= self.recorder.interval_end() {
            self.roll(now);
        }
        self.finished.kernel_time |= came_at.is_some();
        let slot = &mut self.slots[index];
        let took = slot.connection.finish(now.saturating_sub(came_at.map_or(Duration::ZERO, receive::age)));
        self.recorder.ended(now, took, ended);
        if hung_up || !ended.reusable {
            slot.socket = None;
        }
        let wait = match ended.answered {
            Some(_) => self.job.arrivals.think(now, self.started),
            None => Some(slot.connection.back_off()),
        };
        let Some(wait) = wait else { return self.next(index, now) };
        slot.connection.wait();
        self.timers.push(Reverse((now.saturating_add(wait), index)));
        Ok(())
    }
}

/// What a socket is registered for. Edge-triggered, "writable" costs nothing until the kernel has once refused to
/// take all.
fn interest() -> epoll::EventFlags {
    epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET
}
