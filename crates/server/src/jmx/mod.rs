//! Attributes of managed beans, read by a small Java program that attaches to the server's JVM.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use runtimes::names;

use crate::attach;
use crate::runtime::base_env;
use crate::serving::{NO_JVM, Serving};
use crate::tool;

/// Bound of one reading.
const READ_WITHIN: Duration = Duration::from_secs(30);

/// Run from its source by the server's own JDK: nothing has to be compiled or shipped.
const READER: &str = include_str!("ReadBeans.java");
/// The first release that runs a program from its source (JEP 330).
const FIRST_RELEASE: u32 = 11;
/// Names that are listed of many.
const FEW: usize = 8;

/// Who is asked, and what the asking needs.
#[derive(Clone, Copy)]
pub(crate) struct Beans<'a> {
    pub serving: &'a Serving,
    /// Where the program that asks is put.
    pub folder: &'a Path,
    /// Ends the asking, when raised.
    pub interrupted: &'a AtomicBool,
}

impl Beans<'_> {
    /// The value of each `(bean, attribute)` of the server's JVM, in their order.
    pub fn read(self, beans: &[(&str, &str)]) -> Vec<Result<String, String>> {
        if beans.is_empty() {
            return Vec::new();
        }
        match ask(self, beans) {
            Ok(said) => beans.iter().enumerate().map(|(index, requested)| reported(&said, index, *requested)).collect(),
            Err(reason) => vec![Err(reason); beans.len()],
        }
    }
}

fn ask(Beans { serving, folder, interrupted }: Beans<'_>, beans: &[(&str, &str)]) -> Result<String, String> {
    let jvm = serving.jvm()?.ok_or(NO_JVM)?;
    let (jdk, pid) = (jvm.jdk()?, jvm.pid);
    if jdk.major().is_none_or(|major| major < FIRST_RELEASE) {
        return Err(format!(
            "beans are read by a JDK {FIRST_RELEASE} or newer, and the server's is {}: read it by `http` or `command`",
            jdk.version
        ));
    }
    let source = folder.join("ReadBeans.java");
    fs::write(&source, READER).map_err(|error| format!("cannot write {}: {error}", source.display()))?;
    let mut command = Command::new(jdk.tool("java"));
    command.args(["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]).arg(&source).arg(pid.to_string());
    command.args(beans.iter().flat_map(|(bean, attribute)| [bean, attribute])).env_clear().envs(base_env());
    let ran = tool::run_until(&mut command, READ_WITHIN, interrupted).map_err(|error| error.to_string())?;
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    let said = ran.stderr.trim();
    Err(attach::why_not(said).unwrap_or_else(|| format!("the server's JVM cannot be asked for its beans: {said}")))
}

/// What the lines of a pair say: `0 = 10`, `0 ! a reason`, or a name of what there is instead each.
fn reported(said: &str, index: usize, (bean, attribute): (&str, &str)) -> Result<String, String> {
    let own = format!("{index} ");
    let lines: Vec<(&str, &str)> = said.lines().filter_map(|line| line.strip_prefix(&own)?.split_once(' ')).collect();
    let names = || lines.iter().map(|(_, name)| *name);
    match lines.first() {
        Some(("=", value)) => Ok((*value).to_owned()),
        Some(("several", _)) => Err(format!("{} beans are called `{bean}`: {}; name one", lines.len(), some(names()))),
        Some(("bean", _)) => {
            Err(format!("no bean is called `{bean}`; {}", instead_of_bean(bean, &names().collect::<Vec<_>>())))
        }
        Some(("attribute", _)) => {
            Err(format!("bean `{bean}` has no attribute `{attribute}`; {}", instead(attribute, names())))
        }
        Some(("part", _)) => {
            let (whole, part) = attribute.split_once('.').unwrap_or((attribute, ""));
            Err(format!("attribute `{whole}` has no part `{part}`; {}", instead(part, names())))
        }
        Some((_, reason)) => Err((*reason).to_owned()),
        None => Err("the server's JVM did not report it".to_owned()),
    }
}

/// What to write for a bean that is not there: the nearest of its domain, or those that there are, or the nearest of all, or the
/// domains.
fn instead_of_bean(bean: &str, known: &[&str]) -> String {
    let parts = |name| str::split_once(name, ':').unwrap_or((name, ""));
    let (domain, keys) = parts(bean);
    let of_domain = || known.iter().copied().filter(|name| parts(name).0 == domain);
    if of_domain().next().is_some() {
        // A long domain is no likeness.
        return match names::nearest(keys, of_domain().map(|name| parts(name).1)) {
            Some(nearest) => format!("the nearest is `{domain}:{nearest}`"),
            None => format!("there are {}", some(of_domain())),
        };
    }
    if let Some(nearest) = names::nearest(bean, known.iter().copied()) {
        return format!("the nearest is `{nearest}`");
    }
    let domains: BTreeSet<&str> = known.iter().map(|name| parts(name).0).collect();
    format!("there are beans of {}", some(domains.iter().copied()))
}

/// The nearest name that there is, or some of them.
fn instead<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match names::nearest(name, known.clone()) {
        Some(nearest) => format!("the nearest is `{nearest}`"),
        None => format!("there are {}", some(known)),
    }
}

/// The first few names.
fn some<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let first: Vec<String> = names.clone().take(FEW).map(|name| format!("`{name}`")).collect();
    let more = names.count().saturating_sub(FEW);
    if more == 0 { first.join(", ") } else { format!("{} and {more} more", first.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "0 = a b\n1 ! it fails\n2 bean java.lang:type=Memory\n2 bean java.lang:type=Threading\n2 bean a:b=c\n\
                        3 several x:a=1\n3 several x:a=2\n4 attribute Size\n4 attribute Name\n5 part max\n5 part used\n6 = \n";

    fn of(index: usize, bean: &str, attribute: &str) -> String {
        reported(SAID, index, (bean, attribute)).unwrap_or_else(|reason| reason)
    }

    #[test]
    fn answers_are_distinguished() {
        assert_eq!(reported(SAID, 0, ("a:b=c", "D")).unwrap(), "a b");
        assert_eq!(reported(SAID, 6, ("a:b=c", "D")).unwrap(), "");
        assert_eq!(reported(SAID, 1, ("a:b=c", "D")).unwrap_err(), "it fails");
        assert!(reported(SAID, 7, ("a:b=c", "D")).is_err());
    }

    #[test]
    fn what_is_not_there_is_reported_with_what_is() {
        let near = "no bean is called `java.lang:type=Memori`; the nearest is `java.lang:type=Memory`";
        assert_eq!(of(2, "java.lang:type=Memori", "x"), near);
        let far = of(2, "java.lang:type=ClassLoading", "x");
        assert!(far.ends_with("there are `java.lang:type=Memory`, `java.lang:type=Threading`"), "{far}");
        assert!(of(2, "org.other:type=Pool", "x").ends_with("there are beans of `a`, `java.lang`"));
        assert_eq!(of(3, "x:*", "y"), "2 beans are called `x:*`: `x:a=1`, `x:a=2`; name one");
        assert_eq!(of(4, "a:b=c", "Siz"), "bean `a:b=c` has no attribute `Siz`; the nearest is `Size`");
        assert_eq!(of(5, "a:b=c", "Usage.peak"), "attribute `Usage` has no part `peak`; there are `max`, `used`");
    }

    #[test]
    fn only_a_few_of_many_are_named() {
        let names = ["a"; 20];
        assert!(some(names.into_iter()).ends_with("`a` and 12 more"));
    }
}
