//! Receiving, with the kernel's word on when the bytes came (`SO_TIMESTAMPNS`, socket(7)): what a request waits until
//! the server gets round to reading it is part of its time.

use std::io::IoSliceMut;
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// Bytes read at most at a time.
const SIZE: usize = 4096;

/// Where received bytes go first; one for all connections of a loop.
pub(crate) struct Receiver {
    buffer: Box<[u8]>,
    control: Vec<u8>,
}

/// What one read found.
pub(crate) struct Received<'a> {
    pub(crate) bytes: &'a [u8],
    /// When the last of them came, by [`now`]'s clock.
    pub(crate) came_at: Duration,
    /// More may be there to be read.
    pub(crate) full: bool,
}

impl Receiver {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; SIZE].into(), control: nix::cmsg_space!(TimeSpec) }
    }

    /// Reads what is there, up to a buffer full; no bytes are the end of the stream.
    pub(crate) fn receive(&mut self, socket: &OwnedFd) -> Result<Received<'_>, Errno> {
        let mut parts = [IoSliceMut::new(&mut self.buffer)];
        let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut self.control), MsgFlags::empty())
            .map_err(of_nix)?;
        let reported = message.cmsgs().map_err(of_nix)?.find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
            _ => None,
        });
        let length = message.bytes;
        // The kernel begins to stamp a moment after the first socket has asked for it.
        Ok(Received { bytes: &self.buffer[..length], came_at: reported.unwrap_or_else(now), full: length == SIZE })
    }
}

/// Asks the kernel to report when bytes come on this socket.
pub(crate) fn ask_for_timestamps(socket: &OwnedFd) -> Result<(), Errno> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).map_err(of_nix)
}

fn of_nix(error: nix::errno::Errno) -> Errno {
    Errno::from_raw_os_error(error as i32)
}

/// The time by the clock of the kernel's timestamps.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Realtime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
