//! What ApacheBench prints (`ab.c` of Apache httpd: `output_results`).

use model::BodyLength;
use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{NO_ANSWER, Recorded};
use crate::text::{count, number};

pub const FORMAT: Format = Format { id: "ab", tool: "ApacheBench", fidelity: Fidelity::Summary, recognises, read };

/// The line that each of its outputs has.
const TITLE: &str = "This is ApacheBench, Version ";
/// Where the first result stands: outputs are cut at the beginning by those who paste them.
const RESULT: &str = "Time taken for tests:";

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    text.contains(TITLE) || text.contains(RESULT) && text.contains("Complete requests:")
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut said = Said::default();
    reading.hear(|line| said.hear(line))?;
    if said.results > 1 {
        return Err(Broken::Several);
    }
    let (Some(complete), Some(seconds)) = (said.complete, said.seconds) else {
        return Err(Broken::Lacks("`Complete requests` or `Time taken for tests`: it did not end, or some is cut off"));
    };
    // Answers of another length than the first are failures to ab, and mostly none: see its own words, which are kept.
    let not_2xx = said.not_2xx.unwrap_or(0).min(complete);
    let no_answer = said.failed.saturating_sub(said.of_length).min(complete - not_2xx);
    let good = complete - not_2xx - no_answer;
    if said.of_length > 0 {
        said.warnings.push(format!(
            "{} answers were of another length than the first, which ApacheBench counts as failed",
            said.of_length
        ));
    }
    // It is the first answer's. Where some failed and others did not, that is of those which most are, if most have its length.
    let length = said.body_length.map(|length| BodyLength { min: length, max: length });
    let is_usual = said.of_length < complete / 2;
    let is_of_good = good > 0 && (not_2xx == 0 || is_usual && good > not_2xx);
    let is_of_failed = not_2xx > 0 && (good == 0 || is_usual && not_2xx > good);
    let codes = [("2xx", good), ("not 2xx", not_2xx), (NO_ANSWER, no_answer)];
    let all = Requests {
        good,
        failed: not_2xx + no_answer,
        codes: codes
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(code, count)| (code.to_owned(), count))
            .collect(),
        body_length: length.filter(|_| is_of_good),
        failed_length: length.filter(|_| is_of_failed),
        ..Requests::default()
    };
    let recorded = Recorded::summary(all, seconds);
    let tool = said.version.map_or_else(|| FORMAT.tool.to_owned(), |version| format!("{} {version}", FORMAT.tool));
    let url = said.path.map(|path| {
        let host = said.host.unwrap_or_default();
        said.port.map_or_else(|| format!("{host}{path}"), |port| format!("{host}:{port}{path}"))
    });
    let run = reading.run(&FORMAT, recorded);
    Ok(ImportedRun {
        tool,
        url,
        users: said.users,
        stated_quantiles: said.quantiles,
        stated: said.stated,
        warnings: said.warnings,
        ..run
    })
}

/// What an output says.
#[derive(Debug, Default)]
struct Said {
    version: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    path: Option<String>,
    body_length: Option<u64>,
    users: Option<u32>,
    seconds: Option<f64>,
    complete: Option<u64>,
    /// Outputs that have come so far.
    results: u32,
    failed: u64,
    /// Of the failed: those of another length than the first.
    of_length: u64,
    not_2xx: Option<u64>,
    quantiles: Vec<(f64, f64)>,
    stated: Stated,
    warnings: Vec<String>,
    /// The lines of a warning follow each other.
    is_warning: bool,
}

impl Said {
    /// Takes a line; what is wrong with it, if a number that must be there is none.
    fn hear(&mut self, line: &str) -> Result<(), &'static str> {
        if line.starts_with("WARNING: ") {
            self.warnings.push(line.trim().trim_start_matches("WARNING: ").to_owned());
            self.is_warning = true;
            return Ok(());
        }
        if self.is_warning && line.starts_with(' ') && !line.contains('%') {
            if let Some(warning) = self.warnings.last_mut() {
                *warning = format!("{warning}: {}", line.trim());
            }
            return Ok(());
        }
        self.is_warning = false;
        if let Some(version) = line.strip_prefix(TITLE) {
            self.version = version.split_whitespace().next().map(str::to_owned);
            return Ok(());
        }
        if let Some((percent, rest)) = line.split_once('%').filter(|(percent, _)| percent.starts_with(' ')) {
            self.quantiles.push((number(percent)? / 100.0, number(rest)?));
            return Ok(());
        }
        // In the parts of failed requests, a name stands before each number.
        if let Some(parts) = line.trim().strip_prefix("(Connect: ") {
            let length = parts.split("Length: ").nth(1).map(count).transpose()?;
            self.of_length = length.unwrap_or(0);
            return Ok(());
        }
        let Some((name, value)) = line.split_once(':') else { return Ok(()) };
        match name {
            "Server Hostname" => self.host = Some(value.trim().to_owned()),
            "Server Port" => self.port = value.trim().parse().ok(),
            "Document Path" => self.path = Some(value.trim().to_owned()),
            "Document Length" => self.body_length = count(value).ok(),
            "Concurrency Level" => self.users = u32::try_from(count(value)?).ok(),
            "Time taken for tests" => self.seconds = Some(number(value)?),
            "Complete requests" => {
                self.complete = Some(count(value)?);
                self.results += 1;
            }
            "Requests per second" => self.stated.rate = Some(number(value)?),
            // The first of two lines is what a request took, the second what is left of it when all at work share it.
            "Time per request" if self.stated.mean_ms.is_none() => self.stated.mean_ms = Some(number(value)?),
            "Failed requests" => self.failed = count(value)?,
            "Non-2xx responses" => self.not_2xx = Some(count(value)?),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::NO_ANSWER;
    use crate::{ImportError, Options, read};

    const OUTPUT: &str = "This is ApacheBench, Version 2.3 <$Revision: 1 $>\n\n\
        Server Hostname:        localhost\nServer Port:            8153\n\n\
        Document Path:          /a%20b?c=1\nDocument Length:        15118 bytes\n\n\
        Concurrency Level:      20\nTime taken for tests:   3.775 seconds\nComplete requests:      1000\n\
        Failed requests:        13\n   (Connect: 1, Receive: 0, Length: 11, Exceptions: 1)\n\
        Non-2xx responses:      40\n\
        WARNING: The median and mean for the initial connection time are not within a normal deviation\n        \
        These results are probably not that reliable.\n\
        Percentage of the requests served within a certain time (ms)\n  50%     45\n 100%   1359 (longest request)\n";

    #[test]
    fn an_output_is_read_whole() {
        let run = read("a.log", OUTPUT.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.tool.as_str()), ("ab", "ApacheBench 2.3"));
        assert_eq!((run.url.as_deref(), run.users), (Some("localhost:8153/a%20b?c=1"), Some(20)));
        assert_eq!((run.all.good, run.all.failed, run.all.ended()), (958, 42, 1_000));
        let of = |code: &str| run.all.codes.get(code).copied();
        assert_eq!(["2xx", "not 2xx", NO_ANSWER].map(of), [Some(958), Some(40), Some(2)]);
        assert!((run.seconds - 3.775).abs() < 1e-9 && !run.has_counted_users);
        assert_eq!(run.stated_quantiles, [(0.5, 45.0), (1.0, 1_359.0)]);
        assert_eq!(run.warnings.len(), 2);
        assert!(
            run.warnings[0].ends_with("normal deviation: These results are probably not that reliable."),
            "{:?}",
            run.warnings
        );
        assert_eq!((run.lines.read, run.lines.bad), (OUTPUT.lines().filter(|line| !line.is_empty()).count() as u64, 0));
    }

    #[test]
    fn what_ab_writes_today_is_read_too() {
        let text = include_bytes!("../fixtures/ab-2.3/missing.txt");
        let run = read("a.log", &text[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.users), (0, 200, Some(5)));
        assert_eq!(run.all.codes, [("not 2xx".to_owned(), 200)].into());
        assert_eq!((run.all.body_length, run.all.usual_length()), (None, run.all.failed_length));
        assert!(run.all.failed_length.is_some());
    }

    #[test]
    fn the_length_is_of_the_answers_that_most_are() {
        let of = |of_length: u64, not_2xx: u64| {
            let text = OUTPUT
                .replace("Failed requests:        13", &format!("Failed requests:        {of_length}"))
                .replace(
                    "Connect: 1, Receive: 0, Length: 11, Exceptions: 1",
                    &format!("Connect: 0, Length: {of_length}"),
                )
                .replace("responses:      40", &format!("responses:      {not_2xx}"));
            let all = read("a.log", text.as_bytes(), Options::default()).unwrap().all;
            [all.body_length, all.failed_length].map(|length| length.map(|length| length.max))
        };
        assert_eq!(of(40, 40), [Some(15_118), None]);
        assert_eq!(of(960, 960), [None, None], "the first one may have been a good one");
        assert_eq!(of(40, 960), [None, Some(15_118)]);
        assert_eq!(of(900, 0), [Some(15_118), None], "a page with a date in it");
        assert_eq!(of(0, 1_000), [None, Some(15_118)]);
    }

    #[test]
    fn two_in_one_file_are_refused() {
        let refused = read("a.log", OUTPUT.repeat(2).as_bytes(), Options::default()).unwrap_err();
        assert_eq!(refused.to_string(), "a.log has more than one result of ApacheBench: give each a file of its own");
    }

    #[test]
    fn one_that_did_not_end_is_refused() {
        let cut = &OUTPUT[..OUTPUT.find("Complete").unwrap()];
        let refused = read("a.log", cut.as_bytes(), Options::default()).unwrap_err();
        assert!(matches!(refused, ImportError::Lacks { .. }), "{refused}");
        assert!(refused.to_string().starts_with("a.log is of ApacheBench, and lacks `Complete requests`"), "{refused}");
    }
}
