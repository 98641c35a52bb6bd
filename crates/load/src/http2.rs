//! HTTP/2 (RFC 9113) on one connection, by h2, without any I/O: one request at a time.
//!
//! h2 wants to read and to write a stream. It gets a [`Pipe`]: bytes that were received wait in it to be read, and
//! what is written waits in it to be sent. Nothing ever has to be woken, since h2 is polled whenever bytes came.

use std::cell::RefCell;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::client::{Builder, Connection, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::{HeaderMap, Request};
use model::malformed::LONGEST_HEAD;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::response::{Answered, Sink};

/// Bytes of one answer's body that a server may send unasked. Chrome's, as the next: large enough that a usual answer
/// never waits for this client.
const STREAM_WINDOW: u32 = 6 * 1024 * 1024;
/// Bytes of bodies that a server may send unasked on a connection.
const CONNECTION_WINDOW: u32 = 15 * 1024 * 1024;
/// Where a frame's type is, and the type that is looked for (RFC 9113 §4.1, §6.5).
const TYPE_AT: usize = 3;
const SETTINGS: u8 = 4;

/// Why there is no complete answer.
#[derive(Debug, Error)]
pub enum Http2Error {
    /// What comes is no HTTP/2.
    #[error("the server does not speak HTTP/2: ask without --http2")]
    NotHttp2,
    /// The server took back this one request.
    #[error("the server ended the request's stream (RST_STREAM): {}", .0.description())]
    Reset(Reason),
    /// The server did not touch the request, which may be asked again (RFC 9113 §8.7).
    #[error("the server refused the request's stream (REFUSED_STREAM)")]
    Refused,
    /// The server ends the connection and has not touched the request.
    #[error("the server is ending the connection (GOAWAY): {}", .0.description())]
    GoAway(Reason),
    /// The server broke the rules of the protocol.
    #[error("the answer is not HTTP/2: {0}")]
    Malformed(h2::Error),
    /// The connection ended.
    #[error("the connection closed before the answer was complete")]
    Closed,
}

/// A request as h2 takes it: everything but its body, and that.
#[derive(Debug, Clone)]
pub(crate) struct Http2Request {
    pub request: Request<()>,
    pub body: Bytes,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Http2 {
    pipe: Rc<RefCell<Pipe>>,
    connection: Connection<End, Bytes>,
    requests: SendRequest<Bytes>,
    exchange: Exchange,
    /// Whether the connection is over as far as h2 is concerned.
    over: bool,
    /// How many of the first bytes have come that show whether the server speaks HTTP/2.
    seen: usize,
}

/// How far the request in hand is.
#[derive(Debug)]
enum Exchange {
    Idle,
    /// Its answer's head has not come.
    Sent(ResponseFuture),
    /// Its answer's body is coming.
    Answering {
        status: u16,
        body: RecvStream,
        body_bytes: u64,
    },
}

impl Http2 {
    /// The client's side of a connection, whose preface is then to be sent.
    pub fn new() -> Result<Self, Http2Error> {
        let pipe = Rc::new(RefCell::new(Pipe::default()));
        let mut builder = Builder::new();
        builder
            .enable_push(false)
            .initial_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(LONGEST_HEAD as u32);
        // It writes the preface, for which a pipe is always ready.
        let handshake = pin!(builder.handshake(End(Rc::clone(&pipe))));
        let Poll::Ready(made) = handshake.poll(&mut context()) else { return Err(Http2Error::Closed) };
        let (requests, connection) = made.map_err(Http2Error::Malformed)?;
        Ok(Self { pipe, connection, requests, exchange: Exchange::Idle, over: false, seen: 0 })
    }

    /// Starts a request; the one before has been answered.
    pub fn send(&mut self, request: &Http2Request) -> Result<(), Http2Error> {
        let Http2Request { request, body } = request.clone();
        let (response, mut stream) = self.requests.send_request(request, body.is_empty()).map_err(named)?;
        if !body.is_empty() {
            // All at once: h2 keeps what the server has no window for yet.
            stream.send_data(body, true).map_err(named)?;
        }
        self.exchange = Exchange::Sent(response);
        self.poll_connection();
        Ok(())
    }

    /// Takes received bytes; says what the answer was when they end it.
    pub fn receive(&mut self, bytes: &[u8], sink: &mut impl Sink) -> Result<Option<Answered>, Http2Error> {
        self.recognise(bytes)?;
        self.pipe.borrow_mut().received(bytes);
        let answered = self.go_on(sink);
        // h2 may refuse a frame by its length, which comes before its type.
        if self.seen > TYPE_AT { answered } else { answered.map_err(|_| Http2Error::NotHttp2) }
    }

    /// Takes the end of the connection.
    pub fn close(&mut self, sink: &mut impl Sink) -> Result<Option<Answered>, Http2Error> {
        self.pipe.borrow_mut().closed = true;
        self.go_on(sink)
    }

    /// Adds what is to be sent to `unsent`.
    pub fn take_unsent(&mut self, unsent: &mut Vec<u8>) {
        unsent.append(&mut self.pipe.borrow_mut().unsent);
    }

    /// The first frame has to be SETTINGS (RFC 9113 §3.4), which its fourth byte says (§4.1).
    fn recognise(&mut self, bytes: &[u8]) -> Result<(), Http2Error> {
        if let Some(kind) = TYPE_AT.checked_sub(self.seen).and_then(|at| bytes.get(at))
            && *kind != SETTINGS
        {
            return Err(Http2Error::NotHttp2);
        }
        self.seen = self.seen.saturating_add(bytes.len());
        Ok(())
    }

    fn go_on(&mut self, sink: &mut impl Sink) -> Result<Option<Answered>, Http2Error> {
        self.poll_connection();
        let answered = self.poll_exchange(sink);
        // What has been read of a body makes room for more, which the server learns.
        self.poll_connection();
        answered
    }

    fn poll_connection(&mut self) {
        // Its error goes to the request in hand too, and the next finds it.
        self.over = self.over || Pin::new(&mut self.connection).poll(&mut context()).is_ready();
    }

    fn poll_exchange(&mut self, sink: &mut impl Sink) -> Result<Option<Answered>, Http2Error> {
        loop {
            match &mut self.exchange {
                Exchange::Idle => return Ok(None),
                Exchange::Sent(response) => {
                    let Poll::Ready(head) = Pin::new(response).poll(&mut context()) else { return Ok(None) };
                    let (head, body) = head.map_err(named)?.into_parts();
                    fields(&head.headers, sink);
                    self.exchange = Exchange::Answering { status: head.status.as_u16(), body, body_bytes: 0 };
                }
                Exchange::Answering { status, body, body_bytes } => match body.poll_data(&mut context()) {
                    Poll::Pending => return Ok(None),
                    Poll::Ready(Some(Ok(part))) => {
                        sink.body(&part);
                        *body_bytes += part.len() as u64;
                        // Fails only for more than came.
                        let _ = body.flow_control().release_capacity(part.len());
                    }
                    Poll::Ready(Some(Err(error))) => return Err(named(error)),
                    Poll::Ready(None) => {
                        let answered = Answered { status: *status, body_bytes: *body_bytes, keep_alive: true };
                        self.exchange = Exchange::Idle;
                        return Ok(Some(answered));
                    }
                },
            }
        }
    }

    /// Whether another request may be sent: neither side has ended the connection (GOAWAY), and the last request is
    /// out.
    pub fn is_reusable(&mut self) -> bool {
        !self.over && matches!(self.requests.poll_ready(&mut context()), Poll::Ready(Ok(())))
    }
}

fn named(error: h2::Error) -> Http2Error {
    match error.reason() {
        Some(Reason::REFUSED_STREAM) if error.is_remote() => Http2Error::Refused,
        Some(reason) if error.is_remote() && error.is_reset() => Http2Error::Reset(reason),
        Some(reason) if error.is_remote() && error.is_go_away() => Http2Error::GoAway(reason),
        None if error.is_io() => Http2Error::Closed,
        _ => Http2Error::Malformed(error),
    }
}

fn fields(headers: &HeaderMap, sink: &mut impl Sink) {
    for (name, value) in headers {
        sink.field(name.as_str(), value.as_bytes());
    }
}

/// Nobody has to be woken.
fn context() -> Context<'static> {
    Context::from_waker(Waker::noop())
}

/// Bytes on their way in and out.
#[derive(Debug, Default)]
struct Pipe {
    received: Vec<u8>,
    /// How many of them have been read.
    read: usize,
    /// Whether no more are to come.
    closed: bool,
    unsent: Vec<u8>,
}

impl Pipe {
    fn received(&mut self, bytes: &[u8]) {
        if self.read == self.received.len() {
            self.received.clear();
            self.read = 0;
        }
        self.received.extend_from_slice(bytes);
    }
}

/// h2's end of a pipe.
#[derive(Debug)]
struct End(Rc<RefCell<Pipe>>);

impl AsyncRead for End {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut pipe = self.0.borrow_mut();
        let waiting = &pipe.received[pipe.read..];
        if waiting.is_empty() {
            return if pipe.closed { Poll::Ready(Ok(())) } else { Poll::Pending };
        }
        let part = waiting.len().min(buffer.remaining());
        buffer.put_slice(&waiting[..part]);
        pipe.read += part;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().unsent.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
#[path = "http2_tests.rs"]
mod tests;
