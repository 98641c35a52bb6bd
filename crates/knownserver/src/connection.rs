//! One client's connection: reads requests, does what the script says about each, counts it.

use crate::behaviour::{self, Action, Answer, Arrival};
use crate::receive::{self, Receiver};
use crate::record::{Label, Outcome, RECORD_PATH, Tally};
use crate::render::{self, Framing, Message, Peer};
use crate::request::{self, Parsed};
use crate::script::{Body, Echo, Fault, Route, Varying};
use crate::shared::Shared;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::SendFlags;
use rustix::time::{ClockId, clock_gettime};
use std::borrow::Cow;
use std::hint::black_box;
use std::sync::MutexGuard;
use std::time::{Duration, Instant, SystemTime};

/// Longest request, in bytes.
const MAX_REQUEST: usize = 64 << 20;
/// What a server that has lost its mind says.
const GARBAGE: &[u8] = b"\x15\x03\x01\x00\x02\x02\x28 this is not HTTP\r\n\r\n";

/// One event loop's view of the server.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) shared: &'a Shared,
    /// Which loop, hence which tally.
    pub(crate) worker: usize,
}

impl<'a> Context<'a> {
    fn tally(&self) -> MutexGuard<'a, Tally> {
        self.shared.tally(self.worker)
    }
}

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// An event on its socket.
    Event,
    /// This instant.
    At(Instant),
    /// Nothing any more: it is to be closed.
    Close,
}

/// One client's connection.
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    state: State,
    input: Vec<u8>,
    /// When the last byte of it came, by [`receive::now`]'s clock.
    came_at: Duration,
    output: Output,
    /// The client has said that it sends no more.
    peer_done: bool,
}

enum State {
    Reading,
    /// The answer is due at a time.
    Delayed(Job),
    /// The answer is on its way.
    Sending(Outgoing),
    /// The next drip is due at a time.
    Resting(Outgoing),
    /// There will be no answer.
    Silent,
}

/// What has not gone out yet.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    sent: usize,
    /// How much may be sent by now.
    allowed: usize,
}

/// A request that has been received, and what is to be answered.
struct Job {
    answer: Answer,
    label: Label,
    arrival: Arrival,
    /// When its last byte came.
    came_at: Duration,
    peer: Peer,
    head_only: bool,
    /// What an echoing route sends back.
    echo: Vec<u8>,
}

/// What is to happen once the answer is out.
struct Outgoing {
    /// How it is counted; the record itself is not.
    counted: Option<Counted>,
    /// Number of the request.
    number: u64,
    close: bool,
    drip: Option<Drip>,
}

struct Counted {
    label: Label,
    outcome: Outcome,
    /// When the request's last byte came.
    came_at: Duration,
}

#[derive(Clone, Copy)]
struct Drip {
    bytes: usize,
    every: Duration,
}

impl Job {
    fn counted(&self, outcome: Outcome) -> Counted {
        Counted { label: self.label.clone(), outcome, came_at: self.came_at }
    }
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self {
            socket,
            state: State::Reading,
            input: Vec::new(),
            came_at: Duration::ZERO,
            output: Output::default(),
            peer_done: false,
        }
    }

    /// Reads what there is. `ending`: the client's last byte is among it, so the end has to be read, too
    /// (otherwise a short read says that there is no more for now, and saves a system call).
    pub(crate) fn read(&mut self, receiver: &mut Receiver, ending: bool) -> Result<(), Errno> {
        while !self.peer_done {
            match receiver.receive(&self.socket) {
                Ok(part) => {
                    self.peer_done = part.bytes.is_empty();
                    self.input.extend_from_slice(part.bytes);
                    self.came_at = part.came_at;
                    if !part.full && !ending {
                        break;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Goes on as far as possible after an event on the socket.
    pub(crate) fn advance(&mut self, context: Context<'_>) -> Next {
        loop {
            let stop = match self.state {
                State::Reading => self.next_request(context),
                State::Sending(_) => self.flush(context),
                State::Silent if self.peer_done => Some(Next::Close),
                State::Delayed(_) | State::Resting(_) | State::Silent => Some(Next::Event),
            };
            if let Some(next) = stop {
                return next;
            }
        }
    }

    /// Goes on when the instant that was waited for has come.
    pub(crate) fn due(&mut self, context: Context<'_>) -> Next {
        let stop = match std::mem::replace(&mut self.state, State::Reading) {
            State::Delayed(job) => self.answer(context, &job),
            State::Resting(outgoing) => {
                let more = outgoing.drip.map_or(usize::MAX, |drip| drip.bytes);
                self.output.allowed = self.output.allowed.saturating_add(more).min(self.output.bytes.len());
                self.state = State::Sending(outgoing);
                None
            }
            other => {
                self.state = other;
                None
            }
        };
        stop.unwrap_or_else(|| self.advance(context))
    }

    /// `None`: go on in the new state.
    fn next_request(&mut self, context: Context<'_>) -> Option<Next> {
        if self.input.is_empty() {
            return Some(if self.peer_done { Next::Close } else { Next::Event });
        }
        let request = match request::parse(&self.input) {
            Parsed::Complete(request) => request,
            Parsed::Incomplete if self.peer_done || self.input.len() > MAX_REQUEST => return Some(Next::Close),
            Parsed::Incomplete => return Some(Next::Event),
            Parsed::Malformed => return self.refuse(context),
        };
        let length = request.length;
        if request.path == RECORD_PATH {
            let (peer, head_only) = (request.peer, request.head_only);
            self.consume(length);
            let body = serde_json::to_vec_pretty(&context.shared.record()).unwrap_or_default();
            return self.send(
                context,
                visible(&render::json(&body, peer), head_only),
                Outgoing { counted: None, number: 0, close: !peer.keep, drip: None },
            );
        }

        let shared = context.shared;
        let route = behaviour::route_of(&shared.script.routes, request.path);
        let arrival = shared.arrival(route);
        let label = route.map_or_else(|| Label::Unmatched(request.path.to_owned()), Label::Route);
        context.tally().received(&label);
        let Action { cpu, delay, answer } = behaviour::decide(&shared.script, request.path, route, &arrival);
        let echo = match route.map(|index| &shared.script.routes[index].body) {
            Some(Body::Echo(Echo::Request)) => self.input[..length].to_vec(),
            Some(Body::Echo(Echo::Body)) => self.input[request.body_at..length].to_vec(),
            _ => Vec::new(),
        };
        let (peer, head_only) = (request.peer, request.head_only);
        let job = Job { answer, label, arrival, came_at: self.came_at, peer, head_only, echo };
        self.consume(length);

        if shared.is_past_the_end(arrival.number) {
            self.state = State::Silent;
            return None;
        }
        shared.leave_behind(route, &job.arrival);
        if !cpu.is_zero() {
            let spent = burn(cpu.mul_f64(shared.launch_factor));
            context.tally().burnt(&job.label, spent);
        }
        if delay.is_zero() {
            return self.answer(context, &job);
        }
        let Some(done) = shared.admit(route, delay.mul_f64(shared.launch_factor)) else {
            return self.answer(context, &Job { answer: Answer::Busy, ..job });
        };
        self.state = State::Delayed(job);
        Some(Next::At(done))
    }

    fn refuse(&mut self, context: Context<'_>) -> Option<Next> {
        context.tally().malformed += 1;
        let peer = Peer { http10: false, keep: false };
        let message = render::plain(400, "this is not a request\n", peer);
        self.send(context, &message.bytes, Outgoing { counted: None, number: 0, close: true, drip: None })
    }

    fn consume(&mut self, length: usize) {
        if length == self.input.len() {
            self.input.clear();
        } else {
            self.input.drain(..length);
        }
    }

    fn answer(&mut self, context: Context<'_>, job: &Job) -> Option<Next> {
        let script = &context.shared.script;
        let (status, message) = match job.answer {
            Answer::NotReady => (503, Cow::Owned(render::plain(503, "not ready\n", job.peer))),
            Answer::Busy => (503, Cow::Owned(render::plain(503, "busy\n", job.peer))),
            Answer::NotFound => (404, Cow::Owned(render::plain(404, "not found\n", job.peer))),
            Answer::Error(index) => {
                (script.errors[index].status, Cow::Borrowed(context.shared.errors[index].for_peer(job.peer)))
            }
            Answer::Route(index) => (script.routes[index].status, route_message(context.shared, index, job)),
            Answer::Fault(index, fault) => return self.spoil(context, index, fault, job),
        };
        let counted = Some(job.counted(Outcome::Answered(status)));
        let outgoing = Outgoing { counted, number: job.arrival.number, close: !job.peer.keep, drip: None };
        self.send(context, visible(&message, job.head_only), outgoing)
    }

    fn spoil(&mut self, context: Context<'_>, index: usize, fault: Fault, job: &Job) -> Option<Next> {
        let route = &context.shared.script.routes[index];
        let mut message = route_message(context.shared, index, job);
        let mut outgoing = Outgoing {
            counted: Some(job.counted(Outcome::Spoilt)),
            number: job.arrival.number,
            close: true,
            drip: None,
        };
        match fault {
            Fault::Close => return self.send(context, b"", outgoing),
            Fault::Garbage => return self.send(context, GARBAGE, outgoing),
            Fault::NeverAnswer => {
                context.tally().ended(&job.label, Outcome::Spoilt);
                self.state = State::Silent;
                return None;
            }
            Fault::CloseMidBody => {
                let half = message.head + (message.bytes.len() - message.head) / 2;
                message.to_mut().bytes.truncate(half);
            }
            Fault::WrongContentLength(by) => {
                let body = body_of(route, job);
                let declared = body.len().saturating_add_signed(by);
                let framing = Framing::Length(declared);
                message = Cow::Owned(render::route_message_framed(route, &body, framing, job.peer));
                outgoing.close = by > 0 || !job.peer.keep;
            }
            Fault::SlowDrip { bytes, every } => {
                outgoing.counted = Some(job.counted(Outcome::Answered(route.status)));
                outgoing.close = !job.peer.keep;
                outgoing.drip = Some(Drip { bytes, every });
                let bytes = visible(&message, job.head_only).to_vec();
                self.output = Output { allowed: message.head, sent: 0, bytes };
                self.state = State::Sending(outgoing);
                return None;
            }
        }
        self.send(context, visible(&message, job.head_only), outgoing)
    }

    /// Sends straight from `bytes` and keeps only what the socket does not take.
    fn send(&mut self, context: Context<'_>, bytes: &[u8], outgoing: Outgoing) -> Option<Next> {
        // Whoever has seen the answer must find it counted: the tally is held until it is.
        let tally = context.tally();
        let Ok(sent) = self.transmit(bytes) else { return Some(Next::Close) };
        if sent == bytes.len() {
            return self.finish(context, tally, outgoing);
        }
        self.output = Output { bytes: bytes[sent..].to_vec(), sent: 0, allowed: bytes.len() - sent };
        self.state = State::Sending(outgoing);
        Some(Next::Event)
    }

    /// Sends more of what was kept.
    fn flush(&mut self, context: Context<'_>) -> Option<Next> {
        let State::Sending(outgoing) = std::mem::replace(&mut self.state, State::Reading) else { return None };
        let tally = context.tally();
        match self.transmit(&self.output.bytes[self.output.sent..self.output.allowed]) {
            Ok(sent) => self.output.sent += sent,
            Err(_) => return Some(Next::Close),
        }
        if self.output.sent == self.output.bytes.len() {
            return self.finish(context, tally, outgoing);
        }
        match outgoing.drip {
            Some(drip) if self.output.sent == self.output.allowed => {
                self.state = State::Resting(outgoing);
                Some(Next::At(Instant::now() + drip.every))
            }
            _ => {
                self.state = State::Sending(outgoing);
                Some(Next::Event)
            }
        }
    }

    /// How many bytes the socket took; fewer than all: it is full.
    fn transmit(&self, bytes: &[u8]) -> Result<usize, Errno> {
        let mut sent = 0;
        while sent < bytes.len() {
            match rustix::net::send(&self.socket, &bytes[sent..], SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }

    fn finish(&mut self, context: Context<'_>, mut tally: MutexGuard<'_, Tally>, outgoing: Outgoing) -> Option<Next> {
        if let Some(Counted { label, outcome, came_at }) = outgoing.counted {
            tally.ended(&label, outcome);
            if matches!(outcome, Outcome::Answered(_)) {
                tally.took(receive::now().saturating_sub(came_at));
            }
        }
        drop(tally);
        context.shared.answered(outgoing.number);
        self.state = State::Reading;
        outgoing.close.then_some(Next::Close)
    }
}

fn visible(message: &Message, head_only: bool) -> &[u8] {
    if head_only { &message.bytes[..message.head] } else { &message.bytes }
}

fn route_message<'a>(shared: &'a Shared, index: usize, job: &Job) -> Cow<'a, Message> {
    if let Some(prepared) = &shared.routes[index].prepared {
        return Cow::Borrowed(prepared.for_peer(job.peer));
    }
    let route = &shared.script.routes[index];
    Cow::Owned(render::route_message(route, &body_of(route, job), job.peer))
}

fn body_of<'a>(route: &'a Route, job: &'a Job) -> Cow<'a, [u8]> {
    let mut body = match &route.body {
        Body::Text(text) => Cow::Borrowed(text.as_bytes()),
        Body::Size(size) => Cow::Owned(render::filler(*size)),
        Body::Echo(_) => Cow::Borrowed(job.echo.as_slice()),
    };
    let varying = match route.varying {
        None => return body,
        Some(Varying::Counter) => u128::from(job.arrival.on_route),
        Some(Varying::Timestamp) => {
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis())
        }
    };
    body.to_mut().extend_from_slice(varying.to_string().as_bytes());
    body
}

/// Keeps this thread's CPU busy for `cost`; returns what its CPU clock counted.
fn burn(cost: Duration) -> Duration {
    /// Additions between two looks at the clock: some 0.1 µs.
    const SLICE: u64 = 100;
    let begin = thread_cpu_time();
    loop {
        for number in 0..SLICE {
            black_box(number);
        }
        let spent = thread_cpu_time().saturating_sub(begin);
        if spent >= cost {
            return spent;
        }
    }
}

fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
