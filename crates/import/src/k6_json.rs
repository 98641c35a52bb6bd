//! k6's `--out json`: a line of JSON for each sample of each metric.

use std::borrow::Cow;

use jiff::Timestamp;
use model::imported::{Fidelity, ImportedRun};
use serde::Deserialize;

use crate::csv::first_line;
use crate::k6_points::{Point, Points};
use crate::reading::{Broken, Format, Options, Reading};

pub const FORMAT: Format = Format { id: "k6-json", tool: "k6", fidelity: Fidelity::Samples, recognises, read };

/// A sample, or what a metric is.
#[derive(Debug, Deserialize)]
struct Line<'l> {
    #[serde(borrow)]
    metric: Cow<'l, str>,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(borrow)]
    data: Data<'l>,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
enum Kind {
    Metric,
    Point,
}

/// What is made use of; a metric has none of it.
#[derive(Debug, Deserialize)]
struct Data<'l> {
    #[serde(borrow)]
    time: Option<Cow<'l, str>>,
    value: Option<f64>,
    #[serde(borrow)]
    tags: Option<Tags<'l>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tags<'l> {
    #[serde(borrow)]
    method: Cow<'l, str>,
    #[serde(borrow)]
    name: Cow<'l, str>,
    #[serde(borrow)]
    status: Cow<'l, str>,
    #[serde(borrow)]
    error: Cow<'l, str>,
    #[serde(borrow)]
    error_code: Cow<'l, str>,
    #[serde(borrow)]
    expected_response: Cow<'l, str>,
}

fn recognises(head: &[u8], _: Options) -> bool {
    serde_json::from_slice::<Line>(first_line(head)).is_ok()
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut points = Points::new();
    reading.hear(|line| {
        let line: Line = serde_json::from_str(line).map_err(|_| "it is no sample as k6 writes them")?;
        if line.kind == Kind::Metric {
            return Ok(());
        }
        let tags = line.data.tags.unwrap_or_default();
        let point = Point {
            metric: &line.metric,
            time: &line.data.time.unwrap_or_default(),
            value: line.data.value.ok_or("it has no value")?,
            method: &tags.method,
            name: &tags.name,
            status: &tags.status,
            error: &tags.error,
            error_code: &tags.error_code,
            expected_response: &tags.expected_response,
        };
        points.take(&point, time_ms)
    })?;
    Ok(points.run(reading, &FORMAT))
}

/// A time such as `2026-11-25T09:43:37.667737337Z`, milliseconds since 1970.
pub fn time_ms(text: &str) -> Option<i64> {
    text.parse().ok().map(Timestamp::as_millisecond)
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    const SHOP: &[u8] = include_bytes!("../fixtures/k6-1.8.1/shop.json");

    #[test]
    fn every_request_is_read() {
        let run = read("a.json", SHOP, Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("k6-json", 3, 6, 0));
        assert_eq!((run.all.codes["200"], run.all.codes["404"], run.all.codes["connection refused"]), (3, 3, 3));
        assert_eq!((run.labels.len(), run.labels["POST closed"].failed, run.all.never_sent), (3, 3, 0));
        assert_eq!((run.users, run.url.as_deref()), (Some(1), None));
        assert!(run.labels["GET page"].latency.quantile(0.5) >= 2_000 && run.seconds > 1.0, "{run:?}");
        assert_eq!(run.warnings, ["3 of 6 checks of the script failed: k6 does not count that as failed requests"]);
    }

    #[test]
    fn what_the_script_expects_has_not_failed() {
        let text = String::from_utf8_lossy(SHOP);
        let expected = text.replace(r#""expected_response":"false""#, r#""expected_response":"true""#);
        let run = read("a.json", expected.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed), (9, 0));
        assert_eq!(run.warnings[0], "k6 counts 6 requests as failed; by their tags and statuses, 0 have");
        let untold = text.replace(r#""expected_response":"false","#, "").replace(r#""expected_response":"true","#, "");
        let run = read("a.json", untold.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed, run.warnings.len()), (3, 6, 1));
        let without_causes = text.replace(r#""error":"dial: connection refused","error_code":"1212","#, "");
        let run = read("a.json", without_causes.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.codes["no answer"], run.all.never_sent), (3, 0));
    }

    #[test]
    fn a_run_without_requests_is_refused() {
        let text = String::from_utf8_lossy(SHOP).replace("http_req_duration", "ws_ping");
        assert_eq!(
            read("a.json", text.as_bytes(), Options::default()).unwrap_err().to_string(),
            "a.json has no request in it"
        );
    }
}
