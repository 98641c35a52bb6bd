//! One request, its whole answer.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::request::{Ask, Target};
use crate::response::{Framer, Malformed, Sink};

/// Longest body that is kept, bytes.
const LONGEST_BODY: usize = 64 * 1024 * 1024;

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Header fields in the order received; bytes outside UTF-8 are replaced.
    pub headers: Vec<(String, String)>,
    /// The body, without its chunked coding; still compressed if it came so.
    pub body: Vec<u8>,
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
pub enum AskError {
    /// No connection could be made.
    #[error("cannot connect to {host}: {source}")]
    Connect {
        /// The target's host.
        host: String,
        /// The reason.
        source: io::Error,
    },
    /// The connection ended too early.
    #[error("the connection closed after {received} bytes, before the answer was complete")]
    Closed {
        /// Bytes received.
        received: u64,
    },
    /// The time limit passed.
    #[error("no complete answer within {} s: {received} bytes came", limit.as_secs_f64())]
    TimedOut {
        /// The limit.
        limit: Duration,
        /// Bytes received.
        received: u64,
    },
    /// The bytes are not an HTTP response.
    #[error("the answer is not HTTP: {0}")]
    Malformed(#[from] Malformed),
    /// The body is longer than is kept.
    #[error("the answer's body is longer than {} MB", LONGEST_BODY >> 20)]
    TooLong,
}

/// Sends `ask` on a connection of its own and waits at most `limit` in all for the whole answer,
/// which is not judged.
pub fn ask(target: &Target, ask: &Ask, limit: Duration) -> Result<Answer, AskError> {
    let deadline = Instant::now() + limit;
    let refused = |source| AskError::Connect { host: target.host.clone(), source };
    let mut stream = TcpStream::connect_timeout(&target.address, limit).map_err(refused)?;
    stream.set_nodelay(true).map_err(refused)?;
    stream.set_write_timeout(Some(limit)).map_err(refused)?;
    // A server may answer, and close, before it has the whole request: reading tells what came of it.
    let _ = stream.write_all(ask.bytes());

    let (mut framer, mut whole) = (Framer::default(), Whole::default());
    let mut buffer = vec![0; 64 * 1024];
    let mut received = 0;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(AskError::TimedOut { limit, received });
        }
        stream.set_read_timeout(Some(left)).map_err(refused)?;
        let answered = match stream.read(&mut buffer) {
            Ok(0) => Some(framer.close().ok_or(AskError::Closed { received })?),
            Ok(bytes) => {
                received += bytes as u64;
                framer.feed(&buffer[..bytes], ask.is_head(), &mut whole)?
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted => None,
                _ => return Err(AskError::Closed { received }),
            },
        };
        if whole.body.len() > LONGEST_BODY {
            return Err(AskError::TooLong);
        }
        if let Some(answered) = answered {
            return Ok(Answer { status: answered.status, headers: whole.headers, body: whole.body });
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
    fn head(&mut self, head: &httparse::Response<'_, '_>) {
        let text = |field: &httparse::Header<'_>| String::from_utf8_lossy(field.value).into_owned();
        self.headers = head.headers.iter().map(|field| (field.name.to_owned(), text(field))).collect();
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}
