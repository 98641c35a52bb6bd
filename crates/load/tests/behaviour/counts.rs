//! Counts that agree to the request with what a server wrote down: nginx's access log, the known server's record.
//!
//! The equation, of which nothing is approximate: a server has seen each request once that has a status in the tally,
//! and of those sent that have none (abandoned, closed, timed out) each at most once. nginx with small answers sees all
//! that were abandoned, since their bytes are there to be read, unless it is closing their connections just then; and
//! none whose connection it closed: it answers, and logs, within one event, or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use knownserver::{ErrorBurst, Fault, KnownServer, Route, Script};
use load::{Flow, LengthRule, Load, PreparedRequest, Stop, Summary, Target};
use model::study::{Expect, Request};
use model::{Arrivals, Failure, Profile, Think};

use super::nginx::{self, Nginx};

by_each_backend!(
    nginx_has_logged_what_was_counted,
    nginx_has_logged_what_an_open_loop_counted,
    nginx_has_logged_what_an_observer_has_not_seen,
    nginx_has_logged_what_was_counted_while_it_was_reloaded_and_restarted,
    the_known_server_has_received_what_was_counted,
);

fn prepared(address: SocketAddr, path: &str, close: bool, length: LengthRule) -> PreparedRequest {
    let headers = if close { vec![("Connection".into(), "close".into())] } else { Vec::new() };
    let request = Request { method: "GET".into(), path: path.into(), headers, body: None };
    PreparedRequest::new(&request, &Expect::default(), &Target::from(address), length).unwrap()
}

fn load_of(address: SocketAddr, requests: Vec<PreparedRequest>, stop: Stop) -> Load {
    Load {
        backend: Some(super::backend()),
        connections: 8,
        threads: 2,
        ..Load::new(Target::from(address), requests, stop)
    }
}

fn run(load: &Load) -> Summary {
    load::run(load, &AtomicBool::new(false), &mut |_| Flow::Continue).unwrap()
}

/// The status in a line of the log.
fn status(line: &str) -> u16 {
    line.split(' ').rev().nth(1).unwrap().parse().unwrap()
}

/// An nginx that logs, with 100 requests to a connection.
struct Logging(Nginx);

impl Logging {
    fn start() -> Self {
        Self(Nginx::start(
            "server { listen 127.0.0.1:{0}; keepalive_requests 100;
               location /good { return 200 'twenty bytes of text'; }
               location /error { return 500; } }",
        ))
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.0.port(0)))
    }

    /// Sends it a signal, as its manual names them.
    fn signal(&self, signal: &str) {
        let mut command = nginx::command(self.0.folder.path());
        assert!(command.args(["-s", signal]).status().unwrap().success(), "nginx -s {signal}");
    }

    /// Ends it by this signal and starts it anew, on the same ports.
    fn restart(&mut self, signal: &str) {
        self.signal(signal);
        assert!(self.0.child.wait().unwrap().success());
        self.0.child = nginx::spawn(self.0.folder.path());
        self.0.wait_until_up();
    }

    /// Requests logged, by status.
    fn logged(&self) -> BTreeMap<u16, u64> {
        let text = fs::read_to_string(self.0.path("access.log")).unwrap_or_default();
        let mut statuses = BTreeMap::new();
        for line in text.lines() {
            *statuses.entry(status(line)).or_default() += 1;
        }
        statuses
    }

    /// Holds the log, as far as it is new since `before`, against `summary`. Where all requests have one status, the
    /// abandoned ones have it too.
    fn agrees(&self, before: &BTreeMap<u16, u64>, summary: &Summary) {
        let logged = || {
            let mut logged = self.logged();
            for (status, count) in before {
                *logged.get_mut(status).unwrap() -= count;
            }
            logged.retain(|_, count| *count > 0);
            logged
        };
        let answered: u64 = summary.tally.statuses.values().sum();
        // nginx logs after it has answered, and reads what was abandoned in its own time.
        needs::eventually("the log has them all", || logged().values().sum::<u64>() >= answered + summary.abandoned);
        let (logged, seen) = (logged(), &summary.tally.statuses);
        if let (1, Some((status, count))) = (seen.len(), seen.first_key_value()) {
            assert_eq!(logged, [(*status, count + summary.abandoned)].into(), "{summary:?}");
        } else {
            assert_eq!(logged.values().sum::<u64>(), answered + summary.abandoned, "{logged:?} {summary:?}");
            assert!(seen.iter().all(|(status, count)| logged[status] >= *count), "{logged:?} {summary:?}");
            assert!(summary.abandoned > 0 || logged == *seen, "{logged:?} {summary:?}");
        }
    }
}

fn nginx_has_logged_what_was_counted() {
    let nginx = Logging::start();
    let exact = LengthRule::Exact;
    let kinds = |close| -> Vec<Vec<PreparedRequest>> {
        let prepared = |path, length| prepared(nginx.address(), path, close, length);
        vec![
            vec![prepared("/good", exact(20))],
            vec![prepared("/good", exact(21))],
            vec![prepared("/none", LengthRule::Any)],
            vec![prepared("/good", exact(20)), prepared("/none", LengthRule::Any), prepared("/error", LengthRule::Any)],
        ]
    };
    let stops = [Stop::Count(1_500), Stop::After(Duration::from_millis(400))];
    for stop in stops {
        for requests in [kinds(false), kinds(true)].concat() {
            let before = nginx.logged();
            let summary = run(&load_of(nginx.address(), requests, stop));
            assert!(summary.tally.malformed.is_empty() && summary.tally.ended() > 0, "{summary:?}");
            match stop {
                Stop::Count(count) => assert_eq!((summary.tally.ended(), summary.abandoned), (count, 0)),
                _ => assert!(summary.abandoned <= 8, "{summary:?}"),
            }
            nginx.agrees(&before, &summary);
        }
    }
}

fn nginx_has_logged_what_an_open_loop_counted() {
    let nginx = Logging::start();
    let requests = vec![prepared(nginx.address(), "/good", false, LengthRule::Exact(20))];
    let stops = [Stop::Count(1_000), Stop::After(Duration::from_millis(300))];
    for stop in stops {
        let before = nginx.logged();
        let arrivals = Arrivals::Open(Profile::constant(5_000.0));
        let summary = run(&Load { arrivals, ..load_of(nginx.address(), requests.clone(), stop) });
        nginx.agrees(&before, &summary);
        assert!(summary.abandoned <= summary.unanswered(), "{summary:?}");
    }
}

fn nginx_has_logged_what_an_observer_has_not_seen() {
    let nginx = Logging::start();
    let requests = vec![prepared(nginx.address(), "/good", false, LengthRule::Any)];
    let before = nginx.logged();
    let summary = load::run(&load_of(nginx.address(), requests, Stop::External), &AtomicBool::new(false), &mut |_| {
        // What ends meanwhile is seen by nobody.
        thread::sleep(Duration::from_millis(50));
        Flow::Stop
    })
    .unwrap();
    assert!(summary.abandoned > 8, "{summary:?}");
    nginx.agrees(&before, &summary);
}

fn nginx_has_logged_what_was_counted_while_it_was_reloaded_and_restarted() {
    let mut nginx = Logging::start();
    for close in [false, true] {
        for signal in ["reload", "quit", "stop"] {
            let load = load_of(
                nginx.address(),
                vec![prepared(nginx.address(), "/good", close, LengthRule::Exact(20))],
                Stop::Count(4_000),
            );
            // Not so fast that it is over before all has happened.
            let think = Some(Think::Fixed(Duration::from_millis(1)));
            let load = Load { arrivals: Arrivals::Closed { think, steps: Vec::new() }, ..load };
            let before = nginx.logged();
            // To its last request: one on a connection that is being closed could not be distinguished from an abandoned one.
            let summary = thread::scope(|scope| {
                let load = scope.spawn(|| run(&load));
                for _ in 0..3 {
                    let soon = nginx.logged().values().sum::<u64>() + 200;
                    needs::eventually("it is loaded", || nginx.logged().values().sum::<u64>() > soon);
                    if signal == "reload" { nginx.signal(signal) } else { nginx.restart(signal) }
                }
                load.join().unwrap()
            });
            assert_eq!((summary.tally.ended(), summary.abandoned), (4_000, 0));
            let kinds: Vec<Failure> = summary.tally.failures.keys().copied().collect();
            assert!(kinds.iter().all(|kind| matches!(kind, Failure::Closed | Failure::Connect)), "{summary:?}");
            nginx.agrees(&before, &summary);
        }
    }
}

fn the_known_server_has_received_what_was_counted() {
    let errors = Script { errors: vec![ErrorBurst { share: 0.25, ..ErrorBurst::default() }], ..Script::default() };
    let faulty = |fault| Script { routes: vec![Route { fault: Some(fault), ..Route::default() }], ..Script::default() };
    let scripts =
        [Script::default(), errors, faulty(Fault::CloseMidBody), faulty(Fault::Garbage), faulty(Fault::NeverAnswer)];
    for script in scripts {
        for (close, stop) in
            [(false, Stop::Count(80)), (true, Stop::Count(80)), (false, Stop::After(Duration::from_millis(200)))]
        {
            let server = KnownServer::start(script.clone()).unwrap();
            let load = load_of(server.addr(), vec![prepared(server.addr(), "/", close, LengthRule::Any)], stop);
            let summary = run(&Load { time_limit: Duration::from_millis(200), ..load });
            // None is closed before it is received: each failure here comes of a request that was.
            let sent = summary.tally.ended() + summary.abandoned;
            needs::eventually("all are received", || server.record().received >= sent);
            assert_eq!(server.record().received, sent, "{summary:?}");
            assert_eq!(summary.tally.failures.get(&Failure::Connect), None);
        }
    }
}
