//! Ports for servers and services.

use std::collections::HashSet;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};

/// Gives each port once a run, so that a server never meets connections meant for an earlier one.
#[derive(Debug, Default)]
pub(super) struct Ports {
    given: Mutex<HashSet<u16>>,
}

impl Ports {
    /// A port that is free on 127.0.0.1 now and was not given before.
    pub fn free(&self) -> io::Result<u16> {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that were given before are held while we look on, or the kernel would offer them again.
        let mut held = Vec::new();
        loop {
            let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = socket.local_addr()?.port();
            if given.insert(port) {
                return Ok(port);
            }
            held.push(socket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice() {
        let ports = Ports::default();
        let given: HashSet<u16> = (0..200).map(|_| ports.free().unwrap()).collect();
        assert_eq!(given.len(), 200);
    }
}
