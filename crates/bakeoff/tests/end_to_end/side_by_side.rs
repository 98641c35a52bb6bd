//! Launches side by side: all variants of a block are alive at once and take turns.

use model::{Severity, Subject, Verdict};
use serde_json::Value;

use crate::common::{Place, findings, knownserver, page};

/// The slices of a trial's only cell.
fn slices(trial: &Value) -> &Vec<Value> {
    trial["cells"][0]["slices"].as_array().unwrap()
}

#[test]
fn variants_take_turns_and_a_known_difference_is_found() {
    let place = Place::with_study(&[("fast", &page("20ms")), ("slow", &page("24ms"))]);
    place.change("duration = \"1s\"", "duration = \"6s\"").change("min = 5, max = 5", "min = 3, max = 5");
    place.run(&["check", "study.toml"]).ends_with(0).says("launches side by side");
    place.run(&["run", "study.toml", "--fail-on", "worse"]).ends_with(3).says("▼ WORSE");
    let Verdict::Worse { effect } = place.report().judgements[0].verdict.clone() else { panic!("not worse") };
    // 20/24, where client and kernel take nothing, and nearer to one where they do.
    assert!(effect.low <= (20.0_f64 / 24.0).ln() + 0.02 && effect.high >= (20.0_f64 / 24.0).ln(), "{effect:?}");
    for block in place.trials().chunks(2) {
        // All turns of a round are there, none at the same time as another, and none is longer than its partner's.
        let rounds = |trial: &Value| slices(trial).iter().map(|slice| slice["round"].clone()).collect::<Vec<_>>();
        let lengths = |trial: &Value| slices(trial).iter().map(|slice| slice["length_s"].clone()).collect::<Vec<_>>();
        assert_eq!((rounds(&block[0]), lengths(&block[0])), (rounds(&block[1]), lengths(&block[1])));
        let mut spans: Vec<(f64, f64)> = block
            .iter()
            .flat_map(slices)
            .map(|slice| (slice["began_s"].as_f64().unwrap(), slice["length_s"].as_f64().unwrap()))
            .collect();
        spans.sort_by(|one, other| one.0.total_cmp(&other.0));
        assert!(spans.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0), "{spans:?}");
    }
    place.assert_nothing_is_left();
}

#[test]
fn three_variants_share_a_round() {
    let levels = [("one", &*page("10ms")), ("two", &page("10ms")), ("three", &page("30ms"))];
    let place = Place::with_study(&levels);
    place.change("min = 5, max = 5", "min = 3, max = 3").run(&["run", "study.toml"]).ends_with(0).says("three is");
    assert_eq!(place.trials().len(), 9);
}

#[test]
fn who_would_be_busy_while_waiting_is_stopped() {
    let place = Place::with_study(&[("still", &page("5ms"))]);
    let server = knownserver();
    place.write("spin.sh", &format!("while :; do :; done &\nexec {} \"$@\"\n", server.display()));
    place
        .change("still = { args", "spinning = { command = \"sh {dir}/spin.sh --port {port}\", args = [\"--script={dir}/still.toml\"] }\nstill = { args")
        .change("min = 5, max = 5", "min = 3, max = 3");
    place.run(&["run", "study.toml"]).ends_with(0);
    assert_eq!(findings(&place.report(), "busy-while-waiting"), Vec::<&model::Finding>::new());
    // It spins while it is loaded, and not while it waits.
    let trials = place.trials();
    let spinning = || trials.iter().filter(|trial| trial["variant"] == 0).map(|trial| &trial["cells"][0]);
    let sum = |part: &str, number: &str| -> f64 {
        let all = spinning().flat_map(|cell| cell[part].as_array().unwrap());
        all.filter_map(|one| one.pointer(number)?.as_f64()).sum()
    };
    let loaded = sum("samples", "/server/cpu_s") / sum("samples", "/length_s");
    let waited = sum("slices", "/waited/cpu_s") / sum("slices", "/waited/elapsed_s");
    assert!(waited < loaded / 2.0, "{loaded} {waited}");
    place.assert_nothing_is_left();
}

#[test]
fn a_block_that_is_interrupted_leaves_nothing_and_is_run_anew() {
    let place = Place::with_study(&[("fast", &page("2ms")), ("slow", &page("20ms"))]);
    place.change("duration = \"1s\"", "duration = \"10s\"").change("min = 5, max = 5", "min = 3, max = 3");
    let started = place.start(&mut place.bakeoff(&["run", "study.toml"]));
    needs::eventually("two servers at once", || {
        place.servers().iter().filter(|process| process.contains("knownserver --port")).count() >= 2
    });
    started.signal("INT");
    started.end().ends_with(130);
    place.assert_nothing_is_left();
    assert_eq!(place.trials().len(), 0);
    place.change("duration = \"10s\"", "duration = \"1s\"");
}

#[test]
fn both_designs_find_the_same_difference() {
    let effect = |launches: &str| {
        let place = Place::with_study(&[("fast", &page("20ms")), ("slow", &page("40ms"))]);
        if launches == "one-after-another" {
            place.one_after_another();
        }
        place.change("min = 5, max = 5", "min = 3, max = 3");
        place.run(&["run", "study.toml"]).ends_with(0).says("▼ WORSE");
        let report = place.report();
        assert_eq!(findings(&report, "busy-while-waiting"), Vec::<&model::Finding>::new());
        report.comparisons[0].effect.unwrap()
    };
    let (beside, apart) = (effect("side-by-side"), effect("one-after-another"));
    assert!(beside.low <= apart.high && apart.low <= beside.high, "{beside:?} {apart:?}");
}

#[test]
fn a_server_that_ends_connections_while_it_waits_is_named() {
    let place = Place::with_study(&[("keeping", &page("1ms"))]);
    // Its partner's turns last half a second.
    let nginx = r#"cat > "$1/nginx.conf" <<EOF
daemon off; master_process off; pid $1/nginx.pid; error_log stderr;
events {}
http {
  access_log off; keepalive_timeout $3; keepalive_requests 1000000;
  client_body_temp_path $1; proxy_temp_path $1; fastcgi_temp_path $1; uwsgi_temp_path $1; scgi_temp_path $1;
  server { listen 127.0.0.1:$2; location / { return 200 "the same\n"; } }
}
EOF
PATH=$PATH:/usr/sbin exec nginx -c "$1/nginx.conf"
"#;
    place.write("nginx.sh", nginx);
    place
        .change(
            &format!("command = \"{} --port {{port}}\"", knownserver().display()),
            "command = \"sh {dir}/nginx.sh {trial_dir} {port}\"",
        )
        .change(
            "keeping = { args = [\"--script={dir}/keeping.toml\"] }",
            "keeping = { args = [\"60s\"] }\nending = { args = [\"100ms\"] }",
        )
        .change("duration = \"1s\"", "duration = \"6s\"")
        .change("min = 5, max = 5", "min = 3, max = 3");
    place.run(&["run", "study.toml"]);
    let report = place.report();
    let [found] = &findings(&report, "connections-lost")[..] else { panic!("{:#?}", report.findings) };
    assert_eq!((found.severity, &found.subject), (Severity::Warning, &Subject::Variant { variant: 1 }), "{found:#?}");
    place.assert_nothing_is_left();
}
