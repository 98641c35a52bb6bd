//! The server as its clients see it, byte by byte.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test by panicking")]

use knownserver::{
    Body, Delay, Echo, ErrorBurst, Exit, ExitAfter, Fault, KnownServer, Record, Route, Script, Stall, Varying,
};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

fn start(routes: Vec<Route>) -> KnownServer {
    KnownServer::start(Script { routes, ..Script::default() }).unwrap()
}

fn faulty(fault: Fault) -> Route {
    Route { fault: Some(fault), ..Route::text("/", "0123456789") }
}

fn connect(server: &KnownServer) -> TcpStream {
    let stream = TcpStream::connect(server.addr()).unwrap();
    // Only so that a broken server fails a test instead of hanging it.
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Everything the server sends until it closes.
fn raw(server: &KnownServer, request: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(request.as_bytes()).unwrap();
    read_to_end(&mut stream)
}

fn read_to_end(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_exactly(stream: &mut TcpStream, length: usize) -> String {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: known\r\nConnection: close\r\n\r\n")
}

fn body_of(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn answers_are_what_the_script_says() {
    let mut page = Route { status: 201, content_type: "text/html".to_owned(), ..Route::text("/page", "<p>") };
    page.headers.insert("Set-Cookie".to_owned(), "a=b".to_owned());
    let server = start(vec![page]);
    assert_eq!(
        raw(&server, &get("/page?x=1")),
        "HTTP/1.1 201 Created\r\nContent-Type: text/html\r\nContent-Length: 3\r\nConnection: close\r\n\
         Set-Cookie: a=b\r\n\r\n<p>"
    );
    assert!(raw(&server, &get("/elsewhere")).starts_with("HTTP/1.1 404 Not Found\r\n"));
}

#[test]
fn the_record_tells_how_long_answers_took() {
    let server = start(vec![Route { delay: Delay::Fixed(20 * MS), ..Route::text("/slow", "s") }]);
    for _ in 0..10 {
        raw(&server, &get("/slow"));
    }
    let record: Record = serde_json::from_str(body_of(&raw(&server, &get("/known/record")))).unwrap();
    assert_eq!(record.times.count(), 10, "the record itself is no part of it");
    assert!(record.times.quantile(0.0) >= 20_000, "{:?}", record.times);
}

#[test]
fn what_a_request_waits_to_be_read_is_part_of_its_time() {
    let stalls = vec![Stall { at: None, every: Some(50 * MS), lasts: 40 * MS }];
    let server = KnownServer::start(Script { stalls, ..Script::default() }).unwrap();
    let mut stream = connect(&server);
    let waited = (0..1_000).any(|_| {
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        assert!(stream.read(&mut [0; 1_000]).unwrap() > 0);
        std::thread::sleep(3 * MS);
        server.record().times.quantile(1.0) > 10_000
    });
    assert!(waited, "{:?}", server.record().times);
}

#[test]
fn pipelined_requests_are_answered_in_order_on_one_connection() {
    let server = start(vec![Route { delay: Delay::Fixed(5 * MS), ..Route::text("/slow", "s") }, Route::text("/", "f")]);
    let requests = "GET /slow HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n".repeat(3) + &get("/slow");
    let answers = raw(&server, &requests);
    let bodies: Vec<&str> = answers.split("\r\n\r\n").skip(1).map(|part| &part[..1]).collect();
    assert_eq!(bodies, ["s", "f", "s", "f", "s", "f", "s"]);
    let record = server.record();
    assert_eq!((record.connections, record.received, record.answered), (1, 7, 7));
    assert_eq!(record.path("/slow").answered[&200], 4);
    assert_eq!(record.path("/").answered[&200], 3);
}

#[test]
fn counts_are_exact_over_threads_and_connections() {
    let errors = vec![ErrorBurst { share: 0.07, status: 503, ..ErrorBurst::default() }];
    let server = KnownServer::start(Script { threads: 3, errors, ..Script::default() }).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| {
                let requests = "GET / HTTP/1.1\r\n\r\n".repeat(99) + &get("/");
                raw(&server, &requests);
            });
        }
    });
    let record = server.record();
    assert_eq!((record.connections, record.received, record.answered), (10, 1000, 1000));
    let answered = record.path("/").answered;
    assert_eq!((answered[&200], answered[&503]), (930, 70));
}

#[test]
fn the_record_is_served_as_json_and_does_not_count_itself() {
    let server = start(vec![Route { cpu: MS, ..Route::default() }]);
    raw(&server, &get("/"));
    raw(&server, &get("/missing"));
    let answer = raw(&server, &get(knownserver::RECORD_PATH));
    let record: Record = serde_json::from_str(body_of(&answer)).unwrap();
    assert_eq!(record.received, 2);
    assert_eq!(record.path("/missing").answered[&404], 1);
    assert!(record.path("/").burnt_ns >= 1_000_000);
    assert_eq!(record.path("/").answered, server.record().path("/").answered);
}

#[test]
fn head_sends_the_head_only() {
    let server = start(vec![Route::sized("/", 33945)]);
    let answer = raw(&server, "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert!(answer.contains("Content-Length: 33945\r\n"));
    assert_eq!(body_of(&answer), "");
}

#[test]
fn http_1_0_is_kept_alive_only_when_asked() {
    let server = start(vec![Route { chunked: true, ..Route::default() }]);
    let answers = raw(&server, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.0\r\n\r\n");
    assert_eq!(answers.matches("hello, known world!\n").count(), 2);
    assert_eq!(answers.matches("Content-Length: 20\r\nConnection: keep-alive\r\n").count(), 1);
    assert_eq!(answers.matches("Content-Length: 20\r\nConnection: close\r\n").count(), 1);
}

#[test]
fn big_answers_arrive_whole_and_chunks_add_up() {
    const SIZE: usize = 8 << 20;
    let server = start(vec![Route::sized("/big", SIZE), Route { chunked: true, ..Route::sized("/chunks", 10_000) }]);
    assert_eq!(body_of(&raw(&server, &get("/big"))).len(), SIZE);
    let answer = raw(&server, &get("/chunks"));
    assert!(answer.contains("Transfer-Encoding: chunked\r\n"));
    let framing = "1000\r\n\r\n".len() * 2 + "710\r\n\r\n".len() + "0\r\n\r\n".len();
    assert_eq!(body_of(&answer).len(), 10_000 - 2 * 4096 + 2 * 4096 + framing);
}

#[test]
fn requests_come_back_as_they_were_sent() {
    let server = start(vec![
        Route { body: Body::Echo(Echo::Request), ..Route::text("/request", "") },
        Route { body: Body::Echo(Echo::Body), ..Route::text("/body", "") },
    ]);
    let request = get("/request?q=1");
    assert_eq!(body_of(&raw(&server, &request)), request);
    let big = "x".repeat(300_000);
    let post = format!("POST /body HTTP/1.1\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{big}", big.len());
    assert_eq!(body_of(&raw(&server, &post)), big);
}

#[test]
fn varying_answers_vary() {
    let server = start(vec![Route { varying: Some(Varying::Counter), ..Route::text("/", "n=") }]);
    assert_eq!(body_of(&raw(&server, &get("/"))), "n=1");
    assert_eq!(body_of(&raw(&server, &get("/"))), "n=2");
}

#[test]
fn too_long_a_content_length_ends_too_early() {
    let server = start(vec![faulty(Fault::WrongContentLength(5))]);
    let answer = raw(&server, "GET / HTTP/1.1\r\n\r\n");
    assert!(answer.contains("Content-Length: 15\r\n"));
    assert_eq!(body_of(&answer), "0123456789");
    assert_eq!((server.record().spoilt, server.record().answered), (1, 0));
}

#[test]
fn too_short_a_content_length_leaves_bytes_on_the_connection() {
    let server = start(vec![faulty(Fault::WrongContentLength(-4)), Route::text("/good", "good")]);
    let answers = raw(&server, &("GET / HTTP/1.1\r\n\r\n".to_owned() + &get("/good")));
    assert!(answers.contains("Content-Length: 6\r\n"));
    assert!(answers.contains("\r\n\r\n0123456789HTTP/1.1 200 OK\r\n"));
}

#[test]
fn garbage_is_not_http() {
    let server = start(vec![faulty(Fault::Garbage)]);
    let answer = raw(&server, "GET / HTTP/1.1\r\n\r\n");
    assert!(answer.contains("this is not HTTP") && !answer.contains("HTTP/1"));
}

#[test]
fn closing_faults_close() {
    let server = start(vec![faulty(Fault::Close), Route { path: "/half".to_owned(), ..faulty(Fault::CloseMidBody) }]);
    assert_eq!(raw(&server, "GET / HTTP/1.1\r\n\r\n"), "");
    let answer = raw(&server, "GET /half HTTP/1.1\r\n\r\n");
    assert!(answer.contains("Content-Length: 10\r\n"));
    assert_eq!(body_of(&answer), "01234");
}

#[test]
fn a_share_of_the_connections_is_closed_on_accept() {
    let server = KnownServer::start(Script { close_on_accept: 0.5, ..Script::default() }).unwrap();
    let answers: Vec<bool> = (0..4).map(|_| read_after_get(&server).is_empty()).collect();
    assert_eq!(answers, [false, true, false, true]);
    assert_eq!((server.record().connections, server.record().received), (4, 2));
}

/// As [`raw`], where the server may have closed before the request came.
fn read_after_get(server: &KnownServer) -> Vec<u8> {
    let mut stream = connect(server);
    let mut answer = Vec::new();
    let _ = stream.write_all(get("/").as_bytes());
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn what_is_never_answered_keeps_its_connection_until_the_client_leaves() {
    let server = start(vec![faulty(Fault::NeverAnswer), Route::text("/good", "good")]);
    let mut stream = connect(&server);
    stream.write_all(b"GET / HTTP/1.1\r\n\r\nGET /good HTTP/1.1\r\n\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(read_to_end(&mut stream), "");
    let record = server.record();
    assert_eq!((record.received, record.spoilt, record.answered), (1, 1, 0));
}

#[test]
fn a_slow_drip_is_correct_in_the_end() {
    let server = start(vec![faulty(Fault::SlowDrip { bytes: 3, every: MS })]);
    let answers = raw(&server, &("GET / HTTP/1.1\r\n\r\n".to_owned() + &get("/")));
    assert_eq!(answers.matches("\r\n\r\n0123456789").count(), 2);
    assert_eq!((server.record().answered, server.record().spoilt), (2, 0));
}

#[test]
fn a_share_of_the_answers_is_spoilt() {
    let server = start(vec![Route { fault_share: 0.25, ..faulty(Fault::Close) }]);
    let empty: Vec<bool> = (0..8).map(|_| raw(&server, &get("/")).is_empty()).collect();
    assert_eq!(empty, [false, false, false, true, false, false, false, true]);
    assert_eq!((server.record().spoilt, server.record().answered), (2, 6));
}

#[test]
fn what_is_not_http_is_refused_and_counted_apart() {
    let server = start(vec![Route::default()]);
    assert!(raw(&server, "\x16\x03\x01").starts_with("HTTP/1.1 400 "));
    assert_eq!((server.record().malformed, server.record().received), (1, 0));
}

#[test]
fn it_ends_after_the_last_request() {
    let exit = ExitAfter { requests: Some(3), time: None, code: 7, message: "enough".to_owned() };
    let server = KnownServer::start(Script { exit_after: Some(exit), ..Script::default() }).unwrap();
    let answers = raw(&server, &"GET / HTTP/1.1\r\n\r\n".repeat(5));
    assert_eq!(answers.matches("200 OK").count(), 3);
    let ended = server.wait().unwrap();
    assert_eq!((ended.code, ended.message.as_str()), (7, "enough"));
    assert_eq!(server.record().answered, 3);
    assert!(TcpStream::connect(server.addr()).is_err());
}

#[test]
fn it_ends_after_a_time() {
    let exit = ExitAfter { requests: None, time: Some(20 * MS), code: 0, message: String::new() };
    let server = KnownServer::start(Script { exit_after: Some(exit), ..Script::default() }).unwrap();
    assert_eq!(server.wait().unwrap().code, 0);
    assert!(TcpStream::connect(server.addr()).is_err());
}

#[test]
fn a_server_that_does_not_start_says_why() {
    let exit = Exit { code: 1, message: "Address already in use".to_owned() };
    let error = KnownServer::start(Script { exit_at_start: Some(exit), ..Script::default() }).unwrap_err();
    assert_eq!(error.to_string(), "Address already in use");
    assert!(KnownServer::start(Script { threads: 0, ..Script::default() }).is_err());
}

#[test]
fn the_port_refuses_until_the_server_listens() {
    let server = KnownServer::start(Script { start_delay: Duration::from_secs(3600), ..Script::default() }).unwrap();
    assert_eq!(TcpStream::connect(server.addr()).unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    drop(server);

    let late = KnownServer::start(Script { start_delay: 30 * MS, ..Script::default() }).unwrap();
    while TcpStream::connect(late.addr()).is_err() {
        std::thread::sleep(MS);
    }
}

#[test]
fn it_is_ready_in_the_end() {
    let server = KnownServer::start(Script { not_ready_for: 50 * MS, ..Script::default() }).unwrap();
    let mut refused = 0;
    while raw(&server, &get("/")).starts_with("HTTP/1.1 503 ") {
        refused += 1;
    }
    let answered = server.record().path("/").answered;
    assert_eq!(answered.get(&503).copied().unwrap_or_default(), refused);
    assert_eq!(answered[&200], 1);
}

#[test]
fn dropping_it_closes_everything() {
    let server = start(vec![Route::default()]);
    let address = server.addr();
    let mut idle = connect(&server);
    idle.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    read_exactly(&mut idle, 17);
    drop(server);
    assert!(read_to_end(&mut idle).ends_with("hello, known world!\n"));
    assert!(TcpStream::connect(address).is_err());
}
