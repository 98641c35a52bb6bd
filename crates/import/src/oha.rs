//! What oha prints (`printer.rs`: `print_summary`).

use model::imported::{Fidelity, ImportedRun, Requests, Stated};

use crate::hey_form::{self, End, has_number, value};
use crate::outcome::{add_error, add_status, is_success, mixed_times};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::text::is_page;

pub const FORMAT: Format = Format { id: "oha", tool: "oha", fidelity: Fidelity::Summary, recognises, read };

/// Its words for requests that were under way when its time was over.
const GIVEN_UP: &str = "aborted due to deadline";

fn recognises(head: &[u8], _: Options) -> bool {
    let text = String::from_utf8_lossy(head);
    text.lines().any(|line| value(line, "Success rate").is_some())
        && has_number(&text, "Requests/sec")
        && !is_page(&text)
}

/// What its requests came to.
#[derive(Debug, Default)]
pub struct Ended {
    pub all: Requests,
    /// Answers that are no success of HTTP.
    unwanted: u64,
    /// Requests that were under way when its time was over.
    given_up: u64,
}

impl Ended {
    pub fn add_status(&mut self, status: u64, count: u64) {
        add_status(&mut self.all, status, count);
        if !is_success(status) {
            self.unwanted = self.unwanted.saturating_add(count);
        }
    }

    pub fn add_error(&mut self, error: &str, count: u64) {
        if error == GIVEN_UP {
            self.given_up = self.given_up.saturating_add(count);
        } else {
            add_error(&mut self.all, error, count);
        }
    }

    /// What oha states, without the requests under way that its rate counts.
    pub fn stated(&self, rate: Option<f64>, mean_ms: Option<f64>) -> Stated {
        let ended = self.all.ended() as f64;
        Stated { rate: rate.map(|rate| rate * ended / (ended + self.given_up as f64).max(1.0)), mean_ms }
    }

    /// How oha counts otherwise than here.
    pub fn warnings(&self) -> Vec<String> {
        let given_up = (self.given_up > 0).then(|| {
            format!(
                "{} requests were under way when its time was over: oha's requests per second count them, here they do not count",
                self.given_up
            )
        });
        let unwanted = (self.unwanted > 0).then(|| {
            format!(
                "{} answers have a status other than 2xx and 3xx: oha's success rate counts them as successes",
                self.unwanted
            )
        });
        [given_up, unwanted, mixed_times(self.unwanted)].into_iter().flatten().collect()
    }
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut ended = Ended::default();
    let said = hey_form::read(reading, |end, count| match end {
        End::Status(status) => ended.add_status(status, count),
        End::Error(error) => ended.add_error(error, count),
    })?;
    let (warnings, stated) = (ended.warnings(), ended.stated(Some(said.rate), said.mean_ms));
    let run = reading.run(&FORMAT, Recorded::summary(ended.all, said.seconds));
    Ok(ImportedRun { stated_quantiles: said.quantiles, stated, warnings, ..run })
}

#[cfg(test)]
mod tests {
    use model::imported::Stated;

    use crate::{ImportError, Options, read};

    const PAGE: &[u8] = include_bytes!("../fixtures/oha-1.16.0/page.txt");

    #[test]
    fn an_output_is_read_whole() {
        let run = read("a.txt", PAGE, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("oha", 500, 0, 0));
        assert!(run.all.codes["200"] == 500 && run.seconds > 0.2 && run.seconds < 2.0, "{run:?}");
        assert_eq!((run.stated_quantiles.len(), run.warnings.len()), (10, 0));
        assert_eq!(run.stated, Stated { rate: Some(1_892.203_5), mean_ms: Some(2.576_4) });
        let median_us = run.quantile_us(0.5).unwrap();
        assert!(median_us > 2_000.0 && median_us < 4_000.0 && run.quantile_us(0.999).is_some(), "{median_us}");
    }

    #[test]
    fn what_it_gave_up_at_the_end_has_not_failed() {
        let text = include_bytes!("../fixtures/oha-1.16.0/missing.txt");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.all.codes.len()), (0, run.all.codes["404"], 1));
        assert!(
            run.warnings[0].starts_with("5 requests were under way when its time was over: "),
            "{:?}",
            run.warnings
        );
        assert!(run.warnings[1].contains(" answers have a status other than 2xx and 3xx: "), "{:?}", run.warnings);
        assert_eq!((run.warnings.len(), run.lines.bad), (3, 0));
        let counted = run.all.ended() as f64 / run.seconds;
        assert!((run.stated.rate.unwrap() / counted - 1.0).abs() < 1e-6, "{:?}", run.stated);
    }

    #[test]
    fn of_no_answer_there_are_no_times() {
        let text = include_bytes!("../fixtures/oha-1.16.0/refused.txt");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.all.failed, run.all.codes["Connection refused (os error 111)"]), (20, 20));
        assert_eq!((run.stated_quantiles.len(), run.stated.mean_ms, run.lines.bad), (0, None, 0));
        assert!(run.seconds > 0.0 && run.seconds < 0.1, "{}", run.seconds);
    }

    #[test]
    fn one_that_did_not_end_two_in_one_file_and_a_page_are_refused() {
        let text = String::from_utf8_lossy(PAGE);
        let cut = &text[..text.find("Status code").unwrap()];
        assert!(matches!(read("a.txt", cut.as_bytes(), Options::default()), Err(ImportError::Lacks { .. })));
        let two = text.repeat(2);
        assert!(matches!(read("a.txt", two.as_bytes(), Options::default()), Err(ImportError::Several { .. })));
        let page = format!("```\n{text}```\n");
        assert!(matches!(read("a.md", page.as_bytes(), Options::default()), Err(ImportError::Unknown { .. })));
    }

    #[test]
    fn what_older_versions_print_is_read() {
        let text = "Summary:\n  Success rate:\t1.0000\n  Total:\t10.0022 secs\n  Slowest:\t0.5722 secs\n  Requests/sec:\t1181.6\n\n\
                    Response time histogram:\n  0.064 [5259] |■■■\n\nLatency distribution:\n  10% in 0.0512 secs\n  50% in 0.0677 secs\n\n\
                    Status code distribution:\n  [200] 11819 responses\n";
        let run = read("a.txt", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("oha", 11_819, 0, 0));
        assert!(
            (run.seconds - 10.0022).abs() < 1e-9 && (run.quantile_us(0.5).unwrap() - 67_700.0).abs() < 1e-6,
            "{run:?}"
        );
    }
}
