//! Finds where an HTTP/1.1 response ends (RFC 9112 §6.3), in whatever pieces its bytes come.
//!
//! Nothing is copied but a head that came in part: bodies are counted where they lie. What is accepted, what is not and
//! why is a table in `docs/http.md`.

use std::mem::{self, MaybeUninit};

use httparse::{EMPTY_HEADER, ParserConfig, Status};
use model::Malformed;
use model::malformed::{LONGEST_HEAD, MOST_FIELDS};

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

/// Longest head that is remembered, bytes.
const LONGEST_KNOWN: usize = 2 * 1024;

/// Sees the parts of a response that framing itself does not keep.
pub(crate) trait Sink {
    /// Whether it looks at fields.
    const SEES_FIELDS: bool = true;

    /// The next field of the final head.
    fn field(&mut self, name: &str, value: &[u8]);
    /// The next bytes of the body.
    fn body(&mut self, bytes: &[u8]);

    /// Whether it looks at the body of the answer that is coming.
    fn sees_body(&self) -> bool {
        true
    }
}

/// Keeps nothing.
#[derive(Debug, Default)]
pub(crate) struct Ignore;

impl Sink for Ignore {
    const SEES_FIELDS: bool = false;

    fn field(&mut self, _: &str, _: &[u8]) {}
    fn body(&mut self, _: &[u8]) {}

    fn sees_body(&self) -> bool {
        false
    }
}

/// A field's value as text: bytes outside UTF-8 are replaced, and a folded line stands for a blank (RFC 9112 §5.2).
pub(crate) fn text(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ")
}

/// Follows one response after another on a connection.
#[derive(Debug, Default)]
pub(crate) struct Framer {
    stage: ParseState,
    /// The beginning of a head whose end has not come; its memory is used again.
    partial: Vec<u8>,
    /// The last head, which means again what it meant: most differ from the one before only when a second is over.
    known: Vec<u8>,
    known_head_only: bool,
    known_stage: ParseState,
    status: u16,
    keep_alive: bool,
    body_bytes: u64,
}

#[derive(Debug, Default, Clone, Copy)]
enum ParseState {
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
    /// A digit of a chunk's size; the first one, if `size` is none.
    Size {
        size: Option<u64>,
    },
    /// More of what follows the size on its line.
    Extension {
        size: u64,
    },
    /// The line feed after the size.
    SizeLf {
        size: u64,
    },
    /// So many bytes of the chunk.
    Data {
        left: u64,
    },
    /// The line end after a chunk.
    DataCr,
    DataLf,
    /// The beginning of a line after the last chunk; `folds` says whether it may go on with the field before it.
    Line {
        folds: bool,
    },
    /// More of a trailer field's name.
    Name,
    /// More of its value.
    Value,
    /// The line feed after it.
    ValueLf,
    /// The line feed of the empty line that ends it all.
    LastLf,
}

/// How a response goes on after its head.
struct Body {
    stage: ParseState,
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
                ParseState::Head => {
                    let Some(used) = self.feed_head(bytes, head_only, sink)? else { return Ok(None) };
                    bytes = &bytes[used..];
                    // Either an interim response was skipped and a head is next, or the body begins.
                    matches!(self.stage, ParseState::Length(0))
                }
                ParseState::Length(left) => {
                    let part = take(&mut bytes, *left);
                    *left -= part.len() as u64;
                    let complete = *left == 0;
                    self.count(part, sink);
                    complete
                }
                ParseState::UntilClose => {
                    self.count(mem::take(&mut bytes), sink);
                    false
                }
                ParseState::Chunked(chunk) => {
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

    /// How many of the next bytes need not be seen.
    pub fn skippable(&self) -> u64 {
        match self.stage {
            ParseState::Length(left) => left,
            ParseState::Head | ParseState::Chunked(_) | ParseState::UntilClose => 0,
        }
    }

    /// Takes the next bytes of a connection unseen: more than are [`Self::skippable`] are too many. Returns the
    /// response when they complete it.
    pub fn skip(&mut self, bytes: u64) -> Result<Option<Answered>, Malformed> {
        let left = self.skippable().checked_sub(bytes).ok_or(Malformed::Surplus)?;
        self.stage = ParseState::Length(left);
        self.body_bytes += bytes;
        if left == 0 { self.complete(&[]).map(Some) } else { Ok(None) }
    }

    /// Takes the orderly end of the connection. Returns the response if that is what completes it.
    pub fn close(&mut self) -> Result<Answered, Malformed> {
        match self.stage {
            ParseState::UntilClose => self.complete(&[]),
            ParseState::Head | ParseState::Length(_) | ParseState::Chunked(_) => Err(self.cut()),
        }
    }

    /// What is missing if nothing more comes.
    pub fn cut(&self) -> Malformed {
        match self.stage {
            ParseState::Head if self.partial.is_empty() => Malformed::NoAnswer,
            ParseState::Head => Malformed::CutHead,
            ParseState::Length(_) | ParseState::UntilClose => Malformed::CutBody,
            ParseState::Chunked(_) => Malformed::CutChunks,
        }
    }

    /// Whether nothing has come of another response.
    pub fn is_at_rest(&self) -> bool {
        matches!(self.stage, ParseState::Head) && self.partial.is_empty()
    }

    /// Forgets whatever came, for a new connection.
    pub fn reset(&mut self) {
        self.stage = ParseState::Head;
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
        if rest.is_empty() { Ok(answered) } else { Err(Malformed::Surplus) }
    }

    /// Returns how many of `bytes` belong to the head that they complete.
    fn feed_head<S: Sink>(&mut self, bytes: &[u8], head_only: bool, sink: &mut S) -> Result<Option<usize>, Malformed> {
        if self.partial.is_empty() {
            if !S::SEES_FIELDS && self.is_known(bytes, head_only) {
                self.stage = self.known_stage;
                return Ok(Some(self.known.len()));
            }
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

    #[inline]
    fn is_known(&self, bytes: &[u8], head_only: bool) -> bool {
        !self.known.is_empty() && self.known_head_only == head_only && bytes.starts_with(&self.known)
    }

    /// Returns the length of the head that `bytes` begin with, if it is all there.
    fn parse_head(&mut self, bytes: &[u8], head_only: bool, sink: &mut impl Sink) -> Result<Option<usize>, Malformed> {
        // What the parser would skip is no part of a response.
        if let Some(b'\r' | b'\n') = bytes.first() {
            return Err(Malformed::EmptyLine);
        }
        let bytes = &bytes[..bytes.len().min(LONGEST_HEAD)];
        let mut fields = [const { MaybeUninit::uninit() }; MOST_FIELDS];
        let mut no_fields = [EMPTY_HEADER; 0];
        let mut head = httparse::Response::new(&mut no_fields);
        let mut parser = ParserConfig::default();
        // A user agent takes a folded line for a blank (RFC 9112 §5.2).
        parser.allow_obsolete_multiline_headers_in_responses(true);
        let length = match parser.parse_response_with_uninit_headers(&mut head, bytes, &mut fields) {
            Ok(Status::Complete(length)) => length,
            Ok(Status::Partial) if bytes.len() < LONGEST_HEAD => return Ok(None),
            Ok(Status::Partial) => return Err(Malformed::LongHead),
            Err(error) => return Err(named(error, bytes)),
        };
        let status = head.code.unwrap_or_default();
        match status {
            101 => return Err(Malformed::Switch),
            100..200 => return Ok(Some(length)),
            _ => {}
        }
        let body = body_after(&head, status, head_only)?;
        self.status = status;
        self.stage = body.stage;
        self.keep_alive = body.keep_alive;
        self.known.clear();
        if length <= LONGEST_KNOWN {
            self.known.extend_from_slice(&bytes[..length]);
            (self.known_stage, self.known_head_only) = (self.stage, head_only);
        }
        for field in head.headers.iter() {
            sink.field(field.name, field.value);
        }
        Ok(Some(length))
    }
}

/// RFC 9112 §6.3, with §9.3 for the connection's persistence.
fn body_after(head: &httparse::Response<'_, '_>, status: u16, head_only: bool) -> Result<Body, Malformed> {
    // Without a body, whatever the fields say.
    let bodiless = head_only || matches!(status, 204 | 304);
    let mut length = None;
    let mut codings = Codings::None;
    let (mut close, mut keep) = (false, false);
    for field in head.headers.iter() {
        let name = field.name;
        if name.eq_ignore_ascii_case("content-length") {
            if !bodiless {
                length = Some(content_length(field.value, length)?);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            codings = codings.and(field.value);
        } else if name.eq_ignore_ascii_case("connection") {
            close |= tokens(field.value).any(|token| token.eq_ignore_ascii_case(b"close"));
            keep |= tokens(field.value).any(|token| token.eq_ignore_ascii_case(b"keep-alive"));
        }
    }
    let stage = match (codings, length) {
        _ if bodiless => ParseState::Length(0),
        (Codings::None, Some(length)) => ParseState::Length(length),
        (Codings::None, None) => ParseState::UntilClose,
        (_, Some(_)) => return Err(Malformed::LengthAndCoding),
        _ if head.version == Some(0) => return Err(Malformed::OldCoding),
        (Codings::Chunked, None) => ParseState::Chunked(Chunk::Size { size: None }),
        (Codings::ChunkedTwice, None) => return Err(Malformed::ChunkedTwice),
        (Codings::Other, None) => return Err(Malformed::UnaskedCoding),
    };
    let persistent = !close && (head.version == Some(1) || keep);
    Ok(Body { stage, keep_alive: persistent && !matches!(stage, ParseState::UntilClose) })
}

/// The number in a `Content-Length`, which may be there several times if it is the same one.
fn content_length(value: &[u8], mut before: Option<u64>) -> Result<u64, Malformed> {
    for number in value.split(|byte| *byte == b',') {
        let number = decimal(number.trim_ascii())?;
        if before.is_some_and(|before| before != number) {
            return Err(Malformed::DifferentLengths);
        }
        before = Some(number);
    }
    before.ok_or(Malformed::ContentLength)
}

/// Digits only: `parse` would take a sign too.
fn decimal(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Malformed::ContentLength);
    }
    let digits = str::from_utf8(digits).map_err(|_| Malformed::ContentLength)?;
    digits.parse().map_err(|_| Malformed::ContentLengthOverflow)
}

/// What `Transfer-Encoding` says, in however many fields.
#[derive(Debug, Clone, Copy)]
enum Codings {
    None,
    Chunked,
    ChunkedTwice,
    /// Another coding, or none though the field is there.
    Other,
}

impl Codings {
    fn and(self, value: &[u8]) -> Self {
        let mut codings = tokens(value).filter(|coding| !coding.is_empty()).peekable();
        if codings.peek().is_none() {
            return Self::Other;
        }
        codings.fold(self, |before, coding| match before {
            _ if !coding.eq_ignore_ascii_case(b"chunked") => Self::Other,
            Self::None => Self::Chunked,
            Self::Chunked => Self::ChunkedTwice,
            Self::ChunkedTwice | Self::Other => before,
        })
    }
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
            (Self::Size { size }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
                let size = size.unwrap_or(0).checked_mul(16).ok_or(Malformed::ChunkSizeOverflow)? | digit;
                Self::Size { size: Some(size) }
            }
            (Self::Size { size: Some(size) } | Self::Extension { size }, b'\r') => Self::SizeLf { size },
            (Self::Size { size: Some(_) } | Self::Extension { .. }, b'\n') => return Err(Malformed::ChunkSizeEnd),
            (Self::Size { size: Some(size) }, b';' | b' ' | b'\t') => Self::Extension { size },
            (Self::Size { .. }, _) => return Err(Malformed::ChunkSize),
            (Self::Extension { size }, _) if is_text(byte) => Self::Extension { size },
            (Self::Extension { .. }, _) => return Err(Malformed::ChunkExtension),
            (Self::SizeLf { size: 0 }, b'\n') => Self::Line { folds: false },
            (Self::SizeLf { size }, b'\n') => Self::Data { left: size },
            (Self::SizeLf { .. }, _) => return Err(Malformed::ChunkSizeEnd),
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::Size { size: None },
            (Self::Data { .. } | Self::DataCr | Self::DataLf, _) => return Err(Malformed::ChunkEnd),
            (Self::Line { .. }, b'\r') => Self::LastLf,
            // As in a head, a line may end in a line feed alone.
            (Self::LastLf | Self::Line { .. }, b'\n') => return Ok(None),
            (Self::Line { folds: true }, b' ' | b'\t') => Self::Value,
            (Self::Line { .. } | Self::Name, _) if is_token(byte) => Self::Name,
            (Self::Name, b':') => Self::Value,
            (Self::Value, b'\r') => Self::ValueLf,
            (Self::Value | Self::ValueLf, b'\n') => Self::Line { folds: true },
            (Self::Value, _) if is_text(byte) => Self::Value,
            (Self::Line { .. } | Self::Name | Self::Value | Self::ValueLf | Self::LastLf, _) => {
                return Err(Malformed::Trailer);
            }
        };
        Ok(Some(next))
    }
}

/// Which rule it was that the parser found broken, by the first place in `bytes` that breaks one.
#[cold]
fn named(error: httparse::Error, bytes: &[u8]) -> Malformed {
    let mut lines = bytes.split(|byte| *byte == b'\n').skip(1);
    match error {
        httparse::Error::Version => Malformed::Version,
        httparse::Error::TooManyHeaders => Malformed::ManyFields,
        httparse::Error::NewLine => Malformed::BareCr,
        httparse::Error::HeaderName => {
            let (first, mut others) = (lines.next().unwrap_or_default(), lines);
            if let [b' ' | b'\t', ..] = first {
                return Malformed::BlankBeforeFields;
            }
            name_error(first).or_else(|| others.find_map(name_error)).unwrap_or(Malformed::FieldName)
        }
        httparse::Error::HeaderValue => lines.find_map(value_error).unwrap_or(Malformed::FieldValue),
        _ => Malformed::StatusLine,
    }
}

/// What is wrong before the colon of this line, if it does not go on with the one before.
fn name_error(line: &[u8]) -> Option<Malformed> {
    let name = line.iter().take_while(|byte| is_token(**byte)).count();
    match (name, line.get(name)) {
        (1.., Some(b':')) | (0, Some(b' ' | b'\t')) => None,
        (1.., Some(b' ' | b'\t')) => Some(Malformed::BlankAfterName),
        _ => Some(Malformed::FieldName),
    }
}

/// What is wrong in the value of this line, whose end is a line feed or the end of what came.
fn value_error(line: &[u8]) -> Option<Malformed> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let wrong = line.iter().find(|byte| !is_text(**byte))?;
    Some(if *wrong == b'\r' { Malformed::BareCr } else { Malformed::FieldValue })
}

/// Splits at most `most` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], most: u64) -> &'a [u8] {
    let length = usize::try_from(most).map_or(bytes.len(), |most| most.min(bytes.len()));
    let (part, rest) = bytes.split_at(length);
    *bytes = rest;
    part
}

/// The members of a list (RFC 9110 §5.6.1); empty ones too.
pub(crate) fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}

/// RFC 9110 §5.6.2.
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// What a field's value is made of (RFC 9110 §5.5).
fn is_text(byte: u8) -> bool {
    byte == b'\t' || !byte.is_ascii_control()
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
