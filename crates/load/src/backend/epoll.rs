//! Epoll, edge-triggered.
//!
//! System calls are what a request costs the client, so a request in the steady state makes two of its own, one
//! send and one receive, and shares a wait with every other that is ready. A socket is registered once for its
//! life. Bytes are sent at once, without asking whether they may be. A read that did not fill the buffer is not
//! followed by one that finds nothing, since the event itself says whether the stream ended. The rest of a long
//! body is thrown away where it lies.

use std::time::Duration;

use model::Backend;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketAddrAny, send, sockopt};

use super::driver::{Driver, Event, EventKind, begin, send_last};
use crate::LoadError;
use crate::receive;

/// Bytes read at most at a time.
const BUFFER: usize = 64 * 1024;

/// Bytes read at first when something came: most answers, or the head of one whose body need not be seen.
const FIRST: usize = 4 * 1024;

/// Full buffers read at most from one connection before the others, the clock and the stop flags have their turn.
const READS: usize = 16;

/// Events taken at most at a time.
const EVENTS: usize = 512;

/// The kernel's epoll (epoll(7)).
pub(crate) struct Epoll {
    instance: OwnedFd,
    slots: Vec<Slot>,
    kernel_time: bool,
    /// What the kernel reported last, from the end to the beginning.
    events: Vec<epoll::Event>,
    /// The connection being read.
    reading: Option<PendingRead>,
    /// Read into by every connection in turn, so that it stays in the processor's cache.
    buffer: Box<[u8]>,
    /// How much of it the last event holds.
    received: usize,
}

#[derive(Default)]
struct Slot {
    socket: Option<OwnedFd>,
    connecting: bool,
    /// Which of the slot's connections this is.
    generation: u32,
    /// What the kernel has not taken yet.
    unsent: Vec<u8>,
    /// How many of the next bytes need not be seen.
    skip: u64,
}

struct PendingRead {
    slot: usize,
    /// The stream has an end to be read.
    hung_up: bool,
    /// Reads until it is the others' turn.
    left: usize,
}

impl Driver for Epoll {
    const BACKEND: Backend = Backend::Epoll;

    fn connect(&mut self, slot: usize, address: &SocketAddrAny) -> Result<Result<(), Errno>, LoadError> {
        let socket = match begin(address, self.kernel_time)? {
            Ok(socket) => socket,
            Err(error) => return Ok(Err(error)),
        };
        let place = &mut self.slots[slot];
        place.generation = place.generation.wrapping_add(1);
        place.connecting = true;
        epoll::add(&self.instance, &socket, data(slot, place.generation), interest())
            .map_err(LoadError::system("register a socket"))?;
        place.socket = Some(socket);
        Ok(Ok(()))
    }

    fn is_open(&self, slot: usize) -> bool {
        self.slots[slot].socket.is_some()
    }

    #[inline]
    fn send(&mut self, slot: usize, bytes: &[u8]) -> Result<(), LoadError> {
        let Slot { socket: Some(socket), unsent, .. } = &mut self.slots[slot] else { return Ok(()) };
        if unsent.is_empty() {
            let taken = send_some(socket, bytes);
            unsent.extend_from_slice(&bytes[taken..]);
        } else {
            unsent.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn skip(&mut self, slot: usize, bytes: u64) {
        self.slots[slot].skip = bytes;
    }

    fn has_sent(&self, slot: usize) -> bool {
        self.slots[slot].unsent.is_empty()
    }

    fn close(&mut self, slot: usize, last: &[u8]) {
        let place = &mut self.slots[slot];
        if let Some(socket) = place.socket.take() {
            send_last(&socket, last);
        }
        place.unsent.clear();
        place.skip = 0;
        if self.reading.as_ref().is_some_and(|reading| reading.slot == slot) {
            self.reading = None;
        }
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LoadError> {
        let timeout = Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() };
        match epoll::wait(&self.instance, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(LoadError::system("wait for events")(error)),
        }
        self.events.reverse();
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Event>, LoadError> {
        loop {
            if let Some(event) = self.read()? {
                return Ok(Some(event));
            }
            let Some(event) = self.events.pop() else { return Ok(None) };
            let (slot, flags) = (event.data.u64() as u32 as usize, event.flags);
            let place = &mut self.slots[slot];
            let Some(socket) = place.socket.as_ref().filter(|_| data(slot, place.generation).u64() == event.data.u64())
            else {
                continue;
            };
            let hung_up = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            if hung_up || flags.contains(EventFlags::IN) {
                self.reading = Some(PendingRead { slot, hung_up, left: READS });
            }
            if place.connecting {
                let kind = match sockopt::socket_error(socket).and_then(|made| made) {
                    Ok(()) if !flags.contains(EventFlags::OUT) => continue,
                    Ok(()) => EventKind::Connected,
                    Err(error) => EventKind::Broken(error),
                };
                place.connecting = false;
                return Ok(Some(Event { slot, kind }));
            }
            if !place.unsent.is_empty() && flags.contains(EventFlags::OUT) {
                let taken = send_some(socket, &place.unsent);
                place.unsent.drain(..taken);
            }
        }
    }

    fn received(&self) -> &[u8] {
        &self.buffer[..self.received]
    }
}

impl Epoll {
    pub fn new(slots: usize, kernel_time: bool) -> Result<Self, LoadError> {
        Ok(Self {
            instance: epoll::create(epoll::CreateFlags::CLOEXEC)
                .map_err(LoadError::system("create an epoll instance"))?,
            slots: (0..slots).map(|_| Slot::default()).collect(),
            kernel_time,
            events: Vec::with_capacity(EVENTS),
            reading: None,
            buffer: vec![0; BUFFER].into(),
            received: 0,
        })
    }

    /// Reads on, where something is left to be read.
    #[inline]
    fn read(&mut self) -> Result<Option<Event>, LoadError> {
        while let Some(PendingRead { slot, hung_up, left }) = &mut self.reading {
            let (slot, hung_up, is_first) = (*slot, *hung_up, *left == READS);
            let place = &mut self.slots[slot];
            let Some(socket) = &place.socket else { break };
            if *left == 0 {
                // Registered anew, the socket reports again what is already there.
                epoll::modify(&self.instance, socket, data(slot, place.generation), interest())
                    .map_err(LoadError::system("register a socket"))?;
                break;
            }
            *left -= 1;
            let skipping = place.skip > 0;
            let most = if skipping {
                // One more, so that a read is short which ends where the answer should.
                BUFFER.min(usize::try_from(place.skip).map_or(BUFFER, |skip| skip.saturating_add(1)))
            } else if is_first {
                FIRST
            } else {
                BUFFER
            };
            let kind = match receive::recv(socket, &mut self.buffer[..most], skipping, self.kernel_time) {
                Ok((0, _)) => EventKind::Ended,
                Ok((bytes, came_at)) => {
                    // A short read has emptied the socket (epoll(7)); what comes later makes a new event.
                    if bytes < most && !hung_up {
                        self.reading = None;
                    }
                    if skipping {
                        let bytes = bytes as u64;
                        place.skip = place.skip.saturating_sub(bytes);
                        return Ok(Some(Event { slot, kind: EventKind::Skipped { bytes, came_at, ends: hung_up } }));
                    }
                    self.received = bytes;
                    return Ok(Some(Event { slot, kind: EventKind::Received { came_at, ends: hung_up } }));
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(error) => EventKind::Broken(error),
            };
            self.reading = None;
            return Ok(Some(Event { slot, kind }));
        }
        self.reading = None;
        Ok(None)
    }
}

/// How many bytes the kernel takes now. If the connection takes no more, its next event will say.
#[inline]
fn send_some(socket: &OwnedFd, bytes: &[u8]) -> usize {
    let mut taken = 0;
    while taken < bytes.len() {
        match send(socket, &bytes[taken..], SendFlags::NOSIGNAL) {
            Ok(more) => taken += more,
            Err(Errno::INTR) => {}
            Err(_) => break,
        }
    }
    taken
}

/// Distinguishes a slot's connections.
fn data(slot: usize, generation: u32) -> EventData {
    EventData::new_u64(u64::from(generation) << 32 | slot as u64)
}

/// What a socket is registered for. Edge-triggered, "writable" costs nothing until the kernel has once refused to
/// take all.
fn interest() -> EventFlags {
    EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET
}
