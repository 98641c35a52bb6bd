//! `vegeta encode --to json`: a line of JSON for each request (`lib/results.go`: `Result`).

use std::borrow::Cow;

use jiff::Timestamp;
use model::imported::{Fidelity, ImportedRun};
use serde::Deserialize;

use crate::csv::first_line;
use crate::outcome::{cause, is_success, only_url};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{Recorder, Request};

pub const FORMAT: Format = Format { id: "vegeta-json", tool: "vegeta", fidelity: Fidelity::Samples, recognises, read };

/// What is made use of.
#[derive(Debug, Deserialize)]
struct Hit<'l> {
    /// 0 where there was no answer.
    code: u16,
    timestamp: Timestamp,
    /// Nanoseconds.
    latency: u64,
    bytes_in: u64,
    #[serde(borrow)]
    error: Cow<'l, str>,
    #[serde(borrow, default)]
    method: Cow<'l, str>,
    #[serde(borrow, default)]
    url: Cow<'l, str>,
}

fn recognises(head: &[u8], _: Options) -> bool {
    serde_json::from_slice::<Hit>(first_line(head)).is_ok()
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut recorder = Recorder::new();
    reading.hear(|line| {
        let hit: Hit = serde_json::from_str(line).map_err(|_| "it is no request as vegeta encodes them")?;
        record(&mut recorder, &hit)
    })?;
    Ok(run(reading, &FORMAT, recorder))
}

fn record(recorder: &mut Recorder, hit: &Hit) -> Result<(), &'static str> {
    let code = hit.code.to_string();
    let label = label(&hit.method, &hit.url);
    recorder.add(&Request {
        began_ms: hit.timestamp.as_millisecond(),
        took_us: hit.latency / 1_000,
        label: label.as_bytes(),
        code: if hit.code == 0 { cause(&hit.error).as_bytes() } else { code.as_bytes() },
        is_good: is_success(hit.code.into()),
        bytes: Some(hit.bytes_in).filter(|_| hit.code != 0),
        users: 0,
    })
}

/// What requests with a method and an address are counted under.
pub fn label(method: &str, url: &str) -> String {
    format!("{method} {url}").trim().to_owned()
}

/// What was recorded of requests whose labels are made so.
pub fn run(reading: &mut Reading, format: &Format, recorder: Recorder) -> ImportedRun {
    let run = reading.run(format, recorder.finish());
    ImportedRun { url: only_url(&run.labels), ..run }
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn every_request_is_read() {
        let text = include_bytes!("../fixtures/vegeta-12.13.0/mixed.json");
        let run = read("a.json", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("vegeta-json", 20, 40, 0));
        assert_eq!((run.labels.len(), run.url, run.lines.read), (3, None, 60));
        assert_eq!((run.all.codes["404"], run.all.codes["connection refused"], run.all.never_sent), (20, 20, 0));
        let page = run.labels.iter().find(|(label, _)| label.ends_with("/page")).unwrap();
        assert!(page.0.starts_with("GET http://") && page.1.latency.quantile(0.5) >= 2_000, "{page:?}");
    }

    #[test]
    fn what_no_address_leads_to_was_never_sent() {
        let text = r#"{"attack":"","seq":0,"code":0,"timestamp":"2026-11-25T10:40:39+01:00","latency":12000,"bytes_out":0,"bytes_in":0,"error":"Get \"http://a.invalid/\": dial tcp: lookup a.invalid: no such host","body":null,"method":"GET","url":"http://a.invalid/","headers":null}"#;
        let run = read("a.json", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.failed, run.all.never_sent, run.all.codes["no such host"]), (1, 1, 1));
        assert_eq!((run.url.as_deref(), run.began_ms), (Some("http://a.invalid/"), Some(1_795_599_639_000)));
    }
}
