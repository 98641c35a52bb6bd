//! Samples of metrics, as k6 writes them one by one, into requests.

use model::imported::ImportedRun;

use crate::outcome::{cause, is_success, only_url};
use crate::reading::{Format, Reading};
use crate::recorder::NO_ANSWER;
use crate::recorder::{Recorder, Request};

/// A sample of a metric, with those of its tags that are made use of; a tag that it has not is empty.
pub struct Point<'l> {
    pub metric: &'l str,
    pub time: &'l str,
    pub value: f64,
    pub method: &'l str,
    pub name: &'l str,
    pub status: &'l str,
    pub error: &'l str,
    pub error_code: &'l str,
    pub expected_response: &'l str,
}

/// What samples came to so far.
pub struct Points {
    recorder: Recorder,
    users: u32,
    recorded_failed: u64,
    /// Requests that k6 counts as failed; `None` where it counts none of them.
    failed: Option<u64>,
    checks: u64,
    failed_checks: u64,
    dropped: f64,
}

impl Points {
    pub fn new() -> Self {
        Self {
            recorder: Recorder::new(),
            users: 0,
            recorded_failed: 0,
            failed: None,
            checks: 0,
            failed_checks: 0,
            dropped: 0.0,
        }
    }

    /// Takes a sample. `time_ms` reads its time, milliseconds since 1970.
    pub fn take(&mut self, point: &Point, time_ms: impl Fn(&str) -> Option<i64>) -> Result<(), &'static str> {
        if !(point.value.is_finite() && point.value >= 0.0) {
            return Err("its value is no number of zero or more");
        }
        let is_one = u64::from(point.value > 0.0);
        match point.metric {
            "http_req_duration" => self.request(point, time_ms(point.time).ok_or("its time is none")?)?,
            "http_req_failed" => self.failed = Some(self.failed.unwrap_or(0) + is_one),
            "vus" => self.users = point.value as u32,
            "checks" => {
                self.checks += 1;
                self.failed_checks += 1 - is_one;
            }
            "dropped_iterations" => self.dropped += point.value,
            _ => {}
        }
        Ok(())
    }

    /// Records the request that took so long and ended now.
    fn request(&mut self, point: &Point, ended_ms: i64) -> Result<(), &'static str> {
        let took_us = (point.value * 1e3).round() as u64;
        let before = i64::try_from(took_us / 1_000).map_err(|_| "it took longer than time lasts")?;
        let status: u64 = point.status.parse().unwrap_or(0);
        let errors = [cause(point.error), point.error_code, NO_ANSWER];
        let error = errors.into_iter().find(|error| !error.is_empty()).unwrap_or_default();
        let label = format!("{} {}", point.method, point.name);
        let is_good = match point.expected_response {
            "true" => true,
            "false" => false,
            _ => is_success(status),
        };
        self.recorder.add(&Request {
            began_ms: ended_ms.checked_sub(before).ok_or("its time lies beyond all calendars")?,
            took_us,
            label: label.trim().as_bytes(),
            code: if status == 0 { error.as_bytes() } else { point.status.as_bytes() },
            is_good,
            bytes: None,
            users: self.users,
        })?;
        self.recorded_failed += u64::from(!is_good);
        Ok(())
    }

    /// What there is when all is read.
    pub fn run(self, reading: &mut Reading, format: &Format) -> ImportedRun {
        let failed = self.failed.filter(|failed| *failed != self.recorded_failed);
        let differs = failed.map(|failed| {
            format!("k6 counts {failed} requests as failed; by their tags and statuses, {} have", self.recorded_failed)
        });
        let run = reading.run(format, self.recorder.finish());
        let warnings = [differs, failed_checks(self.failed_checks, self.checks), dropped(self.dropped)];
        ImportedRun {
            url: only_url(&run.labels),
            has_counted_users: true,
            warnings: warnings.into_iter().flatten().collect(),
            ..run
        }
    }
}

/// A warning where checks failed: answers that were not what the script expects may be good ones to k6.
pub fn failed_checks(failed: u64, checks: u64) -> Option<String> {
    (failed > 0)
        .then(|| format!("{failed} of {checks} checks of the script failed: k6 does not count that as failed requests"))
}

/// A warning where iterations were not begun in time.
pub fn dropped(iterations: f64) -> Option<String> {
    (iterations > 0.0)
        .then(|| format!("k6 left out {iterations} iterations: it had no user for them, and did not keep its rate"))
}
