//! `io_uring`: many operations in one system call.
//!
//! Sends are handed over some at a time, a receive stays armed for a connection's life, and the kernel chooses a
//! buffer only when bytes have come (`io_uring_prep_recv_multishot(3)`, `io_uring_register_buf_ring(3)`).

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::os::fd::AsRawFd as _;
use std::ptr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use io_uring::types::{BufRingEntry, CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use model::Backend;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use rustix::net::{RecvFlags, Shutdown, SocketAddrAny, recv, shutdown, sockopt};

use super::driver::{Driver, Event, EventKind, begin, send_last};
use crate::LoadError;
use crate::receive::{self, Control};

/// Operations handed over at most in one system call. A request's time begins when it gets into this queue, so the
/// queue is short: one send takes the kernel a few µs.
const BATCH: u64 = 8;

/// Room for operations not handed over yet.
const SUBMISSIONS: u32 = 64;

/// Attempts to hand over an operation that the kernel does not take.
const ATTEMPTS: usize = 1_000;

/// Buffers for what comes; a power of two. The kernel takes them in turn, so that the more there are the less of them
/// stays in the processor's cache; with too few, receives stop for the want of one.
const BUFFERS: u16 = 64;

/// Length of a buffer, bytes.
const BUFFER: usize = 20 * 1024;

/// The buffers' group; there is one only.
const GROUP: u16 = 0;

/// A send up to this long, on a connection whose last request was answered, always fits into the socket's own buffer.
const SHORT: usize = 4 * 1024;

/// The kernel's `io_uring(7)`.
pub(crate) struct Uring {
    ring: IoUring,
    buffers: Buffers,
    slots: Vec<Slot>,
    kernel_time: bool,
    /// How a receive with a timestamp lays out its buffer.
    layout: Box<libc::msghdr>,
    /// Completions not looked at yet, from the end to the beginning.
    completions: Vec<cqueue::Entry>,
    /// Connections, by slot and generation, whose receive stopped because there was no buffer.
    starved: VecDeque<(usize, u32)>,
    /// What the last event holds.
    received: Option<Part>,
    /// Operations queued so far, and those of them that the kernel has taken.
    queued: u64,
    taken: u64,
}

#[derive(Default)]
struct Slot {
    socket: Option<OwnedFd>,
    /// Which of the slot's connections this is.
    generation: u32,
    /// What is being sent. Stays as it is while the kernel may read it.
    sending: Vec<u8>,
    /// Bytes sent since something was received, whose end the kernel does not report.
    unreported: usize,
    /// How many operations were queued when the last one of this slot was.
    queued_at: u64,
    /// Whether the kernel will report that it has taken all of `sending`.
    awaited: bool,
    /// What is to be sent after it.
    queued: Vec<u8>,
}

/// Bytes in a buffer.
#[derive(Clone, Copy)]
struct Part {
    buffer: u16,
    start: usize,
    length: usize,
}

/// What a completion is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Connect = 1,
    Send = 2,
    Receive = 3,
}

impl Driver for Uring {
    const BACKEND: Backend = Backend::IoUring;

    fn connect(&mut self, slot: usize, address: &SocketAddrAny) -> Result<Result<(), Errno>, LoadError> {
        let socket = match begin(address, self.kernel_time)? {
            Ok(socket) => socket,
            Err(error) => return Ok(Err(error)),
        };
        let place = &mut self.slots[slot];
        place.generation = (place.generation + 1) % GENERATIONS;
        let poll = opcode::PollAdd::new(Fd(socket.as_raw_fd()), libc::POLLOUT as u32).build();
        let poll = poll.user_data(data(Operation::Connect, slot, place.generation));
        place.socket = Some(socket);
        self.push(slot, &poll)?;
        Ok(Ok(()))
    }

    fn is_open(&self, slot: usize) -> bool {
        self.slots[slot].socket.is_some()
    }

    #[inline]
    fn send(&mut self, slot: usize, bytes: &[u8]) -> Result<(), LoadError> {
        let place = &mut self.slots[slot];
        if place.awaited {
            place.queued.extend_from_slice(bytes);
            return Ok(());
        }
        if place.queued_at > self.taken {
            // What is in the queue still points to the buffer.
            self.submit()?;
        }
        let place = &mut self.slots[slot];
        place.sending.clear();
        place.sending.extend_from_slice(bytes);
        self.push_send(slot)
    }

    fn has_sent(&self, slot: usize) -> bool {
        !self.slots[slot].awaited
    }

    fn close(&mut self, slot: usize, last: &[u8]) {
        if self.slots[slot].queued_at > self.taken {
            // What is in the queue still names the socket by its number, which the next one may get. A ring that
            // takes nothing now says so again when something is waited for.
            let _ = self.submit();
        }
        let place = &mut self.slots[slot];
        if let Some(socket) = place.socket.take() {
            send_last(&socket, last);
            // The armed receive holds the socket too.
            let _ = shutdown(&socket, Shutdown::Both);
        }
        place.awaited = false;
        place.queued.clear();
        place.unreported = 0;
    }

    fn wait(&mut self, timeout: Duration) -> Result<(), LoadError> {
        self.feed()?;
        let timeout = Timespec::from(if self.starved.is_empty() { timeout } else { Duration::ZERO });
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout)) {
            Ok(_) => {}
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY) => {}
                _ => return Err(LoadError::System { doing: "wait for events", source: error }),
            },
        }
        self.look();
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<Option<Event>, LoadError> {
        if let Some(part) = self.received.take() {
            self.buffers.give(part.buffer);
        }
        while let Some(entry) = self.completions.pop() {
            let (operation, slot, generation) = about(entry.user_data());
            let current = self.slots[slot].generation == generation && self.slots[slot].socket.is_some();
            let kind = if current { self.completed(operation, slot, &entry)? } else { None };
            if let Some(buffer) = cqueue::buffer_select(entry.flags())
                && self.received.is_none()
            {
                self.buffers.give(buffer);
            }
            if let Some(kind) = kind {
                return Ok(Some(Event { slot, kind }));
            }
        }
        Ok(None)
    }

    #[inline]
    fn received(&self) -> &[u8] {
        self.received.as_ref().map_or(&[], |part| self.buffers.part(part))
    }
}

impl Uring {
    /// For so many slots, where this kernel and whatever confines this process allow all that is needed. A ring that
    /// defers its work (Linux 6.1) knows every operation used here; one that does nothing shows that it may be used.
    pub fn new(slots: usize, kernel_time: bool) -> io::Result<Self> {
        let completions = (2 * slots as u32).clamp(4_096, 32_768).next_power_of_two();
        let mut ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_coop_taskrun()
            .setup_cqsize(completions)
            .build(SUBMISSIONS)?;
        // SAFETY: the operation points to nothing.
        unsafe { ring.submission().push(&opcode::Nop::new().build()) }.map_err(io::Error::other)?;
        ring.submit_and_wait(1)?;
        ring.completion().for_each(drop);
        let buffers = Buffers::new(&ring)?;
        // SAFETY: a struct of integers and pointers, of which all zeros is a value.
        let mut layout: Box<libc::msghdr> = Box::new(unsafe { mem::zeroed() });
        layout.msg_controllen = size_of::<Control>() as _;
        Ok(Self {
            ring,
            buffers,
            slots: (0..slots).map(|_| Slot::default()).collect(),
            kernel_time,
            layout,
            completions: Vec::with_capacity(completions as usize),
            starved: VecDeque::new(),
            received: None,
            queued: 0,
            taken: 0,
        })
    }

    /// What a completion means for the connection that it is about.
    #[inline]
    fn completed(
        &mut self,
        operation: Operation,
        slot: usize,
        entry: &cqueue::Entry,
    ) -> Result<Option<EventKind>, LoadError> {
        match operation {
            Operation::Receive => self.completed_receive(slot, entry),
            Operation::Connect => {
                let Some(socket) = &self.slots[slot].socket else { return Ok(None) };
                match sockopt::socket_error(socket).and_then(|made| made) {
                    Ok(()) => {
                        self.arm(slot)?;
                        Ok(Some(EventKind::Connected))
                    }
                    Err(error) => Ok(Some(EventKind::Broken(error))),
                }
            }
            Operation::Send => {
                let place = &mut self.slots[slot];
                // If the connection takes no more, its receive shows that.
                if entry.result() >= 0 && place.awaited {
                    place.awaited = false;
                    place.unreported = 0;
                    place.sending.clear();
                    if !place.queued.is_empty() {
                        mem::swap(&mut place.sending, &mut place.queued);
                        self.push_send(slot)?;
                    }
                }
                Ok(None)
            }
        }
    }

    #[inline]
    fn completed_receive(&mut self, slot: usize, entry: &cqueue::Entry) -> Result<Option<EventKind>, LoadError> {
        let result = entry.result();
        let Some(buffer) = cqueue::buffer_select(entry.flags()).filter(|_| result >= 0) else {
            return match -result {
                0 => Ok(Some(EventKind::Ended)),
                libc::ENOBUFS => {
                    self.starved.push_back((slot, self.slots[slot].generation));
                    Ok(None)
                }
                error => Ok(Some(EventKind::Broken(Errno::from_raw_os_error(error)))),
            };
        };
        let (part, came_at) = if self.kernel_time {
            self.buffers.stamped(buffer, result as usize)
        } else {
            (Part { buffer, start: 0, length: result as usize }, None)
        };
        if part.length == 0 {
            return Ok(Some(EventKind::Ended));
        }
        self.received = Some(part);
        self.slots[slot].unreported = 0;
        if !cqueue::more(entry.flags()) {
            self.arm(slot)?;
        }
        Ok(Some(EventKind::Received { came_at, ends: self.ends_next(slot, entry) }))
    }

    /// Whether the next completion is the end of the stream that this one is of: the kernel reports them one after the
    /// other if both have come. A receive that had no buffer for it says that there is more, but not what.
    fn ends_next(&self, slot: usize, entry: &cqueue::Entry) -> bool {
        let empty = if self.kernel_time { STAMPED_FROM } else { 0 };
        let Some(next) = self.completions.last().filter(|next| next.user_data() == entry.user_data()) else {
            return false;
        };
        match next.result() {
            length @ 0.. => length as usize <= empty,
            error => error != -libc::ENOBUFS || self.is_at_end(slot),
        }
    }

    /// Whether nothing but the end of the stream is left to be received.
    fn is_at_end(&self, slot: usize) -> bool {
        let look = |socket| recv(socket, &mut [0_u8; 1][..], RecvFlags::PEEK | RecvFlags::DONTWAIT);
        self.slots[slot].socket.as_ref().is_some_and(|socket| matches!(look(socket), Ok((0, _))))
    }

    /// Arms some of the starved receives, each of which finds bytes and takes buffers at once. Were all armed, most would
    /// stop again.
    fn feed(&mut self) -> Result<(), LoadError> {
        for _ in 0..BATCH {
            let Some((slot, generation)) = self.starved.pop_front() else { break };
            if self.slots[slot].generation == generation {
                self.arm(slot)?;
            }
        }
        Ok(())
    }

    /// Has the kernel receive whatever comes on a connection.
    fn arm(&mut self, slot: usize) -> Result<(), LoadError> {
        let place = &self.slots[slot];
        let Some(socket) = &place.socket else { return Ok(()) };
        let socket = Fd(socket.as_raw_fd());
        let receive = if self.kernel_time {
            opcode::RecvMsgMulti::new(socket, &raw const *self.layout, GROUP).build()
        } else {
            opcode::RecvMulti::new(socket, GROUP).build()
        };
        let receive = receive.user_data(data(Operation::Receive, slot, place.generation));
        self.push(slot, &receive)
    }

    #[inline]
    fn push_send(&mut self, slot: usize) -> Result<(), LoadError> {
        let place = &mut self.slots[slot];
        let Some(socket) = &place.socket else { return Ok(()) };
        let length = place.sending.len();
        place.unreported += length;
        place.awaited = place.unreported > SHORT;
        let send = opcode::Send::new(Fd(socket.as_raw_fd()), place.sending.as_ptr(), length as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .user_data(data(Operation::Send, slot, place.generation));
        let send = if place.awaited { send } else { send.flags(squeue::Flags::SKIP_SUCCESS) };
        self.push(slot, &send)
    }

    /// Queues an operation of a slot, and hands all that is queued to the kernel when it is enough.
    #[inline]
    fn push(&mut self, slot: usize, entry: &squeue::Entry) -> Result<(), LoadError> {
        for _ in 0..ATTEMPTS {
            // SAFETY: what the entry points to is only read by the kernel, and stays in its place: the layout for as
            // long as the ring, a slot's bytes until its next request, which comes after the answer to this one. (A
            // server that answers without ever reading may get the bytes of a later request: a short send that the
            // socket's buffer has no room for is not reported.)
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                self.queued += 1;
                self.slots[slot].queued_at = self.queued;
                return if self.queued - self.taken >= BATCH { self.submit() } else { Ok(()) };
            }
            // The kernel takes nothing before somebody has looked at what it reports.
            self.look();
            self.submit()?;
        }
        Err(LoadError::system("hand operations to io_uring")(Errno::BUSY))
    }

    fn submit(&mut self) -> Result<(), LoadError> {
        let submitted = self.ring.submit();
        self.taken = self.queued - self.ring.submission().len() as u64;
        match submitted {
            Ok(_) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR | libc::EBUSY | libc::EAGAIN) => Ok(()),
                _ => Err(LoadError::System { doing: "hand operations to io_uring", source: error }),
            },
        }
    }

    /// Takes in what the kernel reports, after what it reported before.
    fn look(&mut self) {
        self.taken = self.queued - self.ring.submission().len() as u64;
        let before = self.completions.len();
        self.completions.extend(self.ring.completion());
        // The newest first, so that the next is at the end.
        self.completions[before..].reverse();
        self.completions.rotate_left(before);
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel is not to write into the buffers when they are gone.
        let _ = self.ring.submitter().register_sync_cancel(None, CancelBuilder::any());
    }
}

/// Generations are distinguished up to this number.
const GENERATIONS: u32 = 1 << 24;

fn data(operation: Operation, slot: usize, generation: u32) -> u64 {
    (operation as u64) << 56 | u64::from(generation) << 32 | slot as u64
}

fn about(data: u64) -> (Operation, usize, u32) {
    let operation = match data >> 56 {
        1 => Operation::Connect,
        2 => Operation::Send,
        _ => Operation::Receive,
    };
    (operation, data as u32 as usize, (data >> 32) as u32 % GENERATIONS)
}

/// What a receive with a timestamp puts before the bytes: `struct io_uring_recvmsg_out` (the lengths of name, control and
/// payload, and flags, four bytes each; no name was asked for), and the control message.
const STAMP_HEADER: usize = 16;
const STAMPED_FROM: usize = STAMP_HEADER + size_of::<Control>();

/// The buffers that the kernel chooses from: a ring of descriptions, and the buffers behind it.
struct Buffers {
    memory: *mut u8,
    /// The next description's place in the ring, ever rising.
    tail: u16,
}

/// Bytes of the ring of descriptions, which the buffers follow.
const RING: usize = BUFFERS as usize * size_of::<BufRingEntry>();
const MEMORY: usize = RING + BUFFERS as usize * BUFFER;

impl Buffers {
    fn new(ring: &IoUring) -> io::Result<Self> {
        // SAFETY: new memory, of nobody else's.
        let memory =
            unsafe { mmap_anonymous(ptr::null_mut(), MEMORY, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)? };
        let mut buffers = Self { memory: memory.cast(), tail: 0 };
        // SAFETY: the memory is page-aligned, as long as said, and outlives the ring (see `Uring`'s drop).
        unsafe { ring.submitter().register_buf_ring_with_flags(memory as u64, BUFFERS, GROUP, 0)? };
        for buffer in 0..BUFFERS {
            buffers.give(buffer);
        }
        Ok(buffers)
    }

    fn start(&self, buffer: u16) -> *mut u8 {
        // SAFETY: within the memory.
        unsafe { self.memory.add(RING + usize::from(buffer) * BUFFER) }
    }

    /// Gives a buffer (back) to the kernel.
    #[inline]
    fn give(&mut self, buffer: u16) {
        let entries: *mut BufRingEntry = self.memory.cast();
        // SAFETY: the entry lies in the ring; the kernel reads it only after the tail has passed it.
        unsafe {
            let entry = &mut *entries.add(usize::from(self.tail % BUFFERS));
            entry.set_addr(self.start(buffer) as u64);
            entry.set_len(BUFFER as u32);
            entry.set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail is an aligned u16 in the ring's first entry, shared with the kernel.
        let tail = unsafe { AtomicU16::from_ptr(BufRingEntry::tail(entries).cast_mut()) };
        tail.store(self.tail, Ordering::Release);
    }

    fn part(&self, part: &Part) -> &[u8] {
        // SAFETY: the kernel has written these bytes, and writes no more until the buffer is given back.
        unsafe { std::slice::from_raw_parts(self.start(part.buffer).add(part.start), part.length) }
    }

    /// Takes apart what a receive with a timestamp wrote.
    #[inline]
    fn stamped(&self, buffer: u16, length: usize) -> (Part, Option<Duration>) {
        // SAFETY: the kernel has written header and control message, whose place is always as long as asked for.
        let control: Control = unsafe { ptr::read_unaligned(self.start(buffer).add(STAMP_HEADER).cast()) };
        // SAFETY: as above; the second of the header's fields.
        let control_length: u32 = unsafe { ptr::read_unaligned(self.start(buffer).add(4).cast()) };
        let came_at =
            if control_length as usize == size_of::<Control>() { receive::stamped_time(&control) } else { None };
        (Part { buffer, start: STAMPED_FROM, length: length.saturating_sub(STAMPED_FROM) }, came_at)
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; the ring, which was dropped before, does not use it any more.
        let _ = unsafe { munmap(self.memory.cast(), MEMORY) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use needs::Need;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};

    /// Connections that, all being full, need more buffers than there are.
    const MANY: usize = 2 * BUFFERS as usize;

    /// A backend with so many connections, and their other ends; `None` where there is no `io_uring`.
    fn connected(slots: usize) -> Option<(Uring, Vec<TcpStream>)> {
        let made = Uring::new(slots, true).inspect_err(|why| needs::left_out(Need::IoUring, why));
        let mut uring = made.ok()?;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = SocketAddrAny::from(listener.local_addr().unwrap());
        let accept = |slot| {
            uring.connect(slot, &address).unwrap().unwrap();
            while next(&mut uring) != (Event { slot, kind: EventKind::Connected }) {}
            listener.accept().unwrap().0
        };
        let servers = (0..slots).map(accept).collect();
        Some((uring, servers))
    }

    fn next(uring: &mut Uring) -> Event {
        loop {
            if let Some(event) = uring.next().unwrap() {
                return event;
            }
            uring.wait(Duration::from_secs(10)).unwrap();
        }
    }

    /// Sends as much on each connection as goes without waiting, which is several buffers; returns how much that is.
    fn fill(servers: &mut [TcpStream]) -> Vec<usize> {
        let write = |server: &mut TcpStream| {
            server.set_nonblocking(true).unwrap();
            server.write(&vec![b'x'; 5 * BUFFER]).unwrap()
        };
        servers.iter_mut().map(write).collect()
    }

    #[test]
    fn more_bytes_at_once_than_buffers_cost_hardly_more_operations() {
        let Some((mut uring, mut servers)) = connected(MANY) else { return };
        let mut left = fill(&mut servers);
        let (before, bytes) = (uring.queued, left.iter().sum::<usize>());
        let mut starved = false;
        while left.iter().any(|left| *left > 0) {
            let Event { slot, kind: EventKind::Received { ends: false, .. } } = next(&mut uring) else {
                panic!("lost")
            };
            left[slot] -= uring.received().len();
            starved |= !uring.starved.is_empty();
        }
        assert!(starved, "no receive stopped");
        let (armed, needed) = (uring.queued - before, bytes / BUFFER);
        assert!(2 * armed < needed as u64, "{armed} receives armed for {needed} buffers of bytes");
    }

    #[test]
    fn a_connection_that_ends_while_it_waits_for_a_buffer_leaves_its_slot_to_the_next() {
        let Some((mut uring, mut servers)) = connected(MANY) else { return };
        fill(&mut servers);
        while uring.starved.is_empty() {
            next(&mut uring);
        }
        let slot = uring.starved[0].0;
        uring.close(slot, b"");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        uring.connect(slot, &SocketAddrAny::from(listener.local_addr().unwrap())).unwrap().unwrap();
        listener.accept().unwrap().0.write_all(b"new").unwrap();
        let (mut received, mut events) = (Vec::new(), Vec::new());
        while events.last() != Some(&EventKind::Ended) {
            let Event { slot: of, kind } = next(&mut uring);
            if of == slot {
                received.extend_from_slice(uring.received());
                events.push(kind);
            }
        }
        assert_eq!(received, b"new");
        // A receive armed twice would report the end twice.
        while !uring.starved.is_empty() {
            assert_ne!(next(&mut uring).slot, slot, "{events:?}");
        }
    }

    #[test]
    fn the_end_of_a_stream_is_seen_without_receiving() {
        let Some((mut uring, mut servers)) = connected(1) else { return };
        assert!(!uring.is_at_end(0));
        servers.clear();
        while next(&mut uring).kind != EventKind::Ended {}
        assert!(uring.is_at_end(0));
    }
}
