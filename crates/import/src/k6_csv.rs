//! k6's `--out csv`: a line for each sample of each metric. Its first line names the columns; which tags have one, is a setting.

use model::imported::{Fidelity, ImportedRun};

use crate::csv::{self, Fields, decimal, first_line, number};
use crate::k6_json;
use crate::k6_points::{Point, Points};
use crate::reading::{Broken, Format, Options, Reading};

pub const FORMAT: Format = Format { id: "k6-csv", tool: "k6", fidelity: Fidelity::Samples, recognises, read };

const BEGINS: &[u8] = b"metric_name,timestamp,metric_value,";

fn recognises(head: &[u8], _: Options) -> bool {
    first_line(head).starts_with(BEGINS)
}

/// The columns of the tags that are made use of.
struct Columns {
    method: Option<usize>,
    name: Option<usize>,
    status: Option<usize>,
    error: Option<usize>,
    error_code: Option<usize>,
    expected_response: Option<usize>,
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let first = first_line(reading.lines.head()?);
    if !first.starts_with(BEGINS) {
        return Err(Broken::Unknown);
    }
    let mut names = Fields::default();
    csv::split(first, b',', &mut names);
    let at = |name: &str| names.iter().position(|column| column == name.as_bytes());
    let columns = Columns {
        method: at("method"),
        name: at("name"),
        status: at("status"),
        error: at("error"),
        error_code: at("error_code"),
        expected_response: at("expected_response"),
    };
    let mut points = Points::new();
    reading.hear_fields(b',', true, |fields| {
        let text = |column: Option<usize>| {
            let text = column.and_then(|column| fields.get(column)).unwrap_or_default();
            String::from_utf8_lossy(text)
        };
        let point = Point {
            metric: &text(Some(0)),
            time: &text(Some(1)),
            value: fields.get(2).and_then(decimal).ok_or("its value is no number of zero or more")?,
            method: &text(columns.method),
            name: &text(columns.name),
            status: &text(columns.status),
            error: &text(columns.error),
            error_code: &text(columns.error_code),
            expected_response: &text(columns.expected_response),
        };
        points.take(&point, time_ms)
    })?;
    Ok(points.run(reading, &FORMAT))
}

/// A time in the format of `K6_CSV_TIME_FORMAT`, milliseconds since 1970: a date, or a number of s, ms, µs or ns.
fn time_ms(text: &str) -> Option<i64> {
    let Some(number) = number(text.as_bytes()) else { return k6_json::time_ms(text) };
    // In each of these units, today has three digits more than in the one before it.
    let ms = match number {
        0..100_000_000_000 => number * 1_000,
        100_000_000_000..100_000_000_000_000 => number,
        100_000_000_000_000..100_000_000_000_000_000 => number / 1_000,
        _ => number / 1_000_000,
    };
    ms.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::time_ms;
    use crate::{Options, read};

    #[test]
    fn every_request_is_read_as_in_json() {
        let text = include_bytes!("../fixtures/k6-1.8.1/shop.csv");
        let run = read("a.csv", &text[..], Options::default()).unwrap();
        let json = include_bytes!("../fixtures/k6-1.8.1/shop.json");
        let other = read("a.json", &json[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.lines.bad), ("k6-csv", 0));
        assert_eq!((run.all, run.labels, run.warnings), (other.all, other.labels, other.warnings));
    }

    #[test]
    fn times_are_in_one_of_its_formats() {
        for time in ["1795599817", "1795599817000", "1795599817000000", "1795599817000000000", "2026-11-25T09:43:37Z"] {
            assert_eq!(time_ms(time), Some(1_795_599_817_000), "{time}");
        }
        assert_eq!((time_ms(""), time_ms("-1"), time_ms("yesterday")), (None, None, None));
    }
}
