//! The floor of this host: what our client measures of a server that does next to nothing.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use load::{Flow, LengthRule, Load, PreparedRequest, Stop, Summary, Target};
use miette::IntoDiagnostic as _;
use model::study::{Expect, Isolation, Request};
use model::{Backend, ClientFloor, Sample};
use server::Pinned;

/// Answers to one user, enough for the 99th percentile.
const ANSWERS: u64 = 10_500;
/// How long one user waits for them: on a host that is busy otherwise they take their time.
const LONGEST_S: f64 = 3.0;
/// How long many users ask.
const MANY: Duration = Duration::from_millis(500);
/// Users who ask for as much as there is.
const USERS: u32 = 32;
/// Name of the threads of the server that does next to nothing.
const RESPONDER: &str = "floor-responder";

/// Measures it, in about a second (four where the host is busy), on the processors that a study's server and client are kept to. `None` when it was
/// interrupted, or the host is so slow that p99 has no support.
pub fn measure(
    backend: Option<Backend>,
    host: &Isolation,
    interrupted: &AtomicBool,
) -> miette::Result<Option<ClientFloor>> {
    let pinned = Pinned::to(&host.server_cpus).into_diagnostic()?;
    let server = Responder::start().into_diagnostic()?;
    // The responder's threads stay where they began.
    drop(pinned);
    let _pinned = Pinned::to(&host.client_cpus).into_diagnostic()?;
    let target = Target::from(server.address);
    let request = Request { method: "GET".to_owned(), path: "/".to_owned(), headers: Vec::new(), body: None };
    let prepared = PreparedRequest::new(&request, &Expect::default(), &target, LengthRule::Any).into_diagnostic()?;
    let load = |connections, stop| -> miette::Result<Summary> {
        let load = Load { connections, backend, ..Load::new(target.clone(), vec![prepared.clone()], stop) };
        let judge = |seen: Sample| if seen.start_s + seen.length_s < LONGEST_S { Flow::Continue } else { Flow::Stop };
        load::run(&load, interrupted, &mut |seen| judge(seen)).into_diagnostic()
    };
    let (one, many) = (load(1, Stop::Count(ANSWERS))?, load(USERS, Stop::After(MANY))?);
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
                let _ = thread::Builder::new().name(RESPONDER.to_owned()).spawn(move || answer(stream));
            }
        };
        let thread = thread::Builder::new().name(RESPONDER.to_owned()).spawn(accept)?;
        Ok(Self { address, over, thread: Some(thread) })
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
    use needs::Need;

    #[test]
    fn the_floor_is_a_small_time_and_a_high_rate() {
        let floor = measure(None, &Isolation::default(), &AtomicBool::new(false)).unwrap().unwrap();
        assert!(floor.p50_us > 0 && floor.p50_us <= floor.p99_us, "{floor:?}");
        assert!(floor.rate > 100.0 && floor.client_cores > 0.0, "{floor:?}");
    }

    #[test]
    fn an_interrupt_leaves_no_figure() {
        assert_eq!(measure(None, &Isolation::default(), &AtomicBool::new(true)).unwrap(), None);
    }

    #[test]
    fn it_is_measured_on_the_studys_processors() {
        let processors = |list: &str| format!("Cpus_allowed_list:\t{list}");
        if !needs::has(Need::Processors) {
            return;
        }
        let host = Isolation { server_cpus: vec![1], client_cpus: vec![0], own_network: false };
        let measuring = thread::Builder::new().name("floor-client".to_owned());
        let measuring = measuring.spawn(move || measure(None, &host, &AtomicBool::new(false)).unwrap()).unwrap();
        // Each thread by its name and the processors that it may use, as long as it measures.
        let mut seen = std::collections::BTreeSet::new();
        while !measuring.is_finished() {
            for task in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
                let read = |file: &str| std::fs::read_to_string(task.path().join(file)).unwrap_or_default();
                let (name, status) = (read("comm").trim_end().to_owned(), read("status"));
                let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed_list")).map(str::to_owned);
                seen.extend(allowed.map(|allowed| (name, allowed)));
            }
            thread::sleep(Duration::from_millis(20));
        }
        measuring.join().unwrap();
        let of =
            |name: &str| seen.iter().filter(|(own, _)| own == name).map(|(_, cpus)| cpus.clone()).collect::<Vec<_>>();
        // Other tests measure, too, at the same time.
        assert!(of(RESPONDER).contains(&processors("1")), "{seen:?}");
        assert!(of("floor-client").contains(&processors("0")), "{seen:?}");
    }
}
