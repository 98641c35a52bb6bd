//! What `vmstat` prints: a line for each interval, with `-t` the time at which it ended. Its first line is of the time since the machine
//! began, and is left out.

use model::imported::HostSample;

use crate::host_columns::{Columns, Heard};
use crate::text::moment_ms;

/// Whether a text begins as vmstat's does.
pub fn recognises(head: &str) -> bool {
    let mut lines = head.lines().filter(|line| !line.trim().is_empty());
    lines.next().is_some_and(is_groups) && lines.next().is_some_and(|line| columns(line).is_some())
}

/// Whether a line names groups of columns: `procs -----------memory----------`.
fn is_groups(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('-')).collect();
    words.starts_with(&["procs", "memory", "swap", "io", "system", "cpu"])
}

/// Where the shares stand; `None` where a line does not name them.
fn columns(line: &str) -> Option<Columns> {
    let names: Vec<&str> = line.split_whitespace().collect();
    let at = |name: &str| names.iter().position(|one| *one == name);
    at("us")?;
    let (system, iowait, steal, idle) = (vec![at("sy")?], at("wa")?, at("st")?, at("id")?);
    Some(Columns { count: names.len(), system, iowait, steal, idle })
}

/// A text of vmstat that is being read.
#[derive(Debug, Default)]
pub struct Vmstat {
    columns: Option<Columns>,
    has_times: bool,
    /// When the last sample ended, ms since 1970.
    last_ms: Option<i64>,
    /// Whether the line of the time since the machine began is over.
    is_begun: bool,
}

impl Vmstat {
    /// Whether it has times.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// The sample of a line. Without times it begins at 0 and lasts a second.
    pub fn hear(&mut self, line: &str) -> Heard {
        if is_groups(line) {
            self.has_times = line.contains("timestamp");
            return Ok(None);
        }
        if let Some(mut columns) = columns(line) {
            // The name of the time zone stands above a date and a time.
            columns.count += usize::from(self.has_times);
            self.columns = Some(columns);
            return Ok(None);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let columns = self.columns.as_ref().ok_or("no names of columns stand before it")?;
        let shares = columns.shares(&words)?;
        let (mut began_ms, mut length_s) = (0, 1.0);
        let mut is_known = self.is_begun;
        if self.has_times {
            let date = words.iter().rev().take(2).rev().copied().collect::<Vec<_>>().join(" ");
            let at_ms = moment_ms(&date).ok_or("no time stands at its end")?;
            let last_ms = self.last_ms.replace(at_ms).unwrap_or(at_ms);
            if at_ms < last_ms {
                return Err("its time is before that of the line above");
            }
            (began_ms, length_s) = (last_ms, (at_ms - last_ms) as f64 / 1e3);
            is_known &= at_ms > last_ms;
        }
        self.is_begun = true;
        Ok(is_known.then_some((began_ms, HostSample { start_s: 0.0, length_s, shares })))
    }
}
