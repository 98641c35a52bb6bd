//! By epoll, edge-triggered; every socket is registered once.

use std::io;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};

use crate::Job;

/// As many bytes as our own client reads at a time.
const BUFFER: usize = 64 * 1024;
const EVENTS: usize = 512;
/// Token of the timer that ends the load.
const END: u64 = u64::MAX;

pub fn run(job: &Job) -> io::Result<u64> {
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    let end = Timespec { tv_sec: job.seconds.cast_signed(), tv_nsec: 0 };
    let never = Timespec { tv_sec: 0, tv_nsec: 0 };
    timerfd_settime(&timer, TimerfdTimerFlags::empty(), &Itimerspec { it_interval: never, it_value: end })?;
    epoll::add(&epoll, &timer, EventData::new_u64(END), EventFlags::IN)?;
    for (index, connection) in job.connections.iter().enumerate() {
        connection.set_nonblocking(true)?;
        epoll::add(&epoll, connection, EventData::new_u64(index as u64), EventFlags::IN | EventFlags::ET)?;
        ask(job, index)?;
    }

    let mut answers = 0;
    let mut lefts = vec![job.answer; job.connections.len()];
    let mut buffer = vec![0_u8; BUFFER];
    let mut events = Vec::with_capacity(EVENTS);
    loop {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), None)?;
        for event in &events {
            let token = event.data.u64();
            if token == END {
                return Ok(answers);
            }
            let index = token as usize;
            let bytes = match recv(&job.connections[index], &mut buffer[..], RecvFlags::empty()) {
                Ok((bytes, _)) => bytes,
                Err(Errno::AGAIN) => continue,
                Err(error) => return Err(error.into()),
            };
            lefts[index] = crate::left(lefts[index], bytes)?;
            if lefts[index] == 0 {
                answers += 1;
                lefts[index] = job.answer;
                ask(job, index)?;
            }
        }
    }
}

fn ask(job: &Job, index: usize) -> io::Result<()> {
    // A socket without anything in flight takes a small request whole.
    send(&job.connections[index], &job.request, SendFlags::NOSIGNAL)?;
    Ok(())
}
