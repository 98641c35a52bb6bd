//! `vegeta encode --to csv`: a line for each request, without names of columns (`lib/results.go`: `NewCSVEncoder`).

use model::imported::{Fidelity, ImportedRun};

use crate::csv::{self, Fields, number};
use crate::outcome::{cause, is_success};
use crate::reading::{Broken, Format, Options, Reading};
use crate::recorder::{Recorder, Request};
use crate::vegeta_json::{label, run};

pub const FORMAT: Format = Format { id: "vegeta-csv", tool: "vegeta", fidelity: Fidelity::Samples, recognises, read };

/// Where the columns stand: those up to the number of the request (8) are always there; older versions have none behind it.
const BEGAN: usize = 0;
const CODE: usize = 1;
const TOOK: usize = 2;
const BYTES_IN: usize = 4;
const ERROR: usize = 5;
const SEQ: usize = 8;
const METHOD: usize = 9;
const URL: usize = 10;
/// Any start before this (2001) is no number of ns since 1970.
const EARLIEST_NS: u64 = 1_000_000_000_000_000_000;

fn recognises(head: &[u8], _: Options) -> bool {
    let mut fields = Fields::default();
    csv::split(csv::first_line(head), b',', &mut fields);
    record(&mut Recorder::new(), &fields).is_ok()
}

fn read(reading: &mut Reading) -> Result<ImportedRun, Broken> {
    let mut recorder = Recorder::new();
    reading.hear_fields(b',', false, |fields| record(&mut recorder, fields))?;
    Ok(run(reading, &FORMAT, recorder))
}

fn record(recorder: &mut Recorder, fields: &Fields) -> Result<(), &'static str> {
    let of = |column: usize| fields.get(column).and_then(number);
    let text = |column: usize| String::from_utf8_lossy(fields.get(column).unwrap_or_default());
    let began_ns = of(BEGAN).filter(|ns| *ns >= EARLIEST_NS).ok_or("its start is no number of ns since 1970")?;
    let status =
        of(CODE).filter(|code| *code == 0 || (100..1_000).contains(code)).ok_or("its status is none of HTTP")?;
    of(SEQ).ok_or("its ninth column is no number")?;
    let (label, error) = (label(&text(METHOD), &text(URL)), text(ERROR));
    recorder.add(&Request {
        began_ms: (began_ns / 1_000_000).try_into().map_err(|_| "its start lies beyond all calendars")?,
        took_us: of(TOOK).ok_or("what it took is no number of ns")? / 1_000,
        label: label.as_bytes(),
        code: if status == 0 { cause(&error).as_bytes() } else { fields.get(CODE).unwrap_or_default() },
        is_good: is_success(status),
        bytes: Some(of(BYTES_IN).ok_or("its bytes are no number")?).filter(|_| status != 0),
        users: 0,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Options, read};

    #[test]
    fn every_request_is_read_as_in_json() {
        let text = include_bytes!("../fixtures/vegeta-12.13.0/mixed.csv");
        let run = read("a.csv", &text[..], Options::default()).unwrap();
        let json = include_bytes!("../fixtures/vegeta-12.13.0/mixed.json");
        let other = read("a.json", &json[..], Options::default()).unwrap();
        assert_eq!((run.format.as_str(), run.lines.read, run.lines.bad), ("vegeta-csv", 60, 0));
        assert_eq!((run.all, run.labels, run.intervals), (other.all, other.labels, other.intervals));
        assert_eq!((run.began_ms, run.seconds.to_bits()), (other.began_ms, other.seconds.to_bits()));
    }

    #[test]
    fn lines_of_older_versions_have_no_address() {
        let text = "1795599639636290885,200,619994,0,40,,VGhl,name,0\n1795599639640318482,0,502804,0,0,\"Get \"\"http://a\"\": EOF\",,name,1\n";
        let run = read("a.csv", text.as_bytes(), Options::default()).unwrap();
        assert_eq!((run.all.good, run.all.codes["EOF"], run.labels.len(), run.url), (1, 1, 0, None));
    }
}
