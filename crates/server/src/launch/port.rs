//! Ports for servers and services.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::{Mutex, PoisonError};

/// More than one trial ever has. Who listens at the ports of earlier ones has ended.
const CLAIMS: usize = 64;

/// Gives each port once a run, so that a server never meets connections meant for an earlier one, and none that another
/// run has just given: a server may take a minute until it listens.
#[derive(Debug, Default)]
pub(super) struct Ports {
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    given: HashSet<u16>,
    /// Those of the ports given last.
    claims: VecDeque<UnixListener>,
}

impl Ports {
    /// A port that is free on 127.0.0.1 now, was not given before, and is not claimed by another run.
    pub fn free(&self) -> io::Result<u16> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // Those that cannot be had are held while we look on, or the kernel would offer them again.
        let mut held = Vec::new();
        loop {
            let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = socket.local_addr()?.port();
            if !taken.given.contains(&port)
                && let Some(claim) = claim(port)?
            {
                taken.given.insert(port);
                taken.claims.push_front(claim);
                taken.claims.truncate(CLAIMS);
                return Ok(port);
            }
            held.push(socket);
        }
    }
}

/// Claims a port among all runs on this network: by a socket of an abstract name (`unix(7)`), which ends with its process at the
/// latest. `None` where another run has it.
fn claim(port: u16) -> io::Result<Option<UnixListener>> {
    match UnixListener::bind_addr(&SocketAddr::from_abstract_name(format!("bakeoff-port-{port}"))?) {
        Ok(claim) => Ok(Some(claim)),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(error),
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

    #[test]
    fn a_port_that_another_run_has_given_is_not_to_be_had() {
        let ports = Ports::default();
        let port = ports.free().unwrap();
        assert!(claim(port).unwrap().is_none());
        drop(ports);
        assert!(claim(port).unwrap().is_some());
    }
}
