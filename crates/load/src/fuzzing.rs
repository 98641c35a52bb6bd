//! What fuzz targets and tests need of the parsers; no part of the public interface.

use model::template::Part;
use model::{Malformed, Template};

use crate::content::Decoded;
use crate::response::{Framer, Ignore};
use crate::scenario::template::{Filling, Names, Place};

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
    let [flags, size, bytes @ ..] = data else { return };
    let (head_only, takes_gzip, size) = (flags & 1 != 0, flags & 2 != 0, usize::from(*size).max(1));
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

/// Target `template`: any text as a template is read as what its own text is read as, or has a fault that lies within it;
/// and any value that fills it in stays in its place.
pub fn template(text: &str, value: &str) {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => return assert!(text[error.at()..].starts_with("${"), "{error}"),
    };
    assert_eq!(Template::parse(&template.to_string()).as_ref(), Ok(&template));
    for (place, ends) in [(Place::Path, "\r\n #"), (Place::Field, "\r\n\0"), (Place::Body, "")] {
        let mut names = Names::default();
        let filling = Filling::of(&template, place, &mut names);
        let [filled, empty] = [value, ""].map(|value| {
            let values = vec![value.to_owned(); names.count()];
            let (filled, mut written) = (filling.text(&values), Vec::new());
            filling.write(&values, &mut written);
            assert_eq!((written.as_slice(), filling.length(&values)), (filled.as_bytes(), filled.len()));
            filled
        });
        let ended = |filled: &str| filled.matches(|char| ends.contains(char)).count();
        assert_eq!(ended(&filled), ended(&empty), "{place:?}");
        let places = template.parts().iter().filter(|part| matches!(part, Part::Variable(_))).count();
        assert!(place != Place::Body || filled.len() == empty.len() + places * value.len());
    }
}
