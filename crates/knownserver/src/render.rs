//! Answers as bytes. Pure.

use crate::script::{Body, ErrorBurst, Route};
use std::collections::BTreeMap;
use std::io::Write as _;

/// What the client understands and wants, as far as the answer's bytes depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer {
    /// The client speaks HTTP/1.0: no chunks, and keep-alive has to be said.
    pub(crate) http10: bool,
    /// The connection stays open after the answer.
    pub(crate) keep: bool,
}

impl Peer {
    const ALL: [Self; 4] = [
        Self { http10: false, keep: false },
        Self { http10: false, keep: true },
        Self { http10: true, keep: false },
        Self { http10: true, keep: true },
    ];

    fn index(self) -> usize {
        usize::from(self.http10) * 2 + usize::from(self.keep)
    }
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// Head and body.
    pub(crate) bytes: Vec<u8>,
    /// Length of the head, its empty line included.
    pub(crate) head: usize,
}

/// An answer that is the same for every request, rendered beforehand for every kind of peer.
#[derive(Debug)]
pub(crate) struct Prepared([Message; 4]);

impl Prepared {
    pub(crate) fn for_peer(&self, peer: Peer) -> &Message {
        &self.0[peer.index()]
    }
}

/// How the end of a body is marked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framing {
    /// `Content-Length` with this value, true or not.
    Length(usize),
    /// `Transfer-Encoding: chunked`.
    Chunked,
}

/// The answer of `route` if it is the same for every request.
pub(crate) fn prepare_route(route: &Route) -> Option<Prepared> {
    let body = match &route.body {
        _ if route.varying.is_some() => return None,
        Body::Text(text) => text.clone().into_bytes(),
        Body::Size(size) => filler(*size),
        Body::Echo(_) => return None,
    };
    Some(Prepared(Peer::ALL.map(|peer| route_message(route, &body, peer))))
}

/// The answer of an error burst.
pub(crate) fn prepare_error(error: &ErrorBurst) -> Prepared {
    Prepared(Peer::ALL.map(|peer| plain(error.status, &error.body, peer)))
}

/// The answer of `route` with this body.
pub(crate) fn route_message(route: &Route, body: &[u8], peer: Peer) -> Message {
    let framing = if route.chunked && !peer.http10 { Framing::Chunked } else { Framing::Length(body.len()) };
    route_message_framed(route, body, framing, peer)
}

/// The answer of `route` with this body, framed as scripted.
pub(crate) fn route_message_framed(route: &Route, body: &[u8], framing: Framing, peer: Peer) -> Message {
    message(route.status, &route.content_type, &route.headers, body, framing, peer)
}

/// A short text.
pub(crate) fn plain(status: u16, body: &str, peer: Peer) -> Message {
    message(status, "text/plain", &BTreeMap::new(), body.as_bytes(), Framing::Length(body.len()), peer)
}

/// A JSON document.
pub(crate) fn json(body: &[u8], peer: Peer) -> Message {
    message(200, "application/json", &BTreeMap::new(), body, Framing::Length(body.len()), peer)
}

fn message(
    status: u16,
    content_type: &str,
    headers: &BTreeMap<String, String>,
    body: &[u8],
    framing: Framing,
    peer: Peer,
) -> Message {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    let mut header = |name: &str, value: &str| head.extend([name, ": ", value, "\r\n"]);
    let has_body = !matches!(status, 204 | 304);
    if has_body {
        header("Content-Type", content_type);
        match framing {
            Framing::Length(length) => header("Content-Length", &length.to_string()),
            Framing::Chunked => header("Transfer-Encoding", "chunked"),
        }
    }
    match peer {
        Peer { keep: false, .. } => header("Connection", "close"),
        Peer { http10: true, .. } => header("Connection", "keep-alive"),
        Peer { .. } => {}
    }
    for (name, value) in headers {
        header(name, value);
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    let head = bytes.len();
    match framing {
        _ if !has_body => {}
        Framing::Length(_) => bytes.extend_from_slice(body),
        Framing::Chunked => in_chunks(&mut bytes, body),
    }
    Message { bytes, head }
}

/// Longest chunk, in bytes.
const CHUNK: usize = 4096;

fn in_chunks(bytes: &mut Vec<u8>, body: &[u8]) {
    for chunk in body.chunks(CHUNK) {
        // Writing to a vector cannot fail.
        let _ = write!(bytes, "{:x}\r\n", chunk.len());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
}

/// `size` printable bytes, in lines.
pub(crate) fn filler(size: usize) -> Vec<u8> {
    b"The quick brown fox jumps over the lazy dog, and bakes.\n".iter().copied().cycle().take(size).collect()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Scripted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Peer = Peer { http10: false, keep: true };

    fn text(message: &Message) -> &str {
        std::str::from_utf8(&message.bytes).unwrap()
    }

    #[test]
    fn a_route_is_rendered_for_every_peer() {
        let prepared = prepare_route(&Route::text("/", "hi")).unwrap();
        let expected = |connection: &str| {
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n{connection}\r\nhi")
        };
        for (http10, keep, connection) in [
            (false, true, ""),
            (false, false, "Connection: close\r\n"),
            (true, true, "Connection: keep-alive\r\n"),
            (true, false, "Connection: close\r\n"),
        ] {
            assert_eq!(text(prepared.for_peer(Peer { http10, keep })), expected(connection));
        }
    }

    #[test]
    fn chunks_are_framed_and_ended() {
        let mut bytes = Vec::new();
        in_chunks(&mut bytes, &filler(CHUNK + 3));
        assert!(bytes.starts_with(b"1000\r\nThe quick"));
        assert_eq!(bytes.len(), 6 + CHUNK + 2 + 3 + 3 + 2 + 5);
        assert!(bytes.ends_with(b"\r\n0\r\n\r\n"));
    }

    #[test]
    fn an_answer_that_may_have_no_body_has_none() {
        let message = plain(204, "lost", KEEP);
        assert_eq!(text(&message), "HTTP/1.1 204 No Content\r\n\r\n");
        assert_eq!(message.head, message.bytes.len());
    }
}
