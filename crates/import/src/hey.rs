//! What hey prints (`requester/print.go`).

use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::outcome::{add_code, add_error, add_status, mixed_times};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::text::{count, is_page, number};

pub const FORMAT: Format = Format { id: "hey", tool: "hey", fidelity: Fidelity::Summary, recognises, read };

/// Most answers whose status and time hey keeps (`maxRes`).
pub const MOST_KEPT: u64 = 1_000_000;

/// Seconds from which on the four digits behind the point of `Total` are a rate within 1 %.
const LEAST_S: f64 = 0.005;

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    // What oha prints is made after hey, and has a rate of successes.
    let is_of_oha = text.contains("Success rate:");
    has_number(&text, "Total") && has_number(&text, "Requests/sec") && !is_of_oha && !is_page(&text)
}

/// Whether a number stands behind a name anywhere in a text.
pub fn has_number(text: &str, name: &str) -> bool {
    text.lines().any(|line| value(line, name).is_some_and(|value| number(value).is_ok()))
}

/// What stands behind a name: `0.2628 secs` in `  Total: 0.2628 secs`, where a tab separates them.
pub fn value<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    line.trim_start().strip_prefix(name)?.strip_prefix(":\t")
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut said = Said::default();
    reading.hear(|line| said.hear(line))?;
    if said.results > 1 {
        return Err(Broken::Several);
    }
    let (Some(seconds), Some(rate), true) = (said.seconds, said.rate, said.has_statuses) else {
        return Err(Broken::Lacks("`Total`, `Requests/sec` or the statuses: it did not end, or some is cut off"));
    };
    let mut all = said.all;
    let mut warnings: Vec<String> = mixed_times(said.answered.saturating_sub(all.good)).into_iter().collect();
    if said.answered == MOST_KEPT {
        let more = ((seconds * rate).round() as u64).saturating_sub(all.ended());
        add_code(&mut all, "not kept", more);
        all.good += more;
        warnings.push(format!(
            "hey keeps {MOST_KEPT} answers: {more} more came, whose status and time are not known; here they count as good"
        ));
    }
    let run = reading.run(&FORMAT, Recorded::summary(all, seconds));
    let stated = Stated { rate: Some(rate).filter(|_| seconds >= LEAST_S), mean_ms: said.mean_ms };
    Ok(ImportedRun { stated_quantiles: said.quantiles, stated, warnings, ..run })
}

/// Where in an output a line stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Part {
    #[default]
    Other,
    Statuses,
    Errors,
}

/// What an output says.
#[derive(Debug, Default)]
struct Said {
    part: Part,
    seconds: Option<f64>,
    /// Requests a second, those without an answer among them.
    rate: Option<f64>,
    /// Of all answers, whatever their status.
    mean_ms: Option<f64>,
    /// Outputs that have come so far.
    results: u32,
    has_statuses: bool,
    answered: u64,
    all: Requests,
    quantiles: Vec<(f64, f64)>,
}

impl Said {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some((number, rest)) = numbered(line).filter(|_| self.part != Part::Other) {
            let number = count(number)?;
            if self.part == Part::Errors {
                add_error(&mut self.all, rest, number);
            } else {
                let answers = count(rest)?;
                self.answered = self.answered.saturating_add(answers);
                add_status(&mut self.all, number, answers);
            }
        } else if !line.starts_with(' ') {
            self.part = match line.trim_end() {
                "Status code distribution:" => Part::Statuses,
                "Error distribution:" => Part::Errors,
                _ => Part::Other,
            };
            self.has_statuses |= self.part == Part::Statuses;
        } else if let Some(total) = value(line, "Total") {
            self.seconds = Some(number(total)?);
            self.results += 1;
        } else if let Some(rate) = value(line, "Requests/sec") {
            self.rate = Some(number(rate)?);
        } else if let Some(mean) = value(line, "Average") {
            // Of no answer, there is none.
            self.mean_ms = (mean.trim() != "NaN secs").then(|| number(mean)).transpose()?.map(|seconds| seconds * 1e3);
        } else if let Some((percent, rest)) = line.split_once('%') {
            // Some versions print two of them.
            let Some(time) = rest.trim_start_matches('%').strip_prefix(" in ") else { return Ok(()) };
            self.quantiles.push((number(percent)? / 100.0, 1e3 * number(time)?));
        } else if let Some(slowest) = value(line, "Slowest") {
            // Of no answer, it is 0.
            let ms = 1e3 * number(slowest)?;
            self.quantiles.extend(Some((1.0, ms)).filter(|(_, ms)| *ms > 0.0));
        }
        Ok(())
    }
}

/// `  [200] 500 responses`: what stands in brackets, and behind them.
pub fn numbered(line: &str) -> Option<(&str, &str)> {
    line.trim_start().strip_prefix('[')?.split_once(']')
}

#[cfg(test)]
mod tests {
    use model::imported::Stated;

    use crate::{ImportError, Options, read};

    const PAGE: &[u8] = include_bytes!("../fixtures/hey-0.1.5/page.txt");

    #[test]
    fn an_output_is_read_whole() {
        let run = read("a.txt", PAGE, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("hey", 500, 0, 0));
        assert!(run.all.codes["200"] == 500 && run.seconds > 0.2 && run.seconds < 2.0, "{run:?}");
        let fractions: Vec<f64> = run.stated_quantiles.iter().map(|(fraction, _)| *fraction).collect();
        assert_eq!(fractions, [1.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99]);
        assert_eq!((run.stated.rate, run.stated.mean_ms.map(f64::round)), (Some(2_112.113), Some(2.0)));
        let median_us = run.quantile_us(0.5).unwrap();
        assert!(median_us > 2_000.0 && median_us < 4_000.0, "{median_us}");
    }

    #[test]
    fn error_pages_and_requests_without_an_answer_have_failed() {
        let missing = include_bytes!("../fixtures/hey-0.1.5/missing.txt");
        let run = read("a.txt", &missing[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.codes["404"]), (0, 200, 200));
        assert_eq!(run.warnings, ["its times are those of all requests: 200 that failed are among them"]);
        let refused = include_bytes!("../fixtures/hey-0.1.5/refused.txt");
        let run = read("a.txt", &refused[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.codes["connection refused"]), (0, 20, 20));
        assert_eq!((run.stated_quantiles.len(), run.lines.bad), (0, 0));
        assert_eq!(run.stated, Stated::default(), "the time is too short");
    }

    #[test]
    fn answers_beyond_those_it_keeps_are_counted() {
        let text = "\nSummary:\n  Total:\t50.0000 secs\n  Requests/sec:\t30000.0000\n\nLatency distribution:\n  50% in 0.0021 secs\n\n\
                    Status code distribution:\n  [200]\t1000000 responses\n\nError distribution:\n  [7]\tEOF\n";
        let run = read("a.txt", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.codes["not kept"]), (1_499_993, 7, 499_993));
        assert!(run.warnings[0].starts_with("hey keeps 1000000 answers: 499993 more came"), "{:?}", run.warnings);
        assert_eq!(run.stated_quantiles, [(0.5, 2.1)]);
    }

    #[test]
    fn one_that_did_not_end_and_two_in_one_file_are_refused() {
        let text = String::from_utf8_lossy(PAGE);
        let cut = &text[..text.find("Status code").unwrap()];
        assert!(matches!(read("a.txt", cut.as_bytes(), Options::default()), Err(ImportError::Lacks { .. })));
        let two = text.repeat(2);
        assert!(matches!(read("a.txt", two.as_bytes(), Options::default()), Err(ImportError::Several { .. })));
    }

    #[test]
    fn a_page_about_it_is_none() {
        let page = format!("# hey\n```\n{}```\n", String::from_utf8_lossy(PAGE));
        assert!(matches!(read("README.md", page.as_bytes(), Options::default()), Err(ImportError::Unknown { .. })));
    }
}
