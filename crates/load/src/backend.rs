//! How the bytes of one thread's connections move: the same events whichever way of the kernel's is taken.

mod epoll;
mod uring;

use std::time::Duration;

use model::Backend;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrAny, SocketFlags, SocketType, connect, send, socket_with, sockopt,
};

use crate::LoadError;
use crate::receive;

pub(crate) use epoll::Epoll;
pub(crate) use uring::Uring;

/// How a load moves its bytes here unless chosen otherwise: by `io_uring` where it works, else by epoll.
pub fn best_backend() -> Backend {
    match set_up(None, 1, false) {
        Ok(Ready::Uring(_)) => Backend::IoUring,
        Ok(Ready::Epoll(_)) | Err(_) => Backend::Epoll,
    }
}

/// A backend of one kind or the other.
pub(crate) enum Ready {
    Epoll(Epoll),
    Uring(Box<Uring>),
}

/// Sets up the backend of one thread with `slots` slots, for that thread alone: what is asked for, or the best that
/// works here. `kernel_time` says whether the kernel is asked when bytes came.
pub(crate) fn set_up(requested: Option<Backend>, slots: usize, kernel_time: bool) -> Result<Ready, LoadError> {
    if requested != Some(Backend::Epoll) {
        match Uring::new(slots, kernel_time) {
            Ok(uring) => return Ok(Ready::Uring(uring.into())),
            Err(why) if requested.is_some() => return Err(LoadError::NoIoUring(why)),
            Err(_) => {}
        }
    }
    Epoll::new(slots, kernel_time).map(Ready::Epoll)
}

/// Moves bytes. A slot holds one connection after another; what is reported of a connection that was closed since is
/// never taken for its successor's.
pub(crate) trait Driver: Sized {
    /// Which one this is.
    const BACKEND: Backend;

    /// Begins to connect a slot that has no connection: [`EventKind::Connected`] or [`EventKind::Broken`] will follow. The inner
    /// error says that it could not even begin.
    fn connect(&mut self, slot: usize, address: &SocketAddrAny) -> Result<Result<(), Errno>, LoadError>;

    /// Whether a slot has a connection, made or in the making.
    fn is_open(&self, slot: usize) -> bool;

    /// Hands over what is to be sent next. What the kernel does not take at once goes when it does; if the connection
    /// takes no more, an event will say so.
    fn send(&mut self, slot: usize, bytes: &[u8]) -> Result<(), LoadError>;

    /// Notes that so many of the next bytes to come need not be seen: they may be reported by [`EventKind::Skipped`], and one
    /// more byte with them if there is one.
    fn skip(&mut self, _slot: usize, _bytes: u64) {}

    /// Whether the kernel has taken all that was handed over.
    fn has_sent(&self, slot: usize) -> bool;

    /// Ends a slot's connection, if it has one, with these last bytes where the kernel takes them at once.
    fn close(&mut self, slot: usize, last: &[u8]);

    /// Sleeps until there is an event, at most so long.
    fn wait(&mut self, timeout: Duration) -> Result<(), LoadError>;

    /// The next event, if there is one without waiting.
    fn next(&mut self) -> Result<Option<Event>, LoadError>;

    /// The bytes of the last event, which was [`EventKind::Received`].
    fn received(&self) -> &[u8];
}

/// Something that happened to a slot's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Event {
    pub slot: usize,
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// The connection was made.
    Connected,
    /// Bytes came.
    Received {
        /// When the last of them came, by [`rustix::time::ClockId::Realtime`], if the kernel reports it.
        came_at: Option<Duration>,
        /// Whether it is known that the stream ends, maybe with more bytes before its end.
        ends: bool,
    },
    /// Bytes came that need not be seen; otherwise as [`Self::Received`].
    Skipped {
        /// How many.
        bytes: u64,
        /// When the last of them came.
        came_at: Option<Duration>,
        /// Whether it is known that the stream ends.
        ends: bool,
    },
    /// The other side ended the stream in order.
    Ended,
    /// The connection is lost, or could not be made.
    Broken(Errno),
}

/// A socket that has begun to connect; the inner error says why it could not.
fn begin(address: &SocketAddrAny, kernel_time: bool) -> Result<Result<OwnedFd, Errno>, LoadError> {
    let family = address.address_family();
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(family, SocketType::STREAM, flags, None).map_err(LoadError::system("make a socket"))?;
    // A Unix socket neither waits to send more at once, nor reports when bytes came.
    if family != AddressFamily::UNIX {
        sockopt::set_tcp_nodelay(&socket, true).map_err(LoadError::system("set TCP_NODELAY"))?;
        if kernel_time {
            receive::ask_for_timestamps(&socket);
        }
    }
    match connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(Ok(socket)),
        Err(error) => Ok(Err(error)),
    }
}

/// Sends the last bytes of a connection. Whether the other side still listens does not matter.
fn send_last(socket: &OwnedFd, bytes: &[u8]) {
    if !bytes.is_empty() {
        let _ = send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }
}

#[cfg(test)]
mod tests {
    use std::{io, mem, thread};

    use super::*;

    /// Has the kernel refuse an `io_uring` to this thread, as containers do (seccomp(2)).
    fn forbid_io_uring() {
        let step = |code: u32, jump_if_not, k| libc::sock_filter { code: code as u16, jt: 0, jf: jump_if_not, k };
        let number = mem::offset_of!(libc::seccomp_data, nr) as u32;
        let mut steps = [
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, number),
            step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_io_uring_setup as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32),
            step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
        // SAFETY: the program and its steps outlive the calls, which concern this thread only.
        let set = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
        };
        assert!(set, "{}", io::Error::last_os_error());
    }

    #[test]
    fn where_io_uring_is_forbidden_it_is_epoll_unless_asked_for() {
        let tried = thread::spawn(|| {
            forbid_io_uring();
            assert_eq!(best_backend(), Backend::Epoll);
            for requested in [None, Some(Backend::Epoll)] {
                assert!(matches!(set_up(requested, 1, true), Ok(Ready::Epoll(_))), "{requested:?}");
            }
            let Err(LoadError::NoIoUring(why)) = set_up(Some(Backend::IoUring), 1, true) else { panic!("not refused") };
            assert_eq!(why.raw_os_error(), Some(libc::EPERM));
        });
        tried.join().unwrap();
    }
}
