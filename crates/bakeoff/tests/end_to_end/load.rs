//! `bakeoff load`: a server that is running already.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use knownserver::{Delay, ErrorBurst, Fault, KnownServer, Route, Script};
use serde_json::Value;

use crate::common::{Place, page};

fn json(place: &Place, args: &[&str]) -> Value {
    serde_json::from_str(&place.run(args).ends_with(0).stdout).unwrap()
}

#[test]
fn requests_are_counted_to_the_last() {
    let (place, server) = (Place::new(), KnownServer::start(Script::default()).unwrap());
    let url = format!("http://{}/page?x=1", server.addr());
    let output = json(&place, &["load", &url, "-c", "7", "-n", "1000", "--threads", "2", "--json", "-H", "X-A: b"]);
    assert_eq!((output["good"].as_u64(), output["failed"].as_u64()), (Some(1_000), Some(0)), "{output}");
    // Two were asked before, to learn what a good answer is.
    assert_eq!(server.record().received, 1_002);
    let seconds = output["samples"].as_array().unwrap();
    assert_eq!(seconds.iter().map(|second| second["good"].as_u64().unwrap()).sum::<u64>(), 1_000);

    assert_eq!(output["threads"].as_u64(), Some(2));
    let untimed = json(&place, &["load", &url, "-n", "10", "--json", "--no-kernel-time", "-c2", "--threads", "4"]);
    assert_eq!((untimed["kernel_time"].as_bool(), untimed["threads"].as_u64()), (Some(false), Some(2)), "{untimed}");
    let shown = place.run(&["load", &url, "-n", "200", "--no-keepalive", "--hgrm", "times.hgrm"]).ends_with(0);
    shown.says("answers timed by the");
    shown.says("closed loop, 10 connections").says("good 200").says("! warning too-short").complains("/s");
    let times = fs::read_to_string(place.path("times.hgrm")).unwrap();
    assert!(times.contains("1/(1-Percentile)") && times.contains("Total count    =          200"), "{times}");
    let table = place.run(&["load", &url, "-n", "50", "--csv", "--quiet"]).ends_with(0);
    assert_eq!(table.stderr, "");
    let rows: Vec<Vec<&str>> = table.stdout.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{}", table.stdout);
    assert!(!place.store_folder().exists(), "a load is not stored");
}

#[test]
fn at_a_rate_requests_are_due_whatever_the_server_does() {
    let (place, server) = (Place::new(), KnownServer::start(Script::default()).unwrap());
    let url = format!("{}/", server.addr());
    for more in [&["-R", "500"][..], &["-R", "500", "--poisson", "--seed", "7"]] {
        let args: Vec<&str> = ["load", &url, "-n", "250", "--json"].iter().chain(more).copied().collect();
        let output = json(&place, &args);
        assert_eq!((output["good"].as_u64(), output["open"]["due"].as_u64()), (Some(250), Some(250)), "{output}");
        assert_eq!(output["open"]["unanswered"].as_u64(), Some(0));
    }
    let table = place.run(&["load", &url, "-n", "250", "-R", "500", "--csv"]).ends_with(0).stdout;
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    let late = rows[0].iter().position(|head| *head == "send_delay_max_us").unwrap();
    assert!(rows[1..].iter().all(|row| row.len() == rows[0].len() && row[late].parse::<u64>().is_ok()), "{table}");
    let shown = place.run(&["load", &url, "-n", "250", "-R", "500"]).ends_with(0);
    shown.says("open loop at 500/s").says("Response time").says("due 250, unanswered at the end 0");
    place.run(&["load", &url, "--poisson"]).ends_with(2).complains("--rate");
    // One connection answers 50 a second of the 200 that are due.
    let slow = Script {
        routes: vec![Route { delay: Delay::Fixed(Duration::from_millis(20)), ..Route::sized("/", 20) }],
        ..Script::default()
    };
    let slow = KnownServer::start(slow).unwrap();
    let late =
        json(&place, &["load", &slow.addr().to_string(), "-c1", "-R200", "-n50", "--json", "--hgrm", "late.hgrm"]);
    let [service, response] =
        [&late["service_us"], &late["open"]["response_us"]].map(|times| times["max"].as_u64().unwrap());
    let times = fs::read_to_string(place.path("late.hgrm")).unwrap();
    assert!(response > 2 * service && times.contains(&format!("{:.3}", response as f64 / 1e3)), "{late} {times}");
    place.run(&["load", &url, "-R", "0"]).ends_with(2).complains("expected a number above 0");
}

#[test]
fn answers_unlike_the_first_are_failures() {
    let place = Place::new();
    // Of the first 102 requests these are 25, and none of the first two.
    let errors = vec![ErrorBurst { share: 0.25, ..ErrorBurst::default() }];
    let server = KnownServer::start(Script { errors, ..Script::default() }).unwrap();
    let url = format!("{}/", server.addr());
    let output = json(&place, &["load", &url, "-n", "100", "--json"]);
    assert_eq!((output["good"].as_u64(), output["failed"].as_u64()), (Some(75), Some(25)), "{output}");
    assert_eq!(output["statuses"]["500"].as_u64(), Some(25));
    assert!(output["findings"].as_array().unwrap().iter().any(|finding| finding["id"] == "errors"), "{output}");
    let routes = vec![Route { status: 500, ..Route::text("/", "oh") }];
    let broken = KnownServer::start(Script { routes, ..Script::default() }).unwrap();
    let url = format!("{}/", broken.addr());
    place.run(&["load", &url, "-n", "10"]).ends_with(0).says("status of the first answer 500");
}

/// A server of one page, `hello`, which comes in gzip to those that take it.
fn compressing() -> SocketAddr {
    // `printf hello | gzip -n`
    const CODED: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = |stream: TcpStream| {
        let mut requests = BufReader::new(&stream).lines();
        while let Some(Ok(line)) = requests.next() {
            let fields = requests.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty());
            let takes_gzip = fields.filter(|field| field == "Accept-Encoding: gzip").count() > 0;
            let (coding, body) = if takes_gzip { ("Content-Encoding: gzip\r\n", CODED) } else { ("", &b"hello"[..]) };
            let head = format!("HTTP/1.1 200 OK\r\n{coding}Content-Length: {}\r\n\r\n", body.len());
            (&stream).write_all(&[head.as_bytes(), body].concat()).unwrap();
            assert_eq!(line, "GET / HTTP/1.1");
        }
    };
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| drop(thread::spawn(move || serve(stream)))));
    address
}

#[test]
fn what_comes_in_gzip_is_as_long_as_it_is_without() {
    let (place, server) = (Place::new(), compressing().to_string());
    let received = |more: &[&str]| {
        let args = ["load", &server, "-c1", "-n20"];
        place.run(&[&args, more].concat()).ends_with(0).says("answers with status 200 and 5 bytes").says("good 20");
        json(&place, &[&args, more, &["--json"]].concat())["bytes"].as_u64().unwrap()
    };
    assert_eq!(
        received(&["--compressed"]) - received(&[]),
        20 * (25 - 5 + 25),
        "coding's field, body and Content-Length"
    );
}

#[test]
fn only_what_is_near_is_loaded_unasked() {
    let place = Place::new();
    // TEST-NET-1 (RFC 5737): nobody is there, and nobody is asked.
    place
        .run(&["load", "http://192.0.2.1/", "-n", "1"])
        .ends_with(2)
        .complains("neither this machine nor in a private network");
    place.run(&["load", "ftp://127.0.0.1/"]).ends_with(2).complains("ftp is not http");
    place.run(&["load", "127.0.0.1:1/", "--header", "no colon"]).ends_with(2).complains("NAME: VALUE");
    place.run(&["load", "me:secret@127.0.0.1:1/"]).ends_with(2).complains("Authorization: Basic");
    for nonsense in [
        &["-R", "1e12"][..],
        &["-d", "0s"],
        &["--timeout", "0s"],
        &["--stages", "100:0s"],
        &["--stages", "0:2s"],
        &["--method", "G T"],
        &["--header", "A: b\nC: d"],
    ] {
        place.run(&[&["load", "127.0.0.1:1/"], nonsense].concat()).ends_with(2);
    }
    let unwritable = ["load", "127.0.0.1:1/", "--hgrm", "/proc/none/times.hgrm"];
    place.run(&unwritable).ends_with(1).complains("cannot write /proc/none/times.hgrm");
    place.run(&["load", "127.0.0.1:1/", "-n", "1"]).ends_with(1).complains("cannot connect to 127.0.0.1:1");
}

/// A server that redirects from each of these paths to the place that follows it.
fn redirecting(places: &[(&str, u16, &str)]) -> KnownServer {
    let redirect = |(path, status, to): &(&str, u16, &str)| Route {
        status: *status,
        headers: [("Location".to_owned(), (*to).to_owned())].into(),
        ..Route::text(path, "elsewhere")
    };
    let end = Route::text("/end", "this is the end");
    let routes = places.iter().map(redirect).chain([end]).collect();
    KnownServer::start(Script { routes, ..Script::default() }).unwrap()
}

#[test]
fn redirects_are_reported_and_followed_only_if_asked() {
    let place = Place::new();
    let server = redirecting(&[("/", 301, "/next?x"), ("/next", 302, "end"), ("/far", 307, "http://192.0.2.1/")]);
    let url = |path: &str| format!("http://{}{path}", server.addr());
    let output = json(&place, &["load", &url("/"), "-n", "20", "--json"]);
    assert_eq!((output["good"].as_u64(), output["statuses"]["301"].as_u64()), (Some(20), Some(20)), "{output}");
    assert_eq!(output["redirects_to"].as_str(), Some(url("/next?x").as_str()));
    let shown = place.run(&["load", &url("/"), "-n", "20"]).ends_with(0);
    shown.says(&format!("redirects to {}, which was not loaded: --follow", url("/next?x")));

    let output = json(&place, &["load", &url("/"), "-n", "20", "--json", "--follow"]);
    assert_eq!((output["good"].as_u64(), output["statuses"]["200"].as_u64()), (Some(20), Some(20)), "{output}");
    assert_eq!(output["followed"].as_array().unwrap(), &[url("/next?x"), url("/end")]);
    assert_eq!(output.get("redirects_to"), None);
    assert_eq!(server.record().path("/end").received, 24);
    let shown = place.run(&["load", &url("/"), "-n", "20", "--follow"]).ends_with(0);
    shown.says(&format!("redirects to {}, which was followed", url("/end")));

    place.run(&["load", &url("/far"), "-n", "1", "--follow"]).ends_with(2).complains("neither this machine nor");
    let endless = redirecting(&[("/", 303, "/")]);
    let url = format!("http://{}/", endless.addr());
    place.run(&["load", &url, "-n", "1", "--follow"]).ends_with(2).complains("redirects on and on");
    assert_eq!(endless.record().received, 22);
}

#[test]
fn what_is_wrong_with_answers_is_named() {
    let place = Place::new();
    let route = |fault, fault_share| Route { fault: Some(fault), fault_share, ..Route::default() };
    for (fault, why, words) in [
        (Fault::Garbage, "version", "not HTTP"),
        (Fault::CloseMidBody, "cut-body", "connection closed"),
        (Fault::Close, "no-answer", "connection closed"),
    ] {
        // Of 102 requests these are 25, and none of the first two.
        let output = |form: &[&str]| {
            let routes = vec![route(fault, 0.25)];
            let server = KnownServer::start(Script { routes, ..Script::default() }).unwrap();
            let url = format!("http://{}/", server.addr());
            let args: Vec<&str> = ["load", &url, "-n", "100", "-c", "1"].iter().chain(form).copied().collect();
            place.run(&args).ends_with(0)
        };
        let json: Value = serde_json::from_str(&output(&["--json"]).stdout).unwrap();
        assert_eq!((json["failures"][words].as_u64(), json["malformed"][why].as_u64()), (Some(25), Some(25)), "{json}");
        let rows = output(&["--csv"]).stdout;
        assert!(rows.lines().next().unwrap().ends_with(",malformed") && rows.contains(&format!(",{why}=")), "{rows}");
        output(&[]).says("§");
    }
}

#[test]
fn a_scenario_shows_a_row_a_step() {
    let place = Place::new();
    let page = |path: &str, text: &str| Route::text(path, text);
    let routes = vec![page("/login", r#"{"token": "t0ken"}"#), page("/a", r#"{"ok": true}"#), page("/b", "no")];
    let server = KnownServer::start(Script { routes, ..Script::default() }).unwrap();
    let url = format!("http://{}", server.addr());
    let scenario = r#"
        [[setup]]
        name = "log in"
        post = "/login"
        body = "{env.SECRET}"
        extract = { token = { json = "$.token" } }
        [[step]]
        name = "first, with a comma"
        get = "/a?${token}"
        expect = { json_is = { "$.ok" = "true" } }
        [[step]]
        name = "second"
        get = "/b"
        expect = { contains = "yes" }
        [[step]]
        name = "third"
        get = "/a"
    "#;
    fs::write(place.path("scenario.toml"), scenario).unwrap();
    let run = |more: &[&str]| {
        let args: Vec<&str> = ["load", &url, "--scenario", "scenario.toml"].iter().chain(more).copied().collect();
        place.start(place.bakeoff(&args).env("SECRET", "in the environment")).end()
    };
    let output: Value = serde_json::from_str(&run(&["-n", "300", "-c", "3", "--json"]).ends_with(0).stdout).unwrap();
    let step =
        |name: &str| ["good", "failed", "skipped"].map(|key| output["scenario"]["steps"][name][key].as_u64().unwrap());
    assert_eq!(step("first, with a comma"), [300, 0, 0], "{output}");
    assert_eq!((step("second"), step("third")), ([0, 300, 0], [0, 0, 300]));
    assert_eq!(output["scenario"]["steps"]["second"]["unmet"]["the text `yes`"].as_u64(), Some(300));
    assert_eq!((output["good"].as_u64(), output["failed"].as_u64()), (Some(300), Some(300)));
    assert_eq!((output["scenario"]["finished"].as_u64(), output["scenario"]["stopped"].as_u64()), (Some(0), Some(300)));
    assert_eq!(server.record().path("/login").received, 3);
    assert_eq!(server.record().path("/b").received, 300);

    let shown = run(&["-n", "20"]).ends_with(0);
    shown.says("scenario.toml http://").says("first, with a comma").says("unexpected content: the text `yes`");
    let table = run(&["-n", "5", "--csv", "--quiet"]).ends_with(0);
    assert!(
        table.stdout.contains("\"first, with a comma\",0\n") && table.stdout.contains(",third,5\n"),
        "{}",
        table.stdout
    );

    place.run(&["load", &format!("{url}/x"), "--scenario", "scenario.toml"]).ends_with(2).complains("without one");
    place.run(&["load", &url, "--scenario", "scenario.toml", "-m", "PUT"]).ends_with(2).complains("--method");
    place.run(&["load", &url, "--scenario", "scenario.toml", "-n", "1"]).ends_with(1).complains("SECRET");
    fs::write(place.path("scenario.toml"), scenario.replace("$.token", "$.tokn")).unwrap();
    let failed = run(&["-n", "1"]).ends_with(1);
    failed.complains("set-up failed: step `log in` failed").complains("status 200 and 18 bytes");
    assert!(!failed.stderr.contains("t0ken"), "{}", failed.stderr);
    fs::write(place.path("scenario.toml"), scenario.replace("get =", "got =")).unwrap();
    place.run(&["load", &url, "--scenario", "scenario.toml", "-n", "1"]).ends_with(2).complains("`got`");
}

/// `bakeoff` where no more than 200 files may be open, by the soft limit (`-S`) or the hard one too.
fn with_few_files(place: &Place, limit: &str, args: &[&str]) -> Command {
    let (bakeoff, mut command) = (place.bakeoff(args), Command::new("sh"));
    command.args(["-c", &format!("ulimit {limit} -n 200; exec \"$@\""), "sh"]);
    command.arg(bakeoff.get_program()).args(bakeoff.get_args()).current_dir(place.path("."));
    command
}

#[test]
fn more_connections_than_files_are_allowed_raise_the_limit() {
    let (place, server) = (Place::new(), KnownServer::start(Script::default()).unwrap());
    let args = ["load", &format!("{}/", server.addr()), "-c", "300", "-n", "600", "--json", "--backend", "epoll"];
    let shown = place.start(&mut with_few_files(&place, "-S", &args)).end().ends_with(0);
    let output: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!((output["good"].as_u64(), output["backend"].as_str()), (Some(600), Some("epoll")), "{output}");
    place.start(&mut with_few_files(&place, "", &args)).end().complains("raise it (ulimit -Hn)");
}

#[test]
fn every_launch_of_a_study_may_open_as_many_files() {
    let place = Place::with_study(&[("one", &page("2ms")), ("other", &page("2ms"))]);
    let started = format!("{} --port", crate::common::knownserver().display());
    place.change(&started, "sh {dir}/start.sh --port").change("concurrency = 2", "concurrency = 300");
    let start = format!(
        "ulimit -S -n >> {}\nexec {} \"$@\"\n",
        place.path("limits").display(),
        crate::common::knownserver().display()
    );
    place.write("start.sh", &start);
    let started = place.start(&mut with_few_files(&place, "-S", &["run", "study.toml", "--seed", "1"]));
    let limits = || fs::read_to_string(place.path("limits")).unwrap_or_default();
    needs::eventually("three launches", || limits().lines().count() >= 3);
    started.signal("INT");
    started.end();
    let limits = limits();
    let first = limits.lines().next().unwrap();
    assert!(first != "200" && limits.lines().all(|limit| limit == first), "{limits}");
    place.assert_nothing_is_left();
}
