//! One HTTP/1.x request, found at the start of what a client has sent so far.

use crate::render::Peer;
use httparse::{Header, Status};
use std::mem::MaybeUninit;

/// Headers a request may have.
const MAX_HEADERS: usize = 64;

/// What the bytes received so far amount to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed<'a> {
    /// The start of a request; more has to come.
    Incomplete,
    /// Not HTTP/1.x, or beyond what is supported.
    Malformed,
    /// A whole request.
    Complete(Request<'a>),
}

/// A whole request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request<'a> {
    /// Path without query.
    pub(crate) path: &'a str,
    /// Whether only the head of the answer is wanted.
    pub(crate) head_only: bool,
    /// What the client understands and wants.
    pub(crate) peer: Peer,
    /// Where the body begins.
    pub(crate) body_at: usize,
    /// Length of head and body.
    pub(crate) length: usize,
}

/// Finds the request at the start of `input`.
pub(crate) fn parse(input: &[u8]) -> Parsed<'_> {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut []);
    let body_at = match request.parse_with_uninit_headers(input, &mut headers) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) => return Parsed::Incomplete,
        Err(_) => return Parsed::Malformed,
    };
    let (Some(method), Some(target), Some(version)) = (request.method, request.path, request.version) else {
        return Parsed::Malformed;
    };
    let Some(facts) = Facts::read(request.headers) else { return Parsed::Malformed };
    let http10 = version == 0;
    let length = match body_length(facts.body, &input[body_at..]) {
        BodyLength::Known(length) => body_at + length,
        BodyLength::Incomplete => return Parsed::Incomplete,
        BodyLength::Malformed => return Parsed::Malformed,
    };
    Parsed::Complete(Request {
        path: target.split_once('?').map_or(target, |(path, _)| path),
        head_only: method == "HEAD",
        peer: Peer { http10, keep: facts.keep.unwrap_or(!http10) },
        body_at,
        length,
    })
}

/// What the headers say.
struct Facts {
    body: BodyFraming,
    keep: Option<bool>,
}

#[derive(Clone, Copy)]
enum BodyFraming {
    Length(usize),
    Chunked,
}

impl Facts {
    /// `None` where they contradict HTTP.
    fn read(headers: &[Header<'_>]) -> Option<Self> {
        let mut facts = Self { body: BodyFraming::Length(0), keep: None };
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                facts.body = BodyFraming::Length(std::str::from_utf8(header.value).ok()?.trim().parse().ok()?);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                facts.body = header.value.eq_ignore_ascii_case(b"chunked").then_some(BodyFraming::Chunked)?;
            } else if header.name.eq_ignore_ascii_case("connection") {
                if header.value.eq_ignore_ascii_case(b"close") {
                    facts.keep = Some(false);
                } else if header.value.eq_ignore_ascii_case(b"keep-alive") {
                    facts.keep = Some(true);
                }
            }
        }
        Some(facts)
    }
}

enum BodyLength {
    Known(usize),
    Incomplete,
    Malformed,
}

fn body_length(framing: BodyFraming, after_head: &[u8]) -> BodyLength {
    match framing {
        BodyFraming::Length(length) if length <= after_head.len() => BodyLength::Known(length),
        BodyFraming::Length(_) => BodyLength::Incomplete,
        BodyFraming::Chunked => chunked_length(after_head),
    }
}

/// Length of a chunked body with its framing; trailers are not supported.
fn chunked_length(body: &[u8]) -> BodyLength {
    const LINE_END: usize = 2;
    let mut at = 0;
    loop {
        match httparse::parse_chunk_size(body.get(at..).unwrap_or_default()) {
            Ok(Status::Complete((line, size))) => {
                at = at.saturating_add(line).saturating_add(size as usize).saturating_add(LINE_END);
                if at > body.len() {
                    return BodyLength::Incomplete;
                }
                if size == 0 {
                    return BodyLength::Known(at);
                }
            }
            Ok(Status::Partial) => return BodyLength::Incomplete,
            Err(_) => return BodyLength::Malformed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(input: &[u8]) -> Request<'_> {
        match parse(input) {
            Parsed::Complete(request) => request,
            other => panic!("expected a request, found {other:?}"),
        }
    }

    #[test]
    fn persistence_follows_version_and_header() {
        let keep = |text: &[u8]| complete(text).peer.keep;
        assert!(keep(b"GET / HTTP/1.1\r\n\r\n"));
        assert!(!keep(b"GET / HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assert!(!keep(b"GET / HTTP/1.0\r\n\r\n"));
        assert!(keep(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"));
    }

    #[test]
    fn a_request_ends_where_its_body_ends() {
        let with_length = b"POST /a?b=c HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET";
        let request = complete(with_length);
        assert_eq!(request.path, "/a");
        assert_eq!(&with_length[request.body_at..request.length], b"abc");

        let chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET";
        assert_eq!(&chunked[complete(chunked).length..], b"GET");
    }

    #[test]
    fn every_beginning_of_a_request_is_incomplete() {
        for whole in [
            &b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"[..],
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        ] {
            for end in 0..whole.len() {
                assert_eq!(parse(&whole[..end]), Parsed::Incomplete, "first {end} bytes");
            }
            assert_eq!(complete(whole).length, whole.len());
        }
    }

    #[test]
    fn what_is_not_http_is_malformed() {
        assert_eq!(parse(b"\x16\x03\x01\x02"), Parsed::Malformed);
        assert_eq!(parse(b"GET / HTTP/1.1\r\nContent-Length: -3\r\n\r\n"), Parsed::Malformed);
    }
}
