//! The studies that are shipped: each file is valid, and what the Cloud Controller's compares answers the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use needs::Need;

use crate::common::Place;

/// A launch of each kind of the study's servers, as short as can be.
const CLOUD_CONTROLLER: &str = r#"name = "the Cloud Controller's answers"

[server]
script = "STUDY/app/server.rb"
env = { PORT = "{port}", DATABASE_PORT = "{port.database}", DATABASE_POOL = "4", THREADS = "2" }
ready = { get = "/healthz", within = "120s" }

[factor.side]
thin = { runtime = "ruby", env = { SERVER = "thin", WORKERS = "1" } }
puma = { runtime = "ruby", env = { SERVER = "puma", WORKERS = "2" } }

[factor.side.jruby]
runtime = "jruby"
version = "9.4.15.0"
jdk = "17 or 21"
jars = ["org.postgresql:postgresql:42.7.8"]
jvm = ["-XX:TieredStopAtLevel=1"]
env = { SERVER = "webrick", WORKERS = "1", RUBYOPT = "-rSTUDY/app/libraries.rb" }

[hooks]
setup = "STUDY/../postgresql.sh STUDY/database template"

[[service]]
name = "database"
command = "STUDY/../postgresql.sh STUDY/database serve {port.database}"

[[workload]]
name = "spaces"
concurrency = 2

[[workload.setup]]
name = "log in"
post = "/oauth/token"
headers = { Content-Type = "application/x-www-form-urlencoded" }
body = "grant_type=password&username=developer-0009&password=spaces"
extract = { token = { json = "$.access_token" } }

[[workload.step]]
name = "organisation"
get = "/v2/organizations"
headers = { Authorization = "bearer ${token}" }
extract = { organisation = { json = "$.resources[0].metadata.guid" } }

[[workload.step]]
name = "all that the developer may see"
get = "/v2/organizations/${organisation}/spaces?results-per-page=100"
headers = { Authorization = "bearer ${token}" }
expect = { status = 200, contains = '"total_results": 74,' }

[[workload.step]]
name = "a page between others"
get = "/v2/organizations/${organisation}/spaces?page=2&results-per-page=30"
headers = { Authorization = "bearer ${token}" }
expect = { json_is = { "$.total_pages" = "3" }, contains = "page=3&results-per-page=30" }

[[workload.step]]
name = "no page"
get = "/v2/organizations/${organisation}/spaces?page=0"
headers = { Authorization = "bearer ${token}" }
expect = { status = 400, contains = "CF-BadQueryParameter" }

[[workload.step]]
name = "another organisation"
get = "/v2/organizations/77f93054-c1ee-e75e-a11a-d063ab9fd28d/spaces"
headers = { Authorization = "bearer ${token}" }
expect = { status = 403, contains = "CF-NotAuthorized" }

[[workload.step]]
name = "no organisation"
get = "/v2/organizations/none/spaces"
headers = { Authorization = "bearer ${token}" }
expect = { status = 404, contains = "CF-OrganizationNotFound" }

[[workload.step]]
name = "a token that somebody has changed"
get = "/v2/organizations"
headers = { Authorization = "bearer ${token}0" }
expect = { status = 401, contains = "CF-InvalidAuthToken" }

[[workload.step]]
name = "no token"
get = "/v2/organizations"
expect = { status = 401, contains = "CF-NotAuthenticated" }

[[assertion]]
name = "libraries"
http = { get = "/v2/info", json = "$.libraries" }
expect = "same"

[[assertion]]
name = "processes"
threads = "^(ruby[0-9.]*|main)$"
when = "after"
expect = { thin = 1, puma = 3, jruby = 1 }

[[assertion]]
name = "threads that answer"
threads = "^(eventmachine|puma srv tp|http-nio-.*-exec-)"
when = "after"
expect = { thin = 2, puma = 4, jruby = 0 }

[[assertion]]
name = "connections"
command = "STUDY/../postgresql.sh STUDY/database ask {port.database} connections.sql"
when = "after"
expect = { thin = 4, puma = 8, jruby = 4 }

[[assertion]]
name = "database's time"
command = "STUDY/../postgresql.sh STUDY/database ask {port.database} time-of-a-request.sql"
when = "after"
expect = ">= 0.001"

[warmup]
fixed = "200ms"

[measure]
duration = "1s"
"#;

fn studies() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies").canonicalize().unwrap()
}

#[test]
fn every_shipped_study_is_valid() {
    let place = Place::new();
    let folders = fs::read_dir(studies()).unwrap().map(|folder| folder.unwrap().path()).filter(|path| path.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
    // The known server's scripts are TOML, too.
    let is_study = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "toml")
            && fs::read_to_string(path).unwrap().contains("[server]")
    };
    let found: Vec<PathBuf> = files.filter(is_study).collect();
    assert!(found.len() >= 10, "{found:?}");
    for study in found {
        let ran = place.run(&["check", &study.to_string_lossy()]).ends_with(0);
        ran.says("(baseline)");
        if study.ends_with("cloud-controller/study.toml") {
            // Before a minute is spent.
            ran.says("! The interaction ruby × server cannot be separated from");
        }
    }
}

/// Whether the Cloud Controller can be launched here.
fn has_cloud_controller() -> bool {
    const LIBRARIES: [(&str, &str); 6] = [
        ("thin", "thin"),
        ("puma", "puma"),
        ("webrick", "ruby-webrick"),
        ("sinatra/base", "ruby-sinatra"),
        ("sequel", "ruby-sequel"),
        ("pg", "ruby-pg"),
    ];
    let is_there = |library: &str| {
        let ruby = Command::new("ruby").args(["-r", library, "-e", ""]).stderr(Stdio::null()).status();
        ruby.is_ok_and(|status| status.success())
    };
    let lacking = LIBRARIES.iter().find(|(library, _)| !is_there(library));
    if let Some((library, package)) = lacking {
        needs::left_out(Need::Package(&[(*package).to_owned()]), format!("Ruby has no {library} (make setup-studies)"));
    }
    lacking.is_none()
}

/// The shipped study of a small pool, with four users and as short as can be, and `changes` made to it: what stands there, what it becomes.
fn small_pool(changes: &[(&str, &str)]) -> Place {
    let folder = studies().join("cloud-controller");
    let mut study = fs::read_to_string(folder.join("small-pool.toml")).unwrap();
    let folder = folder.to_string_lossy();
    let there = |path: &str| format!("\"{folder}/{path}");
    let mut paths = ["app/", "users.csv", "../../scripts/"].map(|path| (format!("\"{path}"), there(path))).to_vec();
    paths.push(("../postgresql.sh database".to_owned(), format!("{folder}/../postgresql.sh {folder}/database")));
    let short = [
        ("concurrency = [1, 10, 20, 40]", "concurrency = 4"),
        ("warmup = \"3s\"", "warmup = \"1s\""),
        ("measure = \"3s\"", "measure = \"2s\""),
    ];
    let paths = paths.iter().map(|(from, to)| (from.as_str(), to.as_str()));
    for (from, to) in paths.chain(short).chain(changes.iter().copied()) {
        assert!(study.contains(from), "{from} is not in the study");
        study = study.replace(from, to);
    }
    let place = Place::new();
    place.write("study.toml", &study);
    place
}

#[test]
fn a_pool_that_is_too_small_is_named() {
    if !has_cloud_controller() {
        return;
    }
    let place = small_pool(&[]);
    let started = place.start(&mut place.bakeoff(&["run", "study.toml", "--quick", "--no-profile"]));
    place.wait_for_mid_trial(3);
    started.signal("INT");
    started.end().ends_with(130);
    place.assert_nothing_is_left();
    place.run(&["report"]).says("warning pool-too-small small").says("smaller than 4 concurrent requests");
}

#[test]
fn a_token_that_expires_on_one_side_vetoes() {
    if !has_cloud_controller() {
        return;
    }
    let place = small_pool(&[
        (
            "small = { env = { DATABASE_POOL = \"1\" } }",
            "small = { env = { DATABASE_POOL = \"20\", TOKEN_LIFETIME = \"1\" } }",
        ),
        ("small = 2 }", "small = 40 }"),
    ]);
    let ran = place.run(&["run", "study.toml", "--quick", "--no-profile"]).ends_with(5);
    ran.says("INVALID").says("responses-differ").says("200 | 401");
    place.assert_nothing_is_left();
}

#[test]
fn a_database_out_of_connections_has_the_last_word() {
    if !has_cloud_controller() {
        return;
    }
    // One process opens all that it wants before it serves.
    let place = small_pool(&[
        ("max_connections=60", "max_connections=12"),
        ("WORKERS = \"2\"", "WORKERS = \"1\""),
        ("small = 2 }", "small = 1 }"),
    ]);
    let ran = place.run(&["run", "study.toml", "--quick", "--no-profile"]).ends_with(5);
    ran.says("trial-failed").says("service database's last words").says("remaining connection slots");
    place.assert_nothing_is_left();
}

#[test]
fn a_database_that_dies_fails_the_launch() {
    if !has_cloud_controller() {
        return;
    }
    let place = small_pool(&[
        ("warmup = \"1s\"", "warmup = \"20s\""),
        ("command = \"", "command = \"timeout --signal=TERM 6 "),
    ]);
    let ran = place.run(&["run", "study.toml", "--quick", "--no-profile"]).ends_with(5);
    ran.says("trial-failed").says("service database ended by itself").says("database system is shut down");
    place.assert_nothing_is_left();
}

#[test]
fn the_cloud_controller_answers_the_same_on_mri_and_jruby() {
    if !has_cloud_controller() {
        return;
    }
    let place = Place::new();
    let study = studies().join("cloud-controller");
    place.write("study.toml", &CLOUD_CONTROLLER.replace("STUDY", &study.to_string_lossy()));
    let started = place.start(&mut place.bakeoff(&["run", "study.toml", "--seed", "1", "--no-profile"]));
    place.wait_for_mid_trial(3);
    started.signal("INT");
    started.end().ends_with(130);
    place.assert_nothing_is_left();

    let trials = place.trials();
    let variants: BTreeSet<u64> = trials.iter().map(|trial| trial["variant"].as_u64().unwrap()).collect();
    assert_eq!(variants.len(), 3, "{trials:#?}");
    let answers = || trials.iter().flat_map(|trial| trial["answers"].as_array().unwrap());
    for answer in answers() {
        assert_eq!(answer["unmet"], serde_json::json!([]), "{answer:#}");
    }
    // What MRI counted in a load is kept with it.
    for cell in trials.iter().filter(|trial| trial["variant"] != 2).flat_map(|trial| trial["cells"].as_array().unwrap())
    {
        let objects = cell["ruby_gc"]["allocated_objects"].as_u64();
        assert!(objects.is_some_and(|objects| objects > 0), "{:#}", cell["ruby_gc"]);
    }
    for setting in trials.iter().flat_map(|trial| trial["settings"].as_array().unwrap()) {
        assert!(setting["kind"] != "assertion" || setting["result"]["kind"] == "in-effect", "{setting:#}");
    }
    let steps: BTreeSet<&str> = answers().map(|answer| answer["step"].as_str().unwrap()).collect();
    let bodies: BTreeSet<(&str, &str)> =
        answers().map(|answer| (answer["step"].as_str().unwrap(), answer["hash"].as_str().unwrap())).collect();
    // Byte for byte.
    assert_eq!((steps.len(), bodies.len()), (8, 8), "{bodies:#?}");
}
