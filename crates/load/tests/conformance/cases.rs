//! Answers as they are on the wire, good and malformed, and what each of them is by RFC 9112. `docs/http.md` says why.
//!
//! After the last byte of a case, the connection ends.

use model::Malformed::{self, *};
use model::malformed::{LONGEST_HEAD, MOST_FIELDS};

/// What a connection says in answer to one request after another, and what is to be seen.
pub struct Case {
    pub name: &'static str,
    /// The requests are HEAD.
    pub head: bool,
    /// The requests offer gzip.
    pub gzip: bool,
    /// An answer for each request, and its outcome.
    pub answers: Vec<(Vec<u8>, Outcome)>,
}

/// Status, length of the decoded body in bytes, and whether the connection can be used again; or what is wrong.
pub type Outcome = Result<(u16, u64, bool), Malformed>;

/// `printf hello | gzip -n`
const HELLO: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
/// `printf '' | gzip -n`
const NOTHING: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

impl Case {
    fn of(name: &'static str, bytes: impl Into<Vec<u8>>, outcome: Outcome) -> Self {
        Self { name, head: false, gzip: false, answers: vec![(bytes.into(), outcome)] }
    }

    fn by_head(self) -> Self {
        Self { head: true, ..self }
    }

    fn then(mut self, bytes: impl Into<Vec<u8>>, outcome: Outcome) -> Self {
        self.answers.push((bytes.into(), outcome));
        self
    }
}

/// After this head with its end, `body` in chunks.
fn chunks(name: &'static str, body: &str, outcome: Outcome) -> Case {
    Case::of(name, format!("{CHUNKED}{body}"), outcome)
}

/// A 200 whose head has these lines, each with its line end, and whose body is `hello`.
fn hello(name: &'static str, lines: &str, outcome: Outcome) -> Case {
    Case::of(name, format!("HTTP/1.1 200 OK\r\n{lines}\r\nhello"), outcome)
}

/// An answer of this body that is said to be in gzip, to a request that offers it.
fn gzip(name: &'static str, body: &[u8], outcome: Outcome) -> Case {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    Case { gzip: true, ..Case::of(name, [head.as_bytes(), body].concat(), outcome) }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    [heads(), bodies(), bodiless(), connections(), malformed_heads(), lengths(), chunked(), cut(), coded()]
        .into_iter()
        .flatten()
        .collect()
}

fn heads() -> Vec<Case> {
    let long = |length: usize| {
        let (start, end) = ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: ", "\r\n\r\n");
        format!("{start}{}{end}hello", "x".repeat(length - start.len() - end.len()))
    };
    let fields = |number: usize| format!("Content-Length: 5\r\n{}", "X: y\r\n".repeat(number - 1));
    vec![
        hello("plain", "Content-Length: 5\r\n", Ok((200, 5, true))),
        Case::of("no reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", Ok((200, 0, true))),
        Case::of("no reason, no blank", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", Ok((200, 0, true))),
        Case::of("reason in Latin-1", b"HTTP/1.1 200 \xe9t\xe9\r\nContent-Length: 0\r\n\r\n", Ok((200, 0, true))),
        Case::of("lines that end in LF", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", Ok((200, 5, true))),
        hello("any case of a name", "cOnTeNt-LeNgTh:5\r\n", Ok((200, 5, true))),
        hello("blanks around a value", "Content-Length: \t 5 \t\r\n", Ok((200, 5, true))),
        hello("an empty value", "X:\r\nContent-Length: 5\r\nY: \r\n", Ok((200, 5, true))),
        hello("a value in Latin-1", "X: é\r\nContent-Length: 5\r\n", Ok((200, 5, true))),
        hello("a folded value", "X: a,\r\n b,\r\n\tc\r\nContent-Length: 5\r\n", Ok((200, 5, true))),
        hello("a value on its second line", "Content-Length:\r\n 5\r\n", Ok((200, 5, true))),
        Case::of(
            "a status class nobody has defined",
            "HTTP/1.1 777 X\r\nContent-Length: 0\r\n\r\n",
            Ok((777, 0, true)),
        ),
        Case::of("a status below 100", "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n", Ok((99, 0, true))),
        Case::of("the longest head", long(LONGEST_HEAD), Ok((200, 5, true))),
        Case::of("a head too long", long(LONGEST_HEAD + 1), Err(LongHead)),
        Case::of("a head without end", format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST_HEAD)), Err(LongHead)),
        hello("the most fields", &fields(MOST_FIELDS), Ok((200, 5, true))),
        hello("a field too many", &fields(MOST_FIELDS + 1), Err(ManyFields)),
    ]
}

fn bodies() -> Vec<Case> {
    vec![
        hello("one length said twice", "Content-Length: 5\r\nContent-Length: 5\r\n", Ok((200, 5, true))),
        hello("one length said twice in a field", "Content-Length: 5, 5\r\n", Ok((200, 5, true))),
        hello("a length with zeros", "Content-Length: 00005\r\n", Ok((200, 5, true))),
        hello("until the end of the connection", "", Ok((200, 5, false))),
        Case::of("nothing until the end of the connection", "HTTP/1.1 200 OK\r\n\r\n", Ok((200, 0, false))),
        Case::of("an error until the end", "HTTP/1.0 500 X\r\nContent-Type: a/b\r\n\r\nsorry", Ok((500, 5, false))),
        chunks("chunks", "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n", Ok((200, 6, true))),
        chunks("no chunk", "0\r\n\r\n", Ok((200, 0, true))),
        chunks("sizes in any case", "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", Ok((200, 20, true))),
        chunks("sizes with zeros", "00000000000000000000005\r\nhello\r\n0000\r\n\r\n", Ok((200, 5, true))),
        chunks("extensions", "5;a=b;c=\"d e\";f\r\nhello\r\n0;x\r\n\r\n", Ok((200, 5, true))),
        chunks("blanks after sizes", "5 \r\nhello\r\n0\t ; x\r\n\r\n", Ok((200, 5, true))),
        chunks("trailers", "5\r\nhello\r\n0\r\nDigest: x\r\nY:\r\n\r\n", Ok((200, 5, true))),
        chunks("a folded trailer", "0\r\nX: a\r\n b\r\n\tc\r\n\r\n", Ok((200, 0, true))),
        chunks("trailers that end in LF", "0\r\nX: a\n\n", Ok((200, 0, true))),
        chunks("data like framing", "7\r\n0\r\n\r\n0\r\r\n0\r\n\r\n", Ok((200, 7, true))),
        Case::of(
            "chunked in capitals",
            "HTTP/1.1 200 X\r\nTransfer-Encoding: , CHUNKED\r\n\r\n0\r\n\r\n",
            Ok((200, 0, true)),
        ),
    ]
}

fn bodiless() -> Vec<Case> {
    vec![
        Case::of("204", "HTTP/1.1 204 No Content\r\n\r\n", Ok((204, 0, true))),
        Case::of("204 of some length", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Ok((204, 0, true))),
        Case::of("204 in chunks", "HTTP/1.1 204 X\r\nTransfer-Encoding: chunked\r\n\r\n", Ok((204, 0, true))),
        Case::of("204 with a body", "HTTP/1.1 204 No Content\r\n\r\nhello", Err(Surplus)),
        Case::of("304 of some length", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", Ok((304, 0, true))),
        Case::of("304 with a body", "HTTP/1.1 304 X\r\nContent-Length: 5\r\n\r\nhello", Err(Surplus)),
        Case::of("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", Ok((200, 0, true))).by_head(),
        Case::of("HEAD in chunks", CHUNKED, Ok((200, 0, true))).by_head(),
        Case::of("HEAD without a length", "HTTP/1.1 200 OK\r\n\r\n", Ok((200, 0, true))).by_head(),
        Case::of("HEAD with contradictions", "HTTP/1.1 404 X\r\nContent-Length: a, b\r\n\r\n", Ok((404, 0, true)))
            .by_head(),
        hello("HEAD with a body", "Content-Length: 5\r\n", Err(Surplus)).by_head(),
        Case::of("205 without a body", "HTTP/1.1 205 X\r\nContent-Length: 0\r\n\r\n", Ok((205, 0, true))),
        Case::of(
            "100 and 103 before the answer",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n\
             HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
            Ok((201, 2, true)),
        ),
        Case::of(
            "an interim answer with a length",
            "HTTP/1.1 102 X\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            Ok((204, 0, true)),
        ),
        Case::of("101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", Err(Switch)),
    ]
}

fn connections() -> Vec<Case> {
    let empty = |version: &str, connection: &str| {
        format!("HTTP/{version} 200 OK\r\nContent-Length: 0\r\nConnection: {connection}\r\n\r\n")
    };
    vec![
        Case::of("close", empty("1.1", "close"), Ok((200, 0, false))),
        Case::of("close among others", empty("1.1", "x, CLOSE ,y"), Ok((200, 0, false))),
        Case::of("close wins over keep-alive", empty("1.1", "keep-alive, close"), Ok((200, 0, false))),
        Case::of("keep-alive", empty("1.1", "keep-alive"), Ok((200, 0, true))),
        Case::of("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", Ok((200, 5, false))),
        Case::of("HTTP/1.0 that keeps", empty("1.0", "Keep-Alive"), Ok((200, 0, true))),
        Case::of("HTTP/1.0 of something else", empty("1.0", "x"), Ok((200, 0, false))),
        hello("one after another", "Content-Length: 5\r\n", Ok((200, 5, true)))
            .then(format!("{CHUNKED}2\r\nhi\r\n0\r\n\r\n"), Ok((200, 2, true)))
            .then("HTTP/1.1 100 X\r\n\r\nHTTP/1.1 404 X\r\nContent-Length: 0\r\n\r\n", Ok((404, 0, true)))
            .then("HTTP/1.1 204 X\r\n\r\n", Ok((204, 0, true)))
            .then("HTTP/1.1 200 OK\r\n\r\nlast", Ok((200, 4, false))),
        hello("a good one, then none", "Content-Length: 5\r\n", Ok((200, 5, true))).then("", Err(NoAnswer)),
        hello("a good one, then a bad one", "Content-Length: 5\r\n", Ok((200, 5, true))).then("bad", Err(Version)),
    ]
}

fn malformed_heads() -> Vec<Case> {
    let line = |name, line: &str, why| Case::of(name, format!("{line}\r\nContent-Length: 0\r\n\r\n"), Err(why));
    vec![
        line("an empty line first", "\r\nHTTP/1.1 200 OK", EmptyLine),
        line("an LF first", "\nHTTP/1.1 200 OK", EmptyLine),
        line("no HTTP", "garbage", Version),
        line("SSH", "SSH-2.0-OpenSSH_9.2", Version),
        line("TLS", "\x15\x03\x01\0\x02\x02\x0a", Version),
        line("HTTP/0.9", "<html>hello</html>", Version),
        line("HTTP/2", "HTTP/2 200", Version),
        line("HTTP/1.2", "HTTP/1.2 200 OK", Version),
        line("a name in small letters", "http/1.1 200 OK", Version),
        line("a version without a status", "HTTP/1.1", Version),
        line("a blank first", " HTTP/1.1 200 OK", Version),
        line("a status with a letter", "HTTP/1.1 20x OK", StatusLine),
        line("a status of two digits", "HTTP/1.1 20 OK", StatusLine),
        line("a status of four digits", "HTTP/1.1 2000 OK", StatusLine),
        line("a NUL in the reason", "HTTP/1.1 200 O\0K", StatusLine),
        line("two blanks before the status", "HTTP/1.1  200 OK", StatusLine),
        hello("a blank before the first field", " X: y\r\nContent-Length: 5\r\n", Err(BlankBeforeFields)),
        hello("no colon", "Content-Length: 5\r\nX\r\n", Err(FieldName)),
        hello("no name", "Content-Length: 5\r\n: x\r\n", Err(FieldName)),
        hello("a name of no token", "Content-Length: 5\r\nX(y): z\r\n", Err(FieldName)),
        hello("a name with a blank", "Bad Name: x\r\n", Err(BlankAfterName)),
        hello("a blank before the colon", "Content-Length : 5\r\n", Err(BlankAfterName)),
        hello("a tab before the colon", "X: y\r\n z\r\nContent-Length\t: 5\r\n", Err(BlankAfterName)),
        hello("a NUL in a value", "X: a\0b\r\nContent-Length: 5\r\n", Err(FieldValue)),
        hello("a control character in a value", "X: a\r\nY: \x07\r\n", Err(FieldValue)),
        hello("a bare CR in a value", "X: a\rb\r\nContent-Length: 5\r\n", Err(BareCr)),
        hello("a bare CR before a line end", "Content-Length: 5\r\r\n", Err(BareCr)),
        hello("a bare CR instead of a value", "X:\ry\r\n", Err(BareCr)),
        hello("a bare CR instead of the last line", "Content-Length: 5\r\n\rX: y\r\n", Err(BareCr)),
        Case::of("an interim answer that is bad", "HTTP/1.1 100 X\r\nX\r\n\r\n", Err(FieldName)),
        Case::of("an empty line after an interim answer", "HTTP/1.1 100 X\r\n\r\n\r\n", Err(EmptyLine)),
    ]
}

fn lengths() -> Vec<Case> {
    let both = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n";
    let coded = |name, coding: &str, why| {
        Case::of(name, format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n0\r\n\r\n"), Err(why))
    };
    vec![
        hello("a length in words", "Content-Length: five\r\n", Err(ContentLength)),
        hello("a length with a sign", "Content-Length: +5\r\n", Err(ContentLength)),
        hello("a length below nothing", "Content-Length: -5\r\n", Err(ContentLength)),
        hello("a length in hexadecimal", "Content-Length: 0x5\r\n", Err(ContentLength)),
        hello("a length and a half", "Content-Length: 5.5\r\n", Err(ContentLength)),
        hello("two numbers", "Content-Length: 5 5\r\n", Err(ContentLength)),
        hello("no length", "Content-Length:\r\n", Err(ContentLength)),
        hello("a length and nothing", "Content-Length: 5,\r\n", Err(ContentLength)),
        hello("a folded length", "Content-Length: 5\r\n 5\r\n", Err(ContentLength)),
        hello("a length beyond 64 bits", "Content-Length: 18446744073709551616\r\n", Err(ContentLengthOverflow)),
        hello("the longest length", "Content-Length: 18446744073709551615\r\n", Err(CutBody)),
        hello("different lengths", "Content-Length: 5\r\nContent-Length: 6\r\n", Err(DifferentLengths)),
        hello("different lengths in a field", "Content-Length: 5, 6\r\n", Err(DifferentLengths)),
        hello("a length and chunks", both, Err(LengthAndCoding)),
        hello("chunks and a length", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Err(LengthAndCoding)),
        Case::of("chunks in HTTP/1.0", CHUNKED.replace("1.1", "1.0") + "0\r\n\r\n", Err(OldCoding)),
        coded("gzip as a transfer coding", "gzip", UnaskedCoding),
        coded("gzip, then chunked", "gzip, chunked", UnaskedCoding),
        coded("chunked, then gzip", "chunked, gzip", UnaskedCoding),
        coded("identity", "identity", UnaskedCoding),
        coded("no coding", "", UnaskedCoding),
        coded("chunked with a parameter", "chunked;x=y", UnaskedCoding),
        coded("chunked twice", "chunked, chunked", ChunkedTwice),
        coded("chunked twice in two fields", "chunked\r\nTransfer-Encoding: chunked", ChunkedTwice),
        hello("more than the length", "Content-Length: 4\r\n", Err(Surplus)),
        hello("more than nothing", "Content-Length: 0\r\n", Err(Surplus)),
        Case::of("an answer nobody asked for", "HTTP/1.1 204 X\r\n\r\nHTTP/1.1 204 X\r\n\r\n", Err(Surplus)),
        Case::of("a line end too much", "HTTP/1.1 204 X\r\n\r\n\r\n", Err(Surplus)),
    ]
}

fn chunked() -> Vec<Case> {
    vec![
        chunks("no size", "\r\nhello\r\n0\r\n\r\n", Err(ChunkSize)),
        chunks("a size in words", "five\r\nhello\r\n0\r\n\r\n", Err(ChunkSize)),
        chunks("a size with a prefix", "0x5\r\nhello\r\n0\r\n\r\n", Err(ChunkSize)),
        chunks("a size with a sign", "-5\r\nhello\r\n0\r\n\r\n", Err(ChunkSize)),
        chunks("a blank before a size", " 5\r\nhello\r\n0\r\n\r\n", Err(ChunkSize)),
        chunks("an extension without a size", ";x\r\n", Err(ChunkSize)),
        chunks("no chunks at all", "hello", Err(ChunkSize)),
        chunks("the largest size", "ffffffffffffffff\r\nhello", Err(CutChunks)),
        chunks("a size beyond 64 bits", "10000000000000000\r\n", Err(ChunkSizeOverflow)),
        chunks("a size line that ends in LF", "5\nhello\r\n0\r\n\r\n", Err(ChunkSizeEnd)),
        chunks("a size line that ends in CR", "5\rhello\r\n0\r\n\r\n", Err(ChunkSizeEnd)),
        chunks("an extension that ends in LF", "5;x\nhello\r\n0\r\n\r\n", Err(ChunkSizeEnd)),
        chunks("a NUL in an extension", "5;\0\r\nhello\r\n0\r\n\r\n", Err(ChunkExtension)),
        chunks("a chunk too long", "5\r\nhello!\r\n0\r\n\r\n", Err(ChunkEnd)),
        chunks("a chunk too short", "6\r\nhello\r\n0\r\n\r\n", Err(ChunkEnd)),
        chunks("a chunk that ends in LF", "5\r\nhello\n0\r\n\r\n", Err(ChunkEnd)),
        chunks("a chunk that ends in CR", "5\r\nhello\r0\r\n\r\n", Err(ChunkEnd)),
        chunks("a chunk without a line end", "5\r\nhello0\r\n\r\n", Err(ChunkEnd)),
        chunks("a trailer without a colon", "0\r\nX\r\n\r\n", Err(Trailer)),
        chunks("a trailer without a name", "0\r\n: x\r\n\r\n", Err(Trailer)),
        chunks("a blank before the colon of a trailer", "0\r\nX : y\r\n\r\n", Err(Trailer)),
        chunks("a blank before the first trailer", "0\r\n X: y\r\n\r\n", Err(Trailer)),
        chunks("a bare CR in a trailer", "0\r\nX: a\rb\r\n\r\n", Err(Trailer)),
        chunks("a NUL in a trailer", "0\r\nX: \0\r\n\r\n", Err(Trailer)),
        chunks("a bare CR at the end", "0\r\n\rx", Err(Trailer)),
        chunks("more after the last chunk", "0\r\n\r\nmore", Err(Surplus)),
    ]
}

fn cut() -> Vec<Case> {
    vec![
        Case::of("nothing", "", Err(NoAnswer)),
        Case::of("nothing after an interim answer", "HTTP/1.1 100 Continue\r\n\r\n", Err(NoAnswer)),
        Case::of("a cut version", "HTT", Err(CutHead)),
        Case::of("a cut status line", "HTTP/1.1 200 O", Err(CutHead)),
        Case::of("a cut field", "HTTP/1.1 200 OK\r\nContent-Le", Err(CutHead)),
        Case::of("no empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", Err(CutHead)),
        hello("a cut body", "Content-Length: 6\r\n", Err(CutBody)),
        Case::of("no body", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n", Err(CutBody)),
        chunks("a body without chunks", "", Err(CutChunks)),
        chunks("a cut size", "5", Err(CutChunks)),
        chunks("a cut chunk", "5\r\nhell", Err(CutChunks)),
        chunks("a chunk without its end", "5\r\nhello", Err(CutChunks)),
        chunks("no last chunk", "5\r\nhello\r\n", Err(CutChunks)),
        chunks("no empty line after the last chunk", "5\r\nhello\r\n0\r\n", Err(CutChunks)),
        chunks("a cut trailer", "5\r\nhello\r\n0\r\nX: y", Err(CutChunks)),
    ]
}

fn coded() -> Vec<Case> {
    let cut = &HELLO[..HELLO.len() - 1];
    let forged = [&HELLO[..18], b"\x87", &HELLO[19..]].concat();
    let in_chunks = |parts: [&[u8]; 2]| {
        let chunk = |part: &[u8]| [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
        let head = CHUNKED.replace("\r\n\r\n", "\r\nContent-Encoding: X-GZIP\r\n\r\n");
        [head.as_bytes(), &chunk(parts[0]), &chunk(parts[1]), b"0\r\n\r\n"].concat()
    };
    let offered = |case: Case| Case { gzip: true, ..case };
    let named = |coding: &str| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n\r\n");
        [head.as_bytes(), HELLO].concat()
    };
    let coded_length = HELLO.len() as u64;
    vec![
        gzip("gzip", HELLO, Ok((200, 5, true))),
        gzip("gzip of nothing", NOTHING, Ok((200, 0, true))),
        gzip("gzip without a byte", b"", Ok((200, 0, true))),
        gzip("gzip in two members", &[HELLO, HELLO].concat(), Ok((200, 10, true))),
        offered(Case::of("gzip in chunks", in_chunks([&HELLO[..11], &HELLO[11..]]), Ok((200, 5, true)))),
        offered(Case::of("gzip until the end", named("gzip"), Ok((200, 5, false)))),
        offered(Case::of("a coding not known", named("br"), Ok((200, coded_length, false)))),
        offered(Case::of("two codings", named("gzip, gzip"), Ok((200, coded_length, false)))),
        Case::of("gzip that was not asked for", named("gzip"), Ok((200, coded_length, false))),
        offered(hello("no gzip though offered", "Content-Length: 5\r\n", Ok((200, 5, true)))),
        gzip("HEAD of gzip", b"", Ok((200, 0, true))).by_head(),
        gzip("no gzip though said", b"hello", Err(Gzip)),
        gzip("cut gzip", cut, Err(Gzip)),
        gzip("a cut header of gzip", &HELLO[..4], Err(Gzip)),
        gzip("gzip with a wrong checksum", &forged, Err(Gzip)),
        gzip("gzip and something else", &[HELLO, b"hello"].concat(), Err(Gzip)),
        offered(Case::of("broken gzip until the end", [&named("gzip")[..], b"!"].concat(), Err(Gzip))),
        offered(Case::of(
            "gzip in broken chunks",
            [CHUNKED.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n").as_bytes(), b"x"].concat(),
            Err(ChunkSize),
        )),
        gzip("gzip, then gzip again", HELLO, Ok((200, 5, true))).then(named("gzip"), Ok((200, 5, false))),
    ]
}
