//! The floor of this host: what our client measures of a server that does next to nothing.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use load::{Ask, Flow, LengthRule, Load, Stop, Summary, Target};
use miette::IntoDiagnostic as _;
use model::study::{Expect, Request};
use model::{ClientFloor, Engine};

/// How long each of the two loads takes.
const EACH: Duration = Duration::from_millis(500);
/// Users who ask for as much as there is.
const USERS: u32 = 32;

/// Measures it, in about a second. `None` when it was interrupted, or the host is so slow that p99 has no support.
pub fn measure(engine: Option<Engine>, interrupted: &AtomicBool) -> miette::Result<Option<ClientFloor>> {
    let server = Responder::start().into_diagnostic()?;
    let target = Target::from(server.address);
    let request = Request { method: "GET".to_owned(), path: "/".to_owned(), headers: Vec::new(), body: None };
    let ask = Ask::new(&request, &Expect::default(), &target, LengthRule::Any).into_diagnostic()?;
    let load = |connections| -> miette::Result<Summary> {
        let asks = vec![ask.clone()];
        let load = Load { connections, engine, ..Load::new(target.clone(), asks, Stop::After(EACH)) };
        load::run(&load, interrupted, &mut |_| Flow::Continue).into_diagnostic()
    };
    let (one, many) = (load(1)?, load(USERS)?);
    let quantiles = one.service.supported_quantile(0.5).zip(one.service.supported_quantile(0.99));
    Ok(quantiles.filter(|_| !interrupted.load(Ordering::Relaxed)).map(|(p50_us, p99_us)| ClientFloor {
        p50_us,
        p99_us,
        rate: many.tally.good as f64 / many.elapsed_s,
        users: USERS,
        client_cores: many.client_cpu_s / many.elapsed_s,
    }))
}

/// A server that answers everything with the same few bytes, by a thread for each connection.
struct Responder {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let accept = move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                // A client that is gone ends its thread.
                thread::spawn(move || answer(stream));
            }
        };
        Ok(Self { address, over, thread: Some(thread::spawn(accept)) })
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // What waits for a connection gets one.
        let _ = TcpStream::connect(self.address);
        self.thread.take().map(JoinHandle::join);
    }
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut request = [0; 1024];
    // The request is ours, and short: it comes in one piece.
    while stream.read(&mut request)? > 0 {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_floor_is_a_small_time_and_a_high_rate() {
        let floor = measure(None, &AtomicBool::new(false)).unwrap().unwrap();
        assert!(floor.p50_us > 0 && floor.p50_us <= floor.p99_us, "{floor:?}");
        assert!(floor.rate > 100.0 && floor.client_cores > 0.0, "{floor:?}");
    }

    #[test]
    fn an_interrupt_leaves_no_figure() {
        assert_eq!(measure(None, &AtomicBool::new(true)).unwrap(), None);
    }
}
