//! What a log's last lines say about why a program ended.

use model::text;
use runtimes::names;
use runtimes::said::{self, JvmFailure};

use crate::runtime::Jvm;
use crate::settings::known_flags;
use crate::supervise::Exit;

/// What mends a command that goes to the background.
pub(super) const FOREGROUND: &str = "it has to stay in the foreground";

/// Why a program ended before it was ready, in words: a likely reason, or the last that it said.
pub(super) fn why_ended(exit: Exit, tail: &str, jvm: Option<&Jvm>) -> Option<String> {
    from_log(tail, jvm)
        .or_else(|| unread_probe(tail).map(str::to_owned))
        .or_else(|| exit.is_success().then(|| FOREGROUND.to_owned()))
        .or_else(|| last_words(tail))
}

/// A Ruby that has become another user's may find that it cannot load what asks it.
fn unread_probe(tail: &str) -> Option<&'static str> {
    let is_probe = |line: &str| line.contains("cannot load such file -- ") && line.contains("/probe.rb");
    tail.lines().any(is_probe).then_some(
        "its Ruby cannot read bakeoff's probe, since it runs as another user: keep the runs (`--store`) in a folder that this user may read",
    )
}

/// The last that a program said: a JVM says why it does not start before it says that it does not.
pub(super) fn last_words(tail: &str) -> Option<String> {
    text::last_words(tail, said::says_why).map(|said| format!("its last words were `{said}`"))
}

/// What a virtual machine's own words mean.
fn from_log(tail: &str, jvm: Option<&Jvm>) -> Option<String> {
    let Jvm { jdk, .. } = jvm?;
    Some(match JvmFailure::by(tail)? {
        JvmFailure::UnknownFlag(name) => {
            let known = known_flags(jdk);
            let nearest = names::nearest(name, known.iter().map(String::as_str));
            let nearest = nearest.map(|nearest| format!("; the nearest it knows is {nearest}")).unwrap_or_default();
            format!("Java {} knows no option {name}{nearest}", jdk.version)
        }
        JvmFailure::UnknownOption(option) => format!("Java {} knows no option {option}", jdk.version),
        JvmFailure::TooOld => {
            format!("something it loads was compiled for a newer Java than {}; ask for a newer `jdk`", jdk.version)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_reported_unless_it_went_to_the_background() {
        let reported = |exit| why_ended(exit, "one\naddress already in use\n---\n", None);
        assert_eq!(reported(Exit::Code(2)).unwrap(), "its last words were `address already in use`");
        assert_eq!(reported(Exit::Code(0)).unwrap(), "it has to stay in the foreground");
        assert_eq!(why_ended(Exit::Code(1), "\n", None), None);
    }

    #[test]
    fn a_probe_that_cannot_be_read_is_reported_with_the_cure() {
        let tail = "ruby: cannot load such file -- /srv/runs/block-01-1/probe.rb (LoadError)\n";
        assert!(why_ended(Exit::Code(1), tail, None).unwrap().contains("`--store`"));
    }

    #[test]
    fn the_last_words_of_a_jvm_are_those_that_say_why() {
        let ended = "Error: Could not create the Java Virtual Machine.\nError: A fatal exception has occurred. Program will exit.";
        let why = "uint MaxTenuringThreshold=20 is outside the allowed range [ 0 ... 16 ]";
        assert_eq!(last_words(&format!("{why}\n{ended}\n")).unwrap(), format!("its last words were `{why}`"));
        assert!(last_words(ended).unwrap().contains("A fatal exception"));
    }

    #[test]
    fn neither_a_trace_nor_a_shutdown_is_what_went_wrong() {
        let ruby =
            "server.rb:30:in `new': FATAL: too many clients (PG::ConnectionBad)\n\tfrom server.rb:11:in `<main>'\n";
        assert!(last_words(ruby).unwrap().contains("FATAL: too many clients"));
        let java = "java.io.IOException: one\n\tat A.b(A.java:1)\nCaused by: java.net.BindException: two\n\tat C.d(C.java:9)\n\t... 5 more\n";
        assert!(last_words(java).unwrap().contains("Caused by: java.net.BindException: two"));
        let logged = "Server: start failed: no tenant\n2026-11-26T00:01:16,647 lvl='INFO', log='EmbeddedDB', H2 stopped\n\
            INFO: Stopping service [Tomcat]\n";
        assert!(last_words(logged).unwrap().contains("Server: start failed: no tenant"));
        assert!(last_words("one\n00:01 [main] INFO - failed: java.io.IOException: two\n").unwrap().contains("two"));
        assert!(last_words("one\nFATAL: level INFO is not known\n").unwrap().contains("FATAL"));
        assert!(last_words("at least one more\nfrom here on\n").unwrap().contains("from here on"));
    }
}
