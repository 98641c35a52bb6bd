//! Receiving, with the kernel's word on when the bytes came (`SO_TIMESTAMPNS`, socket(7)), which neither std nor
//! rustix passes on.

use std::io;
use std::mem::{self, offset_of};
use std::os::fd::AsRawFd as _;
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;
use rustix::time::{ClockId, clock_gettime};

/// A control message that holds a timestamp, as the kernel lays it out (cmsg(3)).
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Control {
    header: libc::cmsghdr,
    time: libc::timespec,
}

// SAFETY: `CMSG_LEN` only calculates.
const _: () = assert!(offset_of!(Control, time) == unsafe { libc::CMSG_LEN(0) } as usize);

/// Asks the kernel to report when bytes came on this socket. Where it does not, there just are no timestamps.
pub(crate) fn ask_for_timestamps(socket: &OwnedFd) {
    let on: libc::c_int = 1;
    // SAFETY: the value is an int that outlives the call, and the length is its own.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        );
    }
}

/// Reads what is there, into the beginning of `buffer`; or, if `unseen`, takes as much of it away as the buffer holds,
/// which TCP does without copying it (`MSG_TRUNC`, tcp(7)). Returns the number of bytes and, if `timed` and if the kernel
/// reports, when the last of them came, by [`ClockId::Realtime`].
#[inline]
pub(crate) fn recv(
    socket: &OwnedFd,
    buffer: &mut [u8],
    unseen: bool,
    timed: bool,
) -> Result<(usize, Option<Duration>), Errno> {
    let flags = if unseen { RecvFlags::TRUNC } else { RecvFlags::empty() };
    if timed {
        return recv_timed(socket, buffer, flags);
    }
    // This system call costs less than the other.
    let (bytes, _) = rustix::net::recv(socket, buffer, flags)?;
    Ok((bytes, None))
}

fn recv_timed(socket: &OwnedFd, buffer: &mut [u8], flags: RecvFlags) -> Result<(usize, Option<Duration>), Errno> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: both are structs of integers and pointers, of which all zeros is a value.
    let (mut message, mut control): (libc::msghdr, Control) = unsafe { (mem::zeroed(), mem::zeroed()) };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = size_of::<Control>() as _;
    // SAFETY: the message points to the buffer and to the control message, with their lengths; both outlive the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags.bits().cast_signed()) };
    let Ok(bytes) = usize::try_from(received) else {
        return Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO));
    };
    Ok((bytes, stamped_time(&control)))
}

/// The time in a control message, if that is what it holds.
#[inline]
pub(crate) fn stamped_time(Control { header, time }: &Control) -> Option<Duration> {
    let is_stamped = (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS);
    is_stamped.then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// How long ago it was `time` by [`ClockId::Realtime`]; 0 if that clock has been set back since.
pub(crate) fn age(time: Duration) -> Duration {
    let now = clock_gettime(ClockId::Realtime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32).saturating_sub(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    fn connected() -> (OwnedFd, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client.into(), listener.accept().unwrap().0)
    }

    #[test]
    fn bytes_come_whole_and_without_a_timestamp_unless_asked() {
        for timed in [false, true] {
            let (socket, mut server) = connected();
            server.write_all(b"four").unwrap();
            let mut buffer = [0; 3];
            assert_eq!(recv(&socket, &mut buffer, false, timed), Ok((3, None)));
            assert_eq!(&buffer, b"fou");
            assert_eq!(recv(&socket, &mut buffer, false, timed), Ok((1, None)));
            rustix::io::ioctl_fionbio(&socket, true).unwrap();
            assert_eq!(recv(&socket, &mut buffer, false, timed), Err(Errno::AGAIN));
        }
    }

    #[test]
    fn bytes_go_unseen() {
        for timed in [false, true] {
            let (socket, mut server) = connected();
            server.write_all(b"seven b").unwrap();
            let mut buffer = [0; 5];
            assert_eq!(recv(&socket, &mut buffer, true, timed), Ok((5, None)));
            assert_eq!(buffer, [0; 5]);
            assert_eq!(recv(&socket, &mut buffer, false, timed), Ok((2, None)));
            assert_eq!(&buffer[..2], b" b");
        }
    }

    #[test]
    fn the_kernel_tells_when_bytes_came() {
        let (socket, mut server) = connected();
        ask_for_timestamps(&socket);
        let mut buffer = [0; 16];
        // The kernel begins to stamp packets a moment after the first socket has asked for it.
        let found = (0..1_000).find_map(|_| {
            let before = age(Duration::ZERO);
            server.write_all(b"x").unwrap();
            let (bytes, time) = recv(&socket, &mut buffer, false, true).unwrap();
            assert_eq!(bytes, 1);
            if time.is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            Some((before, time?, age(Duration::ZERO)))
        });
        let (before, time, after) = found.unwrap();
        assert!(before <= time && time <= after, "{before:?} {time:?} {after:?}");
        assert!(age(after + Duration::from_secs(3_600)).is_zero());
    }
}
