//! A soaked server answered more and more slowly.

use model::soaked::{Course, Gauge, SoakStep};
use model::{Finding, FindingId, Severity, Soaked, text};

use super::rise::{Said, course_of, found, rises};
use super::rule::{Check, Rule};

pub const RULE: Rule = Rule {
    id: FindingId::new("latency-drift"),
    gravest: Severity::Warning,
    page: include_str!("../../../../docs/findings/latency-drift.md"),
    checks: &[Check::Soak(rule)],
};

/// How much higher the last level is than the first where it moved in steps, a fraction.
const HIGHER: f64 = 0.1;

const DRIFT: Said = Said {
    severity: Severity::Warning,
    meaning: "Answers take longer and longer, to the end of the soak, under a load that stays the same.",
    remedy: "See what grows with it: memory or heap (collections take longer), a table or a list that each request goes through. What grows \
             in the database is the server's, too.",
};
const STEP: Said = Said {
    severity: Severity::Note,
    meaning: "Answers became slower at one moment or a few, and stayed so to the end of the soak.",
    remedy: "See what happened then, in the server's log and on the host: a compiler that gave code up, a cache that was full, a processor \
             that was slowed down, another program.",
};

/// A warning where the median or the 99th percentile rose to the end, a note where it ended on a higher level than it began; the median goes
/// first, and where it rises, the other is not said.
fn rule(soak: &Soaked) -> Vec<Finding> {
    let courses: Vec<&Course> = [Gauge::P50, Gauge::P99].iter().filter_map(|gauge| course_of(soak, *gauge)).collect();
    let drift = courses.iter().find(|course| rises(course)).map(|course| found(&RULE, soak, course, &DRIFT));
    let stepped = || courses.iter().find(|course| ends_higher(course)).map(|course| with_steps(soak, course));
    drift.or_else(stepped).into_iter().collect()
}

fn ends_higher(course: &Course) -> bool {
    let levels = course.steps.first().zip(course.steps.last());
    levels.is_some_and(|(first, last)| last.after > first.before * (1.0 + HIGHER))
}

fn with_steps(soak: &Soaked, course: &Course) -> Finding {
    /// Steps that are named.
    const MOST: usize = 4;
    let step = |found: Finding, step: &SoakStep| {
        let [before, after] = [step.before, step.after].map(|value| course.gauge.text(value));
        found.with(format!("after {}", text::seconds(step.at_s.round())), format!("{before} → {after}"))
    };
    course.steps.iter().take(MOST).fold(found(&RULE, soak, course, &STEP), step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing::{soaked, values};

    fn gravest(soak: &Soaked) -> Option<Severity> {
        rule(soak).into_iter().map(|found| found.severity).max()
    }

    #[test]
    fn answers_that_take_ever_longer_are_reported_once() {
        let rising = |gauge| soaked(gauge, |hours| 1_000.0 + 300.0 * hours);
        let mut soak = rising(Gauge::P50);
        soak.courses.extend(rising(Gauge::P99).courses);
        let found = rule(&soak);
        assert_eq!((found.len(), found[0].severity, found[0].facts[0].name.as_str()), (1, Severity::Warning, "p50"));
        assert_eq!(gravest(&rising(Gauge::P99)), Some(Severity::Warning));
    }

    #[test]
    fn a_step_is_a_note_with_its_moment() {
        let soak = soaked(Gauge::P50, |hours| if hours < 3.0 { 1_000.0 } else { 1_500.0 });
        assert_eq!(gravest(&soak), Some(Severity::Note));
        assert_eq!(values(&rule(&soak)[0]).last().unwrap(), "1.00 ms → 1.50 ms");
    }

    #[test]
    fn what_stays_becomes_faster_or_comes_back_is_not_reported() {
        assert_eq!(gravest(&soaked(Gauge::P50, |_| 1_000.0)), None);
        assert_eq!(gravest(&soaked(Gauge::P50, |hours| 2_000.0 - 300.0 * hours)), None);
        let came_back = |hours: f64| if (1.0..1.5).contains(&hours) { 1_500.0 } else { 1_000.0 };
        assert_eq!(gravest(&soaked(Gauge::P50, came_back)), None);
        assert_eq!(gravest(&soaked(Gauge::Throughput, |hours| 1_000.0 + 300.0 * hours)), None);
    }
}
