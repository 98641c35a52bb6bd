//! A text's lines, whatever its size.

use std::io::{self, Read};

use memchr::memchr;

/// Longest line that is read; of a longer one the rest is left out.
const LONGEST: usize = 1 << 20;

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'l> {
    /// Its number in the text, from 1 on.
    pub number: u64,
    pub text: &'l [u8],
    /// It is longer than what is read of it.
    pub is_cut: bool,
}

/// The lines of what is read, one after another. It keeps no more than two of the longest.
pub struct Lines<'r> {
    source: Box<dyn Read + 'r>,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    number: u64,
    is_over: bool,
}

impl<'r> Lines<'r> {
    pub fn new(source: Box<dyn Read + 'r>) -> Self {
        Self { source, buffer: vec![0; 2 * LONGEST], begin: 0, end: 0, number: 0, is_over: false }
    }

    /// The beginning of what is left, half of the longest line or more where there is so much.
    pub fn head(&mut self) -> io::Result<&[u8]> {
        while !self.is_over && self.end - self.begin < LONGEST / 2 {
            self.fill()?;
        }
        Ok(&self.buffer[self.begin..self.end])
    }

    /// The next line.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let (mut searched, mut is_cut) = (0, false);
        let length = loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.begin + searched..self.end]) {
                break searched + at;
            }
            searched = self.end - self.begin;
            if self.is_over {
                break searched;
            }
            if searched >= LONGEST {
                // What is known of it stays; the rest is read over.
                self.buffer.copy_within(self.begin..self.begin + LONGEST, 0);
                (self.begin, self.end, searched, is_cut) = (0, LONGEST, LONGEST, true);
            }
            self.fill()?;
        };
        is_cut |= length > LONGEST;
        if length == 0 && self.begin == self.end {
            return Ok(None);
        }
        let begin = self.begin;
        self.begin = (begin + length + 1).min(self.end);
        self.number += 1;
        let text = &self.buffer[begin..begin + length.min(LONGEST)];
        let text = if is_cut { text } else { text.strip_suffix(b"\r").unwrap_or(text) };
        Ok(Some(Line { number: self.number, text, is_cut }))
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
        }
        match self.source.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.is_over = true,
            Ok(read) => self.end += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &[u8]) -> Vec<(u64, Vec<u8>, bool)> {
        let mut lines = Lines::new(Box::new(text));
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.number, line.text.to_vec(), line.is_cut));
        }
        found
    }

    #[test]
    fn the_last_line_needs_no_end() {
        let found = all(b"one\r\n\nthree");
        assert_eq!(found, [(1, b"one".to_vec(), false), (2, Vec::new(), false), (3, b"three".to_vec(), false)]);
        assert_eq!(all(b"one\n").len(), 1);
        assert_eq!(all(b"").len(), 0);
    }

    #[test]
    fn of_a_line_without_end_the_beginning_is_kept() {
        let mut text = vec![b'x'; 5 * LONGEST];
        text.extend(b"\nnext\n");
        let found = all(&text);
        assert_eq!((found[0].1.len(), found[0].2), (LONGEST, true));
        assert_eq!(found[1..], [(2, b"next".to_vec(), false)]);
    }

    #[test]
    fn the_head_is_not_taken_away() {
        let mut lines = Lines::new(Box::new(&b"one\ntwo\n"[..]));
        assert_eq!(lines.head().unwrap(), b"one\ntwo\n");
        assert_eq!(lines.next().unwrap().unwrap().text, b"one");
        assert_eq!(lines.head().unwrap(), b"two\n");
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_text(text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), Just(b'b')], 0..200)) {
            let mut expected: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            if expected.last().is_some_and(|last| last.is_empty()) {
                expected.pop();
            }
            let found = all(&text);
            prop_assert_eq!(found.iter().map(|(_, text, _)| text.as_slice()).collect::<Vec<_>>(), expected);
        }
    }
}
