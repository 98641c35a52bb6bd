//! The dependency rules of ARCHITECTURE.md, held against the manifests and the sources.

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn table(name: &str, key: &str) -> Vec<String> {
    let text = fs::read_to_string(crates().join(name).join("Cargo.toml")).expect("every crate has a manifest");
    let manifest: toml::Table = text.parse().expect("the manifest is TOML");
    manifest.get(key).and_then(toml::Value::as_table).map_or_else(Vec::new, |table| table.keys().cloned().collect())
}

fn names() -> Vec<String> {
    fs::read_dir(crates())
        .expect("crates/ is there")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .collect()
}

#[test]
fn siblings_meet_only_in_model_and_runtimes() {
    let own = names();
    assert!(own.len() >= 8, "the crates are found: {own:?}");
    // The calibration simulates what analysis decides, and nothing imports it.
    let may_import = |name: &str, dependency: &str| {
        ["model", "runtimes"].contains(&dependency) || (name, dependency) == ("calibration", "analysis")
    };
    for name in own.iter().filter(|name| *name != "bakeoff") {
        for dependency in table(name, "dependencies").iter().filter(|dependency| own.contains(dependency)) {
            assert!(may_import(name, dependency), "crate {name} imports its sibling {dependency}");
        }
        for dependency in table(name, "dev-dependencies").iter().filter(|dependency| own.contains(dependency)) {
            assert!(
                ["model", "runtimes", "knownserver", "needs"].contains(&dependency.as_str()),
                "the tests of crate {name} import its sibling {dependency}"
            );
        }
    }
    let of_ours = |name: &str| {
        let all = table(name, "dependencies").into_iter().filter(|dependency| own.contains(dependency));
        all.collect::<Vec<_>>()
    };
    assert_eq!(of_ours("model"), ["runtimes"]);
    for name in ["runtimes", "knownserver", "needs"] {
        assert_eq!(of_ours(name), [""; 0], "{name}");
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable folder") {
        let path = entry.expect("readable entry").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn analysis_and_runtimes_are_pure() {
    const IMPURE: [&str; 13] = [
        "std::fs",
        "std::io",
        "std::net",
        "std::thread",
        "std::process",
        "std::env",
        "std::sync",
        "Instant::now",
        "SystemTime",
        "rand::rng",
        "thread_rng",
        "from_os_rng",
        "println!",
    ];
    for name in ["analysis", "runtimes"] {
        let mut files = Vec::new();
        sources(&crates().join(name).join("src"), &mut files);
        assert!(files.len() > 5, "the sources are found: {files:?}");
        for file in files {
            let text = fs::read_to_string(&file).expect("readable source");
            for word in IMPURE {
                assert!(!text.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}
