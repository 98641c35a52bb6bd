//! What hey prints (`requester/print.go`).

use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::hey_form::{self, End, has_number};
use crate::outcome::{add_code, add_error, add_status, mixed_times};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::text::is_page;

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

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let (mut all, mut answered) = (Requests::default(), 0_u64);
    let said = hey_form::read(reading, |end, count| match end {
        End::Status(status) => {
            answered = answered.saturating_add(count);
            add_status(&mut all, status, count);
        }
        End::Error(error) => add_error(&mut all, error, count),
    })?;
    let mut warnings: Vec<String> = mixed_times(answered.saturating_sub(all.good)).into_iter().collect();
    if answered == MOST_KEPT {
        let more = ((said.seconds * said.rate).round() as u64).saturating_sub(all.ended());
        add_code(&mut all, "not kept", more);
        all.good += more;
        warnings.push(format!(
            "hey keeps {MOST_KEPT} answers: {more} more came, whose status and time are not known; here they count as good"
        ));
    }
    let run = reading.run(&FORMAT, Recorded::summary(all, said.seconds));
    // Its rate is of all requests, those without an answer among them.
    let stated = Stated { rate: Some(said.rate).filter(|_| said.seconds >= LEAST_S), mean_ms: said.mean_ms };
    Ok(ImportedRun { stated_quantiles: said.quantiles, stated, warnings, ..run })
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
