//! Records of delimited text, RFC 4180 with any delimiter: a field in quotes may have delimiters, quotes and line ends in it.

use std::io;

use memchr::{memchr, memchr_iter};

use crate::lines::Lines;
use crate::text;

/// Most lines and bytes of one record; a quote that nobody closes is no reason to take the rest of the file for one field.
const MOST_LINES: u64 = 100;
const MOST_BYTES: usize = 1 << 16;

/// The fields of a record.
#[derive(Debug, Default)]
pub struct Fields {
    /// Of its first line.
    pub number: u64,
    /// How many it takes.
    pub lines: u64,
    /// The fields, with one byte between each two.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Fields {
    /// A field by its place.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let begin = index.checked_sub(1).map_or(0, |before| self.ends[before] + 1);
        Some(&self.text[begin..end])
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len()).filter_map(|index| self.get(index))
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }
}

/// Reads the next record into `fields`; what is wrong with one that cannot be read, and `None` at the end. Empty lines are no records.
pub fn next(lines: &mut Lines, delimiter: u8, fields: &mut Fields) -> io::Result<Option<Result<(), &'static str>>> {
    loop {
        let Some(line) = lines.next()? else { return Ok(None) };
        (fields.number, fields.lines) = (line.number, 1);
        if line.text.is_empty() {
            continue;
        }
        if line.is_cut {
            return Ok(Some(Err("it is longer than a mebibyte")));
        }
        if memchr(b'"', line.text).is_none() {
            plain(line.text, delimiter, fields);
            return Ok(Some(Ok(())));
        }
        let mut record = line.text.to_vec();
        while !is_closed(&record) {
            if fields.lines > MOST_LINES || record.len() > MOST_BYTES {
                return Ok(Some(Err("nothing closes its quotes")));
            }
            let Some(line) = lines.next()? else { return Ok(Some(Err("nothing closes its quotes"))) };
            fields.lines += 1;
            if line.is_cut {
                return Ok(Some(Err("it is longer than a mebibyte")));
            }
            record.push(b'\n');
            record.extend(line.text);
        }
        split(&record, delimiter, fields);
        return Ok(Some(Ok(())));
    }
}

/// Whether all quotes that are opened are closed: there is an even number of them.
fn is_closed(record: &[u8]) -> bool {
    memchr_iter(b'"', record).count().is_multiple_of(2)
}

fn plain(record: &[u8], delimiter: u8, fields: &mut Fields) {
    fields.clear();
    fields.text.extend_from_slice(record);
    fields.ends.extend(memchr_iter(delimiter, record).chain([record.len()]));
}

/// Splits a record, quotes taken away.
pub fn split(record: &[u8], delimiter: u8, fields: &mut Fields) {
    if memchr(b'"', record).is_none() {
        return plain(record, delimiter, fields);
    }
    fields.clear();
    let (mut is_quoted, mut bytes) = (false, record.iter().peekable());
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' if is_quoted && bytes.next_if_eq(&&b'"').is_some() => fields.text.push(b'"'),
            b'"' => is_quoted = !is_quoted,
            byte if *byte == delimiter && !is_quoted => {
                fields.ends.push(fields.text.len());
                fields.text.push(delimiter);
            }
            byte => fields.text.push(*byte),
        }
    }
    fields.ends.push(fields.text.len());
}

/// A number of digits alone.
pub fn number(text: &[u8]) -> Option<u64> {
    let digit = |sum: u64, byte: &u8| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| sum.checked_mul(10)?.checked_add(digit.into())).flatten()
    };
    (!text.is_empty()).then(|| text.iter().try_fold(0, digit)).flatten()
}

/// A number of zero or more that may have a fraction.
pub fn decimal(text: &[u8]) -> Option<f64> {
    text::number(str::from_utf8(text).ok()?).ok()
}

/// The first line of a text.
pub fn first_line(head: &[u8]) -> &[u8] {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    first.strip_suffix(b"\r").unwrap_or(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn records(text: &[u8]) -> Vec<Result<Vec<String>, &'static str>> {
        let mut lines = Lines::new(Box::new(text));
        let mut fields = Fields::default();
        let mut found = Vec::new();
        while let Some(record) = next(&mut lines, b',', &mut fields).unwrap() {
            let texts = || fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect();
            found.push(record.map(|()| texts()));
        }
        found
    }

    #[test]
    fn quotes_may_hold_delimiters_quotes_and_line_ends() {
        let found = records(b"a,b\n\n\"x, \"\"y\"\"\",\"two\nlines\",\nc\n");
        let expected = [vec!["a", "b"], vec!["x, \"y\"", "two\nlines", ""], vec!["c"]];
        assert_eq!(found.into_iter().map(Result::unwrap).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_quote_that_nobody_closes_takes_some_lines_only() {
        let text = format!("a,\"b\n{}", "c,d\n".repeat(300));
        let found = records(text.as_bytes());
        assert!(found[0].is_err());
        assert_eq!(found.iter().filter(|record| record.is_ok()).count() as u64, 300 - MOST_LINES);
    }

    proptest! {
        /// What is written by RFC 4180 is read as it was.
        #[test]
        fn fields_are_those_that_were_written(written in proptest::collection::vec("[a-c,\"\n;]{0,6}", 1..6)) {
            let quoted: Vec<String> =
                written.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
            let found = records(format!("{}\n", quoted.join(",")).as_bytes());
            prop_assert_eq!(found, [Ok(written)]);
        }
    }
}
