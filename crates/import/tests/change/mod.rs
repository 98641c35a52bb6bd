//! Changes of files, as people and programs make them.

use proptest::collection::vec;
use proptest::prelude::*;

/// Lines of a file that are kept: more say nothing new.
const LINES: usize = 40;

/// A change of a file.
#[derive(Debug, Clone)]
pub enum Change {
    Set(usize, u8),
    Insert(usize, Vec<u8>),
    Remove(usize, usize),
    Double(usize, usize),
}

/// Any change.
pub fn change() -> impl Strategy<Value = Change> {
    // What means something to one of the formats is likelier than chance would have it.
    let byte = prop_oneof![any::<u8>(), proptest::sample::select(b"\n\r\t,;|\"%:-.0129eE \0\xff".to_vec())];
    let at = any::<usize>;
    prop_oneof![
        (at(), byte.clone()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), vec(byte, 1..30)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (at(), 0..200_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (at(), 0..200_usize).prop_map(|(at, length)| Change::Double(at, length)),
    ]
}

/// The file's first lines with these changes.
pub fn changed(file: &[u8], changes: &[Change]) -> Vec<u8> {
    let lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').take(LINES).collect();
    let mut text = lines.concat();
    for change in changes {
        let (at, length) = match change {
            Change::Set(at, _) | Change::Insert(at, _) => (at, 0),
            Change::Remove(at, length) | Change::Double(at, length) => (at, *length),
        };
        let at = at % (text.len() + 1);
        let part = at..(at + length).min(text.len());
        match change {
            Change::Set(_, byte) => text.get_mut(at).into_iter().for_each(|place| *place = *byte),
            Change::Insert(_, bytes) => drop(text.splice(at..at, bytes.iter().copied())),
            Change::Remove(..) => drop(text.drain(part)),
            Change::Double(..) => {
                let part = text[part].to_vec();
                text.splice(at..at, part);
            }
        }
    }
    text
}
