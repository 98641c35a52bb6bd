//! What lies between the requests and answers of one connection and the bytes that move: nothing but the framing of
//! HTTP/1.1, or layers of TLS and HTTP/2.

use std::mem;

use model::load::Transport;
use model::{Failure, Malformed};
use thiserror::Error;

use crate::http2::{Http2, Http2Error};
use crate::protocol::Protocol;
use crate::request::PreparedRequest;
use crate::response::{Answered, Framer, Ignore, Sink};
use crate::target::Target;
use crate::tls::{Received, Session, Tls, cure};

/// Memory that a connection keeps for what it sends, bytes.
const KEPT: usize = 16 * 1024;

/// Why a connection is of no more use.
#[derive(Debug, Error)]
pub enum WireError {
    /// The bytes are no whole HTTP/1.1 response, or its body cannot be decoded.
    #[error("the answer is not as HTTP has it: {0}")]
    Malformed(#[from] Malformed),
    /// TLS was refused, by either side, or broken.
    #[error("no TLS with the server: {reason}; {}", cure(reason))]
    Tls {
        /// What is wrong.
        reason: Box<rustls::Error>,
    },
    /// The server agreed to TLS, not to the version of HTTP.
    #[error("the server does not speak {} over TLS (it chose {}): ask with or without --http2", .wanted.name(), chosen.as_deref().unwrap_or("none of those offered"))]
    Alpn {
        /// What was offered.
        wanted: Protocol,
        /// What the server chose instead.
        chosen: Option<String>,
    },
    /// The request failed by HTTP/2's own rules.
    #[error("{0}")]
    Http2(Box<Http2Error>),
    /// The connection ended in the middle of TLS's handshake.
    #[error("the server closed the connection instead of agreeing on TLS: its log says why")]
    HungUp,
    /// The request is not written for what is spoken here.
    #[error("the request is written for another target: make it for the one that is asked")]
    Unwritten,
    /// The connection ended before an answer was complete, where more is not known.
    #[error("the connection closed before the answer was complete")]
    Closed,
}

impl From<rustls::Error> for WireError {
    fn from(error: rustls::Error) -> Self {
        Self::Tls { reason: error.into() }
    }
}

impl From<Http2Error> for WireError {
    fn from(error: Http2Error) -> Self {
        match error {
            Http2Error::Closed => Self::Closed,
            other => Self::Http2(other.into()),
        }
    }
}

impl WireError {
    /// What a request that it ended is counted as.
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::Malformed(why) => why.failure(),
            Self::Tls { .. } | Self::Alpn { .. } | Self::HungUp => Failure::Tls,
            Self::Closed | Self::Unwritten => Failure::Closed,
            Self::Http2(error) => match **error {
                Http2Error::NotHttp2 | Http2Error::Malformed(_) => Failure::Malformed,
                Http2Error::Reset(_) => Failure::Reset,
                Http2Error::Refused => Failure::Refused,
                Http2Error::GoAway(_) => Failure::GoAway,
                Http2Error::Closed => Failure::Closed,
            },
        }
    }
}

/// One connection's bytes and what they mean. What [`Self::unsent`] gives after a call is to be sent before the next.
#[derive(Debug)]
pub(crate) enum Wire {
    /// HTTP/1.1 as it is: a request's bytes are those sent, and nothing but answers comes.
    Plain(Framer),
    /// With something in between.
    Layered(Box<Layers>),
}

impl Wire {
    /// For a connection that has just been made.
    pub fn new(target: &Target) -> Result<Self, WireError> {
        if target.is_plain() {
            return Ok(Self::Plain(Framer::default()));
        }
        Ok(Self::Layered(Layers::new(target)?.into()))
    }

    /// As [`Self::new`], in the place of a connection that is over.
    pub fn renew(&mut self, target: &Target) -> Result<(), WireError> {
        match self {
            Self::Plain(framer) if target.is_plain() => framer.reset(),
            _ => *self = Self::new(target)?,
        }
        Ok(())
    }

    /// Whether a request can be sent: whatever the two sides have to agree on first is settled.
    pub fn is_ready(&self) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Layered(layers) => layers.is_ready,
        }
    }

    /// Writes a request as it is to be sent, at once.
    #[inline]
    pub fn send<'a>(&'a mut self, request: &'a PreparedRequest) -> Result<&'a [u8], WireError> {
        match self {
            Self::Plain(_) => Ok(request.bytes()),
            Self::Layered(layers) => {
                layers.send(request)?;
                Ok(&layers.unsent)
            }
        }
    }

    /// Takes received bytes; says what the answer was when they end it.
    #[inline]
    pub fn receive(
        &mut self,
        bytes: &[u8],
        head_only: bool,
        sink: &mut impl Sink,
    ) -> Result<Option<Answered>, WireError> {
        match self {
            Self::Plain(framer) => Ok(framer.feed(bytes, head_only, sink)?),
            Self::Layered(layers) => layers.receive(bytes, head_only, sink),
        }
    }

    /// How many of the next bytes need not be seen.
    #[inline]
    pub fn skippable(&self) -> u64 {
        match self {
            Self::Plain(framer) => framer.skippable(),
            Self::Layered(_) => 0,
        }
    }

    /// Takes so many bytes unseen; says what the answer was when they end it.
    #[inline]
    pub fn skip(&mut self, bytes: u64) -> Result<Option<Answered>, WireError> {
        match self {
            Self::Plain(framer) => Ok(framer.skip(bytes)?),
            Self::Layered(_) => Ok(None),
        }
    }

    /// Takes bytes that came while nothing is asked; says whether the connection can still be used.
    pub fn receive_unasked(&mut self, bytes: &[u8]) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Layered(layers) => {
                matches!(layers.receive(bytes, false, &mut Ignore), Ok(None)) && layers.http.is_reusable()
            }
        }
    }

    /// Takes the orderly end of the connection; says what the answer was if that is what ends it.
    pub fn close(&mut self, sink: &mut impl Sink) -> Result<Answered, WireError> {
        match self {
            Self::Plain(framer) => Ok(framer.close()?),
            Self::Layered(layers) => layers.close(sink),
        }
    }

    /// What is missing if the connection ends in disorder, which completes no answer.
    pub fn cut(&self) -> WireError {
        match self {
            Self::Plain(framer) => framer.cut().into(),
            Self::Layered(layers) => layers.http.cut(),
        }
    }

    /// What is to be sent beside requests.
    #[inline]
    pub fn unsent(&self) -> &[u8] {
        match self {
            Self::Plain(_) => &[],
            Self::Layered(layers) => &layers.unsent,
        }
    }

    /// The last bytes to be sent before the connection is closed.
    pub fn close_bytes(&mut self) -> &[u8] {
        match self {
            Self::Plain(_) => &[],
            Self::Layered(layers) => {
                layers.close_bytes();
                &layers.unsent
            }
        }
    }

    /// What is spoken on the connection.
    pub fn transport(&self) -> Transport {
        let (http, tls) = match self {
            Self::Plain(_) => (Protocol::Http1, None),
            Self::Layered(layers) => (layers.http.protocol(), layers.tls.as_ref().and_then(Session::facts)),
        };
        Transport { http: http.name().to_owned(), tls }
    }
}

/// TLS, HTTP/2, or both.
#[derive(Debug)]
pub(crate) struct Layers {
    tls: Option<Session>,
    http: Http,
    is_ready: bool,
    /// What the last call left to be sent.
    unsent: Vec<u8>,
}

impl Layers {
    fn new(target: &Target) -> Result<Self, WireError> {
        let tls = target.tls.as_ref().map(Tls::session).transpose()?;
        let http = match target.protocol {
            Protocol::Http1 => Http::One(Framer::default()),
            Protocol::Http2 => Http::Two(Http2::new()?.into()),
        };
        let mut layers = Self { is_ready: tls.is_none(), tls, http, unsent: Vec::new() };
        layers.flush();
        Ok(layers)
    }

    fn send(&mut self, request: &PreparedRequest) -> Result<(), WireError> {
        self.unsent.clear();
        match (&mut self.http, &mut self.tls, request.http2()) {
            (Http::Two(http), _, Some(request)) => http.send(request)?,
            (Http::One(_), Some(tls), _) => tls.send(request.bytes()),
            (Http::Two(_), _, None) | (Http::One(_), None, _) => return Err(WireError::Unwritten),
        }
        self.flush();
        Ok(())
    }

    fn receive(&mut self, bytes: &[u8], head_only: bool, sink: &mut impl Sink) -> Result<Option<Answered>, WireError> {
        self.unsent.clear();
        self.unsent.shrink_to(KEPT);
        let answered = self.take_in(bytes, head_only, sink);
        self.flush();
        Ok(answered?
            .map(|answered| Answered { keep_alive: answered.keep_alive && self.http.is_reusable(), ..answered }))
    }

    fn take_in(&mut self, bytes: &[u8], head_only: bool, sink: &mut impl Sink) -> Result<Option<Answered>, WireError> {
        let Self { tls, http, .. } = self;
        let Some(tls) = tls else { return http.receive(bytes, head_only, sink) };
        let mut answered = Ok(None);
        let received = tls.receive(bytes, |part| {
            answered = match mem::replace(&mut answered, Ok(None)) {
                Ok(None) => http.receive(part, head_only, sink),
                Ok(Some(answered)) => http.receive_more(part).map(|()| Some(answered)),
                Err(error) => Err(error),
            };
        })?;
        let answered = answered?;
        if !self.is_ready && !tls.is_handshaking() {
            self.is_ready = self.http.is_agreed(tls.alpn())?;
        }
        match (received, answered) {
            (Received::More, answered) => Ok(answered),
            (Received::Last, Some(answered)) => Ok(Some(Answered { keep_alive: false, ..answered })),
            (Received::Last, None) => self.http.close(sink).map(Some),
        }
    }

    /// An end without TLS's own word for it may be anybody's doing: it completes no answer (RFC 9112 §9.8).
    fn close(&mut self, sink: &mut impl Sink) -> Result<Answered, WireError> {
        match self.tls {
            Some(_) if !self.is_ready => Err(WireError::HungUp),
            Some(_) => Err(self.http.cut()),
            None => self.http.close(sink),
        }
    }

    /// TLS's own word for the end. HTTP/2's GOAWAY says nothing to a server that this does not.
    fn close_bytes(&mut self) {
        self.unsent.clear();
        if let Some(tls) = self.tls.as_mut().filter(|tls| !tls.is_handshaking()) {
            tls.close();
            tls.take_unsent(&mut self.unsent);
        }
    }

    /// Passes down what each layer has to send.
    fn flush(&mut self) {
        let Self { tls, http, unsent, is_ready } = self;
        match (tls, http) {
            (None, Http::Two(http)) => http.take_unsent(unsent),
            (Some(tls), http) => {
                if let (true, Http::Two(http)) = (*is_ready, http) {
                    let mut plain = Vec::new();
                    http.take_unsent(&mut plain);
                    tls.send(&plain);
                }
                tls.take_unsent(unsent);
            }
            (None, Http::One(_)) => {}
        }
    }
}

#[derive(Debug)]
enum Http {
    One(Framer),
    Two(Box<Http2>),
}

impl Http {
    fn protocol(&self) -> Protocol {
        match self {
            Self::One(_) => Protocol::Http1,
            Self::Two(_) => Protocol::Http2,
        }
    }

    /// Whether what the server chose by ALPN is this version. Without a choice it is HTTP/1.1.
    fn is_agreed(&self, chosen: Option<&[u8]>) -> Result<bool, WireError> {
        let wanted = self.protocol();
        if chosen == Some(wanted.alpn()) || chosen.is_none() && wanted == Protocol::Http1 {
            return Ok(true);
        }
        Err(WireError::Alpn { wanted, chosen: chosen.map(|name| String::from_utf8_lossy(name).into_owned()) })
    }

    fn receive(&mut self, bytes: &[u8], head_only: bool, sink: &mut impl Sink) -> Result<Option<Answered>, WireError> {
        match self {
            Self::One(framer) => Ok(framer.feed(bytes, head_only, sink)?),
            Self::Two(http) => Ok(http.receive(bytes, sink)?),
        }
    }

    /// Takes what follows a complete answer.
    fn receive_more(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        match self {
            Self::One(_) => Err(Malformed::Surplus.into()),
            Self::Two(http) => Ok(http.receive(bytes, &mut Ignore).map(drop)?),
        }
    }

    fn close(&mut self, sink: &mut impl Sink) -> Result<Answered, WireError> {
        match self {
            Self::One(framer) => Ok(framer.close()?),
            Self::Two(http) => http.close(sink)?.ok_or(WireError::Closed),
        }
    }

    fn cut(&self) -> WireError {
        match self {
            Self::One(framer) => framer.cut().into(),
            Self::Two(_) => WireError::Closed,
        }
    }

    /// Whether the connection can take another request.
    fn is_reusable(&mut self) -> bool {
        match self {
            Self::One(framer) => framer.is_at_rest(),
            Self::Two(http) => http.is_reusable(),
        }
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
