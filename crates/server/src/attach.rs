//! Questions to a running JVM, by the JDK's own `jcmd`, and why one gives no answer.

use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::runtime::jdk::Jdk;
use crate::tool;

/// What a running JVM answers within a time, or until `interrupted` is raised; the reason in words where it does not.
pub(crate) fn ask(
    jdk: &Jdk,
    pid: u32,
    question: &[&str],
    within: Duration,
    interrupted: &AtomicBool,
) -> Result<String, String> {
    let mut command = Command::new(jdk.tool("jcmd"));
    command.arg(pid.to_string()).args(question);
    let ran = tool::run_until(&mut command, within, interrupted).map_err(|error| error.to_string())?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    let output = ran.output();
    Err(why_not(&output).unwrap_or_else(|| format!("jcmd {}: {}", question[0], output.trim())))
}

/// What the JDK's own words mean where it cannot attach to a JVM, and the cure.
pub(crate) fn why_not(said: &str) -> Option<String> {
    let meanings: [(&[&str], &str); 4] = [
        (
            &["does not support the attach mechanism"],
            "the server's JVM lets nobody ask it: it runs with -XX:+DisableAttachMechanism; leave that out",
        ),
        (
            &["Operation not permitted", "Permission denied", "is not secure"],
            "the server's JVM belongs to another user; run bakeoff as that user, or as root",
        ),
        (&["No such process"], "the server's JVM has ended"),
        (
            &["respond", "socket file"],
            "the server's JVM does not answer: it is stopped, too busy, or another make of JVM than its `jcmd`; look at its log",
        ),
    ];
    let meant = meanings.iter().find(|(words, _)| words.iter().any(|word| said.contains(word)));
    meant.map(|(_, meaning)| (*meaning).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_becomes_words_with_a_cure() {
        let reported = |said: &str| why_not(said).unwrap_or_default();
        let said =
            "com.sun.tools.attach.AttachNotSupportedException: The VM does not support the attach mechanism\n\tat x.y";
        assert!(reported(said).ends_with("leave that out"));
        let said = "com.sun.tools.attach.AttachNotSupportedException: Unable to open socket file /proc/7/root/tmp/.java_pid7: \
                    target process 7 doesn't respond within 10500ms or HotSpot VM not loaded";
        assert!(reported(said).contains("does not answer"));
        assert!(reported("java.io.IOException: Operation not permitted").contains("another user"));
        assert_eq!(why_not("Unknown diagnostic command"), None);
    }
}
