//! By `io_uring`: one receive that goes on for the life of a connection, into buffers that the kernel picks from a
//! ring; sends that tell nothing when they succeed; one system call for all of it.

use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::types::{BufRingEntry, Fixed, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::Job;

/// Buffers in the ring, a power of two.
const BUFFERS: u16 = 512;
/// Bytes in each. The odd 64 keep the beginnings of the buffers from sharing a place in the processor's cache.
const SIZE: usize = 32 * 1024 + 64;
const GROUP: u16 = 0;
/// What a completion is of: the number of a connection, or one of these.
const END: u64 = u64::MAX;
const SENT: u64 = u64::MAX - 1;
/// Bytes of the ring.
const RING: usize = BUFFERS as usize * size_of::<BufRingEntry>();

pub fn run(job: &Job) -> io::Result<u64> {
    // Dropped last: until the io_uring is gone the kernel may write to them.
    let mut buffers = Buffers::new()?;
    let end = Timespec::new().sec(job.seconds);
    let connections = job.connections.len();
    let entries = (2 * connections as u32 + 1).next_power_of_two();
    let mut ring: IoUring =
        IoUring::builder().setup_single_issuer().setup_defer_taskrun().setup_cqsize(4 * entries).build(entries)?;
    let files: Vec<_> = job.connections.iter().map(std::os::fd::AsRawFd::as_raw_fd).collect();
    ring.submitter().register_files(&files)?;
    // SAFETY: the ring of buffers is page-aligned, holds BUFFERS entries and outlives the io_uring.
    unsafe { ring.submitter().register_buf_ring_with_flags(buffers.address(), BUFFERS, GROUP, 0)? };

    push(&mut ring, &opcode::Timeout::new(&raw const end).build().user_data(END))?;
    for index in 0..connections {
        push(&mut ring, &receive(index))?;
        push(&mut ring, &send(job, index))?;
    }
    let mut answers = 0;
    let mut lefts = vec![job.answer; connections];
    let mut completed: Vec<cqueue::Entry> = Vec::with_capacity(4 * entries as usize);
    loop {
        ring.submit_and_wait(1)?;
        completed.extend(ring.completion());
        for entry in completed.drain(..) {
            match entry.user_data() {
                END => return Ok(answers),
                SENT => return Err(io::Error::from_raw_os_error(-entry.result())),
                token => {
                    let index = token as usize;
                    if !cqueue::more(entry.flags()) {
                        push(&mut ring, &receive(index))?;
                    }
                    let bytes = match usize::try_from(entry.result()) {
                        Ok(bytes) => bytes,
                        // All buffers were full for a moment.
                        Err(_) if entry.result() == -Errno::NOBUFS.raw_os_error() => continue,
                        Err(_) => return Err(io::Error::from_raw_os_error(-entry.result())),
                    };
                    if let Some(buffer) = cqueue::buffer_select(entry.flags()) {
                        buffers.give_back(buffer);
                    }
                    lefts[index] = crate::left(lefts[index], bytes)?;
                    if lefts[index] == 0 {
                        answers += 1;
                        lefts[index] = job.answer;
                        push(&mut ring, &send(job, index))?;
                    }
                }
            }
        }
    }
}

fn receive(index: usize) -> squeue::Entry {
    opcode::RecvMulti::new(Fixed(index as u32), GROUP).build().user_data(index as u64)
}

fn send(job: &Job, index: usize) -> squeue::Entry {
    let entry = opcode::Send::new(Fixed(index as u32), job.request.as_ptr(), job.request.len() as u32).build();
    entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(SENT)
}

fn push(ring: &mut IoUring, entry: &squeue::Entry) -> io::Result<()> {
    // SAFETY: what the entries point to, the request and the time of the end, outlives the ring.
    while unsafe { ring.submission().push(entry) }.is_err() {
        ring.submit()?;
    }
    Ok(())
}

/// Buffers, and the ring by which they are given to the kernel (`io_uring_register_buf_ring(3)`).
struct Buffers {
    ring: NonNull<BufRingEntry>,
    memory: Vec<u8>,
    tail: u16,
}

impl Buffers {
    fn new() -> io::Result<Self> {
        // SAFETY: a new mapping at a place of the kernel's choice touches nothing that is there.
        let ring = unsafe { mmap_anonymous(null_mut(), RING, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)? };
        let ring = NonNull::new(ring.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mut buffers = Self { ring, memory: vec![0; usize::from(BUFFERS) * SIZE], tail: 0 };
        for buffer in 0..BUFFERS {
            buffers.give_back(buffer);
        }
        Ok(buffers)
    }

    fn address(&self) -> u64 {
        self.ring.as_ptr() as u64
    }

    /// Lets the kernel write to a buffer (again).
    fn give_back(&mut self, buffer: u16) {
        let place = usize::from(self.tail % BUFFERS);
        // SAFETY: the place is within the ring; the kernel reads entries only below the tail, which is moved afterwards.
        unsafe {
            let entry = self.ring.add(place).as_mut();
            entry.set_addr(self.memory.as_mut_ptr().add(usize::from(buffer) * SIZE) as u64);
            entry.set_len(SIZE as u32);
            entry.set_bid(buffer);
        }
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: the tail is a field of the first entry, aligned to its size; only this thread writes to it.
        unsafe {
            let tail = BufRingEntry::tail(self.ring.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: mapped in `new`, with the same length. A failure would only keep the memory until the process ends.
        let _ = unsafe { munmap(self.ring.as_ptr().cast(), RING) };
    }
}
