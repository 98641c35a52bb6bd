//! Scenarios against a server that checks what users send and keeps a record of its own.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

mod shop;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use load::{Flow, Load, LoadError, Script, ScriptError, Stop, Summary, Target};
use model::scenario::{Body, Checks, Each, Extract, Feeder, Scenario, ScenarioStep, Scenarios, Source, Take};
use model::{Arrivals, Failure, Profile, Sample, Template};
use shop::Shop;
use tempfile::TempDir;

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn step(name: &str, method: &str, path: &str) -> ScenarioStep {
    ScenarioStep {
        name: name.to_owned(),
        method: method.to_owned(),
        path: template(path),
        headers: vec![("Authorization".to_owned(), template("bearer ${token}"))],
        body: None,
        checks: Checks::default(),
        extract: Vec::new(),
        think: None,
    }
}

fn extract(variable: &str, from: Source) -> Vec<Extract> {
    vec![Extract { variable: variable.to_owned(), from }]
}

struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Users log in with accounts of their own, look for a term, order what they find, look at the order; and log
    /// out.
    fn shopping(&self, users: usize, terms: &str, take: Take) -> Scenarios {
        let accounts: Vec<_> = (0..users).map(|user| format!("user{user},secret-user{user}\n")).collect();
        let accounts = self.file("accounts.csv", &format!("user,password\n{}", accounts.concat()));
        let terms = self.file("terms.jsonl", terms);
        let login = self.file("login.json", r#"{"user": "${user}", "password": "${password}"}"#);
        Scenarios {
            feeders: vec![
                Feeder { file: accounts, take: Take::Unique, each: Each::User },
                Feeder { file: terms, take, each: Each::Iteration },
            ],
            setup: vec![ScenarioStep {
                headers: Vec::new(),
                body: Some(Body::TemplateFile(login)),
                extract: extract("token", Source::Json("$.access_token".to_owned())),
                ..step("log in", "POST", "/login")
            }],
            scenarios: vec![Scenario {
                name: "shop".to_owned(),
                weight: 1,
                steps: vec![
                    ScenarioStep {
                        checks: Checks {
                            status: Some(200),
                            json: vec![("$.user".to_owned(), Some(template("${user}")))],
                            ..Checks::default()
                        },
                        extract: extract("item", Source::Json("$.items[0].id".to_owned())),
                        ..step("search", "GET", "/items?term=${term}")
                    },
                    ScenarioStep {
                        body: Some(Body::Text(template("${item}"))),
                        extract: extract(
                            "order",
                            Source::Header { name: "location".to_owned(), regex: Some("/orders/(.*)".to_owned()) },
                        ),
                        ..step("order", "POST", "/orders")
                    },
                    ScenarioStep {
                        checks: Checks {
                            regex: Some("^<h1>".to_owned()),
                            contains: Some(template("thanks")),
                            length: Some((15, 15)),
                            ..Checks::default()
                        },
                        ..step("look", "GET", "/orders/${order}")
                    },
                ],
            }],
            teardown: vec![step("log out", "DELETE", "/session")],
        }
    }
}

fn rows(terms: &[&str]) -> String {
    terms.iter().map(|term| format!("{{\"term\": \"{term}\"}}\n")).collect::<Vec<_>>().concat()
}

fn load(shop: &Shop, scenarios: &Scenarios, users: u32, until: Stop) -> Load {
    let target = Target::from(shop.address);
    let script = Script::new(scenarios, &target).unwrap();
    let time_limit = Duration::from_secs(10);
    Load { connections: users, threads: 2, time_limit, ..Load::new(target, vec![script], until) }
}

fn try_run(load: &Load) -> Result<(Summary, Vec<Sample>), LoadError> {
    let mut samples = Vec::new();
    let summary = load::run(load, &AtomicBool::new(false), &mut |sample| {
        samples.push(sample);
        Flow::Continue
    })?;
    Ok((summary, samples))
}

fn run(load: &Load) -> Summary {
    try_run(load).unwrap().0
}

/// Requests by step: good, failed, skipped, number of service times.
fn steps(summary: &Summary) -> Vec<(&str, u64, u64, u64, u64)> {
    let walked = summary.walked.as_ref().unwrap();
    let steps = walked
        .steps
        .iter()
        .map(|(name, step)| (name.as_str(), step.tally.good, step.tally.failed(), step.skipped, step.service.count()));
    steps.collect()
}

#[test]
fn users_log_in_order_and_log_out_and_the_server_agrees() {
    let (shop, files) = (Shop::open(), Files::new());
    let scenarios = files.shopping(4, &rows(&["a", "b c", "d"]), Take::Shared);
    let (summary, samples) = try_run(&load(&shop, &scenarios, 4, Stop::Count(41))).unwrap();

    assert_eq!(
        steps(&summary),
        [("search", 41, 0, 0, 41), ("order", 41, 0, 0, 41), ("look", 41, 0, 0, 41)],
        "{summary:?}"
    );
    let walked = summary.walked.as_ref().unwrap();
    assert_eq!((walked.finished, walked.stopped, walked.iteration.count()), (41, 0, 41));
    assert_eq!((summary.tally.good, summary.tally.failed(), summary.service.count()), (123, 0, 123));
    assert_eq!((summary.teardowns_failed, summary.teardown_failure.as_deref()), (0, None));
    assert!(walked.iteration.max() >= summary.service.max());
    let seen: u64 = samples.iter().filter_map(|sample| sample.walked.as_ref()).map(|part| part.finished).sum();
    assert_eq!(seen, 41);

    // Each user logged in once, out once, and was itself in between.
    assert_eq!(shop.received().len(), 4 + 123 + 4);
    let logins = shop.received_of("POST", "/login");
    let bodies: BTreeSet<&str> = logins.iter().map(|login| login.body.as_str()).collect();
    assert_eq!((logins.len(), bodies.len()), (4, 4));
    let outs: BTreeSet<String> =
        shop.received_of("DELETE", "/session").iter().map(|out| out.user().unwrap().to_owned()).collect();
    assert_eq!(outs, (0..4).map(|user| format!("user{user}")).collect());
    assert!(shop.received().iter().all(|received| received.status < 300));
    // Of 41 rows taken in turn from three, the first two come 14 times.
    let mut terms = BTreeMap::new();
    for search in shop.received_of("GET", "/items") {
        *terms.entry(search.path).or_insert(0) += 1;
    }
    let expected = [("/items?term=a", 14), ("/items?term=b%20c", 14), ("/items?term=d", 13)];
    assert_eq!(terms, expected.map(|(path, count)| (path.to_owned(), count)).into());
    // What one step found, the next one used; no cookie went where it does not belong.
    assert!(shop.received_of("POST", "/orders").iter().all(|order| order.body.starts_with("item-")));
    for look in shop.received_of("GET", "/orders/") {
        assert!(look.path.ends_with(&format!("-by-{}", look.user().unwrap())), "{look:?}");
    }
}

#[test]
fn a_step_that_fails_ends_its_iteration_and_what_was_not_sent_has_no_time() {
    let (shop, files) = (Shop::open(), Files::new());
    // A third of the searches finds nothing to order, a third is answered with 500.
    let scenarios = files.shopping(3, &rows(&["a", "none", "broken"]), Take::Shared);
    let summary = run(&load(&shop, &scenarios, 3, Stop::Count(30)));
    assert_eq!(steps(&summary), [("search", 10, 20, 0, 10), ("order", 10, 0, 20, 10), ("look", 10, 0, 20, 10)]);
    let walked = summary.walked.as_ref().unwrap();
    assert_eq!((walked.finished, walked.stopped, walked.iteration.count()), (10, 20, 10));
    let search = &walked.steps["search"];
    assert_eq!(search.tally.failures, [(Failure::Status, 10), (Failure::Content, 10)].into());
    assert_eq!(search.unmet, [("json `$.user` = `${user}`".to_owned(), 10)].into());
    assert_eq!((summary.tally.good, summary.tally.failed()), (30, 20));
    assert_eq!(summary.service.count(), 30);
    assert_eq!(shop.received_of("GET", "/items").len(), 30);
    assert_eq!(shop.received_of("POST", "/orders").len(), 10);
    assert_eq!(shop.received_of("GET", "/orders/").len(), 10);
}

#[test]
fn a_second_step_that_fails_skips_the_third_only() {
    let (shop, files) = (Shop::open(), Files::new());
    let mut scenarios = files.shopping(2, &rows(&["a", "b"]), Take::Shared);
    scenarios.scenarios[0].steps[1].extract =
        extract("order", Source::Header { name: "location".to_owned(), regex: Some("/orders/(item-a.*)".to_owned()) });
    let summary = run(&load(&shop, &scenarios, 2, Stop::Count(20)));
    assert_eq!(steps(&summary), [("search", 20, 0, 0, 20), ("order", 10, 10, 0, 10), ("look", 10, 0, 10, 10)]);
    let unmet = &summary.walked.as_ref().unwrap().steps["order"].unmet;
    assert_eq!(*unmet, [("`order` from header `location`".to_owned(), 10)].into());
    assert_eq!(shop.received_of("GET", "/orders/").len(), 10);
}

#[test]
fn unique_rows_that_run_out_end_the_load() {
    let (shop, files) = (Shop::open(), Files::new());
    let terms: Vec<String> = (0..50).map(|term| format!("term-{term}")).collect();
    let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    let scenarios = files.shopping(4, &rows(&terms), Take::Unique);
    let error = try_run(&load(&shop, &scenarios, 2, Stop::External)).unwrap_err();
    assert!(
        matches!(&error, LoadError::FeederExhausted { file, rows: 50 } if file.ends_with("terms.jsonl")),
        "{error}"
    );
    let received: Vec<String> = shop.received_of("GET", "/items").into_iter().map(|search| search.path).collect();
    assert!(received.len() <= 50 && received.iter().collect::<BTreeSet<_>>().len() == received.len());
    // Users log out even so.
    assert_eq!(shop.received_of("DELETE", "/session").len(), 2);

    // Exactly enough rows are enough.
    let scenarios = files.shopping(4, &rows(&terms), Take::Unique);
    assert_eq!(run(&load(&shop, &scenarios, 4, Stop::Count(50))).walked.unwrap().finished, 50);
    // A row a user, one user too many.
    let error = try_run(&load(&shop, &scenarios, 5, Stop::Count(1))).unwrap_err();
    assert!(
        matches!(&error, LoadError::FeederExhausted { file, rows: 4 } if file.ends_with("accounts.csv")),
        "{error}"
    );
}

#[test]
fn a_set_up_that_fails_says_what_was_answered_and_no_secret() {
    let (shop, files) = (Shop::open(), Files::new());
    let scenarios = files.shopping(2, &rows(&["a"]), Take::Shared);
    files.file("accounts.csv", "user,password\nann,hunter2\nbob,hunter3\n");
    let error = try_run(&load(&shop, &scenarios, 2, Stop::Count(5))).unwrap_err().to_string();
    assert!(error.contains("step `log in`") && error.contains("status 401"), "{error}");
    assert!(error.contains("wrong password ***") && !error.contains("hunter"), "{error}");
    assert!(shop.received_of("GET", "/items").is_empty());
    assert!(shop.received_of("DELETE", "/session").is_empty(), "nobody is in who could log out");
}

#[test]
fn an_answer_from_which_a_token_was_to_be_taken_is_not_shown() {
    let (shop, files) = (Shop::open(), Files::new());
    let mut scenarios = files.shopping(1, &rows(&["a"]), Take::Shared);
    scenarios.setup[0].extract = extract("token", Source::Json("$.token".to_owned()));
    let error = try_run(&load(&shop, &scenarios, 1, Stop::Count(5))).unwrap_err().to_string();
    assert!(error.contains("step `log in`") && error.contains("status 200"), "{error}");
    assert!(error.contains("not shown") && !error.contains("token-of"), "{error}");
}

#[test]
fn what_was_set_up_before_a_set_up_failed_is_torn_down() {
    let (shop, files) = (Shop::open(), Files::new());
    let target = Target::from(shop.address);
    let shopping = files.shopping(1, &rows(&["a"]), Take::Shared);
    let mut locked = shopping.clone();
    locked.setup[0].path = template("/nowhere");
    let scripts = [shopping, locked].map(|scenarios| Script::new(&scenarios, &target).unwrap());
    let error = try_run(&Load::new(target, scripts.to_vec(), Stop::Count(5))).unwrap_err();
    assert!(matches!(error, LoadError::SetUp(_)), "{error}");
    assert!(shop.received_of("GET", "/items").is_empty());
    assert_eq!(shop.received_of("DELETE", "/session").len(), 1);
}

#[test]
fn tear_downs_that_fail_are_counted() {
    let (shop, files) = (Shop::open(), Files::new());
    let mut scenarios = files.shopping(3, &rows(&["a"]), Take::Shared);
    scenarios.teardown[0].path = template("/nowhere");
    let summary = run(&load(&shop, &scenarios, 3, Stop::Count(5)));
    assert_eq!((summary.teardowns_failed, summary.tally.good, summary.tally.failed()), (3, 15, 0));
    let failure = summary.teardown_failure.unwrap();
    assert!(failure.contains("step `log out`") && failure.contains("status 404"), "{failure}");
}

#[test]
fn scenarios_are_drawn_by_weight_and_the_seed_decides() {
    let (shop, files) = (Shop::open(), Files::new());
    let mut scenarios = files.shopping(9, &rows(&["a"]), Take::Recycled);
    let browse = vec![step("browse", "GET", "/items?term=browse")];
    scenarios.scenarios.push(Scenario { name: "browse".to_owned(), weight: 3, steps: browse });
    let drawn = |seed| {
        let summary = run(&Load { seed, ..load(&shop, &scenarios, 2, Stop::Count(400)) });
        let walked = summary.walked.unwrap();
        assert_eq!(walked.finished, 400);
        (walked.steps["search"].tally.good, walked.steps["browse"].tally.good)
    };
    let (search, browse) = drawn(1);
    assert_eq!(search + browse, 400);
    // A quarter of 400 is 100; five standard deviations are 43.
    assert!((57..=143).contains(&search), "{search} of 400");
}

#[test]
fn in_an_open_loop_an_arrival_starts_an_iteration() {
    let (shop, files) = (Shop::open(), Files::new());
    let scenarios = files.shopping(4, &rows(&["a", "none"]), Take::Shared);
    let arrivals = Arrivals::Open(Profile::constant(1_000.0));
    let (summary, samples) = try_run(&Load { arrivals, ..load(&shop, &scenarios, 4, Stop::Count(100)) }).unwrap();
    let (open, walked) = (summary.open.as_ref().unwrap(), summary.walked.as_ref().unwrap());
    assert_eq!((open.due, summary.unanswered(), walked.finished, walked.stopped), (100, 0, 50, 50));
    // Of each iteration that began well, the first answer has a response time; all good answers have a service time.
    assert_eq!((open.response.count(), summary.service.count(), walked.iteration.count()), (50, 150, 50));
    assert!(walked.iteration.max() >= open.response.quantile(0.0));
    assert_eq!(samples.iter().map(Sample::arrivals_ended).sum::<u64>(), 100);
    assert_eq!(steps(&summary)[2], ("look", 50, 0, 50, 50));
}

#[test]
fn several_scripts_are_taken_in_turn() {
    let (shop, files) = (Shop::open(), Files::new());
    let target = Target::from(shop.address);
    let shopping = Script::new(&files.shopping(2, &rows(&["a"]), Take::Shared), &target).unwrap();
    let request = model::study::Request { method: "GET".into(), path: "/".into(), headers: Vec::new(), body: None };
    let expect = model::study::Expect { status: Some(401), ..Default::default() };
    let refused = Script::new(&request.as_scenarios("refused", &expect, Some((0, 0))), &target).unwrap();
    let load = Load { connections: 2, ..Load::new(target, vec![shopping, refused], Stop::Count(20)) };
    let summary = run(&load);
    assert_eq!(
        steps(&summary).iter().map(|step| step.0).collect::<Vec<_>>(),
        ["1/search", "1/order", "1/look", "2/refused"]
    );
    assert_eq!(summary.tally.failed(), 0);
    let walked = summary.walked.unwrap();
    let (one, other) = (walked.steps["1/look"].tally.good, walked.steps["2/refused"].tally.good);
    // Each of the two users has at most one more of the one than of the other.
    assert!(one + other == 20 && one.abs_diff(other) <= 2, "{one} and {other}");
}

#[test]
fn checks_and_extractions_see_a_body_without_gzip() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 1_024];
            while stream.read(&mut request).unwrap() > 0 {
                // `printf hello | gzip -n`
                let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
                let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n";
                stream.write_all(&[head.as_bytes(), hello].concat()).unwrap();
            }
        }
    });
    let hello = ScenarioStep {
        headers: vec![("Accept-Encoding".to_owned(), template("gzip"))],
        checks: Checks { contains: Some(template("hello")), length: Some((5, 5)), ..Checks::default() },
        ..step("hello", "GET", "/")
    };
    let scenario = Scenario { name: "greet".to_owned(), weight: 1, steps: vec![hello] };
    let scenarios =
        Scenarios { feeders: Vec::new(), setup: Vec::new(), scenarios: vec![scenario], teardown: Vec::new() };
    let target = Target::from(address);
    let script = Script::new(&scenarios, &target).unwrap();
    assert_eq!(script.look(&target, Duration::from_secs(20)).unwrap()[0].unmet, None);
    assert_eq!(run(&Load::new(target, vec![script], Stop::Count(20))).tally.good, 20);
}

#[test]
fn a_user_thinks_between_steps() {
    let (shop, files) = (Shop::open(), Files::new());
    let mut scenarios = files.shopping(1, &rows(&["a"]), Take::Shared);
    let think = Duration::from_millis(30);
    scenarios.scenarios[0].steps[0].think = Some(think);
    let summary = run(&load(&shop, &scenarios, 1, Stop::Count(3)));
    let walked = summary.walked.unwrap();
    assert_eq!(walked.finished, 3);
    assert!(u128::from(walked.iteration.quantile(0.0)) >= think.as_micros());
    assert_eq!(summary.connections_opened, 1);
}

#[test]
fn a_look_tells_every_answer_of_one_user() {
    let (shop, files) = (Shop::open(), Files::new());
    let target = Target::from(shop.address);
    let scenarios = files.shopping(3, &rows(&["a", "none"]), Take::Shared);
    let script = Script::new(&scenarios, &target).unwrap();
    let look = || -> Vec<(String, u16, bool)> {
        let seen = script.look(&target, Duration::from_secs(5)).unwrap();
        seen.into_iter().map(|seen| (seen.step, seen.answer.status, seen.unmet.is_none())).collect()
    };
    let seen = |name: &str, status, good| (name.to_owned(), status, good);
    assert_eq!(look(), [seen("search", 200, true), seen("order", 201, true), seen("look", 200, true)]);
    // The feeders go on.
    assert_eq!(look(), [seen("search", 200, false)]);
    assert_eq!(shop.received_of("DELETE", "/session").len(), 2);
}

#[test]
fn what_cannot_be_walked_is_refused_with_the_reason() {
    let (shop, files) = (Shop::open(), Files::new());
    let good = files.shopping(1, &rows(&["a"]), Take::Shared);
    let refused = |scenarios: &Scenarios| Script::new(scenarios, &Target::from(shop.address)).unwrap_err();
    assert!(matches!(refused(&Scenarios::default()), ScriptError::Nothing));
    let mut wrong = good.clone();
    wrong.scenarios[0].steps[0].path = template("/items?term=${trem}");
    let reported = refused(&wrong).to_string();
    assert!(
        reported.contains("`search` needs `${trem}`") && reported.contains("user, password, token, term"),
        "{reported}"
    );
    let mut wrong = good.clone();
    wrong.setup[0].body = Some(Body::TemplateFile(files.file("wrong.json", "{\"user\": \"${user\"}")));
    assert!(refused(&wrong).to_string().contains("wrong.json` is wrong: `${` at byte 10"), "{}", refused(&wrong));
    let mut wrong = good.clone();
    wrong.scenarios[0].steps[0].extract.extend(extract("x", Source::Regex("(".to_owned())));
    assert!(matches!(refused(&wrong), ScriptError::Pattern { .. }));
    let mut wrong = good;
    wrong.scenarios[0].steps[0].headers.push(("Content-Length".to_owned(), template("1")));
    assert!(matches!(refused(&wrong), ScriptError::Request { .. }));
}
