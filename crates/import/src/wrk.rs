//! What wrk and wrk2 print (`wrk.c`: `main`, `print_stats_latency`).

use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::text::{count, duration_ms, number};

pub const FORMAT: Format = Format { id: "wrk", tool: "wrk", fidelity: Fidelity::Summary, recognises, read };

/// How its output begins, and what stands before the URL.
const BEGINS: &str = "Running ";
const AT: &str = " test @ ";
/// What only wrk2 prints.
const OF_WRK2: [&str; 2] = ["Thread calibration:", "HdrHistogram"];

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines().any(|line| line.starts_with(BEGINS) && line.contains(AT)) && text.contains(" threads and ")
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut said = Said::default();
    reading.hear(|line| said.hear(line.trim()))?;
    if said.results > 1 {
        return Err(Broken::Several);
    }
    let (Some(answered), Some(seconds)) = (said.answered, said.seconds) else {
        return Err(Broken::Lacks("the line `… requests in …`: it did not end, or some is cut off"));
    };
    let not_2xx = said.not_2xx.min(answered);
    let of_sockets: u64 = said.of_sockets.iter().map(|(_, count)| count).sum();
    let answers = [("2xx or 3xx", answered - not_2xx), ("not 2xx or 3xx", not_2xx)];
    let codes = answers.into_iter().map(|(code, count)| (code.to_owned(), count));
    let of_errors = said.of_sockets.iter().map(|(kind, count)| (format!("{kind} error"), *count));
    let all = Requests {
        good: answered - not_2xx,
        failed: not_2xx.saturating_add(of_sockets),
        codes: codes.chain(of_errors).filter(|(_, count)| *count > 0).collect(),
        ..Requests::default()
    };
    let tool = if said.is_wrk2 { "wrk2" } else { FORMAT.tool };
    let run = reading.run(&FORMAT, Recorded::summary(all, seconds));
    Ok(ImportedRun {
        tool: tool.to_owned(),
        url: said.url,
        users: said.connections,
        stated_quantiles: said.quantiles,
        stated: said.stated,
        warnings: said.warnings,
        ..run
    })
}

/// What an output says.
#[derive(Debug, Default)]
struct Said {
    url: Option<String>,
    connections: Option<u32>,
    seconds: Option<f64>,
    /// Answers, whatever their status.
    answered: Option<u64>,
    /// Outputs that have come so far.
    results: u32,
    not_2xx: u64,
    /// Requests that no answer came to, by what failed.
    of_sockets: Vec<(&'static str, u64)>,
    quantiles: Vec<(f64, f64)>,
    stated: Stated,
    warnings: Vec<String>,
    is_wrk2: bool,
}

impl Said {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        self.is_wrk2 |= OF_WRK2.iter().any(|of_wrk2| line.contains(of_wrk2));
        if let Some((_, url)) = line.strip_prefix(BEGINS).and_then(|line| line.split_once(AT)) {
            self.url = Some(url.to_owned());
        } else if let Some((_, connections)) = line.split_once(" threads and ") {
            self.connections = u32::try_from(count(connections)?).ok();
        } else if let Some((answered, rest)) = line.split_once(" requests in ") {
            self.answered = Some(count(answered)?);
            self.results += 1;
            self.seconds = Some(duration_ms(rest.split(',').next().unwrap_or_default())? / 1e3);
        } else if let Some(rate) = line.strip_prefix("Requests/sec:") {
            self.stated.rate = Some(number(rate)?);
        } else if let Some(mean) = line.strip_prefix("Latency ").filter(|_| self.stated.mean_ms.is_none()) {
            // `Latency Distribution` follows with `--latency`.
            self.stated.mean_ms = mean.split_whitespace().next().and_then(|mean| duration_ms(mean).ok());
        } else if let Some(not_2xx) = line.strip_prefix("Non-2xx or 3xx responses:") {
            self.not_2xx = count(not_2xx)?;
        } else if let Some(errors) = line.strip_prefix("Socket errors:") {
            self.errors(errors)?;
        } else if let Some((percent, time)) = line.split_once('%').filter(|(percent, _)| percent.parse::<f64>().is_ok())
        {
            self.quantiles.push((number(percent)? / 100.0, duration_ms(time)?));
        }
        Ok(())
    }

    /// `connect 0, read 1, write 0, timeout 3`. An answer that comes after its time-out is counted, too.
    fn errors(&mut self, errors: &str) -> Result<(), &'static str> {
        for kind in ["connect", "read", "write", "timeout"] {
            let Some((_, number)) = errors.split_once(kind) else { continue };
            let count = count(number)?;
            if kind != "timeout" {
                self.of_sockets.push((kind, count));
            } else if count > 0 {
                self.warnings.push(format!("it counted {count} time-outs"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn an_output_is_read_whole() {
        let text = include_bytes!("../fixtures/wrk-debian-4.1.0-3+b2/latency.txt");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.users, run.all.good, run.all.failed), ("wrk", Some(5), 4_535, 0));
        assert!((run.seconds - 2.01).abs() < 1e-9 && run.url.unwrap().ends_with("/page"));
        assert_eq!(run.stated_quantiles, [(0.5, 2.11), (0.75, 2.15), (0.9, 2.22), (0.99, 4.2)]);
        assert_eq!(run.lines.bad, 0, "{:?}", run.lines);
    }

    #[test]
    fn error_pages_have_failed() {
        let text = include_bytes!("../fixtures/wrk-debian-4.1.0-3+b2/missing.txt");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.codes["not 2xx or 3xx"]), (0, 91_684, 91_684));
    }

    #[test]
    fn requests_without_an_answer_have_failed() {
        let text = "Running 2s test @ http://a/\n  1 threads and 5 connections\n  100 requests in 2.01s, 1MB read\n  \
                    Socket errors: connect 0, read 7, write 1, timeout 3\n";
        let run = read("a.txt", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.codes["read error"]), (100, 8, 7));
        assert_eq!(run.warnings, ["it counted 3 time-outs"]);
    }
}
