//! What there is to run servers with.

use std::path::PathBuf;

use model::fitness::HostCheck;

use super::host::{doubtful, fit};
use crate::runtime::{self, Inventory};
use crate::tool;

pub(super) fn checks() -> Vec<HostCheck> {
    judged(&runtime::inventory(), tool::on_path("mvn"))
}

/// What it means to have these.
fn judged(found: &Inventory, maven: Option<PathBuf>) -> Vec<HostCheck> {
    let Inventory { jdks, jrubies, rubies } = found;
    let maven = maven.map(|path| path.display().to_string());
    vec![
        listed("JDKs", jdks, "java and jruby servers run on one: on Debian apt-get install default-jdk-headless"),
        listed("Rubies", rubies, "ruby servers run on one: on Debian apt-get install ruby"),
        listed("Maven", maven.as_slice(), "JRuby and jars are fetched with it: on Debian apt-get install maven"),
        match jrubies.as_slice() {
            [] => fit("JRubies", "none yet: each is fetched when a study first asks for it"),
            versions => fit("JRubies", versions.join(", ")),
        },
    ]
}

/// What was found, or what its absence means.
fn listed(subject: &str, found: &[String], needed: &str) -> HostCheck {
    if found.is_empty() { doubtful(subject, "none", needed) } else { fit(subject, found.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::fitness::Fitness::{self, Doubtful, Fit};

    fn fitness(found: &Inventory, maven: Option<PathBuf>) -> Vec<(String, Fitness)> {
        judged(found, maven).into_iter().map(|check| (check.subject, check.fitness)).collect()
    }

    #[test]
    fn what_is_not_there_is_doubtful_but_for_what_is_fetched() {
        let all = |[jdks, rubies, maven, jrubies]: [Fitness; 4]| {
            [("JDKs", jdks), ("Rubies", rubies), ("Maven", maven), ("JRubies", jrubies)]
                .map(|(subject, fitness)| (subject.to_owned(), fitness))
        };
        let none = Inventory { jdks: Vec::new(), jrubies: Vec::new(), rubies: Vec::new() };
        assert_eq!(fitness(&none, None), all([Doubtful, Doubtful, Doubtful, Fit]));
        let one = |version: &str| vec![version.to_owned()];
        let some = Inventory { jdks: one("17.0.15 (/jdk)"), jrubies: one("9.4.15.0"), rubies: Vec::new() };
        assert_eq!(fitness(&some, Some("/usr/bin/mvn".into())), all([Fit, Doubtful, Fit, Fit]));
        assert_eq!(judged(&some, None)[0].found, "17.0.15 (/jdk)");
    }
}
