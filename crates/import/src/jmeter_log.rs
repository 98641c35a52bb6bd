//! `jmeter.log`: what JMeter's summariser writes each half minute (`Summariser.java`). Lines with `+` have what ended since the one
//! before, lines with `=` all so far.
//!
//! Its times are those of a clock in no known zone, and are taken for UTC.

use std::cmp::Reverse;

use indexmap::IndexMap;
use model::imported::{Fidelity, ImportedRun, Interval, Requests};

use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{LONGEST_MS, Recorded};
use crate::series::Series;
use crate::text::{MOST, count, moment_ms, number};

pub const FORMAT: Format = Format { id: "jmeter-log", tool: "JMeter", fidelity: Fidelity::Intervals, recognises, read };

/// What stands before a summariser's words, and what before JMeter's version.
const SUMMARISER: &str = "Summariser: ";
const VERSION: &str = ".JMeter: Version ";
/// What is written when a test begins.
const RUNNING: &str = "StandardJMeterEngine: Running the test!";
/// What every log lacks.
const NO_ZONE: &str = "its times have no zone, and are taken for UTC";
/// Most summarisers of one test that are kept apart.
const MOST_SUMMARISERS: usize = 16;
/// Deltas from which a summariser's interval is known.
const ENOUGH: usize = 64;
/// How many seconds late a line may come (`INTERVAL_WINDOW`).
const LATE_S: i64 = 5;

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    let is_one = |line: &str| {
        let of_tool = [SUMMARISER, VERSION].iter().any(|words| line.contains(words));
        of_tool && moment_ms(line).is_some()
    };
    text.lines().any(is_one)
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut log = Log::default();
    reading.hear(|line| log.hear(line))?;
    if log.is_of_several {
        return Err(Broken::Several);
    }
    // Of those that count the same, the first: as a rule it is the one that JMeter itself adds.
    let most = log.summarisers.iter().rev().max_by_key(|(_, summariser)| summariser.all().ended());
    let Some(most) = most.map(|(name, _)| name.clone()) else {
        return Err(Broken::Lacks("lines of a summariser: `summariser.log` was off, or the test did not end"));
    };
    let mut warnings = vec![NO_ZONE.to_owned()];
    let others: Vec<String> =
        log.summarisers.keys().filter(|name| **name != most).map(|name| format!("`{name}`")).collect();
    if !others.is_empty() {
        warnings.push(format!(
            "it has several summarisers, which may count the same requests; that of `{most}` counts most and is read, \
             not {}",
            others.join(", ")
        ));
    }
    if log.is_beyond_most {
        warnings.push(format!("it has more than {MOST_SUMMARISERS} summarisers; those beyond are not read"));
    }
    let Some(mut summariser) = log.summarisers.swap_remove(&most) else { return Err(Broken::Unknown) };
    warnings.extend(summariser.disagreement());
    let all = summariser.all();
    let all = Requests { good: all.good, failed: all.failed, ..Requests::default() };
    let (began_ms, seconds) = (Some(summariser.began_ms), summariser.seconds());
    let is_in_intervals = summariser.last_ms.is_some();
    let recorded = if is_in_intervals {
        let deltas = summariser.series.take().unwrap_or_else(|| summariser.begun());
        Recorded::series(all, deltas.series, began_ms, seconds)
    } else {
        Recorded { began_ms, ..Recorded::summary(all, seconds) }
    };
    let run = reading.run(&FORMAT, recorded);
    Ok(ImportedRun {
        tool: log.version.map_or_else(|| run.tool.clone(), |version| format!("{} {version}", run.tool)),
        // A test that was over before the first interval was has a total alone.
        fidelity: if is_in_intervals { run.fidelity } else { Fidelity::Summary },
        has_local_time: true,
        warnings,
        ..run
    })
}

/// What a log says.
#[derive(Debug, Default)]
struct Log {
    version: Option<String>,
    summarisers: IndexMap<String, Summariser>,
    is_beyond_most: bool,
    /// A test began after one whose requests were counted.
    is_another_begun: bool,
    is_of_several: bool,
}

impl Log {
    /// Takes a line; what is wrong with it, if a summariser wrote it.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some((_, version)) = line.split_once(VERSION) {
            self.version = version.split_whitespace().next().map(str::to_owned);
        } else if line.contains(RUNNING) {
            self.is_another_begun = !self.summarisers.is_empty();
        }
        let Some((before, words)) = line.split_once(SUMMARISER) else { return Ok(()) };
        let at_ms = moment_ms(before).ok_or("it has no time of a form that is known")?;
        let (name, said) = Said::of(words)?;
        self.is_of_several |= self.is_another_begun;
        if !self.summarisers.contains_key(name) && self.summarisers.len() == MOST_SUMMARISERS {
            self.is_beyond_most = true;
            return Ok(());
        }
        let summariser =
            self.summarisers.entry(name.to_owned()).or_insert_with(|| Summariser::new(at_ms, said.seconds));
        if (at_ms - summariser.began_ms).abs() > LONGEST_MS {
            return Err("its time lies more than 90 days from that of the others");
        }
        if said.kind == Kind::Delta {
            return summariser.add(at_ms, said.ended);
        }
        // Nothing that was counted goes away, unless another test began.
        let before = summariser.total.map_or(0, |(total, _)| total.ended());
        self.is_of_several |= said.ended.ended() < before;
        summariser.total = Some((said.ended, said.seconds));
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Delta,
    Total,
}

/// What a summariser says in one line.
#[derive(Debug, Clone, Copy)]
struct Said {
    kind: Kind,
    ended: Interval,
    /// From the first request's beginning to the last one's end.
    seconds: f64,
}

impl Said {
    /// The summariser's name and what it says: `summary +     40 in  19.4s =    2.1/s Avg: … Err:     0 (0.00%) Active: 25 …`.
    fn of(words: &str) -> Result<(&str, Self), &'static str> {
        const BROKEN: &str = "it is no line of a summariser";
        // The name may have anything in it.
        let (counted, rest) = words.rsplit_once("/s Avg:").ok_or(BROKEN)?;
        let (counted, _rate) = counted.rsplit_once(" = ").ok_or(BROKEN)?;
        let (counted, took) = counted.rsplit_once(" in ").ok_or(BROKEN)?;
        let (counted, ended) = counted.trim_end().rsplit_once(' ').ok_or(BROKEN)?;
        let (name, sign) = counted.trim_end().rsplit_once(' ').ok_or(BROKEN)?;
        let kind = match sign {
            "+" => Kind::Delta,
            "=" => Kind::Total,
            _ => return Err(BROKEN),
        };
        let (_, errors) = rest.split_once("Err:").ok_or(BROKEN)?;
        let failed = count(errors)?;
        let good = count(ended)?.checked_sub(failed).ok_or("more requests failed than ended")?;
        let active = rest.split_once("Active:").map(|(_, active)| count(active)).transpose()?;
        let users = active.map_or(0, |active| u32::try_from(active).unwrap_or(u32::MAX));
        let mean_us = count(rest).map_or(0, |mean_ms| mean_ms.saturating_mul(1_000));
        let [good_us, failed_us] = [good, failed].map(|ended| ended.saturating_mul(mean_us));
        Ok((
            name.trim(),
            Self { kind, ended: Interval { good, failed, good_us, failed_us, users }, seconds: seconds(took)? },
        ))
    }
}

/// A duration: `19.4s` until JMeter 3, then `00:00:19`.
fn seconds(text: &str) -> Result<f64, &'static str> {
    let text = text.trim();
    // Old versions write numbers as the machine's language does.
    let part = |part: &str| number(&part.replace(',', "."));
    match text.strip_suffix('s') {
        Some(seconds) => part(seconds),
        None => text.split(':').try_fold(0.0, |sum, digits| Ok(sum * 60.0 + part(digits)?)),
    }
}

/// What one summariser has said so far.
#[derive(Debug)]
struct Summariser {
    began_ms: i64,
    /// The first deltas, until the length of an interval is known, and then the series of all.
    first: Vec<(i64, Interval)>,
    series: Option<Deltas>,
    /// When the last delta came.
    last_ms: Option<i64>,
    /// The sum of the deltas.
    sum: Interval,
    /// All requests of the last total, and the seconds that they took.
    total: Option<(Interval, f64)>,
}

impl Summariser {
    /// With a line of this moment as its first, of requests that took so long in all.
    fn new(at_ms: i64, seconds: f64) -> Self {
        let length_ms = (seconds * 1e3).min(LONGEST_MS as f64) as i64;
        let began_ms = at_ms.saturating_sub(length_ms);
        Self { began_ms, first: Vec::new(), series: None, last_ms: None, sum: Interval::default(), total: None }
    }

    fn add(&mut self, at_ms: i64, ended: Interval) -> Result<(), &'static str> {
        if self.sum.ended() + ended.ended() > MOST {
            return Err("its lines count more requests than there can be");
        }
        self.sum.merge(ended);
        self.last_ms = Some(at_ms);
        if let Some(series) = &mut self.series {
            series.add(at_ms, ended);
            return Ok(());
        }
        self.first.push((at_ms, ended));
        if self.first.len() == ENOUGH {
            self.series = Some(self.begun());
        }
        Ok(())
    }

    /// The series of the first deltas.
    fn begun(&self) -> Deltas {
        let mut series = Deltas::new(self.began_ms, self.interval_s() * 1_000);
        self.first.iter().for_each(|(at_ms, ended)| series.add(*at_ms, *ended));
        series
    }

    /// The usual time from one delta to the next, whole seconds. A summariser writes at multiples of its interval, or soon after:
    /// so the length near that time is taken of which most lines come soon after a multiple.
    fn interval_s(&self) -> i64 {
        let came = || self.first.iter().map(|(at_ms, _)| at_ms / 1_000);
        let before = [self.began_ms / 1_000].into_iter().chain(came());
        let mut gaps: Vec<i64> = came().zip(before).map(|(at, before)| at - before).filter(|gap| *gap > 0).collect();
        gaps.sort_unstable();
        let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(1);
        let on_time = |length: i64| came().filter(|at| at.rem_euclid(length) <= LATE_S).count();
        let near = (usual - LATE_S).max(1)..=usual + LATE_S;
        near.max_by_key(|length| (on_time(*length), Reverse(length.abs_diff(usual)))).unwrap_or(usual)
    }

    /// All requests that it counts.
    fn all(&self) -> Interval {
        self.total.map_or(self.sum, |(total, _)| total)
    }

    /// From the first request's beginning to the last one's end, seconds.
    fn seconds(&self) -> f64 {
        let until_last = self.last_ms.map_or(0.0, |last_ms| (last_ms - self.began_ms) as f64 / 1e3);
        self.total.map_or(until_last, |(_, seconds)| seconds)
    }

    /// What its deltas say that its last total does not.
    fn disagreement(&self) -> Option<String> {
        let counts = |ended: Interval| (ended.ended(), ended.failed);
        let (sum, total) = (counts(self.sum), counts(self.all()));
        (self.last_ms.is_some() && sum != total).then(|| {
            format!(
                "its lines `+` add up to {} requests, {} failed, and its last line `=` has {}, {} failed",
                sum.0, sum.1, total.0, total.1
            )
        })
    }
}

/// Deltas, each in the interval at whose end it was written.
#[derive(Debug)]
struct Deltas {
    series: Series,
    interval_ms: i64,
    /// When the last one came.
    last_ms: i64,
}

impl Deltas {
    fn new(began_ms: i64, interval_ms: i64) -> Self {
        let mut series = Series::of(interval_ms);
        series.add(began_ms, Interval::default());
        Self { series, interval_ms, last_ms: began_ms }
    }

    fn add(&mut self, at_ms: i64, ended: Interval) {
        let late_ms = at_ms.rem_euclid(self.interval_ms);
        // What comes soon after an interval's end is of it, unless it is of the end of the test.
        let end_ms = if late_ms < (LATE_S + 1) * 1_000 { at_ms - late_ms - 1 } else { at_ms };
        self.series.add(end_ms.max(self.last_ms), ended);
        self.last_ms = at_ms;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ImportError, read};

    /// A line as JMeter 2.12 writes it.
    fn old(time: &str, words: &str) -> String {
        format!("2015/01/10 {time} INFO  - jmeter.reporters.Summariser: {words}\n")
    }

    /// What stands behind the count and the time of a line.
    fn rest(failed: u64, active: u32) -> String {
        format!(
            "=    2.1/s Avg:  1768 Min:    93 Max:  7218 Err: {failed:5} (0.00%) Active: {active} Started: 9 Finished: 0 "
        )
    }

    fn run_of(text: &str) -> ImportedRun {
        read("jmeter.log", text.as_bytes(), Options::default()).unwrap()
    }

    #[test]
    fn a_log_is_read_whole() {
        let run = run_of(include_str!("../fixtures/jmeter-5.6.3/jmeter.log"));
        assert_eq!((run.format.as_str(), run.tool.as_str(), run.lines.bad), ("jmeter-log", "JMeter 5.6.3", 0));
        assert_eq!((run.users, run.warnings.as_slice()), (Some(5), [NO_ZONE.to_owned()].as_slice()));
        assert!(run.has_local_time);
    }

    #[test]
    fn a_delta_counts_in_the_interval_before_it() {
        let deltas = [
            ("16:56:00", 40, 25),
            ("16:56:30", 60, 85),
            ("16:57:01", 80, 100),
            ("16:57:30", 7, 100),
            ("16:57:38", 3, 0),
        ];
        let lines = deltas.map(|(time, ended, active)| {
            old(time, &format!("all of + it = + {ended:6} in  19,4s {}", rest(1, active)))
        });
        let total = old("16:57:38", &format!("all of + it = =    190 in   118s {}", rest(5, 0)));
        let run = run_of(&format!("{}{total}", lines.concat()));
        let found: Vec<_> = run.intervals.iter().map(|interval| (interval.ended(), interval.users)).collect();
        assert_eq!(found, [(40, 25), (60, 85), (80, 100), (7, 100), (3, 0)]);
        assert_eq!((run.all.good, run.all.failed, run.users), (185, 5, Some(100)));
        assert_eq!((run.began_ms, run.warnings.len()), (Some(1_420_908_940_600), 1), "{:?}", run.warnings);
        assert!((run.interval_s - 30.0).abs() < 1e-9 && (run.seconds - 118.0).abs() < 1e-9);
    }

    #[test]
    fn the_interval_is_that_of_most_lines() {
        for (length_s, late_s) in [(6, 0), (10, 5), (30, 3), (180, 5), (600, 2)] {
            let mut summariser = Summariser::new(1_420_900_200_000, 0.0);
            for index in 1..20 {
                let at_s = 1_420_900_200 + index * length_s + index * 7 % (late_s + 1);
                summariser.add(at_s * 1_000, Interval { good: 1, ..Interval::default() }).unwrap();
            }
            assert_eq!(summariser.interval_s(), length_s);
        }
    }

    #[test]
    fn many_deltas_lose_nothing() {
        let line = |index: u32| {
            old(
                &format!("{:02}:{:02}:{:02}", index / 120, index / 2 % 60, index % 2 * 30),
                &format!("s + 10 in 30s {}", rest(0, 5)),
            )
        };
        let run = run_of(&(0..500).map(line).collect::<String>());
        assert_eq!((run.all.good, run.intervals.len()), (5_000, 500));
        assert_eq!(run.intervals.iter().map(|interval| interval.good).sum::<u64>(), 5_000);
    }

    #[test]
    fn a_total_that_is_not_the_sum_is_told() {
        let delta = old("16:56:00", &format!("summary + 40 in 20s {}", rest(0, 1)));
        let total = old("16:56:30", &format!("summary = 41 in 00:00:50 {}", rest(1, 1)));
        let run = run_of(&format!("{delta}{total}"));
        assert_eq!((run.all.good, run.all.failed, run.warnings.len()), (40, 1, 2));
        let cut = run_of(&delta);
        assert_eq!((cut.all.good, cut.warnings.len(), cut.fidelity), (40, 1, Fidelity::Intervals));
    }

    #[test]
    fn a_total_alone_is_a_summary() {
        let text = "2026-11-25 09:39:59,129 INFO o.a.j.r.Summariser: summary =   2540 in 00:00:03 =  824.9/s Avg:     4 Min:     0 Max:    92 Err:   847 (33.35%)\n";
        let run = run_of(text);
        assert_eq!(
            (run.all.good, run.all.failed, run.fidelity, run.intervals.len()),
            (1_693, 847, Fidelity::Summary, 0)
        );
        assert_eq!((run.began_ms, run.seconds as u64), (Some(1_795_599_596_129), 3));
    }

    #[test]
    fn of_several_summarisers_that_which_counts_most_is_read() {
        let lines = [("few", 10), ("most", 30)]
            .map(|(name, ended)| old("16:56:00", &format!("{name} + {ended} in 20s {}", rest(0, 1))));
        let run = run_of(&lines.concat());
        assert_eq!((run.all.good, run.warnings.len()), (30, 2));
        assert!(run.warnings[1].contains("`few`"), "{:?}", run.warnings);
    }

    #[test]
    fn summarisers_that_count_the_same_are_not_added_up() {
        let run = run_of(include_str!("../fixtures/jmeter-5.6.3/transactions.log"));
        assert_eq!((run.all.good, run.all.failed, run.users, run.lines.bad), (96, 24, Some(3), 0));
        assert_eq!(run.intervals.iter().map(|interval| interval.ended()).sum::<u64>(), 120);
        let several = "it has several summarisers, which may count the same requests; that of `summary` counts most and is \
                       read, not `second`";
        assert_eq!(run.warnings, [NO_ZONE, several]);
    }

    #[test]
    fn logs_of_several_tests_and_of_none_are_refused() {
        let total = |ended| old("16:56:00", &format!("summary = {ended} in 20s {}", rest(0, 1)));
        let refused = |text: &str| read("jmeter.log", text.as_bytes(), Options::default()).unwrap_err();
        let running = format!("2015/01/10 16:58:00 INFO  - jmeter.engine.{RUNNING}\n");
        for between in ["", running.as_str()] {
            let text = format!("{}{between}{}", total(40), total(if between.is_empty() { 30 } else { 50 }));
            assert!(matches!(refused(&text), ImportError::Several { .. }), "{text}");
        }
        let begun = "2015/01/10 16:55:39 INFO  - jmeter.JMeter: Version 2.12 r1636949 \n";
        assert!(matches!(refused(begun), ImportError::Lacks { .. }));
    }

    #[test]
    fn what_a_summariser_says_and_cannot_be_read_is_counted() {
        let good = old("16:56:00", &format!("summary + 40 in 20s {}", rest(0, 1)));
        let broken = [
            old("16:56:00", "summary + 40 in 20s"),
            old("16:56:00", &format!("summary + 4 in 20s {}", rest(5, 1))),
            old("99:56:00", &format!("summary + 40 in 20s {}", rest(0, 1))),
            old("16:56:00", &format!("summary + 40 in 20h {}", rest(0, 1))),
            good.replace("2015", "2016"),
        ];
        let options = Options { is_lenient: true, ..Options::default() };
        let run = read("jmeter.log", format!("{good}{}", broken.concat()).as_bytes(), options).unwrap();
        assert_eq!((run.all.good, run.lines.read, run.lines.bad), (40, 6, 5));
    }
}
