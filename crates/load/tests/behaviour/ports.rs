//! Ports for servers that we cannot hand a socket.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports that nobody listens on, of those that the system gives to no connection (ip(7)): they stay free until a server takes
/// them, and while it starts anew.
pub fn free(count: usize) -> Vec<u16> {
    static TRIED: AtomicU32 = AtomicU32::new(0);
    // Tests run in processes of their own, with neighbouring numbers.
    let next = || 20_000 + (std::process::id() * 16 + TRIED.fetch_add(1, Ordering::Relaxed)) % 12_000;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    std::iter::repeat_with(|| next() as u16).filter(is_free).take(count).collect()
}
