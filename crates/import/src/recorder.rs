//! Requests, one by one, into numbers that take the same room however many there are.

use std::collections::BTreeMap;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use memchr::memmem;
use model::imported::{Interval, Requests};
use model::{BodyLength, Histogram};

use crate::series::Series;

/// Most labels that are kept apart, and what those beyond are counted under.
pub const MOST_LABELS: usize = 1_000;
pub const OTHER_LABELS: &str = "(other labels)";
/// Most codes of a label that are kept apart.
pub const MOST_CODES: usize = 100;
pub const OTHER_CODES: &str = "(other codes)";
/// Most bytes of a label or a code that are kept.
pub const LONGEST_NAME: usize = 200;
/// What requests without an answer are counted under where nothing says why.
pub const NO_ANSWER: &str = "no answer";
/// Longest time between two requests of one file.
pub const LONGEST_MS: i64 = 90 * 24 * 3600 * 1000;

/// A request, as a line has it.
#[derive(Debug, Clone, Copy)]
pub struct Request<'l> {
    /// When it began, milliseconds since 1970.
    pub began_ms: i64,
    /// How long it took.
    pub took_us: u64,
    /// Empty where there is none.
    pub label: &'l [u8],
    /// Its status, or what stands in its place.
    pub code: &'l [u8],
    pub is_good: bool,
    /// Length of the answer, bytes.
    pub bytes: Option<u64>,
    /// Users at work; 0 where the line does not say.
    pub users: u32,
}

impl Request<'_> {
    /// When it ended, milliseconds since 1970.
    pub fn ended_ms(&self) -> i64 {
        self.began_ms.saturating_add_unsigned(self.took_us / 1_000)
    }
}

/// By names of the file, which are few: what guards a map against chosen names would take longer than the rest.
type ByName<V> = IndexMap<Box<[u8]>, V, RandomState>;

/// Requests of a label with one code.
#[derive(Debug, Clone, Copy, Default)]
struct OfCode {
    all: u64,
    good: u64,
}

/// What a label's requests came to so far.
#[derive(Debug, Default)]
struct OfLabel {
    good: u64,
    failed: u64,
    never_sent: u64,
    codes: ByName<OfCode>,
    /// The place of the last request's code: mostly the next one has the same.
    last_code: usize,
    latency: Histogram,
    /// Lengths of good answers, and of failed ones.
    good_bytes: Option<BodyLength>,
    failed_bytes: Option<BodyLength>,
}

impl OfLabel {
    /// Counts a code; under one name for all, where there are too many.
    fn count(&mut self, code: &[u8], good: u64) {
        let code = &code[..code.len().min(LONGEST_NAME)];
        if self.codes.get_index(self.last_code).is_none_or(|(last, _)| &**last != code) {
            let is_one_of_few = self.codes.len() < MOST_CODES || self.codes.contains_key(code);
            let code = if is_one_of_few { code } else { OTHER_CODES.as_bytes() };
            self.last_code = self
                .codes
                .get_index_of(code)
                .unwrap_or_else(|| self.codes.insert_full(code.into(), OfCode::default()).0);
        }
        let counted = &mut self.codes[self.last_code];
        counted.all += 1;
        counted.good += good;
    }
}

/// Adds requests up.
#[derive(Debug)]
pub struct Recorder {
    series: Series,
    labels: ByName<OfLabel>,
    /// The label of the request before: mostly there are few, and a run of the same.
    last: usize,
    /// First beginning and last end.
    span_ms: Option<(i64, i64)>,
}

/// All that was recorded.
pub struct Recorded {
    pub all: Requests,
    pub labels: IndexMap<String, Requests>,
    pub interval_s: f64,
    pub intervals: Vec<Interval>,
    pub began_ms: Option<i64>,
    pub seconds: f64,
}

impl Recorded {
    /// Of a summary, which knows nothing of times. Of unknown length, `seconds` is 0.
    pub fn summary(all: Requests, seconds: f64) -> Self {
        Self { all, seconds, ..Recorder::new().finish() }
    }

    /// Of numbers of intervals: what ended in each, and when the first began, if that is known.
    pub fn series(all: Requests, series: Series, began_ms: Option<i64>, seconds: f64) -> Self {
        let (length_s, intervals) = series.finish();
        Self { interval_s: length_s, intervals, began_ms, ..Self::summary(all, seconds) }
    }
}

impl Recorder {
    pub fn new() -> Self {
        Self { series: Series::of_seconds(), labels: ByName::default(), last: 0, span_ms: None }
    }

    /// Adds a request, or says why it is none.
    pub fn add(&mut self, request: &Request) -> Result<(), &'static str> {
        let ended_ms = request.ended_ms();
        self.span_ms = Some(self.near_span(request, ended_ms)?);
        self.count(request, ended_ms);
        Ok(())
    }

    /// Why a request is none, if its time lies too far from that of the others.
    pub fn check(&self, request: &Request) -> Result<(), &'static str> {
        self.near_span(request, request.ended_ms()).map(|_| ())
    }

    /// Adds a request that was checked before.
    pub fn add_checked(&mut self, request: &Request) {
        let ended_ms = request.ended_ms();
        self.span_ms = Some(self.span_with(request, ended_ms));
        self.count(request, ended_ms);
    }

    fn count(&mut self, request: &Request, ended_ms: i64) {
        let is_never_sent = !request.is_good && request.took_us < 1_000 && !may_be_of_the_server(request.code);
        let failed = u64::from(!request.is_good);
        if self.series.is_empty() {
            // The series begins where the run does.
            self.series.add(request.began_ms, Interval::default());
        }
        let (good_us, failed_us) = if request.is_good { (request.took_us, 0) } else { (0, request.took_us) };
        self.series.add(ended_ms, Interval { good: 1 - failed, failed, good_us, failed_us, users: request.users });
        let label = self.label(request.label);
        label.good += 1 - failed;
        label.failed += failed;
        label.never_sent += u64::from(is_never_sent);
        if request.is_good {
            label.latency.record(request.took_us);
        }
        if let Some(bytes) = request.bytes.filter(|_| !is_never_sent) {
            let length = BodyLength { min: bytes, max: bytes };
            let bytes = if request.is_good { &mut label.good_bytes } else { &mut label.failed_bytes };
            *bytes = Some(bytes.map_or(length, |before| before.covering(length)));
        }
        label.count(request.code, 1 - failed);
    }

    /// As [`Self::span_with`], if it is no longer than a run may be.
    fn near_span(&self, request: &Request, ended_ms: i64) -> Result<(i64, i64), &'static str> {
        let (first, last) = self.span_with(request, ended_ms);
        let is_near = last.checked_sub(first).is_some_and(|length| length <= LONGEST_MS);
        if is_near { Ok((first, last)) } else { Err("its time lies more than 90 days from that of the others") }
    }

    /// First beginning and last end, this request's among them.
    fn span_with(&self, request: &Request, ended_ms: i64) -> (i64, i64) {
        let of_request = (request.began_ms, ended_ms);
        self.span_ms.map_or(of_request, |(first, last)| (first.min(of_request.0), last.max(of_request.1)))
    }

    fn label(&mut self, name: &[u8]) -> &mut OfLabel {
        let name = &name[..name.len().min(LONGEST_NAME)];
        if self.labels.get_index(self.last).is_none_or(|(last, _)| &**last != name) {
            let name = if self.labels.len() < MOST_LABELS || self.labels.contains_key(name) {
                name
            } else {
                OTHER_LABELS.as_bytes()
            };
            self.last = match self.labels.get_index_of(name) {
                Some(index) => index,
                None => self.labels.insert_full(name.into(), OfLabel::default()).0,
            };
        }
        &mut self.labels[self.last]
    }

    /// What there is when all is read.
    pub fn finish(self) -> Recorded {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut labels: IndexMap<String, Requests> = IndexMap::new();
        for (name, of) in self.labels {
            let (mut codes, mut good_codes) = (BTreeMap::new(), BTreeMap::new());
            for (code, OfCode { all, good }) in &of.codes {
                // What is no text may read the same.
                *codes.entry(text(code)).or_default() += all;
                if *good > 0 {
                    *good_codes.entry(text(code)).or_default() += good;
                }
            }
            let requests = Requests {
                good: of.good,
                failed: of.failed,
                never_sent: of.never_sent,
                codes,
                good_codes,
                latency: of.latency,
                body_length: of.good_bytes,
                failed_length: of.failed_bytes,
            };
            let before = labels.entry(text(&name)).or_default();
            *before = [&*before, &requests].into_iter().sum();
        }
        let all = labels.values().sum();
        let is_labelled = labels.keys().any(|name| !name.is_empty());
        let (length_s, intervals) = self.series.finish();
        Recorded {
            all,
            labels: if is_labelled { labels } else { IndexMap::new() },
            interval_s: length_s,
            intervals,
            began_ms: self.span_ms.map(|(first, _)| first),
            seconds: self.span_ms.map_or(0.0, |(first, last)| (last - first) as f64 / 1e3),
        }
    }
}

/// What clients call it when the server did not answer, or refused them: those of Java, those of Go, and what stands for all.
const OF_THE_SERVER: [&[u8]; 11] = [
    b"NoHttpResponse",
    b"SocketTimeout",
    b"SocketException",
    b"ConnectException",
    b"connection refused",
    b"connection reset",
    b"broken pipe",
    b"server closed",
    b"timeout",
    b"EOF",
    NO_ANSWER.as_bytes(),
];

/// Whether the server may have had a part in what has this code: it is a status of HTTP, or says that there was no answer.
fn may_be_of_the_server(code: &[u8]) -> bool {
    let is_status = code.len() == 3 && code.iter().all(u8::is_ascii_digit);
    is_status || OF_THE_SERVER.iter().any(|name| memmem::find(code, name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series;

    fn request(began_ms: i64, took_ms: u64) -> Request<'static> {
        Request {
            began_ms,
            took_us: took_ms * 1_000,
            label: b"page",
            code: b"200",
            is_good: true,
            bytes: Some(20),
            users: 3,
        }
    }

    fn recorded(requests: &[Request]) -> Recorded {
        let mut recorder = Recorder::new();
        for request in requests {
            recorder.add(request).unwrap();
        }
        recorder.finish()
    }

    #[test]
    fn a_request_counts_in_the_interval_in_which_it_ends() {
        let found = recorded(&[request(10_900, 200), request(9_000, 500), request(11_000, 3_000)]);
        assert_eq!(found.intervals.iter().map(|interval| interval.good).collect::<Vec<_>>(), [1, 0, 1, 0, 0, 1]);
        assert_eq!((found.began_ms, found.all.good), (Some(9_000), 3));
        assert!((found.seconds - 5.0).abs() < 1e-9 && (found.interval_s - 1.0).abs() < 1e-9);
        assert_eq!(found.labels["page"].codes["200"], 3);
        assert_eq!(found.intervals[0].users, 3);
    }

    #[test]
    fn a_long_time_has_longer_intervals_and_loses_nothing() {
        let day_ms = 24 * 3600 * 1000;
        let requests: Vec<Request> = (0..2_000).map(|index| request(index * day_ms / 100, 5)).collect();
        let found = recorded(&requests);
        assert!(found.intervals.len() <= series::MOST + 1 && found.interval_s > 100.0, "{}", found.interval_s);
        assert_eq!(found.intervals.iter().map(|interval| interval.good).sum::<u64>(), 2_000);
        let mut backwards = requests;
        backwards.reverse();
        let again = recorded(&backwards);
        assert_eq!(again.intervals.iter().map(|interval| interval.good).sum::<u64>(), 2_000);
        assert_eq!(again.began_ms, found.began_ms);
    }

    #[test]
    fn a_time_far_from_the_others_is_refused() {
        let mut recorder = Recorder::new();
        recorder.add(&request(1_000, 1)).unwrap();
        for began_ms in [i64::MAX, i64::MIN, 1_000 + LONGEST_MS] {
            assert!(recorder.add(&request(began_ms, 1)).is_err(), "{began_ms}");
        }
        assert!(recorder.add(&Request { took_us: u64::MAX, ..request(1_000, 1) }).is_err());
        assert_eq!(recorder.finish().all.ended(), 1);
    }

    #[test]
    fn what_took_no_time_and_has_no_status_was_never_sent() {
        let failed = Request { is_good: false, code: b"Non HTTP response code: x", ..request(1_000, 0) };
        let found = recorded(&[
            failed,
            Request { code: b"500", ..failed },
            Request { code: b"Non HTTP response code: org.apache.http.NoHttpResponseException", ..failed },
            Request { took_us: 5_000, ..failed },
        ]);
        assert_eq!((found.all.failed, found.all.never_sent, found.all.latency.count()), (4, 1, 0));
    }

    #[test]
    fn lengths_of_what_failed_are_kept_apart() {
        let length = |bytes: u64| Some(BodyLength { min: bytes, max: bytes });
        let failed = Request { is_good: false, code: b"500", bytes: Some(1_266), ..request(1_000, 5) };
        let all = recorded(&[request(1_000, 5), failed, request(1_000, 5)]).all;
        assert_eq!((all.body_length, all.failed_length, all.usual_length()), (length(20), length(1_266), length(20)));
        let all = recorded(&[failed]).all;
        assert_eq!((all.body_length, all.failed_length, all.usual_length()), (None, length(1_266), length(1_266)));
        let untold = recorded(&[Request { bytes: None, ..request(1_000, 5) }, failed]).all;
        assert_eq!(untold.usual_length(), None);
    }

    #[test]
    fn codes_of_what_failed_are_kept_apart() {
        let rejected = Request { is_good: false, code: b"201", ..request(1_000, 5) };
        let all = recorded(&[request(1_000, 5), rejected, Request { is_good: true, ..rejected }, rejected]).all;
        assert_eq!((all.codes["200"], all.codes["201"]), (1, 3));
        assert_eq!((all.good_codes["200"], all.good_codes["201"]), (1, 1));
    }

    #[test]
    fn labels_that_are_no_text_lose_no_request() {
        let found = recorded(&[
            Request { label: b"pr\xe9", code: b"\xe9", ..request(1_000, 1) },
            Request { label: b"pr\xe8", code: b"\xe8", ..request(1_000, 1) },
        ]);
        assert_eq!((found.all.good, found.labels.len(), found.all.codes.values().sum::<u64>()), (2, 1, 2));
    }

    #[test]
    fn there_are_no_more_labels_and_codes_than_some() {
        let names: Vec<String> = (0..2 * MOST_LABELS).map(|index| index.to_string()).collect();
        let mut recorder = Recorder::new();
        for name in &names {
            recorder.add(&Request { label: name.as_bytes(), ..request(1_000, 1) }).unwrap();
            recorder.add(&Request { code: name.as_bytes(), ..request(1_000, 1) }).unwrap();
        }
        let found = recorder.finish();
        assert_eq!(found.labels.len(), MOST_LABELS + 1);
        assert_eq!(found.labels["page"].codes.len(), MOST_CODES + 1);
        assert_eq!(found.all.ended() as usize, 2 * names.len());
    }
}
