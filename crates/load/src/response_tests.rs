//! Every case of the conformance list is fed whole, byte by byte, and split in two at every boundary.

use std::collections::BTreeSet;

use proptest::prelude::*;

use self::cases::{Case, Outcome};
use super::*;
use crate::fuzzing::{self, Responses};

#[path = "../tests/conformance/cases.rs"]
mod cases;

/// What comes of the answers of `case`, each of which `cut` divides into pieces.
fn outcomes(case: &Case, cut: impl for<'a> Fn(&'a [u8]) -> Vec<&'a [u8]>) -> Vec<Outcome> {
    let mut responses = Responses::default();
    let last = case.answers.len() - 1;
    let answers = case.answers.iter().enumerate();
    answers
        .filter_map(|(index, (bytes, _))| responses.answer(cut(bytes), index == last, case.head, case.gzip))
        .collect()
}

#[test]
fn every_case_is_what_it_is_in_whatever_pieces() {
    let cases = cases::cases();
    assert!(cases.len() >= 60);
    for case in &cases {
        let expected: Vec<Outcome> = case.answers.iter().map(|(_, outcome)| *outcome).collect();
        assert_eq!(outcomes(case, |bytes| vec![bytes]), expected, "{}", case.name);
        let longest = case.answers.iter().map(|(bytes, _)| bytes.len()).max().unwrap_or_default();
        for at in 1..longest {
            let in_two = outcomes(case, |bytes| {
                let (left, right) = bytes.split_at(at.min(bytes.len()));
                vec![left, right]
            });
            assert_eq!(in_two, expected, "{}, cut at {at}", case.name);
        }
        assert_eq!(outcomes(case, |bytes| bytes.chunks(1).collect()), expected, "{}, byte by byte", case.name);
    }
}

#[test]
fn every_way_to_be_malformed_has_a_case_and_a_row_of_the_table() {
    let schema = schemars::schema_for!(Malformed).to_value();
    let ways: BTreeSet<&str> =
        schema["oneOf"].as_array().unwrap().iter().map(|way| way["const"].as_str().unwrap()).collect();
    let cases = cases::cases();
    let mut found: BTreeSet<String> =
        cases.iter().flat_map(|case| &case.answers).filter_map(|(_, outcome)| Some(outcome.err()?.name())).collect();
    // Its test is in `content`: it is no list's to hold.
    found.insert("long-body".to_owned());
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), ways);
    let table = include_str!("../../../docs/http.md");
    let missing: Vec<&&str> = ways.iter().filter(|way| !table.contains(&format!("`{way}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let cases = cases::cases();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name).collect();
    assert_eq!(names.len(), cases.len());
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300), size in any::<u8>(),
                                         flags in 0u8..4, start in 0usize..4) {
        let starts = [
            "",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\u{8b}\x08\0\0\0\0\0\0\x03",
        ];
        fuzzing::response(&[&[flags, size], starts[start].as_bytes(), &bytes].concat());
    }

    #[test]
    fn any_chunking_gives_the_length_back(chunks in prop::collection::vec("[a-z]{1,40}", 0..8), size in 1usize..50) {
        let coded: Vec<String> = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
        let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", coded.concat());
        let length = chunks.concat().len() as u64;
        let framed = Responses::default().answer(text.as_bytes().chunks(size), false, false, false);
        prop_assert_eq!(framed, Some(Ok((200, length, true))));
    }
}

/// What comes of an answer whose body is skipped where it may be, after a head of so many bytes.
fn unseen(framer: &mut Framer, bytes: &[u8], head: usize, head_only: bool) -> Result<Option<Answered>, Malformed> {
    let (mut seen, mut rest) = bytes.split_at(head);
    loop {
        let answered = framer.feed(seen, head_only, &mut Ignore)?;
        let skippable = framer.skippable();
        if answered.is_some() || rest.is_empty() {
            return if rest.is_empty() { Ok(answered) } else { Err(Malformed::Surplus) };
        }
        if skippable > 0 {
            let skipped = take(&mut rest, skippable.saturating_add(1));
            if let Some(answered) = framer.skip(skipped.len() as u64)? {
                return Ok(Some(answered));
            }
        }
        seen = mem::take(&mut rest);
        if seen.is_empty() {
            return Ok(None);
        }
    }
}

#[test]
fn a_head_that_is_known_and_a_body_that_is_not_seen_change_nothing() {
    let mut known = 0;
    for case in cases::cases() {
        let (bytes, _) = &case.answers[0];
        let whole = Framer::default().feed(bytes, case.head, &mut Ignore);
        let head = bytes.windows(4).position(|end| end == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
        for head in [head, bytes.len()] {
            let mut framer = Framer::default();
            for again in 0..3 {
                let length = framer.known.len();
                let outcome = unseen(&mut framer, bytes, head, case.head);
                assert_eq!(outcome, whole, "{} with {head} bytes seen, time {again}", case.name);
                known += usize::from(length > 0);
                if !matches!(outcome, Ok(Some(_))) {
                    break;
                }
            }
        }
    }
    assert!(known > 50, "{known} heads were known");
}

#[test]
fn a_known_head_is_not_taken_for_one_of_another_request() {
    let mut framer = Framer::default();
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let length = |answered: Result<Option<Answered>, Malformed>| answered.unwrap().unwrap().body_bytes;
    assert_eq!(length(framer.feed(bytes, false, &mut Ignore)), 2);
    assert_eq!(length(framer.feed(&bytes[..bytes.len() - 2], true, &mut Ignore)), 0);
    assert_eq!(length(framer.feed(bytes, false, &mut Ignore)), 2);
}
