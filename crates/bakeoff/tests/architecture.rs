//! The dependency rules of ARCHITECTURE.md, held against the manifests and the sources.

use std::fs;
use std::path::{Path, PathBuf};

use circles::{Import, Sources, circles};

#[path = "architecture/circles.rs"]
mod circles;

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
fn every_rule_has_an_example_that_triggers_and_one_that_must_not() {
    let folder = crates().join("analysis/src/audit");
    for rule in analysis::RULES {
        let file = rule.id.name().replace('-', "_");
        let paths = [folder.join(format!("{file}.rs")), folder.join(&file).join("mod.rs")];
        let path = paths.iter().find(|path| path.is_file()).expect("a rule has a file of its own");
        let text = fs::read_to_string(path).expect("readable source");
        // Where they are many, the tests have a file beside the rule.
        let own = fs::read_to_string(folder.join(&file).join("tests.rs")).ok();
        let tests = own.as_deref().or_else(|| Some(text.split_once("#[cfg(test)]")?.1)).unwrap_or_default();
        let asserts: Vec<&str> = tests.split("assert").skip(1).collect();
        let finds_none = |assert: &&str| {
            let assert = assert.split(";\n").next().unwrap_or_default();
            assert.contains("!(!")
                || ["None", "[]", "; 0]", "(0, ", "is_none()", "is_empty()"].iter().any(|none| assert.contains(none))
        };
        // Numbers of findings show both at once: `(0, 0, 1)`.
        let finds_some = |assert: &&str| !finds_none(assert) || assert.contains(", 1)");
        assert!(asserts.iter().any(finds_none), "{file} has no example that must not trigger it");
        assert!(asserts.iter().any(finds_some), "{file} has no example that triggers it");
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

/// The circles in words, an import a line.
fn shown(circles: &[Vec<Import>]) -> String {
    let import = |Import { from, to, paths }: &Import| {
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        format!("{} imports {}: {}\n", from.display(), to.display(), paths.join(", "))
    };
    let circle = |circle: &Vec<Import>| {
        let imports: Vec<String> = circle.iter().map(import).collect();
        format!("a circle\n{}", imports.concat())
    };
    circles.iter().map(circle).collect::<Vec<_>>().concat()
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut found = Vec::new();
    for name in names() {
        let folder = crates().join(&name).join("src");
        let mut files = Vec::new();
        sources(&folder, &mut files);
        let inside = |file: &PathBuf| Path::new(&name).join(file.strip_prefix(&folder).expect("inside"));
        let read = |file: &PathBuf| (inside(file), fs::read_to_string(file).expect("readable source"));
        let texts: Sources = files.iter().map(read).collect();
        let roots = ["lib.rs", "main.rs"].map(|root| Path::new(&name).join(root));
        let roots: Vec<_> = roots.into_iter().filter(|root| texts.contains_key(root)).collect();
        assert!(!roots.is_empty(), "{name} has a root");
        found.extend(roots.iter().flat_map(|root| circles(root, &texts)));
    }
    assert!(found.is_empty(), "\n{}", shown(&found));
}

#[test]
fn a_circle_is_found_through_re_exports_macros_and_parents() {
    let sources = |files: &[(&str, &str)]| -> Sources {
        files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect()
    };
    let made_up = sources(&[
        ("lib.rs", "mod apart; mod field; mod one; mod parent; mod serial; mod two; pub use one::One;"),
        ("one.rs", "pub struct One; fn f() { let _ = vec![crate::two::TWO; 2]; }"),
        ("two.rs", "pub const TWO: u8 = 2; use super::One;"),
        ("parent/mod.rs", "mod child; pub struct Shared; fn f() { child::f(); }"),
        ("parent/child.rs", "use super::*; pub fn f() -> Shared { Shared }"),
        ("serial.rs", "pub fn with() {} use crate::field::Field;"),
        ("field.rs", r#"pub struct Field { #[serde(with = "crate::serial::with")] of: u8 }"#),
        (
            "apart.rs",
            "use crate::{one, parent}; #[cfg(test)] mod tests { use crate::lost::Lost; } pub fn apart(_: one::One) {}",
        ),
    ]);
    assert_eq!(
        shown(&circles(Path::new("lib.rs"), &made_up)),
        "a circle\n\
         field.rs imports serial.rs: crate::serial::with\n\
         serial.rs imports field.rs: crate::field::Field\n\
         a circle\n\
         one.rs imports two.rs: crate::two::TWO\n\
         two.rs imports one.rs: super::One\n\
         a circle\n\
         parent/child.rs imports parent/mod.rs: Shared\n\
         parent/mod.rs imports parent/child.rs: child::f\n"
    );
    let straight = sources(&[
        ("lib.rs", "mod leaf; mod parent; pub use parent::Parent;"),
        ("leaf.rs", "pub struct Leaf;"),
        ("parent.rs", "mod child; use child::Child; use crate::leaf::Leaf; pub struct Parent(Child, Leaf);"),
        ("parent/child.rs", "use crate::leaf::Leaf; pub struct Child(Leaf); #[cfg(test)] use super::Parent;"),
    ]);
    assert_eq!(shown(&circles(Path::new("lib.rs"), &straight)), "");
}
