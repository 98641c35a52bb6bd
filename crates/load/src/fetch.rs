//! One request, its whole answer.

use std::io;
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use model::Failure;
use model::load::Transport;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use thiserror::Error;

use crate::content::{Decoded, LONGEST_BODY};
use crate::request::PreparedRequest;
use crate::response::{Sink, text};
use crate::target::{Address, Target};
use crate::wire::{Wire, WireError};

/// A complete answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Header fields in the order received; bytes outside UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// The body, without its chunked coding, and without gzip if the request offers it; else as it came.
    pub body: Vec<u8>,
    /// What was spoken.
    pub transport: Transport,
}

impl Answer {
    /// The first header field of this name, in whatever case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The media type the server gives, with its parameters.
    pub fn content_type(&self) -> Option<&str> {
        self.header("content-type")
    }
}

/// Why there is no complete answer.
#[derive(Debug, Error)]
pub enum FetchError {
    /// No connection could be made.
    #[error("cannot connect to {host}{}: {source}", at(host, address))]
    Connect {
        /// The target's host.
        host: String,
        /// The address tried.
        address: Address,
        /// The reason.
        source: io::Error,
    },
    /// The connection ended too early.
    #[error("{cut}; {received} bytes came")]
    Closed {
        /// Bytes received.
        received: u64,
        /// Where it ended.
        cut: WireError,
    },
    /// The time limit passed.
    #[error("no complete answer within {} s: {received} bytes came", limit.as_secs_f64())]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// Bytes received.
        received: u64,
    },
    /// What came is no answer, or the two sides did not agree on how to speak.
    #[error(transparent)]
    Wire(WireError),
    /// The target has no address.
    #[error("the target has no address to connect to")]
    NoAddress,
    /// The body is longer than is kept.
    #[error("the answer's body is longer than {} MB", LONGEST_BODY >> 20)]
    TooLong,
}

/// The address, where the host does not say it.
fn at(host: &str, address: &Address) -> String {
    let address = address.to_string();
    if address == host { String::new() } else { format!(" ({address})") }
}

/// Sends `request` on a connection of its own to the target's first address and waits at most `limit` in all for the whole
/// answer, which is not judged.
pub fn fetch(target: &Target, request: &PreparedRequest, limit: Duration) -> Result<Answer, FetchError> {
    let deadline = Instant::now() + limit;
    let socket = connect(target, limit)?;
    let mut received = 0;
    let mut wire = Wire::new(target).map_err(FetchError::Wire)?;
    send_all(&socket, wire.unsent());
    let (mut sent, mut decoded) = (false, Decoded::new(Whole::default(), request.takes_gzip()));
    let mut buffer = vec![0; 64 * 1024];
    loop {
        if !sent && wire.is_ready() {
            send_all(&socket, wire.send(request).map_err(FetchError::Wire)?);
            sent = true;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(FetchError::TimedOut { limit, received });
        }
        // Fails only for a time of nothing.
        let _ = set_socket_timeout(&socket, Timeout::Recv, Some(left));
        let answered = match recv(&socket, &mut buffer, RecvFlags::empty()) {
            Ok((0, _)) => wire.close(&mut decoded).map(Some),
            Ok((bytes, _)) => {
                received += bytes as u64;
                let answered = wire.receive(&buffer[..bytes], request.is_head(), &mut decoded);
                send_all(&socket, wire.unsent());
                answered
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(_) => Err(wire.cut()),
        };
        if decoded.sink().body.len() > LONGEST_BODY {
            return Err(FetchError::TooLong);
        }
        match answered {
            Ok(None) => {}
            Ok(Some(answered)) => {
                let transport = wire.transport();
                send_all(&socket, wire.close_bytes());
                let (whole, length) = decoded.finish();
                length.map_err(|why| FetchError::Wire(why.into()))?;
                return Ok(Answer { status: answered.status, headers: whole.headers, body: whole.body, transport });
            }
            Err(cut) if cut.failure() == Failure::Closed => return Err(FetchError::Closed { received, cut }),
            Err(error) => return Err(FetchError::Wire(error)),
        }
    }
}

/// A connection that blocks, as long as `limit` at most.
fn connect(target: &Target, limit: Duration) -> Result<OwnedFd, FetchError> {
    let made = |address: &Address| -> io::Result<OwnedFd> {
        let socket: OwnedFd = match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, limit)?;
                stream.set_nodelay(true)?;
                stream.into()
            }
            Address::Unix(path) => UnixStream::connect(path)?.into(),
        };
        set_socket_timeout(&socket, Timeout::Send, Some(limit))?;
        Ok(socket)
    };
    let Some(address) = target.addresses.first() else { return Err(FetchError::NoAddress) };
    made(address).map_err(|source| FetchError::Connect { host: target.host.clone(), address: address.clone(), source })
}

/// A server may answer, and close, before it has all of a request: reading shows what came of it.
fn send_all(socket: &OwnedFd, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(taken) => bytes = &bytes[taken..],
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Keeps the whole answer.
#[derive(Default)]
struct Whole {
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Sink for Whole {
    fn field(&mut self, name: &str, value: &[u8]) {
        self.headers.push((name.to_owned(), text(value)));
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}
