//! What h2load prints (`h2load.cc`: `main`).

use std::collections::BTreeMap;

use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::text::{count_before, duration_ms, number};

pub const FORMAT: Format = Format { id: "h2load", tool: "h2load", fidelity: Fidelity::Summary, recognises, read };

/// The words of the line with all counts.
const COUNTS: [&str; 7] = ["total", "started", "done", "succeeded", "failed", "errored", "timeout"];

fn recognises(head: &[u8], _: Options) -> bool {
    String::from_utf8_lossy(head).lines().any(|line| counts(line).is_some())
}

/// `requests: 500 total, 500 started, 500 done, 499 succeeded, 1 failed, 0 errored, 0 timeout`
fn counts(line: &str) -> Option<[u64; 7]> {
    let line = line.strip_prefix("requests: ")?;
    let counts = COUNTS.map(|word| count_before(line, word));
    counts.iter().all(Option::is_some).then(|| counts.map(Option::unwrap_or_default))
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut said = Said::default();
    reading.hear(|line| said.hear(line))?;
    if said.results > 1 {
        return Err(Broken::Several);
    }
    let (Some(seconds), Some([.., good, failed, errored, _])) = (said.seconds, said.counts) else {
        return Err(Broken::Lacks("the lines `finished in` or `requests:`: it did not end, or some is cut off"));
    };
    // Those with an error of the connection are among the failed.
    let errors = [("error of the connection".to_owned(), errored)];
    let codes: BTreeMap<_, _> = said.codes.into_iter().chain(errors).filter(|(_, count)| *count > 0).collect();
    let (of_codes, ended) = (codes.values().sum::<u64>(), good + failed);
    let more = format!("its statuses and errors add up to {of_codes} requests, and only {ended} ended");
    let warnings = Some(more).filter(|_| of_codes > ended).into_iter().collect();
    let all = Requests { good, failed, codes, ..Requests::default() };
    let run = reading.run(&FORMAT, Recorded::summary(all, seconds));
    Ok(ImportedRun { users: Some(said.clients).filter(|clients| *clients > 0), stated: said.stated, warnings, ..run })
}

/// What an output says.
#[derive(Debug, Default)]
struct Said {
    seconds: Option<f64>,
    counts: Option<[u64; 7]>,
    /// Outputs that have come so far.
    results: u32,
    codes: Vec<(String, u64)>,
    clients: u32,
    stated: Stated,
}

impl Said {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        if let Some(rest) = line.strip_prefix("finished in ") {
            let mut parts = rest.split(',');
            self.seconds = Some(duration_ms(parts.next().unwrap_or_default())? / 1e3);
            self.stated.rate = parts.next().and_then(|rate| number(rate).ok());
        } else if let Some(columns) = line.strip_prefix("time for request:") {
            // Least, most, mean, …
            self.stated.mean_ms = columns.split_whitespace().nth(2).and_then(|mean| duration_ms(mean).ok());
        } else if line.starts_with("spawning thread #") {
            let own = count_before(line, "total").and_then(|clients| u32::try_from(clients).ok());
            self.clients = self.clients.saturating_add(own.unwrap_or(0));
        } else if let Some(counts) = counts(line) {
            self.counts = Some(counts);
            self.results += 1;
        } else if let Some(rest) = line.strip_prefix("status codes: ") {
            let codes = ["2xx", "3xx", "4xx", "5xx"];
            self.codes = codes.map(|code| (code.to_owned(), count_before(rest, code).unwrap_or(0))).into();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn an_output_is_read_whole() {
        let text = include_bytes!("../fixtures/h2load-1.52.0/page.txt");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.users, run.all.good, run.all.failed), ("h2load", Some(5), 500, 0));
        assert!((run.seconds - 0.238).abs() < 1e-9 && run.all.codes["2xx"] == 500, "{run:?}");
        assert_eq!(run.lines.bad, 0);
    }

    #[test]
    fn error_pages_have_failed() {
        let text = include_bytes!("../fixtures/h2load-1.52.0/missing.txt");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.codes["4xx"]), (0, 200, 200));
    }

    #[test]
    fn more_statuses_than_requests_are_told() {
        let text = include_str!("../fixtures/h2load-1.52.0/missing.txt").replace("200 4xx", "201 4xx");
        let run = read("a.txt", text.as_bytes(), Options::default()).unwrap();
        assert_eq!(run.warnings, ["its statuses and errors add up to 201 requests, and only 200 ended"]);
    }
}
