//! What `vegeta report -type=json` prints (`lib/metrics.go`: `Metrics`).

use indexmap::IndexMap;
use jiff::Timestamp;
use model::imported::{Fidelity, ImportedRun, Requests, Stated};
use serde::Deserialize;

use crate::outcome::mixed_times;
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::vegeta::add_code;
use crate::{document, text};

pub const FORMAT: Format =
    Format { id: "vegeta-report-json", tool: "vegeta", fidelity: Fidelity::Summary, recognises, read };

/// What is made use of; times are nanoseconds.
#[derive(Debug, Deserialize)]
struct Report {
    /// By names such as `95th` and `max`.
    latencies: IndexMap<String, f64>,
    /// When the first request began.
    earliest: Timestamp,
    /// From the first request's beginning to the last one's.
    duration: f64,
    /// From there on to the last one's end.
    wait: f64,
    /// Good answers in a second of both.
    throughput: Option<f64>,
    status_codes: IndexMap<String, u64>,
}

fn recognises(head: &[u8], _: Options) -> bool {
    document::has_keys(head, &["latencies", "bytes_in", "earliest"])
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let report: Report = document::read(reading)?;
    let mut all = Requests::default();
    for (code, count) in &report.status_codes {
        add_code(&mut all, code, *count).map_err(|_| Broken::Lacks("a number for each status"))?;
    }
    let quantile = |(name, ns): (&String, &f64)| {
        let fraction = match name.as_str() {
            "max" => 1.0,
            name => text::number(name.strip_suffix("th")?).ok()? / 100.0,
        };
        Some((fraction, ns / 1e6))
    };
    let seconds = (report.duration + report.wait).max(0.0) / 1e9;
    let run = reading.run(&FORMAT, Recorded::summary(all, seconds));
    Ok(ImportedRun {
        began_ms: Some(report.earliest.as_millisecond()),
        warnings: mixed_times(run.all.failed).into_iter().collect(),
        stated: Stated { rate: report.throughput, mean_ms: report.latencies.get("mean").map(|ns| ns / 1e6) },
        stated_quantiles: report.latencies.iter().filter_map(quantile).collect(),
        ..run
    })
}

#[cfg(test)]
mod tests {
    use crate::{ImportError, Options, read};

    const MIXED: &[u8] = include_bytes!("../fixtures/vegeta-12.13.0/mixed-report.json");

    #[test]
    fn a_report_says_what_the_text_does() {
        let run = read("a.json", MIXED, Options::default()).unwrap();
        let text = include_bytes!("../fixtures/vegeta-12.13.0/mixed.txt");
        let other = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), &run.all, run.lines.bad), ("vegeta-report-json", &other.all, 0));
        assert_eq!(run.stated_quantiles.len(), 5);
        for ((fraction, ms), (other_fraction, other_ms)) in run.stated_quantiles.iter().zip(&other.stated_quantiles) {
            assert!(
                (fraction - other_fraction).abs() < 1e-9 && (ms - other_ms).abs() < 0.001,
                "{fraction}: {ms}, {other_ms}"
            );
        }
        let [one, other_rate] = [run.stated, other.stated].map(|stated| stated.rate.unwrap());
        assert!((one - other_rate).abs() < 0.01 && run.stated.mean_ms == other.stated.mean_ms, "{:?}", run.stated);
        assert!((run.seconds - other.seconds).abs() < 0.001 && run.began_ms.is_some(), "{}", run.seconds);
    }

    #[test]
    fn two_and_half_a_report_are_refused() {
        let refused = read("a.json", &MIXED.repeat(2)[..], Options::default());
        assert!(matches!(refused, Err(ImportError::Several { .. })));
        let refused = read("a.json", &MIXED[..MIXED.len() - 10], Options::default());
        assert!(matches!(refused, Err(ImportError::Lacks { .. })));
    }
}
