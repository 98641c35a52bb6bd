//! What moves bytes, whichever way of the kernel's is taken, and what is common to all.

use std::time::Duration;

use model::Backend;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrAny, SocketFlags, SocketType, connect, send, socket_with, sockopt,
};

use crate::LoadError;
use crate::receive;

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
pub(super) fn begin(address: &SocketAddrAny, kernel_time: bool) -> Result<Result<OwnedFd, Errno>, LoadError> {
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
pub(super) fn send_last(socket: &OwnedFd, bytes: &[u8]) {
    if !bytes.is_empty() {
        let _ = send(socket, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
    }
}
