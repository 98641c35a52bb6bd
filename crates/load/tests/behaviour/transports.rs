//! Loads over TLS, HTTP/2, Unix sockets and several addresses, against a real nginx. Counts are those of its log.

use std::collections::BTreeMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::{
    Address, Answer, FetchError, Flow, Http2Error, Identity, LengthRule, Load, PreparedRequest, Protocol, Script, Stop,
    Summary, Target, Tls, TlsOptions, WireError,
};
use model::scenario::{Checks, Extract, Scenario, ScenarioStep, Scenarios, Source};
use model::study::{Expect, Request};
use model::{Failure, Template};

use super::nginx::Nginx;

by_each_backend!(
    both_versions_of_tls_carry_http_1,
    whom_to_trust_is_decided_before_anything_is_asked,
    a_server_may_want_to_know_who_asks,
    the_name_asked_for_chooses_the_server,
    http_2_is_spoken_over_tls_and_in_clear_text,
    a_scenario_is_walked_over_every_transport,
    bodies_longer_than_every_window_arrive_whole,
    what_the_server_does_not_speak_is_reported,
    a_unix_socket_is_an_address_like_another,
    connections_are_spread_over_the_addresses_in_turn,
);

const LIMIT: Duration = Duration::from_secs(20);
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn get(path: &str) -> Request {
    Request { method: "GET".into(), path: path.into(), headers: Vec::new(), body: None }
}

fn with(request: Request, name: &str, value: &str) -> Request {
    Request { headers: vec![(name.into(), value.into())], ..request }
}

fn tcp(port: u16) -> Address {
    Address::Tcp(SocketAddr::new(LOCAL, port))
}

fn clear(address: Address, protocol: Protocol) -> Target {
    Target { protocol, ..Target::new(vec![address], "localhost".into()) }
}

fn secure(nginx: &Nginx, index: usize, protocol: Protocol, options: &TlsOptions) -> Target {
    let tls = Tls::new(options, "localhost", protocol).unwrap();
    Target { tls: Some(tls), ..clear(tcp(nginx.port(index)), protocol) }
}

fn trusting(nginx: &Nginx) -> TlsOptions {
    TlsOptions { ca: Some(nginx.path("ca.pem")), ..TlsOptions::default() }
}

fn fetch(target: &Target, request: &Request) -> Result<Answer, FetchError> {
    let prepared = PreparedRequest::new(request, &Expect::default(), target, LengthRule::Any).unwrap();
    load::fetch(target, &prepared, LIMIT)
}

/// `count` requests, good if they are answered with 200 and `length` bytes.
fn load(target: &Target, request: &Request, length: u64, connections: u32, count: u64) -> Summary {
    let expect = Expect { status: Some(200), ..Expect::default() };
    let prepared = PreparedRequest::new(request, &expect, target, LengthRule::Exact(length)).unwrap();
    let backend = Some(crate::backend());
    let load = Load {
        connections,
        time_limit: LIMIT,
        backend,
        ..Load::new(target.clone(), vec![prepared], Stop::Count(count))
    };
    load::run(&load, &AtomicBool::new(false), &mut |_| Flow::Continue).unwrap()
}

/// Each line's word number `index`, with how often it came.
fn counted(lines: &[String], index: usize) -> Vec<(&str, usize)> {
    let mut words: Vec<&str> = lines.iter().map(|line| line.split(' ').nth(index).unwrap()).collect();
    words.sort_unstable();
    words.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect()
}

fn both_versions_of_tls_carry_http_1() {
    let mut nginx = Nginx::start(
        "server { listen {0} ssl; ssl_protocols TLSv1.2; }
         server { listen {1} ssl; ssl_protocols TLSv1.3; }",
    );
    for (index, version) in [(0, "TLS 1.2"), (1, "TLS 1.3")] {
        let target = secure(&nginx, index, Protocol::Http1, &trusting(&nginx));
        let answer = fetch(&target, &get("/20")).unwrap();
        assert_eq!((answer.status, answer.body.len()), (200, 20));
        let tls = answer.transport.tls.unwrap();
        assert_eq!((tls.version.as_str(), tls.alpn.as_deref(), tls.verified), (version, Some("http/1.1"), true));
        assert!(tls.cipher.contains("AES") || tls.cipher.contains("CHACHA"), "{}", tls.cipher);

        let kept = load(&target, &get("/20"), 20, 4, 199);
        assert_eq!((kept.tally.good, kept.tally.failed(), kept.connections_opened), (199, 0, 4));
        let big = load(&target, &get("/1m"), 1_000_000, 2, 20);
        assert_eq!((big.tally.good, big.tally.failed()), (20, 0));
        let fresh = load(&target, &with(get("/20"), "Connection", "close"), 20, 3, 30);
        assert_eq!((fresh.tally.good, fresh.tally.failed(), fresh.connections_opened), (30, 0, 30));
    }
    let log = nginx.log();
    assert_eq!(counted(&log, 3), [("TLSv1.2", 250), ("TLSv1.3", 250)]);
    assert_eq!(counted(&log, 2), [("HTTP/1.1", 500)]);
}

fn whom_to_trust_is_decided_before_anything_is_asked() {
    let mut nginx = Nginx::start(
        "server { listen {0} ssl; }
         server { listen {1} ssl; ssl_certificate {dir}/expired.pem; ssl_certificate_key {dir}/expired.key; }
         server { listen {2} ssl; ssl_certificate {dir}/a.test.pem; ssl_certificate_key {dir}/a.test.key; }",
    );
    let stranger = TlsOptions { ca: Some(nginx.path("stranger.pem")), ..TlsOptions::default() };
    let cases = [(0, stranger, "--cacert"), (1, trusting(&nginx), "expired"), (2, trusting(&nginx), "--sni")];
    for (index, options, says) in cases {
        let target = secure(&nginx, index, Protocol::Http1, &options);
        let error = fetch(&target, &get("/20")).unwrap_err().to_string();
        assert!(error.contains(says) && error.contains("--insecure"), "{error}");
        assert_eq!(load(&target, &get("/20"), 20, 2, 4).tally.failures, [(Failure::Tls, 4)].into());

        let taken = secure(&nginx, index, Protocol::Http1, &TlsOptions { insecure: true, ..options });
        let answer = fetch(&taken, &get("/20")).unwrap();
        assert_eq!((answer.status, answer.transport.tls.unwrap().verified), (200, false));
    }
    assert_eq!(nginx.log().len(), 3);
}

fn a_server_may_want_to_know_who_asks() {
    let mut nginx =
        Nginx::start("server { listen {0} ssl http2; ssl_verify_client on; ssl_client_certificate {dir}/ca.pem; }");
    let identity = Identity { certificate: nginx.path("client.pem"), key: nginx.path("client.key") };
    let known = TlsOptions { identity: Some(identity), ..trusting(&nginx) };
    for protocol in [Protocol::Http1, Protocol::Http2] {
        let target = secure(&nginx, 0, protocol, &known);
        assert_eq!(load(&target, &get("/20"), 20, 3, 30).tally.good, 30);
        // nginx says it in HTTP.
        let unknown = secure(&nginx, 0, protocol, &trusting(&nginx));
        assert_eq!(fetch(&unknown, &get("/20")).unwrap().status, 400);
    }
    assert_eq!(counted(&nginx.log(), 5), [("200", 60), ("400", 2)]);
}

fn the_name_asked_for_chooses_the_server() {
    let nginx = Nginx::start(
        "server { listen {0} ssl; server_name a.test; return 200 aa;
                  ssl_certificate {dir}/a.test.pem; ssl_certificate_key {dir}/a.test.key; }
         server { listen {0} ssl; server_name b.test; return 200 bbb;
                  ssl_certificate {dir}/b.test.pem; ssl_certificate_key {dir}/b.test.key; }",
    );
    for (name, body) in [("a.test", "aa"), ("b.test", "bbb")] {
        let options = TlsOptions { server_name: Some(name.into()), ..trusting(&nginx) };
        let target = Target { host: name.into(), ..secure(&nginx, 0, Protocol::Http1, &options) };
        assert_eq!(fetch(&target, &get("/")).unwrap().body, body.as_bytes());
        assert_eq!(load(&target, &get("/"), body.len() as u64, 2, 10).tally.good, 10);
    }
}

fn http_2_is_spoken_over_tls_and_in_clear_text() {
    let mut nginx = Nginx::start(
        "keepalive_requests 50;
         server { listen {0} ssl http2; }
         server { listen {1} http2; }",
    );
    let secure = secure(&nginx, 0, Protocol::Http2, &trusting(&nginx));
    let clear = clear(tcp(nginx.port(1)), Protocol::Http2);
    for (target, alpn) in [(secure, Some("h2")), (clear, None)] {
        let answer = fetch(&target, &get("/20")).unwrap();
        assert_eq!((answer.status, answer.body.len(), answer.header("content-length")), (200, 20, Some("20")));
        assert_eq!(answer.transport.http, "HTTP/2");
        assert_eq!(answer.transport.tls.and_then(|tls| tls.alpn).as_deref(), alpn);
        assert_eq!(fetch(&target, &Request { method: "HEAD".into(), ..get("/20") }).unwrap().body, b"");

        // nginx ends a connection after 50 requests, and says so before it has answered the last.
        let kept = load(&target, &get("/20"), 20, 1, 500);
        assert_eq!((kept.tally.good, kept.tally.failed(), kept.connections_opened), (500, 0, 10));
        let fresh = load(&target, &with(get("/20"), "Connection", "close"), 20, 3, 30);
        assert_eq!((fresh.tally.good, fresh.tally.failed(), fresh.connections_opened), (30, 0, 30));
    }
    assert_eq!(counted(&nginx.log(), 2), [("HTTP/2.0", 2 * 532)]);
}

fn a_scenario_is_walked_over_every_transport() {
    let mut nginx = Nginx::start(
        "server { listen {0} http2; location = /where { return 200 '{\"next\": \"20\"}'; } }
         server { listen {1} ssl http2; location = /where { return 200 '{\"next\": \"20\"}'; } }",
    );
    let template = |text: &str| Template::parse(text).unwrap();
    let step = |name: &str, path: &str, extract: Vec<Extract>, length: u64| ScenarioStep {
        name: name.to_owned(),
        method: "GET".to_owned(),
        path: template(path),
        headers: vec![("X-Step".to_owned(), template(name))],
        body: None,
        checks: Checks { status: Some(200), length: Some((length, length)), ..Checks::default() },
        extract,
        think: None,
    };
    let next = Extract { variable: "next".to_owned(), from: Source::Json("$.next".to_owned()) };
    let steps = vec![step("where", "/where", vec![next], 14), step("there", "/${next}", Vec::new(), 20)];
    let scenarios = Scenarios {
        feeders: Vec::new(),
        setup: Vec::new(),
        scenarios: vec![Scenario { name: "walk".to_owned(), weight: 1, steps }],
        teardown: Vec::new(),
    };
    let trusted = trusting(&nginx);
    let targets = [
        clear(tcp(nginx.port(0)), Protocol::Http2),
        secure(&nginx, 1, Protocol::Http1, &trusted),
        secure(&nginx, 1, Protocol::Http2, &trusted),
    ];
    for target in targets {
        let script = Script::new(&scenarios, &target).unwrap();
        let backend = Some(crate::backend());
        let load = Load { connections: 3, backend, ..Load::new(target, vec![script], Stop::Count(30)) };
        let summary = load::run(&load, &AtomicBool::new(false), &mut |_| Flow::Continue).unwrap();
        assert_eq!((summary.tally.good, summary.tally.failed(), summary.connections_opened), (60, 0, 3));
    }
    assert_eq!(counted(&nginx.log(), 2), [("HTTP/1.1", 60), ("HTTP/2.0", 120)]);
}

fn bodies_longer_than_every_window_arrive_whole() {
    let mut nginx = Nginx::start(
        "server { listen {0} ssl http2; location /kept { dav_methods PUT; root {dir}; } }
         server { listen {1} http2; location /kept { dav_methods PUT; root {dir}; } }",
    );
    fs::create_dir(nginx.path("kept")).unwrap();
    let secure = secure(&nginx, 0, Protocol::Http2, &trusting(&nginx));
    let clear = clear(tcp(nginx.port(1)), Protocol::Http2);
    for (target, name) in [(secure, "a"), (clear, "b")] {
        let long = load(&target, &get("/1m"), 1_000_000, 2, 60);
        assert_eq!((long.tally.good, &long.tally.failures, long.connections_opened), (60, &BTreeMap::new(), 2));
        assert_eq!(load(&target, &get("/8m"), 8_000_000, 1, 4).tally.good, 4);
        let path = format!("/kept/{name}");
        let put = Request { method: "PUT".into(), body: Some("y".repeat(3_000_000)), ..get(&path) };
        assert_eq!(fetch(&target, &put).unwrap().status, 201);
        assert_eq!(fs::read(nginx.path(&path[1..])).unwrap(), vec![b'y'; 3_000_000]);
    }
    assert_eq!(nginx.log().len(), 2 * 65);
}

fn what_the_server_does_not_speak_is_reported() {
    let nginx = Nginx::start(
        "server { listen {0}; }
         server { listen {1} ssl; }",
    );
    let error = |target: &Target| fetch(target, &get("/20")).unwrap_err();
    let not_http2 = error(&clear(tcp(nginx.port(0)), Protocol::Http2));
    let FetchError::Wire(WireError::Http2(reason)) = &not_http2 else { panic!("{not_http2}") };
    assert!(matches!(**reason, Http2Error::NotHttp2), "{reason}");
    assert!(not_http2.to_string().contains("without --http2"), "{not_http2}");
    let target = clear(tcp(nginx.port(0)), Protocol::Http2);
    assert_eq!(load(&target, &get("/20"), 20, 1, 2).tally.failures, [(Failure::Malformed, 2)].into());
    let no_h2 = error(&secure(&nginx, 1, Protocol::Http2, &trusting(&nginx))).to_string();
    assert!(no_h2.contains("does not speak") && no_h2.contains("--http2"), "{no_h2}");
    let no_tls = error(&secure(&nginx, 0, Protocol::Http1, &trusting(&nginx))).to_string();
    assert!(no_tls.contains("http:// instead of https://"), "{no_tls}");
}

fn a_unix_socket_is_an_address_like_another() {
    let mut nginx = Nginx::start(
        "server { listen unix:{dir}/clear; }
         server { listen unix:{dir}/secure ssl http2; }
         server { listen {0}; }",
    );
    let clear = clear(Address::Unix(nginx.path("clear")), Protocol::Http1);
    let tls = Tls::new(&trusting(&nginx), "localhost", Protocol::Http2).unwrap();
    let secure = Target {
        tls: Some(tls),
        protocol: Protocol::Http2,
        ..Target::new(vec![Address::Unix(nginx.path("secure"))], "localhost".into())
    };
    for target in [&clear, &secure] {
        assert_eq!(fetch(target, &get("/20")).unwrap().body.len(), 20);
        let summary = load(target, &get("/20"), 20, 5, 500);
        assert_eq!((summary.tally.good, summary.tally.failed(), summary.connections_opened), (500, 0, 5));
        assert_eq!(load(target, &with(get("/1m"), "Connection", "close"), 1_000_000, 2, 10).tally.good, 10);
    }
    assert_eq!(nginx.log().len(), 2 * 511);

    let long = Target::new(vec![Address::Unix(PathBuf::from("/x".repeat(60)))], "localhost".into());
    assert!(matches!(fetch(&long, &get("/")).unwrap_err(), FetchError::Connect { .. }));
    let gone = fetch(&clear, &get("/20")).unwrap_err().to_string();
    assert!(gone.contains("cannot connect to localhost (unix:"), "{gone}");
}

fn connections_are_spread_over_the_addresses_in_turn() {
    let mut nginx = Nginx::start("server { listen 127.0.0.1:{0}; listen 127.0.0.2:{0}; listen [::1]:{0}; }");
    let addresses = ["127.0.0.1", "127.0.0.2", "::1"]
        .map(|address| Address::Tcp(SocketAddr::new(address.parse().unwrap(), nginx.port(0))));
    let target = Target::new(addresses.to_vec(), "localhost".into());
    let summary = load(&target, &with(get("/20"), "Connection", "close"), 20, 4, 301);
    assert_eq!((summary.tally.good, summary.tally.failed(), summary.connections_opened), (301, 0, 301));
    let kept = load(&target, &get("/20"), 20, 6, 300);
    assert_eq!(kept.addresses.iter().map(|had| had.opened).collect::<Vec<_>>(), [2, 2, 2]);

    let names: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    assert_eq!(names, summary.addresses.iter().map(|had| had.address.clone()).collect::<Vec<_>>());
    assert_eq!(summary.addresses.iter().map(|had| had.opened).collect::<Vec<_>>(), [101, 100, 100]);
    let log = nginx.log();
    let ended = |index: usize| (summary.addresses[index].ended + kept.addresses[index].ended) as usize;
    assert_eq!(counted(&log, 0), [("127.0.0.1", ended(0)), ("127.0.0.2", ended(1)), ("::1", ended(2))]);
    assert_eq!(ended(0) + ended(1) + ended(2), 601);
}
