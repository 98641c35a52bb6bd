//! What `mpstat` and `sar -u` print: a line for each processor and interval, with the time at which it ended.

use model::imported::HostSample;

use crate::clock::{Clock, date_of};
use crate::host_columns::{Columns, Heard};
use crate::text;

/// The tool that printed a text that begins so; `None` where neither did.
pub fn recognises(head: &str) -> Option<&'static str> {
    let mut lines = head.lines().filter(|line| !line.trim().is_empty());
    date_of(lines.next()?)?;
    lines.take(MOST_BEFORE).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        columns(&words)?;
        let is_mpstat = words.windows(2).any(|two| two == ["%iowait", "%irq"]);
        Some(if is_mpstat { "mpstat" } else { "sar" })
    })
}

/// Lines before the names of the columns at most: those of a restart.
const MOST_BEFORE: usize = 10;

/// Where the shares stand after the time; `None` where a line does not name them.
fn columns(words: &[&str]) -> Option<Columns> {
    let first = words.iter().position(|word| *word == "CPU")?;
    let names = words.get(first..)?;
    let at = |name: &str| names.iter().position(|one| *one == name);
    at("%user").or(at("%usr"))?;
    let system = ["%system", "%sys", "%irq", "%soft"].into_iter().filter_map(at).collect();
    Some(Columns { count: names.len(), system, iowait: at("%iowait")?, steal: at("%steal")?, idle: at("%idle")? })
}

/// A text of either tool that is being read.
#[derive(Debug, Default)]
pub struct Sysstat {
    /// Of the table that is being read; `None` in a table of something else.
    columns: Option<Columns>,
    clock: Clock,
    processors: Option<u32>,
}

impl Sysstat {
    /// The number of processors, where the first line says it.
    pub fn processors(&self) -> Option<u32> {
        self.processors
    }

    /// The sample of a line of all processors, with when it began in ms since 1970.
    pub fn hear(&mut self, line: &str) -> Heard {
        if line.starts_with("Linux ") {
            let ms = date_of(line).ok_or("its date cannot be read")?;
            self.clock.starts_on(ms);
            self.processors = processors(line).or(self.processors);
            return Ok(None);
        }
        let mut words: Vec<&str> = line.split_whitespace().collect();
        // `Average:`, in any language.
        if words.first().is_some_and(|word| word.ends_with(':')) {
            return Ok(None);
        }
        let half = words.get(1).copied().filter(|half| ["AM", "PM"].contains(half));
        let time = words.first().copied().unwrap_or_default();
        let at_ms = self.clock.at(time, half).ok_or("no time stands at its beginning")?;
        words.drain(..=usize::from(half.is_some()));
        if words.windows(2).any(|two| two == ["LINUX", "RESTART"]) {
            self.clock.passes(at_ms);
            self.processors = processors(line).or(self.processors);
            return Ok(None);
        }
        if is_heading(&words) {
            self.columns = columns(&words);
            self.clock.passes(at_ms);
            return Ok(None);
        }
        let Some(columns) = self.columns.as_ref().filter(|_| words.first() == Some(&"all")) else { return Ok(None) };
        let shares = columns.shares(&words)?;
        Ok(self
            .clock
            .since_last(at_ms)?
            .map(|(began_ms, length_s)| (began_ms, HostSample { start_s: 0.0, length_s, shares })))
    }
}

/// Whether a line names columns: nothing in it is a number.
fn is_heading(words: &[&str]) -> bool {
    words.len() > 1 && words.iter().all(|word| text::number(&word.replace(',', ".")).is_err())
}

/// The number in `(2 CPU)`.
fn processors(line: &str) -> Option<u32> {
    let (before, _) = line.rsplit_once(" CPU)")?;
    let (_, count) = before.rsplit_once('(')?;
    count.parse().ok().filter(|count| *count > 0)
}
