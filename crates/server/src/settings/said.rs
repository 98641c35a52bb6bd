//! What a runtime says at its start of an option that it takes and makes nothing of.

/// The sentence in a runtime's own words, if there is one. `option` is an option as it was given, or the name of a JVM's flag.
///
/// The JVM's sentences are in arguments.cpp and in `ModuleBootstrap` of JDK 17 to 25; Ruby's in ruby.c, and JRuby's in its
/// `ArgumentProcessor`.
pub(super) fn of_nothing<'a>(said: &'a str, option: &str) -> Option<&'a str> {
    let sentence = |line: &'a str| ["WARNING: ", "warning: "].iter().find_map(|begin| Some(line.split_once(begin)?.1));
    said.lines().filter_map(sentence).map(str::trim).find(|sentence| is_about(sentence, option))
}

fn is_about(sentence: &str, option: &str) -> bool {
    let rest = |before: &str| sentence.strip_prefix(before);
    let named = |before: &str, after: &str| Some(rest(before)?.split_once(after)?.0);
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    if let Some((module, by)) = rest("Unknown module: ").and_then(|rest| rest.split_once(" specified to ")) {
        // Of several that it is opened to, others may be there.
        let (from, to) = value.split_once('=').unwrap_or((value, ""));
        return by == name && (from.split('/').next() == Some(module) || to == module);
    }
    if let Some((package, module)) = rest("package ").and_then(|rest| rest.split_once(" not in ")) {
        return name.starts_with("--add-") && value.starts_with(&format!("{module}/{package}="));
    }
    if let Some(category) = rest("unknown warning category: ") {
        let plain = |category: &str| category.trim_matches(['`', '\'', ':']).trim_start_matches("no-").to_owned();
        return option.strip_prefix("-W:").is_some_and(|requested| plain(requested) == plain(category));
    }
    [named("Ignoring option ", ";"), named("", " argument ignored")].contains(&Some(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_name_what_they_are_about() {
        let said = "OpenJDK 64-Bit Server VM warning: Ignoring option --illegal-access=permit; support was removed in 17.0\n\
            OpenJDK 64-Bit Server VM warning: Ignoring option UseConcMarkSweepGC; support was removed in 14.0\n\
            WARNING: Unknown module: no.such specified to --add-opens\n\
            WARNING: package no.such.pack not in java.base\n\
            warning: -J-Xmx100m argument ignored (launched in same VM?)\n\
            ruby: warning: unknown warning category: `depreciated'\n";
        let reported = |option| of_nothing(said, option).unwrap_or_default();
        assert!(reported("--illegal-access=permit").starts_with("Ignoring option --illegal"));
        assert!(reported("UseConcMarkSweepGC").ends_with("removed in 14.0"));
        assert_eq!(reported("--add-opens=no.such/x=ALL-UNNAMED"), "Unknown module: no.such specified to --add-opens");
        assert_eq!(
            reported("--add-exports=java.base/no.such.pack=ALL-UNNAMED"),
            "package no.such.pack not in java.base"
        );
        assert!(reported("-J-Xmx100m").contains("ignored"));
        assert_eq!(reported("-W:no-depreciated"), "unknown warning category: `depreciated'");
        for other in [
            "--add-exports=no.such/x=y",
            "--add-opens=java.base/no.such=y",
            "--add-opens=java.base/a=ALL-UNNAMED,no.such",
            "-J-Xmx1g",
            "-W:deprecated",
            "-W0",
            "UseG1GC",
        ] {
            assert_eq!(reported(other), "", "{other}");
        }
        assert!(of_nothing("warning: unknown warning category: no-depreciated", "-W:no-depreciated").is_some());
    }
}
