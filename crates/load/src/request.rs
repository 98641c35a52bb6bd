//! What is asked of a server, written out before the load begins, and what a good answer to it is.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::{Method, Uri};
use model::Failure;
use model::study::{Expect, Request};
use thiserror::Error;

use crate::content::offers_gzip;
use crate::http2::Http2Request;
use crate::pattern::PatternError;
use crate::protocol::Protocol;
use crate::response::is_token;
use crate::target::Target;

/// Lengths in bytes that a good answer's body may have, after removal of any chunked coding, and of gzip where the
/// request offers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LengthRule {
    /// Any length is good.
    Any,
    /// This length only.
    Exact(u64),
    /// Any length between the two, both included.
    Within {
        /// Shortest good length.
        min: u64,
        /// Longest good length.
        max: u64,
    },
}

impl LengthRule {
    fn allows(self, bytes: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => bytes == exact,
            Self::Within { min, max } => (min..=max).contains(&bytes),
        }
    }
}

/// Most header fields of a request.
const MOST_FIELDS: usize = 128;

/// One kind of request: its bytes, and how its answers are judged.
#[derive(Debug, Clone)]
pub struct PreparedRequest {
    bytes: Box<[u8]>,
    /// The same for HTTP/2, where the target speaks it.
    http2: Option<Box<Http2Request>>,
    status: Option<u16>,
    length: LengthRule,
    head: bool,
    gzip: bool,
    keep_alive: bool,
}

/// Why a request cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    /// The method is not a token, or changes what the bytes after its answer mean.
    #[error("expected an HTTP method such as GET, found {0:?}")]
    Method(String),
    /// The path would break the request line.
    #[error("expected a path that starts with / and holds no blanks or control characters, found {0:?}")]
    Path(String),
    /// A header field would break the head.
    #[error("expected a header field on one line, found {name:?} with a value of {length} bytes")]
    Header {
        /// The field's name.
        name: String,
        /// Length of its value in bytes; the value itself may be a secret.
        length: usize,
    },
    /// The field describes the body, which the engine does by itself.
    #[error("the header field {0} is set from the request's body: leave it out")]
    Framing(String),
    /// What is expected of the answer is no JSONPath.
    #[error("what is expected of its answer cannot be looked for: {0}")]
    Expect(#[from] PatternError),
}

impl PreparedRequest {
    /// Writes `request` out for `target`. `expect.status` and `length` are checked on every answer of a load;
    /// the other expectations are the caller's to check, on answers got by [`crate::fetch()`].
    pub fn new(request: &Request, expect: &Expect, target: &Target, length: LengthRule) -> Result<Self, RequestError> {
        Ok(Self {
            bytes: render(request, &target.host)?.into(),
            http2: (target.protocol == Protocol::Http2)
                .then(|| http2_request(request, target))
                .transpose()?
                .map(Into::into),
            status: expect.status,
            length,
            head: request.method == "HEAD",
            gzip: has(request, "accept-encoding", offers_gzip),
            keep_alive: !has(request, "connection", |value| {
                value.split(',').any(|token| token.trim().eq_ignore_ascii_case("close"))
            }),
        })
    }

    /// Judges a complete answer by its status and by the length of its body in bytes.
    pub fn judge(&self, status: u16, body_bytes: u64) -> Result<(), Failure> {
        if !is_expected(status, self.status) {
            Err(Failure::Status)
        } else if !self.length.allows(body_bytes) {
            Err(Failure::Length)
        } else {
            Ok(())
        }
    }

    /// The same request, its answers judged by another rule of length.
    #[must_use]
    pub fn with_length(self, length: LengthRule) -> Self {
        Self { length, ..self }
    }

    /// The same rules for another request, which is written for HTTP/1.1 already.
    pub(crate) fn with_bytes(&self, bytes: Vec<u8>, target: &Target) -> Self {
        let http2 =
            (target.protocol == Protocol::Http2).then(|| http2_request_of(&bytes, target)).flatten().map(Into::into);
        Self { bytes: bytes.into(), http2, ..*self }
    }

    /// The request as sent over HTTP/1.1: head and body.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The request as sent over HTTP/2.
    pub(crate) fn http2(&self) -> Option<&Http2Request> {
        self.http2.as_deref()
    }

    /// Whether answers come without a body whatever their head says.
    pub(crate) fn is_head(&self) -> bool {
        self.head
    }

    /// Whether answers may come in gzip, which is undone.
    pub(crate) fn takes_gzip(&self) -> bool {
        self.gzip
    }

    /// Whether the connection may be used again as far as the request goes.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.keep_alive
    }
}

/// Whether a status is the one expected, or, where none is, no failure.
pub(crate) fn is_expected(status: u16, expected: Option<u16>) -> bool {
    expected.map_or((200..400).contains(&status), |expected| status == expected)
}

/// Whether `request` has a field of this name, in lower case, with such a value.
fn has(request: &Request, name: &str, such: impl Fn(&str) -> bool) -> bool {
    request.headers.iter().any(|(own, value)| own.eq_ignore_ascii_case(name) && such(value))
}

fn render(request: &Request, host: &str) -> Result<Vec<u8>, RequestError> {
    let Request { method, path, headers, body } = request;
    // After CONNECT a 2xx answer turns the connection into a tunnel.
    if method.is_empty() || !method.bytes().all(is_token) || method == "CONNECT" {
        return Err(RequestError::Method(method.clone()));
    }
    if !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(RequestError::Path(path.clone()));
    }
    let own_host = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host_field = (!own_host).then_some(("Host", host));
    let fields = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));

    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    for (name, value) in host_field.into_iter().chain(fields) {
        let header = || RequestError::Header { name: name.to_owned(), length: value.len() };
        if name.is_empty() || !name.bytes().all(is_token) || value.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(header());
        }
        if name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(RequestError::Framing(name.to_owned()));
        }
        text.extend([name, ": ", value, "\r\n"]);
    }
    let says_length = body.is_some() || says_length(method);
    let body = body.as_deref().unwrap_or_default();
    if says_length {
        text.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    text += "\r\n";
    text += body;
    Ok(text.into_bytes())
}

/// A request that [`render`] has accepted, for HTTP/2 (RFC 9113 §8.3.1): fields about the connection are left out (§8.2.2).
fn http2_request(request: &Request, target: &Target) -> Result<Http2Request, RequestError> {
    const OF_THE_CONNECTION: [&str; 6] = ["host", "connection", "keep-alive", "proxy-connection", "te", "upgrade"];
    let Request { method, path, headers, body } = request;
    let refused = |name: &str, value: &str| RequestError::Header { name: name.to_owned(), length: value.len() };
    let own_host = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.as_str());
    let host = own_host.unwrap_or(&target.host);
    let authority = host.parse::<http::uri::Authority>().map_err(|_| refused("host", host))?;
    let uri = Uri::builder()
        .scheme(if target.tls.is_some() { "https" } else { "http" })
        .authority(authority)
        .path_and_query(path.as_str())
        .build()
        .map_err(|_| RequestError::Path(path.clone()))?;
    let mut made = http::Request::new(());
    *made.method_mut() = Method::from_bytes(method.as_bytes()).map_err(|_| RequestError::Method(method.clone()))?;
    *made.uri_mut() = uri;
    for (name, value) in headers {
        if OF_THE_CONNECTION.iter().any(|left_out| name.eq_ignore_ascii_case(left_out)) {
            continue;
        }
        let field = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused(name, value))?;
        made.headers_mut().append(field, HeaderValue::from_str(value).map_err(|_| refused(name, value))?);
    }
    if body.is_some() || says_length(method) {
        let length = body.as_deref().map_or(0, str::len);
        made.headers_mut().insert(CONTENT_LENGTH, length.into());
    }
    Ok(Http2Request { request: made, body: Bytes::from(body.clone().unwrap_or_default()) })
}

/// A request that is written for HTTP/1.1, for HTTP/2; none if it cannot be asked for so.
fn http2_request_of(bytes: &[u8], target: &Target) -> Option<Http2Request> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let Ok(httparse::Status::Complete(length)) = head.parse(bytes) else { return None };
    let is_length = |field: &httparse::Header<'_>| field.name.eq_ignore_ascii_case("content-length");
    let value = |field: &httparse::Header<'_>| String::from_utf8_lossy(field.value).into_owned();
    let request = Request {
        method: head.method?.to_owned(),
        path: head.path?.to_owned(),
        headers: head
            .headers
            .iter()
            .filter(|field| !is_length(field))
            .map(|field| (field.name.to_owned(), value(field)))
            .collect(),
        body: None,
    };
    let body = Bytes::copy_from_slice(&bytes[length..]);
    let mut made = http2_request(&request, target).ok()?.request;
    if head.headers.iter().any(is_length) {
        made.headers_mut().insert(CONTENT_LENGTH, body.len().into());
    }
    Some(Http2Request { request: made, body })
}

/// RFC 9110 §8.6: a method that gives meaning to a body says so when there is none.
pub(crate) fn says_length(method: &str) -> bool {
    matches!(method, "POST" | "PUT" | "PATCH")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn request(method: &str, path: &str) -> Request {
        Request { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: None }
    }

    fn with(name: &str, value: &str) -> Request {
        Request { headers: vec![(name.to_owned(), value.to_owned())], ..request("GET", "/") }
    }

    fn text(request: &Request) -> Result<String, RequestError> {
        render(request, "here:80").map(|bytes| String::from_utf8(bytes).unwrap())
    }

    fn prepared(status: Option<u16>, length: LengthRule) -> PreparedRequest {
        let target = Target::from(SocketAddr::from(([127, 0, 0, 1], 80)));
        PreparedRequest::new(&request("GET", "/"), &Expect { status, ..Expect::default() }, &target, length).unwrap()
    }

    #[test]
    fn a_request_is_written_as_http() {
        assert_eq!(text(&request("GET", "/a?b=c")).unwrap(), "GET /a?b=c HTTP/1.1\r\nHost: here:80\r\n\r\n");
        let post = Request { body: Some("{\"é\":1}".to_owned()), ..request("POST", "/") };
        assert_eq!(text(&post).unwrap(), "POST / HTTP/1.1\r\nHost: here:80\r\nContent-Length: 8\r\n\r\n{\"é\":1}");
        assert_eq!(text(&request("PUT", "/")).unwrap(), "PUT / HTTP/1.1\r\nHost: here:80\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(text(&with("host", "there")).unwrap(), "GET / HTTP/1.1\r\nhost: there\r\n\r\n");
    }

    #[test]
    fn what_would_break_the_head_is_refused() {
        assert!(matches!(text(&request("GE T", "/")), Err(RequestError::Method(_))));
        assert!(matches!(text(&request("", "/")), Err(RequestError::Method(_))));
        assert!(matches!(text(&request("CONNECT", "/")), Err(RequestError::Method(_))));
        assert!(matches!(text(&request("GET", "a")), Err(RequestError::Path(_))));
        assert!(matches!(text(&request("GET", "/a b")), Err(RequestError::Path(_))));
        assert!(matches!(text(&request("GET", "/\r\nX: y")), Err(RequestError::Path(_))));
        assert!(matches!(text(&with("X", "a\r\nY: b")), Err(RequestError::Header { .. })));
        assert!(matches!(text(&with("X:", "a")), Err(RequestError::Header { .. })));
        assert!(matches!(text(&with("content-LENGTH", "1")), Err(RequestError::Framing(_))));
    }

    #[test]
    fn status_is_judged_before_length() {
        let any = prepared(None, LengthRule::Any);
        assert_eq!(any.judge(200, 7), Ok(()));
        assert_eq!(any.judge(399, 0), Ok(()));
        assert_eq!(any.judge(400, 7), Err(Failure::Status));
        assert_eq!(any.judge(199, 7), Err(Failure::Status));
        let strict = prepared(Some(404), LengthRule::Exact(3));
        assert_eq!(strict.judge(404, 3), Ok(()));
        assert_eq!(strict.judge(404, 4), Err(Failure::Length));
        assert_eq!(strict.judge(200, 4), Err(Failure::Status));
        let within = prepared(None, LengthRule::Within { min: 2, max: 4 });
        assert_eq!([1, 2, 4, 5].map(|bytes| within.judge(200, bytes).is_ok()), [false, true, true, false]);
    }

    #[test]
    fn a_request_may_end_its_connection() {
        let target = Target::from(SocketAddr::from(([127, 0, 0, 1], 80)));
        let keeps = |value: &str| {
            PreparedRequest::new(&with("Connection", value), &Expect::default(), &target, LengthRule::Any)
                .unwrap()
                .keeps_alive()
        };
        assert!(keeps("keep-alive"));
        assert!(!keeps("x, Close"));
    }
}
