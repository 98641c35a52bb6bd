//! Requests of a summary, by their statuses and by what went wrong.

use indexmap::IndexMap;
use model::imported::Requests;

use crate::recorder::{LONGEST_NAME, MOST_CODES, OTHER_CODES};
use crate::text::MOST;

/// Whether an answer with this status has succeeded.
pub fn is_success(status: u64) -> bool {
    (200..400).contains(&status)
}

/// Adds answers with a status.
pub fn add_status(all: &mut Requests, status: u64, count: u64) {
    if is_success(status) {
        all.good = sum(all.good, count);
    } else {
        all.failed = sum(all.failed, count);
    }
    add_code(all, &status.to_string(), count);
}

/// Adds requests without an answer, in the words of the tool.
pub fn add_error(all: &mut Requests, error: &str, count: u64) {
    all.failed = sum(all.failed, count);
    add_code(all, cause(error), count);
}

/// Counts a code; under one name for all, where there are too many.
pub fn add_code(all: &mut Requests, code: &str, count: u64) {
    let code: String = code.chars().take(LONGEST_NAME).collect();
    let is_one_of_few = all.codes.len() < MOST_CODES || all.codes.contains_key(&code);
    let counted = all.codes.entry(if is_one_of_few { code } else { OTHER_CODES.to_owned() }).or_default();
    *counted = sum(*counted, count);
}

/// What an error comes down to. Programs in Go and Rust put what they did before it, with addresses that are never the same twice:
/// `Get "http://a/": read tcp 127.0.0.1:51234->127.0.0.1:80: connection reset by peer`.
pub fn cause(error: &str) -> &str {
    error.rsplit(": ").next().unwrap_or_default().trim()
}

/// The only address that was asked for: labels are methods with addresses behind them.
pub fn only_url(labels: &IndexMap<String, Requests>) -> Option<String> {
    let (label, _) = labels.first().filter(|_| labels.len() == 1)?;
    let (_, url) = label.split_once(' ')?;
    url.starts_with("http").then(|| url.to_owned())
}

/// A warning where the times that a tool states are those of good and failed answers together.
pub fn mixed_times(failed: u64) -> Option<String> {
    (failed > 0).then(|| format!("its times are those of all requests: {failed} that failed are among them"))
}

fn sum(one: u64, other: u64) -> u64 {
    one.saturating_add(other).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_say_what_succeeded() {
        let mut all = Requests::default();
        for status in [200, 204, 304, 101, 404, 503] {
            add_status(&mut all, status, 10);
        }
        add_error(&mut all, "Get \"http://a/\": dial tcp 127.0.0.1:1: connect: connection refused", 7);
        add_error(&mut all, "EOF", u64::MAX);
        assert_eq!((all.good, all.failed), (30, MOST));
        assert_eq!((all.codes["404"], all.codes["connection refused"], all.codes["EOF"]), (10, 7, MOST));
    }

    #[test]
    fn there_are_no_more_codes_than_some() {
        let mut all = Requests::default();
        (0..1_000).for_each(|port| add_error(&mut all, &format!("no way to {port}"), 1));
        assert_eq!((all.failed, all.codes.len(), all.codes[OTHER_CODES]), (1_000, MOST_CODES + 1, 900));
    }
}
