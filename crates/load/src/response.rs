//! Finds where an HTTP/1.1 response ends (RFC 9112 §6.3), in whatever pieces its bytes come.
//!
//! Nothing is copied but a head that came in part: bodies are counted where they lie.

use std::mem::{self, MaybeUninit};

use httparse::{EMPTY_HEADER, ParserConfig, Status};
use thiserror::Error;

/// Longest head that is accepted, bytes.
pub(crate) const LONGEST_HEAD: usize = 64 * 1024;

/// Most header fields that are accepted in a head.
const MOST_FIELDS: usize = 128;

/// Why bytes are not an HTTP response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Malformed {
    /// The head does not parse.
    #[error("expected the head of an HTTP/1.x response: {0}")]
    Head(#[from] httparse::Error),
    /// The head does not end.
    #[error("expected a head of at most {LONGEST_HEAD} bytes, found no end of it")]
    LongHead,
    /// The status is below 100, or is 101 though no other protocol was asked for.
    #[error("expected a status that answers the request, found {0}")]
    Status(u16),
    /// `Content-Length` is not one number.
    #[error("expected one number of bytes in Content-Length")]
    ContentLength,
    /// The chunked coding is broken.
    #[error("expected a chunk of a chunked body, found other bytes")]
    Chunk,
    /// Bytes follow the end of the response though nothing else was asked.
    #[error("expected nothing after the response, found {0} bytes or more")]
    Surplus(usize),
}

/// A complete response, as far as a load needs to know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answered {
    /// HTTP status.
    pub status: u16,
    /// Length of the body in bytes, without its chunked coding.
    pub body_bytes: u64,
    /// Whether the server lets the connection be used again.
    pub keep_alive: bool,
}

/// Sees the parts of a response that framing itself does not keep.
pub(crate) trait Sink {
    /// The next field of the final head.
    fn field(&mut self, name: &str, value: &[u8]);
    /// The next bytes of the body.
    fn body(&mut self, bytes: &[u8]);
}

/// Keeps nothing.
pub(crate) struct Ignore;

impl Sink for Ignore {
    fn field(&mut self, _: &str, _: &[u8]) {}
    fn body(&mut self, _: &[u8]) {}
}

/// Follows one response after another on a connection.
#[derive(Debug, Default)]
pub(crate) struct Framer {
    stage: Stage,
    /// The beginning of a head whose end has not come; its memory is used again.
    partial: Vec<u8>,
    status: u16,
    keep_alive: bool,
    body_bytes: u64,
}

#[derive(Debug, Default, Clone, Copy)]
enum Stage {
    #[default]
    Head,
    /// So many bytes of the body are to come.
    Length(u64),
    Chunked(Chunk),
    UntilClose,
}

/// What comes next in a chunked body.
#[derive(Debug, Clone, Copy)]
enum Chunk {
    /// A digit of a chunk's size.
    Size {
        size: u64,
        digits: u8,
    },
    /// More of what follows the size on its line.
    Extension {
        size: u64,
    },
    /// The line feed after the size.
    SizeEnd {
        size: u64,
    },
    /// So many bytes of the chunk.
    Data {
        left: u64,
    },
    /// The line end after a chunk.
    DataCr,
    DataLf,
    /// The beginning of a line after the last chunk.
    TrailerStart,
    /// More of a trailer field.
    Trailer,
    /// The line feed of the empty line that ends it all.
    LastLf,
}

/// How a response goes on after its head.
struct Body {
    stage: Stage,
    keep_alive: bool,
}

impl Framer {
    /// Takes the next bytes of a connection. Returns the response when these bytes complete it;
    /// `head_only` says that it answers a HEAD request.
    pub fn feed(
        &mut self,
        mut bytes: &[u8],
        head_only: bool,
        sink: &mut impl Sink,
    ) -> Result<Option<Answered>, Malformed> {
        loop {
            let complete = match &mut self.stage {
                Stage::Head => {
                    let Some(used) = self.feed_head(bytes, head_only, sink)? else { return Ok(None) };
                    bytes = &bytes[used..];
                    // Either an interim response was skipped and a head is next, or the body begins.
                    matches!(self.stage, Stage::Length(0))
                }
                Stage::Length(left) => {
                    let part = take(&mut bytes, *left);
                    *left -= part.len() as u64;
                    let complete = *left == 0;
                    self.count(part, sink);
                    complete
                }
                Stage::UntilClose => {
                    self.count(mem::take(&mut bytes), sink);
                    false
                }
                Stage::Chunked(chunk) => {
                    let Some(next) = chunk.step(&mut bytes)? else {
                        return self.complete(bytes).map(Some);
                    };
                    if let Chunk::Data { left } = next {
                        let part = take(&mut bytes, left);
                        let left = left - part.len() as u64;
                        *chunk = if left == 0 { Chunk::DataCr } else { Chunk::Data { left } };
                        self.count(part, sink);
                    } else {
                        *chunk = next;
                    }
                    false
                }
            };
            if complete {
                return self.complete(bytes).map(Some);
            }
            if bytes.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Takes the end of the connection. Returns the response when that is what completes it.
    pub fn close(&mut self) -> Option<Answered> {
        match self.stage {
            Stage::UntilClose => self.complete(&[]).ok(),
            Stage::Head | Stage::Length(_) | Stage::Chunked(_) => None,
        }
    }

    /// Whether nothing has come of another response.
    pub fn is_at_rest(&self) -> bool {
        matches!(self.stage, Stage::Head) && self.partial.is_empty()
    }

    /// Forgets whatever came, for a new connection.
    pub fn reset(&mut self) {
        self.stage = Stage::Head;
        self.partial.clear();
        self.body_bytes = 0;
    }

    fn count(&mut self, part: &[u8], sink: &mut impl Sink) {
        self.body_bytes += part.len() as u64;
        sink.body(part);
    }

    fn complete(&mut self, rest: &[u8]) -> Result<Answered, Malformed> {
        let answered = Answered { status: self.status, body_bytes: self.body_bytes, keep_alive: self.keep_alive };
        self.reset();
        if rest.is_empty() { Ok(answered) } else { Err(Malformed::Surplus(rest.len())) }
    }

    /// Returns how many of `bytes` belong to the head that they complete.
    fn feed_head(&mut self, bytes: &[u8], head_only: bool, sink: &mut impl Sink) -> Result<Option<usize>, Malformed> {
        if self.partial.is_empty() {
            let length = self.parse_head(bytes, head_only, sink)?;
            if length.is_none() {
                self.partial.extend_from_slice(bytes);
            }
            return Ok(length);
        }
        let before = self.partial.len();
        let mut whole = mem::take(&mut self.partial);
        whole.extend_from_slice(bytes);
        let length = self.parse_head(&whole, head_only, sink)?;
        self.partial = whole;
        Ok(length.map(|length| {
            self.partial.clear();
            length - before
        }))
    }

    /// Returns the length of the head that `bytes` begin with, if it is all there.
    fn parse_head(&mut self, bytes: &[u8], head_only: bool, sink: &mut impl Sink) -> Result<Option<usize>, Malformed> {
        let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
        let mut no_fields = [EMPTY_HEADER; 0];
        let mut head = httparse::Response::new(&mut no_fields);
        let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut head, bytes, &mut fields)?;
        let Status::Complete(length) = parsed else {
            return if bytes.len() < LONGEST_HEAD { Ok(None) } else { Err(Malformed::LongHead) };
        };
        let status = head.code.unwrap_or_default();
        match status {
            0..100 | 101 => return Err(Malformed::Status(status)),
            102..200 | 100 => return Ok(Some(length)),
            _ => {}
        }
        let body = body_after(&head, status, head_only)?;
        self.status = status;
        self.stage = body.stage;
        self.keep_alive = body.keep_alive;
        for field in head.headers.iter() {
            sink.field(field.name, field.value);
        }
        Ok(Some(length))
    }
}

/// RFC 9112 §6.3, with §9.3 for the connection's persistence.
fn body_after(head: &httparse::Response<'_, '_>, status: u16, head_only: bool) -> Result<Body, Malformed> {
    let mut length = None;
    let mut chunked = None;
    let (mut close, mut keep) = (false, false);
    for field in head.headers.iter() {
        let name = field.name;
        if name.eq_ignore_ascii_case("content-length") {
            for number in field.value.split(|byte| *byte == b',') {
                let number = decimal(number.trim_ascii()).ok_or(Malformed::ContentLength)?;
                if length.is_some_and(|before| before != number) {
                    return Err(Malformed::ContentLength);
                }
                length = Some(number);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            chunked = Some(tokens(field.value).last().is_some_and(|coding| coding.eq_ignore_ascii_case(b"chunked")));
        } else if name.eq_ignore_ascii_case("connection") {
            close |= tokens(field.value).any(|token| token.eq_ignore_ascii_case(b"close"));
            keep |= tokens(field.value).any(|token| token.eq_ignore_ascii_case(b"keep-alive"));
        }
    }
    let stage = match (chunked, length) {
        _ if head_only || matches!(status, 204 | 304) => Stage::Length(0),
        (Some(true), _) => Stage::Chunked(Chunk::Size { size: 0, digits: 0 }),
        (None, Some(length)) => Stage::Length(length),
        (Some(false), _) | (None, None) => Stage::UntilClose,
    };
    let persistent = !close && (head.version == Some(1) || keep);
    Ok(Body { stage, keep_alive: persistent && !matches!(stage, Stage::UntilClose) })
}

impl Chunk {
    /// Takes what comes next of the coding; returns what comes after it, `None` when that was the end.
    fn step(self, bytes: &mut &[u8]) -> Result<Option<Self>, Malformed> {
        if let Self::Data { .. } = self {
            return Ok(Some(self));
        }
        let Some((&byte, rest)) = bytes.split_first() else { return Ok(Some(self)) };
        *bytes = rest;
        let next = match (self, byte) {
            // Sixteen digits are all that 64 bits hold.
            (Self::Size { size, digits: digits @ 0..16 }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                Self::Size { size: (size << 4) | digit, digits: digits + 1 }
            }
            (Self::Size { size, digits: 1.. } | Self::Extension { size }, b'\r') => Self::SizeEnd { size },
            (Self::Size { size, digits: 1.. }, b';' | b' ' | b'\t') | (Self::Extension { size }, b' '.. | b'\t') => {
                Self::Extension { size }
            }
            (Self::SizeEnd { size: 0 } | Self::Trailer, b'\n') => Self::TrailerStart,
            (Self::SizeEnd { size }, b'\n') => Self::Data { left: size },
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::Size { size: 0, digits: 0 },
            (Self::TrailerStart, b'\r') => Self::LastLf,
            (Self::TrailerStart, b'!'..) | (Self::Trailer, b' '.. | b'\t' | b'\r') => Self::Trailer,
            (Self::LastLf, b'\n') => return Ok(None),
            _ => return Err(Malformed::Chunk),
        };
        Ok(Some(next))
    }
}

/// Splits at most `most` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], most: u64) -> &'a [u8] {
    let length = usize::try_from(most).map_or(bytes.len(), |most| most.min(bytes.len()));
    let (part, rest) = bytes.split_at(length);
    *bytes = rest;
    part
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// Digits only: `parse` would take a sign too.
fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
