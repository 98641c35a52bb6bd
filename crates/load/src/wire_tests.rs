use std::fs;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use model::study::{Expect, Request};
use rcgen::{CertificateParams, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{HandshakeKind, ServerConfig, ServerConnection};

use super::*;
use crate::request::LengthRule;
use crate::tls::TlsOptions;

/// A server in memory that offers these protocols by ALPN, and a target that trusts it.
struct Server {
    config: Arc<ServerConfig>,
    target: Target,
}

impl Server {
    fn new(offers: &[&[u8]], protocol: Protocol) -> Self {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["here".to_owned()]).unwrap().self_signed(&key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca.pem");
        fs::write(&ca, certificate.pem()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let der = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], der)
            .unwrap();
        config.alpn_protocols = offers.iter().map(|name| name.to_vec()).collect();
        let tls = Tls::new(&TlsOptions { ca: Some(ca), ..TlsOptions::default() }, "here", protocol).unwrap();
        let target = Target { protocol, tls: Some(tls), ..Target::new(Vec::new(), "here".into()) };
        Self { config: Arc::new(config), target }
    }

    fn http_1() -> Self {
        Self::new(&[b"http/1.1"], Protocol::Http1)
    }

    /// A connection, and the server's side of it, agreed as far as it goes.
    fn agree(&self) -> (Result<Wire, WireError>, ServerConnection) {
        let mut server = ServerConnection::new(Arc::clone(&self.config)).unwrap();
        let mut wire = Wire::new(&self.target).unwrap();
        hear(&mut server, wire.unsent());
        while server.wants_write() {
            if let Err(error) = wire.receive(&said(&mut server), false, &mut Ignore) {
                return (Err(error), server);
            }
            hear(&mut server, wire.unsent());
        }
        (Ok(wire), server)
    }

    fn request(&self) -> PreparedRequest {
        let request = Request { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: None };
        PreparedRequest::new(&request, &Expect::default(), &self.target, LengthRule::Any).unwrap()
    }

    /// A connection whose request has reached the server.
    fn in_flight(&self) -> (Wire, ServerConnection) {
        let (wire, mut server) = self.agree();
        let mut wire = wire.unwrap();
        assert!(wire.is_ready());
        hear(&mut server, wire.send(&self.request()).unwrap());
        let mut request = vec![0; self.request().bytes().len()];
        server.reader().read_exact(&mut request).unwrap();
        assert_eq!(request, self.request().bytes());
        (wire, server)
    }
}

/// What the server has to send.
fn said(server: &mut ServerConnection) -> Vec<u8> {
    let mut bytes = Vec::new();
    while server.wants_write() {
        server.write_tls(&mut bytes).unwrap();
    }
    bytes
}

fn hear(server: &mut ServerConnection, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        server.read_tls(&mut bytes).unwrap();
        server.process_new_packets().unwrap();
    }
}

/// These bytes as the server encrypts them.
fn encrypted(server: &mut ServerConnection, plain: &[u8]) -> Vec<u8> {
    server.writer().write_all(plain).unwrap();
    said(server)
}

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

#[test]
fn an_answer_over_tls_is_found_however_its_bytes_are_split() {
    let made = Server::http_1();
    let (_, mut server) = made.in_flight();
    let length = encrypted(&mut server, ANSWER).len();
    for split in 0..=length {
        let (mut wire, mut server) = made.in_flight();
        let bytes = encrypted(&mut server, ANSWER);
        let (first, second) = bytes.split_at(split);
        let answers = [first, second].map(|part| wire.receive(part, false, &mut Ignore).unwrap());
        let expected = Answered { status: 200, body_bytes: 5, keep_alive: true };
        assert_eq!(answers.into_iter().flatten().collect::<Vec<_>>(), [expected], "split at {split}");
    }
}

#[test]
fn only_tls_itself_ends_an_answer_that_goes_on_to_the_end() {
    let made = Server::http_1();
    let until_close = b"HTTP/1.1 200 OK\r\n\r\nhello";
    let (mut wire, mut server) = made.in_flight();
    assert_eq!(wire.receive(&encrypted(&mut server, until_close), false, &mut Ignore).unwrap(), None);
    server.send_close_notify();
    let answered = wire.receive(&said(&mut server), false, &mut Ignore).unwrap().unwrap();
    assert_eq!((answered.body_bytes, answered.keep_alive), (5, false));

    let (mut wire, mut server) = made.in_flight();
    assert_eq!(wire.receive(&encrypted(&mut server, until_close), false, &mut Ignore).unwrap(), None);
    assert!(
        matches!(wire.close(&mut Ignore), Err(WireError::Malformed(Malformed::CutBody))),
        "anybody may have cut it"
    );

    let (mut wire, mut server) = made.in_flight();
    server.send_close_notify();
    assert!(matches!(
        wire.receive(&said(&mut server), false, &mut Ignore),
        Err(WireError::Malformed(Malformed::NoAnswer))
    ));
}

#[test]
fn more_than_the_answer_breaks_the_connection() {
    let (mut wire, mut server) = Server::http_1().in_flight();
    let mut bytes = encrypted(&mut server, ANSWER);
    bytes.extend(encrypted(&mut server, b"more"));
    assert!(matches!(wire.receive(&bytes, false, &mut Ignore), Err(WireError::Malformed(_))));
}

#[test]
fn an_end_or_nonsense_instead_of_a_handshake_is_tls_failing() {
    let made = Server::http_1();
    let mut wire = Wire::new(&made.target).unwrap();
    let ended = wire.close(&mut Ignore).unwrap_err();
    assert!(matches!(ended, WireError::HungUp) && ended.failure() == Failure::Tls);
    let mut wire = Wire::new(&made.target).unwrap();
    let error = wire.receive(b"HTTP/1.1 400 Bad Request\r\n\r\n", false, &mut Ignore).unwrap_err();
    assert_eq!(error.failure(), Failure::Tls);
    assert!(!wire.unsent().is_empty(), "the server learns why");
}

#[test]
fn a_server_has_to_choose_the_version_that_is_asked_for() {
    let (wire, _) = Server::new(&[], Protocol::Http1).agree();
    assert!(wire.unwrap().is_ready(), "without ALPN it is HTTP/1.1");
    let (wire, server) = Server::new(&[b"h2", b"http/1.1"], Protocol::Http2).agree();
    assert!(wire.unwrap().is_ready() && server.alpn_protocol() == Some(b"h2"));
    let (wire, _) = Server::new(&[], Protocol::Http2).agree();
    let error = wire.unwrap_err();
    assert!(matches!(error, WireError::Alpn { wanted: Protocol::Http2, chosen: None }), "{error}");
    assert!(error.to_string().contains("does not speak HTTP/2 over TLS"), "{error}");
}

#[test]
fn every_connection_makes_a_whole_handshake() {
    let made = Server::http_1();
    for _ in 0..3 {
        let (mut wire, mut server) = made.in_flight();
        // Tickets to come back with, which TLS 1.3 gives after the handshake, are among these.
        wire.receive(&encrypted(&mut server, ANSWER), false, &mut Ignore).unwrap().unwrap();
        assert_eq!(server.handshake_kind(), Some(HandshakeKind::Full));
    }
}

#[test]
fn what_comes_unasked_is_heard_where_it_may() {
    let made = Server::http_1();
    let (mut wire, mut server) = made.in_flight();
    wire.receive(&encrypted(&mut server, ANSWER), false, &mut Ignore).unwrap().unwrap();
    server.refresh_traffic_keys().unwrap();
    assert!(wire.receive_unasked(&said(&mut server)), "new keys are TLS's own matter");
    assert!(!wire.receive_unasked(&encrypted(&mut server, b"HTTP/1.1 408")));
    assert!(!Wire::Plain(Framer::default()).receive_unasked(b"HTTP/1.1 408"));
}

#[test]
fn the_server_is_reported_of_the_end() {
    let (mut wire, mut server) = Server::http_1().in_flight();
    hear(&mut server, wire.close_bytes());
    assert!(server.process_new_packets().unwrap().peer_has_closed());
    assert!(Wire::Plain(Framer::default()).close_bytes().is_empty());
}

#[test]
fn what_was_agreed_on_is_reported() {
    let (wire, _) = Server::new(&[b"h2"], Protocol::Http2).agree();
    let Transport { http, tls } = wire.unwrap().transport();
    let tls = tls.unwrap();
    assert_eq!((http.as_str(), tls.version.as_str(), tls.alpn.as_deref()), ("HTTP/2", "TLS 1.3", Some("h2")));
    assert!(tls.verified && tls.cipher.starts_with("TLS13_"), "{}", tls.cipher);
    let plain = Wire::Plain(Framer::default()).transport();
    assert_eq!(plain, Transport { http: "HTTP/1.1".into(), tls: None });
}
