//! What `vegeta report` prints (`lib/reporters.go`: `NewTextReporter`).

use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::outcome::{add_error, add_status, mixed_times};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::NO_ANSWER;
use crate::recorder::Recorded;
use crate::text::{count, duration_ms, is_page, number};

pub const FORMAT: Format = Format { id: "vegeta", tool: "vegeta", fidelity: Fidelity::Summary, recognises, read };

/// The least rate whose two digits behind the point are within 5 %.
const LEAST_RATE: f64 = 0.1;

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    let has = |name: &str, value: &str| {
        text.lines().filter_map(row).any(|row| row.name == name && row.values_of.split(", ").any(|one| one == value))
    };
    has("Requests", "total") && has("Latencies", "mean") && !is_page(&text)
}

/// A line such as `Requests      [total, rate, throughput]         200, 100.93, 100.81`.
struct Row<'l> {
    name: &'l str,
    /// What its values are of, between commas.
    values_of: &'l str,
    values: &'l str,
}

fn row(line: &str) -> Option<Row<'_>> {
    let (name, rest) = line.split_once('[')?;
    let (values_of, values) = rest.split_once(']')?;
    Some(Row { name: name.trim(), values_of, values: values.trim() })
}

/// Adds requests with a status of a report; those without an answer have 0.
pub fn add_code(all: &mut Requests, code: &str, requests: u64) -> Result<(), &'static str> {
    match count(code)? {
        0 => add_error(all, NO_ANSWER, requests),
        status => add_status(all, status, requests),
    }
    Ok(())
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut said = Said::default();
    reading.hear(|line| said.hear(line))?;
    if said.results > 1 {
        return Err(Broken::Several);
    }
    let (Some(seconds), true) = (said.seconds, said.has_codes) else {
        return Err(Broken::Lacks("`Duration` or `Status Codes`: it did not end, or some is cut off"));
    };
    let run = reading.run(&FORMAT, Recorded::summary(said.all, seconds));
    let warnings = mixed_times(run.all.failed).into_iter().collect();
    Ok(ImportedRun { stated_quantiles: said.quantiles, stated: said.stated, warnings, ..run })
}

/// What a report says.
#[derive(Debug, Default)]
struct Said {
    seconds: Option<f64>,
    /// Reports that have come so far.
    results: u32,
    has_codes: bool,
    all: Requests,
    quantiles: Vec<(f64, f64)>,
    stated: Stated,
}

impl Said {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        let Some(Row { name, values_of, values }) = row(line) else { return Ok(()) };
        match name {
            "Requests" => {
                self.results += 1;
                // The rate is that at which it asked. What was answered well, in all the time, is the throughput.
                let throughput = values_of.split(", ").zip(values.split(", ")).find(|(name, _)| *name == "throughput");
                let throughput = throughput.map(|(_, value)| number(value)).transpose()?;
                self.stated.rate = throughput.filter(|rate| *rate >= LEAST_RATE);
            }
            "Duration" => self.seconds = Some(duration_ms(values.split(',').next().unwrap_or_default())? / 1e3),
            "Latencies" => {
                for (name, value) in values_of.split(", ").zip(values.split(", ")) {
                    if name == "mean" {
                        self.stated.mean_ms = Some(duration_ms(value)?);
                    }
                    let fraction =
                        if name == "max" { Some(1.0) } else { number(name).ok().map(|percent| percent / 100.0) };
                    let Some(fraction) = fraction else { continue };
                    self.quantiles.push((fraction, duration_ms(value)?));
                }
            }
            "Status Codes" => {
                self.has_codes = true;
                for code in values.split_whitespace() {
                    let (code, requests) = code.split_once(':').ok_or("no count stands behind a status")?;
                    add_code(&mut self.all, code, count(requests)?)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::imported::Stated;

    use crate::{ImportError, Options, read};

    #[test]
    fn a_report_is_read_whole() {
        let text = include_bytes!("../fixtures/vegeta-12.13.0/mixed.txt");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("vegeta", 20, 40, 0));
        assert_eq!((run.all.codes["200"], run.all.codes["404"], run.all.codes["no answer"]), (20, 20, 20));
        let fractions: Vec<f64> = run.stated_quantiles.iter().map(|(fraction, _)| *fraction).collect();
        assert_eq!(fractions, [0.5, 0.9, 0.95, 0.99, 1.0]);
        assert_eq!(run.stated, Stated { rate: Some(20.33), mean_ms: Some(0.996_405) });
        assert!(run.seconds > 0.9 && run.seconds < 1.2, "{}", run.seconds);
    }

    #[test]
    fn times_of_minutes_are_read() {
        let text = "Requests      [total, rate]            1200, 120.00\n\
                    Duration      [total, attack, wait]    1m10.094965987s, 9.949883921s, 145.082066ms\n\
                    Latencies     [mean, 50, 95, 99, max]  113.172398ms, 108.272568ms, 140.18235ms, 247.771566ms, 264.815246ms\n\
                    Success       [ratio]                  55.42%\n\
                    Status Codes  [code:count]             0:535  200:665\n";
        let run = read("a.txt", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed), (665, 535));
        assert!((run.seconds - 70.094_965_987).abs() < 1e-9 && run.stated_quantiles[1] == (0.95, 140.18235), "{run:?}");
        assert_eq!(run.stated.rate, None, "it asked at 120 a second, and was not answered so fast");
        let refused = read("a.txt", text.repeat(2).as_bytes(), Options::default());
        assert!(matches!(refused, Err(ImportError::Several { .. })));
        let page = format!("```console\n{text}```\n");
        assert!(matches!(read("a.md", page.as_bytes(), Options::default()), Err(ImportError::Unknown { .. })));
    }
}
