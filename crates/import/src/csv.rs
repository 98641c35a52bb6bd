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

/// Splits a record without quotes.
fn plain(record: &[u8], delimiter: u8, fields: &mut Fields) {
    fields.clear();
    fields.text.extend_from_slice(record);
    let mut words = record.chunks_exact(WORD);
    let mut begin = 0;
    for word in words.by_ref() {
        let mut places = places(word.try_into().map_or(0, u64::from_le_bytes), delimiter);
        while places != 0 {
            fields.ends.push(begin + places.trailing_zeros() as usize / 8);
            places &= places - 1;
        }
        begin += WORD;
    }
    let rest = words.remainder().iter().zip(begin..).filter(|(byte, _)| **byte == delimiter).map(|(_, place)| place);
    fields.ends.extend(rest.chain([record.len()]));
}

/// Bytes of a word. Fields are short: it is quicker to look at eight bytes of a record at once than to search for the next delimiter.
const WORD: usize = 8;

/// The highest bit of each byte of a word that is this byte.
fn places(word: u64, byte: u8) -> u64 {
    const LOW_BITS: u64 = u64::from_le_bytes([0x7f; WORD]);
    let differing = word ^ u64::from_le_bytes([byte; WORD]);
    !(((differing & LOW_BITS) + LOW_BITS) | differing | LOW_BITS)
}

/// Splits a record, quotes taken away.
pub fn split(record: &[u8], delimiter: u8, fields: &mut Fields) {
    if memchr(b'"', record).is_none() { plain(record, delimiter, fields) } else { quoted(record, delimiter, fields) }
}

/// Splits a record that may have quotes.
fn quoted(record: &[u8], delimiter: u8, fields: &mut Fields) {
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

/// As many digits are a `u64` whatever they are.
const SURE_DIGITS: usize = 19;

/// A number of digits alone.
pub fn number(text: &[u8]) -> Option<u64> {
    let digit = |byte: &u8| Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10).map(u64::from);
    let checked = |sum: u64, byte: &u8| sum.checked_mul(10)?.checked_add(digit(byte)?);
    let unchecked = |sum: u64, byte: &u8| Some(sum.wrapping_mul(10).wrapping_add(digit(byte)?));
    if text.is_empty() || text.len() > SURE_DIGITS {
        return (!text.is_empty()).then(|| text.iter().try_fold(0, checked)).flatten();
    }
    let Some((front, last)) = text.split_last_chunk() else { return text.iter().try_fold(0, unchecked) };
    let front = front.iter().try_fold(0, unchecked)?;
    Some(front.wrapping_mul(100_000_000).wrapping_add(eight_digits(*last)?))
}

/// The number of eight digits, all at once: of digits pairs are made, of pairs fours, of fours the whole.
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    let digits = u64::from_le_bytes(text) ^ u64::from_le_bytes([b'0'; 8]);
    // What is above 9 reaches the highest bit of its byte, or has it.
    if (digits.wrapping_add(u64::from_le_bytes([0x76; 8])) | digits) & u64::from_le_bytes([0x80; 8]) != 0 {
        return None;
    }
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
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

    /// All fields, and that there is none beyond them.
    fn fields(split: impl Fn(&mut Fields)) -> Vec<Vec<u8>> {
        // What was read before must not matter.
        let mut fields = Fields { text: b"x|y".to_vec(), ends: vec![1, 3], ..Fields::default() };
        split(&mut fields);
        assert_eq!(fields.get(fields.ends.len()), None);
        fields.iter().map(<[u8]>::to_vec).collect()
    }

    proptest! {
        /// The quick way and the one for quotes find the same, whatever the bytes; the delimiter's neighbours are likelier than others.
        #[test]
        fn fields_are_the_same_in_both_ways(
            delimiter in any::<u8>().prop_filter("a quote is no delimiter", |byte| *byte != b'"'),
            differing in proptest::collection::vec(prop_oneof![Just(0), Just(1), Just(0x80), Just(0xff), any::<u8>()], 0..80),
        ) {
            let record: Vec<u8> =
                differing.iter().map(|bits| delimiter ^ bits).filter(|byte| *byte != b'"').collect();
            let slow = fields(|fields| quoted(&record, delimiter, fields));
            prop_assert_eq!(&fields(|fields| plain(&record, delimiter, fields)), &slow);
            prop_assert_eq!(record.split(|byte| *byte == delimiter).collect::<Vec<_>>(), slow);
        }

        /// Records with and without quotes are the same in one text.
        #[test]
        fn quotes_around_fields_change_nothing(
            rows in proptest::collection::vec(proptest::collection::vec(("[a-c0-9 ;.]{0,12}", any::<bool>()), 2..6), 1..20),
        ) {
            let text = |quotes: bool| -> String {
                let quoted = |(field, is_quoted): &(String, bool)| if *is_quoted && quotes { format!("\"{field}\"") } else { field.clone() };
                rows.iter().map(|row| row.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n").collect()
            };
            prop_assert_eq!(records(text(true).as_bytes()), records(text(false).as_bytes()));
        }

        #[test]
        fn numbers_are_those_of_the_standard_library(text in prop_oneof!["[0-9]{0,25}", "0{0,20}[0-9]{1,20}", "[0-9]{0,12}[ -~][0-9]{0,12}"]) {
            let expected = text.parse::<u64>().ok().filter(|_| !text.starts_with('+'));
            prop_assert_eq!(number(text.as_bytes()), expected);
        }

        /// One byte that is no digit is enough, wherever it stands.
        #[test]
        fn a_number_has_digits_alone(digits in "[0-9]{1,24}", at in any::<usize>(), byte in any::<u8>()) {
            let mut text = digits.into_bytes();
            let at = at % text.len();
            text[at] = byte;
            prop_assert_eq!(number(&text).is_some(), str::from_utf8(&text).is_ok_and(|text| text.parse::<u64>().is_ok()) && text[0] != b'+');
        }

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
