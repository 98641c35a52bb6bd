//! System properties of the JDK's own: no JVM lists those that it reads, but its classes have their names in them.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use regex::bytes::Regex;
use runtimes::names;

use crate::runtime::jdk::Jdk;

/// Letters behind the first dot for each that may be wrong: short names are near each other, and the program may have its own.
const LETTERS_A_SLIP: usize = 7;

/// How names of the JDK's own begin.
const OWN: &str = r"(?-u)(?:javax?|jdk|(?:com\.)?sun|user|file|https?)\.[A-Za-z0-9_.$-]*";

/// A text in a class file: its tag (JVMS 4.4.7), and its length in two bytes before it.
const UTF8: u8 = 1;

/// The name that was meant, where no class of this JDK has this one, and one has nearly the same. A name that is put together from parts
/// is in no class, either: one that is like nothing is left alone.
pub(super) fn meant(jdk: &Jdk, name: &str) -> Option<String> {
    let is_own = |name: &str| of_own().find(name.as_bytes()).is_some_and(|found| found.range() == (0..name.len()));
    if !is_own(name) {
        return None;
    }
    let known = known(jdk);
    let nearest = names::nearest(name, known.iter().map(String::as_str))?;
    is_slip(name, &nearest).then_some(nearest)
}

fn is_slip(name: &str, meant: &str) -> bool {
    let behind = name.split_once('.').map_or(0, |(_, behind)| behind.len());
    (1..=names::MISSPELT.min(behind / LETTERS_A_SLIP)).contains(&strsim::osa_distance(meant, name))
}

fn of_own() -> &'static Regex {
    static OF_OWN: LazyLock<Regex> = LazyLock::new(|| Regex::new(OWN).expect("it is a constant"));
    &OF_OWN
}

/// All that its classes have of such names; none before Java 9, whose classes are compressed. Read once in a run: they are some 130 MB.
fn known(jdk: &Jdk) -> Arc<BTreeSet<String>> {
    static KNOWN: LazyLock<Mutex<HashMap<PathBuf, Arc<BTreeSet<String>>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || Arc::new(texts(&fs::read(jdk.home.join("lib/modules")).unwrap_or_default()));
    Arc::clone(known.entry(jdk.home.clone()).or_insert_with(read))
}

/// Such names among the constants of classes.
fn texts(classes: &[u8]) -> BTreeSet<String> {
    let constant = |found: regex::bytes::Match<'_>| {
        let [tag, high, low] = *classes.get(found.start().checked_sub(3)?..found.start())? else { return None };
        let is_whole = tag == UTF8 && usize::from(u16::from_be_bytes([high, low])) == found.len();
        let is_name = is_whole && !found.as_bytes().ends_with(b".");
        is_name.then(|| String::from_utf8_lossy(found.as_bytes()).into_owned())
    };
    of_own().find_iter(classes).filter_map(constant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_constants_of_classes() {
        let mut classes = b"java.no.constant\x01\0\x18java.net.preferIPv4Stack\x01\0\x0bjdk.nothing".to_vec();
        // One in another text, one that has another behind it, and a beginning.
        classes
            .extend(b"\x01\0\x0duser.timezone\x01\0\x11see java.security\x01\0\x0fjdk.nothing new\x01\0\x09java.awt.");
        let found: Vec<String> = texts(&classes).into_iter().collect();
        assert_eq!(found, ["java.net.preferIPv4Stack", "jdk.nothing", "user.timezone"]);
    }

    #[test]
    fn short_names_may_be_others() {
        for (name, meant) in
            [("java.net.preferIPv4Stak", "java.net.preferIPv4Stack"), ("user.timzone", "user.timezone")]
        {
            assert!(is_slip(name, meant), "{name}");
        }
        for (name, other) in
            [("user.role", "user.home"), ("user.id", "user.dir"), ("java.env", "java.net"), ("jdk.tls.a", "jdk.tls.a")]
        {
            assert!(!is_slip(name, other), "{name}");
        }
    }
}
