//! What JRuby counts of itself. Its beans are read from outside, by a program that attaches to its JVM: that costs the server
//! CPU, so it is done before and after a load, and never within one.

use model::JrubyCounts;

use crate::jmx::Beans;

/// The option that makes JRuby show its beans.
pub(crate) const MANAGEMENT: &str = "management.enabled";

/// One more bean, `Config`, shows the environment with all its secrets: it is never asked.
const EXCEPTIONS: (&str, &str) = ("org.jruby:type=Runtime,name=*,service=Runtime", "ExceptionCount");
const COMPILED: (&str, &str) = ("org.jruby:type=Runtime,name=*,service=JITCompiler", "SuccessCount");

/// The counts as of now; `None` where they cannot be read, or where the process runs several of them.
pub(crate) fn jruby_counts(beans: Beans<'_>) -> Option<JrubyCounts> {
    let reported = beans.read(&[EXCEPTIONS, COMPILED]);
    let number = |index: usize| reported.get(index)?.as_ref().ok()?.parse().ok();
    Some(JrubyCounts { exceptions: number(0)?, compiled: number(1) })
}
