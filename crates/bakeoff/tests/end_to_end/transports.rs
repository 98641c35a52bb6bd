//! `bakeoff load` over TLS, HTTP/2, Unix sockets and several addresses, against a real nginx.

use std::process::Command;

use needs::Need;
use serde_json::Value;

use crate::common::{Place, knownserver};
use crate::nginx::Nginx;

fn json(place: &Place, args: &[&str]) -> Value {
    let args: Vec<&str> = ["load", "-n", "50", "-c", "2", "--json"].iter().chain(args).copied().collect();
    serde_json::from_str(&place.run(&args).ends_with(0).stdout).unwrap()
}

#[test]
fn what_was_spoken_is_shown() {
    let (place, mut nginx) = (Place::new(), Nginx::start("server { listen {0} ssl http2; ssl_protocols TLSv1.3; }"));
    let url = format!("https://localhost:{}/20", nginx.port(0));
    let ca = nginx.path("ca.pem");
    let ca = ca.to_str().unwrap();
    let output = json(&place, &[&url, "--http2", "--cacert", ca]);
    assert_eq!((output["good"].as_u64(), output["failed"].as_u64()), (Some(50), Some(0)), "{output}");
    let transport = &output["transport"];
    assert_eq!((&transport["http"], &transport["tls"]["alpn"]), (&"HTTP/2".into(), &"h2".into()), "{output}");
    assert_eq!(transport["tls"]["verified"], true);

    let shown = place.run(&["load", &url, "-n", "50", "--insecure"]).ends_with(0);
    shown.says("HTTP/1.1, TLS 1.3 (TLS13_").says(", ALPN http/1.1), certificate NOT verified, to 127.0.0.1:");
    // Whom the platform trusts, as OpenSSL gets it too.
    let platform = |file: &str| {
        let trusted = nginx.path(file);
        place.start(place.bakeoff(&["load", &url, "-n", "50"]).env("SSL_CERT_FILE", trusted)).end()
    };
    platform("ca.pem").ends_with(0).says("ALPN http/1.1), to 127.0.0.1:");
    platform("stranger.pem").ends_with(1).complains("--cacert");
    place.run(&["load", &url, "--cacert", "nowhere.pem"]).ends_with(2).complains("cannot read nowhere.pem");
    let clear = url.replace("https", "http");
    place.run(&["load", &clear, "--insecure"]).ends_with(2).complains("--insecure is about TLS");
    place.run(&["load", &clear, "--http2"]).ends_with(1).complains("does not speak HTTP/2");
    // Two were asked before each load, to learn what a good answer is.
    assert_eq!(nginx.log().iter().filter(|line| line.contains("200 20")).count(), 3 * 52);
}

#[test]
fn a_server_is_reached_where_it_listens() {
    let place = Place::new();
    let mut nginx = Nginx::start("server { listen 127.0.0.1:{0}; listen 127.0.0.2:{0}; listen unix:{dir}/socket; }");
    let socket = nginx.path("socket");
    let output = json(&place, &["http://some.test/20", "--unix", socket.to_str().unwrap()]);
    assert_eq!(output["good"], 50, "{output}");
    assert_eq!(output["addresses"][0]["address"], format!("unix:{}", socket.display()));

    // The name may have the address ::1 too, where nobody listens.
    let url = format!("http://localhost:{}/20", nginx.port(0));
    assert_eq!(json(&place, &[&url])["good"], 50);
    let spread = ["load", &url, "-n", "50", "-c", "2", "--address", "127.0.0.1", "--address", "127.0.0.2"];
    let shown = place.run(&spread).ends_with(0);
    shown.says("Addresses").says(&format!("127.0.0.2:{}: 1 connection opened", nginx.port(0)));
    // What is named has to be there.
    place.run(&["load", &url, "--address", "127.0.0.1", "--address", "127.0.0.3"]).ends_with(1).complains("127.0.0.3");
    assert_eq!(nginx.log().len(), 3 * 52 + 1);
}

#[test]
fn a_client_without_ports_says_so() {
    // In a network of its own, with 21 ports: of 30 connections some get none.
    const SCRIPT: &str = r#"
        ip link set lo up && echo "40000 40020" > /proc/sys/net/ipv4/ip_local_port_range || exit 1
        "$1" --port 8080 >/dev/null & server=$!
        until (exec 3<>/dev/tcp/127.0.0.1/8080) 2>/dev/null; do sleep 0.1; done
        "$0" load http://127.0.0.1:8080/ -n 500 -c 30 --json
        kill $server"#;
    if !needs::has(Need::Network) {
        return;
    }
    let output = Command::new("timeout")
        .args(["60", "unshare", "--net", "bash", "-c", SCRIPT, env!("CARGO_BIN_EXE_bakeoff")])
        .arg(knownserver())
        .output()
        .unwrap();
    let output: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output["failures"]["no local port left"].as_u64().unwrap() > 0, "{output}");
    assert_eq!(output["failed"], output["failures"]["no local port left"], "{output}");
    assert_eq!(output["findings"][0]["id"], "out-of-ports", "{output}");
}
