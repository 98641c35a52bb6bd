//! What a log's last lines say about why a program ended.

use crate::runtime::Jvm;
use crate::settings::known_flags;
use crate::tool;

/// A likely reason, in words.
pub(super) fn from_log(tail: &str, jvm: Option<&Jvm>) -> Option<String> {
    let jvm = jvm?;
    if let Some(name) = unknown_flag(tail) {
        let known = known_flags(&jvm.jdk);
        let nearest = tool::nearest(name, known.iter().map(String::as_str));
        let nearest = nearest.map(|nearest| format!("; the nearest it knows is {nearest}")).unwrap_or_default();
        return Some(format!("Java {} knows no option {name}{nearest}", jvm.jdk.version));
    }
    if let Some((_, option)) = tail.split_once("Unrecognized option: ") {
        let option = option.lines().next().unwrap_or_default();
        return Some(format!("Java {} knows no option {option}", jvm.jdk.version));
    }
    tail.contains("UnsupportedClassVersionError").then(|| {
        format!("something it loads was compiled for a newer Java than {}; ask for a newer `jdk`", jvm.jdk.version)
    })
}

/// The name in `Unrecognized VM option 'Name=value'`.
fn unknown_flag(tail: &str) -> Option<&str> {
    let (_, rest) = tail.split_once("Unrecognized VM option '")?;
    rest.split(['\'', '=']).next().map(|name| name.trim_start_matches(['+', '-']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_that_java_refuses_is_found() {
        assert_eq!(unknown_flag("x\nUnrecognized VM option 'UseParalelGC'\ny"), Some("UseParalelGC"));
        assert_eq!(unknown_flag("Unrecognized VM option 'Foo=3'"), Some("Foo"));
        assert_eq!(unknown_flag("all is well"), None);
    }
}
