//! The tags of XML, one after another, from lines of it. What stands between tags is passed over, and nothing is ever expanded, so a
//! document takes no more memory than its longest tag may.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};

/// Longest tag that is read.
const LONGEST: usize = 1 << 16;
const TOO_LONG: &str = "a tag is longer than 64 KiB";

/// What a reader of tags is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Text,
    /// What says itself how it ends: a comment, for one.
    Skipped(&'static str),
    /// A tag; in these quotes, if any.
    Tag(Option<u8>),
}

/// What is passed over, by how it begins and ends. The longer beginnings stand first.
const SKIPPED: [(&str, &str); 4] = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];

/// Reads tags that may go over several lines.
#[derive(Debug)]
pub struct Tags {
    within: Within,
    /// The tag so far, of the lines before.
    before: String,
}

impl Tags {
    pub fn new() -> Self {
        Self { within: Within::Text, before: String::new() }
    }

    /// Whether the last line ended inside a tag.
    pub fn is_within_one(&self) -> bool {
        matches!(self.within, Within::Tag(_))
    }

    /// Lets every tag that ends in this line be heard, without its brackets. The first thing that is wrong with one is returned, when
    /// all of them were heard.
    pub fn hear(
        &mut self,
        line: &str,
        mut hear: impl FnMut(&str) -> Result<(), &'static str>,
    ) -> Result<(), &'static str> {
        let (mut rest, mut heard) = (line, Ok(()));
        loop {
            match self.within {
                Within::Text => {
                    let Some(at) = memchr(b'<', rest.as_bytes()) else { return heard };
                    let tag = &rest[at..];
                    let skipped = SKIPPED.iter().find_map(|(begin, end)| Some((tag.strip_prefix(begin)?, *end)));
                    (self.within, rest) = match skipped {
                        Some((inside, end)) => (Within::Skipped(end), inside),
                        None => (Within::Tag(None), &tag[1..]),
                    };
                }
                Within::Skipped(end) => {
                    let Some(at) = memmem::find(rest.as_bytes(), end.as_bytes()) else { return heard };
                    (self.within, rest) = (Within::Text, &rest[at + end.len()..]);
                }
                Within::Tag(_) => {
                    let Some(length) = self.length(rest) else {
                        self.before.push_str(rest);
                        self.before.push('\n');
                        if self.before.len() > LONGEST {
                            *self = Self::new();
                            heard = heard.and(Err(TOO_LONG));
                        }
                        return heard;
                    };
                    let (tag, after) = rest.split_at(length);
                    let is_closed = after.starts_with('>');
                    let this = if !is_closed {
                        Err("another tag begins inside one")
                    } else if self.before.len() + length > LONGEST {
                        Err(TOO_LONG)
                    } else if self.before.is_empty() {
                        hear(tag)
                    } else {
                        self.before.push_str(tag);
                        hear(&self.before)
                    };
                    heard = heard.and(this);
                    self.before.clear();
                    (self.within, rest) = (Within::Text, if is_closed { &after[1..] } else { after });
                }
            }
        }
    }

    /// How much of a text still belongs to the tag that it begins in; `None` if all of it. A tag ends where another begins, even in
    /// quotes, since XML has no such character in them.
    fn length(&mut self, text: &str) -> Option<usize> {
        let mut from = 0;
        loop {
            let Within::Tag(quote) = self.within else { return Some(from) };
            let found = match quote {
                Some(quote) => memchr2(quote, b'<', &text.as_bytes()[from..]),
                None => text.as_bytes()[from..].iter().position(|byte| matches!(byte, b'>' | b'<' | b'"' | b'\'')),
            };
            let at = from + found?;
            match text.as_bytes()[at] {
                b'>' | b'<' => return Some(at),
                other => self.within = Within::Tag(if quote.is_some() { None } else { Some(other) }),
            }
            from = at + 1;
        }
    }
}

/// The name of a tag, and its attributes as they are written. A closing tag's name begins with `/`.
pub fn name(tag: &str) -> (&str, &str) {
    let end = tag.char_indices().find(|(at, byte)| byte.is_ascii_whitespace() || (*at > 0 && *byte == '/'));
    tag.split_at(end.map_or(tag.len(), |(at, _)| at))
}

/// The attributes of a tag, each a name and a value as it is written; what is wrong with them, after which nothing follows.
pub fn attributes(mut written: &str) -> impl Iterator<Item = Result<(&str, &str), &'static str>> {
    const BROKEN: &str = "its attributes are not of the form name=\"value\"";
    std::iter::from_fn(move || {
        written = written.trim_ascii_start();
        if matches!(written, "" | "/") {
            return None;
        }
        let next = written.split_once('=').and_then(|(name, rest)| {
            let rest = rest.trim_ascii_start();
            let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
            let (value, rest) = rest[1..].split_once(quote)?;
            let name = name.trim_ascii_end();
            let is_name = !name.is_empty() && !name.contains(|byte: char| byte.is_ascii_whitespace() || byte == '"');
            is_name.then_some((name, value, rest))
        });
        let Some((name, value, rest)) = next else {
            written = "";
            return Some(Err(BROKEN));
        };
        written = rest;
        Some(Ok((name, value)))
    })
}

/// Entities that XML knows without a declaration.
const ENTITIES: [(&str, char); 5] = [("lt", '<'), ("gt", '>'), ("amp", '&'), ("quot", '"'), ("apos", '\'')];
/// Longest entity by its number: `#x10FFFF`, with some zeros.
const LONGEST_ENTITY: usize = 12;

/// A value as it was meant. What is no entity stays as it is written.
pub fn unescaped(written: &str) -> Cow<'_, str> {
    if memchr(b'&', written.as_bytes()).is_none() {
        return Cow::Borrowed(written);
    }
    let mut meant = String::with_capacity(written.len());
    let mut parts = written.split('&');
    meant.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let entity = part.split_once(';').filter(|(name, _)| name.len() <= LONGEST_ENTITY);
        if let Some((character, rest)) = entity.and_then(|(name, rest)| Some((entity_named(name)?, rest))) {
            meant.push(character);
            meant.push_str(rest);
        } else {
            meant.push('&');
            meant.push_str(part);
        }
    }
    Cow::Owned(meant)
}

fn entity_named(name: &str) -> Option<char> {
    let number = || {
        let digits = name.strip_prefix('#')?;
        let number = match digits.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        char::from_u32(number.ok()?)
    };
    ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, character)| *character).or_else(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tags of a text, and what was wrong in each of its lines.
    fn heard(text: &str) -> (Vec<String>, Vec<Result<(), &'static str>>) {
        let (mut tags, mut found) = (Tags::new(), Vec::new());
        let lines = text.lines().map(|line| {
            tags.hear(line, |tag| {
                found.push(tag.to_owned());
                Ok(())
            })
        });
        let lines = lines.collect();
        (found, lines)
    }

    #[test]
    fn comments_and_data_have_no_tags() {
        let (found, lines) = heard("<?xml a=\"<b>\"?><!-- <c> -->\n<![CDATA[ <d>\n<e> ]]><f/><!DOCTYPE g>text > <h>");
        assert_eq!(found, ["f/", "h"]);
        assert!(lines.iter().all(Result::is_ok));
    }

    #[test]
    fn a_tag_goes_over_lines_and_quotes_may_hold_its_end() {
        let (found, _) = heard("<a b='>'\n c=\"it's > \"\n/></a>");
        assert_eq!(found, ["a b='>'\n c=\"it's > \"\n/", "/a"]);
    }

    #[test]
    fn a_tag_that_nobody_closes_takes_no_other_with_it() {
        let (found, lines) = heard("<a b=\"c\n<d>\n<e f=\"<g>");
        assert_eq!(found, ["d", "g"]);
        assert_eq!(lines.iter().filter(|line| line.is_err()).count(), 2);
        let long = format!("<a b=\"{}\n<c>", "x".repeat(2 * LONGEST));
        let (found, lines) = heard(&long);
        assert!(found == ["c"] && lines[0].is_err(), "{found:?}");
    }

    #[test]
    fn attributes_have_any_order_and_quotes() {
        let (name, written) = name("a b = 'c'\n\td=\"e&amp;'\"/");
        let found: Vec<_> = attributes(written).collect();
        assert_eq!((name, found), ("a", vec![Ok(("b", "c")), Ok(("d", "e&amp;'"))]));
        for broken in [" b", " b=c", " b=\"c", " =\"c\"", " b c=\"d\""] {
            assert!(attributes(broken).any(|attribute| attribute.is_err()), "{broken}");
        }
    }

    #[test]
    fn entities_are_what_they_stand_for() {
        assert_eq!(unescaped("&lt;a&gt; &amp;amp; &#65;&#x42;"), "<a> &amp; AB");
        for kept in ["&", "a & b;", "&none;", "&#x110000;", "&#;", "&&&;"] {
            assert_eq!(unescaped(kept), kept);
        }
    }

    proptest! {
        /// Where lines end does not matter, since a line's end is a space.
        #[test]
        fn tags_do_not_depend_on_lines(text in "[<>/a \"'!=\n-]{0,60}") {
            let spaced = |text: &str| heard(text).0.iter().map(|tag| tag.replace('\n', " ")).collect::<Vec<_>>();
            // What a comment begins with is one word.
            prop_assume!(!text.contains('!'));
            prop_assert_eq!(spaced(&text), spaced(&text.replace('\n', " ")));
        }
    }
}
