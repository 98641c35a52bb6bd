//! Undoes the content coding of a body (RFC 9110 §8.4) as it comes: gzip, where the request offers it.
//!
//! A body that comes as it is never passes here, nor does any of a request that does not offer gzip.

use std::io::{self, Write};
use std::mem;

use flate2::write::MultiGzDecoder;
use model::Malformed;
use model::malformed::LONGEST_DECODED;

use crate::response::{Sink, tokens};

/// Longest body that is kept, bytes.
pub(crate) const LONGEST_BODY: usize = 64 * 1024 * 1024;

/// Passes one answer on, its body without gzip.
#[derive(Debug)]
pub(crate) struct Decoded<S: Sink> {
    codings: Codings,
    body: Body<S>,
}

/// What `Content-Encoding` says, in however many fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Codings {
    None,
    Gzip,
    /// Left on the body: other codings, several of them, or any where none was offered.
    Left,
}

#[derive(Debug)]
enum Body<S: Sink> {
    AsItCame(Plain<S>),
    Gzip(Box<MultiGzDecoder<Plain<S>>>),
    Broken { sink: S, why: Malformed },
}

/// Counts what is passed on, up to the longest body that is accepted.
#[derive(Debug, Default)]
struct Plain<S> {
    sink: S,
    length: u64,
}

impl<S: Sink + Default> Decoded<S> {
    /// Passes an answer on to `sink`; `takes_gzip` says whether the request offers gzip: else it stays as it comes.
    pub fn new(sink: S, takes_gzip: bool) -> Self {
        let codings = if takes_gzip { Codings::None } else { Codings::Left };
        Self { codings, body: Body::AsItCame(Plain { sink, length: 0 }) }
    }

    /// The sink, and the length in bytes of the body it was given, the answer being complete.
    pub fn finish(self) -> (S, Result<u64, Malformed>) {
        match self.body {
            Body::AsItCame(Plain { sink, length }) => (sink, Ok(length)),
            Body::Gzip(mut decoder) => {
                let why = decoder.try_finish().err().map(|_| why(decoder.get_ref()));
                let Plain { sink, length } = mem::take(decoder.get_mut());
                (sink, why.map_or(Ok(length), Err))
            }
            Body::Broken { sink, why } => (sink, Err(why)),
        }
    }

    /// What the answer is passed on to.
    pub fn sink(&mut self) -> &mut S {
        match &mut self.body {
            Body::AsItCame(plain) => &mut plain.sink,
            Body::Gzip(decoder) => &mut decoder.get_mut().sink,
            Body::Broken { sink, .. } => sink,
        }
    }
}

impl<S: Sink + Default> Sink for Decoded<S> {
    fn field(&mut self, name: &str, value: &[u8]) {
        self.sink().field(name, value);
        if name.eq_ignore_ascii_case("content-encoding") {
            self.codings = self.codings.and(value);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        // Without a byte there is no body, and so no broken gzip.
        if bytes.is_empty() {
            return;
        }
        if self.codings == Codings::Gzip
            && let Body::AsItCame(plain) = &mut self.body
        {
            self.body = Body::Gzip(Box::new(MultiGzDecoder::new(mem::take(plain))));
        }
        match &mut self.body {
            Body::AsItCame(plain) => {
                plain.length += bytes.len() as u64;
                plain.sink.body(bytes);
            }
            Body::Gzip(decoder) => {
                if decoder.write_all(bytes).is_err() {
                    let why = why(decoder.get_ref());
                    let sink = mem::take(&mut decoder.get_mut().sink);
                    self.body = Body::Broken { sink, why };
                }
            }
            Body::Broken { .. } => {}
        }
    }
}

impl<S: Sink> Write for Plain<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len() as u64;
        if self.length > LONGEST_DECODED {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.sink.body(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Why a decoder stopped that wrote to `plain`.
fn why<S>(plain: &Plain<S>) -> Malformed {
    if plain.length > LONGEST_DECODED { Malformed::LongBody } else { Malformed::Gzip }
}

impl Codings {
    fn and(self, value: &[u8]) -> Self {
        tokens(value).filter(|coding| !coding.is_empty()).fold(self, |before, coding| {
            let is_gzip = coding.eq_ignore_ascii_case(b"gzip") || coding.eq_ignore_ascii_case(b"x-gzip");
            if before == Self::None && is_gzip { Self::Gzip } else { Self::Left }
        })
    }
}

/// Keeps a body, up to the longest that is kept anywhere, where it is wanted.
#[derive(Debug, Default)]
pub(crate) struct BufferedBody {
    wanted: bool,
    body: Vec<u8>,
}

impl BufferedBody {
    /// What `sink` will be given when the answer is complete.
    pub fn for_sink(sink: &impl Sink) -> Self {
        Self { wanted: sink.sees_body(), body: Vec::new() }
    }

    /// Passes it on.
    pub fn give(&self, sink: &mut impl Sink) {
        if self.wanted {
            sink.body(&self.body);
        }
    }
}

impl Sink for BufferedBody {
    fn field(&mut self, _: &str, _: &[u8]) {}

    fn body(&mut self, bytes: &[u8]) {
        if self.wanted {
            let room = LONGEST_BODY - self.body.len().min(LONGEST_BODY);
            self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }
}

/// Whether an `Accept-Encoding` of this value offers gzip (RFC 9110 §12.5.3).
pub(crate) fn offers_gzip(value: &str) -> bool {
    value.split(',').any(|offer| {
        let mut parts = offer.split(';').map(str::trim);
        let coding = parts.next().unwrap_or_default();
        let weight = parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        let refused = weight.is_some_and(|weight| weight.parse() == Ok(0.0));
        ["gzip", "x-gzip", "*"].iter().any(|known| coding.eq_ignore_ascii_case(known)) && !refused
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_offered_unless_refused() {
        for value in ["gzip", "br, GZIP;q=0.5", "x-gzip", "*", "deflate , gzip ; q=1"] {
            assert!(offers_gzip(value), "{value}");
        }
        for value in ["", "br", "gzip;q=0", "identity, gzip; q=0.000", "gzipped"] {
            assert!(!offers_gzip(value), "{value}");
        }
    }

    #[test]
    fn a_bomb_goes_off_nowhere() {
        // `printf hello | gzip -n`
        let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
        let after = |before: u64| {
            let mut decoded = Decoded::new(crate::response::Ignore, true);
            decoded.field("Content-Encoding", b"gzip");
            decoded.body(&hello[..1]);
            let Body::Gzip(gzip) = &mut decoded.body else { panic!("no gzip") };
            gzip.get_mut().length = before;
            decoded.body(&hello[1..]);
            decoded.finish().1
        };
        assert_eq!(after(LONGEST_DECODED - 5), Ok(LONGEST_DECODED));
        assert_eq!(after(LONGEST_DECODED - 4), Err(Malformed::LongBody));
    }
}
