//! Threads, file descriptors or connections of a soaked server rose to the end.

use model::soaked::{Gauge, Reading};
use model::{Finding, FindingId, Severity, Soaked};

use super::rise::{SOAK_LONGER, Said, course_of, found, rises};
use super::rule::{Check, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("resource-leak"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/resource-leak.md"),
    checks: &[Check::Soak(rule)],
};

/// Connections are descriptors: where both rise, the former say more.
const GAUGES: [Gauge; 3] = [Gauge::Connections, Gauge::Descriptors, Gauge::Threads];

const RISING: Said = Said {
    severity: Severity::Warning,
    meaning: "It rises evenly, to the end of the soak: something is opened or started and never closed or ended. At a limit of the system the \
              server fails, whatever memory it has left.",
    remedy: "See what they are while it runs: `ls -l /proc/PID/fd` for descriptors, `ss -tnp` for connections, `jcmd PID Thread.print` or \
             `/proc/PID/task/*/comm` for threads.",
};
const SLOWING: Said = Said {
    severity: Severity::Note,
    meaning: "It still rises at the end of the soak, more slowly than before: a pool that fills, or a leak.",
    remedy: SOAK_LONGER,
};

/// A warning for each that rose evenly to the end, a note for each that slows down.
fn rule(soak: &Soaked) -> Vec<Finding> {
    let rising: Vec<_> = GAUGES.iter().filter_map(|gauge| course_of(soak, *gauge)).filter(|one| rises(one)).collect();
    let connections_rise = rising.iter().any(|course| course.gauge == Gauge::Connections);
    let said_already = |gauge| gauge == Gauge::Descriptors && connections_rise;
    let of = |course: &&model::Course| {
        let said = if course.reading == Reading::Rising { &RISING } else { &SLOWING };
        found(&RULE, soak, course, said)
    };
    rising.iter().filter(|course| !said_already(course.gauge)).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::soaked;

    fn reported(soak: &Soaked) -> Vec<(Severity, String)> {
        rule(soak).into_iter().map(|found| (found.severity, found.facts[0].name.clone())).collect()
    }

    #[test]
    fn threads_and_descriptors_that_rise_are_reported() {
        let warning = |name: &str| vec![(Severity::Warning, name.to_owned())];
        assert_eq!(reported(&soaked(Gauge::Threads, |hours| (20.0 + 10.0 * hours).floor())), warning("threads"));
        let mut soak = soaked(Gauge::Descriptors, |hours| (60.0 + 30.0 * hours).floor());
        assert_eq!(reported(&soak), warning("file descriptors"));
        soak.courses.extend(soaked(Gauge::Connections, |hours| (40.0 + 30.0 * hours).floor()).courses);
        assert_eq!(reported(&soak), warning("connections"));
    }

    #[test]
    fn a_pool_that_has_filled_is_not() {
        for gauge in GAUGES {
            assert_eq!(reported(&soaked(gauge, |_| 20.0)), []);
            assert_eq!(reported(&soaked(gauge, |hours| if hours < 0.3 { 20.0 } else { 200.0 })), []);
        }
        let slowing = soaked(Gauge::Threads, |hours| 200.0 - 150.0 * (-hours / 2.0).exp());
        assert_eq!(reported(&slowing), [(Severity::Note, "threads".to_owned())]);
    }
}
