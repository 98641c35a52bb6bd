//! What there is to run servers with.

use model::fitness::HostCheck;

use super::{doubtful, fit};
use crate::runtime::{self, Inventory};
use crate::tool;

pub(super) fn checks() -> Vec<HostCheck> {
    let Inventory { jdks, jrubies, rubies } = runtime::inventory();
    let maven = tool::on_path("mvn").map(|path| path.display().to_string());
    vec![
        listed("JDKs", &jdks, "java and jruby servers run on one: on Debian apt-get install default-jdk-headless"),
        listed("Rubies", &rubies, "ruby servers run on one: on Debian apt-get install ruby"),
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
