//! The form in which hey and oha print what they found; oha's was made after that of hey.

use crate::reading::{Broken, Reading};
use crate::text::{count, number};

/// What it says beside how requests ended.
pub struct Printed {
    pub seconds: f64,
    /// Requests a second, as the tool counts them.
    pub rate: f64,
    /// Of the answers of which the tool states times, whatever their status; `None` where there was none.
    pub mean_ms: Option<f64>,
    /// Fractions of them, and milliseconds.
    pub quantiles: Vec<(f64, f64)>,
}

/// How requests ended.
pub enum End<'l> {
    /// With an answer of this status.
    Status(u64),
    /// Without an answer; in the tool's words.
    Error(&'l str),
}

/// Reads a result in this form, and lets be heard how many requests ended in which way.
pub fn read(reading: &mut Reading, ended: impl FnMut(End, u64)) -> Result<Printed, Broken> {
    let mut heard = Heard {
        part: Part::Other,
        seconds: None,
        rate: None,
        mean_ms: None,
        quantiles: Vec::new(),
        results: 0,
        has_statuses: false,
        ended,
    };
    reading.hear(|line| heard.hear(line))?;
    if heard.results > 1 {
        return Err(Broken::Several);
    }
    let (Some(seconds), Some(rate), true) = (heard.seconds, heard.rate, heard.has_statuses) else {
        return Err(Broken::Lacks("`Total`, `Requests/sec` or the statuses: it did not end, or some is cut off"));
    };
    Ok(Printed { seconds, rate, mean_ms: heard.mean_ms, quantiles: heard.quantiles })
}

/// Whether a number stands behind a name anywhere in a text.
pub fn has_number(text: &str, name: &str) -> bool {
    text.lines().any(|line| value(line, name).is_some_and(|value| number(value).is_ok()))
}

/// What stands behind a name: `0.2628 secs` in `  Total: 0.2628 secs`, where a tab separates them.
pub fn value<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    line.trim_start().strip_prefix(name)?.strip_prefix(":\t")
}

/// Where in it a line stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Other,
    Quantiles,
    Statuses,
    Errors,
}

/// What was heard so far.
struct Heard<E> {
    part: Part,
    seconds: Option<f64>,
    rate: Option<f64>,
    mean_ms: Option<f64>,
    quantiles: Vec<(f64, f64)>,
    /// Results that have come so far.
    results: u32,
    has_statuses: bool,
    ended: E,
}

impl<E: FnMut(End, u64)> Heard<E> {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        if !line.starts_with(' ') {
            self.part = match line.trim_end() {
                // oha has others, of the successes alone. hey and older versions of oha have the second name.
                "Response time distribution:" | "Latency distribution:" => Part::Quantiles,
                "Status code distribution:" => Part::Statuses,
                "Error distribution:" => Part::Errors,
                _ => Part::Other,
            };
            self.has_statuses |= self.part == Part::Statuses;
            return Ok(());
        }
        match (self.part, numbered(line)) {
            (Part::Statuses, Some((status, answers))) => (self.ended)(End::Status(count(status)?), count(answers)?),
            (Part::Errors, Some((errors, error))) => (self.ended)(End::Error(error.trim()), count(errors)?),
            (Part::Quantiles, _) => {
                let (percent, time) = line.split_once('%').ok_or(NO_QUANTILE)?;
                // Some versions of hey print two of them.
                let time = time.trim_start_matches('%').strip_prefix(" in ").ok_or(NO_QUANTILE)?;
                let fraction = number(percent)? / 100.0;
                self.quantiles.extend(time_ms(time)?.map(|ms| (fraction, ms)));
            }
            _ => self.hear_number(line)?,
        }
        Ok(())
    }

    /// Takes a line of the numbers of the whole.
    fn hear_number(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some(total) = value(line, "Total") {
            self.seconds = time_ms(total)?.map(|ms| ms / 1e3);
            self.results += 1;
        } else if let Some(rate) = value(line, "Requests/sec") {
            self.rate = Some(number(rate)?);
        } else if let Some(mean) = value(line, "Average") {
            self.mean_ms = time_ms(mean)?;
        } else if let Some(slowest) = value(line, "Slowest") {
            // hey has 0 of no answer.
            self.quantiles.extend(time_ms(slowest)?.filter(|ms| *ms > 0.0).map(|ms| (1.0, ms)));
        }
        Ok(())
    }
}

const NO_QUANTILE: &str = "it is no quantile";

/// `  [200] 500 responses`: what stands in brackets, and behind them.
fn numbered(line: &str) -> Option<(&str, &str)> {
    line.trim_start().strip_prefix('[')?.split_once(']')
}

/// A time such as `261.2037 ms`, milliseconds; `None` where there was no answer to take it of.
fn time_ms(text: &str) -> Result<Option<f64>, &'static str> {
    const NO_UNIT: &str = "no unit of time stands where one must";
    let (amount, unit) = text.trim().split_once(' ').ok_or(NO_UNIT)?;
    // Old versions of hey write `secs.`.
    let factor = match unit.trim_end_matches('.') {
        "ns" => 1e-6,
        "us" => 1e-3,
        "ms" => 1.0,
        "sec" | "secs" => 1e3,
        "10 sec" => 1e4,
        "min" => 6e4,
        "10 min" => 6e5,
        "hr" => 3.6e6,
        _ => return Err(NO_UNIT),
    };
    // Means of nothing are no number, and extremes of nothing infinite.
    if ["NaN", "inf", "-inf"].contains(&amount) {
        return Ok(None);
    }
    Ok(Some(number(amount)? * factor).filter(|ms| ms.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::time_ms;

    #[test]
    fn times_have_their_units() {
        assert_eq!(
            (time_ms("2.5 10 sec"), time_ms(" 0.5 hr"), time_ms("NaN ns"), time_ms("0.25 secs.")),
            (Ok(Some(25_000.0)), Ok(Some(1.8e6)), Ok(None), Ok(Some(250.0)))
        );
        assert!(time_ms("2.5").is_err() && time_ms("2.5 days").is_err() && time_ms("-2 ms").is_err());
    }
}
