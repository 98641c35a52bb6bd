//! Loads against real servers whose behaviour is known, each by every backend. What is asserted is counts, never times.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

/// Makes a test by epoll and one by `io_uring` of each of these functions.
macro_rules! by_each_backend {
    ($($name:ident,)*) => {
        mod epoll {
            $(#[test] fn $name() { crate::by(model::Backend::Epoll, super::$name); })*
        }
        mod io_uring {
            $(#[test] fn $name() { crate::by(model::Backend::IoUring, super::$name); })*
        }
    };
}

mod counts;
mod nginx;
mod ports;
mod transports;
mod turns;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use knownserver::{Delay, ErrorBurst, ExitAfter, Fault, KnownServer, Route, Script, Stall};
use load::{FetchError, Flow, LengthRule, Load, LoadError, PreparedRequest, Stop, Summary, Target, WireError};
use model::sample::OpenLoop;
use model::study::{Expect, Request};
use model::{Arrivals, Backend, BodyLength, Failure, Malformed, Profile, Sample, Spacing, Stage, Step, Think};

const LIMIT: Duration = Duration::from_secs(20);

by_each_backend!(
    counts_agree_with_the_server_to_the_request,
    a_timed_load_counts_all_but_what_was_in_flight,
    chunked_and_long_answers_are_counted_whole,
    asks_are_taken_in_turn,
    a_long_request_arrives_whole,
    an_answer_before_the_request_is_out_ends_the_connection,
    a_wrong_status_is_a_failure_and_the_connection_goes_on,
    a_wrong_length_is_a_failure_and_the_connection_goes_on,
    broken_answers_are_failures_each_of_its_kind,
    surplus_bytes_are_never_taken_for_an_answer,
    a_long_body_is_counted_to_the_byte_though_it_is_not_seen,
    an_answer_that_never_comes_times_out_and_the_load_ends,
    an_answer_without_end_times_out_and_the_load_ends,
    a_long_answer_is_read_to_its_end_in_turns,
    refused_connections_are_failures_never_sent,
    a_server_that_dies_leaves_exact_counts,
    connections_that_the_server_ends_are_made_again_without_failures,
    a_request_can_ask_for_a_connection_of_its_own,
    an_answer_by_the_end_of_the_stream_waits_for_it,
    the_observer_ends_a_load_and_what_it_saw_is_the_summary,
    a_flag_ends_a_load_that_would_go_on_for_ever,
    a_panic_of_the_observer_ends_the_load,
    an_open_loop_agrees_with_the_server_to_the_request,
    a_timed_open_loop_counts_all_that_was_due,
    what_is_due_and_never_answered_is_not_hidden,
    a_stall_is_in_the_response_time_of_all_that_was_due_in_it,
    poisson_arrivals_are_those_of_the_schedule_whatever_the_threads,
    an_open_loop_goes_on_without_connections,
    a_connection_that_ends_while_nothing_is_due_is_no_failure,
    users_who_think_ask_less,
    steps_of_users_keep_their_connections,
    the_kernel_is_asked_for_times_only_if_wanted,
    rates_that_are_none_are_refused,
    the_summary_says_how_bytes_were_moved,
    a_load_of_nothing_is_refused,
);

thread_local! {
    /// What the test that runs here is of.
    static BACKEND: Cell<Option<Backend>> = const { Cell::new(None) };
}

/// That of the test whose thread this is.
fn backend() -> Backend {
    BACKEND.get().unwrap()
}

/// Runs a test; by `io_uring` only where the kernel has it.
fn by(backend: Backend, test: fn()) {
    let best = load::best_backend();
    if backend == Backend::IoUring && best != backend {
        needs::left_out(needs::Need::IoUring, format!("all goes by {best}"));
        return;
    }
    BACKEND.set(Some(backend));
    test();
}

fn request(path: &str) -> Request {
    Request { method: "GET".into(), path: path.into(), headers: Vec::new(), body: None }
}

fn prepared_of(address: SocketAddr, request: &Request, status: Option<u16>, length: LengthRule) -> PreparedRequest {
    PreparedRequest::new(request, &Expect { status, ..Expect::default() }, &Target::from(address), length).unwrap()
}

/// Asks `/` of `address`, whatever comes back.
fn load_of(address: SocketAddr, connections: u32, stop: Stop) -> Load {
    let prepared = prepared_of(address, &request("/"), None, LengthRule::Any);
    let backend = Some(backend());
    Load { connections, time_limit: LIMIT, backend, ..Load::new(Target::from(address), vec![prepared], stop) }
}

fn run(load: &Load) -> Summary {
    load::run(load, &AtomicBool::new(false), &mut |_| Flow::Continue).unwrap()
}

/// As [`load_of`], evenly at `rate` requests/s whatever the server does.
fn open_load_of(address: SocketAddr, connections: u32, rate: f64, stop: Stop) -> Load {
    Load { arrivals: Arrivals::Open(Profile::constant(rate)), ..load_of(address, connections, stop) }
}

fn run_seeing(load: &Load) -> (Summary, Vec<Sample>) {
    let mut samples = Vec::new();
    let summary = load::run(load, &AtomicBool::new(false), &mut |sample| {
        samples.push(sample);
        Flow::Continue
    });
    (summary.unwrap(), samples)
}

fn open(summary: &Summary) -> &OpenLoop {
    summary.open.as_ref().unwrap()
}

fn server(route: Route) -> KnownServer {
    KnownServer::start(Script { routes: vec![route], ..Script::default() }).unwrap()
}

fn faulty(fault: Fault) -> KnownServer {
    server(Route { fault: Some(fault), ..Route::default() })
}

/// Runs 40 requests over 4 connections against a server with this fault.
fn forty_of(fault: Fault) -> BTreeMap<Failure, u64> {
    let server = faulty(fault);
    let summary = run(&load_of(server.addr(), 4, Stop::Count(40)));
    assert_eq!((summary.tally.ended(), server.record().received), (40, 40));
    assert_eq!(summary.tally.failed(), 40 - summary.tally.good);
    summary.tally.failures
}

/// A server that sends `answer` to whatever comes first on each connection, and closes it if `close` says so.
fn canned(answer: &'static [u8], close: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
            if !close {
                kept.push(stream);
            }
        }
    });
    address
}

/// An address that nothing listens on.
fn refusing() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn counts_agree_with_the_server_to_the_request() {
    let server = server(Route::default());
    for (connections, threads, count) in [(1, 1, 1), (7, 1, 1_000), (64, 2, 5_001), (20, 4, 7)] {
        let before = server.record();
        let summary = run(&Load { threads, ..load_of(server.addr(), connections, Stop::Count(count)) });
        assert_eq!(summary.tally.good, count);
        assert_eq!(summary.tally.failed(), 0);
        assert_eq!(summary.service.count(), count);
        assert_eq!(summary.tally.statuses, [(200, count)].into());
        assert_eq!(summary.tally.body_length, Some(BodyLength { min: 20, max: 20 }));
        assert_eq!(server.record().received - before.received, count);
        assert_eq!(server.record().connections - before.connections, summary.connections_opened);
        assert_eq!(summary.connections_opened, count.min(connections.into()));
    }
}

fn a_timed_load_counts_all_but_what_was_in_flight() {
    let server = server(Route::default());
    let stop = Stop::After(Duration::from_millis(1_250));
    let (summary, samples) = run_seeing(&Load { threads: 2, ..load_of(server.addr(), 8, stop) });
    let received = server.record().received;
    assert!((received - 8..=received).contains(&summary.tally.ended()), "{} of {received}", summary.tally.ended());
    assert!((summary.elapsed_s - 1.25).abs() < 1e-9);
    assert_eq!(samples.iter().map(|sample| sample.bins.len()).collect::<Vec<_>>(), [10, 3]);
    assert_eq!(samples.iter().map(|sample| sample.tally.good).sum::<u64>(), summary.tally.good);
    for sample in &samples {
        assert_eq!(sample.bins.iter().map(|bin| u64::from(*bin)).sum::<u64>(), sample.tally.good);
        assert_eq!(sample.service.count(), sample.tally.good);
        assert!(sample.server.is_none() && sample.host.is_none() && sample.open.is_none());
    }
}

fn chunked_and_long_answers_are_counted_whole() {
    let server = server(Route { chunked: true, ..Route::sized("/", 300_000) });
    let mut load = load_of(server.addr(), 3, Stop::Count(30));
    load.source = vec![prepared_of(server.addr(), &request("/"), Some(200), LengthRule::Exact(300_000))].into();
    let summary = run(&load);
    assert_eq!((summary.tally.good, summary.connections_opened), (30, 3));
    assert!(summary.bytes > 30 * 300_000);
}

fn asks_are_taken_in_turn() {
    let routes = vec![Route::text("/a", "a"), Route::text("/b", "bb"), Route::text("/c", "ccc")];
    let server = KnownServer::start(Script { routes, ..Script::default() }).unwrap();
    let mut load = load_of(server.addr(), 5, Stop::Count(300));
    load.source = [("/a", 1), ("/b", 2), ("/c", 3)]
        .map(|(path, length)| prepared_of(server.addr(), &request(path), Some(200), LengthRule::Exact(length)))
        .to_vec()
        .into();
    let summary = run(&load);
    assert_eq!(summary.tally.good, 300);
    assert_eq!(["/a", "/b", "/c"].map(|path| server.record().path(path).received), [100, 100, 100]);
}

fn a_long_request_arrives_whole() {
    let server = server(Route { body: knownserver::Body::Echo(knownserver::Echo::Body), ..Route::default() });
    let body: String = (0..2_000_000).map(|place| char::from(b'a' + (place % 26) as u8)).collect();
    let request = Request { method: "POST".into(), body: Some(body.clone()), ..request("/") };
    let prepared = prepared_of(server.addr(), &request, Some(200), LengthRule::Exact(2_000_000));
    assert_eq!(load::fetch(&Target::from(server.addr()), &prepared, LIMIT).unwrap().body, body.as_bytes());
    let load = Load { source: vec![prepared].into(), ..load_of(server.addr(), 2, Stop::Count(6)) };
    assert_eq!(run(&load).tally.good, 6);
}

fn an_answer_before_the_request_is_out_ends_the_connection() {
    // It answers at once and reads nothing: no kernel buffers 64 MB for it.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let held: Vec<_> = (0..3)
            .map(|_| {
                let mut stream = listener.accept().unwrap().0;
                stream.write_all(b"HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n").unwrap();
                stream
            })
            .collect();
        thread::sleep(LIMIT);
        drop(held);
    });
    let post = Request { method: "POST".into(), body: Some("x".repeat(64 << 20)), ..request("/") };
    let requests = vec![prepared_of(address, &post, Some(413), LengthRule::Exact(0))].into();
    let summary = run(&Load { source: requests, ..load_of(address, 1, Stop::Count(3)) });
    assert_eq!((summary.tally.good, summary.connections_opened), (3, 3));
}

fn a_wrong_status_is_a_failure_and_the_connection_goes_on() {
    let error = ErrorBurst { share: 0.25, ..ErrorBurst::default() };
    let server = KnownServer::start(Script { errors: vec![error], ..Script::default() }).unwrap();
    let summary = run(&load_of(server.addr(), 4, Stop::Count(400)));
    assert_eq!(summary.tally.failures, [(Failure::Status, 100)].into());
    assert_eq!(summary.tally.statuses, [(200, 300), (500, 100)].into());
    assert_eq!((summary.service.count(), summary.connections_opened), (300, 4));
}

fn a_wrong_length_is_a_failure_and_the_connection_goes_on() {
    let server = server(Route::default());
    let mut load = load_of(server.addr(), 4, Stop::Count(40));
    load.source = vec![prepared_of(server.addr(), &request("/"), None, LengthRule::Within { min: 21, max: 99 })].into();
    let summary = run(&load);
    assert_eq!(summary.tally.failures, [(Failure::Length, 40)].into());
    assert_eq!((summary.tally.body_length, summary.connections_opened), (Some(BodyLength { min: 20, max: 20 }), 4));
}

fn broken_answers_are_failures_each_of_its_kind() {
    assert_eq!(forty_of(Fault::Garbage), [(Failure::Malformed, 40)].into());
    assert_eq!(forty_of(Fault::Close), [(Failure::Closed, 40)].into());
    assert_eq!(forty_of(Fault::CloseMidBody), [(Failure::Closed, 40)].into());
    assert_eq!(forty_of(Fault::WrongContentLength(7)), [(Failure::Closed, 40)].into());
    assert_eq!(forty_of(Fault::SlowDrip { bytes: 9, every: Duration::from_millis(1) }), [].into());
}

fn surplus_bytes_are_never_taken_for_an_answer() {
    let server = faulty(Fault::WrongContentLength(-7));
    let summary = run(&load_of(server.addr(), 4, Stop::Count(40)));
    // Bytes that come late spoil the next request instead of their own.
    assert!(summary.tally.failures[&Failure::Malformed] >= 20);
    assert_eq!(summary.tally.ended(), 40);
    assert_eq!(summary.tally.failures.len(), 1);
}

fn a_long_body_is_counted_to_the_byte_though_it_is_not_seen() {
    for (off, failures) in [(0, [].into()), (-7, [(Failure::Malformed, 40)].into())] {
        let long = Route::text("/", &"x".repeat(100_000));
        let fault = (off != 0).then_some(Fault::WrongContentLength(off));
        let server = server(Route { fault, ..long });
        let prepared = prepared_of(server.addr(), &request("/"), Some(200), LengthRule::Exact(100_000));
        let summary = run(&Load { source: vec![prepared].into(), ..load_of(server.addr(), 4, Stop::Count(40)) });
        assert_eq!(summary.tally.failures, failures);
        assert!(off != 0 || summary.bytes > 4_000_000, "{}", summary.bytes);
    }
}

fn an_answer_that_never_comes_times_out_and_the_load_ends() {
    let server = faulty(Fault::NeverAnswer);
    let time_limit = Duration::from_secs(1);
    let summary = run(&Load { time_limit, ..load_of(server.addr(), 4, Stop::Count(8)) });
    assert_eq!(summary.tally.failures, [(Failure::TimedOut, 8)].into());
    assert_eq!(summary.connections_opened, 8);
    let summary = run(&load_of(server.addr(), 2, Stop::After(Duration::from_millis(50))));
    assert_eq!(summary.tally.ended(), 0);
}

fn an_answer_without_end_times_out_and_the_load_ends() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let block = vec![b'x'; 1 << 20];
                let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
                while sent.is_ok() {
                    sent = stream.write_all(&block);
                }
            });
        }
    });
    let load = Load { time_limit: Duration::from_millis(300), ..load_of(address, 2, Stop::Count(6)) };
    assert_eq!(run(&load).tally.failures, [(Failure::TimedOut, 6)].into());
}

fn a_long_answer_is_read_to_its_end_in_turns() {
    let server = server(Route::sized("/", 5_000_000));
    let mut load = load_of(server.addr(), 3, Stop::Count(9));
    load.source = vec![prepared_of(server.addr(), &request("/"), Some(200), LengthRule::Exact(5_000_000))].into();
    assert_eq!(run(&load).tally.good, 9);
}

fn refused_connections_are_failures_never_sent() {
    let summary = run(&load_of(refusing(), 3, Stop::Count(12)));
    assert_eq!(summary.tally.failures, [(Failure::Connect, 12)].into());
    assert_eq!((summary.service.count(), summary.connections_opened, summary.bytes), (0, 0, 0));
    assert_eq!(run(&load_of(refusing(), 3, Stop::After(Duration::from_millis(50)))).tally.good, 0);
}

fn a_server_that_dies_leaves_exact_counts() {
    let end = ExitAfter { requests: Some(500), time: None, code: 1, message: String::new() };
    let server = KnownServer::start(Script { exit_after: Some(end), ..Script::default() }).unwrap();
    let tally = run(&load_of(server.addr(), 8, Stop::Count(600))).tally;
    assert_eq!((tally.good, tally.ended()), (500, 600));
    let kinds: Vec<Failure> = tally.failures.into_keys().collect();
    assert!(kinds.contains(&Failure::Connect), "{kinds:?}");
    assert!(kinds.iter().all(|kind| matches!(kind, Failure::Closed | Failure::Connect)), "{kinds:?}");
}

fn connections_that_the_server_ends_are_made_again_without_failures() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"[..],
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\n\r\nok",
    ] {
        let summary = run(&load_of(canned(answer, true), 3, Stop::Count(60)));
        assert_eq!((summary.tally.good, summary.tally.failed(), summary.connections_opened), (60, 0, 60));
    }
}

fn a_request_can_ask_for_a_connection_of_its_own() {
    let server = server(Route::default());
    let own = Request { headers: vec![("Connection".into(), "close".into())], ..request("/") };
    let mut load = load_of(server.addr(), 3, Stop::Count(60));
    load.source = vec![prepared_of(server.addr(), &own, Some(200), LengthRule::Any)].into();
    let summary = run(&load);
    assert_eq!((summary.tally.good, summary.connections_opened, server.record().connections), (60, 60, 60));
}

fn an_answer_by_the_end_of_the_stream_waits_for_it() {
    let address = canned(b"HTTP/1.1 200 OK\r\n\r\nok", false);
    let load = Load { time_limit: Duration::from_secs(1), ..load_of(address, 1, Stop::Count(2)) };
    assert_eq!(run(&load).tally.failures, [(Failure::TimedOut, 2)].into());
}

fn the_observer_ends_a_load_and_what_it_saw_is_the_summary() {
    let server = server(Route::default());
    let mut seen = Vec::new();
    let load = Load { threads: 2, ..load_of(server.addr(), 4, Stop::External) };
    let summary = load::run(&load, &AtomicBool::new(false), &mut |sample| {
        seen.push(sample.tally.good);
        Flow::Stop
    })
    .unwrap();
    assert_eq!(seen, [summary.tally.good]);
    assert!(summary.tally.good > 0);
}

fn a_flag_ends_a_load_that_would_go_on_for_ever() {
    let server = faulty(Fault::NeverAnswer);
    let (load, stop) = (load_of(server.addr(), 4, Stop::External), AtomicBool::new(false));
    thread::scope(|scope| {
        let load = scope.spawn(|| load::run(&load, &stop, &mut |_| Flow::Continue));
        while server.record().received < 4 {
            thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(load.join().unwrap().unwrap().tally.ended(), 0);
    });
}

fn a_panic_of_the_observer_ends_the_load() {
    let server = server(Route::default());
    let load = load_of(server.addr(), 1, Stop::External);
    let run = || load::run(&load, &AtomicBool::new(false), &mut |_| panic!("seen enough"));
    let panic = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"seen enough"));
}

fn an_open_loop_agrees_with_the_server_to_the_request() {
    let server = server(Route::default());
    for (connections, threads, count) in [(1, 1, 1), (7, 1, 1_000), (64, 2, 2_001), (20, 4, 7)] {
        let before = server.record();
        let load = open_load_of(server.addr(), connections, 10_000.0, Stop::Count(count));
        let (summary, samples) = run_seeing(&Load { threads, ..load });
        assert_eq!((summary.tally.good, summary.tally.failed()), (count, 0));
        let open = open(&summary);
        assert_eq!((open.due, summary.unanswered()), (count, 0));
        assert_eq!((summary.service.count(), open.response.count()), (count, count));
        assert!(open.send_delay.count() <= count);
        assert!([0.0, 0.5, 1.0].iter().all(|q| open.response.quantile(*q) >= summary.service.quantile(*q)));
        assert_eq!(server.record().received - before.received, count);
        assert_eq!(server.record().connections - before.connections, summary.connections_opened);
        assert!(summary.connections_opened <= connections.into());
        assert_eq!(samples.iter().map(|sample| sample.open.as_ref().unwrap().due).sum::<u64>(), count);
    }
}

fn a_timed_open_loop_counts_all_that_was_due() {
    let server = server(Route::default());
    let load = open_load_of(server.addr(), 8, 1_000.0, Stop::After(Duration::from_millis(1_250)));
    let (summary, samples) = run_seeing(&Load { threads: 3, ..load });
    let open = open(&summary);
    assert_eq!(open.due, 1_250);
    assert_eq!(summary.tally.ended() + summary.unanswered(), 1_250);
    assert!((summary.tally.ended()..=1_250).contains(&server.record().received));
    assert!((summary.elapsed_s - 1.25).abs() < 1e-9);
    let due: Vec<u64> = samples.iter().map(|sample| sample.open.as_ref().unwrap().due).collect();
    assert_eq!(due, [1_000, 250]);
}

fn what_is_due_and_never_answered_is_not_hidden() {
    let server = faulty(Fault::NeverAnswer);
    let load = open_load_of(server.addr(), 2, 100.0, Stop::After(Duration::from_millis(300)));
    let (summary, samples) = run_seeing(&load);
    let open = open(&summary);
    assert_eq!((summary.tally.ended(), open.due, summary.unanswered()), (0, 30, 30));
    assert_eq!(open.response.count(), 0);
    // Two of them are in flight.
    assert_eq!(samples.last().unwrap().open.as_ref().unwrap().backlog, 28);
}

fn a_stall_is_in_the_response_time_of_all_that_was_due_in_it() {
    const RATE: u32 = 1_000;
    let second = Duration::from_secs(1);
    let stall = Stall { at: Some(second / 2), every: None, lasts: second };
    let server = KnownServer::start(Script { stalls: vec![stall], ..Script::default() }).unwrap();
    let (summary, samples) = run_seeing(&open_load_of(server.addr(), 10, RATE.into(), Stop::Count((3 * RATE).into())));
    let open = open(&summary);
    assert_eq!((summary.tally.good, open.response.count(), summary.unanswered()), (3_000, 3_000, 0));
    let per_second: Vec<u64> = samples.iter().map(|sample| sample.open.as_ref().unwrap().due).take(3).collect();
    assert_eq!(per_second, [1_000; 3]);
    assert!(samples.iter().any(|sample| sample.open.as_ref().unwrap().backlog > 0));

    // The first request in the stall lasts as long as the stall does, the k-th one k ms less: 30 of 3,000 lie
    // beyond the 99th percentile, 300 beyond the 90th. Whatever else is slow can only add to that.
    let ideal = |beyond: u64| summary.service.max() - 1_000 * beyond;
    let (p90, p99) = (open.response.quantile(0.9), open.response.quantile(0.99));
    assert!(p90 as f64 > 0.99 * 700_000.0 && p99 as f64 > 0.99 * 970_000.0, "p90 = {p90} µs, p99 = {p99} µs");
    assert!((p99 as f64 / ideal(30) as f64 - 1.0).abs() < 0.05, "p99 = {p99} µs, ideally {} µs", ideal(30));
    // What a closed loop would report about the same server.
    let service = summary.service.quantile(0.5);
    assert!(p99 > 10 * service, "p99 = {p99} µs, service time {service} µs");
}

fn poisson_arrivals_are_those_of_the_schedule_whatever_the_threads() {
    let server = server(Route::default());
    let length = Duration::from_millis(200);
    let stages = vec![Stage { from: 0.0, to: 4_000.0, length }];
    let profile = Profile { stages, spacing: Spacing::Poisson };
    let due = load::intended_starts(&profile, 9).count() as u64;
    for (threads, stop) in [(1, Stop::After(length)), (3, Stop::After(length)), (2, Stop::External)] {
        let arrivals = Arrivals::Open(profile.clone());
        let summary = run(&Load { arrivals, threads, seed: 9, ..load_of(server.addr(), 9, stop) });
        assert_eq!(open(&summary).due, due);
        assert_eq!(summary.tally.ended() + summary.unanswered(), due);
    }
}

fn an_open_loop_goes_on_without_connections() {
    let summary = run(&open_load_of(refusing(), 3, 1_000.0, Stop::Count(12)));
    assert_eq!(summary.tally.failures, [(Failure::Connect, 12)].into());
    assert_eq!((open(&summary).due, summary.unanswered()), (12, 0));
    assert_eq!((summary.service.count(), open(&summary).response.count(), summary.connections_opened), (0, 0, 0));
}

fn a_connection_that_ends_while_nothing_is_due_is_no_failure() {
    let address = canned(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true);
    let summary = run(&open_load_of(address, 1, 10.0, Stop::Count(5)));
    assert_eq!((summary.tally.good, summary.tally.failed(), summary.connections_opened), (5, 0, 5));
    let arrivals = Arrivals::Closed { think: Some(Think::Fixed(Duration::from_millis(100))), steps: Vec::new() };
    let summary = run(&Load { arrivals, ..load_of(address, 1, Stop::Count(3)) });
    assert_eq!((summary.tally.good, summary.tally.failed(), summary.connections_opened), (3, 0, 3));
}

fn users_who_think_ask_less() {
    let server = server(Route::default());
    let think = Duration::from_millis(20);
    let arrivals = Arrivals::Closed { think: Some(Think::Fixed(think)), steps: Vec::new() };
    // Some user gets ten answers or more, and thinks nine times between the first and the last.
    let load = Load { arrivals: arrivals.clone(), threads: 2, ..load_of(server.addr(), 4, Stop::Count(40)) };
    let summary = run(&load);
    assert_eq!((summary.tally.good, summary.open.is_none(), summary.connections_opened), (40, true, 4));
    assert!(summary.elapsed_s >= 9.0 * think.as_secs_f64(), "{} s", summary.elapsed_s);
    // In 250 ms, a user asks 13 times at most: at 0, 20, …, 240 ms.
    let summary = run(&Load { arrivals, ..load_of(server.addr(), 4, Stop::After(Duration::from_millis(250))) });
    assert!((4..=4 * 13).contains(&summary.tally.good), "{} answers", summary.tally.good);
    // Each draws think times of its own, and comes to an end.
    let arrivals = Arrivals::Closed { think: Some(Think::Exponential(Duration::from_millis(2))), steps: Vec::new() };
    assert_eq!(run(&Load { arrivals, ..load_of(server.addr(), 4, Stop::Count(100)) }).tally.good, 100);
}

fn steps_of_users_keep_their_connections() {
    let server = server(Route { delay: Delay::Fixed(Duration::from_millis(20)), ..Route::default() });
    let step = |users, ms| Step { users, length: Duration::from_millis(ms) };
    let arrivals = Arrivals::Closed { think: None, steps: vec![step(1, 1_000), step(6, 1_000), step(2, 1_000)] };
    for threads in [1, 2] {
        let mut seconds = Vec::new();
        let load = Load { arrivals: arrivals.clone(), threads, ..load_of(server.addr(), 6, Stop::External) };
        let mut see = |sample: Sample| {
            seconds.push(sample.tally.good);
            Flow::Continue
        };
        let summary = load::run(&load, &AtomicBool::new(false), &mut see).unwrap();
        assert_eq!((summary.tally.failed(), summary.connections_opened), (0, 6));
        // A user gets an answer in 20 ms at best, and one of the step before may come in this one.
        for (good, users) in seconds.iter().zip([1, 6, 2]) {
            assert!((1..=users * 50 + 6).contains(good), "{seconds:?}");
        }
    }
}

fn the_kernel_is_asked_for_times_only_if_wanted() {
    let server = server(Route::default());
    let load = Load { kernel_time: false, ..load_of(server.addr(), 4, Stop::Count(400)) };
    let summary = run(&load);
    assert_eq!((summary.service.count(), summary.kernel_time), (400, false));
    // Its first answers may come before the kernel has begun to report.
    assert!((0..1_000).any(|_| run(&Load { kernel_time: true, ..load.clone() }).kernel_time));
}

fn rates_that_are_none_are_refused() {
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let load = open_load_of(refusing(), 1, rate, Stop::External);
        let refused = load::run(&load, &AtomicBool::new(true), &mut |_| Flow::Continue);
        assert!(matches!(refused, Err(LoadError::Rates)), "{refused:?}");
    }
}

fn the_summary_says_how_bytes_were_moved() {
    let server = server(Route::default());
    let load = load_of(server.addr(), 1, Stop::Count(1));
    assert_eq!(run(&load).backend, backend());
    assert_eq!(run(&Load { backend: None, ..load }).backend, load::best_backend());
}

fn a_load_of_nothing_is_refused() {
    let good = load_of(refusing(), 1, Stop::External);
    for load in [
        Load { source: Vec::<PreparedRequest>::new().into(), ..good.clone() },
        Load { source: Vec::<load::Script>::new().into(), ..good.clone() },
        Load { connections: 0, ..good.clone() },
        Load { threads: 0, ..good.clone() },
        Load { time_limit: Duration::ZERO, ..good.clone() },
    ] {
        let refused = load::run(&load, &AtomicBool::new(true), &mut |_| Flow::Continue);
        assert!(matches!(refused, Err(LoadError::Nothing)), "{refused:?}");
    }
    let many = Load { connections: u32::MAX, ..good };
    let refused = load::run(&many, &AtomicBool::new(true), &mut |_| Flow::Continue);
    assert!(matches!(refused, Err(LoadError::Descriptors { .. })), "{refused:?}");
}

#[test]
fn one_ask_gets_the_whole_answer() {
    let server = server(Route { chunked: true, ..Route::sized("/", 10_000) });
    let target = Target::from(server.addr());
    let answer =
        load::fetch(&target, &prepared_of(server.addr(), &request("/"), None, LengthRule::Any), LIMIT).unwrap();
    assert_eq!((answer.status, answer.body.len(), answer.content_type()), (200, 10_000, Some("text/plain")));
    let head = Request { method: "HEAD".into(), ..request("/") };
    let answer = load::fetch(&target, &prepared_of(server.addr(), &head, None, LengthRule::Any), LIMIT).unwrap();
    assert_eq!((answer.status, answer.body.len()), (200, 0));
}

#[test]
fn one_ask_says_why_there_is_no_answer() {
    let failure = |address: SocketAddr, limit| {
        let prepared = prepared_of(address, &request("/"), None, LengthRule::Any);
        load::fetch(&Target::from(address), &prepared, limit).unwrap_err()
    };
    assert!(matches!(failure(refusing(), LIMIT), FetchError::Connect { .. }));
    assert!(matches!(
        failure(faulty(Fault::CloseMidBody).addr(), LIMIT),
        FetchError::Closed { received: 1.., cut: WireError::Malformed(Malformed::CutBody) }
    ));
    assert!(matches!(
        failure(faulty(Fault::Garbage).addr(), LIMIT),
        FetchError::Wire(WireError::Malformed(Malformed::Version))
    ));
    let silent = faulty(Fault::NeverAnswer);
    assert!(matches!(failure(silent.addr(), Duration::from_secs(1)), FetchError::TimedOut { received: 0, .. }));
}
