//! A load: its threads, and what they saw together.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use model::{Histogram, Interval, Tally};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thiserror::Error;

use crate::arrivals::{ClosedLoop, Stop, share};
use crate::engine::{self, Job};
use crate::merge::Merge;
use crate::request::{Ask, Target};

/// File descriptors left to the rest of the program.
const SPARE_DESCRIPTORS: u64 = 128;

/// What is asked of a server: a closed loop, in which each connection sends its next request as soon as it has the
/// answer to the one before.
///
/// How requests are counted:
/// - Service time goes from the request's first byte written to the answer's last byte read, in µs. Making a
///   connection is no part of it. Only good answers have one.
/// - An answer of the wrong status or length is a failure; its connection goes on if its framing allows.
/// - A connection that closes before an answer is complete is a failure, even if no byte of the answer came: it
///   is never tried again in silence. A connection closed at the end of an answer is no failure.
/// - After a failure without an answer, a slot waits before it connects again: 1 ms, doubled up to 100 ms.
/// - Requests in flight when the load is over are abandoned and not counted, except under [`Stop::Count`], which
///   waits for all of them. Their connections are closed like all others.
#[derive(Debug, Clone)]
pub struct Load {
    /// Where requests go.
    pub target: Target,
    /// What is asked, in turn, request by request.
    pub asks: Vec<Ask>,
    /// Connections kept open, and so the most requests in flight.
    pub connections: u32,
    /// When the load is over.
    pub stop: Stop,
    /// Threads among which the connections are divided.
    pub threads: usize,
    /// Longest time for a connection to be made, and again for a request to be answered.
    pub time_limit: Duration,
}

impl Load {
    /// A load over one connection, by one thread, with a limit of 30 s.
    pub fn new(target: Target, asks: Vec<Ask>, stop: Stop) -> Self {
        Self { target, asks, connections: 1, stop, threads: 1, time_limit: Duration::from_secs(30) }
    }
}

/// What an observer wants after an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The load goes on.
    Continue,
    /// The load is over: what ends from now on is not counted.
    Stop,
}

/// All intervals of a load together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Length of the load, seconds.
    pub elapsed_s: f64,
    /// How requests ended.
    pub tally: Tally,
    /// Service time of good answers.
    pub service: Histogram,
    /// Bytes received, heads included.
    pub bytes: u64,
    /// CPU time of the load's own threads, seconds.
    pub client_cpu_s: f64,
    /// Connections that were made; more than asked for when some had to be replaced.
    pub connections_opened: u64,
}

impl Summary {
    fn add(&mut self, interval: &Interval) {
        self.elapsed_s = interval.start_s + interval.length_s;
        self.tally.merge(&interval.tally);
        self.service.merge(&interval.service);
        self.bytes += interval.bytes;
        self.client_cpu_s += interval.client_cpu_s;
    }
}

/// Why a load could not be made. A server that fails is no such error: its failures are counted.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The load asks nothing.
    #[error("a load needs at least one request, one connection, one thread and a time limit above zero")]
    Nothing,
    /// This process may not open so many connections.
    #[error("{wanted} file descriptors are needed, the hard limit is {limit}: raise it (ulimit -Hn)")]
    Descriptors {
        /// Descriptors needed.
        wanted: u64,
        /// Descriptors allowed.
        limit: u64,
    },
    /// The system refused.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

impl LoadError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(Errno) -> Self {
        move |error| Self::System { doing, source: error.into() }
    }
}

/// What a thread tells: an interval, or that it has finished.
type Told = (usize, Option<Interval>);

/// Makes the load, and returns when it is over.
///
/// `observer` is called on this thread about once a second with each interval, when it is over; together they are
/// the summary. It should not take longer than that: intervals wait for it in memory. `stop` is looked at ten
/// times a second or more; it and [`Flow::Stop`] end the load early, which is no error.
pub fn run(load: &Load, stop: &AtomicBool, observer: &mut dyn FnMut(Interval) -> Flow) -> Result<Summary, LoadError> {
    if load.asks.is_empty() || load.connections == 0 || load.threads == 0 || load.time_limit.is_zero() {
        return Err(LoadError::Nothing);
    }
    let threads = load.threads.min(load.connections as usize);
    allow_descriptors(u64::from(load.connections) + threads as u64 + SPARE_DESCRIPTORS)?;

    let halt = AtomicBool::new(false);
    let began = Instant::now();
    let job = |index: usize| {
        let (parts, part) = (threads as u64, index as u64);
        Job {
            target: &load.target,
            asks: &load.asks,
            first_ask: index,
            connections: share(load.connections.into(), parts, part) as usize,
            arrivals: ClosedLoop { stop: load.stop }.share(parts, part),
            time_limit: load.time_limit,
            began,
            stops: [stop, &halt],
        }
    };
    let mut summary = Summary::default();
    thread::scope(|scope| {
        // However this closure is left, the threads that it waits for end too.
        let halting = HaltOnDrop(&halt);
        let (sender, receiver) = mpsc::channel();
        let mut workers = Vec::with_capacity(threads);
        for index in 0..threads {
            let (sender, job, halt) = (sender.clone(), job(index), &halt);
            let worker = thread::Builder::new()
                .name(format!("load-{index}"))
                .spawn_scoped(scope, move || work(index, job, &sender, halt))
                .map_err(|source| LoadError::System { doing: "start a thread", source })?;
            workers.push(worker);
        }
        drop(sender);
        observe(&receiver, threads, &mut summary, observer);
        drop(halting);
        for worker in workers {
            summary.connections_opened += worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(())
    })?;
    Ok(summary)
}

/// Ends the load when it goes out of scope.
struct HaltOnDrop<'a>(&'a AtomicBool);

impl Drop for HaltOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One thread's whole work. Its failing ends the load of all.
fn work(index: usize, job: Job<'_>, sender: &mpsc::Sender<Told>, halt: &AtomicBool) -> Result<u64, LoadError> {
    // The receiver is gone once an observer has stopped the load: nothing is lost that would count.
    let opened = engine::work(job, |interval| drop(sender.send((index, Some(interval)))));
    if opened.is_err() {
        halt.store(true, Ordering::Relaxed);
    }
    let _ = sender.send((index, None));
    opened
}

/// Merges what the threads tell and passes it on, until all have finished or the observer has seen enough.
fn observe(
    receiver: &mpsc::Receiver<Told>,
    threads: usize,
    summary: &mut Summary,
    observer: &mut dyn FnMut(Interval) -> Flow,
) {
    let mut merge = Merge::new(threads);
    for (thread, told) in receiver {
        match told {
            Some(interval) => merge.add(thread, interval),
            None => merge.finished(thread),
        }
        while let Some(interval) = merge.next() {
            summary.add(&interval);
            if observer(interval) == Flow::Stop {
                return;
            }
        }
    }
}

/// Raises this process's soft limit of file descriptors to the hard one if `wanted` demands it.
fn allow_descriptors(wanted: u64) -> Result<(), LoadError> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_none_or(|current| wanted <= current) {
        return Ok(());
    }
    if let Some(limit) = maximum
        && wanted > limit
    {
        return Err(LoadError::Descriptors { wanted, limit });
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .map_err(LoadError::system("raise the limit of file descriptors"))
}
