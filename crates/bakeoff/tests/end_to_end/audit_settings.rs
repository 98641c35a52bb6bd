//! Files of settings beside results, on published ones whose truth is known.

use needs::{Need, published};
use serde_json::Value;

use crate::common::Place;

/// What `bakeoff audit --json` says with these arguments, of which those with a dot in them are published files; `None` where these
/// are not here.
fn audited(arguments: &[&str]) -> Option<Value> {
    if !needs::has(Need::Published) {
        return None;
    }
    let is_file = |argument: &str| [".settings.", ".jtl", ".log"].iter().any(|part| argument.contains(part));
    let path = |argument: &&str| {
        let path = || published(&format!("killbill/{argument}")).display().to_string();
        if is_file(argument) { path() } else { (*argument).to_owned() }
    };
    let paths: Vec<String> = arguments.iter().map(path).collect();
    Some(
        Place::new().json(&["audit", "--json"].into_iter().chain(paths.iter().map(String::as_str)).collect::<Vec<_>>()),
    )
}

/// Name and value of each fact that a rule has of a file of settings.
fn facts(settings: &Value, rule: &str) -> Vec<(String, String)> {
    let found = settings["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == rule);
    let all = found.map_or_else(Vec::new, |found| found["facts"].as_array().unwrap().clone());
    let text = |fact: &Value, key: &str| fact[key].as_str().unwrap().to_owned();
    all.iter().map(|fact| (text(fact, "name"), text(fact, "value"))).collect()
}

#[test]
fn what_a_start_script_really_set() {
    let Some(said) = audited(&["run-07_3.settings.sh"]) else { return };
    let settings = &said["settings"][0];
    let lost = "-Djava.awt.headless=true -XX:+UseConcMarkSweepGC -XX:+UseCodeCacheFlushing";
    let overwritten = ("JAVA_OPTS assigned again in line 3, lost of line 2".to_owned(), lost.to_owned());
    assert_eq!(facts(settings, "options-overwritten"), [overwritten]);
    let says = |rule: &str, line: u32, words: &[&str]| {
        let all = facts(settings, rule);
        let is_said = |(name, value): &(String, String)| {
            *name == format!("line {line}") && words.iter().all(|word| value.contains(word))
        };
        assert!(all.iter().any(is_said), "{rule}: {all:?}");
    };
    says("setting-is-default", 3, &["-XX:+UseThreadPriorities", "true"]);
    says("setting-inert", 4, &["-XX:PermSize=128m", "since Java 8"]);
    says("setting-inert", 5, &["-XX:CompileThreshold=6000", "tiered compilation is on"]);
    says("setting-unknown", 7, &["-Djruby.jit.treshold=30", "jruby.jit.threshold"]);
    assert_eq!(facts(settings, "setting-unknown").len(), 1);
    assert!(settings["findings"].as_array().unwrap().iter().all(|finding| finding["severity"] == "warning"));
}

#[test]
fn a_comment_and_another_excerpt_lose_nothing() {
    for run in ["07_4", "07_5", "09_4"] {
        let Some(said) = audited(&[&format!("run-{run}.settings.sh")]) else { return };
        let settings = &said["settings"][0];
        assert_eq!(facts(settings, "options-overwritten"), [], "{run}");
        let headless = settings["in_effect"]
            .as_array()
            .unwrap()
            .iter()
            .find(|option| option["option"] == "-Djava.awt.headless=true");
        assert!(headless.is_some(), "{settings}");
    }
}

#[test]
fn a_pair_with_its_settings_differs_in_four_options() {
    let files = ["run-07_4.jmeter.log", "run-07_3.jtl.gz", "run-07_3.settings.sh", "run-07_4.settings.sh"];
    let claim = ["--claim", "run-07_3 is 3 times slower than run-07_4"];
    let Some(said) = audited(&[&files[..], &claim].concat()) else { return };
    let pair = &said["pair"];
    assert_eq!(said["claim"]["answer"], "contradicted");
    let own: Vec<&str> =
        (0..2).map(|run| said["runs"][run]["settings"][0]["settings"]["file"].as_str().unwrap()).collect();
    assert!(own[0].ends_with("run-07_4.settings.sh") && own[1].ends_with("run-07_3.settings.sh"), "{own:?}");
    let options = pair["options"].as_array().unwrap();
    assert_eq!(options.len(), 4, "{options:?}");
    let confounded = pair["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == "confounded").unwrap();
    assert_eq!((&confounded["severity"], confounded["facts"].as_array().unwrap().len()), (&"warning".into(), 4));
    let Some(without) = audited(&[&files[..2], &claim].concat()) else { return };
    assert_eq!((&said["claim"], &pair["support"]), (&without["claim"], &without["pair"]["support"]));
}

#[test]
fn settings_belong_to_the_run_of_their_name_or_to_the_only_one() {
    let place = Place::new();
    let lines = "1420840843879|233|page|200|users 1-1|true|431|1|1|225\n".repeat(40);
    place.write("old/a.jtl", &lines);
    place.write("old/start.sh", "JAVA_OPTS=\"-Xmx1g\"\n");
    place.write("old/README.md", "# Notes\n\nThe run with `-XX:+UseG1GC` was slow.\n");
    let said = place.json(&["audit", "--json", "old"]);
    assert_eq!(said["runs"][0]["settings"][0]["in_effect"][0]["option"], "-Xmx1g");
    assert!(said["refused"][0].as_str().unwrap().starts_with("old/README.md is in no format"), "{said}");
    place.write("old/b.jtl", &lines);
    place.write("old/b.options.md", "`JAVA_OPTS=-Xmx2g`\n");
    let said = place.json(&["audit", "--json", "old"]);
    assert_eq!(
        (&said["runs"][0]["settings"], &said["settings"][0]["settings"]["file"]),
        (&Value::Array(Vec::new()), &"old/start.sh".into())
    );
    assert_eq!(said["runs"][1]["settings"][0]["settings"]["file"], "old/b.options.md");
    for format in [&[][..], &["--md"]] {
        let shown = place.run(&[&["audit", "old"][..], format].concat()).stdout;
        assert!(shown.contains("old/b.options.md: settings of old/b.jtl"), "{shown}");
        assert!(shown.contains("old/start.sh: settings of no result here"), "{shown}");
    }
    let alone = place.run(&["audit", "old/start.sh"]);
    assert!(alone.code == Some(0) && alone.stdout.contains("in effect at the end: -Xmx1g"), "{}", alone.stdout);
}
