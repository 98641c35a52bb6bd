//! When a server counts as ready: it gives a good answer, and it is the launched server that gives it.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use model::READY_POLL;

use crate::http::{self, CONNECT_WITHIN};
use crate::proc::{self, ForeignListener};
use crate::supervise::{Exit, Supervised};

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
    Foreign(SocketAddr, ForeignListener),
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
    let mut last = FailedTry { answered: false, what: "nothing was tried".to_owned() };
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
                return match stranger.and_then(|address| proc::foreign_listener_at(address, supervised.root())) {
                    Some(stranger) => Err(Unready::Foreign(address, stranger)),
                    None => Ok((seen, address)),
                };
            }
            // An answer, though a bad one, says more than the last try's running out of time.
            Err(miss) if last.answered && !miss.answered => {}
            Err(miss) => last = miss,
        }
        if Instant::now() + READY_POLL >= deadline {
            let doubt = if last.answered { "" } else { " (does it listen on {port}?)" };
            return Err(Unready::Late { last: format!("{}{doubt}", last.what) });
        }
        thread::sleep(READY_POLL);
    }
}

/// A try that was not the sign waited for.
struct FailedTry {
    answered: bool,
    what: String,
}

impl From<io::Error> for FailedTry {
    fn from(error: io::Error) -> Self {
        Self { answered: false, what: error.to_string() }
    }
}

fn try_once(sign: &Sign, deadline: Instant, interrupted: &AtomicBool) -> Result<SocketAddr, FailedTry> {
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
        Sign::Get { address, path } => match http::status_of(*address, path, deadline, interrupted)? {
            200..=299 => Ok(*address),
            status => Err(FailedTry { answered: true, what: format!("status {status}") }),
        },
    }
}
