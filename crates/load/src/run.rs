//! A load: its threads, and what they saw together.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use model::load::AddressUse;
use model::sample::OpenLoop;
use model::{Arrivals, Backend, Histogram, Sample, Tally, Walked};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::arrivals::{Source, Stop, share};
use crate::backend::{self, Ready};
use crate::engine::{self, Finished, Job};
use crate::error::LoadError;
use crate::merge::Merge;
use crate::request::PreparedRequest;
use crate::scenario::{self, Script, TornDown, Walks};
use crate::schedule::is_sound;
use crate::target::{Address, Target};
use crate::turns::{Flow, Slices, ThreadMessage, Throughout, Turns};
use crate::work::{InTurn, Work};

/// File descriptors left to the rest of the program.
const SPARE_DESCRIPTORS: u64 = 128;

/// What is asked of a server, and when.
///
/// How requests are counted:
/// - Service time goes from the request's first byte written to the answer's last byte received, in µs. Making a
///   connection, TLS's handshake included, is no part of it. Only good answers have one.
/// - Response time, which an open loop has, goes from the moment at which the request was meant to be sent. So the
///   wait for a connection, and the making of one, are part of it. Only good answers have one.
/// - An answer of the wrong status or length is a failure; its connection goes on if its framing allows.
/// - A connection that closes before an answer is complete is a failure, even if no byte of the answer came: it
///   is never tried again in silence. A connection closed at the end of an answer is no failure.
/// - Each new connection goes to the next of the target's addresses, and makes a full handshake where TLS is spoken.
/// - After a failure without an answer, a user waits before connecting again: 1 ms, doubled up to 100 ms.
/// - Requests in flight when the load is over are abandoned and in no tally but [`Summary::abandoned`], except under
///   [`Stop::Count`], which waits for all of them. So each request that a server saw is one with a status in the
///   tally, or abandoned, or a failure without an answer. Their connections are closed like all others. In an open
///   loop they are unanswered, as is all that was due and never sent.
/// - Where the number of users falls, those who go finish what they have begun (a request, or an iteration of a scenario);
///   their connections stay open, for whoever comes next.
/// - An open loop opens a connection when something is due and none is free, up to the number allowed. Of several
///   threads each has its share of the connections and of what is due.
#[derive(Debug, Clone)]
pub struct Load {
    /// Where requests go.
    pub target: Target,
    /// What is asked.
    pub source: RequestSource,
    /// Connections kept open, and so the most requests in flight.
    pub connections: u32,
    /// What makes requests start.
    pub arrivals: Arrivals,
    /// Seed of what is drawn: think times and Poisson arrivals. Equal seeds give equal draws.
    pub seed: u64,
    /// When the load is over.
    pub stop: Stop,
    /// Threads among which the connections are divided.
    pub threads: usize,
    /// Longest time for a connection to be made, and again for a request to be answered.
    pub time_limit: Duration,
    /// Whether the kernel is asked when answers came, so that the client's own waking up is no part of their times.
    /// Where it does not say, they end when the client has read them.
    pub kernel_time: bool,
    /// How bytes are moved; `None` is by `io_uring`, where there is none for a thread by epoll.
    pub backend: Option<Backend>,
}

/// What a load asks.
#[derive(Debug, Clone)]
pub enum RequestSource {
    /// These requests in turn, one after another.
    Requests(Vec<PreparedRequest>),
    /// Scenarios: each connection is a user, who walks through them iteration by iteration. Of several scripts each
    /// user takes one after another in turn, as another user of each.
    ///
    /// - What starts, is due, and is counted by [`Stop::Count`] is iterations. Response time is that of their first
    ///   requests.
    /// - All users set up before the load begins, and tear down when it is over, on connections of their own. That is in
    ///   no tally and no time. Users of a new load are new.
    /// - A step that fails ends its iteration; the steps after it are counted as skipped.
    /// - Between steps the connection is kept if the server allows; a user keeps its cookies and variables.
    Scenarios(Vec<Script>),
}

impl RequestSource {
    fn len(&self) -> usize {
        match self {
            Self::Requests(requests) => requests.len(),
            Self::Scenarios(scripts) => scripts.len(),
        }
    }
}

impl From<Vec<PreparedRequest>> for RequestSource {
    fn from(requests: Vec<PreparedRequest>) -> Self {
        Self::Requests(requests)
    }
}

impl From<Vec<Script>> for RequestSource {
    fn from(scripts: Vec<Script>) -> Self {
        Self::Scenarios(scripts)
    }
}

impl Load {
    /// A closed loop over one connection, without time to think, by one thread, with a limit of 30 s.
    pub fn new(target: Target, source: impl Into<RequestSource>, stop: Stop) -> Self {
        Self {
            target,
            source: source.into(),
            connections: 1,
            arrivals: Arrivals::default(),
            seed: 1,
            stop,
            threads: 1,
            time_limit: Duration::from_secs(30),
            kernel_time: true,
            backend: None,
        }
    }

    /// How many of its threads have a connection, and so something to do.
    pub fn used_threads(&self) -> usize {
        self.threads.min(self.connections as usize)
    }
}

/// All samples of a load together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Length of the load, seconds.
    pub elapsed_s: f64,
    /// How requests ended.
    pub tally: Tally,
    /// Service time of good answers.
    pub service: Histogram,
    /// What an open loop adds, its backlog being that of the end; absent in a closed loop.
    pub open: Option<OpenLoop>,
    /// What scenarios add; absent without them.
    pub walked: Option<Walked>,
    /// Users whose tear-down failed, or had no time left.
    pub teardowns_failed: u64,
    /// Why the first of them did.
    pub teardown_failure: Option<String>,
    /// Bytes received, heads included.
    pub bytes: u64,
    /// CPU time of the load's own threads, seconds.
    pub client_cpu_s: f64,
    /// Requests that were sent, in whole or in part, and are in no tally: in flight when the load was over, or ended
    /// after its observer had seen enough.
    pub abandoned: u64,
    /// The target's addresses, and how much of the load each had.
    pub addresses: Vec<AddressUse>,
    /// Connections that were made; more than asked for when some had to be replaced.
    pub connections_opened: u64,
    /// Whether the kernel reported when answers came ([`Load::kernel_time`]).
    pub kernel_time: bool,
    /// How bytes were moved: by epoll where any thread had to.
    pub backend: Backend,
}

impl Summary {
    /// Requests, or iterations of scenarios, that were due in an open loop and had not ended, well or not, when the load was over.
    pub fn unanswered(&self) -> u64 {
        let ended = self.walked.as_ref().map_or(self.tally.ended(), Walked::ended);
        self.open.as_ref().map_or(0, |open| open.due - ended)
    }

    fn add(&mut self, sample: &Sample) {
        self.elapsed_s = sample.start_s + sample.length_s;
        self.tally.merge(&sample.tally);
        self.service.merge(&sample.service);
        if let Some(walked) = &sample.walked {
            self.walked.get_or_insert_default().merge(walked);
        }
        if let (Some(sum), Some(open)) = (&mut self.open, &sample.open) {
            sum.append(open);
        }
        self.bytes += sample.bytes;
        self.client_cpu_s += sample.client_cpu_s;
    }
}

/// Makes the load, and returns when it is over.
///
/// `observer` is called on this thread about once a second with each sample, when it is over; together they are
/// the summary. It should not take longer than that: samples wait for it in memory. `stop` is looked at ten
/// times a second or more; it and [`Flow::Stop`] end the load early, which is no error.
pub fn run(load: &Load, stop: &AtomicBool, observer: &mut dyn FnMut(Sample) -> Flow) -> Result<Summary, LoadError> {
    run_from(load, stop, &mut || (), observer)
}

/// The same; `begin` is called once, on this thread, when the users have set up and nothing of the load is asked yet: from then on
/// goes what the first sample is about. The users wait for it.
pub fn run_from(
    load: &Load,
    stop: &AtomicBool,
    begin: &mut dyn FnMut(),
    observer: &mut dyn FnMut(Sample) -> Flow,
) -> Result<Summary, LoadError> {
    make(load, load.used_threads(), stop, &mut Throughout { begin, observer })
}

/// Makes a load in slices, by one thread: `turns` says when each begins and how long it is, and sees what comes of it. Users set up
/// before it is asked for the first slice, and tear down when it has said that there are no more.
///
/// [`Load::stop`] should be [`Stop::External`]: its time is that of the slices alone.
///
/// # Errors
///
/// As [`run`].
pub fn run_in_turns(load: &Load, stop: &AtomicBool, turns: &mut dyn Turns) -> Result<Summary, LoadError> {
    make(load, 1, stop, turns)
}

fn make(load: &Load, threads: usize, stop: &AtomicBool, turns: &mut dyn Turns) -> Result<Summary, LoadError> {
    let numbers = [load.source.len(), load.target.addresses.len(), load.connections as usize, load.threads];
    if numbers.contains(&0) || load.time_limit.is_zero() {
        return Err(LoadError::Nothing);
    }
    if let Arrivals::Open(profile) = &load.arrivals
        && !is_sound(profile)
    {
        return Err(LoadError::Rates);
    }
    allow_connections(load.connections, threads)?;
    if load.backend.is_some() {
        // A backend that is named and does not work fails before anything is asked of the server.
        backend::set_up(load.backend, 1, load.kernel_time)?;
    }
    match &load.source {
        RequestSource::Requests(requests) => {
            let mut works: Vec<_> = (0..threads).map(|first| InTurn { requests, first }).collect();
            spread(load, &[], &mut works, stop, turns)
        }
        RequestSource::Scenarios(scripts) => walk(load, scripts, threads, stop, turns),
    }
}

/// Has users set up, walk through scenarios, and tear down.
fn walk(
    load: &Load,
    scripts: &[Script],
    threads: usize,
    stop: &AtomicBool,
    turns: &mut dyn Turns,
) -> Result<Summary, LoadError> {
    let mut visitors = scenario::visitors(scripts, load.connections as usize, load.seed)?;
    let set_up = scenario::set_up(scripts, &mut visitors, &load.target, load.time_limit, stop);
    let summary = set_up.and_then(|()| {
        let mut left = visitors.as_mut_slice();
        let mut works = Vec::with_capacity(threads);
        for index in 0..threads {
            let users = share(load.connections.into(), threads as u64, index as u64);
            if let Some(own) = left.split_off_mut(..users as usize) {
                works.push(Walks::new(scripts, &load.target, own));
            }
        }
        spread(load, &scenario::step_names(scripts), &mut works, stop, turns)
    });
    let TornDown { failed, first } = scenario::tear_down(scripts, &mut visitors, &load.target, load.time_limit);
    Ok(Summary { teardowns_failed: failed, teardown_failure: first, ..summary? })
}

/// Divides a load among threads, one for each of `works`, and returns when it is over.
fn spread<W: Work + Send>(
    load: &Load,
    steps: &[String],
    works: &mut [W],
    stop: &AtomicBool,
    turns: &mut dyn Turns,
) -> Result<Summary, LoadError> {
    let threads = works.len();
    let Some(first) = turns.next(None) else { return Ok(Summary::default()) };
    let halt = AtomicBool::new(false);
    let began = Instant::now();
    let job = |index: usize| {
        let (parts, part) = (threads as u64, index as u64);
        Job {
            target: &load.target,
            steps,
            first: index,
            connections: share(load.connections.into(), parts, part) as usize,
            arrivals: Source::share(&load.arrivals, load.stop, load.seed, parts, part),
            time_limit: load.time_limit,
            began,
            stops: [stop, &halt],
            slices: None,
        }
    };
    let open = load.arrivals.is_open().then(OpenLoop::default);
    let unused = |address: &Address| AddressUse { address: address.to_string(), opened: 0, ended: 0 };
    let addresses = load.target.addresses.iter().map(unused).collect();
    let mut summary = Summary { open, addresses, backend: Backend::IoUring, ..Summary::default() };
    thread::scope(|scope| {
        // However this closure is left, the threads that it waits for end too.
        let halting = HaltOnDrop(&halt);
        let (sender, receiver) = mpsc::channel();
        let (next_slice, slices) = mpsc::channel();
        let mut slices = (first < Duration::MAX).then(|| Slices::new(first, sender.clone(), slices));
        let mut workers = Vec::with_capacity(threads);
        for (index, own) in works.iter_mut().enumerate() {
            let job = Job { slices: slices.take(), ..job(index) };
            let (sender, halt) = (sender.clone(), &halt);
            let worker = thread::Builder::new()
                .name(format!("load-{index}"))
                .spawn_scoped(scope, move || work(index, load, job, own, &sender, halt))
                .map_err(|source| LoadError::System { doing: "start a thread", source })?;
            workers.push(worker);
        }
        drop(sender);
        let merge = observe(&receiver, &next_slice, threads, &mut summary, turns);
        drop((halting, next_slice));
        for worker in workers {
            let finished = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            summary.kernel_time |= finished.kernel_time;
            if finished.backend == Backend::Epoll {
                summary.backend = Backend::Epoll;
            }
            summary.abandoned += finished.abandoned;
            for (sum, had) in summary.addresses.iter_mut().zip(finished.addresses) {
                sum.opened += had.opened;
                sum.ended += had.ended;
                summary.connections_opened += had.opened;
            }
        }
        summary.abandoned += unseen(&receiver, merge);
        Ok::<_, LoadError>(())
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
fn work<W: Work>(
    index: usize,
    load: &Load,
    job: Job<'_>,
    own: &mut W,
    sender: &mpsc::Sender<ThreadMessage>,
    halt: &AtomicBool,
) -> Result<Finished, LoadError> {
    // The receiver is gone only if the observer has panicked.
    let emit = |sample| drop(sender.send(ThreadMessage::Sample(index, sample)));
    let finished = match backend::set_up(load.backend, job.connections, load.kernel_time) {
        Ok(Ready::Epoll(epoll)) => engine::run(job, epoll, own, emit),
        Ok(Ready::Uring(uring)) => engine::run(job, *uring, own, emit),
        Err(error) => Err(error),
    };
    if finished.is_err() {
        halt.store(true, Ordering::Relaxed);
    }
    let _ = sender.send(ThreadMessage::Finished(index));
    finished
}

/// Merges what the threads report and passes it on, until all have finished or the observer has seen enough. What that
/// one has not seen is left in what is returned.
fn observe(
    receiver: &mpsc::Receiver<ThreadMessage>,
    next_slice: &mpsc::Sender<Option<Duration>>,
    threads: usize,
    summary: &mut Summary,
    turns: &mut dyn Turns,
) -> Merge {
    let mut merge = Merge::new(threads);
    for message in receiver {
        match message {
            ThreadMessage::Sample(thread, sample) => merge.add(thread, sample),
            ThreadMessage::Finished(thread) => merge.finished(thread),
            // The thread has gone only if it failed.
            ThreadMessage::SliceEnded(end) => drop(next_slice.send(turns.next(Some(end)))),
        }
        while let Some(sample) = merge.next() {
            summary.add(&sample);
            if turns.observe(sample) == Flow::Stop {
                return merge;
            }
        }
    }
    merge
}

/// Requests that were sent and ended in samples that no observer saw.
fn unseen(receiver: &mpsc::Receiver<ThreadMessage>, merge: Merge) -> u64 {
    let message = receiver.try_iter().filter_map(|message| match message {
        ThreadMessage::Sample(_, sample) => Some(sample),
        ThreadMessage::SliceEnded(_) | ThreadMessage::Finished(_) => None,
    });
    let sent = |sample: Sample| {
        let Tally { good, failures, .. } = sample.tally;
        let failed = failures.iter().filter(|(failure, _)| failure.was_sent());
        good + failed.map(|(_, count)| count).sum::<u64>()
    };
    message.chain(merge.into_rest()).map(sent).sum()
}

/// Raises this process's soft limit of file descriptors to the hard one if so many connections of so many threads demand it.
/// Every load does so itself; whoever starts programs that are to be alike before and after does it earlier, since they inherit
/// the limit.
///
/// # Errors
///
/// [`LoadError::Descriptors`] when the hard limit is too low, [`LoadError::System`] when it cannot be raised.
pub fn allow_connections(connections: u32, threads: usize) -> Result<(), LoadError> {
    let wanted = u64::from(connections) + threads as u64 + SPARE_DESCRIPTORS;
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
