//! Templates made ready for being filled in again and again.

use std::borrow::Cow;

use model::Template;
use model::template::Part;

/// Names of variables; a variable is known by its place among them.
#[derive(Debug, Default)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// The place of a variable, which is new if nothing has named it so far.
    pub fn place(&mut self, name: &str) -> usize {
        self.0.iter().position(|known| known == name).unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// What a value has to keep out of, where it is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A path with its query: what it cannot hold is percent-encoded (RFC 3986 §2.1).
    Path,
    /// The value of a header field: control characters become spaces (RFC 9110 §5.5).
    Field,
    /// A body, or something to compare with: anything goes.
    Body,
}

/// Texts and places for values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filling {
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(String),
    Value(usize, Place),
}

impl Filling {
    /// `template` on its own.
    pub fn of(template: &Template, place: Place, names: &mut Names) -> Self {
        let mut filling = Self::default();
        filling.push(template, place, names);
        filling
    }

    /// Adds a text as it is.
    pub fn push_text(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Text(before)) => before.push_str(text),
            Some(Piece::Value(..)) | None => self.pieces.push(Piece::Text(text.to_owned())),
        }
    }

    /// Adds a template, whose values go to such a place.
    pub fn push(&mut self, template: &Template, place: Place, names: &mut Names) {
        for part in template.parts() {
            match part {
                Part::Text(text) => self.push_text(text),
                Part::Variable(name) => self.pieces.push(Piece::Value(names.place(name), place)),
            }
        }
    }

    /// Appends it to `out`, filled in.
    pub fn write(&self, values: &[String], out: &mut Vec<u8>) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.extend_from_slice(text.as_bytes()),
                Piece::Value(variable, place) => out.extend_from_slice(fit(&values[*variable], *place).as_bytes()),
            }
        }
    }

    /// It filled in, as a text.
    pub fn text(&self, values: &[String]) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => Cow::Borrowed(text.as_str()),
                Piece::Value(variable, place) => fit(&values[*variable], *place),
            })
            .collect()
    }

    /// Its length in bytes, filled in.
    pub fn length(&self, values: &[String]) -> usize {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.len(),
                Piece::Value(variable, place) => fit(&values[*variable], *place).len(),
            })
            .sum()
    }
}

fn fit(value: &str, place: Place) -> Cow<'_, str> {
    let breaks = |byte: u8| match place {
        // What RFC 3986 §3.3 and §3.4 leave out. A `%` is taken for the beginning of something encoded already.
        Place::Path => !byte.is_ascii_graphic() || b"\"#<>\\^`{|}".contains(&byte),
        Place::Field => byte.is_ascii_control(),
        Place::Body => false,
    };
    if !value.bytes().any(breaks) {
        return Cow::Borrowed(value);
    }
    let fitted = match place {
        Place::Path => value
            .bytes()
            .map(|byte| if breaks(byte) { format!("%{byte:02X}") } else { char::from(byte).to_string() })
            .collect(),
        Place::Field | Place::Body => value.replace(|c: char| c.is_ascii_control(), " "),
    };
    Cow::Owned(fitted)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fuzzing;

    fn filled(text: &str, place: Place, value: &str) -> String {
        let mut names = Names::default();
        let filling = Filling::of(&Template::parse(text).unwrap(), place, &mut names);
        let values = vec![value.to_owned(); names.count()];
        let mut out = b"before ".to_vec();
        filling.write(&values, &mut out);
        assert_eq!(filling.text(&values).as_bytes(), &out[7..]);
        assert_eq!(filling.length(&values), out.len() - 7);
        filling.text(&values)
    }

    #[test]
    fn values_take_the_places_of_variables() {
        assert_eq!(filled("/a/${x}/b?${x}&${y}", Place::Path, "1"), "/a/1/b?1&1");
        assert_eq!(filled("", Place::Body, "1"), "");
    }

    proptest! {
        #[test]
        fn any_template_takes_any_value(text in "([a-z/ #$\\r]{0,4}(\\$\\{[a-c]{0,2}\\}){0,2}){0,4}", value in "(?s).{0,8}") {
            fuzzing::template(&text, &value);
        }
    }

    #[test]
    fn no_value_breaks_out_of_its_place() {
        assert_eq!(filled("/${x}", Place::Path, "a b\r\né#%20/?&="), "/a%20b%0D%0A%C3%A9%23%20/?&=");
        assert_eq!(filled("Bearer ${x}", Place::Field, "a\r\nHost: é"), "Bearer a  Host: é");
        assert_eq!(filled("{\"a\": ${x}}", Place::Body, "\"\n\""), "{\"a\": \"\n\"}");
    }
}
