//! h2load's `--log-file`: a line for each request with its start in µs since 1970, its status, and what it took in µs, between tabs.

use model::imported::{Fidelity, ImportedRun};

use crate::csv::{self, Fields, number};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::Request;

pub const FORMAT: Format = Format { id: "h2load-log", tool: "h2load", fidelity: Fidelity::Samples, recognises, read };

/// The status of a request that failed without one.
const FAILED: &[u8] = b"-1";
/// Any start before this (2001) is no number of µs since 1970.
const EARLIEST_US: u64 = 1_000_000_000_000_000;

fn recognises(head: &[u8], _: Options) -> bool {
    let mut fields = Fields::default();
    csv::split(csv::first_line(head), b'\t', &mut fields);
    request(&fields).is_ok()
}

/// The request of a line, or what is wrong with it.
fn request(fields: &Fields) -> Result<Request<'_>, &'static str> {
    let (Some(began), Some(code), Some(took), None) = (fields.get(0), fields.get(1), fields.get(2), fields.get(3))
    else {
        return Err("it has not three columns");
    };
    let began_us = number(began).filter(|us| *us >= EARLIEST_US).ok_or("its start is no number of µs since 1970")?;
    let status = number(code).filter(|status| (100..600).contains(status));
    if status.is_none() && code != FAILED {
        return Err("its status is neither one of HTTP nor -1");
    }
    Ok(Request {
        began_ms: (began_us / 1_000).try_into().map_err(|_| "its start lies beyond all calendars")?,
        took_us: number(took).ok_or("what it took is no number of µs")?,
        label: b"",
        code,
        is_good: status.is_some_and(|status| status < 400),
        bytes: None,
        users: 0,
    })
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    Ok(reading.record(&FORMAT, b'\t', false, request)?)
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn every_request_is_read() {
        let text = include_bytes!("../fixtures/h2load-1.52.0/page.tsv");
        let run = read("a.txt", &text[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.all.good, run.all.failed, run.lines.bad), ("h2load-log", 500, 0, 0));
        assert_eq!((run.all.codes["200"], run.all.latency.count()), (500, 500));
        assert!(run.all.latency.quantile(0.5).abs_diff(2_200) < 400, "{}", run.all.latency.quantile(0.5));
    }

    #[test]
    fn a_request_without_status_has_failed() {
        let text = "1795571000348442\t200\t2205\n1795571000348433\t-1\t2260\n1795571000348433\t503\t2260\n";
        let run = read("a.txt", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.failed), (1, 2));
    }
}
