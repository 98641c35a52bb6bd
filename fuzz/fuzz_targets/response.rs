//! Any bytes as the answer to a request, in any pieces. The seeds are the conformance list's answers.

#![no_main]

use std::fs;
use std::path::Path;

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/load/tests/conformance/cases.rs"]
mod cases;

/// Longest seed, bytes: libFuzzer goes for inputs of this length.
const LONGEST: usize = 2048;

fuzz_target!(init: write_seeds(), |data: &[u8]| load::fuzzing::response(data));

/// Before libFuzzer reads its corpus.
fn write_seeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/response");
    fs::create_dir_all(&folder).expect("the corpus can be written");
    for case in cases::cases() {
        for (index, (bytes, _)) in case.answers.iter().enumerate().filter(|(_, (bytes, _))| bytes.len() <= LONGEST) {
            let asked = u8::from(case.head) | u8::from(case.gzip) << 1;
            let size = (bytes.len() / 2).min(255) as u8;
            let name: String = case.name.chars().map(|char| if char.is_alphanumeric() { char } else { '-' }).collect();
            let seed = [&[asked, size], bytes.as_slice()].concat();
            fs::write(folder.join(format!("{name}-{index}")), seed).expect("the corpus can be written");
        }
    }
}
