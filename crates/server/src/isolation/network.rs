//! A network of one's own.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};

use rustix::net::{AddressFamily, SocketType, socket};

use super::error::IsolationError;

/// Gives the calling thread a network of its own, and with it all threads and processes that it starts from now on: a loopback
/// interface, up, and nothing else (`network_namespaces(7)`). There is no way back: for a thread that ends with what it was for.
pub fn own_network() -> Result<(), IsolationError> {
    let failed = |source| IsolationError::Network { source };
    // SAFETY: a namespace of the network is a thread's own; no memory and no descriptor is unshared.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    let any = socket(AddressFamily::INET, SocketType::DGRAM, None).map_err(|error| failed(error.into()))?;
    raise_loopback(&any).map_err(failed)
}

/// netdevice(7): `SIOCGIFFLAGS`, `SIOCSIFFLAGS`.
fn raise_loopback(any: &OwnedFd) -> io::Result<()> {
    // SAFETY: a struct of integers and arrays of them, of which all zeros is a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    // SAFETY: the request names the interface, is of the type that both calls take, and outlives them.
    let failed = unsafe {
        if libc::ioctl(any.as_raw_fd(), libc::SIOCGIFFLAGS as _, &raw mut request) == 0 {
            request.ifr_ifru.ifru_flags |= libc::IFF_UP as libc::c_short;
            libc::ioctl(any.as_raw_fd(), libc::SIOCSIFFLAGS as _, &raw const request)
        } else {
            -1
        }
    };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use needs::Need;
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    #[test]
    fn a_port_is_free_in_one_network_that_is_taken_in_another() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        // A network is a thread's own.
        let listens = thread::spawn(move || {
            own_network()?;
            assert!(TcpStream::connect(address).is_err(), "nobody listens here");
            let own = TcpListener::bind(address).unwrap();
            thread::spawn(move || TcpStream::connect(address).unwrap()).join().unwrap();
            assert!(own.accept().is_ok());
            Ok::<_, IsolationError>(())
        });
        if let Err(error) = listens.join().unwrap() {
            return needs::left_out(Need::Network, error);
        }
        assert!(TcpStream::connect(address).is_ok(), "this thread has the network that it had");
    }
}
