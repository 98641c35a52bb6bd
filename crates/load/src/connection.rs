//! One connection's life, request after request, without any I/O: the engine moves the bytes and asks here
//! what they mean, whichever way of the kernel's it moves them.

use std::time::Duration;

use model::{Failure, Malformed};

use crate::content::{BufferedBody, Decoded};
use crate::request::PreparedRequest;
use crate::response::{Answered, Framer, Ignore, Sink};
use crate::target::Target;
use crate::wire::{Wire, WireError};

/// Waits before connecting again after a failure: doubled with each failure in a row between these two.
const SHORTEST_BACK_OFF: Duration = Duration::from_millis(1);
const LONGEST_BACK_OFF: Duration = Duration::from_millis(100);

/// What a connection is doing. Times count from the start of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing.
    Idle,
    /// Waiting until it may connect again, or until its user has thought.
    Waiting,
    /// Being made, until the two sides have agreed on TLS where it is spoken; fails at the deadline.
    Connecting { deadline: Duration },
    /// Between the first byte of a request and the last of its answer; fails at the deadline.
    InFlight { deadline: Duration },
}

/// A request as a connection has it in hand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Task {
    /// Index of the request.
    pub request: usize,
    /// When it was meant to be sent, in an open loop.
    pub intended: Option<Duration>,
}

/// How long a request took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestTimes {
    /// Since its first byte was sent.
    pub service: Duration,
    /// Since it was meant to be sent, in an open loop.
    pub response: Option<Duration>,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestEnd {
    /// The answer, where one was complete.
    pub answered: Option<Answered>,
    /// What it was worth.
    pub judged: Result<(), Failure>,
    /// What was wrong with its bytes, where that is why it failed.
    pub malformed: Option<Malformed>,
    /// Whether the connection can take another request, as far as the answer goes.
    pub reusable: bool,
}

impl From<Failure> for RequestEnd {
    fn from(failure: Failure) -> Self {
        Self { answered: None, judged: Err(failure), malformed: None, reusable: false }
    }
}

impl From<WireError> for RequestEnd {
    fn from(error: WireError) -> Self {
        let malformed = if let WireError::Malformed(why) = error { Some(why) } else { None };
        Self { malformed, ..error.failure().into() }
    }
}

/// Passes the body to what undoes its coding, and all else to a sink as well.
struct Coded<'a, S>(&'a mut Decoded<BufferedBody>, &'a mut S);

impl<S: Sink> Sink for Coded<'_, S> {
    fn field(&mut self, name: &str, value: &[u8]) {
        self.0.field(name, value);
        self.1.field(name, value);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.0.body(bytes);
    }
}

/// The state of one connection.
#[derive(Debug)]
pub(crate) struct Connection {
    state: State,
    task: Task,
    /// Since when this connection could have taken the request in hand; never, where it was made for it.
    free_since: Duration,
    /// When its first byte was handed to the kernel.
    sent_at: Duration,
    /// Index of the address that it goes to.
    address: usize,
    wire: Wire,
    /// Undoes gzip, from the first byte to the last of an answer to a request that offers it.
    decoded: Option<Decoded<BufferedBody>>,
    failures_in_a_row: u32,
}

impl Connection {
    pub fn new() -> Self {
        Self {
            state: State::Idle,
            task: Task::default(),
            free_since: Duration::MAX,
            sent_at: Duration::ZERO,
            address: 0,
            wire: Wire::Plain(Framer::default()),
            decoded: None,
            failures_in_a_row: 0,
        }
    }

    pub fn state(&self) -> State {
        self.state
    }

    /// The request in hand.
    pub fn task(&self) -> Task {
        self.task
    }

    /// How late the request in hand was sent by the client's own doing: where this connection was free for it when
    /// it was due.
    pub fn send_delay(&self) -> Option<Duration> {
        let intended = self.task.intended.filter(|intended| self.free_since <= *intended)?;
        Some(self.sent_at.saturating_sub(intended))
    }

    /// Index of the address of the connection made last.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Takes a request for which a connection has to be made first, to this address.
    pub fn connect_for(&mut self, task: Task, address: usize, deadline: Duration) {
        self.task = task;
        self.address = address;
        self.free_since = Duration::MAX;
        self.state = State::Connecting { deadline };
        self.decoded = None;
    }

    /// Notes that it has been made, as far as the kernel goes.
    pub fn connected(&mut self, target: &Target) -> Result<(), Failure> {
        self.wire.renew(target).map_err(|error| error.failure())
    }

    /// Takes bytes that came before it was ready.
    pub fn agree(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self.wire.receive(bytes, false, &mut Ignore) {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(Failure::Malformed),
            Err(error) => Err(error.failure()),
        }
    }

    /// Whether a request can be sent.
    pub fn is_ready(&self) -> bool {
        self.wire.is_ready()
    }

    /// Starts a request, whose bytes are then to be sent.
    pub fn start(&mut self, task: Task, now: Duration, deadline: Duration) {
        self.task = task;
        self.sent_at = now;
        self.state = State::InFlight { deadline };
    }

    /// The bytes of `request`, the one in hand, as they are to be sent.
    #[inline]
    pub fn send<'a>(&'a mut self, request: &'a PreparedRequest) -> Result<&'a [u8], Failure> {
        self.wire.send(request).map_err(|error| error.failure())
    }

    /// What is to be sent beside requests, after bytes came.
    #[inline]
    pub fn unsent(&self) -> &[u8] {
        self.wire.unsent()
    }

    /// Takes bytes that came while nothing is asked; says whether the connection can still be used.
    pub fn received_unsolicited(&mut self, bytes: &[u8]) -> bool {
        self.wire.receive_unasked(bytes)
    }

    /// The last bytes to be sent before it is closed.
    pub fn close_bytes(&mut self) -> &[u8] {
        self.wire.close_bytes()
    }

    /// Takes received bytes, whose meaning goes to `sink`, a body that may be in gzip as a whole and without it; says how
    /// the request ended when they end it.
    pub fn received(&mut self, bytes: &[u8], request: &PreparedRequest, sink: &mut impl Sink) -> Option<RequestEnd> {
        let received = if request.takes_gzip() {
            let decoded = self.decoded.get_or_insert_with(|| Decoded::new(BufferedBody::for_sink(sink), true));
            self.wire.receive(bytes, request.is_head(), &mut Coded(decoded, sink))
        } else {
            self.wire.receive(bytes, request.is_head(), sink)
        };
        match received {
            Ok(None) => None,
            Ok(Some(answered)) => Some(self.judge(answered, request, sink)),
            Err(error) => Some(error.into()),
        }
    }

    /// How many of the next bytes need not be seen, if the answer to `request` is to be known by its status and length only.
    #[inline]
    pub fn skippable(&self, request: &PreparedRequest) -> u64 {
        if request.takes_gzip() { 0 } else { self.wire.skippable() }
    }

    /// Takes so many bytes unseen; says how the request ended when they end it.
    pub fn skipped(&mut self, bytes: u64, request: &PreparedRequest) -> Option<RequestEnd> {
        match self.wire.skip(bytes) {
            Ok(answered) => answered.map(|answered| self.judge(answered, request, &mut Ignore)),
            Err(error) => Some(error.into()),
        }
    }

    /// Takes the orderly end of the connection.
    pub fn closed(&mut self, request: &PreparedRequest, sink: &mut impl Sink) -> RequestEnd {
        let closed = match &mut self.decoded {
            Some(decoded) => self.wire.close(&mut Coded(decoded, sink)),
            None => self.wire.close(sink),
        };
        match closed {
            Ok(answered) => self.judge(answered, request, sink),
            Err(error) => error.into(),
        }
    }

    /// Takes the disorderly end of the connection, which completes no answer.
    pub fn broken(&self) -> RequestEnd {
        self.wire.cut().into()
    }

    /// Notes that the request in hand was over at `end`; says how long it took.
    pub fn finish(&mut self, end: Duration) -> RequestTimes {
        // A clock other than ours may have timed the end: it is never before the beginning.
        let end = end.max(self.sent_at);
        self.free_since = end;
        RequestTimes {
            service: end.saturating_sub(self.sent_at),
            response: self.task.intended.map(|intended| end.saturating_sub(intended)),
        }
    }

    /// Has nothing in hand.
    pub fn rest(&mut self) {
        self.state = State::Idle;
    }

    /// Has nothing in hand, and gets nothing before it may go on.
    pub fn wait(&mut self) {
        self.state = State::Waiting;
    }

    /// How long to wait, after a failure without an answer, before another connection is made.
    pub fn back_off(&mut self) -> Duration {
        let wait = SHORTEST_BACK_OFF * 2u32.pow(self.failures_in_a_row.min(10));
        self.failures_in_a_row += 1;
        wait.min(LONGEST_BACK_OFF)
    }

    fn judge(&mut self, answered: Answered, request: &PreparedRequest, sink: &mut impl Sink) -> RequestEnd {
        self.failures_in_a_row = 0;
        let ended = |answered: Answered| RequestEnd {
            answered: Some(answered),
            judged: request.judge(answered.status, answered.body_bytes),
            malformed: None,
            reusable: answered.keep_alive && request.keeps_alive(),
        };
        match self.decoded.take().map(Decoded::finish) {
            None => ended(answered),
            Some((kept, Ok(body_bytes))) => {
                kept.give(sink);
                ended(Answered { body_bytes, ..answered })
            }
            Some((_, Err(why))) => RequestEnd { judged: Err(why.failure()), malformed: Some(why), ..ended(answered) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::LengthRule;
    use model::study::{Expect, Request};

    fn request() -> PreparedRequest {
        let request = Request { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: None };
        let target = Target::from(std::net::SocketAddr::from(([127, 0, 0, 1], 80)));
        PreparedRequest::new(&request, &Expect::default(), &target, LengthRule::Exact(1)).unwrap()
    }

    fn in_flight() -> Connection {
        let mut connection = Connection::new();
        connection.start(Task::default(), Duration::ZERO, Duration::MAX);
        connection
    }

    #[test]
    fn a_wrong_answer_leaves_the_connection_usable() {
        let request = request();
        let ended =
            in_flight().received(b"HTTP/1.1 500 X\r\nContent-Length: 1\r\n\r\nx", &request, &mut Ignore).unwrap();
        assert_eq!((ended.judged, ended.reusable), (Err(Failure::Status), true));
        let ended =
            in_flight().received(b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nxx", &request, &mut Ignore).unwrap();
        assert_eq!((ended.judged, ended.reusable), (Err(Failure::Length), true));
    }

    /// What a sink is given of a body.
    #[derive(Default)]
    struct Given(Vec<Vec<u8>>);

    impl Sink for Given {
        fn field(&mut self, _: &str, _: &[u8]) {}

        fn body(&mut self, bytes: &[u8]) {
            self.0.push(bytes.to_vec());
        }
    }

    #[test]
    fn gzip_is_undone_once_for_length_and_sink() {
        let headers = vec![("Accept-Encoding".into(), "gzip".into())];
        let request = Request { method: "GET".into(), path: "/".into(), headers, body: None };
        let target = Target::from(std::net::SocketAddr::from(([127, 0, 0, 1], 80)));
        let request = PreparedRequest::new(&request, &Expect::default(), &target, LengthRule::Exact(5)).unwrap();
        // `printf hello | gzip -n`
        let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
        let coded = [b"HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n", &hello[..]].concat();
        for bytes in [&coded[..], b"HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nhello"] {
            for size in [1, 7, bytes.len()] {
                let (mut connection, mut given) = (in_flight(), Given::default());
                let mut ended = bytes.chunks(size).map(|piece| connection.received(piece, &request, &mut given));
                let ended = ended.by_ref().last().unwrap().unwrap();
                assert_eq!((ended.judged, ended.answered.unwrap().body_bytes), (Ok(()), 5), "pieces of {size}");
                assert_eq!(given.0, [b"hello"], "pieces of {size}");
            }
        }
        let broken = [&coded[..coded.len() - 1], b"!"].concat();
        let mut given = Given::default();
        let ended = in_flight().received(&broken, &request, &mut given).unwrap();
        assert_eq!((ended.malformed, given.0.len()), (Some(Malformed::Gzip), 0));
    }

    #[test]
    fn the_end_completes_only_what_it_may() {
        let request = request();
        let mut connection = in_flight();
        assert_eq!(connection.received(b"HTTP/1.1 200 X\r\n\r\nx", &request, &mut Ignore), None);
        let cut = |why| RequestEnd::from(WireError::Malformed(why));
        assert_eq!(connection.broken(), cut(Malformed::CutBody));
        assert_eq!(connection.closed(&request, &mut Ignore).judged, Ok(()));
        let mut connection = in_flight();
        assert_eq!(connection.received(b"HTTP/1.1 200 X\r\nContent-Length: 1\r\n\r\n", &request, &mut Ignore), None);
        assert_eq!(connection.closed(&request, &mut Ignore), cut(Malformed::CutBody));
        assert_eq!(in_flight().closed(&request, &mut Ignore), cut(Malformed::NoAnswer));
        assert_eq!(cut(Malformed::NoAnswer).judged, Err(Failure::Closed));
    }

    #[test]
    fn back_off_grows_and_an_answer_ends_it() {
        let request = request();
        let mut connection = in_flight();
        let waits: Vec<u128> = (0..9).map(|_| connection.back_off().as_millis()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 100, 100]);
        connection.received(b"HTTP/1.1 200 X\r\nContent-Length: 1\r\n\r\nx", &request, &mut Ignore);
        assert_eq!(connection.back_off(), SHORTEST_BACK_OFF);
    }

    #[test]
    fn only_a_connection_that_was_free_makes_a_request_late() {
        const MS: Duration = Duration::from_millis(1);
        let due = |ms: u32| Task { request: 0, intended: Some(ms * MS) };
        let mut connection = Connection::new();
        connection.connect_for(due(10), 0, Duration::MAX);
        connection.start(due(10), 12 * MS, Duration::MAX);
        assert_eq!(connection.send_delay(), None);
        assert_eq!(connection.finish(20 * MS), RequestTimes { service: 8 * MS, response: Some(10 * MS) });
        connection.start(due(19), 21 * MS, Duration::MAX);
        assert_eq!(connection.send_delay(), None);
        connection.start(due(20), 21 * MS, Duration::MAX);
        assert_eq!(connection.send_delay(), Some(MS));
        // An end timed by another clock.
        assert_eq!(connection.finish(15 * MS), RequestTimes { service: Duration::ZERO, response: Some(MS) });
        connection.start(Task::default(), 30 * MS, Duration::MAX);
        assert_eq!((connection.send_delay(), connection.finish(33 * MS).response), (None, None));
    }
}
