//! Where requests go, and what is spoken there.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketAddrUnix};

use crate::protocol::Protocol;
use crate::tls::Tls;

/// Where requests go.
#[derive(Debug, Clone)]
pub struct Target {
    /// The addresses connected to, one after the other in turn; one at least.
    pub addresses: Vec<Address>,
    /// The value of the `Host` field or of `:authority`, such as `127.0.0.1:8080`.
    pub host: String,
    /// The version of HTTP.
    pub protocol: Protocol,
    /// TLS, where it is spoken.
    pub tls: Option<Tls>,
}

impl Target {
    /// HTTP/1.1 in clear text.
    pub fn new(addresses: Vec<Address>, host: String) -> Self {
        Self { addresses, host, protocol: Protocol::Http1, tls: None }
    }

    /// Whether HTTP/1.1 is spoken in clear text.
    pub(crate) fn is_plain(&self) -> bool {
        self.tls.is_none() && self.protocol == Protocol::Http1
    }
}

impl From<SocketAddr> for Target {
    fn from(address: SocketAddr) -> Self {
        Self::new(vec![Address::Tcp(address)], address.to_string())
    }
}

/// One place where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// An IP address and a port.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Address {
    /// As the kernel takes it. Fails for a path that is too long for a socket: 107 bytes (unix(7)).
    pub(crate) fn to_kernel(&self) -> Result<SocketAddrAny, Errno> {
        match self {
            Self::Tcp(address) => Ok((*address).into()),
            Self::Unix(path) => Ok(SocketAddrUnix::new(path)?.into()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
