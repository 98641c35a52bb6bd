//! What the threads of a server share.

use crate::behaviour::{self, Arrival};
use crate::kept::Kept;
use crate::pool::Pool;
use crate::record::{Record, Tally};
use crate::render::{self, Prepared};
use crate::script::{Route, Script};
use rustix::event::EventfdFlags;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How a server ended by itself: `exit-after`, or an error of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEnd {
    /// Exit code for the process.
    pub code: u8,
    /// What is to be written to stderr; may be empty.
    pub message: String,
}

/// What the event loops share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) script: Script,
    /// By index of the route.
    pub(crate) routes: Vec<RouteState>,
    /// By index of the error burst.
    pub(crate) errors: Vec<Prepared>,
    /// When it begins to listen: zero of all times in the script.
    pub(crate) listens_at: Instant,
    /// What this launch multiplies every cost by.
    pub(crate) launch_factor: f64,
    /// Wakes the loop with this index.
    pub(crate) wakers: Vec<OwnedFd>,
    tallies: Vec<Mutex<Tally>>,
    inboxes: Vec<Mutex<Vec<OwnedFd>>>,
    requests: AtomicU64,
    connections: AtomicU64,
    stop: AtomicBool,
    pub(crate) ended: OnceLock<ServerEnd>,
}

/// What a route needs while the server runs.
#[derive(Debug)]
pub(crate) struct RouteState {
    /// The answer, where it is always the same.
    pub(crate) prepared: Option<Prepared>,
    requests: AtomicU64,
    /// Its workers, where they are limited.
    pool: Option<Mutex<Pool>>,
    kept: Kept,
}

impl Shared {
    pub(crate) fn new(script: Script) -> io::Result<Self> {
        let threads = script.threads;
        let pool = |route: &Route| Some(Mutex::new(Pool::new(route.workers?, route.queue, Instant::now())));
        let route = |route| RouteState {
            prepared: render::prepare_route(route),
            requests: AtomicU64::new(0),
            pool: pool(route),
            kept: Kept::default(),
        };
        let waker = || rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            routes: script.routes.iter().map(route).collect(),
            errors: script.errors.iter().map(render::prepare_error).collect(),
            listens_at: Instant::now() + script.start_delay,
            launch_factor: launch_factor(script.launch_spread),
            wakers: (0..threads).map(|_| waker()).collect::<Result<_, _>>()?,
            tallies: (0..threads).map(|_| Mutex::new(Tally::new(script.routes.len()))).collect(),
            inboxes: (0..threads).map(|_| Mutex::default()).collect(),
            requests: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            ended: OnceLock::new(),
            script,
        })
    }

    /// Time since the server began to listen.
    pub(crate) fn elapsed(&self) -> Duration {
        self.listens_at.elapsed()
    }

    /// Numbers a request that has come just now.
    pub(crate) fn arrival(&self, route: Option<usize>) -> Arrival {
        let next = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed) + 1;
        Arrival {
            number: next(&self.requests),
            on_route: route.map_or(0, |index| next(&self.routes[index].requests)),
            elapsed: self.elapsed(),
        }
    }

    /// When a request to a route is done that waits so long from now on, once it has a worker; `None` where too many wait for one.
    pub(crate) fn admit(&self, route: Option<usize>, takes: Duration) -> Option<Instant> {
        let now = Instant::now();
        match route.and_then(|index| self.routes[index].pool.as_ref()) {
            Some(pool) => pool.lock().unwrap_or_else(PoisonError::into_inner).admit(now, takes),
            None => Some(now + takes),
        }
    }

    /// Leaves behind what a request to a route does.
    pub(crate) fn leave_behind(&self, route: Option<usize>, arrival: &Arrival) {
        if let Some(index) = route {
            self.routes[index].kept.add(&self.script.routes[index], arrival.on_route);
        }
    }

    /// Whether a request with this number comes after the last one that is answered.
    pub(crate) fn is_past_the_end(&self, number: u64) -> bool {
        self.last_request().is_some_and(|last| number > last)
    }

    /// Takes note that the request with this number was dealt with; the last one ends the server.
    pub(crate) fn answered(&self, number: u64) {
        if self.last_request() == Some(number) {
            self.end();
        }
    }

    fn last_request(&self) -> Option<u64> {
        self.script.exit_after.as_ref().and_then(|exit| exit.requests)
    }

    /// Ends the server by itself.
    pub(crate) fn end(&self) {
        if let Some(exit) = &self.script.exit_after {
            self.ended.get_or_init(|| ServerEnd { code: exit.code, message: exit.message.clone() });
        }
        self.stop();
    }

    /// Ends the server because of an error of its own.
    pub(crate) fn fail(&self, error: Errno) {
        self.ended.get_or_init(|| ServerEnd { code: 1, message: format!("knownserver: cannot go on: {error}") });
        self.stop();
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        for index in 0..self.wakers.len() {
            self.wake(index);
        }
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn wake(&self, worker: usize) {
        // Fails only when the counter is at its limit, and then the loop is awake.
        let _ = rustix::io::write(&self.wakers[worker], &1_u64.to_ne_bytes());
    }

    /// The loop that a connection accepted just now is for; `None`: it is to be closed at once.
    pub(crate) fn place_connection(&self) -> Option<usize> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        let refused = behaviour::in_share(number, self.script.close_on_accept);
        (!refused).then_some(((number - 1) % self.wakers.len() as u64) as usize)
    }

    pub(crate) fn hand_over(&self, worker: usize, socket: OwnedFd) {
        self.inboxes[worker].lock().unwrap_or_else(PoisonError::into_inner).push(socket);
        self.wake(worker);
    }

    pub(crate) fn take_over(&self, worker: usize) -> Vec<OwnedFd> {
        // Before the inbox is emptied: what comes later wakes again.
        let _ = rustix::io::read(&self.wakers[worker], &mut [0_u8; 8]);
        std::mem::take(&mut *self.inboxes[worker].lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn tally(&self, worker: usize) -> MutexGuard<'_, Tally> {
        self.tallies[worker].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn record(&self) -> Record {
        let mut record = Record {
            connections: self.connections.load(Ordering::Relaxed),
            launch_factor: self.launch_factor,
            ..Record::default()
        };
        for worker in 0..self.tallies.len() {
            self.tally(worker).add_to(&mut record, |index| &self.script.routes[index].path);
        }
        record
    }
}

/// A factor whose logarithm has this standard deviation, drawn afresh at every start.
fn launch_factor(spread: f64) -> f64 {
    // The standard library's hasher is keyed by the operating system's randomness.
    let seed = RandomState::new().hash_one(0);
    let normal = behaviour::standard_normal(behaviour::unit(seed, 0), behaviour::unit(seed, 1));
    (spread * normal).exp()
}
