//! Every response here is fed whole, byte by byte, and split in two at every boundary.

use super::*;
use proptest::prelude::*;

/// Keeps the body.
struct Keep(Vec<u8>);

impl Sink for Keep {
    fn field(&mut self, _: &str, _: &[u8]) {}
    fn body(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

type Framed = Result<Option<(Answered, Vec<u8>)>, Malformed>;

/// Feeds `pieces`, then the end of the connection.
fn frame<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, head_only: bool) -> Framed {
    let (mut framer, mut sink) = (Framer::default(), Keep(Vec::new()));
    let mut answered = None;
    for piece in pieces {
        match (answered, framer.feed(piece, head_only, &mut sink)?) {
            (None, now) => answered = now,
            (Some(_), _) => return Err(Malformed::Surplus(piece.len())),
        }
    }
    Ok(answered.or_else(|| framer.close()).map(|answered| (answered, sink.0)))
}

fn in_all_pieces(bytes: &[u8], head_only: bool) -> Framed {
    let whole = frame([bytes], head_only);
    assert_eq!(alike(&frame(bytes.chunks(1), head_only)), alike(&whole), "byte by byte");
    for cut in 1..bytes.len() {
        let (left, right) = bytes.split_at(cut);
        assert_eq!(alike(&frame([left, right], head_only)), alike(&whole), "cut at {cut}");
    }
    whole
}

/// How much surplus is seen at once, and which of its errors the parser meets first, depends on the pieces.
fn alike(framed: &Framed) -> Result<Option<&(Answered, Vec<u8>)>, ()> {
    framed.as_ref().map(Option::as_ref).map_err(|_| ())
}

#[expect(clippy::unnecessary_wraps, reason = "compared with what framing returns")]
fn answer(status: u16, body: &str, keep_alive: bool) -> Framed {
    Ok(Some((Answered { status, body_bytes: body.len() as u64, keep_alive }, body.into())))
}

fn get(text: &str) -> Framed {
    in_all_pieces(text.as_bytes(), false)
}

#[test]
fn length_by_content_length() {
    assert_eq!(get("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), answer(200, "hello", true));
    assert_eq!(get("HTTP/1.1 200 OK\r\ncontent-LENGTH:0\r\n\r\n"), answer(200, "", true));
    assert_eq!(get("HTTP/1.1 500\r\nContent-Length: 1, 1\r\nContent-Length: 1\r\n\r\nx"), answer(500, "x", true));
}

#[test]
fn length_by_chunks() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(get(&format!("{head}5\r\nhello\r\n0\r\n\r\n")), answer(200, "hello", true));
    assert_eq!(get(&format!("{head}0\r\n\r\n")), answer(200, "", true));
    assert_eq!(
        get(&format!("{head}0A;name=\"v\"\r\n0123456789\r\n1 \r\nx\r\n000;x\r\nDigest: y\r\nZ: \r\n\r\n")),
        answer(200, "0123456789x", true)
    );
}

#[test]
fn chunks_win_over_content_length() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    assert_eq!(get(text), answer(200, "x", true));
}

#[test]
fn length_by_the_end_of_the_connection() {
    assert_eq!(get("HTTP/1.1 200 OK\r\n\r\nall of it"), answer(200, "all of it", false));
    assert_eq!(get("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nzzz"), answer(200, "zzz", false));
    assert_eq!(get("HTTP/1.0 200 OK\r\n\r\n"), answer(200, "", false));
}

#[test]
fn no_body_whatever_the_head_says() {
    assert_eq!(get("HTTP/1.1 204 No Content\r\n\r\n"), answer(204, "", true));
    assert_eq!(get("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"), answer(304, "", true));
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(in_all_pieces(head, true), answer(200, "", true));
}

#[test]
fn interim_responses_are_skipped() {
    let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
                HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
    assert_eq!(get(text), answer(201, "ok", true));
}

#[test]
fn who_keeps_the_connection() {
    let with = |version: &str, connection: &str| {
        get(&format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\nConnection: {connection}\r\n\r\n"))
    };
    assert_eq!(with("1.1", "Close"), answer(200, "", false));
    assert_eq!(with("1.1", "x, close"), answer(200, "", false));
    assert_eq!(with("1.1", "keep-alive"), answer(200, "", true));
    assert_eq!(with("1.0", "Keep-Alive"), answer(200, "", true));
    assert_eq!(with("1.0", "x"), answer(200, "", false));
}

#[test]
fn an_early_end_is_no_answer() {
    for text in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        assert_eq!(get(text), Ok(None), "{text:?}");
    }
}

#[test]
fn malformed_responses_are_refused() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for text in [
        "garbage\r\n\r\n",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 20x OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n",
        "HTTP/1.1 099 Low\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhello",
        "HTTP/1.1 204 No Content\r\n\r\nhello",
        &format!("{chunked}hello"),
        &format!("{chunked}\r\n"),
        &format!("{chunked};x\r\n"),
        &format!("{chunked}12345678901234567\r\n"),
        &format!("{chunked}5\nhello\r\n0\r\n\r\n"),
        &format!("{chunked}5\r\nhello!\r\n0\r\n\r\n"),
        &format!("{chunked}0\r\n\r\nmore"),
        &format!("{chunked}0\r\n\0\r\n\r\n"),
    ] {
        assert!(get(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_head_without_end_is_refused() {
    let long = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST_HEAD));
    assert_eq!(frame([long.as_bytes()], false), Err(Malformed::LongHead));
    assert_eq!(frame(long.as_bytes().chunks(1_000), false), Err(Malformed::LongHead));
    let fields = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(MOST_FIELDS + 1));
    assert_eq!(frame([fields.as_bytes()], false), Err(Malformed::Head(httparse::Error::TooManyHeaders)));
}

#[test]
fn one_response_follows_another() {
    let mut framer = Framer::default();
    for body in ["a", "", "ccc"] {
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let (first, second) = text.as_bytes().split_at(20);
        assert_eq!(framer.feed(first, false, &mut Ignore), Ok(None));
        let answered = framer.feed(second, false, &mut Ignore).unwrap().unwrap();
        assert_eq!(answered.body_bytes, body.len() as u64);
    }
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1usize..40,
                                         start in 0usize..3) {
        let starts = ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"];
        let text = [starts[start].as_bytes(), &bytes].concat();
        let (pieces, whole) = (frame(text.chunks(size), false), frame([text.as_slice()], false));
        prop_assert_eq!(alike(&pieces), alike(&whole));
    }

    #[test]
    fn any_chunking_gives_the_body_back(chunks in prop::collection::vec("[a-z]{1,40}", 0..8), size in 1usize..50) {
        let coded: Vec<String> = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
        let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", coded.concat());
        prop_assert_eq!(frame(text.as_bytes().chunks(size), false), answer(200, &chunks.concat(), true));
    }
}
