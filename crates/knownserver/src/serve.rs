//! The running server and its threads.

use crate::record::Record;
use crate::script::Script;
use crate::shared::{ServerEnd, Shared};
use crate::worker::{self, Worker};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A running server on a port of 127.0.0.1. Dropping it stops it.
#[derive(Debug)]
pub struct KnownServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl KnownServer {
    /// Starts it on a free port, in this process. With `start-delay` the port is known at once, and refuses
    /// connections until then. With `exit-at-start`, or a script that makes no sense, this is an error.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_on(script, 0)
    }

    /// As [`Self::start`], on this port (0: a free one).
    pub fn start_on(script: Script, port: u16) -> io::Result<Self> {
        script.check().map_err(io::Error::other)?;
        if let Some(exit) = script.exit_at_start {
            return Err(io::Error::other(exit.message));
        }
        let listener = bind(port)?;
        let address = SocketAddr::try_from(rustix::net::getsockname(&listener)?)?;
        if script.start_delay.is_zero() {
            worker::listen(&listener)?;
        }
        let shared = Arc::new(Shared::new(script)?);
        let mut listener = Some(listener);
        let mut server = Self { shared, address, threads: Mutex::default() };
        for index in 0..server.shared.script.threads {
            let worker = Worker::new(Arc::clone(&server.shared), index, listener.take())?;
            let thread = std::thread::Builder::new().name(format!("known-{index}")).spawn(move || {
                let shared = Arc::clone(&worker.shared);
                if let Err(error) = worker.run() {
                    shared.fail(error);
                }
            })?;
            server.threads.get_mut().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        Ok(server)
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// URL of `path`, which begins with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it did so far. An answer that a client has seen complete is counted in it.
    pub fn record(&self) -> Record {
        self.shared.record()
    }

    /// Stops it: every connection is closed, the port refuses. What it did can still be read.
    pub fn stop(&self) {
        self.shared.stop();
        self.join();
    }

    /// Waits until it has ended by itself (`exit-after`), or was stopped from another thread (`None`).
    pub fn wait(&self) -> Option<ServerEnd> {
        self.join();
        self.shared.ended.get().cloned()
    }

    fn join(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            // A panic of the thread has been printed; there is nothing more to report here.
            let _ = thread.join();
        }
    }
}

impl Drop for KnownServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A socket bound to loopback that does not listen yet.
fn bind(port: u16) -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    rustix::net::sockopt::set_socket_reuseaddr(&socket, true)?;
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
    rustix::net::bind(&socket, &address)
        .map_err(|error| io::Error::new(io::Error::from(error).kind(), format!("cannot bind {address}: {error}")))?;
    Ok(socket)
}
