//! A server that lets nobody in without a token and a cookie, and remembers all that it was asked.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// One request as it came.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
    pub status: u16,
}

impl Received {
    /// The user whose token came with it.
    pub fn user(&self) -> Option<&str> {
        self.headers.get("authorization")?.strip_prefix("bearer token-of-")
    }
}

pub struct Shop {
    pub address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Shop {
    pub fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let shop = Self { address: listener.local_addr().unwrap(), received: Arc::default() };
        let received = Arc::clone(&shop.received);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let received = Arc::clone(&received);
                thread::spawn(move || serve(&stream.unwrap(), &received));
            }
        });
        shop
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// What was asked of paths that begin so.
    pub fn received_of(&self, method: &str, path: &str) -> Vec<Received> {
        self.received()
            .into_iter()
            .filter(|received| received.method == method && received.path.starts_with(path))
            .collect()
    }
}

fn serve(stream: &TcpStream, record: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream);
    while let Some(mut received) = read(&mut reader) {
        let (status, headers, body) = answer(&received);
        received.status = status;
        // Recorded before it is answered: who has the answer finds the record.
        record.lock().unwrap().push(received);
        let head = format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
        if (&*stream).write_all(head.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Received> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { method, path, headers, body: String::from_utf8(body).unwrap(), status: 0 })
}

/// Status, header fields, body.
fn answer(received: &Received) -> (u16, String, String) {
    if received.path == "/login" {
        let account: Value = serde_json::from_str(&received.body).unwrap();
        let (user, password) = (account["user"].as_str().unwrap(), account["password"].as_str().unwrap());
        if password != format!("secret-{user}") {
            return (401, String::new(), json!({ "error": format!("wrong password {password}") }).to_string());
        }
        let cookies = format!("Set-Cookie: sid=session-of-{user}; HttpOnly; Path=/\r\nSet-Cookie: login=only\r\n");
        return (200, cookies, json!({ "access_token": format!("token-of-{user}") }).to_string());
    }
    let Some(user) = received.user() else { return (401, String::new(), String::new()) };
    if received.headers.get("cookie").is_none_or(|cookies| !cookies.contains(&format!("sid=session-of-{user}"))) {
        return (403, String::new(), String::new());
    }
    match (received.method.as_str(), received.path.split_once('?')) {
        ("GET", Some(("/items", "term=none"))) => (200, String::new(), json!({ "items": [] }).to_string()),
        ("GET", Some(("/items", "term=broken"))) => (500, String::new(), "broken".to_owned()),
        ("GET", Some(("/items", query))) => {
            let term = query.trim_start_matches("term=");
            (200, String::new(), json!({ "user": user, "items": [{ "id": format!("item-{term}") }] }).to_string())
        }
        ("POST", None) if received.path == "/orders" => {
            (201, format!("Location: http://shop.example/orders/{}-by-{user}\r\n", received.body), String::new())
        }
        ("GET", None) if received.path.starts_with("/orders/") => (200, String::new(), "<h1>thanks</h1>".to_owned()),
        ("DELETE", None) if received.path == "/login" || received.path == "/session" => {
            (204, String::new(), String::new())
        }
        _ => (404, String::new(), String::new()),
    }
}
