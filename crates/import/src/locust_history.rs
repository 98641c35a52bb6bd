//! Locust's numbers of each moment, `*_stats_history.csv`: `StatsCSVFileWriter` of Locust. Its counts are those since the beginning.

use model::imported::{Fidelity, ImportedRun, Interval, Requests};

use crate::csv::Fields;
use crate::locust_rows::{Counted, DELIMITER, names, place, text};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{LONGEST_MS, Recorded};
use crate::series::Series;
use crate::text::count;

pub const FORMAT: Format =
    Format { id: "locust-history", tool: "Locust", fidelity: Fidelity::Intervals, recognises, read };

/// Steps from one moment to the next by which the length of an interval is decided.
const STEPS: usize = 16;
/// The longest interval, seconds.
const LONGEST_STEP: i64 = 3_600;

/// The columns that are made use of, by Locust's names.
#[derive(Debug)]
struct Columns {
    time: usize,
    users: usize,
    counted: Counted,
}

impl Columns {
    fn of(head: &[u8]) -> Option<Self> {
        let names = names(head);
        Some(Self {
            time: place(&names, "Timestamp")?,
            users: place(&names, "User Count")?,
            counted: Counted::named(&names, "Total Request Count", "Total Failure Count")?,
        })
    }

    /// What a row says of all requests together; `None` of one that is about some of them.
    fn moment(&self, row: &Fields) -> Result<Option<Moment>, &'static str> {
        let (good, failed) = self.counted.ended(row)?;
        if !self.counted.is_of_all(row) {
            return Ok(None);
        }
        let at = |place| text(row, place).and_then(count);
        let time = at(self.time)?.try_into().map_err(|_| "its time lies beyond all calendars")?;
        Ok(Some(Moment { time, good, failed, users: at(self.users)?.try_into().unwrap_or(u32::MAX) }))
    }
}

/// Counts since the beginning, at a moment.
#[derive(Debug, Clone, Copy)]
struct Moment {
    /// Seconds since 1970.
    time: i64,
    good: u64,
    failed: u64,
    users: u32,
}

fn recognises(head: &[u8], _: Options) -> bool {
    Columns::of(head).is_some()
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let columns = Columns::of(reading.lines.head()?).ok_or(Broken::Unknown)?;
    let mut history = History::default();
    reading.hear_fields(DELIMITER, true, |row| match columns.moment(row)? {
        Some(moment) => history.hear(moment),
        None => Ok(()),
    })?;
    let (recorded, warnings) = history.finish();
    let run = reading.run(&FORMAT, recorded);
    Ok(ImportedRun { has_counted_users: true, warnings, ..run })
}

/// The counts of a run, one moment after another.
#[derive(Debug, Default)]
struct History {
    last: Option<Moment>,
    /// When requests began and were last seen to end, seconds since 1970.
    span: Option<(i64, i64)>,
    /// The first moments, while the length of an interval is not decided.
    first: Vec<(i64, Interval)>,
    series: Option<Series>,
    all: Interval,
    /// The counts began anew on the way.
    is_reset: bool,
}

impl History {
    /// Takes the next moment, or says why it is none.
    fn hear(&mut self, now: Moment) -> Result<(), &'static str> {
        // What the first one has counted ended before.
        let last = self.last.unwrap_or(now);
        let length = now.time.checked_sub(last.time).filter(|length| *length >= 0);
        let length = length.ok_or("its time lies before that of the line before")?;
        let since = self.span.map_or(last.time, |(began, _)| began);
        if now.time.saturating_sub(since).saturating_mul(1_000) > LONGEST_MS {
            return Err("its time lies more than 90 days from that of the others");
        }
        let is_reset = now.good + now.failed < last.good + last.failed;
        let (good, failed) = if is_reset { (0, 0) } else { (last.good, last.failed) };
        self.is_reset |= is_reset;
        self.last = Some(now);
        let ended = Interval {
            good: now.good.saturating_sub(good),
            failed: now.failed.saturating_sub(failed),
            users: now.users,
            ..Interval::default()
        };
        if ended.ended() == 0 && self.span.is_none() {
            return Ok(());
        }
        let (began, until) = self.span.unwrap_or((last.time, last.time));
        self.span = Some((began, if ended.ended() > 0 { now.time } else { until }));
        self.all.good = self.all.good.saturating_add(ended.good);
        self.all.failed = self.all.failed.saturating_add(ended.failed);
        if let Some(series) = &mut self.series {
            add(series, now.time, ended);
            return Ok(());
        }
        self.first.push((length, ended));
        if self.first.len() == STEPS {
            self.decide();
        }
        Ok(())
    }

    /// Begins the series: its intervals are as long as most steps so far.
    fn decide(&mut self) {
        let mut steps: Vec<i64> = self.first.iter().map(|(length, _)| *length).filter(|length| *length > 0).collect();
        steps.sort_unstable();
        let step = steps.get(steps.len() / 2).copied().unwrap_or(1).min(LONGEST_STEP);
        let mut series = Series::of(step * 1_000);
        let mut time = self.span.map_or(0, |(began, _)| began);
        for (length, ended) in self.first.drain(..) {
            time += length;
            add(&mut series, time, ended);
        }
        self.series = Some(series);
    }

    /// All that was recorded, and what is to be said about it.
    fn finish(mut self) -> (Recorded, Vec<String>) {
        if self.series.is_none() {
            self.decide();
        }
        let all = Requests { good: self.all.good, failed: self.all.failed, ..Requests::default() };
        let began_ms = self.span.map(|(began, _)| began.saturating_mul(1_000));
        let seconds = self.span.map_or(0.0, |(began, until)| (until - began) as f64);
        let series = self.series.unwrap_or_else(Series::of_seconds);
        let anew = "its counts began anew on the way; what ended just before that is not counted";
        let warnings = self.is_reset.then(|| anew.to_owned()).into_iter().collect();
        (Recorded::series(all, series, began_ms, seconds), warnings)
    }
}

/// Adds what ended in the time before a moment.
fn add(series: &mut Series, time: i64, ended: Interval) {
    series.add(time.saturating_mul(1_000) - 1, ended);
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};
    use model::imported::{ImportedRun, Interval};

    const PAGE: &[u8] = include_bytes!("../fixtures/locust-2.47.0/page_stats_history.csv");

    #[test]
    fn the_counts_of_each_second_are_differences() {
        let run = read("page_stats_history.csv", PAGE, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed), ("locust-history", 752, 172));
        assert_eq!((run.users, run.began_ms, run.intervals.len()), (Some(5), Some(1_795_599_766_000), 11));
        assert!((run.seconds - 11.0).abs() < 1e-9 && (run.interval_s - 1.0).abs() < 1e-9, "{run:?}");
        assert_eq!(run.intervals[0], Interval { good: 29, failed: 4, users: 2, ..Interval::default() });
        assert_eq!(run.intervals[10].ended(), 88);
        assert_eq!((run.lines.read, run.lines.bad), (35, 0));
    }

    fn of(moments: &[(i64, u32, u64, u64)]) -> ImportedRun {
        let names = "Timestamp,User Count,Type,Name,Total Request Count,Total Failure Count\n".to_owned();
        let row = |(time, users, ended, failed): &(i64, u32, u64, u64)| {
            format!("{time},{users},,Aggregated,{ended},{failed}\n")
        };
        let text = names + &moments.iter().map(row).collect::<String>();
        read("a.csv", text.as_bytes(), Options { is_lenient: true, ..Options::default() }).unwrap()
    }

    #[test]
    fn intervals_are_as_long_as_most_steps() {
        let moments: Vec<(i64, u32, u64, u64)> = (0..100).map(|step| (10 * step, 5, 70 * step as u64, 0)).collect();
        let run = of(&moments);
        assert!((run.interval_s - 10.0).abs() < 1e-9, "{}", run.interval_s);
        assert!(run.intervals.iter().all(|interval| interval.good == 70) && run.intervals.len() == 99);
    }

    #[test]
    fn what_comes_before_the_first_request_is_no_part_of_the_run() {
        let run = of(&[(100, 0, 0, 0), (200, 0, 0, 0), (201, 3, 40, 1), (202, 3, 80, 1), (203, 0, 80, 1)]);
        assert_eq!((run.began_ms, run.all.good, run.all.failed, run.intervals.len()), (Some(200_000), 79, 1, 3));
        assert!((run.seconds - 2.0).abs() < 1e-9, "{}", run.seconds);
    }

    #[test]
    fn counts_that_begin_anew_are_said() {
        let run = of(&[(100, 3, 50, 0), (101, 3, 90, 0), (102, 3, 30, 0), (103, 3, 60, 0), (90, 3, 70, 0)]);
        assert_eq!((run.all.good, run.warnings.len(), run.lines.bad), (40 + 30 + 30, 1, 1));
    }
}
