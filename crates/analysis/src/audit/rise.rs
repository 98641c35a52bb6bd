//! What findings about soaked servers have in common: something rose, by so much an hour.

use model::soaked::{Course, Gauge, Reading};
use model::{Finding, Severity, Soaked, Subject, text};

use super::rule::Rule;

const HOUR_S: f64 = 3_600.0;

/// What is said of a course that rose.
pub(super) struct Said {
    pub severity: Severity,
    pub meaning: &'static str,
    pub remedy: &'static str,
}

/// What to do about something that still rises, and slows down.
pub(super) const SOAK_LONGER: &str = "Soak it for two or three times as long: a cache levels off, a leak does not.";

/// Of a soak, how something went, if it was read.
pub(super) fn course_of(soak: &Soaked, gauge: Gauge) -> Option<&Course> {
    soak.courses.iter().find(|course| course.gauge == gauge)
}

/// Whether it rose to the end: evenly or not.
pub(super) fn rises(course: &Course) -> bool {
    matches!(course.reading, Reading::Rising | Reading::Slowing)
}

/// A finding about a course with its figures.
pub(super) fn found(rule: &Rule, soak: &Soaked, course: &Course, said: &Said) -> Finding {
    let Course { gauge, first, last, .. } = course;
    let subject = Subject::Variant { variant: soak.variant };
    let mut found = rule.found(said.severity, subject, said.meaning, said.remedy).with(
        gauge.name(),
        format!("{} → {} in {}", gauge.text(*first), gauge.text(*last), text::length(soak.seconds)),
    );
    if let Some(trend) = course.trend {
        let [low, high] = [trend.low, trend.high].map(|slope| gauge.signed(slope));
        found = found.with("slope", format!("{}/h [{low}, {high}]", gauge.signed(trend.per_hour)));
        if let (Gauge::Memory | Gauge::Heap, Some(per_request)) = (gauge, per_request(soak, trend.per_hour)) {
            found = found.with("for each request", text::bytes(per_request));
        }
        if let Some((limit, left)) =
            course.limit.as_ref().and_then(|limit| Some((limit, hours_until(course, limit.value)?)))
        {
            let reached = format!("{} in {}", gauge.text(limit.value), text::length(left * HOUR_S));
            found = found.with(format!("{} is reached", limit.name), reached);
        }
    }
    match &course.doubt {
        Some(doubt) => found.with("but", doubt.as_str()),
        None => found,
    }
}

fn per_request(soak: &Soaked, per_hour: f64) -> Option<f64> {
    let hourly = soak.requests as f64 / soak.seconds * HOUR_S;
    (hourly.is_finite() && hourly > 0.0).then(|| per_hour / hourly)
}

/// Hours from the end of the soak until a limit is reached at this slope; `None` where it never is, or not within ten years.
fn hours_until(course: &Course, limit: f64) -> Option<f64> {
    const TEN_YEARS_H: f64 = 10.0 * 365.0 * 24.0;
    let hours = (limit - course.last).max(0.0) / course.trend?.per_hour;
    (0.0..TEN_YEARS_H).contains(&hours).then_some(hours)
}
