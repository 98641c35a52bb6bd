//! What scenarios in a file come to mean, and what a person sees where they are wrong.

use std::fs;
use std::time::Duration;

use miette::Diagnostic as _;
use model::Scenarios;
use model::scenario::{Body, Each, Source, Take};
use model::study::WorkloadKind;
use study::StudyError;
use tempfile::TempDir;

const GOOD: &str = r#"
[[feeder]]
file = "accounts.csv"
take = "unique"
each = "user"

[[feeder]]
file = "terms.jsonl"

[[setup]]
name = "log in"
post = "/login"
headers = { Content-Type = "application/json" }
body = '{"user": "${account}", "password": "{env.PASSWORD}"}'
extract = { token = { json = "$.access_token" } }

[[step]]
name = "search"
get = "/items?term=${term}"
headers = { Authorization = "bearer ${token}" }
expect = { status = 200, length = 20, header = { ETag = "" }, json = "$.items", json_is = { "$.term" = "${term}" }, regex = 'id.\d', contains = "${term}" }
extract = { item = { header = "Location", regex = '/(\d+)$' }, sid = { cookie = "sid" }, first = { regex = "a(b)" } }
think = "250ms"

[[step]]
name = "order"
put = "/orders/${item}"
body_template = "order.json"

[[teardown]]
name = "log out"
delete = "/login/${token}"
"#;

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("accounts.csv"), "account,unused\nann,1\n").unwrap();
    fs::write(folder.path().join("terms.jsonl"), "\n{\"term\": \"x\"}\n").unwrap();
    fs::write(folder.path().join("order.json"), "{\"item\": \"${item}\"}").unwrap();
    folder
}

fn read(text: &str) -> Result<(Scenarios, TempDir), StudyError> {
    let folder = folder();
    let path = folder.path().join("scenario.toml");
    fs::write(&path, text).unwrap();
    study::scenarios(&path).map(|scenarios| (scenarios, folder))
}

#[test]
fn every_key_means_something() {
    let (scenarios, folder) = read(GOOD).unwrap();
    let Scenarios { feeders, setup, scenarios, teardown } = scenarios;
    let folder = folder.path().canonicalize().unwrap();
    assert_eq!((feeders[0].take, feeders[0].each), (Take::Unique, Each::User));
    assert_eq!((feeders[1].take, feeders[1].each), (Take::Shared, Each::Iteration));
    assert_eq!(feeders[0].file, folder.join("accounts.csv"));
    let Some(Body::Text(body)) = &setup[0].body else { panic!("{setup:?}") };
    assert_eq!(body.to_string(), r#"{"user": "${account}", "password": "{env.PASSWORD}"}"#);
    assert_eq!(setup[0].extract[0].from, Source::Json("$.access_token".into()));
    assert_eq!((scenarios.len(), scenarios[0].weight, scenarios[0].steps.len()), (1, 1, 2));
    let [search, order] = &scenarios[0].steps[..] else { panic!("two steps") };
    assert_eq!((search.method.as_str(), search.path.to_string().as_str()), ("GET", "/items?term=${term}"));
    assert_eq!(search.headers[0].1.to_string(), "bearer ${token}");
    assert_eq!(search.think, Some(Duration::from_millis(250)));
    let checks = &search.checks;
    assert_eq!((checks.status, checks.length, checks.regex.as_deref()), (Some(200), Some((20, 20)), Some(r"id.\d")));
    assert_eq!(checks.headers, [("ETag".to_owned(), String::new())]);
    assert_eq!(checks.json[0], ("$.items".to_owned(), None));
    assert_eq!(checks.json[1].1.as_ref().unwrap().to_string(), "${term}");
    assert_eq!(checks.contains.as_ref().unwrap().to_string(), "${term}");
    let from: Vec<&Source> = search.extract.iter().map(|extract| &extract.from).collect();
    let location = Source::Header { name: "Location".into(), regex: Some(r"/(\d+)$".into()) };
    assert_eq!(from, [&location, &Source::Cookie("sid".into()), &Source::Regex("a(b)".into())]);
    assert_eq!(order.body, Some(Body::TemplateFile(folder.join("order.json"))));
    assert_eq!((teardown[0].method.as_str(), teardown[0].name.as_str()), ("DELETE", "log out"));
}

#[test]
fn a_workload_of_a_study_holds_the_same() {
    let scenarios = GOOD.replace("[[", "[[workload.");
    let study = format!(
        "name = \"S\"\n[server]\nruntime = \"command\"\ncommand = \"server {{port}}\"\n\
         [factor.x]\na = {{ args = [\"1\"] }}\nb = {{ args = [\"2\"] }}\n\
         [[workload]]\nname = \"shop\"\nconcurrency = [1, 20]\n{scenarios}"
    );
    let folder = folder();
    let read = study::parse(&study, "study.toml", folder.path()).unwrap();
    let WorkloadKind::Scenarios { scenarios } = &read.workloads[0].kind else { panic!("no scenarios") };
    assert_eq!(scenarios.scenarios[0].steps.len(), 2);
    assert_eq!(read.workloads[0].kind.steps(), [Some("search"), Some("order")]);
    assert_eq!(study::environment(&read).into_iter().collect::<Vec<_>>(), ["PASSWORD"]);
    // What is stored reads as what was stored.
    let json = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<model::Study>(&json).unwrap(), read);

    let wrong = |text: &str, expected: &str| {
        let error = study::parse(text, "study.toml", folder.path()).unwrap_err();
        assert!(error.to_string().contains(expected) && error.problems() == 1, "{error}");
    };
    let both = study.replace("name = \"shop\"", "name = \"shop\"\nget = \"/\"");
    wrong(&both, "has steps, and a request beside them");

    let counting = |keys: &str| format!("{study}[[assertion]]\nname = \"orders\"\nthreads = \"x\"\n{keys}\n");
    let read =
        study::parse(&counting("answered = [\"order\"]\nwhen = \"after\""), "study.toml", folder.path()).unwrap();
    assert_eq!(read.variants[1].assertions[0].answered, ["order"]);
    wrong(&counting("answered = [\"order\"]"), "how many are answered is known after the loads");
    wrong(&counting("answered = [\"orders\"]\nwhen = \"after\""), "no step of a workload is called `orders`");
    wrong(&counting("answered = []\nwhen = \"after\""), "nothing is counted");
    let beside = "answered = [\"page\"]\nwhen = \"after\"\n[[workload]]\nname = \"page\"\nget = \"/\"\nconcurrency = 1";
    wrong(&counting(beside), "no step of a workload is called `page`");
    wrong(&counting("answered = [\"order\"]\nwhen = \"after\"\nexpect = 1"), "assertion `orders` expects two things");
}

#[test]
fn steps_have_the_header_fields_of_all_unless_they_have_their_own() {
    let text = format!("headers = {{ authorization = \"basic x\", Accept = \"${{term}}\" }}\n{GOOD}");
    let (scenarios, _folder) = read(&text.replace("terms.jsonl\"", "terms.jsonl\"\neach = \"user\"")).unwrap();
    let fields = |step: &model::scenario::ScenarioStep| {
        let field = |(name, value): &(String, model::Template)| format!("{name}: {value}");
        step.headers.iter().map(field).collect::<Vec<_>>()
    };
    let steps = &scenarios.scenarios[0].steps;
    assert_eq!(fields(&steps[0]), ["Accept: ${term}", "Authorization: bearer ${token}"]);
    assert_eq!(fields(&steps[1]), ["authorization: basic x", "Accept: ${term}"]);
    assert_eq!(fields(&scenarios.setup[0])[2], "Content-Type: application/json");
    assert_eq!(fields(&scenarios.teardown[0]), fields(&steps[1]));
}

#[test]
fn scenarios_have_weights() {
    let text = "[[scenario]]\nname = \"a\"\nweight = 3\n[[scenario.step]]\nname = \"x\"\nget = \"/\"\n\
                [[scenario]]\nname = \"b\"\n[[scenario.step]]\nname = \"y\"\nget = \"/\"\n";
    let (scenarios, _) = read(text).unwrap();
    let weights: Vec<_> = scenarios.scenarios.iter().map(|one| (one.name.as_str(), one.weight)).collect();
    assert_eq!(weights, [("a", 3), ("b", 1)]);
}

/// Checks that the good file with one thing changed is wrong at `place`, with such a cure, and in nothing else.
#[track_caller]
fn wrong(from: &str, to: &str, place: &str, cure: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` has to occur once");
    let text = GOOD.replace(from, to);
    let error = read(&text).expect_err("the file is wrong");
    let label = error.labels().into_iter().flatten().next().expect("every error has a place");
    let underlined = &text[label.offset()..label.offset() + label.len()];
    let help = error.help().expect("every error suggests a cure").to_string();
    assert!(underlined == place && help.contains(cure), "{error}\nat {underlined}\n{help}");
    assert_eq!(error.problems(), 1, "one mistake is shown once: {:?}", miette::Report::new(error));
}

#[test]
fn what_is_wrong_is_underlined_and_cured() {
    wrong("think =", "thinks =", "thinks", "did you mean `think`?");
    wrong("json = \"$.access_token\"", "jsn = \"$.access_token\"", "jsn", "did you mean `json`?");
    wrong("take = \"unique\"", "take = \"uniqe\"", "\"uniqe\"", "did you mean `unique`?");
    wrong("\"bearer ${token}\"", "\"bearer ${tokn}\"", "\"search\"", "did you mean `token`?");
    wrong("each = \"user\"\n", "", "\"log in\"", "each = \"user\"");
    wrong("term=${term}\"\n", "term=${term\"\n", "\"/items?term=${term\"", "write `${name}`");
    wrong("put = \"/orders", "put = \"orders", "\"orders/${item}\"", "write the path alone");
    wrong("json = \"$.items\"", "json = \"items\"", "\"items\"", "begin with `$`");
    wrong("'id.\\d'", "'(id'", "'(id'", "https://docs.rs/regex");
    wrong(
        "{ cookie = \"sid\" }",
        "{ cookie = \"sid\", json = \"$.sid\" }",
        "{ cookie = \"sid\", json = \"$.sid\" }",
        "one of",
    );
    wrong("sid = {", "\"s id\" = {", "\"s id\"", "begin with a letter");
    wrong("order.json", "ordr.json", "\"ordr.json\"", "paths start at");
    wrong("name = \"order\"", "name = \"search\"", "\"search\"", "a name of its own");
    wrong("delete = \"/login", "delete = \"/x\"\nget = \"/login", "\"/login/${token}\"", "for each");
    wrong("length = 20", "length = -1", "-1", "bytes of a good answer");
    wrong("body_template = \"order.json\"", "body_template = \"order.json\"\nbody = \"x\"", "\"x\"", "one of `body`");
    let nothing = read("[[setup]]\nname = \"x\"\nget = \"/\"\n").err().unwrap();
    assert!(nothing.to_string().contains("nothing is measured"), "{nothing}");
}
