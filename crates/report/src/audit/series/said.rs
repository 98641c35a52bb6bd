//! What is said of series, table by table and line by line, for every kind of output.

use jiff::Timestamp;
use model::imported::{AuditedSeries, ONE_RUN, Ranked, Ranking, RunOfSeries};
use model::text;

use crate::audit::words;
use crate::number;
use crate::tables::{Cell, Group, Table};

/// Runs with most requests that are held against the one with fewest in words; the table has the others.
const TOLD: usize = 3;
/// Failed share from which on it stands beside a run's speed.
const SOME_FAILED: f64 = 0.01;
/// Rank correlations from which on two rankings are much the same, and below which they are not.
const ALIKE: f64 = 0.8;
const UNLIKE: f64 = 0.4;

/// The heading over [`conclusions`], and that over files that are in no series.
pub const CONCLUSIONS: &str = "What they say";
pub const LEFT_OUT: &str = "Left out";

/// What a series is called.
pub fn title(series: &AuditedSeries) -> String {
    let runs = text::plural(series.runs.len() as u64, "run");
    series.name.as_ref().map_or_else(|| runs.clone(), |name| format!("{name}: {runs}"))
}

/// Its tables, a row for each run.
pub fn tables(series: &AuditedSeries) -> [Table; 2] {
    [run_table(series), speed_table(series)]
}

/// All series at a glance: a row for each run under the name of its series, with the time that the machine idled before it beside the time
/// of its fall.
pub fn at_a_glance(all: &[AuditedSeries]) -> Table {
    let mut table = Table::new("Runs at a glance")
        .names("run")
        .numbers("settled")
        .numbers("idle before")
        .numbers("fell after")
        .words("support");
    let row = |run: &RunOfSeries| -> Vec<Cell> {
        vec![
            run.name.as_str().into(),
            settled(run),
            written(run.idle_s, text::length),
            fell_after(run),
            Cell { text: run.support.text().to_owned(), tone: words::tone(run.support) },
        ]
    };
    let group =
        |series: &AuditedSeries| Group { head: series.name.clone(), rows: series.runs.iter().map(row).collect() };
    table.groups = all.iter().map(group).collect();
    table
}

fn settled(run: &RunOfSeries) -> Cell {
    written(run.settled, |level| number::rate(level.rate))
}

fn fell_after(run: &RunOfSeries) -> Cell {
    written(run.fall, |fall| {
        let again = if fall.is_only { "" } else { ", not final" };
        text::seconds(fall.after_s.round()) + again
    })
}

fn run_table(series: &AuditedSeries) -> Table {
    let mut table = Table::new("Runs, in order of time")
        .names("run")
        .words("began (UTC)")
        .numbers("idle before")
        .numbers("users")
        .numbers("requests")
        .numbers("failed")
        .words("support");
    let row = |run: &RunOfSeries| -> Vec<Cell> {
        vec![
            run.name.as_str().into(),
            written(run.began_ms, |ms| began(ms) + if run.has_local_time { " local" } else { "" }),
            written(run.idle_s, text::length),
            written(run.users, |users| text::count(users.into())),
            text::count(run.requests).into(),
            number::share(run.failed_share).into(),
            run.support.text().into(),
        ]
    };
    table.groups.push(Group { head: None, rows: series.runs.iter().map(row).collect() });
    table
}

fn speed_table(series: &AuditedSeries) -> Table {
    let mut table = Table::new("Their speed")
        .names("run")
        .numbers("settled")
        .numbers("fell after")
        .numbers("then")
        .numbers("left")
        .numbers("in the same time")
        .numbers("rank")
        .numbers("by rate");
    let ranked = series.ranking.as_ref().map_or(&[][..], |ranking| &ranking.ranked);
    let row = |run: &RunOfSeries| -> Vec<Cell> {
        let place = ranked.iter().position(|one| one.name == run.name);
        let own = place.and_then(|place| ranked.get(place));
        let is_failing = series.failing.contains(&run.name);
        let above = |own: &Ranked| ranked.iter().filter(|other| other.rate > own.rate).count();
        vec![
            run.name.as_str().into(),
            settled(run),
            fell_after(run),
            written(run.fall, |fall| number::rate(fall.rate)),
            written(run.fall, |fall| text::percent(fall.left)),
            written(own.map(speed).or_else(|| is_failing.then(|| "half failed".to_owned())), |speed| speed),
            written(place, |place| (place + 1).to_string()),
            written(own, |own| (above(own) + 1).to_string()),
        ]
    };
    table.groups.push(Group { head: None, rows: series.runs.iter().map(row).collect() });
    table
}

/// A run's speed in the same time, with what failed.
fn speed(run: &Ranked) -> String {
    format!("{}{}", number::rate(run.rate), failed(run))
}

/// What failed of a run in the same time, in brackets; nothing where that is little.
fn failed(run: &Ranked) -> String {
    if run.failed_share < SOME_FAILED {
        String::new()
    } else {
        format!(" ({} failed)", number::share(run.failed_share))
    }
}

fn written<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> Cell {
    value.map_or_else(|| number::NONE.to_owned(), write).into()
}

/// A moment to the minute.
fn began(ms: i64) -> String {
    Timestamp::from_millisecond(ms)
        .map_or_else(|_| number::NONE.to_owned(), |time| time.strftime("%Y-%m-%d %H:%M").to_string())
}

/// What totals would have ranked, and what the same time of each run ranks.
pub fn conclusions(series: &AuditedSeries) -> Vec<String> {
    const NONE_IN_COMMON: &str =
        "No three of these runs have a time in common, before any fell, that is long enough to rank them by.";
    let failing = (!series.failing.is_empty()).then(|| {
        let names = series.failing.join(", ");
        format!("Half of the requests or more failed, in the time that was looked at, in {names}: not ranked.")
    });
    let said = match &series.ranking {
        Some(ranking) => sentences(ranking, &series.runs, series.failing.len()),
        None => vec![NONE_IN_COMMON.to_owned()],
    };
    said.into_iter().chain(failing).collect()
}

fn sentences(ranking: &Ranking, runs: &[RunOfSeries], failing: usize) -> Vec<String> {
    let Ranking { window_s, ranked, agreement } = ranking;
    let Some((fewest, others)) = ranked.split_last() else { return Vec::new() };
    let users = |name: &str| runs.iter().find(|run| run.name == name).and_then(|run| run.users);
    let against = |run: &Ranked| {
        let total = (run.good as f64 / fewest.good as f64).ln();
        let same_time = (run.rate / fewest.rate).ln();
        let load = match [users(&run.name), users(&fewest.name)] {
            [Some(own), Some(other)] if own != other => format!(" (with {own} users, not {other})"),
            _ => String::new(),
        };
        let by_total = match run.good {
            same if same == fewest.good => "as good as".to_owned(),
            _ => format!("{} better than", size(total)),
        };
        let size = size(same_time);
        let by_rate = match same_time {
            little if little.abs() < ONE_RUN => format!("they differ by {size}"),
            more if more > 0.0 => format!("it is {size} faster"),
            _ => format!("it is {size} slower"),
        };
        format!(
            "By good requests in all, {}{} is {by_total} {}{}{load}. In the same time before any fall {by_rate}.",
            run.name,
            failed(run),
            fewest.name,
            failed(fewest)
        )
    };
    let [from, to] = window_s.map(|at| text::count(at as u64));
    let n = ranked.len();
    let both = "good requests in all and speed in the same time";
    let alike = match agreement {
        None => format!("All of one kind are the same in all {n} runs: {both} cannot be held against each other."),
        Some(rho) => {
            let reading = match rho {
                alike if *alike >= ALIKE => "much alike",
                unlike if *unlike < UNLIKE => "differently",
                _ => "alike in part",
            };
            let rho = format!("{rho:.2}").replace('-', "−");
            format!("By {both}, the {n} runs rank {reading} (Spearman {rho}).")
        }
    };
    let time = format!("The same time is {from} s to {to} s after each run's first request.");
    let missing = runs.len().saturating_sub(n + failing);
    let left_out = (missing > 0).then(|| match missing {
        1 => "One run has no such time, and is not ranked.".to_owned(),
        more => format!("{more} runs have no such time, and are not ranked."),
    });
    let told = others.iter().take(TOLD).map(against);
    told.chain([alike, time]).chain(left_out).collect()
}

/// A log ratio as a percentage of what it starts from, without its sign: `4.8 %`.
fn size(log_ratio: f64) -> String {
    text::with_percent(text::percent_digits(log_ratio))
}

#[cfg(test)]
pub(super) mod testing {
    use model::imported::{Fall, Silence, SpeedLevel, Support};

    use super::*;

    fn run(name: &str, users: u32, requests: u64, after_s: Option<f64>) -> RunOfSeries {
        RunOfSeries {
            file: format!("{name}.jtl"),
            name: name.to_owned(),
            began_ms: Some(1_420_840_843_879),
            has_local_time: false,
            idle_s: None,
            seconds: 14_400.0,
            users: Some(users),
            requests,
            good: requests,
            failed_share: 0.0,
            settled: Some(SpeedLevel { from_s: 10.0, to_s: after_s.unwrap_or(14_400.0), rate: 7.5 }),
            fall: after_s.map(|after_s| Fall { after_s, rate: 1.5, left: 0.2, is_only: false }),
            support: Support::NotSupported,
        }
    }

    /// Three runs of which two fell.
    pub fn series() -> AuditedSeries {
        let ranked = |name: &str, good, rate| Ranked { name: name.to_owned(), good, rate, failed_share: 0.0 };
        AuditedSeries {
            name: Some("7".to_owned()),
            runs: vec![
                run("a", 50, 33_000, Some(1_900.0)),
                run("b", 100, 40_260, Some(3_200.0)),
                run("c", 50, 43_000, None),
            ],
            scatter: Vec::new(),
            ranking: Some(Ranking {
                window_s: [50.0, 1_900.0],
                ranked: vec![ranked("c", 43_000, 3.0), ranked("b", 40_260, 7.57), ranked("a", 33_000, 7.5)],
                agreement: Some(-0.5),
            }),
            failing: Vec::new(),
            findings: Vec::new(),
            silent: vec![Silence { id: model::FindingId::new("burst-credit"), lacks: "it takes 4".to_owned() }],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::series;
    use super::*;

    #[test]
    fn totals_are_held_against_the_same_time() {
        let series = series();
        let said = conclusions(&series);
        assert_eq!(
            said,
            [
                "By good requests in all, c is 30.3 % better than a. In the same time before any fall it is 60.0 % slower.",
                "By good requests in all, b is 22.0 % better than a (with 100 users, not 50). In the same time before any fall they \
                 differ by 0.9 %.",
                "By good requests in all and speed in the same time, the 3 runs rank differently (Spearman −0.50).",
                "The same time is 50 s to 1,900 s after each run's first request.",
            ]
        );
    }

    #[test]
    fn a_time_of_an_unknown_zone_is_called_local() {
        let mut series = series();
        series.runs[1].has_local_time = true;
        let [runs, _] = tables(&series);
        let began: Vec<_> = runs.groups[0].rows.iter().map(|row| row[1].text.clone()).collect();
        assert_eq!(began, ["2015-01-09 22:00", "2015-01-09 22:00 local", "2015-01-09 22:00"]);
    }

    #[test]
    fn what_failed_stands_beside_the_speed() {
        let mut failing = series();
        failing.ranking.as_mut().unwrap().ranked[0].failed_share = 0.035;
        let speeds = |series: &AuditedSeries| {
            let [_, speeds] = tables(series);
            speeds.groups[0].rows.iter().map(|row| row[5].text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(speeds(&failing), ["7.50/s", "7.57/s", "3.00/s (3.5 % failed)"]);
        assert!(
            conclusions(&failing)[0].starts_with("By good requests in all, c (3.5 % failed) is 30.3 % better than a.")
        );
        failing.ranking.as_mut().unwrap().ranked.remove(0);
        failing.failing = vec!["c".to_owned()];
        assert_eq!(speeds(&failing)[2], "half failed");
        let said = conclusions(&failing);
        let last = "Half of the requests or more failed, in the time that was looked at, in c: not ranked.";
        assert_eq!(said.last().map(String::as_str), Some(last));
        assert!(!said.iter().any(|sentence| sentence.contains("no such time")), "{said:?}");
    }
}
