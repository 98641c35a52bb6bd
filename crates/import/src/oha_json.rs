//! oha's `--output-format json` (`printer.rs`: `print_json`).

use indexmap::IndexMap;
use model::imported::{Fidelity, ImportedRun};
use serde::Deserialize;

use crate::oha::Ended;
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Recorded;
use crate::{document, text};

pub const FORMAT: Format = Format { id: "oha-json", tool: "oha", fidelity: Fidelity::Summary, recognises, read };

/// What is made use of. Numbers that are none, such as the slowest of no answer, are null.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    summary: Summary,
    /// By names such as `p99.9`, seconds.
    latency_percentiles: IndexMap<String, Option<f64>>,
    status_code_distribution: IndexMap<String, u64>,
    error_distribution: IndexMap<String, u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    /// Seconds.
    total: f64,
    slowest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: Option<f64>,
}

fn recognises(head: &[u8], _: Options) -> bool {
    document::has_keys(head, &["summary", "responseTimeHistogram", "latencyPercentiles"])
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let Document { summary, latency_percentiles, status_code_distribution, error_distribution } =
        document::read(reading)?;
    let mut ended = Ended::default();
    for (status, count) in &status_code_distribution {
        let status = text::count(status).map_err(|_| Broken::Lacks("a number for each status"))?;
        ended.add_status(status, *count);
    }
    error_distribution.iter().for_each(|(error, count)| ended.add_error(error, *count));
    let quantile = |(name, seconds): (&String, &Option<f64>)| {
        let percent = text::number(name.strip_prefix('p')?).ok()?;
        Some((percent / 100.0, (*seconds)? * 1e3))
    };
    let slowest = summary.slowest.map(|seconds| (1.0, seconds * 1e3));
    let mut stated_quantiles: Vec<_> = latency_percentiles.iter().filter_map(quantile).chain(slowest).collect();
    stated_quantiles.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let stated = ended.stated(summary.requests_per_sec, summary.average.map(|seconds| seconds * 1e3));
    let warnings = ended.warnings();
    let run = reading.run(&FORMAT, Recorded::summary(ended.all, summary.total.max(0.0)));
    Ok(ImportedRun { stated_quantiles, stated, warnings, ..run })
}

#[cfg(test)]
mod tests {
    use crate::{ImportError, Options, read};

    const PAGE: &[u8] = include_bytes!("../fixtures/oha-1.16.0/page.json");

    #[test]
    fn a_document_is_read_whole() {
        let run = read("a.json", PAGE, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("oha-json", 500, 0, 0));
        assert!(run.seconds > 0.2 && run.seconds < 2.0 && run.warnings.is_empty(), "{run:?}");
        let fractions: Vec<f64> = run.stated_quantiles.iter().map(|(fraction, _)| *fraction).collect();
        assert_eq!(fractions.len(), 10);
        let counted = run.all.ended() as f64 / run.seconds;
        assert!((run.stated.rate.unwrap() / counted - 1.0).abs() < 1e-6, "{:?}", run.stated);
        assert!((run.stated.mean_ms.unwrap() - 2.508_577_358).abs() < 1e-9, "{:?}", run.stated);
        assert!(fractions.is_sorted() && run.quantile_us(0.5).unwrap() > 2_000.0, "{:?}", run.stated_quantiles);
    }

    #[test]
    fn it_counts_as_in_the_text() {
        let missing = include_bytes!("../fixtures/oha-1.16.0/missing.json");
        let run = read("a.json", &missing[..], Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.warnings.len()), (0, run.all.codes["404"], 3));
        let refused = include_bytes!("../fixtures/oha-1.16.0/refused.json");
        let run = read("a.json", &refused[..], Options::default()).unwrap();
        assert_eq!((run.all.failed, run.all.codes["Connection refused (os error 111)"]), (20, 20));
        assert!(run.stated_quantiles.is_empty());
    }

    #[test]
    fn half_a_document_is_refused() {
        let refused = read("a.json", &PAGE[..PAGE.len() - 100], Options::default());
        assert!(matches!(refused, Err(ImportError::Lacks { .. })));
    }
}
