//! What fuzz targets and tests need of the parsers; no part of the public interface.

use model::Malformed;

use crate::content::Decoded;
use crate::response::{Framer, Ignore};

/// Status, length of the decoded body in bytes, and whether the server lets the connection be used again.
pub type Outcome = Result<(u16, u64, bool), Malformed>;

/// Follows one connection.
#[derive(Debug, Default)]
pub struct Responses {
    framer: Framer,
}

impl Responses {
    /// What comes of a request whose answer comes in these pieces; after them, the connection ends if `closes`. An
    /// answer that is neither complete nor broken then is [`None`].
    pub fn answer<'a>(
        &mut self,
        pieces: impl IntoIterator<Item = &'a [u8]>,
        closes: bool,
        head_only: bool,
        takes_gzip: bool,
    ) -> Option<Outcome> {
        let mut decoded = Decoded::new(Ignore, takes_gzip);
        let mut answered = None;
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            if answered.is_some() {
                return Some(Err(Malformed::Surplus));
            }
            match self.framer.feed(piece, head_only, &mut decoded) {
                Ok(now) => answered = now,
                Err(why) => return Some(Err(why)),
            }
        }
        let answered = match answered {
            None if closes => self.framer.close(),
            None => return None,
            Some(answered) => Ok(answered),
        };
        Some(answered.and_then(|answered| {
            let length = decoded.finish().1?;
            Ok((answered.status, length, answered.keep_alive))
        }))
    }
}

/// Target `response`: any bytes in any pieces are what they are in one piece, and no body is longer than what came.
/// Of `data`, the first byte says what was asked, the second where pieces end, and the rest is the answer.
pub fn response(data: &[u8]) {
    let [asked, size, bytes @ ..] = data else { return };
    let (head_only, takes_gzip, size) = (asked & 1 != 0, asked & 2 != 0, usize::from(*size).max(1));
    let outcome = |pieces: &mut dyn Iterator<Item = &[u8]>, closes| {
        Responses::default().answer(pieces, closes, head_only, takes_gzip)
    };
    for closes in [true, false] {
        let whole = outcome(&mut [bytes].into_iter(), closes);
        let (left, right) = bytes.split_at(size.min(bytes.len()));
        assert_eq!(outcome(&mut [left, right].into_iter(), closes), whole, "in two, cut at {size}");
        assert_eq!(outcome(&mut bytes.chunks(size), closes), whole, "in pieces of {size}");
        assert_eq!(outcome(&mut bytes.chunks(1), closes), whole, "byte by byte");
        // Nor does it matter whether the head is known.
        let mut framer = Framer::default();
        let first = framer.feed(bytes, head_only, &mut Ignore);
        if let Ok(Some(_)) = first {
            assert_eq!(framer.feed(bytes, head_only, &mut Ignore), first, "again");
        }
        if let Some(Ok((_, length, _))) = whole {
            assert!(takes_gzip || length <= bytes.len() as u64, "{length} of {}", bytes.len());
        }
    }
}
