//! Single answers, looked at closely: what the load's count of statuses and lengths cannot see.

use std::fmt::Write as _;

use load::{Answer, Seen};
use model::AnswerSample;
use model::study::Expect;
use sha2::{Digest, Sha256};

/// Pieces of one body that are hashed apart; what is left after them is one piece.
const MOST_PIECES: usize = 4_000;
/// Characters of a body kept as they are.
const EXCERPT: usize = 400;

/// Looks at one answer to a workload; `mask` hides secrets in what is kept of its text.
pub fn sample(workload: usize, answer: &Answer, expect: &Expect, mask: impl Fn(&str) -> String) -> AnswerSample {
    AnswerSample { unmet: unmet(answer, expect), ..bare(workload, answer, mask) }
}

/// Looks at the answer to one step of a workload's scenarios.
pub fn of_step(workload: usize, seen: &Seen, mask: impl Fn(&str) -> String) -> AnswerSample {
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

fn unmet(answer: &Answer, expect: &Expect) -> Vec<String> {
    let mut unmet = Vec::new();
    let status_met = match expect.status {
        Some(status) => answer.status == status,
        None => (200..400).contains(&answer.status),
    };
    if !status_met {
        let wanted = expect.status.map_or_else(|| "2xx or 3xx".to_owned(), |status| status.to_string());
        unmet.push(format!("status {wanted}, got {}", answer.status));
    }
    if let Some(text) = &expect.contains
        && !String::from_utf8_lossy(&answer.body).contains(text.as_str())
    {
        unmet.push(format!("the text '{text}'"));
    }
    if let Some(path) = &expect.json {
        unmet.extend(json_unmet(&answer.body, path));
    }
    unmet
}

fn json_unmet(body: &[u8], path: &str) -> Option<String> {
    let Ok(parsed) = serde_json_path::JsonPath::parse(path) else {
        return Some(format!("'{path}', which is not a JSONPath"));
    };
    match serde_json::from_slice(body) {
        Ok(value) => parsed.query(&value).is_empty().then(|| format!("something at {path}")),
        Err(error) => Some(format!("JSON ({error})")),
    }
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
        let one = sample(0, &answer(200, "{\"a\":1,\"at\":1700000000,\"b\":2}"), &Expect::default(), str::to_owned);
        let two = sample(0, &answer(200, "{\"a\":1,\"at\":1700000001,\"b\":2}"), &Expect::default(), str::to_owned);
        let differing = one.lines.iter().zip(&two.lines).filter(|(a, b)| a != b).count();
        assert_eq!((one.lines.len(), differing), (3, 1));
    }

    #[test]
    fn what_is_missing_is_said() {
        let expect = Expect { status: Some(200), json: Some("$.pipelines".into()), contains: Some("up42".into()) };
        assert_eq!(
            sample(0, &answer(200, r#"{"pipelines":["up42"]}"#), &expect, str::to_owned).unmet,
            Vec::<String>::new()
        );
        let unmet = sample(0, &answer(500, r#"{"error":"no"}"#), &expect, str::to_owned).unmet;
        assert_eq!(unmet, ["status 200, got 500", "the text 'up42'", "something at $.pipelines"]);
        assert!(sample(0, &answer(200, "<html>"), &expect, str::to_owned).unmet[1].starts_with("JSON ("));
    }

    #[test]
    fn lengths_have_room_for_natural_variation_only() {
        let samples = |bodies: &[usize]| -> Vec<AnswerSample> {
            bodies
                .iter()
                .map(|length| sample(0, &answer(200, &"a".repeat(*length)), &Expect::default(), str::to_owned))
                .collect()
        };
        assert_eq!(lengths(&samples(&[1_000, 1_010]), 0), Some((936, 1_074)));
        assert_eq!(lengths(&samples(&[20_000, 20_000]), 0), Some((19_600, 20_400)));
        assert_eq!(lengths(&samples(&[20]), 0), Some((0, 84)));
        assert_eq!(lengths(&samples(&[20]), 1), None);
    }
}
