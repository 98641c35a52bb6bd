//! What a report of soaks says, the same for all renderers.

use model::soaked::{Course, Reading, SoakEnd, Trend};
use model::{Finding, Gauge, Severity, SoakReport, Soaked, text};

use crate::number;
use crate::tables::{Cell, Detail, Group, Table};
use crate::words::{Tone, to_the_second};

/// What the numbers of the table of courses are.
const NOTE: &str =
    "Medians of the first and of the last tenth of the time; the change in an hour is that of the second half";

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
        0.0 => "none failed".to_owned(),
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

/// How everything that was watched went, a group for each variant; with the slopes' intervals where there is room.
pub fn courses(report: &SoakReport, detail: Detail) -> Table {
    let is_full = detail == Detail::Full;
    let table = Table::new("Over the soak").words("").numbers("first").numbers("last").numbers("in an hour");
    let table = if is_full { table.words("99 % interval") } else { table }.words("");
    let group = |soak: &Soaked| Group {
        head: (report.soaks.len() > 1).then(|| variant(report, soak).to_owned()),
        rows: soak.courses.iter().map(|course| row(course, is_full)).collect(),
    };
    let groups = report.soaks.iter().filter(|soak| !soak.courses.is_empty()).map(group).collect();
    let note = if is_full { format!("{NOTE}, with its 99 % interval.") } else { format!("{NOTE}.") };
    Table { note, groups, ..table }
}

fn row(course: &Course, is_full: bool) -> Vec<Cell> {
    let gauge = course.gauge;
    let (reading, tone) = reading(course);
    let of_trend = |write: &dyn Fn(Trend) -> String| course.trend.map_or_else(|| number::NONE.to_owned(), write);
    let per_hour = of_trend(&|trend| gauge.signed(trend.per_hour));
    let interval = of_trend(&|trend| format!("[{}, {}]", gauge.signed(trend.low), gauge.signed(trend.high)));
    let numbers = [gauge.name().to_owned(), gauge.text(course.first), gauge.text(course.last), per_hour];
    let cells = numbers.into_iter().chain(is_full.then_some(interval)).map(Cell::from);
    cells.chain([Cell { text: reading, tone }]).collect()
}

fn slope(course: &Course) -> String {
    let gauge = course.gauge;
    course.trend.map_or_else(String::new, |trend| {
        let [low, high] = [trend.low, trend.high].map(|slope| gauge.signed(slope));
        format!("{}/h [{low}, {high}]", gauge.signed(trend.per_hour))
    })
}

/// What a course amounts to, and how that reads.
fn reading(course: &Course) -> (String, Tone) {
    let gets_better = course.gauge == Gauge::Throughput;
    let if_bad = |tone| if gets_better { Tone::Plain } else { tone };
    match course.reading {
        Reading::Level => ("level".to_owned(), Tone::Plain),
        Reading::Rising => ("rises".to_owned(), if_bad(Tone::Bad)),
        Reading::Slowing => ("rises, slows down".to_owned(), if_bad(Tone::Unsure)),
        Reading::LevelledOff { since_s, .. } => (format!("level since {}", text::length(since_s)), Tone::Plain),
        Reading::Fell => ("fell".to_owned(), if gets_better { Tone::Unsure } else { Tone::Plain }),
        Reading::Unknown => ("too little seen".to_owned(), Tone::Plain),
    }
}
