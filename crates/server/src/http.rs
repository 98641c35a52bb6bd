//! A GET as simple as can be, for what is asked of a server once, beside the load.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::supervise::GLANCE;

/// Bound of making a connection, and of sending the request.
pub(crate) const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// The status of the answer to a GET, as far as it came by `deadline` or until `interrupted` is raised.
pub(crate) fn status_of(
    address: SocketAddr,
    path: &str,
    deadline: Instant,
    interrupted: &AtomicBool,
) -> io::Result<u16> {
    exchange(address, path, deadline, interrupted)?.status()
}

/// The whole body of a 2xx answer to a GET.
pub(crate) fn body_of(
    address: SocketAddr,
    path: &str,
    within: Duration,
    interrupted: &AtomicBool,
) -> io::Result<Vec<u8>> {
    let answer = exchange(address, path, Instant::now() + within, interrupted)?;
    match answer.status()? {
        200..=299 if answer.is_whole => Ok(answer.bytes[answer.head().unwrap_or(answer.bytes.len())..].to_vec()),
        200..=299 if interrupted.load(Ordering::Relaxed) => Err(io::Error::from(ErrorKind::Interrupted)),
        200..=299 => {
            let came = answer.bytes.len();
            Err(io::Error::new(ErrorKind::TimedOut, format!("no complete answer within {within:?}: {came} bytes came")))
        }
        status => Err(io::Error::other(format!("status {status}"))),
    }
}

/// What came as an answer.
#[derive(Debug, Default)]
struct Answer {
    bytes: Vec<u8>,
    is_whole: bool,
}

impl Answer {
    fn status(&self) -> io::Result<u16> {
        let number = || {
            let line = self.bytes.split(|byte| *byte == b'\r').next()?;
            let mut words = std::str::from_utf8(line).ok()?.split(' ');
            words.next().filter(|version| version.starts_with("HTTP/"))?;
            words.next()?.parse().ok()
        };
        number().ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the answer is not HTTP"))
    }

    /// The length of its head, the empty line included; `None` where not all of it has come.
    fn head(&self) -> Option<usize> {
        self.bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4)
    }

    /// Its length as far as the head says; otherwise the connection's end shows it.
    fn length(&self) -> Option<usize> {
        let head = self.head()?;
        let text = String::from_utf8_lossy(&self.bytes[..head]).to_ascii_lowercase();
        let body = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok())?;
        Some(head + body)
    }
}

/// The whole answer is read, so that the server does not see a broken connection.
fn exchange(address: SocketAddr, path: &str, deadline: Instant, interrupted: &AtomicBool) -> io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_WITHIN)?;
    stream.set_write_timeout(Some(CONNECT_WITHIN))?;
    // In one piece: a small server that answers the first of several, and closes, would reset the connection.
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: */*\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = Answer::default();
    let mut chunk = [0; 4096];
    stream.set_read_timeout(Some(GLANCE))?;
    while !answer.is_whole && Instant::now() < deadline && !interrupted.load(Ordering::Relaxed) {
        match stream.read(&mut chunk) {
            Ok(0) => {
                answer.is_whole = answer.head().is_some() && answer.length().is_none();
                break;
            }
            Ok(length) => {
                answer.bytes.extend_from_slice(&chunk[..length]);
                answer.is_whole = answer.length().is_some_and(|length| answer.bytes.len() >= length);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
    if answer.bytes.is_empty() {
        return Err(io::Error::new(ErrorKind::TimedOut, "the connection was accepted, but no answer came"));
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    fn answer(bytes: &[u8]) -> Answer {
        Answer { bytes: bytes.to_vec(), is_whole: false }
    }

    #[test]
    fn the_status_is_the_second_word() {
        assert_eq!(answer(b"HTTP/1.1 204 No Content\r\n\r\n").status().unwrap(), 204);
        assert!(answer(b"SSH-2.0-OpenSSH\r\n").status().is_err());
        assert!(answer(b"").status().is_err());
    }

    #[test]
    fn the_body_belongs_to_the_answer() {
        assert_eq!(answer(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na").length(), Some(40));
        assert_eq!(answer(b"HTTP/1.0 200 OK\r\n\r\nab").length(), None);
        assert_eq!(answer(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n").length(), None);
    }

    /// The body that is got of a server that writes this, and then keeps the connection open or closes it.
    fn got(written: &'static [u8], keeps_open: bool) -> io::Result<Vec<u8>> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            stream.write_all(written).unwrap();
            keeps_open.then_some(stream)
        });
        let body = body_of(address, "/", Duration::from_millis(300), &AtomicBool::new(false));
        drop(server.join().unwrap());
        body
    }

    #[test]
    fn a_part_of_a_body_is_no_body() {
        assert_eq!(got(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}", true).unwrap(), b"{}");
        assert_eq!(got(b"HTTP/1.0 200 OK\r\n\r\n{}", false).unwrap(), b"{}");
        for (cut, keeps_open) in [
            (&b"HTTP/1.0 200 OK\r\n\r\n{"[..], true),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{", true),
            (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{", false),
        ] {
            let error = got(cut, keeps_open).unwrap_err().to_string();
            assert!(error.starts_with("no complete answer within 300ms: "), "{error}");
        }
        assert_eq!(got(b"HTTP/1.0 503 No\r\n\r\n", true).unwrap_err().to_string(), "status 503");
    }
}
