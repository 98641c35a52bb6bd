//! A closed loop against a running server, every answer's status and length checked:
//! `closed_loop http://127.0.0.1:8080/path CONNECTIONS SECONDS`.

use std::error::Error;
use std::net::ToSocketAddrs as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use load::{Ask, Flow, LengthRule, Load, Stop, Target};
use model::study::{Expect, Request};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, connections, seconds] = arguments.as_slice() else {
        return Err("usage: closed_loop http://HOST:PORT/PATH CONNECTIONS SECONDS".into());
    };
    let rest = url.strip_prefix("http://").ok_or("expected a URL that starts with http://")?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address = host.to_socket_addrs()?.next().ok_or("the host has no address")?;
    let target = Target::from(address);

    let request = Request { method: "GET".to_owned(), path: format!("/{path}"), headers: Vec::new(), body: None };
    let ask = Ask::new(&request, &Expect::default(), &target, LengthRule::Any)?;
    let answer = load::ask(&target, &ask, Duration::from_secs(30))?;
    let expect = Expect { status: Some(answer.status), ..Expect::default() };
    let ask = Ask::new(&request, &expect, &target, LengthRule::Exact(answer.body.len() as u64))?;

    let stop = Stop::After(Duration::from_secs_f64(seconds.parse()?));
    let load = Load { connections: connections.parse()?, ..Load::new(target, vec![ask], stop) };
    let summary = load::run(&load, &AtomicBool::new(false), &mut |_| Flow::Continue)?;
    println!("requests     {}", summary.tally.ended());
    println!("good         {}", summary.tally.good);
    println!("failed       {}", summary.tally.failed());
    println!("client CPU s {:.6}", summary.client_cpu_s);
    println!("p50 µs       {}", summary.service.quantile(0.5));
    println!("p99 µs       {}", summary.service.quantile(0.99));
    Ok(())
}
