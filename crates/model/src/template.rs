//! Texts with variables: `/items/${id}`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use thiserror::Error;

/// A text in which `${name}` stands for a variable's value.
///
/// Where `${` is meant itself, it is written `$${`: of the dollars just before a brace each pair stands for one, so
/// that `$$${price}` is a dollar and a price. All other dollars stand for themselves.
///
/// A name begins with a letter or `_` and goes on with letters, digits, `_`, `-` and `.`, all of them ASCII. A
/// template is stored as its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Stands for itself; never empty, and never next to another text.
    Text(String),
    /// The name of a variable, whose value stands here.
    Variable(String),
}

/// Why a text is no template. Positions count in bytes from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// The brace is not closed.
    #[error("`${{` at byte {at} has no `}}`: close it, or write `$${{` for the characters themselves")]
    Open {
        /// Where the `$` is.
        at: usize,
    },
    /// What stands between the braces is no name.
    #[error(
        "`${{` at byte {at} is followed by no name of letters, digits, `_`, `-` and `.`: correct it, or write `$${{` \
         for the characters themselves"
    )]
    Name {
        /// Where the `$` is.
        at: usize,
    },
}

impl TemplateError {
    /// Where the fault is, in bytes from the beginning of the text.
    pub fn at(self) -> usize {
        match self {
            Self::Open { at } | Self::Name { at } => at,
        }
    }
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut template = Self::default();
        let mut done = 0;
        for (brace, _) in text.match_indices("${") {
            // A name holds no `$`: no match lies within a variable.
            let before = text[done..brace].trim_end_matches('$');
            template.push_text(before);
            let dollars = brace + 1 - done - before.len();
            template.push_text(&"$".repeat(dollars / 2));
            if dollars.is_multiple_of(2) {
                done = brace + 1;
                continue;
            }
            let inside = &text[brace + 2..];
            let (name, _) = inside.split_once('}').ok_or(TemplateError::Open { at: brace })?;
            if !is_name(name) {
                return Err(TemplateError::Name { at: brace });
            }
            template.parts.push(Part::Variable(name.to_owned()));
            done = brace + 2 + name.len() + 1;
        }
        template.push_text(&text[done..]);
        Ok(template)
    }

    /// A text that stands for itself, whatever is in it.
    pub fn literal(text: &str) -> Self {
        let mut template = Self::default();
        template.push_text(text);
        template
    }

    /// Its parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The variables it needs, in order, each as often as it occurs.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The text it begins with, before the first variable.
    pub fn beginning(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            Some(Part::Variable(_)) | None => "",
        }
    }

    /// The same template with each of its texts replaced by what `change` makes of it; variables stay.
    pub fn map_texts<E>(&self, mut change: impl FnMut(&str) -> Result<String, E>) -> Result<Self, E> {
        let mut mapped = Self::default();
        for part in &self.parts {
            match part {
                Part::Text(text) => mapped.push_text(&change(text)?),
                Part::Variable(_) => mapped.parts.push(part.clone()),
            }
        }
        Ok(mapped)
    }

    fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            _ if text.is_empty() => {}
            Some(Part::Text(before)) => before.push_str(text),
            Some(Part::Variable(_)) | None => self.parts.push(Part::Text(text.to_owned())),
        }
    }
}

/// The text that reads as this template.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                Part::Variable(name) => write!(f, "${{{name}}}")?,
                Part::Text(text) => {
                    let pieces = text.split_inclusive('{');
                    for piece in pieces {
                        let (piece, brace) = piece.strip_suffix('{').map_or((piece, ""), |piece| (piece, "{"));
                        let dollars = piece.len() - piece.trim_end_matches('$').len();
                        f.write_str(piece)?;
                        let before_variable = brace.is_empty() && index + 1 < self.parts.len();
                        if before_variable || !brace.is_empty() {
                            f.write_str(&"$".repeat(dollars))?;
                        }
                        f.write_str(brace)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

fn is_name(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    begins && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    fn variable(name: &str) -> Part {
        Part::Variable(name.to_owned())
    }

    #[test]
    fn variables_stand_between_braces() {
        let parts = |text| Template::parse(text).unwrap().parts;
        assert_eq!(parts("/a/${id}?x=${x.y-z_1}"), [text("/a/"), variable("id"), text("?x="), variable("x.y-z_1")]);
        assert_eq!(parts("${a}${_b}"), [variable("a"), variable("_b")]);
        assert_eq!(parts(""), []);
        assert_eq!(parts(r#"{"price": "$5", "a": {"$ref": 1}} $"#), [text(r#"{"price": "$5", "a": {"$ref": 1}} $"#)]);
    }

    #[test]
    fn dollars_before_a_brace_count_by_pairs() {
        let parts = |text| Template::parse(text).unwrap().parts;
        assert_eq!(parts("a$${b}"), [text("a${b}")]);
        assert_eq!(parts("$$${b}"), [text("$"), variable("b")]);
        assert_eq!(parts("$$$${b}${c}"), [text("$${b}"), variable("c")]);
        assert_eq!(parts("$$ $${ $"), [text("$$ ${ $")]);
    }

    #[test]
    fn what_is_no_template_says_where() {
        assert_eq!(Template::parse("ab${c"), Err(TemplateError::Open { at: 2 }));
        assert_eq!(Template::parse("${a}${"), Err(TemplateError::Open { at: 4 }));
        for wrong in ["é${}", "é${1}", "é${a b}", "é${a${b}}", "é${ä}"] {
            assert_eq!(Template::parse(wrong), Err(TemplateError::Name { at: 2 }), "{wrong}");
        }
    }

    #[test]
    fn only_texts_are_changed() {
        let shout = |text: &str| Ok::<_, ()>(text.to_uppercase());
        assert_eq!(Template::parse("a${a}b").unwrap().map_texts(shout).unwrap().to_string(), "A${a}B");
    }

    proptest! {
        #[test]
        fn a_text_without_variables_is_itself(plain in "[^{]*") {
            let template = Template::parse(&plain).unwrap();
            prop_assert_eq!(template.beginning(), plain.as_str());
            prop_assert!(template.parts.len() <= 1);
        }

        #[test]
        fn what_is_written_reads_as_the_same(mixed in "([a${}]|\\$\\{a\\}){0,12}") {
            if let Ok(template) = Template::parse(&mixed) {
                let json = serde_json::to_string(&template).unwrap();
                prop_assert_eq!(serde_json::from_str::<Template>(&json).unwrap(), template);
            }
        }
    }
}
