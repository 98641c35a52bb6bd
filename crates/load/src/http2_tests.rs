use super::*;
use crate::response::Ignore;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// RFC 9113 §4.1.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

/// `:status: 200` (RFC 7541 §A).
fn ok(flags: u8) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | flags, 1, &[0x88])
}

/// `x: y`, new and not to be remembered (RFC 7541 §6.2.2).
const FIELD: [u8; 5] = [0, 1, b'x', 1, b'y'];

fn go_away(last: u32) -> Vec<u8> {
    frame(GOAWAY, 0, 0, &[last.to_be_bytes(), 0_u32.to_be_bytes()].concat())
}

fn request(body: &str) -> Http2Request {
    Http2Request {
        request: Request::post("http://here/").body(()).unwrap(),
        body: Bytes::copy_from_slice(body.as_bytes()),
    }
}

/// A connection whose request is sent.
fn in_flight() -> Http2 {
    let mut http = Http2::new().unwrap();
    http.send(&request("")).unwrap();
    let mut unsent = Vec::new();
    http.take_unsent(&mut unsent);
    assert!(unsent.starts_with(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    http
}

/// What comes of these bytes of the server's.
fn after(bytes: &[Vec<u8>]) -> Result<Option<Answered>, Http2Error> {
    in_flight().receive(&[vec![settings()], bytes.to_vec()].concat().concat(), &mut Ignore)
}

/// Kinds and payloads of the frames that are to be sent.
fn unsent(http: &mut Http2) -> Vec<(u8, u8, Vec<u8>)> {
    let mut bytes = Vec::new();
    http.take_unsent(&mut bytes);
    let (mut rest, mut frames) = (bytes.as_slice(), Vec::new());
    while let [a, b, c, kind, flags, _, _, _, _, after @ ..] = rest {
        let (payload, after) = after.split_at(u32::from_be_bytes([0, *a, *b, *c]) as usize);
        frames.push((*kind, *flags, payload.to_vec()));
        rest = after;
    }
    frames
}

#[test]
fn an_answer_is_found_however_its_bytes_are_split() {
    let early = frame(HEADERS, END_HEADERS, 1, &[8, 3, b'1', b'0', b'3']);
    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, &FIELD);
    let bytes =
        [settings(), early, ok(0), frame(DATA, 0, 1, b"hello "), frame(DATA, 0, 1, b"world"), trailers].concat();
    for split in 0..=bytes.len() {
        let mut http = in_flight();
        let (first, second) = bytes.split_at(split);
        let answers = [http.receive(first, &mut Ignore).unwrap(), http.receive(second, &mut Ignore).unwrap()];
        let expected = Answered { status: 200, body_bytes: 11, keep_alive: true };
        assert_eq!(answers.into_iter().flatten().collect::<Vec<_>>(), [expected], "split at {split}");
        assert!(http.is_reusable());
        http.send(&request("")).unwrap();
    }
}

#[test]
fn a_server_that_ends_a_stream_is_reported_from_one_that_refuses_it() {
    let reset = |reason: Reason| after(&[frame(RST_STREAM, 0, 1, &u32::from(reason).to_be_bytes())]);
    assert!(matches!(reset(Reason::REFUSED_STREAM), Err(Http2Error::Refused)));
    assert!(matches!(reset(Reason::INTERNAL_ERROR), Err(Http2Error::Reset(Reason::INTERNAL_ERROR))));
    let midway = after(&[ok(0), frame(RST_STREAM, 0, 1, &u32::from(Reason::CANCEL).to_be_bytes())]);
    assert!(matches!(midway, Err(Http2Error::Reset(Reason::CANCEL))));
}

#[test]
fn a_server_that_goes_away_answers_what_it_has_taken() {
    assert!(matches!(after(&[go_away(0)]), Err(Http2Error::GoAway(Reason::NO_ERROR))));
    let mut http = in_flight();
    let bytes = [settings(), go_away(1), ok(END_STREAM)].concat();
    assert_eq!(http.receive(&bytes, &mut Ignore).unwrap().unwrap().status, 200);
    assert!(!http.is_reusable());
    assert!(http.send(&request("")).is_err());
}

#[test]
fn what_is_not_http_2_is_known_by_its_first_bytes() {
    let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
    for split in 0..answer.len() {
        let mut http = in_flight();
        let (first, second) = answer.split_at(split);
        let reported = http.receive(first, &mut Ignore).and_then(|_| http.receive(second, &mut Ignore));
        assert!(matches!(reported, Err(Http2Error::NotHttp2)), "split at {split}");
    }
    // Data before any head breaks the protocol, which it is nevertheless.
    assert!(matches!(after(&[frame(DATA, 0, 1, b"x")]), Err(Http2Error::Malformed(_))));
}

#[test]
fn a_head_has_its_longest() {
    let length = LONGEST_HEAD + 1;
    // A length is seven bits, then the rest in groups of seven (RFC 7541 §5.1).
    let rest = length - 127;
    let varint = [127, rest as u8 | 0x80, (rest >> 7) as u8 | 0x80, (rest >> 14) as u8];
    let block = [&[0x88, 0, 1, b'x'][..], &varint, &vec![b'y'; length]].concat();
    let mut parts = block.chunks(16_384);
    let mut frames = vec![frame(HEADERS, END_STREAM, 1, parts.next().unwrap())];
    frames.extend(parts.map(|part| frame(CONTINUATION, 0, 1, part)));
    frames.last_mut().unwrap()[4] |= END_HEADERS;
    assert!(matches!(after(&frames), Err(Http2Error::Malformed(_))));
}

#[test]
fn an_end_before_the_answers_is_a_failure() {
    for bytes in [settings(), [settings(), ok(0)].concat(), [settings(), ok(0), frame(DATA, 0, 1, b"x")].concat()] {
        let mut http = in_flight();
        assert_eq!(http.receive(&bytes, &mut Ignore).unwrap(), None);
        assert!(matches!(http.close(&mut Ignore), Err(Http2Error::Closed)));
    }
}

#[test]
fn pings_and_settings_are_answered_whatever_is_asked() {
    let mut http = Http2::new().unwrap();
    http.take_unsent(&mut Vec::new());
    http.receive(&[settings(), frame(PING, 0, 0, b"12345678")].concat(), &mut Ignore).unwrap();
    let sent = unsent(&mut http);
    assert!(sent.contains(&(SETTINGS, ACK, Vec::new())) && sent.contains(&(PING, ACK, b"12345678".into())), "{sent:?}");
    assert!(http.is_reusable());
    http.receive(&go_away(0), &mut Ignore).unwrap();
    assert!(!http.is_reusable());
}

#[test]
fn a_long_body_gets_more_window_as_it_is_read() {
    let mut http = in_flight();
    http.receive(&[settings(), ok(0)].concat(), &mut Ignore).unwrap();
    let part = frame(DATA, 0, 1, &[0; 16_384]);
    // More than the stream's window, and the connection's: a server that got no more would stop.
    let parts = CONNECTION_WINDOW / 16_384 + 1;
    let mut windows = [u64::from(CONNECTION_WINDOW), u64::from(STREAM_WINDOW)];
    for _ in 0..parts {
        windows = windows.map(|window| window.checked_sub(16_384).expect("the window is used up"));
        assert_eq!(http.receive(&part, &mut Ignore).unwrap(), None);
        let mut bytes = Vec::new();
        http.take_unsent(&mut bytes);
        for update in bytes.chunks(13).filter(|frame| frame[3] == WINDOW_UPDATE) {
            windows[usize::from(update[8])] += u64::from(u32::from_be_bytes(update[9..13].try_into().unwrap()));
        }
    }
    let answered = http.receive(&frame(DATA, END_STREAM, 1, &[]), &mut Ignore).unwrap().unwrap();
    assert_eq!(answered.body_bytes, u64::from(parts) * 16_384);
}

#[test]
fn a_long_request_waits_for_the_servers_window() {
    let mut http = Http2::new().unwrap();
    http.take_unsent(&mut Vec::new());
    http.receive(&settings(), &mut Ignore).unwrap();
    http.send(&request(&"x".repeat(100_000))).unwrap();
    let data = |http: &mut Http2| -> usize {
        unsent(http).iter().filter(|(kind, ..)| *kind == DATA).map(|(.., payload)| payload.len()).sum()
    };
    assert_eq!(data(&mut http), 65_535);
    for stream in [0, 1] {
        http.receive(&frame(WINDOW_UPDATE, 0, stream, &100_000_u32.to_be_bytes()), &mut Ignore).unwrap();
    }
    assert_eq!(data(&mut http), 100_000 - 65_535);
    assert_eq!(http.receive(&ok(END_STREAM), &mut Ignore).unwrap().unwrap().status, 200);
}
