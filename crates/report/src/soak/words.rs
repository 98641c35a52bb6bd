//! What a report of soaks says, the same for all renderers.

use model::soaked::{Course, Reading, SoakEnd};
use model::{Finding, Gauge, Severity, SoakReport, Soaked, text};

use crate::number;
use crate::tables::{Cell, Group, Table};
use crate::words::{Tone, to_the_second};

/// What the numbers of the table of courses are.
const NOTE: &str = "Medians of the first and of the last tenth of the time; the change in an hour is that of the second half, with its 99 % \
                    interval.";

/// A variant's name.
pub fn variant<'a>(report: &'a SoakReport, soak: &Soaked) -> &'a str {
    report.variant_names.get(soak.variant).map_or("?", String::as_str)
}

/// The line that says which run this is.
pub fn run_line(report: &SoakReport) -> String {
    let planned = text::length(report.planned_s);
    format!(
        "{} · {} · soak of {planned}, {} · bakeoff {}",
        report.run,
        to_the_second(&report.started),
        report.cell,
        report.version
    )
}

/// What became of a variant: a word, how it reads, and a sentence.
pub fn outcome(report: &SoakReport, soak: &Soaked) -> (&'static str, Tone, String) {
    let name = variant(report, soak);
    let lasted = text::length(soak.seconds);
    let of_variant = |finding: &&Finding| finding.subject.variant() == Some(soak.variant);
    let gravest = report.findings.iter().filter(of_variant).map(|finding| finding.severity).max();
    let rising = rising(soak);
    match (&soak.end, gravest) {
        (SoakEnd::Failed(failed), _) => {
            ("✗ failed", Tone::Bad, format!("{name} failed after {lasted}: {}", failed.reason))
        }
        _ if soak.too_short.is_some() => {
            ("? too short", Tone::Unsure, format!("{name} was loaded for {lasted}, too short to say anything"))
        }
        (_, Some(Severity::Warning | Severity::Invalid)) => {
            let worse = if rising.is_empty() { "it got worse".to_owned() } else { rising };
            ("▼ rises", Tone::Bad, format!("{name} over {lasted}: {worse}"))
        }
        (_, Some(Severity::Note)) => {
            let moved = if rising.is_empty() { "it moved".to_owned() } else { rising };
            ("? moved", Tone::Unsure, format!("{name} over {lasted}: {moved}"))
        }
        (_, None) => ("= steady", Tone::Same, format!("{name} over {lasted}: nothing rises to the end")),
    }
}

/// What rose to the end, with its slope.
fn rising(soak: &Soaked) -> String {
    let rose = soak.courses.iter().filter(|course| {
        matches!(course.reading, Reading::Rising | Reading::Slowing) && course.gauge != Gauge::Throughput
    });
    let all: Vec<String> = rose.map(|course| format!("{} {}", course.gauge.name(), slope(course))).collect();
    all.join("; ")
}

/// What stands below that: how it was loaded, and why less is said than planned.
pub fn facts(report: &SoakReport, soak: &Soaked) -> Vec<String> {
    let steady = soak.steady_at_s.map_or_else(
        || format!("not found steady in a warm-up of {}", number::seconds(soak.warm_up_s)),
        |at| format!("found steady after {} of warm-up", number::seconds(at)),
    );
    let failed = match soak.failed_share {
        none if none == 0.0 => "none failed".to_owned(),
        share => format!("{} failed", text::percent(share)),
    };
    let loaded = format!("{} requests, {failed}; {steady}.", text::count(soak.requests));
    let early = matches!(soak.end, SoakEnd::Interrupted).then(|| {
        format!("It was interrupted: {} of {} are known.", text::length(soak.seconds), text::length(report.planned_s))
    });
    [Some(loaded), early, soak.too_short.clone()].into_iter().flatten().collect()
}

/// The last lines of a server's log, where it failed.
pub fn last_words(soak: &Soaked) -> Vec<&str> {
    match &soak.end {
        SoakEnd::Failed(failed) => failed.log_tail.lines().collect(),
        SoakEnd::Completed | SoakEnd::Interrupted => Vec::new(),
    }
}

/// How everything that was watched went, a group for each variant.
pub fn courses(report: &SoakReport) -> Table {
    let table = Table::new("Over the soak").names("").numbers("first").numbers("last").numbers("in an hour").words("");
    let group = |soak: &Soaked| Group {
        head: (report.soaks.len() > 1).then(|| variant(report, soak).to_owned()),
        rows: soak.courses.iter().map(row).collect(),
    };
    Table { note: NOTE.to_owned(), groups: report.soaks.iter().map(group).collect(), ..table }
}

fn row(course: &Course) -> Vec<Cell> {
    let gauge = course.gauge;
    let (reading, tone) = reading(course);
    let slope = course.trend.map_or_else(|| number::NONE.to_owned(), |_| slope(course));
    vec![
        gauge.name().into(),
        gauge.text(course.first).into(),
        gauge.text(course.last).into(),
        slope.into(),
        Cell { text: reading, tone },
    ]
}

fn slope(course: &Course) -> String {
    let gauge = course.gauge;
    course.trend.map_or_else(String::new, |trend| {
        let [low, high] = [trend.low, trend.high].map(|slope| gauge.signed(slope));
        format!("{}/h [{low}, {high}]", gauge.signed(trend.per_hour))
    })
}

/// What a course amounts to, and how that reads.
pub fn reading(course: &Course) -> (String, Tone) {
    let gets_better = course.gauge == Gauge::Throughput;
    let if_bad = |tone| if gets_better { Tone::Plain } else { tone };
    match course.reading {
        Reading::Level => ("level".to_owned(), Tone::Plain),
        Reading::Rising => ("rises to the end".to_owned(), if_bad(Tone::Bad)),
        Reading::Slowing => ("still rises, more slowly".to_owned(), if_bad(Tone::Unsure)),
        Reading::LevelledOff { by, since_s } => {
            let by = course.gauge.text(by);
            (format!("rose by {by}, level since {}", text::seconds(since_s.round())), Tone::Plain)
        }
        Reading::Fell => ("fell".to_owned(), if gets_better { Tone::Unsure } else { Tone::Plain }),
        Reading::Unknown => ("too little was seen".to_owned(), Tone::Plain),
    }
}
