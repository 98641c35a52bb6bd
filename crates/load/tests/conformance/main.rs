//! The cases over a real socket, through a whole load.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod cases;

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use load::{Flow, LengthRule, Load, PreparedRequest, Stop, Summary, Target};
use model::study::{Expect, Request};
use model::{Backend, BodyLength, Failure, Malformed, Tally};

use self::cases::{Case, Outcome, cases};

/// Answers the requests of each connection, a connection after the other, with the answers of `case`, cut at `cut`.
fn serve(case: &Case, cut: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answers: Vec<Vec<u8>> = case.answers.iter().map(|(bytes, _)| bytes.clone()).collect();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            stream.set_nodelay(true).unwrap();
            for answer in &answers {
                if !takes_request(&mut stream) {
                    break;
                }
                let (left, right) = answer.split_at(cut.min(answer.len()));
                let _ = stream.write_all(left);
                if !left.is_empty() && !right.is_empty() {
                    // The client most likely reads in between; if it does not, the outcome is the same.
                    thread::sleep(Duration::from_millis(1));
                }
                let _ = stream.write_all(right);
            }
            let _ = stream.shutdown(std::net::Shutdown::Write);
            // Closing with bytes unread would reset the connection, and take away what the client has not read yet.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    address
}

/// Whether a request came whole: all of them end in an empty line.
fn takes_request(stream: &mut TcpStream) -> bool {
    let (mut whole, mut buffer) = (Vec::new(), [0; 1024]);
    while !whole.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer) {
            Ok(bytes @ 1..) => whole.extend_from_slice(&buffer[..bytes]),
            _ => return false,
        }
    }
    true
}

fn run(backend: Backend, case: &Case, address: SocketAddr) -> Summary {
    let method = if case.head { "HEAD" } else { "GET" };
    let headers = if case.gzip { vec![("Accept-Encoding".into(), "gzip".into())] } else { Vec::new() };
    let request = Request { method: method.into(), path: "/".into(), headers, body: None };
    let target = Target::from(address);
    let prepared = PreparedRequest::new(&request, &Expect::default(), &target, LengthRule::Any).unwrap();
    let stop = Stop::Count(case.answers.len() as u64);
    let load = Load { backend: Some(backend), ..Load::new(target, vec![prepared], stop) };
    load::run(&load, &AtomicBool::new(false), &mut |_| Flow::Continue).unwrap()
}

fn counted<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    keys.fold(BTreeMap::new(), |mut counts, key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

/// Holds what a load saw against the list.
fn assert_agrees(case: &Case, tally: &Tally, at: &str) {
    let outcomes: Vec<Outcome> = case.answers.iter().map(|(_, outcome)| *outcome).collect();
    assert_eq!(tally.ended(), outcomes.len() as u64, "{at}");
    assert_eq!(tally.malformed, counted(outcomes.iter().filter_map(|outcome| outcome.err())), "{at}");
    let kinds = [Failure::Malformed, Failure::Closed, Failure::Coding].map(|kind| tally.failures.get(&kind));
    assert_eq!(kinds.into_iter().flatten().sum::<u64>(), tally.malformed.values().sum::<u64>(), "{at}");
    let status = |outcome: &Outcome| match *outcome {
        Ok((status, ..)) => Some(status),
        // A body that does not decode has a status all the same.
        Err(why) => (why.failure() == Failure::Coding).then_some(200),
    };
    assert_eq!(tally.statuses, counted(outcomes.iter().filter_map(status)), "{at}");
    if tally.malformed.is_empty() {
        let lengths = outcomes.iter().flatten().map(|(_, length, _)| BodyLength { min: *length, max: *length });
        assert_eq!(tally.body_length, lengths.reduce(BodyLength::covering), "{at}");
    }
}

#[test]
fn every_case_over_a_socket_is_what_the_list_says() {
    for case in &cases() {
        let longest = case.answers.iter().map(|(bytes, _)| bytes.len()).max().unwrap();
        // Surplus that comes too late spoils nothing, since no other request follows.
        let in_time = case.answers.iter().all(|(_, outcome)| *outcome != Err(Malformed::Surplus));
        let cuts = if in_time { vec![0, 1, longest / 2, longest.saturating_sub(1)] } else { vec![0] };
        for cut in cuts {
            let address = serve(case, cut);
            for backend in [Backend::Epoll, load::best_backend()] {
                let summary = run(backend, case, address);
                assert_agrees(case, &summary.tally, &format!("{}, cut at {cut}: {summary:?}", case.name));
            }
        }
    }
}
