//! When a server counts as ready: it gives a good answer, and it is the launched server that gives it.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::proc::{self, Stranger};
use crate::supervise::{Exit, GLANCE, Supervised};

const POLL: Duration = Duration::from_millis(20);
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// What to wait for, placeholders replaced.
#[derive(Debug)]
pub(super) enum Sign {
    Get { address: SocketAddr, path: String },
    Tcp(String),
}

impl Sign {
    /// For people.
    pub fn describe(&self) -> String {
        match self {
            Self::Get { address, path } => format!("a 2xx answer to GET http://{address}{path}"),
            Self::Tcp(address) => format!("a connection to {address}"),
        }
    }
}

/// Why it did not become ready.
pub(super) enum Unready {
    Exited(Exit),
    Foreign(SocketAddr, Stranger),
    Late { last: String },
    Interrupted,
}

/// Waits for `sign` from the tree of `supervised`, until `deadline`. Returns when and where it was seen.
/// A raised `interrupted` ends the waiting.
pub(super) fn wait(
    supervised: &Supervised,
    sign: &Sign,
    deadline: Instant,
    interrupted: &AtomicBool,
) -> Result<(Instant, SocketAddr), Unready> {
    let mut last = Miss { answered: false, what: "nothing was tried".to_owned() };
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Unready::Interrupted);
        }
        // Asked first: an answer after the program's end is another's.
        let exit = supervised.exit();
        if let Some(exit) = exit {
            return Err(Unready::Exited(exit));
        }
        match try_once(sign, deadline, interrupted) {
            Ok(address) => {
                let seen = Instant::now();
                // Only what happens on this machine can be looked at.
                let stranger = Some(address).filter(|address| address.ip().is_loopback());
                return match stranger.and_then(|address| proc::stranger_at(address, supervised.root())) {
                    Some(stranger) => Err(Unready::Foreign(address, stranger)),
                    None => Ok((seen, address)),
                };
            }
            // An answer, though a bad one, says more than the last try's running out of time.
            Err(miss) if last.answered && !miss.answered => {}
            Err(miss) => last = miss,
        }
        if Instant::now() + POLL >= deadline {
            let doubt = if last.answered { "" } else { " (does it listen on {port}?)" };
            return Err(Unready::Late { last: format!("{}{doubt}", last.what) });
        }
        thread::sleep(POLL);
    }
}

/// A try that was not the sign waited for.
struct Miss {
    answered: bool,
    what: String,
}

impl From<io::Error> for Miss {
    fn from(error: io::Error) -> Self {
        Self { answered: false, what: error.to_string() }
    }
}

fn try_once(sign: &Sign, deadline: Instant, interrupted: &AtomicBool) -> Result<SocketAddr, Miss> {
    match sign {
        Sign::Tcp(address) => {
            let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
            for address in address.to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, CONNECT_WITHIN) {
                    Ok(_) => return Ok(address),
                    Err(error) => last = error,
                }
            }
            Err(last.into())
        }
        Sign::Get { address, path } => match get(*address, path, deadline, interrupted)? {
            200..=299 => Ok(*address),
            status => Err(Miss { answered: true, what: format!("status {status}") }),
        },
    }
}

/// The body of a 2xx answer to a GET.
pub(crate) fn body_of(address: SocketAddr, path: &str, within: Duration) -> io::Result<Vec<u8>> {
    let answer = exchange(address, path, Instant::now() + within, &AtomicBool::new(false))?;
    match status(&answer) {
        Some(200..=299) => {
            let head = answer.windows(4).position(|window| window == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
            Ok(answer[head..].to_vec())
        }
        Some(status) => Err(io::Error::other(format!("status {status}"))),
        None => Err(io::Error::new(ErrorKind::InvalidData, "the answer is not HTTP")),
    }
}

fn get(address: SocketAddr, path: &str, deadline: Instant, interrupted: &AtomicBool) -> io::Result<u16> {
    let answer = exchange(address, path, deadline, interrupted)?;
    status(&answer).ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the answer is not HTTP"))
}

/// A GET as simple as can be. The whole answer is read, so that the server does not see a broken connection.
fn exchange(address: SocketAddr, path: &str, deadline: Instant, interrupted: &AtomicBool) -> io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_WITHIN)?;
    stream.set_write_timeout(Some(CONNECT_WITHIN))?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: */*\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    stream.set_read_timeout(Some(GLANCE))?;
    while !is_complete(&answer) && Instant::now() < deadline && !interrupted.load(Ordering::Relaxed) {
        match stream.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => answer.extend_from_slice(&chunk[..length]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    if answer.is_empty() {
        return Err(io::Error::new(ErrorKind::TimedOut, "the connection was accepted, but no answer came"));
    }
    Ok(answer)
}

fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\r').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/"))?;
    words.next()?.parse().ok()
}

/// Whether head and body are there, as far as the head tells the body's length; otherwise the connection's end tells.
fn is_complete(answer: &[u8]) -> bool {
    let Some(head) = answer.windows(4).position(|window| window == b"\r\n\r\n") else { return false };
    let text = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| answer.len() >= head + 4 + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_is_the_second_word() {
        assert_eq!(status(b"HTTP/1.1 204 No Content\r\n\r\n"), Some(204));
        assert_eq!(status(b"SSH-2.0-OpenSSH\r\n"), None);
        assert_eq!(status(b""), None);
    }

    #[test]
    fn the_body_belongs_to_the_answer() {
        assert!(!is_complete(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"));
        assert!(is_complete(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab"));
        assert!(!is_complete(b"HTTP/1.0 200 OK\r\n\r\nab"));
    }
}
