//! Single answers, looked at closely: what the load's count of statuses and lengths cannot see.

use std::fmt::Write as _;

use load::{Answer, StepAnswer};
use model::AnswerSample;
use sha2::{Digest, Sha256};

/// Pieces of one body that are hashed apart; what is left after them is one piece.
const MOST_PIECES: usize = 4_000;
/// Characters of a body kept as they are.
const EXCERPT: usize = 400;

/// Looks at one answer to a workload, of which this is not as it should be; `mask` hides secrets in what is kept of its text.
pub fn sample(workload: usize, answer: &Answer, unmet: Vec<String>, mask: impl Fn(&str) -> String) -> AnswerSample {
    AnswerSample { unmet, ..bare(workload, answer, mask) }
}

/// Looks at the answer to one step of a workload's scenarios.
pub fn of_step(workload: usize, seen: &StepAnswer, mask: impl Fn(&str) -> String) -> AnswerSample {
    let unmet = seen.unmet.iter().map(|what| format!("{}: {what}", seen.step)).collect();
    AnswerSample { step: Some(seen.step.clone()), unmet, ..bare(workload, &seen.answer, mask) }
}

fn bare(workload: usize, answer: &Answer, mask: impl Fn(&str) -> String) -> AnswerSample {
    AnswerSample {
        workload,
        step: None,
        status: answer.status,
        content_type: answer.content_type().unwrap_or_default().to_owned(),
        length: answer.body.len() as u64,
        hash: hex(&Sha256::digest(&answer.body)),
        lines: pieces(&answer.body).iter().map(|piece| hex(&Sha256::digest(piece)[..8])).collect(),
        excerpt: mask(&String::from_utf8_lossy(&answer.body)).chars().take(EXCERPT).collect(),
        unmet: Vec::new(),
    }
}

/// Room for counters, times and tokens in the length of a body: this many bytes or 2 % of it, whichever is more.
const LEAST_ROOM: u64 = 64;

/// The shortest and the longest length that the load takes for good: those of all sampled answers of a workload, with room for natural variation.
pub fn lengths(samples: &[AnswerSample], workload: usize) -> Option<(u64, u64)> {
    let lengths = || samples.iter().filter(|sample| sample.workload == workload).map(|sample| sample.length);
    let (min, max) = (lengths().min()?, lengths().max()?);
    let room = |length: u64| LEAST_ROOM.max(length / 50);
    Some((min.saturating_sub(room(min)), max + room(max)))
}

/// A body in pieces short enough that a time stamp or a token spoils one of them only: cut after line ends,
/// tags and commas, so that HTML without line ends and JSON come apart too.
fn pieces(body: &[u8]) -> Vec<&[u8]> {
    let is_end = |byte: &u8| matches!(byte, b'\n' | b'>' | b',');
    let mut pieces: Vec<&[u8]> = body.split_inclusive(is_end).take(MOST_PIECES).collect();
    let cut: usize = pieces.iter().map(|piece| piece.len()).sum();
    if cut < body.len() {
        pieces.push(&body[cut..]);
    }
    pieces
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::load::Transport;

    fn answer(status: u16, body: &str) -> Answer {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        let transport = Transport { http: "HTTP/1.1".into(), tls: None };
        Answer { status, headers, body: body.as_bytes().to_vec(), transport }
    }

    #[test]
    fn a_time_stamp_spoils_one_piece_only() {
        let one = sample(0, &answer(200, "{\"a\":1,\"at\":1700000000,\"b\":2}"), Vec::new(), str::to_owned);
        let two = sample(0, &answer(200, "{\"a\":1,\"at\":1700000001,\"b\":2}"), Vec::new(), str::to_owned);
        let differing = one.lines.iter().zip(&two.lines).filter(|(a, b)| a != b).count();
        assert_eq!((one.lines.len(), differing), (3, 1));
    }

    #[test]
    fn lengths_have_room_for_natural_variation_only() {
        let samples = |bodies: &[usize]| -> Vec<AnswerSample> {
            bodies
                .iter()
                .map(|length| sample(0, &answer(200, &"a".repeat(*length)), Vec::new(), str::to_owned))
                .collect()
        };
        assert_eq!(lengths(&samples(&[1_000, 1_010]), 0), Some((936, 1_074)));
        assert_eq!(lengths(&samples(&[20_000, 20_000]), 0), Some((19_600, 20_400)));
        assert_eq!(lengths(&samples(&[20]), 0), Some((0, 84)));
        assert_eq!(lengths(&samples(&[20]), 1), None);
    }
}
