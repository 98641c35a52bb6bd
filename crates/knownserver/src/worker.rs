//! One event loop: epoll and timers on one thread.

use crate::behaviour;
use crate::connection::{Connection, Context, Next};
use crate::receive::{self, Receiver};
use crate::shared::Shared;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SocketFlags;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Events taken at a time.
const EVENTS: usize = 256;
/// Connections the kernel keeps that have not been accepted.
const BACKLOG: i32 = 1024;
/// Longest sleep without asking whether the server is to stop.
const NAP: Duration = Duration::from_millis(20);

/// Tokens of what is no connection; slots count from 0.
const WAKE: u64 = u64::MAX;
const LISTENER: u64 = u64::MAX - 1;
/// Timer that ends the server.
const END: usize = usize::MAX;

/// One event loop.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    index: usize,
    epoll: OwnedFd,
    /// The first loop accepts for all.
    listener: Option<OwnedFd>,
    slots: Vec<Slot>,
    free: Vec<usize>,
    timers: BinaryHeap<Reverse<Timer>>,
    receiver: Receiver,
}

/// Place of a connection. The generation shows that a timer belongs to an earlier one.
#[derive(Default)]
struct Slot {
    connection: Option<Connection>,
    generation: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    due: Instant,
    slot: usize,
    generation: u64,
}

impl Worker {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, listener: Option<OwnedFd>) -> Result<Self, Errno> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &shared.wakers[index], EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Self {
            shared,
            index,
            epoll,
            listener,
            slots: Vec::new(),
            free: Vec::new(),
            timers: BinaryHeap::new(),
            receiver: Receiver::new(),
        })
    }

    /// Serves until the server is stopped.
    pub(crate) fn run(mut self) -> Result<(), Errno> {
        // The default slack of 50 µs would be half of the accuracy that delays are to have.
        rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1))?;
        self.sleep_until(self.shared.listens_at);
        if let Some(listener) = &self.listener {
            listen(listener)?;
            epoll::add(&self.epoll, listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
            if let Some(time) = self.shared.script.exit_after.as_ref().and_then(|exit| exit.time) {
                self.timers.push(Reverse(Timer { due: self.shared.listens_at + time, slot: END, generation: 0 }));
            }
        }
        let mut events = Vec::with_capacity(EVENTS);
        while !self.shared.stopped() {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), self.timeout().as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
            for event in &events {
                self.sit_out_stalls();
                match event.data.u64() {
                    WAKE => self.adopt(),
                    LISTENER => self.accept(),
                    slot => self.event(slot as usize, event.flags),
                }
            }
            self.fire_timers();
        }
        Ok(())
    }

    fn timeout(&self) -> Option<Timespec> {
        let Reverse(first) = self.timers.peek()?;
        let left = first.due.saturating_duration_since(Instant::now());
        // A delay beyond what the clock can report is as good as none at all.
        Timespec::try_from(left).ok()
    }

    fn fire_timers(&mut self) {
        while let Some(Reverse(first)) = self.timers.peek() {
            if first.due > Instant::now() {
                return;
            }
            self.sit_out_stalls();
            let Some(Reverse(timer)) = self.timers.pop() else { return };
            if timer.slot == END {
                self.shared.end();
                return;
            }
            let context = Context { shared: &self.shared, worker: self.index };
            let slot = &mut self.slots[timer.slot];
            if slot.generation != timer.generation {
                continue;
            }
            if let Some(connection) = &mut slot.connection {
                let next = connection.due(context);
                self.follow(timer.slot, next);
            }
        }
    }

    fn event(&mut self, index: usize, flags: EventFlags) {
        let context = Context { shared: &self.shared, worker: self.index };
        // Events of a connection that was closed by an earlier one of the same batch find it gone.
        let Some(connection) = self.slots.get_mut(index).and_then(|slot| slot.connection.as_mut()) else { return };
        let ending = flags.intersects(EventFlags::RDHUP | EventFlags::HUP);
        let broken = flags.contains(EventFlags::ERR)
            || (flags.intersects(EventFlags::IN | EventFlags::RDHUP)
                && connection.read(&mut self.receiver, ending).is_err());
        let next = if broken { Next::Close } else { connection.advance(context) };
        self.follow(index, next);
    }

    fn follow(&mut self, index: usize, next: Next) {
        let slot = &mut self.slots[index];
        match next {
            Next::Event => {}
            Next::At(due) => self.timers.push(Reverse(Timer { due, slot: index, generation: slot.generation })),
            Next::Close => {
                slot.connection = None;
                slot.generation += 1;
                self.free.push(index);
            }
        }
    }

    fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        let mut mine = Vec::new();
        loop {
            match rustix::net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => {
                    let Some(worker) = self.shared.place_connection() else { continue };
                    if worker == self.index {
                        mine.push(socket);
                    } else {
                        self.shared.hand_over(worker, socket);
                    }
                }
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => {
                    // Out of descriptors, most likely: others have to be closed first.
                    std::thread::sleep(NAP);
                    break;
                }
            }
        }
        for socket in mine {
            self.add(socket);
        }
    }

    /// Takes over what the first loop accepted for this one.
    fn adopt(&mut self) {
        for socket in self.shared.take_over(self.index) {
            self.add(socket);
        }
    }

    fn add(&mut self, socket: OwnedFd) {
        let index = self.free.pop().unwrap_or(self.slots.len());
        if index == self.slots.len() {
            self.slots.push(Slot::default());
        }
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let registered = rustix::net::sockopt::set_tcp_nodelay(&socket, true)
            .and_then(|()| receive::ask_for_timestamps(&socket))
            .and_then(|()| epoll::add(&self.epoll, &socket, EventData::new_u64(index as u64), flags));
        if registered.is_ok() {
            self.slots[index].connection = Some(Connection::new(socket));
        } else {
            self.free.push(index);
        }
    }

    fn sit_out_stalls(&self) {
        if self.shared.script.stalls.is_empty() {
            return;
        }
        while let Some(end) = behaviour::stalled_until(&self.shared.script.stalls, self.shared.elapsed()) {
            if self.shared.stopped() {
                return;
            }
            self.sleep_until(self.shared.listens_at + end);
        }
    }

    /// Sleeps until then, or until the server is stopped.
    fn sleep_until(&self, then: Instant) {
        while !self.shared.stopped() {
            let left = then.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(NAP));
        }
    }
}

/// Lets clients connect to a bound socket.
pub(crate) fn listen(socket: &OwnedFd) -> Result<(), Errno> {
    rustix::net::listen(socket, BACKLOG)
}
